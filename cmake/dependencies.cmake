# The library needs these; everything is found on the system, nothing is downloaded.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

# Our own compilation of fmt where we know its parts, else the header-only form.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(lumen_fmt STATIC cmake/fmt_library.cpp)
  get_target_property(fmt_include fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(lumen_fmt SYSTEM PUBLIC ${fmt_include})
else()
  add_library(lumen_fmt INTERFACE)
  target_link_libraries(lumen_fmt INTERFACE fmt::fmt-header-only)
endif()

# By header: the distributions' CMake files for Boost differ, a version in a header does not.
find_path(LUMEN_BOOST_INCLUDE boost/unordered/unordered_flat_map.hpp)
if(NOT LUMEN_BOOST_INCLUDE)
  message(FATAL_ERROR "Boost headers 1.81 or later are needed (boost/unordered/unordered_flat_map.hpp not found); "
                      "on Debian 12: libboost1.81-dev")
endif()
add_library(lumen_boost INTERFACE)
target_include_directories(lumen_boost SYSTEM INTERFACE ${LUMEN_BOOST_INCLUDE})

# Tokenizers: regular expressions and Unicode.
find_path(LUMEN_PCRE2_INCLUDE pcre2.h)
find_library(LUMEN_PCRE2_LIBRARY NAMES pcre2-8)
find_path(LUMEN_UTF8PROC_INCLUDE utf8proc.h)
find_library(LUMEN_UTF8PROC_LIBRARY NAMES utf8proc)
if(NOT LUMEN_PCRE2_INCLUDE OR NOT LUMEN_PCRE2_LIBRARY OR NOT LUMEN_UTF8PROC_INCLUDE OR NOT LUMEN_UTF8PROC_LIBRARY)
  message(FATAL_ERROR "PCRE2 and utf8proc are needed; on Debian 12: libpcre2-dev libutf8proc-dev")
endif()
add_library(lumen_unicode INTERFACE)
target_include_directories(lumen_unicode SYSTEM INTERFACE ${LUMEN_PCRE2_INCLUDE} ${LUMEN_UTF8PROC_INCLUDE})
target_link_libraries(lumen_unicode INTERFACE ${LUMEN_PCRE2_LIBRARY} ${LUMEN_UTF8PROC_LIBRARY})
# The sampler promises the same tokens everywhere: no multiply-add where the source has two operations.
target_compile_options(lumen_unicode INTERFACE -ffp-contract=off)
set(LUMEN_LINK_text lumen_unicode)

# The tuning database is an SQLite file where SQLite can be linked statically, else a file of JSON lines. Either way
# lumen_search has all the same functions: one of the folders lumen/search/{sqlite,no_sqlite} is left out.
option(LUMEN_SQLITE "Keep tuning results in SQLite where it is found" ON)
find_path(LUMEN_SQLITE_INCLUDE sqlite3.h)
find_library(LUMEN_SQLITE_LIBRARY NAMES libsqlite3.a)
if(LUMEN_SQLITE AND LUMEN_SQLITE_INCLUDE AND LUMEN_SQLITE_LIBRARY)
  set(LUMEN_LEFT_OUT lumen/search/no_sqlite/)
  add_library(lumen_sqlite INTERFACE)
  target_include_directories(lumen_sqlite SYSTEM INTERFACE ${LUMEN_SQLITE_INCLUDE})
  target_link_libraries(lumen_sqlite INTERFACE ${LUMEN_SQLITE_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS} m)
  set(LUMEN_LINK_search lumen_sqlite)
else()
  set(LUMEN_LEFT_OUT lumen/search/sqlite/)
  message(STATUS "SQLite (sqlite3.h and libsqlite3.a) not found or not wanted: the tuning database is JSON lines")
endif()

# The rest is for programs, tests and benchmarks: absent means that these are left out, with a message.
find_package(CLI11 QUIET)
find_package(GTest QUIET)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)

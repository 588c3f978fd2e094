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

# The rest is for programs, tests and benchmarks: absent means that these are left out, with a message.
find_package(CLI11 QUIET)
find_package(GTest QUIET)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)

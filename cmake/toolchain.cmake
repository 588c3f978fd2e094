set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(LUMEN_CCACHE ccache)
if(LUMEN_CCACHE)
  # What one clone compiled serves another, wherever that is.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true
      ${LUMEN_CCACHE})
endif()

# gcc before 12.1 does not know -fuse-ld=mold; asking the compiler covers every case.
find_program(LUMEN_MOLD mold)
if(LUMEN_MOLD)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=mold)
  check_cxx_source_compiles("int main() {}" LUMEN_MOLD_WORKS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(LUMEN_MOLD_WORKS)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

add_compile_options(-fdiagnostics-color=auto)
if(LUMEN_SANITIZE)
  add_compile_options(-fsanitize=${LUMEN_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LUMEN_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # Products of 128 bits that are checked are a function (__muloti4) that libgcc does not have.
    add_link_options(--rtlib=compiler-rt --unwindlib=libgcc)
  endif()
endif()

# What every target of ours compiles with; linked PRIVATE or through lumen_base.
add_library(lumen_warnings INTERFACE)
target_compile_options(lumen_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc's flow warnings depend on what it inlines, so on its version, the processor and the sanitisers, and find faults
  # that are not there.
  target_compile_options(lumen_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                                                  -Wno-maybe-uninitialized -Wno-free-nonheap-object)
endif()

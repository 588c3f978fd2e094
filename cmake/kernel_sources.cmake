# codegen_version() in lumen_codegen: lumen/codegen/codegen_version.h.
file(GLOB kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lumen/codegen/* ${PROJECT_SOURCE_DIR}/lumen/kernel/*)
list(FILTER kernel_sources INCLUDE REGEX "\\.(h|cpp)$")
list(JOIN kernel_sources "," joined)
set(version_file ${PROJECT_BINARY_DIR}/codegen_version.cpp)
set(version_script ${PROJECT_SOURCE_DIR}/cmake/codegen_version.cmake)
add_custom_command(OUTPUT ${version_file} DEPENDS ${kernel_sources} ${version_script}
                   COMMAND ${CMAKE_COMMAND} -DSOURCES=${joined} -DOUTPUT=${version_file} -P ${version_script} VERBATIM)
target_sources(lumen_codegen PRIVATE ${version_file})
# It changes with any of those: only this file is compiled anew then.
set_source_files_properties(${version_file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Writes OUTPUT, the source of codegen_version(): a hash of the SOURCES that decide what kernels are printed and how.
#   cmake -DSOURCES=a.cpp,b.h -DOUTPUT=version.cpp -P codegen_version.cmake
string(REPLACE "," ";" sources "${SOURCES}")
list(SORT sources)
set(content "")
foreach(source IN LISTS sources)
  file(MD5 ${source} hash)
  cmake_path(GET source FILENAME name)
  string(APPEND content "${name} ${hash}\n")
endforeach()
string(MD5 hash "${content}")
string(SUBSTRING ${hash} 0 12 version)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
     "#include \"lumen/codegen/codegen_version.h\"\n\nnamespace lumen {\n\nstd::string_view codegen_version() { return \"${version}\"; }\n\n}  // namespace lumen\n")

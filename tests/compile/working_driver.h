// A driver of CUDA with memory and launches, and kernels that do what a file says: nothing, or harm.
#pragma once

#include <string>

#include "tests/compile/cuda_fakes.h"

namespace lumen::tests {

// `folder` has the files `behaviour`, lines of a function and what its launch does (illegal, hang, crash), and
// `launches`, to which each launch adds a line: the process, the function, blocks, threads, rows, and the first bytes
// of the first input. Objects are the texts of their kernels (text_compiler).
inline std::string working_driver(std::string text, const std::string& folder) {
  const auto replace = [&](const std::string& symbol, const std::string& parameters, const std::string& body) {
    text = with(std::move(text), symbol, "int " + symbol + "(" + parameters + ") { " + body + " return lost; }");
  };
  const std::string any = ": 1000";  // an attribute
  text.replace(text.find(any), any.size(), ": which == 97 ? 232448 : which == 16 ? 132 : 1 << 20");
  replace("cuDeviceGetName", "char* name, int n, int d", "strcpy(name, \"Fake\");");
  replace("cuMemAlloc_v2", "char** p, size_t n", "if (n >> 40) return 2; *p = calloc(1, n + 256);");
  replace("cuMemFree_v2", "char* p", "if (hangs) pause(); free(p);");
  replace("cuMemAllocHost_v2", "char** p, size_t n", "*p = calloc(1, n + 256);");
  replace("cuMemFreeHost", "char* p", "if (hangs) pause(); free(p);");
  replace("cuMemcpyHtoDAsync_v2", "char* to, const char* from, size_t n, void* s", "memcpy(to, from, n);");
  replace("cuMemcpyDtoHAsync_v2", "char* to, const char* from, size_t n, void* s", "memcpy(to, from, n);");
  replace("cuMemcpyDtoDAsync_v2", "char* to, const char* from, size_t n, void* s", "memcpy(to, from, n);");
  replace("cuMemsetD8Async", "char* to, unsigned char value, size_t n, void* s", "memset(to, value, n);");
  replace("cuStreamSynchronize", "void* s", "while (hangs) pause();");
  replace("cuStreamQuery", "void* s", "if (hangs) return 600;");
  replace("cuEventElapsedTime", "float* ms, void* a, void* b", "*ms = 0.25f;");
  replace("cuModuleLoadData", "char** m, const char* image", "*m = strdup(image);");
  replace("cuModuleGetFunction", "char** f, char* m, const char* name",
          "if (strstr(m, name) == 0) return 500; *f = strdup(name);");
  replace("cuLaunchKernelEx", "unsigned* config, char* name, unsigned long long** parameters, void** more",
          "behave(config, name, parameters[0]); return 0;");
  return "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
         "static int lost, hangs;\n"
         "static void behave(unsigned* config, char* name, unsigned long long* words) {\n"
         "  FILE* said = fopen(\"" +
         folder +
         "/launches\", \"a\");\n"
         "  if (strncmp(name, \"joint\", 5) == 0) words += name[5] - '0';\n"
         "  fprintf(said, \"%d %s %u %u %lld %08x\\n\", getpid(), name, config[0], config[3],\n"
         "          words[1] ? *(long long*)words[1] : (long long)words[0], *(unsigned*)words[4]);\n"
         "  fclose(said);\n"
         "  FILE* file = fopen(\"" +
         folder +
         "/behaviour\", \"r\");\n"
         "  char function[300], what[30];\n"
         "  while (file && fscanf(file, \"%299s %29s\", function, what) == 2) {\n"
         "    if (strcmp(function, name) != 0) continue;\n"
         "    if (strcmp(what, \"illegal\") == 0) lost = 700;\n"
         "    if (strcmp(what, \"hang\") == 0) hangs = 1;\n"
         "    if (strcmp(what, \"crash\") == 0) abort();\n"
         "  }\n"
         "  if (file) fclose(file);\n"
         "}\n" +
         text;
}

// A compiler whose objects are the texts.
inline std::string text_compiler(std::string text) {
  const auto replace = [&](const std::string& symbol, const std::string& definition) {
    text = with(std::move(text), symbol, definition);
  };
  const std::string size = "*n = 4";
  text.replace(text.find(size), size.size(), "*n = strlen(p) + 1");
  replace("nvrtcCreateProgram", "int nvrtcCreateProgram(char** p, const char* text) { *p = strdup(text); return 0; }");
  replace("nvrtcGetCUBIN", "int nvrtcGetCUBIN(char* p, char* to) { strcpy(to, p); return 0; }");
  return "#include <string.h>\n" + text;
}

}  // namespace lumen::tests

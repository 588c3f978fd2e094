// Program files: a compiled graph on disk, that runs without a compiler and without the search.
//
//   lumen-program 3 <bytes of the description> <bytes of the code> <checksum>
//   the description, as JSON; then the shared libraries with the kernels, one for each variant
//
// A file is whole or refused: a version, a processor or bytes that do not fit are errors that say so.
#pragma once

#include <string>
#include <string_view>

#include "lumen/backend/cpu/cpu_features.h"
#include "lumen/runtime/session.h"
#include "lumen/runtime/variants.h"

namespace lumen {

// All variants are for the device; each has code of its own.
std::string program_text(const Graph& graph, std::span<const Variant> variants, const Device& device);

struct LoadedProgram {
  std::shared_ptr<const Graph> graph;    // as the user wrote it
  std::shared_ptr<const Device> device;  // null: the processor
  std::vector<Variant> variants;
};
// `name` is the file's, for messages. `have` is what this machine can do.
Expected<LoadedProgram> parse_program(std::string_view bytes, const std::string& name,
                                      const cpu::CpuFeatures& have = cpu::cpu());

void save_program(const std::string& path, const Graph& graph, std::span<const Variant> variants, const Device& device);
// Throws lumen::Error.
Session load_program(const std::string& path);
// Whether the file begins as a program does.
bool is_program_file(const std::string& path);

}  // namespace lumen

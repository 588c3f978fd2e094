#include <fmt/format.h>

#include "lumen/base/file.h"
#include "lumen/ir/text.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

Expected<int> check_ir(const IrOptions& options) {
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(options.file));
  fmt::print("{}: ok, {}, {}, {}, {}, hash {:016x}\n", options.file, counted(graph->order().size(), "node"),
             counted(graph->inputs().size(), "input"), counted(graph->outputs().size(), "output"),
             counted(graph->dims().size(), "dim"), graph->hash());
  return 0;
}

Expected<int> format_ir(const IrOptions& options) {
  if (options.in_place && options.file == "-") return error("-i needs a file, not stdin");
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(options.file));
  const std::string text = print(*graph);
  if (options.in_place) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    LUMEN_TRY(write_file(options.file, std::span(&bytes, 1)));
  } else {
    fmt::print("{}", text);
  }
  return 0;
}

Expected<int> print_ir_dot(const IrOptions& options) {
  const std::shared_ptr<Graph> graph = LUMEN_TRY(read_graph(options.file));
  fmt::print("{}", print_dot(*graph));
  return 0;
}

}  // namespace lumen::tools

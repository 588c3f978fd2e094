#include "tools/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>

#include "lumen/base/file.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/ir/verify.h"
#include "lumen/kernel/contract.h"

namespace lumen::tools {

namespace {

Expected<std::string> read_stream(std::FILE* stream, const std::string& file) {
  std::string text;
  char block[1 << 16];
  for (size_t count = 0; (count = std::fread(block, 1, sizeof block, stream)) > 0;) text.append(block, count);
  if (std::ferror(stream) != 0) return error(fmt::format("{}: cannot read: {}", file, std::strerror(errno)));
  return text;
}

}  // namespace

Expected<std::string> read_text(const std::string& file) {
  if (file == "-") return read_stream(stdin, "stdin");
  std::FILE* stream = std::fopen(file.c_str(), "rb");
  if (stream == nullptr) return error(fmt::format("{}: cannot open: {}", file, std::strerror(errno)));
  Expected<std::string> text = read_stream(stream, file);
  std::fclose(stream);
  return text;
}

Expected<void> write_text(const std::string& file, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return write_file(file, std::span(&bytes, 1));
}

Expected<void> check_writable(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
  return error(fmt::format("{}: no such folder", folder.string()));
}

namespace {

Expected<std::shared_ptr<Graph>> read_graph_of(const std::string& file, const OpTable& ops, const Stage& stage,
                                               std::vector<Statement>* statements) {
  const std::string text = LUMEN_TRY(read_text(file));
  std::shared_ptr<Graph> graph = LUMEN_TRY(parse(text, ops, file == "-" ? "<stdin>" : file, statements));
  const Expected<void> verified = verify(*graph, stage);
  if (!verified.ok()) return error(fmt::format("{}: {}", file, verified.diag().str()));
  return graph;
}

}  // namespace

Expected<std::shared_ptr<Graph>> read_any_graph(const std::string& file) {
  return read_graph_of(file, llir_ops(), llir_stage(), nullptr);
}

Expected<std::shared_ptr<Graph>> read_graph(const std::string& file, std::vector<Statement>* statements) {
  return read_graph_of(file, hlir_ops(), hlir_stage(), statements);
}

}  // namespace lumen::tools

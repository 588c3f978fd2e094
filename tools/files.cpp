#include "tools/files.h"

#include <fmt/format.h>
#include <unistd.h>

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

// A copy of the descriptor that stdout had, when a file called "-" has taken it.
int taken_stdout = -1;

Diag stdout_error() {
  return error(fmt::format("stdout: cannot write: {}", errno == 0 ? "some of the text is lost" : std::strerror(errno)));
}

Expected<void> take_stdout() {
  if (taken_stdout >= 0) return error("-: stdout can be written to by one option only");
  std::fflush(stdout);
  taken_stdout = dup(STDOUT_FILENO);
  if (taken_stdout < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return stdout_error();
  return {};
}

Expected<void> write_to(int descriptor, std::string_view text) {
  std::fflush(stdout);
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return stdout_error();
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
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
  if (file == "-") return write_to(taken_stdout < 0 ? STDOUT_FILENO : taken_stdout, text);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return write_file(file, std::span(&bytes, 1));
}

Expected<void> check_writable(const std::string& file) {
  if (file == "-") return take_stdout();
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
  return error(fmt::format("{}: no such folder", folder.string()));
}

Expected<void> refuse_stdout(std::string_view option, const std::string& file) {
  if (file != "-") return {};
  return error(fmt::format("{} -: this is not written to stdout; name a file", option));
}

Expected<void> finish_stdout() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  return flushed && std::ferror(stdout) == 0 ? Expected<void>() : stdout_error();
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

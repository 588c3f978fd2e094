// Sizes are in shapes, in views and in fields of ops, and belong together in ways that only the graph's author knows.
// So every place of a number changes at once, in the text; what is no graph then is left out.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <functional>
#include <optional>
#include <string>

#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"
#include "lumen/kernel/graph_edit.h"

namespace lumen {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%'; }

// The text with every word (of letters, digits, _ . and %) that `change` has something for replaced.
std::string with_words(std::string_view text,
                       const std::function<std::optional<std::string>(std::string_view)>& change) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {  // names stay
      const size_t end = std::min(text.find('"', at + 1), text.size() - 1);
      result += text.substr(at, end - at + 1);
      at = end + 1;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    result += change(word).value_or(std::string(word));
    at = end;
  }
  return result;
}

std::optional<int64_t> number_of(std::string_view word) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc() && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

// Every n becomes m, and with `multiples` every multiple of n that multiple of m.
std::string with_number(std::string_view text, int64_t n, int64_t m, bool multiples) {
  return with_words(text, [&](std::string_view word) -> std::optional<std::string> {
    if (const size_t dots = word.find(".."); dots != std::string_view::npos) {  // the bounds of a dim
      const auto hi = number_of(word.substr(dots + 2));
      if (hi != n) return std::nullopt;
      return fmt::format("{}..{}", word.substr(0, dots), m);
    }
    const auto value = number_of(word);
    if (!value || (*value != n && !(multiples && *value != 0 && *value % n == 0))) return std::nullopt;
    return std::to_string(*value / n * m);
  });
}

std::string without_dim(std::string text, std::string_view dim, int64_t size) {
  const std::string line = fmt::format("dim {} ", dim);
  const size_t at = text.find(line);
  if (at == std::string::npos) return text;
  text.erase(at, text.find('\n', at) + 1 - at);
  return with_words(
      text, [&](std::string_view word) { return word == dim ? std::optional(std::to_string(size)) : std::nullopt; });
}

std::set<int64_t> sizes_in(const Graph& graph) {
  std::set<int64_t> sizes;
  for (const NodeId id : graph.order()) {
    for (const Expr& dim : graph[id].type.shape) {
      if (dim.constant().value_or(0) > 1) sizes.insert(*dim.constant());
    }
  }
  return sizes;
}

}  // namespace

std::vector<std::shared_ptr<const Graph>> with_smaller_sizes(const Graph& graph) {
  const std::string text = print(graph);
  std::vector<std::shared_ptr<const Graph>> graphs;
  const auto add = [&](const std::string& changed) {
    if (changed == text) return;
    const Expected<std::shared_ptr<Graph>> read = parse(changed, llir_ops());
    if (read.ok() && verify(**read, llir_stage()).ok()) graphs.push_back(*read);
  };
  for (const Expr& dim : graph.dims()) {
    const auto [lo, hi] = dim.dim_bounds();
    for (const int64_t size : {lo, lo + 1, (lo + hi) / 2}) {
      if (size <= hi) add(without_dim(text, dim.dim_name(), size));
    }
  }
  for (const int64_t size : sizes_in(graph)) {
    for (const int64_t smaller : {int64_t{1}, int64_t{2}, int64_t{3}, size / 8, size / 2, size - 1}) {
      if (smaller < 1 || smaller >= size) continue;
      for (const bool multiples : {true, false}) add(with_number(text, size, smaller, multiples));
    }
  }
  return graphs;
}

}  // namespace lumen

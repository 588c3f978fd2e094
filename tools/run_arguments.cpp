#include "tools/run_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lumen/base/nearest.h"
#include "lumen/import/npy.h"
#include "lumen/import/safetensors.h"

namespace lumen::tools {

namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs()) names.push_back(graph[id].as<Input>().name.str());
  return names;
}

// Integers the dtype holds, or any finite numbers for floats.
Expected<ValueRange> parse_range(std::string_view text, DType dtype) {
  const size_t dots = text.find("..");
  const auto lo = parse_number<double>(text.substr(0, dots));
  const auto hi = dots == std::string_view::npos ? std::nullopt : parse_number<double>(text.substr(dots + 2));
  if (!lo || !hi || !std::isfinite(*lo) || !std::isfinite(*hi)) return error("a range is LO..HI, two numbers");
  if (*lo > *hi) return error("the range is empty");
  if (is_float(dtype)) return ValueRange{*lo, *hi};
  for (const double end : {*lo, *hi}) {
    const bool whole = std::floor(end) == end && std::abs(end) <= 0x1p53;
    if (!whole || wrap_to(dtype, static_cast<int64_t>(end)) != static_cast<int64_t>(end)) {
      return error(fmt::format("{} is no value of {}", end, name(dtype)));
    }
  }
  return ValueRange{*lo, *hi};
}

}  // namespace

Expected<std::pair<std::string, std::string>> parse_assignment(std::string_view option, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return error(fmt::format("{} {}: expected NAME=VALUE", option, text));
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Expected<void> require_name(std::string_view what, std::string_view name, std::span<const std::string> known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  if (const std::optional<std::string> guess = nearest(name, candidates)) {
    return error(fmt::format("the graph has no {} `{}`; did you mean `{}`?", what, name, *guess));
  }
  return error(fmt::format("the graph has no {} `{}` (it has: {})", what, name,
                           known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

Expected<FileNames> parse_files(std::string_view option, std::string_view what, std::span<const std::string> texts,
                                std::span<const std::string> known) {
  FileNames files;
  for (const std::string& text : texts) {
    auto [name, file] = LUMEN_TRY(parse_assignment(option, text));
    LUMEN_TRY(require_name(what, name, known));
    if (!files.emplace(name, file).second) return error(fmt::format("{} {}: {} is given twice", option, text, name));
  }
  return files;
}

Expected<DimValues> parse_dims(std::span<const std::string> texts, const Graph& graph) {
  std::vector<std::string> known;
  for (const Expr dim : graph.dims()) known.emplace_back(dim.dim_name());
  DimValues dims;
  for (const std::string& text : texts) {
    const auto [name, value] = LUMEN_TRY(parse_assignment("--dim", text));
    LUMEN_TRY(require_name("dim", name, known));
    if (dims.get(name)) return error(fmt::format("--dim {}: {} is given twice", text, name));
    const std::optional<int64_t> number = parse_number<int64_t>(value);
    if (!number) return error(fmt::format("--dim {}: `{}` is not an integer", text, value));
    const auto [lo, hi] = graph.find_dim(name)->dim_bounds();
    if (*number < lo || *number > hi) {
      return error(fmt::format("--dim {}: dim {} is declared as {}..{}", text, name, lo, hi));
    }
    dims.set(name, *number);
  }
  return dims;
}

Expected<Ranges> parse_ranges(std::span<const std::string> texts, const Graph& graph, const NamedTensors& given) {
  Ranges ranges;
  for (const std::string& text : texts) {
    const auto [input, value] = LUMEN_TRY(parse_assignment("--range", text));
    LUMEN_TRY(require_name("input", input, input_names(graph)));
    if (given.contains(input)) return error(fmt::format("--range {}: {} comes from a file", text, input));
    Expected<ValueRange> range = parse_range(value, graph[*graph.find_input(input)].type.dtype);
    if (!range.ok()) return error(fmt::format("--range {}: {}", text, range.diag().message));
    if (!ranges.emplace(input, *range).second) return error(fmt::format("--range {}: {} is given twice", text, input));
  }
  return ranges;
}

Expected<NamedTensors> read_tensors(const std::string& file) {
  const SafeTensors contents = LUMEN_TRY(SafeTensors::open(file));
  NamedTensors tensors;
  for (const auto& [name, entry] : contents.entries()) tensors[name] = LUMEN_TRY(contents.tensor(name));
  return tensors;
}

Expected<NamedTensors> read_inputs(const Graph& graph, const RunOptions& options) {
  const std::vector<std::string> known = input_names(graph);
  const FileNames files = LUMEN_TRY(parse_files("--input", "input", options.inputs, known));
  NamedTensors inputs;
  if (!options.inputs_file.empty()) {
    std::vector<std::string> unused;
    for (auto& [name, tensor] : LUMEN_TRY(read_tensors(options.inputs_file))) {
      if (!graph.find_input(name)) {
        unused.push_back(name);
      } else if (files.contains(name)) {
        return error(fmt::format("input {} is given by --input and by {}", name, options.inputs_file));
      } else {
        inputs[name] = std::move(tensor);
      }
    }
    if (!unused.empty()) {
      fmt::print(stderr, "{}: not inputs, ignored: {}\n", options.inputs_file, fmt::join(unused, ", "));
    }
  }
  for (const auto& [name, file] : files) inputs[name] = LUMEN_TRY(read_npy(file));
  return inputs;
}

}  // namespace lumen::tools

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "lumen/import/blocks.h"
#include "lumen/import/weights.h"
#include "tools/commands.h"
#include "tools/statistics.h"

namespace lumen::tools {

namespace {

using Json = nlohmann::ordered_json;

struct Total {
  int64_t tensors = 0;
  int64_t elements = 0;
  size_t bytes = 0;

  void add(const Weight& weight) {
    ++tensors;
    elements += count_elements(weight.dims).value_or(0);
    bytes += weight.bytes.size();
  }
};

std::map<std::string, Total> totals_by_type(const Weights& weights) {
  std::map<std::string, Total> result;
  for (const auto& [name, weight] : weights.entries()) result[weight.type_name].add(weight);
  return result;
}

Total total_of(const Weights& weights) {
  Total total;
  for (const auto& [name, weight] : weights.entries()) total.add(weight);
  return total;
}

// "12.3 MB", in powers of 1000.
std::string size_text(size_t bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const auto& [unit, name] : kUnits) {
    if (static_cast<double>(bytes) >= unit) return fmt::format("{:.3g} {}", static_cast<double>(bytes) / unit, name);
  }
  return fmt::format("{} B", bytes);
}

Json json_of(const GgufValue& value) {
  const auto one = [&](const auto& each) -> Json {
    if constexpr (std::is_same_v<std::decay_t<decltype(each)>, int64_t>) {
      if (value.type == GgufType::bool_) return each != 0;
      if (value.type == GgufType::u64) return static_cast<uint64_t>(each);
    }
    if constexpr (std::is_same_v<std::decay_t<decltype(each)>, double>) {
      if (value.type == GgufType::f32) return std::stod(shortest_digits(DType::f32, each));
    }
    return each;
  };
  return std::visit(
      [&](const auto& values) -> Json {
        if (!value.is_array) return one(values[0]);
        Json list = Json::array();
        for (const auto& each : values) list.push_back(one(each));
        return list;
      },
      value.values);
}

std::string dumped(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// On one line; long texts and lists are cut.
std::string value_text(const GgufValue& value) {
  constexpr size_t kShownElements = 6, kLongest = 80;
  if (!value.is_array) {
    const std::string text = dumped(json_of(value));
    return text.size() <= kLongest ? text : fmt::format("{}… ({} bytes)", text.substr(0, kLongest), text.size());
  }
  GgufValue first = value;
  std::visit([&](auto& values) { values.resize(std::min(values.size(), size_t{kShownElements})); }, first.values);
  const std::string text = dumped(json_of(first));
  return value.size() <= kShownElements
             ? text
             : fmt::format("{},…] ({} values)", text.substr(0, text.size() - 1), value.size());
}

void print_metadata(const Weights& weights) {
  size_t width = 0;
  const GgufMetadata none;
  const GgufMetadata& values = weights.gguf() != nullptr ? weights.gguf()->metadata() : none;
  for (const auto& [key, value] : values) width = std::max(width, key.size());
  for (const auto& [key, text] : weights.remarks()) width = std::max(width, key.size());
  if (width > 0) fmt::print("metadata\n");
  for (const auto& [key, value] : values) {
    fmt::print("  {:<{}}  {:<8}  {}\n", key, width, value.type_text(), value_text(value));
  }
  for (const auto& [key, text] : weights.remarks()) fmt::print("  {:<{}}  {}\n", key, width, dumped(text));
}

void print_listing(const Weights& weights) {
  const Gguf* const gguf = weights.gguf();
  const size_t files = weights.files().size();
  fmt::print("{}: {}{}\n", weights.path(),
             gguf != nullptr ? fmt::format("GGUF version {}", gguf->version()) : std::string("safetensors"),
             gguf != nullptr && files == 1 ? "" : fmt::format(", {} file{}", files, files == 1 ? "" : "s"));
  print_metadata(weights);
  size_t width = 0, type_width = 0;
  for (const auto& [name, weight] : weights.entries()) {
    width = std::max(width, name.size());
    type_width = std::max(type_width, weight.type_name.size());
  }
  if (!weights.entries().empty()) fmt::print("tensors\n");
  for (const auto& [name, weight] : weights.entries()) {
    fmt::print("  {:<{}}  {:<{}}  {:>10}  [{}]\n", name, width, weight.type_name, type_width,
               weight.type ? size_text(weight.bytes.size()) : "?", fmt::join(weight.dims, ","));
  }
  fmt::print("types\n");
  for (const auto& [type, total] : totals_by_type(weights)) {
    fmt::print("  {:<8} {:>6} tensors {:>15} elements {:>10}\n", type, total.tensors, total.elements,
               size_text(total.bytes));
  }
  const Total total = total_of(weights);
  fmt::print("total: {} tensors, {} elements, {}\n", total.tensors, total.elements, size_text(total.bytes));
}

Json json_of(const Weights& weights) {
  Json json{{"path", weights.path()}, {"format", weights.gguf() != nullptr ? "gguf" : "safetensors"}};
  json["files"] = weights.files();
  json["metadata"] = Json::object();
  if (weights.gguf() != nullptr) {
    json["version"] = weights.gguf()->version();
    for (const auto& [key, value] : weights.gguf()->metadata()) json["metadata"][key] = json_of(value);
  }
  for (const auto& [key, text] : weights.remarks()) json["metadata"][key] = text;
  json["tensors"] = Json::array();
  for (const auto& [name, weight] : weights.entries()) {
    json["tensors"].push_back(
        {{"name", name}, {"type", weight.type_name}, {"dims", weight.dims}, {"bytes", weight.bytes.size()}});
  }
  const Total total = total_of(weights);
  json["elements"] = total.elements;
  json["bytes"] = total.bytes;
  return json;
}

// Blocks as the f32 values that they stand for.
HostTensor values_of(const Weight& weight) {
  const DType* const dtype = std::get_if<DType>(&*weight.type);
  HostTensor tensor{dtype != nullptr ? *dtype : DType::f32, weight.dims, {}};
  tensor.lanes.resize(static_cast<size_t>(count_elements(weight.dims).value_or(0)));
  if (dtype != nullptr) {
    unpack(*dtype, weight.bytes, tensor.lanes);
    return tensor;
  }
  std::vector<float> values(tensor.lanes.size());
  dequantise(std::get<BlockType>(*weight.type), weight.bytes, values);
  std::ranges::transform(values, tensor.lanes.begin(), [](float value) { return Lane{.f = value}; });
  return tensor;
}

std::string element_text(const HostTensor& tensor, size_t k) {
  if (is_float(tensor.dtype)) return shortest_digits(tensor.dtype, tensor.lanes[k].f);
  if (is_bool(tensor.dtype)) return tensor.lanes[k].i != 0 ? "true" : "false";
  return tensor.dtype == DType::u64 ? fmt::to_string(static_cast<uint64_t>(tensor.lanes[k].i))
                                    : fmt::to_string(tensor.lanes[k].i);
}

Expected<int> show_tensor(const Weights& weights, const InspectOptions& options) {
  const Weight* const weight = LUMEN_TRY(weights.find(options.tensor));
  const HostTensor tensor = values_of(*weight);
  const size_t count =
      options.count < 0 ? tensor.lanes.size() : std::min(tensor.lanes.size(), static_cast<size_t>(options.count));
  std::vector<std::string> texts;
  for (size_t k = 0; k < count; ++k) texts.push_back(element_text(tensor, k));
  if (options.json) {
    for (std::string& text : texts) {
      const bool is_number = text.find_first_of("0123456789") != text.npos || is_bool(tensor.dtype);
      if (!is_number) text = fmt::format("\"{}\"", text);  // nan, inf
    }
    fmt::print("{{\"name\":{},\"type\":\"{}\",\"dims\":[{}],\"values\":[{}]}}\n", dumped(Json(options.tensor)),
               weight->type_name, fmt::join(weight->dims, ","), fmt::join(texts, ","));
    return 0;
  }
  fmt::print("{}: {}[{}], {}\n{}\n", options.tensor, weight->type_name, fmt::join(weight->dims, ","),
             size_text(weight->bytes.size()), summary(tensor));
  const size_t row = weight->dims.empty() || weight->dims.back() == 0 ? 1 : static_cast<size_t>(weight->dims.back());
  for (size_t k = 0; k < count; ++k) fmt::print("{}{}", texts[k], (k + 1) % row == 0 || k + 1 == count ? "\n" : " ");
  if (count < tensor.lanes.size()) fmt::print("… {} more (--count)\n", tensor.lanes.size() - count);
  return 0;
}

}  // namespace

Expected<int> inspect_weights(const InspectOptions& options) {
  const Weights weights = LUMEN_TRY(Weights::open(options.path));
  if (!options.tensor.empty()) return show_tensor(weights, options);
  if (options.json) {
    fmt::print("{}\n", dumped(json_of(weights), 1));
  } else {
    print_listing(weights);
  }
  return 0;
}

}  // namespace lumen::tools

#include "models/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "lumen/base/file.h"
#include "nn/scope.h"

namespace lumen::models {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kOneFile = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kExperts = ".experts.";
constexpr size_t kMostNamed = 8;

// The files that an index names, without what could leave its folder.
Expected<std::set<std::string>> indexed_files(const std::string& path) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const Json index = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    return error(fmt::format("{}: not a JSON object with a weight_map", path));
  }
  std::set<std::string> names;
  for (const auto& [tensor, name] : index["weight_map"].items()) {
    if (!name.is_string() || name.get<std::string>().find('/') != std::string::npos) {
      return error(fmt::format("{}: the file of \"{}\" is not a name", path, tensor));
    }
    names.insert(name.get<std::string>());
  }
  return names;
}

int64_t numel_of(const std::vector<int64_t>& dims) {
  int64_t numel = 1;
  for (const int64_t dim : dims) numel *= dim;
  return numel;
}

std::string type_of(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(dims, ","));
}

// A file may put a tensor at any byte.
bool is_aligned(const SafeTensors::Entry& entry) {
  const auto bytes = static_cast<uintptr_t>(std::max(1, info(entry.dtype).bits / 8));
  return reinterpret_cast<uintptr_t>(entry.bytes.data()) % bytes == 0;
}

// The same floats, as another dtype stores them.
void convert(const SafeTensors::Entry& from, DType dtype, std::span<std::byte> to) {
  if (from.dtype == dtype) {
    std::memcpy(to.data(), from.bytes.data(), to.size());
    return;
  }
  std::vector<Lane> lanes(static_cast<size_t>(numel_of(from.dims)));
  unpack(from.dtype, from.bytes, lanes);
  for (Lane& lane : lanes) lane.f = round_to(dtype, lane.f);
  pack(dtype, lanes, to);
}

}  // namespace

Expected<Weights> Weights::of(std::vector<SafeTensors> files) { return Weights(std::move(files)); }

Expected<Weights> Weights::open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<SafeTensors> files;
  if (!fs::is_directory(path, ignored)) {
    files.push_back(LUMEN_TRY(SafeTensors::open(path)));
  } else if (fs::exists(fs::path(path) / kOneFile, ignored)) {
    files.push_back(LUMEN_TRY(SafeTensors::open((fs::path(path) / kOneFile).string())));
  } else if (fs::exists(fs::path(path) / kIndex, ignored)) {
    for (const std::string& name : LUMEN_TRY(indexed_files((fs::path(path) / kIndex).string()))) {
      files.push_back(LUMEN_TRY(SafeTensors::open((fs::path(path) / name).string())));
    }
  } else {
    return error(fmt::format("{}: has neither {} nor {}", path, kOneFile, kIndex));
  }
  return Weights(std::move(files));
}

const SafeTensors::Entry* Weights::find(std::string_view name) const {
  for (const SafeTensors& file : files_) {
    const auto found = file.entries().find(name);
    if (found != file.entries().end()) return &found->second;
  }
  return nullptr;
}

Weights::Found Weights::find_parts(const std::string& name, const std::vector<int64_t>& dims) const {
  if (const Entry* whole = find(name)) return {{whole}};
  if (const size_t dot = name.find('.'); dot != std::string::npos) {
    if (const Entry* whole = find(std::string_view(name).substr(dot + 1))) return {{whole}};
  }
  const size_t at = name.find(kExperts);
  if (at == std::string::npos || dims.empty()) return {};
  const size_t rest = at + kExperts.size();
  Found found{{}, true};
  for (int64_t expert = 0; expert < dims[0]; ++expert) {
    found.parts.push_back(find(fmt::format("{}{}.{}", name.substr(0, rest), expert, name.substr(rest))));
    if (found.parts.back() == nullptr) return {};
  }
  return found;
}

Expected<const void*> Weights::stored_as(DType dtype, const std::vector<int64_t>& dims, const Found& found,
                                         std::string_view name) {
  const std::vector<int64_t> wanted(dims.begin() + (found.by_expert ? 1 : 0), dims.end());
  for (const Entry* part : found.parts) {
    const bool converts = is_float(part->dtype) && is_float(dtype);
    if (part->dims == wanted && (converts || part->dtype == dtype)) continue;
    return error(fmt::format("parameter \"{}\" is {}, the file has {}", name, type_of(dtype, wanted),
                             type_of(part->dtype, part->dims)));
  }
  const Entry& first = *found.parts[0];
  if (!found.by_expert && first.dtype == dtype && is_aligned(first))
    return static_cast<const void*>(first.bytes.data());
  const auto each = static_cast<size_t>(storage_bytes(dtype, numel_of(wanted)));
  Buffer& buffer = converted_.emplace_back(static_cast<int64_t>(each * found.parts.size()));
  for (size_t k = 0; k < found.parts.size(); ++k) {
    convert(*found.parts[k], dtype, {buffer.data() + k * each, each});
  }
  return static_cast<const void*>(buffer.data());
}

Expected<void> Weights::bind(Session& session) {
  std::vector<std::string> missing;
  for (const nn::Parameter& parameter : nn::parameters(session.graph())) {
    const std::vector<int64_t> dims = LUMEN_TRY(parameter.type.shape.evaluate({}));
    const Found found = find_parts(parameter.name, dims);
    if (found.parts.empty()) {
      missing.push_back(parameter.name);
      continue;
    }
    const void* data = LUMEN_TRY(stored_as(parameter.type.dtype, dims, found, parameter.name));
    if (missing.empty()) session.bind(parameter.name, data, dims);
  }
  if (missing.empty()) return {};
  const size_t count = missing.size();
  missing.resize(std::min(count, kMostNamed));
  return error(fmt::format("the files lack {} of the model's parameters: {}{}", count, fmt::join(missing, ", "),
                           count > kMostNamed ? ", …" : ""));
}

}  // namespace lumen::models

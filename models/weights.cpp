#include "models/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::vector<const SafeTensors::Entry*> Weights::find_all(const std::string& name,
                                                         const std::vector<int64_t>& dims) const {
  if (const Entry* whole = find(name)) return {whole};
  if (const size_t dot = name.find('.'); dot != std::string::npos) {
    if (const Entry* whole = find(std::string_view(name).substr(dot + 1))) return {whole};
  }
  const size_t at = name.find(kExperts);
  if (at == std::string::npos || dims.empty()) return {};
  std::vector<const Entry*> parts;
  for (int64_t expert = 0; expert < dims[0]; ++expert) {
    const size_t rest = at + kExperts.size();
    parts.push_back(find(fmt::format("{}{}.{}", name.substr(0, rest), expert, name.substr(rest))));
    if (parts.back() == nullptr) return {};
  }
  return parts;
}

Expected<const void*> Weights::stored_as(const TensorType& type, const std::vector<int64_t>& dims,
                                         const std::vector<const Entry*>& parts, std::string_view name) {
  const bool whole = parts.size() == 1 && parts[0]->dims == dims;
  for (const Entry* part : parts) {
    std::vector<int64_t> wanted = dims;
    if (!whole) wanted.erase(wanted.begin());
    if (part->dims == wanted && is_float(part->dtype)) continue;
    return error(fmt::format("parameter \"{}\" is {}, the file has {}", name, type_of(type.dtype, wanted),
                             type_of(part->dtype, part->dims)));
  }
  if (whole && parts[0]->dtype == type.dtype) return static_cast<const void*>(parts[0]->bytes.data());
  const auto bytes = static_cast<size_t>(storage_bytes(type.dtype, numel_of(dims)));
  Buffer& buffer = converted_.emplace_back(static_cast<int64_t>(bytes));
  const size_t each = bytes / parts.size();
  for (size_t k = 0; k < parts.size(); ++k) {
    const std::span<std::byte> to{buffer.data() + k * each, each};
    if (parts[k]->dtype == type.dtype) {
      std::memcpy(to.data(), parts[k]->bytes.data(), each);
      continue;
    }
    std::vector<Lane> lanes(static_cast<size_t>(numel_of(parts[k]->dims)));
    unpack(parts[k]->dtype, parts[k]->bytes, lanes);
    for (Lane& lane : lanes) lane.f = round_to(type.dtype, lane.f);
    pack(type.dtype, lanes, to);
  }
  return static_cast<const void*>(buffer.data());
}

Expected<void> Weights::bind(Session& session) {
  std::vector<std::string> missing;
  for (const nn::Parameter& parameter : nn::parameters(session.graph())) {
    const std::vector<int64_t> dims = LUMEN_TRY(parameter.type.shape.evaluate({}));
    const std::vector<const Entry*> parts = find_all(parameter.name, dims);
    if (parts.empty()) {
      missing.push_back(parameter.name);
      continue;
    }
    const void* data = LUMEN_TRY(stored_as(parameter.type, dims, parts, parameter.name));
    if (missing.empty()) session.bind(parameter.name, data, dims);
  }
  if (missing.empty()) return {};
  const size_t count = missing.size();
  missing.resize(std::min(count, kMostNamed));
  return error(fmt::format("the files lack {} of the model's parameters: {}{}", count, fmt::join(missing, ", "),
                           count > kMostNamed ? ", …" : ""));
}

}  // namespace lumen::models

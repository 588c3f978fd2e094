#include "lumen/import/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "lumen/base/file.h"
#include "lumen/base/nearest.h"
#include "lumen/import/gguf_split.h"
#include "lumen/import/safetensors.h"
#include "lumen/import/shard_index.h"

namespace lumen {

namespace {

constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool starts_as_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
}

Expected<std::string> file_of_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* const name : {kWhole, kIndex}) {
    if (std::filesystem::exists(folder / name, ignored)) return (folder / name).string();
  }
  return error(fmt::format("{}: the folder has neither {} nor {}", folder.string(), kWhole, kIndex));
}

}  // namespace

Expected<Weights> Weights::open(const std::string& path) {
  Weights weights;
  weights.path_ = path;
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const std::string file = is_folder ? LUMEN_TRY(file_of_folder(path)) : path;
  if (file.ends_with(".json")) {
    LUMEN_TRY(weights.add_shards(file));
  } else if (starts_as_gguf(LUMEN_TRY(MappedFile::open(file)).bytes()) || file.ends_with(".gguf")) {
    LUMEN_TRY(weights.add_gguf(file));
  } else {
    LUMEN_TRY(weights.add_safetensors(file));
  }
  return weights;
}

Expected<void> Weights::add_gguf(const std::string& path) {
  const auto opened = std::make_shared<const Gguf>(LUMEN_TRY(Gguf::open(path)));
  const std::vector<std::string> parts = LUMEN_TRY(gguf_parts(*opened));
  std::error_code ignored;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (std::filesystem::exists(parts[k], ignored)) continue;
    return error(fmt::format("{}: part {} of {} is missing: {}", path, k + 1, parts.size(), parts[k]));
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto part = parts[k] == path ? opened : std::make_shared<const Gguf>(LUMEN_TRY(Gguf::open(parts[k])));
    if (parts.size() > 1) LUMEN_TRY(check_gguf_part(*part, k, parts.size()));
    LUMEN_TRY(add_gguf_part(part));
  }
  constexpr std::string_view kCount = "split.tensors.count";
  if (parts.size() == 1 || !gguf_->has(kCount)) return {};
  const int64_t wanted = LUMEN_TRY(gguf_->integer(kCount));
  if (wanted == std::ssize(entries_)) return {};
  return error(fmt::format("{}: metadata \"{}\" is {}, the {} parts have {} tensors", parts[0], kCount, wanted,
                           parts.size(), entries_.size()));
}

Expected<void> Weights::add_gguf_part(const std::shared_ptr<const Gguf>& part) {
  for (const auto& [key, entry] : part->entries()) {
    const std::optional<StorageType> type = storage_type(entry.type);
    const Weight weight{type, type ? std::string(name(*type)) : name(entry.type), entry.dims, entry.bytes,
                        files_.size()};
    if (!entries_.emplace(key, weight).second) return named_twice(part->path(), key);
  }
  if (!gguf_) gguf_ = part;
  files_.push_back(part->path());
  kept_.push_back(part);
  return {};
}

Diag Weights::named_twice(const std::string& path, const std::string& tensor) const {
  const std::string& first = files_[entries_.find(tensor)->second.file];
  return error(fmt::format("{}: tensor \"{}\" is also in {}", path, tensor, first));
}

Expected<void> Weights::add_safetensors(const std::string& path) {
  auto file = std::make_shared<const SafeTensors>(LUMEN_TRY(SafeTensors::open(path)));
  for (const auto& [key, entry] : file->entries()) {
    const Weight weight{entry.dtype, std::string(name(entry.dtype)), entry.dims, entry.bytes, files_.size()};
    if (!entries_.emplace(key, weight).second) return named_twice(path, key);
  }
  for (const auto& [key, text] : file->metadata()) remarks_[key] = text;
  files_.push_back(path);
  kept_.push_back(std::move(file));
  return {};
}

Expected<void> Weights::add_shards(const std::string& index_path) {
  const MappedFile text = LUMEN_TRY(MappedFile::open(index_path));
  const std::string_view characters(reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size());
  const ShardIndex index = LUMEN_TRY(parse_shard_index(characters, index_path));
  std::set<std::string> shards;
  for (const auto& [name, shard] : index) shards.insert(shard);
  for (const std::string& shard : shards) {
    const std::string path = (std::filesystem::path(index_path).parent_path() / shard).string();
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      const auto count = std::ranges::count(index, shard, [](const auto& each) { return each.second; });
      return error(fmt::format("{}: the shard {} is missing; {} tensors are in it", index_path, shard, count));
    }
    LUMEN_TRY(add_safetensors(path));
  }
  for (const auto& [name, weight] : entries_) {
    const std::string shard = std::filesystem::path(files_[weight.file]).filename().string();
    const auto named = index.find(name);
    if (named != index.end() && named->second == shard) continue;
    return error(fmt::format("{}: {} has tensor \"{}\", which the index {}", index_path, shard, name,
                             named == index.end() ? "does not have" : fmt::format("puts into {}", named->second)));
  }
  for (const auto& [name, shard] : index) {
    if (!entries_.contains(name)) return error(fmt::format("{}: {} has no tensor \"{}\"", index_path, shard, name));
  }
  return {};
}

Expected<const Weight*> Weights::find(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, weight] : entries_) names.emplace_back(known);
    const std::optional<std::string> guess = nearest(name, names);
    return error(
        fmt::format("{}: no tensor \"{}\"{}", path_, name, guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
  }
  if (found->second.type) return &found->second;
  return error(
      fmt::format("{}: tensor \"{}\" has the type {}, which is not supported", path_, name, found->second.type_name));
}

}  // namespace lumen

#include "lumen/import/shard_index.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lumen/import/json_object.h"

namespace lumen {

Expected<ShardIndex> parse_shard_index(std::string_view text, std::string_view path) {
  const nlohmann::json index = LUMEN_TRY(parse_json_object(text, path, "index"));
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object())
    return error(fmt::format("{}: no \"weight_map\" from names to files", path));
  ShardIndex result;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string()) return error(fmt::format("{}: tensor \"{}\" is in no file: {}", path, name, file.dump()));
    const std::string shard = file.get<std::string>();
    if (shard.empty() || shard.starts_with('.') || shard.find_first_of(std::string_view("/\\\0", 3)) != shard.npos) {
      return error(fmt::format("{}: tensor \"{}\" is in {}, which is no file of this folder", path, name, file.dump()));
    }
    result.emplace(name, shard);
  }
  if (result.empty()) return error(fmt::format("{}: an index of no tensors", path));
  return result;
}

}  // namespace lumen

// model.safetensors.index.json: which file of a folder holds which tensor.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lumen/base/expected.h"

namespace lumen {

using ShardIndex = std::map<std::string, std::string, std::less<>>;  // from tensors to file names

// Of the text of an index; `path` is for messages. A file name names a file of the same folder, nothing else.
Expected<ShardIndex> parse_shard_index(std::string_view text, std::string_view path);

}  // namespace lumen

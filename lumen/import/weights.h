// The weights of a model, whatever holds them: a GGUF file or the parts of one, a .safetensors file, or a folder of
// .safetensors shards.
// Everything stays mapped; nothing is copied.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/gguf.h"
#include "lumen/import/storage_type.h"

namespace lumen {

struct Weight {
  std::optional<StorageType> type;   // nothing for a type that has no meaning here
  std::string type_name;             // "f32", "q8_0", "IQ2_XXS"
  std::vector<int64_t> dims;         // the outermost first
  std::span<const std::byte> bytes;  // in the mapping; empty without a type
  size_t file = 0;                   // which of Weights::files()
};

class Weights {
 public:
  using Entries = std::map<std::string, Weight, std::less<>>;

  // A .gguf or .safetensors file, an index of shards, or a folder that has model.safetensors or
  // model.safetensors.index.json. With an index, each tensor is in the shard that it names, and nowhere else. Any part
  // of a GGUF file in parts (gguf_split.h) stands for all of them.
  static Expected<Weights> open(const std::string& path);

  const std::string& path() const { return path_; }  // what was opened
  // The files, shards and parts in the order of their names.
  const std::vector<std::string>& files() const { return files_; }
  const Entries& entries() const { return entries_; }
  // The file itself, with its metadata, when it is a GGUF file; the first of its parts.
  const Gguf* gguf() const { return gguf_.get(); }
  // What .safetensors files say beside their tensors; of shards, the last to say it.
  const std::map<std::string, std::string, std::less<>>& remarks() const { return remarks_; }

  // An error that suggests the nearest name when there is none, and one that names a type without a meaning here.
  Expected<const Weight*> find(std::string_view name) const;

 private:
  Expected<void> add_safetensors(const std::string& path);
  Expected<void> add_shards(const std::string& index);
  Expected<void> add_gguf(const std::string& path);
  Expected<void> add_gguf_part(const std::shared_ptr<const Gguf>& part);
  Diag named_twice(const std::string& path, const std::string& tensor) const;

  std::string path_;
  std::vector<std::string> files_;
  Entries entries_;
  std::shared_ptr<const Gguf> gguf_;
  std::map<std::string, std::string, std::less<>> remarks_;
  std::vector<std::shared_ptr<const void>> kept_;  // the files whose mappings the entries point into
};

// What a model needs of a file.
struct WantedWeight {
  std::string name;
  std::vector<int64_t> dims;
  std::optional<StorageType> type;  // nothing: any that has a meaning
};

// Everything that is missing, not wanted, or of the wrong type or dims, in one error.
Expected<void> check_weights(const Weights& weights, std::span<const WantedWeight> wanted);

}  // namespace lumen

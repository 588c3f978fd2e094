// GGUF files, versions 2 and 3: metadata and named tensors. A file is mapped, so opening a large one costs little.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/gguf_value.h"
#include "lumen/import/tensor_to_write.h"

namespace lumen {

inline constexpr size_t kMaxGgufDims = 4;  // of one tensor

class Gguf {
 public:
  struct Entry {
    GgmlType type;
    std::vector<int64_t> dims;         // the outermost first: the reverse of the file
    std::span<const std::byte> bytes;  // in the mapping; empty when the type has no meaning here
  };

  // The whole header is checked: counts, lengths, types, names, alignment, ranges, overlaps, what belongs to no tensor.
  static Expected<Gguf> open(const std::string& path);
  // The same from memory, which must outlive the object; `path` is for messages.
  static Expected<Gguf> parse(std::span<const std::byte> bytes, std::string_view path);

  const std::string& path() const { return path_; }
  int version() const { return version_; }
  int64_t alignment() const { return alignment_; }
  const GgufMetadata& metadata() const { return metadata_; }
  // By name, sorted.
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  // The value of a key; an error when it is absent or of another kind. A number may be an integer or a float.
  Expected<int64_t> integer(std::string_view key) const;
  Expected<double> number(std::string_view key) const;
  Expected<bool> boolean(std::string_view key) const;
  Expected<std::string> string(std::string_view key) const;
  Expected<std::vector<std::string>> strings(std::string_view key) const;
  Expected<std::vector<int64_t>> integers(std::string_view key) const;
  Expected<std::vector<double>> numbers(std::string_view key) const;
  bool has(std::string_view key) const { return metadata_.contains(key); }

 private:
  friend class GgufParser;
  Expected<const GgufValue*> find(std::string_view key, bool is_array) const;

  std::string path_;
  std::shared_ptr<const void> mapping_;
  int version_ = 3;
  int64_t alignment_ = 32;
  GgufMetadata metadata_;
  std::map<std::string, Entry, std::less<>> entries_;
};

// Version 3, in the order of the names; replaces the file atomically. The same tensors and metadata give the same
// bytes. Errors for dtypes that GGUF does not have, more than 4 dims, rows that are no whole blocks, names given twice.
Expected<void> write_gguf(const std::string& path, const GgufMetadata& metadata, std::vector<TensorToWrite> tensors,
                          const WroteBytes& wrote = {});

}  // namespace lumen

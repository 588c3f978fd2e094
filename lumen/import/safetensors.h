// .safetensors files: named tensors. A file is mapped, so opening a large one costs little; tensors are read on demand.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/import/tensor_to_write.h"
#include "lumen/ir/host_tensor.h"

namespace lumen {

class SafeTensors {
 public:
  struct Entry {
    DType dtype;
    std::vector<int64_t> dims;
    std::span<const std::byte> bytes;  // the elements, in the mapping
  };

  // The whole header is checked: sizes, ranges, overlaps, names, bytes that belong to no tensor.
  static Expected<SafeTensors> open(const std::string& path);
  // The same from memory, which must outlive the object; `path` is for messages.
  static Expected<SafeTensors> parse(std::span<const std::byte> bytes, std::string_view path);

  // By name, sorted.
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
  // An error that suggests the nearest name when there is none.
  Expected<HostTensor> tensor(std::string_view name) const;

 private:
  std::string path_;
  std::shared_ptr<const void> mapping_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

// Replaces the file atomically; the same tensors give the same bytes. Errors for dtypes the format does not have.
Expected<void> write_safetensors(const std::string& path, const std::map<std::string, HostTensor, std::less<>>& tensors,
                                 const std::map<std::string, std::string, std::less<>>& metadata = {});
Expected<void> write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                                 const std::map<std::string, std::string, std::less<>>& metadata = {},
                                 const WroteBytes& wrote = {});

}  // namespace lumen

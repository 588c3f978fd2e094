// NumPy's .npy files, versions 1 to 3: little-endian bool, integers and f16, f32, f64, in C or Fortran order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lumen/ir/host_tensor.h"

namespace lumen {

Expected<HostTensor> read_npy(const std::string& path);
// The same from memory; `path` is for messages.
Expected<HostTensor> parse_npy(std::span<const std::byte> bytes, std::string_view path);

// In C order; replaces the file atomically. An error for a dtype that NumPy does not have.
Expected<void> write_npy(const std::string& path, const HostTensor& tensor);

}  // namespace lumen

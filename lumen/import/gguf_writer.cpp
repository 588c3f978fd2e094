#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "lumen/base/check.h"
#include "lumen/base/file.h"
#include "lumen/import/gguf.h"
#include "lumen/import/utf8.h"

namespace lumen {

namespace {

constexpr uint64_t kDataAlignment = 32;

uint64_t padding(uint64_t size) { return (kDataAlignment - size % kDataAlignment) % kDataAlignment; }

class HeaderWriter {
 public:
  void put(uint64_t value, int64_t width) {
    for (int64_t k = 0; k < width; ++k) text_ += static_cast<char>(value >> 8 * k);
  }
  void put_string(std::string_view text) {
    put(text.size(), 8);
    text_ += text;
  }
  void put_value(const GgufValue& value) {
    if (value.is_array) put(static_cast<uint64_t>(GgufType::array), 4);
    put(static_cast<uint64_t>(value.type), 4);
    if (value.is_array) put(value.size(), 8);
    std::visit([&](const auto& values) { put_elements(value.type, values); }, value.values);
  }
  void pad() { text_.append(padding(text_.size()), '\0'); }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(text_)); }

 private:
  void put_elements(GgufType type, const GgufValue::Integers& values) {
    for (const int64_t each : values) put(static_cast<uint64_t>(each), width(type));
  }
  void put_elements(GgufType type, const GgufValue::Floats& values) {
    for (const double each : values) {
      put(type == GgufType::f32 ? std::bit_cast<uint32_t>(static_cast<float>(each)) : std::bit_cast<uint64_t>(each),
          width(type));
    }
  }
  void put_elements(GgufType, const GgufValue::Strings& values) {
    for (const std::string& each : values) put_string(each);
  }

  std::string text_;
};

Expected<void> check(const std::string& path, const GgufMetadata& metadata, std::span<const TensorToWrite> tensors) {
  for (const auto& [key, value] : metadata) {
    if (key.empty() || !is_utf8(key)) return error(fmt::format("{}: a metadata key is no UTF-8 text", path));
    if (key == "general.alignment") return error(fmt::format("{}: the alignment is not for the caller to give", path));
  }
  const TensorToWrite* before = nullptr;
  for (const TensorToWrite& tensor : tensors) {
    if (!is_utf8(tensor.name)) return error(fmt::format("{}: a tensor's name is no UTF-8 text", path));
    if (before != nullptr && before->name == tensor.name) {
      return error(fmt::format("{}: tensor \"{}\" is given twice", path, tensor.name));
    }
    before = &tensor;
    if (ggml_type(tensor.type) && tensor.dims.size() <= kMaxGgufDims && stored_bytes(tensor.type, tensor.dims))
      continue;
    return error(fmt::format("{}: tensor \"{}\": GGUF cannot hold {}[{}]", path, tensor.name, name(tensor.type),
                             fmt::join(tensor.dims, ",")));
  }
  return {};
}

HeaderWriter header(const GgufMetadata& metadata, std::span<const TensorToWrite> tensors) {
  HeaderWriter out;
  out.put(0x46554747, 4);  // "GGUF"
  out.put(3, 4);
  out.put(tensors.size(), 8);
  out.put(metadata.size(), 8);
  for (const auto& [key, value] : metadata) {
    out.put_string(key);
    out.put_value(value);
  }
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    out.put_string(tensor.name);
    out.put(tensor.dims.size(), 4);
    for (auto dim = tensor.dims.rbegin(); dim != tensor.dims.rend(); ++dim) out.put(static_cast<uint64_t>(*dim), 8);
    out.put(static_cast<uint64_t>(*ggml_type(tensor.type)), 4);
    out.put(offset, 8);
    const auto size = static_cast<uint64_t>(*stored_bytes(tensor.type, tensor.dims));
    offset += size + padding(size);
  }
  out.pad();
  return out;
}

}  // namespace

Expected<void> write_gguf(const std::string& path, const GgufMetadata& metadata, std::vector<TensorToWrite> tensors,
                          const WroteBytes& wrote) {
  std::ranges::sort(tensors, {}, &TensorToWrite::name);
  LUMEN_TRY(check(path, metadata, tensors));
  FileWriter file = LUMEN_TRY(FileWriter::create(path));
  LUMEN_TRY(file.write(header(metadata, tensors).bytes()));
  for (const TensorToWrite& tensor : tensors) {
    std::vector<std::byte> bytes = LUMEN_TRY(tensor.bytes());
    CHECK(bytes.size() == static_cast<size_t>(*stored_bytes(tensor.type, tensor.dims)), "as many bytes as promised");
    const size_t size = bytes.size();
    bytes.resize(size + padding(size));
    LUMEN_TRY(file.write(bytes));
    if (wrote) wrote(size);
  }
  return file.commit();
}

}  // namespace lumen

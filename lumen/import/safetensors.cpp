#include "lumen/import/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/base/file.h"
#include "lumen/base/nearest.h"
#include "lumen/import/json_object.h"
#include "lumen/import/storage_type.h"

namespace lumen {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxJsonHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array kDtypes = {
    std::pair{std::string_view("BOOL"), DType::bool_},     std::pair{std::string_view("U8"), DType::u8},
    std::pair{std::string_view("I8"), DType::i8},          std::pair{std::string_view("U16"), DType::u16},
    std::pair{std::string_view("I16"), DType::i16},        std::pair{std::string_view("U32"), DType::u32},
    std::pair{std::string_view("I32"), DType::i32},        std::pair{std::string_view("U64"), DType::u64},
    std::pair{std::string_view("I64"), DType::i64},        std::pair{std::string_view("F16"), DType::f16},
    std::pair{std::string_view("BF16"), DType::bf16},      std::pair{std::string_view("F32"), DType::f32},
    std::pair{std::string_view("F64"), DType::f64},        std::pair{std::string_view("F8_E4M3"), DType::f8e4m3},
    std::pair{std::string_view("F8_E5M2"), DType::f8e5m2}, std::pair{std::string_view("F8_E8M0"), DType::f8ue8m0},
    std::pair{std::string_view("F4"), DType::f4e2m1},      std::pair{std::string_view("F6_E2M3"), DType::f6e2m3},
    std::pair{std::string_view("F6_E3M2"), DType::f6e3m2}};

std::optional<std::vector<int64_t>> parse_sizes(const Json& parent, const char* key) {
  const auto found = parent.find(key);
  if (found == parent.end() || !found->is_array() || found->size() > 64) return {};
  std::vector<int64_t> sizes;
  for (const Json& size : *found) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > uint64_t{1} << 62) return {};
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

Expected<SafeTensors::Entry> parse_entry(const std::string& name, const Json& json, std::span<const std::byte> data,
                                         std::string_view path) {
  const auto bad = [&](std::string_view text) {
    return file_error(path, fmt::format("tensor \"{}\": {}", name, text));
  };
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json["dtype"].is_string()) {
    return bad("not a description with dtype, shape and data_offsets");
  }
  const std::string dtype_name = json["dtype"].get<std::string>();
  const auto dtype = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& d) { return d.first == dtype_name; });
  if (dtype == kDtypes.end()) return bad(fmt::format("unknown dtype {}", dtype_name));
  const std::optional<std::vector<int64_t>> dims = parse_sizes(json, "shape");
  const std::optional<std::vector<int64_t>> range = parse_sizes(json, "data_offsets");
  if (!dims || !range || range->size() != 2) return bad("shape or data_offsets is not a list of sizes");
  const int64_t begin = (*range)[0];
  const int64_t end = (*range)[1];
  if (begin > end || static_cast<uint64_t>(end) > data.size()) {
    return bad(fmt::format("data_offsets [{},{}] are outside the {} bytes of data", begin, end, data.size()));
  }
  const std::optional<int64_t> wanted = stored_bytes(dtype->second, *dims);
  if (wanted != end - begin) {
    return bad(fmt::format("{}[{}] needs {} bytes, data_offsets [{},{}] give {}", dtype_name, fmt::join(*dims, ","),
                           wanted ? fmt::to_string(*wanted) : "no number of", begin, end, end - begin));
  }
  return SafeTensors::Entry{dtype->second, *dims,
                            data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))};
}

// Together the tensors are the data: nothing twice, nothing left over.
Expected<void> check_cover(const SafeTensors& file, std::span<const std::byte> data, std::string_view path) {
  struct Range {
    size_t begin;
    size_t end;
    const std::string* name;
  };
  std::vector<Range> ranges;
  for (const auto& [name, entry] : file.entries()) {
    const auto begin = static_cast<size_t>(entry.bytes.data() - data.data());
    if (!entry.bytes.empty()) ranges.push_back({begin, begin + entry.bytes.size(), &name});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  size_t covered = 0;
  const std::string* before = nullptr;
  for (const Range& range : ranges) {
    if (range.begin < covered) {
      return file_error(path, fmt::format("tensors \"{}\" and \"{}\" overlap", *before, *range.name));
    }
    if (range.begin > covered) break;
    covered = range.end;
    before = range.name;
  }
  if (covered == data.size()) return {};
  return file_error(path, fmt::format("byte {} of the data belongs to no tensor", covered));
}

}  // namespace

Expected<SafeTensors> SafeTensors::parse(std::span<const std::byte> bytes, std::string_view path) {
  if (bytes.size() < 8) return file_error(path, fmt::format("truncated: {} bytes, a length takes 8", bytes.size()));
  uint64_t length = 0;
  for (size_t k = 0; k < 8; ++k) length |= std::to_integer<uint64_t>(bytes[k]) << 8 * k;
  if (length > kMaxJsonHeader) return file_error(path, fmt::format("a header of {} bytes is too long", length));
  if (length > bytes.size() - 8) {
    return file_error(path, fmt::format("truncated: a header of {} bytes, {} are there", length, bytes.size() - 8));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  const std::span<const std::byte> data = bytes.subspan(8 + length);
  const Json header = LUMEN_TRY(parse_json_object(text, path, "header"));
  SafeTensors file;
  file.path_ = path;
  for (const auto& [name, json] : header.items()) {
    if (name != kMetadata) {
      file.entries_.emplace(name, LUMEN_TRY(parse_entry(name, json, data, path)));
      continue;
    }
    if (!json.is_object()) return file_error(path, "__metadata__ is not a map of strings");
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) return file_error(path, "__metadata__ is not a map of strings");
      file.metadata_.emplace(key, value.get<std::string>());
    }
  }
  LUMEN_TRY(check_cover(file, data, path));
  return file;
}

Expected<SafeTensors> SafeTensors::open(const std::string& path) {
  auto mapping = std::make_shared<MappedFile>(LUMEN_TRY(MappedFile::open(path)));
  SafeTensors file = LUMEN_TRY(parse(mapping->bytes(), path));
  file.mapping_ = std::move(mapping);
  return file;
}

Expected<HostTensor> SafeTensors::tensor(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, entry] : entries_) names.emplace_back(known);
    const std::optional<std::string> guess = nearest(name, names);
    return file_error(
        path_, fmt::format("no tensor \"{}\"{}", name, guess ? fmt::format("; did you mean \"{}\"?", *guess) : ""));
  }
  const Entry& entry = found->second;
  HostTensor tensor{entry.dtype, entry.dims, {}};
  int64_t numel = 1;
  for (const int64_t dim : entry.dims) numel *= dim;
  tensor.lanes.resize(static_cast<size_t>(numel));
  unpack(entry.dtype, entry.bytes, tensor.lanes);
  return tensor;
}

Expected<void> write_safetensors(const std::string& path, const std::map<std::string, HostTensor, std::less<>>& tensors,
                                 const std::map<std::string, std::string, std::less<>>& metadata) {
  std::vector<TensorToWrite> given;
  for (const auto& [name, tensor] : tensors) {
    given.push_back({name, tensor.dtype, tensor.dims, [&tensor = tensor] {
                       std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(tensor.dtype, tensor.numel())));
                       pack(tensor.dtype, tensor.lanes, bytes);
                       return bytes;
                     }});
  }
  return write_safetensors(path, std::move(given), metadata);
}

Expected<void> write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                                 const std::map<std::string, std::string, std::less<>>& metadata,
                                 const WroteBytes& wrote) {
  std::ranges::sort(tensors, {}, &TensorToWrite::name);
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  int64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    const auto dtype =
        std::ranges::find_if(kDtypes, [&](const auto& d) { return StorageType(d.second) == tensor.type; });
    const std::optional<int64_t> size = stored_bytes(tensor.type, tensor.dims);
    if (dtype == kDtypes.end() || !size || tensor.name == kMetadata) {
      return file_error(path, fmt::format("tensor \"{}\": .safetensors cannot hold {}[{}]", tensor.name,
                                          lumen::name(tensor.type), fmt::join(tensor.dims, ",")));
    }
    if (header.contains(tensor.name)) return file_error(path, fmt::format("tensor \"{}\" is given twice", tensor.name));
    header[tensor.name] = {{"dtype", dtype->first}, {"shape", tensor.dims}, {"data_offsets", {offset, offset + *size}}};
    offset += *size;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::array<std::byte, 8> length{};
  for (size_t k = 0; k < 8; ++k) length[k] = static_cast<std::byte>(text.size() >> 8 * k);
  FileWriter file = LUMEN_TRY(FileWriter::create(path));
  LUMEN_TRY(file.write(length));
  LUMEN_TRY(file.write(std::as_bytes(std::span(text))));
  for (const TensorToWrite& tensor : tensors) {
    const std::vector<std::byte> bytes = LUMEN_TRY(tensor.bytes());
    CHECK(bytes.size() == static_cast<size_t>(*stored_bytes(tensor.type, tensor.dims)), "as many bytes as promised");
    LUMEN_TRY(file.write(bytes));
    if (wrote) wrote(bytes.size());
  }
  return file.commit();
}

}  // namespace lumen

#include "lumen/import/gguf_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "lumen/import/utf8.h"

namespace lumen {

namespace {

constexpr uint64_t kGgufMagic = 0x46554747;  // "GGUF"
constexpr std::string_view kAlignmentKey = "general.alignment";
// What a name, a type and a value take at least; what a tensor's name, rank, type and offset take.
constexpr uint64_t kLeastMetadata = 13, kLeastTensor = 24;

int64_t sign_extended(uint64_t bits, GgufType type) {
  const int unused = 64 - 8 * static_cast<int>(width(type));
  const bool is_signed =
      type == GgufType::i8 || type == GgufType::i16 || type == GgufType::i32 || type == GgufType::i64;
  return is_signed ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

}  // namespace

Diag GgufParser::bad(std::string_view text) const { return error(fmt::format("{}: {}", path_, text)); }

Expected<std::span<const std::byte>> GgufParser::take(uint64_t count, std::string_view what) {
  if (count > left()) {
    return bad(fmt::format("truncated at byte {}: {} takes {} bytes, {} are left", at_, what, count, left()));
  }
  const auto taken = bytes_.subspan(at_, static_cast<size_t>(count));
  at_ += taken.size();
  return taken;
}

Expected<uint64_t> GgufParser::take_unsigned(int64_t width, std::string_view what) {
  const std::span<const std::byte> taken = LUMEN_TRY(take(static_cast<uint64_t>(width), what));
  uint64_t value = 0;
  for (size_t k = 0; k < taken.size(); ++k) value |= std::to_integer<uint64_t>(taken[k]) << 8 * k;
  return value;
}

Expected<std::string> GgufParser::take_string(std::string_view what) {
  const uint64_t length = LUMEN_TRY(take_unsigned(8, what));
  const std::span<const std::byte> taken = LUMEN_TRY(take(length, what));
  return std::string(reinterpret_cast<const char*>(taken.data()), taken.size());
}

Expected<Gguf> GgufParser::parse() {
  file_.path_ = path_;
  LUMEN_TRY(parse_start());
  LUMEN_TRY(parse_metadata(metadata_count_));
  LUMEN_TRY(parse_alignment());
  LUMEN_TRY(parse_tensors(tensor_count_));
  LUMEN_TRY(place_tensors());
  return std::move(file_);
}

Expected<void> GgufParser::parse_start() {
  if (LUMEN_TRY(take_unsigned(4, "the magic")) != kGgufMagic)
    return bad("not a GGUF file: it does not start with GGUF");
  const uint64_t version = LUMEN_TRY(take_unsigned(4, "the version"));
  if (version != 0 && (version & 0xffff) == 0) return bad("a big-endian GGUF file, which cannot be read");
  if (version != 2 && version != 3) return bad(fmt::format("GGUF version {}, 2 and 3 are known", version));
  file_.version_ = static_cast<int>(version);
  tensor_count_ = LUMEN_TRY(take_unsigned(8, "the number of tensors"));
  metadata_count_ = LUMEN_TRY(take_unsigned(8, "the number of metadata values"));
  if (metadata_count_ > left() / kLeastMetadata) {
    return bad(fmt::format("{} metadata values do not fit in {} bytes", metadata_count_, left()));
  }
  if (tensor_count_ > left() / kLeastTensor) {
    return bad(fmt::format("{} tensors do not fit in {} bytes", tensor_count_, left()));
  }
  return {};
}

Expected<void> GgufParser::parse_metadata(uint64_t count) {
  for (uint64_t k = 0; k < count; ++k) {
    const size_t start = at_;
    const std::string key = LUMEN_TRY(take_string("a metadata key"));
    if (key.empty() || !is_utf8(key)) return bad(fmt::format("the metadata key at byte {} is no UTF-8 text", start));
    GgufValue value = LUMEN_TRY(parse_value(key));
    if (!file_.metadata_.emplace(key, std::move(value)).second) {
      return bad(fmt::format("metadata \"{}\" occurs twice", key));
    }
  }
  return {};
}

Expected<GgufValue> GgufParser::parse_value(const std::string& key) {
  const auto take_type = [&]() -> Expected<GgufType> {
    const uint64_t type = LUMEN_TRY(take_unsigned(4, fmt::format("the type of metadata \"{}\"", key)));
    if (type >= kGgufTypes) return bad(fmt::format("metadata \"{}\": unknown type {}", key, type));
    return static_cast<GgufType>(type);
  };
  GgufValue value;
  value.type = LUMEN_TRY(take_type());
  value.is_array = value.type == GgufType::array;
  uint64_t count = 1;
  if (value.is_array) {
    value.type = LUMEN_TRY(take_type());
    if (value.type == GgufType::array) return bad(fmt::format("metadata \"{}\": an array of arrays", key));
    count = LUMEN_TRY(take_unsigned(8, fmt::format("the length of metadata \"{}\"", key)));
  }
  if (count > left() / static_cast<uint64_t>(width(value.type))) {
    return bad(fmt::format("truncated: metadata \"{}\" has {} values of type {}, {} bytes are left", key, count,
                           name(value.type), left()));
  }
  LUMEN_TRY(parse_elements(value, count, key));
  return value;
}

Expected<void> GgufParser::parse_elements(GgufValue& value, uint64_t count, const std::string& key) {
  const std::string what = fmt::format("metadata \"{}\"", key);
  if (value.type == GgufType::string) {
    GgufValue::Strings strings;
    strings.reserve(static_cast<size_t>(count));
    for (uint64_t k = 0; k < count; ++k) strings.push_back(LUMEN_TRY(take_string(what)));
    value.values = std::move(strings);
    return {};
  }
  const bool is_float = value.type == GgufType::f32 || value.type == GgufType::f64;
  GgufValue::Integers integers;
  GgufValue::Floats floats;
  is_float ? floats.reserve(static_cast<size_t>(count)) : integers.reserve(static_cast<size_t>(count));
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t bits = LUMEN_TRY(take_unsigned(width(value.type), what));
    if (value.type == GgufType::f32) {
      floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    } else if (value.type == GgufType::f64) {
      floats.push_back(std::bit_cast<double>(bits));
    } else if (value.type == GgufType::bool_ && bits > 1) {
      return bad(fmt::format("{}: a bool of {}", what, bits));
    } else {
      integers.push_back(sign_extended(bits, value.type));
    }
  }
  if (is_float) {
    value.values = std::move(floats);
  } else {
    value.values = std::move(integers);
  }
  return {};
}

Expected<void> GgufParser::parse_alignment() {
  const auto found = file_.metadata_.find(kAlignmentKey);
  if (found == file_.metadata_.end()) return {};
  if (found->second.type != GgufType::u32 || found->second.is_array) {
    return bad(fmt::format("metadata \"{}\" is {}, u32 is wanted", kAlignmentKey, found->second.type_text()));
  }
  file_.alignment_ = std::get<GgufValue::Integers>(found->second.values)[0];
  if (std::has_single_bit(static_cast<uint64_t>(file_.alignment_))) return {};
  return bad(fmt::format("an alignment of {} is no power of two", file_.alignment_));
}

Expected<void> GgufParser::parse_tensors(uint64_t count) {
  for (uint64_t k = 0; k < count; ++k) {
    const size_t start = at_;
    const std::string name = LUMEN_TRY(take_string("a tensor's name"));
    if (!is_utf8(name)) return bad(fmt::format("the tensor's name at byte {} is no UTF-8 text", start));
    const std::string what = fmt::format("the description of tensor \"{}\"", name);
    const uint64_t rank = LUMEN_TRY(take_unsigned(4, what));
    if (rank > kMaxGgufDims)
      return bad(fmt::format("tensor \"{}\": {} dims, at most {} are possible", name, rank, kMaxGgufDims));
    Gguf::Entry entry{};
    for (uint64_t d = 0; d < rank; ++d) {
      const uint64_t dim = LUMEN_TRY(take_unsigned(8, what));
      if (dim > uint64_t{1} << 56) return bad(fmt::format("tensor \"{}\": a dim of {} is too large", name, dim));
      entry.dims.insert(entry.dims.begin(), static_cast<int64_t>(dim));
    }
    entry.type = static_cast<GgmlType>(LUMEN_TRY(take_unsigned(4, what)));
    const uint64_t offset = LUMEN_TRY(take_unsigned(8, what));
    places_.push_back({offset, std::ranges::find(entry.dims, 0) == entry.dims.end(), name});
    if (!file_.entries_.emplace(name, std::move(entry)).second) {
      return bad(fmt::format("tensor \"{}\" occurs twice", name));
    }
  }
  return {};
}

// The end of the tensor; `covered` is where the one before it ends.
Expected<uint64_t> GgufParser::place_tensor(const Place& place, std::span<const std::byte> data, uint64_t covered) {
  Gguf::Entry& entry = file_.entries_.find(place.name)->second;
  const auto wrong = [&](std::string_view text) { return bad(fmt::format("tensor \"{}\": {}", place.name, text)); };
  if (place.offset % static_cast<uint64_t>(file_.alignment_) != 0) {
    return wrong(fmt::format("offset {} is no multiple of the alignment {}", place.offset, file_.alignment_));
  }
  if (place.offset > data.size()) {
    return wrong(fmt::format("offset {} is outside the {} bytes of data", place.offset, data.size()));
  }
  if (place.offset < covered) return wrong(fmt::format("offset {} lies in the tensor before it", place.offset));
  const std::optional<StorageType> type = storage_type(entry.type);
  if (!type) return data.size() + 1;  // of unknown size
  const std::optional<int64_t> size = stored_bytes(*type, entry.dims);
  if (!size)
    return wrong(
        fmt::format("{}[{}] is no whole number of blocks, or too large", name(entry.type), fmt::join(entry.dims, ",")));
  if (static_cast<uint64_t>(*size) > data.size() - place.offset) {
    return wrong(fmt::format("{}[{}] takes {} bytes, the data ends {} after offset {}", name(entry.type),
                             fmt::join(entry.dims, ","), *size, data.size() - place.offset, place.offset));
  }
  entry.bytes = data.subspan(place.offset, static_cast<size_t>(*size));
  return place.offset + static_cast<uint64_t>(*size);
}

Expected<void> GgufParser::place_tensors() {
  const auto alignment = static_cast<uint64_t>(file_.alignment_);
  const uint64_t start = std::min<uint64_t>((at_ + alignment - 1) / alignment * alignment, bytes_.size());
  const std::span<const std::byte> data = bytes_.subspan(start);
  std::ranges::sort(places_, {}, [](const Place& place) { return std::pair(place.offset, place.filled); });
  uint64_t covered = 0;
  bool known = true;  // where the tensor before ends
  const auto check_gap = [&](uint64_t next) -> Expected<void> {
    if (!known || next < covered || next - covered < alignment) return {};
    return bad(fmt::format("bytes {} to {} of the data belong to no tensor", covered, next));
  };
  for (const Place& place : places_) {
    const uint64_t end = LUMEN_TRY(place_tensor(place, data, covered));
    LUMEN_TRY(check_gap(place.offset));
    known = end <= data.size();
    covered = known ? end : place.offset + 1;
  }
  return check_gap(data.size());
}

}  // namespace lumen

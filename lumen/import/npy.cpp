#include "lumen/import/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "lumen/base/file.h"

namespace lumen {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kMaxNpyHeader = 1 << 20;
constexpr size_t kMaxNpyRank = 16;

struct Descr {
  std::string_view text;  // without the byte order
  DType dtype;
};
constexpr std::array kDescrs = {Descr{"b1", DType::bool_}, Descr{"i1", DType::i8},  Descr{"i2", DType::i16},
                                Descr{"i4", DType::i32},   Descr{"i8", DType::i64}, Descr{"u1", DType::u8},
                                Descr{"u2", DType::u16},   Descr{"u4", DType::u32}, Descr{"u8", DType::u64},
                                Descr{"f2", DType::f16},   Descr{"f4", DType::f32}, Descr{"f8", DType::f64}};

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

// Reads the Python dict literal that NumPy writes. Every function is false on text it does not expect.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  std::optional<Header> read() {
    Header header;
    if (!accept('{')) return {};
    while (!accept('}')) {
      const std::optional<std::string> key = read_string();
      if (!key || !accept(':') || !read_entry(*key, header)) return {};
      if (!accept(',') && peek() != '}') return {};
    }
    skip_space();
    const bool complete = rest_.empty() && header.descr && header.fortran_order && header.shape;
    return complete ? std::optional(std::move(header)) : std::nullopt;
  }

 private:
  bool read_entry(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) return (header.descr = read_string()).has_value();
    if (key == "shape" && !header.shape) return (header.shape = read_shape()).has_value();
    if (key != "fortran_order" || header.fortran_order) return false;
    if (accept("True")) header.fortran_order = true;
    if (!header.fortran_order && accept("False")) header.fortran_order = false;
    return header.fortran_order.has_value();
  }

  std::optional<std::vector<int64_t>> read_shape() {
    std::vector<int64_t> shape;
    if (!accept('(')) return {};
    while (!accept(')')) {
      skip_space();
      int64_t dim = 0;
      const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (status != std::errc() || dim < 0 || shape.size() == kMaxNpyRank) return {};
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      accept('L');  // Python 2 wrote longs
      shape.push_back(dim);
      const bool comma = accept(',');
      if (!comma && (peek() != ')' || shape.size() == 1)) return {};
    }
    return shape;
  }

  std::optional<std::string> read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return {};
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return {};
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool accept(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view rest_;
};

Expected<DType> parse_descr(std::string_view descr, std::string_view path) {
  const bool byte_order_known = descr.size() == 3 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=');
  for (const Descr& known : kDescrs) {
    if (byte_order_known && descr.substr(1) == known.text) return known.dtype;
  }
  const std::string_view why = descr.starts_with('>') ? "is big-endian" : "is none that Lumen reads";
  return file_error(path, fmt::format("dtype '{}' {}", descr, why));
}

struct Split {
  std::string_view header;
  std::span<const std::byte> data;
};

Expected<Split> split(std::span<const std::byte> bytes, std::string_view path) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kNpyMagic)) return file_error(path, "not a .npy file: it does not start with \\x93NUMPY");
  if (text.size() < kNpyMagic.size() + 2) return file_error(path, "truncated: the version is missing");
  const int major = std::to_integer<int>(bytes[kNpyMagic.size()]);
  if (major < 1 || major > 3) return file_error(path, fmt::format(".npy version {} is not 1, 2 or 3", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t start = kNpyMagic.size() + 2 + length_bytes;
  if (text.size() < start) return file_error(path, "truncated: the length of the header is missing");
  size_t length = 0;
  for (size_t k = 0; k < length_bytes; ++k) length |= std::to_integer<size_t>(bytes[start - length_bytes + k]) << 8 * k;
  if (length > kMaxNpyHeader) return file_error(path, fmt::format("a header of {} bytes is too long", length));
  if (text.size() - start < length) {
    return file_error(path, fmt::format("truncated: a header of {} bytes, {} are there", length, text.size() - start));
  }
  return Split{text.substr(start, length), bytes.subspan(start + length)};
}

// Lanes of the C-ordered tensor, from those of the Fortran-ordered one.
void from_fortran(HostTensor& tensor) {
  const std::vector<Lane> fortran = tensor.lanes;
  const size_t rank = tensor.dims.size();
  std::vector<int64_t> coords(rank);
  for (Lane& lane : tensor.lanes) {
    int64_t at = 0;
    for (size_t k = rank; k-- > 0;) at = at * tensor.dims[k] + coords[k];
    lane = fortran[static_cast<size_t>(at)];
    for (size_t k = rank; k-- > 0;) {
      if (++coords[k] < tensor.dims[k]) break;
      coords[k] = 0;
    }
  }
}

}  // namespace

Expected<HostTensor> parse_npy(std::span<const std::byte> bytes, std::string_view path) {
  const Split parts = LUMEN_TRY(split(bytes, path));
  std::optional<Header> header = HeaderReader(parts.header).read();
  if (!header) return file_error(path, fmt::format("not a .npy header: {:?}", parts.header));
  HostTensor tensor{LUMEN_TRY(parse_descr(*header->descr, path)), std::move(*header->shape), {}};
  int64_t numel = 1;
  bool overflows = false;
  for (const int64_t dim : tensor.dims) overflows |= __builtin_mul_overflow(numel, dim, &numel);
  const bool too_large = overflows || numel > int64_t{1} << 56;
  const int64_t wanted = too_large ? -1 : storage_bytes(tensor.dtype, numel);
  if (wanted != static_cast<int64_t>(parts.data.size())) {
    return file_error(path, fmt::format("{}[{}] needs {} bytes of data, {} are there", name(tensor.dtype),
                                        fmt::join(tensor.dims, ","), too_large ? "too many" : fmt::to_string(wanted),
                                        parts.data.size()));
  }
  tensor.lanes.resize(static_cast<size_t>(numel));
  unpack(tensor.dtype, parts.data, tensor.lanes);
  if (*header->fortran_order) from_fortran(tensor);
  return tensor;
}

Expected<HostTensor> read_npy(const std::string& path) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  return parse_npy(file.bytes(), path);
}

Expected<void> write_npy(const std::string& path, const HostTensor& tensor) {
  const auto known =
      std::find_if(kDescrs.begin(), kDescrs.end(), [&](const Descr& d) { return d.dtype == tensor.dtype; });
  if (known == kDescrs.end()) return file_error(path, fmt::format(".npy has no dtype {}", name(tensor.dtype)));
  const char order = info(tensor.dtype).bits == 8 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order, known->text,
                                   fmt::join(tensor.dims, ", "), tensor.dims.size() == 1 ? "," : "");
  // Data starts at a multiple of 64, after a newline.
  const size_t start = kNpyMagic.size() + 4;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';
  std::string prefix(kNpyMagic);
  prefix += '\1';
  prefix += '\0';
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  prefix += header;
  std::vector<std::byte> data(static_cast<size_t>(storage_bytes(tensor.dtype, tensor.numel())));
  pack(tensor.dtype, tensor.lanes, data);
  const std::array<std::span<const std::byte>, 2> parts = {std::as_bytes(std::span(prefix)), data};
  return write_file(path, parts);
}

}  // namespace lumen

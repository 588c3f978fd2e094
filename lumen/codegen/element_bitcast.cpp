// Bitcast: an element of the result is made of the bits of one element of the operand, of several, or of parts of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lumen/codegen/element.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/cast.h"

namespace lumen {

namespace {

ptrdiff_t divisions_in(Expr e) {
  return std::ranges::count_if(print_c(e).text, [](char c) { return c == '/' || c == '%'; });
}

// index / 2 where that divides no more than the index itself does: which byte holds a nibble is known in advance.
std::optional<Expr> simple_half(Expr index) {
  const Expr half = floor_div(index, 2);
  return divisions_in(half) <= divisions_in(index) ? std::optional(half) : std::nullopt;
}

}  // namespace

// Element k of the result is the bits from k*to on. They begin `skipped` bits into the operand's element `first`.
std::string ElementWriter::read_bitcast(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  const NodeId source = node.operands[0];
  const DType from = body_[source].type.dtype, to = node.type.dtype;
  const int64_t from_bits_each = info(from).bits, to_bits_each = info(to).bits;
  if (body_[source].is<Input>()) {  // the same bytes, read as the other type
    const std::string bytes = fmt::format("((const {}*)a{})", storage_type(to), input_numbers_.at(source));
    const Expr flat = rename(node.type.shape).flat_index(at);
    if (const std::optional<Expr> byte = simple_half(flat); to_bits_each == 4 && byte) {
      const std::string half =
          fmt::format("{} >> (4 * ({}))", byte_of(source, *byte, storage_type(to)), index(flat - *byte * 2));
      return keep(to, from_bits(to, fmt::format("({}) & 15", half)));
    }
    if (to_bits_each == 8) return keep(to, fmt::format("{}({})", loader(to), byte_of(source, flat, storage_type(to))));
    accesses_.push_back({source, flat, to_bits_each});
    const std::string place = index(flat);
    const char* form = is_packed(to) ? "{}({}, {})" : "{}({}[{}])";
    return keep(to, fmt::format(fmt::runtime(form), loader(to), bytes, place));
  }
  if (from_bits_each == to_bits_each) return keep(to, from_bits(to, bits_of(from, value(source, at))));
  const Expr bit = at.back() * to_bits_each;
  const Expr first = floor_div(bit, from_bits_each);
  const Expr skipped = mod(bit, from_bits_each);
  const Expr last = rename(body_[source].type.shape)[node.type.shape.rank() - 1] - 1;
  const bool whole = skipped == Expr(0);
  const bool inside = from_bits_each % to_bits_each == 0;
  const int64_t reach = whole || inside ? to_bits_each : to_bits_each + from_bits_each - 1;
  std::string bits;
  for (int64_t k = 0; k * from_bits_each < reach; ++k) {
    std::vector<Expr> place(at.begin(), at.end());
    place.back() = whole || inside ? first + k : min(first + k, last);
    const std::string part = bits_of(from, value(source, place));
    bits += fmt::format("{}lumen_place_bits({}, {})", bits.empty() ? "" : " | ", part,
                        index(Expr(k * from_bits_each) - skipped));
  }
  const uint64_t mask = ~uint64_t{0} >> (64 - to_bits_each);
  return keep(to, from_bits(to, fmt::format("({}) & {}ull", bits, mask)));
}

}  // namespace lumen

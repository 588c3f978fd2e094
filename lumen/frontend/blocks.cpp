#include "lumen/frontend/blocks.h"

#include <fmt/format.h>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// A block's elements as a small tensor: their coordinates make every place in the block affine. The last one goes along
// a run of elements that share their scale.
class Blocks {
 public:
  Blocks(Tensor bytes, const BlockInfo& about, const std::vector<int64_t>& parts) : bytes_(bytes), about_(about) {
    const int64_t last = bytes.rank() - 1;
    std::vector<Expr> dims(bytes.shape().begin(), bytes.shape().end());
    dims[static_cast<size_t>(last)] = dims[static_cast<size_t>(last)] / about.bytes;
    for (const int64_t part : parts) dims.emplace_back(part);
    elements_ = Shape(dims);
    dims.pop_back();
    runs_ = Shape(dims);
    for (int64_t k = 0; k < last; ++k) row_ = row_ * elements_[k] + coordinate(k);
    block_ = coordinate(last);
    first_ = last + 1;
  }

  // The coordinate of an element along part number k of its block.
  Expr operator[](int64_t k) const { return coordinate(first_ + k); }

  // For each element, or each run, unit number `unit` of its block, in units of the dtype's width.
  Tensor element(DType dtype, Expr unit) const { return units(elements_, dtype, unit); }
  Tensor run(DType dtype, Expr unit) const { return units(runs_, dtype, unit); }
  // For each run, the f16 at byte `at`.
  Tensor half(int64_t at) const { return cast_to(run(DType::f16, at / 2), DType::f32); }
  // `count` bits of the byte `at` from bit `first` on.
  Tensor element_bits(Expr at, Expr first, int count) const { return bits(elements_, at, first, count); }
  Tensor run_bits(Expr at, Expr first, int count) const { return bits(runs_, at, first, count); }
  // What runs have, for each of their elements.
  Tensor spread(Tensor x) const { return broadcast(inserted(x, runs_.rank()), elements_); }
  // Each element's place in its run.
  Tensor place() const {
    const int64_t last = runs_.rank();
    return iota_of(*bytes_.graph, elements_, coordinate(last), DType::u16);
  }
  // For each run, a where `condition` (0 or 1 over its coordinates) is 1, else b.
  Tensor where_run(Expr condition, Tensor a, Tensor b) const {
    return where(ne(iota_of(*bytes_.graph, runs_, condition, DType::u8), 0), a, b);
  }
  // Elements in the order in which a row has them.
  Tensor joined(Tensor x) const {
    const int64_t last = bytes_.rank() - 1;
    return reshaped(x, with_dim(bytes_.shape(), last, elements_[last] * about_.elements));
  }

 private:
  Expr coordinate(int64_t k) const { return Expr::index(static_cast<int>(k), elements_[k]); }
  Tensor units(const Shape& shape, DType dtype, Expr unit) const {
    const int64_t bits = info(dtype).bits;
    const Expr in_row = bytes_.shape()[bytes_.rank() - 1] * 8 / bits;
    return look_through(bitcast(bytes_, dtype), View(shape, row_ * in_row + block_ * (about_.bytes * 8 / bits) + unit));
  }
  Tensor bits(const Shape& shape, Expr at, Expr first, int count) const {
    const Tensor shift = iota_of(*bytes_.graph, shape, first, DType::u8);
    return bitwise_and(shift_right(units(shape, DType::u8, at), shift), (1 << count) - 1);
  }

  Tensor bytes_;
  const BlockInfo& about_;
  Shape elements_, runs_;
  Expr row_ = 0, block_ = 0;
  int64_t first_ = 0;
};

Tensor floats_of(Tensor x) { return cast_to(x, DType::f32); }
Tensor bytes_of(Tensor x) { return cast_to(x, DType::u8); }

// Blocks of 32. Parts: which half, and the place in it; a byte holds the same place of both.
Tensor nibbles(const Blocks& b, int64_t at) { return b.element(DType::u4, (at + b[1]) * 2 + b[0]); }

// The same with a fifth bit from the 16 that each half has before the nibbles.
Tensor five_bits(const Blocks& b, int64_t at) {
  const Tensor fifth = bitwise_and(shift_right(b.spread(b.run(DType::u16, at / 2 - 2 + b[0])), b.place()), 1);
  return bitwise_or(cast_to(nibbles(b, at), DType::u16), shift_left(fifth, 4));
}

// Super-blocks of 256: elements have four (or five) parts, the last along a run of 16 or 32.
//
// Two bits of each, where a byte holds those 32 apart: parts 0, (1, 2) and (3, 4).
Tensor two_bits(const Blocks& b, int64_t at) {
  return b.element_bits(at + b[0] * 32 + b[3] * 16 + b[4], (b[1] * 2 + b[2]) * 2, 2);
}

// The scale (which 0) or minimum (which 1) of each run of 32, number 4 * b[0] + 2 * b[1] + b[2]: six bits of the 12
// bytes from 4 on. The first four lie in the low bits of bytes 0 to 7; the others have their low four bits in bytes 8
// to 11 and their high two where the first left room.
Tensor six_bits(const Blocks& b, int64_t which) {
  const Expr place = b[1] * 2 + b[2];
  const Tensor first = b.run(DType::u8, 4 + 4 * which + place);
  const Tensor low = bytes_of(b.run(DType::u4, (12 + place) * 2 + which));
  const Tensor late = bitwise_or(low, bitwise_and(shift_right(first, 2), 0x30));
  return floats_of(b.where_run(b[0], late, bitwise_and(first, 63)));
}

// With the nibbles from byte `at` on, a byte for two runs, as q.
Tensor run_nibbles(const Blocks& b, int64_t at) {
  return b.element(DType::u4, (at + (b[0] * 2 + b[1]) * 32 + b[3]) * 2 + b[2]);
}
Tensor steps_and_minima(const Blocks& b, Tensor q) {
  return b.spread(b.half(0) * six_bits(b, 0)) * floats_of(q) - b.spread(b.half(2) * six_bits(b, 1));
}

Expr run_of_16(const Blocks& b) { return ((b[0] * 2 + b[1]) * 2 + b[2]) * 2 + b[3]; }

Tensor q2_k(const Blocks& b) {
  const Tensor step = b.half(80) * floats_of(b.run(DType::u4, run_of_16(b) * 2));
  const Tensor minimum = b.half(82) * floats_of(b.run(DType::u4, run_of_16(b) * 2 + 1));
  return b.spread(step) * floats_of(two_bits(b, 16)) - b.spread(minimum);
}

Tensor q3_k(const Blocks& b) {
  const Tensor low = bytes_of(b.run(DType::u4, (96 + b[1] * 4 + b[2] * 2 + b[3]) * 2 + b[0]));
  const Tensor high = b.run_bits(104 + b[2] * 2 + b[3], (b[0] * 2 + b[1]) * 2, 2);
  const Tensor scale = floats_of(bitwise_or(low, shift_left(high, 4))) + -32;
  const Tensor third = b.element_bits(b[3] * 16 + b[4], (b[0] * 2 + b[1]) * 2 + b[2], 1);
  return b.spread(b.half(108) * scale) * (floats_of(bitwise_or(two_bits(b, 32), shift_left(third, 2))) + -4);
}

Tensor q5_k(const Blocks& b) {
  const Tensor fifth = b.element_bits(16 + b[3], (b[0] * 2 + b[1]) * 2 + b[2], 1);
  return steps_and_minima(b, bitwise_or(bytes_of(run_nibbles(b, 48)), shift_left(fifth, 4)));
}

Tensor q6_k(const Blocks& b) {
  const Tensor low = b.element_bits(b[0] * 64 + b[2] * 32 + b[3] * 16 + b[4], b[1] * 4, 4);
  const Tensor scale = b.half(208) * floats_of(b.run(DType::i8, 192 + run_of_16(b)));
  return b.spread(scale) * (floats_of(bitwise_or(low, shift_left(two_bits(b, 128), 4))) + -32);
}

std::vector<int64_t> parts_of(BlockType type) {
  switch (type) {
    case BlockType::q8_0:
      return {32};
    case BlockType::q4_0:
    case BlockType::q4_1:
    case BlockType::q5_0:
    case BlockType::q5_1:
    case BlockType::mxfp4:
      return {2, 16};
    case BlockType::q4_k:
    case BlockType::q5_k:
      return {2, 2, 2, 32};
    case BlockType::q2_k:
    case BlockType::q3_k:
    case BlockType::q6_k:
      return {2, 2, 2, 2, 16};
  }
  fail("no such block type");
}

Tensor values(const Blocks& b, BlockType type) {
  switch (type) {
    case BlockType::q8_0:
      return b.spread(b.half(0)) * floats_of(b.element(DType::i8, 2 + b[0]));
    case BlockType::q4_0:
      return b.spread(b.half(0)) * (floats_of(nibbles(b, 2)) + -8);
    case BlockType::q4_1:
      return b.spread(b.half(0)) * floats_of(nibbles(b, 4)) + b.spread(b.half(2));
    case BlockType::q5_0:
      return b.spread(b.half(0)) * (floats_of(five_bits(b, 6)) + -16);
    case BlockType::q5_1:
      return b.spread(b.half(0)) * floats_of(five_bits(b, 8)) + b.spread(b.half(2));
    case BlockType::q2_k:
      return q2_k(b);
    case BlockType::q3_k:
      return q3_k(b);
    case BlockType::q4_k:
      return steps_and_minima(b, run_nibbles(b, 16));
    case BlockType::q5_k:
      return q5_k(b);
    case BlockType::q6_k:
      return q6_k(b);
    case BlockType::mxfp4:
      return b.spread(floats_of(b.run(DType::f8ue8m0, 0))) * floats_of(b.element(DType::f4e2m1, (1 + b[1]) * 2 + b[0]));
  }
  fail("no such block type");
}

}  // namespace

Tensor dequantise(const Operand& bytes, BlockType type, DType result) {
  const Call call("dequantise", bytes.where());
  const Tensor x = bytes.tensor();
  const BlockInfo& about = info(type);
  if (x.dtype() != DType::u8 || x.rank() == 0) fail(fmt::format("rows of u8 are wanted, not {}", x.type().str()));
  if (!is_float(result)) fail(fmt::format("the result must be a float, not {}", name(result)));
  if (!proven(eq(x.shape()[x.rank() - 1] % about.bytes, 0))) {
    fail(fmt::format("the rows of {} are not known to be whole blocks of {} bytes, as {} has", x.type().str(),
                     about.bytes, about.name));
  }
  const Blocks blocks(x, about, parts_of(type));
  return blocks.joined(cast_to(values(blocks, type), result));
}

}  // namespace lumen

#include "lumen/frontend/blocks.h"

#include <fmt/format.h>

#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// The parts of blocks, each spread over the elements that it has to do with: one View of the bytes, read as a dtype.
class Blocks {
 public:
  Blocks(Tensor bytes, const BlockInfo& about) : bytes_(bytes), about_(about) {
    const int64_t last = bytes.rank() - 1;
    shape_ = with_dim(bytes.shape(), last, bytes.shape()[last] / about.bytes * about.elements);
    const Expr at = Expr::index(static_cast<int>(last), shape_[last]);
    block_ = at / about.elements;
    element_ = at % about.elements;
    for (int64_t k = 0; k < last; ++k) row_ = row_ * shape_[k] + Expr::index(static_cast<int>(k), shape_[k]);
  }

  // Which element of its block each element is.
  Expr element() const { return element_; }
  // For each element, the number `unit` of the units of its block: dtypes of `dtype`'s width.
  Tensor units(DType dtype, Expr unit) const {
    const int64_t bits = info(dtype).bits;
    const Expr in_row = bytes_.shape()[bytes_.rank() - 1] * 8 / bits;
    return look_through(bitcast(bytes_, dtype),
                        View(shape_, row_ * in_row + block_ * (about_.bytes * 8 / bits) + unit));
  }
  Tensor floats(DType dtype, Expr unit) const { return cast_to(units(dtype, unit), DType::f32); }
  // The f16 at byte `at`.
  Tensor half(int64_t at) const { return floats(DType::f16, at / 2); }
  // `bits` bits of the byte `at`, the lowest one being number `first`.
  Tensor bits(Expr at, Expr first, int64_t bits) const {
    const Tensor count = iota_of(*bytes_.graph, shape_, first, DType::u8);
    return bitwise_and(shift_right(units(DType::u8, at), count), (1 << bits) - 1);
  }

 private:
  Tensor bytes_;
  const BlockInfo& about_;
  Shape shape_;
  Expr row_ = 0, block_, element_;
};

// Blocks of 32: a byte holds the elements k and k + 16.
Expr nibble_of_pair(Expr element) { return element % 16 * 2 + element / 16; }

Tensor nibbles(const Blocks& b, int64_t at) { return b.units(DType::u4, at * 2 + nibble_of_pair(b.element())); }

// The nibbles from byte `at` on with a fifth bit from the 32 before them.
Tensor five_bits(const Blocks& b, int64_t at) {
  const Tensor fifth = b.bits(at - 4 + b.element() / 8, b.element() % 8, 1);
  return bitwise_or(cast_to(nibbles(b, at), DType::u8), shift_left(fifth, 4));
}

Tensor floats_of(Tensor x) { return cast_to(x, DType::f32); }

// Super-blocks of 256. A byte holds two bits of elements 32 apart, or one of each run of 32.
Tensor two_bits(const Blocks& b, int64_t at) {
  const Expr e = b.element();
  return b.bits(at + e / 128 * 32 + e % 32, e % 128 / 32 * 2, 2);
}
Tensor one_bit(const Blocks& b, int64_t at) { return b.bits(at + b.element() % 32, b.element() / 32, 1); }
Tensor run_nibbles(const Blocks& b, int64_t at) {
  const Expr e = b.element();
  return b.units(DType::u4, (at + e / 64 * 32 + e % 32) * 2 + e % 64 / 32);
}

// The scale (part 0) or minimum (part 1) of the run of 32 that each element is in: six bits of the 12 bytes from 4 on.
Tensor six_bits(const Blocks& b, int64_t part) {
  const Expr run = b.element() / 32;
  const Tensor first = b.units(DType::u8, 4 + 4 * part + run % 4);
  const Tensor low = cast_to(b.units(DType::u4, (12 + run % 4) * 2 + part), DType::u8);
  const Tensor high = bitwise_and(shift_right(first, 2), 0x30);
  const Tensor late = iota_of(*first.graph, first.shape(), run / 4, DType::u8);
  return floats_of(where(eq(late, 0), bitwise_and(first, 63), bitwise_or(low, high)));
}

Tensor steps_and_minima(const Blocks& b, Tensor q) {
  return b.half(0) * six_bits(b, 0) * floats_of(q) - b.half(2) * six_bits(b, 1);
}

Tensor q2_k(const Blocks& b) {
  const Expr run = b.element() / 16;
  const Tensor step = b.half(80) * b.floats(DType::u4, run * 2);
  return step * floats_of(two_bits(b, 16)) - b.half(82) * b.floats(DType::u4, run * 2 + 1);
}

Tensor q3_k(const Blocks& b) {
  const Expr run = b.element() / 16;
  const Tensor low = cast_to(b.units(DType::u4, (96 + run % 8) * 2 + run / 8), DType::u8);
  const Tensor high = b.bits(104 + run % 4, run / 4 * 2, 2);
  const Tensor scale = floats_of(bitwise_or(low, shift_left(high, 4))) - 32;
  const Tensor q = floats_of(bitwise_or(two_bits(b, 32), shift_left(one_bit(b, 0), 2))) - 4;
  return b.half(108) * scale * q;
}

Tensor q6_k(const Blocks& b) {
  const Expr e = b.element();
  const Tensor low = cast_to(b.units(DType::u4, (e / 128 * 64 + e % 64) * 2 + e % 128 / 64), DType::u8);
  const Tensor q = floats_of(bitwise_or(low, shift_left(two_bits(b, 128), 4))) - 32;
  return b.half(208) * b.floats(DType::i8, 192 + e / 16) * q;
}

Tensor values(const Blocks& b, BlockType type) {
  switch (type) {
    case BlockType::q8_0:
      return b.half(0) * b.floats(DType::i8, 2 + b.element());
    case BlockType::q4_0:
      return b.half(0) * (floats_of(nibbles(b, 2)) - 8);
    case BlockType::q4_1:
      return b.half(0) * floats_of(nibbles(b, 4)) + b.half(2);
    case BlockType::q5_0:
      return b.half(0) * (floats_of(five_bits(b, 6)) - 16);
    case BlockType::q5_1:
      return b.half(0) * floats_of(five_bits(b, 8)) + b.half(2);
    case BlockType::q2_k:
      return q2_k(b);
    case BlockType::q3_k:
      return q3_k(b);
    case BlockType::q4_k:
      return steps_and_minima(b, run_nibbles(b, 16));
    case BlockType::q5_k:
      return steps_and_minima(b, bitwise_or(cast_to(run_nibbles(b, 48), DType::u8), shift_left(one_bit(b, 16), 4)));
    case BlockType::q6_k:
      return q6_k(b);
    case BlockType::mxfp4:
      return b.floats(DType::f8ue8m0, 0) * b.floats(DType::f4e2m1, 2 + nibble_of_pair(b.element()));
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
  return cast_to(values(Blocks(x, about), type), result);
}

}  // namespace lumen

// Block-quantised weights as numbers, in primitives, so that the arithmetic fuses into what reads them.
#pragma once

#include "lumen/frontend/operand.h"
#include "lumen/ir/block_type.h"

namespace lumen {

// `bytes` is u8[…, row]: rows of whole blocks, as files store them. The result is […, row / block bytes * elements],
// with the f32 values of import/blocks.h cast to `result`, but for mxfp4: its code 8 is -0, and the scale 255 NaN.
Tensor dequantise(const Operand& bytes, BlockType type, DType result = DType::f32);

}  // namespace lumen

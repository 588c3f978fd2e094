// The bits of the floating formats: which numbers a format has, and between a number and its bits.
#pragma once

#include <cstdint>

#include "lumen/ir/dtype.h"

namespace lumen {

// Of any floating dtype but f64 and f8ue8m0. The value is one of the format (see round_to) or NaN.
uint64_t encode_float(const DTypeInfo& format, double value);
double decode_float(const DTypeInfo& format, uint64_t bits);
double round_float(const DTypeInfo& format, double value);

// f8ue8m0: a power of two from 2^-127 to 2^127 without a sign, or NaN.
uint8_t encode_power(double value);
double decode_power(uint8_t bits);
double round_power(double value);

}  // namespace lumen

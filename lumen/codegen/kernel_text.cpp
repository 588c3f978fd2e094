#include "lumen/codegen/kernel_text.h"

#include <fmt/format.h>

namespace lumen {

namespace {

// LUMEN_ROWS and LUMEN_ELEMENTS begin loops; LUMEN_RETURN ends a kernel.
const char* const kC = R"C(
#define LUMEN_RESTRICT restrict
#define LUMEN_KERNEL(name) \
  int64_t name(const void* const* in, void* const* out, const int64_t* dims, int64_t begin, int64_t end)
#define LUMEN_ROWS(row) for (int64_t row = begin; row < end; ++row)
#if defined(__clang__)
#define LUMEN_ELEMENTS(i, count) _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < (count); ++i)
#define LUMEN_ELEMENT_ROWS(i) _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = begin; i < end; ++i)
#else
#define LUMEN_ELEMENTS(i, count) _Pragma("GCC ivdep") for (int64_t i = 0; i < (count); ++i)
#define LUMEN_ELEMENT_ROWS(i) _Pragma("GCC ivdep") for (int64_t i = begin; i < end; ++i)
#endif
#define LUMEN_PRAGMA(text) _Pragma(#text)
#define LUMEN_FOLD(i, count, clauses) LUMEN_PRAGMA(omp simd clauses) for (int64_t i = 0; i < (count); ++i)
#define LUMEN_COMBINE(function, x) (x)
#define LUMEN_ONCE
#define LUMEN_RETURN return fault
)C";

const char* const kCuda = R"C(
#define LUMEN_RESTRICT __restrict__
#define LUMEN_KERNEL(name)                                                                                \
  extern "C" __global__ void name(const void* const* in, void* const* out, const int64_t* dims, int64_t begin, \
                                  int64_t end, unsigned long long* fault_out)
#define LUMEN_ROWS(row) for (int64_t row = begin + blockIdx.x; row < end; row += gridDim.x)
#define LUMEN_ELEMENTS(i, count) for (int64_t i = threadIdx.x; i < (count); i += blockDim.x)
#define LUMEN_ELEMENT_ROWS(i)                                              \
  for (int64_t i = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
       i < end; i += (int64_t)gridDim.x * blockDim.x)
#define LUMEN_FOLD(i, count, clauses) LUMEN_ELEMENTS(i, count)
#define LUMEN_COMBINE(function, x) lumen_block_##function(x)
#define LUMEN_ONCE if (threadIdx.x == 0)
#define LUMEN_RETURN \
  if (fault != 0) atomicMax(fault_out, (unsigned long long)fault)
)C";

const char* const kShared = R"C(
LUMEN_FN float lumen_inf_f32(void) { return lumen_from_bits_f32(0x7f800000u); }
LUMEN_FN double lumen_inf_f64(void) { return lumen_from_bits_f64(0x7ff0000000000000ull); }
LUMEN_FN float lumen_nan_f32(void) { return lumen_from_bits_f32(0x7fc00000u); }
LUMEN_FN double lumen_nan_f64(void) { return lumen_from_bits_f64(0x7ff8000000000000ull); }
// Towards zero, saturating, NaN gives 0. `end` is the first number too large, `most` the largest integer.
LUMEN_FN int64_t lumen_to_i64(double x, double end, int64_t most) {
  const int64_t inside = (int64_t)(((x < end) & (x >= -end)) ? x : 0.0);
  return x >= end ? most : (x < -end ? -most - 1 : inside);
}
LUMEN_FN uint64_t lumen_to_u64(double x, double end, uint64_t most) {
  const uint64_t inside = (uint64_t)(((x < end) & (x > -1.0)) ? x : 0.0);
  return x >= end ? most : inside;
}
)C";

// Folds of one row. In C the compiler keeps one partial result per lane of a vector and combines them by the declared
// reduction; on a GPU every thread of the block has one, and all get what they combine to.
const char* const kFoldC = R"C(
#pragma omp declare reduction(lumen_{F}_{S} : {T} : omp_out = lumen_{F}_{S}(omp_out, omp_in)) \
    initializer(omp_priv = {start})
)C";

const char* const kFoldCuda = R"C(
LUMEN_FN {T} lumen_block_{F}_{S}({T} x) {{
  __shared__ {T} partial[32];
  for (int step = 16; step > 0; step /= 2) x = lumen_{F}_{S}(x, ({T})__shfl_xor_sync(0xffffffffu, x, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = partial[0];
  for (int warp = 1; warp < (int)(blockDim.x / 32); ++warp) x = lumen_{F}_{S}(x, partial[warp]);
  return x;
}}
)C";

std::string folds(Syntax syntax) {
  std::string text;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64}) {
    for (const std::string_view function : {"add", "mul", "max"}) {
      // A partial maximum may start as the one it joins; others start as what changes nothing.
      const std::string_view start = function == "add" ? "0" : function == "mul" ? "1" : "omp_orig";
      text += fmt::format(fmt::runtime(syntax == Syntax::c ? kFoldC : kFoldCuda), fmt::arg("F", function),
                          fmt::arg("S", compute_suffix(dtype)), fmt::arg("T", compute_type(dtype)),
                          fmt::arg("start", start));
    }
  }
  return text;
}

// lumen_round_<dtype>: a float as it would come back from storage.
std::string rounding() {
  std::string text;
  for (const DTypeInfo& about : all_dtypes()) {
    const DType dtype = about.dtype;
    if (!is_float(dtype) || dtype == DType::f32 || dtype == DType::f64) continue;
    const char* form = is_packed(dtype)
                           ? "LUMEN_FN float lumen_round_{0}(float x) {{ uint8_t b[4] = {{0}}; {2}(b, 0, x); "
                             "return {1}(b, 0); }}\n"
                           : "LUMEN_FN float lumen_round_{0}(float x) {{ return {1}({2}(x)); }}\n";
    text += fmt::format(fmt::runtime(form), about.name, load_function(dtype), store_function(dtype));
  }
  return text;
}

std::string divisor(Expr e) { return "(int64_t)(" + print_c(e).text + ")"; }

}  // namespace

int64_t grain_of(const Graph& body) {
  for (const Output& output : body.outputs()) {
    if (is_packed(body[output.value].type.dtype)) return 8;  // elements of any width fill whole bytes
  }
  return 1;
}

std::string kernel_names(const Graph& body) {
  std::string text;
  for (size_t k = 0; k < body.inputs().size(); ++k) {
    text += fmt::format("  const {0}* LUMEN_RESTRICT a{1} = (const {0}*)in[{1}];\n",
                        storage_type(body[body.inputs()[k]].type.dtype), k);
  }
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    text += fmt::format("  {0}* LUMEN_RESTRICT r{1} = ({0}*)out[{1}];\n",
                        storage_type(body[body.outputs()[k].value].type.dtype), k);
  }
  for (size_t k = 0; k < body.dims().size(); ++k) text += fmt::format("  const int64_t n{0} = dims[{0}];\n", k);
  return text;
}

std::string kernel_head(const Graph& body, const std::string& name) {
  return fmt::format("LUMEN_KERNEL({}) {{\n{}  int64_t fault = 0;\n", name, kernel_names(body));
}

std::string row_coordinates(const Shape& shape, int indent) {
  std::string text;
  const std::vector<Expr> strides = shape.strides();
  for (int64_t k = 0; k < shape.rank(); ++k) {
    text += fmt::format("{}const int64_t i{} = row / {}", std::string(static_cast<size_t>(indent), ' '), k,
                        divisor(strides[static_cast<size_t>(k)]));
    text += k == 0 ? ";\n" : fmt::format(" % {};\n", divisor(shape[k]));
  }
  return text;
}

std::string store_statement(const Graph& body, size_t k, const std::string& index, const std::string& value) {
  const DType dtype = body[body.outputs()[k].value].type.dtype;
  if (is_packed(dtype)) return fmt::format("{}(r{}, {}, {});", store_function(dtype), k, index, value);
  return fmt::format("r{}[{}] = {}({});", k, index, store_function(dtype), value);
}

std::vector<std::string> kernel_c_flags() {
  std::vector<std::string> flags{"-std=gnu11", "-fopenmp-simd"};
  flags.insert(flags.end(), scalar_c_flags().begin(), scalar_c_flags().end());
  return flags;
}

std::string kernel_prelude(Syntax syntax) {
  return scalar_prelude(syntax) + (syntax == Syntax::c ? kC : kCuda) + kShared + rounding() + folds(syntax);
}

}  // namespace lumen

#include "lumen/codegen/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lumen {

namespace {

constexpr int64_t kMostWidth = 8;
constexpr int64_t kMostRowThreads = 512;

}  // namespace

int64_t grain_of(const Graph& body) {
  for (const Output& output : body.outputs()) {
    if (is_packed(body[output.value].type.dtype)) return 8;  // elements of any width fill whole bytes
  }
  return 1;
}

namespace {

struct KernelName {
  std::string type, name, place;
};

std::vector<KernelName> pointers_of(const Graph& body) {
  std::vector<KernelName> all;
  for (size_t k = 0; k < body.inputs().size(); ++k) {
    all.push_back({fmt::format("const {}", storage_type(body[body.inputs()[k]].type.dtype)), fmt::format("a{}", k),
                   fmt::format("LUMEN_IN({})", k)});
  }
  for (size_t k = 0; k < body.outputs().size(); ++k) {
    all.push_back({std::string(storage_type(body[body.outputs()[k].value].type.dtype)), fmt::format("r{}", k),
                   fmt::format("LUMEN_OUT({})", k)});
  }
  return all;
}

std::string dim_names(const Graph& body) {
  std::string text;
  for (size_t k = 0; k < body.dims().size(); ++k) text += fmt::format("  const int64_t n{0} = LUMEN_DIM({0});\n", k);
  return text;
}

}  // namespace

std::string kernel_names(const Graph& body) {
  std::string text;
  for (const auto& [type, name, place] : pointers_of(body)) {
    text += fmt::format("  LUMEN_NAME({}, {}, {})\n", type, name, place);
  }
  return text + dim_names(body);
}

std::string kernel_head(const Graph& body, const std::string& name, int threads, int blocks, bool walks) {
  const size_t inputs = std::max<size_t>(1, body.inputs().size());
  std::string names;
  for (const auto& [type, each, place] : pointers_of(body))
    names += fmt::format(" each({}, {}, {})", type, each, place);
  return fmt::format(
      "#define {0}_NAMES(each){1}\nLUMEN_KERNEL{2}({0}, {3}, {4}, {5}, {6}) {{\n  LUMEN_NAMES({0})\n{7}  {8};\n"
      "  int64_t fault = 0;\n",
      name, names, blocks == 1 ? "" : fmt::format("_{}", blocks), threads, inputs, body.outputs().size() + 1,
      body.dims().size(), dim_names(body), walks ? "LUMEN_BEGIN" : "LUMEN_BEGIN_MANY");
}

int64_t group_width(const Graph& body, Expr extent) {
  int64_t narrowest = 8;
  const auto see = [&](NodeId id) {
    narrowest = std::min<int64_t>(narrowest, std::max(1, info(body[id].type.dtype).bits / 8));
  };
  for (const NodeId id : body.inputs()) see(id);
  for (const Output& output : body.outputs()) see(output.value);
  int64_t width = std::min(kMostWidth, 16 / narrowest);
  while (width > 1 && !(mod(extent, width) == Expr(0))) width /= 2;
  return width;
}

int threads_for(Expr extent, int64_t width) {
  const auto groups = static_cast<uint64_t>(std::clamp<int64_t>(bounds(extent).hi / width, kWarp, kMostRowThreads));
  return static_cast<int>(std::bit_ceil(groups));
}

std::string number(Expr e) { return "(int64_t)(" + print_c(e).text + ")"; }

std::string fault_number(size_t before) {
  return fmt::format("fault == 0 ? 0 : {} + __builtin_ctzll((unsigned long long)fault)", before + 1);
}

std::string row_coordinates(const Shape& shape, int indent) {
  std::string text;
  const std::vector<Expr> strides = shape.strides();
  for (int64_t k = 0; k < shape.rank(); ++k) {
    text += fmt::format("{}const int64_t i{} = row / {}", std::string(static_cast<size_t>(indent), ' '), k,
                        number(strides[static_cast<size_t>(k)]));
    text += k == 0 ? ";\n" : fmt::format(" % {};\n", number(shape[k]));
  }
  return text;
}

Interval result_bytes(const Graph& body) {
  Interval all{0, 0};
  for (const Output& output : body.outputs()) {
    const TensorType& type = body[output.value].type;
    const Interval count = bounds(type.shape.numel());
    if (is_packed(type.dtype)) return {0, 0};
    all.lo += storage_bytes(type.dtype, std::clamp<int64_t>(count.lo, 0, kManyBytes));
    all.hi += storage_bytes(type.dtype, std::clamp<int64_t>(count.hi, 0, kManyBytes));
  }
  return all;
}

std::string store_statement(const Graph& body, size_t k, const std::string& index, const std::string& value) {
  const DType dtype = body[body.outputs()[k].value].type.dtype;
  if (is_packed(dtype)) return fmt::format("{}(r{}, {}, {});", store_function(dtype), k, index, value);
  return fmt::format("r{}[{}] = {}({});", k, index, store_function(dtype), value);
}

std::vector<std::string> kernel_c_flags() {
  std::vector<std::string> flags{"-std=gnu11", "-fno-strict-aliasing"};
  flags.insert(flags.end(), scalar_c_flags().begin(), scalar_c_flags().end());
  return flags;
}

}  // namespace lumen

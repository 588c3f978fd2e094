#include "lumen/codegen/kernel_text.h"

#include <fmt/format.h>

namespace lumen {

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

std::string store_statement(const Graph& body, size_t k, const std::string& index, const std::string& value) {
  const DType dtype = body[body.outputs()[k].value].type.dtype;
  if (is_packed(dtype)) return fmt::format("{}(r{}, {}, {});", store_function(dtype), k, index, value);
  return fmt::format("r{}[{}] = {}({});", k, index, store_function(dtype), value);
}

std::vector<std::string> kernel_c_flags() {
  std::vector<std::string> flags{"-std=gnu11", "-fno-strict-aliasing", "-fopenmp-simd"};
  flags.insert(flags.end(), scalar_c_flags().begin(), scalar_c_flags().end());
  return flags;
}

}  // namespace lumen

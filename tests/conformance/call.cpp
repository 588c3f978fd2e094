#include "tests/conformance/call.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace lumen::conformance {

using nlohmann::json;

namespace {

template <class T>
T get_as(const json& value, std::string_view name) {
  try {
    return value.get<T>();
  } catch (const json::exception&) {
    throw Error(error(fmt::format("argument `{}` is {}", name, value.dump())));
  }
}

// JSON has no infinities and no NaN: the case file writes them as strings.
double real_of(const json& value, std::string_view name) {
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return get_as<double>(value, name);
}

}  // namespace

const Operand& Call::operand(size_t k) const {
  if (k >= operands_.size() || !operands_[k]) throw Error(error(fmt::format("operand {} is missing", k)));
  return *operands_[k];
}

std::optional<Operand> Call::optional_operand(size_t k) const {
  return k < operands_.size() ? operands_[k] : std::nullopt;
}

std::vector<Operand> Call::operands() const {
  std::vector<Operand> result;
  for (size_t k = 0; k < operands_.size(); ++k) result.push_back(operand(k));
  return result;
}

std::vector<Tensor> Call::tensors() const {
  std::vector<Tensor> result;
  for (size_t k = 0; k < operands_.size(); ++k) result.push_back(operand(k).tensor());
  return result;
}

bool Call::has(std::string_view name) const { return args_.contains(std::string(name)); }

const json& Call::argument(std::string_view name) const {
  const auto found = args_.find(std::string(name));
  if (found == args_.end()) throw Error(error(fmt::format("argument `{}` is missing", name)));
  return *found;
}

int64_t Call::integer(std::string_view name) const { return get_as<int64_t>(argument(name), name); }
double Call::real(std::string_view name) const { return real_of(argument(name), name); }
bool Call::flag(std::string_view name) const { return has(name) && get_as<bool>(argument(name), name); }
std::string Call::text(std::string_view name) const { return get_as<std::string>(argument(name), name); }

DType Call::dtype(std::string_view argument_name) const {
  const std::string spelling = text(argument_name);
  const std::optional<DType> dtype = parse_dtype(spelling);
  if (!dtype) throw Error(error(fmt::format("argument `{}`: no dtype `{}`", argument_name, spelling)));
  return *dtype;
}

std::vector<int64_t> Call::integers(std::string_view name) const {
  return get_as<std::vector<int64_t>>(argument(name), name);
}

std::vector<double> Call::reals(std::string_view name) const {
  std::vector<double> result;
  for (const json& value : argument(name)) result.push_back(real_of(value, name));
  return result;
}

std::vector<Expr> Call::exprs(std::string_view name) const {
  std::vector<Expr> result;
  for (const int64_t value : integers(name)) result.emplace_back(value);
  return result;
}

std::optional<Expr> Call::optional_expr(std::string_view name) const {
  if (argument(name).is_null()) return std::nullopt;
  return Expr(integer(name));
}

std::vector<std::pair<Expr, Expr>> Call::pairs(std::string_view name) const {
  std::vector<std::pair<Expr, Expr>> result;
  for (const auto& [a, b] : get_as<std::vector<std::pair<int64_t, int64_t>>>(argument(name), name)) {
    result.emplace_back(a, b);
  }
  return result;
}

std::vector<Shape> Call::shapes(std::string_view name) const {
  std::vector<Shape> result;
  for (const auto& dims : get_as<std::vector<std::vector<int64_t>>>(argument(name), name)) result.emplace_back(dims);
  return result;
}

const Function* find_function(std::string_view name) {
  for (const auto table : {elementwise_functions(), movement_functions(), reduction_functions(), linear_functions(),
                           normalization_functions(), creation_functions(), indexing_functions(), sorting_functions(),
                           attention_functions(), convolution_functions(), blocks_functions(), promotion_functions()}) {
    for (const Function& function : table) {
      if (function.name == name) return &function;
    }
  }
  return nullptr;
}

}  // namespace lumen::conformance

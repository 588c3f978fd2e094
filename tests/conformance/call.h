// A case's call of one frontend function: its operands in a graph, and its arguments as the case file gives them.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lumen/frontend/ops.h"

namespace lumen::conformance {

// Reading an operand or argument that the case does not have, or of another kind, throws Error.
class Call {
 public:
  Call(Graph& graph, std::vector<std::optional<Operand>> operands, const nlohmann::json& args)
      : graph_(graph), operands_(std::move(operands)), args_(args) {}

  Graph& graph() const { return graph_; }
  const Operand& operand(size_t k) const;
  const Operand& x() const { return operand(0); }
  std::optional<Operand> optional_operand(size_t k) const;  // nothing where the case has null or no such operand
  std::vector<Operand> operands() const;
  std::vector<Tensor> tensors() const;

  bool has(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const;  // false where the case does not say
  std::string text(std::string_view name) const;
  DType dtype(std::string_view name = "dtype") const;
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<Expr> exprs(std::string_view name) const;
  std::optional<Expr> optional_expr(std::string_view name) const;
  std::vector<std::pair<Expr, Expr>> pairs(std::string_view name) const;
  std::vector<Shape> shapes(std::string_view name) const;

 private:
  const nlohmann::json& argument(std::string_view name) const;

  Graph& graph_;
  std::vector<std::optional<Operand>> operands_;
  const nlohmann::json& args_;
};

using Results = std::vector<Tensor>;
struct Function {
  std::string_view name;
  std::function<Results(const Call&)> call;
};

// One table per header of the frontend.
std::span<const Function> elementwise_functions();
std::span<const Function> movement_functions();
std::span<const Function> reduction_functions();
std::span<const Function> linear_functions();
std::span<const Function> normalization_functions();
std::span<const Function> creation_functions();
std::span<const Function> indexing_functions();
std::span<const Function> sorting_functions();
std::span<const Function> attention_functions();
std::span<const Function> convolution_functions();
std::span<const Function> blocks_functions();
std::span<const Function> promotion_functions();

// In any of them, or null.
const Function* find_function(std::string_view name);

// Functions that take operands only.
inline auto unary(Tensor (*f)(const Operand&)) {
  return [f](const Call& c) -> Results { return {f(c.x())}; };
}
inline auto binary(Tensor (*f)(const Operand&, const Operand&)) {
  return [f](const Call& c) -> Results { return {f(c.operand(0), c.operand(1))}; };
}
inline auto ternary(Tensor (*f)(const Operand&, const Operand&, const Operand&)) {
  return [f](const Call& c) -> Results { return {f(c.operand(0), c.operand(1), c.operand(2))}; };
}

}  // namespace lumen::conformance

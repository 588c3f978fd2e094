#include "lumen/search/op_facts.h"

#include <fmt/format.h>

#include "lumen/egraph/core/primitive.h"
#include "lumen/egraph/core/typed_primitive.h"

namespace lumen {

using egraph::Primitive;
using egraph::PrimitiveContext;
using egraph::SortId;
using egraph::Value;

namespace {

// A primitive whose parameters are `operands` values of `sort` and the op's fields; `compute` gets both.
template <class T, class Compute>
Primitive over_op(std::string name, SortId sort, const FieldValues& values, const OpDef& op, size_t operands,
                  Compute compute) {
  Primitive primitive;
  primitive.name = std::move(name);
  primitive.params.assign(operands, sort);
  for (size_t k = 0; k < op.fields.size(); ++k) primitive.params.push_back(values.sort_of(op, k));
  primitive.result = sort;
  primitive.apply = [=, &op](PrimitiveContext& context, std::span<const Value> args) -> std::optional<Value> {
    std::vector<T> given;
    for (const Value value : args.first(operands)) given.push_back(context.sort(sort).values<T>().at(value));
    FieldBuffer fields(op);
    for (size_t k = 0; k < op.fields.size(); ++k) {
      values.read(context.sorts(), op, k, args[operands + k], fields.data());
    }
    const std::optional<T> result = compute(op, fields.data(), given);
    if (!result) return std::nullopt;
    return context.sort(sort).values<T>().intern(*result);
  };
  return primitive;
}

std::optional<TensorType> infer_type(const OpDef& op, const void* fields, const std::vector<TensorType>& operands) {
  const Expected<TensorType> type = op.infer(fields, operands);
  return type.ok() ? std::optional(*type) : std::nullopt;
}

// One element of an elementwise op; nothing where it would be an error.
std::optional<Scalar> fold_scalars(const OpDef& op, const void* fields, const std::vector<Scalar>& operands) {
  std::vector<TensorType> types;
  std::vector<DType> dtypes;
  std::vector<const Lane*> lanes;
  for (const Scalar& operand : operands) {
    types.push_back({operand.dtype, Shape()});
    dtypes.push_back(operand.dtype);
    lanes.push_back(&operand.value);
  }
  const Expected<TensorType> type = op.infer(fields, types);
  if (!type.ok()) return std::nullopt;
  Scalar result{type->dtype, {}};
  std::string failure;
  op.apply(fields, {dtypes, lanes, type->dtype, &result.value, 1, &failure});
  if (!failure.empty()) return std::nullopt;
  // As every constant is made, so that there is one NaN.
  return is_float(result.dtype) ? Scalar::of(result.dtype, result.value.f) : Scalar::of(result.dtype, result.value.i);
}

std::string repeated_for(std::string_view pattern, size_t count) {
  std::string text;
  for (size_t k = 0; k < count; ++k) text += fmt::format(fmt::runtime(pattern), k);
  return text;
}

}  // namespace

void add_fact_primitives(egraph::EGraph& graph, const FieldValues& values, const OpDef& op, size_t operands,
                         std::string_view name) {
  graph.add_primitive(
      over_op<TensorType>(fmt::format("infer-{}", name), values.type_sort(), values, op, operands, infer_type));
  if (!op.is_elementwise()) return;
  const SortId scalar = egraph::sort_of_type(graph.sorts(), typeid(Scalar));
  graph.add_primitive(over_op<Scalar>(fmt::format("fold-{}", name), scalar, values, op, operands, fold_scalars));
}

std::string fact_rules(const OpDef& op, size_t operands, std::string_view name) {
  const std::string term =
      fmt::format("(= ?t ({}{}{}))", name, repeated_for(" ?x{}", operands), repeated_for(" ?f{}", op.fields.size()));
  const std::string fields = repeated_for(" ?f{}", op.fields.size());
  std::string rules = fmt::format(
      "(rule ({}{} (= ?type (infer-{}{}{}))) ((set (type_of ?t) ?type)) :ruleset facts :name \"type of {}\")\n", term,
      repeated_for(" (= ?t{0} (type_of ?x{0}))", operands), name, repeated_for(" ?t{}", operands), fields, name);
  if (op.is_elementwise()) {
    rules += fmt::format(
        "(rule ({}{} (= ?c (fold-{}{}{}))) ((set (constant_of ?t) ?c)) :ruleset facts :name \"constant of {}\")\n",
        term, repeated_for(" (= ?c{0} (constant_of ?x{0}))", operands), name, repeated_for(" ?c{}", operands), fields,
        name);
  }
  return rules;
}

}  // namespace lumen

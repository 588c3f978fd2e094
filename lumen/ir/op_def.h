// The derivation of an OpDef from an op struct: the only code that sees a struct's fields. Included by op.h.
#pragma once

#include <array>
#include <concepts>
#include <new>
#include <utility>

#include "lumen/base/check.h"
#include "lumen/base/hash.h"
#include "lumen/ir/op.h"

namespace lumen {

namespace detail {

// The position of the word at the cursor in `names`; an error that names the type and the nearest one otherwise.
Expected<size_t> parse_enum(TextReader& reader, std::string_view type, std::span<const std::string_view> names);

template <class E>
struct EnumField {
  static constexpr auto kNames = [] {
    std::array<std::string_view, EnumNames<E>::values.size()> names;
    for (size_t k = 0; k < names.size(); ++k) names[k] = EnumNames<E>::values[k].second;
    return names;
  }();
  static std::string_view spelling(const void* field) {
    for (const auto& [value, text] : EnumNames<E>::values) {
      if (value == *static_cast<const E*>(field)) return text;
    }
    CHECK(false, "an enum value without a name in EnumNames");
    return {};
  }
  static bool equal(const void* a, const void* b) { return *static_cast<const E*>(a) == *static_cast<const E*>(b); }
  static uint64_t hash(const void* field) { return hash_bytes(spelling(field)); }
  static void print(const void* field, std::string& out) { out += spelling(field); }
  static Expected<void> parse(TextReader& reader, void* out) {
    *static_cast<E*>(out) = EnumNames<E>::values[LUMEN_TRY(parse_enum(reader, EnumNames<E>::type, kNames))].first;
    return {};
  }
};

template <class Op, class S, class T>
FieldInfo field_info(const Op& probe, const Field<S, T>& field) {
  const auto* at = reinterpret_cast<const std::byte*>(&(probe.*field.member));
  return {field.name, &field_type<T>(), static_cast<size_t>(at - reinterpret_cast<const std::byte*>(&probe))};
}

template <class Op>
concept HasApply = requires(const Op& op, const ApplyArgs& args) {
  Op::apply(op, args);
};
template <class Op>
concept HasFold = requires {
  { Op::fold() } -> std::same_as<const Fold&>;
};
template <class Op>
concept HasEval = requires(const Op& op, const EvalContext& context, std::span<const HostTensor* const> in,
                           HostTensor& out) {
  { Op::eval(op, context, in, out) } -> std::same_as<Expected<void>>;
};

template <class Op>
OpDef derive() {
  static_assert(std::is_trivially_copyable_v<Op> && std::is_trivially_destructible_v<Op>,
                "the fields of an op are of the closed set in op.h");
  static_assert(
      HasApply<Op> || !requires { &Op::apply; }, "apply has another signature than op.h says");
  static_assert(
      HasFold<Op> || !requires { &Op::fold; }, "fold has another signature than op.h says");
  static_assert(
      HasEval<Op> || !requires { &Op::eval; }, "eval has another signature than op.h says");
  static_assert(HasApply<Op> + HasFold<Op> + HasEval<Op> <= 1, "an op has one meaning: apply, fold or eval");
  OpDef def{};
  def.name = Op::kName;
  def.doc = Op::kDoc;
  def.arity = Op::kArity;
  def.family = Op::kFamily;
  def.operands = Op::kOperands;
  def.size = sizeof(Op);
  def.align = alignof(Op);
  const Op probe{};
  std::apply([&](const auto&... field) { (def.fields.push_back(field_info(probe, field)), ...); }, Op::fields());
  def.construct = [](void* at) { ::new (at) Op{}; };
  def.infer = [](const void* op, std::span<const TensorType> operands) -> Expected<TensorType> {
    return Op::infer(*static_cast<const Op*>(op), operands);
  };
  if constexpr (HasApply<Op>) {
    def.apply = [](const void* op, const ApplyArgs& args) { Op::apply(*static_cast<const Op*>(op), args); };
  }
  if constexpr (HasFold<Op>) def.fold = &Op::fold();
  if constexpr (HasEval<Op>) {
    def.eval = [](const void* op, const EvalContext& context, std::span<const HostTensor* const> in,
                  HostTensor& out) -> Expected<void> {
      return Op::eval(*static_cast<const Op*>(op), context, in, out);
    };
  }
  return def;
}

}  // namespace detail

template <class T>
const FieldType& field_type() {
  static_assert(std::is_enum_v<T>, "not a type that a field may have");
  using E = detail::EnumField<T>;
  static constexpr FieldType type{EnumNames<T>::type, E::equal, E::hash, E::print, E::parse};
  return type;
}

template <class Op>
const OpDef& op_def() {
  static const OpDef def = detail::derive<Op>();
  return def;
}

}  // namespace lumen

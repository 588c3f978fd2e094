// Ops are plain structs; OpDef is derived from the struct, once.
//
// An op is declared in one place and everything else follows from it: text both ways, equality, hash, shape
// inference, reference meaning, docs, the conformance grid and (later) the e-graph constructor.
//
//   // Sum over `axis`; the axis leaves the shape.
//   struct SumReduce : Reduce<SumReduce> {  // holds `axis` and the field list
//     static constexpr std::string_view kName = "SumReduce";
//     static constexpr std::string_view kDoc = "Sum over `axis`; the axis leaves the shape.";
//     ...
//   };
//
// What a struct provides (families such as Unary, Binary, Reduce in hlir/ provide most of it):
//   kName, kDoc           std::string_view
//   kArity                int; kVariadic for any number
//   kFamily               OpFamily
//   kOperands             DTypeClasses that operand 0 may have, for docs and the conformance grid
//   fields()              std::tuple of Field{name, member}
//   infer(op, types)      Expected<TensorType>: the only place that checks operands; messages start with "[name] "
// and at most one of (Input and Loop have none)
//   apply(op, ApplyArgs)                   elementwise: one run of lanes
//   fold()                                 const Fold&: a reduction along one axis
//   eval(op, EvalContext, in, out)         anything else: whole tensors; `out` comes sized and poisoned
//
// Fields are trivially copyable: int64_t, double, bool, DType, Expr, Shape, View, Scalar, Name, Body, and enums for
// which EnumNames is specialised. That set is closed; each member has one FieldType.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/host_tensor.h"
#include "lumen/ir/name.h"
#include "lumen/ir/shape.h"
#include "lumen/ir/view.h"

namespace lumen {

class Graph;
class TextReader;

// A body graph held by a structured op; owned by the graph that holds the node (Graph::adopt), compared by content.
struct Body {
  const Graph* graph = nullptr;
};

enum class OpFamily : uint8_t {
  leaf,
  unary,
  binary,
  select,
  cast,
  reduce,
  scan,
  view,
  gather,
  scatter,
  sort,
  loop,
  contract,
  custom
};
std::string_view name(OpFamily);

// A set of dtype classes.
struct DTypeClasses {
  bool floating = true, integer = true, boolean = true;
  bool admits(DType d) const { return is_float(d) ? floating : is_bool(d) ? boolean : integer; }
};
inline constexpr DTypeClasses kAnyDType{};
inline constexpr DTypeClasses kFloats{true, false, false};
inline constexpr DTypeClasses kNumbers{true, true, false};
inline constexpr DTypeClasses kIntegers{false, true, false};
inline constexpr DTypeClasses kBits{false, true, true};  // integers and bool

inline constexpr int kVariadic = -1;

// One run of `count` lanes of an elementwise op. in[k] are runs of operand k, already values of in_dtypes[k]; the
// op leaves values of out_dtype in `out` (rounded or wrapped), or says in `error` why it cannot.
struct ApplyArgs {
  std::span<const DType> in_dtypes;
  std::span<const Lane* const> in;
  DType out_dtype;
  Lane* out;
  int64_t count;
  std::string* error;  // empty on entry; a message that starts with "[name] "
};

// How a reduction folds its axis. Each result has one accumulator, two lanes at the same place in `value` and `extra`,
// which takes the elements in order along the axis; how they are cut into runs does not change the result.
struct FoldLanes {
  Lane* value;
  Lane* extra;
};
struct FoldRun {
  DType dtype;  // of the operand
  const Lane* in;
  int64_t count;
  int64_t position;  // along the axis, of in[0]
};
struct Fold {
  bool needs_elements;  // an empty axis has no result
  int64_t (*axis)(const void* op);
  void (*start)(DType dtype, FoldLanes accumulators, int64_t count);
  void (*along)(const FoldRun& run, FoldLanes accumulator);    // one accumulator takes the whole run
  void (*across)(const FoldRun& run, FoldLanes accumulators);  // accumulator k takes in[k]; all are at `position`
  void (*finish)(DType dtype, FoldLanes accumulators, int64_t count, Lane* out);
};

// How one C++ field type behaves; a closed set, see field_type.cpp.
struct FieldType {
  std::string_view name;  // as docs and rules spell it: "int", "float", "bool", "dtype", "expr", "shape", "view", …
  bool (*equal)(const void*, const void*);
  uint64_t (*hash)(const void*);
  void (*print)(const void*, std::string& out);
  Expected<void> (*parse)(TextReader&, void* out);
};
template <class T>
const FieldType& field_type();  // enums; the rest of the closed set is in field_type.cpp
template <>
const FieldType& field_type<int64_t>();
template <>
const FieldType& field_type<double>();
template <>
const FieldType& field_type<bool>();
template <>
const FieldType& field_type<DType>();
template <>
const FieldType& field_type<Expr>();
template <>
const FieldType& field_type<Shape>();
template <>
const FieldType& field_type<View>();
template <>
const FieldType& field_type<Scalar>();
template <>
const FieldType& field_type<Name>();
template <>
const FieldType& field_type<Body>();

// Specialise for an enum used as a field: static constexpr std::string_view type = "scatter_mode";
// static constexpr std::array values = {std::pair{ScatterMode::set, std::string_view("set")}, …};
template <class E>
struct EnumNames;

template <class S, class T>
struct Field {
  std::string_view name;
  T S::*member;
};
template <class S, class T>
Field(const char*, T S::*) -> Field<S, T>;

struct FieldInfo {
  std::string_view name;
  const FieldType* type;
  size_t offset;
};

struct OpDef {
  std::string_view name;
  std::string_view doc;
  int arity;
  OpFamily family;
  DTypeClasses operands;
  std::vector<FieldInfo> fields;
  size_t size;  // of the struct
  size_t align;
  void (*construct)(void* at);  // default value
  Expected<TensorType> (*infer)(const void* op, std::span<const TensorType> operands);
  void (*apply)(const void* op, const ApplyArgs&);  // null unless elementwise
  const Fold* fold;                                 // null unless a reduction
  Expected<void> (*eval)(const void* op, const EvalContext&, std::span<const HostTensor* const> in, HostTensor& out);

  bool is_elementwise() const { return apply != nullptr; }
  bool equal(const void* a, const void* b) const;
  uint64_t hash(const void* op) const;
};

// The OpDef of a struct; one object per struct for the life of the program.
template <class Op>
const OpDef& op_def();

// The ops a text or a stage may use. Order is documentation order; names are unique.
class OpTable {
 public:
  OpTable(std::initializer_list<const OpDef*> ops);
  void add(const OpDef& op);  // CHECKs that the name is new
  const OpDef* find(std::string_view name) const;
  std::span<const OpDef* const> ops() const { return ops_; }

 private:
  std::vector<const OpDef*> ops_;
};

}  // namespace lumen

#include "lumen/ir/op_def.h"  // the derivation: the only code that sees a struct's fields

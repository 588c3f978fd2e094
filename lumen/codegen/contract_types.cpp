#include "lumen/codegen/contract_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/scalar.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/view.h"

namespace lumen {

namespace {

bool is_half(DType dtype) { return dtype == bf16 || dtype == f16; }
bool is_narrow(DType dtype) { return is_half(dtype) || dtype == i8 || dtype == u8; }
// Whether it has every float of 8 bits.
bool is_wider_than_bytes(DType dtype) { return is_float(dtype) && info(dtype).bits >= 16; }

// Whether sums of products of `from`, widened to `to`, are what a matrix unit gives.
bool widens(DType from, DType to) {
  if (from == to) return is_narrow(from);  // a sum is wrapped or rounded when it is put away
  return (is_half(from) && to == f32) || ((from == i8 || from == u8) && to == i32);
}

Input with_dtype(Input input, DType dtype) {
  input.dtype = dtype;
  return input;
}

// The views of a factor over an input of bf16 or f16, as views of its bits: a load and a store would round each
// element.
class BitsBuilder {
 public:
  BitsBuilder(const ContractRoles& roles, NodeId source)
      : roles_(roles), dtype_((*roles.graph)[source].type.dtype), graph_(std::make_shared<Graph>()) {
    for (const Expr& dim : roles.graph->dims()) {
      const auto [lo, hi] = dim.dim_bounds();
      graph_->add_dim(dim.dim_name(), lo, hi).value();
    }
    for (const NodeId id : roles.graph->inputs()) {
      const Input& input = (*roles.graph)[id].as<Input>();
      const NodeId added = graph_->add_input(id == source ? with_dtype(input, u16) : input).value();
      if (id == source) source_ = added;
    }
  }

  NodeId build(NodeId id) {
    const Node& node = (*roles_.graph)[id];
    if (node.is<Input>()) return source_;
    const NodeId operand = build(node.operands[0]);
    if (!node.is<hlir::View>()) return operand;
    const View& view = node.as<hlir::View>().view;
    if (!view.has_guard()) return graph_->add(hlir::View{view}, std::span(&operand, 1)).value();
    const Lane fill = Scalar::of(dtype_, view.fill().as_double()).value;
    std::array<std::byte, 2> bits;
    pack(dtype_, std::span(&fill, 1), bits);
    const int64_t value = static_cast<int64_t>(bits[0]) | static_cast<int64_t>(bits[1]) << 8;
    const View same(view.shape(), view.index(), view.guard(), Scalar::of(u16, value));
    return graph_->add(hlir::View{same}, std::span(&operand, 1)).value();
  }
  std::shared_ptr<Graph> graph() const { return graph_; }

 private:
  const ContractRoles& roles_;
  DType dtype_;
  std::shared_ptr<Graph> graph_;
  NodeId source_{};
};

// A node of one graph in another with the same inputs.
NodeId copy_into(Graph& to, const Graph& from, NodeId id) {
  const Node& node = from[id];
  if (node.is<Input>()) return to.find_input(node.as<Input>().name.str()).value();
  std::vector<NodeId> operands;
  for (const NodeId operand : node.operands) operands.push_back(copy_into(to, from, operand));
  return to.add(*node.op, node.fields, operands).value();
}

// The values of a chain of views and one Cast from a dtype that is wanted, without that Cast, in a copy of the graph.
class Narrowed {
 public:
  using IsWanted = bool (*)(DType);
  Narrowed(const ContractRoles& roles, IsWanted wanted)
      : roles_(roles), is_wanted_(wanted), graph_(clone(*roles.graph)) {}

  std::optional<NodeId> build(NodeId id) {
    const Node& node = (*roles_.graph)[id];
    if (is_wanted_(node.type.dtype)) {
      dtype_ = node.type.dtype;
      return copy_into(*graph_, *roles_.graph, id);
    }
    if (node.is<hlir::Cast>()) {  // two Casts could lose something, but not what 8 bits hold
      const bool narrow = is_wanted_((*roles_.graph)[node.operands[0]].type.dtype);
      const bool exact = is_wanted_ == is_byte_float && is_wider_than_bytes(node.type.dtype);
      return narrow || exact ? build(node.operands[0]) : std::nullopt;
    }
    if (!node.is<hlir::View>()) return std::nullopt;
    const std::optional<NodeId> operand = build(node.operands[0]);
    if (!operand) return std::nullopt;
    View view = node.as<hlir::View>().view;
    if (view.has_guard()) {
      const Scalar fill = Scalar::of(dtype_, view.fill().as_double());
      if (fill.as_double() != view.fill().as_double()) return std::nullopt;
      view = View(view.shape(), view.index(), view.guard(), fill);
    }
    return graph_->add(hlir::View{view}, std::span(&*operand, 1)).value();
  }
  DType dtype() const { return dtype_; }
  std::shared_ptr<Graph> graph() const { return graph_; }

 private:
  const ContractRoles& roles_;
  IsWanted is_wanted_;
  std::shared_ptr<Graph> graph_;
  DType dtype_{};
};

// The values of a chain of views and casts before they were rounded to a narrower float, in a copy of the graph.
class Unrounded {
 public:
  explicit Unrounded(const ContractRoles& roles) : from_(*roles.graph), graph_(clone(*roles.graph)) {}

  std::shared_ptr<Graph> graph() const { return graph_; }

  // Nothing when nothing is rounded. `widened`: the Cast back to f32 is behind us.
  std::optional<NodeId> build(NodeId id, bool widened = false) {
    const Node& node = from_[id];
    if (node.is<hlir::View>() && !node.as<hlir::View>().view.has_guard()) {
      const std::optional<NodeId> operand = build(node.operands[0], widened);
      return operand ? std::optional(graph_->add(*node.op, node.fields, std::span(&*operand, 1)).value())
                     : std::nullopt;
    }
    if (!node.is<hlir::Cast>()) return std::nullopt;
    if (!widened) return node.type.dtype == f32 ? build(node.operands[0], true) : std::nullopt;
    const DType before = from_[node.operands[0]].type.dtype;
    if (!is_half(node.type.dtype) || (before != f32 && !is_half(before))) return std::nullopt;
    const NodeId operand = copy_into(*graph_, from_, node.operands[0]);
    return before == f32 ? operand : graph_->add(hlir::Cast{f32}, std::span(&operand, 1)).value();
  }

 private:
  const Graph& from_;
  std::shared_ptr<Graph> graph_;
};

// What both sides are before they are widened, all columns alike.
struct NarrowTypes {
  DType rows, columns;
};
std::optional<NarrowTypes> narrow_types(const ContractRoles& roles) {
  const std::optional<NarrowFactor> rows = narrow_factor(roles, roles.rows);
  std::optional<DType> columns;
  for (const NodeId factor : roles.columns) {
    const std::optional<NarrowFactor> narrow = narrow_factor(roles, factor);
    if (!narrow || (columns && *columns != narrow->dtype)) return std::nullopt;
    columns = narrow->dtype;
  }
  return rows && columns ? std::optional(NarrowTypes{rows->dtype, *columns}) : std::nullopt;
}

// How many bf16 add up to any value of a factor that is f32.
int64_t pieces_of(const ContractRoles& roles, NodeId factor) {
  const std::optional<NarrowFactor> narrow = narrow_factor(roles, factor);
  return !narrow ? 3 : narrow->dtype == bf16 ? 1 : narrow->dtype == f16 ? 2 : 3;
}

// The input under a chain of views and at most one Cast.
std::optional<NodeId> plain_source(const Graph& graph, NodeId id) {
  int casts = 0;
  while (graph[id].is<hlir::View>() || (graph[id].is<hlir::Cast>() && casts++ == 0)) id = graph[id].operands[0];
  return graph[id].is<Input>() ? std::optional(id) : std::nullopt;
}

}  // namespace

std::optional<NarrowFactor> narrow_factor(const ContractRoles& roles, NodeId factor) {
  Narrowed narrowed(roles, is_narrow);
  const std::optional<NodeId> node = narrowed.build(factor);
  if (!node || !widens(narrowed.dtype(), roles.dtype)) return std::nullopt;
  const DType dtype = narrowed.dtype();
  const std::optional<NodeId> source = plain_source(*roles.graph, factor);
  if (is_half(dtype) && source && (*roles.graph)[*source].type.dtype == dtype) {
    BitsBuilder bits(roles, *source);
    const NodeId bits_node = bits.build(factor);
    return NarrowFactor{bits.graph(), bits_node, dtype, "(uint16_t)"};
  }
  return NarrowFactor{narrowed.graph(), *node, dtype, store_function(dtype)};
}

bool is_byte_float(DType dtype) { return dtype == f8e4m3 || dtype == f8e5m2; }

std::optional<NarrowFactor> byte_factor(const ContractRoles& roles, NodeId factor) {
  Narrowed narrowed(roles, is_byte_float);
  const std::optional<NodeId> node = narrowed.build(factor);
  if (!node || !is_wider_than_bytes(roles.dtype)) return std::nullopt;
  return NarrowFactor{narrowed.graph(), *node, narrowed.dtype(), store_function(narrowed.dtype())};
}

std::optional<FactorIn> unrounded_factor(const ContractRoles& roles, NodeId factor) {
  Unrounded unrounded(roles);
  const std::optional<NodeId> node = unrounded.build(factor);
  return node ? std::optional(FactorIn{unrounded.graph(), *node}) : std::nullopt;
}

bool has_rounded_columns(const ContractRoles& roles) {
  return std::ranges::any_of(roles.columns, [&](NodeId factor) { return unrounded_factor(roles, factor).has_value(); });
}

std::vector<FactorIn> column_factors(const ContractRoles& roles, bool wide) {
  std::vector<FactorIn> columns;
  for (const NodeId factor : roles.columns) {
    columns.push_back({roles.graph, factor});
    if (wide) columns.back() = unrounded_factor(roles, factor).value_or(columns.back());
  }
  return columns;
}

bool is_held_as_stored(DType dtype) {
  return dtype == f32 || dtype == f64 || dtype == i32 || dtype == i64 || dtype == u32 || dtype == u64;
}

HeldFactor held_factor(const ContractRoles& roles, NodeId factor, Role lane, bool narrow) {
  HeldFactor held{roles.graph, factor, "", std::nullopt, false};
  if (narrow) {
    NarrowFactor found = narrow_factor(roles, factor).value();
    held = {found.graph, found.node, found.convert, std::nullopt, false};
  }
  held.plain = plain_factor(roles, *held.graph, held.node, lane);
  const DType packed = narrow ? (*held.graph)[held.node].type.dtype : roles.dtype;
  const bool same_bits = narrow ? !is_float(packed) : is_held_as_stored(packed);
  if (held.plain && (held.plain->dtype != packed || !same_bits)) held.plain.reset();
  const std::optional<Expr> step = step_of(roles, place_of(roles, *held.graph, held.node).index, Role::summed);
  held.along_summed = step && *step == Expr(1);
  return held;
}

TileTypes vector_types(DType dtype) {
  std::string type(compute_type(dtype));
  if (type == "int32_t" || type == "int64_t") type = "u" + type;
  const bool wide = dtype == f64 || dtype == i64 || dtype == u64;
  return {type, type, wide ? 8 : 4, 1, 1, ""};
}

std::optional<TileTypes> matrix_types(const ContractRoles& roles, const Target& target) {
  const std::optional<NarrowTypes> types = narrow_types(roles);
  if (!types) return std::nullopt;
  if (types->rows == bf16 && types->columns == bf16 && target.amx_bf16)
    return TileTypes{"uint16_t", "float", 4, 2, 32, "tdpbf16ps"};
  if (is_half(types->rows) || is_half(types->columns) || !target.amx_int8) return std::nullopt;
  const char letter[] = {types->rows == i8 ? 's' : 'u', types->columns == i8 ? 's' : 'u', 0};
  return TileTypes{"uint8_t", "int32_t", 4, 4, 64, fmt::format("tdpb{}d", letter)};
}

std::optional<TileTypes> piece_types(const ContractRoles& roles, const Target& target) {
  if (!target.amx_bf16 || roles.dtype != f32 || matrix_types(roles, target)) return std::nullopt;
  TileTypes types{"uint16_t", "float", 4, 2, 32, "tdpbf16ps"};
  types.row_pieces = pieces_of(roles, roles.rows);
  for (const NodeId factor : roles.columns) {
    types.column_pieces = std::max(types.column_pieces, pieces_of(roles, factor));
  }
  return types;
}

std::optional<TileTypes> quad_types(const ContractRoles& roles, const Target& target) {
  const std::optional<NarrowTypes> types = narrow_types(roles);
  if (!types || is_half(types->rows) || is_half(types->columns)) return std::nullopt;
  const bool alike = types->rows == types->columns;
  TileTypes quads{"uint8_t", "int32_t", 4, 4, 4, types->rows == i8 ? "sdot" : "udot"};
  if (target.dotprod) return alike ? std::optional(quads) : std::nullopt;
  if (!target.avx512_vnni || target.amx_int8) return std::nullopt;
  quads.product = "vpdpbusd";
  quads.rows_have_sign = types->rows == i8;
  quads.flipped = alike;
  return quads;
}

}  // namespace lumen

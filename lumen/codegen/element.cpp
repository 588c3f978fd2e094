#include "lumen/codegen/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "lumen/codegen/element_ops.h"
#include "lumen/codegen/rough.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/expr_parts.h"

namespace lumen {

std::vector<Expr> unflatten(Expr flat, const Shape& shape) {
  const std::vector<Expr> strides = shape.strides();
  std::vector<Expr> at;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const Expr along = flat / strides[static_cast<size_t>(k)];
    at.push_back(k == 0 ? along : along % shape[k]);
  }
  return at;
}

ElementWriter::ElementWriter(const Graph& body, int indent, std::vector<std::string> faults)
    : body_(body), rough_(rough_values(body)), blocks_(1), faults_(std::move(faults)) {
  blocks_[0].indent = indent;
  for (size_t k = 0; k < body.dims().size(); ++k) {
    const auto [lo, hi] = body.dims()[k].dim_bounds();
    dims_.emplace_back(body.dims()[k], Expr::dim(fmt::format("n{}", k), lo, hi));
  }
  for (size_t k = 0; k < body.inputs().size(); ++k) input_numbers_[body.inputs()[k]] = k;
}

Shape ElementWriter::rename(const Shape& shape) const {
  std::vector<Expr> dims;
  for (const Expr& dim : shape) dims.push_back(rename(dim));
  return Shape(dims);
}

std::string ElementWriter::index(Expr e) {
  std::string text = print_c(e).text;
  indices_.push_back(e);
  const auto found = std::count_if(text.begin(), text.end(), [](char c) { return c == '/' || c == '%'; });
  divisions_ += static_cast<int>(found);
  if (blocks_.size() > 1) inner_divisions_ += static_cast<int>(found);
  return text;
}

void ElementWriter::line(const std::string& text) {
  Block& block = blocks_.back();
  block.text += std::string(static_cast<size_t>(block.indent), ' ') + text + "\n";
}

void ElementWriter::open(const std::string& head) {
  const int indent = blocks_.back().indent + 2;
  Block& block = blocks_.emplace_back();
  block.head = head;
  block.indent = indent;
}

void ElementWriter::open_loop(const std::string& head, Expr variable, bool may_be_empty) {
  open(head);
  blocks_.back().is_loop = true;
  blocks_.back().lets_out = !may_be_empty;
  blocks_.back().variables.push_back(variable);
}

void ElementWriter::open_group(const std::string& head, Expr variable, bool may_be_empty, Group group) {
  open_loop(head, variable, may_be_empty);
  blocks_.back().group = std::move(group);
}

void ElementWriter::line_before(const std::string& text) {
  Block& around = blocks_[blocks_.size() - 2];
  around.text += std::string(static_cast<size_t>(around.indent), ' ') + text + "\n";
}

std::string ElementWriter::take(Stored element, const std::string& array, Expr flat, Expr variable) {
  const Expr first = first_of_group(flat, variable);
  const std::string place = print_c(first).text;
  const std::string row = held(array, first), got = row.empty() ? fresh_name('x') : row;
  const bool has_rows = near_rows_ && depends_on(first, *near_rows_);
  const int takes = has_rows ? ++takes_[{array, first.node()}] : 0;
  const bool near = near_rows_ && takes != 1;
  const std::string_view word = near ? "LUMEN_TAKE_AGAIN" : row.empty() ? "LUMEN_TAKE" : "LUMEN_TAKE_TURN";
  if (!near || row.empty()) {
    line_before(fmt::format("{}({}, {}, {}, {}, i{}, {}, {});", word, element.type, got, group().width, array,
                            kFirstOfGroup, group().first, place));
  }
  if (takes == 2) fetch_next_row(element, array, first);
  return fmt::format("LUMEN_GOT({}, {}, {}[{}])", got, group().place, array, index(flat));
}

void ElementWriter::fetch_next_row(Stored element, const std::string& array, Expr first) {
  const std::pair<Expr, Expr> next[] = {{*near_rows_, *near_rows_ + 1}};
  line_before(fmt::format("LUMEN_FETCH_ROW({}, {}, i{}, {}, {});", element.type, array, kFirstOfGroup, group().first,
                          print_c(substitute(first, next)).text));
}

std::string ElementWriter::hold(Stored element, const std::string& array, Expr flat, Expr variable) {
  const Expr first = first_of_group(flat, variable);
  if (group().holds) make_room(element, array, first, "LUMEN_HOLD_ROW", "");
  return held(array, first);
}

std::string ElementWriter::held(const std::string& array, Expr first) const {
  const auto found = held_.find({array, first.node()});
  if (!group().in_turns || found == held_.end()) return "";
  return fmt::format("{}[{}_turn]", found->second, group().first);
}

void ElementWriter::make_room(Stored element, const std::string& array, Expr first, std::string_view word,
                              const std::string& from) {
  const int64_t registers = turns_.count * ((group().width * element.bytes + 3) / 4);
  const auto knows_place = [&](const Block& block) {
    return std::ranges::none_of(block.variables, [&](Expr variable) { return depends_on(first, variable); });
  };
  const bool before_loops = std::all_of(blocks_.begin() + 1, blocks_.end(), knows_place);
  if (held_.contains({array, first.node()}) || registers > turns_.room || !before_loops) return;
  turns_.room -= registers;
  const std::string name = held_[{array, first.node()}] = fresh_name('h');
  // After the others that are read so, if its place is known there: all are under way before one is waited for.
  std::string& text = blocks_[0].text;
  const size_t where = held_until_ > 0 && knows_place(blocks_[0]) ? held_until_ : text.size();
  const std::string statement =
      fmt::format("{}{}({}, {}, {}, {}{});\n", std::string(static_cast<size_t>(blocks_[0].indent), ' '), word,
                  element.type, name, group().width, turns_.count, from);
  text.insert(where, statement);
  held_until_ = where + statement.size();
}

bool ElementWriter::lies_in_groups(Expr flat, Expr variable, int64_t width) {
  if (variable.is_constant()) return width == 1;
  const std::pair<Expr, Expr> groups[] = {{variable, Expr::dim("group", 0, INT32_MAX) * width}};
  return step_along(flat, variable) == Expr(1) && substitute(flat, groups) % width == Expr(0);
}

Expr ElementWriter::first_of_group(Expr flat, Expr variable) {
  if (variable.is_constant()) return flat;
  const std::pair<Expr, Expr> first[] = {{variable, Expr::index(kFirstOfGroup, variable.index_extent())}};
  return substitute(flat, first);
}

void ElementWriter::close() {
  const Block block = std::move(blocks_.back());
  blocks_.pop_back();
  line(block.head + " {");
  blocks_.back().text += block.text;
  line("}");
}

std::string ElementWriter::text() const {
  std::string text;
  for (const Block& block : blocks_) {
    if (&block != &blocks_[0]) text += std::string(static_cast<size_t>(block.indent - 2), ' ') + block.head + " {\n";
    text += block.text;
  }
  return text;
}

void ElementWriter::check(const std::string& fails, std::string message) {
  faults_.push_back(std::move(message));
  // A kernel with more messages than bits says the last one for all the others.
  const size_t bit = std::min<size_t>(faults_.size(), 62) - 1;
  line(fmt::format("fault |= (int64_t)({}) << {};", fails, bit));
}

std::string ElementWriter::keep(DType dtype, const std::string& text) {
  const std::string name = fresh_name('v');
  line(fmt::format("const {} {} = {};", compute_type(dtype), name, text));
  return name;
}

ElementWriter::Key ElementWriter::key_of(NodeId node, std::span<const Expr> at) {
  Key key{node, {}};
  for (const Expr& e : at) key.second.push_back(e.node());
  return key;
}

void ElementWriter::know(NodeId node, std::span<const Expr> at, std::string name) {
  blocks_.back().known[key_of(node, at)] = std::move(name);
}

bool ElementWriter::has_here(NodeId node, std::span<const Expr> at) const {
  return blocks_.back().known.contains(key_of(node, at));
}

size_t ElementWriter::depth_of(std::span<const Expr> at) const {
  size_t depth = blocks_.size();
  const auto needs = [&](const Block& block) {
    return std::any_of(block.variables.begin(), block.variables.end(), [&](Expr variable) {
      return std::any_of(at.begin(), at.end(), [&](Expr e) { return depends_on(e, variable); });
    });
  };
  while (depth > 1 && blocks_[depth - 1].lets_out && !needs(blocks_[depth - 1])) --depth;
  return depth;
}

std::string ElementWriter::value(NodeId node, std::span<const Expr> at) {
  if (body_[node].is<hlir::Constant>()) return literal(body_[node].as<hlir::Constant>().value);
  const Key key = key_of(node, at);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (const auto found = block->known.find(key); found != block->known.end()) return found->second;
  }
  // The blocks that it does not depend on step aside while it is computed.
  const auto outside = blocks_.begin() + static_cast<ptrdiff_t>(depth_of(at));
  std::vector<Block> aside(std::make_move_iterator(outside), std::make_move_iterator(blocks_.end()));
  blocks_.erase(outside, blocks_.end());
  const bool was_let_out = std::exchange(is_let_out_, is_let_out_ || !aside.empty());
  std::string name = make(node, at);
  is_let_out_ = was_let_out;
  blocks_.back().known[key] = name;
  std::move(aside.begin(), aside.end(), std::back_inserter(blocks_));
  return name;
}

std::string ElementWriter::single_value(NodeId node, std::span<const Expr> at) {
  const bool was_let_out = std::exchange(is_let_out_, true);
  std::string text = value(node, at);
  is_let_out_ = was_let_out;
  return text;
}

std::string ElementWriter::to_store(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  const auto knows = [&](const Block& block) { return block.known.contains(key_of(id, at)); };
  if (!node.is<hlir::Cast>() || !rounds(node.type.dtype) || std::ranges::any_of(blocks_, knows)) return value(id, at);
  return before_rounding(body_[node.operands[0]].type.dtype, node.type.dtype, value(node.operands[0], at));
}

std::string ElementWriter::converted(const std::string& function, NodeId id, std::span<const Expr> at) {
  const bool stores = function == store_function(body_[id].type.dtype);
  return fmt::format("{}({})", function, stores ? to_store(id, at) : value(id, at));
}

std::string ElementWriter::make(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  if (node.is<Input>()) return load(id, rename(node.type.shape).flat_index(at));
  if (node.is<hlir::View>()) return read_view(id, at);
  if (node.is<hlir::Gather>()) return read_gather(id, at);
  if (node.is<hlir::Bitcast>()) return read_bitcast(id, at);
  if (node.is<hlir::Iota>()) {
    const hlir::Iota& iota = node.as<hlir::Iota>();
    const std::string text = index(place(iota.value, iota.shape, at));
    return keep(iota.dtype, fmt::format("({})lumen_wrap_{}(({})({}))", compute_type(iota.dtype), name(iota.dtype),
                                        compute_type(iota.dtype), text));
  }
  if (node.is<hlir::SumReduce>() && node.type.dtype == f32 && apart_) return sum_by_warp(id, at);
  if (!is_element_op(node)) {
    problem_ = fmt::format("[{}] is not computed element by element", node.op->name);
    return "0";
  }
  std::vector<std::string> operands;
  if (const auto call = rough_.contains(id) ? rough_call(body_, id) : std::nullopt) {
    for (const NodeId operand : call->operands) operands.push_back(value(operand, at));
    return keep(node.type.dtype, fmt::format("{}({})", call->function, fmt::join(operands, ", ")));
  }
  std::vector<DType> dtypes;
  for (const NodeId operand : node.operands) {
    operands.push_back(value(operand, at));
    dtypes.push_back(body_[operand].type.dtype);
  }
  if ((node.is<hlir::Div>() || node.is<hlir::Mod>()) && !is_float(dtypes[0])) {
    check(operands[1] + " == 0", fmt::format("[{}] an integer is divided by 0", node.op->name));
  }
  return keep(node.type.dtype, element_op(node, dtypes, operands));
}

void ElementWriter::sum_by_warps(std::vector<Expr> apart) {
  apart_ = std::move(apart);
  depth_of_sums_ = blocks_.size();
}

std::string ElementWriter::sum_by_warp(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  const auto is_apart = [&](Expr e) {
    return std::ranges::any_of(*apart_, [&](Expr variable) { return depends_on(e, variable); });
  };
  if (blocks_.size() > depth_of_sums_ || std::ranges::any_of(at, is_apart)) {
    problem_ = "[SumReduce] lanes of a warp need different sums";
    return "0";
  }
  const int64_t axis = node.as<hlir::SumReduce>().axis;
  const Expr depth = rename(body_[node.operands[0]].type.shape)[axis];
  std::vector<Expr> element(at.begin(), at.end());
  element.insert(element.begin() + axis, Expr::index(kOfWarpSum, depth));
  const std::string all = fresh_name('v');
  line(fmt::format("float {} = 0;", all));
  open(fmt::format("LUMEN_UNROLLED for (int64_t i{0} = threadIdx.x % 32; i{0} < {1}; i{0} += 32)", kOfWarpSum,
                   print_c(depth).text));
  line(fmt::format("{} += {};", all, value(node.operands[0], element)));
  close();
  line(fmt::format(
      "LUMEN_UNROLL for (int step = 16; step > 0; step /= 2) {0} += __shfl_xor_sync(0xffffffffu, {0}, step);", all));
  warp_sums_.push_back({id, {at.begin(), at.end()}});
  return all;
}

void ElementWriter::stage(const Read& read, std::string text) {
  staged_[{read.input, read.flat.node()}] = std::move(text);
}

std::string ElementWriter::loader(DType dtype) const {
  return is_let_out_ && dtype == DType::f16 ? "lumen_load_one_f16" : load_function(dtype);
}

std::string ElementWriter::byte_of(NodeId input, Expr flat, std::string_view type) {
  if (const auto found = staged_.find({input, flat.node()}); found != staged_.end()) {
    return fmt::format("({})({})", type, found->second);
  }
  byte_reads_.push_back({input, flat});
  accesses_.push_back({input, flat, 8});
  return fmt::format("((const {}*)a{})[{}]", type, input_numbers_.at(input), index(flat));
}

std::string ElementWriter::load(NodeId input, Expr flat) {
  const DType dtype = body_[input].type.dtype;
  if (const auto found = staged_.find({input, flat.node()}); found != staged_.end()) {
    return keep(dtype, fmt::format("{}({})", load_function(dtype), found->second));
  }
  const auto is_loop = [](const Block& block) { return block.is_loop; };
  const bool reads_always = std::all_of(blocks_.begin() + 1, blocks_.end(), is_loop);
  if (reads_always) reads_.push_back({input, flat});
  if (info(dtype).bits == 8) byte_reads_.push_back({input, flat});
  accesses_.push_back({input, flat, info(dtype).bits});
  const Block& inner = blocks_.back();
  const auto is_known_before = [&] {  // no index that is read for each element says where
    return std::none_of(inner.variables.begin() + 1, inner.variables.end(),
                        [&](Expr variable) { return depends_on(flat, variable); });
  };
  if (inner.group.width > 1 && reads_always && !is_packed(dtype) && is_known_before() &&
      lies_in_groups(flat, inner.variables[0], inner.group.width)) {
    const std::string array = fmt::format("a{}", input_numbers_.at(input));
    const Stored element{storage_type(dtype), info(dtype).bits / 8};
    if (inner.group.holds) {
      const Expr first = first_of_group(flat, inner.variables[0]);
      make_room(element, array, first, "LUMEN_TAKE_ROW",
                fmt::format(", {}, {}, i{}, {}, {}, {}", turns_.threads, array, kFirstOfGroup, turns_.from, turns_.to,
                            print_c(first).text));
    }
    return keep(dtype, fmt::format("{}({})", loader(dtype), take(element, array, flat, inner.variables[0])));
  }
  const char* form = is_packed(dtype) ? "{}(a{}, {})" : "{}(a{}[{}])";
  return keep(dtype, fmt::format(fmt::runtime(form), loader(dtype), input_numbers_.at(input), index(flat)));
}

std::string ElementWriter::element_of(NodeId source, Expr flat) {
  const Node& node = body_[source];
  if (node.is<Input>()) return load(source, flat);
  return value(source, unflatten(flat, rename(node.type.shape)));
}

Expr ElementWriter::place(Expr e, const Shape& given, std::span<const Expr> at) const {
  const Shape shape = rename(given);
  std::vector<std::pair<Expr, Expr>> coordinates;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const Expr own = Expr::index(static_cast<int>(k), shape[k]);
    if (!own.is_constant()) coordinates.emplace_back(own, at[static_cast<size_t>(k)]);
  }
  return substitute(rename(e), coordinates);
}

Expr ElementWriter::checked(const std::string& text, Expr extent, std::string message) {
  const std::string name = fresh_name('g');
  const std::string outside = fmt::format("(uint64_t){} >= (uint64_t)({})", name, index(extent));
  line(fmt::format("int64_t {} = {};", name, text));
  check(outside, std::move(message));
  line(fmt::format("{0} = {1} ? 0 : {0};", name, outside));
  const Expr found = Expr::dim(name, 0, INT64_MAX / 4);
  blocks_.back().variables.push_back(found);
  return found;
}

std::string ElementWriter::read_view(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  const View& view = node.as<hlir::View>().view;
  const NodeId source = node.operands[0];
  const Expr numel = body_[source].type.shape.numel();
  Expr flat = place(view.index(), view.shape(), at);
  const bool guarded = view.has_guard() && !assumes_guards_;
  const std::string name = guarded ? fresh_name('v') : std::string();
  if (guarded) {
    guards_.push_back(place(view.guard(), view.shape(), at));
    line(fmt::format("{} {} = {};", compute_type(node.type.dtype), name, literal(view.fill())));
    open(fmt::format("if ({})", index(guards_.back())));
  }
  if (!fits(view, numel)) {
    flat = checked(index(flat), rename(numel),
                   fmt::format("[View] {} reads outside an operand of type {}", view.str(), body_[source].type.str()));
  }
  const std::string element = element_of(source, flat);
  if (!guarded) return element;
  line(fmt::format("{} = {};", name, element));
  close();
  return name;
}

std::string ElementWriter::read_gather(NodeId id, std::span<const Expr> at) {
  const Node& node = body_[id];
  const auto axis = static_cast<size_t>(node.as<hlir::Gather>().axis);
  const NodeId source = node.operands[0];
  const NodeId indices = node.operands[1];
  const auto rank = static_cast<size_t>(body_[indices].type.shape.rank());
  const std::string found = value(indices, at.subspan(axis, rank));
  const Expr extent = rename(body_[source].type.shape)[static_cast<int64_t>(axis)];
  const Expr row = checked("(int64_t)" + found, extent,
                           fmt::format("[Gather] an index is outside axis {} of {}", axis, body_[source].type.str()));
  std::vector<Expr> coordinates(at.begin(), at.begin() + static_cast<ptrdiff_t>(axis));
  coordinates.push_back(row);
  coordinates.insert(coordinates.end(), at.begin() + static_cast<ptrdiff_t>(axis + rank), at.end());
  return value(source, coordinates);
}

}  // namespace lumen

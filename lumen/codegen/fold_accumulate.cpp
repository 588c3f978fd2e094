// The loops that reduce. An accumulator is an array: of lanes, which are combined at the end of a row, or of columns.
//
//   s0[l]   of reduction 0, lane or column l          w0[l]   the sum of the s0[l] of the blocks so far
//   p0[l]   where s0[l] was found                     t0      the result for a row
#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/fold_printer.h"
#include "lumen/codegen/scalar.h"
#include "lumen/hlir/unary.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

// Elements that one accumulator of a float sum takes before it is added to another: the error of a long sum grows with
// the number of blocks and the length of one, not with their product.
constexpr int64_t kLaneBlock = 4096;
constexpr int64_t kColumnBlock = 256;
constexpr int64_t kRowsAtOnce = 4;  // divides kColumnBlock
constexpr int64_t kNarrow = 64;     // columns that are too few to hide the latency of a step: each row has its own sums

std::string larger(DType dtype, const std::string& x, const std::string& than) {
  if (!is_float(dtype)) return fmt::format("{} > {}", x, than);
  return fmt::format("({0} > {1}) | (({0} != {0}) & ({1} == {1}))", x, than);
}

// Both are one number, or both are NaN.
std::string same(DType dtype, const std::string& x, const std::string& y) {
  if (!is_float(dtype)) return fmt::format("{} == {}", x, y);
  return fmt::format("({0} == {1}) | (({0} != {0}) & ({1} != {1}))", x, y);
}

std::string wrapped_sum(DType dtype, const std::string& x) {
  return is_float(dtype) || is_bool(dtype) ? x : fmt::format("{}({})", wrap_function(dtype), x);
}

std::string call(const FoldReduction& r, const std::string& a, const std::string& b) {
  return fmt::format("lumen_{}_{}({}, {})", r.function, compute_suffix(r.dtype), a, b);
}

}  // namespace

std::string FoldPrinter::number(const FoldReduction& r) const { return std::to_string(&r - plan_.reductions.data()); }

std::string FoldPrinter::lanes_text() const {
  return columns() ? std::to_string(layout_.tile) : fmt::format("LUMEN_LANES({}, {})", lanes_, width_);
}

std::string FoldPrinter::for_lanes() const {
  if (columns()) return grain_of(body_) > 1 ? "LUMEN_BY_ONE(l, width)" : "LUMEN_ELEMENTS(l, width)";
  return fmt::format("LUMEN_VECTOR for (int64_t l = 0; l < {}; ++l)", lanes_text());
}

bool FoldPrinter::flushes(const FoldReduction& r) const { return blocked_ && r.function == "add" && is_float(r.dtype); }

// Whether lanes are raised together, after each group of elements.
bool FoldPrinter::raises(const FoldReduction& r) const {
  return !columns() && !r.finds && r.function == "max" && compute_suffix(r.dtype) == "f32";
}

std::string FoldPrinter::place_type() const {
  return bounds(layout_.loops[0].extent).hi < INT32_MAX ? "int32_t" : "int64_t";
}
std::string FoldPrinter::no_place() const { return place_type() == "int32_t" ? "2147483647" : "9223372036854775807ll"; }

void FoldPrinter::declare(const Level& reductions) {
  for (const FoldReduction* r : reductions) {
    const std::string k = number(*r);
    const auto array = [&](std::string_view type, const std::string& name, const std::string& start) {
      writer_->line(fmt::format("{} {}[{}{}];", type, name, lanes_text(), name[0] == 's' ? times_ways() : ""));
      writer_->line(fmt::format("{} {}[l] = {};", for_lanes(), name, start));
    };
    array(compute_type(r->dtype), "s" + k, r->start);
    if (raises(*r)) writer_->line(fmt::format("LUMEN_SEEN(x{}, {}, {});", k, lanes_, width_));
    for (int64_t way = 1; way < ways_; ++way) {
      writer_->line(fmt::format("{} s{}[{} + l] = {};", for_lanes(), k, way * layout_.tile, r->start));
    }
    if (flushes(*r)) array(compute_type(r->dtype), "w" + k, r->start);
    if (r->finds) array(place_type(), "p" + k, no_place());
  }
}

std::string FoldPrinter::times_ways() const { return ways_ == 1 ? "" : fmt::format(" * {}", ways_); }

// The accumulators of a column come together in the first of them.
void FoldPrinter::join_ways(const Level& reductions) {
  for (const FoldReduction* r : reductions) {
    const std::string k = number(*r);
    for (int64_t way = 1; way < ways_; ++way) {
      const std::string other = fmt::format("s{}[{} + l]", k, way * layout_.tile);
      const std::string first = fmt::format("s{}[l]", k);
      writer_->open(for_lanes());
      writer_->line(fmt::format("{} = {};", first, call(*r, first, other)));
      writer_->line(fmt::format("{} = {};", other, r->start));
      writer_->close();
    }
  }
}

// A block begins with empty accumulators, and ends in the total.
void FoldPrinter::flush(const Level& reductions, bool into_total) {
  for (const FoldReduction* r : reductions) {
    if (!flushes(*r)) continue;
    const std::string k = number(*r);
    writer_->line(into_total ? fmt::format("{0} w{1}[l] += s{1}[l];", for_lanes(), k)
                             : fmt::format("{0} s{1}[l] = 0;", for_lanes(), k));
  }
}

void FoldPrinter::fold_level(const Level& reductions) {
  lanes_ = lanes_of(reductions);
  const int64_t block = columns() ? kColumnBlock : kLaneBlock;
  const std::string step = fmt::format(fmt::runtime(columns() ? "{}" : "LUMEN_BLOCK({})"), block);
  const size_t blocked_loop = columns() ? 0 : layout_.loops.size() - 1;
  const int64_t longest = bounds(layout_.loops[blocked_loop].extent).hi;
  blocked_ = longest > block;
  blocked_ = std::any_of(reductions.begin(), reductions.end(), [&](const FoldReduction* r) { return flushes(*r); });
  const bool finds = std::any_of(reductions.begin(), reductions.end(), [](const FoldReduction* r) { return r->finds; });
  const bool narrow = columns() && bounds(layout_.column.extent).hi <= kNarrow;
  ways_ = narrow && !finds && bounds(layout_.loops.back().extent).hi >= kRowsAtOnce ? kRowsAtOnce : 1;
  declare(reductions);
  std::string from = blocked_loop == 0 ? "from" : "0";
  std::string to = blocked_loop == 0 ? "to" : extent(layout_.loops[blocked_loop]);
  open_outer_loops(blocked_loop, "from", "to");
  if (blocked_) {
    writer_->open_loop(fmt::format("for (int64_t block = {}; block < {}; block += {})", from, to, step), Expr(0),
                       bounds(layout_.loops[blocked_loop].extent).lo < 1);
    writer_->line(fmt::format("const int64_t block_end = lumen_min_i64(block + {}, {});", step, to));
    flush(reductions, false);
    from = "block";
    to = "block_end";
  }
  columns() ? fold_columns(reductions, from, to) : fold_lanes(reductions, from, to);
  join_ways(reductions);
  if (blocked_) {
    flush(reductions, true);
    writer_->close();
  }
  for (size_t k = 0; k < blocked_loop; ++k) writer_->close();
  for (Buffer& buffer : buffers_) buffer.is_filled = buffer.is_filled || computed_.contains(buffer.node);
  for (const FoldReduction* r : reductions) finish(*r);
}

// The power of two among what is reduced, if it is one: vectors raise those of all lanes at once.
std::optional<NodeId> FoldPrinter::power_in(const Level& reductions) const {
  std::optional<NodeId> power;
  for (const NodeId id : elements_of(reductions)) {
    if (!body_[id].is<hlir::Exp2>() || body_[id].type.dtype != DType::f32) continue;
    if (power) return std::nullopt;
    power = id;
  }
  return power;
}

// Whole groups of lanes, and what is left; nothing is left where the length says so.
void FoldPrinter::fold_lanes(const Level& reductions, const std::string& from, const std::string& to) {
  const FoldLoop& loop = layout_.loops.back();
  const bool whole = mod(loop.extent, lanes_) == Expr(0) || lanes_ == 1;
  const std::map<NodeId, int> before = computed_;
  const std::optional<NodeId> power = power_in(reductions);
  for (const bool rest : {false, true}) {
    if (whole && rest) break;
    computed_ = before;
    if (rest) {
      open_loop(loop, fmt::format("LUMEN_REST(b, l, {}, {}, {})", lanes_, from, to));
    } else {
      writer_->open_loop(turns_ == 0
                             ? fmt::format("LUMEN_FULL_GROUPS(b, {}, {}, {}, {})", lanes_, width_, from, to)
                             : fmt::format("LUMEN_FULL_TURNS(b, {}, {}, {}, {})", lanes_, turns_text(), from, to),
                         Expr(0), bounds(loop.extent).lo < 1);
      if (power) raise_lanes(*power);
      open_lanes("LUMEN_LANES_OF");
    }
    writer_->line(fmt::format("const int64_t {} = b + l;", name_of(loop)));
    rest ? accumulate(reductions, "l") : accumulate(reductions, "l", true, power);
    writer_->close();
    for (const FoldReduction* r : reductions) {
      if (rest || !raises(*r)) continue;
      writer_->line(fmt::format("LUMEN_RAISE(s{0}, x{0}, {1}, {2});", number(*r), lanes_, width_));
    }
    for (const std::string& line : after_group_) writer_->line(line);
    after_group_.clear();
    if (!rest) writer_->close();
  }
}

void FoldPrinter::open_lanes(std::string_view word) {
  const FoldLoop& loop = layout_.loops.back();
  writer_->open_group(fmt::format("{}(l, {}, {})", word, lanes_, width_), loop.variable, bounds(loop.extent).lo < 1,
                      {width_, "b", "l", turns_ > 0, turns_ > 0});
}

// What the powers of a group of lanes are of, and then the powers.
void FoldPrinter::raise_lanes(NodeId power) {
  const FoldLoop& loop = layout_.loops.back();
  writer_->line(fmt::format("LUMEN_POWERS(powers, {}, {});", lanes_, width_));
  open_lanes("LUMEN_POWER_LANES");
  writer_->line(fmt::format("const int64_t {} = b + l;", name_of(loop)));
  begin_elements();
  const std::string x = writer_->value(body_[power].operands[0], layout_.element);
  writer_->line(fmt::format("LUMEN_PUT_POWER(powers, l, {});", x));
  writer_->close();
  writer_->line(fmt::format("LUMEN_ALL_POWERS(powers, {}, {});", lanes_, width_));
}

// A few rows at once, so that accumulators are read and written once for all of them; then the rows that are left.
void FoldPrinter::fold_columns(const Level& reductions, const std::string& from, const std::string& to) {
  const FoldLoop& last = layout_.loops.back();
  const size_t outer = layout_.loops.size() - 1;
  const std::string lo = outer == 0 ? from : "0", hi = outer == 0 ? to : extent(last);
  open_outer_loops(outer, from, to);
  const std::map<NodeId, int> before = computed_;
  if (bounds(last.extent).hi >= kRowsAtOnce) {
    writer_->open_loop(fmt::format("for (int64_t g = {}; g + {} <= {}; g += {})", lo, kRowsAtOnce, hi, kRowsAtOnce),
                       Expr(0), bounds(last.extent).lo < 1);
    open_columns(false);
    open_loop(last, fmt::format("for (int64_t u = 0; u < {}; ++u)", kRowsAtOnce));
    writer_->line(fmt::format("const int64_t {} = g + u;", name_of(last)));
    accumulate(reductions, ways_ == 1 ? "l" : fmt::format("u * {} + l", layout_.tile));
    for (int k = 0; k < 3; ++k) writer_->close();
  }
  if (!(mod(last.extent, kRowsAtOnce) == Expr(0)) || layout_.is_split()) {
    computed_ = before;
    const std::string start =
        bounds(last.extent).hi >= kRowsAtOnce ? fmt::format("{0} - ({0} - {1}) % {2}", hi, lo, kRowsAtOnce) : lo;
    open_loop(last, fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name_of(last), start, hi));
    open_columns(false);
    accumulate(reductions, "l");
    writer_->close();
    writer_->close();
  }
  for (size_t k = 0; k < outer; ++k) writer_->close();
}

void FoldPrinter::accumulate(const Level& reductions, const std::string& lane, bool together,
                             std::optional<NodeId> power) {
  begin_elements();
  if (power) {
    const std::string x = writer_->value(body_[*power].operands[0], layout_.element);
    writer_->line(fmt::format("const float power = LUMEN_POWER(powers, {}, {});", lane, x));
    writer_->know(*power, layout_.element, "power");
  }
  for (const FoldReduction* r : reductions) {
    const std::string s = fmt::format("s{}[{}]", number(*r), lane);
    const std::string x = writer_->value(r->operand, layout_.element);
    if (r->finds) {
      const std::string better = "better" + number(*r);
      writer_->line(fmt::format("const int {} = {};", better, larger(r->dtype, x, s)));
      writer_->line(fmt::format("{0} = {1} ? {2} : {0};", s, better, x));
      writer_->line(fmt::format("p{0}[l] = {1} ? ({2}){3} : p{0}[l];", number(*r), better, place_type(),
                                print_c(layout_.loops[0].variable).text));
    } else if (together && raises(*r)) {
      writer_->line(fmt::format("LUMEN_SEE(s{0}, x{0}, {1}, {2});", number(*r), lane, x));
    } else {
      writer_->line(fmt::format("{} = {};", s, call(*r, s, x)));
    }
  }
  end_elements();
}

void FoldPrinter::finish(const FoldReduction& r) {
  const std::string k = number(r);
  const std::string sum = (flushes(r) ? "w" : "s") + k;
  if (columns()) {
    if (is_int(r.dtype))
      writer_->line(fmt::format("{} {}[l] = {};", for_lanes(), sum, wrapped_sum(r.dtype, sum + "[l]")));
    if (sum != "s" + k) writer_->line(fmt::format("{} s{}[l] = {}[l];", for_lanes(), k, sum));
    layout_.is_split() ? hand_on(r) : know_columns(r);
    return;
  }
  if (r.finds) {
    writer_->line(fmt::format("{0} u{1}[{2}];", compute_type(r.dtype), k, lanes_text()));
    writer_->line(fmt::format("{0} u{1}[l] = s{1}[l];", for_lanes(), k));
  }
  const std::string all =
      fmt::format("LUMEN_COMBINE({}_{}, {}, {}, {})", r.function, compute_suffix(r.dtype), sum, lanes_, width_);
  writer_->line(fmt::format("const {} t{} = {};", compute_type(r.dtype), k, wrapped_sum(r.dtype, all)));
  if (r.finds) finish_place(r);
  if (layout_.is_split()) {
    hand_on(r);
  } else {
    know_row(r);
  }
}

void FoldPrinter::know_row(const FoldReduction& r) {
  const std::string k = number(r);
  writer_->know(r.result, layout_.row, r.finds ? fmt::format("(z{0} == {1} ? 0 : z{0})", k, no_place()) : "t" + k);
}

// The first place of those lanes that have the largest; as the largest of the negated places.
void FoldPrinter::finish_place(const FoldReduction& r) {
  const std::string k = number(r);
  writer_->line(fmt::format("int64_t y{}[{}];", k, lanes_text()));
  writer_->line(fmt::format("{0} y{1}[l] = ({2}) ? -(int64_t)p{1}[l] : -{3};", for_lanes(), k,
                            same(r.dtype, fmt::format("u{}[l]", k), "t" + k), no_place()));
  writer_->line(fmt::format("const int64_t z{0} = -LUMEN_COMBINE(max_i64, y{0}, {1}, {2});", k, lanes_, width_));
}

void FoldPrinter::know_columns(const FoldReduction& r) {
  const std::string k = number(r);
  writer_->know(
      r.result, layout_.row,
      r.finds ? fmt::format("(int64_t)(p{0}[l] == {1} ? 0 : p{0}[l])", k, no_place()) : fmt::format("s{}[l]", k));
}

// The result of a chunk goes to scratch.
void FoldPrinter::hand_on(const FoldReduction& r) {
  const std::string k = number(r);
  if (columns()) {
    writer_->line(fmt::format("{0} part{1}[row * {2} + l] = s{1}[l];", for_lanes(), k, layout_.tile));
    if (r.finds) writer_->line(fmt::format("{0} place{1}[row * {2} + l] = p{1}[l];", for_lanes(), k, layout_.tile));
  } else {
    writer_->line(fmt::format("LUMEN_ONCE part{0}[row] = t{0};", k));
    if (r.finds) writer_->line(fmt::format("LUMEN_ONCE place{0}[row] = ({1})z{0};", k, place_type()));
  }
}

// The results of an item's chunks, together; threads of a GPU take them in turns.
void FoldPrinter::recall(const FoldReduction& r, bool chunks) {
  const std::string k = number(r);
  const std::string count = print_c(layout_.chunks()).text;
  const std::string one = columns() ? fmt::format("[c * {} + l]", layout_.tile) : "[c]";
  const std::string s = columns() ? fmt::format("s{}[l]", k) : "s" + k;
  const std::string p = columns() ? fmt::format("p{}[l]", k) : "p" + k;
  if (columns()) {
    declare({&r});
  } else {
    writer_->line(fmt::format("{} {} = {};", compute_type(r.dtype), s, r.start));
    if (r.finds) writer_->line(fmt::format("int64_t {} = {};", p, no_place()));
  }
  const std::string base = chunks ? fmt::format("row / {0} * {0}", count) : "row * " + count;
  writer_->line(fmt::format("const int64_t chunks{} = {};", k, base));
  writer_->open(columns() ? fmt::format("for (int64_t c = chunks{0}; c < chunks{0} + {1}; ++c)", k, count)
                          : fmt::format("LUMEN_PARTS(c, chunks{0}, chunks{0} + {1})", k, count));
  if (columns()) writer_->open(for_lanes());
  const std::string part = fmt::format("part{}{}", k, one);
  if (r.finds) {  // read whether or not it is needed: nothing waits for the part then
    writer_->line(fmt::format("const {} found{} = place{}{};", place_type(), k, k, one));
    writer_->line(fmt::format("{0} = {1} ? found{2} : {0};", p, larger(r.dtype, part, s), k));
  }
  writer_->line(fmt::format("{} = {};", s, wrapped_sum(r.dtype, call(r, s, part))));
  if (columns()) writer_->close();
  writer_->close();
  if (columns()) {
    know_columns(r);
    return;
  }
  const std::string all = fmt::format("LUMEN_TOGETHER({}_{}, {})", r.function, compute_suffix(r.dtype), s);
  writer_->line(fmt::format("const {} t{} = {};", compute_type(r.dtype), k, wrapped_sum(r.dtype, all)));
  if (r.finds) {
    writer_->line(fmt::format("const int64_t z{0} = -LUMEN_TOGETHER(max_i64, ({1}) ? -p{0} : -(int64_t){2});", k,
                              same(r.dtype, s, "t" + k), no_place()));
  }
  know_row(r);
}

}  // namespace lumen

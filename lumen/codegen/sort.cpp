#include "lumen/codegen/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lumen/codegen/element.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/single_op.h"
#include "lumen/hlir/sort.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

// A slot sorts lines one after another in its own scratch; there are enough slots for any number of threads, and not so
// many that scratch outgrows what is sorted.
constexpr int64_t kSlots = 64;

// On a GPU: the longest line whose elements each look at all others; longer ones are merged in steps, while they fit.
constexpr int64_t kMostCounted = 256, kMostMerged = 16384;
constexpr int64_t kMostThreads = 1024;

int key_bits(DType dtype) {
  return compute_type(dtype).find("64") != std::string_view::npos || dtype == DType::f64 ? 64 : 32;
}

// An unsigned integer of a float, or the like: in the order of the elements, equal for equal ones.
std::string key_of(DType dtype, bool descending, const std::string& x) {
  std::string key;
  if (is_float(dtype)) {
    key = fmt::format("lumen_key_{}({})", compute_suffix(dtype), x);
  } else if (is_bool(dtype) || is_unsigned(dtype)) {
    key = fmt::format("(uint{}_t){}", key_bits(dtype), x);
  } else {
    key = fmt::format("(uint{0}_t){1} ^ ((uint{0}_t)1 << {2})", key_bits(dtype), x, key_bits(dtype) - 1);
  }
  return descending ? fmt::format("~({})", key) : key;
}

class SortPrinter {
 public:
  SortPrinter(const Graph& body, NodeId sort, int indent)
      : body_(body), sort_(sort), dtype_(body[body[sort].operands[0]].type.dtype), writer_(body, indent) {
    axis_ = body[sort].as<hlir::Sort>().axis;
    shape_ = writer_.rename(body[sort].type.shape);
    std::vector<Expr> lines(shape_.begin(), shape_.end());
    length_ = lines[static_cast<size_t>(axis_)];
    lines.erase(lines.begin() + axis_);
    lines_ = Shape(lines);
    at_ = lines_.coordinates();
    along_ = Expr::index(static_cast<int>(lines.size()), length_);
    at_.insert(at_.begin() + axis_, along_);
  }

  Expr length() const { return length_; }

  Expected<KernelText> print(const std::string& name) {
    const int bits = key_bits(dtype_);
    make_keys("keys[{0}] = {1}; places[{0}] = (uint32_t){0};");
    writer_.line("LUMEN_SYNC;");
    writer_.line(fmt::format("LUMEN_ONCE lumen_sort_u{}(keys, places, other_keys, other_places, count);", bits));
    writer_.line("LUMEN_SYNC;");
    store("places[{}]");
    if (!writer_.problem().empty()) return error(writer_.problem());
    const bool packed = grain_of(body_) > 1;
    const Expr slots = packed ? Expr(1) : min(lines_.numel(), kSlots);
    const Expr room = ceil_div(max(length_, 1), 16) * 16;  // elements; arrays begin where cache lines do
    const Expr slot_bytes = room * (2 * (bits / 8) + 8);
    std::string text = kernel_head(body_, name);
    text += fmt::format("  const int64_t count = {}, room = {};\n", print_c(length_).text, print_c(room).text);
    text += "  LUMEN_ROWS(slot) {\n";
    text += fmt::format("    char* const scratch = (char*)LUMEN_OUT({}) + slot * {};\n", body_.outputs().size(),
                        print_c(slot_bytes).text);
    text += fmt::format("    uint{0}_t* keys = (uint{0}_t*)scratch;\n    uint{0}_t* other_keys = keys + room;\n", bits);
    text += "    uint32_t* places = (uint32_t*)(other_keys + room);\n    uint32_t* other_places = places + room;\n";
    text += fmt::format("    for (int64_t row = slot; row < {}; row += {}) {{\n", print_c(lines_.numel()).text,
                        print_c(slots).text);
    text += row_coordinates(lines_, 6) + writer_.text() + "    }\n  }\n  LUMEN_RETURN;\n}\n";
    return KernelText{text, {{name, slots}}, writer_.faults(), slots * slot_bytes};
  }

  // A line is in the shared memory of a block: keys with their places, so that no two are equal.
  Expected<KernelText> print_blocks(const std::string& name, const Target& target) {
    const int bits = key_bits(dtype_);
    const auto longest = static_cast<uint64_t>(std::clamp<int64_t>(bounds(length_).hi, 1, kMostMerged + 1));
    const auto most = static_cast<int64_t>(std::bit_ceil(longest));
    const bool counts = most <= kMostCounted;
    KernelStep step{name, lines_.numel()};
    step.threads = static_cast<int>(std::clamp(counts ? most : most / 2, kWarp, kMostThreads));
    step.shared = most * (bits / 4) * (counts ? 2 : 1);
    if (most > kMostMerged || step.shared > target.shared_bytes || grain_of(body_) > 1) {
      return error(fmt::format("a block sorts lines of {} elements at most, that share no bytes", kMostMerged));
    }
    make_keys("given[{0}] = lumen_placed({1}, (uint32_t){0});");
    writer_.line(fmt::format("const Placed* const sorted = lumen_sort_by_{}(given, (int)count);",
                             counts ? "counting" : "merging"));
    store("lumen_place(sorted[{}])");
    writer_.line("LUMEN_SYNC;");
    if (!writer_.problem().empty()) return error(writer_.problem());
    std::string text = kernel_head(body_, name, step.threads);
    text += fmt::format("  LUMEN_THREADS({});\n  LUMEN_DYNAMIC_SHARED(shared);\n", step.threads);
    text += fmt::format("  typedef LumenPlaced{} Placed;\n  Placed* const given = (Placed*)shared;\n", bits);
    text += fmt::format("  const int64_t count = {};\n  LUMEN_ROWS(row) {{\n", print_c(length_).text);
    text += row_coordinates(lines_, 4) + writer_.text() + "  }\n  LUMEN_RETURN;\n}\n";
    return KernelText{text, {step}, writer_.faults()};
  }

 private:
  void open_line(bool in_order) {
    const std::string i = along_.is_constant() ? "i_one" : fmt::format("i{}", along_.index_number());
    writer_.open_loop(fmt::format("{}({}, 0, count)", in_order ? "LUMEN_IN_ORDER" : "LUMEN_RANGE", i), along_,
                      bounds(length_).lo < 1 || along_.is_constant());
  }

  // What is done with the key of an element: {0} is its place, {1} its key.
  void make_keys(const char* statement) {
    open_line(false);
    const std::string x = writer_.value(body_[sort_].operands[0], at_);
    writer_.line(fmt::format(fmt::runtime(statement), print_c(along_).text,
                             key_of(dtype_, body_[sort_].as<hlir::Sort>().descending, x)));
    writer_.close();
  }

  // `place`: where {} among the sorted has come from.
  void store(const char* place) {
    open_line(grain_of(body_) > 1);
    writer_.line("const int64_t place = (int64_t)" + fmt::format(fmt::runtime(place), print_c(along_).text) + ";");
    writer_.know(sort_, at_, "place");
    for (size_t k = 0; k < body_.outputs().size(); ++k) {
      const std::string value = writer_.to_store(body_.outputs()[k].value, at_);
      writer_.line(store_statement(body_, k, writer_.index(shape_.flat_index(at_)), value));
    }
    writer_.close();
  }

  const Graph& body_;
  NodeId sort_;
  DType dtype_;  // of what is sorted
  ElementWriter writer_;
  int64_t axis_ = 0;
  Shape shape_, lines_;
  Expr length_, along_;
  std::vector<Expr> at_;
};

Expected<NodeId> find_sort(const Graph& body) {
  const NodeId sort = LUMEN_TRY(find_single(body, op_def<hlir::Sort>(), "sort"));
  LUMEN_TRY(check_output_shapes(body, "sort", body[sort].type.shape));
  return sort;
}

}  // namespace

Expected<KernelText> print_sort(const Graph& body, const std::string& name) {
  SortPrinter printer(body, LUMEN_TRY(find_sort(body)), 6);
  if (bounds(printer.length()).hi > int64_t{UINT32_MAX}) {
    return error(fmt::format("a sort kernel sorts lines of fewer than 2^32 elements, but these may have {}",
                             bounds(printer.length()).hi));
  }
  return printer.print(name);
}

Expected<KernelText> print_cuda_sort(const Graph& body, const std::string& name, const Target& target) {
  return SortPrinter(body, LUMEN_TRY(find_sort(body)), 4).print_blocks(name, target);
}

}  // namespace lumen

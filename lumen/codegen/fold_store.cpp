// The loops of a fold kernel that write its outputs, and what all its loops share.
#include <fmt/format.h>

#include <algorithm>

#include "lumen/codegen/fold_printer.h"
#include "lumen/codegen/scalar.h"
#include "lumen/codegen/wide_store.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

std::string FoldPrinter::name_of(const FoldLoop& loop) {
  return loop.variable.is_constant() ? "i_one" : fmt::format("i{}", loop.variable.index_number());
}

void FoldPrinter::open_loop(const FoldLoop& loop, const std::string& head) {
  writer_->open_loop(head, loop.variable, bounds(loop.extent).lo < 1);
}

// The first `count` loops; the outermost one only from `from` to `to`.
void FoldPrinter::open_outer_loops(size_t count, const std::string& from, const std::string& to) {
  for (size_t k = 0; k < count; ++k) {
    const FoldLoop& loop = layout_.loops[k];
    open_loop(loop, fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", name_of(loop), k == 0 ? from : "0",
                                k == 0 ? to : extent(loop)));
  }
}

void FoldPrinter::open_columns(bool in_order) {
  open_loop(layout_.column, in_order ? "LUMEN_IN_ORDER(l, 0, width)" : for_lanes());
  writer_->line(fmt::format("const int64_t {} = first + l;", name_of(layout_.column)));
}

// At the start and end of what is done for an element: kept values are read, or stored when they are new.
void FoldPrinter::begin_elements() {
  for (const Buffer& buffer : buffers_) {
    if (!buffer.is_filled) continue;
    const std::string name = "kept_" + buffer.array;
    const ElementWriter::Stored kept = stored(buffer);
    const Expr along = layout_.loops.back().variable;
    const std::string value = lies_in_group(buffer) ? writer_->take(kept, buffer.array, buffer.index, along)
                                                    : fmt::format("{}[{}]", buffer.array, writer_->index(buffer.index));
    writer_->line(fmt::format("const {} {} = {};", kept.type, name, value));
    writer_->know(buffer.node, layout_.element, name);
  }
}

void FoldPrinter::end_elements() {
  for (const NodeId id : body_.order()) {
    const auto is_kept = [&](const Buffer& buffer) { return buffer.node == id && buffer.is_filled; };
    if (std::any_of(buffers_.begin(), buffers_.end(), is_kept)) continue;
    if (writer_->has_here(id, layout_.element)) ++computed_[id];
  }
  for (const Buffer& buffer : buffers_) {
    if (buffer.is_filled || !writer_->has_here(buffer.node, layout_.element)) continue;
    const std::string element = fmt::format("{}[{}]", buffer.array, writer_->index(buffer.index));
    const std::string value = writer_->value(buffer.node, layout_.element);
    if (!lies_in_group(buffer)) {
      writer_->line(fmt::format("{} = {};", element, value));
      continue;
    }
    const ElementWriter::Group& group = writer_->group();
    const Expr along = layout_.loops.back().variable;
    const std::string row = writer_->hold(stored(buffer), buffer.array, buffer.index, along);
    const std::string held = row.empty() ? "new_" + buffer.array : row;
    writer_->line(fmt::format("LUMEN_KEEP({}, {}, {}, {});", held, group.place, element, value));
    if (!row.empty()) continue;
    writer_->line_before(fmt::format("LUMEN_HOLD({}, {}, {});", stored(buffer).type, held, width_));
    const Expr first = ElementWriter::first_of_group(buffer.index, along);
    after_group_.push_back(fmt::format("LUMEN_FLUSH(new_{0}, {1}, {0}, i{2}, {3}, {4});", buffer.array, width_,
                                       kFirstOfGroup, group.first, print_c(first).text));
  }
}

// Whether a thread of a GPU has neighbours of a buffer, in the loop that is open.
bool FoldPrinter::lies_in_group(const Buffer& buffer) const {
  const int64_t width = writer_->group().width;
  return width > 1 && ElementWriter::lies_in_groups(buffer.index, layout_.loops.back().variable, width);
}

bool FoldPrinter::is_packed_output(const std::vector<size_t>& outputs) const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](size_t k) { return is_packed(body_[body_.outputs()[k].value].type.dtype); });
}

Expected<void> FoldPrinter::store_outputs() {
  std::vector<size_t> by_row, by_element;
  for (size_t k = 0; k < body_.outputs().size(); ++k) {
    const Shape shape = body_[body_.outputs()[k].value].type.shape;
    if (shape == plan_.rows) {
      by_row.push_back(k);
    } else if (shape == plan_.whole) {
      by_element.push_back(k);
    } else {
      return error(fmt::format("an output of a fold kernel is {} or {}, but this is {}", plan_.rows.str(),
                               plan_.whole.str(), shape.str()));
    }
  }
  if (!by_row.empty()) store_rows(by_row, layout_.is_split() && !by_element.empty());
  if (!by_element.empty()) store_elements(by_element);
  return {};
}

// Where an item has chunks, its first one does this.
void FoldPrinter::store_rows(const std::vector<size_t>& outputs, bool chunks) {
  if (chunks) writer_->open(fmt::format("if (i{} == 0)", layout_.chunk_number()));
  if (columns()) open_columns(is_packed_output(outputs));
  for (const size_t k : outputs) {
    const std::string value = writer_->to_store(body_.outputs()[k].value, layout_.row);
    const std::string store = store_statement(body_, k, writer_->index(rows_.flat_index(layout_.row)), value);
    writer_->line(columns() ? store : "LUMEN_ONCE " + store);
  }
  if (columns()) writer_->close();
  if (chunks) writer_->close();
}

void FoldPrinter::store_elements(const std::vector<size_t>& outputs) {
  const bool in_order = is_packed_output(outputs);
  const size_t count = layout_.loops.size() - (columns() ? 0 : 1);
  open_outer_loops(count, "from", "to");
  const FoldLoop& loop = layout_.loops.back();
  const std::string from = count == 0 ? "from" : "0", to = count == 0 ? "to" : extent(loop);
  const Expr flat = whole_.flat_index(layout_.element);
  if (columns() || in_order) {
    if (columns()) {
      open_columns(in_order);
    } else {
      open_loop(loop, fmt::format("LUMEN_IN_ORDER({}, {}, {})", name_of(loop), from, to));
    }
    begin_elements();
    for (const size_t k : outputs) {
      const std::string value = writer_->to_store(body_.outputs()[k].value, layout_.element);
      writer_->line(store_statement(body_, k, writer_->index(flat), value));
    }
    end_elements();
    writer_->close();
  } else {
    WideStore stores(*writer_, body_, loop.variable, name_of(loop), width_);
    const bool in_turns = turns_ > 0;
    stores.open(in_turns ? fmt::format("LUMEN_GROUP_TURNS({}, {}, {}, {})", name_of(loop), turns_text(), from, to)
                         : fmt::format("LUMEN_GROUPS({}, {}, {}, {})", name_of(loop), width_, from, to),
                bounds(loop.extent).lo < 1, outputs, in_turns, layout_.early);
    begin_elements();
    for (const size_t k : outputs) {
      stores.store(k, flat, writer_->to_store(body_.outputs()[k].value, layout_.element));
    }
    end_elements();
    stores.close(after_group_);
    after_group_.clear();
  }
  for (size_t k = 0; k < count; ++k) writer_->close();
  if (in_order) writer_->line("LUMEN_SYNC;");  // one thread has read what others kept
}

}  // namespace lumen

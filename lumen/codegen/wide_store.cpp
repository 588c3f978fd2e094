#include "lumen/codegen/wide_store.h"

#include <fmt/format.h>

#include "lumen/codegen/kernel_text.h"
#include "lumen/codegen/scalar.h"

namespace lumen {

void WideStore::open(const std::string& groups, bool may_be_empty, const std::vector<size_t>& outputs, bool in_turns,
                     bool holds) {
  writer_.open_loop(groups, Expr(0), may_be_empty);
  for (const size_t k : outputs) {
    writer_.line(fmt::format("LUMEN_HOLD_RESULT({}, held{}, {});",
                             storage_type(body_[body_.outputs()[k].value].type.dtype), k, width_));
  }
  writer_.open_group(fmt::format("LUMEN_EACH({}, {})", name_, width_), along_, may_be_empty,
                     {width_, name_ + "_group", place(), in_turns, holds});
}

void WideStore::store(size_t output, Expr flat, const std::string& value) {
  if (!ElementWriter::lies_in_groups(flat, along_, width_)) {
    writer_.line(store_statement(body_, output, writer_.index(flat), value));
    return;
  }
  writer_.line(fmt::format("LUMEN_KEEP_RESULT(held{0}, {1}, r{0}[{2}], {3}({4}));", output, place(),
                           writer_.index(flat), store_function(body_[body_.outputs()[output].value].type.dtype),
                           value));
  stored_.emplace_back(output, flat);
}

void WideStore::close(const std::vector<std::string>& after) {
  writer_.close();
  for (const std::string& line : after) writer_.line(line);
  for (const auto& [k, flat] : stored_) {
    writer_.line(fmt::format("LUMEN_FLUSH_RESULT(held{0}, {1}, r{0}, i{2}, {3}_group, {4});", k, width_, kFirstOfGroup,
                             name_, print_c(ElementWriter::first_of_group(flat, along_)).text));
  }
  writer_.close();
}

}  // namespace lumen

// Elements that are stored along a loop: on a GPU a thread has `width` neighbours, and stores them at once. Compilers
// do not make wide stores of single ones; loads they do, where no store stands between them.
//
//   WideStore stores(writer, body, along, "i1", width);
//   stores.open("LUMEN_GROUPS(i1, 8, 0, n0)", false, {0});
//   stores.store(0, flat, value);      // for each output
//   stores.close();
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lumen/codegen/element.h"

namespace lumen {

class WideStore {
 public:
  // `along` is the variable of the loop, called `name`.
  WideStore(ElementWriter& writer, const Graph& body, Expr along, std::string name, int64_t width)
      : writer_(writer), body_(body), along_(along), name_(std::move(name)), width_(width) {}

  void open(const std::string& groups, bool may_be_empty, const std::vector<size_t>& outputs, bool in_turns = false,
            bool holds = false);
  // One by one, where neighbours of the loop are not neighbours in memory.
  void store(size_t output, Expr flat, const std::string& value);
  // `after`: statements for what else was kept of a group.
  void close(const std::vector<std::string>& after = {});

 private:
  std::string place() const { return name_ + " - " + name_ + "_group"; }

  ElementWriter& writer_;
  const Graph& body_;
  Expr along_;
  std::string name_;
  int64_t width_;
  std::vector<std::pair<size_t, Expr>> stored_;  // outputs, where
};

}  // namespace lumen

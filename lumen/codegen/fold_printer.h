// FoldPrinter: the text of a fold kernel for one layout.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lumen/codegen/element.h"
#include "lumen/codegen/fold_layout.h"
#include "lumen/codegen/kernel_text.h"

namespace lumen {

// Rows for all multiprocessors of a GPU.
constexpr int64_t kManyRows = 1024;

class FoldPrinter {
 public:
  // `kept`: values as large as what is reduced that are stored when they are first computed and read by later loops.
  FoldPrinter(const Graph& body, const FoldPlan& plan, FoldLayout layout, std::vector<NodeId> kept);

  Expected<KernelText> print(const std::string& name);

  // After print(). Divisions inside the loops over a row.
  int divisions() const { return divisions_; }
  // Values computed in more than one loop over a row, in the body's order.
  std::vector<NodeId> repeated() const;
  // Whether there was room for all of `kept`.
  bool has_room() const { return has_room_; }

 private:
  using Level = std::vector<const FoldReduction*>;
  // Where a kept value is.
  struct Buffer {
    NodeId node;
    std::string array;
    Expr index;
    bool is_filled = false;
  };

  void find_room();
  bool keep_in_output(Buffer& buffer, std::set<size_t>& taken) const;
  bool keep_on_stack(Buffer& buffer, int64_t& left);
  void plan_turns();
  int64_t held_by_group() const;
  int blocks_for() const;
  bool lies_in_group(const Buffer& buffer) const;
  ElementWriter::Stored stored(const Buffer& buffer) const;
  Level level(int number) const;
  std::set<NodeId> elements_of(const Level& reductions) const;
  int cost_of(const Level& reductions) const;
  int64_t lanes_of(const Level& reductions) const;

  void begin_step();
  void end_step(const std::string& name, bool chunks);
  std::string item_head(bool chunks) const;

  void fold_level(const Level& reductions);
  void declare(const Level& reductions);
  void fold_lanes(const Level& reductions, const std::string& from, const std::string& to);
  std::optional<NodeId> power_in(const Level& reductions) const;
  void raise_lanes(NodeId power);
  void open_lanes(std::string_view word);
  void fold_columns(const Level& reductions, const std::string& from, const std::string& to);
  // `together`: in a group of lanes, of which `power` is among the powers that were raised.
  void accumulate(const Level& reductions, const std::string& lane, bool together = false,
                  std::optional<NodeId> power = {});
  void join_ways(const Level& reductions);
  void flush(const Level& reductions, bool into_total);
  void finish(const FoldReduction& reduction);
  void finish_place(const FoldReduction& reduction);
  void hand_on(const FoldReduction& reduction);
  void recall(const FoldReduction& reduction, bool chunks);
  void know_row(const FoldReduction& reduction);
  void know_columns(const FoldReduction& reduction);

  Expected<void> store_outputs();
  void store_rows(const std::vector<size_t>& outputs, bool chunks);
  void store_elements(const std::vector<size_t>& outputs);

  void open_outer_loops(size_t count, const std::string& from, const std::string& to);
  void open_loop(const FoldLoop& loop, const std::string& head);
  void open_columns(bool in_order);
  void begin_elements();
  void end_elements();
  bool is_packed_output(const std::vector<size_t>& outputs) const;

  bool columns() const { return layout_.tile != 0; }
  std::string number(const FoldReduction& reduction) const;
  static std::string name_of(const FoldLoop& loop);
  std::string for_lanes() const;  // the head of a loop over the accumulators
  std::string lanes_text() const;
  std::string turns_text() const;
  std::string times_ways() const;
  std::string extent(const FoldLoop& loop) const { return print_c(loop.extent).text; }
  bool flushes(const FoldReduction& reduction) const;
  bool raises(const FoldReduction& reduction) const;
  std::string place_type() const;
  std::string no_place() const;

  const Graph& body_;
  const FoldPlan& plan_;
  FoldLayout layout_;
  std::vector<Buffer> buffers_;
  std::vector<std::string> declarations_;  // of the buffers
  bool has_room_ = true;
  std::vector<std::string> after_group_;  // statements, of the group of elements that is open
  std::optional<ElementWriter> writer_;
  Shape whole_, rows_;
  int64_t lanes_ = 1;
  int64_t ways_ = 1;   // accumulators of a column
  int64_t width_ = 1;  // of a group of elements that a GPU's thread takes at once
  int threads_ = kBlockThreads;
  int64_t turns_ = 0;     // groups of a row that each of them has, and holds from loop to loop; 0: they are read again
  int blocks_ = 1;        // of a multiprocessor
  bool blocked_ = false;  // the sums of this level are made of the sums of blocks
  int divisions_ = 0;
  std::string problem_;
  std::map<NodeId, int> computed_;  // in how many loops
  KernelText made_;
};

}  // namespace lumen

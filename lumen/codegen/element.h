// ElementWriter: the statements that compute elements of a kernel's values, in a C-family language.
//
// A value is asked for at coordinates, which are expressions over loop variables i0, i1, …; a view changes the
// coordinates and costs nothing, a gather makes one of what it reads. For y = x[1:] * 2 at i0:
//
//   const float v0 = lumen_load_f32(a0[i0 + 1]);
//   const float v1 = lumen_mul_f32(v0, 2.0f);
//
// The text uses a0, a1, … for the body's inputs, n0, n1, … for its dims, and `fault`, in which a bit says that an
// element could not be computed (an index outside its axis, an integer divided by zero): bit k-1 belongs to message k.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lumen/ir/graph.h"

namespace lumen {

// The coordinates in a shape of the element at a flat index.
std::vector<Expr> unflatten(Expr flat, const Shape& shape);

constexpr int kFirstOfGroup = 63;  // the number of a coordinate that no shape has
constexpr int kOfWarpSum = 62;     // another

class ElementWriter {
 public:
  // Messages are numbered on from those given: what several functions of one kernel can say is one list.
  explicit ElementWriter(const Graph& body, int indent, std::vector<std::string> faults = {});

  // The element of a node at coordinates inside its shape: a name or a literal of compute_type(). Shapes and
  // coordinates are in terms of n0, n1, …: see rename().
  std::string value(NodeId node, std::span<const Expr> at);
  // The same for one that stands alone, where nothing is to become vectors.
  std::string single_value(NodeId node, std::span<const Expr> at);
  // What store_function() takes for the element: the same, but not rounded first where storing it rounds.
  std::string to_store(NodeId node, std::span<const Expr> at);
  // What a function makes of the element, which may be its store_function().
  std::string converted(const std::string& function, NodeId node, std::span<const Expr> at);
  // An expression with the dims of the body called n0, n1, …, as they are in the text.
  Expr rename(Expr e) const { return substitute(e, dims_); }
  Shape rename(const Shape& shape) const;
  // An expression over the coordinates i0, i1, … of a shape (of the body), at these.
  Expr place(Expr e, const Shape& shape, std::span<const Expr> at) const;
  // An index expression as text; counts the divisions in it.
  std::string index(Expr e);

  // A place known only when the kernel runs: outside 0 … extent-1 is a fault, and then it is 0.
  Expr checked(const std::string& text, Expr extent, std::string message);
  // From now on, and while the block that is open now is, the element has this name. For what is not computed element
  // by element: a reduction, whose elements must be known before they are asked for.
  void know(NodeId node, std::span<const Expr> at, std::string name);
  // Whether the element has a name in the block that is open now.
  bool has_here(NodeId node, std::span<const Expr> at) const;
  // From now on a SumReduce of f32 is computed where it is asked for, by all lanes of a warp of a GPU together. They
  // must be there, with the same coordinates of all but `apart`, on which no sum may depend; nor on conditions.
  void sum_by_warps(std::vector<Expr> apart);
  // The sums that were computed so, in the order they were printed.
  struct WarpSum {
    NodeId node;
    std::vector<Expr> at;
  };
  const std::vector<WarpSum>& warp_sums() const { return warp_sums_; }
  // Reads of inputs by every iteration of the loops opened here, in the order they were printed.
  struct Read {
    NodeId input;
    Expr flat;
  };
  const std::vector<Read>& reads() const { return reads_; }
  // Reads of single bytes of inputs, wherever they are and whatever they are read as.
  const std::vector<Read>& byte_reads() const { return byte_reads_; }
  // Every element of an input that was read and not staged: `place` is in units of `bits`.
  struct Access {
    NodeId input;
    Expr place;
    int64_t bits;
  };
  const std::vector<Access>& accesses() const { return accesses_; }
  // From now on what this read gives is this text, of the storage type: it has been read already.
  void stage(const Read& read, std::string text);
  // The conditions under which views were read, instead of their fill, in terms of i0, i1, …; and from now on they are
  // known to hold.
  const std::vector<Expr>& guards() const { return guards_; }
  void assume_guards() { assumes_guards_ = true; }
  // Set when a value was asked for that is neither known nor computed element by element.
  const std::string& problem() const { return problem_; }

  void line(const std::string& text);
  void open(const std::string& head);
  // A loop over this variable, an Expr::index. What does not depend on it is computed before the loop, once, if the
  // loop runs at all: a range that may be empty keeps everything inside.
  void open_loop(const std::string& head, Expr variable, bool may_be_empty);
  // The same, inside another loop, over the elements of a group: `width` neighbours, from `first` on, which is a
  // multiple of `width`, of which this one has number `place`. Inputs that lie so are read before the loop, together.
  // A group `in_turns` is one of as many as hold_rows() says, the turn `first`_turn of a thread; what one that `holds`
  // reads stays for all that follow.
  struct Group {
    int64_t width = 1;
    std::string first, place;
    bool in_turns = false, holds = false;
  };
  void open_group(const std::string& head, Expr variable, bool may_be_empty, Group group);
  // Of the loop that is open now, and a line before it.
  const Group& group() const { return blocks_.back().group; }
  void line_before(const std::string& text);
  // Statements that read `width` elements of an array together, and the one of an index as one of them: for the group
  // that is open, along `variable`; the index lies in groups.
  struct Stored {
    std::string_view type;
    int64_t bytes;
  };
  std::string take(Stored element, const std::string& array, Expr flat, Expr variable);
  // The groups of a row that a thread of a GPU has: `count` turns of `threads`, from `from` to `to`. Elements of them
  // stay in registers from one loop over the row to the next, at most `room` of 4 bytes.
  struct Turns {
    int64_t count = 0, threads = 0;
    std::string from, to;
    int64_t room = 0;
  };
  void hold_rows(Turns turns) { turns_ = std::move(turns); }
  // Rows are short, one for each value of this coordinate: what a loop has taken of one is near when another loop takes
  // it again, and meanwhile the next row may be fetched.
  void keep_rows_near(Expr coordinate) { near_rows_ = coordinate; }
  // Room for what the group that is open has of an array, until the row ends: what take() finds later. Empty: there is
  // none, or the group is not in turns.
  std::string hold(Stored element, const std::string& array, Expr flat, Expr variable);
  // Whether an index is that of neighbours for the elements of a group, and begins at a multiple of its width.
  static bool lies_in_groups(Expr flat, Expr variable, int64_t width);
  // The index for the first element of a group, over i63.
  static Expr first_of_group(Expr flat, Expr variable);
  void close();
  std::string text() const;
  const std::vector<std::string>& faults() const { return faults_; }  // message k-1 belongs to fault k
  int divisions() const { return divisions_; }
  // Every expression that became the text of an index.
  const std::vector<Expr>& indices() const { return indices_; }
  // Those inside loops that were opened here.
  int inner_divisions() const { return inner_divisions_; }

 private:
  using Key = std::pair<NodeId, std::vector<const ExprNode*>>;
  // An open block. Its head is printed when it closes, so that lines can still be put before it.
  struct Block {
    std::string head, text;
    int indent = 0;
    bool is_loop = false;
    bool lets_out = false;        // what does not depend on its variables may be computed before it
    std::vector<Expr> variables;  // that it declares: of its loop, and indices that were read
    Group group;                  // of the elements that it is over; of width 1: of none
    std::map<Key, std::string> known;
  };
  std::string make(NodeId node, std::span<const Expr> at);
  std::string load(NodeId input, Expr flat);
  // The byte at a place of an input, as what it has been read to, or where it is.
  std::string byte_of(NodeId input, Expr flat, std::string_view type);
  std::string read_view(NodeId node, std::span<const Expr> at);
  std::string read_gather(NodeId node, std::span<const Expr> at);
  std::string read_bitcast(NodeId node, std::span<const Expr> at);
  std::string sum_by_warp(NodeId node, std::span<const Expr> at);
  std::string element_of(NodeId source, Expr flat);
  std::string apply(const Node& node, std::span<const std::string> operands);
  // What the group that is open has of an array that is held; empty: nothing.
  std::string held(const std::string& array, Expr first) const;
  void fetch_next_row(Stored element, const std::string& array, Expr first);
  // A name for it, and a line before all loops, if there is room.
  void make_room(Stored element, const std::string& array, Expr first, std::string_view word, const std::string& from);
  std::string keep(DType dtype, const std::string& text);
  // The function that loads an element where the text is now.
  std::string loader(DType dtype) const;
  std::string fresh_name(char kind) { return kind + std::to_string(names_++); }
  // The condition of a fault, and what to say then.
  void check(const std::string& fails, std::string message);
  static Key key_of(NodeId node, std::span<const Expr> at);
  // How many blocks must be open where an element at these coordinates is computed.
  size_t depth_of(std::span<const Expr> at) const;

  const Graph& body_;
  std::set<NodeId> rough_;
  std::vector<std::pair<Expr, Expr>> dims_;
  std::map<NodeId, size_t> input_numbers_;
  std::vector<Read> reads_, byte_reads_;
  std::vector<Expr> guards_;
  bool assumes_guards_ = false;
  std::vector<Access> accesses_;
  std::vector<Expr> indices_;
  std::map<std::pair<NodeId, const ExprNode*>, std::string> staged_;
  Turns turns_;
  std::map<std::pair<std::string, const ExprNode*>, std::string> held_;  // arrays, first elements of groups
  std::optional<Expr> near_rows_;
  std::map<std::pair<std::string, const ExprNode*>, int> takes_;  // likewise, while rows are near
  size_t held_until_ = 0;      // where the last line that makes room for them ends, in the first of the blocks
  std::vector<Block> blocks_;  // the first is what is around everything
  std::optional<std::vector<Expr>> apart_;  // where sums are by warps
  size_t depth_of_sums_ = 0;                // blocks that were open then
  std::vector<WarpSum> warp_sums_;
  std::string problem_;
  std::vector<std::string> faults_;
  bool is_let_out_ = false;  // what is computed now stands alone, or before a loop that it does not depend on
  int names_ = 0;
  int divisions_ = 0;
  int inner_divisions_ = 0;
};

}  // namespace lumen

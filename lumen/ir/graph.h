// Graph: nodes in topological order, hash-consed: an op applied to the same operands is the same node.
//
// Common subexpressions merge when they are built, and what no output needs is never printed, hashed or run, so
// neither needs a pass. Node ids are stable for the life of the graph. A graph stays where it is built (handles
// point to it): it does not move or copy.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/arena.h"
#include "lumen/base/check.h"
#include "lumen/base/expected.h"
#include "lumen/ir/op.h"
#include "lumen/ir/source_location.h"

namespace lumen {

enum class NodeId : uint32_t {};
// Its place in what has an entry for every node.
inline size_t at(NodeId id) { return static_cast<size_t>(id); }

struct Node {
  const OpDef* op;
  const void* fields;
  std::span<const NodeId> operands;
  TensorType type;

  template <class Op>
  bool is() const {
    return op == &op_def<Op>();
  }
  template <class Op>
  const Op& as() const {
    CHECK(is<Op>(), "node is another op");
    return *static_cast<const Op*>(fields);
  }
};

enum class InputKind : uint8_t { data, weight, state };
template <>
struct EnumNames<InputKind> {
  static constexpr std::string_view type = "input_kind";
  static constexpr std::array values = {std::pair{InputKind::data, std::string_view("data")},
                                        std::pair{InputKind::weight, std::string_view("weight")},
                                        std::pair{InputKind::state, std::string_view("state")}};
};

// A value fed from outside. Declared here because a graph lists its inputs; otherwise an op like any other.
struct Input {
  Name name = {};
  InputKind kind = InputKind::data;
  DType dtype = DType::f32;
  Shape shape = {};
  static constexpr std::string_view kName = "Input";
  static constexpr std::string_view kDoc =
      "A value fed from outside: data given at each run, a weight given once, or state that an output updates.";
  static constexpr int kArity = 0;
  static constexpr OpFamily kFamily = OpFamily::leaf;
  static constexpr DTypeClasses kOperands = kAnyDType;
  static constexpr auto fields() {
    return std::tuple{Field{"name", &Input::name}, Field{"kind", &Input::kind}, Field{"dtype", &Input::dtype},
                      Field{"shape", &Input::shape}};
  }
  static Expected<TensorType> infer(const Input&, std::span<const TensorType>);
};

struct Output {
  Name name;
  NodeId value;
  std::optional<NodeId> alias;  // the state input that this output updates in place; same type
};

struct Tensor;

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // ---- building. Errors as values; the Tensor-returning forms below throw them. -------------------------------

  // A symbolic dim, 0 <= lo <= hi. The same name twice must have the same bounds. Names: a letter, then letters,
  // digits, _ or .; i0, i1, … and the words of the text format are taken.
  Expected<Expr> add_dim(std::string_view name, int64_t lo, int64_t hi);
  // Input names are unique and not empty.
  Expected<NodeId> add_input(const Input& input);
  // What inference says, for fields in the scope of this graph (scope.h). Bodies in the fields are adopted.
  Expected<NodeId> add(const OpDef& op, const void* fields, std::span<const NodeId> operands);
  template <class Op>
  Expected<NodeId> add(const Op& op, std::span<const NodeId> operands) {
    return add(op_def<Op>(), &op, operands);
  }
  // Output names are unique and not empty; an alias must be a state input of the same type that no other output
  // aliases.
  Expected<void> add_output(std::string_view name, NodeId value, std::optional<NodeId> alias = {});
  // Takes ownership of a body, which no longer changes; equal bodies give the same handle.
  Body adopt(std::shared_ptr<const Graph> body);

  // ---- the same for people: throw lumen::Error with the caller's place ----------------------------------------
  Expr dim(std::string_view name, int64_t lo, int64_t hi, SourceLocation where = SourceLocation::current());
  Tensor input(std::string_view name, Shape shape, DType dtype = DType::f32, InputKind kind = InputKind::data,
               SourceLocation where = SourceLocation::current());

  // ---- reading ------------------------------------------------------------------------------------------------
  const Node& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  size_t size() const { return nodes_.size(); }                 // every node ever added, needed or not
  std::span<const NodeId> inputs() const { return inputs_; }    // in the order declared
  std::span<const Output> outputs() const { return outputs_; }  // in the order declared
  std::span<const Expr> dims() const { return dims_; }          // sorted by name
  std::optional<NodeId> find_input(std::string_view name) const;
  const Output* find_output(std::string_view name) const;
  std::optional<Expr> find_dim(std::string_view name) const;
  // Every input (in declared order), then what the outputs need, operands first. The order depends on structure
  // only: equal graphs give equal orders, however they were built.
  std::vector<NodeId> order() const;
  // Of the content that order() shows; the same in every process.
  uint64_t hash() const;
  bool equals(const Graph& other) const;
  size_t bytes() const;  // memory held

 private:
  struct Index;
  Expected<NodeId> insert(const OpDef& op, const void* fields, std::span<const NodeId> operands);
  Arena arena_;
  std::deque<Node> nodes_;  // references to nodes stay valid while more are added
  std::vector<NodeId> inputs_;
  std::vector<Output> outputs_;
  std::vector<Expr> dims_;
  std::vector<std::shared_ptr<const Graph>> bodies_;
  std::unique_ptr<Index> index_;  // hash-consing table and names
};

// The same graph anew: what order() shows, with the same inputs, outputs and dims.
std::shared_ptr<Graph> clone(const Graph& graph);

// A cheap handle to one value of a graph; what the frontend's functions take and give.
struct Tensor {
  Graph* graph = nullptr;
  NodeId id{};

  const Node& node() const { return (*graph)[id]; }
  TensorType type() const { return node().type; }
  DType dtype() const { return type().dtype; }
  Shape shape() const { return type().shape; }
  int64_t rank() const { return shape().rank(); }
  // Negative axes count from the end; throws Error when out of range.
  Expr dim(int64_t axis, SourceLocation where = SourceLocation::current()) const;

  // Names this value as an output, and gives it back. `updates` is the state input it replaces.
  Tensor output(std::string_view name, SourceLocation where = SourceLocation::current()) const;
  Tensor output(std::string_view name, Tensor updates, SourceLocation where = SourceLocation::current()) const;
};

}  // namespace lumen

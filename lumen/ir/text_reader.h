// TextReader: a cursor over the text of a graph, and the values that fields are made of.
//
// Blanks, newlines and comments (from # to the end of the line) before a token are skipped; an expression ends with its
// line. A failed read gives a Diag with file:line:col and the line itself; the cursor is then of no further use.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/ir/graph.h"
#include "lumen/ir/text.h"

namespace lumen {

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file, const OpTable& ops) : text_(text), file_(file), ops_(ops) {}

  // ---- tokens ---------------------------------------------------------------------------------------------------
  bool at_end();
  size_t position();                        // of the next token
  bool accept(std::string_view token);      // punctuation
  bool accept_word(std::string_view word);  // the whole word
  Expected<void> expect(std::string_view token);
  // Letters, digits, _ and . ; `what` says in the error what is missing.
  Expected<std::string_view> word(std::string_view what);
  Expected<std::string> string(std::string_view what);  // in double quotes
  Expected<int64_t> integer();
  Expected<uint64_t> unsigned_integer();
  Expected<double> real();

  // ---- values ---------------------------------------------------------------------------------------------------
  Expected<DType> dtype();
  Expected<Scalar> scalar();
  Expected<Shape> shape();
  Expected<TensorType> type();
  Expected<View> view();
  Expected<Expr> expr();  // its coordinates are those of the last Shape field of the op
  Expected<Body> body();  // a graph in braces, adopted by the graph being read

  // ---- the graph being read -------------------------------------------------------------------------------------
  Expected<std::shared_ptr<Graph>> graph();  // with its header, to the end of the text
  // After graph(): those that made its nodes.
  std::vector<Statement> made() const;
  void set_extents(Shape shape) { extents_ = shape; }

  // At a position of the text, or at the next token.
  Diag fail(std::string message, size_t at) const;
  Diag fail(std::string message) { return fail(std::move(message), position()); }
  // The next token as it is to be shown: `word`, `(`, or "the end of the text".
  std::string next_shown();

 private:
  // What holds inside one pair of braces. The memos are by text: the same few types and views occur all over a graph.
  struct Frame {
    std::shared_ptr<Graph> graph;
    boost::unordered_flat_map<std::string_view, NodeId> nodes;
    boost::unordered_flat_map<std::string_view, Shape> shapes;
    boost::unordered_flat_map<std::string_view, View> views;
  };
  static constexpr size_t kMaxNesting = 16;
  struct Made {
    NodeId node;
    std::string_view name;
    size_t start;  // of the statement
  };

  void skip_blanks();
  std::string_view rest() const { return text_.substr(at_); }
  template <class Number>
  Expected<Number> number(std::string_view what);
  Expected<std::string> escape();
  Expected<Expr> expr_over(std::span<const Expr> extents);
  Expected<Shape> shape_anew();
  Expected<View> view_anew();

  Expected<std::shared_ptr<Graph>> statements(bool braces);
  Expected<void> dim_statement();
  Expected<void> output_statement();
  Expected<void> node_statement();
  Expected<NodeId> node_reference();
  Expected<std::vector<NodeId>> operands();
  Expected<void> fields(const OpDef& op, void* out);
  Expected<const OpDef*> op_name();

  std::string_view text_;
  std::string_view file_;
  const OpTable& ops_;
  size_t at_ = 0;
  Shape extents_;
  std::vector<Frame> frames_;
  std::vector<Made> made_;  // in the outermost graph
};

// What TextReader::body reads: the statements, indented, in braces.
void print_body(const Graph& body, std::string& out);

}  // namespace lumen

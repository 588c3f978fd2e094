// Fields of ops as values of an e-graph: one sort for each type that a field can have.
#pragma once

#include <cstddef>
#include <vector>

#include "lumen/base/check.h"
#include "lumen/egraph/core/egraph.h"
#include "lumen/ir/op.h"

namespace lumen {

// A value of an enum that is the field of some op, kept with what it needs to be compared and printed.
struct EnumValue {
  const FieldType* type = nullptr;
  alignas(8) std::byte bytes[8] = {};
  bool operator==(const EnumValue& o) const { return type == o.type && type->equal(bytes, o.bytes); }
};

// A body, compared by content; it belongs to the graph that was encoded.
struct BodyValue {
  Body body;
  bool operator==(const BodyValue& o) const { return field_type<Body>().equal(&body, &o.body); }
};

// A float, compared by its bits.
struct FloatValue {
  double value = 0;
  bool operator==(const FloatValue& o) const { return field_type<double>().equal(&value, &o.value); }
};

class FieldValues {
 public:
  using Sorts = std::vector<egraph::Sort>;  // EGraph::sorts()

  // Declares the sorts DType, Expr, Shape, View, Scalar, Name, Float, Body and Type (a TensorType), which primitives
  // may use; ints are i64, bools bool.
  explicit FieldValues(egraph::EGraph& graph);

  // Declares the sorts of the op's enums, `scatter_mode` as ScatterMode. Before the functions below are called.
  void add_enums(egraph::EGraph& graph, const OpDef& op);
  // Of the values of field k of the op.
  egraph::SortId sort_of(const OpDef& op, size_t k) const;
  egraph::SortId type_sort() const { return type_sort_; }

  // Field k of the op whose struct is at `fields`.
  egraph::Value write(const Sorts& sorts, const OpDef& op, size_t k, const void* fields) const;
  void read(const Sorts& sorts, const OpDef& op, size_t k, egraph::Value value, void* fields) const;

 private:
  struct Kind {
    const FieldType* type;
    egraph::SortId sort;
    egraph::Value (*write)(const egraph::Sort&, const void* field);  // null for enums
    void (*read)(const egraph::Sort&, egraph::Value, void* field);
  };
  const Kind* find(const FieldType* type) const;

  std::vector<Kind> kinds_;
  egraph::SortId type_sort_ = 0;
};

// The struct of an op, made from its default.
class FieldBuffer {
 public:
  explicit FieldBuffer(const OpDef& op) : words_((op.size + sizeof(Word) - 1) / sizeof(Word) + 1) {
    CHECK(op.align <= alignof(Word), "an op that needs more alignment than any field");
    op.construct(words_.data());
  }
  void* data() { return words_.data(); }
  const void* data() const { return words_.data(); }

 private:
  using Word = std::max_align_t;
  std::vector<Word> words_;
};

}  // namespace lumen

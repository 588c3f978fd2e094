// The parts of a body that is attention, and where each finds its elements. Coordinates are in two systems that share
// their batch and their rows:
//
//            i0     i1    i2       i3
//   first    batch  row   key      depth     Contract(q, k)
//   second   batch  row   feature  key       Contract(e, v)
//
// The last dim that only the weights have is the row; those before it are part of the batch.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lumen/codegen/attention_walk.h"
#include "lumen/codegen/contract_roles.h"

namespace lumen {

// Elements are at coordinates of the second system.
struct AttentionForm {
  std::shared_ptr<Graph> graph;  // the body, and the factors of its contractions
  ContractRoles first, second;   // rows: the queries; the weights. columns: the keys; the values
  Element product;               // Contract(q, k)
  Element scores, top;           // s and m
  Element weights;               // e, an Exp2
  std::optional<Element> total;  // l
  Element result;                // Contract(e, v)
  double steepness = 0;          // a
  std::optional<double> scale;   // s is so many times the product, and nothing else
  bool at_most_one = false;      // weights are: their exponent is a*(s - m) and nothing else
  Expr sharers = 1;              // so many batches in a row read the same keys and values
  bool sums_queries = false;     // what queries are divided by is summed before

  Expr batch() const { return second.extent(Role::batch); }
  Expr rows() const { return second.extent(Role::row); }
  Expr keys() const { return second.extent(Role::summed); }
};

// An error says what is missing. `sums`: there may be sums that no Contract is needed for, as norms of queries have
// them.
Expected<AttentionForm> attention_form(const Graph& body, bool sums = false);

}  // namespace lumen

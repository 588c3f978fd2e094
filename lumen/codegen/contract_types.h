// How the factors of a Contract are held while they are multiplied.
#pragma once

#include "lumen/codegen/contract_roles.h"
#include "lumen/codegen/contract_tile.h"

namespace lumen {

// A factor before it is widened: the values of `node` in `graph` are those of the factor, in a narrower dtype.
struct NarrowFactor {
  std::shared_ptr<Graph> graph;  // with the inputs and dims of the body
  NodeId node{};
  DType dtype{};
  std::string convert;  // from the compute type of `node` to storage
};

// A factor that is bf16, f16, i8 or u8, or was before a Cast; views may stand around the Cast. Nothing otherwise.
std::optional<NarrowFactor> narrow_factor(const ContractRoles& roles, NodeId factor);
// The same for floats of 8 bits, which any number of Casts may have widened.
std::optional<NarrowFactor> byte_factor(const ContractRoles& roles, NodeId factor);
bool is_byte_float(DType dtype);

// A node in a graph with the inputs and dims of the body.
struct FactorIn {
  std::shared_ptr<Graph> graph;
  NodeId node{};
};
// A factor before it was rounded to bf16 or f16 and widened again, as weights of a model in bf16 are that are quantised
// or f16. Nothing when it was not.
std::optional<FactorIn> unrounded_factor(const ContractRoles& roles, NodeId factor);
bool has_rounded_columns(const ContractRoles& roles);
// What is multiplied with the rows, side by side; `wide`: before it was rounded.
std::vector<FactorIn> column_factors(const ContractRoles& roles, bool wide);

// Whether elements in memory have the bits of compute_type().
bool is_held_as_stored(DType dtype);

// A factor as tiles take it: what is packed, from which graph, and how.
struct HeldFactor {
  std::shared_ptr<Graph> graph;
  NodeId node{};
  std::string convert;
  // Where the elements lie, when they have the bits of those in memory.
  std::optional<PlainFactor> plain;
  bool along_summed = false;  // they lie along the summed axis
};
HeldFactor held_factor(const ContractRoles& roles, NodeId factor, Role lane, bool narrow);

// Of tiles of vectors: the compute type, unsigned for integers, whose sums wrap.
TileTypes vector_types(DType dtype);
// Of the matrix unit; nothing when the target has none for these factors.
std::optional<TileTypes> matrix_types(const ContractRoles& roles, const Target& target);
// Of a matrix unit for bf16 that multiplies f32 in pieces; nothing where matrix_types() has something.
std::optional<TileTypes> piece_types(const ContractRoles& roles, const Target& target);
// Of vectors that are multiplied four by four; nothing when the target does not do that with these factors.
std::optional<TileTypes> quad_types(const ContractRoles& roles, const Target& target);

}  // namespace lumen

// Verifying: a program that was found by searching is compared with what it must compute before anyone uses it.
#pragma once

#include <memory>
#include <string>

#include "lumen/backend/device.h"

namespace lumen::search {

// How far results may be from each other, relative to their size: from the coarsest dtype, the longest sum and the
// number of ops of the graph.
double tolerance_of(const Graph& graph, const DimValues& dims);

// What the interpreter takes for a graph, in seconds, about.
double interpreting_seconds(const Graph& graph, const DimValues& dims);

// Small sizes, within the bounds of the dims.
DimValues small_dims(const Graph& graph);

// Runs both on the same random inputs. An error says which output differs most, where, and by how much. `wanted` and
// `got` are prepared for `dims` by this.
Expected<void> compare_executables(const Graph& graph, const DimValues& dims, Executable& wanted, Executable& got);

// What computes the graph without anything that was searched for: the reference, or, where that would take too long,
// the graph as it is written, in the simplest kernels.
Expected<std::unique_ptr<Executable>> plain_executable(const std::shared_ptr<const Graph>& graph, const Device& device);

// Whether the binary computes what that does. When it does not, the error says what find_fault says.
Expected<void> verify(const std::shared_ptr<const Graph>& graph, const Binary& binary, const Device& device);

}  // namespace lumen::search

// Program: a graph as calls of kernels over values, the same for every backend.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lumen/backend/memory_plan.h"
#include "lumen/codegen/kernel_text.h"
#include "lumen/kernel/carve.h"

namespace lumen {

// A kernel in its chosen form. Without steps it has no text, and its body is interpreted.
struct ProgramKernel {
  std::shared_ptr<const Graph> body;
  KernelText text;
  std::string schedule;
};

struct ProgramCall {
  uint32_t kernel = 0;
  std::vector<uint32_t> operands;  // values, as the body's inputs
  std::vector<uint32_t> results;
  bool joins = false;  // is of the wave of the call before it: those can run at once (waves.h)
};

// An output whose value is an input, or another output as well.
struct ProgramCopy {
  uint32_t value;
  uint32_t output;
};

// Where a value lives: with an input, with an output, or in the arena (number: in `inner`).
struct Home {
  enum class Kind : uint8_t { input, output, arena } kind;
  uint32_t number;
};

struct Program {
  std::shared_ptr<const Graph> graph;  // what it computes; its inputs are the first values
  std::vector<TensorType> values;
  std::vector<ProgramKernel> kernels;  // distinct
  std::vector<ProgramCall> calls;
  std::vector<uint32_t> outputs;  // values
  std::vector<ProgramCopy> copies;

  // What values are beside inputs and outputs lives in slots of an arena, and so does each call's scratch.
  std::vector<uint32_t> inner;  // values
  MemoryPlan plan;              // of `inner`, then of one scratch per call
  std::vector<Home> homes;      // by value
  std::vector<bool> in_place;   // by output: its buffer may be that of the state it updates
};

// Carved kernels in an order in which each finds its operands; call k is of `kernels[kernel_of[k]]`. The plan is
// checked.
Expected<Program> make_program(std::shared_ptr<const Graph> graph, std::span<const Carved> carved,
                               std::vector<ProgramKernel> kernels, std::span<const uint32_t> kernel_of);

// Makes `copies` and what follows it of what the rest says, whatever they were, and checks that.
Expected<void> plan_program(Program& program);

// Follows what each piece of memory holds, with outputs that may update state in place doing so: whether every call
// finds its operands whole, and every output is there at the end. Shares no code with plan_program.
Expected<void> check_memory(const Program& program);

// Dims of usual size, for decisions that hold for all sizes.
DimValues typical_dims(const Graph& graph);

}  // namespace lumen

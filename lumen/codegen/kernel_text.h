// A generated kernel: text that is the same for every target, over a prelude that is not. It is one or more steps, each
//
//   LUMEN_KERNEL(name, threads, inputs, outputs, dims) { … }     in C a function
//     int64_t name(const void* const* in, void* const* out, const int64_t* dims, int64_t begin, int64_t end)
//
// that does the rows [begin, end) of the step's work; LUMEN_IN(k), LUMEN_OUT(k) and LUMEN_DIM(k) are as the body
// declares them. It returns 0, or the number of a message in `faults`. On a GPU it is a __global__ function of one
// LumenArgs<inputs, outputs, dims> (the counts: of inputs at least 1, with scratch among the outputs), passed by value;
// its blocks share the rows and the threads of a block the elements of a row. How many blocks there are is free. Dims,
// and how many rows they make, are read from memory, so that a launch that was captured is one for all sizes.
// Buffers do not overlap (but see `in_place`), are aligned for their elements and have room for at least one.
//
// A step may be a product of matrices that a library computes (library_product.h): the text has no function for it.
//
// A step begins when the one before it is done. What steps hand to each other is in `scratch`, the buffer after the
// last output; it begins at a multiple of 64 bytes, and nobody clears it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/library_product.h"
#include "lumen/codegen/scalar.h"
#include "lumen/ir/expr_bounds.h"
#include "lumen/ir/graph.h"

namespace lumen {

constexpr int kBlockThreads = 256;
inline constexpr int64_t kWarp = 32;  // threads of a block that run as one

struct KernelStep {
  std::string name;
  Expr rows;          // over n0, n1, …: the body's dims
  int64_t grain = 1;  // ranges of rows begin at multiples of it
  // On a GPU.
  int threads = kBlockThreads;  // of a block
  int64_t block_rows = 1;       // rows that a block takes at a time
  bool walks = true;            // a block takes other rows when it is done with its first; else one begins for each
  int64_t shared = 0;           // bytes of shared memory, beside what the text declares
  bool copies = false;          // needless where the first output has the buffer of the input `in_place`
  std::optional<LibraryProduct> product = {};
};

struct KernelText {
  std::string text;
  std::vector<KernelStep> steps;
  std::vector<std::string> faults;  // what to say when a step returns k: faults[k - 1]
  Expr scratch = 0;                 // bytes, over n0, n1, …
  // The input whose buffer the first output may have, too: then only what changes is written.
  std::optional<uint32_t> in_place = {};
};

// The grain of rows that are whole elements of the body's outputs: elements of 4 and 6 bits share bytes, and a byte is
// written by one thread.
int64_t grain_of(const Graph& body);

// Bytes of all results, as far as kManyBytes, which no cache holds; none where elements share bytes.
constexpr int64_t kManyBytes = 32 << 20;
Interval result_bytes(const Graph& body);

// a0, a1, …, r0, r1, … and n0, n1, … out of the kernel's parameters.
std::string kernel_names(const Graph& body);
// How a kernel begins: a line that defines name_NAMES(each), which is each(type, name, place) of those that are
// pointers; its name, those names, and `fault`. In C its buffers are parameters of a function of its own: gcc believes
// only of parameters that what they point to does not overlap. On a GPU, `blocks` is how many of them a multiprocessor
// should have at a time: one of kKernelBlocks.
constexpr int kKernelBlocks[] = {16, 12, 8, 6, 4, 3, 2, 1};
std::string kernel_head(const Graph& body, const std::string& name, int threads = kBlockThreads, int blocks = 1,
                        bool walks = true);
// The number of the message that belongs to the lowest bit of `fault`, when `before` messages come before its own; 0
// when there is none. For functions inside a kernel; the kernel itself ends with LUMEN_RETURN.
std::string fault_number(size_t before);
// How many neighbouring elements of an axis a thread of a GPU takes at once, so that it reads and writes 16 bytes of
// what is narrowest; a divisor of the extent.
int64_t group_width(const Graph& body, Expr extent);
// Threads of a block that walk over an axis in such groups: whole warps.
int threads_for(Expr extent, int64_t width);
// An expression over n0, n1, … as a 64-bit number.
std::string number(Expr e);
// i0, i1, … of `row`, which counts the elements of a shape (over n0, n1, …).
std::string row_coordinates(const Shape& shape, int indent);
// Puts a value of the compute type at a flat index of output k.
std::string store_statement(const Graph& body, size_t k, const std::string& index, const std::string& value);

// What the C compiler must be told.
std::vector<std::string> kernel_c_flags();
// What stands before kernels: scalar_prelude() and the words that kernels are written in.
std::string kernel_prelude(Syntax);
// The same in C for a few kernels: without functions that none of them calls and a compiler would translate all the
// same.
std::string kernel_prelude_of(std::span<const std::string_view> kernels);

}  // namespace lumen

// The families of pattern_cases(), each in a file of its own.
#pragma once

#include "bench/suite/case.h"

namespace lumen::bench {

void add_products(std::vector<Case>& cases);      // matmul, gemv, conv2d
void add_rows(std::vector<Case>& cases);          // softmax, norms, activations, chains
void add_transformers(std::vector<Case>& cases);  // attention, a block

// Those of large_pattern_cases().
void add_large_products(std::vector<Case>& cases);
void add_large_rows(std::vector<Case>& cases);
void add_large_attention(std::vector<Case>& cases);

}  // namespace lumen::bench

// How the operands of attention are packed: keys and values in panels of columns (contract_pack.h), queries as rows.
// Each function has the parameters and the result of print_packing().
#pragma once

#include <string>
#include <vector>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/contract_types.h"

namespace lumen {

struct AttentionPacking {
  TileTypes types;
  int vector_bytes = 0;
  bool narrow = false;  // bf16 for a matrix unit
  int64_t lanes = 0;    // of a panel
};

Expected<std::string> print_key_packing(const AttentionForm& form, const std::string& function,
                                        const AttentionPacking& packing, std::vector<std::string>& faults);
Expected<std::string> print_value_packing(const AttentionForm& form, const std::string& function,
                                          const AttentionPacking& packing, std::vector<std::string>& faults);
// So many rows, each filled up with zeros to a multiple of the types' depth.
Expected<std::string> print_query_packing(const AttentionForm& form, const std::string& function,
                                          const AttentionPacking& packing, int64_t rows,
                                          std::vector<std::string>& faults);

// Whether queries, keys and values are bf16 and so are the outputs: then weights can be, too.
bool fits_matrix_unit(const AttentionForm& form, const Target& target);

}  // namespace lumen

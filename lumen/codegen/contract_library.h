// Contracts that a library computes (library_product.h). Steps of our own stand around that: on a GPU, one before it
// stores a factor that is computed, or no matrix, as one; one after it makes the outputs of the sums where they are
// more than the sums, rounded, or no matrix. Floats of 8 bits are multiplied as such where both factors are, one of
// them is f8e4m3, and columns and sum are multiples of 16; they are matrices along the sum. Their scales, which rules
// move behind the sum, are the library's where nothing else is left to do: at most two inputs that are one number of
// f32 each, and a constant. Others, such as those of rows and of columns, are what the step after it multiplies by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/codegen/kernel_text.h"
#include "lumen/kernel/target.h"

namespace lumen {

enum class LibraryMethod : uint8_t { library };

struct LibrarySchedule {
  LibraryMethod method = LibraryMethod::library;
  int64_t algorithm = 0;  // which of those that the library proposes, the most promising first

  // "library algorithm=1"
  std::string str() const;
  static Expected<LibrarySchedule> parse(std::string_view text);
};

bool is_library_schedule(std::string_view text);

// An error when the target has no library, or factors are not, and are not made, matrices of dtypes that it multiplies.
Expected<KernelText> print_library(const Graph& body, const std::string& name, const LibrarySchedule& schedule,
                                   const Target& target);

// Schedules that print_library accepts, the most promising first.
std::vector<LibrarySchedule> library_schedules(const Graph& body, const Target& target);

}  // namespace lumen

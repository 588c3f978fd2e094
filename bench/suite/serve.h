// A server of timings, for programs that let Lumen's trials take turns with others': bench/compare.
//
// Each line in is a JSON object and is answered by one line, {"error": "..."} where it went wrong:
//   {"do": "cases"}                                 every pattern: name, inputs, outputs, flops, bytes, ...
//   {"do": "limit", "case": NAME, "runs": N}        seconds that the machine takes for its bytes or products
//   {"do": "load", "case": NAME, "folder": DIR}     compiles; inputs are read from DIR/<input>.bin, as they are stored
//   {"do": "time", "case": NAME, "runs": N}         seconds of one run, the mean of N after one that is not counted
//   {"do": "store", "case": NAME, "folder": DIR}    writes the outputs to DIR/<output>.out
//   {"do": "drop", "case": NAME}                    forgets it
#pragma once

#include <iosfwd>

#include "lumen/base/expected.h"

namespace lumen::bench {

// Until the end of `in`.
Expected<void> serve(std::istream& in, std::ostream& out);

}  // namespace lumen::bench

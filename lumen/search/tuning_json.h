// Tuning entries as JSON: the file that `lumen tune export` writes and people may edit, and the lines of a JSON-lines
// database.
//
//   {"format":"lumen-tuning","version":1,"entries":[
//   {"fingerprint":"...","kernel":"...","shape":"n=7","schedule":"...","date":"2026-11-15T10:20:59Z",
//    "seconds":1e-05,"spread":2e-07,"trials":31},
//   {"fingerprint":"...","kernel":"...","shape":"","schedule":"...","date":"...","rejected":"it does not compile"}
//   ]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lumen/search/tuning_entry.h"

namespace lumen::search {

// One entry to a line, fields always in the order above; ends with a newline. The entries were checked.
std::string print_document(const std::vector<TuningEntry>& entries);

// The inverse. Refuses unknown, repeated, missing and wrong fields and whatever check_entry refuses; the error has the
// line and the column (in bytes, both from 1) of what is wrong, in a file of this name.
Expected<std::vector<TuningEntry>> parse_document(std::string_view text, const std::string& name);

// One entry with its checksum, on one line without a newline. A line with another checksum is refused.
std::string print_line(const TuningEntry& entry);
Expected<TuningEntry> parse_line(std::string_view line);

}  // namespace lumen::search

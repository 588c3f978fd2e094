#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "lumen/search/tuning_db.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

using search::TuningDb;
using search::TuningEntry;
using search::TuningFilter;

TuningFilter filter_of(const TuneOptions& options) { return {options.hardware, options.kernel}; }

// The database to read. One that was named must be there; the default one may not have begun yet.
Expected<TuningDb> open_to_read(const TuneOptions& options) {
  const std::string path = options.db.empty() ? LUMEN_TRY(TuningDb::default_path()) : options.db;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    if (options.db.empty()) return TuningDb::open(search::kMemory);
    return error(fmt::format("{}: no such file", path));
  }
  // The user may have named any file at all: only the default one is surely ours to move aside.
  return TuningDb::open(path, options.db.empty() ? search::OnDamage::move_aside : search::OnDamage::refuse);
}

// "12.3 us": three digits and the unit that fits.
std::string three_digits(double seconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= unit * 0.9995) return fmt::format("{:.3g} {}", seconds / unit, name);
  }
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string entries_text(int64_t count) { return fmt::format("{} {}", count, count == 1 ? "entry" : "entries"); }

// On one line, with what would break it escaped.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result;
}

void print_entry(const TuningEntry& entry, size_t width) {
  const std::string result = entry.rejected.empty() ? three_digits(entry.seconds) : "rejected";
  const std::string spread = entry.rejected.empty() ? three_digits(entry.spread) : "";
  const std::string trials = entry.rejected.empty() ? fmt::to_string(entry.trials) : "";
  fmt::print("  {:>10} {:>10} {:>6}  {}  {:<{}}{}\n", result, spread, trials, search::date_text(entry.date),
             one_line(entry.schedule), entry.rejected.empty() ? 0 : width + 2, one_line(entry.rejected));
}

void print_table(const std::vector<TuningEntry>& entries) {
  size_t width = 0;
  for (const TuningEntry& entry : entries) width = std::max(width, one_line(entry.schedule).size());
  const TuningEntry* before = nullptr;
  for (const TuningEntry& entry : entries) {
    const bool same = before != nullptr && before->fingerprint == entry.fingerprint && before->kernel == entry.kernel &&
                      before->shape == entry.shape;
    if (!same) {
      fmt::print("{}kernel    {}  {}\nshape     {}\nhardware  {}\n", before == nullptr ? "" : "\n",
                 search::kernel_hash(entry.kernel).substr(0, 12), one_line(entry.kernel),
                 entry.shape.empty() ? "-" : one_line(entry.shape), one_line(entry.fingerprint));
      fmt::print("  {:>10} {:>10} {:>6}  {:<20}  schedule\n", "median", "spread", "trials", "date");
    }
    print_entry(entry, width);
    before = &entry;
  }
}

}  // namespace

Expected<int> show_tuning(const TuneOptions& options) {
  if (options.json) return export_tuning(options);
  const TuningDb db = LUMEN_TRY(open_to_read(options));
  const std::vector<TuningEntry> entries = LUMEN_TRY(db.list(filter_of(options)));
  print_table(entries);
  const auto measured = std::count_if(entries.begin(), entries.end(), [](auto& e) { return e.rejected.empty(); });
  fmt::print("{}{} measured, {} rejected\n", entries.empty() ? "" : "\n", measured,
             static_cast<std::ptrdiff_t>(entries.size()) - measured);
  return 0;
}

Expected<int> export_tuning(const TuneOptions& options) {
  const TuningDb db = LUMEN_TRY(open_to_read(options));
  std::ostringstream text;
  LUMEN_TRY(db.export_json(text, filter_of(options)));
  LUMEN_TRY(write_text(options.file.empty() ? "-" : options.file, text.str()));
  return 0;
}

Expected<int> import_tuning(const TuneOptions& options) {
  // Read and checked before a database is opened, which may make one.
  std::istringstream text(LUMEN_TRY(read_text(options.file)));
  const std::string name = options.file == "-" ? "<stdin>" : options.file;
  TuningDb checked = LUMEN_TRY(TuningDb::open(search::kMemory));
  LUMEN_TRY(checked.import_json(text, search::OnConflict::keep_newer, name));
  text.clear();
  text.seekg(0);
  TuningDb db =
      LUMEN_TRY(options.db.empty() ? TuningDb::open_default() : TuningDb::open(options.db, search::OnDamage::refuse));
  const auto conflict = options.replace ? search::OnConflict::replace : search::OnConflict::keep_newer;
  const int64_t written = LUMEN_TRY(db.import_json(text, conflict, name));
  fmt::print("{} written\n", entries_text(written));
  return 0;
}

Expected<int> clear_tuning(const TuneOptions& options) {
  const bool some = !options.kernel.empty() || !options.hardware.empty();
  if (!some && !options.all) return error("say what to remove: --kernel PART, --hardware NAME or --all");
  if (some && options.all) return error("--all and a choice of entries exclude each other");
  TuningDb db = LUMEN_TRY(open_to_read(options));
  fmt::print("{} removed\n", entries_text(LUMEN_TRY(db.clear(filter_of(options)))));
  return 0;
}

}  // namespace lumen::tools

#include "lumen/runtime/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "lumen/ir/text.h"
#include "lumen/kernel/contract.h"

namespace lumen {

namespace {

bool parse_number(std::string_view text, int64_t& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && status == std::errc() && end == text.data() + text.size();
}

class VariantExecutable : public Executable {
 public:
  struct Choice {
    std::vector<DimRange> where;
    std::vector<std::pair<size_t, DimRange>> tests;  // by dim number
    std::vector<size_t> dims;                        // numbers of those that its graph still has
    std::unique_ptr<Executable> executable;
  };
  explicit VariantExecutable(std::vector<Choice> choices, std::vector<std::string> dims)
      : choices_(std::move(choices)), dims_(std::move(dims)), current_(choices_[0].executable.get()) {}

  Expected<void> prepare(std::span<const int64_t> dims) override {
    for (const Choice& choice : choices_) {
      const bool fits = std::all_of(choice.tests.begin(), choice.tests.end(), [&](const auto& test) {
        return dims[test.first] >= test.second.lo && dims[test.first] <= test.second.hi;
      });
      if (!fits) continue;
      current_ = choice.executable.get();
      current_->set_profiling(profiling_);
      kept_.clear();
      for (const size_t k : choice.dims) kept_.push_back(dims[k]);
      return current_->prepare(kept_);
    }
    std::vector<std::string> given, known;
    for (size_t k = 0; k < dims.size(); ++k) given.push_back(fmt::format("{}={}", dims_[k], dims[k]));
    for (const Choice& choice : choices_) known.push_back(text_of(choice.where));
    return error(fmt::format("no variant for {}; there are {}", fmt::join(given, " "), fmt::join(known, ", ")));
  }
  bool in_place(size_t output) const override { return current_->in_place(output); }
  const std::shared_ptr<Memory>& memory() const override { return current_->memory(); }
  Expected<void> run(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    return current_->run(inputs, outputs);
  }
  Expected<void> start(std::span<const void* const> inputs, std::span<void* const> outputs) override {
    return current_->start(inputs, outputs);
  }
  Expected<void> finish() override { return current_->finish(); }
  const std::byte* fetched(size_t output) const override { return current_->fetched(output); }
  Expected<double> time(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t runs) override {
    return current_->time(inputs, outputs, runs);
  }
  void set_profiling(bool on) override {
    profiling_ = on;
    current_->set_profiling(on);
  }
  std::span<const CallTime> profile() const override { return current_->profile(); }

 private:
  std::vector<Choice> choices_;
  std::vector<std::string> dims_;
  Executable* current_;
  bool profiling_ = false;
  std::vector<int64_t> kept_;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// The text with a dim's value in its place, wherever its name stands outside of quotes.
std::string with_value(std::string_view text, std::string_view dim, int64_t value) {
  std::string result;
  bool quoted = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (!quoted && text.substr(at, end - at) == dim) {
      result += fmt::format("{}", value);
    } else {
      end = std::max(end, at + 1);
      result += text.substr(at, end - at);
      if (text[at] == '"') quoted = !quoted;
    }
    at = end;
  }
  return result;
}

}  // namespace

std::string text_of(const std::vector<DimRange>& ranges) {
  std::vector<std::string> parts;
  for (const DimRange& range : ranges) {
    parts.push_back(range.lo == range.hi ? fmt::format("{}={}", range.dim, range.lo)
                                         : fmt::format("{}={}-{}", range.dim, range.lo, range.hi));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

Expected<std::vector<DimRange>> parse_buckets(std::string_view text, const Graph& graph) {
  const size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  const std::optional<Expr> dim = graph.find_dim(name);
  if (equals == std::string_view::npos || !dim) {
    return error(fmt::format("buckets \"{}\": not DIM=N,LO-HI,… of a dim of the graph", text));
  }
  const auto [least, most] = dim->dim_bounds();
  std::vector<DimRange> ranges;
  std::istringstream parts{std::string(text.substr(equals + 1))};
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    DimRange range{name, 0, 0};
    const bool ok = parse_number(std::string_view(part).substr(0, dash), range.lo) &&
                    parse_number(dash == std::string::npos ? part : std::string_view(part).substr(dash + 1), range.hi);
    const int64_t after = ranges.empty() ? least : ranges.back().hi + 1;
    if (!ok || range.lo > range.hi || range.lo < after || range.hi > most) {
      return error(fmt::format("buckets \"{}\": \"{}\" is no range above those before it within {}..{}", text, part,
                               least, most));
    }
    ranges.push_back(range);
  }
  if (ranges.empty()) return error(fmt::format("buckets \"{}\": no ranges", text));
  return ranges;
}

std::vector<std::vector<DimRange>> combinations(const std::vector<std::vector<DimRange>>& buckets) {
  std::vector<std::vector<DimRange>> all = {{}};
  for (const std::vector<DimRange>& ranges : buckets) {
    std::vector<std::vector<DimRange>> longer;
    for (const std::vector<DimRange>& chosen : all) {
      for (const DimRange& range : ranges) {
        longer.push_back(chosen);
        longer.back().push_back(range);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Bounds are part of what a symbol is, so every expression is made anew: that is what reading the text does.
Expected<std::shared_ptr<Graph>> restricted(const Graph& graph, const std::vector<DimRange>& ranges) {
  std::istringstream lines(print(graph));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const size_t start = std::min(line.find_first_not_of(' '), line.size());
    bool is_gone = false;
    for (const DimRange& range : ranges) {
      const bool declares = line.compare(start, range.dim.size() + 5, "dim " + range.dim + " ") == 0;
      if (range.lo == range.hi) {
        is_gone = is_gone || declares;
        line = with_value(line, range.dim, range.lo);
      } else if (declares) {
        line = line.substr(0, start) + fmt::format("dim {} {}..{}", range.dim, range.lo, range.hi);
      }
    }
    if (!is_gone) text += line + "\n";
  }
  return parse(text, llir_ops(), "restricted graph");
}

Expected<std::unique_ptr<Executable>> make_executable(std::vector<Variant> variants, const Graph& graph,
                                                      const Loader& load) {
  CHECK(!variants.empty());
  if (variants.size() == 1 && variants[0].where.empty()) return load(std::move(variants[0].binary));
  std::vector<std::string> names;
  for (const Expr& dim : graph.dims()) names.emplace_back(dim.dim_name());
  std::vector<VariantExecutable::Choice> choices;
  for (Variant& variant : variants) {
    VariantExecutable::Choice choice{variant.where, {}, {}, nullptr};
    for (const Expr& dim : variant.binary.program.graph->dims()) {
      const auto found = std::ranges::find(names, dim.dim_name());
      if (found == names.end())
        return error(fmt::format("a variant over \"{}\", which is no dim of the graph", dim.dim_name()));
      choice.dims.push_back(static_cast<size_t>(found - names.begin()));
    }
    choice.executable = LUMEN_TRY(load(std::move(variant.binary)));
    for (const DimRange& range : variant.where) {
      const auto found = std::find(names.begin(), names.end(), range.dim);
      if (found == names.end())
        return error(fmt::format("a variant by \"{}\", which is no dim of the graph", range.dim));
      choice.tests.emplace_back(static_cast<size_t>(found - names.begin()), range);
    }
    choices.push_back(std::move(choice));
  }
  return std::unique_ptr<Executable>(new VariantExecutable(std::move(choices), std::move(names)));
}

}  // namespace lumen

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lumen/base/progress.h"
#include "lumen/base/statistics.h"
#include "lumen/compile.h"
#include "lumen/fusion_patterns.h"
#include "lumen/runtime/variants.h"
#include "lumen/search/measure.h"
#include "lumen/search/tuning_entry.h"
#include "tools/commit.h"
#include "tools/files.h"
#include "tools/fusion.h"
#include "tools/fusion_grid.h"

namespace lumen::tools {

namespace {

using search::FusionProfile;
using search::FusionShape;
using search::FusionTimes;

int64_t rows_of(const FusionShape& shape) { return shape[0] * shape[1]; }

// What is best for one row is not for thousands: programs for as many ranges as models have, and some more.
std::string row_buckets(int64_t most_rows) {
  constexpr int64_t kLast[] = {1, 32, 512};
  std::string text = "rows=";
  int64_t first = 1;
  for (const int64_t last : kLast) {
    if (last >= most_rows) break;
    text += fmt::format("{}-{},", first, last);
    first = last + 1;
  }
  return text + fmt::format("{}-{}", first, most_rows);
}

// A pattern over rows of one width, fused and not. The number of rows is symbolic, as in models.
class PatternPair {
 public:
  static Expected<PatternPair> make(const std::string& name, int64_t width, int64_t most_rows, DType dtype) try {
    PatternPair pair;
    pair.graph_ = std::make_shared<Graph>();
    build_fusion_pattern(name, *pair.graph_, {pair.graph_->dim("rows", 1, most_rows), width}, dtype);
    CompileOptions options = CompileOptions::from_flags();
    options.verify = false;  // results are not looked at
    options.buckets = {row_buckets(most_rows)};
    for (const FusionPolicy policy : {FusionPolicy::always, FusionPolicy::never}) {
      options.fusion = policy;
      Compiled compiled = compile_program(*pair.graph_, options);
      pair.device_ = compiled.device;
      const auto load = [&](Binary binary) { return compiled.device->load(std::move(binary)); };
      pair.programs_.push_back(LUMEN_TRY(make_executable(std::move(compiled.variants), *pair.graph_, load)));
    }
    return pair;
  } catch (const Error& problem) {
    return problem.diag();
  }

  const Device& device() const { return *device_; }

  // Inputs and outputs.
  int64_t bytes(int64_t rows) const {
    int64_t sum = 0;
    const auto add = [&](NodeId id) { sum += (*graph_)[id].type.bytes({{"rows", rows}}).value(); };
    for (const NodeId id : graph_->inputs()) add(id);
    for (const Output& output : graph_->outputs()) add(output.value);
    return sum;
  }

  Expected<FusionTimes> time(int64_t rows, int64_t trials) const {
    std::vector<Expected<search::Timing>> timings = search::measure(
        {{programs_[0].get(), programs_[1].get()}, graph_.get(), {{"rows", rows}}, /*to_the_end=*/true, trials});
    const search::Timing fused = LUMEN_TRY(timings[0]), unfused = LUMEN_TRY(timings[1]);
    return FusionTimes{1e3 * fused.seconds, 1e3 * unfused.seconds, 1e3 * fused.spread, 1e3 * unfused.spread};
  }

 private:
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<const Device> device_;
  std::vector<std::unique_ptr<Executable>> programs_;  // fused, unfused
};

Expected<std::vector<std::string>> parse_patterns(const std::string& text) {
  const std::span<const std::string_view> known = fusion_pattern_names();
  if (text.empty()) return std::vector<std::string>(known.begin(), known.end());
  std::vector<std::string> patterns;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const Expected<void> is_known = search::check_pattern(part, known);
    if (!is_known.ok()) return error("--patterns: " + is_known.diag().message);
    patterns.push_back(part);
  }
  return patterns;
}

// One line: where fusing pays, and by how much.
void print_pattern(const std::string& name, const std::map<FusionShape, FusionTimes>& points) {
  std::vector<double> gains;
  for (const auto& [shape, times] : points) gains.push_back(times.unfused / times.fused);
  if (gains.empty()) return;
  const auto [least, most] = std::ranges::minmax(gains);
  const auto wins = std::ranges::count_if(gains, [](double gain) { return gain > 1; });
  fmt::print("{:16} faster fused at {} of {} shapes: {:.2f} to {:.2f} times, {:.2f} in the middle\n", name, wins,
             gains.size(), least, most, median(gains));
}

// Measures and prints pattern after pattern.
class Profiler {
 public:
  Profiler(const FusionProfileArguments& arguments, FusionProfile& profile, std::vector<FusionShape> shapes,
           size_t patterns)
      : arguments_(arguments),
        profile_(profile),
        shapes_(std::move(shapes)),
        progress_("fusion profile", patterns * shapes_.size()) {}

  Expected<void> measure(const std::string& pattern) {
    std::map<int64_t, std::vector<FusionShape>> by_width;
    for (const FusionShape& shape : shapes_) by_width[shape[2]].push_back(shape);
    for (const auto& [width, shapes] : by_width) {
      const int64_t most_rows = rows_of(std::ranges::max(shapes, {}, rows_of));
      progress_.set_stage(fmt::format("{}, {} wide", pattern, width));
      const PatternPair pair = LUMEN_TRY(PatternPair::make(pattern, width, most_rows, profile_.dtype));
      profile_.hardware = pair.device().fingerprint();
      profile_.setting = pair.device().setting();
      for (const FusionShape& shape : shapes) {
        if (pair.bytes(rows_of(shape)) > arguments_.most_mb << 20) {
          ++left_out_;
        } else {
          profile_.patterns[pattern][shape] = LUMEN_TRY(pair.time(rows_of(shape), arguments_.trials));
        }
        progress_.advance();
      }
    }
    return {};
  }

  int64_t left_out() const { return left_out_; }
  void finish() { progress_.finish(); }

 private:
  const FusionProfileArguments& arguments_;
  FusionProfile& profile_;
  std::vector<FusionShape> shapes_;
  Progress progress_;
  int64_t left_out_ = 0;
};

}  // namespace

Expected<int> profile_fusion(const FusionProfileArguments& arguments) try {
  const std::vector<std::string> patterns = LUMEN_TRY(parse_patterns(arguments.patterns));
  std::vector<FusionShape> shapes = arguments.shapes.empty() ? fusion_grid(arguments.quick, arguments.most_tokens)
                                                             : LUMEN_TRY(parse_fusion_shapes(arguments.shapes));
  const std::optional<DType> dtype = parse_dtype(arguments.dtype);
  if (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::f16) {
    return error(fmt::format("--dtype {}: not one of f32, bf16, f16", arguments.dtype));
  }
  LUMEN_TRY(check_writable(arguments.output));
  FusionProfile profile;
  profile.commit = built_from();
  profile.date = search::date_text(search::now());
  profile.dtype = *dtype;
  Profiler profiler(arguments, profile, std::move(shapes), patterns.size());
  for (const std::string& pattern : patterns) LUMEN_TRY(profiler.measure(pattern));
  profiler.finish();
  if (profile.patterns.empty()) {
    return error(
        fmt::format("every shape has more than {} MiB of inputs and outputs, so nothing was measured; --max-mb "
                    "allows more",
                    arguments.most_mb));
  }
  for (const auto& [name, points] : profile.patterns) print_pattern(name, points);
  if (profiler.left_out() > 0) {
    fmt::print("left out: {} shapes with more than {} MiB of inputs and outputs (--max-mb)\n", profiler.left_out(),
               arguments.most_mb);
  }
  LUMEN_TRY(write_text(arguments.output, print_fusion_profile(profile)));
  fmt::print("wrote {}\n", arguments.output);
  return 0;
} catch (const Error& problem) {
  return Diag(problem.diag());
}

}  // namespace lumen::tools

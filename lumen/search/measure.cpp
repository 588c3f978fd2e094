#include "lumen/search/measure.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "lumen/backend/buffer.h"
#include "lumen/base/clock.h"
#include "lumen/base/statistics.h"
#include "lumen/codegen/element_ops.h"
#include "lumen/hlir/binary.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/random_tensor.h"

namespace lumen::search {

namespace {

constexpr double kTrialSeconds = 1e-3;  // of runs make one trial
constexpr double kFarBehind = 1.25;     // slower than the best of each round by this, after two: out
constexpr double kHopeless = 4;         // the same after a single run that takes longer than this:
constexpr double kLongRun = 0.1;        // seconds
constexpr double kEnough = 0.15;        // seconds of trials, after which
constexpr int64_t kFewTrials = 5;       // are enough: each is long, and what disturbs it for a moment matters less
constexpr double kUndecided = 1;        // seconds of trials, after which what is undecided stays so

class Racer {
 public:
  Racer(Executable& kernel, std::span<const void* const> inputs, std::span<void* const> outputs)
      : kernel_(kernel), inputs_(inputs), outputs_(outputs) {}

  // Finds out how many runs make a trial; the first run is not counted.
  Expected<void> warm_up(std::span<const int64_t> dims) {
    LUMEN_TRY(kernel_.prepare(dims));
    LUMEN_TRY(kernel_.try_out(inputs_, outputs_));
    LUMEN_TRY(kernel_.run(inputs_, outputs_));
    once_ = std::max(LUMEN_TRY(kernel_.time(inputs_, outputs_, 1)), 1e-8);
    runs_ = std::clamp<int64_t>(static_cast<int64_t>(kTrialSeconds / once_), 1, 10'000);
    return {};
  }
  Expected<void> trial() {
    times_.push_back(LUMEN_TRY(kernel_.time(inputs_, outputs_, runs_)));
    return {};
  }
  double once() const { return once_; }
  const std::vector<double>& times() const { return times_; }
  // That one run is all that is known of it.
  void give_up() { times_ = {once_}; }
  // How many times slower than the best of a round, in the round where that is least.
  double behind(std::span<const double> best) const {
    double least = INFINITY;
    for (size_t round = 0; round < times_.size(); ++round) least = std::min(least, times_[round] / best[round]);
    return least;
  }
  Timing timing() const {
    const Summary found = summarise(times_);
    return {found.median, found.mad, times_};
  }

 private:
  Executable& kernel_;
  std::span<const void* const> inputs_;
  std::span<void* const> outputs_;
  int64_t runs_ = 1;
  double once_ = INFINITY;
  std::vector<double> times_;
};

// Which need no trial.
std::vector<bool> leave_out_hopeless(std::vector<Racer>& racers) {
  std::vector<bool> out;
  const double best = std::ranges::min_element(racers, {}, &Racer::once)->once();
  for (Racer& racer : racers) {
    out.push_back(std::isfinite(racer.once()) && racer.once() > std::max(kLongRun, best * kHopeless));
    if (out.back()) racer.give_up();
  }
  return out;
}

// What an element is made of, as far as it is made of single elements.
std::set<NodeId> elements_behind(const Graph& body, NodeId id) {
  std::set<NodeId> seen{id};
  std::vector<NodeId> open{id};
  while (!open.empty()) {
    const Node& node = body[open.back()];
    open.pop_back();
    if (!is_element_op(node) && !node.is<hlir::View>()) continue;
    for (const NodeId operand : node.operands) {
      if (seen.insert(operand).second) open.push_back(operand);
    }
  }
  return seen;
}

// The axis whose places an Iota counts, if that is what it does.
std::optional<Expr> axis_of(const Node& node) {
  if (!node.is<hlir::Iota>() || !is_int(node.type.dtype)) return std::nullopt;
  const hlir::Iota& iota = node.as<hlir::Iota>();
  for (int64_t k = 0; k < iota.shape.rank(); ++k) {
    if (iota.value == Expr::index(static_cast<int>(k), iota.shape[k])) return iota.shape[k];
  }
  return std::nullopt;
}

// The axis whose places an input of integers is compared with, as positions are with those of a cache.
std::optional<Expr> axis_compared_with(const Graph& body, NodeId input) {
  for (const NodeId id : body.order()) {
    if (!body[id].is<hlir::LessThan>() || !is_int(body[body[id].operands[0]].type.dtype)) continue;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      if (!elements_behind(body, body[id].operands[side]).contains(input)) continue;
      for (const NodeId other : elements_behind(body, body[id].operands[1 - side])) {
        if (const std::optional<Expr> axis = axis_of(body[other])) return axis;
      }
    }
  }
  return std::nullopt;
}

// Whether the root of an input is taken, as a norm does of sums of squares: of numbers below 0 it is NaN, of which a
// kernel may make more than of numbers.
bool is_under_root(const Graph& body, NodeId input) {
  return std::ranges::any_of(body.order(), [&](NodeId id) {
    return body[id].is<hlir::Sqrt>() && elements_behind(body, body[id].operands[0]).contains(input);
  });
}

// The places that an input of integers may choose, as an index; nothing when it is none.
Expected<std::optional<ValueRange>> places_chosen_by(const Graph& body, NodeId input, const DimValues& dims) {
  std::optional<int64_t> fewest;
  for (const NodeId id : body.order()) {
    const Node& node = body[id];
    if (!node.is<hlir::Gather>()) continue;
    NodeId index = node.operands[1];
    while (body[index].is<hlir::View>()) index = body[index].operands[0];
    if (index != input) continue;
    const int64_t parts = LUMEN_TRY(evaluate(body[node.operands[0]].type.shape[node.as<hlir::Gather>().axis], dims));
    fewest = std::min(parts, fewest.value_or(parts));
  }
  if (fewest.value_or(0) < 1) return std::optional<ValueRange>();
  return std::optional(ValueRange{0, static_cast<double>(*fewest - 1)});
}

template <class T>
void fill_last_places(const Buffer& buffer, int64_t along, int64_t count) {
  T* const values = reinterpret_cast<T*>(buffer.data());
  const int64_t size = buffer.bytes() / static_cast<int64_t>(sizeof(T));
  for (int64_t k = 0; k < size; ++k) values[k] = static_cast<T>(std::max<int64_t>(0, along - count) + k % count);
}

// Random inputs and room for the outputs of a body.
struct Buffers {
  std::vector<Buffer> owned;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;

  Expected<void> make(const Graph& body, const DimValues& dims, const std::shared_ptr<Memory>& memory) {
    const auto add = [&](const TensorType& type) -> Expected<std::byte*> {
      owned.push_back(LUMEN_TRY(Buffer::make(memory, LUMEN_TRY(type.bytes(dims)))));
      return owned.back().data();
    };
    for (const NodeId id : body.inputs()) {
      inputs.push_back(LUMEN_TRY(add(body[id].type)));
      const DType dtype = body[id].type.dtype;
      const int64_t bytes = owned.back().bytes();
      if (LUMEN_TRY(make_places(body, id, dims, memory))) continue;
      const Buffer part(std::min(bytes, storage_bytes(dtype, kRandomPeriod)));
      std::optional<ValueRange> range = LUMEN_TRY(places_chosen_by(body, id, dims));
      if (is_float(dtype) && is_under_root(body, id)) range = ValueRange{0.5, 2};
      fill_random(dtype, {part.data(), static_cast<size_t>(part.bytes())}, static_cast<int64_t>(inputs.size()), 1,
                  range);
      LUMEN_TRY(memory->write(owned.back().data(), part.data(), part.bytes()));
      LUMEN_TRY(memory->repeat(owned.back().data(), part.bytes(), bytes));
    }
    for (const Output& output : body.outputs()) outputs.push_back(LUMEN_TRY(add(body[output.value].type)));
    return {};
  }

  // Whether the input, which is the last that is owned, is compared with the places along an axis: it gets the last
  // ones. Kernels that leave out what is not seen are so timed at the most that they may have to do.
  Expected<bool> make_places(const Graph& body, NodeId id, const DimValues& dims,
                             const std::shared_ptr<Memory>& memory) {
    const TensorType& type = body[id].type;
    if ((type.dtype != i32 && type.dtype != i64) || type.shape.rank() == 0) return false;
    const std::optional<Expr> axis = axis_compared_with(body, id);
    if (!axis) return false;
    const int64_t along = LUMEN_TRY(evaluate(*axis, dims)), last = type.shape.rank() - 1;
    const int64_t count = std::max<int64_t>(1, LUMEN_TRY(evaluate(type.shape[last], dims)));
    const Buffer values(owned.back().bytes());
    if (type.dtype == i32) {
      fill_last_places<int32_t>(values, along, count);
    } else {
      fill_last_places<int64_t>(values, along, count);
    }
    LUMEN_TRY(memory->write(owned.back().data(), values.data(), values.bytes()));
    return true;
  }
};

}  // namespace

std::vector<Expected<Timing>> measure(const Contest& contest) {
  std::vector<Expected<Timing>> timings;
  Buffers buffers;
  std::vector<int64_t> dims;
  for (const Expr& dim : contest.body->dims()) dims.push_back(evaluate(dim, contest.dims).value());
  if (contest.kernels.empty()) return timings;
  const Expected<void> made = buffers.make(*contest.body, contest.dims, contest.kernels[0]->memory());
  std::vector<Racer> racers;
  std::vector<Expected<void>> states;
  for (Executable* kernel : contest.kernels) {
    racers.emplace_back(*kernel, buffers.inputs, buffers.outputs);
    states.push_back(made.ok() ? racers.back().warm_up(dims) : Expected<void>(made.diag()));
  }
  std::vector<bool> out = contest.to_the_end ? std::vector<bool>(racers.size()) : leave_out_hopeless(racers);
  const double start = seconds_now();
  // A GPU's clock is its own, and its trials are short.
  const bool hurry = !contest.to_the_end && contest.kernels[0]->memory()->is_host();
  const auto needs_more = [&] {
    if (!contest.is_decided || !std::ranges::all_of(states, &Expected<void>::ok)) return false;
    std::vector<std::vector<double>> times;
    for (const Racer& racer : racers) times.push_back(racer.times());
    return seconds_now() - start < kUndecided && !contest.is_decided(times);
  };
  int64_t trials = contest.trials;
  std::vector<double> best;  // by round
  for (int64_t trial = 0; trial < trials || (needs_more() && (trials *= 2)); ++trial) {
    if (hurry && trial >= kFewTrials && seconds_now() - start > kEnough) break;
    best.push_back(INFINITY);
    for (size_t k = 0; k < racers.size(); ++k) {
      if (!states[k].ok() || out[k]) continue;
      states[k] = racers[k].trial();
      if (states[k].ok()) best.back() = std::min(best.back(), racers[k].times().back());
    }
    for (size_t k = 0; k < racers.size() && trial > 0 && !contest.to_the_end; ++k) {
      out[k] = out[k] || (states[k].ok() && racers[k].behind(best) > kFarBehind);
    }
  }
  std::vector<size_t> stayed;
  std::vector<std::vector<double>> times;
  for (size_t k = 0; k < racers.size(); ++k) {
    timings.push_back(states[k].ok() ? Expected<Timing>(racers[k].timing()) : Expected<Timing>(states[k].diag()));
    if (!states[k].ok() || racers[k].times().size() < best.size()) continue;
    stayed.push_back(k);
    times.push_back(racers[k].times());
  }
  const std::vector<double> medians = medians_of_rounds(times);
  for (size_t k = 0; k < stayed.size(); ++k) timings[stayed[k]]->seconds = medians[k];
  return timings;
}

std::vector<double> medians_of_rounds(const std::vector<std::vector<double>>& times) {
  std::vector<double> usual, result;
  for (const std::vector<double>& own : times) usual.push_back(median(own));
  std::vector<double> slowness;  // by round
  for (size_t round = 0; !times.empty() && round < times[0].size(); ++round) {
    std::vector<double> longer;
    for (size_t k = 0; k < times.size(); ++k) longer.push_back(times[k][round] / usual[k]);
    slowness.push_back(median(std::move(longer)));
  }
  for (std::vector<double> own : times) {
    for (size_t round = 0; round < own.size(); ++round) own[round] /= slowness[round];
    result.push_back(median(std::move(own)));
  }
  return result;
}

}  // namespace lumen::search

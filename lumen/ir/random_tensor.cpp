#include "lumen/ir/random_tensor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lumen/base/hash.h"

namespace lumen {

namespace {

// std's distributions differ between libraries; these do not.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() { return hash_mix(state_ += 0x9e3779b97f4a7c15); }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  // A sum of twelve has variance 1 and needs no library function whose last bit might differ.
  double normal() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += unit();
    return sum;
  }
  int64_t between(int64_t lo, int64_t hi) {
    const uint64_t count = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
    return static_cast<int64_t>(static_cast<uint64_t>(lo) + (count == 0 ? bits() : bits() % count));
  }

 private:
  uint64_t state_;
};

double random_float(Random& random, DType dtype, std::optional<ValueRange> range) {
  if (range) return round_to(dtype, range->lo + random.unit() * (range->hi - range->lo));
  double value = 0;
  while (value == 0 || std::isnan(value)) {
    const double wide = random.normal();
    value = round_to(dtype, dtype == DType::f8ue8m0 ? std::abs(wide) : wide);
  }
  return value;
}

}  // namespace

HostTensor random_tensor(DType dtype, std::vector<int64_t> dims, std::string_view name, int64_t seed,
                         std::optional<ValueRange> range) {
  HostTensor tensor = HostTensor::poisoned(dtype, std::move(dims));
  Random random(Hasher(static_cast<uint64_t>(seed)).add(name).value());
  const auto lo = static_cast<int64_t>(range ? range->lo : 0);
  const auto hi = static_cast<int64_t>(range ? range->hi : 1);
  for (Lane& lane : tensor.lanes) {
    if (is_float(dtype)) {
      lane.f = random_float(random, dtype, range);
    } else {
      lane.i = wrap_to(dtype, random.between(lo, hi));
    }
  }
  return tensor;
}

namespace {

// Whoever measures kernels fills many tensors with the same period.
class Periods {
 public:
  using Key = std::tuple<DType, int64_t, double, std::optional<std::pair<double, double>>>;
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  Bytes find(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : found->second;
  }
  void keep(const Key& key, Bytes bytes) {
    const std::scoped_lock lock(mutex_);
    if (known_.size() == kMost) known_.clear();
    known_.emplace(key, std::move(bytes));
  }

 private:
  static constexpr size_t kMost = 32;  // of up to half a MiB

  std::mutex mutex_;
  std::map<Key, Bytes> known_;
};

Periods::Bytes period_of(DType dtype, int64_t seed, double scale, std::optional<ValueRange> range) {
  static Periods periods;
  const Periods::Key key{dtype, seed, scale, range ? std::optional(std::pair(range->lo, range->hi)) : std::nullopt};
  if (Periods::Bytes known = periods.find(key)) return known;
  HostTensor tensor = random_tensor(dtype, {kRandomPeriod}, "", seed, range);
  if (is_float(dtype) && scale != 1) {
    for (Lane& lane : tensor.lanes) lane.f = round_to(dtype, lane.f * scale);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(storage_bytes(dtype, kRandomPeriod)));
  pack(dtype, tensor.lanes, bytes);
  auto period = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  periods.keep(key, period);
  return period;
}

}  // namespace

void fill_random(DType dtype, std::span<std::byte> bytes, int64_t seed, double scale, std::optional<ValueRange> range) {
  const Periods::Bytes period = period_of(dtype, seed, scale, range);
  for (size_t k = 0; k < bytes.size(); k += period->size()) {
    std::copy_n(period->begin(), std::min(period->size(), bytes.size() - k), bytes.begin() + static_cast<ptrdiff_t>(k));
  }
}

}  // namespace lumen

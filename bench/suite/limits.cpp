#include "bench/suite/limits.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/suite/limit_kernels.h"
#include "lumen/backend/buffer.h"

namespace lumen::bench {

namespace {

constexpr double kRoundSeconds = 2e-3;
constexpr int kRounds = 15, kFewestRounds = 4;
constexpr double kEnoughSeconds = 0.06;  // after which there are no more rounds than the fewest
constexpr int64_t kCopyBytes[] = {64 << 10, 512 << 10, 4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20};  // in all

template <class Work>
double timed(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds of one of so many runs, which one goes before.
template <class Work>
double mean_of(int64_t runs, Work work) {
  work();
  return timed([&] {
           for (int64_t k = 0; k < runs; ++k) work();
         }) /
         static_cast<double>(runs);
}

// How often one thread does `work(piece, times)` in a round. The least of a few trials counts: one that was
// interrupted looks long enough and is not.
template <class Work>
int64_t times_in_a_round(Work work) {
  int64_t times = 1;
  const auto once = [&] { return timed([&] { work(0, times); }); };
  while (times < (int64_t{1} << 40) && std::min({once(), once(), once()}) < kRoundSeconds / 2) times *= 2;
  return times;
}

template <class Round>
void do_rounds(Round round) {
  double spent = 0;
  for (int k = 0; k < kRounds && (k < kFewestRounds || spent < kEnoughSeconds); ++k) spent += timed(round);
}

// Per second, by all threads: of the round that was done soonest, for what they share.
template <class Work>
double shared_rate(ThreadPool& pool, Work work) {
  const int64_t times = times_in_a_round(work);
  double best = INFINITY;
  do_rounds([&] {
    const auto all = [&] { pool.run(pool.threads(), [&](int64_t piece, int) { work(piece, times); }); };
    best = std::min(best, timed(all));
  });
  return static_cast<double>(times * pool.threads()) / best;
}

// The same for what each thread has to itself: the sum of their best, which a busy machine does not hide.
template <class Work>
double private_rate(ThreadPool& pool, Work work) {
  const int64_t times = times_in_a_round(work);
  std::vector<double> best(static_cast<size_t>(pool.threads()), INFINITY);
  do_rounds([&] {
    pool.run(pool.threads(), [&](int64_t piece, int) {
      double& mine = best[static_cast<size_t>(piece)];
      mine = std::min(mine, timed([&] { work(piece, times); }));
    });
  });
  double rate = 0;
  for (const double seconds : best) rate += static_cast<double>(times) / seconds;
  return rate;
}

double copy_rate_of(CopyFunction* copy, ThreadPool& pool, int64_t bytes) {
  const int64_t share = bytes / 2 / pool.threads() / 256 * 256;
  const Buffer from(share * pool.threads()), to(share * pool.threads());
  double best = 0;
  for (int way = 0; way < kCopyWays; ++way) {
    const double rate = shared_rate(pool, [&](int64_t piece, int64_t times) {
      copy(reinterpret_cast<char*>(to.data() + piece * share), reinterpret_cast<char*>(from.data() + piece * share),
           share, times, way);
    });
    best = std::max(best, 2 * static_cast<double>(share) * rate);
  }
  return best;
}

double multiply_rate_of(MultiplyFunction* multiply, ThreadPool& pool) {
  constexpr int64_t kUnit = 1000;  // so that a call is nothing beside it
  float probe[3] = {0.5F, 0.5F, 0};
  const int lanes = multiply(1, probe);
  const double rate = private_rate(pool, [&](int64_t, int64_t times) {
    float kept[3] = {1e-9F, 0.5F, 0};  // so that sums stay what they are
    multiply(times * kUnit, kept);
  });
  return 2.0 * kChains * lanes * kUnit * rate;
}

// Tiles are 16 rows of 64 bytes: 16 x 16 results, each of 64 / `bytes` products.
double tile_rate_of(TilesFunction* tiles, ThreadPool& pool, int bytes) {
  constexpr int64_t kUnit = 100;
  const double rate = private_rate(pool, [&](int64_t, int64_t times) { tiles(times * kUnit, bytes == 1 ? 1 : 0); });
  return 2.0 * kTileProducts * 16 * 16 * (64.0 / bytes) * kUnit * rate;
}

}  // namespace

double Limits::copy_rate(double bytes) const {
  double nearest = 0, distance = INFINITY;
  for (const CopyRate& copy : copies) {
    const double off = std::abs(std::log(std::max(bytes, 1.0) / copy.bytes));
    if (off < distance) nearest = copy.rate, distance = off;
  }
  return nearest;
}

double Limits::matrix_rate(DType dtype) const {
  if (dtype == DType::bf16 && bf16_flops > 0) return bf16_flops;
  if (dtype == DType::f16 && f16_flops > 0) return f16_flops;
  if (dtype == DType::i8 && i8_flops > 0) return i8_flops;
  return f32_flops;
}

namespace {

struct VectorKernels {
  std::shared_ptr<cpu::Library> library;
  CopyFunction* copy;
  MultiplyFunction* multiply;
};

Expected<VectorKernels> vector_kernels(const cpu::Compiler& compiler) {
  const cpu::Source source[] = {{"copy", kVectorKernels, {"multiply"}}};
  cpu::CompileOptions options;
  options.flags = {"-ffp-contract=fast"};
  VectorKernels made;
  made.library = LUMEN_TRY(compiler.compile(source, options));
  made.copy = reinterpret_cast<CopyFunction*>(LUMEN_TRY(made.library->symbol("copy")));
  made.multiply = reinterpret_cast<MultiplyFunction*>(LUMEN_TRY(made.library->symbol("multiply")));
  return made;
}

struct MatrixKernels {
  std::shared_ptr<cpu::Library> library;
  TilesFunction* tiles = nullptr;
};

// None where the machine has no tiles.
Expected<MatrixKernels> matrix_kernels(const cpu::Compiler& compiler) {
  MatrixKernels made;
  if (!compiler.target().amx_tile) return made;
  const cpu::Source source[] = {{"tiles", kTileKernel}};
  made.library = LUMEN_TRY(compiler.compile(source));
  made.tiles = reinterpret_cast<TilesFunction*>(LUMEN_TRY(made.library->symbol("tiles")));
  return made;
}

}  // namespace

Expected<Limits> measure_limits(const cpu::Compiler& compiler, ThreadPool& pool) {
  const VectorKernels vector = LUMEN_TRY(vector_kernels(compiler));
  const MatrixKernels matrix = LUMEN_TRY(matrix_kernels(compiler));
  Limits limits;
  limits.threads = pool.threads();
  for (const int64_t bytes : kCopyBytes) {
    limits.copies.push_back({static_cast<double>(bytes), copy_rate_of(vector.copy, pool, bytes)});
  }
  limits.f32_flops = multiply_rate_of(vector.multiply, pool);
  const cpu::CpuFeatures& features = compiler.target();
  if (matrix.tiles != nullptr && features.amx_bf16) limits.bf16_flops = tile_rate_of(matrix.tiles, pool, 2);
  if (matrix.tiles != nullptr && features.amx_int8) limits.i8_flops = tile_rate_of(matrix.tiles, pool, 1);
  return limits;
}

Expected<LimitTrials> LimitTrials::make(const cpu::Compiler& compiler, ThreadPool& pool) {
  const VectorKernels vector = LUMEN_TRY(vector_kernels(compiler));
  const MatrixKernels matrix = LUMEN_TRY(matrix_kernels(compiler));
  return LimitTrials(vector.library, matrix.library, vector.copy, matrix.tiles, pool);
}

double LimitTrials::copies(int way, int64_t share, int64_t runs) const {
  const auto once = [&] {
    pool_->run(pool_->threads(), [&](int64_t piece, int) {
      copy_(reinterpret_cast<char*>(to_.data() + piece * share),
            reinterpret_cast<const char*>(from_.data() + piece * share), share, 1, way);
    });
  };
  return mean_of(runs, once);
}

double LimitTrials::copy(int64_t bytes, int64_t runs) {
  const int64_t share = std::max<int64_t>(bytes / 2 / pool_->threads() / 256, 1) * 256;
  if (from_.bytes() != share * pool_->threads()) {
    from_ = Buffer(share * pool_->threads());
    to_ = Buffer(share * pool_->threads());
    double best = INFINITY;
    for (int way = 0; way < kCopyWays; ++way) {
      const double seconds = std::min(copies(way, share, 2), copies(way, share, 2));
      if (seconds < best) best = seconds, way_ = way;
    }
  }
  return copies(way_, share, runs);
}

double LimitTrials::tiles(DType dtype, double flops, int64_t runs) const {
  if (tiles_ == nullptr) return 0;
  const double of_four = 2.0 * kTileProducts * 16 * 16 * (dtype == DType::i8 ? 64 : 32);
  const auto times = static_cast<int64_t>(flops / of_four / pool_->threads()) + 1;
  const auto once = [&] {
    pool_->run(pool_->threads(), [&](int64_t, int) { tiles_(times, dtype == DType::i8 ? 1 : 0); });
  };
  return mean_of(runs, once);
}

}  // namespace lumen::bench

#include "bench/suite/limits.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/suite/limit_kernels.h"
#include "lumen/backend/buffer.h"

namespace lumen::bench {

namespace {

constexpr double kRoundSeconds = 4e-3;
constexpr int kRounds = 7;
constexpr int64_t kCopyBytes[] = {64 << 10, 512 << 10, 4 << 20, 32 << 20, 256 << 20};  // read and written, in all

// The shortest time of one `work(times)`, per time.
template <class Work>
double fastest(Work work) {
  const auto timed = [&](int64_t times) {
    const auto start = std::chrono::steady_clock::now();
    work(times);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  timed(1);
  int64_t times = 1;
  while (times < (int64_t{1} << 40) && timed(times) < kRoundSeconds / 4) times *= 4;
  double best = timed(times);
  for (int round = 1; round < kRounds; ++round) best = std::min(best, timed(times));
  return best / static_cast<double>(times);
}

double copy_rate_of(CopyFunction* copy, cpu::ThreadPool& pool, int64_t bytes) {
  const int64_t share = bytes / 2 / pool.threads() / 256 * 256;
  const Buffer from(share * pool.threads()), to(share * pool.threads());
  double best = 0;
  for (int way = 0; way < kCopyWays; ++way) {
    const double seconds = fastest([&](int64_t times) {
      pool.run(pool.threads(), [&](int64_t piece, int) {
        copy(reinterpret_cast<char*>(to.data() + piece * share), reinterpret_cast<char*>(from.data() + piece * share),
             share, times, way);
      });
    });
    best = std::max(best, 2 * static_cast<double>(share * pool.threads()) / seconds);
  }
  return best;
}

double multiply_rate_of(MultiplyFunction* multiply, cpu::ThreadPool& pool) {
  float probe[3] = {0.5F, 0.5F, 0};
  const int lanes = multiply(1, probe);
  const double seconds = fastest([&](int64_t times) {
    pool.run(pool.threads(), [&](int64_t, int) {
      float kept[3] = {0.5F, 0.5F, 0};
      multiply(times * 1000, kept);
    });
  });
  return 2.0 * kChains * lanes * 1000 * pool.threads() / seconds;
}

// Tiles are 16 rows of 64 bytes: 16 x 16 results, each of 64 / `bytes` products.
double tile_rate_of(TilesFunction* tiles, cpu::ThreadPool& pool, int bytes) {
  const double seconds = fastest(
      [&](int64_t times) { pool.run(pool.threads(), [&](int64_t, int) { tiles(times * 100, bytes == 1 ? 1 : 0); }); });
  return 2.0 * kTileProducts * 16 * 16 * 64 / bytes * 100 * pool.threads() / seconds;
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
  if (dtype == DType::i8 && i8_flops > 0) return i8_flops;
  return f32_flops;
}

Expected<Limits> measure_limits(const cpu::Compiler& compiler, cpu::ThreadPool& pool) {
  const cpu::Source vector[] = {{"copy", kVectorKernels}};
  cpu::CompileOptions options;
  options.flags = {"-ffp-contract=fast"};
  const auto library = LUMEN_TRY(compiler.compile(vector, options));
  auto* copy = reinterpret_cast<CopyFunction*>(LUMEN_TRY(library->symbol("copy")));
  auto* multiply = reinterpret_cast<MultiplyFunction*>(LUMEN_TRY(library->symbol("multiply")));
  Limits limits;
  limits.threads = pool.threads();
  for (const int64_t bytes : kCopyBytes) {
    limits.copies.push_back({static_cast<double>(bytes), copy_rate_of(copy, pool, bytes)});
  }
  limits.f32_flops = multiply_rate_of(multiply, pool);
  const cpu::CpuFeatures& features = compiler.target();
  if (!features.amx_tile) return limits;
  const cpu::Source tile[] = {{"tiles", kTileKernel}};
  const auto tile_library = LUMEN_TRY(compiler.compile(tile));
  auto* tiles = reinterpret_cast<TilesFunction*>(LUMEN_TRY(tile_library->symbol("tiles")));
  if (features.amx_bf16) limits.bf16_flops = tile_rate_of(tiles, pool, 2);
  if (features.amx_int8) limits.i8_flops = tile_rate_of(tiles, pool, 1);
  return limits;
}

}  // namespace lumen::bench

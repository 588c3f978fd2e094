#include <algorithm>
#include <array>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/codegen/cuda_attention.h"
#include "lumen/codegen/cuda_attention_tiles.h"
#include "lumen/codegen/schedule_text.h"
#include "lumen/ir/expr_bounds.h"

namespace lumen {

namespace {

constexpr MethodWords<CudaAttentionMethod, 3> kCudaAttentionMethods = {
    std::pair{CudaAttentionMethod::decode, std::string_view("gpu-decode")},
    std::pair{CudaAttentionMethod::flash, std::string_view("gpu-flash")},
    std::pair{CudaAttentionMethod::groups, std::string_view("gpu-flash-wgmma")}};

constexpr SizeNames<CudaAttentionSchedule, 5> kCudaAttentionSizes = {
    std::pair{std::string_view("rows"), &CudaAttentionSchedule::rows},
    std::pair{std::string_view("keys"), &CudaAttentionSchedule::keys},
    std::pair{std::string_view("parts"), &CudaAttentionSchedule::parts},
    std::pair{std::string_view("threads"), &CudaAttentionSchedule::threads},
    std::pair{std::string_view("stages"), &CudaAttentionSchedule::stages}};

constexpr int64_t kRowsOfDecoding = 16;
constexpr int64_t kMostParts = 64;
constexpr int64_t kFewestGroupRows = 64;  // fewer leave half of a block idle

// Few rows leave most of the machine idle unless the keys are cut into parts: as many as fill it twice, where each has
// keys for a turn of its block. Which turns are best depends on how many keys there are in the end: with short ones
// more blocks have some of a few keys, with long ones less is waited for. Of very few keys one block is soon done, and
// nothing is combined then.
void add_decode(const AttentionForm& given, const Target& target, std::vector<CudaAttentionSchedule>& schedules) {
  const AttentionForm form = with_shared_rows(given);
  const std::optional<int64_t> rows = form.rows().constant();
  const bool few = rows && *rows <= kRowsOfDecoding;
  CudaAttentionSchedule s;
  s.rows = few ? *rows : 8;
  s.threads = 256;
  const int64_t batch = std::max<int64_t>(1, form.batch().is_constant() ? *form.batch().constant() : 8);
  const int64_t most = std::min(2 * target.multiprocessors / batch, kMostParts), keys = bounds(form.keys()).hi;
  const auto add = [&](int64_t turn, int64_t parts) {
    s.keys = turn;
    s.parts = few && parts > 1 ? parts : 0;
    schedules.push_back(s);
  };
  for (const int64_t turn : {64, 128, 32}) add(turn, std::min(most, keys / turn));
  if (keys / 256 > most || !few) add(256, std::min(most, keys / 256));
  const int64_t fewer = std::min(most, keys / 64) / 4;
  if (few && fewer > 2) add(64, fewer);
  s.threads = 512;
  if (few) add(128, 0);
}

}  // namespace

std::string CudaAttentionSchedule::str() const {
  return schedule_text(*this, kCudaAttentionMethods, kCudaAttentionSizes);
}

Expected<CudaAttentionSchedule> CudaAttentionSchedule::parse(std::string_view text) {
  return parse_schedule<CudaAttentionSchedule>(text, kCudaAttentionMethods, kCudaAttentionSizes, "attention on a GPU");
}

bool is_cuda_attention_schedule(std::string_view text) {
  return std::ranges::any_of(kCudaAttentionMethods,
                             [&](const auto& each) { return each.second == text.substr(0, text.find(' ')); });
}

Expected<std::vector<CudaAttentionSchedule>> cuda_attention_schedules(const Graph& body, const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body, true));
  std::vector<CudaAttentionSchedule> all;
  const bool few = bounds(form.rows() * form.sharers).hi <= kRowsOfDecoding;
  if (few) add_decode(form, target, all);
  if (flash_dtype(form)) {
    if (bounds(form.rows()).hi >= kFewestGroupRows) {
      for (const auto& [rows, keys, stages] : {std::array{128, 128, 3}, {192, 64, 3}, {128, 128, 2}, {128, 64, 2}}) {
        all.push_back({CudaAttentionMethod::groups, rows, keys, 0, 2 * rows + 128, stages});
      }
    }
    // 16 rows to a warp; then 32, which read keys and values from shared memory half as often.
    for (const auto& [rows, keys, threads] :
         {std::array{128, 64, 256}, {64, 64, 128}, {128, 128, 256}, {128, 64, 128}, {64, 32, 128}}) {
      all.push_back({CudaAttentionMethod::flash, rows, keys, 0, threads});
    }
  }
  if (!few) add_decode(form, target, all);
  std::vector<CudaAttentionSchedule> fitting;
  std::string problem = "no schedule of attention";
  for (const CudaAttentionSchedule& s : all) {
    const Expected<KernelText> kernel = print_cuda_attention(body, "k", s, target);
    if (!kernel.ok()) problem = kernel.diag().message;
    if (kernel.ok() && fitting.size() < 6) fitting.push_back(s);
  }
  if (fitting.empty()) return error(problem);
  return fitting;
}

}  // namespace lumen

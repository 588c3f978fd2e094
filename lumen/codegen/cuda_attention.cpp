#include "lumen/codegen/cuda_attention.h"

#include <fmt/format.h>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/codegen/cuda_attention_decode.h"
#include "lumen/codegen/cuda_attention_flash.h"
#include "lumen/codegen/cuda_attention_groups.h"

namespace lumen {

namespace {

Expected<KernelText> print_method(const Graph& body, const AttentionForm& form, const std::string& name,
                                  const CudaAttentionSchedule& schedule, const Target& target) {
  switch (schedule.method) {
    case CudaAttentionMethod::flash:
      return print_cuda_flash(body, form, name, schedule);
    case CudaAttentionMethod::groups:
      return print_cuda_groups(body, form, name, schedule, target);
    case CudaAttentionMethod::decode:
      break;
  }
  const AttentionForm merged = with_shared_rows(form);
  return print_cuda_decode(body, merged, name, schedule);
}

}  // namespace

Expected<KernelText> print_cuda_attention(const Graph& body, const std::string& name,
                                          const CudaAttentionSchedule& schedule, const Target& target) {
  const AttentionForm form = LUMEN_TRY(attention_form(body, true));
  if (!form.first.extent(Role::summed).is_constant() || !form.second.extent(Role::column).is_constant()) {
    return error("attention needs constant sizes of its heads");
  }
  if (grain_of(body) > 1) return error("the outputs of attention on a GPU are of whole bytes");
  const bool sized = schedule.rows > 0 && schedule.keys > 0 && schedule.threads > 0 && schedule.threads % 32 == 0 &&
                     schedule.threads <= 1024 && schedule.keys % 16 == 0;
  if (!sized) return error(fmt::format("the schedule \"{}\" has no such block", schedule.str()));
  if (form.sums_queries && schedule.method != CudaAttentionMethod::decode) {
    return error("queries with norms of their own are for few rows");
  }
  const KernelText kernel = LUMEN_TRY(print_method(body, form, name, schedule, target));
  if (kernel.steps[0].shared > target.shared_bytes) {
    return error(fmt::format("a block has {} bytes of shared memory, but the schedule \"{}\" needs {}",
                             target.shared_bytes, schedule.str(), kernel.steps[0].shared));
  }
  return kernel;
}

}  // namespace lumen

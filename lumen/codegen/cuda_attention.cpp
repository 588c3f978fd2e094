#include "lumen/codegen/cuda_attention.h"

#include <fmt/format.h>

#include "lumen/codegen/attention_form.h"
#include "lumen/codegen/attention_sharers.h"
#include "lumen/codegen/cuda_attention_decode.h"
#include "lumen/codegen/cuda_attention_flash.h"

namespace lumen {

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
  const bool flash = schedule.method == CudaAttentionMethod::flash;
  if (flash && form.sums_queries) return error("queries with norms of their own are for few rows");
  const AttentionForm merged = flash ? form : with_shared_rows(form);
  const KernelText kernel = flash ? LUMEN_TRY(print_cuda_flash(body, form, name, schedule))
                                  : LUMEN_TRY(print_cuda_decode(body, merged, name, schedule));
  if (kernel.steps[0].shared > target.shared_bytes) {
    return error(fmt::format("a block has {} bytes of shared memory, but the schedule \"{}\" needs {}",
                             target.shared_bytes, schedule.str(), kernel.steps[0].shared));
  }
  return kernel;
}

}  // namespace lumen

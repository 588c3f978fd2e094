#include "lumen/backend/executable.h"

#include <vector>

#include "lumen/backend/buffer.h"
#include "lumen/base/clock.h"

namespace lumen {

Expected<double> Executable::time(std::span<const void* const> inputs, std::span<void* const> outputs, int64_t runs) {
  const double start = seconds_now();
  for (int64_t k = 0; k < runs; ++k) LUMEN_TRY(run(inputs, outputs));
  return (seconds_now() - start) / static_cast<double>(runs);
}

Expected<void> run_from_host(Executable& executable, std::span<const void* const> inputs,
                             std::span<const int64_t> input_bytes, std::span<void* const> outputs,
                             std::span<const int64_t> output_bytes) {
  const std::shared_ptr<Memory>& memory = executable.memory();
  if (memory->is_host()) return executable.run(inputs, outputs);
  std::vector<Buffer> buffers;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (size_t k = 0; k < inputs.size(); ++k) {
    buffers.push_back(LUMEN_TRY(Buffer::make(memory, input_bytes[k])));
    LUMEN_TRY(memory->write(buffers.back().data(), inputs[k], input_bytes[k]));
    in.push_back(buffers.back().data());
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    buffers.push_back(LUMEN_TRY(Buffer::make(memory, output_bytes[k])));
    LUMEN_TRY(memory->write(buffers.back().data(), outputs[k], output_bytes[k]));  // whatever is there: poison, say
    out.push_back(buffers.back().data());
  }
  LUMEN_TRY(executable.try_out(in, out));
  LUMEN_TRY(executable.run(in, out));
  for (size_t k = 0; k < outputs.size(); ++k) LUMEN_TRY(memory->read(outputs[k], out[k], output_bytes[k]));
  return {};
}

}  // namespace lumen

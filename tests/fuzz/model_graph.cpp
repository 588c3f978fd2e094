// Any text as a config.json: an error, or a graph that is valid.
#include "lumen/base/check.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"
#include "models/model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = lumen::models::build_model(text, {.batch = 2, .max_context = 8, .max_step = 4});
  if (!model.ok()) {
    CHECK(!model.diag().message.empty());
    return 0;
  }
  CHECK(lumen::verify(*model->graph, lumen::hlir_stage()).ok());
  return 0;
}

// Any bytes are a graph or an error; a graph prints to a text that reads back to it.
#include <cstdint>
#include <string>

#include "lumen/base/check.h"
#include "lumen/hlir/ops.h"
#include "lumen/ir/text.h"
#include "lumen/ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lumen;
  const auto graph = parse(std::string_view(reinterpret_cast<const char*>(data), size), hlir_ops());
  if (!graph.ok()) {
    CHECK(graph.diag().where.line > 0, "an error without a place: " + graph.diag().message);
    return 0;
  }
  const std::string text = print(**graph);
  const auto again = parse(text, hlir_ops());
  CHECK(again.ok(), again.ok() ? "" : again.diag().str() + "\nin\n" + text);
  CHECK(print(**again) == text, "another text:\n" + text + print(**again));
  CHECK((*again)->equals(**graph) && (*again)->hash() == (*graph)->hash(), "another graph:\n" + text);
  CHECK(clone(**graph)->equals(**graph), "another clone:\n" + text);
  print_dot(**graph);
  static_cast<void>(verify(**graph, hlir_stage()));
  return 0;
}

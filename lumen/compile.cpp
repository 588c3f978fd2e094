#include "lumen/compile.h"

#include "lumen/hlir/ops.h"
#include "lumen/ir/verify.h"

namespace lumen {

Session compile(const Graph& graph) {
  verify(graph, hlir_stage()).value();
  return Session(clone(graph));
}

}  // namespace lumen

#include "lumen/hlir/ops.h"

#include "lumen/hlir/binary.h"
#include "lumen/hlir/cast.h"
#include "lumen/hlir/indexing.h"
#include "lumen/hlir/leaves.h"
#include "lumen/hlir/loop.h"
#include "lumen/hlir/reduce.h"
#include "lumen/hlir/scan.h"
#include "lumen/hlir/select.h"
#include "lumen/hlir/sort.h"
#include "lumen/hlir/unary.h"
#include "lumen/hlir/view.h"
#include "lumen/ir/graph.h"

namespace lumen {

namespace {

template <class... Ops>
OpTable table_of() {
  return OpTable{&op_def<Ops>()...};
}

}  // namespace

const OpTable& hlir_ops() {
  using namespace hlir;
  static const OpTable table =
      table_of<Input, Constant, Iota,                                                       // leaves
               Exp2, Log2, Sin, Sqrt, Recip, Floor, Tanh, Erf, Atan,                        // unary
               Add, Mul, Div, Mod, Maximum, LessThan, Equal, BitAnd, BitOr, BitXor, Shift,  // binary
               Select, Cast, Bitcast,                                                       // choice and types
               SumReduce, MaxReduce, ProdReduce, ArgMax, Scan,                              // along an axis
               hlir::View, Gather, Scatter, Sort,                                           // movement
               Loop>();
  return table;
}

const Stage& hlir_stage() {
  static const Stage stage{"hlir", hlir_ops().ops()};
  return stage;
}

}  // namespace lumen

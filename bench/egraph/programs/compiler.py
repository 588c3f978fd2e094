"""A tensor compiler's rules over a stack of `layers` transformer layers. Lowering rules stand after the graph and its
facts: an engine that plans a rule when it is declared then knows the sizes of tables, which suits egglog."""

from programs import tensor_model, tensor_rules

FACTS = """
(run-schedule
  (saturate (run expr))
  (saturate (run facts))
  (run structure)
  (saturate (run mark)))
"""

LOWER = """
(run-schedule
  (run fuse)
  (run late)
  (saturate (run facts))
  (run kernel)
  (run backend)
  (repeat 2
    (run epilogue)
    (run pair)
    (saturate (run expr))
    (saturate (run facts))))
(print-size)
"""


def text(layers):
    return "\n".join([*tensor_rules.foundation(), *tensor_model.Model().build(layers), FACTS,
                      *tensor_rules.lowering(), LOWER])

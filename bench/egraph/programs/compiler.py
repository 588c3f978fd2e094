"""A tensor compiler's rules over a stack of `layers` transformer layers."""

from programs import tensor_model, tensor_rules

SCHEDULE = """
(run-schedule
  (saturate (run expr))
  (saturate (run facts))
  (run structure)
  (saturate (run mark))
  (run fuse)
  (run late)
  (saturate (run facts))
  (repeat 2
    (run kernel) (run backend) (run epilogue) (run pair)
    (saturate (run expr))
    (saturate (run facts))))
(print-size)
"""


def text(layers):
    rules, _ = tensor_rules.program()
    return rules + "\n".join(tensor_model.Model().build(layers)) + SCHEDULE

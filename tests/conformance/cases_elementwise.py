"""Elementwise functions and the operators."""

import math
import operator

import torch
import torch.nn.functional as F

from inputs import (ALL, FLOATS, INTS, SHAPES, SPECIAL, booleans, integers, normal, random, special, special_pair,
                    uniform, with_specials)
from suite import DTYPES

UNARY = {
    "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "square": torch.square, "reciprocal": torch.reciprocal,
    "logical_not": torch.logical_not, "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite,
    "signbit": torch.signbit, "bitwise_not": torch.bitwise_not,
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "log": torch.log, "log2": torch.log2,
    "log10": torch.log10, "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "erf": torch.erf,
    "erfc": torch.erfc, "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
    "frac": torch.frac, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos,
    "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh,
    "acosh": torch.acosh, "atanh": torch.atanh,
}
ACTIVATIONS = {
    "relu": F.relu, "relu6": F.relu6, "selu": F.selu, "sigmoid": torch.sigmoid, "logsigmoid": F.logsigmoid,
    "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish, "silu": F.silu, "swish": F.silu, "mish": F.mish,
    "softsign": F.softsign, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}
# function -> (torch's, arguments by name and value)
WITH_ARGUMENTS = {
    "leaky_relu": (lambda x, negative_slope: F.leaky_relu(x, negative_slope),
                   [{"negative_slope": 0.01}, {"negative_slope": 0.3}]),
    "elu": (lambda x, alpha: F.elu(x, alpha), [{"alpha": 1.0}, {"alpha": 0.4}]),
    "celu": (lambda x, alpha: F.celu(x, alpha), [{"alpha": 1.0}, {"alpha": 2.5}]),
    "hardtanh": (lambda x, lo, hi: F.hardtanh(x, lo, hi), [{"lo": -1.0, "hi": 1.0}, {"lo": -0.25, "hi": 2.0}]),
    "softplus": (lambda x, beta, threshold: F.softplus(x, beta, threshold),
                 [{"beta": 1.0, "threshold": 20.0}, {"beta": 2.0, "threshold": 3.0}]),
}
BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.true_divide, "pow": torch.pow,
    "maximum": torch.maximum, "minimum": torch.minimum, "fmax": torch.fmax, "fmin": torch.fmin,
    "hypot": torch.hypot, "copysign": torch.copysign, "atan2": torch.atan2, "logaddexp": torch.logaddexp,
    "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq, "ne": torch.ne,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor,
}
# Integer division by zero is an error on both sides, so divisors get values without it.
DIVISIONS = {
    "floor_divide": torch.floor_divide, "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "remainder": torch.remainder, "fmod": torch.fmod,
}
SHIFTS = {"shift_left": torch.bitwise_left_shift, "shift_right": torch.bitwise_right_shift}
# torch has no scalar form of these.
TENSORS_ONLY = {"maximum", "minimum", "fmax", "fmin", "hypot", "atan2", "logaddexp", "logical_and", "logical_or",
                "logical_xor"}
OPERATORS = {"operator+": operator.add, "operator-": operator.sub, "operator*": operator.mul,
             "operator/": operator.truediv, "operator%": operator.mod}
BROADCASTS = [((3, 5), (5,)), ((4, 1), (1, 7)), ((), (6,)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)), ((1, 1), (13,))]


def unary_cases(suite):
    for function, expect in (UNARY | ACTIVATIONS).items():
        for dtype in ALL:
            # torch's 1 + |x| of integers overflows.
            if function != "softsign" or dtype.is_floating_point:
                suite.case(function, [special(dtype)], expect, if_defined=True, symbolic=True, label="edge values")
            for shape in SHAPES[2:5] if dtype.is_floating_point else SHAPES[3:4]:
                suite.case(function, [random(shape, dtype, 2.0)], expect, if_defined=True, symbolic=True)
        for shape in SHAPES[:2] + SHAPES[5:]:
            suite.case(function, [random(shape, torch.float32)], expect, if_defined=True)
        suite.case(function, [uniform((5, 7), torch.float32, -1.0, 1.0)], expect, if_defined=True, label="in [-1, 1]")
        suite.case(function, [uniform((5, 7), torch.float64, 0.5, 2.0)], expect, if_defined=True, label="around 1")
    for function, (expect, choices) in WITH_ARGUMENTS.items():
        for args in choices:
            for dtype in FLOATS:
                for x, label in [(special(dtype), "edge values"), (normal((3, 5), dtype, 3.0), ""),
                                 (normal((0, 2), dtype), "")]:
                    suite.case(function, [x], lambda x: expect(x, **args), args, label=label, if_defined=True,
                               symbolic=True)


def binary_cases(suite):
    for function, expect in BINARY.items():
        for k, dtype in enumerate(ALL):
            a, b = special_pair(dtype)
            if function == "pow" and not dtype.is_floating_point:
                b = b[b >= 0]
            suite.case(function, [a, b], expect, if_defined=True, label="edge values")
            shapes = BROADCASTS if dtype == torch.float32 else [BROADCASTS[k % 4], BROADCASTS[(k + 1) % 4]]
            for left, right in shapes:
                a, b = random(left, dtype), random(right, dtype)
                if function == "pow" and not dtype.is_floating_point:
                    b = b.abs() if dtype != torch.bool else b
                suite.case(function, [a, b], expect, if_defined=True, symbolic=True)
        numbers = [2, 0.5, -3, True] if function != "pow" else [2, 0.5, 3, -1.5, 0, 1, 4, -2.0]
        for number in numbers if function not in TENSORS_ONLY else []:
            for dtype in ALL:
                suite.case(function, [random((7,), dtype), number], expect, if_defined=True, symbolic=True)
                if dtype in (torch.float32, torch.int64):
                    suite.case(function, [number, random((7,), dtype)], expect, if_defined=True)


def nonzero(shape, dtype):
    x = random(shape, dtype)
    return torch.where(x == 0, torch.ones_like(x), x)


def division_cases(suite):
    for function, expect in DIVISIONS.items():
        for dtype in FLOATS:
            a, b = special_pair(dtype)
            suite.case(function, [a, b], expect, if_defined=True, label="edge values")
        for dtype in FLOATS + INTS:
            for left, right in BROADCASTS[:5]:
                suite.case(function, [random(left, dtype, 5.0), nonzero(right, dtype)], expect, if_defined=True,
                           symbolic=True)
            for number in [3, -2, 0.7]:
                suite.case(function, [random((11,), dtype, 5.0), number], expect, if_defined=True)
            suite.case(function, [17, nonzero((5,), dtype)], expect, if_defined=True)
        for dtype in INTS:
            edges = special(dtype)
            divisors = edges[(edges != 0) & (edges != -1)]
            suite.case(function, [edges.reshape(-1, 1), divisors], expect, label="edge values")
        a = torch.tensor([1.0, 0.3, 0.6, 0.9, 7.0, -1.0, -0.3, 1e6])
        suite.case(function, [a, torch.tensor([[0.1], [-0.1], [0.3]])], expect,
                   label="quotients that round to integers")


def shift_cases(suite):
    for function, expect in SHIFTS.items():
        for dtype in INTS:
            bits = torch.iinfo(dtype).bits
            counts = torch.arange(bits + 3).to(dtype)
            suite.case(function, [special(dtype).reshape(-1, 1), counts], expect, label="all counts")
            suite.case(function, [integers((3, 5), dtype), integers((5,), dtype, 0, 8)], expect, symbolic=True)
            suite.case(function, [integers((6,), dtype), 2], expect, symbolic=True)
            suite.case(function, [integers((0, 3), dtype), integers((3,), dtype, 0, 8)], expect)
        suite.case(function, [torch.tensor([1, -1, 7]), torch.tensor([-1, -1, -64])], expect, label="negative counts")


def promotion_cases(suite):
    """Every pair of dtypes, for one function of each kind."""
    for function in ["add", "mul", "div", "maximum", "lt", "eq", "logical_and"]:
        for a in ALL:
            for b in ALL:
                if a != b:
                    suite.case(function, [random((3, 1), a), random((4,), b)], BINARY[function], if_defined=True)
    for function in sorted((BINARY | DIVISIONS).keys() - {"pow"}):
        for a, b in [(torch.float16, torch.bfloat16), (torch.int32, torch.uint8), (torch.bool, torch.int64),
                     (torch.int64, torch.float16), (torch.bool, torch.float64)]:
            suite.case(function, [random((6,), a), nonzero((6,), b)], (BINARY | DIVISIONS)[function], if_defined=True)


def operator_cases(suite):
    for function, expect in OPERATORS.items():
        for dtype in ALL:
            a, b = random((3, 5), dtype), nonzero((5,), dtype)
            suite.case(function, [a, b], expect, if_defined=True, symbolic=True)
            suite.case(function, [a, 3], expect, if_defined=True)
            suite.case(function, [2.5, b], expect, if_defined=True)
            # torch's own += keeps the left dtype; ours is a = a + b.
            suite.case(function + "=", [a, b], expect, if_defined=True, symbolic=True)
            suite.case(function + "=", [a, 2], expect, if_defined=True)
    for dtype in FLOATS + INTS:
        suite.case("operator-", [special(dtype)], operator.neg, label="unary")


def select_cases(suite):
    for dtype in ALL:
        for shapes in [((3, 5), (3, 5), (3, 5)), ((5,), (3, 1), ()), ((2, 1, 1), (4,), (3, 1)), ((0, 2), (2,), (1, 2))]:
            condition, a, b = booleans(shapes[0]), with_specials(shapes[1], dtype), with_specials(shapes[2], dtype)
            suite.case("where", [condition, a, b], torch.where, symbolic=True)
        x, mask = with_specials((3, 5), dtype), booleans((3, 5))
        suite.case("where", [mask, x, 2], torch.where)
        suite.case("where", [mask, 1.5, x], torch.where)
        for value in [0, 1, 2.5, -math.inf] if dtype.is_floating_point else [0, 1]:
            suite.case("masked_fill", [x, mask, value], torch.masked_fill, symbolic=True)
        suite.case("masked_fill", [x, booleans((5,)), random((), dtype)], torch.masked_fill)
    suite.case("where", [booleans((4,)), random((4,), torch.int32), random((4,), torch.float16)], torch.where)
    suite.case("where", [booleans((4,)), random((4,), torch.uint8), random((4,), torch.bool)], torch.where)


def clip_cases(suite):
    for dtype in FLOATS + INTS:
        x = with_specials((4, 5), dtype)
        for lo, hi in [(1, 3), (None, 2), (0, None), (3, 1), (0.5, 2.5), (-math.inf, 1.0)]:
            if dtype.is_floating_point or isinstance(lo, int) or isinstance(hi, int):
                suite.case("clip", [x, lo, hi], torch.clip, symbolic=True)
        suite.case("clip", [x, random((5,), dtype), random((4, 1), dtype)], torch.clip, symbolic=True)
        suite.case("clip", [x, None, random((5,), dtype)], torch.clip)
        suite.case("clip", [special(dtype), random((), dtype), None], torch.clip, label="edge values")
    x = torch.tensor([1.0, math.nan, 3.0])
    suite.case("clip", [x, torch.tensor([math.nan, 0.0, 0.0]), torch.tensor([5.0, 5.0, math.nan])], torch.clip,
               label="NaN bounds")


def three_operand_cases(suite):
    for dtype in FLOATS:
        for shapes in [((3, 5), (3, 5), (3, 5)), ((3, 1), (5,), ()), ((0, 5), (5,), (1,)), ((2, 3, 1), (1, 7), (3, 1))]:
            operands = [random(shape, dtype) for shape in shapes]
            suite.case("lerp", operands, torch.lerp, symbolic=True)
        a, b = random((4, 5), dtype), random((4, 5), dtype)
        for weight in [0.0, 0.25, 0.5, 1.0, 1.7]:
            suite.case("lerp", [a, b, weight], torch.lerp, symbolic=True)
        for shape, channels in [((2, 3, 4), 3), ((2, 3), 3), ((4, 1, 2, 2), 1), ((7,), 1), ((0, 3), 3), ((), 1)]:
            suite.case("prelu", [random(shape, dtype, 2.0), random((channels,), dtype)], F.prelu, symbolic=True)
        suite.case("prelu", [special(dtype), torch.tensor([0.25], dtype=dtype)], F.prelu, label="edge values")
        suite.case("prelu", [random((2, 3, 5), dtype), torch.tensor([0.1], dtype=dtype)], F.prelu)


def cast_cases(suite):
    narrow = [torch.float8_e4m3fn, torch.float8_e5m2]
    others = narrow + [torch.int16, torch.int8, torch.uint16, torch.uint32, torch.uint64]
    for source in ALL:
        for target in ALL + others:
            args = {"dtype": DTYPES[target]}
            whole = target not in FLOATS + narrow and source.is_floating_point
            x = uniform((3, 5), source, 0.0, 120.0) if whole else random((3, 5), source)
            suite.case("cast", [x], lambda x: x.to(target), args, symbolic=True, if_defined=True)
            if target in FLOATS + narrow + [torch.bool] and source.is_floating_point:
                values = torch.tensor([v for v in SPECIAL if v == v], dtype=source)
                suite.case("cast", [values], lambda x: x.to(target), args, label="edge values", if_defined=True)
            if not source.is_floating_point and not target.is_floating_point:
                suite.case("cast", [special(source)], lambda x: x.to(target), args, label="wraps", if_defined=True)
            suite.case("cast", [random((0, 2), source)], lambda x: x.to(target), args, if_defined=True)
    for source in others:
        x = uniform((3, 5), torch.float32, 0.0, 120.0).to(source)
        for target in [torch.float32, torch.float64, torch.int64]:
            suite.case("cast", [x], lambda x: x.to(target), {"dtype": DTYPES[target]}, if_defined=True)
    whole = torch.tensor([-0.9, 0.9, -1.1, 2.5, -2.5, 100.7, 1e6, -1e6])
    for target in [torch.int64, torch.int32]:
        for source in [torch.float64, torch.float32]:
            suite.case("cast", [whole.to(source)], lambda x: x.to(target), {"dtype": DTYPES[target]},
                       label="truncates")
    # No NaN: its payload is not part of a value.
    for source, target in [(torch.float32, torch.int32), (torch.int32, torch.float32), (torch.float64, torch.int64),
                           (torch.int64, torch.float64), (torch.float16, torch.bfloat16), (torch.uint8, torch.int8),
                           (torch.float32, torch.uint8), (torch.int64, torch.int32), (torch.float64, torch.float32),
                           (torch.bfloat16, torch.uint8), (torch.int16, torch.float16), (torch.bool, torch.uint8)]:
        for shape in [(3, 4), (8,), (0, 4)]:
            x = integers(shape, source, 1, 100) if not source.is_floating_point else random(shape, source)
            suite.case("bitcast", [x], lambda x: x.view(target), {"dtype": DTYPES[target]})
    for source, target in [(torch.uint8, torch.float32), (torch.uint8, torch.int64), (torch.int32, torch.int64),
                           (torch.float16, torch.float32), (torch.uint8, torch.bfloat16)]:
        ratio = target.itemsize // source.itemsize
        x = random((3, 2 * ratio), source) if source.is_floating_point else integers((3, 2 * ratio), source, 0, 60)
        suite.case("bitcast", [x], lambda x: x.view(target), {"dtype": DTYPES[target]})
        suite.case("bitcast", [x[0]], lambda x: x.view(target), {"dtype": DTYPES[target]})


def add_cases(suite):
    unary_cases(suite)
    binary_cases(suite)
    division_cases(suite)
    shift_cases(suite)
    promotion_cases(suite)
    operator_cases(suite)
    select_cases(suite)
    clip_cases(suite)
    three_operand_cases(suite)
    cast_cases(suite)

"""Operands: random ones from the seed that generate.py sets, and the values on which functions go wrong."""

import math

import torch

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.uint8]
ALL = FLOATS + INTS + [torch.bool]
SHAPES = [(), (1,), (7,), (3, 5), (2, 1, 11), (0,), (3, 0, 2)]

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 0.75, -0.999, 0.999, 1.001, 1e-3, -1e-3, 1e-5,
    -1e-5, 1e-7, 1e-10, -1e-10, 1e-20, 1e-38, 7.25, -7.25, 10.0, -10.0, 15.9, -15.9, 20.5, -20.5, 50.0, -50.0, 87.0,
    -87.0, 100.0, -100.0, 1234.5, 1e4, -1e4, 123456.7, 8388609.0, 1e10, -1e10, 1e30, -1e30, math.inf, -math.inf,
    math.nan,
]
# For both sides of a function of two arguments.
SPECIAL_PAIR = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.7, -2.3, 1e-3, 7.0, -40.0, 1e4, -1e10, 1e30,
                math.inf, -math.inf, math.nan]
INT_EDGES = {
    torch.int64: [0, 1, -1, 2, 7, -7, 100, -100, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63)],
    torch.int32: [0, 1, -1, 2, 7, -7, 100, -100, 65536, 2**30, 2**31 - 1, -(2**31)],
    torch.uint8: [0, 1, 2, 7, 100, 127, 128, 255],
}


def normal(shape, dtype=torch.float32, scale=1.0):
    return (torch.randn(shape, dtype=torch.float64) * scale).to(dtype)


def uniform(shape, dtype=torch.float32, lo=0.0, hi=1.0):
    return (torch.rand(shape, dtype=torch.float64) * (hi - lo) + lo).to(dtype)


def integers(shape, dtype=torch.int64, lo=None, hi=None):
    """lo <= value < hi; small values of both signs unless told."""
    lo = (0 if dtype == torch.uint8 else -9) if lo is None else lo
    return torch.randint(lo, 10 if hi is None else hi, shape).to(dtype)


def booleans(shape):
    return torch.rand(shape) < 0.5


def random(shape, dtype, scale=1.0):
    """What suits the dtype."""
    if dtype == torch.bool:
        return booleans(shape)
    return normal(shape, dtype, scale) if dtype.is_floating_point else integers(shape, dtype)


def special(dtype):
    """One row of edge values."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    return torch.tensor(SPECIAL if dtype.is_floating_point else INT_EDGES[dtype], dtype=dtype)


def special_pair(dtype):
    """A column and a row of edge values: broadcast, they meet each with each."""
    if dtype.is_floating_point:
        row = torch.tensor(SPECIAL_PAIR, dtype=dtype)
    else:
        row = special(dtype)
    return row.reshape(-1, 1), row


def with_specials(shape, dtype):
    """Random values with NaN, infinities and -0 among them."""
    x = random(shape, dtype)
    if dtype.is_floating_point and x.numel():
        flat = x.reshape(-1)
        for k, value in enumerate([math.nan, -0.0, math.inf, -math.inf]):
            flat[(k * 7 + 3) % flat.numel()] = value
    return x


def distinct(shape, dtype=torch.float32):
    """No two equal: where ties would make the result a matter of taste."""
    count = math.prod(shape)
    lowest = 0 if dtype == torch.uint8 else -(count // 2)
    return (torch.randperm(count) + lowest).to(dtype).reshape(shape)

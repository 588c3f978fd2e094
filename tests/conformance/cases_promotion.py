"""promote.h: dtypes and shapes that operands meet in. What is no tensor is shown as zeros of that dtype or shape."""

import itertools
from functools import reduce

import torch

from inputs import ALL, random, with_specials
from suite import DTYPES

SHAPES = [[(3,), (3,)], [(3, 1), (5,)], [(), (2, 3)], [(2, 1, 3), (5, 1), (1,)], [(0, 3), (1, 3)], [(1,), (0,)], [(7,)]]


def float_dtype(a, b):
    dtype = torch.result_type(a, b)
    return dtype if dtype.is_floating_point else torch.float32


def held_in(held, a, b):
    dtype = float_dtype(a, b)
    b = b.to(dtype) if isinstance(b, torch.Tensor) else torch.tensor(b)
    return torch.broadcast_tensors(a.to(dtype).to(held), b.to(held))


def add_cases(suite):
    dtypes = ALL + [torch.int16, torch.int8]
    for a, b in itertools.product(dtypes, dtypes):
        suite.case("promote", [], lambda: torch.zeros(1, dtype=torch.promote_types(a, b)),
                   {"a": DTYPES[a], "b": DTYPES[b]}, label=f"{DTYPES[a]} {DTYPES[b]}")
    for shapes in SHAPES:
        suite.case("broadcast_shapes", [], lambda: torch.zeros(torch.broadcast_shapes(*shapes)), {"shapes": shapes},
                   label=str(shapes))
    for k, shapes in enumerate(SHAPES):
        for j in range(len(ALL)):
            xs = [with_specials(shape, ALL[(j + 3 * n * (k + 1)) % len(ALL)]) for n, shape in enumerate(shapes)]
            dtype = torch.result_type(xs[0], xs[1]) if len(xs) == 2 else reduce(
                torch.promote_types, [x.dtype for x in xs])
            suite.case("promote_only", xs, lambda *xs: [x.to(dtype) for x in xs], symbolic=True)
            suite.case("promote_and_broadcast", xs, lambda *xs: [x.to(dtype) for x in torch.broadcast_tensors(*xs)],
                       symbolic=True)
    for a in ALL:
        for b in [random((3,), b) for b in ALL] + [random((), b) for b in ALL] + [2, 0.5, True]:
            suite.case("common_dtype", [random((2, 1), a), b], lambda a,
                       b: torch.zeros(1, dtype=torch.result_type(a, b)))
            suite.case("float_dtype", [random((2, 1), a), b], lambda a, b: torch.zeros(1, dtype=float_dtype(a, b)))
            # Rounded to the dtype they meet in, then held in a wider one; a number is not rounded.
            for held in [torch.float64, torch.float32]:
                suite.case("promote_to_floats", [random((2, 1), a), b], lambda a, b: held_in(held, a, b),
                           {"dtype": DTYPES[held]})
    x = random((3,), torch.float16)
    suite.case("promote_and_broadcast", [x, 2], lambda x, n: [x, torch.full((3,), n, dtype=x.dtype)])

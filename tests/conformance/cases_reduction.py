"""Reductions and scans."""

import math

import torch

from inputs import ALL, FLOATS, INTS, integers, normal, random, special, with_specials

AXES = [((7,), [0]), ((3, 5), []), ((3, 5), [0]), ((3, 5), [-1]), ((2, 3, 5), [0, 2]), ((2, 3, 5), [-2]), ((), []),
        ((2, 1, 11), [1]), ((1, 13), [0, 1])]
EMPTY = [((0,), []), ((0, 3), [0]), ((3, 0, 2), [1])]  # reduce nothing to the neutral element
EMPTY_KEPT = [((0, 3), [1]), ((3, 0, 2), [0])]         # no result elements
SCANS = [((7,), 0), ((3, 5), 1), ((3, 5), -2), ((2, 3, 4), 1), ((1, 13), -1), ((), 0), ((0, 3), 0), ((2, 0), 0)]


def over_all(axes, x):
    return tuple(axes) if axes else tuple(range(x.dim()))


def product(x, axes, keepdim):
    """torch.prod takes one axis."""
    for axis in sorted((axis % x.dim() for axis in over_all(axes, x)), reverse=True):
        x = x.prod(axis, keepdim=keepdim)
    return x.prod() if x.dim() == 0 else x


def mean(x, axes, keepdim):
    x = x if x.dtype.is_floating_point else x.float()
    return x.mean(over_all(axes, x), keepdim=keepdim)


REDUCTIONS = {
    "sum": lambda x, axes, keepdim: x.sum(over_all(axes, x), keepdim=keepdim),
    "prod": product,
    "mean": mean,
    "max": lambda x, axes, keepdim: x.amax(over_all(axes, x), keepdim=keepdim),
    "min": lambda x, axes, keepdim: x.amin(over_all(axes, x), keepdim=keepdim),
    "any": lambda x, axes, keepdim: (x != 0).any(over_all(axes, x), keepdim=keepdim),
    "all": lambda x, axes, keepdim: (x != 0).all(over_all(axes, x), keepdim=keepdim),
    "logsumexp": lambda x, axes, keepdim: torch.logsumexp(x, over_all(axes, x), keepdim=keepdim),
}
SCAN_FUNCTIONS = {"cumsum": torch.cumsum, "cumprod": torch.cumprod, "cummax": torch.cummax, "cummin": torch.cummin,
                  "logcumsumexp": torch.logcumsumexp}


def reduction_cases(suite):
    for function, expect in REDUCTIONS.items():
        def case(x, axes, keepdim, label="", symbolic=True):
            if function == "logsumexp":
                axes = list(over_all(axes, x))  # it has no form without axes
            suite.case(function, [x], lambda x: expect(x, axes, keepdim), {"axes": axes, "keepdim": keepdim},
                       if_defined=True, symbolic=symbolic, label=label)

        for k, dtype in enumerate(ALL):
            for j, (shape, axes) in enumerate(AXES):
                case(random(shape, dtype), axes, (j + k) % 2 == 1)
            case(with_specials((4, 5), dtype), [1], False, "NaN and infinities")
            case(special(dtype), [], False, "edge values")
            for shape, axes in (EMPTY if function not in ("max", "min") else []) + EMPTY_KEPT:
                case(random(shape, dtype), axes, k % 2 == 0)
        case(normal((3, 1000)), [1], False, "long", symbolic=False)
    infinities = torch.tensor([[math.inf, 1.0], [-math.inf, -math.inf], [-math.inf, 2.0], [math.inf, -math.inf],
                               [1000.0, 1000.0], [-1000.0, -1001.0]])
    suite.case("logsumexp", [infinities], lambda x: x.logsumexp(1), {"axes": [1], "keepdim": False}, label="extremes")


def position_cases(suite):
    for function, expect in [("argmax", torch.argmax), ("argmin", torch.argmin)]:
        for dtype in FLOATS + INTS:
            for j, (shape, axis) in enumerate([((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 5), 1), ((1, 13), 0),
                                               ((0, 3), 1)]):
                args = {"axis": axis, "keepdim": j % 2 == 1}
                suite.case(function, [random(shape, dtype)], lambda x: expect(x, axis, keepdim=args["keepdim"]), args,
                           symbolic=True)
            suite.case(function, [with_specials((4, 5), dtype)], lambda x: expect(x, 1), {"axis": 1}, label="NaN")
            suite.case(function, [special(dtype)], lambda x: expect(x, 0), {"axis": 0}, label="edge values")
            suite.case(function, [torch.zeros((3, 4), dtype=dtype)], lambda x: expect(x, 0), {"axis": 0}, label="ties")


def spread_cases(suite):
    for dtype in FLOATS:
        for j, (shape, axes) in enumerate(AXES + EMPTY + EMPTY_KEPT):
            for correction in [0, 1, 2]:
                x, keepdim = normal(shape, dtype, 2.0), (j + correction) % 2 == 1
                args = {"axes": axes, "correction": correction, "keepdim": keepdim}
                for function, expect in [("var", torch.var), ("stddev", torch.std)]:
                    suite.case(function, [x], lambda x: expect(x, over_all(axes, x), correction=correction,
                                                               keepdim=keepdim), args, symbolic=True)
            for p in [0.0, 1.0, 2.0, 3.0, math.inf, -math.inf, 0.5]:
                if (shape, axes) in EMPTY and math.isinf(p):
                    continue
                args = {"p": p if math.isfinite(p) else str(p), "axes": axes, "keepdim": j % 2 == 0}
                suite.case("norm", [normal(shape, dtype, 2.0)],
                           lambda x: torch.linalg.vector_norm(x, p, over_all(axes, x), keepdim=j % 2 == 0), args,
                           symbolic=True)
        x = normal((3, 40), dtype) + 100
        suite.case("var", [x], lambda x: x.var(1), {"axes": [1], "correction": 1, "keepdim": False}, label="far from 0")


def count_cases(suite):
    for dtype in ALL:
        for shape, axes in AXES + EMPTY + EMPTY_KEPT:
            suite.case("count_nonzero", [with_specials(shape, dtype)],
                       lambda x: torch.count_nonzero(x, axes) if axes else torch.count_nonzero(x), {"axes": axes},
                       symbolic=True)


def scan_cases(suite):
    for function, expect in SCAN_FUNCTIONS.items():
        for dtype in ALL:
            for shape, axis in SCANS:
                suite.case(function, [random(shape, dtype)], lambda x: expect(x, axis), {"axis": axis}, symbolic=True,
                           if_defined=True)
            # Without the huge ones: their sum cancels to whatever order and precision give.
            edges = special(dtype) if function != "cumsum" else special(dtype)[:42]
            suite.case(function, [edges], lambda x: expect(x, 0), {"axis": 0}, label="edge values", if_defined=True)
            suite.case(function, [with_specials((4, 6), dtype)], lambda x: expect(x, 1), {"axis": 1}, label="NaN",
                       if_defined=True)
        ties = integers((3, 20), torch.int64, 0, 3)
        suite.case(function, [ties], lambda x: expect(x, 1), {"axis": 1}, label="ties", if_defined=True)
        suite.case(function, [normal((2, 600))], lambda x: expect(x, 1), {"axis": 1}, label="long")
    rows = torch.tensor([[-math.inf, -math.inf, 1.0, 2.0], [1.0, math.inf, 2.0, -math.inf],
                         [1000.0, -1000.0, 999.0, 0.0]])
    suite.case("logcumsumexp", [rows], lambda x: x.logcumsumexp(1), {"axis": 1}, label="extremes")


def add_cases(suite):
    reduction_cases(suite)
    position_cases(suite)
    spread_cases(suite)
    count_cases(suite)
    scan_cases(suite)

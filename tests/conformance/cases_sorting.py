"""Sorting."""

import torch

from inputs import ALL, distinct, random, special, with_specials

SHAPES = [((7,), 0), ((3, 5), -1), ((3, 5), 0), ((2, 5, 3), 1), ((1, 13), 1), ((1,), 0)]


def add_cases(suite):
    for dtype in ALL:
        for descending in [False, True]:
            for shape, axis in SHAPES + [((0,), 0), ((0, 3), 1), ((), 0)]:
                args = {"axis": axis, "descending": descending}
                suite.case("sort", [random(shape, dtype)],
                           lambda x: torch.sort(x, dim=axis, stable=True, descending=descending), args, symbolic=True)
                suite.case("argsort", [random(shape, dtype)],
                           lambda x: torch.argsort(x, dim=axis, stable=True, descending=descending), args,
                           symbolic=True)
            for x, label in [(special(dtype), "edge values"), (with_specials((40,), dtype), "NaN")]:
                suite.case("sort", [x], lambda x: torch.sort(x, stable=True, descending=descending),
                           {"axis": -1, "descending": descending}, label=label)
    for dtype in [d for d in ALL if d != torch.bool]:
        # Without ties, whose order torch leaves open.
        for shape, axis in SHAPES:
            for largest in [True, False]:
                for k in sorted({0, 1, min(3, shape[axis]), shape[axis]}):
                    suite.case("topk", [distinct(shape, dtype)], lambda x: torch.topk(x, k, axis, largest),
                               {"k": k, "axis": axis, "largest": largest})
            suite.case("median", [distinct(shape, dtype)], lambda x: torch.median(x, axis),
                       {"axis": axis})
        for n in [1, 2, 8, 9]:
            suite.case("median", [distinct((n,), dtype)], lambda x: torch.median(x, 0), {"axis": 0})
    one_nan = torch.tensor([[3.0, float("nan"), 1.0, 2.0], [4.0, 3.0, 2.0, 1.0]])
    suite.case("median", [one_nan], lambda x: torch.median(x, 1), {"axis": 1}, label="NaN")
    for largest in [True, False]:
        suite.case("topk", [one_nan], lambda x: torch.topk(x, 3, 1, largest), {"k": 3, "axis": 1, "largest": largest},
                   label="NaN")

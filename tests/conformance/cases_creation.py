"""Tensors made from nothing, and triangles."""

import torch

from inputs import ALL, FLOATS, INTS, random, with_specials
from suite import DTYPES

SHAPES = [[], [1], [7], [3, 5], [0, 2], [2, 3, 1]]
# A text that parse_expr reads, and the same over torch coordinates.
IOTAS = [("i0", lambda i: i[0]), ("3*i0 + 1", lambda i: 3 * i[0] + 1), ("5*i0 + i1", lambda i: 5 * i[0] + i[1]),
         ("i0 * i1", lambda i: i[0] * i[1]), ("(i0 + 2*i1) % 3", lambda i: (i[0] + 2 * i[1]) % 3),
         ("i1 / 2 - i0", lambda i: i[1] // 2 - i[0]), ("i0 < i1", lambda i: (i[0] < i[1]).long()),
         ("max(i0, i1)", lambda i: torch.maximum(i[0], i[1])), ("-4", lambda i: i[0] * 0 - 4)]


def filled_cases(suite):
    for dtype in ALL:
        name = DTYPES[dtype]
        for shape in SHAPES:
            args = {"shape": shape, "dtype": name}
            suite.case("zeros", [], lambda: torch.zeros(shape, dtype=dtype), args)
            suite.case("ones", [], lambda: torch.ones(shape, dtype=dtype), args)
            for value in [0, 3, -2.5, float("inf")] if dtype.is_floating_point else [0, 3]:
                suite.case("full", [value], lambda v: torch.full(shape, v, dtype=dtype), args)
            x = random(shape, dtype)
            suite.case("zeros_like", [x], torch.zeros_like, symbolic=True)
            suite.case("ones_like", [x], torch.ones_like, symbolic=True)
            suite.case("full_like", [x, 2], torch.full_like, symbolic=True)
        suite.case("full", [random((), dtype)], lambda v: v.expand(2, 3), {"shape": [2, 3], "dtype": name},
                   label="a tensor's value")
        for value in [0, 1, 100]:
            suite.case("constant", [], lambda: torch.tensor(value, dtype=dtype), {"value": value, "dtype": name})
        for shape in [[1], [5], [2, 3], [0], []]:
            x = with_specials(shape, dtype) if dtype == torch.float64 else random(shape, dtype)
            values = [v if v == v and abs(v) != float("inf") else str(v) for v in x.double().reshape(-1).tolist()]
            suite.case("constant", [], lambda: x, {"shape": shape, "values": values, "dtype": name})
    for value in [0.1, -0.0, 1e-40, 3.14159265358979]:
        suite.case("constant", [], lambda: torch.tensor(value), {"value": value, "dtype": "f32"})


def sequence_cases(suite):
    for text, expect in IOTAS:
        for shape in [[4, 5], [1, 7], [3, 0]]:
            if "i1" not in text:
                shape = shape[1:]
            coordinates = torch.meshgrid([torch.arange(n) for n in shape], indexing="ij")
            for dtype in INTS:
                value = expect(coordinates)
                if dtype == torch.uint8 and value.numel() and value.min() < 0:
                    continue
                suite.case("iota", [], lambda: value.to(dtype), {"shape": shape, "value": text, "dtype": DTYPES[dtype]},
                           label=text)
    for dtype in INTS + FLOATS:
        args = {"dtype": DTYPES[dtype]}
        for end in [0, 1, 7]:
            suite.case("arange", [], lambda: torch.arange(end, dtype=dtype), args | {"end": end})
        for start, end, step in [(2, 9, 1), (0, 10, 3), (1, 10, 3), (9, 2, -2), (3, 3, 1), (5, 4, -1)]:
            suite.case("arange", [], lambda: torch.arange(start, end, step, dtype=dtype),
                       args | {"start": start, "end": end, "step": step})
    for dtype in FLOATS:
        for start, end, steps in [(0.0, 1.0, 5), (-1.0, 1.0, 7), (3.0, -2.0, 4), (2.0, 2.0, 3), (1.0, 9.0, 1),
                                  (0.0, 1.0, 0), (0.0, 1.0, 100)]:
            suite.case("linspace", [], lambda: torch.linspace(start, end, steps, dtype=dtype),
                       {"start": start, "end": end, "steps": steps, "dtype": DTYPES[dtype]})


def triangle_cases(suite):
    for dtype in ALL:
        for rows, columns in [(3, 3), (2, 5), (5, 2), (1, 1), (0, 3)]:
            suite.case("eye", [], lambda: torch.eye(rows, columns, dtype=dtype),
                       {"rows": rows, "columns": columns, "dtype": DTYPES[dtype]})
        for shape in [(4, 4), (3, 5), (2, 5, 3), (0, 3)]:
            for diagonal in [0, 1, -2, 7]:
                x = with_specials(shape, dtype)
                suite.case("tril", [x], lambda x: x.tril(diagonal), {"diagonal": diagonal}, symbolic=True)
                suite.case("triu", [x], lambda x: x.triu(diagonal), {"diagonal": diagonal}, symbolic=True)


def add_cases(suite):
    filled_cases(suite)
    sequence_cases(suite)
    triangle_cases(suite)

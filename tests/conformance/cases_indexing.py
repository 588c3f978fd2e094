"""Reading and writing by index."""

import torch
import torch.nn.functional as F

from inputs import ALL, FLOATS, INTS, random, with_specials
from suite import DTYPES

INDEX_DTYPES = [torch.int64, torch.int32, torch.uint8]
# our mode -> torch.scatter_reduce's
MODES = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def indices(shape, size, dtype=torch.int64):
    return torch.randint(0, max(size, 1), shape).to(dtype)


def distinct_indices(count, size):
    return torch.randperm(size)[:count]


def cycle_index_dtype(k):
    return INDEX_DTYPES[k % len(INDEX_DTYPES)]


def flat_scatter(x, index, source, mode):
    flat, index = x.reshape(-1), index.reshape(-1).long()
    source = source.reshape(-1)
    result = flat.scatter(0, index, source) if mode == "set" else flat.scatter_reduce(0, index, source, MODES[mode])
    return result.reshape(x.shape)


def flat_cases(suite):
    for k, dtype in enumerate(ALL):
        for shape, index_shape in [((7,), (4,)), ((3, 5), (2, 3)), ((3, 5), ()), ((2, 3, 2), (0,)), ((1,), (5,))]:
            x = with_specials(shape, dtype)
            suite.case("gather", [x, indices(index_shape, x.numel(), cycle_index_dtype(k))],
                       lambda x, i: x.take(i.long()), symbolic=True)
        for shape in [(7,), (3, 5), (2, 3, 2)]:
            x = with_specials(shape, dtype)
            index = distinct_indices(4, x.numel())
            suite.case("scatter", [x, index, random((4,), dtype)], lambda x, i, s: flat_scatter(x, i, s, "set"),
                       {"mode": "set"})
    for dtype in FLOATS + INTS:
        for mode in MODES:
            x = random((3, 4), dtype)
            suite.case("scatter", [x, indices((5,), 12), random((5,), dtype)],
                       lambda x, i, s: flat_scatter(x, i, s, mode), {"mode": mode}, if_defined=True)


def replaced(x, axis, index, source, how):
    return getattr(x, how)(axis, index.long(), source)


def slice_cases(suite):
    for k, dtype in enumerate(ALL):
        for shape, axis in [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 5, 3), 1)]:
            x = with_specials(shape, dtype)
            size = shape[axis]
            for index_shape in [(4,), (1,), (0,)]:
                suite.case("index_select", [x, indices(index_shape, size, cycle_index_dtype(k))],
                           lambda x, i: x.index_select(axis, i.long()), {"axis": axis}, symbolic=True)
            at = axis % len(shape)
            suite.case("index_select", [x, indices((2, 3), size)],
                       lambda x, i: x.index_select(axis, i.reshape(-1)).reshape(shape[:at] + (2, 3) + shape[at + 1:]),
                       {"axis": axis}, label="indices of rank 2")
            suite.case("index_select", [x, indices((), size)], lambda x, i: x.select(axis, int(i)), {"axis": axis},
                       label="indices of rank 0")
            count = min(size, 3)
            source = random(shape[:at] + (count,) + shape[at + 1:], dtype)
            suite.case("index_copy", [x, distinct_indices(count, size), source],
                       lambda x, i, s: replaced(x, axis, i, s, "index_copy"), {"axis": axis})
            suite.case("index_add", [random(shape, dtype), indices((count,), size), source],
                       lambda x, i, s: replaced(x, axis, i, s, "index_add"), {"axis": axis}, if_defined=True)
            for start in sorted({0, size - count}):
                suite.case("slice_scatter", [x, source],
                           lambda x, s: torch.slice_scatter(x, s, axis, start, start + count),
                           {"axis": axis, "start": start})
    for k, dtype in enumerate(FLOATS):
        for shape in [(4,), (2, 3), (0,), ()]:
            suite.case("embedding", [indices(shape, 11, INDEX_DTYPES[k % 2]), with_specials((11, 5), dtype)],
                       F.embedding, symbolic=True)
    for dtype in [torch.int64, torch.float32, torch.bool, torch.uint8]:
        for shape in [(4,), (2, 3), (0,), ()]:
            suite.case("one_hot", [indices(shape, 6)], lambda i: (i.unsqueeze(-1) == torch.arange(6)).to(dtype),
                       {"classes": 6, "dtype": DTYPES[dtype]}, symbolic=True)


def torch_scatter(x, axis, index, source, mode):
    index = index.long()
    return x.scatter(axis, index, source) if mode == "set" else x.scatter_reduce(axis, index, source, MODES[mode])


def element_cases(suite):
    for k, dtype in enumerate(ALL):
        for shape, axis, index_shape in [((7,), 0, (4,)), ((3, 5), 0, (2, 5)), ((3, 5), 1, (3, 2)),
                                         ((3, 5), -1, (3, 9)), ((2, 5, 3), 1, (2, 4, 3)), ((3, 5), 0, (0, 5))]:
            x = with_specials(shape, dtype)
            index = indices(index_shape, shape[axis], cycle_index_dtype(k))
            suite.case("gather_elements", [x, index], lambda x, i: x.gather(axis, i.long()), {"axis": axis},
                       symbolic=True)
            suite.case("take_along_axis", [x, index], lambda x, i: x.gather(axis, i.long()), {"axis": axis},
                       symbolic=True)
        suite.case("gather_elements", [random((4, 5), dtype), indices((2, 3), 4)], lambda x, i: x.gather(0, i),
                   {"axis": 0}, label="fewer columns of indices")
        for shape, axis in [((7,), 0), ((3, 5), 1), ((5, 2, 3), -3)]:
            order = random(shape, torch.float32).argsort(axis)
            index = order.narrow(axis, 0, 2)
            for label, index in [("", index), ("fewer rows of indices", index.narrow((axis + 1) % len(shape), 0, 2))]:
                suite.case("scatter_elements", [with_specials(shape, dtype), index, random(index.shape, dtype)],
                           lambda x, i, s: torch_scatter(x, axis, i, s, "set"), {"axis": axis, "mode": "set"},
                           label=label)
    for dtype in FLOATS + INTS:
        for mode in MODES:
            for shape, axis in [((7,), 0), ((3, 5), 1), ((3, 5), 0)]:
                suite.case("scatter_elements", [random(shape, dtype), indices(shape, shape[axis]),
                                                random(shape, dtype)],
                           lambda x, i, s: torch_scatter(x, axis, i, s, mode), {"axis": axis, "mode": mode},
                           if_defined=True)


def addressed(index):
    """The last dim of `index` as a tuple of index tensors."""
    return tuple(index[..., k].long() for k in range(index.shape[-1]))


def address(shape, leading, count=None):
    """Random positions in the first `leading` dims; distinct ones when `count` is given."""
    sizes = torch.tensor(shape[:leading])
    if count is None:
        return (torch.rand((2, 3, leading)) * sizes).long()
    flat = torch.randperm(int(sizes.prod()))[:count]
    return torch.stack(torch.unravel_index(flat, tuple(shape[:leading])), -1)


def nd_cases(suite):
    for dtype in ALL:
        for shape, leading in [((7,), 1), ((3, 5), 1), ((3, 5), 2), ((2, 4, 3), 2), ((2, 4, 3), 3)]:
            x = with_specials(shape, dtype)
            suite.case("gather_nd", [x, address(shape, leading)], lambda x, i: x[addressed(i)])
            index = address(shape, leading, 2)
            updates = random((2,) + shape[leading:], dtype)
            suite.case("scatter_nd", [x, index, updates],
                       lambda x, i, u: x.index_put(addressed(i), u), {"mode": "set"})
            suite.case("scatter_nd", [random(shape, dtype), address(shape, leading, 2), updates],
                       lambda x, i, u: x.index_put(addressed(i), u, accumulate=True), {"mode": "add"},
                       if_defined=dtype == torch.bool)
    for mode, combine in [("max", torch.maximum), ("min", torch.minimum), ("mul", torch.mul)]:
        x, index = random((4, 3), torch.float32), address((4, 3), 1, 2)
        suite.case("scatter_nd", [x, index, random((2, 3), torch.float32)],
                   lambda x, i, u: x.index_put(addressed(i), combine(x[addressed(i)], u)), {"mode": mode})


def add_cases(suite):
    flat_cases(suite)
    slice_cases(suite)
    element_cases(suite)
    nd_cases(suite)

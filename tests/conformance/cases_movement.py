"""Movement. Data is only moved, so every dtype takes its turn and results are exact."""

import itertools

import torch
import torch.nn.functional as F

from inputs import ALL, booleans, random, with_specials

DTYPE_CYCLE = itertools.cycle(ALL)


def fill(shape):
    return with_specials(shape, next(DTYPE_CYCLE))


def order_cases(suite):
    for shape in [(5,), (3, 5), (2, 3, 5), (2, 1, 0, 3), (2, 3, 1, 5)]:
        orders = list(itertools.permutations(range(len(shape))))
        for order in orders if len(orders) <= 6 else orders[::5]:
            order = [axis - len(shape) if axis % 2 else axis for axis in order]
            suite.case("permute", [fill(shape)], lambda x: x.permute(order), {"order": order}, symbolic=True)
    suite.case("permute", [fill(())], lambda x: x.permute([]), {"order": []})
    for shape in [(3, 5), (2, 3, 5), (1, 0, 7, 2)]:
        for a, b in [(0, 1), (-1, -2), (0, -1), (1, 1)]:
            args = {"axis0": a, "axis1": b}
            suite.case("transpose", [fill(shape)], lambda x: x.transpose(a, b), args, symbolic=True)
            suite.case("moveaxis", [fill(shape)], lambda x: x.moveaxis(a, b), {"from": a, "to": b}, symbolic=True)
    for dtype in ALL:
        suite.case("t", [random((3, 5), dtype)], torch.t, symbolic=True)
    for shape in [(), (7,), (0, 3), (1, 1)]:
        suite.case("t", [fill(shape)], torch.t, symbolic=True)


def reshape_cases(suite):
    for shape, to in [((3, 4), [12]), ((3, 4), [2, 6]), ((3, 4), [-1]), ((3, 4), [2, -1, 3]), ((12,), [2, 2, 3]),
                      ((), [1, 1]), ((1, 1), []), ((0, 3), [3, 0]), ((0, 3), [-1, 3]), ((2, 3, 5), [-1, 5]),
                      ((2, 3, 5), [6, 5]), ((7,), [7, 1]), ((1, 7), [7]), ((2, 0, 5), [0])]:
        for _ in range(3):
            suite.case("reshape", [fill(shape)], lambda x: x.reshape(to), {"shape": to})
    for shape in [(2, 3, 5), (2, 3, 4, 5), (0, 2, 3)]:
        for first, last in [(0, -1), (0, 1), (1, -1), (-2, -1), (1, 1)]:
            args = {"first": first, "last": last}
            suite.case("flatten", [fill(shape)], lambda x: x.flatten(first, last), args, symbolic=True)
    for shape in [(), (7,)]:
        suite.case("flatten", [fill(shape)], lambda x: x.flatten(), {"first": 0, "last": -1}, symbolic=True)
    for shape, axes in [((3, 5), [0, -2]), ((2, 3, 5), [0, 1, -2]), ((2, 0, 5, 1), [0, 1, 2])]:
        for axis in axes:
            first = axis % len(shape)
            suite.case("merge_dims", [fill(shape)], lambda x: x.flatten(first, first + 1), {"axis": axis},
                       symbolic=True)
    for shape, axis, inner in [((12,), 0, 3), ((12,), -1, 12), ((2, 12), 1, 4), ((6, 5), 0, 1), ((0, 4), 0, 2),
                               ((3, 0), 1, 5), ((2, 9, 4), -2, 3)]:
        suite.case("split_dims", [fill(shape)], lambda x: x.unflatten(axis, [x.shape[axis] // inner, inner]),
                   {"axis": axis, "inner": inner})
    for shape, axis, sizes in [((12,), 0, [3, 4]), ((12,), -1, [2, 3, 2]), ((2, 12), 1, [-1, 4]), ((6, 5), 0, [6, 1]),
                               ((0, 4), 0, [0, 2]), ((2, 8, 3), -2, [2, 2, -1]), ((1, 7), 0, [1, 1, 1])]:
        suite.case("unflatten", [fill(shape)], lambda x: x.unflatten(axis, sizes), {"axis": axis, "sizes": sizes})


def size_one_cases(suite):
    for shape in [(1,), (3, 1), (1, 3, 1, 5), (2, 3), (), (1, 0, 1)]:
        suite.case("squeeze", [fill(shape)], torch.squeeze, {"axes": []}, symbolic=True)
    for shape, axes in [((1, 3), [0]), ((1, 3, 1), [-1]), ((1, 3, 1), [0, 2]), ((2, 3), [0]), ((2, 1, 0), [1, 2])]:
        suite.case("squeeze", [fill(shape)], lambda x: x.squeeze(axes), {"axes": axes}, symbolic=True)
    for shape in [(), (7,), (3, 5), (0, 2, 3)]:
        for axis in range(-len(shape) - 1, len(shape) + 1):
            suite.case("unsqueeze", [fill(shape)], lambda x: x.unsqueeze(axis), {"axis": axis}, symbolic=True)


def repetition_cases(suite):
    for shape, to in [((1, 5), [3, 5]), ((5,), [3, 5]), ((3, 1), [-1, 4]), ((), [2, 3]), ((1,), [0]),
                      ((2, 1, 3), [2, 7, -1]), ((0, 1), [0, 3]), ((1, 1), [2, 5, 1, 3])]:
        suite.case("expand", [fill(shape)], lambda x: x.expand(to), {"shape": to})
        whole = list(fill(shape).expand(to).shape)
        suite.case("broadcast_to", [fill(shape)], lambda x: x.broadcast_to(whole), {"shape": whole})
    for shape, axis, size in [((3, 5), 0, 2), ((3, 5), 1, 4), ((3, 5), -1, 3), ((), 0, 5), ((7,), -2, 1),
                              ((0, 2), 1, 3), ((2, 3), 2, 0)]:
        suite.case("expand_dim", [fill(shape)],
                   lambda x: x.unsqueeze(axis).expand([size if k == axis % (x.dim() + 1) else -1
                                                       for k in range(x.dim() + 1)]),
                   {"axis": axis, "size": size}, symbolic=True)
    for shape, times in [((3,), [2]), ((3, 5), [2, 3]), ((5,), [2, 3]), ((), [4]), ((3, 5), [1, 1]),
                         ((2, 3), [2, 1, 3]), ((0, 2), [3, 2]), ((3,), [0])]:
        suite.case("repeat", [fill(shape)], lambda x: x.repeat(times), {"times": times}, symbolic=True)
    for shape, times in [((3,), [2]), ((3, 5), [3]), ((5,), [2, 3]), ((), [4]), ((2, 3, 4), [2, 1]), ((0, 2), [2, 2])]:
        suite.case("tile", [fill(shape)], lambda x: x.tile(times), {"times": times}, symbolic=True)
    for shape, times, axis in [((3,), 2, 0), ((3, 5), 3, 1), ((3, 5), 2, -2), ((2, 3, 4), 1, 1), ((0, 2), 3, 1),
                               ((2, 2), 0, 0), ((1, 7), 5, 0)]:
        suite.case("repeat_interleave", [fill(shape)], lambda x: x.repeat_interleave(times, axis),
                   {"times": times, "axis": axis}, symbolic=True)


def python_slice(x, axis, start, stop, step):
    """x[start:stop:step] along an axis, negative steps included (torch has none)."""
    return x.index_select(axis, torch.tensor(range(*slice(start, stop, step).indices(x.shape[axis])),
                                             dtype=torch.int64))


def slice_cases(suite):
    for start, stop, step in [(None, None, 1), (1, None, 1), (None, 4, 1), (2, 5, 1), (-3, None, 1), (None, -2, 1),
                              (0, 7, 2), (1, 100, 3), (5, 2, 1), (-100, 3, 1), (None, None, -1), (5, 1, -2),
                              (-1, -5, -1), (None, 2, -3), (3, 3, 1), (6, None, -1), (9, None, 1), (None, -9, -1)]:
        for shape, axis in [((7,), 0), ((3, 7), -1), ((7, 2, 2), 0)]:
            args = {"axis": axis, "start": start, "stop": stop, "step": step}
            suite.case("slice", [fill(shape)], lambda x: python_slice(x, axis, start, stop, step), args, symbolic=True)
    suite.case("slice", [fill((0, 3))], lambda x: x[0:1], {"axis": 0, "start": 0, "stop": 1, "step": 1})
    for shape, ranges in [((7,), [[1, 4]]), ((5, 7), [[1, 4], [2, 7]]), ((5, 7, 3), [[0, 5], [3, 4]]), ((4, 4), []),
                          ((5, 5), [[2, 2], [0, 5]]), ((6, 3), [[-4, -1]])]:
        suite.case("slice", [fill(shape)], lambda x: x[tuple(slice(a, b) for a, b in ranges)] if ranges else x,
                   {"ranges": ranges}, symbolic=True)
    for shape, axis, start, length in [((7,), 0, 2, 3), ((3, 7), -1, 0, 7), ((3, 7), 1, 6, 1), ((5, 2), 0, 1, 0),
                                       ((5, 2), -2, 4, 1), ((0, 3), 1, 1, 2), ((2, 3, 5), 2, 1, 4)]:
        suite.case("narrow", [fill(shape)], lambda x: x.narrow(axis, start, length),
                   {"axis": axis, "start": start, "length": length})
    for shape, axis, index in [((7,), 0, 3), ((3, 7), -1, 0), ((3, 7), 0, 2), ((3, 5), 1, -1), ((2, 0, 3), 2, 1),
                               ((5, 1), 1, 0), ((2, 3, 5), 1, -3)]:
        suite.case("select", [fill(shape)], lambda x: x.select(axis, index), {"axis": axis, "index": index})


def torch_pad(x, amounts, value):
    flat = [n for pair in reversed(amounts + [(0, 0)] * (x.dim() - len(amounts))) for n in pair]
    return F.pad(x, flat, value=value)


def pad_cases(suite):
    for shape, amounts in [((5,), [(2, 3)]), ((3, 5), [(1, 0), (0, 2)]), ((3, 5), [(0, 0)]),
                           ((2, 3, 5), [(0, 1), (2, 2)]),
                           ((5, 5), [(-1, 2), (1, -2)]), ((7,), [(-2, -3)]), ((0, 2), [(1, 1), (0, 0)]), ((), []),
                           ((3, 4), [(5, 5), (-1, -1)])]:
        for value in [0, 1, -2.5, float("-inf")]:
            dtype = next(DTYPE_CYCLE)
            if isinstance(value, float) and not dtype.is_floating_point:
                dtype = torch.float32
            suite.case("pad", [with_specials(shape, dtype), value], lambda x, v: torch_pad(x, amounts, v),
                       {"amounts": amounts}, symbolic=all(n >= 0 for pair in amounts for n in pair))
    for shape, axis, before, after in [((5,), 0, 1, 2), ((3, 5), -1, 0, 3), ((3, 5), 0, 2, 0), ((3, 5), 1, -2, 1),
                                       ((2, 3, 4), 1, 1, 1), ((0, 3), 0, 2, 1), ((6, 2), 0, -1, -2)]:
        amounts = [(0, 0)] * (axis % len(shape)) + [(before, after)]
        for value in [0, 7]:
            suite.case("pad_along", [fill(shape), value], lambda x, v: torch_pad(x, amounts, v),
                       {"axis": axis, "before": before, "after": after}, symbolic=min(before, after) >= 0)


def rearrangement_cases(suite):
    for shape, axes in [((7,), [0]), ((3, 5), [1]), ((3, 5), [0, -1]), ((2, 3, 5), [1]), ((2, 3, 5), [0, 2]),
                        ((0, 3), [0]), ((3, 1), []), ((1, 7, 1), [0, 1, 2])]:
        suite.case("flip", [fill(shape)], lambda x: x.flip(axes), {"axes": axes}, symbolic=True)
    for shape, axis in [((7,), 0), ((3, 5), 1), ((3, 5), -2), ((2, 1, 3), 1), ((0, 3), 0)]:
        for shift in [0, 1, 3, -2, 11]:
            suite.case("roll", [fill(shape)], lambda x: x.roll(shift, axis), {"shift": shift, "axis": axis},
                       symbolic=True)
    for shape, axis, size, step, dilation in [((9,), 0, 3, 1, 1), ((9,), 0, 3, 2, 1), ((9,), 0, 2, 3, 1),
                                              ((3, 9), 1, 4, 1, 2),
                                              ((9, 3), 0, 3, 2, 3), ((2, 7, 3), -2, 7, 1, 1), ((5, 0), 0, 2, 1, 1),
                                              ((7,), 0, 1, 1, 1)]:
        suite.case("unfold", [fill(shape)], lambda x: x.unfold(axis, (size - 1) * dilation + 1, step)[..., ::dilation],
                   {"axis": axis, "size": size, "step": step, "dilation": dilation})
    for shape, axis0, axis1 in [((5, 5), 0, 1), ((3, 7), 0, 1), ((7, 3), 1, 0), ((2, 3, 5), -2, -1), ((3, 2, 3), 0, 2),
                                ((0, 3), 0, 1)]:
        for offset in [0, 1, -2, 9]:
            suite.case("diagonal", [fill(shape)], lambda x: x.diagonal(offset, axis0, axis1),
                       {"offset": offset, "axis0": axis0, "axis1": axis1}, symbolic=offset == 0)


def joining_cases(suite):
    for shapes, axis in [([(3,), (5,)], 0), ([(2, 3), (4, 3)], 0), ([(2, 3), (2, 5), (2, 1)], 1), ([(2, 3)], -1),
                         ([(2, 3), (2, 0), (2, 2)], -1), ([(0,), (0,)], 0), ([(2, 3, 4), (2, 3, 4)], -2),
                         ([(1, 5)] * 7, 0)]:
        for _ in range(4):
            dtype = next(DTYPE_CYCLE)
            xs = [with_specials(shape, dtype) for shape in shapes]
            suite.case("concat", xs, lambda *xs: torch.cat(xs, axis), {"axis": axis}, symbolic=True)
    mixed = [random((2, 3), torch.int32), random((2, 3), torch.float16), booleans((2, 3))]
    suite.case("concat", mixed, lambda *xs: torch.cat(xs, 1), {"axis": 1}, label="promotes")
    for shape, count, axis in [((3,), 2, 0), ((3, 5), 3, 1), ((3, 5), 2, -1), ((), 4, 0), ((0, 2), 2, 1),
                               ((2, 3), 1, -3)]:
        for _ in range(3):
            dtype = next(DTYPE_CYCLE)
            xs = [with_specials(shape, dtype) for _ in range(count)]
            suite.case("stack", xs, lambda *xs: torch.stack(xs, axis), {"axis": axis}, symbolic=True)


def splitting_cases(suite):
    for shape, size, axis in [((7,), 3, 0), ((7,), 7, 0), ((7,), 9, 0), ((3, 6), 2, 1), ((3, 6), 4, -1),
                              ((4, 0), 2, 0)]:
        suite.case("split", [fill(shape)], lambda x: x.split(size, axis), {"size": size, "axis": axis})
    for shape, sizes, axis in [((7,), [3, 4], 0), ((7,), [1, 0, 6], 0), ((3, 6), [2, 2, 2], -1), ((5, 2), [5], 0)]:
        suite.case("split", [fill(shape)], lambda x: x.split(sizes, axis), {"sizes": sizes, "axis": axis})
    for shape, chunks, axis in [((7,), 3, 0), ((7,), 7, 0), ((7,), 10, 0), ((3, 6), 2, 1), ((3, 6), 4, -1),
                                ((6, 0), 3, 0), ((5, 2), 1, -2)]:
        suite.case("chunk", [fill(shape)], lambda x: x.chunk(chunks, axis), {"chunks": chunks, "axis": axis})
    for shape, axis in [((3,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((2, 0, 3), 0), ((1, 7), 0)]:
        suite.case("unbind", [fill(shape)], lambda x: x.unbind(axis), {"axis": axis})


def add_cases(suite):
    order_cases(suite)
    reshape_cases(suite)
    size_one_cases(suite)
    repetition_cases(suite)
    slice_cases(suite)
    pad_cases(suite)
    rearrangement_cases(suite)
    joining_cases(suite)
    splitting_cases(suite)

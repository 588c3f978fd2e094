"""Softmax and normalisation."""

import math

import torch
import torch.nn.functional as F

from inputs import FLOATS, normal, uniform, with_specials

SOFTMAXES = {"softmax": torch.softmax, "log_softmax": torch.log_softmax, "softmin": F.softmin}


def softmax_cases(suite):
    for function, expect in SOFTMAXES.items():
        for dtype in FLOATS:
            for shape, axis in [((7,), 0), ((3, 5), -1), ((3, 5), 0), ((2, 3, 5), 1), ((4, 1), 1), ((0, 3), 1),
                                ((3, 0), 1), ((), 0), ((2, 61), -1)]:
                suite.case(function, [normal(shape, dtype, 3.0)], lambda x: expect(x, dim=axis), {"axis": axis},
                           symbolic=True)
            suite.case(function, [with_specials((5, 6), dtype)], lambda x: expect(x, dim=1), {"axis": 1}, label="NaN")
            rows = torch.tensor([[-math.inf, 0.0, 1.0], [-math.inf, -math.inf, -math.inf], [1000.0, 999.0, 0.0],
                                 [-1e4, -1e4, -1e4 - 1], [60.0, -60.0, 0.0]], dtype=dtype)
            suite.case(function, [rows], lambda x: expect(x, dim=1), {"axis": 1}, label="extremes")


def layer_cases(suite):
    for dtype in FLOATS:
        for shape, rank in [((3, 5), 1), ((2, 3, 5), 1), ((2, 3, 5), 2), ((7,), 1), ((4, 1), 1), ((0, 3), 1),
                            ((2, 61), 1)]:
            x = normal(shape, dtype, 2.0) + 0.5
            inner = shape[-rank:]
            weight, bias = normal(inner, dtype), normal(inner, dtype)
            for operands in [[x, None, None], [x, weight, None], [x, weight, bias]]:
                for eps in [1e-5, 1e-2]:
                    suite.case("layer_norm", operands, lambda x, w, b: F.layer_norm(x, inner, w, b, eps),
                               {"rank": rank, "eps": eps}, symbolic=True)
            if rank == 1:
                for operands in [[x, None], [x, weight]]:
                    suite.case("rms_norm", operands, lambda x, w: F.rms_norm(x, inner, w, 1e-6), {"eps": 1e-6},
                               symbolic=True)
        for shape, axis in [((3, 5), 1), ((3, 5), 0), ((2, 3, 5), -2), ((0, 3), 1), ((2, 1), 1)]:
            x = normal(shape, dtype, 2.0)
            for p in [2.0, 1.0, 3.0]:
                suite.case("normalize", [x], lambda x: F.normalize(x, p, axis, 1e-12),
                           {"p": p, "axis": axis, "eps": 1e-12}, symbolic=True)
            wide = torch.float64 if dtype == torch.float64 else torch.float32  # torch has none of these two
            suite.case("mean_norm", [x], lambda x: (x.to(wide) - x.to(wide).mean(axis, keepdim=True)).to(dtype),
                       {"axis": axis}, symbolic=True)
            suite.case("std_norm", [x],
                       lambda x: (x.to(wide) * (x.to(wide).square().mean(axis, keepdim=True) + 1e-5).rsqrt()).to(dtype),
                       {"axis": axis, "eps": 1e-5}, symbolic=True)
        suite.case("normalize", [torch.zeros((2, 3), dtype=dtype)], lambda x: F.normalize(x, 2.0, 1, 1e-12),
                   {"p": 2.0, "axis": 1, "eps": 1e-12}, label="zeros")


def channel_cases(suite):
    for dtype in FLOATS:
        for shape in [(2, 6), (2, 6, 5), (3, 4, 2, 3), (1, 4, 1, 1, 2), (0, 4, 3)]:
            channels = shape[1]
            x = normal(shape, dtype, 2.0)
            mean, var = normal((channels,), dtype), uniform((channels,), dtype, 0.5, 2.0)
            weight, bias = normal((channels,), dtype), normal((channels,), dtype)
            for affine in [[None, None], [weight, bias]]:
                suite.case("batch_norm", [x, mean, var] + affine,
                           lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, False, 0.1, 1e-5), {"eps": 1e-5},
                           symbolic=True)
                for groups in [1, 2, channels] if math.prod(shape) else []:
                    suite.case("group_norm", [x] + affine, lambda x, w, b: F.group_norm(x, groups, w, b, 1e-5),
                               {"groups": groups, "eps": 1e-5}, if_defined=True)
                if len(shape) > 2 and math.prod(shape[2:]) > 1:
                    suite.case("instance_norm", [x] + affine,
                               lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-5), {"eps": 1e-5},
                               if_defined=True)


def add_cases(suite):
    softmax_cases(suite)
    layer_cases(suite)
    channel_cases(suite)

"""Convolution and pooling."""

import torch
import torch.nn.functional as F

from inputs import FLOATS, normal, with_specials

CONV = {"conv1d": (F.conv1d, 1), "conv2d": (F.conv2d, 2), "conv3d": (F.conv3d, 3)}
TRANSPOSED = {"conv_transpose1d": (F.conv_transpose1d, 1), "conv_transpose2d": (F.conv_transpose2d, 2)}
MAX_POOL = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVG_POOL = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_AVG = {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d}
ADAPTIVE_MAX = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}
SIZES = {1: (11,), 2: (7, 9), 3: (5, 6, 4)}
OPTIONS = [{}, {"stride": [2]}, {"padding": [1]}, {"dilation": [2]}, {"stride": [2], "padding": [2], "dilation": [2]},
           {"groups": 2}, {"groups": 4, "padding": [1]}]


def whole(options):
    """torch's arguments: a list of one is a number."""
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in options.items()}


def conv_cases(suite):
    for function, (expect, rank) in CONV.items():
        for dtype in FLOATS:
            for options in OPTIONS if rank < 3 or dtype == torch.float32 else OPTIONS[:3]:
                groups = options.get("groups", 1)
                weight = normal((8, 4 // groups) + (3, 2, 2)[:rank], dtype)
                x = normal((2, 4) + SIZES[rank], dtype)
                for bias in [None, normal((8,), dtype)]:
                    suite.case(function, [x, weight, bias], lambda x, w, b: expect(x, w, b, **whole(options)), options)
        x, weight = normal((1, 3) + SIZES[rank]), normal((5, 3) + (1,) * rank)
        suite.case(function, [x, weight, None], expect, {}, label="kernel of 1")
        suite.case(function, [normal((0, 3) + SIZES[rank]), weight, None], expect, {}, label="empty batch")
    x, weight = normal((2, 3, 7, 9)), normal((4, 3, 3, 2))
    options = {"stride": [2, 1], "padding": [0, 2], "dilation": [1, 3]}
    suite.case("conv2d", [x, weight, None], lambda x, w, b: F.conv2d(x, w, b, **options), options, label="per axis")


def transposed_cases(suite):
    for function, (expect, rank) in TRANSPOSED.items():
        for dtype in FLOATS:
            for options in OPTIONS + [{"stride": [3], "output_padding": [2]},
                                      {"stride": [2], "padding": [1], "output_padding": [1]}]:
                groups = options.get("groups", 1)
                x, weight = normal((2, 4) + SIZES[rank], dtype), normal((4, 6 // min(groups, 2)) + (3, 2)[:rank], dtype)
                bias = normal((weight.shape[1] * groups,), dtype)
                for b in [None, bias]:
                    suite.case(function, [x, weight, b], lambda x, w, b: expect(x, w, b, **whole(options)), options)


def pool_cases(suite):
    pools = [{"kernel": [2]}, {"kernel": [3], "stride": [2]}, {"kernel": [3], "stride": [1], "padding": [1]},
             {"kernel": [2], "stride": [3], "ceil_mode": True},
             {"kernel": [3], "stride": [2], "padding": [1], "ceil_mode": True}]
    for rank in [1, 2, 3]:
        for dtype in FLOATS:
            for options in pools:
                # The kernel's length is the rank, so it is written out.
                options = options | {"kernel": options["kernel"] * rank}
                arguments = [options["kernel"], options.get("stride", []) * rank or None]
                padding, ceil_mode = options.get("padding", [0])[0], options.get("ceil_mode", False)
                x = normal((2, 3) + SIZES[rank], dtype)
                for dilation in [1, 2]:
                    suite.case("max_pool", [x], lambda x: MAX_POOL[rank](x, *arguments, padding, dilation, ceil_mode),
                               options | {"dilation": [dilation]}, if_defined=True)
                for include in [True, False]:
                    suite.case("avg_pool", [x], lambda x: AVG_POOL[rank](x, *arguments, padding, ceil_mode, include),
                               options | {"count_include_pad": include}, if_defined=True)
            for output in [1, 2, 3, 4]:
                x = normal((2, 3) + SIZES[rank], dtype)
                suite.case("adaptive_avg_pool", [x], lambda x: ADAPTIVE_AVG[rank](x, [output] * rank),
                           {"output": [output] * rank}, if_defined=True)
                suite.case("adaptive_max_pool", [x], lambda x: ADAPTIVE_MAX[rank](x, [output] * rank),
                           {"output": [output] * rank}, if_defined=True)
    suite.case("max_pool", [with_specials((2, 2, 8), torch.float32)], lambda x: F.max_pool1d(x, 2), {"kernel": [2]},
               label="NaN and infinities")
    suite.case("max_pool", [normal((2, 2, 6, 8))], lambda x: F.max_pool2d(x, [3, 2], [1, 2]),
               {"kernel": [3, 2], "stride": [1, 2]}, label="per axis")


def add_cases(suite):
    conv_cases(suite)
    transposed_cases(suite)
    pool_cases(suite)

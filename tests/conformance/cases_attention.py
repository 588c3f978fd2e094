"""Attention and rotary embeddings."""

import torch
import torch.nn.functional as F

from inputs import FLOATS, booleans, integers, normal

# query, key and value shapes
HEADS = [((1, 3, 4), (1, 5, 4), (1, 5, 4)), ((2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6)),
         ((2, 1, 4), (2, 1, 4), (2, 1, 4)),
         ((1, 2, 11, 16), (1, 2, 11, 16), (1, 2, 11, 16)), ((1, 1, 0, 4), (1, 1, 3, 4), (1, 1, 3, 4))]


def attention_cases(suite):
    def case(operands, args=None, label="", **options):
        suite.case("scaled_dot_product_attention", operands,
                   lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options),
                   args, symbolic=not options.get("enable_gqa"), label=label)

    for dtype in FLOATS:
        for shapes in HEADS:
            q, k, v = [normal(shape, dtype) for shape in shapes]
            rows, columns = shapes[0][-2], shapes[1][-2]
            case([q, k, v, None])
            case([q, k, v, None], {"causal": True}, "causal", is_causal=True)
            case([q, k, v, None], {"scale": 0.3}, "scale", scale=0.3)
            allowed = booleans((rows, columns)) | (torch.arange(columns) == 0)
            case([q, k, v, allowed], label="bool mask")
            case([q, k, v, normal((rows, columns), dtype)], label="float mask")
            case([q, k, v, normal(shapes[0][:-2] + (1, columns), dtype)], label="float mask per head")
        q, k, v = normal((2, 6, 5, 4), dtype), normal((2, 2, 5, 4), dtype), normal((2, 2, 5, 4), dtype)
        case([q, k, v, None], {"enable_gqa": True}, "grouped heads", enable_gqa=True)
        case([q, k, v, None], {"enable_gqa": True, "causal": True}, "grouped heads", enable_gqa=True, is_causal=True)
        q, k, v = [normal((1, 2, 3, 4), dtype) for _ in range(3)]
        nothing = torch.tensor([[True, False, True], [False, False, False], [False, True, False]])
        case([q, k, v, nothing], label="a row that may attend to nothing")


def rope(x, positions, base, layout):
    """In f32 or wider, as the rest of a model's statistics."""
    wide = x.double() if x.dtype == torch.float64 else x.float()
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = (positions.to(torch.float64).unsqueeze(-1) * frequencies)
    cos, sin = angles.cos().to(wide.dtype), angles.sin().to(wide.dtype)
    if layout == "half":
        a, b = wide[..., : d // 2], wide[..., d // 2:]
        rotated = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    else:
        a, b = wide[..., 0::2], wide[..., 1::2]
        rotated = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
    return rotated.to(x.dtype)


def rope_cases(suite):
    for dtype in FLOATS:
        for layout in ["half", "interleaved"]:
            for shape in [(5, 8), (2, 3, 7, 4), (1, 2), (2, 0, 4)]:
                for base in [10000.0, 500000.0]:
                    x, positions = normal(shape, dtype), integers((shape[-2],), torch.int64, 0, 60)
                    suite.case("rope", [x, positions], lambda x, p: rope(x, p, base, layout),
                               {"base": base, "layout": layout})
            x, positions = normal((2, 3, 4, 6), dtype), integers((2, 1, 4), torch.int64, 0, 60)
            suite.case("rope", [x, positions], lambda x, p: rope(x, p, 10000.0, layout),
                       {"base": 10000.0, "layout": layout}, label="positions per batch")


def add_cases(suite):
    attention_cases(suite)
    rope_cases(suite)

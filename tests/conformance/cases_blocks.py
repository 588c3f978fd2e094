"""Quantised blocks, which torch does not have: the package gguf is what they are compared with."""

import numpy as np
import torch
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES

# Where a block has its f16 scales.
SCALES = {"q8_0": [0], "q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q2_k": [80, 82], "q3_k": [108],
          "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208], "mxfp4": []}


def blocks_of(name, rows, count):
    """Random blocks with scales of usual size, as u8[rows, count * bytes]."""
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name.upper()]][1]
    blocks = torch.randint(0, 256, (rows * count, size), dtype=torch.uint8)
    for at in SCALES[name]:
        scales = (torch.rand(rows * count, 1) * 0.2 - 0.1).to(torch.float16)
        blocks[:, at:at + 2] = scales.view(torch.uint8)
    if name == "mxfp4":
        blocks[:, 0] = 110 + blocks[:, 0] % 30
        for negative_zero in (blocks & 15 == 8, blocks >> 4 == 8):
            negative_zero[:, 0] = False
            blocks[negative_zero] = 0
    return blocks.reshape(rows, count * size)


def add_cases(suite):
    results = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
    for name in SCALES:
        values = lambda x: torch.from_numpy(quants.dequantize(x.numpy(), GGMLQuantizationType[name.upper()]).astype(np.float32))
        for dtype, text in results.items():
            for rows, count in [(3, 4), (1, 5)]:
                suite.case("dequantise", [blocks_of(name, rows, count)], lambda x: values(x).to(dtype),
                           {"type": name, "dtype": text}, symbolic=True, label=name)
        flat = blocks_of(name, 1, 4).reshape(-1)
        suite.case("dequantise", [flat], values, {"type": name, "dtype": "f32"}, label=name)

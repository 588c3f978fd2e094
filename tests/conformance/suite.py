"""Cases and their data, as generate.py writes them: cases.jsonl (one case a line) and data.bin (the elements)."""

import json
import math

import torch

import tolerances

DTYPES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2", torch.float8_e8m0fnu: "f8ue8m0",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
    torch.uint64: "u64", torch.uint32: "u32", torch.uint16: "u16", torch.uint8: "u8", torch.bool: "bool",
}
# What torch raises where it does not define a function for a dtype.
UNDEFINED = (RuntimeError, TypeError, NotImplementedError, IndexError)
# Symbolic runs give every dim of size 2 to 64 a symbol with these bounds (conformance.cpp knows them too).
SYMBOL_BOUNDS = (2, 64)


def type_text(x):
    if x is None:
        return "none"
    if isinstance(x, torch.Tensor):
        return DTYPES[x.dtype] + "[" + ",".join(str(n) for n in x.shape) + "]"
    return repr(x)


def widened(function, operands, expect, results):
    """What stands for torch's own results: the same call with f64 operands, rounded once."""
    dtypes = tolerances.WIDENED[function][1]
    wider = expect(*[x.double() if isinstance(x, torch.Tensor) and DTYPES[x.dtype] in dtypes else x for x in operands])
    wider = list(wider) if isinstance(wider, (list, tuple)) else [wider]
    return [w.to(r.dtype) for w, r in zip(wider, results, strict=True)]


def encode_number(x):
    """A number operand, with its kind: true, 3 and 3.0 are different operands."""
    if isinstance(x, bool):
        return {"bool": x}
    if isinstance(x, int):
        return {"int": x}
    return {"float": x if math.isfinite(x) else str(x)}


class Suite:
    def __init__(self, folder):
        self.cases_file = open(folder / "cases.jsonl", "w", encoding="utf-8")
        self.data_file = open(folder / "data.bin", "wb")
        self.offset = 0
        self.counts = {}      # function -> cases
        self.symbolic = 0     # of them, those to run again with symbols
        self.undefined = {}   # function -> operand types that torch does not define

    def close(self):
        self.cases_file.close()
        self.data_file.close()

    def store(self, tensor):
        flat = torch.empty(tensor.numel(), dtype=tensor.dtype)  # a view of size 1 may have a stride of 0
        data = flat.copy_(tensor.detach().reshape(-1)).view(torch.uint8).numpy().tobytes()
        row = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "offset": self.offset}
        self.data_file.write(data)
        self.offset += len(data)
        return row

    def encode(self, x):
        if x is None:
            return None
        return self.store(x) if isinstance(x, torch.Tensor) else encode_number(x)

    def case(self, function, operands, expect, args=None, symbolic=False, if_defined=False, label=""):
        """One case. `expect` maps the operands to the result (or results). `if_defined` leaves the case out where
        torch raises; otherwise that is an error of the suite. `symbolic` runs it again with symbolic dims."""
        try:
            results = expect(*operands)
        except UNDEFINED:
            if not if_defined:
                raise
            self.undefined.setdefault(function, set()).add(" ".join(type_text(x) for x in operands))
            return
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        if function in tolerances.WIDENED:
            results = widened(function, operands, expect, results)
        what = ", ".join(type_text(x) for x in operands) + (f" ({label})" if label else "")
        symbolic = symbolic and self.has_symbols(operands)
        row = {
            "function": function, "what": what,
            "operands": [self.encode(x) for x in operands], "args": args or {},
            "expected": [dict(self.store(r), **tolerances.of(function, DTYPES[r.dtype])) for r in results],
        }
        for expected in row["expected"]:
            if more := tolerances.gpu_atol(function, expected["dtype"], operands, expect):
                expected["gpu_atol"] = more
        if symbolic:
            row["symbolic"] = True
            self.symbolic += 1
        self.counts[function] = self.counts.get(function, 0) + 1
        json.dump(row, self.cases_file, separators=(",", ":"), allow_nan=False)
        self.cases_file.write("\n")

    @staticmethod
    def has_symbols(operands):
        lo, hi = SYMBOL_BOUNDS
        sizes = [n for x in operands if isinstance(x, torch.Tensor) for n in x.shape]
        return any(n >= lo for n in sizes) and all(n <= hi for n in sizes)

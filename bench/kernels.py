#!/usr/bin/env python3
"""Sets the kernels of bench_kernels beside eager PyTorch: the same cases, interleaved, medians.

    python3 bench/kernels.py build/release/bench_kernels [--threads 1,2] [--only softmax] [--rounds 3] [--best]

--best compares the best times instead of medians: for a machine that others use.
Exits with 1 when a case is slower than 0.95 of PyTorch's speed.
"""
import argparse
import math
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F


def two(f, dims):
    x, w = torch.randn(dims), torch.randn(dims[-1])
    return lambda: f(x, w)


def flat(f, n, dtype=torch.float32):
    x, z = torch.randn(n), torch.randn(n)
    if dtype == torch.int32:
        x, z = x * 100, z * 100
    x, z = x.to(dtype), z.to(dtype)
    return lambda: f(x, z)


FOLDS = {
    "softmax": lambda x, w: torch.softmax(x, 1),
    "softmax0": lambda x, w: torch.softmax(x, 0),
    "layer_norm": lambda x, w: F.layer_norm(x, (x.shape[1],), w),
    "rms_norm": lambda x, w: F.rms_norm(x, (x.shape[1],), w, 1e-5),
    "sum1": lambda x, w: x.sum(1),
    "max1": lambda x, w: x.amax(1),
    "argmax1": lambda x, w: x.argmax(1),
    "sum0": lambda x, w: x.sum(0),
    "max0": lambda x, w: x.amax(0),
    "mean023": lambda x, w: x.mean((0, 2, 3)),
    "mean23": lambda x, w: x.mean((2, 3)),
    "cumsum0": lambda x, w: x.cumsum(0),
    "cumsum1": lambda x, w: x.cumsum(1),
    "argsort1": lambda x, w: x.argsort(stable=True, dim=1),
    "times_row": lambda x, w: x * w,
    "transpose": lambda x, w: x.t().contiguous(),
    "add_transposed": lambda x, w: (x + w).t().contiguous(),
    "nchw_to_nhwc": lambda x, w: x.permute(0, 2, 3, 1).contiguous(),
    "heads": lambda x, w: x.permute(0, 2, 1, 3).contiguous(),
}
MAPS = {
    "copy": (lambda x, z: x.clone(), torch.float32),
    "add": (lambda x, z: x + z, torch.float32),
    "exp2": (lambda x, z: torch.exp2(x), torch.float32),
    "gelu": (lambda x, z: F.gelu(x), torch.float32),
    "gelu_tanh": (lambda x, z: F.gelu(x, approximate="tanh"), torch.float32),
    "silu": (lambda x, z: F.silu(x), torch.float32),
    "to_bf16": (lambda x, z: x.to(torch.bfloat16), torch.float32),
    "from_bf16": (lambda x, z: x.to(torch.float32), torch.bfloat16),
    "select": (lambda x, z: torch.where(x < z, x, z), torch.float32),
    "int_add": (lambda x, z: x + z, torch.int32),
    "add_bf16": (lambda x, z: x + z, torch.bfloat16),
    "to_f16": (lambda x, z: x.to(torch.float16), torch.float32),
}


def peer(name):
    kind, size = name.split()
    dims = [int(d) for d in size.split("x")]
    if kind in MAPS:
        return flat(MAPS[kind][0], dims[0], MAPS[kind][1])
    if kind == "times_column":
        x, c = torch.randn(dims), torch.randn(dims[0], 1)
        return lambda: x * c
    if kind == "index_add":
        x, z, which = torch.randn(dims), torch.randn(dims), torch.arange(dims[0]) * 7 % dims[0]
        return lambda: x.index_add(0, which, z)
    return two(FOLDS[kind], dims)


def seconds(f):
    f()
    start = time.perf_counter()
    f()
    calls = max(1, int(0.001 / max(1e-9, time.perf_counter() - start)))
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        samples.append((time.perf_counter() - start) / calls)
    return statistics.median(samples), min(samples)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--best", action="store_true")
    args = parser.parse_args()
    middle = min if args.best else statistics.median
    names = subprocess.run([args.program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    server = subprocess.Popen([args.program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    missed = 0
    for threads in [int(t) for t in args.threads.split(",")]:
        torch.set_num_threads(threads)
        ratios = []
        print(f"{'threads ' + str(threads):28} {'lumen us':>12} {'GB/s':>8} {'torch us':>12} {'speed':>7}")
        for name in [n for n in names if any(part in n for part in args.only.split(","))]:
            ours, theirs = [], []
            f = peer(name)
            for _ in range(args.rounds):
                server.stdin.write(f"{threads} {name}\n")
                server.stdin.flush()
                median, best, moved = server.stdout.readline().split()
                ours.append(float(best if args.best else median))
                theirs.append(seconds(f)[1 if args.best else 0] * 1e6)
            us, other = middle(ours), middle(theirs)
            ratios.append(other / us)
            missed += other / us < 0.95
            print(f"{name:28} {us:12.2f} {int(moved) / us / 1000:8.1f} {other:12.2f} {other / us:7.2f}"
                  + ("  <-- slower" if other / us < 0.95 else ""), flush=True)
        print(f"geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.2f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

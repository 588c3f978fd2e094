#!/usr/bin/env python3
"""Products of the CPU backend beside the same ones in torch, in turn, in one run.

    python bench/contract_peers.py build/release/bench_contract [--threads 1] [--rounds 7] [--only f32] [--thread-time]

Prints for each product the median and the least time of both, and how many times as fast as torch ours is.
"""
import argparse
import os
import statistics
import subprocess
import time

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8}


def products():
    for dtype in ("f32", "bf16", "i8"):
        for size in (128, 256, 512, 1024, 2048):
            for layout in ("nt", "nn"):
                yield f"mm {dtype} 1 {size} {size} {size} {layout}"
    for dtype in ("f32", "bf16", "f16"):
        for rows in (1, 4, 8):
            for layout in ("nt", "nn"):
                yield f"mm {dtype} 1 {rows} 4096 4096 {layout}"
    for dtype in ("f32", "bf16"):
        yield f"mm {dtype} 32 128 128 64 nt"
        yield f"mm {dtype} 32 128 64 128 nn"
        yield f"mm {dtype} 32 1 1024 128 nt"
    yield "conv f32 1 64 56 56 64 3 1 1"
    yield "conv f32 1 128 28 28 128 3 1 1"
    yield "conv f32 1 256 56 56 64 1 1 0"


def tensor(dtype, shape):
    if dtype == torch.int8:
        return torch.randint(-100, 100, shape).to(dtype)
    return torch.randn(shape).to(dtype)


def torch_product(line):
    kind, dtype, *rest = line.split()
    dtype = DTYPES[dtype]
    if kind == "conv":
        images, channels, height, width, out, window, stride, padding = map(int, rest)
        x, w = tensor(dtype, (images, channels, height, width)), tensor(dtype, (out, channels, window, window))
        return lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=padding)
    batch, m, n, k = map(int, rest[:4])
    a = tensor(dtype, (batch, m, k))
    b = tensor(dtype, (batch, n, k)).transpose(1, 2) if rest[4] == "nt" else tensor(dtype, (batch, k, n))
    if batch > 1:
        return lambda: torch.bmm(a, b)
    a, b = a[0], b[0]
    if dtype == torch.int8:
        return lambda: torch._int_mm(a, b)
    return lambda: a @ b


def measure(run, clock):
    run()
    times, begin = [], clock()
    while len(times) < 5 or (clock() - begin < 0.15 and len(times) < 2000):
        start = clock()
        run()
        times.append(clock() - start)
    return statistics.median(times), min(times)


class Worker:
    def __init__(self, program, threads):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say(f"threads {threads}")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.say(line)
        return self.process.stdout.readline().split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--thread-time", action="store_true", help="for one thread on a machine that others use, too")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    worker = Worker(options.program, options.threads)
    clock = time.thread_time if options.thread_time else time.perf_counter
    if options.thread_time:
        worker.say("clock thread")
    print(f"torch {torch.__version__}, {options.threads} threads, {os.cpu_count()} cores")
    print("matrix unit, operations/s, bf16 and i8:", *worker.ask("amx"))
    print("reading memory, bytes/s:", *worker.ask("read"))
    print(f"{'product':<36}{'ours us':>10}{'torch us':>10}{'median':>8}{'least':>8}  schedule")
    for line in products():
        if options.only not in line:
            continue
        try:
            peer = torch_product(line)
            peer()
        except RuntimeError:  # torch has no such product
            peer = None
        worker.ask(line)  # chooses the schedule
        ours, theirs = [], []
        for _ in range(options.rounds):
            answer = worker.ask(line)
            ours.append((float(answer[0]), float(answer[1])))
            if peer is not None:
                theirs.append(measure(peer, clock))
        worker.say("drop")
        mine = [statistics.median(t[0] for t in ours), min(t[1] for t in ours)]
        text = f"{line:<36}{mine[0] * 1e6:>10.1f}"
        if theirs:
            other = [statistics.median(t[0] for t in theirs), min(t[1] for t in theirs)]
            text += f"{other[0] * 1e6:>10.1f}{other[0] / mine[0]:>8.2f}{other[1] / mine[1]:>8.2f}"
        else:
            text += f"{'-':>10}{'':>16}"
        print(text, "", " ".join(answer[2:]), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How much of a run its kernels account for, by the trace of `lumen run --trace`: the median of some runs of each graph.

    bench/trace_share.py [GRAPH.hlir ...]

Exits with 1 where kernels add up to less than 95 % of the run that they are part of, or to more than all of it.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LEAST = 0.95


def share_of(lumen, graph, folder):
    """Seconds of the run, and the part of them that is in kernels."""
    trace = Path(folder) / "trace.json"
    subprocess.run([lumen, "run", graph, "--trace", trace], check=True, capture_output=True)
    events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    took = {"run": 0.0, "kernel": 0.0}
    for event in events:
        if event.get("cat") in took:
            took[event["cat"]] += event["dur"]
    return took["run"] * 1e-6, took["kernel"] / took["run"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["examples/transformer_block.hlir", "examples/late_sum.hlir"])
    parser.add_argument("--lumen", default="build/release/lumen")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for graph in options.graphs:
            runs = [share_of(options.lumen, graph, folder) for _ in range(options.rounds)]
            share = statistics.median(part for _, part in runs)
            good = good and LEAST <= share <= 1.001
            print(f"{graph}: kernels are {100 * share:.1f} % of a run of {1e6 * statistics.median(s for s, _ in runs):.1f} us")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

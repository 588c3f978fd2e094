"""Runs a program by one engine in a process of its own and says what it took and what it printed."""

import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

WORKER = Path(__file__).with_name("egglog_worker.py")
WARM_EXEC = Path(__file__).with_name("warm_exec.py")
TIME_LINE = re.compile(r"^; time ([0-9.]+) s, peak ([0-9.]+) MB, rows (\d+), classes (\d+)$", re.MULTILINE)


class Failure(Exception):
    pass


@dataclass
class Run:
    seconds: float
    peak_mb: float  # what the program added to what the process held before
    sizes: dict  # by print-size at the end of the program
    output: str
    process_mb: float = 0.0  # the whole process at its peak
    classes: int = 0

    def rows(self):
        return sum(self.sizes.values())


def last_sizes(output):
    """The pairs of the last (print-size) in `output`."""
    start = output.rfind("((")
    return {name: int(count) for name, count in re.findall(r"\(([^\s()]+) (\d+)\)", output[start:])}


def run_egglog(path, timeout):
    """None when it takes longer than `timeout` seconds."""
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    try:
        done = subprocess.run([sys.executable, WORKER, path], env=environment, timeout=timeout, capture_output=True,
                              text=True)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise Failure(f"egglog on {path}: {done.stderr.strip()[-2000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["cpu_seconds"] > 1.1 * result["seconds"] + 0.05:
        raise Failure(f"egglog on {path} used more than one thread: {result['cpu_seconds']:.2f} s of CPU time")
    output = "\n".join(result["outputs"])
    peak = result["peak_mb"]
    return Run(result["seconds"], peak - result["before_mb"], last_sizes(output), output, peak)


@functools.cache
def lumen_before(program):
    """Megabytes of a process that has no program to run: what egglog's process holds before is not counted either."""
    with tempfile.NamedTemporaryFile(suffix=".egg") as empty:
        done = subprocess.run([program, "egg", "--time", empty.name], capture_output=True, text=True, check=True)
    return float(TIME_LINE.search(done.stderr)[2])


def run_lumen(program, path, *options, timeout=600):
    command = [sys.executable, WARM_EXEC, program, "egg", "--time", *options, path]
    done = subprocess.run(command, timeout=timeout, capture_output=True, text=True)
    line = TIME_LINE.search(done.stderr)
    if done.returncode != 0 or line is None:
        raise Failure(f"lumen egg on {path} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    peak = float(line[2])
    added = peak - lumen_before(program)
    return Run(float(line[1]), added, last_sizes(done.stdout), done.stdout, peak, int(line[4]))


def median(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def markdown(header, rows):
    """A table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])

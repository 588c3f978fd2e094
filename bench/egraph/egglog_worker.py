"""Runs one program by PyPI egglog in this process and prints one JSON line: seconds for parsing and running (not for
starting and importing), memory before and at its peak, the threads the process has, and what the program printed.

The program is read by egglog's own `include`: text that passes through parse_program becomes Python objects, each with
a copy of the whole text, which takes gigabytes for programs of some hundred kilobytes and is no part of egglog."""

import json
import os
import sys
import time

import egglog.bindings as egglog


def status_field(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise KeyError(name)


def main():
    include = f'(include "{os.path.abspath(sys.argv[1])}")'
    before = status_field("VmHWM")
    egraph = egglog.EGraph()
    start = time.perf_counter()
    start_cpu = time.process_time()
    outputs = egraph.run_program(*egraph.parse_program(include))
    seconds = time.perf_counter() - start
    cpu_seconds = time.process_time() - start_cpu
    result = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "before_mb": before / 1024,
        "peak_mb": status_field("VmHWM") / 1024,
        "threads": status_field("Threads"),
        "outputs": [str(output) for output in outputs],
    }
    print(json.dumps(result))


main()

"""Times every chosen pattern by each peer and by Lumen, in turns, at one thread count; prints progress on stderr and
writes the results as JSON. bench/compare starts one for each thread count, in the peers' virtual environment."""
import argparse
import json
import re
import statistics
import sys
import time

import torch

import targets
from lumen_child import Failure, Lumen
from torch_cases import Pattern, exact_outputs, make_tensors

PEERS = ("eager", "compile", "onnxruntime")
# Seconds. The kernel brings the time of a thread that runs elsewhere up to date every 10 ms or so: a look must be longer.
REST, MOST_REST = 0.025, 0.5
# The largest error allowed, as a share of the largest value.
TOLERANCE = {"f32": 1e-4, "bf16": 2e-2, "f16": 3e-3, "i8": 0}


def timer(run):
    """Like Lumen's: seconds of one run, the mean of several after one that is not counted."""
    def timed(runs):
        run()
        start = time.perf_counter()
        for _ in range(runs):
            run()
        return (time.perf_counter() - start) / runs
    return timed


def make_peer(peer, case, tensors, threads):
    pattern = Pattern(case, tensors)
    if peer == "onnxruntime":
        from onnx_peer import make_onnx  # it need not be installed where it is left out
        return make_onnx(case, tensors, pattern, threads)
    function = torch.compile(pattern, dynamic=False) if peer == "compile" else pattern
    try:
        for _ in range(3):
            function(*pattern.data)
    except Exception as problem:  # whatever PyTorch cannot do; it is named in the results
        raise Failure(f"{type(problem).__name__}: {str(problem).splitlines()[0][:160]}") from None
    return lambda: function(*pattern.data)


def worst_error(case, tensors, outputs):
    """The largest difference from the exact outputs, as a share of the largest value."""
    worst = 0.0
    for expected, got in zip(exact_outputs(case, tensors), outputs):
        expected, got = expected.double(), got.double().view(expected.shape)
        scale = max(expected.abs().max().item(), 1e-30)
        error = ((got - expected).abs().max() / scale).item()
        worst = max(worst, error if error == error else float("inf"))
    return worst


def rest():
    """Until the threads of this process have fallen asleep: onnxruntime's wait busily for 50 ms after a run, on a core
    that the next in turn needs."""
    end = time.perf_counter() + MOST_REST
    while time.perf_counter() < end:
        used = time.process_time()
        time.sleep(REST)
        if time.process_time() - used < 0.1 * REST:
            return


def in_turns(timers, rounds, seconds):
    """Medians of everyone's trials; a round lets each make one."""
    runs = {}
    for who, timed in timers.items():
        rest()
        once = max(timed(1), 1e-7)
        runs[who] = max(1, min(20000, round(seconds / once)))
    times = {who: [] for who in timers}
    for _ in range(rounds):
        for who, timed in timers.items():
            rest()
            times[who].append(timed(runs[who]))
    return {who: statistics.median(t) for who, t in times.items()}, times


def run_case(case, lumen, options):
    tensors = make_tensors(case)
    result = {"name": case["name"], "problems": {}}
    timers = {}
    for peer in PEERS:
        if peer in options.without:
            continue
        try:
            timers[peer] = timer(make_peer(peer, case, tensors, options.threads))
        except Failure as problem:
            result["problems"][peer] = str(problem)
    try:
        timers["lumen"], outputs, result["compile"] = lumen.load(case, tensors)
        result["error"] = worst_error(case, tensors, outputs)
        result["agrees"] = result["error"] <= TOLERANCE[case["dtype"]]
    except Failure as problem:
        result["problems"]["lumen"] = str(problem)
    if targets.has_limit(case) and "lumen" in timers:
        timers["limit"] = lambda runs: lumen.ask(do="limit", case=case["name"], runs=runs)["seconds"]
    result["seconds"], result["trials"] = in_turns(timers, options.rounds, options.seconds)
    lumen.drop(case)
    torch.compiler.reset()
    return result


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--json", required=True)
    return parser.parse_args()


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    lumen = Lumen(options.lumen, options.threads)
    cases = [c for c in lumen.ask(do="cases")["cases"]
             if re.search(options.only, c["name"]) and (c["quick"] or not options.quick)]
    if not cases:
        sys.exit(f"no case has a name like `{options.only}`")
    report = {"threads": options.threads, "results": []}
    with torch.no_grad():
        for number, case in enumerate(cases, 1):
            if sys.stderr.isatty():
                print(f"\r{options.threads} threads  {number}/{len(cases)}  {case['name']:<50}", end="", file=sys.stderr)
            report["results"].append({**case, **run_case(case, lumen, options)})
    if sys.stderr.isatty():
        print(file=sys.stderr)
    lumen.close()
    with open(options.json, "w") as file:
        json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()

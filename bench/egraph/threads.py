"""1 against 2 threads on the largest cases, in turns; outputs must be the same to the letter.

The limit is what the machine gives to as many processes of one thread at once, beside one alone: cores share caches,
memory and, where they are virtual, more than that. A second table has the seconds of each phase."""

import argparse
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines import markdown, median, run_lumen
from programs.cases import choose

PHASES = ("search", "apply", "rebuild")


def run_at_once(count, *arguments):
    """The mean seconds of so many processes that run beside each other."""
    with ThreadPoolExecutor(count) as pool:
        runs = [pool.submit(run_lumen, *arguments) for _ in range(count)]
        return statistics.mean(run.result().seconds for run in runs)


def run_phases(report, *arguments):
    """A run, and the seconds of its phases."""
    run = run_lumen(*arguments, "--report", str(report))
    iterations = json.loads(report.read_text())["iterations"]
    return run, [sum(iteration[f"{phase}_seconds"] for iteration in iterations) for phase in PHASES]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", default="build/release/lumen")
    parser.add_argument("--only", default="math-large,closure-large", help="cases, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2", help="numbers of threads; ratios are to the first")
    options = parser.parse_args()
    threads = options.threads.split(",")
    rows, phase_rows, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        for case in choose(options.only):
            path, report = Path(folder) / f"{case.name}.egg", Path(folder) / "report.json"
            path.write_text(case.text())
            runs, ratios, limits = {count: [] for count in threads}, [], []
            phases = {count: [] for count in threads}
            for _ in range(options.rounds):
                for count in threads:
                    run, seconds = run_phases(report, options.lumen, str(path), "--threads", count)
                    runs[count].append(run)
                    phases[count].append(seconds)
                first, last = runs[threads[0]][-1].seconds, runs[threads[-1]][-1].seconds
                ratios.append(first / last)
                at_once = int(threads[-1])
                limits.append(at_once * first / run_at_once(at_once, options.lumen, str(path), "--threads", "1"))
            equal = len({run.output for found in runs.values() for run in found}) == 1
            same = same and equal
            seconds = [median(runs[count], "seconds") for count in threads]
            rows.append((case.title, *(f"{s:.3f}" for s in seconds),
                         f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})",
                         f"{statistics.median(limits):.2f}x ({min(limits):.2f} to {max(limits):.2f})",
                         "same" if equal else "DIFFERENT"))
            for k, phase in enumerate(PHASES):
                each = [statistics.median(seconds[k] for seconds in phases[count]) for count in threads]
                phase_rows.append((f"{case.title}: {phase}", *(f"{s:.3f}" for s in each), f"{each[0] / each[-1]:.2f}x"))
    print(markdown(("case", *(f"{count} threads s" for count in threads), "ratio", "limit", "outputs"), rows))
    print()
    print(markdown(("phase", *(f"{count} threads s" for count in threads), "ratio"), phase_rows))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

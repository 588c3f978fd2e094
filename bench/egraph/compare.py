"""Runs every case by egglog and by lumen, one after the other in turns, and prints medians and ratios.

The two must print the same sizes of tables; anything else is an error. See README.md."""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from engines import Failure, markdown, median, run_egglog, run_lumen
from programs.cases import choose

HEADER = ("case", "rows", "egglog s", "lumen s", "ratio", "egglog MB", "lumen MB", "ratio", "lumen rows/s")
ROUNDS_BUDGET = 60  # seconds of egglog for one case: slower ones get fewer rounds


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", default="build/release/lumen", help="the program to measure")
    parser.add_argument("--only", default="", help="cases, with commas between")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--egglog-timeout", type=float, default=120, metavar="S")
    parser.add_argument("--json", type=Path, help="writes all numbers there")
    parser.add_argument("--write", type=Path, metavar="DIR", help="only writes the programs there")
    return parser.parse_args()


def differences(theirs, ours):
    names = sorted(set(theirs.sizes) | set(ours.sizes))
    return [f"{name}: egglog {theirs.sizes.get(name)}, lumen {ours.sizes.get(name)}" for name in names
            if theirs.sizes.get(name) != ours.sizes.get(name)]


def check(case, egglog, lumen):
    """What is wrong with two runs of a case."""
    problems = []
    if egglog:
        problems += differences(egglog, lumen)
    if case.rows and lumen.rows() != case.rows:
        problems.append(f"{case.rows} rows expected, lumen has {lumen.rows()}")
    return [f"{case.name}: {problem}" for problem in problems]


def measure(case, path, options):
    """Runs of both, in turns, and what went wrong."""
    egglog, lumen, problems = [], [], []
    rounds, done, late = options.rounds, 0, False
    while done < rounds:
        if case.egglog and not late:
            run = run_egglog(path, options.egglog_timeout)
            late = run is None
            egglog += [] if late else [run]
            if run:
                rounds = max(1, min(options.rounds, int(ROUNDS_BUDGET / run.seconds)))
        lumen.append(run_lumen(options.lumen, path))
        problems += check(case, egglog[-1] if egglog else None, lumen[-1])
        done += 1
    return {"case": case.name, "title": case.title, "egglog": egglog, "lumen": lumen, "timeout": late}, problems


def summary(result, timeout):
    """The numbers of one row of the table; those of egglog are None where it did not run."""
    ours = result["lumen"]
    numbers = {"case": result["case"], "rows": ours[-1].rows(), "classes": ours[-1].classes, "rounds": len(ours),
               "lumen_seconds": median(ours, "seconds"), "lumen_mb": median(ours, "peak_mb"), "egglog_seconds": None,
               "egglog_mb": None, "egglog_process_mb": None, "egglog_timeout": timeout if result["timeout"] else None}
    if result["egglog"]:
        numbers["egglog_seconds"] = median(result["egglog"], "seconds")
        numbers["egglog_mb"] = median(result["egglog"], "peak_mb")
        numbers["egglog_process_mb"] = median(result["egglog"], "process_mb")
    return numbers


def row(title, n):
    def ratio(theirs, ours):
        return f"{theirs / ours:.1f}x" if theirs else "-"

    def number(value, digits):
        return f"{value:.{digits}f}" if value is not None else "-"

    theirs = f"> {n['egglog_timeout']:.0f}" if n["egglog_timeout"] else number(n["egglog_seconds"], 3)
    ours = max(n["lumen_seconds"], 0.001)
    return (title, f"{n['rows']:,}", theirs, number(n["lumen_seconds"], 3), ratio(n["egglog_seconds"], ours),
            number(n["egglog_mb"], 0), number(n["lumen_mb"], 0), ratio(n["egglog_mb"], n["lumen_mb"]),
            f"{n['rows'] / ours:,.0f}")


def layers_table(numbers):
    """Time against layers, without what the rules alone take."""
    layers = {int(n["case"].split("-")[1]): n for n in numbers if n["case"].startswith("compiler-")}
    if 0 not in layers or len(layers) < 3:
        return ""
    lines = []
    for count, n in sorted(layers.items()):
        if count == 0:
            continue
        cells = [str(count), f"{n['rows']:,}"]
        for engine in ("egglog_seconds", "lumen_seconds"):
            if n[engine] is None or layers[0][engine] is None:
                cells += ["-", "-"]
            else:
                added = n[engine] - layers[0][engine]
                cells += [f"{added:.3f}", f"{1000 * added / count:.1f}"]
        lines.append(cells)
    header = ("layers", "rows", "egglog s more", "ms per layer", "lumen s more", "ms per layer")
    return "\nTime that layers add to the rules alone:\n\n" + markdown(header, lines)


def write_programs(cases, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        (folder / f"{case.name}.egg").write_text(case.text())


def main():
    options = arguments()
    cases = choose(options.only)
    if options.write:
        write_programs(cases, options.write)
        return 0
    rows, numbers, problems = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            path = Path(folder) / f"{case.name}.egg"
            path.write_text(case.text())
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            try:
                result, wrong = measure(case, str(path), options)
            except Failure as failure:
                problems.append(str(failure))
                continue
            problems += wrong
            numbers.append(summary(result, options.egglog_timeout))
            rows.append(row(case.title, numbers[-1]))
    print(markdown(HEADER, rows))
    print(layers_table(numbers))
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")
    for problem in dict.fromkeys(problems):
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""1 against 2 threads on the largest cases, in turns; outputs must be the same to the letter."""

import argparse
import sys
import tempfile
from pathlib import Path

from engines import markdown, median, run_lumen
from programs.cases import choose


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", default="build/release/lumen")
    parser.add_argument("--only", default="math-large,closure-large", help="cases, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2", help="numbers of threads; ratios are to the first")
    options = parser.parse_args()
    threads = options.threads.split(",")
    rows, same = [], True
    with tempfile.TemporaryDirectory() as folder:
        for case in choose(options.only):
            path = Path(folder) / f"{case.name}.egg"
            path.write_text(case.text())
            runs = {count: [] for count in threads}
            for _ in range(options.rounds):
                for count in threads:
                    runs[count].append(run_lumen(options.lumen, str(path), "--threads", count))
            equal = len({run.output for found in runs.values() for run in found}) == 1
            same = same and equal
            seconds = [median(runs[count], "seconds") for count in threads]
            rows.append((case.title, *(f"{s:.3f}" for s in seconds), f"{seconds[0] / seconds[-1]:.2f}x",
                         "same" if equal else "DIFFERENT"))
    print(markdown(("case", *(f"{count} threads s" for count in threads), "ratio", "outputs"), rows))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

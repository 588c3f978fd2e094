"""Time of iterations against size, from 10^3 to 10^7 rows: search, apply and rebuild of programs that are made larger
and larger, per match, relative to the smallest size. Flat numbers mean linear growth.

An iteration counts at the size it ends with. Sizes are decades; all iterations of all programs of a family that end in
a decade are added up, so each line has enough time in it to be measured."""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from engines import markdown
from programs import datalog, mathematics

FAMILIES = {
    "transitive closure": [lambda n=n: datalog.transitive_closure(n) for n in (31, 101, 307, 1009, 3163)],
    "math": [lambda n=n: mathematics.plain(n) for n in (8, 10, 11, 12)],
}
HEADER = ("rows", "iterations", "matches", "seconds", "ns per match", "relative")


def iterations(lumen, text, folder, repeat):
    """Those of one program, each with the least time of `repeat` runs."""
    program, report = Path(folder) / "program.egg", Path(folder) / "report.json"
    program.write_text(text)
    best = None
    for _ in range(repeat):
        subprocess.run([lumen, "egg", "--report", str(report), str(program)], check=True, stdout=subprocess.DEVNULL)
        found = json.loads(report.read_text())["iterations"]
        for one in found:
            one["seconds"] = one["search_seconds"] + one["apply_seconds"] + one["rebuild_seconds"]
        if best is None:
            best = found
        for old, new in zip(best, found):
            old["seconds"] = min(old["seconds"], new["seconds"])
    return best


def by_decade(found):
    """{decade: (iterations, matches, seconds)}; the first decade is 10^3."""
    decades = {}
    for one in found:
        if one["matches"] == 0 or one["rows"] < 500:
            continue
        decade = max(3, round(math.log10(one["rows"])))
        count, matches, seconds = decades.get(decade, (0, 0, 0.0))
        decades[decade] = (count + 1, matches + one["matches"], seconds + one["seconds"])
    return decades


def table(decades):
    rows, first = [], None
    for decade, (count, matches, seconds) in sorted(decades.items()):
        each = 1e9 * seconds / matches
        first = first or each
        rows.append((f"10^{decade}", str(count), f"{matches:,}", f"{seconds:.4f}", f"{each:.0f}",
                     f"{each / first:.2f}"))
    return markdown(HEADER, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lumen", default="build/release/lumen")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each program; the least time counts")
    options = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, programs in FAMILIES.items():
            found = [one for text in programs for one in iterations(options.lumen, text(), folder, options.repeat)]
            decades = by_decade(found)
            print(f"\n{name}\n\n{table(decades)}")
            per_match = [seconds / matches for _, (_, matches, seconds) in sorted(decades.items())]
            worst = max([worst, *(b / a for i, a in enumerate(per_match) for b in per_match[i:])])
    print(f"\nthe most that a size costs per match, against any smaller size: {worst:.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())

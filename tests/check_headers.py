#!/usr/bin/env python3
"""Every header under lumen/, nn/ and models/ begins with #pragma once and compiles alone.

The build shows it for a header that its own source includes first; each of the others is compiled here, in a file that
includes only it, with -fsyntax-only, two at a time.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", action="append", default=[], help="a further -isystem folder")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    args = parser.parse_args()
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", f"-I{args.root}"]
    for folder in args.include:
        if folder != "/usr/include":
            flags += ["-isystem", folder]

    def problem_of(header):
        """What is wrong with it, or nothing."""
        if not re.search(r"^#pragma once$", (args.root / header).read_text(), re.M):
            return "has no #pragma once"
        source = (args.root / header).with_suffix(".cpp")
        first = re.search(r'^#include ["<](.*)[">]', source.read_text(), re.M) if source.exists() else None
        if first and first[1] == header:
            return ""
        run = subprocess.run(
            [args.compiler, *flags, "-x", "c++", "-"],
            input=f'#include "{header}"\n',
            text=True,
            capture_output=True,
            check=False,
        )
        return "" if run.returncode == 0 else f"does not compile alone\n{run.stderr}"

    folders = [args.root / name for name in ("lumen", "nn", "models")]
    headers = [path.relative_to(args.root).as_posix() for folder in folders for path in sorted(folder.rglob("*.h"))]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        failed = [(header, text) for header, text in zip(headers, pool.map(problem_of, headers)) if text]
    for header, text in failed:
        print(f"{header}:1: {text}")
    print(f"{len(headers) - len(failed)} of {len(headers)} headers compile alone")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())

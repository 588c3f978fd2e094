#!/usr/bin/env python3
"""Every header under lumen/, nn/ and models/ compiles alone: a file that includes only it, with -fsyntax-only, two at a time."""
import argparse
import concurrent.futures
import pathlib
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

    def compile_alone(header):
        text = f'#include "{header}"\n#include "{header}"\n'
        run = subprocess.run(
            [args.compiler, *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True, check=False
        )
        return header, run.returncode, run.stderr

    folders = [args.root / name for name in ("lumen", "nn", "models")]
    headers = [path.relative_to(args.root).as_posix() for folder in folders for path in sorted(folder.rglob("*.h"))]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        failed = [(header, text) for header, code, text in pool.map(compile_alone, headers) if code != 0]
    for header, text in failed:
        print(f"{header}:1: does not compile alone\n{text}")
    print(f"{len(headers) - len(failed)} of {len(headers)} headers compile alone")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())

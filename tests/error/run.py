#!/usr/bin/env python3
"""Runs the error snapshots: what `lumen` says about wrong input, byte for byte.

A .test file holds cases:

    === what the case is about
    $ lumen ir check a.hlir
    --- a.hlir
    the content of a file; lines up to the next --- or ===
    --- b.npy bytes
    b'\\x93NUMPY'          a Python bytes literal instead of text
    --- stderr
    lumen: the message

Every case runs in an empty folder with its files, so messages hold no absolute path. Each must exit with 1, print
nothing on stdout and leave its files as they were. Variables may stand before the program: $ LUMEN_DEBUG=9 lumen ops
"""

import argparse
import ast
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Case:
    def __init__(self, title):
        self.title = title
        self.command = ""
        self.files = {}  # name -> text; "x bytes" for literals; in order
        self.stderr = ""

    def text(self):
        parts = [f"=== {self.title}\n", f"$ {self.command}\n"]
        parts += [f"--- {name}\n{content}" for name, content in self.files.items()]
        return "".join(parts) + f"--- stderr\n{self.stderr}"


def parse(path):
    """The comment at the top of the file, and its cases."""
    preamble, cases, target = "", [], None
    for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
        if line.startswith("=== "):
            cases.append(Case(line[4:].strip()))
            target = None
        elif not cases:
            preamble += line
        elif line.startswith("$ "):
            cases[-1].command = line[2:].strip()
        elif line.startswith("--- "):
            target = line[4:].strip()
            if target != "stderr":
                cases[-1].files[target] = ""
        elif target == "stderr":
            cases[-1].stderr += line
        elif target is not None:
            cases[-1].files[target] += line
        elif line.strip():
            raise SystemExit(f"{path.name}:{number}: expected `$ command` or `--- file`")
    return preamble, cases


def content(name, text):
    """A file's name and bytes."""
    if name.endswith(" bytes"):
        return name.removesuffix(" bytes"), ast.literal_eval(text.strip())
    return name, text.encode()


def run(case, program):
    """What is wrong with the case besides stderr (or nothing), and stderr."""
    words = shlex.split(case.command)
    variables = {key: value for key, value in os.environ.items() if not key.startswith("LUMEN_")}
    while words and re.match(r"LUMEN_\w*=", words[0]):
        key, value = words.pop(0).split("=", 1)
        variables[key] = value
    if not words or words[0] != "lumen":
        return "the command must run `lumen`", ""
    files = dict(content(name, text) for name, text in case.files.items())
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (pathlib.Path(folder) / name).write_bytes(data)
        done = subprocess.run([program] + words[1:], cwd=folder, env=variables, capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        after = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    problem = ""
    if done.returncode != 1:
        problem = f"exit status {done.returncode}, expected 1"
    elif done.stdout:
        problem = f"stdout is not empty: {done.stdout[:200]!r}"
    elif after != files:
        problem = f"the folder changed: {sorted(set(after) ^ set(files)) or 'a file was rewritten'}"
    return problem, done.stderr.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lumen", default=HERE.parents[1] / "build" / "release" / "lumen", help="the program")
    parser.add_argument("--update", action="store_true", help="write what the program says into the files")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: all")
    options = parser.parse_args()
    program = pathlib.Path(options.lumen).resolve()
    count = failed = 0
    for path in options.files or sorted(HERE.glob("*.test")):
        preamble, cases = parse(path)
        for case in cases:
            count += 1
            problem, stderr = run(case, program)
            if not problem and stderr != case.stderr and not options.update:
                problem = f"stderr differs\nexpected: {case.stderr}got:      {stderr}"
            if problem:
                failed += 1
                print(f"{path.name}: {case.title}: {problem}")
            case.stderr = stderr
        if options.update:
            path.write_text(preamble + "".join(case.text() for case in cases))
    print(f"error snapshots: {count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Follows a page: runs the commands of its ```console blocks, in order and in one folder, and compares what they print.

    scripts/shell_examples.py LUMEN PAGE.md

A line `$ command` is run by one bash that lives as long as the page; the lines up to the next one are what it prints on
stdout and stderr. `...` stands for any lines; times, rates, and what stands in [] after them are not compared, and the name of a
folder in /tmp is whatever it was where it was printed first. The folder has lumen/ and examples/ of the repository, and
`lumen` is the program.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
# A line of `lumen profile`: all its numbers depend on the machine.
PROFILE = re.compile(r"^ *[0-9.]+ (?:us|ms|s) +[0-9.]+ % +([0-9]+)( +[0-9.]+ +[0-9]+ %){2}  (.*?)(  \[.*\])?$", re.M)
TIME = re.compile(r"^ *[0-9.]+ (us|ms|s) ( .*?)(  \[.*\])?$", re.M)
SCRATCH = re.compile(r"/tmp/lumen-\w{6}")
END = "@@end of a command@@"


def steps_of(page):
    """(command, what it prints) pairs; a command may go on in lines after a backslash."""
    for block in BLOCK.findall(page):
        command, output = None, []
        for line in block.splitlines():
            if command is not None and command.endswith("\\") and not output:
                command += "\n" + line
            elif line.startswith("$ "):
                if command is not None:
                    yield command, output
                command, output = line[2:], []
            else:
                output.append(line)
        if command is not None:
            yield command, output


def matches(shown, printed):
    """Whether the lines are the same, where `...` stands for any number of them."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


def without_times(lines):
    return [TIME.sub(r"TIME\2", PROFILE.sub(r"PROFILE \1 \3", line)).rstrip() for line in lines]


class Shell:
    def __init__(self, lumen, folder):
        for name in ("lumen", "examples"):
            os.symlink(ROOT / name, folder / name)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("LUMEN_")}
        variables["LUMEN_CACHE"] = str(folder / "cache")
        (folder / "bin").mkdir()
        os.symlink(lumen, folder / "bin" / "lumen")
        variables["PATH"] = f"{folder / 'bin'}:{variables['PATH']}"
        self.bash = subprocess.Popen(["bash"], cwd=folder, env=variables, text=True, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command):
        self.bash.stdin.write(f"{command}\necho; echo '{END}'\n")
        self.bash.stdin.flush()
        lines = []
        while (line := self.bash.stdout.readline()) and line.rstrip("\n") != END:
            lines.append(line.rstrip("\n"))
        while lines and lines[-1] == "":
            lines.pop()
        return lines


def main():
    lumen, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    scratch, status, count = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(lumen, Path(folder))
        for command, shown in steps_of(page.read_text()):
            rename = lambda text: SCRATCH.sub(lambda found: scratch.get(found[0], found[0]), text)
            printed = shell.run(rename(command))
            names = (SCRATCH.findall("\n".join(shown)), SCRATCH.findall("\n".join(printed)))
            scratch.update({old: new for old, new in zip(*names) if old not in scratch})
            count += 1
            if not matches(without_times(map(rename, shown)), without_times(printed)):
                print(f"{page}: `{command}` prints\n" + "\n".join(printed), file=sys.stderr)
                status = 1
        shell.bash.stdin.close()
        shell.bash.wait()
    for kept in scratch.values():
        shutil.rmtree(kept, ignore_errors=True)
    if count == 0:
        print(f"{page}: has no commands", file=sys.stderr)
    return status if count else 1


sys.exit(main())

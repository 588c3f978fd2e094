#!/usr/bin/env python3
"""Runs the examples of a page: every block ```egg is a program, the block ```text after it what `lumen egg` prints.

    scripts/egg_examples.py LUMEN PAGE.md [--update]

Words after `egg` are options of `lumen egg`; `+` as the first of them carries the program above on, and only what is
new in the output is shown. A program that fails shows its message too. --update writes the outputs into the page.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```egg(?P<options>[^\n]*)\n(?P<program>.*?)^```\n+```text\n(?P<output>.*?)^```$", re.M | re.S)


def main() -> int:
    lumen, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    text = page.read_text()
    program = printed = ""

    def run(block: re.Match[str]) -> str:
        nonlocal program, printed
        options = block["options"].split()
        if options[:1] == ["+"]:
            del options[0]
            shown = printed
        else:
            program = shown = ""
        program += block["program"]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "example.egg").write_text(program)
            done = subprocess.run([lumen, "egg", *options, "example.egg"], cwd=folder, capture_output=True, text=True)
        printed = done.stdout
        if not printed.startswith(shown):
            sys.exit(f"{page}: a program does not repeat what its beginning printed:\n{program}")
        output = printed[len(shown):] + done.stderr
        start, end = block.start("output") - block.start(), block.end("output") - block.start()
        return block[0][:start] + output + block[0][end:]

    updated = BLOCK.sub(run, text)
    if len(re.findall(r"^```egg", text, re.M)) != len(BLOCK.findall(text)):
        sys.exit(f"{page}: a block ```egg has no block ```text after it")
    if "--update" in sys.argv:
        page.write_text(updated)
    elif updated != text:
        subprocess.run(["diff", "-u", page, "-"], input=updated, text=True)
        print(f"{page}: its examples print something else; scripts/check_docs.sh --update writes it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

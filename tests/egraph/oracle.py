#!/usr/bin/env python3
"""Compares `lumen egg` with the egglog package from PyPI on the programs of the conformance corpus.

    oracle.py --check-corpus [FILES...]          the oracle alone: programs in fail/ fail, all others succeed
    oracle.py --lumen build/release/lumen [FILES...]   both: same success or failure, same output

Runs under a Python that has egglog. Output is equal up to what no program may rely on: times in print-stats, the order
of table rows, of set elements and of equally good terms (then the costs decide).
"""

import argparse
import concurrent.futures
import difflib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
TIMEOUT = 20
UNORDERED = ("PrintFunctionOutput", "PrintAllFunctionsSize", "ExtractVariants", "UserDefinedOutput")


def load_bindings():
    """The extension module alone: importing the package around it takes ten times as long."""
    package = importlib.util.find_spec("egglog")
    if package is None:
        sys.exit("oracle.py: the Python package egglog is missing")
    library = next(pathlib.Path(package.origin).parent.glob("bindings*.so"))
    loader = importlib.machinery.ExtensionFileLoader("bindings", str(library))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bindings", loader))
    loader.exec_module(module)
    return module


def serve():
    """The worker: one JSON request per line on stdin, one JSON answer per line on stdout."""
    bindings = load_bindings()
    answers = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    for line in sys.stdin:
        request = json.loads(line)
        os.chdir(request["folder"])
        answer = {"ok": True, "outputs": []}
        try:
            egraph = bindings.EGraph()
            commands = egraph.parse_program(pathlib.Path(request["file"]).read_text(), request["file"])
            for output in egraph.run_program(*commands):
                answer["outputs"].append([type(output).__name__, str(output), getattr(output, "cost", None)])
        except BaseException as error:  # a Rust panic is not an Exception
            answer = {"ok": False, "error": str(getattr(error, "context", error)).strip()}
            answer["panic"] = not isinstance(error, bindings.EggSmolError)
        print(json.dumps(answer), file=answers, flush=True)


class Oracle:
    """A worker process that survives panics and hangs: it is restarted when it dies or is late."""

    def __init__(self):
        self.worker = None

    def run(self, folder, file):
        if self.worker is None:
            self.worker = subprocess.Popen(
                [sys.executable, __file__, "--worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "RUST_BACKTRACE": "0"},
            )
        self.worker.stdin.write(json.dumps({"folder": str(folder), "file": file}) + "\n")
        self.worker.stdin.flush()
        ready, _, _ = select.select([self.worker.stdout], [], [], TIMEOUT)
        line = self.worker.stdout.readline() if ready else ""
        answer = json.loads(line) if line else {}
        if not answer or answer.get("panic"):  # a panic may leave the worker's global state unusable
            self.close()
        if answer:
            return answer
        return {"ok": False, "error": "the worker died" if ready else f"no answer within {TIMEOUT} s", "lost": True}

    def close(self):
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()
            self.worker = None


def run_lumen(program, folder, file):
    try:
        done = subprocess.run(
            [program, "egg", "--costs", file], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return {"ok": False, "error": f"no answer within {TIMEOUT} s", "lost": True}
    lost = done.returncode not in (0, 1)
    error = f"exit status {done.returncode}: {done.stderr.strip()}"
    return {"ok": done.returncode == 0, "text": done.stdout, "error": error, "lost": lost}


class Scratch:
    """The folder a program runs in: its own, or a fresh one with a copy of the topic's data folder, if it has one."""

    def __init__(self, path):
        self.path = path
        topic = path.parent.parent if path.parent.name == "fail" else path.parent
        self.data = topic / "data" if (topic / "data").is_dir() else None

    def __enter__(self):
        if not self.data:
            return self.path.parent
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="egg"))
        shutil.copytree(self.data, self.folder / "data")
        shutil.copy(self.path, self.folder)
        self.given = set(self.folder.rglob("*"))
        return self.folder

    def __exit__(self, *_):
        if self.data:
            shutil.rmtree(self.folder)

    def written(self):
        """The text of each file that the program wrote, by name."""
        if not self.data:
            return {}
        files = (file for file in sorted(self.folder.rglob("*")) if file.is_file() and file not in self.given)
        return {str(file.relative_to(self.folder)): file.read_text() for file in files}


def tokens(text):
    return re.findall(r'"[^"]*"|[()]|[^\s()"]+', text)


def read_term(words):
    """The nested lists of one term; consumes its words."""
    word = words.pop(0)
    if word != "(":
        return word
    items = []
    while words[0] != ")":
        items.append(read_term(words))
    words.pop(0)
    return items


def canonical(term):
    """The term with the elements of sets, multisets and maps in the order of their text."""
    if isinstance(term, str):
        return term
    items = [canonical(item) for item in term]
    if items and items[0] in ("set-of", "multiset-of"):
        return "(" + " ".join([items[0], *sorted(items[1:])]) + ")"
    if items and items[0] == "map-insert" and isinstance(term[1], list):
        entries = []
        while isinstance(term, list) and term[0] == "map-insert":
            entries.append(f"{canonical(term[2])} {canonical(term[3])}")
            term = term[1]
        return "(map " + " ".join(sorted(entries)) + ")"
    return "(" + " ".join(items) + ")"


def canonical_line(line):
    if not re.search(r"\b(set-of|map-insert)\b", line):
        return line
    words, terms = tokens(line), []
    try:
        while words:
            terms.append(canonical(read_term(words)))
    except IndexError:
        return line
    return " ".join(terms)


def comparable(kind, text):
    """The lines of an output with everything taken out that may differ."""
    if kind == "OverallStatistics":
        text = re.sub(r"\d+\.\d+s", "_s", text)
        return sorted(text.splitlines())
    lines = [canonical_line(line) for line in text.splitlines()]
    return sorted(line.strip(" ()") for line in lines) if kind in UNORDERED else lines


def take(lines, count):
    """The next `count` lines of ours, and the costs printed among and right after them."""
    taken, costs = [], []
    while lines and (len(taken) < count or lines[0].startswith("; cost ")):
        line = lines.pop(0)
        if line.startswith("; cost "):
            costs.append(int(line.removeprefix("; cost ")))
        else:
            taken.append(line)
    return "\n".join(taken), costs


def differences(theirs, ours):
    """What differs between the outputs of the oracle and our stdout; nothing when they agree."""
    lines, found = ours.splitlines(), []
    for kind, text, cost in theirs:
        mine, costs = take(lines, len(text.splitlines()))
        same = comparable(kind, text) == comparable(kind, mine)
        if kind == "ExtractBest" and costs:
            if costs[0] != cost:
                found.append(f"cost {cost} expected for {text.strip()}, not {costs[0]}: {mine}")
        elif not same:
            diff = difflib.unified_diff(text.splitlines(), mine.splitlines(), "egglog", "lumen", lineterm="")
            found.append("\n".join(diff))
    if lines:
        found.append("only lumen prints: " + "\n".join(lines))
    return found


def judge(theirs, ours):
    """Why the two runs disagree, or an empty list."""
    if theirs.get("lost"):
        return [f"the oracle: {theirs['error']}"]
    if ours.get("lost"):
        return [f"lumen: {ours['error']}"]
    if theirs["ok"] != ours["ok"]:
        return [f"only egglog fails: {theirs['error']}"] if ours["ok"] else [f"only lumen fails: {ours['error']}"]
    if not theirs["ok"]:
        return []
    found = differences(theirs["outputs"], ours["text"])
    if theirs["files"] != ours["files"]:
        found.append(f"files written: {theirs['files']} expected, not {ours['files']}")
    return found


def expect(path, theirs):
    """What is wrong with the oracle's verdict on a corpus program, or an empty list."""
    if theirs.get("lost"):
        return [theirs["error"]]
    if theirs["ok"] == ("fail" in path.parts):
        return ["must fail but succeeds" if theirs["ok"] else f"must succeed: {theirs['error']}"]
    if "fail" in path.parts and not path.read_text().startswith("; error: "):
        return ["the first line is not `; error: WORDS`"]
    return []


def is_ours_alone(path):
    """Whether egglog has no such thing: the first line is `; not egglog: REASON`."""
    return path.read_text().startswith("; not egglog: ")


def with_files(scratch, result):
    return {**result, "files": scratch.written()}


def run_oracle(oracle, path):
    scratch = Scratch(path)
    with scratch as folder:
        return with_files(scratch, oracle.run(folder, path.name))


def run_ours(program, path):
    scratch = Scratch(path)
    with scratch as folder:
        return with_files(scratch, run_lumen(program, folder, path.name))


def check_all(paths, lumen):
    """Runs every program; the number of those that disagree."""
    oracle, failed = Oracle(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pending = [pool.submit(run_ours, lumen, path) for path in paths] if lumen else []
        for index, path in enumerate(paths):
            theirs = run_oracle(oracle, path)
            found = judge(theirs, pending[index].result()) if lumen else expect(path, theirs)
            failed += bool(found)
            for text in found:
                print(f"{os.path.relpath(path, HERE)}: {text}")
    oracle.close()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="programs (all of the corpus when none is given)")
    parser.add_argument("--lumen", help="the lumen program to compare")
    parser.add_argument("--check-corpus", action="store_true", help="only check the corpus against the oracle")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return serve()
    if bool(options.lumen) == options.check_corpus:
        parser.error("give one of --lumen PROGRAM and --check-corpus")
    every = sorted(path for path in PROGRAMS.rglob("*.egg") if "data" not in path.parts and not is_ours_alone(path))
    paths = [path.resolve() for path in options.files] or every
    lumen = shutil.which(options.lumen) if options.lumen else None
    if options.lumen and not lumen:
        parser.error(f"no such program: {options.lumen}")
    failed = check_all(paths, lumen and os.path.abspath(lumen))
    print(f"oracle: {len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

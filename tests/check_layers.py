#!/usr/bin/env python3
"""Fails on an include that lumen/layers.txt does not allow.

A file in lumen/<folder>/ may include lumen/<folder>/ and the folders that its line names, directly or through them.
What stands beside the folders (lumen/*.h, lumen/*.cpp) may include all of lumen/; nn/ that and itself; models/ those and
itself. tests/, tools/, bench/ and examples/ may include anything.
Headers may not include fmt or nlohmann (compile time; nlohmann/json_fwd.hpp is allowed).
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
HEAVY = ("fmt/", "nlohmann/")
HEAVY_ALLOWED = ("nlohmann/json_fwd.hpp",)
# What stands on lumen/, from the bottom: a folder may include itself and those before it.
UPPER = ("nn", "models")


def read_layers(path):
    """{folder: folders it may include}, closed over the table; ValueError with file:line on a bad one."""
    allowed = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, colon, deps = line.partition(":")
        name = name.strip()
        if not colon or not re.fullmatch(r"[a-z][a-z_0-9]*", name):
            raise ValueError(f"{path}:{number}: expected `name: deps`, got `{line}`")
        if name in allowed:
            raise ValueError(f"{path}:{number}: `{name}` is declared twice")
        closure = {name}
        for dep in deps.split():
            if dep not in allowed:
                raise ValueError(f"{path}:{number}: `{name}` depends on `{dep}`, which no line above it declares")
            closure |= allowed[dep]
        allowed[name] = closure
    return allowed


def check_file(path, shown, folder, allowed):
    """Problems of one file, as `file:line: text`."""
    problems = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1) or match.group(2)
        where = f"{shown}:{number}"
        if path.suffix in (".h", ".inc") and target.startswith(HEAVY) and target not in HEAVY_ALLOWED:
            problems.append(f"{where}: a header includes <{target}>; include it in the .cpp (compile time)")
        if folder is None:
            continue
        if target.startswith("lumen/"):
            parts = target.split("/")
            if len(parts) == 2:
                problems.append(f"{where}: lumen/{folder} includes {target}, which stands above every folder")
            elif parts[1] not in allowed[folder]:
                may = ", ".join(sorted(allowed[folder] - {folder})) or "no other folder"
                problems.append(f"{where}: lumen/{folder} includes {target}; it may include {may}")
        elif match.group(1) and (path.parent / target).exists():
            problems.append(f'{where}: write the full path: "lumen/{folder}/..." instead of "{target}"')
    return problems


def check_upper(path, shown, above):
    """Includes of `above`, folders that stand over the file's."""
    problems = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        target = match and (match.group(1) or match.group(2))
        if target and target.startswith(tuple(f"{name}/" for name in above)):
            problems.append(f"{shown}:{number}: {shown.parts[0]}/ includes {target}, which stands above it")
    return problems


def check_tree(root):
    try:
        allowed = read_layers(root / "lumen" / "layers.txt")
    except ValueError as problem:
        return [str(problem)]
    problems = []
    for path in sorted((root / "lumen").rglob("*")):
        if path.suffix not in (".h", ".inc", ".cpp") or not path.is_file():
            continue
        shown = path.relative_to(root)
        folder = shown.parts[1] if len(shown.parts) > 2 else None
        if folder is not None and folder not in allowed:
            problems.append(f"{shown}:1: folder lumen/{folder} has no line in lumen/layers.txt")
            continue
        problems += check_file(path, shown, folder, allowed)
    for level, name in enumerate(("lumen", *UPPER)):
        for path in sorted((root / name).rglob("*")):
            if path.suffix not in (".h", ".inc", ".cpp") or not path.is_file():
                continue
            problems += check_upper(path, path.relative_to(root), UPPER[level:])
            if name in UPPER:
                problems += check_file(path, path.relative_to(root), None, allowed)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    problems = check_tree(parser.parse_args().root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

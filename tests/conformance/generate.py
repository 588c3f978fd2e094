#!/usr/bin/env python3
"""Writes the PyTorch conformance cases: generate.py FOLDER puts cases.jsonl and data.bin there.

Every public frontend function must have cases; one without is a failure. The program `conformance` runs them.
"""

import argparse
import pathlib
import sys
import warnings

import torch

import cases_attention
import cases_blocks
import cases_convolution
import cases_creation
import cases_elementwise
import cases_indexing
import cases_linear
import cases_movement
import cases_normalization
import cases_promotion
import cases_reduction
import cases_sorting
import tolerances
from header_functions import check_itself, public_functions
from suite import Suite

SEED = 20130
FAMILIES = [cases_elementwise, cases_movement, cases_reduction, cases_linear, cases_normalization, cases_creation,
            cases_indexing, cases_sorting, cases_attention, cases_convolution,
            cases_promotion, cases_blocks]
LEAST_CASES = 6  # of a function: fewer would hide a sweep that torch refused


def problems(counts, functions):
    """What is wrong with the coverage, one line each."""
    for name in functions:
        if name not in counts:
            yield f"{name}: a public function without cases"
        elif counts[name] < LEAST_CASES:
            yield f"{name}: only {counts[name]} cases"
    named = set(counts) | tolerances.EXACT | tolerances.ANY_ZERO | set(tolerances.TABLE) | set(tolerances.WIDENED)
    for name in sorted(named - set(functions)):
        yield f"{name}: not declared in lumen/frontend"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--undefined", action="store_true", help="list what torch does not define")
    options = parser.parse_args()
    check_itself()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(SEED)

    suite = Suite(options.folder)
    for family in FAMILIES:
        family.add_cases(suite)
    suite.close()
    if options.undefined:
        for name, operands in sorted(suite.undefined.items()):
            print(f"{name}: {'; '.join(sorted(operands))}")

    root = pathlib.Path(__file__).resolve().parents[2]
    wrong = list(problems(suite.counts, public_functions(root)))
    for line in wrong:
        print(f"generate.py: {line}", file=sys.stderr)
    print(f"generated {sum(suite.counts.values())} cases (torch {torch.__version__}, seed {SEED}, {suite.symbolic} "
          f"also with symbolic dims) for {len(suite.counts)} functions, {suite.offset / 1e6:.1f} MB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

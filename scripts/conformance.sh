#!/usr/bin/env bash
# Compares every frontend function with PyTorch: generates the cases and runs them on the reference.
# Arguments go to the program: scripts/conformance.sh --only softmax --all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.venv/bin/python tests/conformance/generate.py build/conformance
build/release/conformance build/conformance "$@"

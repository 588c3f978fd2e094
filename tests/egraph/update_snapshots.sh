#!/usr/bin/env bash
# Writes the snapshots of tests/egraph/programs anew from what the engine gives now; look at the difference.
# The argument is the build folder (build/release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf tests/egraph/snapshots
UPDATE_SNAPSHOTS=1 "${1:-build/release}/test_egraph" --gtest_filter='*Corpus*' --gtest_brief=1
git status --short tests/egraph/snapshots

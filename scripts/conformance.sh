#!/usr/bin/env bash
# Compares every frontend function with PyTorch (generates the cases, runs them on the reference and, under each fusion
# policy, on the CPU), every program of tests/egraph with egglog, files of weights with the packages that write them,
# models with transformers, and tokenizers and chat templates with those of others. The last line counts all.
# Arguments go to the program for the frontend, which runs alone then: scripts/conformance.sh --only softmax --all
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
.venv/bin/python tests/conformance/generate.py build/conformance || exit 1
if [ $# -gt 0 ]; then exec build/release/conformance build/conformance "$@"; fi

passed=0 failed=0 status=0
# compare COMMAND...: its last line is `name: N passed, M failed`.
compare() {
  local log p f
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=1
  read -r p f < <(sed -nE 's/^([a-z]+: )?([0-9]+) passed, ([0-9]+) failed.*/\2 \3/p' "$log" | tail -1)
  rm -f "$log"
  if [ -z "${p:-}" ]; then
    echo "error: $1 printed no count"
    status=1
    return
  fi
  passed=$((passed + p)) failed=$((failed + f))
}
LUMEN_BACKEND=reference compare build/release/conformance build/conformance
for policy in never always profile; do
  echo "on the CPU, fusion $policy"
  LUMEN_BACKEND=cpu LUMEN_FUSION=$policy compare build/release/conformance build/conformance
done
compare .venv/bin/python tests/egraph/oracle.py --lumen build/release/lumen
compare .venv/bin/python tests/conformance/weights.py --lumen build/release/lumen
compare .venv/bin/python tests/models/oracle.py --program build/release/model_oracle --backend cpu
compare .venv/bin/python tests/text/oracle.py --program build/release/conformance_text
echo "conformance: $passed passed, $failed failed"
exit "$status"

#!/usr/bin/env bash
# Compares every frontend function with PyTorch (generates the cases, runs them on the reference and on the CPU, a third of
# them under each fusion policy), every program of tests/egraph with egglog, files of weights with the packages that write
# them, models with transformers, and tokenizers and chat templates with those of others. The last line counts all.
# --thorough runs every case under every policy. Other arguments go to the program for the frontend, which runs alone
# then: scripts/conformance.sh --only softmax --all
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
thorough=0
if [ "${1:-}" = --thorough ]; then
  thorough=1
  shift
fi
.venv/bin/python tests/conformance/generate.py build/conformance || exit 1
if [ $# -gt 0 ]; then exec build/release/conformance build/conformance "$@"; fi

passed=0 failed=0 status=0
# count LOG COMMAND: its last line is `name: N passed, M failed`.
count() {
  local p f
  read -r p f < <(sed -nE 's/^([a-z]+: )?([0-9]+) passed, ([0-9]+) failed.*/\2 \3/p' "$1" | tail -1)
  rm -f "$1"
  if [ -z "${p:-}" ]; then
    echo "error: $2 printed no count"
    status=1
    return
  fi
  passed=$((passed + p)) failed=$((failed + f))
}
compare() {
  local log
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=1
  count "$log" "$1"
}
# on BACKEND FUSION PART: the cases of the frontend.
on() {
  if [ "$thorough" = 1 ]; then set -- "$1" "$2" 0/1; fi
  LUMEN_BACKEND=$1 LUMEN_FUSION=$2 build/release/conformance build/conformance --part "$3"
}
# Two at a time: one core searches while another compiles.
runs=("reference profile 0/1" "cpu never 0/3" "cpu always 1/3" "cpu profile 2/3")
for first in 0 2; do
  logs=("$(mktemp)" "$(mktemp)")
  # shellcheck disable=SC2086
  on ${runs[first]} >"${logs[0]}" 2>&1 &
  # shellcheck disable=SC2086
  on ${runs[first + 1]} >"${logs[1]}" 2>&1 || status=1
  wait $! || status=1
  for k in 0 1; do
    echo "on ${runs[first + k]}:"
    cat "${logs[k]}"
    count "${logs[k]}" conformance
  done
done
compare .venv/bin/python tests/egraph/oracle.py --lumen build/release/lumen
compare .venv/bin/python tests/conformance/weights.py --lumen build/release/lumen
compare .venv/bin/python tests/models/oracle.py --program build/release/model_oracle --backend cpu
compare .venv/bin/python tests/text/oracle.py --program build/release/conformance_text
echo "conformance: $passed passed, $failed failed"
exit "$status"

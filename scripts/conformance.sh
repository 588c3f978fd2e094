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
# on BACKEND FUSION LOG: the cases of the frontend.
on() { LUMEN_BACKEND=$1 LUMEN_FUSION=$2 build/release/conformance build/conformance >"$3" 2>&1; }
# Two at a time: one core searches while another compiles.
for pair in "reference never" "always profile"; do
  read -r one other <<<"$pair"
  logs=("$(mktemp)" "$(mktemp)")
  if [ "$one" = reference ]; then on reference profile "${logs[0]}" & else on cpu "$one" "${logs[0]}" & fi
  on cpu "$other" "${logs[1]}" || status=1
  wait $! || status=1
  for k in 0 1; do
    echo "$([ $k = 0 ] && echo "$one" || echo "$other"):"
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

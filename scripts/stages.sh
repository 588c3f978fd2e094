# Sourced by ./test: the stages, and how they are timed and counted.

passed=0
failed=0
skipped=0
table=""
bad_stages=" "
logs="$root/build/test-logs"
mkdir -p "$logs"

# A stage's own count: passed, failed, skipped. Stages run in a pipe, so the numbers go through a file.
count() { echo "$1 $2 ${3:-0}" >>"$counts"; }

# stage NAME FUNCTION [ARGS...] [needs STAGE]: runs it, shows and keeps its output, counts and times it.
stage() {
  local name=$1 start status=ok p=0 f=0 s=0 seconds a b c
  shift
  if [ -n "$only" ] && [[ "$only" != *" $name "* ]]; then return; fi
  counts="$logs/$name.counts"
  : >"$counts"
  start=$(date +%s)
  echo "== $name"
  if [ "${*: -2:1}" = needs ] && [[ "$bad_stages" == *" ${*: -1} "* ]]; then
    echo "not run: ${*: -1} failed"
    status="not run"
  else
    if [ "${*: -2:1}" = needs ]; then set -- "${@:1:$#-2}"; fi
    if ! "$@" 2>&1 </dev/null | tee "$logs/$name.log"; then status=FAILED; fi
  fi
  while read -r a b c; do p=$((p + a)) f=$((f + b)) s=$((s + c)); done <"$counts"
  if [ "$f" -gt 0 ]; then status=FAILED; fi
  # A failure that no test stands for (a build, an install, a crash) is one failed test.
  if [ "$status" = FAILED ] && [ "$f" = 0 ]; then f=1; fi
  if [ "$status" != ok ]; then bad_stages+="$name "; fi
  if [ "$status" = FAILED ]; then echo "FAILED: stage $name (its output: build/test-logs/$name.log)"; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  seconds=$(($(date +%s) - start))
  table+=$(printf '%-12s %-8s %6d s %7d %7d %7d' "$name" "$status" "$seconds" "$p" "$f" "$s")$'\n'
}

finish() {
  printf '\n%-12s %-8s %8s %7s %7s %7s\n%s\n' stage result time passed failed skipped "$table"
  if [ -n "$only" ] && [ -z "$table" ]; then
    echo "error: no such stage:$only" >&2
    failed=1
  fi
  echo "test: $passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}

install_all() {
  install_packages test || return 1
  if [ "$quick" = 0 ] && [ -e scripts/conformance.sh ]; then install_python || return 1; fi
}

# Runs a check that is one test.
count_as_one() {
  if "$@"; then count 1 0; else count 0 1; return 1; fi
}

check_layers() { count_as_one python3 tests/check_layers.py; }

check_format() { count_as_one scripts/format.sh --check; }

configure_and_build() {
  cmake --preset "$1" >"$logs/configure-$1.log" 2>&1 || { cat "$logs/configure-$1.log"; return 1; }
  cmake --build "build/$1" -j "$(build_jobs)" --target "${@:2}"
}

build_release() { configure_and_build release all; }

# ctest in build/$1 with the remaining arguments, counted from its JUnit report. Everything is in the log; what failed
# and why is printed.
run_ctest() {
  local report="$logs/ctest-$1.xml" log="$logs/ctest-$1.txt" status
  rm -f "$report"
  ctest --test-dir "build/$1" -j "$(build_jobs)" --output-on-failure --no-tests=error --output-junit "$report" \
    "${@:2}" > "$log" 2>&1
  status=$?
  awk '/^ *[0-9]+\/[0-9]+ Test/ { shown = /\*\*\*/ && !/\*\*\*Skipped/ } /^ *Start +[0-9]+:/ { next }
    / tests passed, / { shown = 1 } shown' "$log" | tail -n 400
  if [ -e "$report" ]; then
    local all bad off
    all=$(sed -n 's/^[[:space:]]*tests="\([0-9]*\)".*/\1/p' "$report" | head -1)
    bad=$(sed -n 's/^[[:space:]]*failures="\([0-9]*\)".*/\1/p' "$report" | head -1)
    off=$(sed -n 's/^[[:space:]]*skipped="\([0-9]*\)".*/\1/p' "$report" | head -1)
    count $((all - bad - off)) "$bad" "$off"
  fi
  return "$status"
}

ctest_release() { run_ctest release; }

check_docs() {
  if [ ! -x build/release/lumen ]; then
    echo "error: build/release/lumen was not built"
    return 1
  fi
  count_as_one scripts/check_docs.sh
}

# scripts/conformance.sh prints `N passed, M failed` on a line of its own (a word and a colon may come first).
run_conformance() {
  local log="$logs/conformance-cases.log" status p=0 f=0
  if [ ! -e scripts/conformance.sh ]; then
    echo "error: scripts/conformance.sh does not exist"
    return 1
  fi
  bash scripts/conformance.sh $thorough 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r p f < <(sed -nE 's/^([a-z]+: )?([0-9]+) passed, ([0-9]+) failed.*/\2 \3/p' "$log" | tail -1)
  if [ -z "${p:-}" ]; then
    echo "error: scripts/conformance.sh printed no count"
    return 1
  fi
  count "$p" "$f"
  return "$status"
}

# On AArch64, clang's search for leaks takes three seconds a process, whatever that did: they are left to other machines.
if [ "$(uname -m)" = aarch64 ]; then export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}; fi

# run_sanitized PRESET FOLDER...: builds and runs the test programs of those folders of tests/, without the one test
# that measures how good results are and takes minutes here.
run_sanitized() {
  local preset=$1
  shift
  configure_and_build "$preset" "${@/#/test_}" &&
    run_ctest "$preset" -L "^($(IFS='|'; echo "$*"))\$" -E '^ExtractRandom.HeuristicIsAsGoodAsExact$'
}

# One fuzz target is one test: it must survive $fuzz_seconds. New inputs stay under build/asan/corpus. The seed is the same
# in every run, so that what fails is about the change; --fuzz-seed 0 takes another each time.
fuzz_one() {
  local name=$1 seeds="tests/fuzz/corpus/${1#fuzz_}" corpus="build/asan/corpus/$1" folders
  mkdir -p "$corpus" build/asan/crashes
  folders=("$corpus")
  if [ -d "$seeds" ]; then folders+=("$seeds"); fi
  if "build/asan/$name" -max_total_time="$2" -seed="$fuzz_seed" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/asan/crashes/$name-" "${folders[@]}" >"$logs/$name.log" 2>&1; then
    echo "$name: ok, $(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$name.log") inputs in $2 s"
    count 1 0
  else
    echo "$name: FAILED"
    tail -n 40 "$logs/$name.log"
    count 0 1
  fi
}

run_fuzz() {
  local source names=() name
  for source in tests/fuzz/*.cpp; do
    if [ -e "$source" ]; then names+=("fuzz_$(basename "$source" .cpp)"); fi
  done
  if [ ${#names[@]} = 0 ]; then
    echo "error: tests/fuzz has no targets"
    return 1
  fi
  configure_and_build asan "${names[@]}" || return 1
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    # Files that come from others get the whole time, what we write ourselves a third of it.
    case "$name" in
      fuzz_safetensors | fuzz_gguf | fuzz_tokenizer_json | fuzz_sentencepiece | fuzz_chat_template)
        fuzz_one "$name" "$fuzz_seconds" & ;;
      *) fuzz_one "$name" "$((fuzz_seconds / 3 + 1))" & ;;
    esac
  done
  wait
}

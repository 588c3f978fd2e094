#!/usr/bin/env bash
# The generated pages of docs/ say what the program says and the examples of docs/egraph.md print what it shows
# (--update writes both); the commands of docs/debugging.md and
# docs/explain.md print what they show; README.md and lumen/egraph/README.md show the real C++ examples.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
lumen=${LUMEN:-build/release/lumen}
status=0
for page in ops flags; do
  if ! text=$("$lumen" "$page" --markdown); then
    echo "error: \`lumen $page --markdown\` failed" >&2
    status=1
  elif [ "${1:-}" = --update ]; then
    printf '%s\n' "$text" >"docs/$page.md"
  elif ! diff -u "docs/$page.md" <(printf '%s\n' "$text"); then
    echo "docs/$page.md is not what \`lumen $page --markdown\` prints; scripts/check_docs.sh --update writes it" >&2
    status=1
  fi
done
python3 scripts/egg_examples.py "$lumen" docs/egraph.md "$@" || status=1
for page in debugging explain; do
  python3 scripts/shell_examples.py "$lumen" "docs/$page.md" || status=1
done
# The first C++ example that a page shows is the one that is compiled and run.
check_shown() {  # PAGE, EXAMPLE
  if ! diff -u <(awk '/^```cpp$/ {f = 1; next} /^```$/ && f {exit} f' "$1") <(sed 1d "$2"); then
    echo "the example in $1 is not $2" >&2
    status=1
  fi
}
check_shown README.md examples/readme.cpp
check_shown lumen/egraph/README.md examples/egraph.cpp
if ! diff -u <(awk '/^```text$/ {f = 1; next} /^```$/ && f {exit} f' lumen/egraph/README.md) \
  <("$(dirname "$lumen")/example_egraph"); then
  echo "lumen/egraph/README.md does not show what examples/egraph.cpp prints" >&2
  status=1
fi
exit "$status"

#!/usr/bin/env bash
# The generated pages of docs/ say what the program says (--update writes them), and README.md shows the real example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
lumen=build/release/lumen
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
# The example that README.md shows is the one that is compiled and run.
if ! diff -u <(awk '/^```cpp$/ {f = 1; next} /^```$/ && f {exit} f' README.md) \
  <(sed 1d examples/readme.cpp); then
  echo "the example in README.md is not examples/readme.cpp" >&2
  status=1
fi
exit "$status"

#!/usr/bin/env bash
# The generated pages of docs/ say what the program says; --update writes them.
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
exit "$status"

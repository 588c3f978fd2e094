#!/usr/bin/env bash
# Formats every C++ file of the tree; --check only names those that are not formatted and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.inc' '*.cpp' | sort -u)
status=0
for file in "${files[@]}"; do
  if [ ! -e "$file" ]; then continue; fi
  if [ "${1:-}" != --check ]; then
    clang-format -i "$file"
  elif ! clang-format --dry-run -Werror "$file" 2>/dev/null; then
    echo "$file: not formatted; scripts/format.sh does it" >&2
    status=1
  fi
done
exit "$status"

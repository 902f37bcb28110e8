#!/usr/bin/env bash
# Every op, and forms written by hand, are split over ranks: the pieces put together
# equal the whole, forward and backward, on both backends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
tests=$PWD/tests/oracle
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for backend in ref cpu; do
  GT_BACKEND=$backend /usr/bin/python3 "$tests/splits.py" || true
  GT_BACKEND=$backend /usr/bin/python3 "$tests/forms.py" || true
done | awk '
  /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; n++; next }
  { print }
  END { printf "%d passed, %d failed\n", p, f + 4 - n; exit f > 0 || n != 4 }'

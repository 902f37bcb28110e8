#!/usr/bin/env bash
# Every op, and forms written by hand, are split over ranks: the pieces put together
# equal the whole, forward and backward. For one commit that is an eighth of them on
# one of the backends ref and cpu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
tests=$PWD/tests/oracle
read -r share shares < <(share_of 16)
backends=(ref cpu) step=1
((shares == 1)) || backends=("${backends[share % 2]}") step=8
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
for backend in "${backends[@]}"; do
  GT_BACKEND=$backend /usr/bin/python3 "$tests/splits.py" --every $step $((share / 2)) || true
  GT_BACKEND=$backend /usr/bin/python3 "$tests/forms.py" --every $step $((share / 2)) || true
done | awk -v runs=$((2 * ${#backends[@]})) '
  /^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3; n++; next }
  { print }
  END { printf "%d passed, %d failed\n", p, f + runs - n; exit f > 0 || n != runs }'

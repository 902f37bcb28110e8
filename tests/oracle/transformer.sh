#!/usr/bin/env bash
# usage: tests/oracle/transformer.sh RATIO SECONDS [NAME=VALUE ...]
#
# Trains as examples/transformer.sh does, within so many seconds, and checks its
# output.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C GT_BIN=${GT_BIN:-$PWD/build/bin}
# Other tests may need the cores, so a waiting thread must not hold one.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
unset GT_BACKEND GT_VERBOSE
ratio=$1 seconds=$2
shift 2

passed=0 failed=0
check() { # TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $title"
  fi
}

out=$(mktemp "${TMPDIR:-/tmp}/gt-transformer.XXXXXX")
trap 'rm -f "$out"' EXIT
trains() {
  timeout -k 5 "$seconds" examples/transformer.sh "$@" >"$out"
}
value() { awk -v name="$1" '$1 == name { v = $5 } END { print v }' "$out"; }
falls() {
  awk -v is="$(value ratio)" -v most="$ratio" \
    'BEGIN { exit !(is != "" && is > 0.1 && is <= most) }'
}
# The last ratio is the quotient of the two numbers beside it.
is_ratio() {
  awk -v a="$(value held)" -v b="$(value entropy)" -v is="$(value ratio)" \
    'BEGIN { d = a / b - is; exit !(d < 1e-5 && d > -1e-5) }'
}
# awk computes the same entropy from the text.
is_entropy() {
  od -An -v -tu1 -w1 share/novel/pride-and-prejudice.txt |
    awk -v is="$(value entropy)" '
      { n[$1]++ }
      END {
        for (c in n) e -= n[c] / NR * log(n[c] / NR)
        exit !(e - is < 1e-4 && is - e < 1e-4)
      }'
}
# After the bar comes the text that it wrote, mostly words in lower case.
writes() {
  awk '
    /\|/ { on = 1; sub(/.*\|/, "") }
    /^ratio = / { on = 0 }
    on { text = text $0 "\n" }
    END {
      count = gsub(/[a-z ]/, "", text)
      exit !(count > 60 && count > 2 * length(text))
    }' "$out"
}

check "trains within $seconds s" trains "$@"
check "held-out loss at most $ratio of the entropy" falls
check "prints the ratio" is_ratio
check "prints the entropy" is_entropy
check "writes" writes
cat "$out"
echo "$passed passed, $failed failed"
((failed == 0))

#!/usr/bin/env bash
# A line that never ends is refused by gt-cmp at the limit of all programs, in
# bounded memory. (mawk takes a quarter of a minute to read so long a line.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-long.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
echo 'x = tensor f32[] 1' >"$work/x"
ulimit -v 2000000

# check WORDS COMMAND... checks that the line is refused in these words.
check() {
  local words=$1 status=0
  shift
  "$@" 2>"$work/err" >&2 || status=$?
  if ((status == 2)) && grep -q "$words" "$work/err"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $*: status $status: $(<"$work/err")"
  fi
}

check '/dev/zero:1: the line is over 64 MiB' \
  timeout 300 scripts/gt-cmp "$work/x" /dev/zero
check '<stdin>:1: the line is over 64 MiB' \
  timeout 300 scripts/gt-cmp - "$work/x" < <(tr '\0' a </dev/zero)
echo "$passed passed, $failed failed"
((failed == 0))

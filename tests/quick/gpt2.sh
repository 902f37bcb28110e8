#!/usr/bin/env bash
# Runs the small GPT-2 of scripts/oracle as a gt program on both backends. Logits,
# losses, all gradients, and the weights after ten steps of AdamW are as near
# PyTorch's as f32 rounding allows. Where a gradient is 0 but for rounding, as that
# of the keys' bias, AdamW makes the rounding larger: PyTorch's own f32 differs by
# 5e-6 there. GT_BACKENDS names other backends, as scripts/test-gpu does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH
unset GT_BACKEND GT_VERBOSE

program() {
  awk -v from=tests/oracle/gpt2 -v layers=2 -v heads=3 -v tokens=12 \
    -v steps=10 "$@" -f tests/oracle/gpt2.awk
}

# compare PART ATOL compares that part of the results in `got` and `expected`.
compare() {
  if scripts/gt-cmp --rtol 1e-5 --atol "$2" <(part "$1" "$work/got") \
    <(part "$1" "$work/expected"); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $backend: $1"
  fi
}

part() { # PART FILE
  case $1 in
    weights) grep '^after/' "$2" ;;
    *) grep -v '^after/' "$2" ;;
  esac
}

work=$(mktemp -d "${TMPDIR:-/tmp}/gt-gpt2.XXXXXX")
trap 'rm -rf "$work"' EXIT
program -v expected=1 | gt-emit | gt-work >"$work/expected"
passed=0 failed=0
for backend in ${GT_BACKENDS:-ref cpu}; do
  program | gt-emit | gt-work --backend "$backend" >"$work/got"
  compare gradients 1e-6
  compare weights 1e-5
done
echo "$passed passed, $failed failed"
((failed == 0))

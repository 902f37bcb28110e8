#!/usr/bin/env bash
# The GPT of GT's demonstration at its full size, 8 layers of 1,024 with a vocabulary of
# 50,257, which are 203.6 million weights, trains under GT's own YAML on eight workers
# with PyTorch's losses, within 16 GiB. And examples/minigpt/train, as it stands, trains
# the small one within minutes to a held-out loss of at most 2.4, and it writes words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
export GT_SILENCE=60
# Debian's PyTorch may take ten minutes for the full size, one from PyPI half a minute.
python=${GT_BENCH_PYTHON:-/usr/bin/python3}
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/gt-minigpt.XXXXXX")
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
check() { # TITLE COMMAND...
  if "${@:2}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
  fi
}

trains() {
  timeout -k 5 600 examples/minigpt/train -o "$work/results" | tee "$work/out"
}
falls() {
  awk '/^held/ { l = $5 } END { exit !(l > 1 && l <= 2.4) }' "$work/results"
}
# After the bar comes the text that it wrote, mostly words in lower case.
writes() {
  awk '
    /\|/ { on = 1; sub(/.*\|/, "") }
    on { text = text $0 "\n" }
    END {
      count = gsub(/[a-z ]/, "", text)
      exit !(count > 120 && count > 2 * length(text))
    }' "$work/out"
}
check 'trains within ten minutes' trains
check 'held-out loss at most 2.4' falls
check 'writes' writes

# Tokens by a formula that has no short period.
make_tokens() {
  local n=4000
  {
    printf 'i = arange i64[%d]\nx = mul i i\nx = mul x i\n' $n
    printf 'x = add x i\nx = mod x 50257\nsave x "%s/tokens.npy"\n' "$work"
  } | gt-work
}
whole() {
  "$python" tests/oracle/minigpt.py 2e-5 examples/minigpt/gt.yaml 8 2G -- \
    --stages 4 --text "$work/tokens.npy" --held 1200 --vocab 50257 --hidden 1024 --heads 16 \
    --seq-len 64 --batch-size 8 --microbatches 8 --steps 2 --rounds 1 --evaluate 1 \
    --rate 3e-4 --warmup 1
}
if "$python" -c 'import torch' 2>/dev/null; then
  make_tokens
  check "PyTorch's losses at full size" whole
else
  skipped=1
  echo "skipped the full size: $python has no PyTorch"
fi
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))

#!/usr/bin/env bash
# The GPT of examples/minigpt has PyTorch's losses, alone, and under a config, of which
# each commit has another.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch

work=$(mktemp -d "${TMPDIR:-/tmp}/gt-minigpt.XXXXXX")
trap 'rm -rf "$work"' EXIT
head -c 9000 share/novel/pride-and-prejudice.txt >"$work/text"
examples/minigpt/tokens "$work/text" >"$work/text.npy"
options=(--text "$work/text.npy" --held 1000 --hidden 32 --seq-len 16 --batch-size 16
  --microbatches 2 --steps 12 --rounds 2 --evaluate 1 --warmup 3)

passed=0 failed=0
compare() { # ARGUMENT...
  if /usr/bin/python3 tests/oracle/minigpt.py 2e-6 "$@" -- "${options[@]}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED minigpt $*"
  fi
}

compare
read -r k n < <(share_of 8)
for config in examples/minigpt/{dp8,fsdp8,interleaved,pp8,sp4-dp2,tp2-pp4,tp4-pp2,zb-v}.yaml; do
  ((k++ % n)) || compare "$config"
done
echo "$passed passed, $failed failed"
((failed == 0))

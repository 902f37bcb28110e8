#!/usr/bin/env bash
# Compares every value of f16 and bf16 through every op of one tensor, and through its
# gradient, with the true value: for one commit on one of the backends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
read -r share shares < <(share_of 3)
backends=(ref cpu cpu:sse2)
((shares == 1)) || backends=("${backends[share]}")
exec /usr/bin/python3 tests/oracle/sweep.py "${backends[@]}"

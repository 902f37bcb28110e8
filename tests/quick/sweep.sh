#!/usr/bin/env bash
# Compares every value of f16 and bf16 through every op of one tensor, and through its
# gradient, with the true value.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/sweep.py ref cpu cpu:sse2

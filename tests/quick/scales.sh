#!/usr/bin/env bash
# Compares reductions, norms and losses, and their gradients, at the ends of the dtypes with
# the true values.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/scales.py ref cpu cpu:sse2

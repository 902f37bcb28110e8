#!/usr/bin/env bash
# Compares ops at the ends of their dtypes with PyTorch, on both backends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/extremes.py ref cpu

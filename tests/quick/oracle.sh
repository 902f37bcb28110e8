#!/usr/bin/env bash
# Every op against PyTorch on both backends: values, gradients, gradients of
# gradients; and gradients against central differences.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/oracle.py ref cpu

#!/usr/bin/env bash
# Compares every op with PyTorch on both backends: values, gradients, and gradients
# of gradients. Gradients are compared with central differences, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/oracle.py ref cpu

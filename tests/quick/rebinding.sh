#!/usr/bin/env bash
# Programs bind names again that their gradients need, on both backends: values are
# PyTorch's, and memory and messages are right.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/rebinding.py ref cpu

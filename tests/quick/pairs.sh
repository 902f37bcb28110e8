#!/usr/bin/env bash
# Puts pairs of special and extreme values through every op of two tensors, on both
# backends, and compares with the true values; for one commit a quarter of the cases.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
read -r share shares < <(share_of 4)
exec /usr/bin/python3 tests/oracle/pairs.py --share "$share" "$shares"

#!/usr/bin/env bash
# Compares every op with PyTorch: values, gradients, and gradients of gradients.
# Gradients are compared with central differences, too. For one commit that is on one of
# the backends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
read -r share shares < <(share_of 2)
backends=(ref cpu)
((shares == 1)) || backends=("${backends[share]}")
exec /usr/bin/python3 tests/oracle/oracle.py "${backends[@]}"

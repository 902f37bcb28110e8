#!/usr/bin/env bash
# Checks the laws of the programs over many more random programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/laws.py 2000 1000

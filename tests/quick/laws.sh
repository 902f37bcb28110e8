#!/usr/bin/env bash
# Checks the laws of the programs over the examples and over random programs; for
# one commit over a quarter of the latter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
read -r count first < <(seeds_of 80 4)
exec /usr/bin/python3 tests/oracle/laws.py "$count" "$first"

#!/usr/bin/env bash
# Compares many random placed programs with the same programs without ranks, both as
# a whole and rank by rank.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
/usr/bin/python3 tests/oracle/placements.py 5000 1000
/usr/bin/python3 tests/oracle/by_rank.py --programs 3000 1000

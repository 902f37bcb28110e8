#!/usr/bin/env bash
# Compares random placed programs with the same programs without ranks, gradients
# included: as one whole, and rank by rank.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
/usr/bin/python3 tests/oracle/placements.py 150
/usr/bin/python3 tests/oracle/by_rank.py --programs 80

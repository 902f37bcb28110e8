#!/usr/bin/env bash
# Compares random placed programs with the same programs without ranks, gradients
# included: as one whole, and rank by rank; for one commit a third of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
read -r count first < <(seeds_of 150 3)
/usr/bin/python3 tests/oracle/placements.py "$count" "$first"
read -r count first < <(seeds_of 81 3)
/usr/bin/python3 tests/oracle/by_rank.py --programs "$count" "$((first + 1))"

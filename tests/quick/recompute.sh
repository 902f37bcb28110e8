#!/usr/bin/env bash
# Random programs with #recompute give the values of the programs without it. For one
# commit that is a third of 150 programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
read -r count first < <(seeds_of 150 3)
exec /usr/bin/python3 tests/oracle/recompute.py "$count" "$first"

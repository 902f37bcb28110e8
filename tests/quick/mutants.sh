#!/usr/bin/env bash
# gt-check finds changes that break the placed streams of the examples; some mutants
# are run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
read -r share shares < <(share_of 2)
exec /usr/bin/python3 tests/oracle/mutants.py -n $((400 / shares)) -s $((share + 1))

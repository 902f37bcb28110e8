#!/usr/bin/env bash
# gt-check finds changes that break the placed streams of the examples; all mutants
# are run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
exec /usr/bin/python3 tests/oracle/mutants.py

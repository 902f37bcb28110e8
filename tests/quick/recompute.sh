#!/usr/bin/env bash
# Random programs with #recompute give the values of the programs without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
exec /usr/bin/python3 tests/oracle/recompute.py "${1:-150}" "${2:-1}"

#!/usr/bin/env bash
# Random placed programs of all families of ops give the values of the same programs
# without ranks, and gt-check finds nothing in them or in their gradients.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
exec /usr/bin/python3 tests/oracle/placed_check.py 400

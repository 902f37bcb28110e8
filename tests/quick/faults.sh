#!/usr/bin/env bash
# A process of a running pipeline dies or stops: never a hang.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
exec /usr/bin/python3 tests/oracle/faults.py 10 1

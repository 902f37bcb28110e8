#!/usr/bin/env bash
# With ten million lines each program takes no more memory than with ten thousand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
exec /usr/bin/python3 tests/oracle/memory.py 10000000

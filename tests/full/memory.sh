#!/usr/bin/env bash
# Memory at ten million lines is that at ten thousand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
exec /usr/bin/python3 tests/oracle/memory.py 10000000

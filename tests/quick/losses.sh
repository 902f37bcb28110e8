#!/usr/bin/env bash
# Runs lose workers and go on. Results that need none of those workers are the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_SILENCE
exec /usr/bin/python3 tests/oracle/losses.py "${1:-10}" "${2:-1000}"

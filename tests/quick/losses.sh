#!/usr/bin/env bash
# Workers that are lost from runs that go on: what does not need them is as it
# would have been.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_SILENCE
exec /usr/bin/python3 tests/oracle/losses.py "${1:-10}" "${2:-1000}"

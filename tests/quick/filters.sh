#!/usr/bin/env bash
# The laws of the filters over every program that the other tests run: no crash, their own output unchanged, what is legal accepted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_INSTRUCTION_LOG
exec /usr/bin/python3 tests/oracle/filters.py

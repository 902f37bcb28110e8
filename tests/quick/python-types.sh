#!/usr/bin/env bash
# What gt for Python concludes of the types of results, without asking, is what the program says; of an op
# that it does not know by name, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_CONNECT
exec /usr/bin/python3 tests/oracle/python_types.py

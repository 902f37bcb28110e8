#!/usr/bin/env bash
# usage: tests/oracle/option_pairs.sh K N
#
# Runs option_pairs.py with the programs of this build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/oracle/option_pairs.py "$@"

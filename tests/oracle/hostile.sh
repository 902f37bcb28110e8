#!/usr/bin/env bash
# usage: tests/oracle/hostile.sh COUNT SEED
#
# Runs hostile.py with the programs under test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_SILENCE GT_KEY GT_ROUTE_KEY RANK SLURM_PROCID
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gt-hostile.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
/usr/bin/python3 tests/oracle/hostile.py "$@"

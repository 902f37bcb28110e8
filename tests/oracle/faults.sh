#!/usr/bin/env bash
# usage: tests/oracle/faults.sh COUNT SEED NOTICE
#
# Runs faults.py where no files and sockets of others are counted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_SILENCE
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gt-faults.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
alone=()
if unshare --net true 2>/dev/null; then alone=(unshare --net); fi
"${alone[@]}" /usr/bin/python3 tests/oracle/faults.py "$@"

#!/usr/bin/env bash
# A process of a running pipeline dies or stops: never a hang. How soon it is
# said is for the full tier, since other work may have the cores here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/gt-faults.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
alone=()
if unshare --net true 2>/dev/null; then alone=(unshare --net); fi
"${alone[@]}" /usr/bin/python3 tests/oracle/faults.py 10 1 30

#!/usr/bin/env bash
# Point-wise lines that are computed together have the bits of lines that are computed one
# by one: every op in every place of a group, and many random programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_NO_FUSE
exec /usr/bin/python3 tests/oracle/fused.py 20000

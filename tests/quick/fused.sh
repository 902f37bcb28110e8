#!/usr/bin/env bash
# Point-wise lines that are computed together have the bits of lines that are computed one
# by one: for one commit a share of the ops, and some random programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_NO_FUSE
. scripts/common.sh
read -r share shares < <(share_of 16)
read -r count first < <(seeds_of 480 16)
exec /usr/bin/python3 tests/oracle/fused.py --share "$share" "$shares" "$count" "$first"

#!/usr/bin/env bash
# Every operand of every op is bound again or freed, early and late, and no value
# changes: for one commit a sixth of them on one of the backends ref and cpu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
read -r share shares < <(share_of 12)
backends=(ref cpu)
((shares == 1)) || backends=("${backends[share % 2]}")
exec /usr/bin/python3 tests/oracle/rebound_operands.py \
  --share $((share / 2)) $(((shares + 1) / 2)) "${backends[@]}"

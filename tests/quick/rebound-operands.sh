#!/usr/bin/env bash
# Every operand of every op is bound again or freed, early and late, on both
# backends, and no value changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/rebound_operands.py ref cpu

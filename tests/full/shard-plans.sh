#!/usr/bin/env bash
# The plans that gt-shard --plan finds for random networks are accepted unchanged,
# and the placed networks give the right values.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/shard_plans.py 1500 1000

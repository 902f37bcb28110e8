#!/usr/bin/env bash
# The plans that gt-shard --plan finds for random networks are accepted unchanged,
# and the placed networks give the right values; for one commit half of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
read -r count first < <(seeds_of 40 2)
exec /usr/bin/python3 tests/oracle/shard_plans.py "$count" "$first"

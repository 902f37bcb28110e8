#!/usr/bin/env bash
# Plans that gt-shard --plan finds for random networks: accepted as they stand,
# and right.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/shard_plans.py 1500 1000

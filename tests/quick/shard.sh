#!/usr/bin/env bash
# Compares gt-shard with the same programs without it: every op with its operands
# cut at random, random programs and networks under random configs, and schedules; for
# one commit a share of them.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
{
  status=0
  read -r count first < <(seeds_of 3 3)
  /usr/bin/python3 tests/oracle/shard.py --rounds "$count" --seed "$first" --part 6 \
    --templates 1 || status=1
  read -r count first < <(seeds_of 24 4)
  for programs in shard_programs shard_networks schedules; do
    /usr/bin/python3 tests/oracle/$programs.py "$count" "$first" || status=1
  done
  exit $status
} | awk '/^[0-9]+ passed,/ { passed += $1; failed += $3; next }
  { print }
  END { print passed " passed, " failed " failed" }'

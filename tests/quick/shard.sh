#!/usr/bin/env bash
# Compares gt-shard with the same programs without it: every op with its operands
# cut at random, random programs and networks under random configs, and schedules.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
{
  status=0
  /usr/bin/python3 tests/oracle/shard.py --rounds 3 --part 6 --templates 1 || status=1
  /usr/bin/python3 tests/oracle/shard_programs.py 25 || status=1
  /usr/bin/python3 tests/oracle/shard_networks.py 20 || status=1
  /usr/bin/python3 tests/oracle/schedules.py 25 || status=1
  exit $status
} | awk '/^[0-9]+ passed,/ { passed += $1; failed += $3; next }
  { print }
  END { print passed " passed, " failed " failed" }'

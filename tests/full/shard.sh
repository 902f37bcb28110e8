#!/usr/bin/env bash
# Compares gt-shard with the same programs without it: every op on every mesh, each
# template with its operands cut in every way, and thousands of random programs and
# networks under random configs. PyTorch with gloo runs in four and five processes.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
{
  status=0
  /usr/bin/python3 tests/oracle/shard.py --rounds 10 --all-cuts --seed 100 || status=1
  /usr/bin/python3 tests/oracle/shard_programs.py 3000 10000 || status=1
  GLOO_SOCKET_IFNAME=lo /usr/bin/python3 tests/oracle/gloo.py 4 5 || status=1
  /usr/bin/python3 tests/oracle/shard_networks.py 2000 10000 || status=1
  /usr/bin/python3 tests/oracle/schedules.py 3000 10000 || status=1
  exit $status
} | awk '/^[0-9]+ passed,/ { passed += $1; failed += $3; next }
  { print }
  END { print passed " passed, " failed " failed" }'

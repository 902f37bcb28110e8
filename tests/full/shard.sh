#!/usr/bin/env bash
# gt-shard against the same programs without it: every op on every mesh, each
# template with its operands cut in every way, and thousands of random programs
# under random configs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
/usr/bin/python3 tests/oracle/shard.py --rounds 10 --all-cuts --seed 100
/usr/bin/python3 tests/oracle/shard_programs.py 3000 10000

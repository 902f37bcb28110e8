#!/usr/bin/env bash
# gt-shard against the same programs without it: every op with its operands cut
# at random, and random programs under random configs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
/usr/bin/python3 tests/oracle/shard.py --rounds 5 --part 6 --templates 1
/usr/bin/python3 tests/oracle/shard_programs.py 40

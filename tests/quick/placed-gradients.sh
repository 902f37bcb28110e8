#!/usr/bin/env bash
# Programs are placed before gt-emit differentiates them. gt-check finds nothing
# wrong in the gradients, and they are those of the program for one device. For one
# commit that is a sixth of the programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
read -r share shares < <(share_of 6)
exec /usr/bin/python3 tests/oracle/placed_gradients.py --share "$share" "$shares"

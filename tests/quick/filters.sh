#!/usr/bin/env bash
# Checks the laws of the filters over the programs that other tests run and over
# those that are files: no filter crashes, each passes its own output unchanged, and
# legal text is accepted. For one commit that is a share of those tests, and a quarter
# of the files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_INSTRUCTION_LOG
. scripts/common.sh
read -r share shares < <(share_of 32)
exec /usr/bin/python3 tests/oracle/filters.py --share "$share" "$shares"

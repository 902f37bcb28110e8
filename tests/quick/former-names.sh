#!/usr/bin/env bash
# Random programs bind names that their losses depend on again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/former_names.py 300

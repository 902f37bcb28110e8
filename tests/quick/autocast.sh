#!/usr/bin/env bash
# Trains a small transformer with precision: in the config beside PyTorch's autocast.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG
. scripts/common.sh
need_torch
exec /usr/bin/python3 tests/oracle/autocast.py

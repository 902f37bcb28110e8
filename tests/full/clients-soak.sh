#!/usr/bin/env bash
# usage: clients-soak.sh [SECONDS]
#
# Ten clients come and go for an hour, and no process takes more memory or files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE
export GT_SILENCE=${GT_SILENCE:-60}
exec /usr/bin/python3 tests/oracle/clients_soak.py "${1:-3600}"

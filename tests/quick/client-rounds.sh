#!/usr/bin/env bash
# As tests/full/client-rounds.sh, a few rounds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/oracle/client_rounds.py 1500

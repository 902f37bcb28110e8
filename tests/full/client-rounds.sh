#!/usr/bin/env bash
# Ten thousand rounds of each example of libgt: the memory of the client, gt-emit
# and gt-work is that of a thousand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/oracle/client_rounds.py 10000

#!/usr/bin/env bash
# In ten thousand rounds of each example of libgt, the client, gt-emit and gt-work
# take no more memory than in a thousand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/oracle/client_rounds.py 10000

#!/usr/bin/env bash
# What is derived from the op table is as the table says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if scripts/generate --check; then
  echo '1 passed, 0 failed'
else
  echo '0 passed, 1 failed'
  exit 1
fi

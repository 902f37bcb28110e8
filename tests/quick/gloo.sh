#!/usr/bin/env bash
# Placed programs against PyTorch's processes, two and three, that exchange by
# gloo: values, gradients and weights after some steps, rank by rank.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_INSTRUCTION_LOG
if ! /usr/bin/python3 -c 'import sys, torch.distributed as d
sys.exit(not (d.is_available() and d.is_gloo_available()))' 2>/dev/null; then
  echo "skipped: /usr/bin/python3 has no PyTorch with gloo (python3-torch)"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
export GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-lo}
exec /usr/bin/python3 tests/oracle/gloo.py "$@"

#!/usr/bin/env bash
# Compares placed programs with two and three processes of PyTorch that exchange by
# gloo: values, gradients, and weights after some steps, rank by rank. For one commit
# the processes are two or three.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_INSTRUCTION_LOG
. scripts/common.sh
need_torch
if ! /usr/bin/python3 -c 'import sys, torch.distributed as d
sys.exit(not (d.is_available() and d.is_gloo_available()))' 2>/dev/null; then
  skip_rest "the PyTorch of /usr/bin/python3 was built without gloo"
fi
export GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-lo}
read -r share shares < <(share_of 2)
sizes=(2 3)
((shares == 1)) || sizes=("${sizes[share]}")
exec /usr/bin/python3 tests/oracle/gloo.py "${sizes[@]}"

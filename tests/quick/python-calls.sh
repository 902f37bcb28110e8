#!/usr/bin/env bash
# Makes calls of the module gt and the same calls of PyTorch: values, dtypes and shapes are the
# same, or the call is refused. Of those that the op table makes, each commit runs a share.
# GT_PYTORCH names the Python that has PyTorch (/usr/bin/python3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_CONNECT
. scripts/common.sh
python=${GT_PYTORCH:-/usr/bin/python3}
[[ $python != /usr/bin/python3 ]] || need_torch
share=$(share_of 32)
# shellcheck disable=SC2086  # two numbers
exec "$python" tests/oracle/python_calls.py --share $share

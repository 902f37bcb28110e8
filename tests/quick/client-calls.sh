#!/usr/bin/env bash
# Makes calls of libgt and the same calls of PyTorch: values, dtypes and shapes are the same, or the
# call is refused. For one commit that is a quarter of the calls. GT_PYTORCH names the Python that has PyTorch (/usr/bin/python3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH PYTHONDONTWRITEBYTECODE=1
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_CONNECT
. scripts/common.sh
python=${GT_PYTORCH:-/usr/bin/python3}
[[ $python != /usr/bin/python3 ]] || need_torch
program=${GT_BIN:-$PWD/build/bin}/client_calls
[[ -x $program ]] || skip_rest "tests/tools/client_calls.cc is not built"
read -r share shares < <(share_of 4)
exec "$python" tests/oracle/client_calls.py --share "$share" "$shares" "$program"

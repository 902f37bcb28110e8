#!/usr/bin/env bash
# With peers that say wrong things no program hangs or crashes, or prints anything
# false: a share of 60 trials.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
read -r share shares < <(share_of 4)
exec "$gt_root/tests/oracle/hostile.sh" $((60 / shares)) $((1 + share * (60 / shares)))

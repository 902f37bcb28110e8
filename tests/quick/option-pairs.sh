#!/usr/bin/env bash
# Runs a share of the pairs of options of gt-route and gt-work over a failing
# program. (tests/full/option-pairs.sh runs them all.)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
read -r share shares < <(share_of 12)
exec "$gt_root/tests/oracle/option_pairs.sh" "$share" "$shares"

#!/usr/bin/env bash
# Ten thousand connections of garbage are delivered to nobody.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_GARBAGE_CONNECTIONS=10000
exec "${GT_BIN:-$PWD/build/bin}/gt_tests" --gtest_filter='*GarbageTest*'

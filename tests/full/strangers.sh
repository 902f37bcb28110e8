#!/usr/bin/env bash
# Garbage on ten thousand connections is delivered to nobody.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_GARBAGE_CONNECTIONS=10000
exec "${GT_BIN:-$PWD/build/bin}/gt_tests" --gtest_filter='*GarbageTest*'

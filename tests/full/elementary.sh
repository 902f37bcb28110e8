#!/usr/bin/env bash
# Elementary functions of every f32 there is, and of many f64.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_EVERY=1
exec "${GT_BIN:-build/bin}/gt_tests" --gtest_filter='Elementary.*'

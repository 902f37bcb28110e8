#!/usr/bin/env bash
# Tests the elementary functions with every f32 and with many f64.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_EVERY=1
exec "${GT_BIN:-build/bin}/gt_tests" --gtest_filter='Elementary.*'

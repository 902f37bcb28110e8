#!/usr/bin/env bash
# Tests the backend cuda without a GPU, beyond the quick tier: NVRTC compiles all
# kernels for each generation of GPUs, and the fake device is asked for more products.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_BIN=${GT_BIN:-$PWD/build/bin} GT_EVERY=1
scripts/build release gt_nvrtc_tests
status=0
"$GT_BIN/gt_nvrtc_tests" --gtest_filter='*CudaCompile*' || status=1
"$GT_BIN/gt_cuda_tests" --gtest_filter='CudaFake*' || status=1
exit "$status"

#!/usr/bin/env bash
# Tests the backend cuda without a GPU, beyond the quick tier: NVRTC compiles all
# kernels for each generation of GPUs, and each call of the fake device fails in
# turn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_BIN=${GT_BIN:-$PWD/build/bin} GT_EVERY=1
export BATS_TEST_TIMEOUT=1200
scripts/build release gt_nvrtc_tests
status=0
"$GT_BIN/gt_nvrtc_tests" --gtest_filter='*CudaCompile*' || status=1
"$GT_BIN/gt_cuda_tests" --gtest_filter='CudaFake*' || status=1
bats --tap --filter 'fake device' tests/cuda.bats tests/cuda-links.bats || status=1
exit "$status"

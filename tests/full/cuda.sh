#!/usr/bin/env bash
# Tests the backend cuda without a GPU, beyond the quick tier: NVRTC compiles all
# kernels for each generation of GPUs, and the fake device is asked for more products.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_BIN=${GT_BIN:-$PWD/build/bin} GT_EVERY=1
scripts/build release gt_nvrtc_tests
status=0
# NVRTC takes one processor, so each processor has a share of the tests.
processors=$(nproc)
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-cuda.XXXXXX")
trap 'rm -rf "$work"' EXIT
for ((n = 0; n < processors; n++)); do
  GTEST_TOTAL_SHARDS=$processors GTEST_SHARD_INDEX=$n \
    "$GT_BIN/gt_nvrtc_tests" --gtest_filter='*CudaCompile*' >"$work/$n" 2>&1 &
done
for ((n = 0; n < processors; n++)); do wait -n || status=1; done
cat "$work"/*
"$GT_BIN/gt_cuda_tests" --gtest_filter='CudaFake*' || status=1
exit "$status"

#!/usr/bin/env bats
# scripts/test-gpu and scripts/bench-gpu are for machines with a GPU. Here they run
# on the fake device, which shows that the scripts work and says nothing of a GPU.
# shellcheck disable=SC2154,SC2034 # run sets stderr and output; spawned is the helper's

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  [[ -e ${GT_BIN%/bin}/lib/gt/cuda.so ]] ||
    skip 'the backend cuda was not built: the headers of CUDA are not here'
}

# valid FILE checks that it is JSON and that it says it is of the fake device.
valid() {
  python3 - "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["on"].startswith("the fake device") and report["rows"], report
assert report["device"].startswith("fake device"), report
END
}

# bats test_tags=full
@test "fake device: scripts/test-gpu makes all its checks" {
  skip_if_sanitized 'its limits are of time'
  run -0 "$GT_ROOT/scripts/test-gpu" --fake -o report
  [ "${lines[-1]}" = '14 passed, 0 failed, 1 skipped on the fake device' ] || {
    # There is one check more where compute-sanitizer is installed.
    [ "${lines[-1]}" = '15 passed, 0 failed, 0 skipped on the fake device' ]
  }
  valid report
  [ "$(grep -c '"result": "passed"' report)" -ge 14 ]
}

@test "fake device: scripts/test-gpu names what failed and ends with status 1" {
  skip_if_sanitized 'its limits are of time'
  GT_FAKE_FAIL=30+ run -1 "$GT_ROOT/scripts/test-gpu" --fake -o report kernels
  [[ $output == *'kernels    failed '* ]]
  [ "${lines[-1]}" = '0 passed, 1 failed, 0 skipped on the fake device' ]
  valid report
  grep '"check": "kernels", "result": "failed"' report
}

@test "without a GPU both scripts skip all with status 77 and a sentence" {
  mkdir none
  local script
  for script in test-gpu bench-gpu; do
    GT_CUDA_PATH=$PWD/none run -77 "$GT_ROOT/scripts/$script" -o report
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "skipped: gt-work: backend cuda: NVIDIA's driver is not on this host: "* ]]
    [ ! -e report ]
    run -2 "$GT_ROOT/scripts/$script" --fake nothing
    [[ $output == *"unknown argument 'nothing'"* ]]
    run -2 "$GT_ROOT/scripts/$script" --fake --libraries
    [[ $output == *"--libraries needs a value; see $script --help" ]]
  done
}

@test "fake device: what --carry packs runs elsewhere, without the tree" {
  skip_if_sanitized 'programs need their sanitizer'
  run -0 "$GT_ROOT/scripts/test-gpu" --carry there
  # The libraries are found as on a machine with a GPU.
  local libraries=${GT_BIN%/bin}/tests/fake-cuda
  GT_BIN='' GT_CUDA_PATH=$libraries run -0 \
    there/scripts/test-gpu devices faults
  [ "${lines[-1]}" = '2 passed, 0 failed, 0 skipped on a GPU' ]
}

# bats test_tags=full
@test "fake device: scripts/bench-gpu measures its rows, or says why not" {
  skip_if_sanitized 'it measures'
  run -0 "$GT_ROOT/scripts/bench-gpu" --fake -n 2 -o report
  valid report
  [ "$(grep -c '"row": ' report)" -eq 9 ]
  [ "$(grep -c '"word": "not judged"' report)" -eq 5 ]
  [ "$(grep -c '"not_measured": ' report)" -eq 4 ]
  [[ $output == *'GPT-2 124M step, bf16, 16x1024, s : llm.c '*'not measured: GT_BENCH_LLMC names no program'* ]]
}

@test "fake device: scripts/bench-gpu foretells rows, and reads the times of a peer" {
  skip_if_sanitized 'it measures'
  # At full sizes the fake device computes nothing and only keeps time.
  run -0 "$GT_ROOT/scripts/bench-gpu" --speed 2700:650000 -n 1 -o report \
    matmul attention
  [[ $output == *'matmul 8192x8192x8192 bf16, s : bare cuBLASLt '*'not judged'* ]]
  valid report
  grep -q '"on": "the fake device at 2700:650000 a nanosecond"' report
  grep -qE '"row": "attention 4096.*", "foretold": [0-9.e-]+}' report
  local speed
  for speed in '' 2700 0:1 1.2.3:4; do
    run -2 "$GT_ROOT/scripts/bench-gpu" --speed $speed
    [[ $output == *'--speed needs two numbers above 0, as 2700:650000' ]]
  done

  # The script reads the times of steps that llm.c prints; here a stand-in prints
  # them.
  cat >llmc <<'END'
#!/bin/sh
for ms in 9.5 7.25 8.5; do echo "step 1/3 | loss 4.1 | $ms ms | 3 tok/s"; done
END
  chmod +x llmc
  GT_BENCH_LLMC=./llmc run -0 "$GT_ROOT/scripts/bench-gpu" --fake -o report llmc
  grep '"theirs": 0.0085,' report
  # A program that fails counts as a failure, not as a peer that is not installed.
  GT_FAKE_FAIL=30+ run -1 "$GT_ROOT/scripts/bench-gpu" --fake matmul
  [[ $output == *'not measured: it failed: '* ]]
}

#!/usr/bin/env bash
# usage: tests/oracle/gpu_sets.sh "GPUS ..." SET ...
#
# Runs sets of tests that name no backend, tests/SET.bats, on the fake device
# (tests/cuda/fake) with so many GPUs, one after the other; after "no-graphs" in the
# list, with --no-graphs. This shows nothing about CUDA itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_BIN=${GT_BIN:-$PWD/build/bin} BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
if [[ ! -e ${GT_BIN%/bin}/tests/fake-cuda/libnccl.so.2 ]]; then
  echo 'the headers of CUDA or of NCCL are not here'
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
fi

passed=0 failed=0 skipped=0 no_graphs=0
read -ra counts <<<"$1"
shift
for gpus in "${counts[@]}"; do
  if [[ $gpus == no-graphs ]]; then
    no_graphs=1
    continue
  fi
  for name in "$@"; do
    status=0
    out=$(GT_TEST_GPUS=$gpus GT_TEST_NO_GRAPHS=$no_graphs bats --tap "tests/$name.bats" 2>&1) || status=1
    read -r p f s < <(awk '/^ok .*# skip/ { s++; next } /^ok / { p++ }
      /^not ok / { f++ } END { print p + 0, f + 0, s + 0 }' <<<"$out")
    ((status == 0 || f > 0)) || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    echo "fake device, GPUs: $gpus, no graphs: $no_graphs: $name: $p passed, $f failed, $s skipped"
    ((f == 0)) || grep -vE '^ok ' <<<"$out"
  done
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))

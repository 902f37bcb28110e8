#!/usr/bin/env bash
# usage: tests/oracle/gpu_sets.sh "GPUS ..." SET ...
#
# Runs sets of tests that name no backend, tests/SET.bats, on the fake device
# (tests/cuda/fake), once for each number of GPUs in the list; for those after
# "no-graphs" in the list, with --no-graphs. This shows nothing about CUDA itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export GT_BIN=${GT_BIN:-$PWD/build/bin} BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-120}
if [[ ! -e ${GT_BIN%/bin}/tests/fake-cuda/libnccl.so.2 ]]; then
  echo 'the headers of CUDA or of NCCL are not here'
  echo '0 passed, 0 failed, 1 skipped'
  exit 0
fi

# run_set GPUS NO_GRAPHS NAME prints a line of counts, and what failed.
run_set() {
  local out status=0 p f s
  out=$(GT_TEST_GPUS=$1 GT_TEST_NO_GRAPHS=$2 bats --tap "tests/$3.bats" 2>&1) || status=1
  read -r p f s < <(awk '/^ok .*# skip/ { s++; next } /^ok / { p++ }
    /^not ok / { f++ } END { print p + 0, f + 0, s + 0 }' <<<"$out")
  ((status == 0 || f > 0)) || f=1
  echo "fake device, GPUs: $1, no graphs: $2: $3: $p passed, $f failed, $s skipped"
  ((f == 0)) || grep -vE '^ok ' <<<"$out"
}
export -f run_set

# Many tests wait, so more run at a time than there are processors.
no_graphs=0
read -ra counts <<<"$1"
shift
for gpus in "${counts[@]}"; do
  if [[ $gpus == no-graphs ]]; then
    no_graphs=1
    continue
  fi
  printf '%s\n' "${@/#/"$gpus $no_graphs "}"
done | xargs -P "$(($(nproc) + 2))" -I {} bash -c 'run_set {}' | awk '
  { print }
  /^fake device, GPUs: .* passed, .* skipped$/ {
    p += $(NF - 5); f += $(NF - 3); s += $(NF - 1)
  }
  END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'

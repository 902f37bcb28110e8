# shellcheck shell=bash
# What the Bats tests share: `load helper` gives each test a private folder to run
# in, a fixed locale, and the programs on PATH, and ends the processes that the test
# started.

bats_require_minimum_version 1.5.0

# The source tree, its data and examples, and the folder of the programs under test.
GT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export GT_ROOT
export GT_SHARE=$GT_ROOT/share
export GT_EXAMPLES=$GT_ROOT/examples
export GT_BIN=${GT_BIN:-$GT_ROOT/build/bin}
export LC_ALL=C
export NO_COLOR=1
export PATH=$GT_BIN:$PATH
# A process that a loaded machine stops or a sanitizer slows down must not count as
# lost.
export GT_SILENCE=60
unset GT_KEY GT_ROUTE_KEY GT_CONFIG GT_CONNECT GT_INSTRUCTION_LOG GT_BACKEND
unset GT_NO_GRAPHS GT_NO_FUSE GT_VERBOSE OMP_NUM_THREADS PYTHONUNBUFFERED
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE SLURM_PROCID SLURM_NTASKS \
  SLURM_LOCALID SLURM_TASKS_PER_NODE

# With GT_TEST_GPUS=N, tests that name no backend run on a fake device with N GPUs
# (tests/full/gpu-sets.sh); with GT_TEST_NO_GRAPHS=1 that device records nothing.
if [[ -n ${GT_TEST_GPUS:-} ]]; then
  export GT_BACKEND=cuda GT_FAKE_GPUS=$GT_TEST_GPUS
  export GT_CUDA_PATH=${GT_BIN%/bin}/tests/fake-cuda
  export XDG_CACHE_HOME=${GT_BIN%/bin}/twin/cache GT_FAKE_NCCL_HOME=$BATS_RUN_TMPDIR
  export GT_NO_GRAPHS=${GT_TEST_NO_GRAPHS:-0}
fi

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
  end_spawned
}

# spawn PROGRAM... runs it in the background; $! is its id, and teardown ends it.
# Bats waits for every process that holds its file descriptor 3, hence 3>&-. At
# first the subshell that becomes PROGRAM has the traps of Bats; if it were ended
# then, it would report a test of its own. So spawn returns only when the traps are
# gone. Bash takes standard input from a background process unless it is redirected,
# hence <&0.
spawn() {
  local ready=$BATS_TEST_TMPDIR/spawned.$RANDOM
  {
    trap - EXIT ERR DEBUG
    : >"$ready"
    exec "$@"
  } <&0 3>&- &
  spawned+=("$!")
  until [[ -e $ready ]]; do sleep 0.01; done
}

# is_spawned PID: whether it is a process of this test that still runs. Without this
# check the number might be another test's process by now: a machine may have only
# 32,768.
is_spawned() {
  [[ $'\n'$(jobs -pr; jobs -ps)$'\n' == *$'\n'"$1"$'\n'* ]]
}

# end_spawned sends TERM, and after 2 s KILL, to what spawn started and to nothing
# else.
end_spawned() {
  local pid tries
  for pid in "${spawned[@]}"; do
    is_spawned "$pid" || continue
    kill -TERM "$pid" 2>/dev/null || true
    for ((tries = 0; tries < 20; tries++)); do
      is_spawned "$pid" || break
      sleep 0.1
    done
    if is_spawned "$pid"; then kill -KILL "$pid" 2>/dev/null || true; fi
    wait "$pid" 2>/dev/null || true
  done
  spawned=()
}

# within SECONDS COMMAND... fails with status 124 if the command takes longer.
within() {
  timeout -k 2 "$@"
}

# await PATTERN FILE [OPTION...] waits until a line of the file matches; the file
# need not exist yet, and options are those of grep. It fails after two minutes.
await() {
  local end=$((SECONDS + 120))
  until grep -q "${@:3}" -e "$1" "$2" 2>/dev/null; do
    ((SECONDS < end)) || { echo "no line '$1' came in $2"; return 1; }
    sleep 0.05
  done
}

# free_port [N] prints a port that is free, as are the N - 1 ports after it. They
# are below the ports that Linux gives to connections by itself.
free_port() {
  local port n
  while true; do
    port=$((10000 + RANDOM % 22000))
    for ((n = port; n < port + ${1:-1}; n++)); do
      ! grep -qi ":$(printf %04x "$n") " /proc/net/tcp /proc/net/tcp6 2>/dev/null || continue 2
    done
    echo "$port"
    return
  done
}

# share_of N prints two numbers, K and N: of the cases of a test, each N-th is run for
# this commit, from the K-th on (scripts/common.sh).
share_of() (
  . "$GT_ROOT/scripts/common.sh"
  share_of "$1"
)

# skip_if_sanitized REASON skips a test that a sanitizer makes slow or meaningless.
skip_if_sanitized() {
  [[ -z ${GT_SANITIZED:-} ]] || skip "sanitizer build: $1"
}

# Writes faults.s, whose lines meet wrong data here and there. Many lines are
# between a fault and the print of what depends on it; names are bound again, lines
# are rejected, and values are saved.
make_faults() {
  awk 'BEGIN {
    print "w = ones f32[4,2]\nacc = zeros f32[2,2]\none = ones f32[2,2]"
    print "i = tensor i64[2] 1 9\nn = tensor i64[] 0\ntwo = tensor i64[2] 4 2"
    for (r = 0; r < 12; ++r) {
      print "k = sub two n\nq = floordiv two k\nm = mod q 4"
      print "e = embedding w q\ne = mul e 2\nf = add e acc\nacc = add acc one"
      for (j = 0; j < 10; ++j) print "h" j " = add acc " j
      print "s = add h3 f\nl = cross_entropy s m\nz = floordiv m q"
      if (r % 3 == 2) print "print s\nprint acc\nprint l\nprint z\nprint h4"
      if (r == 5) print "acc = add acc s\nprint acc\nacc = zeros f32[2,2]"
      print "n = add n 1"
    }
    print "bad = embedding w i\nworse = foo bad\nprint worse\nprint n"
    print "c = matmul bad bad\nprint bad\nprint c\nsave acc \"acc.npy\""
    print "save bad \"bad.npy\"\nback = load \"bad.npy\" f32[2,2]\nprint back"
    print "last = floordiv two 0"
  }' >faults.s
}

# use_fake_device [FILE] makes the backend cuda find the fake device
# (tests/cuda/fake) in place of CUDA. It skips the test if FILE of the device, or
# its driver, was not built.
use_fake_device() {
  export GT_CUDA_PATH=${GT_BIN%/bin}/tests/fake-cuda GT_FAKE_NCCL_HOME=$PWD
  export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache # the cache of compiled kernels
  [[ -e $GT_CUDA_PATH/${1:-libcuda.so.1} ]] ||
    skip 'the headers of CUDA, or of NCCL, are not here'
}

# count_launches prints the launches of a run that had GT_FAKE_LAUNCHES=launches.
count_launches() {
  sed -n 's/^launches \([0-9]*\) .*/\1/p' launches
}
# GT_FAKE_REPORT says this of a program that gave everything back.
# shellcheck disable=SC2034 # tests read it
all_given_back='kept: 0 blocks, 0 streams, 0 events, 0 pinned, 0 contexts, 0 modules, 0 programs, 0 descriptions, 0 graphs'

# count_calls COMMAND... runs it on the fake device. `wanted` gets its output, and
# `calls` is the number of calls of the libraries in the process that made most of
# them.
count_calls() {
  rm -f report
  GT_FAKE_REPORT=report "$@" >wanted
  calls=$(awk '$2 > n { n = $2 } END { print n }' report)
}

# calls_fail FIRST SHARES COMMAND..., used after count_calls, runs the command once for
# each of these calls from the FIRST on, which fails in each of its processes; for one
# commit a share of these calls. The command never ends in a signal or hangs, and it
# reports the failure or gives the output that is wanted. With most_kept=N, for a
# single process, it also gives everything back if it reports a failure, and else
# keeps at most N things, namely those that it failed to give back.
calls_fail() {
  local k status share shares
  read -r share shares < <(share_of "$2")
  for ((k = $1 + share; k <= calls; k += shares)); do
    rm -f report
    status=0
    GT_FAKE_FAIL=$k GT_FAKE_REPORT=report within 60 "${@:3}" >out 2>said ||
      status=$?
    echo "call $k of $calls: status $status"
    ((status <= 4))
    [[ $(<said) != *'fake device: '* ]]
    if ((status == 0)); then
      cmp out wanted
    else
      [[ -s said ]]
    fi
    [[ -n ${most_kept:-} ]] || continue
    ((status == 0)) || grep "$all_given_back" report
    awk -v most="$most_kept" \
      '{ for (i = 4; i < NF; i += 2) n += $i } END { exit n > most }' report
  done
}

# skip_leaks REASON is for a program that ends without giving back what it holds,
# which a sanitizer would turn into another status.
skip_leaks() {
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
}

# skip_on_gpus REASON skips a test that is only about the host; see GT_TEST_GPUS.
skip_on_gpus() {
  [[ -z ${GT_TEST_GPUS:-} ]] || skip "fake device: $1"
}

# make_stream writes model.gt, a small program with gradients, and model.s, its
# stream.
make_stream() {
  cat >model.gt <<'END'
x = randn f32[8,4] 1 #signal=batch
w = randn f32[4,2] 2
y = matmul x w #signal=layer/up
l = mean y
g = grad l w
w = sgd w g 0.1
# a comment
print l
END
  gt-emit model.gt >model.s
}

# need PROGRAM fails and names the program if it is not built or installed.
need() {
  command -v "$1" >/dev/null && return
  echo "$1 is not on PATH ($PATH)"
  return 1
}

# lines_are EXPECTED prints a diff and fails unless $output, which run set, is
# EXPECTED.
lines_are() {
  diff -u --label expected <(printf '%s\n' "$1") \
    --label output <(printf '%s\n' "$output")
}

# make_pair writes pair.gt, a column- and a row-parallel product and their
# gradients, and tp2.yaml, a config for them.
make_pair() {
  cat >pair.gt <<'END'
x = randn f32[8,16] 1 #signal=batch
u = randn f32[16,6] 2
d = randn f32[6,4] 3
h = matmul x u #signal=colpar
h = relu h
y = matmul h d #signal=rowpar
l = sum y
gu gd = grad l u d
print y
print gu
END
  cat >tp2.yaml <<'END'
mesh: {tp: 2}
signals:
  colpar: {shard: {tp: 1}}
  rowpar: {shard: {tp: 0}}
END
}

# same_values PROGRAM OPTION... checks that the placed stream gives what the program
# does.
same_values() {
  local program=$1
  shift
  gt-emit "$program" | gt-work >whole
  gt-emit "$program" | gt-shard "$@" | gt-work >placed
  gt-cmp --rtol 1e-5 whole placed
}

# lines OP prints how many lines of standard input are of that op.
lines() {
  grep -c " = $1 " || true
}

# faults FAULT COMMAND... makes a call of the command fail, as tests/tools/faults.cc
# says: with read:2:5 its second read fails with errno 5. A test that uses it must
# skip sanitizer builds at its beginning, since a skip within `run` has no effect.
faults() {
  LD_PRELOAD=${GT_BIN%/bin}/tests/faults.so GT_FAULT=$1 "${@:2}"
}

# full NAME makes a FIFO that has no room, as a disk that stalls or a terminal that is
# stopped: who writes to it waits until somebody reads descriptor 7.
full() {
  mkfifo "$1"
  exec 7<>"$1"
  python3 -c 'import os
os.set_blocking(7, False)
try:
    while True:
        os.write(7, b"\n" * 4096)
except BlockingIOError:
    os.set_blocking(7, True)'
}

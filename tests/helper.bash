# shellcheck shell=bash
# What the Bats tests share: `load helper` gives each test a private folder to
# run in, a fixed locale, the programs on PATH, and an end to what it started.

bats_require_minimum_version 1.5.0

# The tree, its data and examples, and the folder of the programs under test.
GT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export GT_ROOT
export GT_SHARE=$GT_ROOT/share
export GT_EXAMPLES=$GT_ROOT/examples
export GT_BIN=${GT_BIN:-$GT_ROOT/build/bin}
export LC_ALL=C
export NO_COLOR=1
export PATH=$GT_BIN:$PATH
# Who is stopped by a loaded machine, or slow under a sanitizer, is not lost.
export GT_SILENCE=60
unset GT_KEY GT_ROUTE_KEY GT_CONFIG GT_CONNECT GT_INSTRUCTION_LOG GT_BACKEND
unset GT_NO_GRAPHS GT_VERBOSE
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE SLURM_PROCID SLURM_NTASKS \
  SLURM_LOCALID SLURM_TASKS_PER_NODE

# GT_TEST_GPUS=N: the fake device with so many GPUs computes, where a test names
# no backend (tests/full/gpu-sets.sh); with GT_TEST_NO_GRAPHS=1 without recordings.
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

# spawn PROGRAM...: runs it in the background; $! is its id, teardown ends it.
# Bats waits for whoever holds its file descriptor 3, hence 3>&-. The copy of
# the shell that becomes PROGRAM has the traps of Bats at first and would, if
# ended then, report a test of its own: so spawn returns when they are gone. It
# has the standard input of the caller, which bash takes from what is in the
# background unless it is told.
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

# is_spawned PID: whether it is a process of ours that has not ended. The number of
# one that has can soon be that of another test: a machine may have but 32,768.
is_spawned() {
  [[ $'\n'$(jobs -pr; jobs -ps)$'\n' == *$'\n'"$1"$'\n'* ]]
}

# end_spawned: TERM, and after 2 s KILL, to what spawn started, and nothing else.
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

# within SECONDS COMMAND...: fails with status 124 when it takes longer.
within() {
  timeout -k 2 "$@"
}

# await PATTERN FILE [OPTION...]: until a line of the file, which may not be there
# yet, matches; options are grep's. Fails when that takes longer than two minutes.
await() {
  local end=$((SECONDS + 120))
  until grep -q "${@:3}" -e "$1" "$2" 2>/dev/null; do
    ((SECONDS < end)) || { echo "no line '$1' came in $2"; return 1; }
    sleep 0.05
  done
}

# free_port [N]: a port that nobody listens or talks at, as are the N - 1 behind it;
# below those that Linux gives to connections by itself.
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

# skip_if_sanitized REASON: for what a sanitizer makes slow or meaningless.
skip_if_sanitized() {
  [[ -z ${GT_SANITIZED:-} ]] || skip "sanitizer build: $1"
}

# Lines that meet wrong data here and there, with many lines between a fault and
# the print of what depends on it, names that are bound anew, rejected lines and
# saves.
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

# use_fake_device [FILE]: the backend cuda finds the fake device where CUDA would
# be (tests/cuda/fake). Skips where FILE of it, or its driver, was not built.
use_fake_device() {
  export GT_CUDA_PATH=${GT_BIN%/bin}/tests/fake-cuda GT_FAKE_NCCL_HOME=$PWD
  export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache # compiled kernels
  [[ -e $GT_CUDA_PATH/${1:-libcuda.so.1} ]] ||
    skip 'the headers of CUDA, or of NCCL, are not here'
}

# count_launches: how many a run has made that had GT_FAKE_LAUNCHES=launches.
count_launches() {
  sed -n 's/^launches \([0-9]*\) .*/\1/p' launches
}
# What it says in GT_FAKE_REPORT of a program that gave all back.
# shellcheck disable=SC2034 # tests read it
all_given_back='kept: 0 blocks, 0 streams, 0 events, 0 pinned, 0 contexts, 0 modules, 0 programs, 0 descriptions, 0 graphs'

# count_calls COMMAND...: runs it on the fake device; its output is then `wanted`,
# and `calls` says how many calls of the libraries the one of its processes made
# that made most.
count_calls() {
  rm -f report
  GT_FAKE_REPORT=report "$@" >wanted
  calls=$(awk '$2 > n { n = $2 } END { print n }' report)
}

# calls_fail FIRST EVERY COMMAND...: after count_calls, runs the command with the
# FIRST of these calls failing, in each of its processes, then with every EVERY-th
# behind it. It never ends in a signal or takes for ever, and says what is wrong, or
# gives what is wanted. With most_kept=N, of a single process, it also gives all
# back where it says so, and else keeps N things at most, those that it failed to
# give back.
calls_fail() {
  local k status
  for ((k = $1; k <= calls; k += $2)); do
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

# skip_leaks REASON: for who leaves without giving back what it holds. A sanitizer
# would tell of that by another status.
skip_leaks() {
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
}

# skip_on_gpus REASON: for what is the host's alone, see GT_TEST_GPUS.
skip_on_gpus() {
  [[ -z ${GT_TEST_GPUS:-} ]] || skip "fake device: $1"
}

# make_stream: model.gt, a small program with gradients, and model.s, its stream.
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

# need PROGRAM: fails, naming it, where a program is not built or installed.
need() {
  command -v "$1" >/dev/null && return
  echo "$1 is not on PATH ($PATH)"
  return 1
}

# lines_are EXPECTED: $output, as run left it, is EXPECTED; else a diff.
lines_are() {
  diff -u --label expected <(printf '%s\n' "$1") \
    --label output <(printf '%s\n' "$output")
}

# pair.gt: a column- and a row-parallel product, and their gradients; tp2.yaml,
# their config.
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

# same_values PROGRAM OPTION...: the placed stream gives what the program does.
same_values() {
  local program=$1
  shift
  gt-emit "$program" | gt-work >whole
  gt-emit "$program" | gt-shard "$@" | gt-work >placed
  gt-cmp --rtol 1e-5 whole placed
}

# lines OP: how many lines of standard input are the op's.
lines() {
  grep -c " = $1 " || true
}

# faults FAULT COMMAND...: a call of the command fails, as tests/tools/faults.cc
# says: read:2:5 is its second read, with errno 5. A test that uses it skips
# sanitizer builds at its beginning: within run, a skip is lost.
faults() {
  LD_PRELOAD=${GT_BIN%/bin}/tests/faults.so GT_FAULT=$1 "${@:2}"
}

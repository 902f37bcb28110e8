#!/usr/bin/env bats
# Workers with GPUs exchange values by NCCL or by copies from GPU to GPU. Several
# processes with the fake device (tests/cuda/fake) play the ranks, so nothing is
# tested of NCCL itself, of memory that processes share on a real GPU, or of speed.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # run sets stderr and output; spawned is the helper's; a test is a subshell

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device libnccl.so.2
  export GT_FAKE_GPUS=2  # for tests that say no other number
}

# Writes a program with every kind of exchange: whole pieces, parts in one run and
# in several, a sum that travels in chunks and one that does not, and values for all
# ranks, for some, and of no rank.
make_program() {
  cat >p.s <<'END'
mesh d=4
x@0-3 = randn f32[8,8] 1 split=d:0
y@0-3 = all_gather x@0-3 over=d src=S0
z@0-3 = mul x@0-3 2
s@0-3 = sum z@0-3 axis=0
s@0-3 = all_reduce s@0-3 over=d
t@0-3 = all_to_all x@0-3 over=d src=S0 dst=S1
g@0-3 = randn f32[80,200] 2
h@0-3 = all_reduce g@0-3 over=d
r@0-3 = reduce_scatter g@0-3 over=d dst=S1
c@1 = copy s@0
c@1 = add c@1 1
w = randn f32[50,50] 3
v = matmul w w
print y@3
print s@0-3
print t@0-3 split=d:1
print h@2
print r@0-3 split=d:1
print c@1
print v
END
}

# Writes a program in which two workers give each other their halves in two ways.
make_small() {
  cat >p.s <<'END'
mesh d=2
x@0-1 = randn f32[4,4] 1 split=d:0
y@0-1 = all_gather x@0-1 over=d src=S0
t@0-1 = all_to_all x@0-1 over=d src=S0 dst=S1
print y@1
print t@0-1 split=d:1
END
}

# Writes a program in which workers 1 and 2 can go on without worker 0.
make_independent() {
  cat >p.s <<'END'
mesh d=3
x@0-2 = randn f32[90,100] 1
y@1-2 = copy x@0
s@0-2 = all_reduce x@0-2 over=d
z@1 = copy x@2
print y@1
print z@1
END
}

# remove_nccl takes NCCL away for the rest of the test.
remove_nccl() {
  mkdir without
  cp "$GT_CUDA_PATH"/lib{cuda,nvrtc,cublasLt}.* without
  export GT_CUDA_PATH=$PWD/without
}

# copied N OF: N of OF workers copied more to others than the trial of the link
# does.
copied() {
  [ "$(awk -v tried=$((64 * ($2 - 1))) '$5 > tried { ++n } END { print n }' copies)" = "$1" ]
}

# moved N: each of N ranks was in a group besides the one that tries the link.
moved() {
  [ "$(grep -c "^rank . of $1: " moves)" -eq "$1" ]
  [ "$(grep -cE ': [01] groups' moves)" -eq 0 ]
}

# Runs gt-route and two workers that wait for each other for two seconds at most.
# All that they say goes to `said`.
route_two() {
  local rank
  for rank in 0 1; do
    LOCAL_RANK=$rank gt-work --connect "ipc://$PWD/bus" --rank $rank \
      --timeout 2 --backend cuda 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 2 "$@" 2>>said
}

# all_right N runs p.s on N GPUs: its output is as wanted, nothing else is said, and
# every process gives back what it took.
all_right() {
  rm -f report
  GT_FAKE_GPUS=$1 GT_FAKE_REPORT=report \
    run -0 --separate-stderr within 60 gt-route -n gpus p.s
  [ -z "$stderr" ]
  cmp - wanted <<<"$output"
  [ "$(grep -c "$all_given_back" report)" -eq $(($1 + 1)) ]
}

# ---- values ------------------------------------------------------------------

@test "fake device: values go from GPU to GPU, on 2, 4 and 8 of them" {
  make_program
  gt-work --backend cuda p.s >wanted
  local n
  for n in 2 4 8; do
    rm -f moves
    GT_FAKE_NCCL_REPORT=moves all_right "$n"
    [ "$(grep -c . moves)" -eq "$n" ]
  done
  [ -z "$(compgen -G 'gt-fake-nccl.*')" ]
}

@test "fake device: values by NCCL have the bits that the host's way gives, in any order of streams" {
  make_program
  GT_FAKE_NO_IPC=1 GT_CUDA_PATH=$(remove_nccl; echo "$GT_CUDA_PATH") \
    GT_FAKE_GPUS=4 gt-route -n gpus p.s >wanted
  local seed
  for seed in 1 2 3 4 5; do
    rm -f moves
    GT_FAKE_SEED=$seed GT_FAKE_GPUS=4 GT_FAKE_NCCL_REPORT=moves \
      within 60 gt-route -n gpus p.s | cmp - wanted
    moved 4
  done
}

@test "fake device: a failed value fails wherever it was to go, and nothing hangs" {
  cat >p.s <<'END'
mesh d=2
i@0 = tensor i64[1] 9
i@1 = tensor i64[1] 1
w@0-1 = ones f32[4,2]
y@0-1 = embedding w@0-1 i@0-1
z@0-1 = all_gather y@0-1 over=d src=S0
v@0-1 = all_gather w@0-1 over=d src=S0
print z@1
print v@1
END
  GT_FAKE_GPUS=2 run -1 --separate-stderr within 60 gt-route -n gpus p.s
  [[ ${lines[0]} == 'z@1 = fail '*'embedding: '* ]]
  [[ ${lines[1]} == 'v@1 = tensor f32[8,2] 1 1 '* ]]
}

@test "fake device: without NCCL values are copied from GPU to GPU, on 2, 4 and 8 of them" {
  make_program
  gt-work --backend cuda p.s >wanted
  remove_nccl
  local n
  for n in 2 4 8; do
    rm -f copies
    GT_FAKE_COPIES=copies all_right "$n"
    copied $((n < 4 ? n : 4)) $n
  done
}

@test "fake device: copies give the same values in any order of streams" {
  make_program
  gt-work --backend cuda p.s >wanted
  remove_nccl
  local seed
  for seed in 1 2 3 4 5; do
    GT_FAKE_SEED=$seed GT_FAKE_GPUS=4 within 60 gt-route -n gpus p.s | cmp - wanted
  done
}

@test "fake device: a large value is copied piece by piece, others beside it and after it" {
  cat >p.s <<'END'
mesh d=2
x@0-1 = randn f32[2700,1801] 1 split=d:0
y@0-1 = all_gather x@0-1 over=d src=S0
z@1 = copy y@0
z@1 = sub z@1 y@1
z@1 = abs z@1
d@1 = sum z@1
s@0-1 = sum y@0-1 axis=0
s@0-1 = all_reduce s@0-1 over=d
s@0-1 = sum s@0-1
print d@1
print s@0-1
END
  gt-work --backend cuda p.s >wanted
  [ "$(sed -n 1p wanted)" = 'd@1 = tensor f32[] 0' ]
  remove_nccl
  GT_FAKE_COPIES=copies gt-route -n gpus p.s | cmp - wanted
  # The workers copied a half to each other and the whole to one.
  [ "$(awk '{ n += $5 } END { print (n > 2 * 4 * 2700 * 1801) }' copies)" = 1 ]
}

@test "fake device: workers that share a GPU copy; with --fast-sums those with their own have NCCL" {
  make_program
  gt-work --backend cuda p.s >wanted
  export GT_FAKE_NCCL_REPORT=moves GT_FAKE_COPIES=copies
  run -0 --separate-stderr gt-route -n 3 --backend cuda p.s
  cmp - wanted <<<"$output"
  [ -z "$stderr" ]
  [ ! -e moves ]
  copied 3 3
  rm copies
  run -0 --separate-stderr gt-route --fast-sums -n 4 --backend cuda p.s
  gt-cmp --rtol 1e-5 - wanted <<<"$output"
  diff <(sort <<<"$stderr") - <<'END'
gt-work: sums of workers 2 and 3 are not fast: copies add nothing up
gt-work: sums of workers 2 and 3 with others are not fast, without a link
gt-work: the values of workers 2 and 3 cross through the host to all others: its device is that of worker 0, too
END
  moved 2
  copied 2 2
}

# ---- who has no link ---------------------------------------------------------

@test "with neither NCCL nor shared memory of GPUs values cross the host, and one warning says so" {
  make_program
  gt-work --backend cuda p.s >wanted
  remove_nccl
  GT_FAKE_NO_IPC=1 run -0 --separate-stderr gt-route -n gpus p.s
  cmp - wanted <<<"$output"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == 'gt-work: the values of workers 0 and 1 cross through the host: '*'NCCL, '*' is not on this host: there is no libnccl.so.2; install it'* ]]
}

@test "fake device: values of a shared GPU that cannot be copied, and of the host, cross the host" {
  make_program
  gt-work --backend cuda p.s >wanted
  GT_FAKE_NO_IPC=1 GT_FAKE_NCCL_REPORT=moves \
    run -0 --separate-stderr gt-route -n 3 --backend cuda p.s
  cmp - wanted <<<"$output"
  [ "$stderr" = 'gt-work: the values of worker 2 cross through the host: its device is that of worker 0, too' ]
  moved 2
  # One of three workers computes on the host.
  local rank backends=(cpu cuda cuda)
  for rank in 0 1 2; do
    LOCAL_RANK=$rank GT_FAKE_GPUS=3 gt-work --connect "ipc://$PWD/bus" \
      --rank $rank --backend "${backends[rank]}" 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 3 p.s | gt-cmp --rtol 1e-5 - wanted
  [ "$(cat said)" = 'gt-work: the values of worker 0 cross through the host: it computes on the host' ]
}

@test "fake device: workers that cannot see each other in /proc do not copy" {
  unshare -Urpf --mount-proc true || skip 'there are no name spaces for users'
  make_program
  gt-work --backend cuda p.s >wanted
  remove_nccl
  local rank apart=(env env unshare)
  for rank in 0 1 2; do
    [[ ${apart[rank]} == env ]] || apart[rank]+=' -Urpf --mount-proc'
    # shellcheck disable=SC2086 # unshare has options
    LOCAL_RANK=$rank GT_FAKE_GPUS=3 GT_FAKE_COPIES=copies ${apart[rank]} gt-work \
      --connect "ipc://$PWD/bus" --rank $rank --backend cuda 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 3 p.s | cmp - wanted
  wait "${spawned[@]}"
  [[ $(cat said) == 'gt-work: the values of worker 2 cross through the host: '*'NCCL, '* ]]
  [ "$(awk '$5 > 64' copies | wc -l)" -eq 2 ]
}

# ---- what goes wrong ---------------------------------------------------------

@test "fake device: a link that hangs is given up, and the results are right" {
  make_program
  gt-work --backend cuda p.s >wanted
  local group
  for group in 2 5; do
    rm -f said
    GT_FAKE_NCCL_HANG=1:$group route_two p.s | cmp - wanted
    [[ $(grep gt-work said) == 'gt-work: devices are linked no more, so values cross through the host: nccl-'*': nothing was done for 2.0 s' ]]
  done
}

@test "fake device: where NCCL cannot join the workers, they copy" {
  make_program
  gt-work --backend cuda p.s >wanted
  export GT_FAKE_NCCL_HANG=1:1 GT_FAKE_COPIES=copies
  route_two p.s >got
  cmp got wanted
  [[ $(grep gt-work said) == 'gt-work: devices are linked by copies, not by nccl-'*': nothing was done for 2.0 s' ]]
  wait "${spawned[@]}"
  copied 2 2
  rm said
  GT_FAKE_NO_IPC=1 route_two p.s | cmp - wanted
  [[ $(grep gt-work said) == 'gt-work: devices are not linked, so values cross through the host: nccl-'*': nothing was done for 2.0 s' ]]
}

@test "fake device: copies that hang are given up, and the results are right" {
  make_program
  gt-work --backend cuda p.s >wanted
  remove_nccl
  local copy state
  for copy in 1 2 5; do
    rm -f said
    GT_FAKE_COPY_HANG=1:$copy route_two p.s | cmp - wanted
    state='linked no more'
    ((copy > 1)) || state='not linked'
    [ "$(grep gt-work said)" = "gt-work: devices are $state, so values cross through the host: copies: nothing was done for 2.0 s" ]
  done
}

@test "fake device: a rank that dies is reported as a lost worker, as without a link" {
  make_program
  local group
  for group in 1 2 4; do
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=1:$group \
      run -4 --separate-stderr within 60 gt-route -n gpus p.s
    [[ $stderr == *'worker 1 was killed by signal 9 (SIGKILL)'* ]]
    [[ $stderr != *'linked'* ]]
  done
}

@test "fake device: a worker that dies while it copies is reported as lost" {
  make_program
  remove_nccl
  local copy
  for copy in 1 4 12; do
    GT_FAKE_GPUS=4 GT_FAKE_COPY_DIE=1:$copy \
      run -4 --separate-stderr within 60 gt-route -n gpus p.s
    [[ $stderr == *'worker 1 was killed by signal 9 (SIGKILL)'* ]]
  done
}

@test "fake device: with --keep-going the others go on without a lost worker" {
  make_independent
  gt-work --backend cuda p.s >wanted
  # Rank 0 dies in the all_reduce; lines that need it fail, and the other results
  # are right.
  GT_FAKE_GPUS=3 GT_FAKE_NCCL_DIE=0:3 \
    run -4 --separate-stderr within 60 gt-route --keep-going -n gpus p.s
  cmp - wanted <<<"$output"
  remove_nccl
  GT_FAKE_GPUS=3 GT_FAKE_COPY_DIE=0:5 \
    run -4 --separate-stderr within 60 gt-route --keep-going -n gpus p.s
  cmp - wanted <<<"$output"
}

# Makes each call of the libraries, NCCL's included, fail in turn, on all workers at
# once.
@test "fake device: a call that fails is reported, or the work is done without a link" {
  skip_if_sanitized 'many runs'
  make_small
  count_calls gt-route -n 2 --backend cuda p.s
  calls_fail 5 28 gt-route -n 2 --backend cuda p.s
}

@test "fake device: a call that fails while GPUs copy is reported, or values cross the host" {
  skip_if_sanitized 'many runs'
  make_small
  remove_nccl
  count_calls gt-route -n 2 --backend cuda p.s
  calls_fail 5 28 gt-route -n 2 --backend cuda p.s
}

#!/usr/bin/env bats
# Workers with a GPU each exchange values by NCCL, played on the fake device
# (tests/cuda/fake/nccl.cc): several processes as ranks. What passes here passes
# on the fake device; NCCL itself, and how fast it is, are not tested.
# shellcheck disable=SC2154,SC2034 # run sets stderr and output; spawned is the helper's

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device libnccl.so.2
  export GT_FAKE_GPUS=2  # where a test says no other number
}

teardown() {
  ((${#spawned[@]} == 0)) || kill "${spawned[@]}" 2>/dev/null || true
}

# All that crosses: whole pieces, parts in one run and in several, a sum by
# chunks and one that is not, a value for all, one for some, one of no rank.
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

# moved N: each of N ranks had a group besides that which tries the link.
moved() {
  [ "$(grep -c "^rank . of $1: " moves)" -eq "$1" ]
  [ "$(grep -cE ': [01] groups' moves)" -eq 0 ]
}

# A gt-route with workers that wait for each other two seconds at most; what
# they and it say goes to `said`.
route_two() {
  local rank
  for rank in 0 1; do
    LOCAL_RANK=$rank gt-work --connect "ipc://$PWD/bus" --rank $rank \
      --timeout 2 --backend cuda 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 2 "$@" 2>>said
}

# ---- values ------------------------------------------------------------------

@test "fake device: values go from GPU to GPU, on 2, 4 and 8 of them" {
  make_program
  gt-work --backend cuda p.s >wanted
  local n
  for n in 2 4 8; do
    rm -f moves report
    GT_FAKE_GPUS=$n GT_FAKE_NCCL_REPORT=moves GT_FAKE_REPORT=report \
      run -0 --separate-stderr within 60 gt-route -n gpus p.s
    [ -z "$stderr" ]
    cmp - wanted <<<"$output"
    [ "$(grep -c . moves)" -eq "$n" ]
    [ "$(grep -c "$all_given_back" report)" -eq $((n + 1)) ]
  done
  [ -z "$(compgen -G 'gt-fake-nccl.*')" ]
}

@test "fake device: the bits are those that the host's way gives, in any order of streams" {
  make_program
  mkdir without
  cp "$GT_CUDA_PATH"/lib{cuda,nvrtc,cublasLt}.* without
  GT_CUDA_PATH=$PWD/without GT_FAKE_GPUS=4 gt-route -n gpus p.s >wanted 2>said
  local seed
  for seed in 1 2 3 4 5; do
    rm -f moves
    GT_FAKE_SEED=$seed GT_FAKE_GPUS=4 GT_FAKE_NCCL_REPORT=moves \
      within 60 gt-route -n gpus p.s | cmp - wanted
    moved 4
  done
}

@test "fake device: a value that failed fails where it was to go, and nothing hangs" {
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

# ---- who has no link ---------------------------------------------------------

@test "without NCCL values cross through the host, as is said once" {
  make_program
  gt-work --backend cuda p.s >wanted
  mkdir without
  cp "$GT_CUDA_PATH"/lib{cuda,nvrtc,cublasLt}.* without
  GT_CUDA_PATH=$PWD/without GT_FAKE_GPUS=2 \
    run -0 --separate-stderr gt-route -n gpus p.s
  cmp - wanted <<<"$output"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == 'gt-work: the values of workers 0 and 1 cross through the host: '*'NCCL, '*' is not on this host: there is no libnccl.so.2; install it'* ]]
}

@test "fake device: two workers on one GPU, and workers of the host, go the other way" {
  make_program
  gt-work --backend cuda p.s >wanted
  GT_FAKE_GPUS=2 GT_FAKE_NCCL_REPORT=moves \
    run -0 --separate-stderr gt-route -n 3 --backend cuda p.s
  cmp - wanted <<<"$output"
  [ "$stderr" = 'gt-work: the values of worker 2 cross through the host: its device is that of worker 0, too' ]
  moved 2
  # Three workers, of which one computes on the host.
  local rank backends=(cpu cuda cuda)
  for rank in 0 1 2; do
    LOCAL_RANK=$rank GT_FAKE_GPUS=3 gt-work --connect "ipc://$PWD/bus" \
      --rank $rank --backend "${backends[rank]}" 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 3 p.s | gt-cmp --rtol 1e-5 - wanted
  [ "$(cat said)" = 'gt-work: the values of worker 0 cross through the host: it computes on the host' ]
}

# ---- what goes wrong ---------------------------------------------------------

@test "fake device: a link that does nothing is given up, and the results are right" {
  make_program
  gt-work --backend cuda p.s >wanted
  local group
  for group in 1 2 5; do
    rm -f said
    GT_FAKE_NCCL_HANG=1:$group route_two p.s | cmp - wanted
    [[ $(grep gt-work said) == 'gt-work: devices are '*', so values cross through the host: nccl-'*' has done nothing for 2.0 s' ]]
  done
}

@test "fake device: a rank that dies is a worker that is lost, as without a link" {
  make_program
  local group
  for group in 1 2 4; do
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=1:$group \
      run -4 --separate-stderr within 60 gt-route -n gpus p.s
    [[ $stderr == *'worker 1 was killed by signal 9 (SIGKILL)'* ]]
    [[ $stderr != *'linked'* ]]
  done
}

@test "fake device: without a worker that is lost the others go on" {
  cat >p.s <<'END'
mesh d=3
x@0-2 = randn f32[90,100] 1
y@1-2 = copy x@0
s@0-2 = all_reduce x@0-2 over=d
z@1 = copy x@2
print y@1
print z@1
END
  gt-work --backend cuda p.s >wanted
  # Rank 0 ends in the all_reduce; what needs it fails, and the rest is right.
  GT_FAKE_GPUS=3 GT_FAKE_NCCL_DIE=0:3 \
    run -4 --separate-stderr within 60 gt-route --keep-going -n gpus p.s
  cmp - wanted <<<"$output"
}

# Each call of the libraries fails in turn, on all workers at once; see
# cuda.bats. NCCL's are among them.
@test "fake device: a call that fails is told, or done without a link" {
  skip_if_sanitized 'many runs'
  cat >p.s <<'END'
mesh d=2
x@0-1 = randn f32[4,4] 1 split=d:0
y@0-1 = all_gather x@0-1 over=d src=S0
t@0-1 = all_to_all x@0-1 over=d src=S0 dst=S1
print y@1
print t@0-1 split=d:1
END
  gt-work --backend cuda p.s >wanted
  GT_FAKE_REPORT=report gt-route -n 2 --backend cuda p.s >/dev/null
  local calls k status
  calls=$(sort -nk2 report | awk 'END { print $2 }')
  for ((k = 5; k <= calls; k += ${GT_EVERY:-7})); do
    status=0
    GT_FAKE_FAIL=$k within 60 gt-route -n 2 --backend cuda p.s >out 2>said ||
      status=$?
    echo "call $k of $calls: status $status"
    ((status <= 4))
    if ((status == 0)); then
      cmp out wanted
    else
      [[ -s said ]]
    fi
  done
}

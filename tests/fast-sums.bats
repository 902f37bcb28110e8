#!/usr/bin/env bats
# gt-route --fast-sums: NCCL adds up what is on GPUs. The fake device plays NCCL and
# adds from the last rank to the first, so the bits tell whose sum it is.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # run sets stderr and output; spawned is the helper's; a test is a subshell

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device libnccl.so.2
}

# Writes sums.s, with a small sum, a large one in even and one in uneven chunks, and
# scatters of rows and of columns; and others.s, with sums that NCCL must not do.
make_sums() {
  {
    echo 'mesh d=4'
    local rank
    for rank in 0 1 2 3; do
      echo "a@$rank = randn f32[7,9] $((rank + 1))"
      echo "b@$rank = randn f32[100,101] $((rank + 11))"
      echo "c@$rank = randn bf16[100,100] $((rank + 21)) scale=3"
    done
    cat <<'END'
small@0-3 = all_reduce a@0-3 over=d
uneven@0-3 = slice b@0-3 0 axis=0 size=99
uneven@0-3 = all_reduce uneven@0-3 over=d
even@0-3 = all_reduce b@0-3 over=d
short@0-3 = all_reduce c@0-3 over=d
rows@0-3 = reduce_scatter b@0-3 over=d dst=S0
square@0-3 = slice b@0-3 0 axis=1 size=100
columns@0-3 = reduce_scatter square@0-3 over=d dst=S1
END
    for rank in 0 3; do
      printf 'print %s\n' "small@$rank" "uneven@$rank" "even@$rank" "short@$rank"
    done
    printf 'print rows@0-3 split=d:0\nprint columns@0-3 split=d:1\n'
  } >sums.s
  cat >others.s <<'END'
mesh d=4
a@0-3 = randn f32[100,101] 1 split=d:0
i@0-3 = cast a@0-3 i64
i@0-3 = all_reduce i@0-3 over=d
m@0-3 = all_reduce a@0-3 over=d op=max
n@0-3 = all_reduce a@0-3 over=d op=mean
w@0-3 = all_reduce a@0-3 over=d acc=f64 out=f32
h@0-3 = cast a@0-3 bf16
h@0-3 = all_reduce h@0-3 over=d acc=f32
j@0-3 = cast a@0-3 i32
j@0-3 = all_reduce j@0-3 over=d acc=f32 out=f32
print i@0
print m@1
print n@2
print w@3
print h@2
print j@1
END
}

# of_rank RANK FILE prints the rank's values, without the number of the rank.
of_rank() {
  sed -n "s/^\([a-z]*\)@$1 /\1 /p" "$2"
}

# sums_are N: every rank did N sums by NCCL.
sums_are() {
  [ "$(sed 's/.*, \(.*\) sums/\1/' moves | sort -u)" = "$1" ]
}

@test "fake device: NCCL does the sums where --fast-sums asks for it, and only then" {
  make_sums
  gt-work --backend cuda sums.s >exact
  export GT_FAKE_GPUS=4 GT_FAKE_NCCL_REPORT=moves GT_FAKE_REPORT=report
  gt-route -n gpus sums.s | cmp - exact
  sums_are 0
  rm moves report
  within 60 gt-route --fast-sums -n gpus sums.s >fast
  sums_are 6
  gt-cmp --rtol 1e-1 --atol 1e-1 fast exact
  # NCCL's value differs in its last bits, and is the same on all ranks.
  local line
  for line in {1..10}; do
    run ! cmp -s <(sed -n "${line}p" fast) <(sed -n "${line}p" exact)
  done
  cmp <(of_rank 0 fast) <(of_rank 3 fast)
  [ "$(grep -c "$all_given_back" report)" -eq 5 ]
  # With two workers each adds its two ranks first.
  rm moves
  GT_FAKE_GPUS=2 gt-route --fast-sums -n gpus sums.s >two
  gt-cmp --rtol 1e-1 --atol 1e-1 two exact
}

@test "fake device: fast sums are the same in any order of streams" {
  make_sums
  export GT_FAKE_GPUS=4
  gt-route --fast-sums -n gpus sums.s >first
  local seed
  for seed in 1 2 3 4; do
    GT_FAKE_SEED=$seed within 60 gt-route --fast-sums -n gpus sums.s | cmp - first
  done
}

@test "fake device: integers, other ops than sums and sums in another dtype stay exact" {
  make_sums
  gt-work --backend cuda others.s >exact
  # With three GPUs worker 0 has two ranks and adds them itself first, which gives
  # another dtype than those of the other workers.
  local gpus
  for gpus in 4 3; do
    rm -f moves
    GT_FAKE_GPUS=$gpus GT_FAKE_NCCL_REPORT=moves \
      gt-route --fast-sums -n gpus others.s | cmp - exact
    sums_are 0
  done
}

@test "fake device: sums are fast only if all workers are asked to, and linked" {
  make_sums
  gt-work --backend cuda sums.s >exact
  export GT_FAKE_GPUS=4 GT_FAKE_NCCL_REPORT=moves
  local rank option
  for rank in 0 1 2 3; do
    option=--fast-sums
    ((rank != 2)) || option=-v
    LOCAL_RANK=$rank gt-work --connect "ipc://$PWD/bus" --rank $rank $option \
      --backend cuda 2>>said &
    spawned+=($!)
  done
  gt-route --bind "ipc://$PWD/bus" --workers 4 sums.s | cmp - exact
  wait "${spawned[@]}"
  [ "$(cat said)" = 'gt-work: sums are not fast: worker 2 is not asked for that' ]
  sums_are 0
  # Two of the four workers have no GPU of their own.
  GT_FAKE_GPUS=2 run -0 --separate-stderr \
    gt-route --fast-sums -n 4 --backend cuda sums.s
  cmp - exact <<<"$output"
  [[ $stderr == *'gt-work: sums of workers 2 and 3 with others are not fast, without a link'* ]]
  run -2 gt-route --fast-sums --bind "ipc://$PWD/bus" --workers 2 sums.s
  [[ $output == *'--fast-sums is for workers that gt-route starts; give it to gt-work'* ]]
}

@test "fake device: a summand that failed fails the sum on all, and the next is fast" {
  cat >p.s <<'END'
mesh d=2
i@0 = tensor i64[1] 9
i@1 = tensor i64[1] 1
w@0-1 = ones f32[4,2]
y@0-1 = embedding w@0-1 i@0-1
s@0-1 = all_reduce y@0-1 over=d
t@0-1 = all_reduce w@0-1 over=d
print s@0-1
print t@1
END
  GT_FAKE_GPUS=2 GT_FAKE_NCCL_REPORT=moves run -1 --separate-stderr within 60 \
    gt-route --fast-sums -n gpus p.s
  [[ ${lines[0]} == 's@0 = fail '*'embedding: '* ]]
  [[ ${lines[1]} == 's@1 = fail '*'embedding: '* ]]
  [ "${lines[2]}" = 't@1 = tensor f32[4,2] 2 2 2 2 2 2 2 2' ]
  sums_are 1
}

@test "fake device: a sum that hangs fails, and later sums are exact" {
  make_sums
  gt-work --backend cuda sums.s >exact
  export GT_FAKE_GPUS=4
  local group status rank
  for group in 2 3 5; do
    rm -f said
    for rank in 0 1 2 3; do
      GT_FAKE_NCCL_HANG=1:$group LOCAL_RANK=$rank gt-work --rank $rank \
        --connect "ipc://$PWD/bus" --timeout 2 --fast-sums --backend cuda \
        2>>said &
      spawned+=($!)
    done
    status=0
    within 60 gt-route --bind "ipc://$PWD/bus" --workers 4 sums.s >out \
      2>>said || status=$?
    echo "group $group: status $status"
    cat said
    # The groups do the trial, small, the sums and chunks of uneven, and those of
    # even.
    ((status == 1))
    [[ $(grep linked said) == 'gt-work: devices are linked no more, so values cross through the host: nccl-'*': nothing was done for 2.0 s' ]]
    [[ $(grep -c 'nothing was done' out) -ge 1 ]]
    # Results that did not fail are right, and those after the failure are exact.
    grep -v ' = fail ' out >good
    [ "$(wc -l <out)" -eq 10 ]
    [ "$(wc -l <good)" -lt 10 ]
    grep -E '^(rows|columns|short)' good | cmp - <(grep -E '^(rows|columns|short)' exact)
    gt-cmp --rtol 1e-1 --atol 1e-1 good \
      <(awk 'NR == FNR { is_good[$1] = 1; next } $1 in is_good' good exact)
    wait "${spawned[@]}" || true
    spawned=()
  done
}

@test "fake device: a rank that dies in a sum is reported as a lost worker" {
  make_sums
  local group
  for group in 2 3 5; do
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=2:$group \
      run -4 --separate-stderr within 60 gt-route --fast-sums -n gpus sums.s
    [[ $stderr == *'worker 2 was killed by signal 9 (SIGKILL)'* ]]
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=2:$group run -4 --separate-stderr within 60 \
      gt-route --keep-going --fast-sums -n gpus sums.s
  done
}

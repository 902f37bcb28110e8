#!/usr/bin/env bats
# gt-route --fast-sums over the axes of a mesh: each axis has communicators of its
# own. The fake device plays the GPUs; fast-sums.bats tests sums over all workers.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # run sets stderr and output; spawned is the helper's; a test is a subshell

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device libnccl.so.2
}

# Writes axes.s, which sums over each axis of a mesh of AxB ranks and over both
# axes: a small value that all ranks get, a large one that travels in chunks, and a
# scatter. The last line takes a maximum, which --fast-sums leaves to gt.
make_axes() {
  local last=$(($1 * $2 - 1)) rank
  {
    echo "mesh dp=$1 tp=$2"
    for ((rank = 0; rank <= last; rank++)); do
      echo "a@$rank = randn f32[7,9] $((rank + 1))"
      echo "b@$rank = randn f32[100,104] $((rank + 11))"
    done
    cat <<END
t@0-$last = all_reduce a@0-$last over=tp
d@0-$last = all_reduce a@0-$last over=dp
w@0-$last = all_reduce a@0-$last over=dp+tp
tb@0-$last = all_reduce b@0-$last over=tp
db@0-$last = all_reduce b@0-$last over=dp
ts@0-$last = reduce_scatter b@0-$last over=tp dst=S1
ds@0-$last = reduce_scatter b@0-$last over=dp dst=S0
m@0-$last = all_reduce a@0-$last over=tp op=max
print m@1
END
    for name in t d w tb db ts ds; do
      printf 'print %s@%s\n' $name 0 $name $((last / 2)) $name "$last"
    done
  } >axes.s
}

# sums_of SPLIT prints how many sums the ranks had in that split's groups, and the
# groups' size, as "6 of 2"; each distinct pair is printed once.
sums_of() {
  sed -n "s/^${1:+split $1, }rank . of \(.\): .*, \(.*\) sums/\2 of \1/p" moves |
    sort -u
}

@test "fake device: sums over each axis of a mesh are NCCL's, on 4 and 8 workers" {
  local size a b n
  for size in '2 2' '2 4' '4 2'; do
    read -r a b <<<"$size"
    n=$((a * b))
    make_axes "$a" "$b"
    gt-work --backend cuda axes.s >exact
    export GT_FAKE_GPUS=$n GT_FAKE_NCCL_REPORT=moves GT_FAKE_REPORT=report
    rm -f moves report
    gt-route -n gpus axes.s | cmp - exact
    [ "$(wc -l <moves)" -eq "$n" ]
    [ "$(sums_of '')" = "0 of $n" ]
    rm moves report
    run -0 --separate-stderr within 100 gt-route --fast-sums -n gpus axes.s
    echo "$stderr"
    [ -z "$stderr" ]
    echo "$output" >fast
    gt-cmp --rtol 1e-1 --atol 1e-1 fast exact
    cmp <(grep ^m@ fast) <(grep ^m@ exact)
    # The group of all workers has one sum. Each axis has four: the trial of its
    # link and three sums of the program.
    cat moves
    [ "$(sums_of '')" = "1 of $n" ]
    [ "$(sums_of 1)" = "4 of $a" ]
    [ "$(sums_of 2)" = "4 of $b" ]
    [ "$(wc -l <moves)" -eq $((3 * n)) ]
    [ "$(grep -c "$all_given_back" report)" -eq $((n + 1)) ]
  done
  [ -z "$(compgen -G 'gt-fake-nccl.*')" ]
}

@test "fake device: sums over axes are the same in any order of streams" {
  make_axes 2 2
  export GT_FAKE_GPUS=4
  gt-route --fast-sums -n gpus axes.s >first
  local seed
  for seed in 1 2 3 4 5 6; do
    GT_FAKE_SEED=$seed within 60 gt-route --fast-sums -n gpus axes.s | cmp - first
  done
}

@test "fake device: workers with several ranks, and three axes" {
  export GT_FAKE_NCCL_REPORT=moves
  make_axes 2 4
  gt-work --backend cuda axes.s >exact
  # Worker 0 has ranks 0 and 1, which are half of a row and parts of two columns. A
  # sum over dp therefore takes two sums of NCCL, and a scatter over tp to two ranks
  # of one worker takes none.
  GT_FAKE_GPUS=4 within 60 gt-route --fast-sums -n gpus axes.s >fast
  gt-cmp --rtol 1e-1 --atol 1e-1 fast exact
  [ "$(sums_of 1)" = '7 of 2' ]
  [ "$(sums_of 2)" = '3 of 2' ]
  rm moves
  cat >p.s <<'END'
mesh pp=2 dp=2 tp=2
axis inner=dp*tp
x@4-7 = randn f32[8,8] 1 split=tp:0
y@4-7 = all_reduce x@4-7 over=dp
z@4-7 = all_reduce x@4-7 over=inner
u@4-7 = all_reduce x@4-7
v@0-7 = ones f32[5]
v@0-7 = all_reduce v@0-7 over=pp+tp
print y@5
print z@4
print u@7
print v@3
END
  gt-work --backend cuda p.s >exact
  GT_FAKE_GPUS=8 within 60 gt-route --fast-sums -n gpus p.s >fast
  gt-cmp --rtol 1e-5 fast exact
  # The splits are the axes pp, dp and tp and their three pairs.
  [ "$(sed -n 's/^split \(.\),.*/\1/p' moves | sort -u | tr -d '\n')" = 123456 ]
  cat moves
  [ "$(grep -c '^split ., rank . of 4: .* 3 sums' moves)" -eq 4 ]
  [ "$(grep -c '^split ., rank . of 4: .* 2 sums' moves)" -eq 8 ]
}

@test "fake device: meshes of several name spaces and shapes share groups of the same workers" {
  cat >p.s <<'END'
mesh dp=2 tp=2 space=c1
mesh tp=2 dp=2 space=c2
mesh dp=2 tp=2
mesh dp=2 tp=2
c1/x@0-3 = ones f32[4]
c2/x@0-3 = ones f32[4]
x@0-3 = ones f32[4]
c1/y@0-3 = all_reduce c1/x@0-3 over=tp
c2/y@0-3 = all_reduce c2/x@0-3 over=tp
y@0-3 = all_reduce x@0-3 over=dp
endmesh
endmesh
mesh a=4 space=c1
c1/z@0-3 = all_reduce c1/x@0-3 over=a
endmesh space=c1
c1/z@0-3 = all_reduce c1/z@0-3 over=dp
endmesh space=c1
print c1/y@1
print c2/y@2
print y@3
print c1/z@0
END
  gt-work --backend cuda p.s >exact
  GT_FAKE_GPUS=4 GT_FAKE_NCCL_REPORT=moves within 60 \
    gt-route --fast-sums -n gpus p.s | cmp - exact
  [ "$(wc -l <moves)" -eq 12 ]
  [ "$(sums_of '')" = '1 of 4' ]
  # Split 1 has its trial and the sums that make c2/y, y and c1/z; split 2 has its
  # trial and the sum that makes c1/y.
  [ "$(sums_of 1)" = '4 of 2' ]
  [ "$(sums_of 2)" = '2 of 2' ]
}

@test "fake device: a worker joins 32 groups at most, and one warning says so" {
  # Of axes that have more ranks than there are workers, each brings other sets of
  # workers together.
  {
    for a in {2..8}; do
      for b in {2..8}; do
        echo "mesh a=$a b=$b space=s$a$b"
      done
    done
    echo 'mesh dp=2 tp=4'
    echo 'x@0-7 = ones f32[4]'
    echo 'y@0-7 = all_reduce x@0-7 over=dp'
    echo 'print y@0'
  } >p.s
  GT_FAKE_GPUS=8 GT_FAKE_NCCL_REPORT=moves run -0 --separate-stderr within 100 \
    gt-route --fast-sums -n gpus p.s
  [ "$output" = 'y@0 = tensor f32[4] 2 2 2 2' ]
  echo "$stderr"
  [ "${#stderr_lines[@]}" -eq 1 ]
  [[ $stderr == 'gt-work: sums of workers '*' and of more sets of workers are not fast: each worker is in 32 links' ]]
  [ "$(sed -n 's/^split \([0-9]*\),.*/\1/p' moves | sort -un | tail -1)" -eq 32 ]
}

@test "fake device: sums over an axis are fast among the workers that have a link" {
  make_axes 2 2
  gt-work --backend cuda axes.s >exact
  GT_FAKE_GPUS=3 GT_FAKE_NCCL_REPORT=moves run -0 --separate-stderr within 60 \
    gt-route --fast-sums -n 4 --backend cuda axes.s
  echo "$output" >fast
  gt-cmp --rtol 1e-1 --atol 1e-1 fast exact
  [ "${stderr_lines[-1]}" = 'gt-work: sums of worker 3 with others are not fast, without a link' ]
  # Workers 0 and 1 are linked, and 0 and 2. Worker 3 has no GPU and so no link.
  [ "$(sums_of 1)" = '4 of 2' ]
  [ "$(sums_of 2)" = '4 of 2' ]
  [ "$(wc -l <moves)" -eq 7 ]
  cmp <(grep '^ts@3 ' fast) <(grep '^ts@3 ' exact)
}

@test "fake device: a split or a sum that hangs is given up" {
  make_axes 2 2
  gt-work --backend cuda axes.s >exact
  local group status rank
  # Groups 2 to 5 are the trial of all workers, a split, its trial, and the other
  # split's; 6 and 7 are a sum over each axis.
  for group in 2 3 4 5 6 7; do
    rm -f said
    for rank in 0 1 2 3; do
      GT_FAKE_GPUS=4 GT_FAKE_NCCL_HANG=1:$group LOCAL_RANK=$rank \
        gt-work --rank $rank --connect "ipc://$PWD/bus" --timeout 2 \
        --fast-sums --backend cuda 2>>said &
      spawned+=($!)
    done
    status=0
    within 60 gt-route --bind "ipc://$PWD/bus" --workers 4 axes.s >out \
      2>>said || status=$?
    echo "group $group: status $status"
    cat said
    [[ $(grep linked said) == 'gt-work: devices are linked no more, so values cross through the host: nccl-'*': nothing was done for 2.0 s' ]]
    if ((group < 6)); then
      ((status == 0))
      cmp out exact
    else
      ((status == 1))
      [[ $(grep -c 'nothing was done' out) -ge 1 ]]
      grep -v ' = fail ' out >good
      grep -E '^(tb|db|ts|ds)' good | cmp - <(grep -E '^(tb|db|ts|ds)' exact)
    fi
    wait "${spawned[@]}" || true
    spawned=()
  done
}

@test "fake device: a worker that dies in a split or in a sum of an axis is lost" {
  make_axes 2 2
  local group
  for group in 2 3 4 5 6 7; do
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=2:$group run -4 --separate-stderr within 60 \
      gt-route --fast-sums -n gpus axes.s
    [[ $stderr == *'worker 2 was killed by signal 9 (SIGKILL)'* ]]
    GT_FAKE_GPUS=4 GT_FAKE_NCCL_DIE=2:$group run -4 --separate-stderr within 60 \
      gt-route --keep-going --fast-sums -n gpus axes.s
  done
}

# Makes each call of the libraries fail in turn, on all workers at once.
@test "fake device: a call that fails while groups are made or add up is reported" {
  skip_if_sanitized 'many runs'
  cat >p.s <<'END'
mesh dp=2 tp=2
x@0-3 = ones f32[4,4]
y@0-3 = all_reduce x@0-3 over=tp
z@0-3 = all_reduce y@0-3 over=dp
print z@1
END
  export GT_FAKE_GPUS=4
  count_calls gt-route --fast-sums -n 4 --backend cuda p.s
  calls_fail 5 61 gt-route --fast-sums -n 4 --backend cuda p.s
}

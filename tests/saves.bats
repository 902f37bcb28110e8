#!/usr/bin/env bats
# Saves run beside the computation: what shows of that, and when.
# shellcheck disable=SC2154 # run sets output and stderr

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
  [[ -z ${locker:-} ]] || kill "$locker" 2>/dev/null || true
}

# lock_here keeps safetensors files of this directory from being written until
# unlock_here.
lock_here() {
  mkfifo locked
  (
    exec 6<. 7>locked
    flock 6
    echo >&7
    exec sleep 1000
  ) &
  locker=$!
  read -r <locked
}
unlock_here() {
  kill "$locker"
  wait "$locker" || true
  locker=
}

@test "lines after a save are computed before it is written, and printed after it" {
  lock_here
  mkfifo in
  gt-work <in >out 2>err &
  local pid=$!
  exec 5>in
  printf '%s\n' 'x = ones f32[4]' 'print x' 'save x "m.safetensors:x"' \
    'x = add x 1' 'print x' 'k = tensor i64[] 0' 'k = floordiv k k' >&5
  # The failure of the line after the save is reported.
  await 'division by zero' err
  await '^x = tensor f32\[4\] 1 1 1 1$' out
  [ "$(wc -l <out)" -eq 1 ]
  [ ! -e m.safetensors ]
  unlock_here
  await '^x = tensor f32\[4\] 2 2 2 2$' out
  [ -e m.safetensors ]
  printf 'y = load "m.safetensors:x" f32[4]\nprint y\n' >&5
  await '^y = tensor f32\[4\] 1 1 1 1$' out
  exec 5>&-
  wait $pid || [ $? -eq 1 ]
}

@test "a load of another file does not wait for a save" {
  printf 'x = arange f32[4]\nsave x "x.npy"\n' | gt-work
  lock_here
  mkfifo in
  gt-work <in >out 2>err &
  local pid=$!
  exec 5>in
  printf '%s\n' 'x = ones f32[4]' 'save x "m.safetensors:x"' \
    'y = load "x.npy" f32[4]' 'y = cast y i64' 'z = floordiv y y' >&5
  await 'division by zero' err
  [ ! -e m.safetensors ]
  unlock_here
  exec 5>&-
  wait $pid || [ $? -eq 1 ]
  [ -e m.safetensors ]
}

# versions ROUNDS SIZE writes p.s, which saves a value in each round and then
# changes it, most often in place; and q.s, which prints what was saved.
versions() {
  local i
  printf 'x = ones f32[%d]\n' "$2" >p.s
  : >q.s
  for ((i = 1; i <= $1; i++)); do
    printf '%s\n' "save x \"$i.npy\"" "save x \"m.safetensors:x$i\"" \
      'x = mul x 2' 'x = add x 1' >>p.s
    printf '%s\n' "y = load \"$i.npy\" f32[$2]" "z = load \"m.safetensors:x$i\" f32[$2]" \
      's = max y' 't = min z' 'print s' 'print t' >>q.s
  done
}

# check_versions ROUNDS checks the values that q.s prints.
check_versions() {
  gt-work q.s | awk '{ print $5 }' >got
  awk -v n="$1" 'BEGIN { for (x = 1; n > 0; n--) { print x; print x; x = 2 * x + 1 } }' >wanted
  cmp got wanted
}

@test "a save has the value at its line, whatever its name is bound to later" {
  versions 20 100000
  gt-work p.s
  check_versions 20
  rm ./*.npy m.safetensors
  # With little memory, new values wait until values that are being saved give
  # theirs back.
  gt-work --memory 1M p.s
  check_versions 20
  rm ./*.npy m.safetensors
  gt-route -n 2 p.s
  check_versions 20
}

@test "fake device: a save has the value at its line, whatever its name is bound to later" {
  use_fake_device
  local seed options
  versions 20 5000
  for options in '' --sync --no-graphs '--memory 60K'; do
    for seed in 1 2 3; do
      rm -f ./*.npy m.safetensors report
      # shellcheck disable=SC2086 # words
      GT_FAKE_SEED=$seed GT_FAKE_REPORT=report gt-work --backend cuda $options p.s
      check_versions 20
      grep "$all_given_back" report
    done
  done
}

# A save begins only when it is known whether its value was made or failed.
@test "fake device: a load after a save finds its file, whatever is not known yet" {
  use_fake_device
  printf 'x = full f32[2] 7\nsave x "b.npy"\n' | gt-work
  cat >p.s <<'END'
a = ones f32[200]
i = tensor i64[1] 1
g = take a i
g = add g 1
g = take g i
x = full f32[2] 9
save x "b.npy"
y = load "b.npy" f32[2]
print y
save x "m.safetensors:x"
j = floordiv i 0
save j "m.safetensors:j"
y = load "m.safetensors:j" i64[1]
print y
END
  local seed options
  for options in '' --no-graphs '--trace t'; do
    for seed in 1 2 3; do
      # shellcheck disable=SC2086 # words
      GT_FAKE_PACE=3000 GT_FAKE_SEED=$seed \
        run -1 --separate-stderr gt-work --backend cuda $options p.s
      [ "${lines[0]}" = 'y = tensor f32[2] 9 9' ]
      [[ ${lines[1]} == *'m.safetensors:j was not saved: p.s:11: floordiv: '* ]]
    done
  done
}

@test "tensors that are saved one by one into a file share few writes of it" {
  type -P strace >/dev/null || skip 'strace is not installed'
  skip_leaks 'nobody can look for them in a program that is traced'
  local i
  {
    echo 'x = ones f32[200000]'
    for i in {1..100}; do
      printf 'save x "m.safetensors:x%d"\nx = add x 1\n' "$i"
      sleep 0.002
    done
  } | strace -f -o calls -e trace=linkat,renameat,renameat2,rename,fsync gt-work
  (($(grep -c linkat calls) <= 12))
  printf 'x = load "m.safetensors:x100" f32[200000]\ns = max x\nprint s\n' |
    gt-work | grep '^s = tensor f32\[\] 100$'
}

@test "many saves do not hold up the one that waits, nor the results" {
  local i
  {
    printf '%s\n' 'x = ones f32[1000000]' 'y = ones f32[2]' \
      'save y "m.safetensors:y"' 'print y'
    for i in {1..300}; do
      printf 'save x "x.npy"\nx = add x 1\nprint y\n'
    done
    echo 'save y "last.npy"'
  } >p.s
  # The first result comes while saves still run.
  gt-work p.s | { read -r _; [[ -e last.npy ]] || echo early; cat >/dev/null; } >seen
  grep early seen
  [ -e last.npy ]
}

@test "results keep their order among saves, however many there are" {
  lock_here
  mkfifo in
  gt-work <in >out 2>err &
  local pid=$! i
  exec 5>in
  printf '%s\n' 'x = ones f32[4]' 'print x' 'save x "a.npy"' 'print x' \
    'y = ones f32[20000]' 'save x "m.safetensors:x"' >&5
  # Both results are there, so the first save, of a.npy, has ended.
  await '^x = .*' out
  while (($(wc -l <out) < 2)); do sleep 0.05; done
  for i in {1..5}; do echo 'print y'; done >&5
  sleep 0.5
  [ "$(wc -l <out)" -eq 2 ]
  unlock_here
  while (($(wc -l <out) < 7)); do sleep 0.05; done
  [ -e m.safetensors ]
  exec 5>&-
  wait $pid
  # Results beyond what gt-work holds wait for the saves.
  printf '%s\n' 'x = ones f32[30000000]' 'y = ones f32[200000]' 'save x "big.npy"' \
    'print y' | gt-work | { head -c 10; [[ -e big.npy ]] && echo there; cat >/dev/null; } >seen
  grep there seen
}

@test "fake device: no line waits for a save" {
  use_fake_device
  versions 20 5000
  GT_FAKE_WAITS=waits GT_FAKE_PACE=50 gt-work --backend cuda p.s
  check_versions 20
  # Only the thread that saves waits, once for each of the 40 values.
  (($(<waits) <= 45))
}

@test "fake device: a call that fails while values are saved is reported" {
  use_fake_device
  skip_if_sanitized 'a hundred runs'
  {
    echo 'x = ones f32[300000]'
    for i in 1 2 3; do printf 'save x "%d.npy"\nx = add x 1\n' $i; done
    printf 'y = max x\nprint y\n'
  } >p.s
  count_calls gt-work --backend cuda p.s
  most_kept=13 calls_fail 1 2 gt-work --backend cuda p.s
}

@test "a save that fails is reported by its line, and ends a run with --fail-fast" {
  cat >p.s <<'END'
x = ones f32[2]
save x "no/x.npy"
print x
y = load "no/x.npy" f32[2]
print y
save x "m.safetensors:x"
k = tensor i64[] 0
w = floordiv k k
save w "m.safetensors:x"
z = load "m.safetensors:x" f32[2]
print z
save x "m.safetensors:x"
z = load "m.safetensors:x" f32[2]
print z
END
  run -1 --separate-stderr gt-work p.s
  [ "${lines[0]}" = 'x = tensor f32[2] 1 1' ]
  [[ ${lines[1]} == 'y = fail "p.s:4: load: no/x.npy was not saved: no: No such file '* ]]
  [[ ${lines[2]} == 'z = fail "p.s:10: load: m.safetensors:x was not saved: p.s:8: floordiv: '* ]]
  [ "${lines[3]}" = 'z = tensor f32[2] 1 1' ]
  [[ $stderr == 'gt-work: p.s:2: save: no: No such file or directory'*'p.s:4: load: '* ]]
  run -1 --separate-stderr gt-work --fail-fast p.s
  [ -z "$output" ]
  [ "$(grep -c '^gt-work' <<<"$stderr")" -eq 1 ]
}

@test "a load finds that a save before it failed, however busy the saving thread is" {
  {
    printf '%s\n' 'x = ones f32[2000000]' 'k = tensor i64[] 0' 'w = floordiv k k'
    for i in {1..20}; do
      printf '%s\n' "save x \"$i.npy\"" "save w \"w$i.npy\"" \
        "y = load \"w$i.npy\" i64[]" 'print y'
    done
  } >p.s
  run -1 --separate-stderr gt-work p.s
  [ "$(grep -c 'was not saved: p.s:3: floordiv: ' <<<"$output")" -eq 20 ]
}

@test "a trace has the time of a save, on a queue of its own" {
  printf 'x = ones f32[1000]\nsave x "x.npy"\ny = add x 1\nprint y as=z\n' >p.s
  gt-work --trace t p.s >out
  [ "$(awk -F '\t' '$3 == "save" { print $6, $5 }' t)" = 'save p.s:2' ]
  awk -F '\t' '$3 == "save" && $2 <= $1 { exit 1 }' t
  run -0 gt-log --summary t
  [[ $output == *save* ]]
}

@test "the log of a run says that a line is done when its save is on the disk" {
  lock_here
  mkfifo in
  gt-route -n 1 --log run.log <in >out &
  local pid=$!
  exec 5>in
  printf 'x = ones f32[4]\nsave x "m.safetensors:x"\ny = add x 1\n' >&5
  await $'\tsend\t' run.log
  sleep 0.5
  run ! grep $'\t[23]\tdone\t' run.log
  unlock_here
  await $'\t3\tdone\t' run.log
  [ -e m.safetensors ]
  exec 5>&-
  wait $pid
}

@test "a save does not take the place of the file that results are written to" {
  printf 'x = ones f32[2]\nprint x\nsave x "/dev/stdout"\nprint x\n' >p.gt
  local status=0
  gt-work p.gt >out 2>err || status=$?
  [ "$status" = 1 ]
  [ "$(cat out)" = $'x = tensor f32[2] 1 1\nx = tensor f32[2] 1 1' ]
  grep -q 'save: /dev/stdout: standard output or standard error is written there' err
  # The new file does not get the set-user-ID bit of the old one.
  printf 'x = ones f32[2]\nsave x "a.npy"\n' >q.gt
  touch a.npy
  chmod 4750 a.npy
  gt-work q.gt
  [ "$(stat -c %a a.npy)" = 750 ]
}

# ---- the saves of a round to one file are all written, or none -----------------

# checkpoint K prints lines that save eight tensors of K elements to m.safetensors.
checkpoint() {
  local i
  for i in {1..8}; do
    printf '%s\n' "w$i = mul x $i" "save w$i \"m.safetensors:w$i\""
  done
}

# one_round prints the value of x whose tensors m.safetensors holds, of which it has all.
one_round() {
  local i
  for i in {1..8}; do
    printf '%s\n' "w = load \"m.safetensors:w$i\" f32[$1]" "w = div w $i" \
      'a = min w' 'b = max w' 'print a' 'print b'
  done | gt-work | awk '{ print $5 }' | sort -u
}

@test "a full disk leaves the whole of the older checkpoint, or none" {
  local small old
  small='x = ones f32[100]'
  for old in 0 1; do
    rm -rf disk
    mkdir disk
    cd disk
    ((!old)) || { echo "$small"; checkpoint; } | gt-work
    {
      printf 'x = full f32[100] 2\ny = ones f32[100000]\n'
      checkpoint
      printf 'save y "m.safetensors:y"\nz = load "m.safetensors:w1" f32[100]\nprint z\n'
      echo 'save x "m.safetensors:z"'
    } >../p.s
    # A limit on the size of files plays a disk that is full.
    run -1 --separate-stderr bash -c 'ulimit -f 100; gt-work --no-cache ../p.s'
    grep 'save: m.safetensors:y: File too large\|save: m.safetensors: File too large' <<<"$stderr"
    # Each of the saves is told, and what is loaded fails.
    [ "$(grep -c 'save: m.safetensors:w[1-8] is not written, since .* m.safetensors:y failed' <<<"$stderr")" = 8 ]
    [[ $output == 'z = fail '*'m.safetensors:w1 was not saved: '* ]]
    # The save behind the load is of the next round.
    rm -f m.safetensors.z
    if ((old)); then
      [ "$(one_round 100)" = 1 ]
    else
      run ! gt-work <<<$'z = load "m.safetensors:w1" f32[100]\nprint z'
      gt-work <<<$'z = load "m.safetensors:z" f32[100]\nz = max z\nprint z' | grep '2$'
    fi
    cd "$BATS_TEST_TMPDIR"
  done
}

@test "a save without a value leaves those beside it unwritten, through every stage" {
  {
    printf '%s\n' 'x = ones f32[4]' 'k = tensor i64[] 0' 'save x "m.safetensors:a"' \
      'k = floordiv k k' 'save k "m.safetensors:k"' 'save x "m.safetensors:b"'
  } >p.gt
  local run
  for run in 'gt-work' 'gt-route -n 2' 'gt-shard | gt-work'; do
    run -1 --separate-stderr bash -c "gt-emit p.gt | $run"
    [ ! -e m.safetensors ]
    [ "$(grep -c 'save: m.safetensors:[ab] is not written, since ' <<<"$stderr")" = 2 ]
  done
  # A save that gt-emit rejects counts as one that failed.
  printf '%s\n' 'x = ones f32[4]' 'save x "m.safetensors:a"' 'save nobody "m.safetensors:k"' >q.gt
  run -3 --separate-stderr bash -c 'gt-emit q.gt | gt-work'
  [ ! -e m.safetensors ]
}

@test "a round of saves ends by text: its names again, a load, a print, a sync, or 64 lines" {
  type -P strace >/dev/null || skip 'strace is not installed'
  skip_leaks 'nobody can look for them in a program that is traced'
  # renames PROGRAM prints how often the file was replaced.
  renames() {
    rm -f m.safetensors
    printf '%b' "$1" | strace -f -o calls -e trace=renameat,renameat2,rename gt-work >/dev/null
    grep -c m.safetensors calls
  }
  local x='x = ones f32[4]\n' a='save x "m.safetensors:a"\n' b='save x "m.safetensors:b"\n'
  [ "$(renames "$x$a$b")" = 1 ]
  [ "$(renames "$x${a}y = add x 1\nsave y \"m.safetensors:y\"\nsave y \"y.npy\"\n$b")" = 1 ]
  [ "$(renames "$x$a$b$a$b")" = 2 ]
  [ "$(renames "$x${a}z = load \"m.safetensors:a\" f32[4]\n$b")" = 2 ]
  [ "$(renames "$x${a}print x\n$b")" = 2 ]
  [ "$(renames "$x${a}#sync s\n$b")" = 2 ]
  local lines
  lines=$(printf 'y = add x %d\\n' {1..70})
  [ "$(renames "$x$a$lines$b")" = 2 ]
  lines=$(printf 'y = add x %d\\n' {1..60})
  [ "$(renames "$x$a$lines$b")" = 1 ]
}

@test "a round of saves is written once no more input comes, and without it at the end alone" {
  mkfifo in
  gt-work <in >out 2>err &
  local pid=$!
  exec 5>in
  printf 'x = ones f32[4]\nsave x "m.safetensors:x"\n' >&5
  while [[ ! -e m.safetensors ]]; do sleep 0.05; done
  exec 5>&-
  wait $pid
}

@test "a stream that is cut short among its saves writes none of them" {
  { printf '#gt 1\nx = ones f32[4]\n'; checkpoint | head -n 9; } >cut.s
  run -4 --separate-stderr gt-work cut.s
  [ ! -e m.safetensors ]
  grep 'save: m.safetensors:w1 is not written, .* cut short' <<<"$stderr"
  run -4 --separate-stderr gt-route -n 2 cut.s
  [ ! -e m.safetensors ]
  grep 'save: m.safetensors:w1 is not written, .* cut short' <<<"$stderr"
}

@test "a program that is killed leaves a checkpoint of one round, whenever it is killed" {
  local i pid
  {
    echo 'x = ones f32[300000]'
    for i in {1..40}; do
      checkpoint
      echo 'x = add x 1'
    done
  } >p.s
  for run in 'gt-work' 'gt-route -n 2'; do
    for i in {1..6}; do
      # shellcheck disable=SC2086 # words
      setsid $run p.s >/dev/null 2>&1 &
      pid=$!
      while [[ ! -e m.safetensors ]] && kill -0 $pid; do sleep 0.01; done
      sleep "0.$((i * 7 % 10))"
      kill -KILL -- -$pid 2>/dev/null || true
      wait $pid || true
      [ "$(one_round 300000 | wc -l)" = 1 ]
      rm m.safetensors
    done
  done
}

@test "gt-route: workers save to one file together" {
  cat >two.yaml <<'END'
mesh: {pp: 2, tp: 2}
signals:
  first: {on: {pp: 0}}
  second: {on: {pp: 1}, shard: {tp: 1}}
END
  cat >p.gt <<'END'
a = randn f32[8,8] 1 #signal=first
b = randn f32[8,8] 2 #signal=second
c = matmul a b #signal=second
s = copy c
save a "m.safetensors:a"
save b "m.safetensors:b"
save c "m.safetensors:c"
t = load "m.safetensors:b" f32[8,8]
d = sub t b
d = max d
print d
END
  gt-emit p.gt | gt-shard -c two.yaml >p.s
  local run
  gt-work p.s >wanted
  mv m.safetensors wanted.safetensors
  for run in 'gt-route -n 2' 'gt-route -n 4'; do
    # shellcheck disable=SC2086 # words
    $run p.s >got
    cmp wanted got
    cmp wanted.safetensors m.safetensors
    rm m.safetensors
  done
  # Without ranks, and a value that another worker alone has; each worker replaces the file no more.
  {
    for i in 1 2 3 4; do printf 'x%d = randn f32[64,64] %d\nx%d = matmul x%d x%d\n' $i $i $i $i $i; done
    for i in 1 2 3 4; do printf 'save x%d "m.safetensors:x%d"\n' $i $i; done
  } >q.gt
  gt-work q.gt
  mv m.safetensors wanted.safetensors
  gt-route -n 3 --log log q.gt
  cmp wanted.safetensors m.safetensors
  rm m.safetensors
  # A piece of each rank.
  printf '%s\n' 'mesh r=4' 'x@0-3 = rand f32[8] 7 split=r:0' 'save x@0-3 "m.safetensors:x"' \
    'y@3 = ones f32[2]' 'save y@3 "m.safetensors:y"' >r.s
  gt-work r.s
  mv m.safetensors wanted.safetensors
  gt-route -n 4 r.s
  cmp wanted.safetensors m.safetensors
}

@test "gt-route: on a full disk the saves of all workers to one file fail" {
  printf '%s\n' 'mesh r=2' 'x@0-1 = ones f32[100]' 'y@1 = ones f32[100000]' \
    'save x@0 "m.safetensors:x"' 'save y@1 "m.safetensors:y"' 'save x@1 "m.safetensors:z"' >p.s
  run -1 --separate-stderr bash -c 'ulimit -f 100; gt-route -n 2 p.s'
  [ ! -e m.safetensors ]
  [ "$(grep -c 'save: m.safetensors:[xz] is not written' <<<"$stderr")" = 2 ]
}

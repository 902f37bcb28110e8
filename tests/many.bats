#!/usr/bin/env bats
# A program gives the same values in one process and in many; and what is reported
# and left behind when a process dies.

load helper

# through N FILE... prints the results of the stream from gt-route with N local
# workers.
through() {
  local n=$1
  shift
  within 60 gt-route -n "$n" --threads 1 "$@"
}

# same FILE: gt-work and gt-route print the same bits for the stream.
same() {
  local n expected=$BATS_TEST_TMPDIR/expected got=$BATS_TEST_TMPDIR/got
  gt-work --threads 1 "$1" >"$expected"
  for n in 1 2 4; do
    through "$n" "$1" >"$got" || return
    "$GT_ROOT/scripts/gt-cmp" --exact "$expected" "$got" || return
    cmp "$expected" "$got" || return
  done
}

@test "one program, one worker or many: the same bits" {
  cat >p.gt <<'END'
x = randn f32[33,17]
y = randn f32[17,5]
z = matmul x y
print z
a = sum z axis=0
b = softmax a
print b
c = tensor i64[3] 1 2 3
print c
x = mul x 2
print x
w = matmul x y
d = sub w z
print d
free x
END
  gt-emit p.gt >p
  same p
}

@test "independent lines run on several workers" {
  for i in 1 2 3 4 5 6 7 8; do
    echo "a$i = randn f32[256,256] $i"
    echo "a$i = matmul a$i a$i"
    echo "a$i = matmul a$i a$i"
    echo "s$i = sum a$i"
    echo "print s$i"
  done >p.gt
  echo 's = add s1 s8' >>p.gt
  echo 'print s' >>p.gt
  gt-emit p.gt >p
  same p
  through 4 --log log p >/dev/null
  # Each of the four workers got some of the products.
  run -0 awk -F '\t' '$3 == "issue" && / matmul / { n[$4]++ } END { print length(n) }' log
  lines_are 4
}

# rounds N FILE LINE... prints the file N times, each time followed by the lines.
rounds() {
  local i
  for ((i = 0; i < $1; i++)); do
    cat "$2"
    printf '%s\n' "${@:3}"
  done
}

@test "the examples print the same bits" {
  local out=$BATS_TEST_TMPDIR
  cd "$GT_ROOT"
  gt-emit examples/quickstart.gt >"$out/p"
  same "$out/p"
  gt-emit examples/tape.gt >"$out/p"
  same "$out/p"
  {
    cat examples/linear-init.gt
    rounds 20 examples/linear.gt 'print loss'
    printf 'print %s\n' w b
  } | gt-emit >"$out/p"
  same "$out/p"
  {
    cat examples/digits-init.gt
    rounds 5 examples/digits.gt 'print loss'
    cat examples/digits-test.gt
  } | gt-emit >"$out/p"
  same "$out/p"
  {
    cat examples/digits-tp2-init.gt
    rounds 5 examples/digits-tp2.gt 'print loss@0'
    cat examples/digits-tp2-test.gt
  } | gt-emit >"$out/p"
  same "$out/p"
}

@test "the transformer prints the same bits" {
  # The text has the bytes 0 to 96, as a .npy file, for a model of a few hundred
  # weights.
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2000,), }"
    for ((i = 0; i < 2000; i++)); do
      # shellcheck disable=SC2059 # the byte is the format
      printf "\\x$(printf %02x $((i * i % 97)))"
    done
  } >text.npy
  "$GT_EXAMPLES/transformer" layers=1 width=16 heads=2 context=8 batch=2 \
    length=2000 held=200 steps=3 warmup=1 rounds=1 sample=2 | gt-emit >p
  same p
  [ "$(wc -l <expected)" -ge 4 ]
}

@test "collectives between workers, more ranks than workers, uneven parts" {
  cat >p.gt <<'END'
mesh dp=2 tp=2
x@0-3 = rand f32[7,5] 3 split=dp:0,tp:1
print x@0-3 split=dp:0,tp:1 shape=7,5
print x@0-3
y@0-3 = all_gather x@0-3 over=tp src=S1 split=dp:0,tp:1 shape=7,5
s@0-3 = sum y@0-3
s@0-3 = all_reduce s@0-3 over=dp
print s@0-3
z@2-3 = copy x@0-1
print z@3
b@0-3 = ones f32[4,4]
b@0-3 = all_reduce b@0-3
r@0-3 = reduce_scatter b@0-3 dst=S0
print r@2
t@0-3 = all_to_all r@0-3 src=S0 dst=S1
print t@1
save b@0-3 "b.npy" split=dp:0,tp:1 shape=8,8
w = load "b.npy"
print w
END
  gt-emit p.gt >p
  same p
}

@test "a failure: the same text, the same status, the rest goes on" {
  printf '%s\n' 'n = tensor i64[] 0' 'q = floordiv 7 n' 'r = add q 1' 's = add n 1' \
    'print r' 'print s' >p.gt
  gt-emit p.gt >p
  run -1 --separate-stderr gt-work p
  one_out=$output one_err=$stderr
  for n in 1 2; do
    run -1 --separate-stderr through "$n" p
    [ "$output" = "$one_out" ]
    [ "$stderr" = "$one_err" ]
  done
}

@test "a stream cut short, and what came before it" {
  printf '#gt 1\nx = ones f32[2]\nprint x\n' >p
  run -4 --separate-stderr through 2 p
  lines_are 'x = tensor f32[2] 1 1'
  [[ $stderr == *'cut short after line 3'* ]]
  printf '#gt 1\nx = ones f32[2]\nprint x\n#end 3\n' >p
  run -3 through 2 p
}

@test "a print is answered while the input stays open" {
  mkfifo in
  exec 7<>in
  spawn bash -c 'exec gt-route -n 2 --threads 1 <in >out 7>&-'
  printf 'x = ones f32[2]\nprint x\n' >&7
  await . out
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
  exec 7>&-
  wait "${spawned[0]}"
}

@test "workers attach over tcp, and gt-route says whom it waits for" {
  printf 'mesh tp=2\nx@0-1 = rand f32[6] 1 split=tp:0\ny@0-1 = all_reduce x@0-1\nprint y@0\n' >p
  gt-work p >expected
  spawn gt-route --bind tcp://127.0.0.1:0 --workers 2 p >out 2>err
  route=$!
  for ((i = 0; i < 100; i++)); do
    grep -q 'tcp://127.0.0.1:[0-9]' err && break
    sleep 0.05
  done
  endpoint=$(grep -o 'tcp://127.0.0.1:[0-9]*' err | head -n 1)
  spawn gt-work --connect "$endpoint" --name first --threads 1
  spawn gt-work --connect "$endpoint" --name second --threads 1
  wait "$route"
  cmp expected out
  run -0 grep -c 'waits for 2 workers at tcp' err
}

@test "workers that exchange much use the same memory again" {
  skip_if_sanitized "its memory says little"
  {
    echo 'mesh tp=2'
    echo 'x@0-1 = full f32[262144] 1'
    for ((i = 0; i < 500; i++)); do echo 'y@0-1 = all_reduce x@0-1'; done
    echo 'y@0 = slice y@0 0'
    echo 'print y@0'
  } >p
  mkfifo stream
  spawn gt-route -n 2 --threads 1 stream >out
  route=$!
  exec 5>stream
  cat p >&5
  await 'y@0 = tensor f32\[\] 2' out
  # A value has 1 MiB, and a worker holds a few that are sent or read at the time;
  # if memory were not used again, 500 sums would take far more.
  for worker in $(<"/proc/$route/task/$route/children"); do
    (($(awk '/^VmHWM/ { print $2 }' "/proc/$worker/status") < 80 * 1024))
  done
  exec 5>&-
  wait "$route"
}

@test "a log's last column is the program" {
  {
    for i in 1 2 3; do echo "a$i = randn f32[64,64] $i"; echo "b$i = matmul a$i a$i"; done
    echo 'c = add b1 b2'
    echo 'c = add c b3'
    echo 'c = sum c'
    echo '# a remark'
    echo 'print c'
  } >p.gt
  gt-emit p.gt >p
  through 3 --log log p >out
  cut -f 7 log | gt-work --threads 1 >again
  cmp out again
  # Each instruction has one row of the event issue, and other rows have comments.
  run -0 awk -F '\t' 'NR > 1 && $3 != "issue" && $7 !~ /^#/ { print }' log
  lines_are ''
}

# value_of KEY prints the number behind the key in each row on standard input.
value_of() {
  sed -n "s/.*[ #]$1=\\([0-9.]*\\).*/\\1/p"
}

@test "a log tells what ran when, what crossed and what was printed" {
  {
    echo 'mesh tp=2'
    echo 'x@0-1 = randn f32[64,64] 1 split=tp:0'
    echo 'y@0-1 = matmul x@0-1 x@0-1 ta=1'
    echo 'y@0-1 = all_reduce y@0-1'
    echo 's@0-1 = sum y@0-1'
    echo 'print s@0-1'
  } >p.gt
  gt-emit p.gt >p
  through 2 --log log p >out
  # Each worker read the half of the other's value that it had to add to, and then
  # the half that the other had added up.
  run -0 awk -F '\t' '$3 == "transfer" { print $4, $6, $7 }' log
  [ "${#lines[@]}" = 2 ]
  [[ $output == *'0 16384 # from=1 '*' name=y@0-1'* ]]
  [[ $output == *'1 16384 # from=0 '*' name=y@0-1'* ]]
  # Each result has a row with the seq of its print.
  seq=$(awk -F '\t' '$3 == "issue" && $7 ~ /^print/ { print $2 }' log)
  run -0 awk -F '\t' '$3 == "result" { print $2, $4, $6, $7 }' log
  lines_are "$(awk -v seq="$seq" '{
    print seq, NR - 1, length($0) + 1, "# name=" $1 }' out)"
  # In each queue the times are in order, and before the time of the row.
  for queue in compute comm; do
    grep "queue=$queue" log >rows
    for worker in 0 1; do
      awk -F '\t' -v w=$worker '$4 == w' rows >own
      [ -s own ]
      paste <(value_of begin <own) <(value_of end <own) <(cut -f1 own) |
        awk '$1 < last || $2 < $1 || $3 + 0.001 < $2 { exit 1 } { last = $2 }'
    done
  done
  run -0 gt-log --timeline svg log
  [ "$(grep -o '>worker [0-9] [a-z]*<' <<<"$output" | sort -u | tr '\n' ' ')" = \
    '>worker 0 comm< >worker 0 compute< >worker 1 comm< >worker 1 compute< ' ]
  [ "$(grep -c '^<path d="M' <<<"$output")" = 2 ]
}

@test "the trace of an attached worker has what it computed and what it exchanged" {
  skip_on_gpus 'lines are in the queue of the GPU there'
  printf '%s\n' 'mesh tp=2' 'x@0-1 = rand f32[6] 1 split=tp:0' \
    'y@0-1 = all_reduce x@0-1' 'z@0-1 = exp y@0-1' 'print z@0' >p.gt
  gt-emit p.gt >p
  spawn gt-route --bind ipc://@gt-trace-$$ --workers 2 p >out 2>err
  route=$!
  for w in 0 1; do
    spawn gt-work --connect ipc://@gt-trace-$$ --name w$w --rank $w \
      --threads 1 --trace trace.$w
  done
  wait "${spawned[@]}"
  cmp <(gt-work --threads 1 p) out
  for w in 0 1; do
    run -0 awk -F '\t' 'NR > 1 { print $3, $5, $6, $7 }' trace.$w
    [[ $output == *'comm p.gt:3 all_reduce 24'* ]]
    [[ $output == *'compute p.gt:4 exp 24'* ]]
    # The rows of a queue do not overlap.
    awk -F '\t' 'NR > 1 && ($1 < last[$3] || $2 < $1) { exit 1 }
      { last[$3] = $2 }' trace.$w
    run -0 gt-log --timeline svg trace.$w
    [[ $output == *'>rank 0 comm<'* ]]
  done
}

# attached LOG prints the number, the name and the threads of each worker that
# attached.
attached() {
  awk -F '\t' '$3 == "attach" { print $4, $7 }' "$1" |
    sed 's/ #.* name=\([^ ]*\) .* threads=\([0-9]*\) .*/ \1 \2/' | sort
}

@test "torchrun's and Slurm's variables say which worker it is, and of how many" {
  printf 'x = ones f32[1]\nprint x\n' >p
  local host
  host=$(uname -n)
  spawn env WORLD_SIZE=2 gt-route --bind ipc://@gt-torchrun-$$ --log log p
  for rank in 1 0; do
    spawn env RANK=$rank LOCAL_RANK=$rank LOCAL_WORLD_SIZE=100000 WORLD_SIZE=2 \
      SLURM_PROCID=7 gt-work --connect ipc://@gt-torchrun-$$
  done
  wait "${spawned[@]}"
  run -0 attached log
  lines_are "0 $host/0 1
1 $host/1 1"
  # Options override variables, and torchrun's variables override Slurm's.
  spawn env SLURM_NTASKS=2 gt-route --bind ipc://@gt-slurm-$$ --log log p
  spawn env SLURM_PROCID=1 SLURM_LOCALID=1 "SLURM_TASKS_PER_NODE=100000(x2)" \
    gt-work --connect ipc://@gt-slurm-$$
  spawn env SLURM_PROCID=1 SLURM_LOCALID=1 \
    gt-work --connect ipc://@gt-slurm-$$ --rank 0 --name n --threads 3
  wait "${spawned[@]}"
  run -0 attached log
  lines_are "0 n 3
1 $host/1 1"
  # The variables do not affect workers that gt-route starts itself.
  run -0 env RANK=1 WORLD_SIZE=9 LOCAL_RANK=1 gt-route -n 2 p
  run -2 --separate-stderr env RANK=x gt-work --connect ipc://@gt-none-$$
  [[ $stderr == *'is no number from 0 on'* ]]
}

@test "gradients in two name spaces, whose ranks lie on other workers" {
  {
    for space in 'a 4' 'b 2'; do
      # shellcheck disable=SC2086
      set -- $space
      local at=@0-$(($2 - 1))
      echo "mesh dp=$2 space=$1
$1/x$at = tensor f32[4] 1 2 3 4 split=dp:0
$1/y$at = exp $1/x$at
$1/x$at = mul $1/x$at 2
$1/l$at = sum $1/y$at
$1/l$at = all_reduce $1/l$at over=dp dst=I
$1/g$at = grad $1/l$at $1/y$at
print $1/g$at split=dp:0"
    done
    echo 'a/k@0-3 = mul a/x@0-3 a/x@0-3
b/k@0-1 = mul b/x@0-1 b/x@0-1
a/k@0-3 = sum a/k@0-3
b/k@0-1 = sum b/k@0-1
a/h@0-3 = grad a/k@0-3 a/x@0-3
b/h@0-1 = grad b/k@0-1 b/x@0-1
print a/h@0-3 split=dp:0
print b/h@0-1 split=dp:0'
  } >p.gt
  gt-emit p.gt >p.s
  grep -q '^a/_e' p.s
  grep -q '^b/_e' p.s
  run ! grep -E '(^| )_e' p.s
  run ! grep -E 'a/.* b/|b/.* a/' p.s
  gt-check -q p.s
  gt-work p.s >alone
  for n in 1 2 3 5; do gt-route -n "$n" --threads 1 p.s | cmp - alone; done
}

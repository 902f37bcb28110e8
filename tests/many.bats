#!/usr/bin/env bats
# One program through one process and through many: the same values; and what
# is said and left behind when something dies.

load helper

# through N FILE...: what gt-route with N local workers prints of the stream.
through() {
  local n=$1
  shift
  within 60 gt-route -n "$n" --threads 1 "$@"
}

# same FILE: a stream prints the same bits through gt-work and through gt-route.
same() {
  local n
  gt-work --threads 1 "$1" >expected
  for n in 1 2 4; do
    through "$n" "$1" >got || return
    "$GT_ROOT/scripts/gt-cmp" --exact expected got || return
    cmp expected got || return
  done
}

# await_output FILE: until something was written to it.
await_output() {
  local tries
  for ((tries = 0; tries < 200; tries++)); do
    [[ -s $1 ]] && return
    sleep 0.05
  done
  return 1
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
  # Each of the four got some of the products.
  run -0 awk -F '\t' '$3 == "issue" && / matmul / { n[$4]++ } END { print length(n) }' log
  lines_are 4
}

@test "the digits, plain and on two ranks" {
  cd "$GT_ROOT"
  {
    cat examples/digits-init.gt
    for _ in 1 2 3 4 5; do cat examples/digits.gt; echo 'print loss'; done
    cat examples/digits-test.gt
  } | gt-emit >"$BATS_TEST_TMPDIR/p"
  {
    cat examples/digits-tp2-init.gt
    for _ in 1 2 3 4 5; do cat examples/digits-tp2.gt; echo 'print loss@0'; done
    cat examples/digits-tp2-test.gt
  } | gt-emit >"$BATS_TEST_TMPDIR/q"
  gt-work --threads 1 "$BATS_TEST_TMPDIR/p" >"$BATS_TEST_TMPDIR/p1"
  gt-work --threads 1 "$BATS_TEST_TMPDIR/q" >"$BATS_TEST_TMPDIR/q1"
  for n in 1 2 3; do
    through "$n" "$BATS_TEST_TMPDIR/p" | cmp - "$BATS_TEST_TMPDIR/p1"
    through "$n" "$BATS_TEST_TMPDIR/q" | cmp - "$BATS_TEST_TMPDIR/q1"
  done
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
  await_output out
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
  exec 7>&-
  wait "${spawned[0]}"
}

@test "workers attach over tcp, and it says whom it waits for" {
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
  # Each instruction stands in one row of event issue; elsewhere are comments.
  run -0 awk -F '\t' 'NR > 1 && $3 != "issue" && $7 !~ /^#/ { print }' log
  lines_are ''
}

#!/usr/bin/env bats
# gt-work computes point-wise lines that follow each other together. tests/oracle/fused.py
# compares their bits for all ops.

load helper

# fused prints how many lines were computed with others, as gt-work -v says in err.
fused() {
  sed -n 's/^gt-work: .* (\([0-9]*\) fused).*/\1/p' err
}

@test "lines of as many elements are fused, and those that stay small are not" {
  {
    echo 'x = arange f32[8192]'
    echo 'y = mul x 2'
    echo 'y = add y x'
    echo 'y = sqrt y'
    echo 's = sum y'
    echo 'z = arange f32[8191]'
    echo 'z = mul z 2'
    echo 'z = add z 1'
    echo 'print s'
  } >p.gt
  gt-work -v p.gt >out 2>err
  [ "$(fused)" = 3 ]
  gt-work -v --no-fuse p.gt 2>err | cmp - out
  [ "$(fused)" = '' ]
  GT_NO_FUSE=1 gt-work -v p.gt 2>err | cmp - out
  [ "$(fused)" = '' ]
  gt-work --backend ref -v p.gt >by.ref 2>err
  [ "$(fused)" = '' ]
  gt-cmp by.ref out
}

@test "a value that is read in the middle, and one that is freed there, are as without" {
  cat >p.gt <<'END'
x = arange f32[10000]
a = mul x 0.5
b = add a 1
q = slice b :2
print q
free a
x = mul b b
c = sub x 1
x = add c 0.25
free b c
q = slice x :3
print q
END
  gt-work p.gt >out
  [ "$(cat out)" = 'q = tensor f32[2] 1 1.5
q = tensor f32[3] 0.25 1.5 3.25' ]
}

@test "a failed operand fails the lines that read it, and no others" {
  cat >p.gt <<'END'
x = ones f32[10000]
i = full i64[10000] 20000
b = take x i
y = add x 1
c = mul b 2
y = mul y 2
d = add c y
y = sub y 1
s = sum y
print s
s = sum d
print s
b = add x 1
c = mul b 2
c = add c 1
s = sum c
print s
END
  run -1 --separate-stderr gt-work p.gt
  # shellcheck disable=SC2154
  [ "${lines[0]}" = 's = tensor f32[] 30000' ]
  [[ ${lines[1]} == 's = fail "p.gt:3: take: index 20000 is out of range'* ]]
  [ "${lines[2]}" = 's = tensor f32[] 50000' ]
  [ "${#lines[@]}" = 3 ]
}

@test "lines that nothing follows are computed though the input stays open" {
  mkfifo in
  spawn gt-work -v in >out 2>err
  exec 5>in
  printf 'x = ones f32[10000]\ny = mul x 2\ny = add y 1\nsave y "y.npy"\n' >&5
  printf 'y = add y 1\ny = mul y 2\n' >&5
  printf 's = max y\nprint s\n' >&5
  await '^s = tensor f32\[\] 8$' out
  exec 5>&-
  wait "${spawned[0]}"
  [ "$(fused)" = 4 ]
}

@test "workers fuse, and so do ranks of one worker" {
  {
    echo 'mesh dp=4'
    echo 'x@0-3 = randn f32[10000] 1'
    for ((i = 0; i < 50; i++)); do
      echo 'y@0-3 = mul x@0-3 0.5'
      echo 'y@0-3 = add y@0-3 0.25'
      echo 'y@0-3 = tanh y@0-3'
      echo 'y@0-3 = all_reduce y@0-3 over=dp'
      echo 'x@0-3 = sub x@0-3 y@0-3'
    done
    echo 's@0-3 = sum x@0-3'
    echo 'print s@2'
  } >p
  gt-work --no-fuse p >out
  gt-work -v p 2>err | cmp - out
  [ "$(fused)" -gt 500 ]
  gt-route -n 2 p | cmp - out
  gt-route -n 4 p | cmp - out
}

#!/usr/bin/env bats
# The values of ops at the ends of their dtypes and in 16 bits.

load helper

values() { gt-emit --no-at | gt-work --threads 1 --backend "$1"; }

@test "gelu of the largest numbers is the number" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f32[3] 2e38 3.4028235e38 -2e38
y = gelu x
print y
y = gelu x approximate=tanh
print y
b = tensor bf16[1] 3e38
y = gelu b
print y
d = tensor f64[1] 1e308
y = gelu d
print y
END
    [[ ${lines[0]} == 'y = tensor f32[3] 2e+38 3.4028235e+38 -0' ]]
    [[ ${lines[1]} == 'y = tensor f32[3] 2e+38 3.4028235e+38 -0' ]]
    [[ ${lines[2]} == 'y = tensor bf16[1] 3e+38' ]]
    [[ ${lines[3]} == 'y = tensor f64[1] 1e+308' ]]
  done
}

@test "an op that is computed by others does so in f32 and rounds once" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f16[1] -12
y = sigmoid x
print y
y = silu x
print y
w = tensor f16[1] 1
g = tensor f16[1] 0.001
m = zeros f16[1]
v = zeros f16[1]
w m v = adamw w g m v 1 0.5 decay=0
print w
END
    [[ ${lines[0]} == 'y = tensor f16[1] 6.14e-06' ]]
    [[ ${lines[1]} == 'y = tensor f16[1] -7.373e-05' ]]
    [[ ${lines[2]} == 'w = tensor f16[1] 0.5' ]]
  done
}

@test "norm has a gradient where squares are too small for the dtype" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f16[4] 6e-08 6e-08 6e-08 6e-08
y = norm x
g = grad y x
print g
z = zeros f32[2]
y = norm z
g = grad y z
print g
END
    [[ ${lines[0]} == 'g = tensor f16[4] 0.5 0.5 0.5 0.5' ]]
    [[ ${lines[1]} == 'g = tensor f32[2] 0 0' ]]
  done
}

@test "round goes to the even neighbour of a half, floor and ceil keep the sign of zero" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f32[6] 0.5 1.5 -0.5 -2.5 nan inf
y = round x
print y
x = tensor f64[3] -0.5 0.5 -0
y = ceil x
print y
y = floor x
print y
i = tensor i64[2] -3 9007199254740993
y = floor i
print y
END
    [[ ${lines[0]} == 'y = tensor f32[6] 0 2 -0 -2 nan inf' ]]
    [[ ${lines[1]} == 'y = tensor f64[3] -0 1 -0' ]]
    [[ ${lines[2]} == 'y = tensor f64[3] -1 0 -0' ]]
    [[ ${lines[3]} == 'y = tensor i64[2] -3 9007199254740993' ]]
  done
}

@test "var with more correction than elements is inf, and nan where all are equal" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f32[4] 1 2 3 4
y = var x correction=5
print y
y = var x correction=1e300
print y
c = tensor f32[2] 3 3
y = var c correction=2
print y
one = tensor f32[1] 7
y = var one
print y
END
    lines_are 'y = tensor f32[] inf
y = tensor f32[] inf
y = tensor f32[] nan
y = tensor f32[] nan'
  done
}

@test "dropout of a half type is rounded once" {
  local backend
  for backend in ref cpu; do
    printf '%s\n' 'x = tensor bf16[1] 1.55' 'y = dropout x 0.3 27' 'print y' \
      'x = tensor f16[1] 1' 'y = dropout x 0.3 27' 'print y' | gt-work --backend $backend >out
    [ "$(cat out)" = $'y = tensor bf16[1] 2.2\ny = tensor f16[1] 1.429' ]
  done
}

@test "comparisons are by value, whatever the dtypes" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
u = tensor u8[2] 200 44
a = lt u 300
print a
a = eq u -212
print a
a = gt -1 u
print a
s = tensor i64[] 300
a = eq u s
print a
i = tensor i64[4] 16777217 9007199254740993 9223372036854775807 -9223372036854775808
a = eq i 16777216.0
print a
a = lt i 9223372036854775808
print a
f = tensor f32[4] 16777216 9007199254740992 9223372036854775808 -inf
a = gt i f
print a
a = eq f i
print a
d = tensor f64[4] nan 9007199254740992 9223372036854775808 -9223372036854775808
a = ge d i
print a
k = tensor i32[1] 16777217
a = eq k 16777216.0
print a
a = lt u 200.00000001
print a
h = tensor f16[3] inf 65504 -inf
a = eq h 70000
print a
a = gt h 1e9
print a
a = le -1e9 h
print a
x = tensor f32[2] inf 3e38
a = le x 1e39
print a
x = tensor f32[1] 0.1
a = eq x 0.1
print a
END
    [[ "$output" == "$(printf 'a = tensor bool%s\n' '[2] 1 1' '[2] 0 0' '[2] 0 0' '[2] 0 0' '[4] 0 0 0 0' \
      '[4] 1 1 1 1' '[4] 1 1 0 1' '[4] 0 0 0 0' '[4] 0 0 1 1' '[1] 0' '[2] 1 1' '[3] 0 0 0' '[3] 1 0 0' '[3] 1 1 0' \
      '[2] 0 1' '[1] 1')" ]]
  done
}

@test "a number that its neighbour's dtype cannot hold is refused" {
  refused() { # LINE DTYPE NUMBER
    run -3 values cpu <<<"x = tensor $2[2] 1 2
c = lt x 2
$1
print y"
    [[ "$output" == *"$3 does not fit into $2"* ]]
  }
  for op in add sub mul mod floordiv pow maximum minimum; do
    refused "y = $op x 256" u8 256
    refused "y = $op -1 x" u8 -1
    refused "y = $op x 2147483648" i32 2147483648
  done
  refused 'y = where c 300 x' u8 300
  refused 'y = where c x -1' u8 -1
  refused 'y = pow x -1' u8 -1
  refused 'y = add x 9223372036854775808' i64 9223372036854775808
  refused 'y = full u8[2] 300' u8 300
  refused 'y = full u8[2] -1e9' u8 -1e9
  refused 'y = full u8[2] nan' u8 nan
  refused 'y = arange u8[2] 256' u8 256
  refused 'y = pad x width=1,1 value=300' u8 300
  refused 'y = pad x width=1,1 value=-1' u8 -1
  refused 'y = pad x width=1,1 value=2147483648' i32 2147483648
  refused 'y = pad x width=1,1 value=1e30' i64 1e30
  refused 'y = pad x width=1,1 value=inf' i64 inf
  run -3 values cpu <<<'y = arange u8[4] 253'
  [[ "$output" == *'the last of 4 elements from 253 in steps of 1 does not fit into u8'* ]]
  run -0 values cpu <<'END'
x = tensor u8[2] 1 2
y = arange u8[4] 3 -1
print y
y = full u8[1] 2.5
print y
y = add x 1e3
print y
b = tensor bool[1] 1
y = add b 300
print y
END
  [[ "$output" == "$(printf 'y = tensor %s\n' 'u8[4] 3 2 1 0' 'u8[1] 2' 'f32[2] 1001 1002' 'i64[1] 301')" ]]
}

@test "a number of more than 64 bits beside integers is beyond all of them" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor i64[3] -9223372036854775808 9007199254740993 9223372036854775807
y = eq x -9223372036854775809
print y
y = ge -9223372036854775809 x
print y
y = lt x 9223372036854775808
print y
y = clamp x 0 9223372036854775808
print y
y = clamp x -9223372036854775809 5
print y
END
    [[ "$output" == "$(printf 'y = tensor %s\n' 'bool[3] 0 0 0' 'bool[3] 0 0 0' 'bool[3] 1 1 1' \
      'i64[3] 0 9007199254740993 9223372036854775807' 'i64[3] -9223372036854775808 5 5')" ]]
  done
  run -3 values cpu <<'END'
x = tensor i64[1] 1
y = clamp x 9223372036854775808 9223372036854775809
print y
END
  [[ "$output" == *'number 9223372036854775808 is over what i64 holds'* ]]
}

@test "an op of floats refuses integers without a float beside them" {
  local line
  for line in 'gelu 1' 'gelu 1 approximate=tanh' 'silu 3' 'softplus 1' 'mish 1' 'logaddexp 0 -20' 'dropout 1 0.5 7'; do
    run -3 values cpu <<<"y = $line"
    [[ "$output" == *'must hold floats; write '[013].0* ]]
  done
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
y = gelu 1.0
print y
x = tensor f64[1] 0
y = logaddexp x 0
print y
y = logaddexp 0 -20.0
print y
END
    [[ "$output" == "$(printf 'y = tensor %s\n' 'f32[] 0.8413447' 'f64[1] 0.6931471805599453' 'f32[] 2.0611537e-09')" ]]
  done
}

@test "bce keeps the digits of small probabilities" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f32[4] 1e-9 0 0.5 1
t = tensor f32[4] 0 0 0.25 1
y = bce x t reduction=none
print y
x = tensor f64[1] 1e-20
t = tensor f64[1] 0
y = bce x t
print y
END
    [[ "${lines[0]}" =~ ^'y = tensor f32[4] 1e-09 0 0.6931472 '-?0$ && "${lines[1]}" == 'y = tensor f64[] 1e-20' ]]
  done
}

@test "a power of integers by a negative scalar fails, though the dtype has no sign" {
  for backend in ref cpu; do
    run -1 values "$backend" <<'END'
x = tensor u8[2] 5 7
s = tensor i32[] -1
y = pow x s
print y
s = tensor i32[] 300
y = pow x s
print y
END
    [[ "$output" == *'integer to a negative power'* ]]
    [[ "$output" == *'y = tensor u8[2] 209 33'* ]]
  done
}

@test "a round in which a number changes is checked again" {
  for backend in ref cpu; do
    run -3 values "$backend" <<'END'
x = tensor u8[2] 200 5
a = lt x 100
print a
a = lt x 300
print a
a = lt x 100
print a
a = lt x 300
print a
y = add x 1
print y
y = add x 1
print y
y = add x 300
print y
END
    [[ "${lines[*]}" == *'bool[2] 0 1 a = tensor bool[2] 1 1 a = tensor bool[2] 0 1 a = tensor bool[2] 1 1'* ]]
    [[ "$output" == *'300 does not fit'* ]]
  done
}

@test "logsumexp, logaddexp, hypot, sinh and normalize are exact at their edges, and have gradients there" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f32[4,2] 1000 -inf -inf -inf inf 3 1e-3 -1e-3
y = logsumexp x axis=1
print y
l = sum y
g = grad l x
print g
a = tensor f64[4] 21 -inf 1000 inf
b = tensor f64[4] 0 -inf 1000 inf
y = logaddexp a b
print y
l = sum y
g h = grad l a b
print g
print h
a = tensor f16[3] 0 300 6e-8
b = tensor f16[3] 0 -400 6e-8
y = hypot a b
print y
l = sum y
g h = grad l a b
print g
print h
x = tensor f32[3] 1e-8 -1e-30 100
y = sinh x
print y
x = tensor f16[3,2] 0 0 3 4 200 0
y = normalize x
print y
l = sum y
g = grad l x
print g
END
    [[ "${lines[0]}" == 'y = tensor f32[4] 1000 -inf inf 0.69314766' ]]
    # These are 0.500499999833 and its rest; the numbers beside it are as near.
    [[ "${lines[1]}" == 'g = tensor f32[4,2] 1 0 0 0 1 0 '@('0.50049996 0.49949998'|'0.5005 0.4995') ]]
    [[ "${lines[2]}" == 'y = tensor f64[4] 21.000000000758256 -inf 1000.6931471805599 inf' ]]
    [[ "${lines[3]}" == 'g = tensor f64[4] 0.9999999992417439 0.5 0.5 0.5' ]]
    [[ "${lines[4]}" == 'h = tensor f64[4] 7.582560422162384e-10 0.5 0.5 0.5' ]]
    [[ "${lines[5]}" == 'y = tensor f16[3] 0 500 6e-08' ]]
    [[ "${lines[6]}" == 'g = tensor f16[3] 0 0.6 0.707' ]]
    [[ "${lines[7]}" == 'h = tensor f16[3] 0 -0.8 0.707' ]]
    [[ "${lines[8]}" == 'y = tensor f32[3] 1e-08 -1e-30 inf' ]]
    [[ "${lines[9]}" == 'y = tensor f16[3,2] 0 0 0.6 0.8 1 0' ]]
    [[ "${lines[10]}" != *nan* ]]
  done
}

@test "conv_transpose2d of 16 bits rounds once, after its bias" {
  for backend in ref cpu; do
    run -0 values "$backend" <<'END'
x = tensor f16[1,1,1,1] 1.0009765625
w = tensor f16[1,1,1,1] 1.0009765625
b = tensor f16[1] 0.00048828125
y = conv_transpose2d x w b
print y
END
    [[ "$output" == 'y = tensor f16[1,1,1,1] 1.003' ]]
  done
}

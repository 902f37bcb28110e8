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

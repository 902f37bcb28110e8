#!/usr/bin/env bats
# Backends that are plug-ins. The plug-in here is tests/tools/far.cc: the host
# cannot touch its memory, and it works later than it is told to. So gt-work ends in
# a signal if any step of it takes the address of a value for one of the host's.
# shellcheck disable=SC2154 # run sets stderr and output

load helper

far=${GT_BIN%/bin}/tests/far.so

# A program with every kind of line that reads or writes values: numbers, constants,
# failures, files, rows whose count is a value, and gradients.
program() {
  cat <<'END'
x = randn f32[4,8] 1
w = randn f32[8,8] 2
y = matmul x w
y = add y 1.5
print y
g = grad y w
print g
i = tensor i64[2] 0 3
z = embedding w i
z = softmax z
print z
bad = tensor i64[1] 9
q = embedding w bad
q = add q 1
print q
save y "y.npy"
save w "all.safetensors:w"
r = load "y.npy" f32[4,8]
k = tensor i32[] 1
r = load "y.npy" f32[2,8] k
print r
r = load "y.npy" f32[2,8] 2
print r
w = load "all.safetensors:w" f32[8,8]
w = clip w 0.5
print w
END
}

@test "a plug-in computes what ref computes, in memory that the host cannot touch" {
  program | sed 's/^g = grad y/l = mean y\ng = grad l/' | gt-emit - >p.s
  run -1 --separate-stderr gt-work --backend ref p.s
  wanted=$output said=$stderr
  GT_FAR_COUNT=$PWD/count run -1 --separate-stderr gt-work --backend "$far" p.s
  [ "$output" = "$wanted" ]
  [ "$stderr" = "$said" ]
  [ "$(cat count)" = 'add 2' ]
}

# A program with all kinds of collectives, on even and on uneven parts.
placed() {
  cat <<'END'
mesh d=4
x@0-3 = randn f32[8,8] 1 split=d:0
y@0-3 = all_gather x@0-3 over=d src=S0
m@0-3 = randn f32[6,8] 3 split=d:0
m@0-3 = all_gather m@0-3 over=d src=S0 split_sizes=2+2+1+1
z@0-3 = mul x@0-3 2
s@0-3 = sum z@0-3 axis=0
s@0-3 = all_reduce s@0-3 over=d
t@0-3 = all_to_all x@0-3 over=d src=S0 dst=S1
q@0-3 = convert y@0-3 over=d src=R dst=P
u@0-3 = reduce_scatter q@0-3 over=d dst=S1
v@0-3 = broadcast s@0-3 over=d root=2
c@1 = copy v@0
c@1 = add c@1 1
print x@0-3 split=d:0
print y@3
print m@2
print s@0-3
print t@0-3 split=d:1
print u@0-3 split=d:1
print c@1
save t@0-3 "t.npy" split=d:1
b@0-3 = load "t.npy" f32[8,8] split=d:0
print b@0-3 split=d:0
END
}

@test "workers of a plug-in exchange values by messages" {
  placed >p.s
  run -0 gt-work --backend ref p.s
  wanted=$output
  GT_FAR_COUNT=$PWD/count run -0 gt-route -n 2 --backend "$far" p.s
  [ "$output" = "$wanted" ]
  [ "$(awk '{ n += $2 } END { print (n > 0) }' count)" = 1 ]
  run -0 gt-route -n 4 --backend "$far" p.s
  [ "$output" = "$wanted" ]
}

@test "workers of a plug-in and of the host exchange values" {
  placed >p.s
  run -0 gt-work --backend ref p.s
  wanted=$output
  spawn gt-work --connect "ipc://$PWD/bus" --backend "$far" --root .
  spawn gt-work --connect "ipc://$PWD/bus" --backend ref --root .
  run -0 --separate-stderr gt-route --bind "ipc://$PWD/bus" --workers 2 p.s
  [ "$output" = "$wanted" ]
}

@test "a device that fails is reported, and only what needs its value fails" {
  printf 'x = ones f32[2]\nprint x\nprint x as=y\nsave x "x.npy"\nprint x as=z\n' >p.gt
  GT_FAR_FAILS=2 run -1 --separate-stderr gt-work --backend "$far" p.gt
  [ "${lines[0]}" = 'x = tensor f32[2] 1 1' ]
  [[ ${lines[1]} == 'y = fail '*'the far device has lost its memory'* ]]
  [ "${lines[2]}" = 'z = tensor f32[2] 1 1' ]
  [[ $stderr == *'p.gt:3: print: the far device has lost its memory'* ]]
  GT_FAR_FAILS=3 run -1 --separate-stderr gt-work --backend "$far" p.gt
  [[ $stderr == *'p.gt:4: save: the far device has lost its memory'* ]]
}

@test "a plug-in is found by its name where it is installed" {
  mkdir -p here/bin here/lib/gt
  cp "$GT_BIN/gt-work" here/bin
  cp "$far" here/lib/gt
  echo 'x = ones f32[2]
print x' >p.gt
  run -0 here/bin/gt-work --backend far p.gt
  [ "$output" = 'x = tensor f32[2] 1 1' ]
  run -2 here/bin/gt-work --backend FAR p.gt
  [[ $output == *"unknown backend 'FAR'; there are cpu, ref, null, far, and plug-ins, each by its path or, if it is installed in lib/gt, by its name; try gt-work --help" ]]
}

@test "a file that is no plug-in, or is built for another gt, is refused" {
  echo 'x = ones f32[2]' >p.gt
  run -2 gt-work --backend near p.gt
  [[ $output == *"unknown backend 'near'; there are cpu, ref, null, "* ]]
  run -2 gt-work --backend ./near.so p.gt
  [[ $output == *'backend ./near.so cannot be used: '*'No such file'* ]]
  run -2 gt-work --backend "${far%/*}/faults.so" p.gt
  [[ $output == *'it defines no gt_backend, so it is no plug-in of gt'* ]]
  if ! command -v cc >/dev/null; then skip 'no C compiler (Debian: gcc)'; fi
  echo 'const struct { unsigned long i; void *make; } gt_backend = {1, 0};' |
    cc -shared -o other.so -x c -
  run -2 gt-work --backend ./other.so p.gt
  [[ $output == *'it was compiled with the headers of another gt than '* ]]
}

@test "a device that cannot read what another worker asks for fails the value, not the worker" {
  printf '%s\n' 'x@0 = ones f32[2]' 'y@1 = copy x@0' 'print y@1' >p.gt
  GT_FAR_FAILS=1 run -1 --separate-stderr gt-route -n 2 --backend "$far" p.gt
  [[ $stderr == *'worker 0'*' cannot read it: '* ]]
  [[ $output == 'y@1 = fail '*' cannot read it: '* ]]
}

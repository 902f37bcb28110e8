#!/usr/bin/env bats
# The backend cuda on machines without a GPU: its messages where something is
# missing, and its work on the fake device (tests/cuda/fake), which plays NVIDIA's
# driver, NVRTC and cuBLASLt on the host. A real GPU may differ in all that the fake
# does not know.
# shellcheck disable=SC2154,SC2034,SC2030,SC2031 # run sets stderr and output; spawned is the helper's

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
  ln -s "$GT_SHARE" share
}

# make_step writes step.s, a training step of the line example, and `wanted`, which
# it should print.
make_step() {
  gt-emit --no-at "$GT_EXAMPLES/linear-init.gt" "$GT_EXAMPLES/linear.gt" \
    -e 'print loss' -e 'print w' >step.s
  gt-work --backend ref step.s >wanted
}

# ---- what is missing ---------------------------------------------------------

@test "without a driver, a library or a GPU the message says what to do" {
  echo 'x = ones f32[2]' >p.gt
  mkdir some
  GT_CUDA_PATH=$PWD/some run -2 gt-work --backend cuda p.gt
  [[ $output == "gt-work: backend cuda: NVIDIA's driver is not on this host: there is no libcuda.so.1; install the driver, or run gt-work with --backend cpu"* ]]
  cp "$GT_CUDA_PATH/libcuda.so.1" some
  GT_CUDA_PATH=$PWD/some run -2 gt-work --backend cuda p.gt
  [[ $output == *'NVRTC, which compiles kernels, is not on this host: there is no libnvrtc.so.13 or libnvrtc.so.12; install it with '* ]]
  cp "$GT_CUDA_PATH/libnvrtc.so.13" some
  GT_CUDA_PATH=$PWD/some run -2 gt-work --backend cuda p.gt
  [[ $output == *'cuBLASLt, which multiplies matrices, is not on this host: '* ]]
  GT_FAKE_GPUS=0 run -2 gt-work --backend cuda p.gt
  [[ $output == *'backend cuda: the driver finds no GPU: '*'; run gt-work where there is a GPU'* ]]
}

@test "a GPU that is too old is refused, and one that is too new is served" {
  make_step
  GT_FAKE_CAPABILITY=7 run -2 gt-work --backend cuda step.s
  [[ $output == *'the GPU has compute capability 7.0, and gt needs 8.0; '* ]]
  # For a GPU that NVRTC does not know yet, it makes text for the newest that it
  # knows, and the driver translates that.
  GT_FAKE_CAPABILITY=11 gt-work --backend cuda step.s >out
  gt-cmp --rtol 1e-5 out wanted
}

@test "gt-work itself is linked with nothing of CUDA, nor is the plug-in" {
  run -0 ldd "$GT_BIN/gt-work" "${GT_BIN%/bin}/lib/gt/cuda.so"
  [[ $output != *libcu* && $output != *nvrtc* ]]
}

# ---- which GPU ---------------------------------------------------------------

@test "fake device: a worker takes the GPU that --device says, else LOCAL_RANK's" {
  echo 'x = ones f32[2]' >p.s
  export GT_FAKE_GPUS=4 GT_FAKE_CHOSEN=chosen
  gt-work --backend cuda p.s
  LOCAL_RANK=6 gt-work --backend cuda p.s
  LOCAL_RANK=1 gt-work --backend cuda --device 3 p.s
  [ "$(sort -u chosen | xargs)" = '0 2 3' ]
  SLURM_LOCALID=1 gt-work --backend cuda p.s
  SLURM_LOCALID=1 LOCAL_RANK=2 gt-work --backend cuda p.s
  [ "$(tail -n 2 chosen | xargs)" = '1 2' ]
  local wrong
  for wrong in abc -1 1x 99999999999999999999; do
    LOCAL_RANK=$wrong run -2 gt-work --backend cuda p.s
    [[ $output == "gt-work: LOCAL_RANK, SLURM_LOCALID: '$wrong' is no number from 0 on; --device "* ]]
    LOCAL_RANK=$wrong gt-work --backend cuda --device 1 p.s
  done
  [ "$(gt-work --backend cuda --list-devices | xargs)" = \
    'fake device 0 fake device 1 fake device 2 fake device 3' ]
  run -2 gt-work --backend cuda --device 4 p.s
  [[ $output == 'gt-work: backend cuda: there is no GPU 4 on this host, which has 4, numbered from 0;'* ]]
  run -2 gt-work --device 0 p.s
  [[ $output == 'gt-work: backend cpu has no devices to choose from;'* ]]
  run -2 gt-work --backend cuda --device -1 p.s
  [[ $output == *"'-1' is not a number from 0 on"* ]]
}

@test "fake device: a worker without its GPU says why and takes no worker's place in the run" {
  printf 'a@0 = ones f32[2]\nb@1 = ones f32[3]\nprint a@0\nprint b@1\n' >p.s
  spawn gt-route --bind "ipc://$PWD/bus" --workers 2 p.s >out
  spawn gt-work --connect "ipc://$PWD/bus" --backend cuda
  run -2 within 60 gt-work --connect "ipc://$PWD/bus" --backend cuda --device 9
  [[ $output == 'gt-work: backend cuda: there is no GPU 9 on this host, '* ]]
  GT_CUDA_PATH=$PWD run -2 within 60 gt-work --connect "ipc://$PWD/bus" --backend cuda
  [[ $output == "gt-work: backend cuda: NVIDIA's driver is not on this host"* ]]
  within 60 gt-work --connect "ipc://$PWD/bus" --backend cuda
  await '^b@1' out
  [ "$(cat out)" = $'a@0 = tensor f32[2] 1 1\nb@1 = tensor f32[3] 1 1 1' ]
}

@test "fake device: gt-route -n gpus starts a worker for each, however many" {
  printf 'x = ones f32[2]\nprint x\n' >p.s
  local n
  for n in 1 2 4 8; do
    rm -f chosen
    GT_FAKE_GPUS=$n GT_FAKE_CHOSEN=chosen run -0 gt-route -v -n gpus p.s
    [ "$(grep -c 'is here' <<<"$output")" -eq $n ]
    [[ $output == *'x = tensor f32[2] 1 1'* ]]
    [ "$(sort -un chosen | xargs)" = "$(seq -s ' ' 0 $((n - 1)))" ]
  done
}

@test "gt-route -n gpus without a GPU is one sentence and status 2" {
  GT_FAKE_GPUS=0 run -2 gt-route -n gpus /dev/null
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == 'gt-work: backend cuda: the driver finds no GPU: '* ]]
  mkdir none
  GT_CUDA_PATH=$PWD/none run -2 gt-route -n gpus /dev/null
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"NVIDIA's driver is not on this host"* ]]
  run -2 gt-route -n gpus --backend cpu /dev/null
  [ "$output" = 'gt-work: backend cpu has no devices to choose from' ]
  run -2 gt-route -n GPUs /dev/null
  [[ $output == *"'GPUs' is neither a number from 1 to 65536 nor gpus"* ]]
}

# ---- on the fake device ------------------------------------------------------

@test "fake device: the examples give what the host gives" {
  {
    cat "$GT_EXAMPLES/digits-init.gt"
    for _ in 1 2 3; do cat "$GT_EXAMPLES/digits.gt" <(echo 'print loss'); done
    cat "$GT_EXAMPLES/digits-test.gt"
  } | gt-emit --no-at >digits.s
  gt-emit --no-at "$GT_EXAMPLES/lenet-init.gt" "$GT_EXAMPLES/lenet.gt" \
    -e 'print loss' >lenet.s
  gt-emit --no-at "$GT_EXAMPLES/linear-init.gt" --repeat 5 \
    "$GT_EXAMPLES/linear.gt" -e 'print w' -e 'print b' >linear.s
  gt-emit --no-at "$GT_EXAMPLES/tape.gt" >tape.s
  local program
  for program in digits lenet linear tape; do
    gt-work $program.s >$program.cpu
    GT_FAKE_REPORT=report gt-work --backend cuda $program.s >$program.cuda
    gt-cmp --rtol 1e-4 $program.cpu $program.cuda
  done
  [ "$(grep -c "$all_given_back" report)" -eq 4 ]
}

@test "fake device: a transformer learns and speaks as on the host" {
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2000,), }"
    head -c 2000 "$GT_SHARE/novel/pride-and-prejudice.txt"
  } >text.npy
  "$GT_EXAMPLES/transformer" text=text.npy layers=1 width=16 heads=2 context=8 \
    batch=4 length=2000 held=100 steps=2 warmup=1 rounds=1 sample=1 |
    gt-emit --no-at >p.s
  gt-work p.s >host
  gt-work --backend cuda p.s >fake
  gt-cmp --rtol 1e-4 host fake
}

@test "fake device: in any order of the streams the bits are the same" {
  make_step
  gt-work --backend cuda step.s >first
  gt-cmp --rtol 1e-5 first wanted
  local seed
  for seed in {1..20}; do
    GT_FAKE_SEED=$seed gt-work --backend cuda step.s | cmp - first
  done
}

@test "fake device: workers exchange values, in any order of streams" {
  cat >p.s <<'END'
mesh d=4
x@0-3 = randn f32[8,8] 1 split=d:0
y@0-3 = all_gather x@0-3 over=d src=S0
z@0-3 = mul x@0-3 2
s@0-3 = sum z@0-3 axis=0
s@0-3 = all_reduce s@0-3 over=d
t@0-3 = all_to_all x@0-3 over=d src=S0 dst=S1
c@1 = copy s@0
c@1 = add c@1 1
print y@3
print s@0-3
print t@0-3 split=d:1
print c@1
END
  gt-work --backend ref p.s >wanted
  local seed
  for seed in 1 2 3; do
    GT_FAKE_SEED=$seed gt-work --backend cuda p.s | gt-cmp --rtol 1e-6 - wanted
    GT_FAKE_SEED=$seed GT_FAKE_REPORT=report \
      gt-route -n 2 --backend cuda p.s | gt-cmp --rtol 1e-6 - wanted
  done
  [ "$(grep -c "$all_given_back" report)" -eq 6 ]
}

@test "fake device: wrong data fails its line, in the words of every backend" {
  cat >p.s <<'END'
i = tensor i64[1] 9
w = ones f32[4,2]
y = embedding w i
print y
a = tensor i64[2] 1 2
b = tensor i64[2] 0 1
c = floordiv a b
print c
x = tensor i64[] 3
s = slice w x axis=0 size=2
print s
j = tensor i64[1] 3
y = embedding w j
print y
END
  run -1 --separate-stderr gt-work --backend ref p.s
  wanted=$output said=$stderr
  run -1 --separate-stderr gt-work --backend cuda p.s
  [ "$output" = "$wanted" ]
  [ "$stderr" = "$said" ]
}

@test "fake device: wrong data is reported as on the host, in any order of the streams" {
  make_faults
  local how seed
  for how in '' --fail-fast --no-cache; do
    run -3 --separate-stderr gt-work $how faults.s || true
    wanted=$output said=$stderr
    for seed in {1..8}; do
      GT_FAKE_SEED=$seed run --separate-stderr gt-work $how --backend cuda faults.s
      [ "$output" = "$wanted" ]
      [ "$stderr" = "$said" ]
    done
  done
  {
    echo '#reports'
    cat faults.s
  } >shared.s
  gt-work shared.s >wanted || true
  gt-work --backend cuda shared.s | cmp - wanted
}

@test "fake device: several workers report wrong data as one on the host does" {
  make_faults
  cat >>faults.s <<'END'
mesh d=2
x@0-1 = tensor i64[2] 6 0
y@0-1 = floordiv 6 x@0-1
y@0-1 = all_reduce y@0-1 over=d
print y@0-1
END
  gt-work faults.s >wanted 2>/dev/null || true
  local seed
  for seed in 1 2 3; do
    GT_FAKE_SEED=$seed gt-route -n 2 --backend cuda faults.s >out 2>/dev/null || true
    cmp out wanted
  done
}

@test "fake device: no line waits to know whether data is wrong" {
  {
    printf 'w = ones f32[4,2]\nc = tensor i64[2] 1 0\ni = tensor i64[2] 3 1\n'
    for _ in {1..100}; do
      printf 'e = embedding w i\nl = cross_entropy e c\nj = floordiv i i\n'
    done
    printf 'j = floordiv j c\nprint j\nprint l\n'
  } >p.s
  GT_FAKE_WAITS=waits run -1 gt-work --backend cuda p.s
  [ "$(cat waits)" -le 8 ]
}

@test "fake device: a failing line is reported although no line follows it" {
  mkfifo in
  gt-work --backend cuda <in 2>said &
  spawned+=($!)
  exec 9>in
  printf 'a = tensor i64[2] 1 2\nb = floordiv a 0\n' >&9
  await 'integer division by zero' said
  exec 9>&-
  wait "${spawned[0]}" || [ $? -eq 1 ]
}

@test "fake device: a GPU that fails for good names its line, and the worker ends" {
  skip_leaks 'a worker that lost its GPU gives nothing back'
  cat >p.s <<'END'
a = ones f32[4]
b = add a 1
print b
c = mul b 2
d = add c 1
print d
print a
save a "a.npy"
END
  local how
  for how in '' --sync; do
    GT_FAKE_LOSE=3 run -4 --separate-stderr within 60 \
      gt-work $how --backend cuda p.s
    [[ $stderr == 'gt-work: p.s:4: mul: the GPU failed: an illegal memory access was encountered; '* ]]
    [[ ${stderr%%$'\n'*} == *"; all values are lost, and the worker ends"* ]]
    [ "${lines[0]}" = 'b = tensor f32[4] 2 2 2 2' ]
    # The clock decides how many prints were read before the loss was known; all
    # results but the first are failures.
    run -0 grep -vc '^[ad] = fail "p.s:4: mul: the GPU failed: ' <<<"$output"
    [ "$output" = 1 ]
    [ ! -e a.npy ]
  done
  make_step
  local k status
  for k in {1..13..3}; do
    status=0
    GT_FAKE_LOSE=$k GT_FAKE_SEED=$k within 60 gt-work --backend cuda step.s \
      >out 2>said || status=$?
    echo "kernel $k: status $status"
    ((status == 4))
    [[ -s said ]]
    run -1 grep -v ' = fail ' out
  done
}

@test "fake device: workers end when a GPU fails for good" {
  skip_leaks 'a worker that lost its GPU gives nothing back'
  cat >p.s <<'END'
mesh d=2
x@0-1 = ones f32[8]
y@0-1 = mul x@0-1 2
z@0-1 = all_reduce y@0-1 over=d
w@0-1 = add z@0-1 1
print w@0-1
END
  local k status
  for k in 1 2 3 4; do
    status=0
    GT_FAKE_LOSE=$k within 60 gt-route -n 2 --backend cuda p.s >out 2>said ||
      status=$?
    echo "kernel $k: status $status"
    ((status == 4 || status == 1))
    [[ -s said ]]
    run -1 grep tensor out
  done
}

@test "fake device: without memory a line fails, and the rest goes on" {
  cat >p.s <<'END'
a = ones f32[1000]
b = ones f32[10000000]
c = add b 1
print c
print a
END
  GT_FAKE_MEMORY=50000000 GT_FAKE_REPORT=report \
    run -1 --separate-stderr gt-work --backend cuda p.s
  [[ ${lines[0]} == 'c = fail '*'add: out of memory: f32[10000000] needs '* ]]
  [[ ${lines[1]} == 'a = tensor f32[1000] 1 1'* ]]
  grep "$all_given_back" report
}

@test "fake device: without memory for a workspace, products that need one fail" {
  cat >p.s <<'END'
a = zeros f32[6000000]
b = eye f32[2,2]
c = matmul b b
d = ones f32[40,40]
e = matmul d d
print c
print e
END
  GT_FAKE_MEMORY=50000000 run -1 --separate-stderr gt-work --backend cuda p.s
  [ "${lines[0]}" = 'c = tensor f32[2,2] 1 0 0 1' ]
  [[ ${lines[1]} == 'e = fail '*'matmul: scratch memory: out of memory: it needs 32'*'MiB"' ]]
}

# A line that cannot be computed is reported; a failed launch that was put off is
# reported as the loss of the GPU.
@test "fake device: whichever call fails, it is reported" {
  skip_if_sanitized 'some hundred runs'
  make_step
  count_calls gt-work --backend cuda step.s
  # If the context cannot be entered at the end, four things are kept.
  most_kept=4 calls_fail 1 6 gt-work --backend cuda step.s
}

@test "fake device: a device that is lost is reported, and nothing hangs" {
  skip_if_sanitized 'many runs'
  make_step
  count_calls gt-work --backend cuda step.s
  local k status
  for ((k = 1; k <= calls / 2; k += 9)); do
    status=0
    GT_FAKE_FAIL=$k+ within 60 gt-work --backend cuda step.s >out 2>said ||
      status=$?
    echo "from call $k on: status $status"
    ((status >= 1 && status <= 4))
    [[ -s said ]]
  done
}

# ---- the cache of kernels ----------------------------------------------------

@test "fake device: kernels are kept on the disk, and a broken file is made again" {
  export XDG_CACHE_HOME=$PWD/own
  make_step
  gt-work --backend cuda step.s >first
  local file
  [ "$(find own/gt -name '*.kernel' | wc -l)" -gt 5 ]
  # With the files a compiler that can make nothing is not missed; without them it
  # is.
  GT_TWIN_CACHE=/dev/null/x gt-work --backend cuda step.s | cmp - first
  XDG_CACHE_HOME=$PWD/other GT_TWIN_CACHE=/dev/null/x run -1 --separate-stderr \
    gt-work --backend cuda step.s
  [[ $stderr == *'its kernel cannot be made: nvrtcCompileProgram: '* ]]
  local n=0
  for file in own/gt/*.kernel; do
    case $((n++ % 3)) in
      0) : >"$file" ;;
      1) head -c 60 "$file" >part && mv part "$file" ;;
      2) printf x | dd of="$file" bs=1 seek=100 conv=notrunc status=none ;;
    esac
  done
  gt-work --backend cuda step.s | cmp - first
  for file in own/gt/*.kernel; do
    [ "$(wc -c <"$file")" -gt 100 ]
  done
  # Where no file can be kept, everything else works.
  XDG_CACHE_HOME=/proc gt-work --backend cuda step.s | cmp - first
}

# NVIDIA's manual says that a choice of how to compute a product holds for the same
# version of the library and the same GPU.
@test "fake device: how products are computed is chosen once" {
  export XDG_CACHE_HOME=$PWD/own GT_FAKE_REPORT=report
  make_step
  gt-work --backend cuda step.s >first
  calls() {
    rm report
    gt-work --backend cuda step.s | cmp - first
    awk '{ print $2 }' report
  }
  local kept chosen
  kept=$(calls)
  mkdir chosen
  mv own/gt/*.product chosen
  chosen=$(calls)
  ((kept < chosen))
  # The choice of another version of the library is not used.
  local file
  for file in own/gt/*.product; do
    cmp "$file" "chosen/${file##*/}"
    printf x | dd of="$file" bs=1 seek=$(($(wc -c <"$file") - 64)) conv=notrunc \
      status=none
  done
  [ "$(calls)" -eq "$chosen" ]
  cmp "$file" "chosen/${file##*/}"
}

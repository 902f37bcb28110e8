#!/usr/bin/env bats
# What a user sees of gt-work: lines go in, results come out, with statuses and
# limits.

load helper

# work ARGUMENT... runs gt-work on its standard input.
work() {
  gt-work "$@"
}

@test "a line in, a result out" {
  run -0 --separate-stderr work <<< $'x = tensor f32[2,2] 1 2 3 4
y = matmul x x
print y
print y as=square'
  lines_are 'y = tensor f32[2,2] 7 10 15 22
square = tensor f32[2,2] 7 10 15 22'
  [ -z "$stderr" ]
}

@test "files run in order, as one program" {
  echo 'x = tensor f32[] 1' > a.gt
  echo 'print x' > b.gt
  run -0 gt-work a.gt - b.gt <<< 'x = add x 1'
  lines_are 'x = tensor f32[] 2'
}

@test "a missing file is reported, and the rest goes on" {
  echo 'x = tensor f32[] 1' > a.gt
  run -2 --separate-stderr gt-work a.gt none.gt - <<< 'print x'
  lines_are 'x = tensor f32[] 1'
  [ "$stderr" = 'gt-work: none.gt: No such file or directory' ]
  run -2 --separate-stderr gt-work ''
  [ "$stderr" = "gt-work: '': No such file or directory" ]
}

@test "an answer comes without closing the pipe" {
  coproc WORK { gt-work 3>&-; }
  local pid=$WORK_PID in=${WORK[1]} out=${WORK[0]} i line
  for i in 1 2 3; do
    echo "x = tensor f32[] $i" >&"$in"
    echo 'print x' >&"$in"
    read -r -t 10 line <&"$out"
    [ "$line" = "x = tensor f32[] $i" ]
  done
  exec {in}>&-
  wait "$pid"
}

@test "a result comes before the work after it is done" {
  {
    echo 'x = ones f32[256,256]'
    for ((i = 0; i < 5000; i++)); do
      printf '%s\n' "y = sum x" 'print y' 'z = matmul x x'
    done
  } > p.gt
  run -0 within 20 bash -c 'gt-work --backend ref p.gt | head -n 1'
  lines_are 'y = tensor f32[] 65536'
}

@test "a failed line is reported once, with its place, and spreads" {
  run -1 --separate-stderr work <<< $'x = tensor i64[] 0
y = mod x x #at=model.gt:7
z = add y 1
print z
print x'
  lines_are 'z = fail "model.gt:7: mod: integer division by zero"
x = tensor i64[] 0'
  [ "$stderr" = 'gt-work: model.gt:7: mod: integer division by zero
  y = mod x x
      ^' ]
}

@test "a rejected line has status 3 and a caret" {
  run -3 --separate-stderr work <<< $'x = tensor f32[2] 1 2
y = ad x x
print y
print unknown
print x'
  lines_are "y = fail \"<stdin>:2: unknown op 'ad'; did you mean 'add'?\"
unknown = fail \"<stdin>:4: print: unknown name 'unknown'\"
x = tensor f32[2] 1 2"
  [ "$stderr" = "gt-work: <stdin>:2: unknown op 'ad'; did you mean 'add'?
  y = ad x x
      ^
gt-work: <stdin>:4: print: unknown name 'unknown'
  print unknown
        ^" ]
}

@test "--fail-fast stops at the first failure" {
  run -3 --separate-stderr work --fail-fast <<< $'x = tensor f32[] 1
print x
y = relu z
print x'
  lines_are 'x = tensor f32[] 1'
}

@test "grad belongs to another program; a line has ranks or none" {
  run -3 --separate-stderr work <<< $'x = tensor f32[] 1
g = grad x x
y@0 = copy x'
  [[ $stderr == *'run this through gt-emit'* ]]
  [[ $stderr == *"'x' has no ranks, but other names of the line have"* ]]
}

@test "the status of the stage before reaches the last" {
  run -3 work <<< $'#gt 1\n#end 3'
  run -1 work <<< $'#gt 1\n#end 0\n#gt 1\n#end 1'
  run -0 work <<< $'#gt 1\n#end 0'
}

@test "a stream cut short has status 4" {
  run -4 --separate-stderr work <<< $'#gt 1\nx = tensor f32[] 1\nprint x'
  lines_are 'x = tensor f32[] 1'
  [ "$stderr" = 'gt-work: <stdin>: stream cut short after line 3' ]
}

@test "a stream of another version is refused" {
  run -3 --separate-stderr work <<< $'#gt 2\n#end 0'
  [[ $stderr == *'cannot be read'* ]]
}

@test "standard output that is closed or full is status 2" {
  run -2 --separate-stderr bash -c \
    'printf "x = tensor f32[] 1\nprint x\n" | gt-work >&-'
  [[ $stderr == 'gt-work: cannot write standard output: '* ]]
  run -2 --separate-stderr bash -c \
    'yes "$(printf "x = tensor f32[] 1\nprint x")" | gt-work >/dev/full'
  [[ $stderr == *'No space left on device' ]]
}

@test "a reader that leaves ends it quietly" {
  # shellcheck disable=SC2016
  run -0 --separate-stderr within 20 bash -c \
    'yes "$(printf "x = tensor f32[] 1\nprint x")" | gt-work | head -n 1'
  lines_are 'x = tensor f32[] 1'
  [ -z "$stderr" ]
}

@test "load and save keep below --root" {
  mkdir in
  ln -s "$PWD" in/up
  run -0 work --root in <<< $'x = tensor i64[3] 1 2 3
save x "in/x.npy"
y = load "in/x.npy" i64[2] 1
print y'
  lines_are 'y = tensor i64[2] 2 3'
  run -1 --separate-stderr work --root in <<< $'x = tensor i64[] 1
save x "x.npy"
save x "in/up/y.npy"
z = load "/etc/hostname" u8[1]
print z'
  [ ! -e x.npy ]
  [ ! -e y.npy ]
  [[ $output == *'outside the directories that --root allows'* ]]
  run -2 work --root nowhere <<< ''
}

@test "the message of a load that does not fit says what the file holds" {
  run -1 --separate-stderr work <<< $'x = ones f32[4]
save x "x.npy"
y = load "x.npy" f64[4]
print y
y = load "x.npy" f32[3] 2
print y'
  lines_are 'y = fail "<stdin>:3: load: x.npy holds f32[4], not f64[4]; load it as f32 and cast"
y = fail "<stdin>:5: load: x.npy has 4 rows, not 3 from row 2 on"'
}

@test "tensors of one safetensors file are saved and loaded by name" {
  run -0 work <<< $'x = tensor f32[2,2] 1 2 3 4
b = tensor u8[1] 7
save x "m.safetensors:blocks.0.w"
save b "m.safetensors:b"'
  run -1 --separate-stderr work <<< $'w = load "m.safetensors:blocks.0.w" f32[1,2] 1
print w
b = load "./m.safetensors:blocks.0.v" f32[2,2]
print b'
  lines_are 'w = tensor f32[1,2] 3 4
b = fail "<stdin>:3: load: ./m.safetensors has no tensor '"'blocks.0.v'; did you mean 'blocks.0.w'?"'"'
  run -3 --separate-stderr gt-emit -e 'w = load "m.safetensors"'
  [[ $stderr == *'m.safetensors holds tensors by name; say which, as "m.safetensors:NAME"; it has blocks.0.w, b'* ]]
  run -0 --separate-stderr gt-emit -e 'w = load "m.safetensors:b"'
  [[ $output == *'load "m.safetensors:b" u8[1]'* ]]
}

@test "programs that save to one safetensors file at a time keep each other's tensors" {
  for p in 1 2 3 4; do
    spawn bash -c "for i in {1..10}; do
      printf 'x = full f32[50000] $p\nsave x \"m.safetensors:p$p.%s\"\n' \$i |
        gt-work || echo failed >>failed; done"
  done
  wait "${spawned[@]}"
  [ ! -e failed ]
  for p in 1 2 3 4; do
    for i in {1..10}; do echo "x = load \"m.safetensors:p$p.$i\" f32[50000]"; done
  done >load.gt
  run -0 gt-work load.gt
}

@test "a load follows a save of its file, however the two spell the path" {
  ln -s . here
  for path in "$PWD/m.safetensors" here/m.safetensors ../"${PWD##*/}"/m.safetensors; do
    printf 'x = full f32[2] 9\nsave x "m.safetensors:x"\n' | gt-work
    printf '%s\n' 'x = ones f32[2]' 'save x "m.safetensors:x"' \
      "b = load \"$path:x\" f32[2]" 'print b' >p.s
    run -0 gt-work p.s
    [ "$output" = 'b = tensor f32[2] 1 1' ]
  done
  # The order holds although another worker saves the file late.
  printf 'x = full f32[2] 9\nsave x "f.npy"\n' | gt-work
  ln -s f.npy link.npy
  printf '%s\n' 'a = ones f32[900,900]' 'a = matmul a a' 's = slice a 0 :2' \
    'save s "link.npy"' "b = load \"$PWD/f.npy\" f32[2]" 'print b' >q.s
  run -0 --separate-stderr gt-route -n 2 --threads 1 q.s
  [ "$output" = 'b = tensor f32[2] 900 900' ]
  # The order holds for a save that fails.
  printf '%s\n' 'x = ones f32[2]' 'save x "none/m.safetensors:x"' \
    'b = load "./none/m.safetensors:x" f32[2]' 'print b' >r.s
  run -1 gt-work r.s
  [[ $output == *'b = fail '* ]]
}

@test "a safetensors file that cannot be written stays as it was" {
  skip_on_gpus 'its memory is a file, too, which the limit stops'
  mkdir disk
  cd disk
  echo 'not one' >m.safetensors
  run -1 --separate-stderr work <<< $'x = ones f32[2]\nsave x "m.safetensors:x"'
  [[ $stderr == *'<stdin>:2: save: m.safetensors '* ]]
  [ "$(cat m.safetensors)" = 'not one' ]
  rm m.safetensors
  ulimit -f 1
  run -1 --separate-stderr gt-work <<< \
    $'x = ones f32[100000]\nsave x "m.safetensors:x"'
  [[ $stderr == *'<stdin>:2: save: m.safetensors: '* ]]
  [ -z "$(ls -A)" ]
}

@test "a save that finds the disk full leaves nothing" {
  skip_on_gpus 'its memory is a file, too, which the limit stops'
  # A limit on the size of files plays a disk that is full.
  mkdir disk
  cd disk
  ulimit -f 1
  run -1 --separate-stderr gt-work <<< \
    $'x = ones f32[100000]\nsave x "x.npy"'
  [[ $stderr == *'save: x.npy: File too large'* ]]
  [ -z "$(ls -A)" ]
}

@test "--memory fails the line that exceeds it, and no other" {
  run -1 --separate-stderr work --memory 8k <<< $'x = ones f32[1024]
y = ones f32[2048]
print y
free x
y = ones f32[2048]
z = sum y
print z'
  lines_are 'y = fail "<stdin>:2: ones: out of memory: f32[2048] needs 8 KiB, 4 KiB of 8 KiB in use"
z = fail "<stdin>:6: sum: out of memory: f32[] needs 64 bytes, 8 KiB of 8 KiB in use"'
}

@test "sizes beyond the machine fail their line, and gt-work goes on" {
  run -1 --separate-stderr work <<< $'x = zeros f32[1000000,1000000,10000]
print x
y = ones f32[]
print y'
  [[ ${lines[0]} == 'x = fail "<stdin>:1: zeros: out of memory: '* ]]
  [ "${lines[1]}" = 'y = tensor f32[] 1' ]
  run -3 work <<< 'x = zeros f32[-1]'
  run -3 work <<< 'x = zeros f32[99999999999,99999999999]'
}

@test "any bytes are taken" {
  printf 'x = tensor f32[] 1\r\nprint x\r\ny = add x \0\nprint x\n' > in.gt
  run -3 --separate-stderr gt-work in.gt
  lines_are 'x = tensor f32[] 1
x = tensor f32[] 1'
  head -c 100000000 /dev/zero | tr '\0' a > long.gt
  printf '\nx = tensor f32[] 2\nprint x\n' >> long.gt
  run -3 --separate-stderr gt-work long.gt
  lines_are 'x = tensor f32[] 2'
  [[ $stderr == *'long.gt:1: the line is over 64 MiB'* ]]
}

@test "with and without --no-cache the bits are the same, as on one instruction set twice" {
  {
    echo 'x = randn f32[32,32] 7'
    for _ in 1 2 3 4; do
      printf '%s\n' 'y = matmul x x' 'y = softmax y' 'x = sub x y' 'print x'
    done
  } > p.gt
  gt-work --threads 1 p.gt > a
  gt-work --threads 1 --no-cache p.gt > b
  cmp a b
  grep -q avx2 /proc/cpuinfo || skip 'no avx2 here'
  gt-work --threads 1 --isa avx2 p.gt > a
  gt-work --threads 1 --isa avx2 p.gt > b
  cmp a b
}

@test "backends: cpu, ref, null, by option or environment" {
  echo $'x = tensor f32[2] 1 2\nx = add x x\nprint x' > p.gt
  for backend in cpu ref; do
    run -0 gt-work --backend "$backend" p.gt
    lines_are 'x = tensor f32[2] 2 4'
  done
  GT_BACKEND=null run -0 gt-work p.gt
  lines_are 'x = tensor f32[2] 0 0'
  run -2 gt-work --backend none p.gt
  [[ $output == *"unknown backend 'none'; there are cpu, ref, null, "* ]]
}

@test "null: --pace takes as long as the machine that it describes" {
  # The line moves 4 MB at 200 MB a second.
  echo 'x = zeros f32[1000,1000]' > p.gt
  gt-work --backend null --pace memory_bandwidth=2e8 --trace t p.gt
  [ "$(awk -F'\t' '!/^#/ { print ($2 - $1 >= 20e6) }' t)" = 1 ]
  # The link moves the same bytes at 100 MB a second.
  printf '%s\n' 'x@0 = zeros f32[1000,1000]' 'y@1 = copy x@0' > p.gt
  gt-route -n 2 --backend null --pace bandwidth=1e8,latency=0.001 --trace t p.gt
  run -0 awk -F'\t' '$3 == "1/comm" { print $6, ($2 - $1 >= 41e6) }' t
  lines_are 'copy 1'
}

@test "null: --pace gives gt-work the memory of that machine" {
  echo $'x = zeros f32[1000]\ny = sum x\nprint y' > p.gt
  run -1 --separate-stderr gt-work --backend null --pace memory=1000 p.gt
  [[ $stderr == *'out of memory: f32[1000] needs 4 KiB'* ]]
  run -0 gt-work --backend null --pace memory=1e6 p.gt
  lines_are 'y = tensor f32[] 0'
}

@test "--pace refuses what is no figure, and backends that take their own time" {
  for bad in '' flops flops=0 speed=1; do
    run -2 --separate-stderr gt-work --backend null --pace "$bad" <<< ''
    [[ $stderr == 'gt-work: --pace: '*'; try gt-work --help' ]]
    run -2 --separate-stderr gt-route --backend null --pace "$bad" <<< ''
    [[ $stderr == 'gt-route: --pace: '*'; try gt-route --help' ]]
  done
  run -2 --separate-stderr gt-work --backend cpu --pace flops=1e9 <<< ''
  [[ $stderr == 'gt-work: --pace is for --backend null'* ]]
  run -2 --separate-stderr gt-route -n 1 --pace flops=1e9 <<< ''
  [[ $stderr == 'gt-route: --pace is for --backend null'* ]]
  GT_BACKEND=null run -0 gt-route -n 1 --pace flops=1e9 <<< ''
}

@test "bad usage is status 2 and a hint" {
  for bad in --no-such-option --memory=1x --memory=0 --threads=0 --isa=mmx; do
    run -2 --separate-stderr gt-work "$bad" <<< ''
    [[ $stderr == 'gt-work: '*'; try gt-work --help' ]]
    [ -z "$output" ]
  done
  GT_NO_GRAPHS=maybe run -2 --separate-stderr gt-work <<< ''
  [[ $stderr == "gt-work: --no-graphs (GT_NO_GRAPHS): 'maybe' is not true, false or a number; try"* ]]
  for option in --rank=0 --name=w --timeout=1 --fast-sums; do
    run -2 --separate-stderr gt-work "$option" <<< ''
    [[ $stderr == "gt-work: ${option%=*} is for --connect; try gt-work --help" ]]
  done
  for option in --device=0 p.gt '--connect ipc://@none'; do
    # shellcheck disable=SC2086 # the option has a value
    run -2 --separate-stderr gt-work --list-devices $option
    [[ $stderr == 'gt-work: --list-devices lists and ends; it takes no '* ]]
  done
  run -2 --separate-stderr gt-work --connect ipc://@none p.gt
  [[ $stderr == 'gt-work: with --connect lines come from gt-route, and not from p.gt;'* ]]
  for option in --memory --trace; do  # a variable that was not set gives an empty word
    run -2 --separate-stderr gt-work $option '' <<< ''
    [[ $stderr == "gt-work: $option: "*'; try gt-work --help' ]]
  done
}

@test "--help and --version" {
  run -0 --separate-stderr gt-work --help
  for word in --trace --backend --threads --memory --root --isa --fail-fast --no-cache \
    GT_BACKEND 'Exit status' Examples; do
    [[ $output == *"$word"* ]]
  done
  run -0 gt-work --version
  [[ $output == gt-work\ [0-9]* ]]
}

@test "-v says what was done" {
  run -0 --separate-stderr work -v <<< $'x = tensor f32[] 1\nx = add x 1'
  [[ $stderr == 'gt-work: 2 lines, 2 decoded, 2 tasks, '* ]]
}

@test "--trace records what ran" {
  skip_on_gpus 'lines are in the queue of the GPU there'
  run -0 --separate-stderr work --trace t.trace <<< $'x = ones f32[2,3] #signal=in
y = sum x
free x
print y'
  lines_are 'y = tensor f32[] 6'
  run -0 cut -f3-9 t.trace
  lines_are $'queue\trank\tat\top\tbytes\tflops\tsignal
compute\t-\t<stdin>:1\tones\t24\t0\tin
compute\t-\t<stdin>:2\tsum\t28\t6\t-
compute\t-\t<stdin>:4\tprint\t4\t0\t-'
  run -0 awk -F '\t' 'NR > 1 {if ($1 < e || $2 < $1) exit 1; e = $2}' t.trace
}

@test "helper threads spin little, unless the user says how long" {
  # environment NAME=VALUE... prints GOMP_SPINCOUNT as a running gt-work has it.
  environment() {
    rm -f in out
    mkfifo in
    env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY "$@" in >out &
    local worker=$! i
    exec 9>in
    printf 'x = ones f32[]\nprint x\n' >&9
    for ((i = 0; i < 100; i++)); do
      [ ! -s out ] || break
      sleep 0.1
    done
    tr '\0' '\n' <"/proc/$worker/environ" | grep -E '^(GOMP_SPIN|OMP_WAIT)' || true
    exec 9>&-
    wait "$worker"
  }
  run -0 environment gt-work --threads 2
  lines_are GOMP_SPINCOUNT=1000
  run -0 environment gt-work --threads 1
  lines_are ''
  run -0 environment OMP_WAIT_POLICY=active gt-work --threads 2
  lines_are OMP_WAIT_POLICY=active
  run -0 environment GOMP_SPINCOUNT=7 gt-work --threads 2
  lines_are GOMP_SPINCOUNT=7
}

@test "a trace that is interrupted has what ran" {
  skip_on_gpus 'lines are in the queue of the GPU there'
  for signal in INT TERM; do
    mkfifo "in$signal"
    # setsid gives gt-work a process group of its own, in which SIGINT is not
    # ignored.
    setsid env --default-signal=INT gt-work --trace t.trace "in$signal" >out &
    worker=$!
    exec 9>"in$signal"
    printf '%s\n' 'x = ones f32[2,3]' 'y = sum x' 'print y' >&9
    for ((i = 0; i < 100; i++)); do
      [ ! -s out ] || break
      sleep 0.1
    done
    kill -s "$signal" "$worker"
    local status=0
    wait "$worker" || status=$?
    [ "$status" -eq 130 ]
    exec 9>&-
    run -0 cut -f6 t.trace
    lines_are $'op\nones\nsum\nprint'
  done
}

@test "a trace that cannot be written is status 2" {
  run -2 --separate-stderr work --trace - <<< 'x = ones f32[]'
  [[ $stderr == *'standard output is the stream of results; name a file'* ]]
  [ ! -e ./- ]
  run -2 --separate-stderr work --trace none/t <<< 'x = ones f32[]'
  [[ $stderr == 'gt-work: --trace: none/t: No such file or directory;'* ]]
  run -2 --separate-stderr work --trace /dev/full \
    <<< $'x = ones f32[]\nprint x'
  lines_are 'x = tensor f32[] 1'
  [ "$stderr" = 'gt-work: --trace: /dev/full: No space left on device' ]
}

@test "large products are those of the plain loops" {
  # The values are small integers, so every order of a sum is exact.
  {
    for shape in a=192,512 b=192,256 c=130,192 d=130,512 e=256,512; do
      sizes=${shape#*=} name=${shape%%=*}
      echo "$name = arange i64[$((${sizes/,/*}))]"
      echo "$name = mul $name 5"
      echo "$name = mod $name 7"
      echo "$name = cast $name f32"
      echo "$name = reshape $name shape=$sizes"
    done
    echo 'bias = arange f32[256]'
    echo 'y = matmul a b ta=1'
    echo 'z = matmul c b'
    echo 'u = linear c b bias'
    echo 'v = matmul d e tb=1'
    for name in y z u v; do echo "print $name"; done
  } >p
  gt-work --backend ref p >expected
  for threads in 1 2; do
    gt-work --isa avx2 --threads "$threads" p | cmp - expected
    gt-work --threads "$threads" p | cmp - expected
  done
}

@test "a trace has no rows of what --fail-fast skipped" {
  skip_on_gpus 'lines run ahead of what is wrong with data'
  printf '%s\n' 'x = tensor i64[] 1' 'y = floordiv x 0' 'z = add x 1' 'print z' >p.gt
  run -1 gt-work --fail-fast --trace t.trace p.gt
  [ "$(cut -f 6 t.trace | paste -sd ' ')" = 'op tensor floordiv' ]
}

@test "the system shows its name as gt-work, although it starts itself again" {
  mkfifo in out
  spawn bash -c 'exec gt-work --threads 2 in >out'
  exec 8<>in 9<>out
  printf 'x = ones f32[1]\nprint x\n' >&8
  read -r line <&9 # by now gt-work has started itself again
  [ "$line" = 'x = tensor f32[1] 1' ]
  [ "$(cat "/proc/$!/comm")" = gt-work ]
  exec 8>&- 9>&-
}

@test "a free of what is no name is refused, with ranks and without" {
  printf '%s\n' 'mesh d=2' 'x@0 = zeros f32[2]' 'free x@0 0' 'y = ones f32[1]' \
    'free y 2' 'print x@0' 'print y' >p.gt
  run -3 --separate-stderr gt-work p.gt
  [ "$output" = $'x@0 = tensor f32[2] 0 0\ny = tensor f32[1] 1' ]
  [[ $stderr == *"p.gt:3: free: expected a tensor's name, got number 0"* ]]
  [[ $stderr == *"p.gt:5: free: expected a tensor's name, got number 2"* ]]
}

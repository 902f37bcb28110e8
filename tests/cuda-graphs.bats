#!/usr/bin/env bats
# The backend cuda records blocks of lines that come again as graphs of CUDA. These
# tests check the graphs' results, the launches that they save, and faults,
# addresses and memory; the fake device (tests/cuda/fake) plays the GPU, so nothing
# here is about a real one.
# shellcheck disable=SC2154,SC2034 # run sets stderr and output; spawned is the helper's

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
  ln -s "$GT_SHARE" share
  export GT_FAKE_LAUNCHES=launches
}

# counted WORD prints that count of the last run's calls from `launches`.
counted() {
  awk -v word="$1" '{ for (i = 1; i < NF; i += 2) n[$i] = $(i + 1) }
    END { print n[word] }' launches
}

# same_bits FILE [OPTION...] checks that a program has the same results and messages
# with graphs, of which there must be some, and without.
same_bits() {
  local status=0 plain=0
  GT_FAKE_REPORT=report gt-work --backend cuda "${@:2}" "$1" >with 2>said || status=$?
  [ "$(counted graphs)" -gt 0 ]
  grep "$all_given_back" report
  gt-work --backend cuda --no-graphs "${@:2}" "$1" >without 2>said.plain || plain=$?
  [ "$(counted graphs)" -eq 0 ]
  rm report
  cmp with without
  cmp said said.plain
  ((status == plain))
}

# make_steps STEPS LINES prints training steps of about a hundred lines each, and
# LINES behind each of them.
make_steps() {
  {
    printf 'x = randn f32[8,16] 1\nt = randn f32[8,4] 2\n'
    for k in {0..7}; do printf 'w%d = randn f32[16,16] %d scale=0.2\n' "$k" "$k"; done
    printf 'v = randn f32[16,4] 9\n'
    for ((i = 0; i < $1; ++i)); do
      echo 'h0 = matmul x w0'
      for k in {1..7}; do
        printf 'a%d = tanh h%d\nh%d = matmul a%d w%d\n' "$k" $((k - 1)) "$k" "$k" "$k"
      done
      printf 'o = matmul h7 v\nl = mse o t\n'
      printf 'g0'
      printf ' g%d' {1..7}
      printf ' gv = grad l w0'
      printf ' w%d' {1..7}
      printf ' v\n'
      for k in {0..7}; do printf 'w%d = sgd w%d g%d 0.05\n' "$k" "$k" "$k"; done
      printf 'v = sgd v gv 0.05\n%s' "${2:-}"
    done
    printf 'print l\nprint w3\nprint v\n'
  } | gt-emit --no-at
}

# ---- what they compute -------------------------------------------------------

@test "fake device: the examples have the same bits with graphs and without" {
  {
    cat "$GT_EXAMPLES/digits-init.gt"
    for _ in {1..8}; do cat "$GT_EXAMPLES"/digits{,}.gt <(echo 'print loss'); done
    cat "$GT_EXAMPLES/digits-test.gt"
  } | gt-emit --no-at >digits.s
  {
    cat "$GT_EXAMPLES/lenet-init.gt"
    for _ in {1..5}; do cat "$GT_EXAMPLES/lenet.gt" <(echo 'print loss'); done
  } | gt-emit --no-at >lenet.s
  gt-emit --no-at "$GT_EXAMPLES/linear-init.gt" --repeat 40 \
    "$GT_EXAMPLES/linear.gt" -e 'print w' -e 'print b' >linear.s
  local program share shares
  local programs=(digits lenet linear)
  read -r share shares < <(share_of 3)
  for program in "${programs[@]:share:3 / shares}"; do
    same_bits "$program.s"
    gt-work "$program.s" | gt-cmp --rtol 1e-4 - with
  done
}

@test "fake device: a transformer has the same bits with graphs and without" {
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2000,), }"
    head -c 2000 "$GT_SHARE/novel/pride-and-prejudice.txt"
  } >text.npy
  "$GT_EXAMPLES/transformer" text=text.npy layers=1 width=16 heads=2 context=8 \
    batch=4 length=2000 held=100 steps=8 warmup=1 rounds=1 sample=1 |
    gt-emit --no-at >p.s
  same_bits p.s
}

@test "fake device: whatever order its streams take, graphs have the same bits" {
  make_steps 8 $'print l\n' >p.s
  same_bits p.s
  local seed
  for seed in {1..8}; do
    GT_FAKE_SEED=$seed gt-work --backend cuda p.s | cmp - with
  done
}

# ---- how many launches -------------------------------------------------------

@test "fake device: a step that comes again costs one launch" {
  local behind
  for behind in '' $'print l\n'; do
    make_steps 10 "$behind" >ten.s
    make_steps 20 "$behind" >twenty.s
    gt-work --backend cuda ten.s >out
    local ten
    ten=$(counted launches)
    gt-work -v --backend cuda twenty.s >out 2>said
    [ $(($(counted launches) - ten)) -eq 10 ]
    [ "$(counted made)" -eq 1 ]
    grep ' 1 graphs recorded, 1[5-8] launched' said
    gt-work --backend cuda --no-graphs twenty.s | cmp - out
    [ "$(counted launches)" -gt $((5 * ten)) ]
  done
}

@test "fake device: with --no-graphs, --sync or a trace there are no graphs" {
  make_steps 6 >p.s
  gt-work --backend cuda p.s >out
  [ "$(counted graphs)" -gt 0 ]
  local how
  for how in --no-graphs --sync '--trace t'; do
    # shellcheck disable=SC2086 # an option and its value
    gt-work --backend cuda $how p.s | cmp - out
    [ "$(counted graphs)" -eq 0 ]
  done
}

@test "fake device: a line that cannot be recorded splits a step" {
  {
    echo 'x = ones f32[4]'
    for i in {0..7}; do
      for k in {1..36}; do echo "x = add x $k"; done
      echo 'c = tensor f32[4] 1 2 3 4'
      echo "d = load \"rows.npy\" f32[1,4] $i"
      for k in {1..36}; do echo "y$k = mul x $k"; done
      echo "x = mul x 0.$((i + 1))"
      for k in {1..36}; do echo "z$k = add c y$k"; done
      echo 'x = sub x z3'
      echo 'x = add x d'
    done
    echo 'print x'
    echo 'save z9 "z.npy"'
  } >p.s
  printf 'r = arange f32[32]\nr = reshape r shape=8,4\nsave r "rows.npy"\n' | gt-work
  same_bits p.s
  gt-work p.s | gt-cmp --rtol 1e-6 - with
  gt-work --backend cuda p.s >out
  # A round has three blocks, and after three rounds they are recorded. The launches
  # of other lines depend on when the kernels of chains are loaded, so they are not
  # counted.
  [ "$(counted made)" -eq 3 ]
  [ "$(counted graphs)" -eq 15 ]
}

@test "fake device: a line that a step has twice, with other types, is part of the graph" {
  {
    printf 'x = randn f32[8,4] 1\nw = randn f32[4,4] 2 scale=0.5\n'
    for i in {1..20}; do
      echo 'h = matmul x w'
      for k in {1..8}; do printf 'h = tanh h\nh = matmul h w\n'; done
      echo 'h = reshape h shape=4,8'
      for k in {1..8}; do printf 'h = tanh h\nh = cumsum h axis=0\n'; done
      echo 'h = reshape h shape=8,4'
      echo 'x = softmax h axis=1'
    done
    echo 'print x'
  } >p.s
  same_bits p.s
  gt-work -v --backend cuda p.s >out 2>said
  grep ' [12] graphs recorded, 1[5-9] launched' said
  # Each line is decoded for each of its types, once when new and once when it comes
  # again.
  grep 'gt-work: 723 lines, 1[0-9] decoded, ' said
}

@test "fake device: two steps that take turns both become graphs" {
  local parts='x = randn f32[6,6] 1
y = ones f32[6,6]'
  {
    echo "$parts"
    for i in {1..24}; do
      for k in {1..20}; do echo "a$k = add x $k"; done
      if ((i % 2)); then
        for k in {1..20}; do echo "b$k = mul a$k y"; done
        echo 'x = tanh b7'
      else
        for k in {1..20}; do echo "c$k = sub a$k y"; done
        echo 'x = sin c9'
      fi
    done
    echo 'print x'
  } >p.s
  same_bits p.s
  gt-work --backend cuda p.s >out
  # The program has 984 lines.
  [ "$(counted launches)" -lt 400 ]
}

# ---- addresses and memory ----------------------------------------------------

@test "fake device: a value that is freed and made again gets its former address" {
  {
    printf 'x = randn f32[40,40] 1\nw = randn f32[40,40] 2 scale=0.1\n'
    for i in {1..20}; do
      for k in {1..10}; do echo "t$k = tanh x"; done
      for k in {1..10}; do echo "v$k = mul t$(((k * 7) % 10 + 1)) 0.5"; done
      echo 'free t3 t1 t9 v2 t2'
      # The result cannot take the place of its operand, so it has two addresses in
      # turn.
      echo 'x = matmul x w'
      echo 'free t4 v5 t5 t6 t7 t8 t10'
      echo 'x = add x v7'
      echo 'free v1 v3 v4 v6 v7 v8 v9 v10'
    done
    echo 'print x'
  } >p.s
  same_bits p.s
  gt-work --backend cuda p.s >out
  [ "$(counted launches)" -lt 150 ]
  [ "$(counted made)" -le 4 ]
}

@test "fake device: a graph whose addresses change is updated" {
  {
    echo 'x = ones f32[8]'
    for turn in {1..12}; do
      for i in {1..6}; do
        for k in {1..20}; do echo "a$k = add x $k"; done
        echo 'x = mul a3 0.5'
      done
      # The alias keeps the memory of its value, so the next value gets another
      # address.
      for k in {1..20}; do echo "kept$turn$k = copy a$k"; done
    done
    echo 'print x'
    for k in {1..20}; do echo "print kept2$k"; done
  } >p.s
  same_bits p.s
  gt-work --backend cuda p.s >out
  [ "$(counted updated)" -gt 0 ]
  # The program has 1,500 lines.
  [ "$(counted launches)" -lt 500 ]
}

@test "fake device: graphs take no memory, and --memory holds" {
  make_steps 10 >ten.s
  make_steps 40 >forty.s
  peak() {
    gt-work -v --backend cuda "$@" 2>&1 >out | grep -o '[0-9]* bytes at most'
  }
  local most
  most=$(peak ten.s)
  [ "$(peak ten.s)" = "$most" ]
  [ "$(peak forty.s)" = "$most" ]
  most=${most%% *}
  gt-work --backend cuda --memory "$most" forty.s | cmp - out
  run -1 gt-work --backend cuda --memory $((most - 1)) forty.s
  [[ $output == *': out of memory: '* ]]
  # The blocks of memory on the device do not become more from step to step.
  GT_FAKE_MEMORY=$((1 << 26)) gt-work --backend cuda forty.s | cmp - out
}

@test "fake device: where memory ends, there are no graphs or a line fails, as without graphs" {
  # Sorts and sums of long rows need scratch memory, and a graph has its own.
  {
    echo 'x = randn f32[9000] 1'
    for i in {1..6}; do
      for k in {1..18}; do printf 's%d = argsort x\ny%d = cumsum x axis=0\n' "$k" "$k"; done
    done
    printf 'print s4\nprint y3\n'
  } >p.s
  gt-work --backend cuda p.s >wanted
  local memory status step share shares
  read -r share shares < <(share_of 12)
  step=$((150000 * shares))
  # 4,050,000 bytes are enough in any share.
  for ((memory = 300000 + 150000 * share; memory < 4050000 + step; memory += step)); do
    ((memory < 4050000)) || memory=4050000
    status=0
    GT_FAKE_MEMORY=$memory GT_FAKE_REPORT=report \
      gt-work --backend cuda p.s >out 2>said || status=$?
    echo "$memory bytes: status $status"
    if ((status == 0)); then
      cmp out wanted
    else
      ((status == 1))
      [[ $(head -n 1 said) == *'memory'* ]]
    fi
  done
  ((status == 0))
  [ "$(counted graphs)" -gt 0 ]
  run -1 grep -v "$all_given_back" report
}

# ---- what fails --------------------------------------------------------------

# Writes rounds whose index grows until it is beyond the end of the table.
make_late_fault() {
  {
    printf 'w = randn f32[9,3] 1\ni = tensor i64[2] 0 1\nacc = zeros f32[2,3]\n'
    for r in {1..14}; do
      for k in {1..30}; do echo "p$k = add acc $k"; done
      printf 'e = embedding w i\nq = mul e p4\nacc = add acc 1\n'
      printf 'm = sum q\nf = floordiv i 7\ni = add i 1\n'
      if ((r % 5 == 0)); then printf 'print m\nprint acc\nprint p2\n'; fi
    done
    printf 'print e\nprint q\nprint acc\nprint f\n'
  } >fault.s
}

@test "fake device: wrong data that a graph meets is reported as on the host" {
  make_late_fault
  local how seed
  for how in '' --fail-fast; do
    run -1 --separate-stderr gt-work $how fault.s
    local wanted=$output said=$stderr
    for seed in {1..6}; do
      GT_FAKE_SEED=$seed run -1 --separate-stderr gt-work $how --backend cuda fault.s
      [ "$output" = "$wanted" ]
      [ "$stderr" = "$said" ]
      [ "$(counted graphs)" -gt 3 ]
    done
  done
  [[ $said == *'embedding: '* ]]
}

@test "fake device: lines that are rejected within a graph are reported in their places" {
  {
    printf 'z = zeros i64[2]\nx = ones f32[8]\n'
    for round in {1..6}; do
      for k in {1..40}; do echo "x = add x $k"; done
      if ((round == 5)); then echo 'v = tanh nosuch'; fi
      for k in {1..40}; do echo "x = sub x $k"; done
    done
    for k in {1..10}; do echo "x = add x $k"; done
    echo 'w = sum nosuch'
    for k in {11..20}; do echo "x = add x $k"; done
    # The division fails after the block that has begun and is no part of it.
    printf 'y = floordiv 5 z\nprint w\nprint y\nprint x\n'
  } >late.s
  grep -v 'tanh' late.s >once.s
  # In within.s a line of the block itself fails, behind the rejected one.
  sed '/tanh/a z = sub z 1' late.s >within.s
  sed -i 's/^x = sub x 33$/q = floordiv 5 z\n&/; s/^z = zeros/z = ones/' within.s
  local p how status
  for p in late once within; do
    for how in '' --fail-fast; do
      status=0
      # shellcheck disable=SC2086 # an option, or none
      gt-work $how $p.s >wanted 2>told || status=$?
      # shellcheck disable=SC2086
      run -"$status" --separate-stderr gt-work --backend cuda $how $p.s
      [ "$output" = "$(<wanted)" ]
      [ "$stderr" = "$(<told)" ]
      [ "$(counted graphs)" -gt 0 ]
    done
  done
}

@test "fake device: a failing line of a graph is reported although no line follows" {
  mkfifo in
  gt-work --backend cuda <in 2>said &
  spawned+=($!)
  exec 9>in
  {
    printf 'a = tensor i64[2] 8 9\nb = tensor i64[2] 4 4\n'
    for _ in {1..4}; do
      for k in {1..9}; do echo "x$k = add a $k"; done
      printf 'c = floordiv a b\nb = sub b 1\nd = mul c 2\n'
    done
    # The block begins again, and its rest does not come.
    for k in {1..9}; do echo "x$k = add a $k"; done
    echo 'c = floordiv a b'
  } >&9
  await 'integer division by zero' said
  grep 'p.s\|<stdin>\|-:' said
  exec 9>&-
  wait "${spawned[0]}" || [ $? -eq 1 ]
}

@test "fake device: a GPU that fails for good in a graph names a line of it" {
  skip_leaks 'a worker that lost its GPU gives nothing back'
  make_steps 14 >p.s
  local k status
  for k in {150..275..25}; do
    status=0
    GT_FAKE_LOSE=$k GT_FAKE_SEED=$k within 60 gt-work --backend cuda p.s \
      >out 2>said || status=$?
    echo "kernel $k: status $status: $(head -n 1 said)"
    ((status == 4))
    [ "$(counted graphs)" -gt 0 ]
    local line op
    line=$(sed -n '1s/^gt-work: p.s:\([0-9]*\): .*/\1/p' said)
    op=$(sed -n '1s/^gt-work: p.s:[0-9]*: \([a-z_]*\): the GPU failed: .*/\1/p' said)
    ((line > 200))
    sed -n "${line}p" p.s | grep -q " = $op "
    run -1 grep -v ' = fail ' out
  done
}

@test "fake device: a call that fails while a graph is made is reported or made good" {
  skip_if_sanitized 'some hundred runs'
  {
    printf 'x = randn f32[4,4] 1\ni = tensor i64[2] 0 1\n'
    for _ in {1..5}; do
      for k in {1..6}; do echo "a$k = add x $k"; done
      printf 'e = embedding x i\nm = matmul x a3\ns = argsort m\nx = tanh m\n'
    done
    printf 'print x\nprint s\nprint e\n'
  } >p.s
  count_calls gt-work --backend cuda p.s
  most_kept=5 calls_fail $((calls / 2)) 6 gt-work --backend cuda p.s
}

# ---- with others -------------------------------------------------------------

@test "fake device: workers that exchange values have graphs between exchanges" {
  {
    printf 'mesh d=2\nx@0-1 = randn f32[8,8] 1 split=d:0\nw@0-1 = randn f32[8,8] 2 scale=0.1\n'
    for _ in {1..12}; do
      for k in {1..36}; do echo "a$k@0-1 = add x@0-1 $k"; done
      printf 'y@0-1 = matmul x@0-1 w@0-1\ns@0-1 = sum y@0-1 axis=0\n'
      printf 's@0-1 = all_reduce s@0-1 over=d\n'
      for k in {1..36}; do echo "b$k@0-1 = mul s@0-1 0.$k"; done
      printf 'x@0-1 = add y@0-1 b3@0-1\n'
    done
    printf 'print x@0-1 split=d:0\nprint s@1\n'
  } >p.s
  gt-work p.s >wanted
  gt-route -n 2 --backend cuda p.s | gt-cmp --rtol 1e-5 - wanted
  [ "$(awk '{ n += $4 } END { print n }' launches)" -gt 10 ]
  rm launches
  gt-work --backend cuda p.s | gt-cmp --rtol 1e-5 - wanted
  [ "$(counted graphs)" -gt 5 ]
}

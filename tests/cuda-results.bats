#!/usr/bin/env bats
# When the backend cuda writes prints, and what times a trace has; the fake device
# (tests/cuda/fake) plays the GPU.
# shellcheck disable=SC2154 # run sets output and stderr

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
}

# ---- prints ------------------------------------------------------------------

# prints ROUNDS prints a program that prints twice in a round. A printed value is
# overwritten before the GPU has made it. One line may meet wrong data, and in the
# last round it does.
prints() {
  printf 'x = randn f32[8,8] 1\nk = ones i64[8]\n'
  local i
  for ((i = $1; i > 0; i--)); do
    printf '%s\n' 'y = matmul x x' 'x = tanh y' 's = sum x' 'print s' \
      "j = floordiv k $((i - 1))" 's = add s 1' 'print s'
  done
  printf 'print j\nprint x\n'
}

@test "fake device: a print of a small value does not wait for the GPU" {
  local rounds seed
  for rounds in 30 300; do
    prints $rounds >p.s
    run -1 --separate-stderr gt-work --backend cuda --sync p.s
    local wanted=$output said=$stderr
    for seed in 1 2 3; do
      rm -f waits report
      GT_FAKE_SEED=$seed GT_FAKE_WAITS=waits GT_FAKE_REPORT=report \
        run -1 --separate-stderr gt-work --backend cuda p.s
      [ "$output" = "$wanted" ]
      [ "$stderr" = "$said" ]
      grep "$all_given_back" report
      # At most 64 prints are under way at once, so many rounds must wait.
      ((rounds > 32 || $(<waits) < 10))
    done
  done
}

@test "fake device: a print is written before later lines have been computed" {
  skip_if_sanitized 'so many addresses are not to be had'
  {
    echo 'a = randn bf16[1024,1024] 1'
    for _ in 1 2 3 4 5 6; do printf 'b = matmul a a\nb = sum b\nprint b\n'; done
  } >p.s
  # A product takes half a second at this speed, and all are launched at once.
  GT_FAKE_SPEED=1000:4 gt-work --backend cuda p.s >out &
  local pid=$!
  for _ in {1..400}; do
    [[ -s out ]] && break
    sleep 0.02
  done
  (($(wc -l <out) < 6))
  wait $pid
  [ "$(wc -l <out)" -eq 6 ]
}

@test "fake device: a print comes at once when a reader waits for it" {
  coproc gt-work --backend cuda
  local i line
  echo 'x = ones f32[2]' >&"${COPROC[1]}"
  for i in 1 2 3; do
    printf 'x = add x 1\nprint x\n' >&"${COPROC[1]}"
    read -r -t 20 line <&"${COPROC[0]}"
    [ "$line" = "x = tensor f32[2] $((i + 1)) $((i + 1))" ]
  done
  local to=${COPROC[1]} pid=$COPROC_PID
  exec {to}>&-
  wait "$pid"
}

# ---- times -------------------------------------------------------------------

# gpu_rows TRACE QUEUE prints how many rows the queue of a GPU ("gpu" or "0/gpu")
# has, and fails if one ends before it begins or begins before the one before it has
# ended.
gpu_rows() {
  awk -F '\t' -v queue="$2" '$3 == queue {
    if ($1 > $2 || $1 < end) exit 1
    end = $2
    ++n
  } END { print n + 0 }' "$1"
}

@test "fake device: a trace has the time that a line took on the GPU" {
  cat >p.s <<'END'
a = ones f32[8,8]
b = matmul a a
c = add b 1
print c
d = add c 2
print d
END
  GT_FAKE_PACE=3000 GT_FAKE_REPORT=report gt-work --backend cuda --trace t p.s >out
  gt-work p.s | cmp - out
  grep "$all_given_back" report
  [ "$(gpu_rows t gpu)" -eq 4 ]
  [ "$(awk -F '\t' '$3 == "compute" { print $6 }' t | xargs)" = 'print print' ]
  # A kernel takes three milliseconds at this pace, and its launch none. A print
  # comes after its value is made, and d after c is printed; the clocks of the host
  # and of the GPU may differ by a millisecond.
  awk -F '\t' '$6 == "add" || $6 == "ones" {
      if ($2 - $1 < 3000000 || $3 != "gpu") exit 1
      end[$5] = $2
    }
    $5 == "p.s:4" { printed = $2; began = $1 }
    $5 == "p.s:5" { late = $1 }
    END { exit began < end["p.s:3"] - 1e6 || late < printed - 1e6 }' t
  run -0 gt-log --summary --peak 1e9 t
  [[ ${lines[0]} == *'flops/s  of peak' ]]
  [[ $output == *$'\ngpu  lines '*idle$'\n-        4  '*' %' ]]
  # The GPU was idle while c was printed.
  run -0 gt-log --summary --tsv t
  awk -F '\t' '$1 == "gpu-idle" { n = $7 }
    $1 == "op" && $2 == "print" { p = $7 }
    END { exit !(n > p / 2 && p > 0) }' <<<"$output"
}

# By these streams one learns without a GPU how long a run would take on one.
@test "fake device: with GT_FAKE_SPEED kernels take the time that their bytes and flops need" {
  skip_if_sanitized 'so many addresses are not to be had'
  cat >p.s <<'EOF'
x = randn f32[1048576] 1
y = add x x
a = randn bf16[1024,512] 2
c = matmul a a tb=1
s = sum y
print s
EOF
  GT_FAKE_SPEED=0.1:10 gt-work --backend cuda --trace t p.s >out
  # took OP NS: the op's line took that time or longer, since the host may be late.
  took() {
    awk -F '\t' -v op="$1" -v ns="$2" '$3 == "gpu" && $6 == op {
      found = 1
      if ($2 - $1 < ns * 0.999 || $2 - $1 > ns * 3) { print; wrong = 1 }
    } END { exit wrong || !found }' t
  }
  # The add moves 8 MiB at 0.1 bytes a nanosecond; the product has 2^30 flops at 10.
  took add 83886080
  took matmul 107374182
  [ "$(wc -l <out)" -eq 1 ]
  # A lost GPU stays lost, although no kernel has said which line it was at.
  GT_FAKE_SPEED=0.1:10 GT_FAKE_LOSE=2 run -4 --separate-stderr \
    gt-work --backend cuda p.s
  [ "$stderr" = 'gt-work: the GPU failed: an illegal memory access was encountered; all values are lost, and the worker ends; with --sync the line is told' ]
  GT_FAKE_SPEED=nan:1 run ! gt-work --backend cuda p.s
}

@test "fake device: a trace changes neither results nor messages" {
  skip_leaks 'a worker that lost its GPU gives nothing back'
  make_faults
  run -3 --separate-stderr gt-work faults.s
  local seed wanted=$output said=$stderr
  for seed in 1 2 3; do
    GT_FAKE_SEED=$seed run -3 --separate-stderr \
      gt-work --backend cuda --trace t faults.s
    [ "$output" = "$wanted" ]
    [ "$stderr" = "$said" ]
    [ "$(gpu_rows t gpu)" -gt 200 ]
  done
  GT_FAKE_LOSE=20 run -4 gt-work --backend cuda --trace t faults.s
  gpu_rows t gpu
}

@test "fake device: a trace is whole although from some point on all calls of the GPU fail" {
  skip_leaks 'what was not given back cannot be'
  {
    printf 'x = randn f32[100] 1\n'
    for _ in {1..40}; do
      printf '%s\n' 'y = add x 1' 'y = mul y 2' 's = sum y' 'x = tanh y' 'print s'
    done
  } >p.s
  gt-work --backend cuda p.s >wanted
  local k status
  for k in {40..700..12}; do
    status=0
    GT_FAKE_FAIL=$k+ GT_FAKE_SEED=$k within 60 gt-work --backend cuda --trace t p.s \
      >out 2>said || status=$?
    echo "call $k: status $status: $(head -n 1 said)"
    ((status == 0 || status == 1 || status == 2 || status == 4))
    # Every result that did not fail is right and in its place.
    paste -d '\n' wanted out | awk 'NR % 2 { wanted = $0; next }
      $0 != wanted && !/ = fail / && $0 != "" { exit 1 }'
  done
}

@test "fake device: a trace of any length begins with the names of its columns" {
  {
    printf 'x = ones f32[4]\n'
    for _ in {1..15000}; do echo 'x = mul x 1'; done
  } | gt-emit --no-at >p.s
  gt-work --backend cuda --trace t p.s
  [ "$(head -n 1 t)" = "$(gt-work --trace u p.s; head -n 1 u)" ]
  [ "$(wc -l <t)" -eq 15002 ]
}

@test "fake device: the trace of a run has the times of each GPU" {
  cat >p.s <<'END'
mesh d=2
x@0-1 = ones f32[8]
y@0-1 = mul x@0-1 2
z@0-1 = all_reduce y@0-1 over=d
print z@0
END
  gt-route -n 2 --backend cuda --trace t p.s
  [ "$(gpu_rows t 0/gpu)" -eq 2 ]
  [ "$(gpu_rows t 1/gpu)" -eq 2 ]
  run -0 gt-log --summary t
  [[ $output == *$'\ngpu  lines '*$'\n0        2  '*$'\n1        2  '* ]]
}

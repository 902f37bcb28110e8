#!/usr/bin/env bats
# Loads and saves of the backend cuda do not keep the GPU waiting; the fake device
# (tests/cuda/fake) plays it.
# shellcheck disable=SC2154 # run sets output and stderr

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
}

# ---- loads -------------------------------------------------------------------

# rows ROUNDS prints a program that loads rows in each round; registers that count
# up say at which row.
rows() {
  cat <<'END'
x = randn f32[200,5] 4
save x "x.npy"
at = tensor i64[] 0
k = tensor i32[] 3
END
  local i
  for ((i = 0; i < $1; i++)); do
    cat <<'END'
y = load "x.npy" f32[10,5] at
s = max y
at = add at 30
at = mod at 190
k = mul k 7
k = mod k 101
b = gt k 50
n = where b at k
z = load "x.npy" f32[1,5] n
s = add s z
END
  done
  echo 'print s'
}

@test "fake device: loads at rows that the host can count do not wait for the GPU" {
  local seed
  rows 40 >p.s
  gt-work p.s >wanted
  for seed in 1 2 3; do
    rm -f waits report
    GT_FAKE_SEED=$seed GT_FAKE_WAITS=waits GT_FAKE_REPORT=report \
      gt-work --backend cuda p.s >out
    cmp out wanted
    grep "$all_given_back" report
    (($(<waits) < 10))
  done
  # Here the row comes out of a value that only the GPU knows, so the host waits for
  # it.
  sed 's/^n = .*/n = cast y i64\nn = max n\nn = mul n 0/' p.s >q.s
  gt-work q.s >wanted
  rm -f waits
  GT_FAKE_WAITS=waits gt-work --backend cuda q.s >out
  cmp out wanted
  (($(<waits) >= 30))
}

@test "fake device: a load takes the row that its line saw, whatever the register becomes" {
  cat >p.s <<'END'
x = randn f32[20,3] 4
save x "x.npy"
at = tensor i64[] 2
keep = copy at
y = load "x.npy" f32[1,3] at
print y
at = add at 1
z = load "x.npy" f32[1,3] at
print z
z = load "x.npy" f32[1,3] keep
print z
at = ones f32[2]
at = tensor u8[] 5
y = load "x.npy" f32[1,3] at
print y
at = mul at 100
y = load "x.npy" f32[1,3] at
print y
far = add keep 100
y = load "x.npy" f32[1,3] far
print y
y = load "x.npy" f32[1,3] keep
print y
wrong = floordiv keep 0
y = load "x.npy" f32[1,3] wrong
print y
t = tensor bool[] true
w = where t keep 7
y = load "x.npy" f32[1,3] w
print y
END
  local options seed
  for options in '' --no-graphs --sync; do
    # shellcheck disable=SC2086 # words
    run -1 --separate-stderr gt-work $options p.s
    local wanted=$output said=$stderr
    for seed in 1 2 3; do
      # shellcheck disable=SC2086 # words
      GT_FAKE_SEED=$seed run -1 --separate-stderr gt-work --backend cuda $options p.s
      [ "$output" = "$wanted" ]
      [ "$stderr" = "$said" ]
    done
  done
}

@test "fake device: large rows are copied while the GPU computes, and arrive whole" {
  # The rows take 40 KiB to 20 MiB; each is read while the next one is copied.
  cat >make.s <<'END'
x = arange i32[5242880]
x = reshape x shape=10240,512
save x "x.npy"
END
  gt-work make.s
  {
    echo 's = zeros i64[512]'
    for rows in 20 130 128 4000 10240 500 4000 4000 4000 4000 4000 4000 130 20; do
      printf '%s\n' "y = load \"x.npy\" i32[$rows,512] 0" 't = sum y axis=0' \
        't = cast t i64' 's = add s t'
    done
    echo 'print s'
  } >p.s
  gt-work p.s >wanted
  local seed
  for seed in 1 2 3; do
    rm -f report
    GT_FAKE_SEED=$seed GT_FAKE_REPORT=report gt-work --backend cuda p.s >out
    cmp out wanted
    grep "$all_given_back" report
  done
}

@test "fake device: a call that fails while rows are loaded is reported" {
  skip_if_sanitized 'a hundred runs'
  {
    rows 3
    echo 'y = load "x.npy" f32[20000,5] 0'
    echo 'print y'
  } | sed 's/f32\[200,5\]/f32[20000,5]/; s/f32\[10,5\]/f32[15000,5]/
    s/^at = mod .*/at = mod at 90/; s/f32\[1,5\] n/f32[15000,5] n/' >p.s
  count_calls gt-work --backend cuda p.s
  # If the context cannot be entered at the end, everything that uploads hold is
  # kept.
  most_kept=13 calls_fail 1 3 gt-work --backend cuda p.s
}

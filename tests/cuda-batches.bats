#!/usr/bin/env bats
# The backend cuda does consecutive lines of optimizers in one launch; here the fake
# device (tests/cuda/fake) plays the GPU. With --sync each line is waited for and so
# is a launch of its own: the results must have the same bits.
# shellcheck disable=SC2154 # run sets output and stderr

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
  ln -s "$GT_SHARE" share
}

# launches_of [OPTION...] FILE prints how many launches a program takes on a device
# that is always busy, so that nothing that was put off begins early.
launches_of() {
  rm -f launches
  GT_FAKE_BUSY=1 GT_FAKE_LAUNCHES=launches gt-work --backend cuda "$@" >/dev/null
  count_launches
}

# steps_cost FILE [OPTION...] prints how many launches its lines of optimizers take,
# and how many such lines there are.
steps_cost() {
  local all
  grep -v '= \(adamw\|sgd\) ' "$1" >without.s
  all=$(launches_of "${@:2}" "$1")
  echo "$((all - $(launches_of "${@:2}" without.s))) $(grep -c '= \(adamw\|sgd\) ' "$1")"
}

# make_steps STEPS prints steps over 50 parameters of two groups; the first
# parameter is empty.
make_steps() {
  {
    echo 't = tensor i64[] 0'
    for k in {1..50}; do
      printf 'w%d = randn f32[%d] %d\ng%d = randn f32[%d] %d\nm%d = mul w%d 0\nv%d = mul w%d 0\n' \
        "$k" $(((k - 1) * 47)) "$k" "$k" $(((k - 1) * 47)) "$((k + 50))" "$k" "$k" "$k" "$k"
    done
    for ((i = 0; i < $1; ++i)); do
      echo 't = add t 1'
      for k in {1..50}; do
        echo "w$k m$k v$k = adamw w$k g$k m$k v$k t 0.1 decay=$((k > 40))"
      done
    done
    printf 'print w%d\n' {1..50}
  } | gt-emit --no-at
}

@test "fake device: a step of 50 parameters takes few launches, with the same bits" {
  make_steps 10 >p.s
  gt-work --backend cuda --sync p.s >wanted
  GT_FAKE_REPORT=report gt-work --backend cuda p.s | cmp - wanted
  grep "$all_given_back" report
  # Line by line a step takes 100 launches, since each line has a check; in a batch
  # it takes 4, or a few more where the device had nothing to do.
  local cost lines
  read -r cost lines < <(steps_cost p.s)
  echo "$cost launches for $lines lines"
  ((lines == 500 && cost < 250))
  read -r cost lines < <(steps_cost p.s --sync)
  ((cost == 1000))
}

@test "fake device: steps of training in the examples take few launches" {
  {
    cat "$GT_EXAMPLES/digits-init.gt"
    for _ in {1..8}; do cat "$GT_EXAMPLES/digits.gt"; done
  } | gt-emit --no-at >digits.s
  {
    cat "$GT_EXAMPLES/lenet-init.gt"
    for _ in {1..4}; do cat "$GT_EXAMPLES/lenet.gt"; done
  } | gt-emit --no-at >lenet.s
  for part in init step; do
    awk -v part=$part -v layers=2 -v width=16 -v heads=2 -v tokens=8 -v batch=2 \
      -v vocabulary=32 -f "$GT_ROOT/tests/bench/gpt2.awk" >$part.gt
  done
  gt-emit --no-at init.gt --repeat 3 step.gt >gpt2.s
  local program cost lines
  for program in digits lenet gpt2; do
    read -r cost lines < <(steps_cost $program.s)
    echo "$program: $cost launches for $lines lines"
    ((cost < lines))
  done
}

@test "fake device: steps that write what others read have the bits of single launches" {
  local seed
  for seed in 1 2 3 4 5 6; do
    awk -v seed=$seed 'BEGIN {
      srand(seed)
      for (i = 0; i < 6; i++) {
        size = i < 4 ? 70 : 9
        print "w" i " = randn f32[" size "] " i "\ng" i " = randn f32[" size "] " i + 9
        print "m" i " = mul w" i " 0\nv" i " = mul w" i " 0"
      }
      print "t = tensor f32[] 1\nlr = tensor f32[] 0.5\nh = zeros f32[]\nk = zeros f32[]"
      for (n = 0; n < 400; n++) {
        i = int(4 * rand()); j = int(4 * rand()); l = int(4 * rand()); r = rand()
        if (r < 0.6) i = j = l
        if (rand() < 0.2) i = j = l = 4 + int(2 * rand())
        r = rand()
        by = rand() < 0.9 ? "lr" : "0.25"
        if (r < 0.5) print "w" i " m" j " v" l " = adamw w" j " g" i " m" l " v" j " t " by
        else if (r < 0.6) print "w" i " m" i " v" i " = adamw w" j " w" l " m" i " v" i " t " by
        else if (r < 0.75) print "w" i " m" j " = sgd w" l " g" i " m" i " " by " momentum=0.9"
        else if (r < 0.85) print "w" i " = sgd w" j " w" l " " by
        else if (r < 0.88) print "t = add t 1"
        else if (r < 0.9) print "lr h k = adamw lr t h k t lr"
        else if (r < 0.92) print "lr = sgd lr h lr"
        else if (r < 0.95) print "free w" i "\nw" i " = mul w" (i < 4 ? (i + 1) % 4 : 9 - i) " 0.5"
        else print "g" i " = mul w" j " 0.125"
      }
      for (i = 0; i < 6; i++) print "print w" i "\nprint m" i "\nprint v" i
      print "print lr\nprint t"
    }' >p.gt
    gt-emit --no-at p.gt >p.s
    gt-work --backend cuda --sync p.s >wanted
    for _ in 1 2; do gt-work --backend cuda p.s | cmp - wanted; done
    for k in 1 2 3; do
      GT_FAKE_SEED=$k gt-work --backend cuda p.s | cmp - wanted
    done
  done
}

@test "fake device: each line whose t is no number of a step is reported, in a batch too" {
  cat >p.s <<'END'
w = ones f32[3]
x = ones f32[300]
y = ones f32[0]
g = ones f32[3]
h = ones f32[300]
m = zeros f32[3]
n = zeros f32[300]
o = zeros f32[0]
t = ones i64[]
s = zeros i64[]
w m m2 = adamw w g m m t 0.1
x n n2 = adamw x h n n t 0.1
w1 m1 v1 = adamw w g m m2 s 0.1
x1 n1 u1 = adamw x h n n2 s 0.1
y1 o1 z1 = adamw y o o o s 0.1
w2 m2 v2 = adamw w g m m2 t 0.1
x2 n2 u2 = adamw x h n n2 t 0.1
print w
print x1
print y1
print w2
print x2
w3 m3 v3 = adamw w1 g m m2 t 0.1
print w3
END
  local backend
  for backend in ref cuda; do
    run -1 --separate-stderr gt-work --backend $backend p.s
    echo "$output" >out.$backend
    echo "$stderr" >err.$backend
  done
  [ "$(grep -c 't is the number of this step, from 1, got 0' err.ref)" -ge 3 ]
  cmp err.ref err.cuda
  cmp <(grep ' fail ' out.ref) <(grep ' fail ' out.cuda)
  gt-cmp --rtol 1e-5 <(grep -v ' fail ' out.ref) <(grep -v ' fail ' out.cuda)
}

@test "fake device: steps that come again are recorded as batches" {
  make_steps 12 >p.s
  gt-work --backend cuda --sync p.s >wanted
  GT_FAKE_LAUNCHES=launches gt-work --backend cuda p.s | cmp - wanted
  grep -q 'graphs [1-9]' launches
}

@test "fake device: each line of a batch has its row in a trace, which leaves it one" {
  make_steps 10 >p.s
  gt-work --backend cuda --trace t p.s >out
  gt-work --backend cuda --sync p.s | cmp - out
  [ "$(awk -F '\t' '$3 == "gpu" && $6 == "adamw"' t | wc -l)" -eq 500 ]
  local cost lines
  read -r cost lines < <(steps_cost p.s --trace t)
  ((lines == 500 && cost < 250))
}

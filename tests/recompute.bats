#!/usr/bin/env bats
# #recompute: values that the backward computes again are not kept.
# shellcheck disable=SC2154 # run sets stderr and output

load helper

# Prints a layer with two inner values that only the backward reads.
layer() {
  printf '%s\n' 'x = ones f32[2,2]' 'w = ones f32[2,2]' \
    "h = matmul x w$1" "h = tanh h$1" "h = sin h$1" 'l = sum h' 'g = grad l w'
}

@test "a freed value is computed again in front of its first reader" {
  layer ' #recompute' | gt-emit --no-at >stream
  [ "$(grep -v '^#' stream)" = 'x = ones f32[2,2]
w = ones f32[2,2]
h = matmul x w #recompute
h = tanh h #recompute
h = sin h #recompute
l = sum h
_e2 = ones f32[] #bwd
_e3 = expand _e2 shape=2,2 #bwd
free _e2
_e0 = matmul x w #bwd #recompute
_e1 = tanh _e0 #bwd #recompute
_e2 = cos _e1 #bwd
free _e1
_e1 = mul _e3 _e2 #bwd
free _e3 _e2
_e2 = tanh_grad _e1 _e0 #bwd
free _e1 _e0
g = matmul x _e2 ta=1 #bwd #grad=w
free _e2' ] || { cat stream; false; }
}

@test "without the note a value is kept by an alias" {
  layer '' | gt-emit --no-at >stream
  [ "$(grep -c 'copy h' stream)" = 2 ]
  run ! grep -q recompute stream
}

# deep NOTE prints 16 layers, each of which keeps three values; the N in NOTE is its
# number.
deep() {
  echo 'h = randn f32[64,256] 1'
  echo 'w = randn f32[256,256] 2'
  echo 'w = mul w 0.05'
  for i in {1..16}; do
    note=${1//N/$i}
    printf '%s\n' "a = matmul h w$note" "b = gelu a$note" "c = mul b b$note" \
      "d = sin c$note" "h = add h d$note"
  done
  printf '%s\n' 'l = mean h' 'free a b c d h' 'g = grad l w' 's = sum g' 'print s'
}

# peak prints the most bytes that gt-work held for the stream on standard input.
peak() {
  gt-work -v 2>&1 >results | sed -n 's/.* \([0-9]*\) bytes at most.*/\1/p'
}

@test "the backward of regions needs a fraction of the memory" {
  deep '' | gt-emit | peak >all
  cp results expected
  deep ' #recompute=N' | gt-emit | peak >regions
  cmp results expected
  (($(cat regions) * 2 < $(cat all))) || { cat regions all; false; }
}

@test "values that a region reads of others are kept; a single region keeps only its beginning" {
  deep ' #recompute=N' | gt-emit --no-at >regions
  deep ' #recompute' | gt-emit --no-at >one
  [ "$(grep -c ' = copy ' regions)" = 16 ]
  [ "$(grep -c ' = copy ' one)" = 1 ]
}

@test "a line without the note begins a region; free and print do not" {
  local lines=('x = ones f32[2]' 'w = ones f32[2]' 'a = mul x w #recompute'
    'b = sin a #recompute' 'print a' 'free a' 'c = sin b #recompute' 'free b'
    'l = sum c' 'free c' 'g = grad l w' 'print g')
  printf '%s\n' "${lines[@]}" | gt-emit --no-at >one
  [ "$(grep -c ' = copy ' one)" = 0 ]
  lines[4]='z = add x 1'
  printf '%s\n' "${lines[@]}" | gt-emit --no-at >two
  [ "$(grep -c '= copy b' two)" = 1 ]
}

@test "weights that are updated are not kept for values whose grad was taken" {
  printf '%s\n' 'w = ones f32[2]' 'x = ones f32[2]' >head.gt
  printf '%s\n' 'h = mul x w #recompute' 'h2 = exp h #recompute' 'l = sum h2' \
    'g = grad l w' 'w = sgd w g 0.1' >round
  run -0 --separate-stderr gt-emit --no-at head.gt --repeat 3 round
  run ! grep -q copy <<<"$output"
}

@test "a history that is kept, and a gradient of a gradient" {
  local note
  for note in '' ' #recompute'; do
    printf '%s\n' 'w = tensor f64[2] 0.5 2' "a = sin w$note" "a = exp a$note" \
      "a = mul a a$note" 'l = sum a' 'free a' 'g = grad l w retain=1' \
      'q = sum g' 'h = grad q w retain=1' 'k = grad l w' 'print g' 'print h' \
      'print k' | gt-emit | gt-work >"results${note/ #/.}"
  done
  [ "$(wc -l <results)" = 3 ]
  cmp results results.recompute
}

@test "a line with several results is computed again whole; a load is kept" {
  printf '%s\n' 'x = ones f32[4]' 'save x "x.npy"' 'w = ones f32[4]' \
    'y = load "x.npy" f32[4] #recompute' 'z = mul y w #recompute' \
    'a b = split z axis=0 #recompute' 'c = mul a b #recompute' 'l = sum c' \
    'free y z a b c' 'g = grad l w' 'print g' | gt-emit --no-at >stream
  [ "$(grep -c '= copy' stream)" = 1 ]
  grep -q '^_e[0-9]* = copy y$' stream
  grep -q '^_e[0-9]* _e[0-9]* = split _e[0-9]* axis=0 #bwd #recompute$' stream
  run -0 gt-work stream
  lines_are 'g = tensor f32[4] 1 1 1 1'
}

@test "a transformer whose layers are computed again has the same bits in half the memory" {
  /usr/bin/python3 -c "
import numpy
numpy.save('text.npy', numpy.random.default_rng(0).integers(0, 128, 5000).astype('u1'))"
  for again in 0 1; do
    "$GT_ROOT"/examples/transformer length=5000 held=1100 batch=8 context=128 layers=4 \
      width=32 heads=2 steps=3 rounds=1 sample=0 dropout=0.1 recompute=$again |
      gt-emit | peak >peak.$again
    mv results results.$again
  done
  [ "$(wc -l <results.0)" -ge 6 ]
  cmp results.0 results.1
  (($(cat peak.1) * 2 < $(cat peak.0))) || { cat peak.*; false; }
}

@test "with stages and a schedule, lines are computed again where their layer is" {
  printf '%s\n' 'w = randn f32[8,8] 1 #signal=one' 'v = randn f32[8,8] 2 #signal=two' \
    'g = zeros f32[8,8] #signal=one' >init.gt
  for mb in 0 1 2 3; do
    printf '%s\n' "x = randn f32[4,8] $mb #signal=one #mb=$mb" \
      "h = matmul x w #signal=one #mb=$mb #recompute=1" \
      "h = tanh h #signal=one #mb=$mb #recompute=1" \
      "h = matmul h v #signal=two #mb=$mb #recompute=2" \
      "h = tanh h #signal=two #mb=$mb #recompute=2" \
      "l = sum h #signal=two #mb=$mb" 'free h' "d e = grad l w v #mb=$mb" \
      "g = add g d #signal=one #mb=$mb"
  done >steps.gt
  echo 'print g' >>steps.gt
  printf '%s\n' 'mesh: {pp: 2}' 'signals: {one: {on: {pp: 0}}, two: {on: {pp: 1}}}' \
    'schedule: {kind: 1f1b}' >pp.yaml
  gt-emit --no-at init.gt steps.gt | gt-shard -c pp.yaml >placed
  [ "$(grep -c '@1 = matmul .*#bwd #recompute' placed)" = 4 ]
  run -0 gt-check -q placed
  sed 's/ #recompute=.//' steps.gt | gt-emit --no-at init.gt - | gt-work >expected
  run -0 gt-cmp <(gt-work placed) expected
}

# ---- what a config says -----------------------------------------------------------

@test "a config says of a signal what the backward computes again" {
  # A scope is a region, so two layers are two.
  printf '%s\n' 'w = randn f32[4,4] 1' 'x = randn f32[4,4] 2' >net.gt
  for layer in 1 2; do
    printf '%s\n' "h = matmul x w #signal=l$layer/block" "h = tanh h #signal=l$layer/block" \
      "x = gelu h #signal=l$layer/block"
  done >>net.gt
  printf '%s\n' 'l = sum x' 'g = grad l w' 'print g' >>net.gt
  printf 'mesh: {tp: 2}\nsignals: {block: {recompute: true}}\n' >again.yaml
  sed 's|\(#signal=\(l[12]/block\)\)|\1 #recompute=\2|' net.gt | gt-emit --no-at >noted
  gt-emit --no-at -c again.yaml net.gt | cmp - noted
  GT_CONFIG=again.yaml gt-emit --no-at net.gt | cmp - noted
  # Rounds of a loop are replayed alike, and a note of the line counts.
  gt-emit --no-at -c again.yaml net.gt --repeat 5 net.gt >rounds
  gt-emit --no-at -c again.yaml --no-replay net.gt --repeat 5 net.gt | cmp - rounds
  sed 's|#signal=l1/block|& #recompute=mine|' net.gt | gt-emit --no-at -c again.yaml | grep -c '#recompute=mine' | grep -qx 3
  # Of ops alone; the values are the same.
  printf 'mesh: {tp: 2}\nsignals: {block: {recompute: [tanh]}}\n' >tanh.yaml
  gt-emit --no-at -c tanh.yaml net.gt >tanh.s
  [ "$(grep -c '= tanh .*#bwd #recompute' tanh.s)" = 1 ] # a name holds the other
  run ! grep -E '(matmul|gelu) .*#recompute' tanh.s
  cmp <(gt-work noted) <(gt-emit net.gt | gt-work)
  cmp <(gt-work tanh.s) <(gt-emit net.gt | gt-work)
}

@test "gt-shard tells if gt-emit has not seen the config" {
  printf '%s\n' 'w = randn f32[4,4] 1' 'h = tanh w #signal=a' 'h = exp h #signal=a' 'h = sin h #signal=a' \
    'l = sum h' 'g = grad l w' 'print g' >net.gt
  printf 'mesh: {tp: 2}\nsignals:\n  a: {recompute: true}\n' >again.yaml
  gt-emit -c again.yaml net.gt | gt-shard -c again.yaml >placed
  grep -q '#bwd #recompute' placed
  run -3 gt-shard -c again.yaml <(gt-emit net.gt)
  [[ $output == *'again.yaml:3: recompute: has no effect on lines that came without #recompute; give the config to gt-emit, too: gt-emit -c again.yaml'* ]]
  # Without a backward nothing would be computed again.
  run -0 gt-shard -c again.yaml <(sed '/grad/,$d' net.gt | gt-emit)
  run -3 gt-emit -c <(echo 'signals: {a: {recompute: maybe}}') net.gt
  [[ $output == *"signal 'a': expected true, false or ops"* ]]
  run -2 gt-emit -c nothere.yaml net.gt
  run -2 gt-emit -c again.yaml --to tcp://127.0.0.1:1 net.gt
  [[ $output == *'-c: with --to, the config of the gt-emit -l counts'* ]]
}

@test "with a split backward, what is computed again is made once a microbatch" {
  printf '%s\n' 'w = randn f32[8,8] 1 #signal=one' 'v = randn f32[8,8] 2 #signal=two' \
    'g = zeros f32[8,8] #signal=one' >p.gt
  for mb in 0 1 2 3 4 5; do
    printf '%s\n' "x = randn f32[64,8] $mb #signal=one #mb=$mb" \
      "h = tanh x #signal=one #mb=$mb" "h = matmul h w #signal=one #mb=$mb" \
      "h = tanh h #signal=one #mb=$mb" "h = copy h #signal=two #mb=$mb" \
      "h = gelu h #signal=two #mb=$mb" "h = matmul h v #signal=two #mb=$mb" \
      "h = tanh h #signal=two #mb=$mb" "l = sum h #signal=two #mb=$mb" \
      "d e = grad l w v #mb=$mb" "g = add g d #signal=one #mb=$mb"
  done >>p.gt
  echo 'print g' >>p.gt
  for kind in 1f1b zb-h1 zb-h2; do
    printf 'mesh: {pp: 2}\nschedule: {kind: %s}\nsignals: {one: {on: {pp: 0}, recompute: true}, two: {on: {pp: 1}, recompute: true}}\n' \
      $kind >pp.yaml
    gt-emit --no-at -c pp.yaml p.gt >stream
    gt-shard -c pp.yaml stream >placed
    gt-check -q placed
    [ "$(grep -c '#recompute$' placed)" = "$(grep -c '#bwd #recompute$' stream)" ]
    [ "$(grep -c '= gelu .*#recompute' placed)" = 12 ]
    run -0 gt-cmp <(gt-work placed) <(gt-emit p.gt | gt-work)
  done
}

#!/usr/bin/env bats
# What gt-shard --plan writes is a config that gt-shard takes unchanged.

load helper

@test "--plan has no entry for the zeros that a loss gives to weights it does not reach" {
  cat >step.gt <<'END'
x = randn f32[64,64] 1
w = randn f32[64,64] 2
unused = randn f32[4,5] 3
y = matmul x w
l = sum y
gw gu = grad l w unused
w = sgd w gw 0.1
print gu
print l
END
  gt-emit step.gt 2>/dev/null >step.s
  for ranks in 2 3 4 6; do
    gt-shard --plan -n "$ranks" step.s >plan.yaml
    run -0 --separate-stderr gt-shard -c plan.yaml step.s
    [ -z "$stderr" ]
    printf '%s\n' "$output" | gt-check -q
  done
}

@test "--plan says how much memory gt-shard finds a step to need, and no more time than all lines" {
  gt-emit >step.s <<'END'
x = randn f32[256,64] 1
w1 = randn f32[64,128] 2
w2 = randn f32[128,32] 3
h = matmul x w1
h = relu h
y = matmul h w2
l = mean y
g1 g2 = grad l w1 w2
w1 = sgd w1 g1 0.1
w2 = sgd w2 g2 0.1
END
  printf 'machine: {latency: 1e-7, memory: 1e6}\nregather: true\n' >slow.yaml
  for config in /dev/null slow.yaml; do
    gt-shard --plan -n 4 -c "$config" step.s >plan.yaml
    grep -q 'shard: {' plan.yaml
    gt-shard -c plan.yaml --summary step.s 2>&1 >placed.s |
      awk '/a rank at most/ { print $(NF - 2), $2 }' >is
    # The memory is that of two steps, of which the second has what the first left.
    sed -n 's/^# Expected: \(.*\) ms, \(.*\) MB a rank;.*/\1 \2/p' plan.yaml |
      paste - is | awk '{ exit !($1 <= $3 && $2 >= 0.99 * $4 && $2 < 1.2 * $4) }'
  done
}

@test "--plan reports a line that lacks its operands" {
  printf 'y = slice\n' >bad.s
  run -3 --separate-stderr gt-shard --plan -n 2 bad.s
  [ -z "$output" ]
  [[ $stderr == 'gt-shard: bad.s:1: slice: takes at least 2 operands, got 0;'*$'\n  y = slice'* ]]
}

@test "--plan reports a faulty line as gt-shard does, at the same place" {
  printf 'mesh: {dp: 2}\n' >two.yaml
  printf 'x = ones f32[4,8]\ny = matmul x x\n' >types.s
  printf 'x = ones f32[4,8]\ny = neg x x #at=model.gt:7\n' >noted.s
  printf 'x = ones f32[4,8]\ny = neg q\n' >name.s
  printf 'x = ones f32[4,8]\ny == neg x\n' >text.s
  for step in types noted name text; do
    run -3 --separate-stderr gt-shard -c two.yaml "$step.s"
    local wanted=$stderr
    [[ $wanted == *.s:2:* || $wanted == *model.gt:7:* ]]
    run -3 --separate-stderr gt-shard -c two.yaml --plan "$step.s"
    [ "$stderr" = "$wanted" ]
  done
  run -3 --separate-stderr gt-shard -c two.yaml --plan /dev/null
  [[ $stderr == 'gt-shard: /dev/null: the stream has no line to plan for;'* ]]
}

@test "--plan keeps the config's other entries" {
  printf 'x = randn f32[64,64] 1\ny = matmul x x #mb=0\nprint y\n' >step.s
  printf 'mesh: {dp: 2}\nregather: true\nchunks: 2\nschedule: {kind: gpipe, window: 3}\n' >given.yaml
  gt-shard -c given.yaml --plan step.s >plan.yaml
  grep -qx 'regather: true' plan.yaml
  grep -qx 'chunks: 2' plan.yaml
  grep -qx 'schedule: {kind: gpipe, window: 3}' plan.yaml
  gt-shard -c plan.yaml step.s | gt-check -q
  echo 'schedule: {kind: 1f1b}' >given.yaml
  gt-shard -c given.yaml -n 2 --plan step.s | grep -qx 'schedule: {kind: 1f1b}'
}

# The moments of AdamW make 24 groups of tensors of 8 weights, each larger than
# the batch.
@test "--plan cuts the batch, however many larger tensors there are" {
  program() {
    local i
    printf '%s\n' 'x = randn f32[4096,64] 1' 'y = randn f32[4096,64] 2' \
      't = tensor i64[] 1' 'win = randn f32[64,1024] 3' \
      'wout = randn f32[1024,64] 3' 'h = matmul x win'
    for i in {a..h}; do
      echo "w$i = randn f32[1024,1024] 3"
      echo "m.w$i = zeros f32[1024,1024]"
      echo "v.w$i = zeros f32[1024,1024]"
      echo "h = matmul h w$i"
    done
    echo 'h = matmul h wout'
    echo 'l = mse h y'
    echo "$(printf 'g.w%s ' {a..h})= grad l $(printf 'w%s ' {a..h})"
    for i in {a..h}; do
      echo "w$i m.w$i v.w$i = adamw w$i g.w$i m.w$i v.w$i t 0.001"
    done
  }
  echo 'machine: {flops: 4e14, memory_bandwidth: 3e12, bandwidth: 4e11}' >m.yaml
  program | gt-emit --no-at >step.s
  gt-shard --plan -n 8 -c m.yaml step.s >plan.yaml
  # x, or what is computed of it in front of the weights
  grep -qE '^  "[xh]": {(shard|results): {.*: 0}}' plan.yaml
}

# layers MICROBATCHES WIDTH... writes a step of a layer for each width: two products,
# and a signal for each.
layers() {
  local microbatches=$1 i k name names='' targets
  shift
  for ((i = 0; i < $#; i++)); do
    echo "a$i = randn f32[64,${*:i+1:1}] $((2 * i)) scale=0.1"
    echo "b$i = randn f32[${*:i+1:1},64] $((2 * i + 1)) scale=0.1"
    names+=" a$i b$i"
  done
  targets=${names// / d.}
  echo 'x = randn f32[64,64] 99'
  for name in $names; do echo "m.$name = mul $name 0"; done
  for name in $names; do echo "g.$name = mul $name 0"; done
  for ((k = 0; k < microbatches; k++)); do
    {
      echo "h = slice x $((k * 64 / microbatches)) axis=0 size=$((64 / microbatches)) #signal=layer0"
      for ((i = 0; i < $#; i++)); do
        echo "h = matmul h a$i #signal=layer$i"
        echo "h = relu h #signal=layer$i"
        echo "h = matmul h b$i #signal=layer$i"
      done
      echo "l = mean h #signal=layer$(($# - 1))"
      echo "$targets = grad l$names"
      for name in $names; do echo "g.$name = add g.$name d.$name"; done
    } | sed "s/\$/ #mb=$k/"
    echo "free h$targets"
  done
  for name in $names; do echo "$name m.$name = sgd $name g.$name m.$name 0.1 momentum=0.9"; done
  echo 'print l'
  echo 'print a0'
}

# stages PLAN prints the stages of the layers.
stages() { grep -o 'on: {pp: .}' "$1" | tr -dc '0-9\n' | xargs; }

# Links are slow, so that each rank has a layer of its own.
slow='machine: {flops: 1e9, memory_bandwidth: 1e12, bandwidth: 1e7, latency: 1e-6'

@test "--plan makes stages of layers, and the program means the same" {
  layers 4 64 64 64 64 | gt-emit --no-at >step.s
  gt-work step.s >alone
  echo "$slow}" >machine.yaml
  gt-shard --plan -n 4 -c machine.yaml step.s >plan.yaml
  grep -qx 'mesh: {pp: 4, dp: 1, tp: 1}' plan.yaml
  grep -q '^schedule: {kind: ' plan.yaml
  [ "$(stages plan.yaml)" = '0 1 2 3' ]
  gt-shard -c plan.yaml step.s >placed.s 2>said
  [ ! -s said ]
  gt-check -q placed.s
  gt-cmp alone <(gt-work placed.s)
}

@test "--plan gives a stage few layers that are large, or many small ones" {
  printf '%s\n' "$slow}" 'mesh: {pp: 2}' 'schedule: {kind: 1f1b}' >two.yaml
  layers 4 256 64 64 64 64 | gt-emit --no-at >step.s
  gt-shard --plan -c two.yaml step.s >plan.yaml
  [ "$(stages plan.yaml)" = '0 1 1 1 1' ]
  layers 4 64 64 64 64 256 | gt-emit --no-at >step.s
  gt-shard --plan -c two.yaml step.s >plan.yaml
  [ "$(stages plan.yaml)" = '0 0 0 0 1' ]
  gt-shard -c plan.yaml step.s | gt-check -q
}

@test "--plan lets microbatches return where the schedule wants that" {
  layers 4 64 64 64 64 | gt-emit --no-at >step.s
  for way in 'zb-v 0 1 1 0' 'interleaved 0 1 0 1' 'gpipe 0 0 1 1'; do
    read -r kind stages <<<"$way"
    printf '%s\n' "$slow}" 'mesh: {pp: 2}' "schedule: {kind: $kind}" >two.yaml
    gt-shard --plan -c two.yaml step.s >plan.yaml
    [ "$(stages plan.yaml)" = "$stages" ]
    gt-shard -c plan.yaml step.s 2>said | gt-check -q
    [ ! -s said ]
  done
}

@test "--plan --explain says what was weighed, and why ways were not taken" {
  layers 4 64 64 64 64 | gt-emit --no-at >step.s
  echo "$slow, memory: 1e6}" >machine.yaml
  gt-shard --plan --explain -n 4 -c machine.yaml step.s >plan.yaml 2>said
  [ "$(grep -c '^\* ' said)" = 1 ]
  # Its time and memory are those that the config says.
  awk '/^\*/ { print $(NF - 1), $NF }' said >best
  sed -n 's/^# Expected: \(.*\) ms, \(.*\) MB a rank;.*/\1 \2/p' plan.yaml | paste - best |
    awk '{ exit !($1 / $3 < 1.001 && $3 / $1 < 1.001 && $2 / $4 < 1.001) }'
  grep -qE '^  step.s +dp=4 tp=1 .* (slower|too many)$' said
  grep -q 'pp=4 dp=1 tp=1 .*zb-h1 ' said
}

@test "--plan cuts weights and moments if they do not fit into memory whole" {
  layers 1 512 512 512 | gt-emit --no-at >step.s
  # Whole, weights, moments and gradients take 2.4 MB.
  for memory in 1.8 1.3; do
    printf '%s\n' 'mesh: {dp: 4}' "machine: {memory: ${memory}e6}" >four.yaml
    gt-shard --plan -c four.yaml step.s >plan.yaml
    [ "$(grep -c 'nothing was found' plan.yaml)" = 0 ]
    sed -n 's/^# Expected: .* ms, \(.*\) MB a rank;.*/\1/p' plan.yaml |
      awk -v most="$memory" '{ exit !($1 <= most) }'
    grep -qE '"(m\.)?[ab]\*": {shard: {dp: ' plan.yaml
    gt-shard -c plan.yaml step.s >placed.s 2>said
    [ ! -s said ]
    gt-cmp <(gt-work step.s) <(gt-work placed.s)
  done
}

@test "--plan of several files takes the form that is soonest done, and names it" {
  for m in 1 2 8; do layers $m 64 64 64 64 | gt-emit --no-at >mb$m.s; done
  printf '%s\n' "$slow}" 'mesh: {pp: 4}' >four.yaml
  gt-shard --plan --explain -c four.yaml mb1.s mb2.s mb8.s >plan.yaml 2>said
  grep -qx '# It is for mb8.s.' plan.yaml
  for m in 1 2 8; do grep -q " mb$m.s  *pp=4 " said; done
  # Another order of the files finds the same, and so does the form alone.
  gt-shard --plan -c four.yaml mb8.s mb1.s mb2.s | diff plan.yaml -
  gt-shard --plan -c four.yaml mb8.s | diff <(grep -v '^# It is' plan.yaml) -
  # An error names its file.
  echo 'y = neg q' >bad.s
  run -3 --separate-stderr gt-shard --plan -c four.yaml mb1.s bad.s
  [[ $stderr == 'gt-shard: bad.s:1: neg: '* ]]
}

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

@test "--plan says what gt-shard finds a step to cost under the config" {
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
      awk '/a rank at most/ { printf "%.4g ms, %.4g MB\n", $(NF - 2), $2 }' >is
    sed -n 's/^# Expected: \(.* MB\) a rank;.*/\1/p' plan.yaml | diff - is
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
  grep -q '^  "x": {shard: {.*: 0}}' plan.yaml
}

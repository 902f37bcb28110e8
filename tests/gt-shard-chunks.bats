#!/usr/bin/env bats
# Products that chunks: in a config divides into chunks: which lines are written,
# and that they compute the same values.

load helper
load block

with_chunks() { # COUNT: writes ch.yaml, which is sp.yaml with that many chunks
  { cat sp.yaml && echo "chunks: $1"; } >ch.yaml
}

# Prints the op and the operands of the signal's lines, without notes.
lines_of() { # SIGNAL <placed
  grep "#signal=$1" | grep -v '#bwd' | sed 's/ #.*//'
}

@test "a gathered operand: all gathers come first, then the products, then a concat" {
  make_block
  with_chunks 2
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  diff <(lines_of up <placed) - <<'END'
_s0@0-1 _s1@0-1 = split n@0-1 axis=0
_s0@0-1 = all_gather _s0@0-1 over=tp src=S1 dst=R
_s1@0-1 = all_gather _s1@0-1 over=tp src=S1 dst=R
up@0-1 = randn f32[16,12] 2 scale=0.2 split=tp:1
_s2@0-1 = matmul _s0@0-1 up@0-1
_s3@0-1 = matmul _s1@0-1 up@0-1
_s4@0-1 = concat _s0@0-1 _s1@0-1 axis=0
h@0-1 = concat _s2@0-1 _s3@0-1 axis=0
h@0-1 = relu h@0-1
END
  gt-check -q placed
  same_values block.gt -c ch.yaml
}

@test "overlap: false computes no product in chunks, whoever asks for them" {
  make_block
  with_chunks 2
  sed 's/^chunks: 2$/chunks: 1/' ch.yaml >whole.yaml
  (echo 'overlap: false' && cat ch.yaml) >off.yaml
  run -1 cmp -s whole.yaml ch.yaml
  gt-emit block.gt >block.s
  cmp <(gt-shard -c off.yaml block.s) <(gt-shard -c whole.yaml block.s)
}

@test "a sum of summands follows its product, and is cut as the gathered operand was" {
  make_block
  with_chunks 2
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  diff <(lines_of down <placed) - <<'END'
_s0@0-1 _s1@0-1 = split h@0-1 axis=0
down@0-1 = randn f32[12,16] 3 scale=0.2 split=tp:0
_s2@0-1 = matmul _s0@0-1 down@0-1
_s2@0-1 = reduce_scatter _s2@0-1 over=tp dst=S1
_s0@0-1 = matmul _s1@0-1 down@0-1
_s0@0-1 = reduce_scatter _s0@0-1 over=tp dst=S1
y@0-1 = concat _s2@0-1 _s0@0-1 axis=0
END
  grep -q '#why="matmul in chunks"' placed
}

@test "the gathered operand is kept for the backward, or gathered again" {
  make_block
  with_chunks 2
  gt-emit block.gt | gt-shard -c ch.yaml >kept
  # n is gathered once; so is what the backward of the second product needs.
  [ "$(lines all_gather <kept)" = 2 ]
  echo 'regather: true' >>ch.yaml
  gt-emit block.gt | gt-shard -c ch.yaml >again
  [ "$(lines all_gather <again)" = 3 ]
  [ "$(lines_of up <again | grep -c '^_s[0-9]*@0-1 = concat')" = 0 ]
  same_values block.gt -c ch.yaml
}

@test "chunks send the bytes that the whole sends" {
  make_block
  sent() { # COUNT: prints the megabytes that each collective sends
    with_chunks "$1"
    gt-emit block.gt | gt-shard --summary -c ch.yaml 2>&1 >/dev/null |
      awk '/all_gather|reduce_scatter/ { print $2, $5 }'
  }
  [ "$(sent 1)" = "$(sent 4)" ]
  with_chunks 4
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  [ "$(lines reduce_scatter <placed)" = 4 ]
}

@test "without a sequence that is cut every rank gets the sums" {
  make_block
  with_chunks 2
  sed -i '/norm:/d' ch.yaml
  sed -e '1i g = ones f32[16]' -e 's/rms_norm x/rms_norm x g/' \
    -e 's/gu gd = grad l/gg gu gd = grad l g/' block.gt >norm.gt
  gt-emit norm.gt | gt-shard -c ch.yaml >placed 2>said
  [ ! -s said ]
  [ "$(lines all_reduce <placed)" = 4 ] # two forward, two backward
  [ "$(lines reduce_scatter <placed)" = 0 ]
  gt-check -q placed
  same_values norm.gt -c ch.yaml
}

@test "where ranks have parts of all rows, each chunk has some of every part" {
  cat >rows.gt <<'END'
x = randn f32[12,16] 1 #signal=norm
up = randn f32[16,12] 2 scale=0.2 #signal=up
down = randn f32[12,16] 3 scale=0.2 #signal=down
n = rms_norm x #signal=norm
h = matmul n up #signal=up
y = matmul h down #signal=down
x = add x y #signal=norm
print x
END
  cat >rows.yaml <<'END'
mesh: {tp: 2}
signals:
  norm: {results: {tp: 0}}
  up:   {shard: {tp: 1}, results: {tp: -1}}
  down: {shard: {tp: 0}}
chunks: 2
END
  gt-emit rows.gt | gt-shard -c rows.yaml >placed
  diff <(lines_of up <placed) - <<'END'
_s0@0-1 = reshape n@0-1 shape=2,6,16 split=tp:0
_s1@0-1 _s2@0-1 = split _s0@0-1 axis=1
_s1@0-1 = all_gather _s1@0-1 over=tp src=S0 dst=R
_s2@0-1 = all_gather _s2@0-1 over=tp src=S0 dst=R
up@0-1 = randn f32[16,12] 2 scale=0.2 split=tp:1
_s0@0-1 = matmul _s1@0-1 up@0-1
_s3@0-1 = matmul _s2@0-1 up@0-1
_s4@0-1 = concat _s1@0-1 _s2@0-1 axis=1
_s4@0-1 = reshape _s4@0-1 shape=12,16
h@0-1 = concat _s0@0-1 _s3@0-1 axis=1
h@0-1 = reshape h@0-1 shape=12,12 split=tp:1
END
  lines_of down <placed | grep -q 'reduce_scatter .* dst=S0$'
  gt-check -q placed
  same_values rows.gt -c rows.yaml
}

@test "uneven chunks, and fewer where the dimension is shorter" {
  make_block
  with_chunks 3
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  grep -q '^_s0@0-1 _s1@0-1 _s2@0-1 = split n@0-1 axis=0 sizes=3,3,2 ' placed
  same_values block.gt -c ch.yaml
  with_chunks 100
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  [ "$(lines reduce_scatter <placed)" = 8 ]
  same_values block.gt -c ch.yaml
}

@test "sums of bf16 are taken in f32 and rounded once, chunk by chunk" {
  make_block
  with_chunks 2
  sed -i -e '/^print g/d' -e '/grad/d' -e 's/f32\[/bf16[/' block.gt
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  lines_of down <placed | grep -c 'reduce_scatter' | grep -qx 2
  lines_of down <placed | grep -c '= cast .* bf16$' | grep -qx 2
  [ "$(lines all_reduce <placed)" = 1 ] # it is the sum of the mean
  same_values block.gt -c ch.yaml
}

@test "a signal may say it for its lines alone" {
  make_block
  sed 's/^  down: {/  down: {chunks: 4, /' sp.yaml >ch.yaml
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  [ "$(lines_of up <placed | lines all_gather)" = 1 ]
  [ "$(lines_of down <placed | lines split)" = 1 ]
  [ "$(lines_of down <placed | lines reduce_scatter)" = 4 ]
  { cat ch.yaml && echo 'chunks: 2'; } >all.yaml
  sed -i 's/up:   {/up:   {chunks: 1, /' all.yaml
  gt-emit block.gt | gt-shard -c all.yaml | cmp - placed
  same_values block.gt -c ch.yaml
}

@test "auto: the machine's figures choose the chunks, and none where they gain nothing" {
  make_block
  sed -i 's/,12\]/,256]/; s/\[12,/[256,/' block.gt
  with_chunks auto
  gt-emit block.gt | gt-shard --explain -c ch.yaml 2>said >placed
  [ "$(lines split <placed)" = 0 ]
  grep -q '    in one piece: [0-9]* chunks would take [0-9.]* us, and it [0-9.]* us$' said
  echo 'machine: {flops: 1e7, bandwidth: 1e5, latency: 1e-4}' >>ch.yaml
  gt-emit block.gt | gt-shard --explain -c ch.yaml 2>said >placed
  [ "$(lines split <placed)" -ge 2 ]
  grep -q '    in [4-8] chunks along dimension 0$' said
  same_values block.gt -c ch.yaml
}

@test "auto: what is gathered comes in chunks that grow as products take longer" {
  make_block
  sed -i 's/8,6,16/64,6,16/; s/,12\]/,256]/; s/\[12,/[256,/' block.gt
  with_chunks auto
  # A product takes 2 * 64 * 6 * 16 * 256 / 2 operations, 157 ms, and half of n 12 ms.
  echo 'machine: {flops: 1e7, bandwidth: 1e6, latency: 1e-4}' >>ch.yaml
  gt-emit block.gt | gt-shard -c ch.yaml >placed
  sizes() { # OF: prints the sizes of its chunks, one a line
    sed -n "s/.* = split $1@0-1 .*sizes=\\([0-9,]*\\) .*/\\1/p" placed | head -n 1 | tr , '\n'
  }
  sizes n | sort -n -c
  [ "$(sizes n | tail -n 1)" -gt $((4 * $(sizes n | head -n 1))) ]
  # Sums shrink.
  sizes h | sort -n -r -c
  [ "$(sizes h | head -n 1)" -gt $((4 * $(sizes h | tail -n 1))) ]
  [ "$(sizes n | paste -s -d + | bc)" = 64 ]
  gt-check -q placed
  same_values block.gt -c ch.yaml
}

@test "a product that needs nothing, and gradients of weights, stay whole" {
  make_block
  with_chunks 2
  sed -i '/norm:/d; /up:/d; /down:/d; s/^  free: {}/  norm: {shard: {tp: 0}}/' ch.yaml
  gt-emit block.gt | gt-shard --explain -c ch.yaml >placed 2>said || cat said
  run ! grep -E ' = split .*#signal=' placed
  grep -q '#grad=up' placed
  grep -q '    in one piece: nothing travels right before or right behind it$' said
}

@test "a product without elements stays whole" {
  cat >two.yaml <<'END'
mesh: {dp: 2, tp: 2}
chunks: 2
signals:
  x: {shard: {dp: 0, tp: 2}}
  w: {shard: {tp: 0}}
END
  local x w
  while read -r x w; do
    printf '%s\n' "x = ones f32$x #signal=x" "w = randn f32$w 1 #signal=w" \
      'y = matmul x w' 'print y' >none.gt
    gt-emit none.gt | gt-shard --explain -c two.yaml >placed 2>said || cat said
    [ "$(lines split <placed)" = 0 ]
    grep -q '    in one piece: it has no elements$' said
    gt-check -q placed
    same_values none.gt -c two.yaml
  done <<'END'
[4,0,3] [3,2]
[4,6,0] [0,2]
[4,6,4] [4,0]
END
}

@test "an operand on another stage moves there first, and all chunks run on one stage" {
  cat >stages.gt <<'END'
x = rand f32[6,4] 1 #signal=a
w = rand f32[4,4] 2 #signal=b
y = matmul x w
x = rms_norm x #signal=a
y = linear x w w0
print y
END
  sed -i '1i w0 = randn f32[4] 5 #signal=b' stages.gt
  cat >stages.yaml <<'END'
mesh: {tp: 2, pp: 2}
chunks: 2
signals:
  a: {results: {tp: 1}, on: {pp: 0}}
  b: {shard: {tp: 0}, on: {pp: 1}}
END
  gt-emit stages.gt | gt-shard -c stages.yaml >placed
  gt-check -q placed
  same_values stages.gt -c stages.yaml
}

@test "the other operand of the chunks is fetched once, even if it is not kept" {
  make_block
  sed -i 's/,12\]/,256]/; s/\[12,/[256,/' block.gt
  cat >fsdp.yaml <<'END'
mesh: {dp: 2, tp: 2}
regather: true
signals:
  norm: {shard: {dp: 0}, results: {tp: 1}}
  up:   {shard: {dp: 0, tp: 1}, results: {tp: -1}, backward: free}
  down: {shard: {tp: 0, dp: 1}}
  free: {}
chunks: 3
END
  gt-emit block.gt | gt-shard -c fsdp.yaml >placed
  [ "$(lines_of up <placed | grep -c 'all_gather up@')" = 1 ]
  [ "$(lines_of down <placed | grep -c 'all_gather down@')" = 1 ]
  [ "$(lines_of down <placed | lines reduce_scatter)" = 3 ]
  gt-check -q placed
  same_values block.gt -c fsdp.yaml
}

@test "rounds of a loop repeat their text" {
  make_block
  with_chunks 3
  { grep ' = ' block.gt | grep -v 'randn\|grad\|mean' && echo 'x = detach x'; } >round.gt
  gt-emit --no-at <(grep 'randn' block.gt) --repeat 30 round.gt |
    gt-shard -c ch.yaml >placed
  grep -c '^_s0@0-1 _s1@0-1 _s2@0-1 = split n@0-1' placed | grep -qx 30
  [ "$(sort -u placed | wc -l)" -le 40 ] # more rounds give no more different lines
}

@test "a chunks: that is no number of chunks is refused" {
  make_block
  for wrong in 0 -1 many 1.5 1025 '[2]' '{}'; do
    with_chunks "$wrong"
    run -3 --separate-stderr gt-shard -c ch.yaml /dev/null
    [[ $stderr == *"ch.yaml:7: chunks: expected auto, or a number of chunks from 1 to 1024, got "* ]]
  done
  { cat sp.yaml && echo 'tensors: {up: {chunks: 2}}'; } >ch.yaml
  run -3 --separate-stderr gt-shard -c ch.yaml /dev/null
  [[ $stderr == *"ch.yaml:7: tensor 'up': chunks is said of signals only"* ]]
}

@test "gradients of what q, k and v read are added before one sum, in chunks or not" {
  {
    printf '%s = randn f32[16,16] 1 scale=0.2 #signal=up\n' q k v
    echo 'o = randn f32[16,16] 4 scale=0.2 #signal=down'
    echo 'x = randn f32[4,8,16] 5'
    echo 'n = ones f32[16]'
    echo 'h = rms_norm x n'
    printf '%s2 = matmul h %s #signal=up\n' q q k k v v
    echo 'a = attention q2 k2 v2 causal=1 heads=4 #signal=up'
    echo 'y = matmul a o #signal=down'
    printf '%s\n' 'y = mul y y' 'l = mean y' 'gq gk gv go gn = grad l q k v o n'
    printf 'print %s\n' gq gk gv go gn
  } >qkv.gt
  printf '%s\n' 'mesh: {tp: 2}' 'signals:' '  up: {shard: {tp: 1}, results: {tp: -1}, backward: free}' \
    '  down: {shard: {tp: 0}}' '  free: {}' >tp.yaml
  gt-emit --no-at qkv.gt >qkv.s
  for count in 1 2; do
    { cat tp.yaml && echo "chunks: $count"; } >ch.yaml
    gt-shard -c ch.yaml --summary --explain qkv.s 2>told >placed
    sed -nE 's/.*all_reduce: [0-9]+ lines?, (.*)/\1/p' told >"sent.$count"
    gt-check -q placed
    gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-work qkv.s) <(gt-work placed)
  done
  cmp sent.1 sent.2
  # Forward the sum is in chunks.
  grep -q '    in 2 chunks along dimension 0$' told
  grep -q '    in one piece: one sum is taken of it and others behind it$' told
}

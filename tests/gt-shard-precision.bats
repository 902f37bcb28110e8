#!/usr/bin/env bats
# precision: in a config: in which dtype products read, which lines say so, and that
# they compute the same values but for rounding.

load helper
load block

# make_net [BATCH]: two steps of a small network, of two microbatches each.
make_net() {
  {
    cat <<'END'
w1 = randn f32[16,24] 1 scale=0.3 #signal=col
w2 = randn f32[24,16] 2 scale=0.3 #signal=row
n = ones f32[16]
END
    for step in 0 1; do
      echo 'g1 = zeros f32[16,24]'
      echo 'g2 = zeros f32[24,16]'
      for k in 0 1; do
        cat <<END
x = randn f32[${1:-4},6,16] $((step * 2 + k + 5)) #signal=batch #mb=$k
h = rms_norm x n #mb=$k
a = matmul h w1 #signal=col #mb=$k
a = attention a a a heads=4 #signal=attn #mb=$k
y = matmul a w2 #signal=row #mb=$k
x = add x y #mb=$k
l = mean x #mb=$k
l = mul l l #mb=$k
d1 d2 = grad l w1 w2 #mb=$k
g1 = add g1 d1 #mb=$k
g2 = add g2 d2 #mb=$k
END
      done
      echo 'w1 = sgd w1 g1 0.5'
      echo 'w2 = sgd w2 g2 0.5'
    done
    printf 'print %s\n' l w1 w2
  } >net.gt
  gt-emit --no-at net.gt >net.s
  gt-work net.s >net.whole
}

# near CONFIG: the placed program has the whole one's values, to bf16's digits.
near() {
  gt-shard -c "$1" net.s >placed
  gt-check -q placed
  gt-cmp --rtol 2e-2 --atol 1e-2 net.whole <(gt-work placed)
  gt-work --threads 1 placed >one
  gt-route -n 2 --threads 1 placed | cmp - one
  gt-shard -c "$1" placed 2>/dev/null | cmp - placed
}

@test "products read bf16 and add in f32, and all else is as the program says" {
  make_net
  printf 'precision: bf16\nmesh: {tp: 2}\nsignals: {col: {shard: {tp: 1}}, row: {shard: {tp: 0}}}\n' >tp.yaml
  near tp.yaml
  run ! grep -E '= matmul ' <(grep -v 'out=f32' placed)
  run ! grep -E '= (rms_norm|rms_norm_grad|mean|sgd) .*_s[0-9]' placed
  # What attention makes of bf16 is cast back.
  grep -qE '^a@0-1 = cast _s[0-9]+@0-1 f32 #signal=attn' placed
  # A weight is cast once a step, where it lies, for all microbatches.
  [ "$(grep -c '= cast w[12]@0-1 bf16' placed)" = 4 ]
  run ! grep -E '= cast w.*#bwd' placed
  # Without a mesh it is the same program on one rank.
  echo 'precision: bf16' >one.yaml
  gt-shard -c one.yaml net.s >placed
  [ "$(grep -c '= cast w[12]@0 bf16' placed)" = 4 ]
  gt-cmp --rtol 2e-2 --atol 1e-2 net.whole <(gt-work placed)
}

@test "what is gathered for a product is bf16, and its sums are if the config says so" {
  make_net 64
  cat >f32.yaml <<'END'
mesh: {dp: 2}
regather: true
signals: {batch: {shard: {dp: 0}}}
tensors: {"w*": {shard: {dp: 0}}}
END
  { echo 'precision: bf16'; cat f32.yaml; } >gather.yaml
  { echo 'sums: bf16'; cat gather.yaml; } >both.yaml
  bytes() {
    gt-shard -c "$1.yaml" --summary net.s 2>&1 >/dev/null |
      sed -n "s/.*$2: .* lines, \([0-9.]*\) MB.*/\1/p"
  }
  half() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(b > 0 && b < 0.51 * a) }'; }
  near f32.yaml
  grep -q 'all_gather w1@0-1' placed
  near gather.yaml
  run ! grep 'all_gather w' placed
  [ "$(grep -c '= cast w[12]@0-1 bf16' placed)" = 4 ] # in two steps
  half "$(bytes f32 all_gather)" "$(bytes gather all_gather)"
  near both.yaml
  half "$(bytes gather reduce_scatter)" "$(bytes both reduce_scatter)"
}

@test "results: of a signal is said of its product, and not of what is cast for it" {
  make_block
  { printf 'precision: bf16\nsums: bf16\n'; cat sp.yaml; } >half.yaml
  gt-emit --no-at block.gt >block.s
  for config in sp half; do
    gt-shard -c $config.yaml block.s >$config.s
    gt-check -q $config.s
    grep -oE '= all_to_all ' $config.s >$config.moves || true
  done
  cmp sp.moves half.moves
  gt-cmp --rtol 2e-2 --atol 1e-2 <(gt-work block.s) <(gt-work half.s)
}

@test "a schedule has the windows that it has without precision" {
  make_net
  sed -i -e '/attention/d' -e 's/^\(x = randn.*\|h = .*\|a = matmul.*\|w1 = .*\|n = .*\)$/\1 #signal=s0/' \
    -e 's/#signal=\(batch\|col\)//; s/#signal=row/#signal=s1/' \
    -e 's/^y = matmul a\(.*\)\(#mb=.\)$/a = copy a #signal=s1 \2\ny = matmul a \1\2/' \
    -e 's/^x = add x y/x = tanh y/' net.gt
  gt-emit --no-at net.gt >net.s
  gt-work net.s >net.whole
  printf 'precision: bf16\nmesh: {pp: 2}\nschedule: {kind: 1f1b, window: 2}\nsignals: {s0: {on: {pp: 0}}, s1: {on: {pp: 1}}}\n' >pp.yaml
  gt-shard -c pp.yaml --summary net.s >placed 2>said
  grep -q 'stages: 2, microbatches: 2, windows: 2' said
  gt-cmp --rtol 2e-2 --atol 1e-2 net.whole <(gt-work placed)
}

@test "a signal has a precision of its own, and other dtypes stay as they are" {
  make_net
  printf 'mesh: {tp: 2}\nprecision: bf16\nsignals: {col: {shard: {tp: 1}, precision: f32}, row: {shard: {tp: 0}, precision: f16}}\n' >own.yaml
  near own.yaml
  run ! grep 'cast w1' placed
  grep -q '= cast w2@0-1 f16' placed
  printf 'x = randn f64[4,4] 1\ny = matmul x x\nz = randn f32[4,4] 2\nz = cast z f16\nz = matmul z z\ni = ones i64[2,2]\ni = matmul i i\nprint y\n' >other.gt
  echo 'precision: bf16' >one.yaml
  run -0 gt-shard -c one.yaml other.gt
  [[ $output != *bf16* ]]
}

@test "convolutions read bf16, and a name of the input may be one of ours" {
  cat >conv.gt <<'END'
_s0 = randn f32[2,3,8,8] 1 #signal=batch
w = randn f32[4,3,3,3] 2 scale=0.2
y = conv2d _s0 w padding=1
z = conv2d _s0 w padding=1
_s1 = add y z
_s2 = mul _s1 y
l = mean _s2
print y
print l
END
  printf 'precision: bf16\nmesh: {dp: 2}\nsignals: {batch: {shard: {dp: 0}}}\n' >dp.yaml
  { echo '#gt 1'; cat conv.gt; echo '#end 0'; } >conv.s
  gt-shard -c dp.yaml conv.s >placed
  gt-check -q placed
  gt-cmp --rtol 2e-2 --atol 2e-2 <(gt-work conv.s) <(gt-work placed)
  printf 'x = randn f32[2,3,8,8] 1\nw = randn f32[4,3,3,3] 2 scale=0.2\nv = randn f32[4,3,3,3] 3\ny = conv2d x w padding=1\ny = relu y\nl = mean y\ngx gw = grad l x w\nprint gx\nprint gw\n' >grad.gt
  gt-emit grad.gt | gt-shard -c <(echo 'precision: bf16') >placed
  grep -qE '^gw@0 = cast _s[0-9]+@0 f32 .*#grad=w$' placed
  gt-cmp --rtol 2e-2 --atol 1e-3 <(gt-emit grad.gt | gt-work) <(gt-work placed)
}

@test "in f16 a gradient is scaled by its largest element, so none vanishes or overflows" {
  # The loss is as small, and then as large, as f16's gradients cannot be.
  for factor in 1e-9 1e9; do
    printf '%s\n' 'x = randn f32[2,6,16] 1 #signal=batch' 'w = randn f32[16,8] 2 scale=0.3' \
      'v = randn f32[8,8] 3 scale=0.3' 'n = ones f32[8]' 'h = matmul x w' 'h = attention h h h heads=2' \
      'h = matmul h v' 'h = rms_norm h n' 'h = exp h' 'l = mean h' "l = mul l $factor" 'gw gv = grad l w v' \
      "gw = div gw $factor" "gv = div gv $factor" 'print gw' 'print gv' >f16.gt
    gt-emit --no-at f16.gt >f16.s
    for cut in 'dp: 0' 'dp: 0, tp: 2'; do
      printf 'precision: f16\nmesh: {dp: 2, tp: 2}\nsignals: {batch: {shard: {%s}}}\n' "$cut" >f16.yaml
      gt-shard -c f16.yaml f16.s >placed
      gt-check -q placed
      gt-cmp --rtol 1e-2 --atol 1e-3 <(gt-work f16.s) <(gt-work placed)
      gt-work --threads 1 placed >one
      gt-route -n 2 --threads 1 placed | cmp - one
    done
  done
  # Every product reads f16, also where the backward reads a view of the forward.
  grep -q ' = reshape x@' placed
  [ "$(grep -c ' = matmul ' placed)" = 5 ]
  [ "$(grep ' = matmul ' placed | grep -c ' out=f32')" = 5 ]
  # It is plain lines, and only of the backward.
  run ! grep -E '= (abs|maximum) ' <(grep -v '#bwd' placed)
  grep -qE '^_s[0-9]+@0-3 = div 16384 _s[0-9]+@0-3 #bwd$' placed
  # A gradient of zeros stays one.
  sed 's/^l = mul.*/l = mul l 0/; /= div/d' f16.gt | gt-emit --no-at | gt-shard -c f16.yaml >placed
  gt-work placed | grep -c 'tensor f32.* 0 0 0' | grep -qx 2
  # In bf16 there is nothing to scale.
  sed 's/f16/bf16/' f16.yaml >bf16.yaml
  gt-shard -c bf16.yaml f16.s | grep -c 'div 16384' | grep -qx 0
}

@test "a view that waits is cut in units that it can be cut into" {
  cat >view.gt <<'END'
w1 = randn f32[2,8] 1 scale=0.4
w2 = ones f32[8]
w3 = randn f32[8,2] 5 scale=0.4
i = tensor i64[2,5] 0 1 1 1 0 0 0 0 1 1 #signal=batch #mb=0
t = tensor i64[2,5] 0 0 0 0 1 1 1 0 1 0 #signal=batch #mb=0
x = embedding w1 i #mb=0
x = rms_norm x w2 eps=0.1 #signal=norm #mb=0
y = matmul x w3 #signal=head #mb=0
l = cross_entropy y t #mb=0
g1 g2 g3 = grad l w1 w2 w3
print g1
print g2
print g3
END
  gt-emit --no-at view.gt >view.s
  for precision in f16 bf16; do
    printf '%s\n' 'mesh: {dp: 2, tp: 2}' "precision: $precision" signals: '  head: {shard: {tp: 1}}' \
      '  norm: {results: {tp: 1}}' '  batch: {shard: {dp: 0}}' >view.yaml
    run -0 --separate-stderr bash -c 'gt-shard -c view.yaml view.s >placed'
    gt-check -q placed
    gt-cmp --rtol 3e-2 --atol 1e-2 <(gt-work view.s) <(gt-work placed)
  done
}

@test "products that the backward computes again read bf16 there, too" {
  printf '%s\n' 'x = ones f32[1,4,8] #signal=l' 'w = ones f32[8,8]' 'q = matmul x w #signal=l' \
    'h = attention q q q causal=1 heads=2 #signal=l' 'z = mean h' 'g = grad z w' 'print g' >again.gt
  printf '%s\n' 'mesh: {one: 1}' 'precision: bf16' 'signals: {l: {recompute: true}}' >again.yaml
  gt-emit --no-at -c again.yaml again.gt >again.s
  run -0 --separate-stderr bash -c 'gt-shard -c again.yaml again.s >placed'
  [ -z "$stderr" ]
  gt-cmp --rtol 3e-2 --atol 1e-2 <(gt-work again.s) <(gt-work placed)
}

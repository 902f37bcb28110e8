#!/usr/bin/env bats
# The usual ways to cut models: by columns and rows, heads, data, and microbatches.

load helper

@test "a column and a row product: one sum forward, one backward if x needs it" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml >placed
  [ "$(lines all_reduce <placed)" = 1 ]
  [ "$(lines all_gather <placed)" = 0 ]
  [ "$(lines reduce_scatter <placed)" = 0 ]
  grep -q '^y@0-1 = all_reduce y@0-1 over=tp' placed
  same_values pair.gt -c tp2.yaml
  sed -e 's/^gu gd = grad l u d/gx gu gd = grad l x u d/' \
    -e 's/print gu/print gx/' pair.gt >deeper.gt
  gt-emit deeper.gt | gt-shard -c tp2.yaml >placed
  [ "$(lines all_reduce <placed)" = 2 ]
  grep -q '^gx@0-1 = all_reduce gx@0-1 over=tp .*#bwd' placed
  same_values deeper.gt -c tp2.yaml
}

@test "GT's form: the same products over workers, stages on others" {
  cat >stages.gt <<'END'
x = randn f32[8,16] 1
w1 = randn f32[16,6] 2
w2 = randn f32[6,4] 3
w3 = randn f32[4,4] 4
h = matmul x w1 #signal=pp_stage0_colpar
h = matmul h w2 #signal=pp_stage0_rowpar
h = copy h #signal=stage0_to_stage1
y = matmul h w3 #signal=pp_stage1
l = sum y
g1 g3 = grad l w1 w3
print y
print g1
print g3
END
  cat >gt.yaml <<'END'
# Column parallel - splits output features
pp_stage0_colpar:
  shard:
    axis: 1
    workers: [0, 1]
# Row parallel - splits input features
pp_stage0_rowpar:
  shard:
    axis: 0
    workers: [0, 1]
stage0_to_stage1:
  workers: [2, 3]
pp_stage1:
  shard:
    replicated: true
    workers: [2, 3]
END
  gt-emit stages.gt | gt-shard -c gt.yaml >placed
  grep -qx 'mesh workers=4' placed
  grep -q '^w1@0-1 = randn f32\[16,6\] 2 split=workers:1' placed
  grep -q '^w2@0-1 = randn f32\[6,4\] 3 split=workers:0' placed
  grep -q '@2-3 = copy [A-Za-z0-9_]*@0' placed
  gt-check -q placed
  grep -q '^y@2-3 = matmul h@2-3 w3@2-3 ' placed
  same_values stages.gt -c gt.yaml
}

@test "GT's form: -n says how many all are" {
  printf 'x = rand f32[7,2] 1 #signal=s\nprint x\n' >p.gt
  printf 's: {shard: {axis: 0, workers: null}}\n' >s.yaml
  gt-emit p.gt | gt-shard -c s.yaml -n 3 >placed
  grep -q '^x@0-2 = rand f32\[7,2\] 1 split=workers:0' placed
  same_values p.gt -c s.yaml -n 3
  run -3 --separate-stderr gt-shard -c s.yaml p.gt
  [[ $stderr == *"s.yaml:1: "*"-n"* ]]
}

@test "data parallel: each gradient is summed once, and the loss at its print" {
  cat >dp.gt <<'END'
x = randn f64[7,5] 1 #signal=batch
t = randn f64[7,3] 2 #signal=batch
w = randn f64[5,3] 3
b = zeros f64[3]
y = linear x w b
l = mse y t
gw gb = grad l w b
w = sgd w gw 0.1
b = sgd b gb 0.1
print l
print w
print b
END
  printf 'mesh: {dp: 3}\nsignals: {batch: {shard: {dp: 0}}}\n' >dp.yaml
  gt-emit dp.gt | gt-shard -c dp.yaml >placed
  [ "$(lines all_reduce <placed)" = 3 ]
  for name in gw gb l; do
    grep -q "^$name@0-2 = all_reduce $name@0-2 over=dp" placed
  done
  same_values dp.gt -c dp.yaml
}

@test "microbatches: gradients accumulate as parts of a sum, one sum in the end" {
  cat >mb.gt <<'END'
w = randn f64[5,3] 3
x = randn f64[6,5] 1 #signal=batch
l = sum x
END
  for i in 0 1 2; do
    cat >>mb.gt <<END
x$i = randn f64[6,5] $i #signal=batch #mb=$i
h$i = matmul x$i w #mb=$i
l$i = sum h$i #mb=$i
g$i = grad l$i w
END
  done
  cat >>mb.gt <<'END'
g = add g0 g1
g = add g g2
w = sgd w g 0.1
print w
END
  printf 'mesh: {dp: 2}\nsignals: {batch: {shard: {dp: 0}}}\n' >dp.yaml
  gt-emit mb.gt | gt-shard -c dp.yaml >placed
  [ "$(lines all_reduce <placed)" = 1 ]
  same_values mb.gt -c dp.yaml
}

# two_stages writes stages.yaml, of a pipeline of the signals first and last.
two_stages() {
  printf '%s\n' 'mesh: {pp: 2}' 'signals:' '  first: {on: {pp: 0}}' '  last: {on: {pp: 1}}' >stages.yaml
}

@test "a tied table: a stage adds up its part of the gradient, which is sent once a step" {
  local k
  cat >tied.gt <<'END'
table = randn f64[6,4] 1 #signal=first
ids = tensor i64[3,2] 0 3 5 3 1 5 #signal=first
END
  for k in 0 1 2; do
    cat >>tied.gt <<END
x = slice ids $k #signal=first #mb=$k
h = embedding table x #signal=first #mb=$k
z = matmul h table tb=1 #signal=last #mb=$k
l = square_sum z #mb=$k
$([[ $k != 0 ]] || echo g = grad l table)
$([[ $k == 0 ]] || printf 'd = grad l table\ng = add g d #mb=%s' $k)
END
  done
  printf '%s\n' 'free d' 'table = sgd table g 0.1' 'print table' 'print l' >>tied.gt
  two_stages
  gt-emit --no-at tied.gt >tied.s
  gt-shard -c stages.yaml tied.s >placed
  grep -E '^[dg]@|rest of|@1 = copy table|@0 = copy .*add needs' placed | sed 's/ #signal=[a-z]*//' | diff - <(
    cat <<'END'
_s1@1 = copy table@0 #mb=0 #why="matmul needs it so"
_s2@1 = copy _e2@1 #mb=0 #bwd #why="the rest of g"
g@0 = copy _e0@0 #mb=0 #bwd #grad=table
_s3@1 = copy _e2@1 #mb=1 #bwd #why="the rest of d"
d@0 = copy _e0@0 #mb=1 #bwd #grad=table
g@0 = add g@0 d@0 #mb=1
_s2@1 = add _s2@1 _s3@1 #mb=1 #why="the rest of g"
_s3@1 = copy _e2@1 #mb=2 #bwd #why="the rest of d"
d@0 = copy _e0@0 #mb=2 #bwd #grad=table
g@0 = add g@0 d@0 #mb=2
_s2@1 = add _s2@1 _s3@1 #mb=2 #why="the rest of g"
_s3@0 = copy _s2@1 #why="add needs it so"
g@0 = add g@0 _s3@0 #why="the rest of g"
END
  )
  same_values tied.gt -c stages.yaml
  # A schedule orders the same lines.
  { cat stages.yaml && echo 'schedule: {kind: 1f1b}'; } >1f1b.yaml
  gt-shard -c 1f1b.yaml tied.s >ordered
  [ "$(grep -c ' = copy .*@1 .*add needs' ordered)" = 1 ]
  gt-work --threads 1 ordered >one
  gt-shard -c stages.yaml tied.s | gt-work --threads 1 | cmp - one
  # Parts over dp are summands still when they are sent, and summed once.
  sed 's/pp: 2}/pp: 2, dp: 2}/; s/pp: 0}}/pp: 0}, shard: {dp: 0}}/' stages.yaml >dp.yaml
  gt-shard -c dp.yaml tied.s >placed
  [ "$(grep -cE '^g@0-1 = (all_reduce|reduce_scatter)' placed)" = 1 ]
  same_values tied.gt -c dp.yaml
}

@test "a tied table's gradient is whole for whatever else reads it" {
  cat >tied.gt <<'END'
table = randn f64[6,4] 1 #signal=first
x = tensor i64[2] 0 3 #signal=first
h = embedding table x #signal=first #mb=0
z = matmul h table tb=1 #signal=last #mb=0
l = square_sum z #mb=0
g = grad l table
a = copy g #mb=0
b = copy a #mb=0
print a
h = embedding table x #signal=first #mb=1
z = matmul h table tb=1 #signal=last #mb=1
l = square_sum z #mb=1
d = grad l table
c = add d b #mb=1
g = add d d #mb=1
d = copy d #mb=1
n = mul d d #mb=1
print n
print d
free d
print g
print b
print c
free table
END
  two_stages
  gt-emit tied.gt | gt-shard -c stages.yaml >s
  grep -q 'the rest of c' s
  same_values tied.gt -c stages.yaml
  # Each register of ours is freed.
  diff <(grep -oE '^_s[0-9]+@[0-9]' s | sort -u) \
    <(grep '^free' s | grep -oE '_s[0-9]+@[0-9]' | sort -u)
  # Sums of halves are rounded no more often than in the program.
  sed 's/f64/bf16/' tied.gt | gt-emit - | gt-shard -c stages.yaml >s
  run -1 grep 'the rest of' s
}

@test "a tied table's gradient has names of which the lines ahead know only some" {
  cat >names.gt <<'END'
table = randn f64[3,3] 1 #signal=first
w = randn f64[3,3] 2
x = tensor i64[2,2] 0 0 0 2 #signal=first
h = embedding table x #signal=first #mb=0
z = matmul h table tb=1 #signal=last #mb=0
l = square_sum z #mb=0
d = grad l table
e = copy d #mb=0
g = copy d #mb=0
h = embedding table x #signal=first #mb=1
h = matmul h w #signal=last #mb=1
z = matmul h table tb=1 #signal=last #mb=1
l = square_sum z #mb=1
d f = grad l table w
n = mul d g #mb=1
print n
print e
END
  printf 'mesh: {pp: 2, tp: 2}\nchunks: auto\nsignals:\n  first: {on: {pp: 0}, shard: {tp: 0}}\n  last: {on: {pp: 1}, shard: {tp: 1}}\n' >c.yaml
  same_values names.gt -c c.yaml
}

@test "q, k and v of one weight are cut by heads, and nothing is gathered" {
  cat >qkv.gt <<'END'
x = randn f32[2,8,12] 1
w = randn f32[3,1,12,12] 2 scale=0.1 #signal=qkv
o = randn f32[12,12] 3 scale=0.1 #signal=proj
qkv = matmul x w #signal=qkv
q k v = split qkv
q = squeeze q axis=0
k = squeeze k axis=0
v = squeeze v axis=0
a = attention q k v heads=4 causal=1
y = matmul a o #signal=proj
l = mean y
g = grad l w
print l
print g
END
  printf 'mesh: {tp: 2}\nsignals:\n  qkv: {shard: {tp: -1}}\n  proj: {shard: {tp: 0}}\n' >qkv.yaml
  gt-emit qkv.gt | gt-shard -c qkv.yaml >placed
  run -0 grep -o '[a-z_]* [^ ]* over=tp' placed
  [ "$output" = 'all_reduce l@0-1 over=tp' ]
  gt-check -q placed
  gt-emit qkv.gt | gt-work >whole
  gt-work placed >pieces
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-5 whole pieces
}

@test "zeros that become a bias are cut as the bias is" {
  printf 'x = randn f32[3,5] 1\nw = randn f32[5,8] 2\nb = zeros f32[8]\nz = linear x w b\ni o = split z axis=1\no = exp o\nl = sum o\ng = grad l b\nb = sgd b g 0.1\nprint b\n' >b.gt
  printf 'mesh: {dp: 2, tp: 2}\ntensors: {w: {shard: {dp: 1, tp: 0}}}\n' >b.yaml
  gt-emit b.gt | gt-shard -c b.yaml >placed
  # The bias begins as summands over the axis that cuts the dimension of the
  # product's sum.
  grep -q '^b@0-3 = zeros f32\[8\] split=dp:0 #type=tp:P' placed
  gt-check -q placed
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-6 <(gt-emit b.gt | gt-work) <(gt-work placed)
}

@test "a value that one rank has whole is copied, not gathered" {
  printf 'mesh: {tp: 2}\nsignals:\n  rows: {shard: {tp: 0}}\n  one: {on: {tp: 0}}\n' >one.yaml
  printf 'x = rand f32[4,4] 1 #signal=rows\ny = mul x 2 #signal=one\nz = add x 1 #signal=rows\nprint y\nprint z\n' >one.gt
  gt-emit one.gt | gt-shard -c one.yaml >placed
  # x was gathered on rank 0 for y, and z's ranks copy it from there.
  grep -q '^y@0 = mul x@0 2' placed
  grep -q ' = copy x@0 #' placed
  [ "$(lines all_gather <placed)" = 0 ]
  gt-check -q placed
  same_values one.gt -c one.yaml
}

@test "a cut goes from one dimension to another by one exchange, even or not" {
  printf 'mesh: {dp: 2, tp: 3}\nsignals:\n  rows: {shard: {tp: 0}}\n  cols: {results: {tp: 1}}\n' >move.yaml
  for sizes in 6,9 7,9 6,10 7,11 1,2; do
    printf 'x = rand f32[%s] 1 #signal=rows\ny = mul x 2 #signal=cols\nprint y\n' "$sizes" >move.gt
    gt-emit move.gt | gt-shard -c move.yaml >placed
    [ "$(lines all_to_all <placed)" = 1 ]
    [ "$(lines all_gather <placed)" = 0 ]
    gt-check -q placed
    same_values move.gt -c move.yaml
  done
  # An all_to_all of even parts is written without shape=.
  sed -i 's/1,2/6,9/' move.gt
  gt-emit --no-at move.gt | gt-shard -c move.yaml >placed
  grep -q ' = all_to_all .* over=tp src=S0 dst=S1 #why=' placed
}

# Prints a layer of a transformer whose sequence is cut between its products, with
# its gradient.
sequence_layer() {
  printf '%s = randn f32[32,32] 1 scale=0.2 #signal=hidden\n' q k v
  echo 'o = randn f32[32,32] 4 scale=0.2 #signal=out'
  echo 'up = randn f32[32,128] 5 scale=0.2 #signal=hidden'
  echo 'down = randn f32[128,32] 6 scale=0.2 #signal=out'
  printf '%s = ones f32[32]\n' n m
  echo 'x = randn f32[4,32,32] 7 #signal=residual'
  echo 'h = rms_norm x n #signal=norm'
  printf '%s2 = matmul h %s #signal=hidden\n' q q k k v v
  echo 'a = attention q2 k2 v2 causal=1 heads=4 #signal=hidden'
  echo 'a = matmul a o #signal=out'
  echo 'x = add x a #signal=residual'
  echo 'h = rms_norm x m #signal=norm'
  echo 'h = matmul h up #signal=hidden'
  echo 'h = relu h #signal=hidden'
  echo 'h = matmul h down #signal=out'
  echo 'x = add x h #signal=residual'
  echo 'x = mul x x #signal=residual'
  echo 'l = mean x'
  printf 'g%s ' q k v o up down n m
  echo '= grad l q k v o up down n m'
  printf 'print g%s\n' q k v o up down n m
}

# Prints how many bytes a rank sends in such collectives, given gt-shard's summary.
sent() { sed -nE 's/.*: (all_gather|reduce_scatter|all_to_all): .*, (.*) MB.*/\2/p' | awk '{s += $1} END {print s * 1e6}'; }

@test "sequence parallel: products that read the same value gather it once" {
  { sed 's/tp: 2/tp: 4/' "$GT_ROOT/configs/sequence-parallel.yaml"; echo 'machine: {latency: 1e-9}'; } >sp.yaml
  sequence_layer >layer.gt
  gt-emit --no-at layer.gt | gt-shard -c sp.yaml --summary 2>told >placed
  gt-check -q placed
  # Before each pair of products and behind it, forward and backward: f32[4,32,32].
  [ "$(sent <told)" = $((8 * 4 * 4 * 32 * 32 * 3 / 4)) ]
  [ "$(lines all_to_all <placed)" = 0 ]
  gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-emit layer.gt | gt-work) <(gt-work placed)
  # A cast is gathered in place of what it is the cast of, and its views as well.
  printf 'precision: bf16\nsums: bf16\n' >>sp.yaml
  gt-emit --no-at layer.gt | gt-shard -c sp.yaml --summary 2>told >placed
  gt-check -q placed
  [ "$(sent <told)" = $((4 * 4 * 4 * 32 * 32 * 3 / 4)) ]
  sed -i '/^sums/d' sp.yaml
  gt-cmp --rtol 2e-2 --atol 1e-3 <(gt-emit layer.gt | gt-shard -c <(echo 'precision: bf16') | gt-work) \
    <(gt-emit layer.gt | gt-shard -c sp.yaml | gt-work)
}

@test "a line is held for those behind it only where that may save bytes, and a print releases it" {
  printf 'mesh: {tp: 2}\nsignals: {s: {shard: {tp: 0}}}\n' >tp.yaml
  printf '%s\n' 'x = randn f32[8,8] 1 #signal=s' 'w = randn f32[8,8] 2 #signal=s' 'x = mul x 1' \
    'w = mul w 1' 'y = matmul x w' 'print y' >line.gt
  mkfifo in out
  spawn bash -c 'exec gt-shard -c tp.yaml <in >out'
  exec 8>in 9<out
  cat line.gt >&8
  until read -r -t 20 line <&9 && [[ $line == print* ]]; do [ -n "$line" ]; done
  exec 8>&-
  cat <&9 >rest
  exec 9<&-
  wait "${spawned[@]}"
}

@test "a forward product pays for the sum that it owes, also in a microbatch" {
  # To move x and add up what each rank makes of it is dearer than to gather w, but
  # not if only the next line pays for the sum.
  printf '%s\n' 'mesh: {dp: 8}' 'signals:' '  batch: {results: {dp: 0}}' 'tensors:' \
    '  w: {shard: {dp: 0}}' >cut.yaml
  printf '%s #mb=0\n' 'x = randn f32[32,128,256] 1' 'h = mul x 1 #signal=batch' 'w = randn f32[256,1024] 2' \
    'y = matmul h w' 'y = gelu y' 'y = sum y' | gt-emit --no-at >noted
  sed 's/ #mb=0//' noted | gt-shard -c cut.yaml >plain
  grep -q '= all_gather w@' plain
  gt-shard -c cut.yaml noted | sed 's/ #mb=0//' | cmp plain -
}

#!/usr/bin/env bats
# A placed program means what the program meant: its sums, its failures, and what
# its notes say. A dimension that two axes cut is not gathered for that.

load helper

# ---- axes together --------------------------------------------------------------

@test "a sum over a dimension that two axes cut gathers nothing" {
  cat >loss.gt <<'END'
x = randn f32[512,64] 1 #signal=batch
w = randn f32[64,4] 3
b = randn f32[4] 4
h = linear x w b
h = gelu h
t = randn f32[512,4] 2 #signal=batch
l = mse h t
q = norm h axis=0
gw gb = grad l w b
print l
print q
print gw
print gb
END
  gt-emit loss.gt >loss.s
  for cuts in 'dp+tp: 0' 'dp: 0, tp: 0' 'tp: 0, dp: 0'; do
    printf 'mesh: {dp: 2, tp: 2}\noverlap: false\nsignals: {batch: {shard: {%s}}}\n' "$cuts" >two.yaml
    gt-shard -c two.yaml loss.s >placed
    # The loss, the norm and two gradients are each summed over both axes at once.
    run -0 grep -c ' = all_reduce .* over=dp+tp' placed
    [ "$output" = 4 ]
    run ! grep -E ' = (convert|all_gather|all_to_all|reduce_scatter) |over=(dp|tp) ' placed
    gt-check -q placed
    gt-cmp --rtol 1e-4 --atol 1e-5 <(gt-work loss.s) <(gt-work placed)
  done
}

@test "axes are weighed together, and --explain says so" {
  # x is smaller than its sum. So over tp alone a gather of it is faster than the sum;
  # over both axes one sum is faster than a gather and a sum.
  printf 'x = ones u8[4] #signal=s\nl = sum x\nprint l\n' >none.gt
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {s: {shard: {dp: 0, tp: 0}}}\n' >two.yaml
  gt-shard -c two.yaml --explain none.gt >placed 2>said
  grep -q '^    dp+tp: each by itself: ' said
  grep -q '^  \* dp+tp: x.0 cut, summed: ' said
  run ! grep -E '^  \* tp: ' said
  run ! grep all_gather placed
  gt-check -q placed
}

@test "classes that two axes cut: a loss and its gradient without gathered logits" {
  printf 'x = randn f32[6,64] 1 #signal=c\nt = tensor i64[6] 0 63 16 15 31 32\ny = mul x 2\nl = cross_entropy y t\ng = grad l x\nprint l\nprint g\n' >v.gt
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {dp: 1, tp: 1}}}\n' >c.yaml
  gt-emit v.gt | gt-shard -c c.yaml >placed
  run ! grep -E 'all_gather|all_to_all' placed
  gt-check -q placed
  same_values v.gt -c c.yaml
}

# ---- failures -------------------------------------------------------------------

@test "a class out of range fails over a cut vocabulary, too, and in the gradient" {
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {tp: 1}}}\n' >v.yaml
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {dp: 0, tp: 1}}}\n' >rows.yaml
  for class in -100 -1 64 99; do
    for reduction in mean sum none; do
      printf 'x = randn f32[4,64] 1 #signal=c\nt = tensor i64[4] 1 2 3 %s\ny = mul x 2\nk = cross_entropy y t reduction=%s\nl = sum k\ng = grad l x\nprint l\nprint g\n' \
        "$class" "$reduction" | gt-emit >p.s
      for config in v rows; do
        gt-shard -c $config.yaml p.s >placed
        gt-check -q placed
        run -1 --separate-stderr gt-work placed
        [ "${#lines[@]}" = 2 ]
        [[ ${lines[0]} == "l = fail "*"index $class is out of range, which is 0 to 63"* ]]
        [[ ${lines[1]} == "g = fail "*"index $class is out of range, which is 0 to 63"* ]]
      done
    done
  done
}

@test "a line that fails fails in the placed program, too, even if nobody reads it" {
  cat >unread.gt <<'END'
a = load "none.npy" f32[4,4] #signal=s
b = tensor i64[2] 1 2
c = tensor i64[2] 0 1
d = floordiv b c
x = load "gone.npy" f32[4]
y = mul x 2
x = ones f32[2]
free y
z = load "away.npy" f32[4,4] #signal=s
z = ones f32[3]
print x
END
  printf 'mesh: {tp: 2}\nsignals: {s: {shard: {tp: 1}}}\n' >s.yaml
  gt-shard -c s.yaml unread.gt >placed
  gt-check -q placed
  # The loads run on one rank, unless the config says how they are cut.
  grep -q '^a@0-1 = load "none.npy" f32\[4,4\] split=tp:1' placed
  grep -q '^z@0-1 = load "away.npy" f32\[4,4\] split=tp:1' placed
  grep -q '^_s0@0 = load "gone.npy" f32\[4\]' placed
  grep -q '^free _s0@0$' placed
  run -1 --separate-stderr gt-work placed
  lines_are 'x = tensor f32[2] 1 1'
  for name in none gone away; do
    [[ $stderr == *"load: $name.npy: No such file or directory"* ]]
  done
  [[ $stderr == *"floordiv: integer division by zero"* ]]
  gt-shard -c s.yaml --explain unread.gt 2>said >/dev/null
  grep -A 1 '^unread.gt:5: ' said | grep -q -- '-> R@0, read by nobody'
  printf 'mesh: {tp: 2}\n' >m.yaml
  # A line that is read is written once, and an unread line that cannot fail is left
  # out.
  printf 'w = load "none.npy" f32[4]\nv = randn f32[4] 1\nprint w\n' | gt-shard -c m.yaml >placed
  run -0 grep -c 'load' placed
  [ "$output" = 1 ]
  run ! grep randn placed
}

# ---- sums of halves -------------------------------------------------------------

@test "parts of a sum of halves are summed in f32, whatever their signs" {
  cat >signs.gt <<'END'
x = tensor f16[2,4] 60000 60000 -60000 -60000 1 2 3 4 #signal=c
w = ones f16[4,2]
b = ones f16[2]
y = sum x axis=1
s = sum x
m = matmul x w
l = linear x w b
e = mse x 0 reduction=sum
print y
print s
print m
print l
print e
END
  printf 'mesh: {tp: 2}\nsignals: {c: {shard: {tp: 1}}}\n' >one.yaml
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {dp: 0, tp: 1}}}\n' >both.yaml
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {dp: 1, tp: 1}}}\n' >twice.yaml
  for config in one both twice; do
    gt-shard -c $config.yaml signs.gt >placed
    gt-check -q placed
    diff <(gt-work signs.gt) <(gt-work placed)
  done
  # A sum in f32 is not narrowed to f16 before its parts have been added up.
  printf 'x = tensor f32[4] 60000 60000 -60000 -60000 #signal=c\ns = sum x\nc = cast s f16\nprint c\n' >cast.gt
  printf 'mesh: {tp: 2}\nsignals: {c: {shard: {tp: 0}}}\n' >c.yaml
  gt-shard -c c.yaml cast.gt >placed
  gt-check -q placed
  run -0 gt-work placed
  lines_are 'c = tensor f16[] 0'
}

@test "products and gradients of halves, cut in any way, are the whole's to a digit" {
  for dtype in f16 bf16; do
    printf 'x = randn %s[64,512] 1 #signal=s\nw = randn %s[512,8] 2\nb = randn %s[8] 3\ny = linear x w b\nn = layer_norm y b b\nl = sum n\ng gb = grad l w b\nprint y\nprint g\nprint gb\n' \
      $dtype $dtype $dtype >p.gt
    gt-emit p.gt >p.s
    gt-work p.s >whole
    digits=8e-3
    [ $dtype = bf16 ] || digits=1e-3
    for cut in 'dp: 0' 'tp: 1' 'dp: 0, tp: 1' 'dp: 1, tp: 1' 'dp: 0, tp: 0'; do
      printf 'mesh: {dp: 2, tp: 4}\nsignals: {s: {shard: {%s}}}\n' "$cut" >p.yaml
      gt-shard -c p.yaml p.s >placed
      gt-check -q placed
      gt-work placed >out
      gt-cmp --rtol $digits --atol $digits <(grep '^y' whole) <(grep '^y' out)
      gt-cmp --rtol 0.05 --atol 0.5 whole out
    done
  done
}

@test "softmax, its losses and variances of halves that are cut are computed in f32" {
  # 70000 is beyond f16, and so is the square of 300.
  cat >wide.gt <<'END'
x = full f16[2,70000] 1 #signal=c
t = tensor i64[2] 69999 0
p = softmax x
l = log_softmax x
e = cross_entropy x t
k = cross_entropy x t reduction=sum
ge = grad e x
gk = grad k x
a = randn f16[4096] 1 scale=200 #signal=v
v = var a
r = randn f16[8,512] 3 #signal=c
s = softmax r
n = norm s
gr = grad n r
i = zeros i64[8]
c = cross_entropy r i reduction=sum
gc = grad c r
w = cross_entropy x t out=f32
gw = grad w x
u = cross_entropy r i out=f32 label_smoothing=0.1
gu = grad u r
print p
print l
print e
print k
print ge
print gk
print v
print s
print gr
print c
print gc
print w
print gw
print u
print gu
END
  gt-emit wide.gt >wide.s
  gt-work wide.s >whole
  run ! grep -E 'inf|nan' whole
  for cut in 'tp: 1' 'dp: 1, tp: 1' 'dp: 0, tp: 1'; do
    printf 'mesh: {dp: 2, tp: 2}\nsignals: {c: {shard: {%s}}, v: {shard: {tp: 0}}}\n' "$cut" >wide.yaml
    gt-shard -c wide.yaml wide.s >placed
    # At most losses are gathered, which are one number a row.
    run ! grep -E 'all_gather .* (over=tp|src=S1)|all_to_all' placed
    gt-check -q placed
    gt-cmp --rtol 2e-3 --atol 1e-6 whole <(gt-work placed)
  done
}

@test "the gradient of a weight of halves is scattered in f32, its note on the last line" {
  printf 'x = randn f16[64,6] 1 #signal=batch\nw = randn f16[6,4] 2\nh = matmul x w\nl = mean h\ng = grad l w\nw = sgd w g 0.1\nprint w\n' >h.gt
  printf 'mesh: {dp: 2}\nmachine: {latency: 1e-9}\nsignals: {batch: {shard: {dp: 0}}}\ntensors: {w: {shard: {dp: 1}}}\n' >z.yaml
  gt-emit --no-at h.gt | gt-shard -c z.yaml >placed
  grep -q '^g@0-1 = reduce_scatter g@0-1 over=dp dst=S1 #bwd #why=' placed
  grep -q '^g@0-1 = cast g@0-1 f16 #bwd #grad=w #why="parts are summed in f32"' placed
  run -0 grep -c '#grad=w' placed
  [ "$output" = 1 ]
  gt-check -q placed
  gt-cmp --rtol 2e-3 --atol 1e-3 <(gt-emit h.gt | gt-work) <(gt-work placed)
}

@test "a product of halves is added up in f32, and what is sent is a choice" {
  cat >half.gt <<'END'
x = randn bf16[8,16] 1 #signal=batch
m = randn f32[16,12] 2 #signal=col
n = randn f32[12,16] 3 #signal=row
u = cast m bf16 #signal=col
d = cast n bf16 #signal=row
h = matmul x u #signal=col
y = matmul h d #signal=row
y = cast y f32
l = mean y
gm gn = grad l m n
print y
print gm
print gn
END
  cat >f32.yaml <<'END'
mesh: {dp: 2, tp: 2}
signals:
  batch: {shard: {dp: 0}}
  col: {shard: {tp: 1}}
  row: {shard: {tp: 0}}
END
  { echo 'sums: bf16'; cat f32.yaml; } >bf16.yaml
  sed 's/bf16/f16/' bf16.yaml >f16.yaml
  sed 's/row: {/row: {sums: bf16, /' f32.yaml >row.yaml
  gt-emit --no-at half.gt >half.s
  # The gradient of a weight in f32 is not rounded on the way.
  grep -q '^gm = matmul x _e[0-9]* ta=1 out=f32 #signal=col #bwd #grad=m$' half.s
  for sums in f32 bf16 f16 row; do
    gt-shard -c $sums.yaml --summary half.s >$sums.s 2>$sums.sum
    gt-check -q $sums.s
    gt-cmp --rtol 1e-2 --atol 0.3 <(gt-work half.s) <(gt-work $sums.s)
    # No product reads operands that were widened for it.
    run ! grep -E '^_s[0-9].* = cast [a-z_0-9]*@.* f32' $sums.s
  done
  grep -q '^y@0-3 = matmul .* out=f32 #signal=row$' f32.s
  grep -q '^y@0-3 = cast y@0-3 bf16 .*"parts are summed in f32"$' f32.s
  grep -q '^y@0-3 = matmul h@0-3 d@0-3 #signal=row$' bf16.s
  grep -q '^gm@0-3 = cast gm@0-3 bf16 .*"the sum is sent in bf16"$' bf16.s
  grep -q '^gm@0-3 = cast gm@0-3 f32 .*"the sum is sent in bf16"$' bf16.s
  run -0 grep -c 'sent in bf16' row.s
  [ "$output" = 2 ] # before and behind the sum of gn
  bytes() { sed -n 's/.*all_reduce: .* lines, \([0-9.]*\) MB.*/\1/p' "$1.sum"; }
  awk -v f="$(bytes f32)" -v b="$(bytes bf16)" 'BEGIN { exit !(b > 0 && b == f / 2) }'
}

@test "microbatches add up in f32, and their one sum is sent as the config says" {
  printf '%s\n' 'm = randn f32[16,12] 2' 'g = zeros f32[16,12]' >half.gt
  for k in 0 1; do
    cat <<END
x = randn bf16[8,16] $k #signal=batch #mb=$k
u = cast m bf16 #mb=$k
h = matmul x u #mb=$k
h = cast h f32 #mb=$k
l = mean h #mb=$k
d = grad l m #mb=$k
g = add g d #mb=$k
END
  done >>half.gt
  echo 'print g' >>half.gt
  printf 'sums: bf16\nmesh: {dp: 2}\nsignals: {batch: {shard: {dp: 0}}}\n' >half.yaml
  gt-emit --no-at half.gt | gt-shard -c half.yaml >placed
  gt-check -q placed
  run -0 grep -c 'all_reduce' placed
  [ "$output" = 1 ]
  grep -A1 '^g@0-1 = cast g@0-1 bf16 #why="the sum is sent in bf16"$' placed | grep -q '^g@0-1 = all_reduce'
  gt-cmp --rtol 1e-2 --atol 1e-2 <(gt-emit half.gt | gt-work) <(gt-work placed)
}

# ---- notes that claim -----------------------------------------------------------

@test "notes of types are wishes, and are left out where they would be false" {
  cat >noted.gt <<'END'
mesh tp=2
x = randn f32[4,6] 1 #type=tp:S1
w = randn f32[6,2] 2 #spec=tp,-
u = randn f32[4,2] 3 #type=tp:I
y = matmul x w #partial=tp
z = add y u #type=tp:P
q = relu z #type=tp:S0
k = relu q #type=tp:V #local
print y #type=tp:P
print q
print k
END
  printf 'mesh: {tp: 2}\n' >m.yaml
  gt-shard -c m.yaml noted.gt >placed
  run ! grep -E '#(type|spec|partial|local)' placed
  grep -qx 'x@0-1 = randn f32\[4,6\] 1 split=tp:1' placed
  grep -qx 'w@0-1 = randn f32\[6,2\] 2 split=tp:0' placed
  grep -qx 'u@0-1 = randn f32\[4,2\] 3' placed
  grep -qx 'print q@0-1 split=tp:0' placed
  [ "$(grep -c '^mesh' placed)" = 1 ]
  [ "$(gt-emit noted.gt | gt-shard -c m.yaml | grep -c '^mesh')" = 1 ]
  gt-check -q placed
  grep -v '^mesh' noted.gt >plain.gt
  gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-work plain.gt) <(gt-work placed)
  gt-shard -c m.yaml placed | cmp - placed
  # --explain says which notes were followed.
  gt-shard -c m.yaml --explain noted.gt 2>said >/dev/null
  grep -A 1 '^noted.gt:2: ' said | grep -q -- '-> tp:S1, as the line says$'
  grep -A 1 '^noted.gt:4: ' said | grep -q -- '-> R, as noted.gt:6 reads it$'
  sed -n '/^noted.gt:6: /,/->/p' said | grep -q -- '-> R, not as #type=tp:P says$'
  sed -n '/^noted.gt:7: /,/->/p' said | grep -q -- '-> tp:S0, as the line says$'
}

@test "the config overrides notes of types, and axes that its mesh lacks are ignored" {
  printf 'x = randn f32[4,6] 1 #type=tp:S1\nw = randn f32[6,2] 2 #spec=ep+tp,-\ny = matmul x w #type=tp:R\nprint y\n' >noted.gt
  printf 'mesh: {dp: 2, tp: 2}\ntensors: {x: {shard: {tp: 0}}}\n' >first.yaml
  gt-shard -c first.yaml noted.gt >placed
  grep -qx 'x@0-3 = randn f32\[4,6\] 1 split=tp:0' placed
  grep -qx 'w@0-3 = randn f32\[6,2\] 2 split=tp:0' placed
  gt-check -q placed
  gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-work noted.gt) <(gt-work placed)
  # The entry of a product's scope also overrides the note of its weight.
  printf 'mesh: {tp: 2}\nsignals: {row: {shard: {tp: 1}}}\n' >scope.yaml
  sed 's/ #type=tp:R/ #signal=row/' noted.gt | gt-shard -c scope.yaml >placed
  grep -qx 'w@0-1 = randn f32\[6,2\] 2 split=tp:1' placed
}

@test "gt-shard takes what gt-check writes of an unplaced program" {
  printf 'mesh tp=2\nx = randn f32[4,6] 1 #type=tp:S1\nw = randn f32[6,4] 1 #type=tp:S0\ny = matmul x w\nz = relu x\nprint z\n' >given.gt
  gt-check given.gt >noted.gt
  grep -q '^y = matmul x w #type=tp:P' noted.gt
  printf 'mesh: {tp: 2}\n' >m.yaml
  gt-shard -c m.yaml noted.gt >placed
  run ! grep '#type=' placed
  gt-shard -c m.yaml given.gt | cmp - placed
}

@test "lines with ranks among others mean the meshes of the input, all of them" {
  cat >p.gt <<'END'
mesh dp=2 cp=2
axis world=dp*cp
a = ones f32[4,4]
p@0-3 = ones f32[2]
q@0-3 = all_reduce p@0-3 over=world
print q@0
b = add a 1
mesh tp=4
r@0-3 = all_reduce p@0-3 over=tp
print r@1
endmesh
c = add b 1
s@0-3 = all_reduce p@0-3 over=world
print s@2
print c
END
  gt-emit p.gt | gt-work | sort >wanted
  printf 'mesh: {tp: 2}\ntensors: {a: {shard: {tp: 0}}}\n' >m.yaml
  gt-shard -c m.yaml p.gt >p.s
  grep -q '^a@0-1 = ones f32\[4,4\] split=tp:0' p.s
  gt-work p.s | sort | cmp - wanted
}

@test "a rank may have no head of queries and keys that share heads" {
  printf '%s = randn f32[1,2,3,4] %s #signal=s\n' q 1 k 2 v 3 >heads.gt
  printf 'o = attention q k v enable_gqa=1\nprint o\n' >>heads.gt
  printf 'mesh: {tp: 3}\nsignals: {s: {shard: {tp: 1}}}\n' >three.yaml
  gt-emit heads.gt >heads.s
  gt-shard -c three.yaml heads.s >placed
  gt-check -q placed
  gt-cmp --rtol 1e-5 <(gt-work heads.s) <(gt-work placed)
}

@test "no gradient goes through an optimizer that is written as its expansion" {
  # Of fewer elements a gather costs less than a sum over ranks, and nothing is expanded.
  printf 'mesh: {dp: 2}\nsignals: {batch: {shard: {dp: 0}}}\n' >two.yaml
  local step
  for step in 'h = clip x 0.5' 'h k = clip x u 0.5' 'x = clip x 0.5' 'h = sgd x u 0.5' \
    'h v = sgd x u v 0.5 momentum=0.9' 'h m v = adamw x u m v 1 0.1'; do
    printf '%s\n' 'x = randn f32[64] 1 #signal=batch' 'u = randn f32[64] 2 #signal=batch' \
      'm = zeros f32[64]' 'v = zeros f32[64]' 'z = copy x' "${step//x/z}" 'l = sum h' >step.gt
    sed -i "s/sum h/sum ${step%% *}/; s/sum x/sum z/" step.gt
    gt-emit step.gt | gt-shard -c two.yaml | sed '$d' >placed
    printf 'g@0-1 = grad l@0-1 x@0-1\n#end 0\n' >>placed
    gt-emit placed 2>said >placed.s
    grep -q 'the loss does not depend on x' said
    grep -q '^g@0-1 = zeros ' placed.s
  done
}

#!/usr/bin/env bats
# What a user sees of gt-shard: a program and a few lines of YAML become a placed
# stream. tests/oracle/shard.py and shard_programs.py test that its values are right
# for every op and for many programs.

load helper

# ---- the program itself --------------------------------------------------------

@test "help and version are on standard output" {
  run -0 --separate-stderr gt-shard --help
  [ -z "$stderr" ]
  [[ $output == *"--explain"* && $output == *"gt-config(5)"* ]]
  run -0 --separate-stderr gt-shard --version
  [ -z "$stderr" ]
  [[ $output == "gt-shard "* ]]
}

@test "a wrong option, a missing config, a missing stream: status 2" {
  run -2 --separate-stderr gt-shard --explian
  [[ $stderr == *"--explian"* && $output == *"#end 2"* ]]
  run -2 --separate-stderr gt-shard -c none.yaml
  [[ $stderr == *"none.yaml: No such file"* && $output == *"#end 2"* ]]
  run -2 --separate-stderr gt-shard none.gt
  [[ $stderr == *"none.gt"* ]]
  run -2 --separate-stderr gt-shard -n 0 /dev/null
  [[ $stderr == *"-n"* || $stderr == *"--ranks"* ]]
}

@test "no config and an empty config change nothing" {
  make_pair
  gt-emit pair.gt >plain
  gt-shard plain | cmp - plain
  : >empty.yaml
  gt-shard -c empty.yaml plain | cmp - plain
  echo '{}' >empty.yaml
  gt-shard -c empty.yaml plain | cmp - plain
}

@test "GT_CONFIG names the config, and -c overrides it" {
  make_pair
  gt-emit pair.gt >plain
  gt-shard -c tp2.yaml plain >placed
  GT_CONFIG=tp2.yaml gt-shard plain | cmp - placed
  echo 'mesh: {dp: 3}' >dp3.yaml
  GT_CONFIG=dp3.yaml gt-shard -c tp2.yaml plain | cmp - placed
}

@test "gt-shard fed its own output prints it unchanged" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml >placed
  gt-shard -c tp2.yaml placed 2>said | cmp - placed
  gt-shard placed | cmp - placed
}

@test "placed lines pass, and lines beside them are placed" {
  make_pair
  cat >mixed.gt <<'END'
mesh tp=2
a@0-1 = ones f32[4] split=tp:0
print a@0-1 split=tp:0
END
  gt-emit pair.gt | sed 1d >>mixed.gt
  gt-shard -c tp2.yaml mixed.gt >placed
  grep -qx 'a@0-1 = ones f32\[4\] split=tp:0' placed
  grep -q '^h@0-1 = matmul x@0-1 u@0-1 ' placed
  gt-work placed >out
  run -0 head -n 1 out
  [ "$output" = "a = tensor f32[4] 1 1 1 1" ]
}

@test "comments and notes stay, a grad without gt-emit is refused" {
  make_pair
  echo 'mesh: {tp: 2}' >mesh.yaml
  printf '# top\nx = ones f32[4] # of x\n\n# before print\nprint x #mine="a b"\n' |
    gt-shard -c mesh.yaml 2>said >out
  run -0 cat out
  lines_are '#gt 1
# top

# before print
mesh tp=2
x@0-1 = ones f32[4] # of x
print x@0 as=x #mine="a b"
#end 0'
  run -3 --separate-stderr gt-shard -c tp2.yaml pair.gt
  [[ $stderr == *"pair.gt:8: grad: run this through gt-emit"* ]]
}

@test "a stream that is cut short is reported; the status of the stage before is passed on" {
  make_pair
  printf '#gt 1\nx = ones f32[2]\nprint x\n' >cut.gt
  run -4 --separate-stderr gt-shard -c tp2.yaml cut.gt
  [[ $stderr == *"cut short after line 3"* && $output == *"#end 4" ]]
  printf '#gt 1\nx = ones f32[2]\nprint x\n#end 3\n' >failed.gt
  run -3 --separate-stderr gt-shard -c tp2.yaml failed.gt
  [[ $output == *"#end 3" ]]
}

@test "a failure spreads only to what depends on it" {
  echo 'mesh: {tp: 2}' >mesh.yaml
  printf 'a = fail "no a"\nb = add a 1 #signal=colpar\nc = ones f32[2,2] #signal=colpar\nd = add c 1\nprint b\nprint d\n' |
    gt-shard -c mesh.yaml >placed
  run -0 --separate-stderr gt-work placed
  lines_are 'b = fail "no a"
d = tensor f32[2,2] 2 2 2 2'
}

@test "a name that moves to fewer ranks is freed on the others" {
  printf 'mesh: {tp: 4}\nsignals: {two: {workers: [2]}}\n' >move.yaml
  printf 'w = full f32[4] 3\nprint w\nw = add w 1 #signal=two\nprint w\n' |
    gt-shard -c move.yaml >placed
  grep -qx 'free w@0-1,3' placed
  gt-check -q placed
  run -0 gt-work placed
  lines_are 'w = tensor f32[4] 3 3 3 3
w = tensor f32[4] 4 4 4 4'
}

@test "heads without elements are not cut" {
  printf 'mesh: {tp: 3}\nsignals: {s: {results: {tp: -1}}}\n' >none.yaml
  printf 'q = zeros f32[4,0] #signal=s\ny = attention q q q heads=2 #signal=s\nprint y\n' |
    gt-shard -c none.yaml | gt-work >out
  run -0 cat out
  lines_are 'y = tensor f32[4,0]'
}

@test "gt-shard takes no name of placed lines or of other lines" {
  printf 'mesh: {tp: 2}\nsignals: {c: {shard: {tp: 1}}}\n' >k.yaml
  printf 'mesh tp=2\n_s0@0-1 = full f32[4,4] 5\ny = randn f32[4,4] 1 #signal=c\nz = softmax y\nprint z\nprint _s0@0 as=q\n' >own.gt
  gt-shard -c k.yaml own.gt | gt-work >out
  tail -n 1 out | grep -q '^q = tensor f32\[4,4\] 5 5 5 5'
  # In the second program the name comes while gt-shard already uses it.
  printf 'y = randn f32[4,4] 1 #signal=c\nz = softmax y\nmesh tp=2\n_s0@0-1 = full f32[4,4] 5\nu = softmax y axis=0\nv = softmax y\nprint v\nprint _s0@0 as=q\n' >late.gt
  gt-shard -c k.yaml late.gt >late.s
  run -0 grep -c 'all_gather y' late.s
  gt-work late.s >out
  tail -n 1 out | grep -q '^q = tensor f32\[4,4\] 5 5 5 5'
  sed '/^mesh/d; s/^_s0@0-1/q/; s/print _s0@0 as=q/print q/' late.gt | gt-work | gt-cmp --rtol 1e-6 - out
  printf '_s0 = full f32[4,4] 5\ny = randn f32[4,4] 1 #signal=c\nz = softmax y\nprint z\nprint _s0 as=q\n' |
    gt-shard -c k.yaml | gt-work | tail -n 1 | grep -q '^q = tensor f32\[4,4\] 5 5'
}

@test "a line that mixes names with and without ranks is refused, and so is a name that is both" {
  printf 'mesh: {tp: 2}\nsignals: {c: {shard: {tp: 1}}}\n' >k.yaml
  printf 'mesh tp=2\nx@0-1 = ones f32[4]\ny = ones f32[4] #signal=c\nz@0-1 = add x@0-1 y\n' >mixed.gt
  run -3 --separate-stderr gt-shard -c k.yaml mixed.gt
  [[ $stderr == *"mixed.gt:4: "*"'y' has no ranks"* ]]
  printf 'mesh tp=2\ny = ones f32[4,4] #signal=c\nprint y\ny@0-1 = ones f32[4]\n' >both.gt
  run -3 --separate-stderr gt-shard -c k.yaml both.gt
  [[ $stderr == *"both.gt:4: "*"'y' was bound without ranks"* ]]
}

@test "gt-shard fed its own output prints it unchanged, also where a name was a failure" {
  printf '%s\n' 'x = ones f32[4]' 'g = fail "not yet"' 'g = mul x 2' 'print g' >f.gt
  printf 'mesh: {tp: 2}\ntensors: {x: {shard: {tp: 0}}}\n' >f.yaml
  gt-shard -c f.yaml f.gt >once
  grep -q '^g@0-1 = mul ' once
  run -0 --separate-stderr gt-shard -c f.yaml once
  [ -z "$stderr" ]
  cmp once - <<<"$output"
}

@test "the gradient of a mean is cut as the mean's operand is" {
  printf 'mesh: {dp: 4}\nsignals: {batch: {shard: {dp: 0}}}\n' >dp.yaml
  printf 'x = randn f32[64,8] 1 #signal=batch\nw = randn f32[8,8] 2\np = matmul x w\nh = relu p\nl = mean h\ng = grad l w\nprint g\n' >m.gt
  gt-emit m.gt >m.s
  gt-shard -c dp.yaml m.s >placed
  run ! grep -E 'convert|all_gather' placed
  gt-check -q placed
  gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-work m.s) <(gt-work placed)
  # Here no weight is cut, and only the gradient of the loss begins the backward.
  printf 'x = randn f32[64,8] 1 #signal=batch\nu = randn f32[8,8] 2\nd = randn f32[8,4] 3\nh = matmul x u\ny = matmul h d\nl = mean y\ngu gd = grad l u d\nprint gu\nprint gd\n' >p.gt
  for loss in 'mean y' 'sum y'; do
    sed "s/l = mean y/l = $loss/" p.gt | gt-emit --no-at >p.s
    gt-shard -c dp.yaml p.s >placed
    run ! grep -E 'convert|all_gather' placed
    grep -q ' = expand .* split=dp:0' placed
    gt-check -q placed
    gt-cmp --rtol 1e-4 --atol 1e-5 <(gt-work p.s) <(gt-work placed)
  done
}

@test "sums of f16 over a cut dimension overflow no sooner than over a whole one" {
  cat >half.gt <<'END'
x = full f16[64,4] 60000 #signal=s
y = mean x axis=0
m = mean x
r = randn f16[8192,16] 1 scale=10 #signal=s
t = zeros i64[8192] #signal=s
l = cross_entropy r t
v = full f16[64] 200 #signal=s
n = norm v
z = zeros f16[64] #signal=s
q = mse v z
k = layer_norm x
print y
print m
print l
print n
print q
print k
END
  printf 'mesh: {dp: 2}\nsignals: {s: {shard: {dp: 0}}}\n' >s.yaml
  printf 'mesh: {dp: 2}\nsignals: {s: {shard: {dp: -1}}}\n' >last.yaml
  for dtype in f16 bf16; do
    sed "s/f16/$dtype/" half.gt >$dtype.gt
    gt-work $dtype.gt >whole
    run ! grep -E 'inf|nan' whole
    for config in s last; do
      gt-shard -c $config.yaml $dtype.gt >placed
      gt-check -q placed
      gt-cmp --rtol 1e-2 --atol 1e-2 whole <(gt-work placed)
    done
  done
}

@test "placed lines keep the axes that they came with" {
  printf 'mesh: {tp: 2}\n' >tp.yaml
  printf 'mesh a=2 b=1\nx@0-1 = ones f32[4] split=a:0\ny = full f32[4] 2\nprint y\nprint x@0-1 split=a:0\n' >own.gt
  gt-shard -c tp.yaml own.gt >placed
  [ "$(grep 'mesh' placed)" = $'mesh a=2 b=1\nmesh tp=2\nendmesh' ]
  run -0 gt-work placed
  lines_are 'y = tensor f32[4] 2 2 2 2
x = tensor f32[4] 1 1 1 1'
}

@test "a comparison with a range is cut as its reader is" {
  printf 'mesh: {tp: 2}\ntensors: {table: {shard: {tp: 1}}}\n' >v.yaml
  printf 'table = randn f32[8,64] 0\nx = randn f32[4,8] 1\ny = tensor i64[4,1] 1 63 32 7\nz = linear x table\nr = arange i64[64]\no = eq r y\nc = cast o f32\nq = mul z c\nloss = sum q\ng = grad loss table\nprint loss\nprint g\n' >v.gt
  gt-emit v.gt >v.s
  gt-shard -c v.yaml v.s >placed
  grep -q '= arange i64\[64\] split=tp:0' placed
  run ! grep -q 'all_gather' placed
  gt-cmp --rtol 1e-5 --atol 1e-6 <(gt-work v.s) <(gt-work placed)
}

@test "without its notes a placed program gives the same bits" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml >placed
  diff <(gt-work placed) <(sed 's/ #.*//' placed | gt-work)
}

# ---- what a config does ----------------------------------------------------------

@test "parts of any size: fewer elements than ranks, none at all" {
  for n in 0 1 2 3 5; do
    printf 'x = rand f64[%d,3] 1 #signal=s\ny = mul x 2\nz = sum y axis=0\nprint y\nprint z\n' "$n" >p.gt
    printf 'mesh: {dp: 4}\nsignals: {s: {shard: {dp: 0}}}\n' >s.yaml
    gt-emit p.gt | gt-shard -c s.yaml | grep -q '^x@0-3 = .* split=dp:0'
    same_values p.gt -c s.yaml
  done
}

@test "print and save of cut values, and loads that are cut" {
  cat >p.gt <<'END'
x = randn f32[7,3] 5 #signal=s
save x "x.npy"
y = load "x.npy" f32[7,3] 0 #signal=s
z = add y 1
print x
print z
print z as=other
END
  printf 'mesh: {dp: 2, tp: 2}\nsignals: {s: {shard: {dp: 0, tp: 1}}}\n' >s.yaml
  gt-emit p.gt | gt-shard -c s.yaml >placed
  grep -q '^save x@0-3 "x.npy" split=dp:0,tp:1' placed
  grep -q '^y@0-3 = load "x.npy" f32\[7,3\] 0 split=dp:0,tp:1' placed
  same_values p.gt -c s.yaml
}

@test "random numbers do not depend on the cut" {
  cat >p.gt <<'END'
x = randn f32[7,6] 4 #signal=s
y = dropout x 0.5 9
print x
print y
END
  gt-emit p.gt | gt-work >whole
  for cut in '{dp: 0}' '{tp: 1}' '{dp: 1, tp: 0}' '{tp: 0, dp: 0}' '{dp+tp: 1}'; do
    printf 'mesh: {dp: 2, tp: 3}\nsignals: {s: {shard: %s}}\n' "$cut" >s.yaml
    gt-emit p.gt | gt-shard -c s.yaml | gt-work | cmp - whole
  done
}

@test "tensors: by name and pattern, before what a signal says" {
  printf 'w1 = rand f32[4,4] 1 #signal=s\nw2 = rand f32[4,4] 2 #signal=s\nv = rand f32[4,4] 3 #signal=s\nprint w1\nprint w2\nprint v\n' >p.gt
  cat >s.yaml <<'END'
mesh: {tp: 2}
signals:
  s: {shard: {tp: 0}}
tensors:
  w2: {shard: {}}
  w*: {shard: {tp: 1}}
END
  gt-emit p.gt | gt-shard -c s.yaml >placed
  grep -q '^w1@0-1 = .* split=tp:1' placed
  run -1 grep '^w2@0-1 = .* split=' placed
  grep -q '^v@0-1 = .* split=tp:0' placed
  same_values p.gt -c s.yaml
}

@test "moments of an optimizer are where their weight is, cut as it is or as the config says" {
  cat >adam.gt <<'END'
w0 = randn f32[8,6] 1
w1 = randn f32[6,8] 2
m0 = mul w0 0
v0 = copy m0
x = randn f32[4,8] 3
h = matmul x w0 #signal=stage0
y = matmul h w1 #signal=stage1
l = sum y
g0 g1 = grad l w0 w1
m1 = sub w1 w1
v1 = mul m1 0
w0 m0 v0 = adamw w0 g0 m0 v0 1 0.1 eps=0.1
w1 m1 v1 = adamw w1 g1 m1 v1 1 0.1 eps=0.1
print w0
print w1
print m1
END
  gt-emit adam.gt >adam.s
  printf 'mesh: {pp: 2, tp: 2}\nsignals:\n  stage0: {on: {pp: 0}, shard: {tp: 1}}\n  stage1: {on: {pp: 1}, shard: {tp: 0}}\n' >pp.yaml
  gt-shard -c pp.yaml adam.s >placed
  grep -q '^w0@0-1 m0@0-1 v0@0-1 = adamw w0@0-1 g0@0-1 m0@0-1 ' placed
  grep -q '^w1@2-3 m1@2-3 v1@2-3 = adamw w1@2-3 g1@2-3 m1@2-3 ' placed
  gt-check -q placed
  same_values adam.gt -c pp.yaml
  # For ZeRO, shard: of the moments' names is enough, in a stage, too.
  cat >zero.yaml <<'END'
mesh: {pp: 2, dp: 2}
signals:
  stage0: {on: {pp: 0}}
  stage1: {on: {pp: 1}}
tensors:
  m*: {shard: {dp: 0}}
  v*: {shard: {dp: 0}, results: {dp: 0}}
END
  gt-shard -c zero.yaml adam.s >placed
  gt-shard -c zero.yaml --explain adam.s 2>&1 >placed | grep -A 1 '<*m0 = mul w0 0' | grep -q 'dp:S0'
  run -0 grep -c '^m1@2-3 = sub _s[0-9]*@2-3 \|^print m1@2-3 split=dp:0' placed
  [ "$output" = 2 ]
  run ! grep -q '@0-3' placed
  gt-check -q placed
  same_values adam.gt -c zero.yaml
}

@test "results: of a scope says how its results are cut" {
  cat >p.gt <<'END'
x = randn f32[6,8] 1
w = randn f32[8] 2
y = rms_norm x w #signal=norm
l = sum y
g = grad l w
print y
print g
END
  printf 'mesh: {tp: 2}\nsignals: {norm: {results: {tp: 0}}}\n' >s.yaml
  gt-emit p.gt | gt-shard -c s.yaml >placed
  grep -q '^print y@0-1 split=tp:0' placed
  same_values p.gt -c s.yaml
  # The same holds for tensors that the scope creates.
  printf 'x = randn f32[6,8] 1 #signal=norm\nprint x\n' >p.gt
  gt-shard -c s.yaml p.gt >placed
  grep -q '^x@0-1 = randn .* split=tp:0' placed
  same_values p.gt -c s.yaml
}

@test "compile: writes its note, backward: names the scope of gradient lines" {
  make_pair
  cat >s.yaml <<'END'
mesh: {tp: 2}
signals:
  colpar: {shard: {tp: 1}, compile: true}
  rowpar: {shard: {tp: 0}, backward: back}
  back: {compile: true}
END
  gt-emit pair.gt | gt-shard -c s.yaml >placed
  grep -q '^h@0-1 = matmul .*#compile.*#signal=colpar' placed
  run -1 grep -q '^y@0-1 = matmul .*#compile' placed
  grep -q '^gd@0-1 = matmul .*#compile.*#signal=rowpar' placed
  same_values pair.gt -c s.yaml
}

@test "rounds of a loop come out as equal text" {
  cat >init.gt <<'END'
w = randn f32[16,6] 2
END
  cat >step.gt <<'END'
x = randn f32[8,16] 1 #signal=batch
h = matmul x w #signal=colpar
l = mean h
g = grad l w
w = sgd w g 0.1
END
  printf 'mesh: {dp: 2, tp: 2}\nsignals:\n  batch: {shard: {dp: 0}}\n  colpar: {shard: {tp: 1}}\n' >s.yaml
  gt-emit --no-at init.gt --repeat 9 step.gt -e 'print w' |
    gt-shard -c s.yaml >placed
  run -0 grep -c '^w@0-3 = sgd w@0-3 g@0-3 0.1' placed
  [ "$output" = 9 ]
  # From the second round on, each line occurs in every round.
  run -0 bash -c "grep -v '^#\|^mesh\|^print\|randn f32.16' placed | sort | uniq -c | awk '\$1 < 8' | wc -l"
  [ "$output" -le 2 ]
}

@test "gt-route's workers compute the same bits" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml >placed
  gt-work --threads 1 placed >alone
  within 60 gt-route -n 2 placed >routed
  cmp alone routed
}

@test "two axes on one dimension, as dp+tp" {
  make_pair
  printf 'mesh: {dp: 2, tp: 2}\nsignals:\n  batch: {shard: {dp+tp: 0}}\n' >s.yaml
  gt-emit pair.gt | gt-shard -c s.yaml >placed
  grep -q '^x@0-3 = randn f32\[8,16\] 1 split=dp:0,tp:0' placed
  same_values pair.gt -c s.yaml
}

@test "a weight that is printed before its first product is cut from that on" {
  cat >early.gt <<'END'
w = randn f32[8,8] 1
print w
x = randn f32[4,8] 2
y = matmul x w #signal=colpar
l = sum y
g = grad l w
w = sgd w g 0.1
y = matmul x w #signal=colpar
print y
END
  printf 'mesh: {tp: 2}\nsignals: {colpar: {shard: {tp: 1}}}\n' >early.yaml
  run -0 bash -c 'gt-emit early.gt | gt-shard -c early.yaml >placed'
  grep -q '^w@0-1 = convert w@0-1 over=tp src=R dst=S1 .*#why="the config says so"' placed
  grep -q '^print y@0-1 split=tp:1' placed
  run -1 grep -E 'all_gather|all_reduce' placed
  same_values early.gt -c early.yaml
}

@test "regather: what was gathered is gathered again" {
  cat >twice.gt <<'END'
w = randn f32[8,4] 1
i = argsort w axis=0 #signal=s
j = argsort w axis=0 descending=1 #signal=s
print i
print j
END
  printf 'mesh: {dp: 2}\ntensors: {w: {shard: {dp: 0}}}\n' >kept.yaml
  gt-emit twice.gt | gt-shard -c kept.yaml >placed
  [ "$(grep -c all_gather placed)" = 1 ]
  (cat kept.yaml && echo 'signals: {s: {regather: true}}') >again.yaml
  gt-emit twice.gt | gt-shard -c again.yaml >placed
  [ "$(grep -c all_gather placed)" = 2 ]
}

@test "regather: the next gather leaves behind the one before, and overlap: false compares" {
  {
    printf 'w%d = randn f32[6,6] %d scale=0.4\n' 1 1 2 2 3 3
    echo 'x = randn f32[4,6] 4 #signal=b'
  } >init.gt
  {
    printf '%s #signal=b\n' 'h = matmul x w1' 'h = tanh h' 'h = matmul h w2' 'h = tanh h' \
      'h = matmul h w3' 'h = tanh h' 'l = sum h'
    echo 'g1 g2 g3 = grad l w1 w2 w3'
    printf 'w%d = sgd w%d g%d 0.1\n' 1 1 1 2 2 2 3 3 3
  } >step.gt
  gt-emit --no-at init.gt --repeat 30 step.gt -e 'print l' -e 'print w1' >p.s
  printf '%s\n' 'mesh: {dp: 2}' 'regather: true' 'tensors: {w*: {shard: {dp: 0}}}' \
    'signals: {b: {shard: {dp: 0}, results: {dp: 0}}}' >on.yaml
  (cat on.yaml && echo 'overlap: false') >off.yaml
  gt-shard -c on.yaml p.s >on
  gt-shard -c off.yaml p.s >off
  # The same lines, in another order.
  cmp <(sort on) <(sort off)
  run -1 cmp -s on off
  # The letters are those of the forward's gathers and products.
  local forward='/ = (all_gather|matmul) / && !/#bwd/ && NR > 40 { printf "%s", substr($3, 1, 1); if (++n == 12) exit }'
  [ "$(awk "$forward" off)" = amamamamamam ]
  [ "$(awk "$forward" on)" = aamammaamamm ]
  gt-check -q on
  gt-work p.s >wanted
  gt-work on | gt-cmp --rtol 1e-5 wanted -
  cmp <(gt-work on) <(gt-work off)
}

@test "a load comes before the save that writes its file anew" {
  printf 'mesh: {tp: 2}\n' >two.yaml
  local path
  # shellcheck disable=SC1003 # the backslash is part of the stream
  for path in '"q.npy"' '"./q.npy"' '"\x71.npy"'; do
    printf '%s\n' 'a = ones f32[4]' 'save a "q.npy"' 'x = load "q.npy" f32[4]' \
      'b = full f32[4] 2' "save b $path" 'print x' >p
    run -0 --separate-stderr bash -c 'gt-shard -c two.yaml p | gt-work'
    [ "$output" = 'x = tensor f32[4] 1 1 1 1' ]
  done
  # A line that is placed already saves the file.
  printf '%s\n' 'mesh tp=2' 'b@0-1 = full f32[4] 2 split=tp:0' 'a = ones f32[4]' \
    'save a "q.npy"' 'x = load "q.npy" f32[4]' \
    'save b@0-1 "q.npy" split=tp:0 shape=4' 'print x' >p
  run -0 --separate-stderr bash -c 'gt-shard -c two.yaml p | gt-work'
  [ "$output" = 'x = tensor f32[4] 1 1 1 1' ]
}

@test "a load with the note #once comes before the next sync of its name space" {
  printf 'mesh: {tp: 2}\nsignals: {s: {results: {tp: 1}}}\n' >two.yaml
  printf '%s\n' 'c1/x = load "x.npy" f32[4,4] #once' 'c1/y = add c1/x 1' 'free c1/x' \
    'c1/z = load "z.npy" f32[4,4]' 'c2/x = load "x.npy" f32[4,4] #once #signal=s' '#sync c2/7' \
    '#sync c1/.a' '#sync c2/.a' 'print c1/y' 'print c1/z' >p
  run -0 --separate-stderr gt-shard -c two.yaml p
  lines_are '#gt 1
#sync c2/7
mesh tp=2
c1/_s0@0-1 = load "x.npy" f32[4,4] #once
#sync c1/.a
c2/x@0-1 = load "x.npy" f32[4,4] split=tp:1 #once #signal=s
#sync c2/.a
c1/y@0-1 = add c1/_s0@0-1 1
print c1/y@0 as=c1/y
free c1/_s0@0-1
c1/z@0-1 = load "z.npy" f32[4,4]
print c1/z@0 as=c1/z
#end 0'
}

@test "a failure without a message is rejected" {
  printf 'mesh: {tp: 2}\n' >two.yaml
  local line
  for line in 'x = fail' 'x = fail 3' 'x = fail "a" "b"' 'x = fail "a" k=1'; do
    echo "$line" >p
    run -3 --separate-stderr gt-shard -c two.yaml p
    [[ $stderr == 'gt-shard: p:1: fail: '*'; usage: y... = fail message'* ]]
  done
}

@test "a config that is no file is an error, not an empty config" {
  mkdir d
  run -2 --separate-stderr gt-shard -c d </dev/null
  [[ $stderr == *"cannot read d: Is a directory"* ]]
}

@test "a line that mixes names with and without ranks is a failure, reported at its place" {
  printf 'mesh: {tp: 2}\ntensors: {y: {shard: {}}}\n' >s.yaml
  printf 'x@0-1 = ones f32[2]\ny = ones f32[2]\nw = add x@0-1 y\nv@0-1 = add x@0-1 y\nprint w\nprint v@0\nprint y\n' >p.s
  run -3 --separate-stderr gt-shard -c s.yaml p.s
  [[ $stderr == *"p.s:3: add: 'w' has no ranks, but other names of the line have"* ]]
  [[ $stderr == *"p.s:4: add: 'y' has no ranks, but other names of the line have"* ]]
  printf '%s\n' "$output" >placed
  run -3 --separate-stderr gt-work placed
  [[ ${lines[0]} == "w = fail \"gt-shard: add: 'w' has no ranks"* ]]
  [[ ${lines[1]} == "v@0 = fail \"gt-shard: add: 'y' has no ranks"* ]]
  [ "${lines[2]}" = 'y = tensor f32[2] 1 1' ]
}

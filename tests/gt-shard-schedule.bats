#!/usr/bin/env bats
# The schedules of gt-shard: the order in which microbatches go through a pipeline.

load helper

# make_pipeline STAGES MICROBATCHES [CHUNKS [v]] writes model.gt, a step of a
# network with a layer for each chunk of a stage; and p.yaml, which places the
# layers on the stages round and round, or with v there and back. By p.yaml's
# machine a product takes a second.
make_pipeline() {
  local p=$1 m=$2 chunks=$(($1 * ${3:-1})) n=8 k i rank
  {
    echo "mesh: {pp: $p}"
    echo "machine: {flops: $((2 * n * n * n)), memory_bandwidth: 1e30, bandwidth: 1e30, latency: 1e-15}"
    echo 'signals:'
    for ((k = 0; k < chunks; ++k)); do
      rank=$((k % p))
      [[ ${4:-} != v ]] || ((k < p)) || rank=$((2 * p - 1 - k))
      echo "  c$k: {on: {pp: $rank}}"
    done
  } >p.yaml
  {
    for ((k = 0; k < chunks; ++k)); do
      echo "w$k = randn f32[$n,$n] $k scale=0.3 #signal=c$k"
    done
    echo "x = randn f32[$((m * n)),$n] 99 #signal=c0"
    step "$m" "$chunks" "$n"
  } >model.gt
}

# step MICROBATCHES CHUNKS SIZE prints the lines of one step.
step() {
  local m=$1 chunks=$2 n=$3 k i gradients='' weights=''
  for ((k = 0; k < chunks; ++k)); do
    gradients+="g$k " weights+=" w$k"
  done
  for ((i = 0; i < m; ++i)); do
    echo "h = slice x $((i * n)) axis=0 size=$n #mb=$i #signal=c0"
    for ((k = 0; k < chunks; ++k)); do
      echo "h = linear h w$k #mb=$i #signal=c$k"
      echo "h = tanh h #mb=$i #signal=c$k"
    done
    echo "l = sum h #mb=$i #signal=c$((chunks - 1))"
    echo "$gradients= grad l$weights"
    for ((k = 0; k < chunks; ++k)); do
      if ((i == 0)); then
        echo "a$k = copy g$k #mb=0 #signal=c$k"
      else
        echo "a$k = add a$k g$k #mb=$i #signal=c$k"
      fi
    done
  done
  for ((k = 0; k < chunks; ++k)); do echo "w$k = sgd w$k a$k 0.01"; done
  echo 'print l'
  for ((k = 0; k < chunks; ++k)); do echo "print w$k"; done
}

# scheduled KIND [WINDOW] prints model.gt placed by p.yaml with that schedule.
scheduled() {
  { cat p.yaml && echo "schedule: {kind: $1${2:+, window: $2}}"; } >s.yaml
  gt-emit model.gt | gt-shard -c s.yaml
}

# products RANK FILE prints the order in which the rank runs its products, each with
# the number of its microbatch: F forward, B by the input, and W by the weight.
products() {
  awk -v rank="@$1" '
    $1 ~ rank "$" && $3 ~ /^(linear|matmul)$/ {
      match($0, /#mb=[0-9]+/)
      kind = $3 == "linear" ? "F" : $0 ~ / ta=1/ ? "W" : "B"
      printf "%s%s ", kind, substr($0, RSTART + 4, RLENGTH - 4)
    }' "$2"
}

@test "1f1b is the order of its paper, whatever the order of the program" {
  make_pipeline 4 6
  scheduled 1f1b >s
  [ "$(products 0 s)" = 'F0 F1 F2 F3 W0 F4 W1 F5 W2 W3 W4 W5 ' ]
  [ "$(products 1 s)" = 'F0 F1 F2 B0 W0 F3 B1 W1 F4 B2 W2 F5 B3 W3 B4 W4 B5 W5 ' ]
  [ "$(products 3 s)" = 'F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3 F4 B4 W4 F5 B5 W5 ' ]
  scheduled gpipe >s
  [ "$(products 1 s)" = 'F0 F1 F2 F3 F4 F5 B0 W0 B1 W1 B2 W2 B3 W3 B4 W4 B5 W5 ' ]
  scheduled zb-h1 >s
  [ "$(products 3 s)" != "$(scheduled 1f1b | products 3 /dev/stdin)" ]
}

@test "every kind of schedule gives the bits of the program without one" {
  local kind chunks place
  while read -r kind chunks place; do
    make_pipeline 2 4 "$chunks" "$place"
    gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
    scheduled "$kind" >s
    gt-work s | cmp - plain
    sed 's/ #.*//' s | gt-work | cmp - plain
    gt-check -q s
    gt-shard -c s.yaml s | cmp - s
    gt-route -n 2 --threads 1 s | cmp - plain
  done <<'KINDS'
gpipe 1
1f1b 1
interleaved 2
zb-h1 1
zb-h2 1
zb-v 2 v
KINDS
}

@test "a stage holds as many microbatches as its kind says, and --summary tells" {
  make_pipeline 4 8
  scheduled 1f1b >one
  scheduled gpipe >all
  gt-check -q --memory one 2>&1 | sort >one.memory
  gt-check -q --memory all 2>&1 | sort >all.memory
  bytes() { awk -v ranks="$1:" '$2 == ranks { print $3 }' "$2"; }
  # With 1f1b the last stage holds one microbatch and the first four; with gpipe
  # eight.
  [ "$(bytes 3 one.memory)" -lt "$(($(bytes 3 all.memory) / 2))" ]
  [ "$(bytes 0 one.memory)" -lt "$(bytes 0 all.memory)" ]
  gt-emit model.gt >model.s
  run -0 --separate-stderr bash -c 'gt-shard -c s.yaml --summary model.s >/dev/null'
  [[ $stderr == *'schedule gpipe: stages: 4, microbatches: 8,'*'at most 8 under way on a rank'* ]]
  sed -i s/gpipe/1f1b/ s.yaml
  run -0 --separate-stderr bash -c 'gt-shard -c s.yaml --summary model.s >/dev/null'
  [[ $stderr == *'schedule 1f1b: stages: 4, microbatches: 8,'*'at most 4 under way on a rank'* ]]
  [[ $stderr == *"gt-shard: $(bytes 0 one.memory | awk '{ printf "%.6g", $1 / 1e6 }') MB a rank at most"* ]]
}

@test "steps of a loop become the same lines, one after another" {
  make_pipeline 2 3
  step 3 2 8 >step.gt
  { cat p.yaml && echo 'schedule: {kind: 1f1b}'; } >s.yaml
  gt-emit model.gt --repeat 5 step.gt | gt-shard -c s.yaml >s
  sed 's/ #at=[^ ]*//' s >lines
  # The last two steps, each from the end of the step before, are compared.
  local ends
  mapfile -t ends < <(grep -n '^print w1' lines | cut -d : -f 1 | tail -3)
  cmp <(sed -n "$((ends[0] + 1)),${ends[1]}p" lines) \
    <(sed -n "$((ends[1] + 1)),${ends[2]}p" lines)
  gt-emit model.gt --repeat 5 step.gt | gt-shard -c p.yaml | gt-work >plain
  gt-work s | cmp - plain
  gt-route -n 2 --threads 1 s | cmp - plain
}

@test "a window is no larger than the config says" {
  make_pipeline 2 6
  scheduled gpipe 2 >s
  [ "$(products 1 s)" = 'F0 F1 B0 W0 B1 W1 F2 F3 B2 W2 B3 W3 F4 F5 B4 W4 B5 W5 ' ]
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
  gt-work s | cmp - plain
}

@test "a print, and a line that changes what microbatches read, end the window" {
  make_pipeline 2 4
  # The rest of microbatch 1, and two more, are behind the line.
  sed '/^a0 = add a0 g0 #mb=1/ { a print x
}' model.gt >printed.gt
  sed '/^a0 = add a0 g0 #mb=1/ { a w0 = sgd w0 g0 0.01
}' model.gt >stepped.gt
  local name
  for name in printed stepped; do
    cp "$name.gt" model.gt
    scheduled gpipe >s 2>said
    [ "$(products 1 s)" = 'F0 F1 B0 W0 B1 W1 F2 F3 B2 W2 B3 W3 ' ]
      [ "$(grep -c "warning: the schedule" said)" = 1 ]
    [[ $(<said) == "gt-shard: model.gt:"*": warning: the schedule ends before this line, though microbatch 1 is still to come,"* ]]
    [[ $(<said) == *"model.gt:$(grep -n '^print x\|^w0 = sgd' model.gt | head -n 1 | cut -d: -f1): "* ]]
    tail -n 1 s | grep -qx '#end 0'
    gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
    gt-work s | cmp - plain
  done
}

@test "a line without #mb= that reads a microbatch's value does not end the window" {
  make_pipeline 2 4
  # The gradients of one weight, and the losses, are summed by such lines.
  sed -i 's/^\(a1 = .*\) #mb=[0-9]*/\1/
    /^l = sum/ { a q = mul l 2
}' model.gt
  echo 'print q' >>model.gt
  scheduled gpipe >s 2>said
  [ ! -s said ]
  [ "$(products 1 s)" = 'F0 F1 F2 F3 B0 W0 B1 W1 B2 W2 B3 W3 ' ]
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
  gt-work s | cmp - plain
}

@test "a schedule without stages, and a kind that wants other places, are warned of" {
  make_pipeline 2 2 2
  scheduled zb-v 2>said >s
  [[ $(<said) == 'gt-shard: s.yaml:'*': warning: schedule: zb-v wants the last part of the model on the rank of the first,'* ]]
  tail -n 1 s | grep -qx '#end 0'
  make_pipeline 2 2 2 v
  scheduled zb-v 2>said >s
  [ ! -s said ]
  make_pipeline 2 2
  local kind
  for kind in zb-v interleaved; do
    scheduled "$kind" 2>said >s
    [[ $(<said) == *": warning: schedule: $kind wants several parts of the model on each rank, and each has one" ]]
  done
  sed -i 's/pp: 1/pp: 0/' p.yaml
  scheduled 1f1b 2>said >s
  [[ $(<said) == *': warning: schedule: all microbatches stay on the same ranks,'* ]]
}

@test "values are computed again when their gradient comes, and not before" {
  make_pipeline 4 8
  sed 's/^h = .*#signal=c\([0-9]*\)/& #recompute=\1/' model.gt >again.gt
  scheduled 1f1b | gt-check -q --memory 2>&1 | awk '$2 == "0:" { print $3 }' >plain
  cp again.gt model.gt
  scheduled 1f1b >s
  awk '
    $1 ~ /@0$/ && $3 == "linear" && !/#bwd/ { ++forward }
    $1 ~ /@0$/ && /#recompute/ && /#bwd/ && !first { first = forward }
    END { exit first < 4 }' s
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >wanted
  gt-work s | cmp - wanted
  [ "$(gt-check -q --memory s 2>&1 | awk '$2 == "0:" { print $3 }')" -le "$(<plain)" ]
}

@test "lines of no microbatch that do not depend on one do not end the window" {
  make_pipeline 2 4
  # A name that microbatches read is bound again between them.
  sed -i 's/^x = .*/&\nc = tensor f32[] 2 #signal=c1/
    s/^l = sum h\(.*\)/h = mul h c\1\n&/
    /^a1 = add a1 g1 #mb=1/ { a c = tensor f32[] 3 #signal=c1
a\other = ones f32[3]
}' model.gt
  echo 'print other' >>model.gt
  scheduled gpipe >s
  [ "$(products 1 s)" = 'F0 F1 F2 F3 B0 W0 B1 W1 B2 W2 B3 W3 ' ]
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
  gt-work s | cmp - plain
}

@test "a pipeline of tensor parallel stages, with dropout" {
  cat >model.gt <<'MODEL'
w0 = randn f32[8,16] 1 scale=0.3 #signal=s0
v0 = randn f32[16,8] 2 scale=0.3 #signal=s0/out
w1 = randn f32[8,16] 3 scale=0.3 #signal=s1
v1 = randn f32[16,8] 4 scale=0.3 #signal=s1/out
x = randn f32[12,8] 5
MODEL
  local i
  for i in 0 1 2; do
    cat <<STEP
h = slice x $((i * 4)) axis=0 size=4 #mb=$i #signal=s0
h = linear h w0 #mb=$i #signal=s0
h = gelu h #mb=$i #signal=s0
h = dropout h 0.2 #mb=$i #signal=s0
h = linear h v0 #mb=$i #signal=s0/out
h = linear h w1 #mb=$i #signal=s1
h = dropout h 0.2 #mb=$i #signal=s1
h = linear h v1 #mb=$i #signal=s1/out
l = mse h 0 #mb=$i #signal=s1
g0 g1 = grad l w0 w1
t0 = $([ "$i" = 0 ] && echo "copy g0" || echo "add t0 g0") #mb=$i #signal=s0
t1 = $([ "$i" = 0 ] && echo "copy g1" || echo "add t1 g1") #mb=$i #signal=s1
STEP
  done >>model.gt
  printf 'print t0\nprint t1\nprint l\n' >>model.gt
  cat >p.yaml <<'YAML'
mesh: {pp: 2, tp: 2}
signals:
  s0: {on: {pp: 0}, shard: {tp: 1}}
  s0/out: {shard: {tp: 0}}
  s1: {on: {pp: 1}, shard: {tp: 1}}
  s1/out: {shard: {tp: 0}}
YAML
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
  local kind
  for kind in gpipe 1f1b zb-h1; do
    scheduled "$kind" >s
    gt-work s | cmp - plain
    gt-check -q s
    gt-route -n 4 --threads 1 s | cmp - plain
  done
  grep -q 'stages: 2,' <(gt-emit model.gt | gt-shard -c s.yaml --summary 2>&1 >/dev/null)
}

@test "names that gt-shard makes up are none of the input" {
  make_pipeline 2 3
  gt-emit model.gt | sed -E 's/\b(h|g1)\b/_sm1/g; s/\bl\b/_sm0/g' >named
  gt-shard -c p.yaml named | gt-work >plain
  [ "$(wc -l <plain)" = 3 ]
  { cat p.yaml && echo 'schedule: {kind: gpipe}'; } >s.yaml
  gt-shard -c s.yaml named >s
  gt-work s | cmp - plain
}

@test "lines that came with ranks stay as they are, and so do all lines after them" {
  make_pipeline 2 3
  scheduled gpipe >placed
  # The first program is not placed yet, and gt-shard places it; the other one is
  # placed.
  { printf 'z = ones f32[2]\ny = neg z\nprint y\n' && grep -v '^#' placed; } >mixed
  gt-shard -c s.yaml mixed | grep -v '^#' | tail -n +5 >again
  grep -v '^#' placed >wanted
  cmp <(grep -v '^endmesh\|^mesh' again) <(grep -v '^endmesh\|^mesh' wanted)
}

@test "lines that filters insert do not end a window" {
  make_pipeline 2 6
  # Each dropout without a seed takes the next number of the seed register.
  sed -i 's/^h = tanh h\(.*#signal=c0\)/&\nh = dropout h 0.2\1/' model.gt
  scheduled gpipe >s
  gt-emit model.gt >model.s
  run -0 --separate-stderr bash -c 'gt-shard -c s.yaml --summary model.s >/dev/null'
  [[ $stderr == *'stages: 2, microbatches: 6, windows: 1, in'* ]]
  gt-shard -c p.yaml model.s | gt-work >plain
  gt-work s | cmp - plain
}

@test "a name that is bound twice on a line passes as it does without a schedule" {
  printf 'a = ones f32[4] #signal=c0\na a = split a #mb=0 #signal=c0\nprint a\n' >two.gt
  printf 'mesh: {pp: 2}\nschedule: {kind: 1f1b}\nsignals: {c0: {on: {pp: 0}}}\n' >s.yaml
  gt-shard -c s.yaml two.gt >s || [ $? = 3 ]
  grep -q '^#end' s
}

@test "the gradient of a value comes after the line that binds the value" {
  printf '%s\n' 'h = randn f32[4,4] 1 #signal=a' 'print h' 'x = exp h' \
    'h = sin x #signal=b #mb=0' 'l = sum h #mb=0' 'g = grad l h #mb=0' 'print g' >model.gt
  printf 'mesh: {tp: 2}\nsignals: {a: {shard: {tp: 1}}, b: {results: {tp: 0}}}\n' >p.yaml
  scheduled gpipe >s
  gt-check -q s
  awk '/^h@0-1 = sin /{is_bound = 1} /#grad=h/ && !is_bound {exit 1}' s
  gt-emit model.gt | gt-shard -c p.yaml | gt-work >plain
  gt-work s | cmp - plain
  # The same holds for a line without a microbatch.
  printf '%s\n' 'x = randn f32[4,4] 1 #signal=a' 'z = ones f32[4,4] #signal=a' 'print z' \
    'h = matmul x x #signal=b #mb=0' 'g = softmax z #grad=h' 'print g' 'print h' >model.gt
  scheduled gpipe >s
  awk '/^h@0-1 = /{is_bound = 1} /#grad=h/ && !is_bound {exit 1}' s
}

@test "a label that is no microbatch is reported, and its line belongs to none" {
  make_pipeline 2 2
  printf 'y = neg x #mb=%s\n' -1 first 1.5 99999999999999999999 >>model.gt
  echo 'y = neg x #mb' >>model.gt
  scheduled gpipe >s 2>said
  [ "$(grep -c 'warning: expected the number of a microbatch, #mb=0 or more, got ' said)" = 5 ]
  local first
  first=$(grep -n 'mb=-1' model.gt | cut -d: -f1)
  [[ $(head -n 2 said) == "gt-shard: model.gt:$first: warning: "*"got '-1'; the schedule takes the line for one of no microbatch
  y = neg x #mb=-1 "* ]]
  tail -n 1 s | grep -qx '#end 0'
  # Without a schedule the label is a note like any other.
  gt-emit model.gt | gt-shard -c p.yaml >s 2>said
  [ ! -s said ]
}

@test "a config in GT's form takes a schedule and other settings beside its signals" {
  cat >gt-form.yaml <<'END'
one: {shard: {axis: 0, workers: [0]}}
two: {shard: {axis: 0, workers: [1]}}
END
  {
    echo 'w = randn f32[8,8] 1 scale=0.3 #signal=one'
    echo 'v = randn f32[8,8] 2 scale=0.3 #signal=two'
    echo 'gw = zeros f32[8,8] #signal=one'
    echo 'gv = zeros f32[8,8] #signal=two'
    for k in 0 1 2 3; do
      cat <<END
x = randn f32[4,8] 1$k #mb=$k #signal=one
h = matmul x w #mb=$k #signal=one
y = matmul h v #mb=$k #signal=two
l = sum y #mb=$k #signal=two
dw dv = grad l w v #mb=$k
gw = add gw dw #mb=$k #signal=one
gv = add gv dv #mb=$k #signal=two
END
    done
    echo 'print gw'
    echo 'print gv'
  } | gt-emit --no-at >p.s
  gt-shard -c gt-form.yaml p.s >plain.s
  echo 'schedule: {kind: 1f1b}' | cat gt-form.yaml - >scheduled.yaml
  gt-shard -c scheduled.yaml --summary p.s 2>told >scheduled.s
  grep -q 'schedule 1f1b: stages: 2, microbatches: 4, windows: 1, in' told
  gt-check -q scheduled.s
  run ! diff plain.s scheduled.s
  gt-work plain.s | diff - <(gt-work scheduled.s)

  printf 'mesh: {tp: 2}\n%s\n' "$(<gt-form.yaml)" >both.yaml
  run -3 --separate-stderr gt-shard -c both.yaml p.s
  [[ $stderr == *"both.yaml:2: 'one' is a signal in GT's form, beside which there is no mesh:, signals: or tensors:;"* ]]
}

@test "a free is no work of a stage, though its note says of which microbatch it is" {
  make_pipeline 4 4
  sed -i 's/^l = sum .*\(#mb=[0-9]*\) .*/&\nfree h \1/' model.gt
  scheduled 1f1b >noted
  sed -i 's/^free h .*/free h/' model.gt
  scheduled 1f1b >plain
  grep -q '^free h@' plain
  cmp noted plain
  [ "$(products 0 noted)" = 'F0 F1 F2 F3 W0 W1 W2 W3 ' ]
}

@test "the summary expects the time of the windows, and adds that of lines between them" {
  make_pipeline 4 4
  { cat p.yaml && echo 'schedule: {kind: 1f1b}'; } >s.yaml
  expected() { gt-emit model.gt | gt-shard -c "$1" --summary 2>&1 >/dev/null | grep -o '[0-9.]* ms' | tee -a all; }
  expected p.yaml >plain
  expected s.yaml >ordered
  # Four stages compute at the same time, and sometimes wait.
  awk '{ ms[NR] = $1 } END { exit !(ms[2] < 0.6 * ms[1] && ms[2] > ms[1] / 4) }' plain ordered
  printf '%s\n' 'z = matmul w0 w0' 'print z' >>model.gt
  expected p.yaml | awk '{ print $1 - 1000, $2 }' | cmp plain -
  expected s.yaml | awk '{ print $1 - 1000, $2 }' | cmp ordered -
  [ "$(wc -l <all)" = 4 ]
}

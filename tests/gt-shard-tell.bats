#!/usr/bin/env bats
# What gt-shard says of its choices and of their cost, and the config that --plan
# finds.

load helper

@test "inserted lines say why, --explain tells the choices, --summary the sums" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml --explain >placed 2>said
  run -0 grep -c '#why="' placed
  [ "$output" = 1 ]
  grep -q 'y = matmul h d' said
  # For what a line creates, --explain says who decided how it is cut.
  grep -A 1 '^pair.gt:2: u = ' said | grep -q -- '-> tp:S1, as tp2.yaml:3 says'
  grep -A 1 '^pair.gt:1: x = ' said | grep -q -- '-> R, as pair.gt:4 reads it'
  grep -q 'summed' said
  grep -q 'all_reduce: 1 line' said
  gt-emit pair.gt | gt-shard -c tp2.yaml | cmp - placed
  gt-emit pair.gt | gt-shard -c tp2.yaml --summary 2>said | cmp - placed
  grep -q 'all_reduce: 1 line' said
}

@test "--explain shows the lines of an expansion and why, and what the config says of a result" {
  cat >p.gt <<'END'
x = randn f32[8,64] 1
h = mul x 2 #signal=wide
y = softmax h
print y
END
  printf 'mesh: {tp: 2}\nsignals:\n  wide: {results: {tp: 1}}\n' >s.yaml
  gt-shard -c s.yaml --explain p.gt >placed 2>said
  sed -n '/^p.gt:3: y = softmax h/,/->/p' said >of_y
  grep -q 'as its expansion, which sends 64 bytes from each rank and not 1024:' of_y
  grep -q '^    -> tp:S1$' of_y
  # The lines that are shown are those of the stream.
  sed -n 's/^      | //p' of_y >lines
  grep -q '^y@0-1 = div' lines
  sed '1d; /^print/,$d' placed | diff lines -
  grep -A 1 '^p.gt:2: h = ' said | grep -q -- '-> tp:S1, as s.yaml:3 says'
}

# most_of PLACED prints the most bytes that a rank holds, as gt-check counts them.
most_of() {
  gt-check -q --memory "$1" 2>&1 | awk '/ bytes at most$/ && $3 > n { n = $3 }
    END { print n }'
}

@test "--summary and gt-check --memory give the same memory" {
  make_pair
  gt-emit pair.gt >pair.s
  printf 'x = randn f32[12,8] 1\nw = randn f32[8,8] 2\nm = mul w 0\nv = mul w 0\nx = copy x #signal=second\nh = matmul x w #signal=second\ny = softmax h\nl = mean y\ng = grad l w\nw m v = adamw w g m v 1 0.1\nfree h y\nprint w\nprint l\n' >adam.gt
  gt-emit adam.gt >adam.s
  printf 'mesh: {pp: 2, tp: 2}\nsignals:\n  second: {on: {pp: 1}, shard: {tp: 1}}\n' >pp.yaml
  # In this program the rank that holds most does not have the largest pieces.
  printf 'w = randn f64[4,3] 3\nx = randn f64[5,4] 4 #signal=t\nh = matmul x w #signal=s\n' >uneven.s
  printf 's: {shard: {axis: 0, workers: [1, 2, 3]}}\nt: {shard: {replicated: true, workers: [3]}}\n' >uneven.yaml
  for run in '-c tp2.yaml pair.s' '-c pp.yaml adam.s' '-n 4 -c uneven.yaml uneven.s'; do
    # shellcheck disable=SC2086 # two words
    gt-shard --summary $run >placed 2>said
    said=$(sed -n 's/^gt-shard: \(.*\) MB a rank at most;.*/\1/p' said)
    [ "$(awk -v mb="$said" 'BEGIN { printf "%d", mb * 1e6 + 0.5 }')" = "$(most_of placed)" ]
  done
}

@test "gt-check counts a value that a line replaces beside the line's results" {
  printf 'mesh tp=2\nw@0-1 = ones f32[8]\nm@0-1 = ones f32[8]\nv@0-1 = ones f32[8]\ng@0-1 = ones f32[8]\n' >p.s
  run -0 most_of p.s
  [ "$output" = 128 ]
  echo 'w@0-1 m@0-1 v@0-1 = adamw w@0-1 g@0-1 m@0-1 v@0-1 1 0.1' >>p.s
  run -0 most_of p.s
  [ "$output" = 224 ]
  # A free by a pattern frees the memory.
  printf 'mesh tp=2\na.x@0-1 = ones f32[8]\nfree a.*\nb@0-1 = ones f32[8]\n' >p.s
  run -0 most_of p.s
  [ "$output" = 32 ]
  # On other ranks than those of a line nothing changes.
  printf 'mesh tp=2\nw@0-1 = ones f32[8]\nw@0 = ones f32[2]\nfree w@0\n' >p.s
  run -0 gt-check -q --memory p.s
  lines_are 'rank 1: 32 bytes at most
rank 0: 40 bytes at most'
}

@test "--plan finds a config, which means the same" {
  cat >step.gt <<'END'
x = randn f32[64,256] 1
u = randn f32[256,1024] 2
d = randn f32[1024,256] 3
h = matmul x u
h = relu h
y = matmul h d
l = mean y
gu gd = grad l u d
u = sgd u gu 0.1
d = sgd d gd 0.1
print l
n = norm u
print n
END
  gt-emit step.gt | gt-shard --plan -n 4 >auto.yaml
  grep -q '^# Expected: ' auto.yaml
  grep -q '^mesh: {dp: ., tp: .}' auto.yaml
  gt-emit step.gt | gt-shard -c auto.yaml >placed
  gt-check -q placed
  grep -q '@0-3' placed
  same_values step.gt -c auto.yaml
}

@test "--plan wants -n, and a whole step" {
  run -2 gt-shard --plan </dev/null
  [[ $output == *"--plan needs -n"* ]]
  printf '#gt 1\nx = ones f32[2]\n' >half.gt
  run -4 gt-shard --plan -n 2 half.gt
  [[ $output == *"cut short after line 2"* ]]
  run -3 --separate-stderr gt-shard --plan -n 2 </dev/null
  [[ -z $output && $stderr == "gt-shard: <stdin>: the stream has no line"* ]]
  printf '# nothing\n\n#end 0\n' >none.s
  run -3 --separate-stderr gt-shard --plan -n 2 none.s
  [[ -z $output && $stderr == "gt-shard: none.s: the stream has no line"* ]]
}

@test "--plan takes the machine and the mesh of a config" {
  make_pair
  sed -i 's/\[8,16\]/[256,256]/; s/\[16,6\]/[256,1024]/; s/\[6,4\]/[1024,256]/' pair.gt
  gt-emit pair.gt | sed 's/ #signal=[a-z]*//' >step.s
  gt-shard --plan -n 4 step.s >plain.yaml
  run -1 grep machine plain.yaml
  # A plan for a faster machine expects less time, and says which machine it is for.
  echo 'machine: {flops: 1e14, memory_bandwidth: 1e13, bandwidth: 1e12, latency: 1e-7}' >fast.yaml
  gt-shard --plan -n 4 -c fast.yaml step.s >auto.yaml
  grep -q '^machine: {flops: 100000000000000, .*latency: 1e-07}' auto.yaml
  awk '/Expected/ { print $3 > FILENAME ".ms" }' plain.yaml auto.yaml
  awk '{ ms[FILENAME] = $1 } END { exit ms["auto.yaml.ms"] * 10 > ms["plain.yaml.ms"] }' auto.yaml.ms plain.yaml.ms
  GT_CONFIG=fast.yaml gt-shard --plan -n 4 step.s | cmp - auto.yaml
  gt-shard -c auto.yaml step.s >placed
  gt-check -q placed
  # The mesh of the config says how many ranks there are.
  echo 'mesh: {left: 3, dp: 2}' >mesh.yaml
  gt-shard --plan -c mesh.yaml step.s >auto.yaml
  grep -qx 'mesh: {left: 3, dp: 2}' auto.yaml
  grep -q 'shard' auto.yaml
  gt-cmp --rtol 1e-3 --atol 1e-2 <(gt-work step.s) <(gt-shard -c auto.yaml step.s | gt-work)
  run -3 gt-shard --plan -n 4 -c mesh.yaml step.s
  [[ $output == *"mesh.yaml:1: "*"6 ranks, and -n says 4"* ]]
  # signals: and tensors: are what --plan finds, so a config with them is refused.
  run -3 --separate-stderr gt-shard --plan -c tp2.yaml step.s
  [[ -z $output && $stderr == *"tp2.yaml:3: --plan finds signals: and tensors: itself"* ]]
  # If the memory is not enough, the plan says so.
  echo 'machine: {memory: 1000}' >small.yaml
  gt-shard --plan -n 4 -c small.yaml step.s | grep -q '^# That is more memory than the machine has'
}

@test "--plan cuts over several axes together where that fits, or is sooner done" {
  printf '%s\n' 'x = randn f32[8,512] 1' 'u = randn f32[512,1024] 2' \
    'd = randn f32[1024,512] 3' 'h = matmul x u' 'h = relu h' 'y = matmul h d' \
    'l = mean y' 'gu gd = grad l u d' 'u = sgd u gu 0.1' 'd = sgd d gd 0.1' \
    'print l' >p.gt
  gt-emit p.gt >step.s
  printf 'mesh: {a: 2, b: 3}\nmachine: {memory: 2e6}\n' >m.yaml
  gt-shard --plan -c m.yaml step.s >auto.yaml
  run -1 grep 'nothing was found that fits' auto.yaml
  grep -q 'shard: {a+b: [01]}' auto.yaml
  gt-shard -c auto.yaml step.s >placed
  [ "$(most_of placed)" -le 2000000 ]
  gt-cmp --rtol 1e-3 --atol 1e-3 <(gt-work step.s) <(gt-work placed)
  # The same tensors are cut over one axis of as many ranks.
  sed 's/{a: 2, b: 3}/{t: 6}/' m.yaml >t.yaml
  gt-shard --plan -c t.yaml step.s | grep -q 'shard: {t: [01]}'
}

@test "--plan of a placed stream is refused in a sentence" {
  make_pair
  gt-emit pair.gt | gt-shard -c tp2.yaml >placed
  run -3 --separate-stderr gt-shard --plan -n 2 placed
  [ -z "$output" ]
  [ "$stderr" = 'gt-shard: placed: the stream is placed already, and --plan finds how to place one; give it the stream that gt-shard read' ]
}

@test "--summary says of a copy how much each sender sends" {
  printf 'x = randn f32[1000] 1 #signal=a\ny = mul x 2 #signal=b\nprint y\n' >p.s
  printf 'a: {workers: 0}\nb: {workers: [1, 2, 3, 4]}\n' >one.yaml
  gt-shard -c one.yaml --summary p.s >placed 2>said
  grep -qx 'gt-shard: copy: 1 line, 0.016 MB from each sender' said
  gt-check -q --memory placed 2>&1 |
    awk '/^rank 0 to/ { sum += $7 } END { exit sum != 16000 }'
  # Each sender sends to one receiver.
  printf 'a: {workers: [0, 1]}\nb: {workers: [2, 3]}\n' >each.yaml
  gt-shard -c each.yaml --summary p.s 2>&1 >placed | grep -qx 'gt-shard: copy: 1 line, 0.004 MB from each sender'
}

# sent_of STREAM RANKS prints what each worker sends to others, one for each rank, by
# what the workers tell; but for what is printed.
sent_of() {
  gt-route -n "$2" --threads 1 --log run.log "$1" >results
  awk -F '\t' -v ranks="$2" '
    $3 == "issue" && $7 ~ /^print / { shown[$2] = 1 }
    $3 == "transfer" && !shown[$2] { match($7, /from=[0-9]+/)
      sent[substr($7, RSTART + 5, RLENGTH - 5)] += $6 }
    END { for (r = 0; r < ranks; r++) print r, sent[r] + 0 }' run.log
}

@test "--summary says what ranks of uneven pieces and of stages send, as workers send it" {
  printf '%s\n' 'x = randn f32[61,203] 1 #signal=first' 'w = randn f32[203,101] 2' \
    'v = randn f32[101,7] 3' 'y = matmul x w #signal=first' 'z = matmul y v #signal=last' \
    'l = mean z #signal=last' 'gw gv = grad l w v' 'w = sgd w gw 0.1' 'v = sgd v gv 0.1' \
    'print l' 'print w' >p.gt
  printf '%s\n' 'mesh: {pp: 2, dp: 3}' 'signals:' '  first: {on: {pp: 0}, results: {dp: 0}}' \
    '  last: {on: {pp: 1}}' 'tensors: {w: {shard: {dp: 1}}}' >c.yaml
  gt-emit p.gt | gt-shard -c c.yaml --summary >placed 2>said
  sent_of placed 6 >sent
  sort -k2,2nr -k1,1n sent | awk 'NR == 1 { rank = $1; most = $2 } { all += $2 }
    END { printf "gt-shard: sent: rank %d sends most, %.6g MB of %.6g MB in all\n", rank,
      most / 1e6, all / 1e6 }' >wanted
  grep ' sent: ' said | diff - wanted
  # Ranks send different amounts, and a rank of the last stage sends none of the first's.
  [ "$(cut -d' ' -f2 sent | sort -u | wc -l)" -gt 3 ]
  grep -Eq '^gt-shard: all_gather: [0-9]+ lines?, [0-9.]+ MB from a rank at most$' said
  # A sum of many bytes goes in chunks, one of few to each; the chunks differ by an element.
  printf '%s\n' 'x = randn f32[6,12288] 1 #signal=a' 'y = sum x axis=0' 'print y' >s.gt
  printf 'mesh: {dp: 3}\nsignals: {a: {results: {dp: 0}}}\n' >d.yaml
  sed 's/12288/12290/' s.gt | gt-emit | gt-shard -c d.yaml --summary 2>said >placed
  sent_of placed 3 | diff - <(printf '%s\n' '0 65548' '1 65548' '2 65544')
  grep -qx 'gt-shard: all_reduce: 1 line, 0.065548 MB from a rank at most' said
  gt-emit s.gt | gt-shard -c d.yaml --summary 2>&1 >placed |
    grep -qx 'gt-shard: all_reduce: 1 line, 0.098304 MB from each rank'
}

@test "lines of an expansion, and inserted lines, say where they come from" {
  printf 'x = randn f32[4,64] 1\nt = tensor i64[4] 1 2 3 99\nl = cross_entropy x t\ng = grad l x\nprint g\n' >v.gt
  printf 'mesh: {tp: 2}\ntensors: {x: {shard: {tp: 1}}}\n' >v.yaml
  gt-emit v.gt | gt-shard -c v.yaml >placed
  run ! grep -E '^[^ #]+ = .*over=tp' <(grep -v '#at=v.gt:' placed)
  run -1 --separate-stderr gt-work placed
  [[ $stderr == *'gt-work: v.gt:3: '*'index 99'* ]]
}

@test "--plan finds what fits only where several tensors are cut over all axes" {
  cat >net.gt <<'END'
x = randn f32[8,16,32] 1
t = randn f32[8,16,32] 9
w1 = randn f32[32,128] 2 scale=0.1
w2 = randn f32[128,32] 3 scale=0.1
b1 = zeros f32[128]
h = linear x w1 b1
h = gelu h
y = matmul h w2
y = layer_norm y
l = mse y t
g1 g2 gb = grad l w1 w2 b1
m1 = mul w1 0
v1 = mul w1 0
w1 m1 v1 = adamw w1 g1 m1 v1 1 0.01
w2 = sgd w2 g2 0.1
b1 = sgd b1 gb 0.1
print l
END
  printf 'mesh: {a: 2, b: 2, c: 2}\nmachine: {memory: 120000}\n' >m.yaml
  gt-emit net.gt >net.s
  gt-shard --plan -c m.yaml net.s >auto.yaml
  run ! grep 'nothing was found that fits' auto.yaml
  gt-shard -c auto.yaml net.s >placed
  [ "$(most_of placed)" -le 120000 ]
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-5 <(gt-work net.s) <(gt-work placed)
}

@test "--explain names the operands of the line itself where an earlier line has alike ones" {
  printf '%s\n' 'a = ones f32[64,64]' 'b = ones f32[64,64]' 'c = matmul a b' \
    'e = ones f32[64,64]' 'f = ones f32[64,64]' 'd = matmul e f' >p.gt
  printf 'mesh: {tp: 2}\ntensors: {a: {shard: {tp: 1}}, e: {shard: {tp: 1}}}\n' >m.yaml
  gt-shard -c m.yaml --explain p.gt 2>said >/dev/null
  grep -A 1 'd = matmul e f' said | grep -q '\* tp: e.1 f.0 cut'
}

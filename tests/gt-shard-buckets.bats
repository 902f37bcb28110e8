#!/usr/bin/env bats
# Small sums over ranks that find the link busy, and travel together: which lines
# are written, when, and that they compute the same bits.

load helper

# Two layers with biases on two ranks that share the batch. To compute takes next to
# no time, so the link is busy with the first sum until the end.
make_net() {
  cat >net.gt <<'END2'
x = randn f32[8,6] 1 #signal=batch
w1 = randn f32[6,5] 2
b1 = randn f32[5] 3
w2 = randn f32[5,4] 4
b2 = randn f32[4] 5
h = linear x w1 b1 #signal=one
h = tanh h #signal=one
y = linear h w2 b2 #signal=two
l = sum y
g1 c1 g2 c2 = grad l w1 b1 w2 b2
w1 = sgd w1 g1 0.1
b1 = sgd b1 c1 0.1
w2 = sgd w2 g2 0.1
b2 = sgd b2 c2 0.1
print l
print w1
print b1
print w2
print b2
END2
  printf 'mesh: {dp: 2}\nsignals: {batch: {shard: {dp: 0}}}\n' >dp.yaml
}

# Checks that the config and the same with overlap: false give the same bits.
same_bits() { # PROGRAM CONFIG
  { cat "$2" && echo 'overlap: false'; } >apart.yaml
  gt-emit "$1" | gt-shard -c "$2" >placed
  gt-emit "$1" | gt-shard -c apart.yaml >apart
  run ! grep -q 'travel together' apart
  cmp <(gt-work placed) <(gt-work apart)
  gt-check -q placed
  gt-shard -c "$2" placed | cmp - placed
}

# Prints the lines that serve a bucket, and sums, without notes.
bucket() { # <placed
  grep -e 'travel together' -e ' = all_reduce ' -e ' = reduce_scatter ' | sed 's/ #.*//'
}

@test "the first sum leaves alone, those behind it together" {
  make_net
  same_bits net.gt dp.yaml
  diff <(bucket <placed) - <<'END2'
g2@0-1 = all_reduce g2@0-1 over=dp
g1@0-1 = reshape g1@0-1 shape=30
_s0@0-1 = concat c1@0-1 g1@0-1 axis=0
_s0@0-1 = all_reduce _s0@0-1 over=dp
c1@0-1 g1@0-1 = split _s0@0-1 axis=0 sizes=5,30
g1@0-1 = reshape g1@0-1 shape=6,5
l@0-1 = all_reduce l@0-1 over=dp
END2
  # They leave before the first line that reads one of them.
  awk '/all_reduce _s0/ {sent = NR} / = sgd / && !first {first = NR} END {exit !(sent && sent < first)}' placed
}

@test "a sum that finds an idle link waits for nothing" {
  make_net
  # Products take longer than the messages of the sums before them.
  echo 'machine: {flops: 1e5}' >>dp.yaml
  same_bits net.gt dp.yaml
  [ "$(grep -c ' = all_reduce ' placed)" = 5 ]
  run ! grep -q 'travel together' placed
}

@test "a sum leaves before a line that would leave its link idle" {
  make_net
  # The product of h and w is longer than what is left of the first message.
  cat >idle.gt <<'END2'
x = randn f32[64,32] 1 #signal=batch
a = randn f32[32] 2
w = randn f32[32,32] 3
d = mul x 2
l = sum d
p = mul x 3
q = sum p axis=0 #grad=a
r = sum d axis=0 #grad=a
s = sum x axis=0 #grad=a
h = matmul x w
h = matmul h w
print q
print r
print s
print h
END2
  gt-emit idle.gt >idle.s
  order() { # LATENCY: prints products, s, what sends small sums, w, and what parts them, p
    { cat dp.yaml && echo "machine: {flops: 1e9, latency: $1, memory_bandwidth: 1e12}"; } >slow.yaml
    gt-shard -c slow.yaml idle.s |
      awk '/ = matmul / {o = o "w"} /all_reduce _s0/ {o = o "s"} / = split _s0/ {o = o "p"} END {print o}'
  }
  # A product takes 66 us on each rank.
  [ "$(order 5e-5)" = swwp ]
  [ "$(order 1e-4)" = wswp ]
  [ "$(order 1)" = wwsp ]
  same_bits idle.gt slow.yaml
}

@test "large sums go by themselves, and small ones where copies would take longer" {
  make_net
  echo 'machine: {memory_bandwidth: 1e7}' >>dp.yaml
  same_bits net.gt dp.yaml
  # 20 floats are copied in 32 us, which is more than a message's 20 us.
  run ! grep -q '^g2.* = reshape' placed
  [ "$(grep -c '^g[12]@0-1 = all_reduce ' placed)" = 2 ]
}

@test "parts of optimizers that are cut, and weights of columns" {
  make_net
  sed -i 's/\[8,6\]/[8,8]/; s/\[6,5\]/[8,8]/; s/\[5\]/[8]/; s/\[5,4\]/[8,4]/' net.gt
  sed -i 's/^b2 = .*/&\nb3 = randn f32[8] 6/; s/^h = tanh .*/h = add h b3 #signal=one\n&/' net.gt
  sed -i 's/^g1 \(.*\) w1 /c3 g1 \1 b3 w1 /' net.gt
  printf 'mesh: {dp: 2}\nsignals: {batch: {results: {dp: 0}}}\ntensors: {"w*": {shard: {dp: 0}}, "b*": {shard: {dp: 0}}}\nregather: true\n' >zero.yaml
  same_bits net.gt zero.yaml
  [ "$(bucket <placed | grep -c 'reduce_scatter _s.* over=dp dst=S0$')" = 1 ]
  printf 'mesh: {dp: 2, tp: 2}\nsignals:\n  batch: {shard: {dp: 0}}\n  one: {shard: {tp: 1}}\n  two: {shard: {tp: 0}}\n' >both.yaml
  printf 'tensors: {"b1": {shard: {tp: 0}}}\n' >>both.yaml
  same_bits net.gt both.yaml
}

@test "sums that are sent in bf16, of microbatches, and under a schedule" {
  make_net
  echo 'sums: bf16' >>dp.yaml
  same_bits net.gt dp.yaml
  grep -q ' = concat .*travel together' placed
  grep -q '^g1@0-1 = cast g1@0-1 f32' placed
  sed -i '/^sums/d' dp.yaml
  { sed -n '1,5p' net.gt
    echo 'z1 = zeros f32[6,5]'
    echo 'z2 = zeros f32[4]'
    for mb in 0 1; do
      cat <<END2
h = linear x w1 b1 #mb=$mb
y = linear h w2 b2 #mb=$mb
l = sum y #mb=$mb
g1 g2 = grad l w1 b2
z1 = add z1 g1 #mb=$mb
z2 = add z2 g2 #mb=$mb
END2
    done
    printf 'l = detach l\nz1 z2 = clip z1 z2 1.0\nprint z1\nprint z2\nprint l\n'; } >mb.gt
  same_bits mb.gt dp.yaml
  printf 'mesh: {pp: 2, dp: 2}\nsignals: {batch: {shard: {dp: 0}, on: {pp: 0}}, one: {on: {pp: 0}}, two: {on: {pp: 1}}}\nschedule: {kind: 1f1b}\n' >pp.yaml
  sed -i 's/\(h = linear.*\)/\1 #signal=one/; s/\(y = linear.*\)/\1 #signal=two/' mb.gt
  same_bits mb.gt pp.yaml
}

@test "many workers compute the bits of one" {
  make_net
  echo 'machine: {latency: 1e-2}' >>dp.yaml
  gt-emit net.gt | gt-shard -c dp.yaml >placed
  grep -q 'travel together' placed
  cmp <(gt-work placed) <(gt-route -n 2 --threads 1 placed)
}

@test "a loop's rounds repeat" {
  make_net
  sed -n '1,5p' net.gt >init.gt
  sed '1,5d; /^print w/d; /^print b/d' net.gt >step.gt
  gt-emit --no-at init.gt --repeat 20 step.gt | gt-shard -c dp.yaml >placed
  [ "$(grep -c ' = concat ' placed)" = 20 ]
  [ "$(grep ' = concat ' placed | sort -u | wc -l)" = 1 ]
}

#!/usr/bin/env bats
# Levels of a machine: links within a node and beyond it, in the config and in
# rehearsals.

load helper

# expected YAML prints the milliseconds that one sum over an axis is expected to take.
expected() {
  printf '%s\n' "$@" 'signals: {rows: {shard: {a: 0}}}' >a.yaml
  printf '%s\n' 'x = ones f32[8,1000000] #signal=rows' 'y = sum x axis=0' 'print y' >a.gt
  gt-emit --no-at a.gt | gt-shard -c a.yaml --summary 2>&1 >placed |
    awk '/ms expected/ { for (i = 1; i < NF; i++) if ($(i + 1) == "ms") print $i }'
}

compute='flops: 1e30, memory_bandwidth: 1e30'

# near A B: the two numbers differ by less than 1 %.
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.99 * b && a < 1.01 * b) }'; }

@test "what stays within a node takes its link, and the rest the one beyond" {
  local node='node: {ranks: 4, bandwidth: 1e9, latency: 1e-9}, net: {bandwidth: 1e8, latency: 1e-9}'
  # An all_reduce of 4 MB over n ranks sends 8 (n - 1) / n MB.
  near "$(expected 'mesh: {b: 2, a: 4}' "machine: {$compute, $node}")" 6
  near "$(expected 'mesh: {b: 2, a: 2}' "machine: {$compute, $node}")" 4
  near "$(expected 'mesh: {a: 8}' "machine: {$compute, $node}")" 70
  near "$(expected 'mesh: {a: 2, b: 4}' "machine: {$compute, $node}")" 40
  # The figures of the outermost level may also stand beside the levels.
  near "$(expected 'mesh: {a: 8}' "machine: {$compute, bandwidth: 1e8, latency: 1e-9,
    node: {ranks: 4, bandwidth: 1e9}}")" 70
}

@test "a copy between stages takes the link of their ranks" {
  printf '%s\n' 'x = ones f32[1000000] #signal=one' 'y = copy x #signal=two' 'print y' >a.gt
  gt-emit --no-at a.gt >a.s
  for ranks in 2 1; do
    printf '%s\n' 'mesh: {pp: 2, tp: 1}' "machine: {$compute, bandwidth: 1e8, latency: 1e-9,
      node: {ranks: $((2 * ranks)), bandwidth: 1e9, latency: 1e-9}}" 'signals:' \
      '  one: {on: {pp: 0}}' '  two: {on: {pp: 1}}' >a.yaml
    if ((ranks == 1)); then sed -i 's/pp: 2, tp: 1/pp: 2, tp: 2/' a.yaml; fi
    gt-shard -c a.yaml --summary a.s 2>said >placed
    near "$(awk '/ms expected/ { for (i = 1; i < NF; i++) if ($(i + 1) == "ms") print $i }' said)" \
      "$((ranks == 2 ? 4 : 40))"
  done
}

@test "--plan keeps what sends much within a node, and writes the levels" {
  # Products over a small batch: tensor parallel sends less than data parallel would,
  # and only within a node.
  printf '%s\n' 'x = randn f32[8,1024] 1' 'w = randn f32[1024,4096] 2' 'v = randn f32[4096,1024] 3' \
    'h = linear x w' 'h = relu h' 'y = linear h v' 'l = mean y' 'g1 g2 = grad l w v' \
    'w = sgd w g1 0.1' 'v = sgd v g2 0.1' >a.gt
  echo 'machine: {flops: 1e12, node: {ranks: 2, bandwidth: 1e11, latency: 1e-6}, net: {bandwidth: 1e8}}' >m.yaml
  gt-emit --no-at a.gt | gt-shard --plan -n 4 -c m.yaml >plan.yaml
  grep -q 'node: {ranks: 2, bandwidth: 100000000000, latency: 1e-06}' plan.yaml
  gt-emit --no-at a.gt | gt-shard -c plan.yaml | gt-check -q
}

# rehearse_at_least MS FIGURES STREAM: the rehearsal sleeps so long, or longer.
rehearse_at_least() {
  local from=$EPOCHREALTIME
  gt-route -n 4 --backend null --pace "flops=1e12,$2" "$3" >printed
  local to=$EPOCHREALTIME
  (((${to/./} - ${from/./}) / 1000 >= $1))
}

@test "a rehearsal takes the links of the levels" {
  printf '%s\n' 'mesh a=2 b=2' 'x@0-3 = ones f32[1000000]' 'y@0-3 = all_reduce x@0-3 over=b src=P' \
    'print y@0 as=y' >near.s
  sed 's/over=b/over=a/' near.s >far.s
  # A worker gets 4 MB over a link of 8 MB/s.
  rehearse_at_least 490 node.ranks=2,node.bandwidth=1e12,net.bandwidth=8e6 far.s
  rehearse_at_least 490 node.ranks=2,node.bandwidth=8e6,net.bandwidth=1e12 near.s
}

@test "levels that do not fit are refused where they stand" {
  for wrong in 'node: {bandwidth: 0}' 'node: {ranks: 8}, rack: {ranks: 12}' 'node: {speed: 1}' \
    'node: 8' 'a: {latency: 1}, b: {latency: 1}'; do
    printf '%s\n' 'mesh: {a: 2}' "machine: {$wrong}" >a.yaml
    run -3 gt-shard -c a.yaml /dev/null
    [[ $output == *'a.yaml:2: machine: '* ]]
  done
  run -2 gt-work --backend null --pace node.ranks=8,rack.ranks=12 /dev/null
  [[ $output == *'rack: 12 ranks are no multiple of the 8 of node'* ]]
}

#!/usr/bin/env bats
# Attention over a cut sequence as a ring (ring: in the config): keys and values
# travel from rank to rank, and values and gradients are those of one device.

load helper

# A machine on which it pays to give each rank a first and a last part.
slow='machine: {latency: 1e-12, flops: 1e3, bandwidth: 1e12}'

# attention DTYPE Q-SHAPE K-SHAPE [KEYS] writes attention and its gradients.
attention() {
  printf '%s\n' >a.gt "q = randn $1[$2] 1 #signal=rows" "k = randn $1[$3] 2 #signal=rows" \
    "v = randn $1[$3] 3 #signal=rows" "d = randn $1[$2] 4 #signal=rows" \
    "o = attention q k v ${4:-}" 'p = mul o d' 'p = cast p f32' 'l = sum p' \
    'gq gk gv = grad l q k v' 'print o' 'print gq' 'print gk' 'print gv'
  gt-emit --no-at a.gt >a.s
}

# config MESH CUTS [LINE] writes a config with a ring.
config() {
  printf '%s\n' "mesh: {$1}" 'ring: true' "${3:-}" "signals: {rows: {shard: {$2}}}" >a.yaml
}

# same RANKS TOLERANCE: the placed program is well typed, has the same bits on one
# worker as on several, and the values of the program on one device.
same() {
  gt-shard -c a.yaml a.s >placed.s
  gt-check -q placed.s
  gt-work a.s >one
  gt-work placed.s >placed
  gt-route -n "$1" placed.s | cmp - placed
  gt-cmp --rtol "$2" --atol "$2" one placed
}

in_ring() { grep -c 'in a ring' placed.s; }

@test "the lines of a ring" {
  printf '%s\n' >a.gt 'x = randn f32[4,2] 1 #signal=rows' 'o = attention x x x' 'print o'
  gt-emit --no-at a.gt >a.s
  config 'cp: 2' 'cp: 0'
  same 2 1e-6
  sed 's/ #local #why="attention in a ring"//' placed.s >read.s
  diff - read.s <<'END'
#gt 1
mesh cp=2
x@0-1 = randn f32[4,2] 1 split=cp:0 #signal=rows
_s2@1 = copy x@0
_s2@0 = copy x@1
_s3@1 = copy x@0
_s3@0 = copy x@1
_s0@0-1 _s1@0-1 = attention x@0-1 x@0-1 x@0-1
_s4@0-1 _s5@0-1 = attention x@0-1 _s2@0-1 _s3@0-1
_s6@0-1 = logaddexp _s1@0-1 _s5@0-1
_s7@0-1 = sub _s1@0-1 _s6@0-1
_s7@0-1 = exp _s7@0-1
_s7@0-1 = unsqueeze _s7@0-1 axis=-1
_s0@0-1 = mul _s0@0-1 _s7@0-1
free _s7@0-1
_s7@0-1 = sub _s5@0-1 _s6@0-1
_s7@0-1 = exp _s7@0-1
_s7@0-1 = unsqueeze _s7@0-1 axis=-1
_s4@0-1 = mul _s4@0-1 _s7@0-1
free _s7@0-1
_s0@0-1 = add _s0@0-1 _s4@0-1
_s1@0-1 = copy _s6@0-1
free _s4@0-1
free _s5@0-1
free _s6@0-1
free _s2@0-1
free _s3@0-1
o@0-1 = copy _s0@0-1 #type=cp:S0
free _s0@0-1
_e0@0-1 = copy _s1@0-1 #type=cp:S0
free _s1@0-1
print o@0-1 split=cp:0
#end 0
END
}

@test "values and gradients, causal and not, on two, three and four ranks" {
  for n in 2 3 4; do
    for causal in 0 1; do
      attention f32 2,12,8 2,12,8 "causal=$causal heads=2"
      config "cp: $n" 'cp: 1'
      same "$n" 1e-5
      [ "$(in_ring)" -gt 40 ]
    done
  done
}

@test "a causal ring gives each rank a first and a last part of the sequence" {
  for n in 2 3 4; do
    attention f32 2,24,8 2,24,8 'causal=1 heads=2'
    config "cp: $n" 'cp: 1' "$slow"
    same "$n" 1e-5
    # All ranks compute in each step: those from the step's rank on with the first
    # half of keys, the others with the second half of queries.
    grep -q "^_s[0-9]*@1-$((n - 1)) .* = attention \|^_s[0-9]*@1 .* = attention " placed.s
    grep -q '^_s[0-9]*@0 .* = attention ' placed.s
  done
}

@test "other axes, heads that are cut, and shared heads" {
  attention f32 4,16,8 4,16,8 'causal=1 heads=2'
  config 'dp: 2, cp: 2' 'dp: 0, cp: 1' "$slow"
  same 4 1e-5 && [ "$(in_ring)" -gt 100 ]
  config 'cp: 2, dp: 2' 'dp: 0, cp: 1'
  same 4 1e-5 && [ "$(in_ring)" -gt 40 ]
  attention f32 2,16,8 2,16,8 'causal=1 heads=4'
  config 'cp: 2, tp: 2' 'cp: 1, tp: 2*2' "$slow"
  same 4 1e-5 && [ "$(in_ring)" -gt 100 ]
  attention f32 2,16,8 2,16,4 'causal=1 heads=4 enable_gqa=1'
  config 'cp: 4' 'cp: 1' "$slow"
  same 4 1e-5 && [ "$(in_ring)" -gt 200 ]
  attention f32 2,4,16,8 2,2,16,8 'enable_gqa=1 scale=0.3'
  config 'cp: 4' 'cp: 2'
  same 4 1e-5 && [ "$(in_ring)" -gt 80 ]
}

@test "other dtypes, and keys of another length" {
  attention f64 24,8 24,8 causal=1
  config 'cp: 3' 'cp: 0' "$slow"
  same 3 1e-12 && [ "$(in_ring)" -gt 100 ]
  attention bf16 2,16,8 2,16,8 'causal=1 heads=2'
  config 'cp: 4' 'cp: 1' "$slow"
  same 4 3e-2 && [ "$(in_ring)" -gt 100 ]
  attention f16 2,16,8 2,16,8
  config 'cp: 4' 'cp: 1'
  same 4 4e-3 && [ "$(in_ring)" -gt 80 ]
  attention f32 2,16,8 2,24,8 heads=2
  same 4 1e-5 && [ "$(in_ring)" -gt 80 ]
}

@test "no ring where parts differ in size, nor with a mask" {
  attention f32 2,18,8 2,18,8 'causal=1 heads=2'
  config 'cp: 4' 'cp: 1'
  same 4 1e-5 && run ! in_ring
  no_ring_since 'parts differ in size, or two axes cut one dimension'
  printf '%s\n' >a.gt 'q = randn f32[8,4] 1 #signal=rows' 'm = randn f32[8,8] 2' \
    'o = attention q q q m' 'print o'
  gt-emit --no-at a.gt >a.s
  config 'cp: 4' 'cp: 0'
  same 4 1e-5 && run ! in_ring
  no_ring_since 'it has a mask'
}

# no_ring_since WHY: --explain says so of each attention, and of nothing else.
no_ring_since() {
  gt-shard -c a.yaml --explain a.s 2>&1 >/dev/null | grep ' ring' | sort -u >said
  diff said - <<<"    not as a ring: $1"
}

@test "--explain says why attention is no ring, and nothing where none is wanted" {
  attention f32 2,8,8 2,8,8
  config 'cp: 2' 'cp: 0'
  no_ring_since 'no axis cuts the rows of its queries'
  attention f32 8,8 4,8 causal=1
  config 'cp: 2' 'cp: 0'
  no_ring_since 'it is causal, and its keys have another length than its queries'
  attention f32 2,8,8 8,8
  sed -i '/^[kv] = /s/#.*//' a.gt && gt-emit --no-at a.gt >a.s
  config 'cp: 2' 'cp: 1'
  gt-shard -c a.yaml --explain a.s 2>&1 >/dev/null | grep ' ring' | sort -u >said
  grep -q 'not as a ring: no axis cuts the rows of its queries, keys and values' said
  grep -q 'not as a ring: leading dimensions are broadcast, which makes larger gradients' said
  sed -i '/^ring/d' a.yaml
  run ! grep -q ' ring' <(gt-shard -c a.yaml --explain a.s 2>&1 >/dev/null)
}

@test "a ring holds less than keys and values that are gathered" {
  attention f32 1,64,32 1,64,32 'causal=1 heads=2'
  # Keys and values are computed, as in a model.
  sed -i 's/^o = /k = mul k 2\nv = mul v 2\no = /' a.gt
  gt-emit --no-at a.gt >a.s
  config 'cp: 4' 'cp: 1'
  most() { gt-shard -c a.yaml --summary a.s 2>&1 >/dev/null | awk '/MB a rank at most/ { print $2 }'; }
  ring=$(most)
  sed -i 's/^ring: .*/ring: false/' a.yaml
  awk -v ring="$ring" -v gathered="$(most)" 'BEGIN { exit !(ring < 0.9 * gathered) }'
}

@test "a signal says it for its lines alone, and --explain tells" {
  attention f32 2,8,8 2,8,8 '#signal=att'
  config 'cp: 2' 'cp: 1'
  sed -i 's/^ring: .*//; s/^signals: {/&att: {ring: true}, /' a.yaml
  same 2 1e-5 && [ "$(in_ring)" -gt 20 ]
  gt-shard -c a.yaml --explain a.s 2>&1 >/dev/null | grep -qx '    as a ring over cp'
  sed -i 's/att: {ring: true}/att: {ring: maybe}/' a.yaml
  run -3 gt-shard -c a.yaml a.s
  [[ $output == *'a.yaml:4'*true* ]]
}

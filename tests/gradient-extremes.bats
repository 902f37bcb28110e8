#!/usr/bin/env bats
# Gradients of programs that take the largest or smallest value over several ranks.
load helper

softmax() { # MESH RANKS SPLIT
  printf '%s\n' "mesh $1" "x@$2 = randn f32[4,6] 1 split=$3" "m@$2 = max x@$2 axis=1 keepdims=1" \
    "m@$2 = all_reduce m@$2 over=tp op=max src=V" "e@$2 = sub x@$2 m@$2" "e@$2 = exp e@$2" \
    "s@$2 = sum e@$2 axis=1 keepdims=1" "s@$2 = all_reduce s@$2 over=tp" "y@$2 = div e@$2 s@$2" \
    "w@$2 = randn f32[4,6] 2 split=$3" "z@$2 = mul y@$2 w@$2" "l@$2 = sum z@$2" \
    "g@$2 = grad l@$2 x@$2" "print g@$2 split=$3 shape=4,6 as=g"
}

@test "the gradient of a softmax over a cut dimension is clean, and that of the whole" {
  printf '%s\n' 'x = randn f32[4,6] 1' 'y = softmax x' 'w = randn f32[4,6] 2' 'z = mul y w' \
    'l = sum z' 'g = grad l x' 'print g' | gt-emit | gt-work >whole
  softmax tp=2 0-1 tp:1 | gt-emit >p.s
  gt-check -q p.s
  gt-emit p.s | cmp - p.s
  gt-work p.s | "$GT_ROOT/scripts/gt-cmp" --atol 1e-6 whole -
  # The same holds beside another axis.
  softmax 'dp=2 tp=2' 0-3 dp:0,tp:1 | gt-emit >p.s
  gt-check -q p.s
  gt-work p.s | "$GT_ROOT/scripts/gt-cmp" --atol 1e-6 whole -
}

@test "an extreme that is invariant has a clean gradient as well" {
  printf '%s\n' 'mesh tp=2' 'x@0-1 = rand f32[4,6] 1 split=tp:1' 'm@0-1 = max x@0-1 axis=1' \
    'm@0-1 = all_reduce m@0-1 op=max over=tp dst=I' 'l@0-1 = sum m@0-1' \
    'g@0-1 = grad l@0-1 x@0-1' 'print g@0-1 split=tp:1' | gt-emit >p.s
  gt-check -q p.s
  printf '%s\n' 'x = rand f32[4,6] 1' 'm = max x axis=1' 'l = sum m' 'g = grad l x' 'print g' |
    gt-emit | gt-work | "$GT_ROOT/scripts/gt-cmp" - <(gt-work p.s)
}

@test "the second gradient of a loss in f32 of f16 logits is that of f32 logits" {
  local reduction
  for reduction in none sum mean; do
    printf '%s\n' 'x = tensor f16[2,3] 0.5 -1 2 0.25 1 -0.5' 't = tensor i64[2] 2 0' \
      "l = cross_entropy x t reduction=$reduction out=f32" 'l = sum l' \
      'g = grad l x retain=1' 's = mul g g' 's = sum s' 'h = grad s x' 'print h' >half.gt
    sed 's/^x = tensor f16/x = tensor f32/' half.gt >whole.gt
    gt-emit half.gt | gt-work | sed 's/f16/f32/' >half
    gt-emit whole.gt | gt-work >whole
    grep -q '^h = tensor f32\[2,3\] -*0\.' half
    gt-cmp --rtol 5e-3 half whole
  done
}

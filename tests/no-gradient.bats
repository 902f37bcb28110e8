#!/usr/bin/env bats
# An operand whose gradient an op lacks is never taken for one that the loss does
# not depend on.
load helper

loss() { # prints a program with the gradient of a cross entropy by the weight
  printf '%s\n' 'x = randn f32[2,3] 1' 't = tensor i64[2] 0 2' 'w = tensor f32[3] 1 2 3' "$@" \
    'print g'
}

@test "a gradient by an operand that has none in the op is refused, and is not zeros" {
  loss 'l = cross_entropy x t w' 'g = grad l w' >p.gt
  run -3 --separate-stderr gt-emit p.gt
  [[ $stderr == *'p.gt:5: grad: cross_entropy has no gradient by its operand weight; if none is meant, detach what it reads there'* ]]
  # It is refused as well if the operand only lies on the way to the target.
  loss 's = mul w 2' 'l = cross_entropy x t s' 'g = grad l w' >p.gt
  run -3 --separate-stderr gt-emit p.gt
  [[ $stderr == *'grad: cross_entropy has no gradient by its operand weight;'* ]]
  printf '%s\n' 'x = ones f32[4]' 'p = tensor f32[] 0.5' 'y = dropout x p 7' 'l = sum y' 'g = grad l p' >p.gt
  run -3 --separate-stderr gt-emit p.gt
  [[ $stderr == *'grad: dropout has no gradient by its operand p;'* ]]
  # It is refused on ranks, too.
  printf '%s\n' 'mesh dp=2' 'x@0-1 = randn f32[2,3] 1 split=dp:0' 't@0-1 = zeros i64[2] split=dp:0' \
    'w@0-1 = ones f32[3]' 'l@0-1 = cross_entropy x@0-1 t@0-1 w@0-1 reduction=sum' \
    'g@0-1 = grad l@0-1 w@0-1' >p.gt
  run -3 --separate-stderr gt-emit p.gt
  [[ $stderr == *'grad: cross_entropy has no gradient by its operand weight;'* ]]
}

@test "an operand that is detached, or leads to no target, needs no gradient" {
  loss 'w = detach w' 'l = cross_entropy x t w' 'g = grad l x' | gt-emit | gt-work >one
  loss 'l = cross_entropy x t w' 'g = grad l x' | gt-emit | gt-work | cmp - one
  grep -q 'tensor f32\[2,3\]' one
}

@test "a value that fills a tensor, and the ends of a range, have a gradient" {
  printf '%s\n' 's = tensor f32[] 3' 'y = full f32[4] s' 'm = mul y y' 'l = sum m' 'g = grad l s' 'print g' |
    gt-emit | gt-work >out
  [ "$(cat out)" = 'g = tensor f32[] 24' ]
  printf '%s\n' 'a = tensor f32[] 1' 'b = tensor f32[] 2' 'y = arange f32[3] a b' 'm = mul y y' \
    'l = sum m' 'g h = grad l a b' 'print g' 'print h' | gt-emit | gt-work >out
  # The loss is 1 + 9 + 25. Its gradient by the start is twice 1 + 3 + 5, and by the
  # step twice 0 + 3 + 10.
  [ "$(cat out)" = $'g = tensor f32[] 18\nh = tensor f32[] 26' ]
  # The range cut over ranks gives the same, and gt-check finds nothing.
  printf '%s\n' 'mesh dp=2' 'a@0-1 = tensor f32[] 1' 'b@0-1 = tensor f32[] 2' \
    'y@0-1 = arange f32[3] a@0-1 b@0-1 split=dp:0' 'm@0-1 = mul y@0-1 y@0-1' 'l@0-1 = sum m@0-1' \
    'g@0-1 h@0-1 = grad l@0-1 a@0-1 b@0-1' 'g@0-1 = all_reduce g@0-1 over=dp' \
    'h@0-1 = all_reduce h@0-1 over=dp' 'print g@0 as=g' 'print h@0 as=h' | gt-emit >p.s
  gt-check -q p.s
  gt-work p.s | cmp - out
}

@test "the gradient of a scatter whose result is copied on ranks is a clean sum" {
  # y is R and is multiplied by a shard, so the gradient of y is summands.
  printf '%s\n' 'mesh dp=2' 'x@0-1 = ones f32[4]' 'i@0-1 = tensor i64[2] 0 2' 's@0-1 = ones f32[2]' \
    'w@0-1 = randn f32[4,6] 1 split=dp:1' 'y@0-1 = scatter x@0-1 i@0-1 s@0-1' \
    'z@0-1 = unsqueeze y@0-1 axis=-1' 'm@0-1 = mul z@0-1 w@0-1' 'l@0-1 = sum m@0-1' \
    'g@0-1 h@0-1 = grad l@0-1 x@0-1 s@0-1' | gt-emit >p.s
  gt-check -q p.s
}

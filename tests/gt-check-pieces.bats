#!/usr/bin/env bats
# gt-check on pieces that are cut in unusual ways, in programs and in the gradients
# that gt-emit writes for them.

load helper

# gradients_are_clean checks the placed program on standard input.
gradients_are_clean() {
  gt-emit --no-at - >emitted.gt
  gt-check emitted.gt >typed.gt
}

@test "a reshape keeps a dimension of which each rank has one element" {
  cat >ones.gt <<'END'
mesh tp=2
x@0-1 = arange f32[12] split=tp:0
x@0-1 = reshape x@0-1 shape=2,6 split=tp:0
y@0-1 = reshape x@0-1 shape=1,2,3
z@0-1 = reshape y@0-1 shape=1,3,1,2
print z@0-1 split=tp:0
END
  gt-check ones.gt >typed.gt
  grep -q '^y@.*#type=tp:S0' typed.gt
  grep -q '^z@.*#type=tp:S0' typed.gt
  run gt-work ones.gt
  [ "$output" = 'z = tensor f32[2,3,1,2] 0 1 2 3 4 5 6 7 8 9 10 11' ]
}

@test "a reshape whose one element a rank may go to several dimensions is reported" {
  for shape in 1,1,6 6,1; do
    run -1 --separate-stderr gt-check -q <<END
mesh tp=2
x@0-1 = ones f32[2,6] split=tp:0
y@0-1 = reshape x@0-1 shape=$shape
END
    [[ $stderr == *"which of the result's it becomes is not said [reshape-ambig]"* ]]
  done
  run -1 --separate-stderr gt-check -q <<'END'
mesh tp=2
x@0-1 = ones f32[2,6] split=tp:0
y@0-1 = reshape x@0-1 shape=6
END
  [[ $stderr == *'which goes [reshape-ambig]'* ]]
}

@test "split= says where a reshape's dimension of size 1 goes" {
  gt-check -q <<'END'
mesh tp=2
x@0-1 = ones f32[1,1,5] split=tp:0
y@0-1 = reshape x@0-1 shape=1,5 split=tp:0
z@0-1 = reshape y@0-1 shape=5,1,1 split=tp:2
print z@0-1 split=tp:2
END
}

@test "the gradient of a gather by indices that are cut" {
  gradients_are_clean <<'END'
mesh tp=2
x@0-1 = randn f32[5,3] 1
i@0-1 = tensor i64[3,3] 0 4 1 2 2 0 3 1 1 split=tp:0
y@0-1 = gather x@0-1 i@0-1 axis=0
l@0-1 = sum y@0-1
g@0-1 = grad l@0-1 x@0-1
END
  grep -q '^g@0-1 = gather_grad .*#grad=x .*#type=tp:P' typed.gt
}

@test "gradients of a dimension that axes cut in units, or as one" {
  local ranks rows split at
  while read -r ranks rows split; do
    at=0-$((ranks - 1))
    gradients_are_clean <<END
mesh dp=$((ranks / 2)) tp=2
x@$at = randn f32[$rows,3] 7 split=$split
a@$at = sum x@$at axis=1
b@$at = mul a@$at a@$at
l@$at = sum b@$at
g@$at = grad l@$at x@$at
END
    grep '^g@.* = expand' typed.gt | grep -qF " shape=$rows,3 split=$split "
  done <<'END'
4 10 dp:0*2,tp:0
4 10 tp:0*2,dp:0
6 9 dp+tp:0
6 9 tp:0*3,dp:0
END
}

@test "the weight's gradient of a row times columns that are uneven" {
  gradients_are_clean <<'END'
mesh tp=2
x@0-1 = randn f32[3] 1 split=tp:0
w@0-1 = randn f32[3,5] 2 split=tp:0
y@0-1 = linear x@0-1 w@0-1
y@0-1 = all_reduce y@0-1 over=tp
v@0-1 = randn f32[5,3] 3 split=tp:1
z@0-1 = linear y@0-1 v@0-1
l@0-1 = sum z@0-1
gx@0-1 gw@0-1 gv@0-1 = grad l@0-1 x@0-1 w@0-1 v@0-1
END
}

@test "each result of a gradient says whether it is a sum, in local mode too" {
  # The rows of x are cut, so its gradient is a shard and those of w and b are sums.
  for target in x w b; do
    printf '%s\n' 'mesh tp=2' 'x@0-1 = randn f32[3,6] 1 split=tp:0' 'w@0-1 = ones f32[6]' \
      'b@0-1 = ones f32[6]' 'y@0-1 = layer_norm x@0-1 w@0-1 b@0-1' 'h@0-1 = mul y@0-1 y@0-1' \
      'l@0-1 = sum h@0-1 #partial=tp' "g@0-1 = grad l@0-1 $target@0-1" | gt-emit >p.s
    gt-check -q p.s
    gt-check -q -l p.s
    gt-emit p.s | cmp - p.s
  done
}

#!/usr/bin/env bats
# Lines that gt-check accepts whatever line stands before them.
load helper

@test "a line without ranks binds the name that it reads, with and without a mesh" {
  for mesh in '' $'mesh tp=2\n'; do
    for line in 'h = copy h' 'h = neg h' 'h k = split h' 'h = sgd h h 0.1' \
      'h = concat h h' 'h = fail "no"'; do
      printf '%sh = ones f32[2]\n%s\nh = copy h\n' "$mesh" "$line" >p.s
      run -0 gt-check p.s
      [[ $output == "#gt 1"$'\n'"$(<p.s)"$'\n'"#end 0" ]]
    done
  done
}

@test "a copy under its own name after a line whose ranks or op are wrong" {
  # The operands of one line do not count as operands of the next.
  printf '%s\n' 'x@0-1 = ones f32[2]' 'y@0-1 = neg x@0-1' 'x@0-1 = copy x' \
    'z = copy z' 'x@0-1 = nosuch x@0-1' 'x@1 = copy x@5' >p.s
  run -1 gt-check -q p.s
  [[ $output == *'[ranks]'*"unknown op 'nosuch'"*'[unbound]'* ]]
}

@test "what gt-route recorded of a run is a program that gt-check takes" {
  gt-emit "$GT_EXAMPLES/linear-init.gt" --repeat 3 "$GT_EXAMPLES/linear.gt" -e 'w = copy w' \
    -e 'print w' >p.s
  run -0 gt-route -n 2 --log run.log p.s
  cut -f 7- run.log >run.s
  grep -q copy run.s
  run -0 gt-check -q run.s
}

@test "a line of several results says the type of each, and -t shows them" {
  printf '%s\n' 'mesh dp=2 tp=2' 'g@0-3 = randn f32[8,6] 4 split=dp:0' 'v@0-3 = randn f32[6] 5' \
    'x@0-3 w@0-3 = layer_norm_grad g@0-3 g@0-3 v@0-3' 'a@0-3 b@0-3 = split g@0-3 axis=1' \
    'z@0-3 = randn f32[8,6] 1 split=tp:0,dp:0' 'y@0-3 i@0-3 = sort z@0-3 axis=1' >p.s
  run -0 gt-check p.s
  [[ $output == *'layer_norm_grad g@0-3 g@0-3 v@0-3 #type=dp:S0,tp:R;dp:P,tp:R'$'\n'* ]]
  # A type that all results have is noted once; a spec has a part for each result.
  [[ $output == *'split g@0-3 axis=1 #type=dp:S0,tp:R'$'\n'* ]]
  [[ $output == *'sort z@0-3 axis=1 #type=dp:V,tp:V #spec=tp+dp,-;tp+dp,-'$'\n'* ]]
  gt-check p.s >c.s
  gt-check c.s | cmp - c.s
  gt-emit c.s | cmp - c.s
  run -0 gt-check -q -t p.s
  [[ $output == *'layer_norm_grad({dp:S0,tp:R}, {dp:S0,tp:R}, {dp:R,tp:R}) -> {dp:S0,tp:R}, {dp:P,tp:R}'* ]]
}

@test "each part of a claim is held against its own result" {
  start=$'mesh dp=2\ng@0-1 = randn f32[8,6] 4 split=dp:0\n'
  line='x@0-1 w@0-1 = layer_norm_grad g@0-1 g@0-1 v@0-1'
  start+=$'v@0-1 = randn f32[6] 5\n'
  gt-check -q <<<"$start$line #type=dp:S0;dp:P"
  # An empty part claims nothing, and a single type claims something of the first
  # result alone.
  gt-check -q <<<"$start$line #type=;dp:P"
  gt-check -q <<<"$start$line #type=dp:S0;"
  gt-check -q <<<"$start$line #type=dp:S0"
  run -1 gt-check -q <<<"$start$line #type=dp:S0;dp:R"
  [[ $output == *'claimed R, but it is P [assert]'* ]]
  run -1 gt-check -q <<<"$start$line #type=dp:S0;dp:P;dp:P"
  [[ $output == *'speaks of 3 results, the line has 2 [spec-len]'* ]]
  # With #unchecked each result has the type that its claim says.
  run -0 gt-check <<<"$start$line #unchecked #type=dp:S0;dp:P"$'\nw@0-1 = all_reduce w@0-1 over=dp'
  [[ $output == *'w@0-1 = all_reduce w@0-1 over=dp #type=dp:R'* ]]
}

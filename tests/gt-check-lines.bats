#!/usr/bin/env bats
# Lines that gt-check takes as they are, whatever stood before them.
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
  # Operands of the line before are not this line's.
  printf '%s\n' 'x@0-1 = ones f32[2]' 'y@0-1 = neg x@0-1' 'x@0-1 = copy x' \
    'z = copy z' 'x@0-1 = nosuch x@0-1' 'x@1 = copy x@5' >p.s
  run -1 gt-check -q p.s
  [[ $output == *'[ranks]'*'no such op'*'[unbound]'* ]]
}

@test "what gt-route recorded of a run is a program that gt-check takes" {
  gt-emit "$GT_EXAMPLES/linear-init.gt" --repeat 3 "$GT_EXAMPLES/linear.gt" -e 'w = copy w' \
    -e 'print w' >p.s
  run -0 gt-route -n 2 --log run.log p.s
  cut -f 7- run.log >run.s
  grep -q copy run.s
  run -0 gt-check -q run.s
}

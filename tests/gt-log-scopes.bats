#!/usr/bin/env bats
# gt-log --dot of a program that is too large to be drawn line by line.

load helper

@test "--dot of a large program is a graph of its scopes" {
  { echo 'x = ones f32[4]'
    for ((i = 0; i < 400; i++)); do
      echo "x = add x 1 #signal=layer$((i / 100))/add"
      echo "x = mul x 2 #signal=layer$((i / 100))/mul"
    done
    echo 'g = neg x #signal=layer0/mul #bwd'
    echo 'print g'
  } >p.gt
  run -0 --separate-stderr gt-log --dot p.gt
  [[ $stderr == 'gt-log: --dot: 803 lines are too many for a graph, so it is one of their scopes; '* ]]
  # There are four layers of two scopes, one scope's backward lines, and two ops
  # without a scope.
  [ "$(grep -c '^  n[0-9]* \[label=' <<<"$output")" -eq 11 ]
  [[ $output == *'[label="layer2/mul\n100 lines: 100 mul"]'* ]]
  [[ $output == *'[label="layer0/mul (backward)\n1 line: 1 neg", '* ]]
  from=$(sed -n 's/^  \(n[0-9]*\) .label="layer0\/add.*/\1/p' <<<"$output")
  to=$(sed -n 's/^  \(n[0-9]*\) .label="layer0\/mul\\n.*/\1/p' <<<"$output")
  [[ $output == *"  $from -> $to [tooltip=\"100 values\"];"* ]]
  # A part of the program that is small enough is drawn line by line again.
  run -0 --separate-stderr gt-log --dot --signal 'layer2/*' p.gt
  [ -z "$stderr" ]
  [ "$(grep -c 'label="add 1' <<<"$output")" -eq 100 ]
}

@test "of too many scopes the outer ones are drawn, and dot lays them out" {
  { echo 'x = ones f32[4]'
    for ((i = 0; i < 40; i++)); do
      for ((k = 0; k < 20; k++)); do
        echo "x = add x 1 #signal=layer$i/part$k"
      done
    done
  } >p.gt
  gt-log --dot p.gt >p.dot 2>/dev/null
  run -0 grep -c '^  n[0-9]* \[label=' p.dot
  [ "$output" -eq 41 ]
  grep -qF '[label="layer7\n20 lines: 20 add"]' p.dot
  command -v dot >/dev/null || skip 'Graphviz is not installed'
  timeout 100 dot -Tsvg p.dot >p.svg
  xmllint --noout p.svg
}

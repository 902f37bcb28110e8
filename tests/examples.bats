#!/usr/bin/env bats
# The examples' own options; what they compute is tested in tests/quick.

load helper

@test "transformer says what can be set, and what cannot" {
  run -0 "$GT_EXAMPLES/transformer" --help
  [[ $output == *'width=128'* && $output == *'temperature=0.7'* ]]
  run -0 "$GT_EXAMPLES/transformer.sh" --help
  [[ $output == usage:* ]]
  run -2 "$GT_EXAMPLES/transformer.sh" -x
  run -2 --separate-stderr "$GT_EXAMPLES/transformer" deepth=3
  [[ $stderr == *"nothing to set: 'deepth=3'"* ]]
  run -2 --separate-stderr "$GT_EXAMPLES/transformer" .*=3
  [ -z "$output" ]
}

@test "transformer: sizes that give no program are told at once" {
  # wrong TEXT SETTING...
  wrong() {
    run -2 --separate-stderr "$GT_EXAMPLES/transformer" "${@:2}"
    [[ $stderr == *"$1"* && -z $output ]]
  }
  wrong "nothing to set: 'step=5'" step=5  # a variable of the script's own
  wrong "layers='abc' is no number above 0" layers=abc
  wrong "batch='0' is no number above 0" batch=0
  wrong 'held=10 must be above batch times context, 2048' held=10
  wrong 'nothing to train on without the last held=65536 of it' length=5000
  # As many steps as warm up, and fewer: rates are numbers.
  for steps in 0 2 3; do
    "$GT_EXAMPLES/transformer" layers=1 width=8 heads=1 context=4 batch=2 \
      length=100 held=20 steps=$steps warmup=3 rounds=1 sample=0 >p.gt
    run ! grep 'mul.*inf' p.gt
  done
  printf 'caf\303\251' >text
  run -2 --separate-stderr "$GT_EXAMPLES/transformer.sh" text
  [[ $stderr == 'transformer.sh: text has characters beyond ASCII; set vocab=256 to take its bytes' ]]
}

@test "transformer: the lines of a round are the same text each time" {
  "$GT_EXAMPLES/transformer" layers=1 width=8 heads=1 context=4 batch=2 \
    length=100 held=20 steps=3 rounds=1 sample=2 >p.gt
  [ "$(grep -c "^print loss$" p.gt)" -eq 3 ]
  run -0 awk '/^start = rand/ { on = 1; r++ } on { line[r] = line[r] $0 "\n" }
    /^print loss/ { on = 0 }
    END { print r, line[1] == line[2] && line[2] == line[3] }' p.gt
  lines_are '3 1'
}

# digits MODEL LOSS: what some steps of it print.
digits() {
  cd "$GT_ROOT" || return
  {
    cat "examples/$1-init.gt"
    for ((i = 0; i < 30; i++)); do
      cat "examples/$1.gt"
      printf 'print %s\n' "$2"
    done
    cat "examples/$1-test.gt"
  } | gt-emit | gt-work
}

@test "digits: placed on two ranks they learn the same" {
  digits digits loss >"$BATS_TEST_TMPDIR/whole"
  digits digits-tp2 'loss@0 as=loss' >"$BATS_TEST_TMPDIR/placed"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/whole")" -eq 31 ]
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-3 "$BATS_TEST_TMPDIR/whole" \
    "$BATS_TEST_TMPDIR/placed"
}

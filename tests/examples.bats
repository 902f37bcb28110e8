#!/usr/bin/env bats
# The options of the examples; tests/quick tests what the examples compute.

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

@test "transformer: sizes that give no program are refused at once" {
  # wrong TEXT SETTING... runs the transformer with wrong settings and checks the
  # message.
  wrong() {
    run -2 --separate-stderr "$GT_EXAMPLES/transformer" "${@:2}"
    [[ $stderr == *"$1"* && -z $output ]]
  }
  wrong "nothing to set: 'step=5'" step=5  # no setting but a variable of the script
  wrong "layers='abc' is no number above 0" layers=abc
  wrong "batch='0' is no number above 0" batch=0
  wrong 'held=10 must be above batch times context, 2048' held=10
  wrong 'nothing to train on without the last held=65536 of it' length=5000
  # With as few steps as the warm-up has, or fewer, the rates are still numbers.
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

# digits MODEL LOSS prints what some steps of the model print.
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

@test "lenet: it learns, and with the batch on two ranks the same" {
  cd "$GT_ROOT" || return
  gt-emit --no-at examples/lenet-init.gt --repeat 60 examples/lenet.gt \
    -e 'print loss' -e 'print k1' >"$BATS_TEST_TMPDIR/whole.s"
  gt-work <"$BATS_TEST_TMPDIR/whole.s" >"$BATS_TEST_TMPDIR/whole"
  run -0 awk '/^loss/ { print ($NF < 2) }' "$BATS_TEST_TMPDIR/whole"
  lines_are 1
  gt-shard -c configs/data-parallel.yaml "$BATS_TEST_TMPDIR/whole.s" |
    gt-check >"$BATS_TEST_TMPDIR/placed.s"
  run -0 grep -c '^k1@0-1 = ' "$BATS_TEST_TMPDIR/placed.s"
  gt-work <"$BATS_TEST_TMPDIR/placed.s" >"$BATS_TEST_TMPDIR/placed"
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-3 "$BATS_TEST_TMPDIR/whole" \
    "$BATS_TEST_TMPDIR/placed"
}

@test "lenet: with channels on two ranks, made or read, it is the same" {
  cd "$GT_ROOT" || return
  gt-emit --no-at examples/lenet-init.gt examples/lenet.gt -e 'print loss' \
    -e 'print g.k1' -e 'print g.k2' >"$BATS_TEST_TMPDIR/whole.s"
  gt-work <"$BATS_TEST_TMPDIR/whole.s" >"$BATS_TEST_TMPDIR/whole"
  for dim in 0 1; do
    printf '%s\n' 'mesh: {tp: 2}' 'signals:' "  conv2: {shard: {tp: $dim}}" \
      >"$BATS_TEST_TMPDIR/channels.yaml"
    gt-shard -c "$BATS_TEST_TMPDIR/channels.yaml" "$BATS_TEST_TMPDIR/whole.s" |
      gt-check >"$BATS_TEST_TMPDIR/placed.s"
    run -0 grep -c "^k2@0-1 = .* split=tp:$dim" "$BATS_TEST_TMPDIR/placed.s"
    gt-work <"$BATS_TEST_TMPDIR/placed.s" >"$BATS_TEST_TMPDIR/placed"
    run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-3 "$BATS_TEST_TMPDIR/whole" \
      "$BATS_TEST_TMPDIR/placed"
  done
}

@test "digits: placed on two ranks they learn the same" {
  digits digits loss >"$BATS_TEST_TMPDIR/whole"
  digits digits-tp2 'loss@0 as=loss' >"$BATS_TEST_TMPDIR/placed"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/whole")" -eq 31 ]
  run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-3 "$BATS_TEST_TMPDIR/whole" \
    "$BATS_TEST_TMPDIR/placed"
}

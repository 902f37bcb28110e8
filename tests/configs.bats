#!/usr/bin/env bats
# Runs every example under every config of configs/ in three ways: alone, placed in
# one gt-work, and placed on workers.

load helper

setup_file() {
  # The transformer reads its text from a .npy file: a header and then the bytes.
  local novel=$GT_SHARE/novel/pride-and-prejudice.txt
  cd "$BATS_FILE_TMPDIR" || return
  ln -s "$GT_SHARE" share
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2000,), }"
    head -c 2000 "$novel"
  } >text.npy
  local sizes='layers=2 width=16 heads=2 context=8 batch=4 length=2000 held=100
    steps=3 warmup=2 rounds=1 sample=1'
  # shellcheck disable=SC2086
  for fused in 0 1; do
    "$GT_EXAMPLES/transformer" text=text.npy $sizes fused=$fused |
      gt-emit --no-at >"transformer$fused.s"
  done
  {
    cat "$GT_EXAMPLES/digits-init.gt"
    for _ in 1 2 3; do cat "$GT_EXAMPLES/digits.gt" <(echo 'print loss'); done
    cat "$GT_EXAMPLES/digits-test.gt"
  } | gt-emit --no-at >digits.s
  "$GT_EXAMPLES/microbatches" 3 | gt-emit --no-at >microbatches.s
  # shellcheck disable=SC2086
  "$GT_EXAMPLES/transformer" text=text.npy $sizes microbatches=2 |
    gt-emit --no-at >transformer-microbatches.s
  gt-emit --no-at "$GT_EXAMPLES/linear-init.gt" --repeat 5 \
    "$GT_EXAMPLES/linear.gt" -e 'print w' -e 'print b' >linear.s
  gt-emit --no-at "$GT_EXAMPLES/experts-init.gt" --repeat 2 \
    "$GT_EXAMPLES/experts.gt" -e 'print loss' -e 'print dropped' \
    -e 'print router' -e 'print up' -e 'print shared.up' >experts.s
  gt-emit --no-at "$GT_EXAMPLES/quickstart.gt" >quickstart.s
  gt-emit --no-at "$GT_EXAMPLES/tape.gt" >tape.s
  for program in *.s; do
    gt-work --threads 1 "$program" >"${program%.s}.alone"
  done
}

# under CONFIG OP... runs all examples under the config. Each OP must have been
# inserted in one of the streams.
under() {
  local config=$GT_ROOT/configs/$1.yaml program name op
  shift
  cd "$BATS_FILE_TMPDIR" || return
  for program in *.s; do
    name=$BATS_TEST_TMPDIR/${program%.s}
    # Status 3 with only these messages means that the config is made for other
    # programs.
    gt-shard -c "$config" "$program" >"$name.s" 2>"$name.said" || {
      (($? == 3)) || return
      run ! grep -vE 'is used by no line|matches no tensor|cuts no tensor|nothing to order' "$name.said"
      sed -i '/^#end 3$/s/3/0/' "$name.s"
    }
    gt-work --threads 1 "$name.s" >"$name.one" || return
    gt-cmp --rtol 1e-3 --atol 1e-5 "${program%.s}.alone" "$name.one" || return
    gt-route -n 2 --threads 1 "$name.s" | cmp - "$name.one" || return
    gt-shard -c "$config" "$name.s" 2>"$name.again" | cmp - "$name.s" || return
    gt-check -q "$name.s" || return
  done
  for op in "$@"; do
    grep -q "= $op .*#why=" "$BATS_TEST_TMPDIR"/*.s ||
      { echo "no $op"; return 1; }
  done
}

@test "without a config a stream passes unchanged" {
  for program in "$BATS_FILE_TMPDIR"/*.s; do
    gt-shard "$program" | cmp - "$program"
  done
}

@test "all configs have a test here" {
  for config in "$GT_ROOT"/configs/*.yaml; do
    grep -q "^  under $(basename "$config" .yaml) " "$BATS_TEST_FILENAME"
  done
}

@test "data parallel: gradients are summed" {
  under data-parallel all_reduce
  run ! grep -E '= (all_gather|reduce_scatter|all_to_all) ' \
    "$BATS_TEST_TMPDIR"/{digits,linear}.s
}

@test "tensor parallel: one sum for two products" {
  under tensor-parallel all_reduce
}

@test "sequence parallel: parts of the sequence, and products in between" {
  under sequence-parallel all_gather reduce_scatter
}

@test "a sharded optimizer: parts of gradients, weights gathered" {
  under sharded-optimizer all_gather reduce_scatter
}

@test "sharded weights: gathered for each use" {
  under sharded-weights all_gather reduce_scatter
}

@test "data and tensor parallel on four ranks" {
  under mixed all_reduce
  grep -q 'over=dp' "$BATS_TEST_TMPDIR/transformer0.s"
  grep -q 'over=tp' "$BATS_TEST_TMPDIR/transformer0.s"
}

@test "experts: what they are sent is exchanged, there and back" {
  under experts all_to_all
  # x needs no gradient, so one of the four ways is not gone.
  run -0 grep -c ' all_to_all ' "$BATS_TEST_TMPDIR/experts.s"
  lines_are 6
  run ! grep -E '= (all_gather|reduce_scatter) ' "$BATS_TEST_TMPDIR/experts.s"
}

@test "a pipeline: values are copied from stage to stage" {
  under pipeline copy
}

@test "a schedule: microbatches of two stages take turns" {
  under schedule copy
  cd "$BATS_FILE_TMPDIR"
  # The same holds for each stage of the transformer's pipeline.
  { cat "$GT_ROOT/configs/pipeline.yaml" && echo 'schedule: {kind: 1f1b}'; } >both.yaml
  gt-shard -c "$GT_ROOT/configs/pipeline.yaml" transformer-microbatches.s >plain
  gt-shard -c both.yaml transformer-microbatches.s >ordered
  run ! cmp -s plain ordered
  gt-work --threads 1 plain >wanted
  gt-work --threads 1 ordered | cmp - wanted
  gt-route -n 2 --threads 1 ordered | cmp - wanted
  gt-check -q ordered
}

@test "GT's own form" {
  under gt all_reduce
}

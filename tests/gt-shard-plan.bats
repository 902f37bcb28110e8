#!/usr/bin/env bats
# What gt-shard --plan writes is a config that gt-shard takes as it stands.

load helper

@test "--plan has no entry for zeros that a loss which does not reach them gives" {
  cat >step.gt <<'END'
x = randn f32[64,64] 1
w = randn f32[64,64] 2
unused = randn f32[4,5] 3
y = matmul x w
l = sum y
gw gu = grad l w unused
w = sgd w gw 0.1
print gu
print l
END
  gt-emit step.gt 2>/dev/null >step.s
  for ranks in 2 3 4 6; do
    gt-shard --plan -n "$ranks" step.s >plan.yaml
    run -0 --separate-stderr gt-shard -c plan.yaml step.s
    [ -z "$stderr" ]
    printf '%s\n' "$output" | gt-check -q
  done
}

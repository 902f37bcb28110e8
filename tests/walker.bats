#!/usr/bin/env bats
# A filter that needs types, in 50 lines (tests/tools/result_types.cc), shows what
# lib/program gives to a new filter.

load helper

@test "a filter says the types of what each line binds" {
  local filter=$GT_BIN/result_types
  [ -x "$filter" ] || skip "result_types is not built: -DGT_TESTS=ON"
  cat > p.gt <<'END'
x = ones f32[8,4]
y = sum x axis=1  #at=p:2
mesh tp=2
w@0-1 = ones f32[3] split=tp:0
free y
z = neg y
print x
END
  run -0 "$filter" < p.gt
  [ "$output" = '#gt 1
x = ones f32[8,4]  # x f32[8,4]
y = sum x axis=1  #at=p:2  # y f32[8]
mesh tp=2
w@0-1 = ones f32[3] split=tp:0  # w@0 f32[2], w@1 f32[1]
free y
z = neg y
print x
#end 0' ]
}

@test "the output of that filter is the same program" {
  local filter=$GT_BIN/result_types
  [ -x "$filter" ] || skip "result_types is not built: -DGT_TESTS=ON"
  gt-emit "$GT_ROOT"/examples/quickstart.gt > quick.s
  "$filter" < quick.s > typed.s
  gt-work quick.s > want
  run -0 gt-work typed.s
  [ "$output" = "$(cat want)" ]
}

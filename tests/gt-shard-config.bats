#!/usr/bin/env bats
# What gt-shard says of a wrong config: the place, the fault, and what may be meant.

load helper

# refuses TEXT YAML: the config gives status 3 and TEXT, and the end of the pipe
# gets the status, too.
refuses() {
  printf '%b' "$2" >bad.yaml
  make_pair
  gt-emit pair.gt >plain
  run -3 --separate-stderr gt-shard -c bad.yaml plain
  [[ $stderr == *"bad.yaml:"*"$1"* ]] || {
    printf '%s\n' "$stderr"
    return 1
  }
  gt-emit pair.gt | gt-shard -c bad.yaml 2>said | gt-work >out 2>>said &&
    return 1
  [ "${PIPESTATUS[2]}" = 3 ]
  [ ! -s out ]
}

@test "a wrong config is reported with its line, and the pipe ends with status 3" {
  refuses "did you mean 'shard'" 'mesh: {tp: 2}\nsignals:\n  colpar: {shrd: {tp: 1}}\n'
  refuses "did you mean 'heads'" 'mesh: {dp: 2, heads: 2}\nsignals:\n  colpar: {shard: {haeds: 1}}\n'
  refuses "a no-break space (U+00A0) stands here, which is no blank of YAML" 'mesh:\xc2\xa0{tp: 2}\n'
  refuses "" 'mesh: {tp: 2\n'
  refuses "" 'mesh: {tp: 2}\nsignals:\n  colpar: {workers: [0, 7]}\n'
  refuses "" 'mesh: {tp: 2}\nsignals:\n  colpar: {on: {tp: 2}}\n'
  refuses "" 'mesh: {tp: 0}\n'
  refuses "" 'mesh: {tp: 2}\nsignals:\n  colpar: {shard: {tp: 1}}\n  colpar: {shard: {tp: 0}}\n'
  refuses "" 'colpar: {shard: {axis: 1, workers: [0, 1]}}\nmesh: {tp: 2}\n'
}

@test "a schedule needs a kind that exists, and something to order" {
  refuses "1f1b" 'mesh: {pp: 2}\nschedule: {kind: 1fb1}\n'
  refuses "says no kind" 'mesh: {pp: 2}\nschedule: {window: 3}\n'
  refuses "number of microbatches" 'mesh: {pp: 2}\nschedule: {kind: 1f1b, window: 0}\n'
  refuses "did you mean 'window'" 'mesh: {pp: 2}\nschedule: {kind: 1f1b, windw: 1}\n'
  make_pair
  gt-emit pair.gt >pair.s
  printf 'mesh: {tp: 2}\nschedule: {kind: 1f1b}\nsignals:\n  colpar: {shard: {tp: 1}}\n' >s.yaml
  run -3 --separate-stderr gt-shard -c s.yaml pair.s
  [ "$stderr" = 'gt-shard: s.yaml:2: schedule: there is nothing to order, as no line is of a microbatch (#mb=)' ]
}

@test "an entry that no line uses is reported, with what may be meant" {
  make_pair
  printf 'mesh: {tp: 2}\nsignals:\n  colpr: {shard: {tp: 1}}\n' >s.yaml
  gt-emit pair.gt >pair.s
  run -3 --separate-stderr gt-shard -c s.yaml pair.s
  [[ $stderr == *"s.yaml:3: signal 'colpr' is used by no line; did you mean 'colpar'"* ]]
  printf 'mesh: {tp: 2}\nsignals:\n  colpr: {shard: {tp: 1}, optional: true}\n' >s.yaml
  run -0 --separate-stderr gt-shard -c s.yaml pair.s
  [[ -z $stderr ]]
}

@test "an entry that cuts no tensor is reported" {
  make_pair
  gt-emit pair.gt >pair.s
  local cut
  for cut in 'tp: 2' 'tp: -3' 'tp: 1*5'; do
    printf 'mesh: {dp: 2, tp: 2}\nsignals:\n  colpar: {shard: {dp: 0, %s}}\n' "$cut" >s.yaml
    run -3 --separate-stderr gt-shard -c s.yaml pair.s
    [[ $stderr == *"s.yaml:3: signal 'colpar' cuts no tensor over tp: "*"optional: true"* ]]
    [[ $stderr != *"over dp"* ]]
    sed -i 's/{shard/{optional: true, shard/' s.yaml
    gt-shard -c s.yaml pair.s >placed
  done
  # The entry may name a tensor, be in GT's form, or be for a scope that makes
  # nothing.
  printf 'mesh: {tp: 2}\ntensors:\n  x: {shard: {tp: 3}}\n' >s.yaml
  run -3 --separate-stderr gt-shard -c s.yaml pair.s
  [[ $stderr == *"s.yaml:3: 'x' cuts no tensor over tp"* ]]
  printf 'colpar: {shard: {axis: 5, workers: [0, 1]}}\n' >s.yaml
  run -0 --separate-stderr gt-shard -c s.yaml pair.s
  [[ $stderr == *"s.yaml:1: warning: signal 'colpar' cuts no tensor over workers"* ]]
  printf 'x = ones f32[4]\ny = relu x #signal=s\nprint y\n' >p.gt
  printf 'mesh: {tp: 2}\nsignals:\n  s: {shard: {tp: 0}}\n' >s.yaml
  run -3 --separate-stderr gt-shard -c s.yaml p.gt
  [[ $stderr == *"s.yaml:3: signal 's' cuts no tensor over tp"* ]]
  # An empty part counts as cut, an entry that copies asks for no cut, and on one
  # rank nothing can be cut.
  printf 'x = ones f32[0,1] #signal=s\nprint x\n' >p.gt
  for cut in '{tp: 0}' '{tp: 1}' '{}'; do
    printf 'mesh: {tp: 2}\nsignals:\n  s: {shard: %s}\n' "$cut" >s.yaml
    gt-shard -c s.yaml p.gt >placed
  done
  printf 'mesh: {tp: 1}\nsignals:\n  colpar: {shard: {tp: 1}}\n' >s.yaml
  gt-shard -c s.yaml pair.s >placed
}

@test "a backward entry that cuts nothing is no fault" {
  make_pair
  printf '%s\n' 'colpar: {shard: {axis: 1, workers: [0, 1]}, backward: bwd}' \
    'bwd: {shard: {axis: 1, workers: [0, 1]}}' \
    'rowpar: {shard: {axis: 0, workers: [0, 1]}}' >gt.yaml
  gt-emit pair.gt >plain
  run -0 --separate-stderr gt-shard -c gt.yaml plain
  [ -z "$stderr" ]
}

@test "a message about a line names the place that it came from" {
  printf 'mesh: {tp: 2}\n' >s.yaml
  printf 'x = ones f32[2,3] #at=model.gt:7\ny = matmul x x #at=model.gt:8\n' >p.gt
  run -3 --separate-stderr gt-shard -c s.yaml p.gt
  [[ $stderr == "gt-shard: model.gt:8: matmul: "* ]]
}

@test "entries that a stream placed already does not use are no fault" {
  make_pair
  printf 'mesh: {tp: 2}\nsignals:\n  colpar: {shard: {tp: 1}}\n' >s.yaml
  gt-emit pair.gt | gt-shard -c s.yaml >once.s
  gt-shard -c s.yaml once.s | cmp - once.s
}

@test "keys that contradict each other are reported, and an open bracket by its beginning" {
  refuses "2: signal 'colpar': shard: axis: 1 cuts what replicated: true copies" 'colpar:\n  shard: {axis: 1, replicated: true}\n'
  refuses "3: signal 'colpar': shard over tp cuts nothing" 'mesh: {dp: 2, tp: 2}\nsignals:\n  colpar: {workers: [0, 2], shard: {tp: 1}}\n'
  refuses '2: is no YAML: what begins here has no end' 'mesh: {tp: 2}\nsignals: {\n  colpar: {shard: {tp: 1}}\n'
}

@test "nested scopes that contradict each other are reported with both lines" {
  printf 'x = ones f32[4] #signal=a/b\nprint x\n' >p.gt
  printf 'mesh: {pp: 2}\nsignals:\n  a: {on: {pp: 0}}\n  b: {on: {pp: 1}}\n' >s.yaml
  run -3 --separate-stderr gt-shard -c s.yaml p.gt
  [[ $stderr == *"s.yaml:4: signal 'b'"*"line 3"* ]]
}

@test "a config whose meaning is unclear is refused, not guessed" {
  refuses "2: is no YAML: '%' begins no line here" 'mesh: {tp: 2}\n%%signals: {colpar: {shard: {tp: 1}}}\n'
  refuses "did you mean 'mesh'" 'msh: {tp: 2}\nsignals: {colpar: {shard: {tp: 1}}}\n'
  refuses "2: signal 'colpar': 'tp:1' has no value" 'mesh: {tp: 2}\nsignals: {colpar: {shard: {tp:1}}}\n'
  refuses "1: signal 'colpar': shard: cuts nothing on worker 2 alone" 'colpar: {shard: {axis: 1, workers: 2}}\n'
  refuses "did you mean 'tp'" 'mesh: {tp: 2}\nsignals: {colpar: {shard: {TP: 1}}}\n'
  # YAML's own lines before the map are read, and one worker alone has everything.
  make_pair
  gt-emit pair.gt >plain
  printf '%%YAML 1.2\n---\ncolpar: {shard: {axis: 1, workers: 0}}\n' >one.yaml
  gt-shard -c one.yaml plain >placed
  printf 'mesh: {tp: 2}\ntensors: {U: {shard: {tp: 1}}}\n' >case.yaml
  run -3 --separate-stderr gt-shard -c case.yaml plain
  [[ $stderr == *"case.yaml:2: 'U' matches no tensor's name"*"did you mean 'u'?"* ]]
}

@test "in GT's form an entry that only says where lines run has an effect" {
  cat >stages.yaml <<'END'
# Pipeline stage 0 - all layers on workers 0 and 1
pp_stage0:
  shard:
    axis: 0
    workers: [0, 1]
pp_stage0_colpar:
  shard:
    axis: 1
    workers: [0, 1]
pp_stage1:
  shard:
    axis: 0
    workers: [2, 3]
END
  cat >p.gt <<'END'
x = randn f32[4,6] 1
w = randn f32[6,4] 2
h = relu x #signal=pp_stage0
h = matmul h w #signal=pp_stage0/pp_stage0_colpar
h = tanh h #signal=pp_stage1
print h
END
  gt-emit p.gt >p.s
  run -0 --separate-stderr gt-shard -c stages.yaml p.s
  [[ -z $stderr ]]
  gt-shard -c stages.yaml p.s >placed
  grep -q '^h@2-3 = tanh ' placed
  gt-check -q placed
  gt-work p.s >whole
  gt-work placed | gt-cmp --rtol 1e-5 whole -
  # An entry for no line, and one that cuts nothing over all workers, are only
  # warnings.
  printf 'unknown: {workers: [0]}\nall: {shard: {axis: 3, workers: null}}\n' >>stages.yaml
  sed 's/^x = .*/& #signal=all/' p.gt | gt-emit - >all.s
  run -0 --separate-stderr gt-shard -c stages.yaml -n 4 all.s
  [[ $stderr == *"warning: signal 'unknown' is used by no line"* ]]
  [[ $stderr == *"warning: signal 'all' cuts no tensor over workers"* ]]
  [[ ${stderr_lines[*]} != *pp_stage* ]]
}

@test "units that do not divide the part of a rank are left out" {
  cat >s.yaml <<'YAML'
mesh: {tp: 3, pp: 2}
signals:
  late: {on: {tp: [1, 2]}}
tensors:
  x: {shard: {tp: 0, pp: 0*4}}
YAML
  printf 'x = ones f32[12]\ny = mul x 2 #signal=late\nprint y\n' >p.gt
  # Thirds of twelve have units of four, and a half of it has none.
  gt-shard -c <(grep -v 'signals\|late' s.yaml) p.gt |
    grep -q '^x@0-5 = ones f32\[12\] split=tp:0,pp:0\*4$'
  gt-shard -c s.yaml p.gt >placed
  grep -q '^x@2-5 = ones f32\[12\] split=tp:0$' placed
  gt-check placed
  cmp <(gt-work p.gt) <(gt-work placed)
}

#!/usr/bin/env bats
# examples/cpp: programs such as users of libgt would write.

load helper

# The examples are built in the build tree, beside the programs.
CPP=$(dirname "$GT_BIN")/examples

setup_file() {
  [[ -x $CPP/quickstart ]] || skip "examples/cpp is not built"
}

@test "the C++ quick start shows a corner of a product" {
  run -0 "$CPP/quickstart"
  [[ $output == 'tensor f32[4,4] '* ]]
  run -0 wc -w <<<"$output"
  lines_are 18
}

@test "C++: a module that is trained by hand learns" {
  run -0 "$CPP/module"
  [[ ${lines[0]} == 'tensor f32[3] 2 2 2' ]]
  run -0 awk '/^loss/ { print ($4 < $2 / 50) }' <<<"$output"
  lines_are 1
}

@test "C++: a training loop with a gradient rule of its own finds all signs" {
  run -0 "$CPP/own_gradient"
  lines_are 'signs found: 1'
}

@test "C++: digits are learnt as well as by examples/digits.sh, and served" {
  ln -s "$GT_SHARE" share
  run -0 "$CPP/digits" 40 m.safetensors
  [ "$(grep -c '^loss = ' <<<"$output")" -eq 40 ]
  run -0 awk '/^accuracy/ { print ($5 > 0.96) }' <<<"$output"
  lines_are 1
  # The requests are the first two held-out images, a line that is no image, and the
  # first image again.
  gt-emit -e 'x = load "share/digits/images.npy" f32[2,64] 1500' -e 'print x' |
    gt-work | awk '{ for (i = 5; i <= NF; i++) printf "%s%s", $i, (i - 4) % 64 ? " " : "\n" }' >two
  { cat two; echo 1 2 3; head -n 1 two; } >requests
  run -0 --separate-stderr "$CPP/serve" m.safetensors <requests
  [[ ${#lines[@]} -eq 4 && ${lines[0]} =~ ^[0-9]$ && ${lines[1]} =~ ^[0-9]$ ]]
  [[ ${lines[2]} == 'error: '*serve.cc:*'f32[1,64] has 64 elements, and got 3' ]]
  [[ ${lines[3]} == "${lines[0]}" ]]
  run -2 --separate-stderr "$CPP/serve"
}

@test "C++: training that is taken up again goes on bit for bit" {
  ln -s "$GT_SHARE" share
  "$CPP/digits" 5 once.safetensors >once
  "$CPP/digits" 2 twice.safetensors | grep loss >twice
  "$CPP/digits" 3 twice.safetensors >>twice
  diff once twice
  cmp once.safetensors twice.safetensors
}

@test "C++: a server answers each request as it comes" {
  ln -s "$GT_SHARE" share
  "$CPP/digits" 1 m.safetensors >/dev/null
  mkfifo in
  spawn "$CPP/serve" m.safetensors <>in >answers
  for i in 1 2 3; do
    printf '0.5 %.0s' {1..64} >in
    echo >in
    await . answers -m "$i"
    until [ "$(wc -l <answers)" -eq "$i" ]; do sleep 0.05; done
  done
  run -0 uniq answers
  [ "${#lines[@]}" -eq 1 ]
}

@test "C++: one program, three configs, one result" {
  "$CPP/signals" >whole
  [ "$(wc -l <whole)" -eq 5 ]
  for config in data-parallel:2 tensor-parallel:2 mixed:4; do
    GT_CONFIG=$GT_ROOT/configs/${config%:*}.yaml GT_WORKERS=${config#*:} \
      "$CPP/signals" >placed
    run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-5 whole placed
  done
  # The programs under the configs really were placed on ranks.
  GT_CONNECT=- "$CPP/signals" |
    gt-shard -c "$GT_ROOT/configs/mixed.yaml" >placed.s
  run -0 grep -c '^mlp.up.w@0-3 = randn f32\[32,64\] .*split=tp:1' placed.s
  lines_are 1
}

# small SETTING... sets the options that both transformers get.
small() {
  local text=$GT_SHARE/novel/pride-and-prejudice.txt length
  length=$(wc -c <"$text")
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '|u1', 'fortran_order': False, 'shape': ($length,), }"
    cat "$text"
  } >text.npy
  settings=(text=text.npy length="$length" layers=2 width=32 heads=2 context=16
    batch=8 held=600 steps=8 rounds=2 warmup=3 sample=4 "$@")
}

@test "C++: the transformer writes the lines of examples/transformer" {
  for more in fused=1 'fused=0 dropout=0.1'; do
    # shellcheck disable=SC2086
    small $more
    "$GT_EXAMPLES/transformer" "${settings[@]}" | gt-emit --no-at >shell.s
    GT_CONNECT=- "$CPP/transformer" "${settings[@]}" >cpp.s
    awk -f "$GT_ROOT/tests/same-lines.awk" shell.s >shell.lines
    # libgt counts the steps of each parameter, and the other one those of all.
    [ "$(grep -c '^t\.[^ ]* = add ' cpp.s)" -gt 14 ]
    sed -E '/^t\.[^ ]* = /d; / = adamw /s/ t\.[^ ]*/ adamw.t/' cpp.s |
      awk -f "$GT_ROOT/tests/same-lines.awk" >cpp.lines
    [ "$(wc -l <shell.lines)" -gt 1000 ]
    diff shell.lines cpp.lines
    gt-work <shell.s >shell
    gt-work <cpp.s >cpp
    run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-4 shell cpp
  done
  run -2 --separate-stderr "$CPP/transformer" depth=3
  [[ $stderr == "transformer: nothing to set: 'depth=3'" ]]
  run -2 --separate-stderr "$CPP/transformer" held=600
  [[ $stderr == 'transformer: held= must be above batch times context'* ]]
  run -2 --separate-stderr "$CPP/transformer" length=65600
  [[ $stderr == *'and length= above held and context together' ]]
  run -2 --separate-stderr "$CPP/transformer" batch=0
  [[ $stderr == 'transformer: batch= is no number above 0' ]]
}

@test "C++: the transformer gives the same results under each config" {
  small fused=0 sample=0
  "$CPP/transformer" "${settings[@]}" >whole
  for config in data-parallel mixed pipeline sequence-parallel \
    sharded-optimizer sharded-weights tensor-parallel; do
    GT_CONFIG=$GT_ROOT/configs/$config.yaml GT_WORKERS=2 \
      "$CPP/transformer" "${settings[@]}" >placed
    run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-3 whole placed
  done
}

# round N FIRST FILE splits a stream into parts, each of which begins with a line
# that matches FIRST, and prints the Nth.
round() {
  awk -v n="$1" -v first="$2" '$0 ~ first { r++ } r == n' "$3"
}

@test "C++: the rounds of an example are the same text, from the third on" {
  ln -s "$GT_SHARE" share
  small
  GT_CONNECT=- "$CPP/digits" 1 >digits.s
  GT_CONNECT=- "$CPP/transformer" "${settings[@]}" rounds=1 >transformer.s
  GT_CONNECT=- "$CPP/signals" >signals.s
  while read -r name first; do
    round 3 "$first" "$name.s" >third
    round 4 "$first" "$name.s" >fourth
    [ "$(wc -l <third)" -gt 10 ]
    diff third fourth
  done <<'END'
digits = load .*images.npy" f32.100,64. batch.row
transformer = rand f32.8,1.
signals = randn f32.16,32.
END
}

@test "C++: a small GPT learns a text and writes on" {
  run -0 "$CPP/mini_gpt" "$GT_SHARE/novel/pride-and-prejudice.txt" 40 10
  run -0 awk '/^loss/ { l[++n] = $5 } END { print n, (l[1] > 5), (l[n] < 3.5) }' \
    <<<"$output"
  lines_are '2 1 1'
  run -0 awk 'NF && !/^ *(\/\/|$)/' "$GT_EXAMPLES/cpp/mini_gpt.cc"
  [ "${#lines[@]}" -le 120 ]
  : >empty
  run -4 "$CPP/mini_gpt" empty
}

# at_terminal PATTERN COMMAND... types Ctrl-C once the output of the command
# matches.
at_terminal() {
  within 100 /usr/bin/python3 "$GT_ROOT/tests/tools/at_terminal.py" "$@"
}

@test "C++: Ctrl-C ends a program and what it has started" {
  run -0 at_terminal begun client_interrupt
  [ "${lines[0]}" = 'begun with 1' ]
  [[ $output == *'signal 2' ]]
  GT_WORKERS=2 run -0 at_terminal begun client_interrupt
  [[ $output == *'signal 2' ]]
}

@test "C++: a program that handles Ctrl-C goes on with its values" {
  run -0 at_terminal begun client_interrupt handles
  [[ $output == 'begun with 1'*$'goes on\nstatus 0' ]]
  GT_WORKERS=2 run -0 at_terminal begun client_interrupt handles
  [[ $output == 'begun with 1'*$'goes on\nstatus 0' ]]
}

@test "C++: gt-work that stands still is reported as lost, and ended" {
  local who pid child status
  for who in gt-emit gt-work; do
    client_interrupt >out 2>err &
    pid=$!
    await begun out
    child=$(pgrep -P "$pid" -x "$who")
    kill -STOP "$child"
    status=0
    wait "$pid" || status=$?
    ((status != 0))
    grep "the program that runs the lines is gone: $who was stopped by signal 19;" err
    until ! kill -0 "$child" 2>/dev/null; do sleep 0.05; done
    rm out
  done
}

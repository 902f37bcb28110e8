#!/usr/bin/env bats
# examples/minigpt: one training of a GPT, written by a shell, in Python and in C++,
# under each of the configs beside it.

load helper
load python

HERE=$GT_EXAMPLES/minigpt
TINY=(--hidden 16 --heads 4 --seq-len 8 --batch-size 16 --microbatches 2 --steps 2
  --rounds 1 --evaluate 1 --held 200 --sample 1 --warmup 1)

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  head -c 3000 "$GT_SHARE/novel/pride-and-prejudice.txt" >text
  "$HERE/tokens" text >text.npy
  "$HERE/minigpt" "${TINY[@]}" | gt-emit --no-at >layers.s
  "$HERE/minigpt" "${TINY[@]}" --stages 4 | gt-emit --no-at >stages.s
  gt-work --threads 1 layers.s >whole
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  ln -s "$BATS_FILE_TMPDIR"/{text.npy,layers.s,stages.s,whole} .
}

# place CONFIG [STREAM] writes placed.s, which must say nothing but what a config in
# GT's form says of signals for the backward.
place() {
  gt-shard -c "$1" "${2:-layers.s}" >placed.s 2>said
  run ! grep -v 'stage._to_stage.* is used by no line' said
  gt-check -q placed.s
}

@test "every config trains as one worker does, and eight workers give the bits of one" {
  local config stream first step
  read -r first step < <(share_of 4)
  for config in "$HERE"/*.yaml; do
    stream=layers.s
    [[ $config != */gt.yaml ]] || stream=stages.s
    place "$config" $stream
    gt-work --threads 1 placed.s >one
    gt-cmp --rtol 1e-4 whole one
    ((first++ % step == 0)) || continue
    gt-route -n 8 --threads 1 placed.s | cmp - one
  done
  [ "$first" -gt 8 ]
}

@test "each kind of schedule gives the bits of the program without one" {
  local config kind
  for config in tp2-pp4 interleaved zb-v; do
    grep -v '^schedule' "$HERE/$config.yaml" >plain.yaml
    place plain.yaml
    gt-work --threads 1 placed.s >"plain.$config"
    cp placed.s "$config.s"
  done
  while read -r config kind; do
    { grep -v '^schedule' "$HERE/$config.yaml" && echo "schedule: {kind: $kind}"; } >kind.yaml
    place kind.yaml
    run ! cmp -s placed.s "$config.s"
    gt-work --threads 1 placed.s | cmp - "plain.$config"
  done <<'END'
tp2-pp4 gpipe
tp2-pp4 1f1b
tp2-pp4 zb-h1
tp2-pp4 zb-h2
interleaved interleaved
zb-v zb-v
END
}

# writers: the commands that write the program, those that are here.
writers() {
  echo "minigpt.py"
  [[ ! -x ${GT_BIN%/bin}/examples/minigpt ]] || echo minigpt.cc
}

# write NAME OPTION... writes the program by minigpt.py or minigpt.cc.
write() {
  case $1 in
    *.py) PYTHONPATH=$GT_ROOT/share/python PYTHONDONTWRITEBYTECODE=1 \
      within 60 /usr/bin/python3 "$HERE/minigpt.py" "${@:2}" ;;
    *.cc) "${GT_BIN%/bin}/examples/minigpt" "${@:2}" ;;
  esac
}

# scoped FILE: what the lines with a signal are: their op, signal, microbatch, and
# whether they are backward or recomputed. Names of values are each writer's own, and so
# is what it has a detach behind.
scoped() {
  awk '!/ #signal=/ { next }
    {
      op = ""
      split("", notes)
      for (i = 1; i <= NF; ++i) {
        if ($i == "=") op = $(i + 1)
        if (match($i, /^#(signal|mb|bwd|recompute)/)) notes[substr($i, 1, 4)] = $i
      }
      sub(/=.*/, "", notes["#rec"])
      if (op !~ /^(copy|detach)$/) print op, notes["#sig"], notes["#mb="], notes["#bwd"], notes["#rec"]
    }' "$1" | sort | uniq -c
}

# Of Megatron-LM: a layer has two gathers and two sums forward, as many backward, and
# the head one of each. Each moves three quarters of what goes through the layers.
@test "sequence parallel sends what Megatron-LM sends" {
  local size=$((8 * 64 * 16 * 4 * 3 / 4)) steps=2 layers=8 sent
  "$HERE/minigpt" "${TINY[@]}" --mlp 32 --seq-len 64 --held 1200 --microbatches 1 --sample 0 |
    sed '/^held = /,$d' | gt-emit --no-at >model.s
  gt-shard -c "$HERE/sp4-dp2.yaml" --summary model.s 2>said >placed.s
  sent=$(awk "BEGIN { print $size * (4 * $layers + 1) * $steps / 1e6 }")
  grep "all_gather: .* ${sent}[0-9]* MB from each rank" said
  grep "reduce_scatter: .* ${sent}[0-9]* MB from each rank" said
}

@test "Python and C++ write the program of the shell, which gives the same bits" {
  local writer
  for options in '--dropout 0.2 --seed 3' '--stages 4' '--recompute 1 --layers 3'; do
    # shellcheck disable=SC2086
    "$HERE/minigpt" "${TINY[@]}" $options | gt-emit --no-at >shell.s
    gt-work --threads 1 shell.s >shell
    scoped shell.s >shell.lines
    [ "$(wc -l <shell.lines)" -gt 150 ]
    for writer in $(writers); do
      # shellcheck disable=SC2086
      GT_CONNECT=- write "$writer" "${TINY[@]}" $options >other.s
      gt-work --threads 1 other.s | cmp - shell
      scoped other.s | diff shell.lines -
    done
  done
  # A schedule is not cut short by what they write beside it.
  for writer in $(writers); do
    GT_CONNECT=- write "$writer" "${TINY[@]}" >other.s
    place "$HERE/tp2-pp4.yaml" other.s
    GT_CONFIG=$HERE/pp8.yaml GT_WORKERS=8 write "$writer" "${TINY[@]}" | gt-cmp --rtol 1e-4 whole -
  done
}

# most: the bytes that one rank holds at most for what comes in.
most() { gt-shard -c one.yaml | gt-check -q --memory 2>&1 | awk '/at most$/ { print $3 }'; }

@test "an evaluation keeps nothing for gradients, so it needs no more than training does" {
  local writer stream
  local long=("${TINY[@]}" --seq-len 64 --held 1200 --layers 4 --sample 0 --steps 1)
  echo 'mesh: {one: 1}' >one.yaml
  "$HERE/minigpt" "${long[@]}" | gt-emit --no-at >shell.s
  for writer in $(writers); do GT_CONNECT=- write "$writer" "${long[@]}" >"$writer.s"; done
  for stream in shell.s minigpt.*.s; do
    most <"$stream" >all
    sed '/= tensor f32\[\] 0/,$d' "$stream" | most >training
    [ "$(cat training)" -gt 1000000 ]
    cmp all training
  done
}

@test "the steps are the same text, from the second on" {
  local writer stream r
  "$HERE/minigpt" "${TINY[@]}" --steps 4 | gt-emit --no-at >shell.s
  for writer in $(writers); do
    GT_CONNECT=- write "$writer" "${TINY[@]}" --steps 4 >"$writer.s"
  done
  for stream in shell.s minigpt.*.s; do
    for r in 2 3; do
      awk -v r=$r '/= rand f32\[16,1\]/ { n++ } n == r' "$stream" >"step$r"
    done
    [ "$(wc -l <step2)" -gt 1000 ]
    cmp step2 step3
  done
}

@test "a run that was stopped goes on with the bits of one that was not" {
  local writer run
  shell() { "$HERE/minigpt" "$@" | gt-emit | gt-shard -c "$HERE/tp2-pp4.yaml" | gt-work --threads 1; }
  for writer in shell $(writers); do
    run=(write "$writer")
    [[ $writer != shell ]] || run=(shell)
    "${run[@]}" "${TINY[@]}" --steps 3 >all
    "${run[@]}" "${TINY[@]}" --steps 3 --stop 2 --evaluate 1 --sample 0 --save run.safetensors >halves
    [ "$(grep -c '^loss' halves)" -eq 2 ]
    sed -i '/^held/d' halves
    "${run[@]}" "${TINY[@]}" --steps 3 --resume run.safetensors --steps-done 2 >>halves
    cmp all halves
    rm run.safetensors
  done
}

@test "train prints losses and a text, goes on, and draws a step" {
  local small=(--hidden 16 --seq-len 8 --batch-size 8 --microbatches 2 --evaluate 1 --rounds 1
    --warmup 2 --text text.npy --held 200)
  run -0 --separate-stderr "$HERE/train" "${small[@]}" --sample 3 -n 2 --stop 20 --steps 30 \
    --save run.safetensors -o results
  [ -z "$stderr" ]
  [[ ${lines[0]} == 'step 10  loss '* && ${lines[1]} == 'step 20  loss '* ]]
  [[ ${lines[2]} == 'step 20  held-out loss '* ]]
  # After the bar come three characters.
  awk '/^loss/ { l[++n] = $5 } END { exit !(n == 20 && l[20] < l[1] - 0.5) }' results
  [[ $output == *'|'?* ]]
  run -0 --separate-stderr "$HERE/train" "${small[@]}" --sample 0 -n 2 --steps 30 \
    --resume run.safetensors -c dp8 --precision bf16
  [[ ${lines[*]} =~ ^'step 30  loss '[^\ ]*' step 30  held-out loss '[^\ ]*$ ]]
  run -0 --separate-stderr "$HERE/train" "${small[@]}" --sample 0 --steps 3 --schedule zb-h1 \
    --timeline step.svg --pace flops=1e9
  [[ ${lines[1]} == 'schedule zb-h1: stages: 4, microbatches: 2; expected: '*' %' ]]
  [[ ${lines[2]} =~ ^'share of the time in which workers computed: '[0-9.]+' %'$ ]]
  for word in 'F0<' 'forward<' 'weight<' 'worker 7 compute<'; do grep -q "$word" step.svg; done
}

@test "what minigpt and train cannot do is said" {
  run -2 "$HERE/minigpt" --depth 3
  lines_are "minigpt: no option '--depth'; see --help"
  run -2 "$HERE/minigpt" --heads 3
  lines_are 'minigpt: --heads 3 do not divide --hidden 64'
  run -2 "$HERE/minigpt" --text nothing.npy
  [[ $output == *"'nothing.npy' is no .npy file of integers in one dimension" ]]
  run -2 "$HERE/minigpt"
  [[ $output == 'minigpt: --held 65536 must be above'*'of the 3000 tokens of text.npy to train on' ]]
  run -2 "$HERE/train" -c nothing
  [[ $output == "train: no config"*'tp2-pp4'* ]]
}

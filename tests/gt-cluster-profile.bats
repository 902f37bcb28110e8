#!/usr/bin/env bats
# gt-cluster profile: a row of figures for each config. Nothing is timed: of a time is
# tested that it is there, and above 0.

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  # What profile makes beside what it is told to keep lies here.
  mkdir tmp
  export TMPDIR=$PWD/tmp GT_BACKEND=cpu
  printf '%s\n' 'x = randn f32[64,32] 1 #signal=batch' 'w = randn f32[32,8] 2' >init.gt
  printf '%s\n' 'y = matmul x w' 'l = mean y' 'g = grad l w' 'n = norm g' 'w = sgd w g 0.1' \
    'print l as=loss' 'print n' >step.gt
  program=(init.gt --repeat 7 step.gt)
  printf '%s\n' 'mesh: {dp: 2}' 'signals:' '  batch: {results: {dp: 0}}' >dp2.yaml
  printf '%s\n' 'mesh: {dp: 2' >broken.yaml
}

# nothing_left: neither files nor processes.
nothing_left() {
  [ -z "$(ls -A tmp)" ]
  run ! grep -lzsF "$BATS_TEST_TMPDIR/tmp" /proc/[0-9]*/cmdline
}

# cells COLUMN... prints these columns of the rows in `out`, without the head.
cells() {
  awk -F '\t' -v names="$*" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, name, " "); next }
    { for (i = 1; i <= n; i++) printf "%s%s", $at[name[i]], i < n ? " " : "\n" }' out
}

@test "profile prints a row for each config, in the order in which they are given" {
  gt-cluster profile "${program[@]}" -c none -c dp2.yaml --show loss,n --tokens 64 --peak 1e9 \
    --threads 1 --tsv >out 2>err
  [ ! -s err ]
  head -n 1 out | diff - <(printf '%s\t' config workers steps loss n step_s tokens/s \
    computing_share peak_share sent_bytes/step memory_bytes | sed 's/$/failure\n/')
  run -0 cells config workers steps sent_bytes/step memory_bytes failure
  # A rank sends half of the gradient of w twice, and so the loss; the norm is equal.
  lines_are $'none 1 7 0 15376 -\ndp2 2 7 1028 9232 -'
  gt-cluster run "${program[@]}" >results
  read -r loss norm < <(cells loss n | head -n 1)
  [ "$(tail -n 2 results)" = "loss = tensor f32[] $loss"$'\n'"n = tensor f32[] $norm" ]
  [ "$(cells loss n | awk '{ d = $1 - l; l = $1 } END { print d * d < 1e-9 }')" -eq 1 ]
  cells step_s tokens/s computing_share peak_share >shares
  awk '$1 > 0 && $3 > 0 && $3 <= 1 && $4 > 0 { d = $1 * $2 - 64; n += d * d < 0.01 } END { exit n != 2 }' shares
  nothing_left
}

@test "people get columns with units, and only those that were asked for" {
  run -0 --separate-stderr gt-cluster profile -c dp2.yaml -c none --backend null --step n "${program[@]}"
  [ -z "$stderr" ]
  [[ ${lines[0]} =~ ^'config  workers  steps  n  '\ *'step  computing  sent/step   memory'$ ]]
  [[ ${lines[1]} =~ ^'dp2           2      7  0  '\ *[0-9.]+' '[mu]?'s  '\ *[0-9.]+' %    1.03 kB  9.23 kB'$ ]]
  [[ ${lines[2]} =~ ^'none          1      7  0  '\ *[0-9.]+' '[mu]?'s  '\ *[0-9.]+' %        0 B  15.4 kB'$ ]]
  [ "${#lines[@]}" -eq 3 ]
  [ "${#lines[1]}" -eq "${#lines[0]}" ]
}

@test "a rehearsal counts what a run does, and takes the time of the machines" {
  gt-cluster profile -c dp2.yaml --pace flops=1e7,memory_bandwidth=1e12,latency=1e-9 --peak 1e7 \
    "${program[@]}" --tsv >out
  [ "$(cells config workers steps loss sent_bytes/step memory_bytes)" = 'dp2 2 7 0 1028 9232' ]
  # Each rank multiplies 32 rows, twice: 2 * 2 * 32 * 32 * 8 operations and a few.
  awk -F '\t' 'NR > 1 { ok = $5 >= 0.0032 && $6 > 0 && $7 > 0 && $7 <= 1 } END { exit !ok }' out
}

@test "without -c the program runs as GT_CONFIG says, or on one worker" {
  gt-cluster profile --tsv "${program[@]}" >out
  [ "$(cells config workers)" = 'none 1' ]
  GT_CONFIG=dp2.yaml gt-cluster profile --tsv - --repeat 2 step.gt <init.gt >out
  [ "$(cells config workers steps)" = 'dp2 2 2' ]
  # What a rank sends is the same where two ranks share a worker.
  cat init.gt step.gt step.gt | gt-cluster profile -n 1 --tsv -c dp2.yaml -c none >out
  [ "$(cells config workers steps sent_bytes/step)" = $'dp2 1 2 1028\nnone 1 2 0' ]
  # A single step has no time.
  gt-cluster profile --tsv --tokens 3 -- init.gt step.gt >out
  [ "$(cells steps step_s tokens/s computing_share sent_bytes/step)" = '1 - - - 0' ]
}

@test "what is sent once, before the steps, is in no step" {
  printf '%s\n' 'y = copy x #signal=there' 'l = mean y #signal=there' \
    'print l as=loss' 'x = mul x 0.5' >walk.gt
  sed 's/#signal=batch/#signal=here/' init.gt >first.gt
  printf '%s\n' 'c = randn f32[16] 5 #signal=here' 'd = copy c #signal=there' 'print d' >>first.gt
  printf '%s\n' 'mesh: {pp: 2}' 'signals: {here: {on: {pp: 0}}, there: {on: {pp: 1}}}' >pp2.yaml
  gt-cluster profile --tsv -c pp2.yaml first.gt --repeat 5 walk.gt >out
  gt-emit first.gt --repeat 5 walk.gt | gt-shard -c pp2.yaml --summary 2>&1 >placed |
    grep -q 'sent: rank 0 sends most, 0.041024 MB of 0.041024 MB in all'
  [ "$(cells steps sent_bytes/step)" = '5 8192' ]
}

@test "a config that fails gets a row that says why, and the rest run" {
  run -3 --separate-stderr gt-cluster profile -c dp2.yaml -c broken.yaml -c none "${program[@]}"
  [ "${#lines[@]}" -eq 4 ]
  [[ ${lines[1]} == 'dp2 '* && ${lines[3]} == 'none '* ]]
  [[ ${lines[2]} =~ ^'broken  gt-emit: broken.yaml:1: is no YAML: ' ]]
  [[ $stderr == *'broken.yaml:1: is no YAML'*'mesh: {dp: 2'* ]]
  sed -i 's/0}}/2}}/' dp2.yaml
  run -3 gt-cluster profile --tsv -c dp2.yaml "${program[@]}"
  [[ ${lines[-1]} == $'dp2\t'*$'\tgt-shard: dp2.yaml:'* ]]
  # The largest status counts, here over that of a run in which an instruction fails.
  printf 'i = tensor i64[] 0\nq = floordiv 7 i\nprint q as=loss\n' >fails.gt
  run -1 --separate-stderr gt-cluster profile --tsv fails.gt
  [[ ${lines[1]} == $'none\t1\t-\t-\t-\t-\t-\t-\t'*'integer division by zero' ]]
  run -3 --separate-stderr gt-cluster profile -c broken.yaml -c none fails.gt
  [[ $stderr == *'division by zero'* ]]
  nothing_left
}

@test "-o keeps streams, results, traces and pictures" {
  mkdir other
  cp dp2.yaml other/
  (umask 022 && gt-cluster profile -c none -c dp2.yaml -c other/dp2.yaml -o kept --show loss,n \
    "${program[@]}" >table)
  [ "$(wc -l <table)" -eq 4 ]
  [ "$(cd kept && echo *)" = "$(printf '%s ' dp2-2.{placed.s,results,s,svg,trace} \
    dp2.{placed.s,results,s,svg,trace} none.{results,s,svg,trace} plot.svg profile.tsv | xargs)" ]
  cut -f1 kept/profile.tsv | diff - <(printf '%s\n' config none dp2 dp2-2)
  gt-work kept/dp2.placed.s | gt-cmp --rtol 1e-5 kept/none.results -
  gt-emit "${program[@]}" | cmp - kept/none.s
  grep -q 'dp2: step' kept/dp2.svg
  grep -q 'dp2-2.results' kept/plot.svg
  [ "$(stat -c %a kept/none.trace)" = 644 ]
  nothing_left
}

@test "what profile cannot do is said" {
  local wrong
  run -2 gt-cluster profile --step norm "${program[@]}"
  lines_are "gt-cluster: no 'norm' is printed; --step takes a name that is, once a step, and --show takes any: loss, n"
  run -2 gt-cluster profile --show loss,z "${program[@]}"
  [[ $output == "gt-cluster: no 'z' is printed;"* ]]
  run -2 gt-cluster profile init.gt
  [[ $output == "gt-cluster: no 'loss' is printed; "*'any' ]]
  while read -r wrong; do
    # shellcheck disable=SC2086
    run -2 gt-cluster profile $wrong "${program[@]}"
    [[ $output == "gt-cluster: ${wrong%% *}: "* || $output == "gt-cluster: ${wrong%% *} "* ]]
    [ "${#lines[@]}" -eq 1 ]
  done <<'END'
-c nothing.yaml
-n 0
--tokens many
--peak -1
--peak 0
--peak 1e
--hosts list
--slurm
--name other
-o init.gt
END
  run -2 gt-cluster profile init.gt -o
  lines_are 'gt-cluster: -o needs a value; see gt-cluster --help'
  run -2 gt-cluster run --pace flops=1 "${program[@]}"
  [[ $output == *'--pace'* ]]
  nothing_left
}

@test "profile --dry-run prints the commands, and runs nothing" {
  run -0 gt-cluster profile --dry-run -c none -c dp2.yaml --pace flops=1e9 -o kept p.gt
  lines_are 'env --default-signal=INT -u GT_CONNECT gt-emit p.gt >kept/none.s
env --default-signal=INT gt-route -n 1 --backend null --pace flops=1e9 --trace kept/none.trace kept/none.s >kept/none.results
env --default-signal=INT -u GT_CONNECT GT_CONFIG=dp2.yaml gt-emit p.gt >kept/dp2.s
env --default-signal=INT env -u GT_CONFIG gt-shard -c dp2.yaml --summary kept/dp2.s >kept/dp2.placed.s
env --default-signal=INT gt-route -n 2 --backend null --pace flops=1e9 --trace kept/dp2.trace kept/dp2.placed.s >kept/dp2.results'
  [ ! -e kept ]
  nothing_left
}

@test "an interrupted profile prints the rows that it has, and leaves nothing behind" {
  # The second row would take an hour.
  env --default-signal=INT gt-cluster profile -c none -c dp2.yaml \
    --pace flops=1e9,latency=100 "${program[@]}" --tsv >out 2>err 3>&- &
  running=$!
  until compgen -G 'tmp/*/dp2.trace' >there; do sleep 0.05; done
  kill -INT "$running"
  status=0
  wait "$running" || status=$?
  [ "$status" -eq 130 ]
  [ "$(cells config steps)" = 'none 7' ]
  nothing_left
}

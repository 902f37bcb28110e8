#!/usr/bin/env bats
# gt-route --trace: which op ran on which worker, and when.

load helper

# Writes p, a program on two ranks with one sum over both.
make_placed() {
  cat >p.gt <<'END'
mesh tp=2
x@0-1 = randn f32[64,64] 1 split=tp:0 #signal=batch
y@0-1 = matmul x@0-1 x@0-1 ta=1 #signal=layer
y@0-1 = all_reduce y@0-1 over=tp #signal=layer
z@0-1 = exp y@0-1
s@0-1 = mean z@0-1
print s@0-1
END
  gt-emit p.gt >p
}

@test "--trace has every instruction of every worker, in times of one clock" {
  skip_on_gpus 'a trace has the times of the GPU, too'
  make_placed
  gt-route -n 2 --trace run.trace p >out
  gt-route -n 2 p | cmp - out
  run -0 cut -f 3,6 run.trace
  for worker in 0 1; do
    for op in matmul exp mean print; do
      [ "$(grep -cx "$worker/compute"$'\t'"$op" <<<"$output")" -eq 1 ]
    done
    [ "$(grep -cx "$worker/comm"$'\t'all_reduce <<<"$output")" -eq 1 ]
  done
  # The op behind the sum begins after both products have ended.
  run -0 awk -F '\t' '$6 == "matmul" && $2 > last {last = $2}
    $6 == "exp" && (!first || $1 < first) {first = $1}
    END {print last < first}' run.trace
  [ "$output" = 1 ]
  # A second run writes the file anew.
  gt-route -n 1 --trace run.trace p >out
  run -1 grep -c $'\t1/' run.trace
}

@test "its summary and its timeline are by worker" {
  skip_on_gpus 'a trace has the times of the GPU, too'
  make_placed
  gt-route -n 2 --trace run.trace p >out
  run -0 --separate-stderr gt-log --summary run.trace
  [[ $output == *'worker, op'* && $output == *$'\n0 matmul '* &&
    $output == *$'\n1 matmul '* ]]
  run -0 gt-log --summary --tsv run.trace
  [[ $output == *$'\nworker-op\t1 all_reduce\t1\t'* ]]
  gt-log --timeline svg run.trace >run.svg
  xmllint --noout run.svg
  run -0 grep -o '>worker [^<]*<' run.svg
  lines_are '>worker 0 comm<
>worker 0 compute<
>worker 1 comm<
>worker 1 compute<'
  # The sum reads what the other worker made, and no other op does.
  grep -q '^<path d="M.*all_reduce' run.svg
  run -1 grep '^<path d="M.*\(matmul\|exp\)' run.svg
  gt-log --timeline chrome run.trace >run.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" run.json
  # Filters apply to it as to every trace.
  run -0 gt-log --timeline chrome --op exp run.trace
  [ "$(grep -c '"ph": "X"' <<<"$output")" -eq 2 ]
}

@test "a trace of a run by started workers alone" {
  make_placed
  run -2 --separate-stderr gt-route --bind ipc://@gt-none-$$ --workers 1 --trace t p
  [[ $stderr == *'--trace is for workers that gt-route starts; give it to gt-work'* ]]
  run -2 --separate-stderr gt-route --trace - p
  [[ $stderr == *'standard output is the stream of results'* ]]
  run -2 --separate-stderr gt-route --trace p p
  [[ $stderr == *'p is what is to be read'* ]]
  run -2 --separate-stderr gt-route --trace none/t p
  [[ $stderr == *'none/t: No such file'* ]]
  run -2 --separate-stderr gt-work --trace t --trace-since 5 p
  [[ $stderr == *'--trace-since is for --connect, --rank and --trace'* ]]
  run -2 --separate-stderr gt-work --trace t --trace-since x p
  [[ $stderr == "gt-work: --trace-since: 'x' is not a number; try"* ]]
  run -2 --separate-stderr gt-work --trace t --rank 0 --trace-since 5 p
  [[ $stderr == *'--trace-since is for --connect, --rank and --trace'* ]]
  run -2 --separate-stderr gt-route --log - p
  [[ $stderr == *'--log: standard output is the stream of results'* ]]
  [ ! -e t ]
}

@test "a run that loses a worker has the other workers' trace" {
  skip_on_gpus 'a trace has the times of the GPU, too'
  printf '%s\n' 'x@0-1 = ones f32[3]' 'y@0 = exp x@0' 'print y@0' >p.gt
  mkfifo in
  exec {hold}<>in
  spawn bash -c "exec gt-route -n 2 --trace run.trace in >out 2>err $hold>&-"
  route=$!
  cat p.gt >in
  within 60 bash -c 'until [ -s out ]; do sleep 0.05; done'
  kill -KILL "$(cut -d ' ' -f 2 "/proc/$route/task/$route/children")"
  within 60 tail --pid="$route" -f /dev/null
  exec {hold}>&-
  status=0
  wait "$route" || status=$?
  [ "$status" = 4 ]
  # Only gt-route reports the loss, once.
  [ "$(grep -c 'was killed by signal 9' err)" -eq 1 ]
  run -1 grep '^gt-work' err
  run -0 cut -f 3,6 run.trace
  lines_are $'queue\top\n0/compute\tones\n0/compute\texp\n0/compute\tprint'
}

@test "a run that is ended at once has the trace of what ran" {
  printf '%s\n' 'x = ones f32[6000,6000]' 's = sum x' 'y = matmul x x' 'print y' >p.gt
  spawn bash -c 'exec gt-route -n 1 --backend ref --trace run.trace --log log p.gt >out 2>err'
  route=$!
  # The signals come once the third line runs, which takes minutes.
  within 60 bash -c 'until gt-log why log 2>/dev/null | grep -q "y = matmul x x"; do
    sleep 0.1; done'
  # Of two signals of one kind only one might arrive, so they differ.
  kill -INT "$route"
  kill -TERM "$route"
  within 60 tail --pid="$route" -f /dev/null
  status=0
  wait "$route" || status=$?
  [ "$status" = 130 ]
  run -0 cut -f 3,6 run.trace
  lines_are $'queue\top\n0/compute\tones\n0/compute\tsum'
}

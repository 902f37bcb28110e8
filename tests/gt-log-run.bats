#!/usr/bin/env bats
# gt-log on the log of a run: who did what and when, and which worker stands still.

load helper

# row TIME SEQ EVENT PEER TEXT... adds a row to run.log, TIME seconds after a fixed
# time.
row() {
  local client=${CLIENT:--} bytes=${BYTES:-0}
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "17636544$1" "$2" "$3" "$4" "$client" \
    "$bytes" "${*:5}" >>run.log
}

# begin N begins run.log with N workers that attached at second 00.
begin() {
  printf '# time\tseq\tevent\tpeer\tclient\tbytes\t# instruction\n' >run.log
  local w
  for ((w = 0; w < $1; w++)); do row 00.000000 0 attach $w "# name=w$w"; done
}

why() { gt-log why --now "17636544$1" run.log; }

@test "why follows the chain of waiting workers to the one that stands still" {
  begin 3
  row 01.000000 1 issue 2 'h@2 = exp x@2 #at=a.gt:1'
  row 01.000000 2 issue 0-2 'y@0-2 = all_reduce h@0-2 #at=a.gt:2'
  row 01.000000 2 send 0 '# first=2'
  row 01.000000 2 send 1 '# first=2'
  row 01.000000 2 send 2 '# first=1'
  row 04.000000 2 wait 0 '# for=1 since=1763654402.000000: piece of rank 1'
  row 04.000000 2 wait 1 '# since=1763654401.500000 for=2'
  run -0 why 05.000000
  lines_are 'worker 0 (w0): waits 3 s for worker 1 (w1) at a.gt:2: y@0-2 = all_reduce h@0-2 (piece of rank 1)
worker 1 (w1): waits 3.5 s for worker 2 (w2) at a.gt:2: y@0-2 = all_reduce h@0-2
worker 2 (w2): is 4 s at a.gt:1: h@2 = exp x@2 (1 more line)
the run waits for worker 2 (w2), which is 4 s at a.gt:1: h@2 = exp x@2 (1 more line)'
  # The workers move again, and what they waited for is done.
  row 05.100000 1 'done' 2 '#'
  row 05.200000 2 'done' 2 '# queue=comm'
  row 05.200000 2 'done' 0 '# queue=comm'
  row 05.200000 2 'done' 1 '#'
  run -1 why 05.300000
  lines_are 'worker 0 (w0): is 0.1 s at a.gt:2: y@0-2 = all_reduce h@0-2
worker 1 (w1): has done all that it was sent, 0.1 s ago
worker 2 (w2): is 0.1 s at a.gt:2: y@0-2 = all_reduce h@0-2'
}

@test "why names a file whose name has a blank" {
  begin 1
  row 01.000000 1 issue 0 'y = exp x #at="my model.gt:7"'
  row 01.000000 1 send 0 '# first=1'
  run -1 why 01.500000
  lines_are 'worker 0 (w0): is 0.5 s at my model.gt:7: y = exp x'
}

@test "why names a ring of waits, and lost, slow and silent workers" {
  begin 2
  row 01.000000 1 issue 0-1 'y@0-1 = all_reduce x@0-1'
  row 02.000000 1 wait 0 '# for=1 since=1763654401.000000'
  row 02.000000 1 wait 1 '# for=0 since=1763654401.000000'
  run -0 why 03.000000
  [ "${lines[-1]}" = 'the run waits for itself: worker 0 (w0), worker 1 (w1)' ]
  row 02.500000 0 lost 1 '# status=4: ERROR no sign of it for 1.5 s'
  run -0 why 03.000000
  [ "${lines[1]}" = \
    'worker 1 (w1): lost 0.5 s ago: ERROR no sign of it for 1.5 s' ]
  [[ ${lines[-1]} == 'the run waits for worker 1 (w1), which lost '* ]]

  begin 1
  for ((i = 1; i <= 9; i++)); do row 01.000000 $i issue 0 "x = ones f32[$i]"; done
  row 01.000000 9 send 0 '# first=1'
  row 02.000000 1 'done' 0 '#'
  run -1 why 02.500000
  lines_are 'worker 0 (w0): is 0.5 s at instruction 2: x = ones f32[2] (7 more lines)'
  run -0 why 12.000000
  [[ ${lines[0]} == 'nothing was written to the log for 10 s: '* ]]
}

@test "why of a run that is over or begins, and of a file that is no log" {
  begin 0
  run -1 why 00.500000
  lines_are 'no worker is attached'
  row 01.000000 0 end - '# status=4'
  run -1 why 59.000000
  lines_are 'the run is over, status 4'
  # The last row may be incomplete, since it may still be written, but no other.
  begin 1
  printf '1763654402.0' >>run.log
  run -1 why 01.000000
  lines_are 'worker 0 (w0): has done all that it was sent, 1 s ago'
  printf '\nnone\n' >>run.log
  run -3 --separate-stderr why 01.000000
  [ "$stderr" = 'gt-log: run.log:3: not a row of a log' ]
  echo 'x = ones f32[2]' >x.gt
  run -3 --separate-stderr gt-log why x.gt
  [ "$stderr" = 'gt-log: x.gt:1: not the log of a run; gt-route --log FILE writes one' ]
  run -2 gt-log why nowhere.log
  run -2 gt-log why
  run -2 gt-log why --now soon run.log
}

# make_run writes the log of two workers, with a value that goes from each to the
# other.
make_run() {
  begin 2
  row 00.001000 1 issue 0-1 'x@0-1 = ones f32[1000] #signal=batch'
  CLIENT=c1 BYTES=36 row 00.001000 2 issue 0-1 'c1/y@0-1 = all_reduce x@0-1'
  BYTES=80 row 00.001000 2 send 0 '# first=1'
  BYTES=70 row 00.001500 2 send 1 '# first=1'
  row 00.003000 1 'done' 0 '# begin=1763654400.001000 end=1763654400.002000'
  row 00.003000 1 'done' 1 '# queue=compute'
  BYTES=4000 row 00.005000 2 transfer 1 \
    '# from=0 begin=1763654400.003000 end=1763654400.004500'
  row 00.006000 2 'done' 1 '# first=2 begin=1763654400.004500 end=1763654400.005000'
  CLIENT=c1 row 00.006000 2 report 1 '# status=1: ERROR no'
}

@test "a summary by worker and client" {
  make_run
  run -0 gt-log --summary run.log
  [[ $output == *'
worker  lines  messages  sent  received  busy  share  comm
0           2         1  80 B       0 B  1 ms   20 %  0 ns
1           2         1  70 B  3.91 KiB  2 ms   40 %  0 ns

client  lines  bytes  failures
-           1    0 B         0
c1          1   36 B         1' ]]
  run -0 gt-log --summary --tsv run.log
  [[ $output == *$'\nworker\t1\t2\t0\t4000\t-\t2000000\n'* ]]
  [[ $output == *$'\nclient\tc1\t1\t0\t36\t-\t-' ]]
  # With a filter the tables are of lines; the log of a stream has no workers.
  run -0 gt-log --summary --op ones run.log
  [[ $output != *worker* ]]
}

@test "a timeline with lanes of workers and their transfers" {
  make_run
  gt-log --timeline chrome run.log >run.json
  run -0 python3 "$GT_ROOT/tests/tools/check_trace.py" run.json
  [ "$output" = '6 slices of 3 threads, 1 flows' ] # two are waits
  run -0 grep -o '"process_name", [^}]*"name": "[^"]*"' run.json
  gt-log --timeline svg run.log >run.svg
  xmllint --noout run.svg
  run -0 grep -o '>worker [^<]*<' run.svg
  lines_are '>worker 0 compute<
>worker 1 comm<
>worker 1 compute<'
  # One thin line stands for the one transfer, beneath what ran.
  run -0 grep -c '^<path d="M' run.svg
  [ "$output" = 1 ]
  [ "$(grep -n '^<path' run.svg | cut -d: -f1)" -lt \
    "$(grep -n '<title>.*ones f32' run.svg | head -n 1 | cut -d: -f1)" ]
  run -2 --separate-stderr gt-log --timeline svg --op exp run.log
  [[ $stderr == *': filters choose lines of a trace, not of a run'* ]]
}

@test "a timeline of a log says that its times are of batches, and where to find others" {
  make_run
  run -0 --separate-stderr gt-log --timeline svg run.log
  [ -z "$stderr" ]
  gt-emit -e 'x = ones f32[4]' -e 'y = exp x' -e 'print y' |
    gt-route -n 1 --log batch.log --trace batch.trace >out
  run -0 --separate-stderr gt-log --timeline svg batch.log
  [[ $output == *'times within messages are estimated'*'<title>2: y = exp x'*'about '* ]]
  [[ $output != *batch* ]]
  [[ $stderr == *'draw what gt-route --trace FILE writes' ]]
  run -0 --separate-stderr gt-log --timeline svg batch.trace
  [[ $output == *'exp'* && $output != *batch* ]]
  [ -z "$stderr" ]
}

@test "the instructions of a message share its time by what they compute, after what they wait for" {
  begin 2
  row 00.000000 1 issue 0 'a@0 = ones f32[1000] #mb=0'
  row 00.000000 2 issue 1 'b@1 = ones f32[1000] #mb=0'
  row 00.000000 3 issue 0-1 'c@1 = copy a@0 #mb=0'
  row 00.000000 4 issue 1 'd@1 = exp c@1 #mb=0 #bwd'
  row 00.000000 5 issue 1 'e@1 = exp d@1 #mb=0 #bwd'
  row 00.000000 6 issue 1 'free d@1'
  row 00.000000 3 send 0 '# first=1'
  row 00.000000 6 send 1 '# first=2'
  row 00.010000 3 'done' 1 '# queue=comm first=3 begin=1763654400.004000 end=1763654400.005000'
  BYTES=4000 row 00.010000 3 transfer 1 '# from=0 begin=1763654400.004000 end=1763654400.005000'
  row 00.010000 1 'done' 0 '# first=1 begin=1763654400.001000 end=1763654400.003000'
  row 00.010000 6 'done' 1 '# first=2 begin=1763654400.001000 end=1763654400.009000'
  gt-log --timeline chrome run.log >run.json
  run -0 python3 "$GT_ROOT/tests/tools/check_trace.py" run.json
  # d begins when c is there; it and e, which are alike, end when the message did.
  run -0 sed -n 's/.*"name": "exp".*"ts": \([0-9]*\).*"dur": \([0-9]*\).*"estimated": true.*/\1 \2/p' run.json
  [[ ${lines[0]} =~ ^(5000|4999)\ (1999|2000)$ ]]
  [[ ${lines[1]} =~ ^(6999|7000)\ (1999|2000)$ ]]
  grep -q '"waits for worker 0"' run.json
  grep -q '"name": "backward 0"' run.json
}

@test "the log of a run says whose each line and result is" {
  printf '%s\n' 'c1/x = ones f32[2]' 'y = ones f32[2]' 'print c1/x' 'print y' \
    'save c1/x "x.npy"' 'free c1/x' >p.gt
  gt-route -n 1 --log run.log p.gt
  awk -F '\t' '$3 == "issue" || $3 == "result" { print $3, $5, $7 }' run.log |
    sed 's/#.*//; s/ *$//' | sort >got
  printf '%s\n' 'issue - print y' 'issue - y = ones f32[2]' 'issue c1 c1/x = ones f32[2]' \
    'issue c1 free c1/x' 'issue c1 print c1/x' 'issue c1 save c1/x "x.npy"' \
    'result -' 'result c1' | cmp - got
}

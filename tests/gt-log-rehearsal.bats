#!/usr/bin/env bats
# gt-log --rehearsal: what a step was expected to take beside what it took.

load helper

# A line that computes 100 operations and one that sends 400 bytes, four times, as two
# ranks run them on a machine that does 1,000 operations a second: a tenth of a second,
# and a latency of one second and four for the bytes.
machine=flops=1000,memory_bandwidth=1e30,bandwidth=100,latency=1
write_placed() {
  printf '%s\n' '#gt 1' 'mesh dp=2' 'x@0-1 = ones f32[100]'
  for _ in 1 2 3 4; do
    printf '%s\n' 'y@0-1 = mul x@0-1 2' 's@0-1 = all_reduce y@0-1 over=dp' 'print s@0 as=l'
  done
  echo '#end 0'
}

# row START END QUEUE OP LINE adds a row, with its times in tenths of a second.
row() {
  printf '%s00000000\t%s00000000\t%s\t-\tp:1\t%s\t0\t0\t-\t%s\n' "$1" "$2" "$3" "$4" "$5"
}

# A trace of the same in which a step takes six seconds.
write_trace() {
  printf '# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction\n'
  for step in 0 1 2 3; do
    local t=$((60 * step))
    for worker in 1 0; do
      row "$t" $((t + 2)) $worker/compute mul 'y@0-1 = mul x@0-1 2'
      row $((t + 2)) $((t + 59)) $worker/comm all_reduce 's@0-1 = all_reduce y@0-1 over=dp'
    done
    row $((t + 59)) $((t + 60)) 0/compute print 'print s@0 as=l'
  done
}

@test "a step's expected times stand beside those of a trace" {
  write_placed >placed.s
  write_trace >run.trace
  run -0 gt-log --rehearsal $machine --tsv placed.s run.trace
  lines_are $'what\trank\tpredicted\trehearsed\tratio
step\t-\t5100000000\t6000000000\t0.85
compute\t0\t100000000\t200000000\t0.5
exchange\t0\t5000000000\t5700000000\t0.877
wait\t0\t5000000000\t5800000000\t0.862
compute\t1\t100000000\t200000000\t0.5
exchange\t1\t5000000000\t5700000000\t0.877
wait\t1\t5000000000\t5800000000\t0.862'
  run -0 gt-log --rehearsal $machine placed.s run.trace
  lines_are 'steps  predicted  rehearsed  ratio
2         5.10 s        6 s   0.85

rank  compute  rehearsed  exchange  rehearsed  wait  rehearsed
0      100 ms     200 ms       5 s     5.70 s   5 s     5.80 s
1      100 ms     200 ms       5 s     5.70 s   5 s     5.80 s'
  # A log of the stream is as good, and so is any name that is printed.
  gt-log -o placed.log placed.s >copy
  run -0 gt-log --rehearsal $machine --step l placed.log run.trace
  [[ ${lines[1]} == '2 '*0.85 ]]
  # Without a step, what counts is the time from the beginning to the end.
  run -0 gt-log --rehearsal $machine --step other --tsv placed.s run.trace
  [[ ${lines[1]} == $'step\t-\t'*$'\t24000000000\t'* ]]
}

@test "a rehearsal needs a placed stream and the trace of a run, and no filter" {
  write_placed >placed.s
  write_trace >run.trace
  run -3 --separate-stderr gt-log --rehearsal $machine placed.s
  [ -z "$output" ]
  [[ $stderr == *'there is no trace of a run behind the stream; gt-route --trace FILE writes one'* ]]
  for files in run.trace 'run.trace placed.s'; do
    # shellcheck disable=SC2086
    run -3 --separate-stderr gt-log --rehearsal $machine $files
    [[ $stderr == *'there is no placed stream before the trace; gt-shard writes one'* ]]
  done
  run -2 --separate-stderr gt-log --rehearsal flops=x placed.s run.trace
  [[ $stderr == 'gt-log: --rehearsal: flops: expected operations a second, such as 1e12, not '* ]]
  run -2 --separate-stderr gt-log --rehearsal $machine --op mul placed.s run.trace
  [[ $stderr == 'gt-log: --rehearsal and filters are two jobs;'* ]]
  run -2 --separate-stderr gt-log --tsv placed.s
  [[ $stderr == 'gt-log: --tsv needs --summary or --rehearsal;'* ]]
}

# However late a worker wakes, or hears of another, its rows have the machine's times.
@test "a rehearsal's lines begin when the machine's would, and take what they take there" {
  {
    printf '%s\n' 'mesh dp=2' 'x@0-1 = ones f32[125]'
    for _ in 1 2 3 4; do
      printf '%s\n' 'y@0-1 = mul x@0-1 2' 's@0-1 = all_reduce y@0-1 over=dp' 'z@0-1 = neg s@0-1'
    done
    printf 'print z@0 as=z\n'
  } >placed.s
  pace=flops=1000,memory_bandwidth=1e30,bandwidth=4000,latency=0.125
  gt-route -n 2 --threads 1 --backend null --pace $pace --trace run.trace placed.s >results
  # A rank's mul and neg take an eighth of a second, an all_reduce of 500 bytes two, and
  # neg begins at once behind it.
  for worker in 0 1; do
    awk -F '\t' -v worker=$worker '
      $3 == worker "/compute" && $6 ~ /mul|neg/ { n++; wrong += $2 - $1 != 125000000 }
      $3 == worker "/comm" { end = $2; wrong += $2 - $1 < 249999000 || $2 - $1 > 250001000
        ends[end] = 1 }
      $3 == worker "/compute" && $6 == "neg" { begins[$1] = 1 }
      END {
        for (at in begins) { after++; wrong += !(at in ends) }
        exit n != 8 || after != 4 || wrong
      }' run.trace
  done
  run -0 gt-log --rehearsal $pace --tsv placed.s run.trace
  [[ $output == *$'\ncompute\t1\t'* ]]
}

#!/usr/bin/env bats
# What a user sees of gt-log: a stream is passed on, filtered, counted and drawn.

load helper

@test "the stream passes byte for byte, and the log holds it" {
  make_stream
  gt-log -o t.log <model.s >out
  cmp out model.s
  run -0 head -n 1 t.log
  lines_are $'# time\tseq\tevent\tpeer\tclient\tbytes\t# instruction'
  tail -n +2 t.log | cut -f7- | cmp - model.s
  # Times never go back, seq counts up, and bytes are the length of the line.
  run -0 awk -F '\t' '
    NR == 1 { next }
    $1 !~ /^[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]$/ || $1 < last { exit 1 }
    $2 != NR - 1 || $4 != "-" || $5 != "-" { exit 1 }
    $3 != ($7 ~ /^#/ ? "comment" : "issue") { exit 1 }
    $6 != length($7) + 1 { exit 1 }
    { last = $1 }' t.log
  gt-work model.s >a
  cut -f7- t.log | gt-work >b
  cmp a b
}

@test "odd lines pass byte for byte, too" {
  printf 'x = tensor f32[] 1\r\n\n \t# c\nx\t=\tadd x 1\n\377\0\nno newline' >in
  gt-log -o t.log <in >out
  cmp in out
  run -0 cut -f3 t.log
  lines_are $'event\nissue\ncomment\ncomment\nissue\nissue\nissue'
  tail -n +2 t.log | cut -f7- | head -c -1 | cmp - in
  : >empty
  gt-log -o t.log empty >out
  cmp out empty
  gt-log in >out
  cmp out in
}

@test "a line that is too long to log has its bytes counted" {
  { head -c 70000000 /dev/zero | tr '\0' x; printf '\ny = add x 1\n'; } |
    gt-log -o t.log | cksum >passed
  { head -c 70000000 /dev/zero | tr '\0' x; printf '\ny = add x 1\n'; } |
    cksum | cmp - passed
  run -0 cut -f6- t.log
  lines_are $'bytes\t# instruction
70000001\t# a line of more than 64 MiB
12\ty = add x 1'
}

@test "a long stream passes whole, whatever the pieces it comes in" {
  make_stream
  for ((i = 0; i < 3000; i++)); do cat model.s; done >long.s
  for size in 1 7 4096 1000000; do
    head -n 5000 long.s >in
    ((size > 7)) && cp long.s in
    dd if=in bs=$size 2>/dev/null | gt-log -o t.log | cmp - in
    tail -n +2 t.log | cut -f7- | cmp - in
  done
}

@test "a line passes at once" {
  coproc LOG { gt-log -o t.log 3>&-; }
  local pid=$LOG_PID in=${LOG[1]} out=${LOG[0]} line i
  for i in 1 2 3; do
    echo "x = tensor f32[] $i" >&"$in"
    read -r -t 10 line <&"$out"
    [ "$line" = "x = tensor f32[] $i" ]
  done
  exec {in}>&-
  wait "$pid"
}

@test "a filter's line passes at once" {
  coproc LOG { gt-log --op add 3>&-; }
  local pid=$LOG_PID in=${LOG[1]} out=${LOG[0]} line i
  for i in 1 2 3; do
    printf 'x = mul x %s\nx = add x %s\n' "$i" "$i" >&"$in"
    read -r -t 10 line <&"$out"
    [ "$line" = "x = add x $i" ]
  done
  exec {in}>&-
  wait "$pid"
}

@test "marks pass unchanged, and the status with them" {
  run -3 gt-log -o t.log <<<$'#gt 1\n#end 3'
  lines_are $'#gt 1\n#end 3'
  run -3 gt-log --op add <<<$'#gt 1\n#end 3\n#gt 1\n#end 0'
  lines_are $'#gt 1\n#end 3\n#gt 1\n#end 0'
  run -3 gt-log --summary <<<$'#gt 1\n#end 3'
  run -0 gt-log <<<'x = tensor f32[] 1'
  lines_are 'x = tensor f32[] 1'
}

@test "lines of two files stay two lines where the first has no newline at its end" {
  printf 'x = ones f32[2]\nprint x' >one
  printf 'y = full f32[2] 3\nprint y' >two
  : >empty
  gt-log one empty two >both
  cmp both <(cat one <(echo) two)
  gt-log -o t.log empty one two empty >both
  cmp both <(cat one <(echo) two)
  run -0 bash -c 'gt-log one two | gt-work'
  lines_are $'x = tensor f32[2] 1 1\ny = tensor f32[2] 3 3'
}

@test "a stream cut short has status 4" {
  for job in '-o t.log' '--op x' --summary --dot; do
    # shellcheck disable=SC2086
    run -4 --separate-stderr gt-log $job <<<$'#gt 1\nx = zeros f32[1]'
    [ "$stderr" = 'gt-log: <stdin>: stream cut short after line 2' ]
  done
}

@test "a log that cannot be written spoils the status, not the stream" {
  make_stream
  run -2 --separate-stderr gt-log -o /dev/full model.s
  [ "$output" = "$(sed 's/#end 0/#end 2/' model.s)" ]
  [ "$stderr" = 'gt-log: /dev/full: No space left on device' ]
  run -2 --separate-stderr gt-log -o none/t.log model.s
  [ "$output" = "$(sed 's/#end 0/#end 2/' model.s)" ]
  [ "$stderr" = 'gt-log: none/t.log: No such file or directory' ]
}

@test "--peak refuses what is no number of operations a second" {
  local wrong
  for wrong in x 0 -1 inf nan 1e 1e999; do
    run -2 --separate-stderr gt-log --summary --peak "$wrong" </dev/null
    [ "$stderr" = "gt-log: --peak: '$wrong' is not a number above 0; try gt-log --help" ]
  done
  run -0 --separate-stderr gt-log --summary --peak 1e12 <<<'x = ones f32[2]'
  [[ $stderr == 'gt-log: --peak: lines have no times here, '* ]]
}

@test "a log is not written over what is read" {
  make_stream
  cp model.s before
  run -2 --separate-stderr gt-log -o model.s model.s
  [[ $stderr == 'gt-log: -o: model.s is what is to be read;'* ]]
  run -2 bash -c 'gt-log -o model.s <model.s'
  run -2 gt-work --trace ./model.s model.s
  cmp model.s before
}

@test "a reader that leaves ends it quietly" {
  for job in '-o t.log' '' '--op add'; do
    # shellcheck disable=SC2016
    run -0 --separate-stderr within 20 bash -c \
      'yes "x = add x 1" | gt-log $1 | head -n 1' - "$job"
    lines_are 'x = add x 1'
    [ -z "$stderr" ]
  done
}

@test "files in order, and one that is not there" {
  echo 'x = tensor f32[] 1' >a.gt
  echo 'x = tensor f32[] 3' >b.gt
  for job in '' '--op tensor' '-o t.log'; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr gt-log $job a.gt none.gt - -- b.gt \
      <<<'x = tensor f32[] 2'
    lines_are $'x = tensor f32[] 1\nx = tensor f32[] 2\nx = tensor f32[] 3'
    [ "$stderr" = 'gt-log: none.gt: No such file or directory' ]
  done
}

@test "filters: op, name, signal, client, rank, -v" {
  cat >p.gt <<'END'
# all about it
a/x = randn f32[2] 1 #signal=in/left
b/y@0-3 = add a/x b/z # remark
y = relu x #signal="in right"
print y
END
  keep() { gt-log "$@" p.gt | grep -v '^#' | cut -d' ' -f1 | paste -sd' '; }
  [ "$(keep --op add)" = 'b/y@0-3' ]
  [ "$(keep --op 'r*')" = 'a/x y' ]
  [ "$(keep --op 'add,print')" = 'b/y@0-3 print' ]
  [ "$(keep --name a/x)" = 'a/x b/y@0-3' ]
  [ "$(keep --name '*/y,y')" = 'b/y@0-3 y print' ]
  [ "$(keep --name x --name y)" = 'y' ]
  [ "$(keep --signal 'in/*')" = 'a/x' ]
  [ "$(keep --signal 'in*')" = 'a/x y' ]
  [ "$(keep --signal 'in right')" = 'y' ]
  [ "$(keep --client b)" = 'b/y@0-3' ]
  [ "$(keep --client '*')" = 'a/x b/y@0-3' ]
  [ "$(keep --rank 3,7)" = 'b/y@0-3' ]
  [ "$(keep --rank 4-7)" = '' ]
  [ "$(keep --op 'r*' --signal 'in/*')" = 'a/x' ]
  [ "$(keep -v --op 'r*' --signal 'in/*')" = 'b/y@0-3 y print' ]
  run -0 gt-log --op print p.gt
  lines_are $'# all about it\nprint y'
}

@test "a filter prints its own output unchanged" {
  make_stream
  gt-log --op 'mat*,sgd' model.s >once
  gt-log --op 'mat*,sgd' once | cmp - once
}

@test "filters on a log and on a trace keep rows whole" {
  make_stream
  gt-log -o t.log model.s >/dev/null
  run -0 gt-log --op mean t.log
  [ "${#lines[@]}" -eq 5 ]
  [[ ${lines[2]} == *$'\tissue\t-\t-\t'*$'\tl = mean y'* ]]
  gt-work --trace t.trace model.s >/dev/null
  run -0 gt-log --signal 'layer/*' t.trace
  [ "${#lines[@]}" -eq 3 ]
  [[ ${lines[1]} == *$'\ty = matmul x w' ]]
  printf '%s\n1.5\t1\tissue\tw1\tc7\t6\tx = y\n1.5\t2\tissue\tw1\tc8\t6\tx = z\n' \
    "$(head -n 1 t.log)" >r.log
  run -0 gt-log --client c7 r.log
  lines_are "$(head -n 2 r.log)"
}

@test "rows that are no rows are reported, and left out" {
  printf '%s\nnonsense\n1.5\t1\tissue\t-\t-\t6\tx = y\n' \
    $'# time\tseq\tevent\tpeer\tclient\tbytes\t# instruction' >bad.log
  run -3 --separate-stderr gt-log --summary --tsv bad.log
  [ "$stderr" = 'gt-log: bad.log:2: not a row of a log' ]
  [[ $output == *$'op\ty\t1\t1\t'* ]]
}

@test "--summary counts, types and adds up" {
  run -0 gt-log --summary --tsv <<'END'
x = ones f32[8,4] #signal=a
w = ones f32[4,2]
y = matmul x w #signal=a
y = matmul x w #signal=b
z = reshape y shape=2,-1
free x
q = matmul x w
s = somethingnew y
END
  lines_are $'by\tname\tlines\tuntyped\tbytes\tflops\tnanoseconds
op\tmatmul\t3\t1\t448\t256\t-
op\tones\t2\t0\t160\t0\t-
op\tfree\t1\t0\t0\t0\t-
op\treshape\t1\t0\t0\t0\t-
op\tsomethingnew\t1\t1\t0\t0\t-
signal\ta\t2\t0\t352\t128\t-
signal\tb\t1\t0\t224\t128\t-
signal\t-\t5\t2\t32\t0\t-'
}

@test "--summary for people, and of a part" {
  make_stream
  run -0 gt-log --summary --op 'mat*' model.s
  lines_are 'op      lines  bytes  flops
matmul      2  448 B    256
total       2  448 B    256

signal    lines  bytes  flops
layer/up      2  448 B    256'
  run -0 gt-log --summary model.gt
  [[ $output == *'untyped: 1 line whose sizes'* ]]
  : >empty
  run -0 gt-log --summary empty
  lines_are 'op     lines  bytes  flops
total      0    0 B      0'
}

@test "operations of a row are a number" {
  for flops in nan inf -1 1e308; do
    printf '%s\n' $'# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction' \
      $'1\t2\tcompute\t-\t-\tadd\t4\t'$flops$'\t-\ty = add x 1' >bad.trace
    run -3 --separate-stderr gt-log --timeline chrome bad.trace
    [ "$stderr" = 'gt-log: bad.trace:2: not a row of a trace' ]
  done
}

@test "a stream's summary and its trace's group signals alike" {
  cat >s.gt <<'END'
x = ones f32[2] #signal="a b"
y = add x 1 #signal="a\tb\x1b[31m"
END
  gt-work --trace s.trace s.gt
  for file in s.gt s.trace; do
    run -0 gt-log --summary --tsv $file
    [[ $output == *$'\nsignal\ta b\t1\t'* ]]
    [[ $output == *$'\nsignal\t"a\\tb\\x1b[31m"\t1\t'* ]]
  done
}

@test "--summary of a trace has times" {
  make_stream
  gt-work --trace t.trace model.s >/dev/null
  run -0 gt-log --summary t.trace
  [[ ${lines[0]} == op*lines*bytes*flops*time*share*flops/s ]]
  [[ $output == *'100 %'* ]]
  run -0 gt-log --summary --tsv t.trace
  awk -F '\t' 'NR > 1 && ($5 !~ /^[0-9]+$/ || $7 !~ /^[0-9]+$/) {exit 1}' \
    <<<"$output"
}

@test "--summary of placed lines is that of all ranks, as the trace has it" {
  cat >p.gt <<'END'
mesh dp=2 tp=2
x@0-3 = randn f32[7,6] 1 split=dp:0
w@0-3 = randn f32[6,5] 7 split=tp:1
y@0-3 = matmul x@0-3 w@0-3
s@0-3 = sum y@0-3
s@0-3 = all_reduce s@0-3 over=tp
z@2-3 = copy s@0-1
print z@2
END
  run -0 --separate-stderr gt-log --summary --tsv p.gt
  [ -z "$stderr" ]
  # The pieces have 4 and 3 rows by 3 and 2 columns, with 2 * 6 operations an
  # element.
  [[ $output == *$'op\tmatmul\t1\t0\t'*$'\t420\t-'* ]]
  [[ $output == *$'op\tall_reduce\t1\t0\t32\t0\t-'* ]]
  [[ $output == *$'op\tcopy\t1\t0\t16\t0\t-'* ]]
  flops() { gt-log --summary --tsv "$1" | awk -F '\t' '$1 == "op" {n += $6} END {print n}'; }
  gt-work --trace p.trace p.gt >/dev/null
  [ "$(flops p.gt)" -eq "$(flops p.trace)" ]
}

@test "--dot: nodes, edges, boxes, labels that hold anything" {
  cat >p.gt <<'END'
x@0-3 = load "a\"b\\c<&>.npy" f32[4] 0 #signal=in/first
y@0-1 = relu x@0-1 #signal=in/first
x@0-1 = add y@0-1 1 #signal=in
print x@2-3
print x@0
print stranger
free x
END
  gt-log --dot p.gt >p.dot
  run -0 cat p.dot
  [[ $output == 'digraph gt {'* ]]
  [[ ${lines[-1]} == '}' ]]
  # x@2-3 comes from the load, and x@0 from the add.
  grep -q 'n0 -> n1 \[label="x@0-1"\]' p.dot
  grep -q 'n0 -> n3 \[label="x@2-3"\]' p.dot
  grep -q 'n2 -> n4 \[label="x@0"\]' p.dot
  [ "$(grep -c -- '-> n3' p.dot)" -eq 1 ]
  grep -q 'label="stranger", shape=ellipse, style=dashed' p.dot
  grep -q 'subgraph cluster_0 { label="in"' p.dot
  command -v dot >/dev/null || skip 'Graphviz is not installed'
  dot -Tsvg p.dot >p.svg 2>err
  [ ! -s err ]
  xmllint --noout p.svg
  grep -q 'a&quot;b' p.svg || grep -q 'a\\&quot;b' p.svg
}

@test "a call of gt-log does one job" {
  run -2 --separate-stderr gt-log --summary --dot <<<''
  [ "$stderr" = 'gt-log: --summary and --dot are two jobs; run gt-log once for each; try gt-log --help' ]
  run -2 --separate-stderr gt-log -o t.log --op add <<<''
  [[ $stderr == *'-o and filters are two jobs; put one gt-log after another'* ]]
  for bad in -v --tsv '--text' '--from 1' '--title x' '--timeline png' \
    '--timeline chrome --title x' \
    '--rank x' "--op ''" --nonsense '--plot' "--plot ''" '--plot ,' "-o ''"; do
    run -2 --separate-stderr bash -c "gt-log $bad </dev/null"
    [[ $stderr == 'gt-log: '*'; try gt-log --help' ]]
  done
}

@test "bad usage ends the stream that was to be written" {
  run -2 --separate-stderr gt-log --nonsense
  lines_are $'#gt 1\n#end 2'
  run -2 --separate-stderr gt-log --summary --nonsense
  [ -z "$output" ]
}

@test "standard output that is full is status 2" {
  make_stream
  for job in '' '-o t.log' '--op add' --summary --dot; do
    run -2 --separate-stderr bash -c "gt-log $job model.s >/dev/full"
    [ "$stderr" = 'gt-log: cannot write standard output: No space left on device' ]
  done
}

@test "--help and --version" {
  run -0 --separate-stderr gt-log --help
  for word in -o --op --name --signal --rank --client -v --summary --tsv --rehearsal --step --dot \
    --timeline --from --to --plot --text --ascii --log-scale --title \
    'Exit status' Examples; do
    [[ $output == *"$word"* ]]
  done
  run -0 gt-log --version
  [[ $output == gt-log\ [0-9]* ]]
}

@test "a missing file is reported, and no report is written of it" {
  local job
  for job in --summary '--summary --tsv' --dot '--timeline svg' '--timeline chrome'; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr gt-log $job missing
    [ -z "$output" ]
    [ "$stderr" = 'gt-log: missing: No such file or directory' ]
  done
  gt-log --summary missing "$GT_EXAMPLES/quickstart.gt" >said 2>told || [ $? = 2 ]
  grep -q '^total' said
}

@test "a log that is emptied while it is written goes on at its beginning" {
  mkfifo in
  exec 5<>in
  spawn gt-log -o t.log in >out
  echo 'x = ones f32[2]' >&5
  await 'x = ones' t.log
  : >t.log
  echo 'y = ones f32[3]' >&5
  await 'y = ones' t.log
  [[ $(<t.log) == [0-9]*$'\ty = ones f32[3]' ]]
  [ "$(tr -cd '\0' <t.log | wc -c)" -eq 0 ]
}

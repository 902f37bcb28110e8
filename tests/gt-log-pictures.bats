#!/usr/bin/env bats
# The pictures that gt-log draws of a trace and of printed numbers.

load helper

@test "--timeline svg: XML, with tooltips, axis and legend" {
  make_stream
  gt-work --trace t.trace model.s >/dev/null
  gt-log --timeline svg --title 'a < b' t.trace >t.svg
  xmllint --noout t.svg
  run -0 cat t.svg
  [[ $output == *'<title>y = matmul x w'* ]]
  [[ $output == *'>a &lt; b</text>'* ]]
  [[ $output == *'% busy'* ]]
  [[ $output == *'matmul '*' %</text>'* ]]
  # The picture stays small, however long the trace is.
  awk -F '\t' -v OFS='\t' 'NR == 1 {print; next}
    {for (i = 0; i < 2000; i++) {$1 = 50 * (i * 20 + NR); $2 = $1 + 40; print}}' \
    t.trace >long.trace
  gt-log --timeline svg long.trace >long.svg
  xmllint --noout long.svg
  [ "$(stat -c %s long.svg)" -lt 1000000 ]
}

@test "--timeline chrome keeps the rules of Perfetto" {
  make_stream
  for ((i = 0; i < 50; i++)); do cat model.gt; done | gt-emit |
    gt-work --trace t.trace >/dev/null
  gt-log --timeline chrome t.trace >t.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" t.json
  # The rows are of two ranks, out of order, and some overlap.
  {
    head -n 1 t.trace
    printf '%s\t%s\tcompute\t%s\tp:1\t%s\t4\t1\ts\t%s\n' \
      100 200 0 op 'x = op "\"<\\\\"' 50 150 1 op 'x = op' \
      210 300 0 op 'y = op x' 250 260 0 op 'z = op x y' 90 95 1 op 'u = op' \
      160 160 1 reshape 'v = reshape x' 170 180 1 op 'w = op v'
  } >odd.trace
  gt-log --timeline chrome odd.trace >odd.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" odd.json
  # The arrows go from x to y, from x to z (y is not done by then), and from v,
  # which is rank 1's x, to w.
  [ "$(grep -c '"ph": "s"' odd.json)" -eq 3 ]
  [ "$(grep -c '"ph": "X"' odd.json)" -eq 6 ]
}

@test "a timeline of instructions that all overlap is soon drawn" {
  {
    printf '# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction\n'
    awk 'BEGIN {for (i = 0; i < 300000; i++)
      print i "\t1000000\tcompute\t-\t-\tadd\t1\t1\t-\ty = add x 1"}'
  } >t.trace
  # Time that grows with the square of their number would be minutes.
  timeout 60 gt-log --timeline svg t.trace >t.svg
  xmllint --noout t.svg
}

@test "a row of several ranks stands in the lanes of all" {
  cat >p.gt <<'END'
mesh dp=2
x@0-1 = ones f32[2,2]
y@0-1 = all_reduce x@0-1
z@0-1 = copy y@1,0
print y@0-1 split=dp:0
END
  gt-work --trace p.trace p.gt >/dev/null
  gt-log --timeline svg p.trace >p.svg
  xmllint --noout p.svg
  [ "$(grep -c '>rank [01] compute<' p.svg)" -eq 2 ]
  gt-log --timeline chrome p.trace >p.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" p.json
  run -0 grep -c '"name": "all_reduce".*"pid": [12],' p.json
  [ "$output" -eq 2 ]
}

@test "a part of a trace, by time and by filter" {
  {
    printf '# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction\n'
    for ((i = 0; i < 10; i++)); do
      printf '%d\t%d\tcompute\t-\tp:%d\top%d\t4\t1\t-\tx = op%d\n' \
        $((i * 1000000)) $((i * 1000000 + 500000)) $i $i $i
    done
  } >t.trace
  slices() { gt-log --timeline chrome "$@" t.trace | grep -o '"op[0-9]"' | paste -sd' '; }
  [ "$(slices)" = '"op0" "op1" "op2" "op3" "op4" "op5" "op6" "op7" "op8" "op9"' ]
  [ "$(slices --from 3ms --to 0.0051)" = '"op3" "op4" "op5"' ]
  [ "$(slices --op 'op1,op7')" = '"op1" "op7"' ]
  run -2 gt-log --timeline svg --from 1x t.trace
  [[ $output == *"'1x' is not a time such as 1.5 or 20ms"* ]]
  run -2 gt-log --timeline svg --from 2 --to 1 t.trace
}

# rows writes a trace; each argument is START END QUEUE RANK OP INSTRUCTION, parted
# by commas.
rows() {
  printf '# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction\n'
  local row
  for row; do
    IFS=, read -r start end queue rank op text <<<"$row"
    printf '%s\t%s\t%s\t%s\tp:1\t%s\t4\t1\t-\t%s\n' "$start" "$end" "$queue" \
      "$rank" "$op" "$text"
  done
}

# frames FILE prints, for each slice of the JSON that is no instruction, its name
# and its times.
frames() {
  sed -n 's/.*"name": "\([^"]*\)", "cat": "\(pass\|wait\)", "ts": \([0-9.]*\), "dur": \([0-9.]*\).*/\1: \3 \4/p' "$1"
}

@test "a timeline says what is forward, backward, a weight's gradient and an update, and of which microbatch" {
  rows 0,100000,compute,-,randn,'w = randn f32[4,4] 1' \
    100000,200000,compute,-,matmul,'h = matmul x w #mb=0' \
    200000,300000,compute,-,exp,'l = exp h #mb=0' \
    300000,400000,compute,-,matmul,'h = matmul x w #mb=1' \
    400000,500000,compute,-,mul,'d = mul l 2 #mb=0 #bwd' \
    500000,510000,compute,-,ones,'o = ones f32[] #bwd' \
    510000,600000,compute,-,mul,'d = mul d o #mb=0 #bwd' \
    600000,700000,compute,-,matmul,'g = matmul d x #mb=0 #bwd #grad=w' \
    700000,800000,compute,-,add,'s = add s g #mb=0' \
    800000,900000,compute,-,sgd,'w = sgd w s 0.1' \
    900000,950000,compute,-,mul,'q = mul g 0.1' \
    950000,980000,compute,-,sub,'v = sub v q' \
    980000,999000,compute,-,matmul,'h = matmul v w' >t.trace
  gt-log --timeline chrome t.trace >t.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" t.json
  run -0 frames t.json
  lines_are 'forward 0: 100.000 200.000
forward 1: 300.000 100.000
backward 0: 400.000 200.000
weight 0: 600.000 100.000
update 0: 700.000 100.000
update: 800.000 180.000
forward: 980.000 19.000'
  grep -q '"pass": "weight", "microbatch": "0"' t.json
  gt-log --timeline svg t.trace >t.svg
  xmllint --noout t.svg
  [ "$(grep -c '<title>forward 0</title>' t.svg)" = 1 ]
  grep -q '>backward 0</text>' t.svg
  grep -q '>update</text>' t.svg
  # Where there is no gradient and no microbatch, there is nothing to tell apart.
  rows 0,100,compute,-,exp,'y = exp x' >t.trace
  run -0 gt-log --timeline svg t.trace
  [[ $output != *forward* ]]
}

@test "the gaps of a worker say for whom it waited" {
  rows 0,100000,0/compute,0,ones,'x@0 = ones f32[4]' \
    0,20000,1/compute,1,ones,'a@1 = ones f32[4]' \
    100000,110000,1/comm,1,copy,'y@1 = copy x@0' \
    112000,150000,1/compute,1,exp,'z@1 = exp y@1' \
    190000,200000,1/compute,1,exp,'z@1 = exp a@1' \
    195000,205000,0/compute,0,exp,'x@0 = exp x@0' >t.trace
  gt-log --timeline chrome t.trace >t.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" t.json
  run -0 frames t.json
  lines_are 'waits for worker 0: 20.000 90.000
waits for its next line: 100.000 95.000
waits for its next line: 150.000 40.000'
  gt-log --timeline svg t.trace >t.svg
  xmllint --noout t.svg
  grep -q '<title>waits for worker 0, 90 µs' t.svg
  grep -q '>waits for worker 0</text>' t.svg
  # Of chosen lines nobody knows what else ran.
  run -0 gt-log --timeline svg --op exp t.trace
  [[ $output != *'waits for'* ]]
}

@test "0 is at the left of a timeline, and what it is" {
  rows 5000000,6000000,compute,-,exp,'y = exp x' \
    6000000,9000000,compute,-,exp,'y = exp x' >t.trace
  gt-log --timeline svg t.trace >t.svg
  grep -q "2 instructions in 4 ms; 0 is 5 ms after the run's start" t.svg
  [ "$(sed -n 's/.*text-anchor="middle" fill="#52606d">\([^<]*\)<.*/\1/p' t.svg | head -n 1)" = '0.0 ms' ]
  grep -q '3 ms from 1 ms' t.svg
  run -0 gt-log --timeline svg --from 7ms t.trace
  [[ $output == *"in 2 ms; 0 is 7 ms after the run's start"* ]]
}

@test "the trace of a pipeline has microbatches and passes" {
  "$GT_ROOT/examples/microbatches" 2 | gt-emit --no-at |
    gt-shard -c "$GT_ROOT/configs/schedule.yaml" >p.s
  gt-route -n 2 --threads 1 --trace p.trace p.s >/dev/null
  grep -q '#mb=1 #bwd #grad=w1$' p.trace
  gt-log --timeline chrome p.trace >p.json
  python3 "$GT_ROOT/tests/tools/check_trace.py" p.json
  frames p.json >told
  for word in forward backward weight update; do
    grep -q "^$word [01]: " told
  done
}

@test "a placed line that comes again with other notes has those in the trace" {
  cat >p.s <<'END'
mesh dp=2
x@0-1 = ones f32[4]
y@0-1 = all_reduce x@0-1 #signal=a
y@0-1 = all_reduce x@0-1 #signal=b #bwd
y@0-1 = all_reduce x@0-1 #signal=a
y@0-1 = all_reduce x@0-1
END
  gt-route -n 2 --threads 1 --trace p.trace p.s
  [ "$(grep '0/comm' p.trace | sort -n | cut -f9- | sed 's/\t.*1 *//; s/\t.*1$//' | paste -sd ' ')" = 'a b#bwd a -' ]
}

@test "--timeline wants a trace" {
  run -3 --separate-stderr gt-log --timeline svg <<<'x = zeros f32[1]'
  [ "$stderr" = 'gt-log: <stdin>:1: not a trace; gt-work --trace FILE makes one' ]
  gt-log -o s.log <<<'x = zeros f32[1]' >/dev/null
  run -3 --separate-stderr gt-log --timeline svg s.log
  [ "$stderr" = 'gt-log: s.log:2: this log says what was sent, not when it ran; gt-work --trace FILE or gt-route --trace FILE writes that' ]
}

@test "--plot: a picture of printed numbers" {
  {
    for ((i = 1; i <= 30; i++)); do
      echo "l = tensor f32[] 0.$i"
      ((i % 10)) || echo "a<b = tensor f32[1] $i"
      ((i % 10)) || echo "acc = tensor f32[1] $i"
    done
    echo 'l = tensor f32[] nan'
    echo 'l = tensor f32[] -inf'
    echo 'l = fail "model.gt:7: no"'
    echo 'l = tensor f32[] 0.5'
  } >r
  gt-log --plot l,acc r >r.svg
  xmllint --noout r.svg
  run -0 cat r.svg
  [[ $output == *'<title>l 30: 0.3</title>'* ]]
  [[ $output == *'<title>acc 20: 20</title>'* ]]
  [[ $output == *'<title>l 31: nan</title>'* ]]
  [[ $output == *'1 nan, 1 -inf, 1 fail'* ]]
  [[ $output != *'nan,'[0-9]* ]]
}

@test "--plot as characters" {
  for ((i = 1; i <= 50; i++)); do echo "l = tensor f32[] $((i * i))"; done >r
  run -0 gt-log --plot l --text r
  [[ $output != *[$'\x80'-$'\xff']* ]]
  [[ ${lines[0]} == 'l 2500' ]]
  [[ ${lines[-2]} == *'+--'* ]]
  [[ ${lines[-1]} == *'1 '*'50' ]]
  plain=$output
  LC_ALL=C.UTF-8 run -0 gt-log --plot l --text r
  [[ $output == *$'\xe2\xa0'* || $output == *$'\xe2\xa1'* ]]
  LC_ALL=C.UTF-8 run -0 gt-log --plot l --ascii r
  [ "$output" = "$plain" ]
  # On a terminal the picture is of characters by itself, in colour unless NO_COLOR
  # is set.
  run -0 script -qec 'stty cols 60 rows 20; gt-log --plot l r' /dev/null
  [[ $output != *$'\x1b['* ]]
  run -0 script -qec 'env -u NO_COLOR TERM=xterm gt-log --plot l r' /dev/null
  [[ $output == *$'\x1b[34m'* ]]
  run -0 script -qec 'env -u NO_COLOR TERM=dumb gt-log --plot l r' /dev/null
  [[ $output != *$'\x1b['* ]]
}

@test "--plot of a name that is not there, and of a tensor" {
  echo 'loss = tensor f32[] 1' >r
  run -1 --separate-stderr gt-log --plot los r
  [ "$stderr" = "gt-log: --plot: no 'los' in the results; there are loss" ]
  [ -z "$output" ]
  run -3 --separate-stderr gt-log --plot x <<<'x = tensor f32[2] 1 2'
  [[ $stderr == *'<stdin>:1: x is not one number'* ]]
}

@test "titles that XML does not have the characters for" {
  echo 'l = tensor f32[] 1' >r
  gt-log --plot l --title $'a<b>&"\x01\xff\xef\xbf\xbe\xef\xbf\xbf' r >out
  xmllint --noout out
}

@test "--plot of odd numbers draws something" {
  for values in 'nan' 'inf -inf' '1 1 1' '0' '1e308 -1e308' '-1 -2' '1e-300 2e-300'; do
    for value in $values; do echo "l = tensor f64[] $value"; done >r
    for look in '' --text '--log-scale' '--log-scale --text'; do
      if [[ $look == --log* && $values =~ ^(nan|inf -inf|0|-1 -2)$ ]]; then
        # shellcheck disable=SC2086
        run -1 --separate-stderr gt-log --plot l $look r
        [ -z "$output" ]
        [ "$stderr" = "gt-log: --log-scale: 'l' has no finite value above 0" ]
        continue
      fi
      # shellcheck disable=SC2086
      gt-log --plot l $look r >out
      [ -s out ]
      [[ $look == *--text ]] || xmllint --noout out
      run ! grep -E '="[^"]*(nan|inf)' out
    done
  done
}

@test "of too many transfers some of every part of the picture are drawn, and it says so" {
  {
    echo 'mesh dp=2'
    echo 'x@0-1 = ones f32[2]'
    for ((i = 0; i < 3000; i++)); do echo 'x@0-1 = copy x@1,0'; done
  } | gt-route -n 2 --trace t.trace
  gt-log --timeline svg t.trace >t.svg
  xmllint --noout t.svg
  grep -q '; 2000 of [0-9]* values that crossed are drawn<' t.svg
  [ "$(grep -c '<path d="M' t.svg)" -eq 2000 ]
  # The last of them ends near the right end of the lanes, at 1180.
  last=$(sed -n 's/<path d="M.* \([0-9.]*\) [0-9.]*">.*/\1/p' t.svg | sort -n | tail -1)
  [ "${last%.*}" -gt 1150 ]
}

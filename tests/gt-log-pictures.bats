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

@test "--timeline wants a trace" {
  run -3 --separate-stderr gt-log --timeline svg <<<'x = zeros f32[1]'
  [ "$stderr" = 'gt-log: <stdin>:1: not a trace; gt-work --trace FILE makes one' ]
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

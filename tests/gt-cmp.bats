#!/usr/bin/env bats
# gt-cmp says whether two streams of results are the same.

load helper

# same STATUS A B [OPTION...] compares two texts, in which \n ends a line.
same() {
  local status=$1 a=$2 b=$3
  shift 3
  run "-$status" --separate-stderr gt-cmp "$@" <(printf '%b\n' "$a") \
    <(printf '%b\n' "$b")
  [ -z "$output" ]
}

@test "equal streams, and a file beside itself" {
  same 0 'x = tensor f32[2] 1 2\ny = tensor bool[] 1' \
    'x = tensor f32[2] 1 2\ny = tensor bool[] 1'
  [ -z "$stderr" ]
  printf 'x = tensor f32[] 1\ny = tensor f32[] 2\n' >r
  gt-cmp r r
  gt-cmp "$PWD/r" "$PWD/r"
  cp r copy
  gt-cmp r - <copy
  gt-cmp -- - r <copy
}

@test "values are near, or not" {
  same 0 'x = tensor f32[2] 1 -2e10' 'x = tensor f32[2] 1.00001 -2.00001e10'
  same 1 'x = tensor f32[3] 1 2 3' 'x = tensor f32[3] 1 2.001 4'
  [ "$stderr" = 'gt-cmp: line 1: x: f32[3] [1]: 2 and 2.001; 2 of 3 values differ, by at most 1' ]
  same 0 'x = tensor f32[3] 1 2 3' 'x = tensor f32[3] 1 2.001 4' --rtol 0.25
  same 0 'x = tensor f32[3] 1 2 3' 'x = tensor f32[3] 1 2.001 4' --atol=1 --rtol=0
  same 1 'x = tensor f32[3] 1 2 3' 'x = tensor f32[3] 1 2.001 4' --atol .5 --rtol 0
  same 1 'x = tensor f32[] 0' 'x = tensor f32[] 1e-7'
  same 0 'x = tensor f32[] 0' 'x = tensor f32[] 1e-9'
  same 1 'x = tensor f32[] 0' 'x = tensor f32[] 1e-9' --exact
}

@test "the place of a difference is given by the shape" {
  same 1 'x = tensor f32[2,3] 1 2 3 4 5 6' 'x = tensor f32[2,3] 1 2 3 4 5 7'
  [[ $stderr == *'f32[2,3] [1,2]: 6 and 7;'* ]]
  same 1 'x = tensor f32[] 6' 'x = tensor f32[] 7'
  [ "$stderr" = 'gt-cmp: line 1: x: f32[]: 6 and 7, by at most 1' ]
}

@test "nan, infinities, zeros, spellings" {
  same 0 'x = tensor f32[4] nan inf -inf 0' 'x = tensor f32[4] nan inf -inf -0' --exact
  # A word that is no number is not read as 0.
  for pair in 'nan 1' '1 nan' 'inf -inf' 'inf 1' '1e308 inf' 'NaN 0' '0 -nan' \
    '0 Infinity' 'true 0' '0 x'; do
    same 1 "x = tensor f64[] ${pair% *}" "x = tensor f64[] ${pair#* }" --atol 1e300
  done
  # A value beyond the largest number is near no other, in either direction.
  for pair in '1 1e999' '1e999 1' '1e999 inf' 'inf 1e999' '1e999 1e998' '-1e999 0' \
    '0 -1e999' '1e999 nan' 'nan 1e999'; do
    for bounds in --exact --rtol=1e300 --atol=1e300; do
      same 1 "x = tensor f64[] ${pair% *}" "x = tensor f64[] ${pair#* }" "$bounds"
    done
  done
  same 0 'x = tensor f64[] 1.7976931348623157e308' 'x = tensor f64[] 17976931348623157e292' --exact
  same 0 'x = tensor f64[] 1e999' 'x = tensor f64[] 1e999' --exact
  same 0 'x = tensor f32[2] 1 0.1' 'x = tensor f32[2] 1.0 1e-1' --exact
}

@test "integers and bool are exact, however large" {
  same 1 'x = tensor i64[] 9007199254740993' 'x = tensor i64[] 9007199254740992' --atol 5
  same 0 'x = tensor i64[] 9223372036854775807' 'x = tensor i64[] 9223372036854775807'
  same 1 'x = tensor bool[2] 1 0' 'x = tensor bool[2] 1 1' --rtol 9
}

@test "doubles of one value are the same, those of neighbouring values are not" {
  same 0 'x = tensor f64[] 0.1' 'x = tensor f64[] 0.1000000000000000055511151231257827' --exact
  same 1 'x = tensor f64[] 0.1' 'x = tensor f64[] 0.10000000000000002' --exact
}

@test "names, types, lengths" {
  same 1 'x = tensor f32[] 1\ny = tensor f32[] 1' 'y = tensor f32[] 1\nx = tensor f32[] 1'
  [ "$stderr" = 'gt-cmp: line 1: x: the second has y here; what follows is not compared' ]
  same 1 'x = tensor f32[] 1' 'x = tensor f64[] 1'
  [ "$stderr" = 'gt-cmp: line 1: x: types f32[] and f64[]' ]
  same 1 'x = tensor f32[2] 1 2' 'x = tensor f32[2] 1'
  [ "$stderr" = 'gt-cmp: line 1: x: f32[2]: 2 values and 1' ]
  same 1 'x = tensor f32[] 1\ny@0 = tensor f32[] 1' 'x = tensor f32[] 1'
  [ "$stderr" = 'gt-cmp: the first has more results, y@0 at line 2 the first of them' ]
  same 1 'x = tensor f32[] 1' 'x = tensor f32[] 1\nx = tensor f32[] 2'
}

@test "a result without the values of its type is a difference, even from itself" {
  for result in 'f32[2] 1' 'f32[2] 1 2 3' 'f32[]' 'q[-1] 1' 'f32[0] 1'; do
    echo "x = tensor $result" >short
    run -1 gt-cmp short short
    [[ $output == *' values, which is no such tensor' ]]
  done
  echo 'x = tensor f32[2,0,3]' >none
  gt-cmp none none
}

@test "nothing at all is a difference" {
  same 1 '' ''
  [ "$stderr" = 'gt-cmp: there are no results' ]
  same 1 '' '# x\n' --allow-fail
  same 1 '' 'x = tensor f32[] 1'
}

@test "a fail is a difference, unless both are allowed one" {
  same 1 'x = fail "a:1: no"' 'x = fail "a:1: no"'
  [ "$stderr" = 'gt-cmp: line 1: x: fails in both: "a:1: no"' ]
  same 0 'x = fail "a:1: no"' 'x = fail "b:7: no"' --allow-fail
  same 1 'x = fail "a:1: no"' 'x = tensor f32[] 1' --allow-fail
  [ "$stderr" = 'gt-cmp: line 1: x: fail and tensor f32[]' ]
}

@test "comments, empty lines and ends of line do not count" {
  same 0 '# a\nx = tensor f32[2] 1 2\r\n\n' 'x = tensor f32[2] 1 2'
}

@test "ten differences are printed, and all are counted" {
  for ((i = 0; i < 12; i++)); do echo "x = tensor f32[] $i"; done >a
  for ((i = 0; i < 12; i++)); do echo "x = tensor f32[] $((i + 1))"; done >b
  run -1 --separate-stderr gt-cmp a b
  [ "${#stderr_lines[@]}" -eq 11 ]
  [ "${stderr_lines[10]}" = 'gt-cmp: 12 differences, 10 of them told' ]
}

@test "text that is no result, and a missing file, are status 2" {
  same 2 'x = tensor f32[] 1\ny = add x 1' 'x = tensor f32[] 1'
  [[ $stderr == *': not a result: y = add x 1' ]]
  echo 'x = tensor f32[] 1' >a
  run -2 --separate-stderr gt-cmp a none
  [ "$stderr" = 'gt-cmp: none: No such file' ]
  run -2 --separate-stderr gt-cmp a .
  [ "$stderr" = 'gt-cmp: .: Is a directory' ]
  run -2 gt-cmp a
  run -2 gt-cmp a a a
  run -2 gt-cmp - -
  run -2 gt-cmp --rtol -1 a a
  run -2 gt-cmp --atol
  run -2 --separate-stderr gt-cmp --nonsense a a
  [ "$stderr" = "gt-cmp: unknown argument '--nonsense'; see gt-cmp --help" ]
}

@test "long lines" {
  # shellcheck disable=SC2046
  { printf 'x = tensor f32[200000]'; printf ' %s' $(seq 200000); echo; } >a
  sed 's/ 150000 / 150009 /' a >b
  gt-cmp a a
  run -1 --separate-stderr gt-cmp a b
  [[ $stderr == *'[149999]: 150000 and 150009; 1 of 200000 values'* ]]
}

@test "lines that are much longer than a block" {
  awk 'BEGIN {
    printf "x = tensor f32[3000000]"
    for (i = 0; i < 3000000; i++) printf " %d", i * 7919 % 900 + 100
    print ""
  }' >a
  sed 's/ 2/  2/; s/ \([0-9]*\)$/ 7\1/' a >b
  run -0 --separate-stderr within 60 gt-cmp a a
  run -1 --separate-stderr within 60 gt-cmp a b
  [[ $stderr == 'gt-cmp: line 1: x: f32[3000000] [2999999]: '*'; 1 of 3000000 values differ, by at most 7e+03' ]]
  head -c 12000000 /dev/zero | tr '\0' a >word
  run -2 --separate-stderr within 60 gt-cmp word a
  [ "$stderr" = "gt-cmp: word:1: not a result: $(head -c 60 word)" ]
  { printf '#' && cat word && printf '\n' && tr a ' ' <word && printf '#\n' &&
    tr a ' ' <word && printf '\r\nx = tensor f32[] 1\n'; } >passed
  echo 'x = tensor f32[] 1' >one
  within 60 gt-cmp passed one
}

@test "a line may be 64 MiB long, and then takes less than a minute, and no byte longer" {
  { printf 'x = tensor f32[] 1%67108846s\n' ''; } >most
  { printf 'x = tensor f32[] 1%67108847s\n' ''; } >over
  echo 'x = tensor f32[] 1' >one
  within 60 gt-cmp most one
  run -2 --separate-stderr within 60 gt-cmp one over
  [ "$stderr" = 'gt-cmp: over:1: the line is over 64 MiB' ]
  { cat one && printf '# %67108863s' '' && cat one; } >over
  run -2 --separate-stderr within 60 gt-cmp over over
  [ "${stderr_lines[0]}" = 'gt-cmp: over:2: the line is over 64 MiB' ]
}

@test "words and ends of line are the same wherever a block ends" {
  local k
  for ((k = 4060; k < 4100; k++)); do
    printf '#%*s\nx = tensor f32[4] 11  22\t33 44\r\ny = fail "no"\n' "$k" '' >a
    printf '#\nx = tensor f32[4] 11 22 33 44\ny = fail "other"\n' >b
    gt-cmp --allow-fail a b
    printf '#\nx = tensor f32[4] 11 22 33 445\ny = fail "other"\n' >b
    run -1 --separate-stderr gt-cmp --allow-fail a b
    [ "$stderr" = 'gt-cmp: line 2: x: f32[4] [3]: 44 and 445; 1 of 4 values differ, by at most 401' ]
  done
}

@test "bytes that are no UTF-8 end no line" {
  printf 'x = tensor f32[] 1 \367y = tensor f32[] 1\n' >a
  run -1 --separate-stderr gt-cmp a a
  [ "$stderr" = 'gt-cmp: line 1: x: f32[]: 6 values, which is no such tensor' ]
  printf 'x = tensor f32[] 1\n\301' >a
  run -2 --separate-stderr gt-cmp a a
  [ "${stderr_lines[0]}" = 'gt-cmp: a:2: not a result: \xfd' ]
  printf '\377\376x\0\n\0' >a
  run -2 --separate-stderr gt-cmp a a
  [[ $stderr == 'gt-cmp: a:1: not a result: \xff\xfex'* ]]
}

@test "two backends agree on a program" {
  printf '%s\n' 'x = randn f32[8,8] 1' 'y = softmax x' 'print y' 'l = sum y' \
    'print l' >p.gt
  gt-cmp <(gt-emit p.gt | gt-work) <(gt-emit p.gt | gt-work --backend ref)
  gt-cmp --exact <(gt-work p.gt) <(sed 's/ #.*//' p.gt | gt-work)
}

@test "--help and --version" {
  run -0 gt-cmp --help
  for word in --rtol --atol --exact --allow-fail 'Exit status'; do
    [[ $output == *"$word"* ]]
  done
  run -0 gt-cmp --version
  [[ $output == gt-cmp\ [0-9]* ]]
}

@test "a byte order mark at the beginning is skipped, and nowhere else" {
  same 0 '\xef\xbb\xbfx = tensor f32[] 1' 'x = tensor f32[] 1'
  same 0 '\xef\xbb\xbf# a remark\nx = tensor f32[] 1' '\xef\xbb\xbfx = tensor f32[] 1'
  same 1 'x = tensor f32[] 1\n\xef\xbb\xbfy = tensor f32[] 1' 'x = tensor f32[] 1\ny = tensor f32[] 1'
}

@test "standard input that is closed or is no file is reported by gt-cmp alone" {
  echo 'x = tensor f32[] 1' >r
  run -2 --separate-stderr bash -c 'gt-cmp r - <&-'
  [ "$stderr" = 'gt-cmp: <stdin>: cannot be read: it is closed' ]
  run -2 --separate-stderr bash -c 'gt-cmp - r </'
  [ "$stderr" = 'gt-cmp: <stdin>: cannot be read' ]
}

@test "a very long word is shown by its beginning alone" {
  { printf 'x = tensor f32[1] ' && head -c 200000 /dev/zero | tr '\0' a; } >first
  { printf 'x = tensor f32[1] ' && head -c 200000 /dev/zero | tr '\0' b; } >second
  run -1 --separate-stderr gt-cmp first second
  [[ $stderr == "gt-cmp: line 1: x: f32[1] [0]: aaa"*... ]]
  [ "${#stderr}" -lt 1100 ]
}

@test "a side that ends long before the other, after a difference" {
  printf 'x = tensor f32[] 1\n' >a
  printf 'x = tensor f32[] 2\n' >b
  run -1 --separate-stderr timeout 20 gt-cmp <(cat a; sleep 0.2) b
  [ "$stderr" = 'gt-cmp: line 1: x: f32[]: 1 and 2, by at most 1' ]
  run -1 --separate-stderr timeout 20 gt-cmp b <(cat a; sleep 0.2)
  [ "$stderr" = 'gt-cmp: line 1: x: f32[]: 2 and 1, by at most 1' ]
}

@test "the status tells the answer where no message can be written" {
  printf 'x = tensor f32[] 1\n' >a
  printf 'x = tensor f32[] 2\n' >b
  local status=0
  gt-cmp a b 2>&- || status=$?
  [ "$status" -eq 1 ]
}

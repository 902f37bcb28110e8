#!/usr/bin/env bats
# gt-log --plot of several runs, of numbers of different sizes, and of a run that
# still goes on.

load helper

# numbers NAME VALUE... prints the results of a run.
numbers() {
  local name=$1 value
  shift
  for value; do echo "$name = tensor f32[] $value"; done
}

# points FILE prints the color and the x of the points of each line that was drawn.
points() {
  sed -n 's/.*<polyline points="\([^"]*\)".* stroke="\([^"]*\)".*/\2 \1/p' "$1" |
    sed 's/,[0-9.]*//g'
}

@test "--plot of two files: two series named by their files, side by side" {
  numbers loss 3 2 1 >a
  numbers loss 4 3 >b
  gt-log --plot loss a b >two.svg
  xmllint --noout two.svg
  run -0 cat two.svg
  [[ $output == *'>a 1 at the end</text>'*'>b 3 at the end</text>'* ]]
  [[ $output == *'>loss</text>'* ]]
  [ "$(points two.svg | wc -l)" -eq 2 ]
  # File b counts its own steps, so its second step stands where the second of a
  # does.
  read -r _ first second _ < <(points two.svg | head -n 1)
  [ "$(points two.svg | tail -n 1 | cut -d ' ' -f 2-)" = "$first $second" ]
  numbers acc 0.5 >>b
  run -1 --separate-stderr gt-log --plot loss,acc --ascii a b
  [[ ${lines[0]} == '* loss a 1   + acc a   o loss b 3   x acc b 0.5' ]]
  [ "$stderr" = "gt-log: --plot: no 'acc' in a" ]
}

@test "a name that is printed less often than another is drawn over the other's steps" {
  { numbers loss 5 4 3 2 1; numbers held 3 2 1; } >r
  gt-log --plot loss,held r >r.svg
  # held begins at the step where loss ends.
  run -0 points r.svg
  [ "$(wc -w <<<"${lines[0]}")" -eq 6 ]
  [ "$(wc -w <<<"${lines[1]}")" -eq 4 ]
  [ "$(tr ' ' '\n' <<<"${lines[1]#* }" | sort -u | wc -l)" -eq 3 ]
  [ "${lines[0]##* }" = "$(cut -d ' ' -f 2 <<<"${lines[1]}")" ]
  run -0 grep -c '<title>held [567]: ' r.svg
  [ "$output" -eq 3 ]
}

@test "--smooth: means of what was printed, over the numbers" {
  numbers loss 0 1 1 1 >r
  gt-log --plot loss --smooth 0.5 r >r.svg
  xmllint --noout r.svg
  # The pale line goes to the top at once, the other one slowly.
  run -0 grep -o '<polyline points="[^"]*"' r.svg
  heights() { tr ' ' '\n' <<<"${1#*\"}" | sed 's/.*,//; s/"//'; }
  heights "${lines[0]}" | sort -u | wc -l | grep -qx 2
  heights "${lines[1]}" | sort -u | wc -l | grep -qx 4
  grep -c 'stroke-opacity="0.25"' r.svg | grep -qx 1
  gt-log --plot loss --smooth 0 r | cmp - <(gt-log --plot loss r)
  run -2 gt-log --plot loss --smooth 1 r
  run -2 gt-log --summary --smooth 0.5 r
}

@test "--own-scale: each name by its own axis" {
  for i in 1 2 3; do numbers loss 0.$i; numbers count ${i}000000; done >r
  gt-log --plot loss,count --own-scale r >r.svg
  xmllint --noout r.svg
  # Both lines go from the bottom to the top and have the same points.
  run -0 grep -o '<polyline points="[^"]*"' r.svg
  [ "${#lines[@]}" -eq 2 ]
  [ "${lines[0]}" = "${lines[1]}" ]
  run -0 cat r.svg
  [[ $output == *'>0.20</text>'*'>2e+06</text>'* ]]
  gt-log --plot loss,count r >r.svg
  run -0 grep -o '<polyline points="[^"]*"' r.svg
  [ "${lines[0]}" != "${lines[1]}" ]
  run -0 gt-log --plot loss,count --own-scale --ascii r
  [[ ${lines[0]} == '* loss 0.3 (left)   + count 3e+06 (right)' ]]
  [[ ${lines[1]} == '     |'*'|' && $output == *'0.20 +'*'+ 2e+06'* ]]
  # Two runs share the scale of a name.
  gt-log --plot loss --own-scale r r >r.svg
  run -0 gt-log --plot loss --log-scale --own-scale r
  run -2 gt-log --own-scale r
}

@test "--follow draws again as standard input grows" {
  coproc PLOT { gt-log --plot loss --ascii -f 3>&-; }
  local pid=$PLOT_PID in=${PLOT[1]} out=${PLOT[0]} line
  numbers loss 7 >&"$in"
  # The first picture comes while more numbers may follow.
  read -r -t 60 line <&"$out"
  [ "$line" = 'loss 7' ]
  numbers loss 6 5 >&"$in"
  while read -r -t 60 line <&"$out" && [[ $line != 'loss 5' ]]; do :; done
  [ "$line" = 'loss 5' ]
  eval "exec $in>&-"
  wait "$pid"
  run -1 --separate-stderr gt-log --plot loss -f </dev/null
  [[ $stderr == "gt-log: --plot: no 'loss' in the results" ]]
}

@test "--follow of files goes on until it is ended" {
  numbers loss 7 >a
  numbers loss 9 >b
  spawn gt-log --plot loss --ascii -f a b >pictures
  await 'a 7   + b 9' pictures
  numbers loss 6 >>b
  await 'a 7   + b 6' pictures
  # A file that is begun anew is read anew.
  numbers loss 1 >a
  await 'a 1   + b 6' pictures
  run -2 --separate-stderr gt-log --plot loss -f nowhere
  [[ $stderr == 'gt-log: nowhere: No such file'* ]]
}

@test "on a terminal each picture takes the place of the former" {
  numbers loss 3 2 >r
  run -0 script -qec '{ cat r; sleep 0.3; cat r; } | gt-log --plot loss --ascii -f' /dev/null
  [[ $output == *$'\x1b['*'A'$'\x1b[J'* ]]
}

@test "a series of one point is seen on a terminal, whatever is drawn after it" {
  { numbers a 3; numbers b 1 2 3 4; } >r
  for own in '' --own-scale; do
    # shellcheck disable=SC2086
    LC_ALL=C.UTF-8 run -0 gt-log --plot a,b --text $own r
    [ "$(grep -o '⣿' <<<"$output" | wc -l)" -eq 1 ]
    # shellcheck disable=SC2086
    run -0 gt-log --plot a,b --ascii $own r
    [ "$(sed 1d <<<"$output" | grep -o '[*]' | wc -l)" -eq 1 ]
  done
  # A point between two nan is alone, too; a point with a neighbour is not.
  numbers c 1 2 nan 3 nan 4 5 >r
  LC_ALL=C.UTF-8 run -0 gt-log --plot c --text r
  [ "$(grep -o '⣿' <<<"$output" | wc -l)" -eq 1 ]
}

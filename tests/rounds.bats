#!/usr/bin/env bats
# gt-route does not look at each line of a loop's rounds that come again; nothing
# else differs.

load helper

# rounds N prints a loop of N rounds on two ranks, with prints inside.
rounds() {
  local i k
  printf '%s\n' 'mesh tp=2' 'x@0-1 = randn f32[8] 1 split=tp:0' \
    'n@0-1 = full i64[] 90'
  for ((i = 0; i < $1; i++)); do
    echo "# a step"
    for ((k = 0; k < 20; k++)); do
      echo "y@0-1 = add x@0-1 $k #signal=s$k"
      echo 'x@0-1 = mul y@0-1 0.5'
      echo 'free y@0-1'
    done
    echo 'print x@1'
    echo "${2:-x@0-1 = all_reduce x@0-1 op=mean over=tp}"
    echo 'print x@0-1 split=tp:0 as=whole'
  done
}

# repeated prints how many lines gt-route says it did not look at.
repeated() {
  sed -n 's/^gt-route: .* \([0-9]*\) in rounds that came again.*/\1/p' err
}

# same_either_way STATUS runs p through gt-route with rounds repeated, not repeated,
# and logged. If both ranks fail, the report that comes first is the one that is
# printed.
same_either_way() {
  local how
  for how in '' --no-hot '--log log'; do
    # shellcheck disable=SC2086
    run -"$1" --separate-stderr gt-route -n 2 --threads 1 $how p
    # shellcheck disable=SC2154
    printf '%s\n' "$output" >"out$how"
    printf '%s\n' "$stderr" >"err$how"
  done
  cmp out out--no-hot
  cmp out 'out--log log'
  for how in --no-hot '--log log'; do
    cmp <(sed 's/@[01]/@r/g' err) <(sed 's/@[01]/@r/g' "err$how")
  done
}

@test "a loop whose rounds are repeated gives what its single lines give" {
  rounds 80 >p
  gt-route -n 2 --threads 1 -v p >out 2>err
  [ "$(repeated)" -gt 4000 ]
  [ "$(wc -l <out)" = 160 ]
  gt-work --threads 1 p | cmp - out
  gt-route -n 2 --threads 1 --no-hot -v p 2>err | cmp - out
  [ "$(repeated)" = 0 ]
  # A log has a row for each line, so with one gt-route looks at all lines.
  gt-route -n 2 --threads 1 --log log -v p 2>err | cmp - out
  [ "$(repeated)" = 0 ]
  cut -f 7- log | gt-work --threads 1 | cmp - out
}

@test "rounds without ranks are repeated where there is one worker" {
  rounds 60 'print y@0' | sed -e 's/@0-1//g' -e 's/@[01]//' -e '/^mesh/d' \
    -e 's/split=tp:0//' -e '/print y/d' >p
  gt-route -n 1 --threads 1 -v p >out 2>err
  [ "$(repeated)" -gt 2000 ]
  gt-work --threads 1 p | cmp - out
  gt-route -n 2 --threads 1 p | cmp - out
}

@test "a program that comes in pieces, and one with CR LF, give the same" {
  rounds 60 >p
  gt-work --threads 1 p >out
  { while IFS= read -r line; do printf '%s\n' "$line"; done <p; } |
    gt-route -n 2 --threads 1 | cmp - out
  sed 's/$/\r/' p | gt-route -n 2 --threads 1 | cmp - out
  # A line after a round is answered while the input stays open.
  mkfifo in
  spawn gt-route -n 2 --threads 1 in >answers
  exec 5>in
  cat p >&5
  head -n 30 <(rounds 1 | tail -n +4) >&5
  echo 'print n@0 as=last' >&5
  await '^last' answers
  exec 5>&-
  head -n 120 answers | cmp - out
}

@test "a line that fails in some round is reported with its place" {
  rounds 120 'n@0-1 = sub n@0-1 1
q@0-1 = floordiv 7 n@0-1
print q@0' >p
  same_either_way 1
  [ "$(grep -c 'fail' out)" = 1 ]
  [ "$(grep -c '^gt-work: p:[0-9]*: floordiv' err)" = 1 ]
}

@test "a line that is rejected in each round is reported each time" {
  rounds 5 'q@0-1 = add x@0-1 nobody@0-1' >p
  same_either_way 3
  [ "$(grep -c "unknown name 'nobody@0-1'" err)" = 5 ]
}

@test "gt-route stops reading rounds for a worker that stands still, and the run ends" {
  local at=ipc://@gt-rounds-$$-still route worker status=0
  mkfifo in
  spawn gt-route --bind "$at" --workers 1 --silence 2 in >out 2>err
  route=$!
  spawn gt-work --connect "$at" --threads 1
  worker=$!
  {
    rounds 1
    yes "$(rounds 1 | tail -n +4)"
  } >in 2>/dev/null 3>&- &
  within 60 bash -c 'until (($(wc -l <out) > 1000)); do sleep 0.05; done'
  kill -STOP "$worker"
  wait "$route" || status=$?
  [ "$status" = 4 ]
  grep -q 'is lost: nothing was heard of it for 2[.]0 s; it was at in:' err
  # The note by which a block is sent as a number does not appear in messages.
  run -1 grep '#hot=' err
  kill -KILL "$worker"
}

@test "blocks that workers had to forget are sent again" {
  local i k
  command -v light_members || skip "light_members is not built: -DGT_TESTS=ON"
  for ((i = 0; i < 2; i++)); do
    for ((k = 0; k < 50; k++)); do
      for _ in 1 2 3 4 5 6; do
        awk -v k="$k" 'BEGIN {
          for (i = 0; i < 1500; ++i) {
            printf "x%d@0-3 = zeros f32[2,2] #signal=block%d/line%d/%s\n", i, k,
              i, "a-long-name-of-a-scope-that-takes-room-in-what-is-kept"
          }
        }'
      done
    done
  done >p
  echo 'print x7@0-3' >>p
  spawn light_members 4 "ipc://@gt-rounds-$$"
  gt-route --bind "ipc://@gt-rounds-$$" --workers 4 -v p >out 2>err
  wait "${spawned[0]}"
  [ "$(wc -l <out)" = 4 ]
  [ "$(repeated)" -gt 100000 ]
}

@test "a block whose prints exceed the results that are kept at a time comes to its end" {
  # gt-route holds back a block that may be coming again until its last line. Its
  # prints are among the results that leave no room to read that line, and the run
  # must end all the same.
  {
    echo 'x = zeros f32[1048576]'
    seq -f 'a%g = zeros f32[]' 200
    for _ in 1 2 3 4 5; do
      echo 'y = add x 1'
      printf 'print x\n%.0s' 1 2 3 4 5 6
      for k in {1..200}; do echo "a$k = add a$k 1"; done
    done
  } >p
  gt-route -n 1 p | wc -l >count
  [ "$(<count)" = 30 ]
}

#!/usr/bin/env bats
# What a client may hold, send and leave unread, and how many may be there.

load helper
load clients

@test "quotas on memory and on names are kept, and a message names the line" {
  serve 1 --quota 1M --quota-names 10
  cat >p.gt <<'END'
x = ones f32[200000]
y = ones f32[200000]
print y
free x
y = ones f32[200000]
s = sum y
print s
END
  visit p.gt
  [ "$status" = 3 ]
  grep -q 'p.gt:2: ones: with it your names would hold 1600000 bytes, and 1048576 is the quota' err
  grep -q '^y = fail "p.gt:2: ones: ' out
  grep -q '^s = tensor f32\[\] 2e+05$' out
  for ((k = 0; k < 12; k++)); do echo "n$k = ones f32[2]"; done >names.gt
  visit names.gt
  [ "$status" = 3 ]
  grep -q 'names.gt:11: ones: with it your names would be 11, and 10 is the quota' err
}

@test "names and lines of history count to the quota, and are given back" {
  serve 1 --quota 1M
  printf 'w = ones f32[]\ny = ones f32[]\n' >init.gt
  echo 'y = mul y w' >step.gt
  # Each of two clients may hold a thousand lines, one after the other.
  for _ in 1 2; do
    visit init.gt --repeat 1000 step.gt -e 'print y'
    [ "$status" = 0 ]
    [ "$(cat out)" = 'y = tensor f32[] 1' ]
  done
  visit init.gt --repeat 2000 step.gt -e 'print y'
  [ "$status" = 3 ]
  grep -q '^y = fail "step.gt:1: mul: with it your names would hold ' out
  grep -qE 'with [0-9]+ names and [0-9]+ lines of history are [0-9]+, and 1048576 is the quota; free .*, and detach ' err
  # Without a history the loop goes on for as long as it likes.
  visit init.gt -e 'w = detach w' --repeat 5000 <(echo 'y = mul y w'; echo 'y = detach y') -e 'print y'
  [ "$status" = 0 ]
}

@test "names that failed count, too, and those beyond the quota stay unknown" {
  serve 1 --quota-names 10
  for ((k = 0; k < 40; k++)); do echo "a$k = nonsense"; done >wrong.gt
  visit wrong.gt -e 'print a9' -e 'print a39' -e 'free a0' -e 'x = ones f32[1]' -e 'print x'
  [ "$status" = 3 ]
  grep -q "^a9 = fail .*'nonsense'" out
  grep -q "^a39 = fail .*unknown name 'a39'" out
  grep -q '^x = tensor f32\[1\] 1$' out
  [ "$(grep -c "'nonsense'" err)" = 40 ]
}

@test "more connections than open files take nothing from those who are there" {
  files=120 serve 1
  grep -qE '^gt-emit: the limit of open files \(ulimit -n\) leaves room for [0-9]+ clients at once, and not for 256$' served
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" in >held 2>err.held' "$at"
  local held=$!
  exec 5>in
  printf 'x = ones f32[1]\nprint x\n' >&5
  await '^x = tensor' held
  # 300 connections, of which none says a word.
  spawn python3 -c 'import socket, sys, time
held = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    held.append(s)
open("flooded", "w").write("all\n")
time.sleep(1000)' "${at#ipc://}"
  local flood=$!
  await all flooded
  printf 'y = add x 1\nprint y\n' >&5
  await '^y = tensor f32\[1\] 2' held
  is_spawned "$emit"
  kill "$flood"
  visit -e 'x = ones f32[1]' -e 'print x'
  [ "$status" = 0 ]
  exec 5>&-
  wait "$held"
  # A number of clients for which there are no open files is an error.
  ulimit -n 120
  run -2 --separate-stderr gt-emit -l "ipc://$PWD/e" --back back --clients 500
  [[ $stderr == 'gt-emit: it needs 564 more open files and sockets, of which it can have '*'ulimit -n'* ]]
}

@test "a line that is too long is refused, and the rest goes on" {
  serve 1
  { head -c 1048577 /dev/zero | tr '\0' a; printf '\nx = ones f32[2]\nprint x\n'; } >long.gt
  status=0
  within 100 gt-emit --to "$at" --silence 60 long.gt >out 2>err || status=$?
  [ "$status" = 3 ]
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
  grep -q 'long.gt:1: line is longer than 1 MiB, the most of a client' err
  # Of a line whose end never comes no more than that is kept.
  mkfifo in
  spawn gt-emit --to "$at" in
  exec 5>in
  before=$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$emit/status")
  head -c 40000000 /dev/zero | tr '\0' a >&5
  visit -e 'print x'
  after=$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$emit/status")
  echo "$before kB, then $after kB"
  # A sanitizer keeps what was freed.
  [[ -n ${GT_SANITIZED:-} ]] || ((after < before + 20000))
  exec 5>&-
}

@test "a client whose lines are all mistakes loses nobody else" {
  serve 1
  local i pid
  for ((i = 0; i < 3000; i++)); do echo "y$i = add zz$i zz$i"; done >bad.gt
  # Names that are there make each mistake dearer.
  for ((i = 0; i < 3000; i++)); do echo "n$i = zeros f32[1]"; done >names.gt
  mkfifo slow
  spawn gt-emit --to "$at" --user bob slow >bob.out 2>bob.err
  pid=$!
  exec 5>slow
  printf 'x = ones f32[1]\nprint x\n' >&5
  await '^x = tensor' bob.out
  visit names.gt bad.gt --user ann
  [ "$status" = 3 ]
  echo 'print x as=again' >&5
  await '^again = tensor' bob.out
  exec 5>&-
  wait "$pid"
}

@test "however many results and messages come at once, each reaches its client" {
  serve 1
  { echo 'x = ones f32[4]'; yes 'print x' | head -n 5000; } >burst.gt
  gt-emit --to "$at" burst.gt >got
  [ "$(sort got | uniq -c)" = "$(printf '%7d %s' 5000 'x = tensor f32[4] 1 1 1 1')" ]
  # At most a thousand messages are kept for a client; the rest is counted.
  for ((i = 0; i < 3000; i++)); do echo "y$i = neg q$i"; done >bad.gt
  run -3 --separate-stderr gt-emit --to "$at" bad.gt
  [[ $stderr == *'gt-emit: bad.gt:1: '* ]]
  # A client that detaches in the middle finds the rest when it is back.
  gt-emit --to "$at" --detach late burst.gt >had
  gt-emit --to "$at" --attach late </dev/null >rest
  cat had rest | cmp got -
}

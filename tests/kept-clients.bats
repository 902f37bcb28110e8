#!/usr/bin/env bats
# Clients of gt-emit -l that leave and come back, by --detach and --attach or since
# their connection ended.

load helper
load clients

@test "a client that detaches finds its tensors and its results when it is back" {
  at_socket
  serve 2
  visit --detach job -e 'w = full f32[2] 7' -e 'print w'
  [ "$status" = 0 ]
  visit --attach job --detach job --wait -e 'v = add w 1' -e 'print v'
  [ "$status" = 0 ]
  # The first visit may have read some of the results, and the second reads the
  # rest.
  tail -1 out | grep -q '^v = tensor f32.2. 8 8$'
  run -0 grep -c '^c1/w = ' stream
  [ "$output" = 1 ]
  run ! grep '^free' stream
  visit --attach job -e 'print v'
  [ "$status" = 0 ]
  [ "$(tail -1 out)" = 'v = tensor f32[2] 8 8' ]
  await '^free c1/w' stream
  visit --attach job -e 'print v'
  [ "$status" = 4 ]
  grep -q "nobody is kept as 'job'" err
}

@test "messages and the status of a visit are those of what the visit sent" {
  at_socket
  serve 2
  visit --detach job --wait -e 'w = ones f32[2]' -e 'q = add w nobody'
  [ "$status" = 3 ]
  grep -q "unknown name 'nobody'" err
  visit --attach job --detach job --wait -e 'print w'
  [ "$status" = 0 ]
  [ ! -s err ]
  # What happens while no client is there is told to the next one.
  visit --attach job --detach job --at -e 'i = tensor i64[1] 1' \
    -e 'o = tensor i64[1] 0' -e 'r = floordiv i o' -e 'print r'
  local first=$status
  cat out err >all
  visit --attach job -e 'x = ones f32[1]'
  cat out err >>all
  [ "$((status + first))" = 1 ]
  [ "$(grep -c '^r = fail' all)" = 1 ]
  [ "$(grep -c '^gt-work: -e:3: floordiv' all)" = 1 ]
}

@test "a detached client is ended when it does not come back in time" {
  at_socket
  serve 2 --keep 1
  visit --detach job -e 'w = ones f32[2]'
  await '^free c1/w' stream
  grep -q "nobody came back to 'job' within 1.0 s" served
  visit --attach job -e 'print w'
  [ "$status" = 4 ]
  # A client that comes back in time is kept.
  visit --detach job -e 'w = ones f32[2]'
  for _ in 1 2 3 4; do
    sleep 0.5
    visit --attach job --detach job --wait -e 'print w'
    [ "$(cat out)" = 'w = tensor f32[2] 1 1' ]
  done
}

@test "a named client that is killed is kept, and loses nothing" {
  at_socket
  serve 2
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" --detach job <in >first 2>err' "$at"
  visitor=$!
  exec 5>in
  printf 'w = full f32[2] 7\nprint w\n' >&5
  await '^w = ' first
  printf 'v = add w 1\nprint v\nx = add w 12' >&5
  await '^print c1/v' stream
  kill -KILL $visitor
  exec 5>&-
  await 'c1 is away' served
  visit --attach job -e 'print w'
  [ "$status" = 0 ]
  cat first out >all
  [ "$(grep -c '^v = tensor f32.2. 8 8$' all)" -ge 1 ]
  [ "$(tail -1 out)" = 'w = tensor f32[2] 7 7' ]
  # A line without its end is dropped.
  grep -q 'in the middle of a line, which is dropped' err
  run ! grep '^c1/x = ' stream
}

@test "each user has names of clients of its own" {
  at_socket
  serve 2
  visit --user ann --detach job -e 'w = full f32[1] 1'
  visit --user bob --attach job -e 'print w'
  [ "$status" = 4 ]
  visit --user bob --detach job -e 'w = full f32[1] 2'
  [ "$status" = 0 ]
  visit --user ann --detach job -e 'w = full f32[1] 3'
  [ "$status" = 4 ]
  grep -q "'job' is here already; --attach job comes back to it" err
  visit --user ann --attach nothing -e 'print w'
  grep -q "nobody is kept as 'nothing'; there is job" err
  visit --user ann --attach job -e 'print w'
  [ "$(cat out)" = 'w = tensor f32[1] 1' ]
  visit --user bob --attach job -e 'print w'
  [ "$(cat out)" = 'w = tensor f32[1] 2' ]
  local name
  for name in '' a/b '-' 'a b' .x "$(printf 'x%064d' 0)"; do
    visit --detach "$name" -e 'w = ones f32[1]'
    [ "$status" = 2 ]
  done
  run -2 gt-emit --to "$at" --attach a --detach b -e 'w = ones f32[1]'
  run -2 gt-emit --to "$at" --wait -e 'w = ones f32[1]'
  run -2 gt-emit --attach a -e 'w = ones f32[1]'
}

@test "a client that comes back takes the place of one that is there" {
  at_socket
  serve 2
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" --detach job <in >first 2>err; echo $? >code' "$at"
  exec 5>in
  printf 'w = full f32[2] 7\nprint w\n' >&5
  await '^w = ' first
  visit --attach job -e 'print w'
  [ "$status" = 0 ]
  await 4 code
  grep -q "somebody else has come back to 'job'" err
  exec 5>&-
}

@test "SIGINT ends a client, but one that is to be kept goes on" {
  at_socket
  serve 2
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" --detach job <in >first 2>err; echo $? >code' "$at"
  exec 5>in
  printf 'w = full f32[2] 7\nprint w\n' >&5
  await '^w = ' first
  pkill -INT -f "^gt-emit --to $at"
  await 130 code
  grep -q -e "--attach job comes back to it" err
  exec 5>&-
  rm code
  spawn bash -c 'gt-emit --to "$0" --attach job <in >second 2>err; echo $? >code' "$at"
  exec 5>in
  printf 'print w\n' >&5
  await '^w = ' second
  pkill -INT -f "^gt-emit --to $at"
  await 130 code
  exec 5>&-
  await '^free c1/w' stream
  visit --attach job -e 'print w'
  [ "$status" = 4 ]
}

@test "a client that ends before it was let in does not say that it goes on" {
  run --separate-stderr timeout -s TERM 1 \
    gt-emit --to "ipc://$PWD/nobody" --detach later -e 'print x'
  [ "$status" = 124 ]
  [ -z "$output$stderr" ]
}

@test "a connection that is cut at any point changes no result" {
  at_port
  serve 2 --silence 1
  lay_link
  for ((i = 0; i < 400; i++)); do
    printf 'x = full f32[50] %d\nprint x\nq%d = add x nobody\n' $i $i
  done >p.gt
  gt-emit --to "$at" p.gt >wanted 2>wanted.err || true
  local cut
  for cut in 300 2000 9000 30000 60000; do
    rm -f code
    tell_link cut $cut
    spawn bash -c 'gt-emit --to "$0" --silence 1 --detach job --wait p.gt >out 2>err; echo $? >code' "$link"
    await "^was cut after $cut\$" relayed
    tell_link go
    await . code
    [ "$(cat code)" = 3 ]
    cmp wanted out
    grep -v '^gt-emit: gt-emit at' err | cmp - wanted.err
    visit --attach job -e 'x = ones f32[1]'
    [ "$status" = 0 ]
  done
  # A client that was cut before it was let in only begins again, so not all were
  # away.
  [ "$(grep -c 'is away' served)" -ge 3 ]
}

@test "a connection that stalls for longer than a silence goes on" {
  at_port
  serve 2 --silence 1
  lay_link
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" --silence 1 --detach job --wait <in >out 2>err; echo $? >code' "$link"
  exec 5>in
  printf 'w = full f32[2] 7\nprint w\n' >&5
  await '^w = ' out
  tell_link stall
  printf 'v = add w 1\nprint v\n' >&5
  await 'c1 is away' served
  await 'is lost' err
  tell_link go
  await '^v = ' out
  printf 'u = add v 1\nprint u\n' >&5
  exec 5>&-
  await . code
  [ "$(cat code)" = 0 ]
  printf '%s\n' 'w = tensor f32[2] 7 7' 'v = tensor f32[2] 8 8' \
    'u = tensor f32[2] 9 9' | cmp - out
  grep -q 'is there again' err
}

@test "a visit that was stopped for longer than a silence goes on" {
  at_socket
  serve 2 --silence 1
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" --silence 1 --detach job --wait <in >out 2>err' "$at"
  local visitor=$!
  exec 5>in
  printf 'w = full f32[2] 7\nprint w\n' >&5
  await '^w = ' out
  kill -STOP "$visitor"
  await 'c1 is away' served
  kill -CONT "$visitor"
  printf 'v = add w 1\nprint v\n' >&5
  await '^v = ' out
  exec 5>&-
  status=0
  wait "$visitor" || status=$?
  [ "$status" = 0 ]
  printf '%s\n' 'w = tensor f32[2] 7 7' 'v = tensor f32[2] 8 8' | cmp - out
}

#!/usr/bin/env bats
# When a cluster loses a worker, each client that needs it is told what it lost, and
# no other client notices.

load helper

# serve starts a cluster of two workers in this test's directory.
serve() {
  at=ipc://$PWD/at
  mkfifo back to_route
  mkdir -p files
  spawn bash -c 'exec gt-emit -l "$0" --back back -v --files files >to_route 2>served' "$at"
  spawn bash -c 'exec gt-route --keep-going -n 2 --threads 1 --root "$PWD/files" <to_route >back 2>routed'
  await 'listens at' served
}

# kill_worker RANK kills the worker of that number.
kill_worker() {
  local pid
  pid=$(pgrep -P "$(pgrep -f -o "gt-route --keep-going.*$PWD/files")" -f -- "--name worker-$1")
  kill -KILL "$pid"
  await "worker $1 was killed" routed
}

@test "a client that needs a lost worker is told so once, and ends with status 4" {
  serve
  printf 'x@0 = ones f32[2]\nx@1 = ones f32[2]\nprint x@0\nprint x@1\n' >p.gt
  run -0 gt-emit --to "$at" p.gt
  kill_worker 0
  for i in 1 2; do
    run -4 --separate-stderr gt-emit --to "$at" p.gt
    [[ $output == 'x@0 = fail "worker 0 '*'x@1 = tensor f32[2] 1 1' ]]
    [[ $stderr == 'gt-route: p.gt:1: worker 0, which should run this line, is lost'* ]]
  done
  # A client that prints nothing is told as well.
  run -4 --separate-stderr gt-emit --to "$at" -e 'x@0 = ones f32[2]' \
    -e 'save x@0 "x.npy"'
  # A client that does not need the worker is told nothing.
  run -0 --separate-stderr gt-emit --to "$at" -e 'x@1 = ones f32[2]' -e 'print x@1'
  [ "$output" = 'x@1 = tensor f32[2] 1 1' ]
  [ -z "$stderr" ]
  run -0 --separate-stderr gt-emit --to "$at" -e 'x = ones f32[2]' -e 'print x'
  [ -z "$stderr" ]
}

@test "the lines of one client are told to no other" {
  serve
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" <in >mine 2>err; echo "status $?" >>err' "$at"
  exec 5>in
  printf 'secret@0 = full f32[1024,1024] 3\nprint secret@0 as=begun\n' >&5
  for ((i = 0; i < 50; i++)); do
    echo 'secret@0 = matmul secret@0 secret@0' >&5
  done
  await '^begun' mine
  kill_worker 0
  echo 'print secret@0' >&5
  await '^secret@0 = fail' mine
  exec 5>&-
  await 'status 4' err
  grep -q 'had lines of this program to do' err
  run -4 --separate-stderr gt-emit --to "$at" -e 'k@0 = ones f32[2]' -e 'print k@0'
  [[ $output == 'k@0 = fail "worker 0 '* ]]
  run ! grep -q secret <<<"$output$stderr"
}

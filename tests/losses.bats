#!/usr/bin/env bats
# gt-route --keep-going: the loss of a worker ends only what needs that worker.
# shellcheck disable=SC2154 # run sets stderr and output

load helper

# `before` makes a value on each of two workers and one that may be on either;
# `after` computes with them once worker 1 is lost.
before() {
  printf '%s\n' 'mesh d=2' 'x@0-1 = ones f32[4] split=d:0' 'a = ones f32[2]' \
    'print x@1'
}
after() {
  printf '%s\n' 'print x@0' 'print x@1' \
    'y@0-1 = all_gather x@0-1 over=d src=S0' 'print y@0' \
    'z@0 = add x@0 1' 'print z@0' 'b = add a 1' 'print b' \
    'save b "b.npy"' 'c = load "b.npy" f32[2]' 'print c'
}

# lose SIGNAL runs both, and worker 1 gets the signal in between; results go to
# `out`.
lose() {
  mkfifo in
  spawn gt-route --keep-going -n 2 in >out 2>err
  run_pid=$!
  exec 5>in
  before >&5
  until [ -s out ]; do sleep 0.01; done
  kill -"$1" "$(pgrep -P "$run_pid" | sed -n 2p)"
  until grep -q 'goes on' err; do sleep 0.05; done
  after >&5
  exec 5>&-
  status=0
  wait "$run_pid" || status=$?
}

says_right() {
  [ "$status" = 4 ]
  [[ $(cat err) == *'; the run goes on without it'* ]]
  [ "$(sed 's/ = fail .*/ = fail/' out)" = 'x@1 = tensor f32[2] 1 1
x@0 = tensor f32[2] 1 1
x@1 = fail
y@0 = fail
z@0 = tensor f32[2] 2 2
b = tensor f32[2] 2 2
c = tensor f32[2] 2 2' ]
}

@test "the loss of a killed worker ends what needs it, and nothing else" {
  export GT_SILENCE=1.5
  lose KILL
  says_right
  grep -q '^x@1 = fail "worker 1 was killed by signal 9 (SIGKILL)' out
}

@test "so does the loss of a stopped worker" {
  unset GT_SILENCE
  lose STOP
  says_right
  [[ $(cat err) == *'worker 1 ('*'is lost: nothing was heard of it'* ]]
}

@test "a run that has lost all its workers ends" {
  mkfifo in
  spawn gt-route --keep-going -n 2 in >out 2>err
  run_pid=$!
  exec 5>in
  before >&5
  until [ -s out ]; do sleep 0.01; done
  pkill -KILL -P "$run_pid"
  (after >&5) 2>/dev/null || true
  exec 5>&-
  status=0
  wait "$run_pid" || status=$?
  [ "$status" = 4 ]
  run ! grep -q 'b = tensor' out
}

@test "a load does not read the old file that a lost worker was to save anew" {
  printf 'x = ones f32[2]\nsave x "x.npy"\n' | gt-work
  mkfifo in
  spawn gt-route --keep-going -n 2 in >out 2>err
  run_pid=$!
  exec 5>in
  printf '%s\n' 'mesh d=2' 'x@1 = zeros f32[2]' 'print x@1' >&5
  until [ -s out ]; do sleep 0.01; done
  kill -KILL "$(pgrep -P "$run_pid" | sed -n 2p)"
  until grep -q 'goes on' err; do sleep 0.05; done
  printf '%s\n' 'save x@1 "x.npy"' 'y@0 = load "x.npy" f32[2]' 'print y@0' >&5
  exec 5>&-
  wait "$run_pid" || true
  [[ $(tail -1 out) == 'y@0 = fail '*'x.npy was not saved'* ]]
}

#!/usr/bin/env bats
# gt-emit | gt-work together: answers, ends and failures.

load helper

# Starts both as a coprocess; ask LINE... writes the lines and reads one line of
# answer.
start_pair() {
  coproc PAIR { gt-emit | gt-work; } 3>&-
  to=${PAIR[1]} from=${PAIR[0]} pair=$PAIR_PID
}

ask() {
  printf '%s\n' "$@" >&"$to"
  read -r -t 60 answer <&"$from"
}

@test "a coprocess answers a line while the pipe stays open" {
  start_pair
  ask 'x = tensor f32[2] 1 2' 'print x'
  [ "$answer" = 'x = tensor f32[2] 1 2' ]
  ask 'y = mul x x' 'l = sum y' 'g = grad l x' 'print g'
  [ "$answer" = 'g = tensor f32[2] 2 4' ]
  for i in 1 2 3 4 5 6 7 8; do # long enough for a round to be replayed
    ask 'x = add x 1' 'print x'
    [ "$answer" = "x = tensor f32[2] $((i + 1)) $((i + 2))" ]
  done
  ask 'print nobody' 2>/dev/null
  [[ $answer == 'nobody = fail "<stdin>:'*"unknown name 'nobody'"* ]]
  exec {to}>&-
  status=0
  wait "$pair" || status=$?
  [ "$status" -eq 3 ]
}

@test "a stage that is killed in mid-stream shows in the last status" {
  mkfifo in between
  exec {hold}<>in
  {
    ended=0
    gt-work <between >out 2>err || ended=$?
    echo "$ended" >ended
  } 3>&- &
  spawn bash -c 'exec gt-emit <in >between'
  emitter=$!
  printf 'x = ones f32[1]\nprint x\n' >in
  await . out # now the stages are in mid-stream
  kill -KILL "$emitter"
  await . ended
  exec {hold}>&-
  [ "$(<ended)" -eq 4 ]
  [ "$(<err)" = 'gt-work: <stdin>: stream cut short after line 3' ]
  [ "$(<out)" = 'x = tensor f32[1] 1' ]
}

@test "a reader that leaves ends gt-emit quietly" {
  printf 'x = ones f32[1]\n' >init
  printf 'x = add x 1\n' >step
  run -0 --separate-stderr bash -c \
    'gt-emit init --repeat 1000000000 step | head -n 1'
  [ "$output" = '#gt 1' ]
  [ -z "$stderr" ]
  run -0 --separate-stderr bash -c 'yes "# a" | gt-emit --no-replay | head -n 1'
  [ "$output" = '#gt 1' ]
  [ -z "$stderr" ]
}

@test "a gt-work that leaves at its first failure ends gt-emit, too" {
  run -1 --separate-stderr bash -c \
    'yes "n = tensor i64[] 0
n = mod n n" | gt-emit | gt-work --fail-fast'
  [[ $stderr == 'gt-work: <stdin>:'*': mod: integer division by zero'* ]]
}

@test "the slower stage holds the faster one back" {
  skip_if_sanitized "its memory says little"
  # A gt-work that was stopped reads nothing, so gt-emit must stop reading, too.
  mkfifo stream
  spawn bash -c 'exec sleep 1000 <stream'
  spawn bash -c 'exec gt-emit < <(yes "# $(head -c 1000 /dev/zero | tr "\0" x)") >stream'
  echo "$!" >pid
  until [[ $(<"/proc/$(<pid)/comm") == gt-emit ]]; do sleep 0.01; done
  before=-1 after=0
  while ((before != after)); do # until the position in its input stays the same
    before=$after
    sleep 0.5
    after=$(awk '/^rchar/ { print $2 }' "/proc/$(<pid)/io")
  done
  ((after > 0))
  (($(awk '/^VmHWM/ { print $2 }' "/proc/$(<pid)/status") < 64 * 1024))
}

@test "a program prints the same with its notes stripped at each stage" {
  cat >p.gt <<'PROGRAM'
w = rand f32[3,2] #signal=a
x = rand f32[4,3] # data
h = matmul x w #signal=b #mb=0
l = mean h
g = grad l w
print g
PROGRAM
  gt-emit p.gt | gt-work >one
  gt-emit p.gt | sed 's/ #.*//' | gt-work >two
  sed 's/ #.*//' p.gt | gt-emit | gt-work >three
  cmp one two
  cmp one three
}

#!/usr/bin/env bats
# Logs of runs that stand still, are slow, or are read while they go on. Nothing
# here is timed: the tests wait for a state.

load helper

# until_said PATTERN asks gt-log why of the log until a line of the answer matches,
# and keeps the answer in `said`.
until_said() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    said=$(gt-log why log 2>/dev/null) || true
    # shellcheck disable=SC2053 # a pattern
    while IFS= read -r line; do
      [[ $line == $1 ]] && return
    done <<<"$said"
    sleep 0.1
  done
  echo "not said: $1"
  echo "$said"
  return 1
}

@test "why names the worker, the line, the other worker and the time of a real stall" {
  {
    echo 'mesh tp=2'
    echo 'x@0-1 = ones f32[3000,3000]'
    echo 's@0-1 = sum x@0-1'
    echo 'y@1 = matmul x@1 x@1'
    echo 's@1 = sum y@1'
    echo 's@0-1 = all_reduce s@0-1'
    echo 'print s@0'
  } >p.gt
  gt-emit p.gt >p
  spawn gt-route -n 2 --backend ref --threads 1 --log log p
  until_said 'the run waits for worker 1 (*), which is * s at p.gt:4: y@1 = matmul x@1 x@1 (*'
  echo "$said"
  grep -qE '^worker 0 \(.*\): waits [0-9.]+ s for worker 1 \(.*\) at p.gt:6: s@0-1 = all_reduce s@0-1 \(.*from worker 1.*\)$' <<<"$said"
  grep -qE '^worker 1 \(.*\): is [0-9.]+ s at p.gt:4: y@1 = matmul x@1 x@1 \(2 more lines\)$' <<<"$said"
}

@test "a lost worker is reported at its own line, not at the first one of its message" {
  {
    echo 'x = ones f32[3000,3000]'
    for ((i = 0; i < 50; i++)); do echo "a$i = add $i 1"; done
    echo 'y = matmul x x'
    echo 's = sum y'
    echo 'print s'
  } >p.gt
  gt-emit p.gt >p
  spawn gt-route -n 1 --backend ref --threads 1 --log log p >out 2>err
  route=$!
  until_said 'worker 0 (*): is * s at p.gt:52: y = matmul x x (*'
  kill -KILL "$(cut -d ' ' -f 1 "/proc/$route/task/$route/children")"
  status=0
  wait "$route" || status=$?
  [ "$status" = 4 ]
  grep -q 'it was at p:[0-9]*: y = matmul x x #at=p.gt:52$' err
}

@test "why says for which worker gt-route waits, when that has no room for more lines" {
  {
    echo 'x = ones f32[900,900]'
    for ((i = 0; i < 200; i++)); do echo 'y = matmul x x'; done
    # These are more lines than the worker has room for and than may wait for it.
    yes 'y = add x 1 # 0123456789012345678901234567890123456789' | head -n 250000
  } >p.gt
  spawn gt-route -n 1 --backend ref --threads 1 --log log p.gt
  until_said 'gt-route: reads no more for * s, since worker 0 (*) has no room'
  grep -qE '^worker 0 \(.*\): is [0-9.]+ s at (p.gt:[0-9]+|instruction [0-9]+): y = matmul x x \([0-9]+ more lines\)$' <<<"$said"
}

@test "a slow worker: nothing is dropped, and gt-route's memory stays bounded" {
  skip_if_sanitized 'memory'
  local n=60000 hold route most
  mkfifo in
  exec {hold}<>in
  spawn bash -c "exec gt-route -n 1 --backend ref --threads 1 in >out $hold>&-"
  route=$!
  {
    echo 'x = ones f32[600,600]'
    for ((i = 0; i < 3; i++)); do echo 'y = matmul x x'; done
    echo 'n = tensor i64[] 0'
    yes "n = add n 1 #note=$(printf '%0800d' 0)" | head -n $n # 50 MB
    echo 'print n'
  } >in
  # However long the worker takes: what counts is what gt-route holds meanwhile.
  while [[ ! -s out ]] && is_spawned "$route"; do sleep 0.1; done
  [ "$(cat out)" = "n = tensor i64[] $n" ]
  most=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$route/status")
  echo "at most $most KiB"
  exec {hold}>&-
  wait "$route"
  ((most < 32 << 10))
}

@test "a log whose disk stalls loses no worker, and is whole in the end" {
  { echo 'x = ones f32[2]'; yes 'x = add x 1' | head -n 2000; echo 'print x'; } >p.gt
  full log
  spawn gt-route -n 2 --log log p.gt >out 2>err
  route=$!
  await 'x = tensor f32\[2\] 2001 2001' out
  cat <&7 >got &
  reader=$!
  wait "$route"
  await 'end.*status=0' got
  kill "$reader"
  [ "$(grep -c 'issue.*x = add x 1' got)" = 2000 ]
  [ ! -s err ]
}

@test "a program that others wait for goes on where its messages are not taken" {
  { echo 'z = zeros i64[1]'; yes 'y = floordiv z z' | head -n 300; echo 'x = ones f32[2]'; echo 'print x'; } >p.gt
  full said
  spawn gt-route -n 2 p.gt >out 2>said
  route=$!
  await 'x = tensor f32\[2\] 1 1' out
  cat <&7 >got &
  reader=$!
  status=0
  wait "$route" || status=$?
  [ "$status" = 1 ]
  await 'integer division by zero' got
  kill "$reader"
}

#!/usr/bin/env bats
# Who may take part in a run and who is refused: endpoints, users, keys, and files.

# shellcheck disable=SC2030,SC2031 # each test is a shell of its own

load helper

# These words begin a command of another user, who owns nothing.
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)

need_nobody() {
  [[ $EUID == 0 ]] || skip "a process of another user needs root"
  command -v setpriv >/dev/null || skip "there is no setpriv"
  "${as_nobody[@]}" gt-work --version >/dev/null 2>&1 ||
    skip "another user cannot run the programs where they are"
}

# route OPTION... starts gt-route at a free tcp port of this host, $at.
route() {
  spawn gt-route --bind tcp://127.0.0.1:0 "$@" >out 2>err
  route=$!
  await 'tcp://127.0.0.1:[0-9]' err
  at=$(grep -o 'tcp://127.0.0.1:[0-9]*' err | head -n 1)
}

@test "an endpoint that others could reach is refused in every form" {
  local endpoint
  for endpoint in 'tcp://*:0' tcp://0.0.0.0:0 'tcp://[::]:0' tcp://10.0.0.1:0 \
    'tcp://[::ffff:10.0.0.1]:0' ws://0.0.0.0:0 ws://127.0.0.1:0 'tipc://<*>' \
    udp://127.0.0.1:1 inproc://x TCP://127.0.0.1:0 tcp://localhost.invalid:0 \
    'tcp://127.0.0.1;10.0.0.1:0' tcp://127.0.0.1 tcp:// ipc:// ''; do
    echo "$endpoint"
    run -2 --separate-stderr within 20 gt-route --bind "$endpoint" --workers 1 \
      </dev/null
    [[ $stderr == "gt-route: --bind"* ]]
    [ -z "$output" ]
    run -2 --separate-stderr within 20 gt-work --connect "$endpoint" </dev/null
    [[ $stderr == "gt-work: --connect"* ]]
  done
  # --insecure does not allow a transport that gt does not know, either.
  run -2 gt-route --bind ws://127.0.0.1:0 --workers 1 --insecure </dev/null
  [[ $output == *'gt takes no such transport; expected tcp://HOST:PORT, ipc://PATH or ipc://@NAME'* ]]
}

@test "the message about an endpoint without a transport offers one" {
  run -2 gt-work --connect 127.0.0.1:5799
  [ "$output" = 'gt-work: --connect 127.0.0.1:5799: it has no transport; did you mean tcp://127.0.0.1:5799?; try gt-work --help' ]
  run -2 gt-route --bind 0.0.0.0:5799 --workers 1 </dev/null
  [ "$output" = 'gt-route: --bind 0.0.0.0:5799: it has no transport; did you mean tcp://0.0.0.0:5799?; try gt-route --help' ]
  run -2 gt-route --bind /tmp/gt --workers 1 </dev/null
  [[ $output == *'did you mean ipc:///tmp/gt?'* ]]
}

@test "without keys a worker connects to no gt-route of another host" {
  run -2 gt-work --connect tcp://10.0.0.1:5560
  [ "$output" = 'gt-work: --connect tcp://10.0.0.1:5560: without keys anyone on the way there could be gt-route; give --key and --route-key, or say --insecure; try gt-work --help' ]
  gt-key >w.key && chmod 600 w.key
  run -2 gt-work --connect tcp://10.0.0.1:5560 --insecure --key w.key \
    --route-key "$(gt-key --public w.key)"
  [ "$output" = 'gt-work: --insecure is for a gt-work without --key; try gt-work --help' ]
}

@test "a worker of another user gets nothing, and the run goes on with ours" {
  need_nobody
  printf 'x = tensor f32[2] 1 2\nprint x\n' >p
  chmod 600 p
  route --workers 1 p
  # The worker first asks whose gt-route it is ...
  run -4 --separate-stderr "${as_nobody[@]}" gt-work --connect "$at" --timeout 20
  [ "$stderr" = "gt-work: what listens at $at is not taken for gt-route: it belongs to user 0, and this is user 65534; without keys only processes of one user work together (--key and --route-key, or --insecure, admit others)" ]
  # ... and if the worker does not ask, gt-route asks whose worker it is.
  run -4 --separate-stderr "${as_nobody[@]}" gt-work --connect "$at" --timeout 20 --insecure
  [ "$stderr" = 'gt-work: a worker is not taken: it belongs to user 65534, and this is user 0; without keys only the workers of one user may attach (--key and --allow, or --insecure, admit others)' ]
  await 'gt-route: a worker is not taken: it belongs to user 65534' err
  spawn gt-work --connect "$at" --threads 1
  wait "$route"
  [ "$(<out)" = 'x = tensor f32[2] 1 2' ]
}

@test "our worker does nothing for another user's gt-route" {
  need_nobody
  local at
  printf 'x = tensor f32[2] 1 2\nprint x\n' >p
  for at in ipc://@gt-trust-$$ "tcp://127.0.0.1:$(free_port)"; do
    spawn "${as_nobody[@]}" gt-route --bind "$at" --workers 1 --insecure \
      --timeout 40 <p 2>err >out
    await 'waits for 1 worker' err
    run -4 --separate-stderr gt-work --connect "$at" --timeout 20
    [ "$stderr" = "gt-work: what listens at $at is not taken for gt-route: it belongs to user 65534, and this is user 0; without keys only processes of one user work together (--key and --route-key, or --insecure, admit others)" ]
    run -1 grep 'of 1 worker is here' err
  done
}

@test "--insecure on both sides lets another user's worker attach" {
  need_nobody
  printf '%s\n' 'mesh tp=2' 'x@0-1 = ones f32[4,4] split=tp:0' \
    'y@0-1 = sum x@0-1' 'z@0-1 = all_reduce y@0-1' 'print z@0' >p
  route --workers 2 --insecure p
  spawn "${as_nobody[@]}" gt-work --connect "$at" --threads 1 --insecure
  spawn gt-work --connect "$at" --threads 1 --insecure
  wait "$route"
  [ "$(<out)" = 'z@0 = tensor f32[] 16' ]
}

@test "workers of one host without names each get a name of their own" {
  printf '%s\n' 'mesh tp=2' 'x@0-1 = ones f32[4,4] split=tp:0' \
    'y@0-1 = sum x@0-1' 'z@0-1 = all_reduce y@0-1' 'print z@0' >p
  route --workers 2 -v p
  spawn gt-work --connect "$at" --threads 1
  spawn gt-work --connect "$at" --threads 1
  wait "$route"
  [ "$(<out)" = 'z@0 = tensor f32[] 16' ]
  [ "$(grep -o 'worker [01] ([^ ]*' err | sort -u | wc -l)" -eq 2 ]
}

@test "a worker whose gt-route gave up is told that, and not that there was none" {
  printf 'x = tensor f32[2] 1 2\nprint x\n' >p
  route --workers 2 --timeout 2 p
  run -4 --separate-stderr gt-work --connect "$at" --timeout 4 --name one
  # The last message of gt-route can be lost when it closes, so the worker says
  # this.
  [[ $stderr == "gt-work: gt-route at $at ended before it had all its workers, and no other came within 4.0 s"* ]]
}

@test "a key that is taken out of the list is no longer admitted" {
  umask 077
  local name at
  for name in route a b; do
    gt-key >"$name.key"
    gt-key --public "$name.key" >"$name.pub"
  done
  cat a.pub b.pub >allowed
  printf 'x = tensor f32[2] 1 2\nprint x\n' >p
  route --workers 1 --key route.key --allow allowed p
  # Worker b attached once, so gt-route knows its key; now the key is out of the
  # list.
  cp a.pub allowed
  run -4 --separate-stderr gt-work --connect "$at" --key b.key \
    --route-key route.pub --timeout 20
  [[ $stderr == *"does not admit this worker's key, $(<b.pub)"* ]]
  # A list that cannot be read admits no worker.
  rm allowed
  run -4 --separate-stderr gt-work --connect "$at" --key a.key \
    --route-key route.pub --timeout 20
  [[ $stderr == *"does not admit this worker's key, $(<a.pub)"* ]]
  cp a.pub allowed
  spawn gt-work --connect "$at" --key a.key --route-key route.pub --threads 1
  wait "$route"
  [ "$(<out)" = 'x = tensor f32[2] 1 2' ]
}

# answer_of FILE prints what a worker with --root in says of that file, with PATH
# for it.
answer_of() {
  local out
  out=$(printf 'x = load "%s" f32[2]\nprint x\n' "$1" |
    gt-work --root in 2>/dev/null) || true
  printf '%s\n' "${out//"$1"/PATH}"
  out=$(printf 'x = ones f32[2]\nsave x "%s"\n' "$1" | gt-work --root in 2>&1) || true
  printf '%s\n' "${out//"$1"/PATH}" | sed -n 's/.*PATH/PATH/p' | head -n 1
}

@test "a file outside --root gets one message, whether it exists or not" {
  mkdir -p in/sub out/sub
  touch in/a out/secret out/sub/secret
  ln -s ../out in/link
  ln -s ../out/secret in/there
  ln -s ../out/none in/gone
  local path expected
  expected=$(answer_of "$PWD/out/none")
  [[ $expected == *'PATH: outside the directories that --root allows'* ]]
  for path in "$PWD"/out/{secret,none,sub,sub/secret,sub/none,none/none} \
    "$PWD"/out/secret/x out/secret out/none in/../out/{secret,none} \
    in/link/{secret,none,sub,sub/none,none/none,secret/x} in/there in/gone \
    /root/none/x /etc/passwd /etc/none; do
    echo "$path"
    [ "$(answer_of "$path")" = "$expected" ]
  done
  # Inside --root the message says what is wrong.
  [[ $(answer_of in/none) == *'PATH: No such file or directory'* ]]
  [[ $(answer_of in/nowhere/x) == *'No such file or directory'* ]]
  [[ $(answer_of in/a/x) == *'Not a directory'* ]]
}

@test "a number is decimal digits within bounds, in every option that takes one" {
  local program option bad
  while read -r program option; do
    for bad in nan -inf 1e400 0x10 1x ''; do
      [[ $option != --seed || $bad != 1e400 ]] || continue
      echo "$program $option '$bad'"
      # shellcheck disable=SC2086 # the program has options
      run -2 --separate-stderr within 20 $program $option "$bad" </dev/null
      [[ $stderr == "${program%% *}: -"* ]]
    done
  done <<'EOF'
gt-emit --seed
gt-emit --history
gt-shard -n
gt-route -n
gt-route --threads
gt-route --timeout
gt-route --silence
gt-route --memory
gt-route --bind ipc://@gt-none --workers
gt-work --threads
gt-work --memory
gt-work --connect ipc://@gt-none --timeout
gt-work --connect ipc://@gt-none --silence
gt-work --connect ipc://@gt-none --rank
gt-log --timeline svg --from
gt-log --timeline svg --to
gt-log why /dev/null --now
EOF
  for bad in nan 0x10 1x 1e400; do
    GT_SILENCE=$bad run -2 gt-route </dev/null
    GT_SILENCE=$bad run -2 gt-work --connect ipc://@gt-none
    run -2 gt-emit --repeat "$bad" /dev/null
    run -2 gt-cmp --rtol "$bad" /dev/null /dev/null
  done
}

@test "a file that is no socket, and a socket in use, are left alone" {
  echo precious >kept.txt
  ln -s kept.txt link.txt
  for name in kept.txt link.txt; do
    run -2 gt-route --bind "ipc://$PWD/$name" --workers 1
    [[ $output == *'a file stands there that is no socket' ]]
  done
  [ "$(<link.txt)" = precious ]
  printf 'x = ones f32[]\nprint x\n' >p.gt
  spawn gt-route --bind "ipc://$PWD/s" --workers 1 p.gt >out 2>err
  local first=$!
  until [[ -S s ]]; do sleep 0.05; done
  run -2 gt-route --bind "ipc://$PWD/s" --workers 1 p.gt
  [[ $output == *'Address already in use' ]]
  gt-work --connect "ipc://$PWD/s"
  wait "$first"
  [ "$(<out)" = 'x = tensor f32[] 1' ]
  [ ! -e s ]
  # The socket of a killed gt-route is replaced.
  spawn gt-route --bind "ipc://$PWD/s" --workers 1 p.gt
  until [[ -S s ]]; do sleep 0.05; done
  kill -9 "$!"
  spawn gt-route --bind "ipc://$PWD/s" --workers 1 p.gt >out
  local second=$!
  gt-work --connect "ipc://$PWD/s"
  wait "$second"
  [ "$(<out)" = 'x = tensor f32[] 1' ]
}

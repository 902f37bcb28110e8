#!/usr/bin/env bats
# gt-cluster when something goes wrong: it is killed or interrupted, its programs
# end, the disk is full, other users are in the way, and the user makes mistakes.

load helper
load cluster

setup() {
  setup_cluster
}

teardown() {
  teardown_cluster
}

@test "down takes down what a killed up has left" {
  # This gt-route never has a worker, so up waits until it is killed.
  with_fake gt-route <<'SH'
#!/bin/sh
exec sleep 60
SH
  for file in lock token back emit.log; do
    gt-cluster up -n 1 3>&- &
    up=$!
    until_there "$state/$file"
    kill -KILL "$up"
    wait "$up" || true
    token=$(cat "$state/token" 2>/dev/null || echo none)
    run -0 gt-cluster down
    nothing_left "$token"
  done
  # The next up takes it down by itself.
  gt-cluster up -n 1 3>&- &
  up=$!
  await 'listens at' "$state/emit.log"
  token=$(<"$state/token")
  kill -KILL "$up"
  wait "$up" || true
  [ -n "$(processes "$token")" ]
  rm fake/gt-route
  ln -s "$GT_BIN/gt-route" fake/
  run -0 gt-cluster up -n 1
  [[ $output == *'clears away what an earlier one has left'* ]]
  [ -z "$(processes "$token")" ]
  run -0 gt-cluster run p.gt
}

@test "an up that is interrupted takes everything down" {
  with_fake gt-route <<'SH'
#!/bin/sh
exec sleep 60
SH
  for signal in TERM HUP; do
    env --default-signal=TERM,HUP gt-cluster up -n 1 2>err 3>&- &
    up=$!
    await 'listens at' "$state/emit.log"
    token=$(<"$state/token")
    kill -s "$signal" "$up"
    ends_with 130 "$up"
    nothing_left "$token"
    grep -q 'is not up; what was started has been taken down' err
  done
}

@test "a run waits for an up that is still at work" {
  with_fake gt-route <<'SH'
#!/bin/sh
until [ -e go ]; do sleep 0.05; done
exec "$GT_BIN/gt-route" "$@"
SH
  gt-cluster up -n 1 3>&- &
  up=$!
  await 'listens at' "$state/emit.log"
  gt-cluster run p.gt >out 2>err 3>&- &
  running=$!
  await 'waits for another gt-cluster' err
  touch go
  wait "$up"
  wait "$running"
  [ "$(<out)" = 'x = tensor f32[2] 1 1' ]
}

@test "a cluster that has ended says so, and makes way for the next" {
  gt-cluster up -n 1
  kill_program gt-route
  until_there "$state/ended"
  run -1 gt-cluster status
  [[ $output == *$'\ngt-emit\t'*$'\tended\twith status 4: gt-emit: '* ]]
  [[ $output == *$'\ngt-route\t'*$'\tkilled\twas killed by signal 9 (SIGKILL)\n'* ]]
  [[ $output == *$'\nworker 0\t'*$'\tended\tgt-route has ended'* ]]
  run -4 gt-cluster run p.gt
  [[ $output == *'has ended, see gt-cluster status; gt-cluster down'* ]]
  run -0 gt-cluster up -n 1
  run -0 gt-cluster status
}

@test "gt-emit and gt-shard that are killed are reported as killed" {
  printf 'layer:\n  shard: {axis: 0, workers: null}\n' >all.yaml
  for program in gt-emit gt-shard; do
    gt-cluster up -n 1 -c all.yaml
    kill_program "$program"
    until_there "$state/ended"
    run -1 gt-cluster status
    [[ $output == *$'\n'"$program	$HOSTNAME	killed	was killed by signal 9 (SIGKILL)"$'\n'* ]]
    [[ $output == *$'\ngt-route\t'*$'\tended\twith status 4: gt-route: '* ]]
    gt-cluster down
  done
}

@test "a worker of a host that is killed is reported as killed" {
  fake_ssh
  printf 'a slots=2\nb\n' >list
  gt-cluster up --hosts list --threads 1
  pid=$(sed -n 's/.*worker 1 (.*, pid \([0-9]*\)) is here/\1/p' "$state/route.log")
  kill -KILL "$pid"
  await 'worker 1 .* is lost' "$state/route.log"
  run -1 gt-cluster status
  [[ $output == *$'\nworker 0\ta\there\t-\nworker 1\ta\tended\tits process has ended and said nothing, as one that was killed; its connection ended;'*$'\nworker 2\tb\there\t-' ]]
}

@test "a cluster of which nothing runs any more is reported as ended" {
  gt-cluster up -n 1
  # After a restart of the machine nothing tells how the programs ended.
  # shellcheck disable=SC2046 # numbers
  kill -KILL $(processes | cut -d / -f 3)
  local end=$((SECONDS + 60))
  while [ -n "$(processes)" ]; do ((SECONDS < end)); done
  [ ! -e "$state/ended" ]
  run -1 gt-cluster status
  lines_are "part	where	state	lacks
gt-emit	$HOSTNAME	ended	nothing tells how, as when the machine was restarted
gt-route	$HOSTNAME	ended	nothing tells how, as when the machine was restarted
worker 0	$HOSTNAME	ended	gt-route has ended"
}

@test "output that cannot be written is status 2, and leaves no cluster that nobody knows of" {
  for to in /dev/full '&-'; do
    run -2 --separate-stderr bash -c "gt-cluster up -n 1 >$to"
    [ "$stderr" = 'gt-cluster: cannot write standard output
gt-cluster: default: is not up; what was started has been taken down' ]
    [ ! -e "$GT_CLUSTER_DIR" ]
    run -2 bash -c "gt-cluster --help >$to"
    run -2 bash -c "gt-cluster up --help >$to"
    run -2 bash -c "gt-cluster --version >$to"
    run -2 bash -c "gt-cluster up -n 1 --dry-run >$to"
    # Where messages cannot be written, the status still tells the result.
    run -0 bash -c "gt-cluster down 2>$to"
    run -4 bash -c "gt-cluster status 2>$to"
    run -2 bash -c "gt-cluster nonsense 2>$to"
    run -2 bash -c "gt-cluster up -n 1 >/dev/full 2>$to"
    [ ! -e "$GT_CLUSTER_DIR" ]
    gt-cluster up -n 1
    for command in up status logs 'logs -f' 'down --dry-run' 'run p.gt'; do
      run -2 bash -c "gt-cluster $command >$to"
    done
    run -0 gt-cluster run p.gt
    run -0 bash -c "gt-cluster down >$to 2>$to <&-"
  done
  # No cluster is left either if its endpoint was written to a pipe without a
  # reader.
  mkfifo gone
  gt-cluster up -n 1 >gone 2>err 3>&- &
  : <gone
  ends_with 2 $!
  [ ! -e "$GT_CLUSTER_DIR" ]
  gt-cluster up -n 1
  run -0 bash -c 'gt-cluster logs | head -n 1'
  [[ $output == 'gt-emit: listens at '* && $output != *cannot* ]]
}

@test "status reports a worker that is lost, and the rest goes on" {
  gt-cluster up -n 2
  pid=$(sed -n 's/.*worker 1 (.*, pid \([0-9]*\)) is here/\1/p' "$state/route.log")
  kill -KILL "$pid"
  await 'worker 1 was killed' "$state/route.log"
  run -1 gt-cluster status
  [[ $output == *$'\nworker 0\t'*$'\there\t-'* ]]
  [[ $output == *$'\nworker 1\t'*$'\tkilled\twas killed by signal 9 '* ]]
  run -0 gt-cluster run p.gt
}

@test "an up that cannot listen says so at once, and leaves nothing" {
  gt-cluster up -n 1 --listen "ipc://$PWD/socket"
  run -4 gt-cluster up -n 1 --name other --listen "ipc://$PWD/socket"
  [[ $output == *"gt-emit: "*"$PWD/socket"*"gt-cluster: other: is not up"* ]]
  [ ! -e "$GT_CLUSTER_DIR/other" ]
  run -0 gt-cluster run p.gt
  gt-cluster down
  [ ! -e socket ]
}

@test "another user neither reads the keys, nor joins, nor takes the place" {
  ((EUID == 0)) || skip "only root can be another user"
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
  "${as_nobody[@]}" gt-work --version >/dev/null 2>&1 ||
    skip "nobody cannot read the programs"
  clusters_in /tmp/gt-cluster-$$
  at=$(gt-cluster up -n 1 --listen "ipc://@gt-bats-$$")
  run ! "${as_nobody[@]}" ls "$state"
  run -4 "${as_nobody[@]}" gt-emit --to "$at" -e 'x = ones f32[2]' -e 'print x'
  run ! "${as_nobody[@]}" env HOME=/ gt-cluster status
  run "${as_nobody[@]}" env HOME=/ gt-cluster down
  run -0 gt-cluster run p.gt
  gt-cluster down
  # A directory that belongs to another user is not used.
  "${as_nobody[@]}" mkdir "$GT_CLUSTER_DIR" "$state"
  run -2 gt-cluster up -n 1
  [[ $output == *"$state: belongs to somebody else"* ]]
  rm -r "$GT_CLUSTER_DIR"
}

@test "a directory of others, though it has a lock, is no cluster's" {
  mkdir -p "$state"
  : >"$state/lock"
  is_left_to_others
  # Nor is what another user has put there the rest of a run.
  mkdir "$GT_CLUSTER_DIR/run-77777"
  uname -n >"$GT_CLUSTER_DIR/run-77777/machine"
  if ((EUID == 0)); then chown 65534 "$GT_CLUSTER_DIR/run-77777"; fi
  run -0 gt-cluster up -n 1
  run -0 gt-cluster down
  [ -s "$GT_CLUSTER_DIR/run-77777/machine" ]
  rm -r "$GT_CLUSTER_DIR/run-77777"
}

@test "where no lock can be made, up and down say so" {
  mkdir small
  mount -t tmpfs -o size=64k,nr_inodes=4 tmpfs small 2>/dev/null ||
    skip "no file system can be mounted here"
  clusters_in "$PWD/small/clusters"
  status=0
  within 60 gt-cluster up -n 1 2>err || status=$?
  left=$(ls -A small)
  umount small
  cat err
  [ "$status" = 2 ]
  grep -q '/lock: cannot be made: No space left on device$' err
  [ -z "$left" ]
}

@test "programs whose cluster's directory was removed end" {
  gt-cluster up -n 1
  token=$(<"$state/token")
  [ -n "$(processes "$token")" ]
  rm -r "$GT_CLUSTER_DIR"
  local end=$((SECONDS + 60))
  while [[ -n $(processes "$token") ]]; do
    ((SECONDS < end)) || { processes "$token" && return 1; }
    sleep 0.1
  done
  run -0 gt-cluster down
}

@test "a run that is killed leaves nothing" {
  mkfifo program
  exec 5<>program
  spawn gt-cluster run -n 2 --backend ref <program
  local run=$! pids pid end=$((SECONDS + 60))
  printf 'x = ones f32[2]\nprint x\n' >&5
  # gt-emit, gt-route and its two workers.
  until pids=$(pgrep -x 'gt-emit|gt-route|gt-work' | while read -r pid; do
    [[ $(readlink "/proc/$pid/cwd") != "$PWD" ]] || echo "$pid"
  done) && (($(wc -w <<<"$pids") == 4)); do
    ((SECONDS < end))
    sleep 0.1
  done
  kill -KILL "$run"
  for pid in $pids; do
    while [[ $(readlink "/proc/$pid/cwd") == "$PWD" ]]; do
      ((SECONDS < end))
      sleep 0.1
    done
  done
  exec 5>&-
}

@test "a host whose shell ends without a word is named at once" {
  fake_ssh
  cat >bin/ssh <<'SH'
#!/bin/bash
exit 0
SH
  printf 'a\nb\n' >list
  run -4 within 60 gt-cluster up --hosts list --timeout 1000
  [[ $output == *'gt-cluster: a: its shell ended with status 0 before it was told to; '* ]]
  [[ $output == *'is not up; what was started has been taken down'* ]]
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "a full disk is reported, and nothing is left" {
  mkdir small
  mount -t tmpfs -o size=8k,nr_inodes=9 tmpfs small 2>/dev/null ||
    skip "no file system can be mounted here"
  clusters_in "$PWD/small/clusters"
  run -2 gt-cluster up -n 1
  left=$(ls -A small)
  umount small
  [[ $output == *'No space left on device'* ]]
  [ -z "$left" ]
}

@test "a cluster of another machine is left alone" {
  gt-cluster up -n 1
  cp "$state/lock" .
  gt-cluster down
  mkdir -p "$state"
  cp lock "$state"
  echo abc >"$state/token"
  echo elsewhere >"$state/machine"
  for command in up status down 'run p.gt'; do
    # shellcheck disable=SC2086
    run -2 gt-cluster $command
    [[ $output == *'was started on elsewhere'* ]]
  done
  rm -r "$state"
}

@test "messages about the hosts file name the file and the line" {
  refused() { # TEXT MESSAGE
    printf '%b' "$1" >hosts
    run -2 --separate-stderr gt-cluster up --hosts hosts
    [[ $stderr == "gt-cluster: $PWD/hosts$2"* ]] || { echo "$stderr"; return 1; }
    [ ! -e "$GT_CLUSTER_DIR" ]
  }
  refused '# none\n\n' ': names no host'
  refused 'a\n-oProxyCommand=x\n' ":2: '-oProxyCommand=x' is no host"
  refused 'a:b\n' ":1: 'a:b' is no host; expected [user@]host[:port]"
  refused 'a\nb slots=0\n' ':2: slots=0: expected a number'
  refused 'a gpus=2 slots=2' ':1: slots= and gpus= say the same twice'
  refused 'a cores=2 # many\n' ":1: 'cores=2' is not known; expected slots=N or gpus=N"
  refused 'a\nb\na\n' ':3: a is there already'
  run -2 gt-cluster up --hosts nowhere
  [[ $output == *'--hosts: nowhere: No such file'* ]]
  echo a >hosts
  run -2 gt-cluster up --hosts hosts -n 2
  [[ $output == *'--hosts says how many workers there are'* ]]
}

@test "wrong arguments are refused with status 2" {
  run -2 gt-cluster
  run -2 gt-cluster begin
  run -2 gt-cluster up there
  run -2 gt-cluster up --forget
  run -2 gt-cluster down -n 2
  run -2 gt-cluster logs one two
  run -2 gt-cluster up -n 0
  [[ $output == *"-n: '0' is no number from 1 to 65536"* ]]
  run -2 gt-cluster up -n
  [[ $output == *'-n needs a value'* ]]
  run -2 gt-cluster up --name ../x
  run -2 gt-cluster up --name run-5
  [[ $output == *"'run-5' is a name that runs give to what they start; take another" ]]
  run -2 gt-cluster up --allow p.gt
  run -2 gt-cluster up --slurm
  [[ $output == *'this is no Slurm job'* ]]
  run -2 gt-cluster up -c none.yaml
  [ ! -e "$GT_CLUSTER_DIR" ]
  run -0 gt-cluster --help
  [[ $output == usage:* ]]
  run -0 gt-cluster up --help
  run -0 gt-cluster --version
  [[ $output == 'gt-cluster 0.'* ]]
}

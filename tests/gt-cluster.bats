#!/usr/bin/env bats
# gt-cluster on this machine: a cluster is started, used, looked at and taken down.
# tests/gt-cluster-ssh.bats has hosts over ssh, tests/quick/cluster-hosts.sh bad
# links, and tests/full/slurm.sh Slurm.

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  export GT_CLUSTER_DIR="$PWD/the clusters"
  unset SLURM_JOB_ID
  state=$GT_CLUSTER_DIR/default
  cat >p.gt <<'GT'
x = ones f32[2]
print x
GT
}

# Whatever a test has left goes.
teardown() {
  local name
  for name in "$GT_CLUSTER_DIR"/*; do
    [[ ! -d $name ]] || gt-cluster down --name "${name##*/}" --forget
  done
  end_spawned
}

# processes [TOKEN]: those of clusters of this test.
processes() {
  local token
  for token in "${@:-$(cat "$GT_CLUSTER_DIR"/*/token 2>/dev/null)}"; do
    grep -lzsxF "GT_CLUSTER=$token" /proc/[0-9]*/environ || true
  done
}

# nothing_left TOKEN: no process, FIFO, key or other file.
nothing_left() {
  [ -n "$1" ]
  [ -z "$(processes "$1")" ]
  [ ! -e "$GT_CLUSTER_DIR" ]
}

# ends_with STATUS PID: of a child of the test.
ends_with() {
  local status=0
  wait "$2" || status=$?
  [ "$status" -eq "$1" ]
}

# until_there FILE
until_there() {
  local end=$((SECONDS + 60))
  until [[ -e $1 ]]; do
    ((SECONDS < end)) || { echo "$1 has not come"; return 1; }
    sleep 0.01
  done
}

# with_fake PROGRAM: a folder fake with all programs, but that one is standard input.
with_fake() {
  local program
  mkdir -p fake
  for program in "$GT_BIN"/gt-*; do ln -sf "$program" fake/; done
  rm "fake/$1"
  cat >"fake/$1"
  chmod +x "fake/$1"
  PATH=$PWD/fake:$PATH
}

@test "a cluster comes up, runs programs, and goes without a trace" {
  run -0 --separate-stderr gt-cluster up -n 2
  [[ $output == ipc://@* ]]
  endpoint=$output token=$(<"$state/token")
  [ "$(stat -c %a "$GT_CLUSTER_DIR" "$state" | sort -u)" = 700 ]
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  [ "$(gt-emit --to "$endpoint" p.gt)" = 'x = tensor f32[2] 1 1' ]
  run -0 gt-cluster status
  lines_are "part	where	state	lacks
gt-emit	$HOSTNAME	runs	-
gt-route	$HOSTNAME	runs	-
worker 0	$HOSTNAME	here	-
worker 1	$HOSTNAME	here	-"
  run -0 gt-cluster logs
  [[ $output == *'gt-emit: listens at'* && $output == *'worker 1 '*' is here'* ]]
  # The workers are told which they are, as each may have a GPU.
  run -0 sh -c 'cat "$@" | tr "\0" "\n" | grep ^LOCAL_RANK= | sort' - $(processes)
  lines_are $'LOCAL_RANK=0\nLOCAL_RANK=1'
  run -0 --separate-stderr gt-cluster down
  [ -z "$output$stderr" ]
  nothing_left "$token"
  run -0 gt-cluster down
  lines_are 'gt-cluster: default: is not up'
  run -4 gt-cluster status
  run -4 gt-cluster logs
}

@test "a second up finds the first, and refuses another size" {
  first=$(gt-cluster up -n 1 --threads 1)
  for options in '-n 1 --threads 1' ''; do
    # shellcheck disable=SC2086
    run -0 --separate-stderr gt-cluster up $options
    [ "$output" = "$first" ]
    [ "$stderr" = 'gt-cluster: default: is up' ]
  done
  run -2 --separate-stderr gt-cluster up -n 2
  [[ $stderr == *"'-n 1 --threads 1' and not '-n 2': gt-cluster down"* ]]
  run -0 gt-cluster up -n 1 --name other
  [ "$output" != "$first" ]
  run -0 gt-cluster down
  run -0 gt-cluster status --name other
}

@test "two who start one cluster at the same time have the same one" {
  gt-cluster up -n 1 >one 3>&- &
  gt-cluster up -n 1 >two 3>&-
  wait $!
  [ -s one ]
  cmp one two
}

@test "run without a cluster is as gt-emit, gt-shard and gt-route" {
  make_pair
  gt-emit pair.gt | gt-work --threads 1 >whole
  gt-cluster run pair.gt --threads 1 | gt-cmp --exact whole -
  gt-cluster run pair.gt -c tp2.yaml >placed
  gt-cmp whole placed
  GT_CONFIG=tp2.yaml gt-cluster run -n 2 <pair.gt | gt-cmp --exact placed -
  run -0 gt-cluster run -e 'x = ones f32[2]' --repeat 2 p.gt
  lines_are $'x = tensor f32[2] 1 1\nx = tensor f32[2] 1 1'
  run -3 gt-cluster run -e 'x = nothing'
  run -1 gt-cluster run -e 'n = tensor i64[] 0' -e 'q = floordiv 7 n' -e 'print q'
  run -2 gt-cluster run none.gt
  [[ $output == *'none.gt: No such file'* ]]
  run -2 gt-cluster run p.gt --no-such-option
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "a config without a number of ranks takes as many as there are workers" {
  printf 'layer:\n  shard: {axis: 0, workers: null}\n' >all.yaml
  printf '%s\n' 'x = ones f32[4,4] #signal=layer' 'y = matmul x x #signal=layer' \
    'print y' >q.gt
  gt-emit q.gt | gt-work >whole
  gt-cluster run q.gt -c all.yaml -n 2 | gt-cmp whole -
  run -0 gt-cluster run q.gt -c all.yaml -n 2 --dry-run
  [[ $output == *' -n 2 | '*'gt-route -n 2' ]]
  run -0 gt-cluster run q.gt -c "$GT_ROOT/configs/mixed.yaml" --dry-run
  [[ $output == *'gt-route -n 4' ]]
}

@test "a program is sharded for itself, or by the cluster for all" {
  make_pair
  gt-emit pair.gt | gt-work >whole
  gt-cluster up -n 2
  gt-cluster run pair.gt -c tp2.yaml | gt-cmp whole -
  gt-cluster down
  gt-cluster up -n 2 -c tp2.yaml
  gt-cluster run pair.gt 2>talk | gt-cmp whole -
  run -0 gt-cluster status
  [[ $output == *$'\ngt-shard\t'*$'\truns\t-\n'* ]]
}

@test "the status of run is the program's on a cluster, too" {
  gt-cluster up -n 1
  run -3 gt-cluster run -e 'x = nothing'
  run -1 gt-cluster run -e 'n = tensor i64[] 0' -e 'q = floordiv 7 n' -e 'print q'
  run -2 gt-cluster run none.gt
  # Who has that variable set means the cluster, but not for the first stage.
  GT_CONNECT=ipc://@nobody run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
}

# waits_for_more OPTION...: a run that has given its first result and reads on. A
# shell has what it starts in the background ignore SIGINT, unless told otherwise.
waits_for_more() {
  mkfifo more
  env --default-signal=INT gt-cluster run "$@" - <more >out 2>err 3>&- &
  running=$!
  spawn sh -c 'cat p.gt && exec sleep 60' >more
  await '^x = ' out
}

@test "SIGINT ends a run, and its workers" {
  waits_for_more -n 2
  read -ra children <"/proc/$running/task/$running/children" || true
  [ "${#children[@]}" -eq 2 ]
  kill -INT "$running"
  ends_with 130 "$running"
  for child in "${children[@]}"; do run ! kill -0 "$child"; done
}

@test "SIGINT ends a run on a cluster, and not the cluster" {
  gt-cluster up -n 1
  waits_for_more
  kill -INT "$running"
  ends_with 130 "$running"
  run -0 gt-cluster status
}

@test "what a killed up has left is taken down" {
  # Not this program's, and so nobody takes it down: it never has a worker.
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
  # The next up does the same by itself.
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

@test "an up that is interrupted takes all down" {
  with_fake gt-route <<'SH'
#!/bin/sh
exec sleep 60
SH
  for signal in TERM HUP; do
    gt-cluster up -n 1 2>err 3>&- &
    up=$!
    await 'listens at' "$state/emit.log"
    token=$(<"$state/token")
    kill -s "$signal" "$up"
    ends_with 130 "$up"
    nothing_left "$token"
    grep -q 'is not up; what was started has been taken down' err
  done
}

@test "a run waits for the up that is at work" {
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
  for pid in $(processes | cut -d / -f 3); do
    [[ $(<"/proc/$pid/comm") != gt-route ]] || kill -KILL "$pid"
  done
  until_there "$state/ended"
  run -1 gt-cluster status
  [[ $output == *$'\ngt-route\t'*$'\tended\t'* ]]
  [[ $output == *$'\nworker 0\t'*$'\tended\tgt-route has ended'* ]]
  run -4 gt-cluster run p.gt
  [[ $output == *'has ended, see gt-cluster status; gt-cluster down'* ]]
  run -0 gt-cluster up -n 1
  run -0 gt-cluster status
}

@test "a worker that is lost is told by status, and the rest goes on" {
  gt-cluster up -n 2
  pid=$(sed -n 's/.*worker 1 (.*, pid \([0-9]*\)) is here/\1/p' "$state/route.log")
  kill -KILL "$pid"
  await 'worker 1 was killed' "$state/route.log"
  run -1 gt-cluster status
  [[ $output == *$'\nworker 0\t'*$'\there\t-'* ]]
  [[ $output == *$'\nworker 1\t'*$'\tlost\twas killed by signal 9 '* ]]
  run -0 gt-cluster run p.gt
}

@test "who cannot listen says so at once, and leaves nothing" {
  gt-cluster up -n 1 --listen "ipc://$PWD/socket"
  run -4 gt-cluster up -n 1 --name other --listen "ipc://$PWD/socket"
  [[ $output == *"gt-emit: "*"$PWD/socket"*"gt-cluster: other: is not up"* ]]
  [ ! -e "$GT_CLUSTER_DIR/other" ]
  run -0 gt-cluster run p.gt
  gt-cluster down
  [ ! -e socket ]
}

@test "an endpoint for other machines takes those whose keys it has" {
  umask 077
  gt-key >ann.key
  gt-key >bob.key
  echo "$(gt-key --public ann.key) user=ann" >people
  gt-cluster up -n 1 --listen 'tcp://*:*' --allow people
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  at=$(sed -n 's/.*listens at .*:\([0-9]*\)$/tcp:\/\/127.0.0.1:\1/p' "$state/emit.log")
  run -0 gt-emit --to "$at" --key ann.key --server-key "$state/emit.pub" p.gt
  run -4 gt-emit --to "$at" --key bob.key --server-key "$state/emit.pub" p.gt
  run -4 gt-emit --to "$at" p.gt
  # No secret key is on a command line.
  cat "$state"/*.key >keys
  run ! grep -saF -f keys /proc/[0-9]*/cmdline
}

@test "files are those below --files" {
  mkdir -p "a dir/ann"
  printf 'x = ones f32[2]\nsave x "x.npy"\n' | gt-work
  mv x.npy "a dir/ann/"
  gt-cluster up -n 1 --files "a dir"
  run -0 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = load "x.npy"' -e 'print x'
  lines_are 'x = tensor f32[2] 1 1'
  gt-emit --to "$(gt-cluster up)" --user ann -e 'x = zeros f32[2]' -e 'save x "y.npy"'
  [ "$(stat -c %a "a dir/ann/y.npy")" = "$(printf %o $((0666 & ~$(umask))))" ]
}

@test "another user neither reads the keys, nor joins, nor takes the place" {
  ((EUID == 0)) || skip "only root can be another user"
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
  "${as_nobody[@]}" gt-work --version >/dev/null 2>&1 ||
    skip "nobody cannot read the programs"
  export GT_CLUSTER_DIR=/tmp/gt-cluster-$$
  state=$GT_CLUSTER_DIR/default
  at=$(gt-cluster up -n 1 --listen "ipc://@gt-bats-$$")
  run ! "${as_nobody[@]}" ls "$state"
  run -4 "${as_nobody[@]}" gt-emit --to "$at" -e 'x = ones f32[2]' -e 'print x'
  run ! "${as_nobody[@]}" env HOME=/ gt-cluster status
  run "${as_nobody[@]}" env HOME=/ gt-cluster down
  run -0 gt-cluster run p.gt
  gt-cluster down
  # A directory of that user's is not used.
  "${as_nobody[@]}" mkdir "$GT_CLUSTER_DIR" "$state"
  run -2 gt-cluster up -n 1
  [[ $output == *"$state: belongs to somebody else"* ]]
  rm -r "$GT_CLUSTER_DIR"
}

@test "a full disk is told, and nothing is left" {
  mkdir small
  mount -t tmpfs -o size=8k,nr_inodes=9 tmpfs small 2>/dev/null ||
    skip "no file system can be mounted here"
  export GT_CLUSTER_DIR=$PWD/small/clusters
  run -2 gt-cluster up -n 1
  left=$(ls -A small)
  umount small
  [[ $output == *'No space left on device'* ]]
  [ -z "$left" ]
}

@test "a cluster of another machine is left alone" {
  mkdir -p "$state"
  echo abc >"$state/token"
  echo elsewhere >"$state/machine"
  for command in up status down 'run p.gt'; do
    # shellcheck disable=SC2086
    run -2 gt-cluster $command
    [[ $output == *'was started on elsewhere'* ]]
  done
  rm -r "$state"
}

@test "faults of the hosts file have its name and line" {
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

@test "36 hosts of two GPUs are planned without touching one" {
  for ((i = 1; i <= 36; i++)); do printf 'node%02d gpus=2 root=/data\n' "$i"; done >hosts
  run -0 gt-cluster up --hosts hosts --dry-run --address head --port 5550
  [ ! -e "$GT_CLUSTER_DIR" ]
  printf '%s\n' "${lines[@]}" >plan
  [ "$(grep -c '^ssh .* -- node[0-9]* bash -s$' plan)" -eq 36 ]
  [ "$(grep -c ': LOCAL_RANK=[01] LOCAL_WORLD_SIZE=2 ' plan)" -eq 72 ]
  [ "$(grep -c '^node36: LOCAL_RANK=1 .* gt-work --connect tcp://head:5550 .*--name node36/1 .* --rank 71 --root /data --backend cuda --key /dev/fd/63$' plan)" -eq 1 ]
  [[ $(grep gt-emit plan) == 'setsid bash -c '*'--bind\ tcp://'*'--workers\ 72\ '* ]]
  run -0 gt-cluster run p.gt --hosts hosts --dry-run
  [[ ${lines[-1]} == *'gt-emit p.gt | '*' --to ENDPOINT' ]]
}

@test "--dry-run prints what each command would do, and does nothing" {
  run -0 gt-cluster up -n 2 --dry-run
  [[ $output == *'gt-route '*' -n\ 2\ '* || $output == *'-n\ 2'* ]]
  run -0 gt-cluster run p.gt --dry-run
  lines_are 'env -u GT_CONNECT --default-signal=INT gt-emit p.gt | env --default-signal=INT gt-route -n 1'
  run -0 gt-cluster up --slurm -n 4 --dry-run
  [[ $output == *'srun --overlap --ntasks 4 bash -s'* ]]
  [ ! -e "$GT_CLUSTER_DIR" ]
  gt-cluster up -n 1
  run -0 gt-cluster down --dry-run
  [[ $output == "rm -rf "* ]]
  run -0 gt-cluster logs --dry-run
  run -0 gt-cluster status --dry-run
  run -0 gt-cluster run p.gt --dry-run
  [[ $output == *' | '*'gt-emit --to ipc://@'* ]]
  run -0 gt-cluster status
}

@test "what is no argument is refused with status 2" {
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

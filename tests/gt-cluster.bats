#!/usr/bin/env bats
# gt-cluster on this machine: a cluster is started, used, looked at and taken down.
# tests/gt-cluster-faults.bats tests what goes wrong, tests/gt-cluster-ssh.bats
# hosts over ssh, tests/quick/cluster-hosts.sh bad links, and tests/full/slurm.sh
# Slurm.

load helper
load cluster

setup() {
  setup_cluster
}

teardown() {
  teardown_cluster
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
  run -2 --separate-stderr gt-cluster logs nohost
  [ -z "$output" ]
  [ "$stderr" = "gt-cluster: logs: no host 'nohost'; all of default runs on this machine: logs alone" ]
  # Each worker is told its number, since each may have a GPU of its own.
  mapfile -t found < <(processes)
  run -0 sh -c 'cat "$@" | tr "\0" "\n" | grep ^LOCAL_RANK= | sort' - "${found[@]}"
  lines_are $'LOCAL_RANK=0\nLOCAL_RANK=1'
  run -0 --separate-stderr gt-cluster down
  [ -z "$output$stderr" ]
  nothing_left "$token"
  # down succeeds when no cluster is up.
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

@test "options behind -- go to the gt-emit that listens" {
  gt-cluster up -n 1 -- --quota 1M --user-clients 2 >endpoint
  run -0 gt-cluster run -e 'x = ones f32[100]' -e 'print x'
  run -3 --separate-stderr gt-cluster run -e 'x = ones f32[1000000]'
  [[ $stderr == *'is the quota'* ]]
  run -2 --separate-stderr gt-cluster up -- --quota 2M
  [[ $stderr == *"gt-cluster down"* ]]
  run -0 gt-cluster down
  run -4 gt-cluster up -n 1 -- --quota nonsense
}

@test "two ups of one cluster at the same time give the same cluster" {
  gt-cluster up -n 1 >one 3>&- &
  gt-cluster up -n 1 >two 3>&-
  wait $!
  [ -s one ]
  cmp one two
}

@test "without a cluster, run works as gt-emit, gt-shard and gt-route do" {
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
  # A cluster of hosts without --files says so when a program loads a file.
  fake_ssh
  echo a >list
  gt-cluster up --hosts list --threads 1
  local type
  for type in '' f32[2]; do
    run -3 gt-cluster run -e "x = load \"none.npy\" $type"
    [[ $output == *'this gt-emit lends its clients no files; whoever runs it can, with --files DIR, as gt-cluster up --files DIR does'* ]]
  done
  gt-cluster down
  run -2 gt-cluster run p.gt --no-such-option
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "what loads and saves without a cluster does so on one that is up" {
  mkdir sub elsewhere
  printf '%s\n' 'y = load "w.npy"' 'y = add y 1' 'save y "sub/y.npy"' >files.gt
  gt-emit -e 'x = full f32[3] 7' -e 'save x "w.npy"' | gt-work
  gt-cluster run -n 1 files.gt
  [ "$(stat -c %a sub/y.npy)" = "$(printf %o $((0666 & ~$(umask))))" ]
  mv sub/y.npy whole.npy
  gt-cluster up -n 2
  gt-cluster run files.gt 2>err
  [ ! -s err ]
  cmp whole.npy sub/y.npy
  run -0 gt-cluster run -e 'y = load "sub/y.npy"' -e 'print y'
  lines_are 'y = tensor f32[3] 8 8 8'
  # A file that is not there is told as that, and so is where names are seen from.
  run -3 gt-cluster run -e 'x = load "none.npy"'
  [[ $output == *'none.npy: No such file or directory'* ]]
  run -0 --separate-stderr env -C elsewhere gt-cluster run -e 'y = load "sub/y.npy"' -e 'print y'
  lines_are 'y = tensor f32[3] 8 8 8'
  [ "$stderr" = "gt-cluster: default: names of files are seen from $PWD, where it was started" ]
  # Nothing above that directory is lent, and down leaves it alone.
  ln -s / sub/away
  run -3 gt-cluster run -e 'x = load "sub/away/etc/passwd"'
  [[ $output == *'outside the directory of its user'* ]]
  gt-cluster down
  [ -s w.npy ]
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "on a cluster that is up, files are the cluster's and clients may be kept" {
  mkdir -p files/"$(id -un)"
  gt-emit -e 'x = full f32[3] 7' -e 'save x "w.npy"' | gt-work
  mv w.npy files/"$(id -un)"
  gt-emit -e 'x = full f32[2] 1' -e 'save x "w.npy"' | gt-work
  gt-cluster up -n 1 --files files
  run -0 gt-cluster run -e 'x = load "w.npy"' -e 'print x'
  lines_are 'x = tensor f32[3] 7 7 7'
  run -0 gt-cluster run --detach job -e 'w = ones f32[2]'
  run -0 gt-cluster run --attach job -e 'print w'
  lines_are 'w = tensor f32[2] 1 1'
  run -0 gt-cluster run --ops relu
  [[ $output == *'y = relu x'* ]]
}

@test "without a number of ranks a config takes as many as there are workers" {
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
  gt-cluster run pair.gt 2>./talk | gt-cmp whole -
  run -0 gt-cluster status
  [[ $output == *$'\ngt-shard\t'*$'\truns\t-\n'* ]]
}

@test "run says that its standard input is closed, with a cluster and without" {
  local told='gt-emit: cannot read <stdin>: Bad file descriptor'
  printf 'mesh: {dp: 2}\n' >dp.yaml
  run -2 --separate-stderr bash -c 'gt-cluster run <&-'
  [ "$output$stderr" = "$told" ]
  run -2 --separate-stderr bash -c 'gt-cluster run -c dp.yaml <&-'
  [ "$output" = '' ]
  [ "${stderr_lines[0]}" = "$told" ]
  run -0 bash -c 'gt-cluster run p.gt <&-'
  lines_are 'x = tensor f32[2] 1 1'
  gt-cluster up -n 1
  run -2 --separate-stderr bash -c 'gt-cluster run <&-'
  [ "$output$stderr" = "$told" ]
}

@test "the status of run is the program's on a cluster, too" {
  gt-cluster up -n 1
  run -3 gt-cluster run -e 'x = nothing'
  run -1 gt-cluster run -e 'n = tensor i64[] 0' -e 'q = floordiv 7 n' -e 'print q'
  run -2 gt-cluster run none.gt
  # The first stage of run ignores GT_CONNECT.
  GT_CONNECT=ipc://@nobody run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
}

# waits_for_more OPTION... starts a run that has given its first result and still
# reads. A shell makes what it starts in the background ignore SIGINT, so env undoes
# that.
waits_for_more() {
  mkfifo ./more
  env --default-signal=INT gt-cluster run "$@" - <./more >out 2>err 3>&- &
  running=$!
  spawn sh -c 'cat p.gt && exec sleep 60' >./more
  await '^x = ' out
}

@test "SIGINT ends a run, and its workers" {
  waits_for_more -n 2
  local children=() child
  for child in $(<"/proc/$running/task/$running/children"); do
    [[ $(<"/proc/$child/comm") != gt-* ]] || children+=("$child")
  done
  [ "${#children[@]}" -eq 2 ]
  kill -INT "$running"
  ends_with 130 "$running"
  for child in "${children[@]}"; do run ! kill -0 "$child"; done
}

@test "SIGINT ends a run on a cluster, and the cluster stays" {
  gt-cluster up -n 1
  waits_for_more
  kill -INT "$running"
  ends_with 130 "$running"
  run -0 gt-cluster status
}

@test "an endpoint for other machines admits clients whose keys are in its list" {
  umask 077
  gt-key >ann.key
  gt-key >bob.key
  echo "$(gt-key --public ann.key) user=ann" >people
  gt-cluster up -n 1 --listen 'tcp://*:*' --allow people >endpoint
  # Where there is IPv6, the endpoint is as gt-sharing(7) shows it.
  [[ ! -e /proc/net/if_inet6 || $(<endpoint) =~ ^tcp://\[::\]:[0-9]+$ ]]
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  at=$(sed -n 's/.*listens at .*:\([0-9]*\)$/tcp:\/\/127.0.0.1:\1/p' "$state/emit.log")
  run -0 gt-emit --to "$at" --key ann.key --server-key "$state/emit.pub" p.gt
  run -4 gt-emit --to "$at" --key bob.key --server-key "$state/emit.pub" p.gt
  run -4 gt-emit --to "$at" p.gt
  # No command line has a secret key.
  cat "$state"/*.key >keys
  run ! grep -saF -f keys /proc/[0-9]*/cmdline
}

@test "with --allow clients need keys at a loopback address and a socket, too" {
  umask 077
  gt-key >ann.key
  printf '%s user=ann' "$(gt-key --public ann.key)" >people
  for at in "tcp://127.0.0.1:*" "ipc://$PWD/socket"; do
    gt-cluster up -n 1 --listen "$at" --allow people >endpoint
    run -0 gt-cluster run p.gt
    lines_are 'x = tensor f32[2] 1 1'
    run -0 gt-emit --to "$(<endpoint)" --key ann.key --server-key "$state/emit.pub" p.gt
    run -4 gt-emit --to "$(<endpoint)" p.gt
    gt-cluster down
  done
  # A mistake in the list is reported with its line.
  echo "$(gt-key --public ann.key) user=../bob" >>people
  sed -i 's/=ann/&\n/' people
  run ! gt-cluster up -n 1 --listen "$at" --allow people
  [[ $output == *"gt-emit: --allow: $PWD/people:2: user=../bob: expected a name"* ]]
}

@test "run --name uses that cluster and nothing else" {
  gt-cluster up -n 1
  gt-cluster up -n 1 --name second
  run -0 gt-cluster run --name second p.gt
  run -4 --separate-stderr gt-cluster run --name typo p.gt
  [ -z "$output" ]
  [ "$stderr" = 'gt-cluster: typo: no such cluster is up (there is default, second); gt-cluster up --name typo starts one' ]
  run -4 gt-cluster run --name typo p.gt --dry-run
  run -4 gt-cluster status --name typo
  lines_are 'gt-cluster: typo: no such cluster is up (there is default, second); gt-cluster up --name typo starts one'
  gt-cluster down --name second
  gt-cluster down
  run -4 gt-cluster run --name default p.gt
  lines_are 'gt-cluster: default: no such cluster is up; gt-cluster up --name default starts one'
  run -2 gt-cluster run --name default -n 2 p.gt
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "down removes what up has made, and nothing else" {
  mkdir "$GT_CLUSTER_DIR"
  gt-cluster up -n 1
  gt-cluster down
  [ -z "$(ls -A "$GT_CLUSTER_DIR")" ]
  # A folder with other files is not taken for the folder of a cluster.
  mkdir "$state"
  is_left_to_others
  # What somebody has put into the folder of a cluster stays, and is named.
  gt-cluster up -n 1
  mkdir "$state/kept" "$state/files/mine"
  echo 1 | tee "$state/kept/a" "$state/files/mine/b" >"$state/.hidden"
  run -0 gt-cluster down
  lines_are "gt-cluster: $state: stays, since gt-cluster did not make .hidden, files, kept"
  [ "$(cd "$state" && find . -type f | sort | tr '\n' ' ')" = './.hidden ./files/mine/b ./kept/a ' ]
  rm -r "$state"
  # The last of two clusters removes their directory, if up has made it.
  rmdir "$GT_CLUSTER_DIR"
  gt-cluster up -n 1
  gt-cluster up -n 1 --name second
  gt-cluster down
  [ -d "$GT_CLUSTER_DIR" ]
  gt-cluster down --name second
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "clients reach only files below --files" {
  mkdir -p "a dir/ann"
  printf 'x = ones f32[2]\nsave x "x.npy"\n' | gt-work
  mv x.npy "a dir/ann/"
  gt-cluster up -n 1 --files "a dir"
  run -0 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = load "x.npy"' -e 'print x'
  lines_are 'x = tensor f32[2] 1 1'
  gt-emit --to "$(gt-cluster up)" --user ann -e 'x = zeros f32[2]' -e 'save x "y.npy"'
  [ "$(stat -c %a "a dir/ann/y.npy")" = "$(printf %o $((0666 & ~$(umask))))" ]
  # No link leads to a file elsewhere.
  mkdir elsewhere
  ln -s "$PWD/elsewhere" "a dir/ann/away"
  run -1 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = ones f32[2]' -e 'save x "away/y.npy"'
  [ ! -e elsewhere/y.npy ]
  # No link leads to the files of another user.
  mkdir "a dir/bob"
  cp "a dir/ann/x.npy" "a dir/bob/x.npy"
  ln -s ../bob "a dir/ann/bob"
  run -1 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = ones f32[2]' -e 'save x "bob/y.npy"'
  [ ! -e "a dir/bob/y.npy" ]
  run -3 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = load "bob/x.npy"'
  [[ $output == *'bob/x.npy: outside the directory of its user'* ]]
  run -1 gt-emit --to "$(gt-cluster up)" --user ann -e 'x = load "bob/x.npy" f32[2]'
  [[ $output == *'bob/x.npy: outside the directories that --root allows'* ]]
}

@test "logs -f goes on as more is written" {
  gt-cluster up -n 1
  spawn gt-cluster logs -f >said
  await 'worker 0 .* is here' said
  gt-emit --to "$(gt-cluster up)" p.gt
  await 'client c1 comes' said
}

@test "36 hosts of two GPUs are planned without touching one" {
  for ((i = 1; i <= 36; i++)); do printf 'node%02d gpus=2 root=/data\n' "$i"; done >hosts
  run -0 gt-cluster up --hosts hosts --dry-run --address head --port 5550
  [ ! -e "$GT_CLUSTER_DIR" ]
  printf '%s\n' "${lines[@]}" >plan
  [ "$(grep -c '^ssh .* -- node[0-9]* bash -s$' plan)" -eq 36 ]
  [ "$(grep -c ': LOCAL_RANK=[01] LOCAL_WORLD_SIZE=2 ' plan)" -eq 72 ]
  [ "$(grep -c '^node36: LOCAL_RANK=1 .* gt-work --connect tcp://head:5550 .*--name node36/1 .* --rank 71 --root /data --backend cuda .*--key /dev/fd/63$' plan)" -eq 1 ]
  [[ $(grep gt-emit plan) == 'setsid bash -c '*'--bind\ tcp://'*'--workers\ 72\ '* ]]
  run -0 gt-cluster run p.gt --hosts hosts --dry-run
  [[ ${lines[-1]} == *'gt-emit --to ENDPOINT p.gt' ]]
}

@test "34 hosts come and go, more than are asked at once" {
  skip_if_sanitized "so many workers take long"
  fake_ssh
  for ((i = 0; i < 34; i++)); do echo "node$i"; done >list
  gt-cluster up --hosts list --threads 1 --backend ref
  run -0 gt-cluster status
  [ "$(grep -c $'^worker .*\there\t-$' <<<"$output")" -eq 34 ]
  gt-cluster down
  run -0 find hosts -name gt-hosts
  [ -z "$output" ]
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
  [[ $output == *'gt-emit --to ipc://@'*' p.gt' ]]
  make_pair
  run -0 gt-cluster run p.gt -c tp2.yaml --dry-run
  [[ $output == *'gt-emit p.gt | '*'gt-shard -c '*'/tp2.yaml | '*'gt-emit --to ipc://@'* ]]
  run -0 gt-cluster status
}

#!/usr/bin/env bats
# gt-cluster with hosts over ssh: an sshd on loopback, which each test starts, plays
# them.

load helper

setup() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  command -v sshd >/dev/null || PATH=$PATH:/usr/sbin
  local program
  for program in ssh sshd ssh-keygen; do
    command -v "$program" >/dev/null || no_ssh "there is no $program"
  done
  export GT_CLUSTER_DIR="$PWD/the clusters" XDG_STATE_HOME=
  unset SLURM_JOB_ID
  state=$GT_CLUSTER_DIR/default
  # sshd run by root needs that directory, which the system's own service makes.
  ((EUID != 0)) || mkdir -p /run/sshd
  ssh-keygen -q -t ed25519 -N '' -f host
  ssh-keygen -q -t ed25519 -N '' -f me
  start_sshd || no_ssh "sshd does not start here: $(tail -n 1 sshd.log)"
  make_ssh
  printf 'x = ones f32[2]\nprint x\n' >p.gt
}

# no_ssh WHY skips the test, or fails it where GT_NO_SKIPS is set.
no_ssh() {
  [[ -z ${GT_NO_SKIPS:-} ]] || { echo "$1 (GT_NO_SKIPS is set)" && return 1; }
  skip "$1; scripts/packages install heavy"
}

teardown() {
  [[ ! -d $GT_CLUSTER_DIR ]] || gt-cluster down --forget
  end_spawned
}

# start_sshd starts it at a free port, $port. Its settings for every session make
# the folder `home` the home of the host. A session keeps nothing of this environment
# by itself, but sanitizers need their options there.
start_sshd() {
  local tries name options=''
  for name in ASAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS; do
    [[ ! -v $name ]] || options+=" $name=\"${!name}\""
  done
  mkdir -p home
  for ((tries = 0; tries < 20; tries++)); do
    port=${port:-$(free_port)}
    cat >sshd.conf <<CONF
ListenAddress 127.0.0.1:$port
HostKey $PWD/host
AuthorizedKeysFile $PWD/me.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
SetEnv HOME=$PWD/home XDG_STATE_HOME="$PWD/home/the state"$options
CONF
    spawn "$(command -v sshd)" -D -e -f "$PWD/sshd.conf" 2>sshd.log
    sshd=$!
    await . sshd.log
    ! grep -q 'Server listening' sshd.log || return 0
    port=
  done
  return 1
}

stop_sshd() {
  kill "$sshd"
  wait "$sshd" || true
}

# end_spawned_but_sshd ends everything else that the test has started.
end_spawned_but_sshd() {
  spawned=("${spawned[@]/$sshd/}")
  mapfile -t spawned < <(printf '%s\n' "${spawned[@]}" | grep .)
  end_spawned
  spawned=("$sshd")
}

# make_ssh makes an ssh that knows the host and has the key; the host `slow` never
# answers.
make_ssh() {
  local ssh
  ssh=$(command -v ssh)
  mkdir -p bin
  echo "[127.0.0.1]:$port $(cut -d ' ' -f 1-2 host.pub)" >known
  sed 's/127.0.0.1/localhost/' known >>known.too
  cat known.too >>known
  cat >bin/ssh <<SH
#!/bin/sh
case "\$*" in *' slow '*) exec sleep 60 ;; esac
exec $ssh -F none -o IdentitiesOnly=yes -i "$PWD/me" -o UserKnownHostsFile="$PWD/known" "\$@"
SH
  chmod +x bin/ssh
  PATH=$PWD/bin:$PATH
}

two_hosts() {
  printf '# two\n127.0.0.1:%s slots=2\n%s@localhost:%s # one\n' "$port" \
    "$(id -un)" "$port" >hosts
}

# left TOKEN prints the processes of that cluster, and files of clusters on the
# hosts.
left() {
  grep -lzsE "^GT_CLUSTER=$1" /proc/[0-9]*/environ || true
  find home -name 'gt-hosts' -o -path '*/gt-hosts/*'
}

nothing_left() {
  [ -n "$1" ]
  local end=$((SECONDS + 60))
  until [[ -z $(left "$1") ]]; do
    ((SECONDS < end)) || { left "$1" && return 1; }
    sleep 0.1
  done
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "hosts over ssh: up, run, status, logs, down, and nothing is left" {
  two_hosts
  run -0 --separate-stderr gt-cluster up --hosts hosts
  token=$(<"$state/token")
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  run -0 gt-cluster status
  lines_are "part	where	state	lacks
gt-emit	$HOSTNAME	runs	-
gt-route	$HOSTNAME	runs	-
worker 0	127.0.0.1:$port	here	-
worker 1	127.0.0.1:$port	here	-
worker 2	$(id -un)@localhost:$port	here	-"
  # Each GPU has a worker, and its environment says which one it is on its host.
  grep -lzxs "GT_CLUSTER=$token.0" /proc/[0-9]*/environ | while read -r file; do
    tr '\0' '\n' <"$file" | grep '^LOCAL_'
  done | sort | uniq -c >ranks
  [ "$(wc -l <ranks)" -eq 3 ]
  grep -q ' 2 LOCAL_WORLD_SIZE=2$' ranks
  # No secret key is on a command line, in an environment, or on a disk of the host.
  cat "$state"/*.key >keys
  run ! grep -saF -f keys /proc/[0-9]*/cmdline /proc/[0-9]*/environ
  run ! grep -rqaF -f keys home
  [ "$(stat -c %a home/*/gt-hosts/*)" = $'700\n700' ]
  echo 'said by the worker' >>"home/the state/gt-hosts/$token.1/0.log"
  run -0 gt-cluster logs "$(id -un)@localhost:$port"
  [ "$output" = 'said by the worker' ]
  run -0 gt-cluster logs
  [[ $output == *"gt-route: worker 2 ("*"@localhost:$port: said by the worker" ]]
  run -2 gt-cluster logs nobody
  spawn gt-cluster logs -f "$(id -un)@localhost:$port" >said
  await 'said by the worker' said
  echo 'and more' >>"home/the state/gt-hosts/$token.1/0.log"
  await 'and more' said
  end_spawned_but_sshd
  run -0 --separate-stderr gt-cluster up --hosts hosts
  run -0 gt-cluster down
  nothing_left "$token"
}

@test "the GPT of the examples trains on hosts" {
  two_hosts
  mkdir files
  head -c 3000 "$GT_SHARE/novel/pride-and-prejudice.txt" >text
  run -0 --separate-stderr "$GT_EXAMPLES/minigpt/train" --hosts hosts --files files --text text \
    --held 200 --hidden 16 --seq-len 8 --batch-size 8 --microbatches 2 --steps 10 --rounds 1 \
    --evaluate 1 --sample 0
  [[ ${lines[*]} =~ ^'step 10  loss '[^\ ]*' step 10  held-out loss '[^\ ]*$ ]]
}

@test "run starts the hosts by itself, and takes them down" {
  two_hosts
  cat >two.yaml <<'YAML'
mesh: {tp: 3}
signals: {hidden: {shard: {tp: 1}}}
YAML
  gt-emit -e 'x = randn f32[4,6] 1' -e 'w = randn f32[6,6] 2' \
    -e 'y = matmul x w #signal=hidden' -e 'print y' >q.gt
  gt-work q.gt >whole
  gt-cluster run --hosts hosts q.gt -c two.yaml | gt-cmp whole -
  run -3 gt-cluster run --hosts hosts -e 'x = nothing'
  [ ! -e "$GT_CLUSTER_DIR" ]
  [ -z "$(find home -name gt-hosts)" ]
}

@test "the next command removes what a killed run has left" {
  two_hosts
  mkfifo ./more
  gt-cluster run --hosts hosts - <./more >out 2>err 3>&- &
  running=$!
  spawn sh -c 'cat p.gt && exec sleep 60' >./more
  await '^x = ' out
  token=$(<"$GT_CLUSTER_DIR/run-$running/token")
  kill -KILL "$running"
  wait "$running" || true
  # The programs end by themselves, those on the hosts as well.
  local end=$((SECONDS + 60))
  until ! grep -qlzsE "^GT_CLUSTER=$token" /proc/[0-9]*/environ; do
    ((SECONDS < end)) || { left "$token" && return 1; }
    sleep 0.1
  done
  run -0 gt-cluster down
  [[ $output == *"run-$running: takes down what a run that was killed has left"* ]]
  nothing_left "$token"
}

# refused LINE TEXT: a cluster with the host of LINE beside a good one does not come
# up, names that host and TEXT, and leaves nothing.
refused() {
  printf '127.0.0.1:%s\n%s\n' "$port" "$1" >hosts
  run -4 --separate-stderr gt-cluster up --hosts hosts
  [[ $stderr == *"gt-cluster: ${1%% *}: "*"$2"* ]] || { echo "$stderr"; return 1; }
  [[ $stderr == *'what was started has been taken down' ]]
  [ ! -e "$GT_CLUSTER_DIR" ]
  [ -z "$(find home -name gt-hosts)" ]
}

@test "a host that lacks something is named, with what it lacks" {
  refused 127.0.0.1:1 'Connection refused'
  refused "localhost:$port root=/nowhere" 'root=/nowhere is no directory'
  # The message says whether gt is built without the backend or the host has no GPU.
  refused "localhost:$port gpus=1" 'backend'
  mkdir other none
  printf '#!/bin/sh\necho "gt-work 0.0.1 (abc)"\n' >other/gt-work
  chmod +x other/gt-work
  refused "localhost:$port path=$PWD/other" 'its gt is another: gt-work 0.0.1 (abc)'
  printf '127.0.0.1:%s\n' "$port" >hosts
  run -4 gt-cluster up --hosts hosts --address 192.0.2.1
  [[ $output == *"gt-route's tcp://192.0.2.1:"*'is not reached from there'* ]]
}

@test "a host without gt is reported as that" {
  # PATH is that of a fresh login, without the folders of the programs.
  cp -r "$GT_ROOT/scripts" .
  mkdir only
  ln -s "$GT_BIN"/gt-* only/
  rm only/gt-work
  printf '#!/bin/sh\nexec "%s/gt-work" "$@"\n' "$GT_BIN" >bin/gt-work
  chmod +x bin/gt-work
  ln -sf "$PWD/scripts/gt-cluster" only/gt-cluster
  printf '127.0.0.1:%s\n' "$port" >hosts
  PATH=$PWD/only:$PWD/bin:/usr/bin:/bin run -4 only/gt-cluster up --hosts hosts
  [[ $output == *'there is no gt-work on PATH; install gt, or say path=DIR'* ]]
}

@test "a host whose disk is full is reported as that" {
  mkdir -p "home/the state"
  mount -t tmpfs -o size=8k tmpfs "home/the state" 2>/dev/null ||
    skip "no file system can be mounted here"
  printf '127.0.0.1:%s\n' "$port" >hosts
  run -4 gt-cluster up --hosts hosts
  left=$(ls -A "home/the state")
  umount "home/the state"
  [[ $output == *"127.0.0.1:$port: "*'No space left on device'* ]]
  [ -z "$left" ]
}

# killed FILE PATTERN starts an up with a host that never answers, and kills it when
# a line of that file of its state matches.
killed() {
  printf '127.0.0.1:%s slots=2\nslow\n' "$port" >hosts
  gt-cluster up --hosts hosts 2>err 3>&- &
  up=$!
  await "$2" "$state/$1"
  token=$(<"$state/token")
  kill -KILL "$up"
  wait "$up" || true
}

@test "whatever an up that is killed half-way leaves, down ends it" {
  for point in 'token .' 'work.pub .' 'route.log waits' 'hosts/0.out @begun' \
    'hosts/0.out @started'; do
    # shellcheck disable=SC2086
    killed $point
    run -0 gt-cluster down
    nothing_left "$token"
  done
}

@test "what a killed up has started on a host ends there by itself" {
  killed hosts/0.out @started
  local end=$((SECONDS + 60))
  until [[ -z $(left "$token.0") ]]; do
    ((SECONDS < end)) || { left "$token.0" && return 1; }
    sleep 0.1
  done
}

@test "an up that is interrupted undoes what it did on the hosts" {
  printf '127.0.0.1:%s slots=2\nslow\n' "$port" >hosts
  gt-cluster up --hosts hosts 2>err 3>&- &
  up=$!
  await @started "$state/hosts/0.out"
  token=$(<"$state/token")
  kill -TERM "$up"
  wait "$up" || [ $? -eq 130 ]
  nothing_left "$token"
}

@test "a host that cannot be reached is reported, and a second down completes the first" {
  two_hosts
  gt-cluster up --hosts hosts
  token=$(<"$state/token")
  stop_sshd
  run -1 gt-cluster status
  [[ $output == *$'\nworker 2\t'*$'\tssh: connect to host localhost'*'Connection refused' ]]
  run -4 gt-cluster down
  [[ $output == *"127.0.0.1:$port: "*"gt-hosts/$token.0 may be left there"* ]]
  [ -n "$(left "$token.0")" ]
  # The keys and the programs on this machine are gone already.
  [ -z "$(find "$state" -name '*.key' -o -name back)" ]
  run ! grep -qzsxF "GT_CLUSTER=$token" /proc/[0-9]*/environ
  run -4 gt-cluster up -n 1
  [[ $output == *'is not clear'* ]]
  start_sshd
  run -0 gt-cluster down
  nothing_left "$token"
}

@test "a host that is gone for good can be given up" {
  two_hosts
  gt-cluster up --hosts hosts
  stop_sshd
  run -4 gt-cluster down
  run -0 gt-cluster down --forget
  [ ! -e "$GT_CLUSTER_DIR" ]
}

@test "a worker that is lost on a host is reported, and the others go on" {
  two_hosts
  gt-cluster up --hosts hosts
  kill -KILL "$(grep -lzsxF "GT_CLUSTER=$(<"$state/token").1" /proc/[0-9]*/environ |
    cut -d / -f 3)"
  await 'worker 2 .* is lost' "$state/route.log"
  run -1 gt-cluster status
  [[ $output == *$'\nworker 2\t'*$'\tended\tits process has ended and said nothing, as one that was killed; its connection ended'* ]]
  [[ $output == *$'\nworker 1\t'*$'\there\t-'* ]]
  run -0 gt-cluster run p.gt
}

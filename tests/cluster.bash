# shellcheck shell=bash disable=SC2034 # variables of the tests
# What the tests of gt-cluster share: they `load cluster` after `load helper`.

# setup_cluster keeps the clusters in a folder of the test, whose name has a blank.
setup_cluster() {
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  unset SLURM_JOB_ID
  clusters_in "$PWD/the clusters"
  printf 'x = ones f32[2]\nprint x\n' >p.gt
}

# clusters_in FOLDER keeps the clusters in that folder.
clusters_in() {
  export GT_CLUSTER_DIR=$1
  state=$GT_CLUSTER_DIR/default
}

# teardown_cluster takes down all clusters that a test has left.
teardown_cluster() {
  local name
  for name in "$GT_CLUSTER_DIR"/*; do
    [[ ! -d $name ]] || gt-cluster down --name "${name##*/}" --forget
  done
  end_spawned
}

# processes [TOKEN] prints the processes of that cluster, or of all clusters of the
# test.
processes() {
  local token
  for token in "${@:-$(cat "$GT_CLUSTER_DIR"/*/token 2>/dev/null)}"; do
    grep -lzsxF "GT_CLUSTER=$token" /proc/[0-9]*/environ || true
  done
}

# kill_program NAME kills that program in the test's clusters. Other processes may
# end meanwhile.
kill_program() {
  local pid
  for pid in $(processes | cut -d / -f 3); do
    ! grep -qsx "$1" "/proc/$pid/comm" || kill -KILL "$pid"
  done
}

# nothing_left TOKEN: no process, FIFO, key or other file of the cluster is left.
nothing_left() {
  [ -n "$1" ]
  [ -z "$(processes "$1")" ]
  [ ! -e "$GT_CLUSTER_DIR" ]
}

# is_left_to_others: gt-cluster takes $state, in which others have a file, for no
# cluster's, and leaves it as it is. Then it is removed.
is_left_to_others() {
  local command
  echo mine >"$state/file"
  for command in up down 'run p.gt'; do
    # shellcheck disable=SC2086
    run -2 gt-cluster $command
    lines_are "gt-cluster: $state: is no cluster's directory, and has files; take another --name or GT_CLUSTER_DIR"
  done
  [ "$(<"$state/file")" = mine ]
  rm -r "$state"
}

# ends_with STATUS PID waits for a child of the test, which must end with that
# status.
ends_with() {
  local status=0
  wait "$2" || status=$?
  [ "$status" -eq "$1" ]
}

# until_there FILE waits until the file exists.
until_there() {
  local end=$((SECONDS + 60))
  until [[ -e $1 ]]; do
    ((SECONDS < end)) || { echo "$1 has not come"; return 1; }
    sleep 0.01
  done
}

# with_fake PROGRAM makes a folder `fake` with all programs, in which PROGRAM is the
# script on standard input.
with_fake() {
  local program
  mkdir -p fake
  for program in "$GT_BIN"/gt-*; do ln -sf "$program" fake/; done
  rm "fake/$1"
  cat >"fake/$1"
  chmod +x "fake/$1"
  PATH=$PWD/fake:$PATH
}

# fake_ssh makes an ssh whose hosts are folders, hosts/NAME.
fake_ssh() {
  mkdir bin
  cat >bin/ssh <<SH
#!/bin/bash
mkdir -p "$PWD/hosts/\${@: -3:1}"
export XDG_STATE_HOME="$PWD/hosts/\${@: -3:1}" SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'
exec bash -s
SH
  chmod +x bin/ssh
  PATH=$PWD/bin:$PATH
}

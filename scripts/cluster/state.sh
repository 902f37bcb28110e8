# shellcheck shell=bash disable=SC2154 # variables of gt-cluster
# The state of one cluster, in a directory that only its owner can enter:
#
#   lock        held by who changes the rest; a directory without it is no cluster's
#   token       a word that stands in the environment of all its processes
#   machine     the name of the machine where it was started
#   asked       what up was asked for
#   endpoint    where clients connect; written once all workers are there
#   back        the FIFO of the results
#   *.log       what gt-emit, gt-shard, gt-route and srun said
#   ended       the statuses of the pipeline, once it has ended
#   *.key *.pub *.allow   keys, as gt-key makes them
#   gate        a FIFO that tells who starts hosts that all is well, or up gone
#   hosts/I     host I: something may run there, see hosts.sh
#
# The directory above, of all clusters, has a file `made` if it was made here, and then
# goes with the last of them.
#
# A process is found by the token in its environment, not by a noted number. So none
# is missed, whenever up was killed, and no other process is ended that has got such
# a number later.

made=.made-by-gt-cluster

# marked TOKEN prints the processes of this machine that have the token, one a line.
marked() {
  grep -lzsxF "GT_CLUSTER=$1" /proc/[0-9]*/environ | cut -d / -f 3 || true
}

# end_marked TOKEN sends them TERM, and KILL to those that are there after 5
# seconds.
end_marked() {
  local pids tries
  for ((tries = 0; tries < 100; tries++)); do
    mapfile -t pids < <(marked "$1")
    ((${#pids[@]})) || return 0
    if ((tries == 0)); then kill -TERM "${pids[@]}" 2>/dev/null || true; fi
    if ((tries >= 50)); then kill -KILL "${pids[@]}" 2>/dev/null || true; fi
    sleep 0.1
  done
  return 1
}

# make_base makes the directory of all clusters, with the mark that it was made
# here.
make_base() {
  mkdir -p -- "$base" && touch -- "$base/$made" && return
  rmdir -- "$base" 2>/dev/null
  return 1
}

# lock_state makes the directory if it is missing, and waits for the lock.
lock_state() {
  local why
  while true; do
    [[ -d $base ]] || why=$(make_base 2>&1) || die 2 "${why#*: }"
    why=$(mkdir -p -- "$state" 2>&1) || die 2 "${why#mkdir: }"
    [[ -O $state && ! -L $state ]] ||
      die 2 "$state: belongs to somebody else; GT_CLUSTER_DIR names another place"
    # The files are looked for before the lock, since another process may make it
    # meanwhile.
    [[ -z $(ls -A -- "$state" 2>/dev/null) || -e $state/lock ]] ||
      die 2 "$state: is no cluster's directory, and has files; take another --name or" \
        "GT_CLUSTER_DIR"
    chmod 700 "$state"
    { exec 9>>"$state/lock"; } 2>/dev/null || continue
    if ! flock -w 1 9; then
      say "$name: waits for another gt-cluster, which is at work on it"
      flock -w 150 9 || die 4 "$name: that gt-cluster has not ended within 150 s"
    fi
    # down may have removed the file while this waited for its lock.
    [[ ! $state/lock -ef /proc/$$/fd/9 ]] || return 0
  done
}

# read_state reads the state into variables, and fails if there is none.
read_state() {
  local machine
  token='' endpoint=''
  [[ -s $state/token ]] || return 1
  token=$(<"$state/token")
  machine=$(cat "$state/machine" 2>/dev/null) || machine=$HOSTNAME
  [[ $machine == "$HOSTNAME" ]] || die 2 "$name: was started on $machine, and this" \
    "is $HOSTNAME: go there, or take another --name"
  [[ ! -s $state/endpoint ]] || endpoint=$(<"$state/endpoint")
}

# is_up: all workers were there once, and the pipeline still runs.
is_up() {
  [[ -n $endpoint && ! -e $state/ended ]] && [[ -n $(marked "$token") ]]
}

# put FILE TEXT writes the file whole or not at all.
put() {
  { printf '%s\n' "$2" >"$state/$1.new" && mv -f "$state/$1.new" "$state/$1"; } \
    2>/dev/null || die 2 "$state/$1: cannot be written: is the disk full?"
}

# new_state notes that something is about to be started.
new_state() {
  token=$(od -An -v -tx1 -N16 /dev/urandom | tr -d ' \n')
  # The logs tell when workers are there. If the disk has no room for them, up would
  # wait in vain.
  { head -c 65536 /dev/zero >"$state/room" && rm -f "$state/room"; } 2>/dev/null ||
    die 2 "$state: No space left on device"
  put machine "$HOSTNAME"
  put asked "$asked"
  put token "$token"
}

# clear_state removes the state, except the records of hosts that are not clean.
clear_state() {
  local file
  for file in "$state"/*; do
    case ${file##*/} in
      lock | token | machine | asked | workers | hosts) ;;
      *) rm -rf -- "$file" ;;
    esac
  done
  rmdir "$state/hosts" 2>/dev/null || true
  [[ ! -e $state/hosts ]] || return 1
  remove_state
}

# remove_state removes the lock last, since without it the rest would be nobody's.
remove_state() {
  find "$state" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf -- {} +
  rm -f -- "$state/lock"
  rmdir -- "$state"
  # The folder of all clusters is removed only if it was made here and is empty.
  if [[ -e $base/$made && $(ls -A -- "$base") == "$made" ]]; then
    rm -f -- "$base/$made"
    rmdir -- "$base" 2>/dev/null || touch "$base/$made"
  fi
}

# names_up prints the clusters that are up on this machine, as "a, b".
names_up() {
  local folder names=''
  for folder in "$base"/*; do
    [[ -s $folder/endpoint && ${folder##*/} != run-* ]] || continue
    if (state=$folder && read_state && is_up) 2>/dev/null; then
      names+=", ${folder##*/}"
    fi
  done
  printf '%s' "${names#, }"
}

# take_down ends and removes everything, and fails if something is left somewhere.
take_down() {
  local left=0
  shut_gate
  end_marked "$token" ||
    { say "processes that do not end: $(marked "$token" | tr '\n' ' ')" && left=1; }
  stop_hosts || left=1
  clear_state || left=1
  return "$left"
}

# shellcheck shell=bash disable=SC2154 # variables of gt-cluster
# The state of one cluster, in a directory that only its owner can enter:
#
#   lock        held by who changes the rest; its line says that this is a cluster's
#               directory, and without it it is none
#   token       a word that stands in the environment of all its processes
#   machine     the name of the machine where it was started
#   asked       what up was asked for
#   endpoint    where clients connect; written once all workers are there
#   back        the FIFO of the results
#   *.log       what gt-emit, gt-shard, gt-route and srun said
#   ended       the statuses of the pipeline, once it has ended
#   *.key *.pub *.allow   keys, as gt-key makes them
#   files/USER  the directory that up lends to its user, a link, without --files
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
lock_line='the lock of a cluster of gt-cluster'

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

# is_cluster FOLDER: it is the directory of a cluster of this user.
is_cluster() {
  local line=''
  [[ -O $1 && ! -L $1 && -f $1/lock ]] || return 1
  read -r line 2>/dev/null <"$1/lock" || true
  [[ $line == "$lock_line" ]]
}

# make_lock makes the lock with its line, at once or not at all.
make_lock() {
  local new=$base/.lock.$BASHPID status=0
  { printf '%s\n' "$lock_line" >"$new" && ln "$new" "$state/lock"; } || status=$?
  rm -f "$new"
  return "$status"
}

# lock_state makes the directory if it is missing, and waits for the lock.
lock_state() {
  local why files_there tries=0
  while true; do
    [[ -d $base ]] || why=$(make_base 2>&1) || die 2 "${why#*: }"
    why=$(mkdir -p -- "$state" 2>&1) || die 2 "${why#mkdir: }"
    [[ -O $state && ! -L $state ]] ||
      die 2 "$state: belongs to somebody else; GT_CLUSTER_DIR names another place"
    # The files are looked for before the lock, since another process may make it
    # meanwhile.
    files_there=$(ls -A -- "$state" 2>/dev/null) || true
    if [[ -n $files_there ]] && ! is_cluster "$state"; then
      # A lock that was opened just when it was removed gets its line in a moment.
      [[ $files_there == lock ]] && ((++tries < 20)) && sleep 0.1 && continue
      die 2 "$state: is no cluster's directory, and has files; take another --name or" \
        "GT_CLUSTER_DIR"
    fi
    chmod 700 "$state"
    # Another process may make the lock, or remove the directory, at any time.
    [[ -e $state/lock ]] || why=$(make_lock 2>&1) || {
      [[ -d $state && ! -e $state/lock ]] || continue
      remove_empty
      die 2 "$state/lock: cannot be made: ${why##*: }"
    }
    { exec 9>>"$state/lock"; } 2>/dev/null || {
      [[ ! -e $state/lock ]] || die 2 "$state/lock: cannot be written to"
      continue
    }
    if ! flock -w 1 9; then
      say "$name: waits for another gt-cluster, which is at work on it"
      flock -w 150 9 || die 4 "$name: that gt-cluster has not ended within 150 s"
    fi
    # down may have removed the file while this waited for its lock.
    [[ $state/lock -ef /proc/$$/fd/9 ]] || continue
    [[ -s $state/lock ]] || printf '%s\n' "$lock_line" >&9
    return 0
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

# new_token prints a word that nothing else has in its environment.
new_token() {
  od -An -v -tx1 -N16 /dev/urandom | tr -d ' \n'
}

# new_state notes that something is about to be started.
new_state() {
  token=$(new_token)
  # The logs tell when workers are there. If the disk has no room for them, up would
  # wait in vain.
  { head -c 65536 /dev/zero >"$state/room" && rm -f "$state/room"; } 2>/dev/null ||
    die 2 "$state: No space left on device"
  put machine "$HOSTNAME"
  put asked "$asked"
  put token "$token"
}

# remove_own FILE removes it if gt-cluster makes files of that name, and fails if not.
# Of what up lends, which are links, only these go.
remove_own() {
  local name=${1##*/}
  case ${name%.new} in
    token | machine | asked | workers | endpoint | back | ended | gate | room | hosts) ;;
    emit.log | shard.log | route.log | slurm.log | client.allow) ;;
    client.key | emit.key | route.key | work.key) ;;
    client.pub | emit.pub | route.pub | work.pub) ;;
    files)
      find "$1" -mindepth 1 -maxdepth 1 -type l -delete && rmdir -- "$1" 2>/dev/null
      return
      ;;
    *) return 1 ;;
  esac
  rm -rf -- "$1"
}

# clear_state removes the state, except the records of hosts that are not clean.
clear_state() {
  local file
  for file in "$state"/*; do
    case ${file##*/} in
      lock | token | machine | asked | workers | hosts) ;;
      *) remove_own "$file" || true ;;
    esac
  done
  rmdir "$state/hosts" 2>/dev/null || true
  [[ ! -e $state/hosts ]] || return 1
  remove_state
}

# remove_state removes the lock last, since without it the rest would be nobody's.
# What somebody has put there stays.
remove_state() {
  local file others=''
  while IFS= read -r -d '' file; do
    [[ ${file##*/} == lock ]] || remove_own "$file" || others+=", ${file##*/}"
  done < <(find "$state" -mindepth 1 -maxdepth 1 -print0 | sort -z)
  rm -f -- "$state/lock"
  remove_empty
  [[ -z $others ]] ||
    say "$state: stays, since gt-cluster did not make ${others#, }"
}

# remove_empty removes the directory, and that of all clusters if it was made here and
# is empty.
remove_empty() {
  rmdir -- "$state" 2>/dev/null || true
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

# shellcheck shell=bash disable=SC2034,SC2154 # variables of gt-cluster
# The commands up, logs, down and run, and how a run's programs are started and ended.

# granted_cores prints how many processors this machine grants gt, which in a container
# may be fewer than it has.
granted_cores() {
  gt-work --granted | sed -n 's/^cores //p'
}

# plan decides how many workers there are and where, and all that no option says.
plan() {
  local processors
  lent=''
  processors=$(granted_cores)
  version=$(gt-work --version)
  listen=${listen:-ipc://@gt-cluster-${token:-TOKEN}}
  if [[ -n $hosts_file ]]; then
    ((${#records[@]})) || read_hosts
  elif [[ -n $slurm ]]; then
    workers=${count:-${SLURM_NTASKS:-1}}
  else
    workers=${count:-$processors}
  fi
  # On this machine alone the cluster's user may name the files that a run without a
  # cluster may.
  if [[ -z $files$hosts_file$slurm ]]; then
    lent=$state/files/$(user_name)
    files=$state/files
    root=${root:-$PWD}
  fi
}

cluster_up() {
  [[ -z $dry ]] || { show_up && return; }
  [[ -z $hosts_file ]] || read_hosts
  lock_state
  if read_state; then
    if is_up; then
      already_up
      return
    fi
    say "$name: clears away what an earlier one has left"
    take_down || die 4 "$name: is not clear; see above"
    lock_state
  fi
  bring_up
  tell "$endpoint" # if that fails, the cluster is taken down, as nobody knows of it
  trap - EXIT INT TERM HUP PIPE
}

# already_up prints the endpoint; a cluster with the same options is no error.
already_up() {
  local had
  had=$(<"$state/asked")
  [[ -z $asked || $asked == "$had" ]] || die 2 "$name: is up, with options" \
    "'${had# }' and not '${asked# }': gt-cluster down ends it, and --name NAME makes" \
    "another"
  say "$name: is up"
  tell "$endpoint"
}

# bring_up starts the cluster; the caller holds the lock. If this or the caller ends
# before the caller drops the traps, everything is taken down again.
bring_up() {
  trap 'not_up $?' EXIT
  trap 'exit 130' INT TERM HUP
  trap : PIPE # a reader that is gone counts as output that cannot be written
  new_state
  plan
  put workers "$workers"
  make_keys
  mkdir -p "$state/hosts"
  [[ -z $lent ]] || { mkdir -p "$files" && ln -s -- "$PWD" "$lent"; }
  start_pipeline || exit 4
  if [[ -n $hosts_file ]]; then
    port=$(route_port)
    start_hosts || exit 4
  elif [[ -n $slurm ]]; then
    port=$(route_port)
    start_slurm
  fi
  await_workers || exit 4
  [[ -z $hosts_file ]] || let_go || exit 4
  put endpoint "$endpoint"
}

not_up() {
  trap '' INT TERM HUP PIPE
  [[ -n ${token:-} ]] || exit "$1"
  take_down || true
  say "$name: is not up; what was started has been taken down"
  exit "$1"
}

# show_up prints the commands that up would run.
show_up() {
  local i words head route_pub=ROUTE_PUBLIC_KEY
  plan
  token=TOKEN
  echo "mkdir -p $(quoted "$state")"
  echo "mkfifo $(quoted "$state/back")"
  [[ -z $lent ]] ||
    echo "mkdir $(quoted "$files") && ln -s $(quoted "$PWD") $(quoted "$lent")"
  if [[ -n $hosts_file$slurm ]]; then
    echo "gt-key >$(quoted "$state/route.key")"
    echo "gt-key >$(quoted "$state/work.key")"
  fi
  ! needs_keys || {
    echo "gt-key >$(quoted "$state/emit.key")"
    echo "gt-key >$(quoted "$state/client.key")"
  }
  echo "setsid bash -c $(quoted "$(pipeline)")"
  head=${address:-ADDRESS} port=${port:-PORT}
  for i in "${!records[@]}"; do show_host "$i"; done
  if [[ -n $slurm ]]; then
    label='$SLURMD_NODENAME' first=''
    worker_command '$SLURM_LOCALID'
    echo "srun --overlap --ntasks $workers bash -s"
    echo "task: $(quoted "${words[@]}") --key /dev/fd/63"
  fi
}

show_host() {
  local i words
  load_host "$1"
  ssh_command
  quoted "${words[@]}"
  echo
  for ((i = 0; i < slots; i++)); do
    worker_command "$i"
    echo "$label: ${path:+PATH=$(quoted "$path"):\$PATH }LOCAL_RANK=$i" \
      "LOCAL_WORLD_SIZE=$slots setsid $(quoted "${words[@]}") --key /dev/fd/63"
  done
}

# need_state reads the state of a cluster that is or was up, or dies.
need_state() {
  read_state || not_there
  load_hosts
}

# not_there dies and says that no such cluster is up.
not_there() {
  local others
  others=$(names_up)
  die 4 "$name: no such cluster is up${others:+ (there is $others)}; gt-cluster up" \
    "${named:+--name $name }starts one"
}

# show_asked WHAT prints the commands that would ask the hosts.
show_asked() {
  local i words
  for i in "${!records[@]}"; do
    load_host "$i"
    ssh_command
    echo "$(quoted "${words[@]}") # $1"
  done
}

cluster_logs() {
  local log i logs=()
  need_state
  if ((${#rest[@]})); then
    for i in "${!records[@]}"; do
      load_host "$i"
      [[ $label != "${rest[0]}" ]] || break
    done
    ((${#records[@]})) ||
      die 2 "logs: no host '${rest[0]}'; all of $name runs on this machine: logs alone"
    [[ ${label:-} == "${rest[0]}" ]] || die 2 "logs: no host '${rest[0]}'; there are" \
      "$(for i in "${records[@]}"; do printf '%s ' "${i%%$'\x1f'*}"; done)"
    [[ -z $dry ]] || { ssh_command && quoted "${words[@]}" && echo && return; }
    host_said cat
    return
  fi
  for log in "$state"/*.log; do logs+=("$log"); done
  if [[ -n $dry ]]; then
    quoted tail -q -n +1 ${follow:+-F} "${logs[@]}" && echo
    show_asked logs
  elif [[ -n $follow ]]; then
    tail -q -n +1 -F --pid=$$ "${logs[@]}" || unwritten $?
  else
    cat "${logs[@]}" || unwritten $?
    for i in "${!records[@]}"; do
      load_host "$i"
      host_said sed "s|^|${label//|/}: |"
    done
  fi
}

# host_said FILTER... prints what the host's workers have said, through the filter.
host_said() {
  local statuses
  on_host < <(host_script logs) | "$@" || {
    statuses=("${PIPESTATUS[@]}")
    ((statuses[1] == 0)) || unwritten "${statuses[1]}"
    die 4 "$label: cannot be reached"
  }
}

cluster_down() {
  [[ -n $dry ]] || sweep
  if [[ ! -d $state ]]; then
    say "$name: is not up"
    return
  fi
  if [[ -n $dry ]]; then
    ! read_state || { load_hosts && show_asked stop; }
    echo "rm -rf $(quoted "$state")"
    return
  fi
  lock_state
  if read_state; then
    take_down || die 4 "$name: something is left; see above"
  else
    remove_state
  fi
}

# cluster_run runs the program on the cluster that is up, or on workers of its own.
cluster_run() {
  local shard=() last=() ranks=1
  config=${config:-${GT_CONFIG:-}}
  local emit=(env -u GT_CONNECT --default-signal=INT)
  [[ -z $config ]] || emit+=("GT_CONFIG=$config")
  emit+=(gt-emit "${rest[@]}")
  [[ -z $config ]] || shard_command "${count:-$(granted_cores)}"
  [[ -z $count ]] || ranks=$count
  if [[ -n $hosts_file$slurm ]]; then
    own_cluster
  elif [[ -z $count ]] && found_up; then
    through_cluster
  elif [[ -n $named ]]; then
    not_there
  else
    last=(env --default-signal=INT gt-route -n "$ranks" ${backend:+--backend "$backend"}
      ${threads:+--threads "$threads"} ${memory:+--memory "$memory"}
      ${root:+--root "$root"})
  fi
  if [[ -n $dry ]]; then
    ((${#emit[@]} == 0)) || printf '%s | ' "$(quoted "${emit[@]}")"
    ((${#shard[@]} == 0)) || printf '%s | ' "$(quoted "${shard[@]}")"
    printf '%s\n' "$(quoted "${last[@]}")"
    return
  fi
  umask "$user_umask"
  run_stages
}

# found_up: the cluster is up. It waits for an up that is still at work.
found_up() {
  [[ -d $state ]] || return 1
  [[ -n $dry ]] || lock_state
  if ! read_state; then
    [[ -n $dry ]] || remove_state
    exec 9>&-
    return 1
  fi
  exec 9>&-
  is_up || die 4 "$name: has ended, see gt-cluster status; gt-cluster down clears it away"
}

# sweep takes down what killed runs have left on this machine.
sweep() {
  local folder name state token endpoint records=()
  for folder in "$base"/run-*; do
    is_cluster "$folder" || continue
    [[ $(cat "$folder/machine" 2>/dev/null) == "$HOSTNAME" ]] || continue
    name=${folder##*/}
    state=$folder
    ! grep -qs gt-cluster "/proc/${name#run-}/cmdline" || continue
    say "$name: takes down what a run that was killed has left"
    lock_state
    ! read_state || take_down || say "$name: something is left; see above"
    exec 9>&-
  done
}

# through_cluster makes the last stage a client of the cluster. Without a config it
# is the only stage: then names of files mean files of the cluster, and clients may
# use all their options.
through_cluster() {
  local to=$endpoint own
  to=${to/\/\/\[::\]:/\/\/127.0.0.1:}
  to=${to/\/\/0.0.0.0:/\/\/127.0.0.1:}
  last=(env --default-signal=INT gt-emit --to "$to")
  own=$state/files/$(user_name)
  [[ ! -L $own || $own -ef . ]] ||
    say "$name: names of files are seen from $(readlink -- "$own"), where it was started"
  [[ ! -e $state/client.key ]] ||
    last+=(--key "$state/client.key" --server-key "$state/emit.pub")
  ((${#shard[@]} == 0)) || return 0
  emit=()
  last+=("${rest[@]}")
}

# own_cluster starts a cluster for this run. It ends even if this process is killed;
# what is left then, such as logs on hosts, is removed by the next such run or by
# down.
own_cluster() {
  name=run-$$
  state=$base/$name
  [[ -z $hosts_file ]] || read_hosts
  local config=''
  if [[ -n $dry ]]; then
    show_up
    endpoint=ENDPOINT
  else
    leash="{ tail --pid=$$ -f /dev/null; kill 0; } & "
    sweep
    lock_state
    bring_up
    trap 'lock_state; take_down || exit 4' EXIT
    trap - INT TERM HUP PIPE
    exec 9>&-
  fi
  through_cluster
}

# run_stages runs emit, shard and last as a pipe; the status is that of the last.
# The program is read from descriptor $input, a copy of standard input, or "-" for
# none.
run_stages() {
  local pid status=0 mark
  mark=$(new_token)
  exec 3<&0
  tie "$mark"
  trap 'interrupt INT' INT
  trap 'interrupt TERM' TERM
  if ((${#shard[@]})); then
    GT_CLUSTER=$mark "${emit[@]}" <&"$input" 6>&- |
      GT_CLUSTER=$mark "${shard[@]}" 6>&- | GT_CLUSTER=$mark "${last[@]}" 3<&- 6>&- &
  elif ((${#emit[@]} == 0)); then
    GT_CLUSTER=$mark "${last[@]}" <&"$input" 3<&- 6>&- &
  else
    GT_CLUSTER=$mark "${emit[@]}" <&"$input" 6>&- | GT_CLUSTER=$mark "${last[@]}" 3<&- 6>&- &
  fi
  pid=$!
  wait "$pid" || status=$?
  while kill -0 "$pid" 2>/dev/null; do
    status=0
    wait "$pid" || status=$?
  done
  trap '' INT TERM
  echo >&6 || true
  return "$status"
}

# tie MARK ends the processes with that mark when this process ends without a line
# to descriptor 6, as when it is killed.
tie() {
  exec 6> >(
    trap '' INT TERM HUP
    exec >/dev/null 2>&1 3<&-
    read -r || end_marked "$1"
  )
}

# interrupt SIGNAL passes it on to the stages, unless the terminal has sent it to
# them. `interrupted` says which it was. With `hasty` the stages do not end what they
# have begun.
interrupt() {
  local stat pids signal
  interrupted=$1
  read -ra stat </proc/$$/stat
  [[ $1 != INT || ${stat[4]} != "${stat[7]}" || -n ${hasty:-} ]] || return 0
  read -ra pids <"/proc/$$/task/$$/children" || true
  for signal in "$1" ${hasty:+INT TERM}; do # by the second gt-route ends at once
    kill -s "$signal" "${pids[@]}" 2>/dev/null || true
  done
}

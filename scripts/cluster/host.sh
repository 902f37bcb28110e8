# shellcheck shell=bash disable=SC2154 # variables that host_script sends along
# What is done on a host. These functions, and the variables that they read, are
# sent to a bash there over the standard input of ssh or srun. So no secret is on a
# command line, or on a disk of the host.

# gt-cluster reads only answers that begin with "@", since a login shell may print,
# too.

# head_address prints the address at which this host reaches gt-route.
head_address() {
  local head=${address:-${SLURM_LAUNCH_NODE_IPADDR:-${SSH_CONNECTION%% *}}}
  [[ $head != *:* || $head == \[* ]] || head="[$head]"
  printf '%s' "$head"
}

# worker_command I puts the command of this host's worker I into `words`.
worker_command() {
  words=(gt-work --connect "tcp://$head:$port" --route-key="$route_pub"
    --name "$label/$1" --timeout "$timeout")
  [[ -z $first ]] || words+=(--rank $((first + $1)))
  [[ -z $root ]] || words+=(--root "$root")
  [[ -z $backend ]] || words+=(--backend "$backend")
  [[ -z $threads ]] || words+=(--threads "$threads")
  [[ -z $memory ]] || words+=(--memory "$memory")
  [[ -z $silence ]] || words+=(--silence "$silence")
}

# host_lacks prints a line for each thing that a worker would miss here.
host_lacks() {
  local said
  if ! command -v gt-work >/dev/null; then
    echo "there is no gt-work on PATH; install gt, or say path=DIR in the hosts file"
  else
    said=$(gt-work --version 2>&1 </dev/null | head -n 1)
    [[ $said == "$version" ]] ||
      echo "its gt is another: $said; expected $version"
    said=$(gt-work ${backend:+--backend "$backend"} </dev/null 2>&1 >/dev/null) ||
      echo "${said%%$'\n'*}"
  fi
  local directory=${root%/\*}
  [[ -z $root || (-d $directory && -r $directory && -x $directory) ]] ||
    echo "root=$root is no directory that can be read"
  [[ -z $port ]] || timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2"' - \
    "${head//[\[\]]/}" "$port" 2>/dev/null || echo \
    "gt-route's tcp://$head:$port is not reached from there; see --address, --port"
  said=$({ mkdir -p "$folder" && chmod 700 "$folder" &&
    head -c 65536 /dev/zero >"$folder/room"; } 2>&1) || echo "$folder: ${said##*: }"
  rm -f "$folder/room"
}

# host_start starts the workers, and stays until the line "ok" says that all workers
# of the cluster are there and may go on alone. If the input ends before, or a
# worker does, it undoes everything.
host_start() {
  local i lacks pids=() words word
  echo @begun
  lacks=$(host_lacks)
  if [[ -n $lacks ]]; then
    printf '@lacks %s\n' "${lacks//$'\n'/$'\n@lacks '}"
    host_stop
    exit 4
  fi
  for ((i = 0; i < slots; i++)); do
    worker_command "$i"
    GT_CLUSTER=$mark LOCAL_RANK=$i LOCAL_WORLD_SIZE=$slots \
      setsid "${words[@]}" --key <(printf '%s\n' "$work_key") \
      </dev/null >>"$folder/$i.log" 2>&1 &
    pids+=("$!")
  done
  echo @started
  # This first asks whether there is input, since a read with a limit can lose a
  # word.
  until read -r -t 0; do
    sleep 0.2
    for i in "${!pids[@]}"; do
      kill -0 "${pids[i]}" 2>/dev/null && continue
      echo "@lacks worker $i has ended: $(tail -n 1 "$folder/$i.log")"
      host_stop
      exit 4
    done
  done
  read -r word && [[ $word == ok ]] && exit 0
  host_stop
  exit 4
}

# host_stop ends what runs here for the cluster, and removes what was made for it.
host_stop() {
  end_marked "$mark" || { echo "@lacks processes do not end" && return 1; }
  rm -rf -- "$folder"
  rmdir -- "${folder%/*}" 2>/dev/null || true
  echo @clean
}

# host_status prints which workers have ended, and what is lacking.
host_status() {
  local i pid said running=' '
  for pid in $(marked "$mark"); do
    running+="$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^LOCAL_RANK=//p') "
  done 2>/dev/null
  for ((i = 0; i < slots; i++)); do
    [[ $running != *" $i "* ]] || continue
    said=$(tail -n 1 "$folder/$i.log" 2>/dev/null) || true
    echo "@gone $i its process has ended$([[ -n $said ]] && echo ": $said" ||
      echo " and said nothing, as one that was killed")"
  done
  host_lacks | sed 's/^/@lacks /'
}

# host_logs prints what the workers said; with `follow` it goes on until it is
# ended.
host_logs() {
  cd "$folder" 2>/dev/null || return 0
  if [[ -n $follow ]]; then
    exec tail -q -n +1 -F --pid=$PPID ./*.log 2>/dev/null
  fi
  cat ./*.log
}

# host_task runs the worker of a task of Slurm.
host_task() {
  local words
  label=$SLURMD_NODENAME
  worker_command "$SLURM_LOCALID"
  exec "${words[@]}" --key <(printf '%s\n' "$work_key") </dev/null
}

# host_script WHAT prints these functions and variables, and the call of host_WHAT.
host_script() {
  local variable
  for variable in mark label slots first root path backend threads memory address port \
    timeout silence version route_pub work_key follow bin; do
    printf '%s=%q\n' "$variable" "${!variable:-}"
  done
  declare -f marked end_marked head_address worker_command host_lacks host_start \
    host_stop host_status host_logs host_task
  cat <<'SCRIPT'
PATH=${path:+$path:}$PATH:$bin
folder=${XDG_STATE_HOME:-$HOME/.local/state}/gt-hosts/$mark
head=$(head_address)
SCRIPT
  echo "umask $user_umask"
  echo "host_$1 || exit"
}

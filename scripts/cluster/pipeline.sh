# shellcheck shell=bash disable=SC2034,SC2154 # variables of gt-cluster
# The programs on this machine: gt-emit for the clients, gt-shard, and gt-route.

# quoted WORD... prints the words as a shell reads them.
quoted() {
  local text
  printf -v text '%q ' "$@"
  printf '%s' "${text% }"
}

# is_local ENDPOINT: the kernel can say which user connects there, so no keys are
# needed.
is_local() {
  case $1 in
    ipc://* | tcp://127.* | tcp://localhost:* | 'tcp://[::1]:'*) ;;
    *) return 1 ;;
  esac
}

# needs_keys: clients need keys.
needs_keys() {
  [[ -n $allow ]] || ! is_local "$listen"
}

# pair NAME makes the keys NAME.key and NAME.pub.
pair() {
  { gt-key >"$state/$1.key" && gt-key --public "$state/$1.key" >"$state/$1.pub"; } ||
    die 2 "$state: no key could be written there"
}

make_keys() {
  if [[ -n $hosts_file$slurm ]]; then
    pair route
    pair work
    work_key=$(<"$state/work.key") route_pub=$(<"$state/route.pub")
  fi
  if needs_keys; then
    pair emit
    pair client
    # This user's key comes last, so that lines have the same numbers as in the
    # file.
    { awk 1 <"${allow:-/dev/null}" && echo "$(<"$state/client.pub") user=$(user_name)"; } \
      >"$state/client.allow" || die 2 "$state: cannot be written"
  fi
}

# user_name prints the name of this user, in the form that gt-emit takes.
user_name() {
  local user
  user=$(id -un 2>/dev/null) || true
  [[ $user =~ ^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$ ]] || user=u$(id -u)
  printf '%s' "$user"
}

# shard_command N puts gt-shard with the config into `shard`, and the config's
# number of ranks into `ranks`. If the config does not say how many, they are N.
shard_command() {
  local fixed=(env -u GT_CONFIG gt-shard -c "$config")
  shard=("${fixed[@]}")
  ranks=$(probe "${shard[@]}")
  [[ -z $ranks ]] || return 0
  shard=("${fixed[@]}" -n "$1")
  ranks=$(probe "${shard[@]}")
  [[ -n $ranks ]] || ranks=1
}

# probe COMMAND... prints how many ranks a program has after the command, if that
# works.
probe() {
  printf '%s\n' 'x = zeros f32[8,8]' 'print x' | env -u GT_CONNECT gt-emit |
    "$@" 2>/dev/null | awk '
      $1 == "mesh" { n = 1; for (i = 2; i <= NF; i++)
                       if (split($i, part, "=") == 2) n *= part[2] }
      END { print n }' || true
}

# pipeline prints the command that is the cluster on this machine.
pipeline() {
  local emit=(gt-emit -l "$listen" --back "$state/back" -v) shard=() ranks
  local route=(gt-route -v --keep-going --timeout "$timeout")
  [[ -z $config ]] || emit+=(-c "$config")
  [[ -z $files ]] || emit+=(--files "$files")
  emit+=("${serving[@]}")
  ! needs_keys ||
    emit+=(--key "$state/emit.key" --allow "$state/client.allow")
  if [[ -n $hosts_file$slurm ]]; then
    route+=(--bind "tcp://*:${port:-*}" --workers "$workers"
      --key "$state/route.key" --allow "$state/work.pub")
  else
    route+=(-n "$workers")
    [[ -z $backend ]] || route+=(--backend "$backend")
    [[ -z $threads ]] || route+=(--threads "$threads")
    [[ -z $memory ]] || route+=(--memory "$memory")
    # Workers without a --root of their own open only files of clients.
    [[ -z $files ]] || root=${root:-$files/*}
    [[ -z $root ]] || route+=(--root "$root")
  fi
  [[ -z $config ]] || shard_command "$workers"
  printf '%s 2>>%q | ' "$(quoted "${emit[@]}")" "$state/emit.log"
  [[ -z $config ]] ||
    printf '%s 2>>%q | ' "$(quoted "${shard[@]}")" "$state/shard.log"
  printf '%s 2>>%q >%q' "$(quoted "${route[@]}")" "$state/route.log" "$state/back"
}

# close_others closes all files but the standard ones, such as the lock, so that
# nobody who waits for the end of such a file waits for a program that goes on
# alone.
close_others() {
  local file
  for file in /proc/"$BASHPID"/fd/*; do
    file=${file##*/}
    ((file <= 2)) || eval "exec $file>&-"
  done
}

# start_pipeline starts it in a session of its own, so that no terminal ends it. If
# the state is removed by others, it ends: nobody could find it any more.
start_pipeline() {
  local why
  why=$(mkfifo "$state/back" 2>&1) || die 2 "${why#mkfifo: }"
  touch "$state"/{emit,route}.log
  (
    close_others
    umask "$user_umask"
    exec env -u GT_CONNECT -u GT_CONFIG GT_CLUSTER="$token" setsid bash -c "$leash
      { tail --pid=\$\$ -n 0 --follow=name $(quoted "$state/token"); kill 0; } &
      $(pipeline)
      printf '%s ' \"\${PIPESTATUS[@]}\" >$(quoted "$state/ended")"
  ) </dev/null >/dev/null 2>&1 &
  pipeline_pid=$!
  disown
  until grep -q ' listens at ' "$state/emit.log" &&
    { [[ -z $hosts_file$slurm ]] || route_port >/dev/null; }; do
    pipeline_runs || return 1
    sleep 0.05
  done
  endpoint=$(sed -n 's/^gt-emit: listens at //p;T;q' "$state/emit.log")
}

# route_port prints the port where gt-route waits for workers, and fails before it
# does.
route_port() {
  local found
  found=$(sed -n 's/^gt-route: waits for .* at tcp:.*:\([0-9]*\)$/\1/p;T;q' \
    "$state/route.log" 2>/dev/null)
  [[ -n $found ]] && echo "$found"
}

# pipeline_runs fails if the pipeline has ended, and says why.
pipeline_runs() {
  local log said
  # If gt-emit cannot listen, gt-route waits in vain for a reader of its results.
  if [[ ! -e $state/ended ]] && kill -0 "$pipeline_pid" 2>/dev/null; then
    [[ -s $state/emit.log ]] || return 0
    ! grep -q ' listens at ' "$state/emit.log" || return 0
  fi
  for log in "$state"/{emit,shard,route,slurm}.log; do
    [[ -s $log ]] || continue
    said=$(tail -n 2 "$log" | sed 's/[[:cntrl:]]/?/g')
    printf '%s\n' "${said//"$state/client.allow"/"${allow:-$state/client.allow}"}" >&2
  done
  return 1
}

# roster prints a line for each worker that gt-route has seen: its number, its host,
# and "here" or why it is lost.
roster() {
  [[ ! -e $state/route.log ]] || sed -nE \
    -e 's/^gt-route: worker ([0-9]+) \(.* on ([^ ]*), pid [0-9]+\) is (here|lost: .*)$/\1\t\2\t\3/p' \
    -e 's/^gt-route: worker ([0-9]+) (was killed|exited|could not) (.*)$/\1\t\t\2 \3/p' \
    "$state/route.log" | awk -F '\t' -v OFS='\t' '
      $2 != "" { host[$1] = $2 }
      { now[$1] = $3 }
      END { for (w in now) print w, host[w], now[w] }' | sort -n
}

# here prints how many workers are there.
here() {
  roster | awk -F '\t' '$3 == "here"' | wc -l
}

# slurm_runs fails if srun has ended, although its workers have not.
slurm_runs() {
  [[ -n $slurm_pid ]] || return 0
  kill -0 "$slurm_pid" 2>/dev/null && return
  say "srun has ended before all workers were here$(
    tail -n 1 "$state/slurm.log" 2>/dev/null | sed 's/^/: /')"
  return 1
}

# await_workers waits until all are there; if that cannot be, it says why and fails.
await_workers() {
  local now='' seen=''
  while now=$(here) && ((now < workers)); do
    if [[ $now != "$seen" && -t 2 ]]; then
      printf '\r%s of %s workers are here' "$now" "$workers" >&2
      seen=$now
    fi
    if ! { pipeline_runs && hosts_run && slurm_runs; }; then
      end_progress "$seen"
      return 1
    fi
    sleep 0.1
  done
  end_progress "$seen"
}

end_progress() {
  [[ -z $1 ]] || printf '\r\033[K' >&2
}

# start_slurm starts a task for each worker; srun's input gives them their key.
start_slurm() {
  local slots='' first='' path='' label='' mark=''
  # shellcheck disable=SC2094
  (
    close_others
    umask "$user_umask"
    exec env GT_CLUSTER="$token" setsid srun --overlap --ntasks "$workers" bash -s
  ) < <(close_others && host_script task) >>"$state/slurm.log" 2>&1 &
  slurm_pid=$!
  disown
}

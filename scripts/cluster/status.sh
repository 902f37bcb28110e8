# shellcheck shell=bash disable=SC2034,SC2154 # variables of gt-cluster
# The command status prints a row for each part, with what it lacks.

cluster_status() {
  local answers
  need_state
  [[ -z $dry ]] || { show_asked status && return; }
  answers=$(mktemp -d "${TMPDIR:-/tmp}/gt-cluster.XXXXXX") ||
    die 2 "status: there is no room for what hosts answer"
  # shellcheck disable=SC2064 # the folder is known now
  trap "rm -rf $(quoted "$answers")" EXIT
  port=$(route_port) || true
  version=$(gt-work --version)
  ask_all status "$answers"
  show rows
}

# rows prints all rows, and fails if something lacks.
rows() {
  local running lacking=0
  running=" $(marked "$token" | while read -r pid; do
    cat "/proc/$pid/comm" 2>/dev/null || true
  done | tr '\n' ' ')"
  printf 'part\twhere\tstate\tlacks\n'
  program_rows || lacking=1
  worker_rows || lacking=1
  return "$lacking"
}

# row PART WHERE STATE LACKS prints a row, and fails if the part lacks something.
row() {
  local lacks=${4//[[:cntrl:]]/?}
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${lacks:--}"
  [[ -z $4 ]]
}

# program_rows prints the rows of the programs on this machine.
program_rows() {
  local part lacks='' lacking=0 statuses=()
  [[ -n $endpoint || -e $state/ended ]] ||
    lacks="up has not come to its end; if none is at work, gt-cluster down clears it"
  [[ ! -s $state/ended ]] || read -ra statuses <"$state/ended" || true
  for part in gt-emit gt-shard gt-route; do
    [[ $part != gt-shard || -e $state/shard.log ]] || continue
    if [[ $running == *" $part "* ]]; then
      row "$part" "$HOSTNAME" runs "$lacks" || lacking=1
    else
      ended_row "$part" "${statuses[0]:-}"
      lacking=1
    fi
    statuses=("${statuses[@]:1}")
  done
  return "$lacking"
}

# ended_row PROGRAM STATUS prints how it ended. The shell that started it noted the
# status, unless that shell was killed.
ended_row() {
  local said signal=$(($2 - 128))
  said=$(tail -n 1 "$state/${1#gt-}.log" 2>/dev/null || true)
  if [[ -z $2 ]]; then
    row "$1" "$HOSTNAME" ended "nothing tells how, as when the machine was restarted"
  elif ((signal > 0 && signal != 2)); then
    row "$1" "$HOSTNAME" killed "was killed by signal $signal (SIG$(kill -l "$signal"))"
  else
    row "$1" "$HOSTNAME" ended "with status $2${said:+: $said}"
  fi
}

# worker_rows prints the rows of all workers, with what their hosts lack.
worker_rows() {
  local -A seen=()
  local number now i gone lacking=0
  while IFS= read -r now; do
    seen[${now%%$'\t'*}]=${now#*$'\t'}
  done < <(roster)
  workers=$(cat "$state/workers" 2>/dev/null || echo 0)
  if ((${#records[@]} == 0)); then
    for ((number = 0; number < workers; number++)); do
      worker_row "$number" "$HOSTNAME" '' '' || lacking=1
    done
  fi
  for i in "${!records[@]}"; do
    load_host "$i"
    now=$(lacks_of "$i" answer "$(<"$answers/$i.status")" "$answers" |
      tr '\t\n' ' ;' | sed 's/;$//; s/;/; /g')
    for ((number = first; number < first + slots; number++)); do
      gone=$(sed -n "s/^@gone $((number - first)) //p" "$answers/$i.answer")
      worker_row "$number" "$label" "$now" "$gone" || lacking=1
    done
  done
  return "$lacking"
}

# worker_row NUMBER HOST LACKS GONE prints a row, with what gt-route knows of the
# worker, in `seen`. GONE is what the host says of its end, if its process has
# ended.
worker_row() {
  local known=${seen[$1]:-} host=$2 lacks=$3 gone=$4 now=lost
  if [[ -z $known ]]; then
    row "worker $1" "$host" missing "${lacks:-${gone:-it has not come}}"
    return
  fi
  ((${#records[@]})) || host=${known%%$'\t'*}
  host=${host:-$HOSTNAME}
  known=${known#*$'\t'}
  if [[ $known == here && $running != *' gt-route '* ]]; then
    row "worker $1" "$host" ended "${lacks:-gt-route has ended}"
  elif [[ $known == here && -z $gone ]]; then
    row "worker $1" "$host" here "$lacks"
  else
    case $known in
      'was killed'*) now=killed ;;
      exited* | 'could not'*) now=ended ;;
    esac
    [[ -z $gone ]] || now=ended
    [[ $known != here ]] || known=
    known=${gone}${gone:+${known:+; }}${known#lost: }
    row "worker $1" "$host" "$now" "${lacks:+$lacks; }$known"
  fi
}

# shellcheck shell=bash disable=SC2034,SC2154 # variables of gt-cluster and host.sh
# Workers on other hosts: the hosts of a file, over ssh, and the tasks of a Slurm
# job. `records` has a record for each host. The file hosts/I of the state has the
# same record from before the host is touched until the host is known to be clean.
# Beside it are the host's answer, hosts/I.out, the messages of ssh, hosts/I.err,
# and its status, hosts/I.status.

records=()
workers=0
are_let_go=''
most_at_once=32 # at most so many hosts are asked at once
ssh_words=(ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5
  -o ServerAliveCountMax=3)

# read_hosts reads the hosts file into `records` and adds up `workers`.
read_hosts() {
  local line number=0 words
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    line=${line%$'\r'}
    [[ $line != \#* ]] || line=
    line=${line%%[[:blank:]]#*}
    # shellcheck disable=SC2162 # a backslash keeps a blank of a path
    read -a words <<<"$line"
    ((${#words[@]} == 0)) || read_host "$hosts_file:$number" "${words[@]}"
  done <"$hosts_file"
  ((workers > 0)) || die 2 "$hosts_file: names no host"
}

# read_host PLACE HOST WORD... makes the record of a line of the hosts file.
read_host() {
  local place=$1 label=$2 ssh_port='' slots='' gpus='' root=$root path=''
  local backend=$backend word key i
  local form='^([A-Za-z0-9_][A-Za-z0-9._-]*@)?([A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:]+\])(:([0-9]{1,5}))?$'
  [[ $label =~ $form ]] ||
    die 2 "$place: '$label' is no host; expected [user@]host[:port]"
  local target=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
  ssh_port=${BASH_REMATCH[4]}
  target=${target//[\[\]]/}
  for word in "${@:3}"; do
    key=${word%%=*}
    [[ $word == ?*=?* && $word != *[[:cntrl:]]* ]] || key=
    case $key in
      slots | gpus)
        [[ ${word#*=} =~ ^[1-9][0-9]{0,3}$ ]] ||
          die 2 "$place: $word: expected a number from 1 to 9999"
        [[ -z $slots ]] || die 2 "$place: slots= and gpus= say the same twice"
        slots=${word#*=}
        [[ $key != gpus || -n $backend ]] || backend=cuda
        ;;
      root) root=${word#*=} ;;
      path) path=${word#*=} ;;
      *) die 2 "$place: '$word' is not known;" \
        "expected slots=N or gpus=N, root=DIR, path=DIR" ;;
    esac
  done
  for i in "${!records[@]}"; do
    [[ ${records[i]%%$'\x1f'*} != "$label" ]] ||
      die 2 "$place: $label is there already; slots=N says how many workers it has"
  done
  slots=${slots:-1}
  records+=("$label"$'\x1f'"$target"$'\x1f'"$ssh_port"$'\x1f'"$slots"$'\x1f'"$workers"$'\x1f'"$root"$'\x1f'"$path"$'\x1f'"$backend")
  workers=$((workers + slots))
}

# load_host I puts its record into the variables of host.sh and on_host.
load_host() {
  IFS=$'\x1f' read -r label target ssh_port slots first root path backend \
    <<<"${records[$1]}"
  mark=$token.$1
}

# load_hosts reads the records of the state.
load_hosts() {
  local file
  records=()
  for file in "$state"/hosts/*; do
    [[ ! ${file##*/} =~ ^[0-9]+$ ]] || records[${file##*/}]=$(<"$file")
  done
}

ssh_command() { # puts the command into `words`
  words=("${ssh_words[@]}" ${ssh_port:+-p "$ssh_port"} -- "$target" bash -s)
}

# on_host runs standard input in a bash on the host.
on_host() {
  local words
  ssh_command
  GT_CLUSTER=$token "${words[@]}" 7<&- 8>&- 9>&-
}

# session I starts the workers of that host, and keeps the connection until a line
# comes through the gate, which says that all workers are there. If the gate is
# closed before that, by up or since up is gone, the host undoes what it did.
session() {
  local status=0
  load_host "$1"
  on_host < <(
    host_script start
    ! read -r <&7 || echo ok
  ) >"$state/hosts/$1.out" 2>"$state/hosts/$1.err" || status=$?
  echo "$status" >"$state/hosts/$1.status"
}

# start_hosts starts the sessions, of which at most $most_at_once are not yet
# answered.
start_hosts() {
  local i open
  mkfifo "$state/gate" || return 1
  exec 8<>"$state/gate"
  exec 7<"$state/gate"
  for i in "${!records[@]}"; do
    put "hosts/$i" "${records[i]}"
    session "$i" 8>&- 9>&- &
    while open=$((i + 1 - $(grep -lsx '@started' "$state"/hosts/*.out | wc -l))) &&
      ((open >= most_at_once)); do
      hosts_run || return 1
      sleep 0.1
    done
  done
}

# hosts_run fails if a host has failed, and says which one and what it lacks. Before
# the hosts were let go, none may have ended, whatever its status.
hosts_run() {
  local file i bad=0
  for file in "$state"/hosts/*.status; do
    [[ -s $file ]] || continue
    [[ $(<"$file") != 0 || -z $are_let_go ]] || continue
    i=${file##*/}
    i=${i%.status}
    load_host "$i"
    said_by "$i" out
    bad=1
  done
  ((bad == 0))
}

# said_by I KIND says why the host did not do what it was asked to.
said_by() {
  local line
  while IFS= read -r line; do
    say "$label: $line"
  done < <(lacks_of "$1" "$2" failed)
}

# lacks_of I KIND STATUS [FOLDER] prints what the host lacks by its file I.KIND, a
# line each; if that says nothing and the status of ssh is not 0, it prints what ssh
# said.
lacks_of() {
  local from=${4:-$state/hosts}/$1
  sed -n 's/^@lacks //p' "$from.$2" 2>/dev/null | grep -a . && return
  [[ $3 == 0 ]] && return
  if [[ $2 == out && $(cat "$from.status" 2>/dev/null) == 0 ]]; then
    echo "its shell ended with status 0 before it was told to; does a file that it reads" \
      "at its start end it?"
    return
  fi
  grep -av '^Warning: Permanently added' "$from.err" 2>/dev/null | tail -n 1 |
    tr -d '\r' | grep -a . || echo "the connection ended"
}

# let_go tells the hosts that all workers are there, so that they need no connection
# any more. It fails if one could not be told.
let_go() {
  local i
  are_let_go=yes
  for i in "${!records[@]}"; do echo >&8; done
  wait
  exec 7<&- 8>&-
  rm -f "$state/gate"
  hosts_run
}

# shut_gate gives the sessions that are left 2 seconds to undo what they did.
shut_gate() {
  local tries
  { exec 7<&- 8>&-; } 2>/dev/null || true
  for ((tries = 0; tries < 20; tries++)); do
    [[ -n $(jobs -pr) ]] || return 0
    sleep 0.1
  done
}

# stop_hosts stops all hosts that have a record. If one cannot be reached, it says
# what may be left there, and fails.
stop_hosts() {
  local i left=0 running=0
  load_hosts
  for i in "${!records[@]}"; do
    ((running++ < most_at_once)) || wait -n || true
    stop_host "$i" 9>&- &
  done
  wait
  for i in "${!records[@]}"; do
    [[ ! -e $state/hosts/$i ]] || left=1
  done
  return "$left"
}

# stop_host I asks the host, unless nothing was begun there or all was undone.
stop_host() {
  load_host "$1"
  if is_clean "$1" || ask_host "$1" stop || [[ -n $forget ]]; then
    forget_host "$1"
    return
  fi
  said_by "$1" answer
  say "$label: ~/.local/state/gt-hosts/$mark may be left there; its workers end by" \
    "themselves. Take it down again later, or give it up with --forget"
}

is_clean() {
  [[ -s $state/hosts/$1.status ]] || return 1
  ! grep -sqx '@begun' "$state/hosts/$1.out" ||
    grep -sqx '@clean' "$state/hosts/$1.out"
}

# ask_host I WHAT [FOLDER] writes the answer into I.answer in hosts/, or in the
# folder. It fails if the host did not come to the end of what it was asked.
ask_host() {
  local to=${3:-$state/hosts}/$1
  load_host "$1"
  on_host < <(host_script "$2" && echo 'echo @done') >"$to.answer" 2>"$to.err" &&
    grep -aqx '@done' "$to.answer"
}

# ask_all WHAT FOLDER asks all hosts; FOLDER/I.status has the status of each.
ask_all() {
  local i running=0
  for i in "${!records[@]}"; do
    ((running++ < most_at_once)) || wait -n || true
    {
      ask_host "$i" "$1" "$2" && echo 0 || echo "$?"
    } >"$2/$i.status" &
  done
  wait
}

forget_host() {
  rm -f -- "$state/hosts/$1" "$state/hosts/$1".*
}

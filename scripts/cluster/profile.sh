# shellcheck shell=bash disable=SC2034,SC2154 # variables of gt-cluster
# The command profile runs the program under one config after the other, and writes
# a row of figures for each.
#
# The program is written, placed and only then run, so that the workers alone are
# measured. Of a config NAME.yaml these files are made, in the folder of -o:
#
#   NAME.s         the program as gt-emit writes it
#   NAME.placed.s  the same, placed by gt-shard
#   NAME.results   what it printed
#   NAME.trace     what the workers ran, and when
#   NAME.svg       a step of the trace
#
# and profile.tsv with the rows, and plot.svg with the shown numbers of all configs.

cluster_profile() {
  local work=${TMPDIR:-/tmp}/gt-profile.XXXXXX folder given file worst=0
  local interrupted='' hasty=yes # a run that is cut short tells nothing
  local drawn=() names=/ same=1 input=3 # where each of the programs finds its standard input
  ((${#configs[@]})) || configs=("${GT_CONFIG:-none}")
  unset GT_CONFIG GT_VERBOSE
  [[ -n $dry ]] || prepare
  folder=${kept:-$work}
  [[ -n $dry ]] || cells config workers steps "${shown[@]}" step_s tokens/s \
    computing_share peak_share sent_bytes/step memory_bytes failure
  for given in "${configs[@]}"; do
    file=${given##*/}
    file=${file%.yaml}
    while [[ $names == */"$file"/* ]]; do file+=-$((++same)); done
    names+=$file/
    file=$folder/$file
    profile_config || worst=$(($? > worst ? $? : worst))
    [[ -z $interrupted ]] || break
  done
  [[ -z $dry ]] || return 0
  progress
  [[ -z $kept ]] || keep || worst=2
  (($(wc -l <"$work/rows") == 1)) || show table
  [[ -z $interrupted ]] || exit $((128 + $(kill -l "$interrupted")))
  exit "$worst"
}

# prepare makes the folders, and keeps what standard input has, if that is the
# program, since each config needs it.
prepare() {
  local why
  work=$(mktemp -d "$work") || die 2 "profile: there is no room for traces"
  # shellcheck disable=SC2064 # the folder is known now
  trap "rm -rf $(quoted "$work")" EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  umask "$user_umask"
  if [[ -n $kept ]]; then
    why=$(mkdir -p -- "$kept" 2>&1) || die 2 "-o: ${why#mkdir: }"
    [[ -w $kept ]] || die 2 "-o: $kept: cannot be written to"
  fi
  if ((${#rest[@]} == 0)) || [[ " ${rest[*]} " == *' - '* ]]; then
    cat >"$work/input"
  else
    : >"$work/input"
  fi
}

# profile_config runs the program under the config `given`, and adds its row. If that
# fails, the row says so.
profile_config() {
  local config='' shard=() ranks=1 placed=$file.s held='' sent=''
  [[ $given == none ]] || config=$given
  progress 'is written'
  stage "$placed" -u GT_CONNECT ${config:+"GT_CONFIG=$config"} gt-emit "${rest[@]}" || {
    fails $? gt-emit
    return
  }
  [[ -n $dry ]] || { forward && check_names; }
  progress 'is placed'
  if [[ -n $config ]]; then
    placed=$file.placed.s
    shard_command "${count:-$(granted_cores)}"
    [[ -z $count ]] || ranks=$count
    stage "$placed" "${shard[@]}" --summary "$file.s" || {
      fails $? gt-shard
      return
    }
    [[ -n $dry ]] || { forward && read -r held sent < <(by_rank <"$work/said"); }
  elif [[ -z $dry ]]; then
    # Told of one rank, gt-shard counts the memory of a program without ranks, too.
    echo 'mesh: {one: 1}' >"$work/one.yaml"
    stage /dev/null gt-shard -c "$work/one.yaml" --summary "$placed" || true
    read -r held sent < <(by_rank <"$work/said")
  fi
  progress 'runs'
  stage "$file.results" gt-route -n "$ranks" ${backend:+--backend "$backend"} \
    ${pace:+--pace "$pace"} ${threads:+--threads "$threads"} \
    ${memory:+--memory "$memory"} ${root:+--root "$root"} \
    --trace "$file.trace" "$placed" || {
    fails $? gt-route
    return
  }
  [[ -n $dry ]] || { forward && measure; }
}

# stage FILE COMMAND... runs the command, which env begins, with the program on
# standard input, output in the file, and what it says in `said`; it has its status.
stage() {
  local emit=() shard=() last=(env --default-signal=INT "${@:2}") status=0
  if [[ -n $dry ]]; then
    printf '%s >%s\n' "$(quoted "${last[@]}")" "$(quoted "$1")"
    return
  fi
  run_stages <"$work/input" >"$1" 2>"$work/said" || status=$?
  trap 'exit 130' INT
  trap 'exit 143' TERM
  return "$status"
}

# forward writes what the last stage said on standard error, but for the summary.
forward() {
  progress
  grep -vE "$summary_line" "$work/said" >&2 || true
}
summary_line='^gt-shard: ([a-z_]+: [0-9]+ lines?, .* from |sent: rank |[^ ]+ MB a rank at most;|schedule [^ ]+: stages:)'

# by_rank prints how many bytes a rank holds, and sends, at most, as gt-shard says on
# standard input.
by_rank() {
  awk '
    $1 != "gt-shard:" { next }
    / MB a rank at most;/ { held = $2 }
    $2 == "sent:" { sent = $7 }
    END { printf "%.0f %.0f\n", held * 1e6, sent * 1e6 }'
}

# fails STATUS PROGRAM adds a row that says with which words the program failed, and
# has that status.
fails() {
  local why
  [[ -z $interrupted ]] || return "$1"
  forward
  why=$(grep -vE "$summary_line|: warning: " "$work/said" | head -n 1 | tr '\t' ' ')
  cells "${file##*/}" "$ranks" - "${shown[@]/*/-}" - - - - - - "${why:-$2: status $1}"
  return "$1"
}

# cells CELL... adds a row. The column of tokens, and that of the peak, is there if
# they are given.
cells() {
  local row=("$@") speed=$((4 + ${#shown[@]}))
  [[ -n $tokens ]] || unset "row[$speed]"
  [[ -n $peak ]] || unset "row[$((speed + 2))]"
  (IFS=$'\t' && printf '%s\n' "${row[*]}") >>"$work/rows"
}

# An awk function: the name under which a print writes its result.
printed='
  function printed(line,    word, n, i, name) {
    n = split(line, word, " ")
    name = word[2]
    sub(/@.*/, "", name)
    for (i = 3; i <= n && word[i] !~ /^#/; i++)
      if (word[i] ~ /^as=/) name = substr(word[i], 4)
    return name
  }'

# sent_until N prints how many bytes a rank sends at most up to print N of `step`.
sent_until() {
  awk -v name="$step" -v left="$1" "$printed"'
    { print }
    $1 == "print" && printed($0) == name && !--left { exit }' "$file.s" |
    "${shard[@]}" --summary 2>&1 >/dev/null | by_rank | cut -d ' ' -f 2
}

# check_names dies if the program does not print what the options name.
check_names() {
  local name names
  names=$(awk "$printed"'
    $1 == "print" && !told[printed($0)]++ { print printed($0) }' "$file.s")
  for name in "$step" "${shown[@]}"; do
    grep -qxF -e "$name" <<<"$names" && continue
    progress
    die 2 "no '$name' is printed; --step takes a name that is, once a step, and --show" \
      "takes any${names:+: ${names//$'\n'/, }}"
  done
}

# measure adds the row of a config whose run has ended well. The steps' beginning and
# end are the prints of `step`. The first third of them, in which workers fill their
# queues and values are first sent, is left out of all figures.
measure() {
  local ends=() first=0 last i name step_s=- speed=- busy=- reached=- values=()
  for name in "${shown[@]}"; do
    values+=("$(awk -v name="$name" '
      $1 == name { value = NF == 5 && $4 ~ /\[\]$/ ? $5 : $4 } END { print value }' \
      "$file.results")")
  done
  mapfile -t ends < <(awk -F '\t' -v name="$step" "$printed"'
    $6 == "print" && printed($10) == name { printf "%.0f\n", $2 }' "$file.trace" | sort -n)
  last=$((${#ends[@]} - 1))
  if ((last > 0)); then
    first=$((last / 3))
    step_s=$(for ((i = first + 1; i <= last; i++)); do echo $((ends[i] - ends[i - 1])); done |
      sort -n | awk '{ ns[NR] = $1 }
        END { printf "%.9f\n", (ns[int((NR + 1) / 2)] + ns[int(NR / 2) + 1]) / 2e9 }')
    read -r busy reached < <(computed "${ends[first]}" "${ends[last]}")
    ((sent == 0)) ||
      sent=$((($(sent_until $((last + 1))) - $(sent_until $((first + 1)))) / (last - first)))
    [[ -z $tokens ]] || speed=$(awk "BEGIN { printf \"%.9g\", $tokens / $step_s }")
  fi
  cells "${file##*/}" "$ranks" "${#ends[@]}" "${values[@]}" "$step_s" "$speed" "$busy" "$reached" \
    "$sent" "${held:--}" -
  drawn+=("${file##*/}.results")
  picture
}

# computed FROM TO prints the share of the time between these, in nanoseconds, in which
# workers computed, and the share of the peak that they reached. Rows of prints have
# no part in it, since they wait for a GPU.
computed() {
  awk -F '\t' -v from="$1" -v to="$2" -v workers="$ranks" -v peak="${peak:-1}" '
    $3 !~ /\/(compute|gpu)$/ || $6 == "print" || $2 < from || $1 >= to { next }
    {
      inside = ($2 < to ? $2 : to) - ($1 > from ? $1 : from)
      busy += inside
      flops += $2 > $1 ? $8 * inside / ($2 - $1) : $8
    }
    END {
      all = (to - from) * workers
      printf "%.6g %.6g\n", busy / all, flops / (all / 1e9 * peak)
    }' "$file.trace"
}

# picture draws a step in the middle, if that is kept.
picture() {
  local middle=$(((first + last) / 2))
  [[ -n $kept ]] && ((last > 0)) || return 0
  gt-log --timeline svg --from "$(seconds "${ends[middle]}")" \
    --to "$(seconds "${ends[middle + 1]}")" --title "${file##*/}: step $((middle + 1))" \
    "$file.trace" >"$file.svg"
}

# seconds NANOSECONDS prints them as seconds.
seconds() {
  printf '%d.%09d' $(($1 / 1000000000)) $(($1 % 1000000000))
}

# keep completes the folder that is kept, by the rows and a plot.
keep() {
  cp "$work/rows" "$kept/profile.tsv"
  ((${#drawn[@]} == 0)) || (
    cd "$kept" || exit
    gt-log --plot "$(IFS=, && echo "${shown[*]}")" --own-scale "${drawn[@]}" >plot.svg
  )
}

# table prints the rows: as they are, or in columns with units, for people.
table() {
  [[ -z $tsv ]] || { cat "$work/rows"; return; }
  awk -F '\t' -v named=$((3 + ${#shown[@]})) '
    function digits(x, unit) {
      return sprintf(x >= 99.95 ? "%.0f%s" : x >= 9.995 ? "%.1f%s" : "%.2f%s", x, unit)
    }
    function scaled(x, unit,    k) {
      if (x < 999.5) return int(x) == x ? x unit : digits(x, unit)
      for (k = 0; x >= 999.5 && k < 4; k++) x /= 1000
      sub(/ /, " " substr("kMGT", k, 1), unit)
      return digits(x, unit)
    }
    function shown(x, kind) {
      if (x == "-") return x
      if (kind ~ /_share$/) return sprintf("%.1f %%", 100 * x)
      if (kind ~ /bytes/) return scaled(x, " B")
      if (kind == "step_s" && x < 0.0009995) return digits(x * 1e6, " us")
      if (kind == "step_s") return x < 0.9995 ? digits(x * 1e3, " ms") : digits(x, " s")
      return scaled(x, " ")
    }
    {
      failure[NR] = $NF
      for (i = 1; i < NF; i++) {
        cell[NR, i] = NR > 1 && i > named ? shown($i, kind[i]) : $i
        if (NR == 1) {
          kind[i] = $i
          if (i > named) sub(/_(s|share|bytes)$/, "", cell[1, i])
          if (i > named) sub(/_bytes/, "", cell[1, i])
          if (i > named) sub(/^peak/, "of peak", cell[1, i])
        }
        sub(/ +$/, "", cell[NR, i])
        if (length(cell[NR, i]) > width[i]) width[i] = length(cell[NR, i])
      }
      columns = NF - 1
    }
    END {
      for (row = 1; row <= NR; row++) {
        printf "%-*s", width[1], cell[row, 1]
        if (row > 1 && failure[row] != "-") { print "  " failure[row]; continue }
        for (i = 2; i <= columns; i++) printf "  %*s", width[i], cell[row, i]
        print ""
      }
    }' "$work/rows"
}

# progress [WHAT] shows on a terminal what is done with the config, or nothing more.
progress() {
  [[ -t 2 && -z $dry ]] || return 0
  printf '\r\033[K%s' "${1:+$given $1}" >&2
}

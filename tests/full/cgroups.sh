#!/usr/bin/env bash
# In real control groups, of the first kind and of the second, as far as this machine
# lets one make them: gt-work takes the cores of the least quota above it, of the cpuset
# and of OMP_NUM_THREADS; its memory is the least limit above it, less a margin; and a
# program that needs more ends with words, and is not killed.
# How the files of groups are read is tested in tests/unit/base_granted_test.cc, without
# any groups.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH LC_ALL=C
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_CONNECT OMP_NUM_THREADS
passed=0 failed=0 skipped=0
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-cgroups.XXXXXX")
name=gt-test-$$
made=() # directories of groups, those above first

remove_groups() {
  local i
  for ((i = ${#made[@]} - 1; i >= 0; i--)); do rmdir "${made[i]}" 2>/dev/null || true; done
  made=()
}
trap 'remove_groups; rm -rf "$work"' EXIT

# is WHAT WANTED FOUND counts whether both are the same.
is() {
  if [[ $2 == "$3" ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s\n' "failed: $kind: $1" "  expected: $2" "  found:    $3"
  fi
}

# has WHAT PATTERN TEXT counts whether a line of the text is like the pattern.
has() {
  is "$1, which says: $2" "$2" "$(grep -o -m 1 -- "$2" <<<"$3" || tail -n 3 <<<"$3")"
}

# Each kind has the functions make PATH, which makes a group in each hierarchy that has
# limits; cores PATH QUOTA, memory PATH BYTES and cpus PATH LIST, which set them; and
# enter PATH, by which this process joins the group.
first=/sys/fs/cgroup
first_make() {
  local controller
  for controller in cpu memory cpuset; do
    mkdir "$first/$controller/$1" 2>/dev/null || return
    made+=("$first/$controller/$1")
    [[ $controller != cpuset ]] || cat "$first/cpuset/$1/../cpuset.mems" >"$first/cpuset/$1/cpuset.mems"
    [[ $controller != cpuset ]] || cat "$first/cpuset/$1/../cpuset.cpus" >"$first/cpuset/$1/cpuset.cpus"
  done
}
first_cores() { echo "$2" >"$first/cpu/$1/cpu.cfs_quota_us"; }
first_memory() { echo "$2" >"$first/memory/$1/memory.limit_in_bytes"; }
first_cpus() { echo "$2" >"$first/cpuset/$1/cpuset.cpus"; }
first_enter() {
  local controller
  for controller in cpu memory cpuset; do echo "$BASHPID" >"$first/$controller/$1/cgroup.procs"; done
}

second=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
second_make() {
  mkdir "$second/$1" 2>/dev/null || return
  made+=("$second/$1")
  [[ $1 == */* ]] || echo '+cpu +memory +cpuset' >"$second/$1/cgroup.subtree_control" 2>/dev/null
}
second_cores() { echo "${2/#-1/max} 100000" >"$second/$1/cpu.max"; }
second_memory() { echo "${2/#-1/max}" >"$second/$1/memory.max"; }
second_cpus() { echo "$2" >"$second/$1/cpuset.cpus"; }
second_enter() { echo "$BASHPID" >"$second/$1/cgroup.procs"; }

# within GROUP COMMAND... runs the command in the group.
within() (
  "${kind}_enter" "$1"
  exec "${@:2}"
)

# run GROUP COMMAND... does the same, and sets status and output, with all messages.
run() {
  status=0
  output=$(within "$@" 2>&1) || status=$?
}

granted_cores() { within "$1" gt-work --granted | sed -n 's/^cores //p'; }
granted_memory() { within "$1" gt-work --granted | sed -n 's/^memory //p'; }
threads() { awk -F '\t' '$3 == "attach"' "$work/log" | sed 's/.* threads=\([0-9]*\) .*/\1/' | paste -sd ' '; }

# Twenty values of so many MiB each, of which all are needed in the end.
values() {
  local i elements=$(($1 << 18))
  for ((i = 0; i < 20; i++)); do echo "x$i = full f32[$elements] $i"; done
  for ((i = 0; i < 20; i++)); do printf 'y%d = max x%d\nprint y%d\n' "$i" "$i" "$i"; done
}

all_cores=$(gt-work --granted | sed -n 's/^cores //p')
core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
values 30 >"$work/many"
values 4 >"$work/few"
echo 'x = ones f32[1]' >"$work/one"

of_quotas() {
  "${kind}_cores" "$name/inner" -1
  is 'no quota' "$all_cores" "$(granted_cores "$name/inner")"
  local quota
  for quota in 50000:1 100000:1 150000:1 10000000:"$all_cores"; do
    "${kind}_cores" "$name/inner" "${quota%:*}"
    is "a quota of ${quota%:*} us in 100000" "${quota#*:}" "$(granted_cores "$name/inner")"
  done
  "${kind}_cores" "$name/inner" -1
  "${kind}_cores" "$name" 100000
  is 'a quota of the group above' 1 "$(granted_cores "$name/inner")"
  run "$name/inner" gt-route -n 2 --log "$work/log" "$work/one"
  is 'workers under a quota' '0: 1 1' "$status: $(threads)"
  run "$name/inner" env OMP_NUM_THREADS=3 gt-route --log "$work/log" "$work/one"
  is 'OMP_NUM_THREADS under a quota' '0: 3' "$status: $(threads)"
  run "$name/inner" gt-route --threads 2 --log "$work/log" "$work/one"
  is '--threads under a quota' '0: 2' "$status: $(threads)"
  "${kind}_cores" "$name" -1
}

of_cpusets() {
  "${kind}_cpus" "$name/inner" "$core"
  is 'a cpuset of one core' 1 "$(granted_cores "$name/inner")"
  run "$name/inner" gt-route --log "$work/log" "$work/one"
  is 'a worker in a cpuset of one core' '0: 1' "$status: $(threads)"
}

of_memory() {
  local limit=$((512 << 20))
  is 'no limit on memory' "$(gt-work --granted | sed -n 's/^memory //p')" "$(granted_memory "$name/inner")"
  "${kind}_memory" "$name" $limit
  is 'a limit of the group above' $limit "$(granted_memory "$name/inner")"
  "${kind}_memory" "$name/inner" $((384 << 20))
  is 'a lower limit of its own' $((384 << 20)) "$(granted_memory "$name/inner")"
  "${kind}_memory" "$name/inner" $limit
  run "$name/inner" gt-work "$work/many"
  is 'more values than memory' 1 "$status"
  has 'more values than memory' 'of 256 MiB in use; the limit is that of the container' "$output"
  is 'results of what there was no memory for' 20 "$(grep -c '^y[0-9]* = ' <<<"$output")"
  is 'the first of them' 'y0 = tensor f32[] 0' "$(grep '^y0 = ' <<<"$output")"
  run "$name/inner" gt-work "$work/few"
  is 'fewer values than memory' "0: y19 = tensor f32[] 19" "$status: $(tail -n 1 <<<"$output")"
  run "$name/inner" bash -c "gt-emit '$work/many' | gt-route -n 2"
  is 'more values than the memory of two workers' 1 "$status"
  has 'more values than the memory of two workers' 'of 128 MiB in use' "$output"
  run "$name/inner" gt-work --memory 64M "$work/many"
  is '--memory under a limit' 1 "$status"
  has '--memory under a limit' 'of 64 MiB in use' "$output"
}

# why_not KIND says why no groups of this kind can be made; nothing if they can.
why_not() {
  local controllers=''
  if [[ $1 == first ]]; then
    for controller in cpu memory cpuset; do
      grep -q "^[^ ]* $first/$controller cgroup .*\b$controller\b" /proc/mounts ||
        controllers+=" $controller"
    done
    [[ -z $controllers ]] || echo "no hierarchy of$controllers is mounted in $first"
  elif [[ -z $second ]]; then
    echo 'no cgroup2 is mounted'
  else
    for controller in cpu memory cpuset; do
      grep -qw $controller "$second/cgroup.controllers" || controllers+=" $controller"
    done
    [[ -z $controllers ]] || echo "$second has no controller$controllers"
  fi
}

for kind in first second; do
  why=$(why_not $kind)
  if [[ -z $why ]] && ! { "${kind}_make" "$name" && "${kind}_make" "$name/inner"; }; then
    why='this machine lets one make no control group'
  fi
  if [[ -z $why ]]; then
    of_quotas
    of_cpusets
    of_memory
  else
    skipped=$((skipped + 1))
    echo "skipped: control groups of the $kind kind: $why"
  fi
  remove_groups
done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))

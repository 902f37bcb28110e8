#!/usr/bin/env bats
# What a container grants: gt takes no more cores and no more memory than control
# groups, affinity and OMP_NUM_THREADS allow. How the files of such groups are read is
# tested in tests/unit/base_granted_test.cc; here are real ones, where this machine
# lets one make them.

load helper

# threads_of LOG prints the threads of each worker that attached.
threads_of() {
  awk -F '\t' '$3 == "attach"' "$1" | sed 's/.* threads=\([0-9]*\) .*/\1/'
}

@test "workers take the cores that they are bound to, and OMP_NUM_THREADS" {
  local core
  core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
  run -0 taskset -c "$core" gt-work --granted
  [ "${lines[0]}" = 'cores 1' ]
  echo 'x = ones f32[1]' >p
  taskset -c "$core" gt-route --log log p
  [ "$(threads_of log)" = 1 ]
  # The variable holds for each process; of a list, its first number does.
  OMP_NUM_THREADS=3 gt-route -n 2 --log log p
  [ "$(threads_of log)" = $'3\n3' ]
  OMP_NUM_THREADS=2,8 gt-route --log log p
  [ "$(threads_of log)" = 2 ]
  OMP_NUM_THREADS=3 gt-route --threads 1 --log log p
  [ "$(threads_of log)" = 1 ]
  # What is no number of threads says nothing.
  for word in '' 0 -1 many; do
    OMP_NUM_THREADS=$word taskset -c "$core" gt-route --log log p
    [ "$(threads_of log)" = 1 ]
  done
}

# in_group NAME PROGRAM... runs the program in the control group, one of $groups.
in_group() {
  local group
  for group in "${groups[@]}"; do
    if [[ -d $group/$1 ]]; then echo "$BASHPID" >"$group/$1/cgroup.procs" || return; fi
  done
  exec "${@:2}"
}

# make_group makes gt-test-PID with two groups in it, in which the groups above set
# the limits: half a core or 1.5 of them, and 512 MiB.
make_group() {
  local first=/sys/fs/cgroup second name=gt-test-$$
  second=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
  groups=()
  if mkdir "$first/cpu/$name" 2>/dev/null && mkdir "$first/memory/$name" 2>/dev/null; then
    groups=("$first/cpu/$name" "$first/memory/$name")
    echo 150000 >"$first/cpu/$name/cpu.cfs_quota_us"
    echo 536870912 >"$first/memory/$name/memory.limit_in_bytes"
  elif [[ -n $second ]] && mkdir "$second/$name" 2>/dev/null; then
    groups=("$second/$name")
    echo '+cpu +memory' >"$second/$name/cgroup.subtree_control" &&
      echo 150000 >"$second/$name/cpu.max" && echo 536870912 >"$second/$name/memory.max"
  fi || return
  ((${#groups[@]})) && mkdir "${groups[@]/%//inner}"
}

remove_group() {
  local group
  for group in "${groups[@]}"; do
    rmdir "$group/inner" "$group" 2>/dev/null || true
  done
}

teardown() {
  end_spawned
  remove_group
}

# bats test_tags=full
@test "in a real control group, its quota and its memory are the defaults" {
  make_group 2>/dev/null || skip 'this machine lets nobody make control groups'
  run -0 in_group inner gt-work --granted
  lines_are 'cores 1
memory 536870912'
  # 20 values of 30 MiB do not fit; Linux kills nobody, and the rest goes on.
  for ((i = 0; i < 20; i++)); do echo "x$i = full f32[7864320] $i"; done >p
  for ((i = 0; i < 20; i++)); do echo "y$i = sum x$i"; echo "print y$i"; done >>p
  run -1 --separate-stderr in_group inner gt-work p
  [ "${#lines[@]}" -eq 20 ]
  [ "${lines[0]}" = 'y0 = tensor f32[] 0' ]
  [ "${lines[7]}" = 'y7 = tensor f32[] 55050240' ]
  [[ ${lines[8]} == 'y8 = fail '* ]]
  [[ $stderr == *'of 256 MiB in use; the limit is that of the container'* ]]
  # Two workers share it.
  run -1 --separate-stderr in_group inner gt-route -n 2 --log log p
  [ "$(threads_of log)" = $'1\n1' ]
  [[ $stderr == *'of 128 MiB in use; '* ]]
  # --memory has the last word.
  run -1 --separate-stderr in_group inner gt-work --memory 64M p
  [[ $stderr == *'of 64 MiB in use'* ]]
  [[ $stderr != *container* ]]
}

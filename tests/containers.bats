#!/usr/bin/env bats
# What a container grants: gt takes no more cores and no more memory than control
# groups, affinity and OMP_NUM_THREADS allow. How the files of such groups are read is
# tested in tests/unit/base_granted_test.cc, and with real ones in tests/full/cgroups.sh.

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

#!/usr/bin/env bats
# libgt on a cluster: values of more than 1,000 elements, and files, travel beside
# the text.

# shellcheck disable=SC2030,SC2031 # a test is a subshell
load helper
load cluster

CPP=$(dirname "$GT_BIN")/examples

setup() {
  setup_cluster
}

teardown() {
  teardown_cluster
}

# up starts a cluster that keeps files for this user.
up() {
  mkdir -p "files/$(id -un)"
  GT_CONNECT=$(gt-cluster up -n 2 --files "$PWD/files")
  export GT_CONNECT
}

# nothing_kept: the cluster has no file of a program.
nothing_kept() {
  [ -z "$(find files -type f)" ]
}

@test "libgt: large values go to a cluster and come back" {
  up
  run -0 --separate-stderr client_travel
  lines_are same
  [[ $stderr == *'floordiv: integer division by zero'* ]]
  nothing_kept
  run -0 --separate-stderr client_travel 100
  lines_are same
  [ -z "$stderr" ]
  nothing_kept
}

@test "the history behind a value comes back from a cluster" {
  up
  run -0 gt-emit --to "$GT_CONNECT" -e 'w = ones f32[2]' -e 'y = exp w' -e '#tape y'
  lines_are '#sync tape:y%20=%20exp%20w%20%20#%20f32[2]%0A'
}

@test "libgt: large values go through a config's gt-shard to a cluster" {
  up
  printf 'mesh: {tp: 2}\n' >none.yaml
  GT_CONFIG=none.yaml run -0 --separate-stderr client_travel 3
  lines_are same
  nothing_kept
  GT_CONFIG=none.yaml GT_CONNECT='' GT_WORKERS=2 run -0 --separate-stderr client_travel 3
  lines_are same
}

@test "gt for Python: large values go to a cluster and come back" {
  up
  cat >travel.py <<'END'
import gt
n = 2000
there = gt.tensor([float(i) for i in range(n)])
twice = there + there
print(sum(there.tolist()), sum(twice.tolist()), sum(gt.tensor([1.0] * n, dtype="bf16").tolist()))
bad = gt.tensor([1] * n) // gt.zeros((n,), dtype="i64")
try:
    bad.tolist()
except gt.Failed as failed:
    print(failed)
END
  PYTHONPATH=$GT_ROOT/share/python run -0 --separate-stderr /usr/bin/python3 -B travel.py
  lines_are '1999000.0 3998000.0 2000.0
travel.py:6: floordiv: integer division by zero'
  nothing_kept
}

@test "a kept client that comes back finds a value that nobody has read" {
  up
  GT_CONNECT="$GT_CONNECT --detach night" run -0 --separate-stderr client_travel 0
  nothing_kept
  run -0 --separate-stderr gt-emit --to "$GT_CONNECT" --attach night -e 'y = sum x' -e 'print y'
  lines_are 'y = tensor f32[] 12497500'
  [ -z "$stderr" ]
  GT_CONNECT="$GT_CONNECT --detach night" PYTHONPATH=$GT_ROOT/share/python \
    run -0 /usr/bin/python3 -B -c 'import gt
v = gt.tensor([1.0] * 2000, name="v")'
  nothing_kept
  run -0 --separate-stderr gt-emit --to "$GT_CONNECT" --attach night -e 'y = sum v' -e 'print y'
  lines_are 'y = tensor f32[] 2000'
}

@test "libgt: a pipeline that others start finds the values that a program left" {
  mkdir files
  read_late() { sleep 0.3 && sed 's/^#end.*/y = sum x\nprint y\n&/' | gt-work; }
  export TMPDIR=$PWD/files GT_CONNECT=-
  client_travel 0 | read_late >out
  run -0 cat out
  lines_are 'y = tensor f32[] 12497500'
  [ -n "$(find files -type f)" ]
  rm -r files/*
  mkfifo back
  # shellcheck disable=SC2094 # the stream is a FIFO
  GT_BACK=back client_travel 0 | tee stream | { sleep 0.3 && gt-work; } >back
  grep -q '^#sync' stream
  nothing_kept
}

@test "libgt: the next process removes what a killed process left" {
  local left
  left=files/gt-client.$(id -u).$((1 << 30)).abcdef
  mkdir -p "$left"
  touch "$left/0.npy" "$left/.back0.npy.0123-1.gt-part"
  TMPDIR=$PWD/files run -0 client_travel 1
  [ -z "$(ls -A files)" ]
}

@test "libgt: a cluster that keeps no files says what is missing" {
  # A cluster of this machine lends its own user the directory where it was started.
  GT_CONNECT=$(gt-cluster up -n 1)
  export GT_CONNECT
  run -0 client_travel
  run -0 gt-cluster down
  # gt-emit by itself lends nothing.
  GT_CONNECT=ipc://$PWD/socket
  mkfifo back
  # shellcheck disable=SC2094 # back is a FIFO
  gt-emit -l "$GT_CONNECT" --back back 3>&- | gt-work >back 3>&- &
  run -1 --separate-stderr client_travel
  kill %%
  [[ $output == *"client_travel.cc:"*": f32[50,100] has more than 1000 values, which travel to a cluster as a file: cannot keep files at $GT_CONNECT: "*'--files'* ]]
  mkdir files
  GT_CONNECT=$(gt-cluster up -n 1 --files "$PWD/files")
  run -1 --separate-stderr client_travel
  [[ $output == *": it has no files of the user '$(id -un)'"* ]]
}

@test "libgt: the files of a killed program are removed" {
  up
  client_travel 1000000 >travelled &
  local program=$!
  until [ -n "$(find files -name 'gt-client.*')" ]; do sleep 0.01; done
  kill -KILL "$program"
  wait "$program" || true
  local end=$((SECONDS + 60))
  until nothing_kept; do
    ((SECONDS < end)) || { find files -type f; return 1; }
    sleep 0.05
  done
}

@test "libgt: a lost cluster is an exception, also where a value travels" {
  up
  client_travel 1000000 >travelled &
  local program=$!
  until [ -n "$(find files -name 'gt-client.*')" ]; do sleep 0.01; done
  gt-cluster down
  ends_with 1 "$program"
  [[ $(<travelled) == *'client_travel.cc:'* ]]
}

@test "libgt: digits are learnt on a cluster, with files of this machine" {
  ln -s "$GT_SHARE" share
  GT_CONNECT='' "$CPP/digits" 2 here.safetensors >here
  up
  "$CPP/digits" 1 there.safetensors | grep loss >there
  "$CPP/digits" 1 there.safetensors >>there
  diff here there
  cmp here.safetensors there.safetensors
}

@test "libgt: a file on the cluster is not taken for a file here of the same name" {
  up
  printf 'x = full f32[3] 5\nsave x "w.npy"\n' | gt-work
  run -0 gt-emit --to "$GT_CONNECT" -e 'x = ones f32[2]' -e 'save x "w.npy"'
  run -0 --separate-stderr client_files
  [[ ${lines[0]} == *'client_files.cc:17: load: w.npy is a file of the cluster, which is not looked at from here: give the type, or send or fetch the file first' ]]
  output=${output#*$'\n'}
  lines_are 'tensor f32[2] 1 1
tensor f32[3] 5 5 5
tensor f32[4] 7 7 7 7
f32[4]
tensor f32[4] 7 7 7 7'
}

@test "libgt: large values reach workers that share no files with a cluster's gt-emit" {
  local at
  at=tcp://127.0.0.1:$(free_port 2)
  mkdir -p "files/$(id -un)" elsewhere
  mkfifo back to_route
  # shellcheck disable=SC2094
  spawn bash -c 'exec gt-emit -l "$0" --back back --files files --lend "$0" -v 2>served >to_route' "$at"
  spawn bash -c 'exec gt-route --bind ipc://route --workers 1 <to_route >back 2>routed'
  spawn bash -c 'cd elsewhere; exec gt-work --connect ipc://../route --root "$0" 2>one' "$at"
  await 'listens at' served
  GT_CONNECT=$at run -0 --separate-stderr client_travel 3
  lines_are same
  nothing_kept
}

#!/usr/bin/env bats
# gt-route and its workers: lines of every length, and workers that leave.

load helper

# literal NAME COUNT WIDTH prints a line with COUNT values of WIDTH bytes each.
literal() {
  awk -v name="$1" -v count="$2" -v width="$3" 'BEGIN {
    zeros = sprintf("%0*d", width - 3, 0)
    printf "%s = tensor f32[%d]", name, count
    for (i = 0; i < count; i++) printf " 1.%s", zeros
    printf "\n"
  }'
}

# same_as_work PROGRAM OPTION... checks that gt-route prints what one gt-work does.
same_as_work() {
  local program=$1
  shift
  gt-work "$program" >expected
  within 120 gt-route "$@" "$program" >got
  cmp expected got
}

@test "a line of any length passes gt-route, near each limit of its messages" {
  local size count
  # A message has 1 MiB, and a worker may be sent 4 MiB ahead.
  for size in 1 40 1000 $((1 << 20)) $((4 << 20)) $((5 << 20)) $((16 << 20)); do
    for count in $(((size - 40) / 40)) $(((size + 4096) / 40)); do
      ((count > 0)) || count=1
      {
        literal x "$count" 39
        echo 's = sum x'
        echo 'print s'
      } >p.gt
      same_as_work p.gt -n 2
    done
  done
}

@test "a line of 64 MiB passes gt-route, one byte more is refused" {
  local count=1048570 most=$((64 << 20)) size
  literal x $count 63 | tr -d '\n' >line
  size=$(wc -c <line)
  # With blanks the line is as long as a line may be, and then one byte longer.
  {
    cat line
    head -c $((most - size)) /dev/zero | tr '\0' ' '
    printf '\ns = sum x\nprint s\n'
  } >p.gt
  [ "$(head -n 1 p.gt | tr -d '\n' | wc -c)" = "$most" ]
  same_as_work p.gt -n 2
  sed '1s/$/ /' p.gt >q.gt
  run -3 --separate-stderr within 60 gt-route -n 1 q.gt
  [[ $stderr == *'the line is over 64 MiB'* ]]
}

@test "many long lines, and values that are longer than what is read ahead" {
  local i
  {
    for ((i = 0; i < 8; i++)); do literal "x$i" 52500 39; done
    echo 'a = add x0 x7'
    for ((i = 1; i < 7; i++)); do echo "a = add a x$i"; done
    echo 's = sum a'
    echo 'print s'
    literal y 262144 19
    literal z 262144 19
    echo 'y = reshape y shape=512,512'
    echo 'z = reshape z shape=512,512'
    echo 'm = matmul y z'
    echo 'print m'
    echo 'print y'
  } >p.gt
  same_as_work p.gt -n 1
  same_as_work p.gt -n 2 --no-hot
}

@test "results of many megabytes come whole, from two workers" {
  {
    echo 'x@0-1 = arange i64[900000] 1000000'
    echo 'print x@0-1'
    echo 'print x@1 as=y'
  } >p.gt
  same_as_work p.gt -n 2
  [ "$(wc -c <got)" -gt $((12 << 20)) ]
}

@test "a worker with --fail-fast leaves at its first failure, and that ends the run" {
  skip_on_gpus 'lines run ahead of what is wrong with data'
  printf '%s\n' 'x = tensor i64[] 1' 'y = floordiv x 0' 'print y' 'print x' >p.gt
  spawn gt-work --connect "ipc://@gt-wire-$$" --fail-fast
  worker=$!
  run -4 --separate-stderr within 60 gt-route --bind "ipc://@gt-wire-$$" \
    --workers 1 p.gt
  [ "${#lines[@]}" = 2 ]
  # Each result that is missing names the failure and its place.
  why='left: its --fail-fast ended it at p.gt:2: floordiv: integer division by zero; it was at p.gt:2: y = floordiv x 0'
  [[ ${lines[0]} == 'y = fail "'*"$why\"" ]]
  [[ ${lines[1]} == 'x = fail "'*"$why\"" && $stderr == *"$why"* ]]
  status=0
  wait "$worker" || status=$?
  [ "$status" = 1 ]
  # The run fails even if no result is missing, since lines were skipped.
  printf '%s\n' 'x = tensor i64[] 1' 'y = floordiv x 0' 'z = add x 1' >p.gt
  spawn gt-work --connect "ipc://@gt-wire-$$" --fail-fast
  run -4 --separate-stderr within 60 gt-route --bind "ipc://@gt-wire-$$" \
    --workers 1 p.gt
  [[ $stderr == *"$why"* ]]
}

@test "the signal that killed a worker is reported" {
  mkfifo in
  exec {hold}<>in
  spawn bash -c "exec gt-route -n 2 in >out 2>err $hold>&-"
  route=$!
  printf 'x = ones f32[2]\nprint x\n' >in
  await . out
  kill -KILL "$(cut -d ' ' -f 1 "/proc/$route/task/$route/children")"
  exec {hold}>&-
  status=0
  wait "$route" || status=$?
  [ "$status" = 4 ]
  grep -q 'worker 0 was killed by signal 9 (SIGKILL)' err
}

@test "SIGTERM ends gt-route while a worker computes without an end" {
  printf '%s\n' 'x = ones f32[6000,6000]' 'y = matmul x x' 'print y' >p.gt
  spawn bash -c 'exec gt-route -n 1 --backend ref --log log p.gt >out 2>err'
  route=$!
  await issue log
  kill -TERM "$route"
  status=0
  within 60 tail --pid="$route" -f /dev/null
  wait "$route" || status=$?
  [ "$status" = 130 ]
  grep -q 'what was read is not done 10.0 s after SIGTERM' err
}

@test "a placed print whose as= is no name fails under the name of its value" {
  printf '%s\n' 'x@0-1 = ones f32[2]' 'print x@0-1 as="a b"' >p.gt
  run -3 --separate-stderr gt-work p.gt
  [[ ${lines[0]} == 'x@0 = fail "'* && ${lines[1]} == 'x@1 = fail "'* ]]
  run -0 gt-work <<<"$output"
}

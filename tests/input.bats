#!/usr/bin/env bats
# How every program reads its input: an input that cannot be read or ends too early
# is reported, and a line that did not come whole is not run.

load helper

# each_program prints the programs that read a stream, one command a line.
each_program() {
  printf '%s\n' gt-emit gt-shard 'gt-shard --plan -n 2' gt-check gt-work \
    'gt-route -n 1' gt-log 'gt-log --op add' 'gt-log --summary'
}

@test "a directory as input is an error of each program" {
  local program
  mkdir d
  while read -r program; do
    # shellcheck disable=SC2086 # words
    run -2 --separate-stderr within 60 $program <d
    [[ $stderr == *"<stdin>: Is a directory"* ]]
    # shellcheck disable=SC2086
    run -2 --separate-stderr within 60 $program d
    [[ $stderr == *"d: Is a directory"* ]]
  done < <(each_program)
}

# The manual pages say so where they describe the named files.
@test "behind a file that is missing gt-emit and gt-shard stop, and the others go on" {
  printf 'x = ones f32[2]\nprint x\n' >a.gt
  printf 'y = ones f32[2]\nprint y\n' >b.gt
  local program page
  for program in gt-emit 'gt-shard -n 1' gt-check gt-work gt-route gt-log; do
    # shellcheck disable=SC2086 # words
    run -2 --separate-stderr within 60 $program a.gt missing b.gt
    [[ $output == *'x '* && $stderr == gt-*'missing: No such file or directory' ]]
    page=$(<"$GT_ROOT/man/${program%% *}.1")
    case $program in
      gt-emit | gt-shard*)
        [[ $output != *'y '* && $output == *'#end 2' ]]
        [[ $page == *'ends the '*' there: a message says so, '*'not read'* ]]
        ;;
      *)
        [[ $output == *'y '* ]]
        [[ $page == *'is left out: a message says so, the files behind it are read'* ]]
        ;;
    esac
  done
}

@test "an empty name of a file is reported as one" {
  local program
  while read -r program; do
    # shellcheck disable=SC2086 # words
    run -2 --separate-stderr within 60 $program ''
    [[ $stderr == *"'': No such file or directory"* ]]
  done < <(each_program && echo 'gt-log -o t.log' && echo 'gt-log why')
  run -2 --separate-stderr gt-shard -c '' </dev/null
  [ "$output" = $'#gt 1\n#end 2' ]
  [ "$stderr" = "gt-shard: -c: '' is no file; try gt-shard --help" ]
}

@test "an option that is given more than once is reported" {
  run -2 --separate-stderr gt-shard -c a -c b </dev/null
  [ "$stderr" = 'gt-shard: --config is given twice; try gt-shard --help' ]
  run -2 --separate-stderr gt-route -n 1 -n 2 -n 3 </dev/null
  [ "$stderr" = 'gt-route: -n is given 3 times; try gt-route --help' ]
}

@test "a closed standard input is an error of each program" {
  local program
  while read -r program; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr within 60 bash -c "exec $program <&-"
    [[ $stderr == *"<stdin>: Bad file descriptor"* ]]
  done < <(each_program)
}

@test "an error in mid-stream is reported, and the line before it is not run" {
  skip_if_sanitized "it preloads a library of its own"
  printf 'a = ones f32[1]\nab = full f32[1] 2\nprint a\nprint ab' >cut.gt
  local program
  for program in gt-work 'gt-route -n 1'; do
    # The first read gives all that there is, and the second one, for the end,
    # fails.
    # shellcheck disable=SC2086
    run -2 --separate-stderr faults "read:2:5:${program%% *}" \
      within 60 $program cut.gt
    lines_are 'a = tensor f32[1] 1'
    [[ $stderr == *"cut.gt: Input/output error"* ]]
  done
  run -2 --separate-stderr faults read:2:5:gt-log gt-log cut.gt
  lines_are $'a = ones f32[1]\nab = full f32[1] 2\nprint a'
  run -2 --separate-stderr faults read:2:5:gt-check gt-check cut.gt
  [[ $stderr == *"cut.gt: Input/output error"* && $output != *"print ab"* ]]
  run -2 --separate-stderr faults read:2:5:gt-emit gt-emit cut.gt
  [[ $stderr == *"cut.gt: Input/output error"* && $output != *"print ab"* ]]
  run -2 --separate-stderr faults read:2:5:gt-shard gt-shard cut.gt
  [[ $stderr == *"cut.gt: Input/output error"* && $output != *"print ab"* ]]
}

@test "a file that is read before the run is read whole or not at all" {
  skip_if_sanitized "it preloads a library of its own"
  printf 'a = ones f32[1]\nprint a\n' >p.gt
  mkdir d
  run -2 --separate-stderr gt-emit --repeat 2 d
  [[ $stderr == *"d: Is a directory"* ]]
  run -2 --separate-stderr gt-shard -c d p.gt
  [[ $stderr == *"d: Is a directory"* ]]
  run -2 --separate-stderr gt-key --public d
  [[ $stderr == *"d: Is a directory"* ]]
  gt-key >key
  chmod 600 key
  run -2 --separate-stderr faults read:1:5 gt-key --public key
  [[ $stderr == *"key: Input/output error"* ]]
}

@test "the beginning of a line is not run when its stream was cut there" {
  local program
  for program in gt-work 'gt-route -n 1'; do
    # shellcheck disable=SC2086
    run -4 --separate-stderr within 60 $program \
      < <(printf '#gt 1\na = ones f32[1]\nab = ones f32[2]\nprint a')
    [[ -z $output && $stderr == *"cut short after line 4"* ]]
    # Text without a first mark is whole without an end mark, and so is a stream
    # with one.
    # shellcheck disable=SC2086
    run -0 --separate-stderr within 60 $program \
      < <(printf 'a = ones f32[1]\nprint a')
    lines_are 'a = tensor f32[1] 1'
    # shellcheck disable=SC2086
    run -0 --separate-stderr within 60 $program \
      < <(printf '#gt 1\na = ones f32[1]\nprint a\n#end 0')
    lines_are 'a = tensor f32[1] 1'
  done
  for program in gt-emit gt-shard gt-check 'gt-log --op print'; do
    # shellcheck disable=SC2086
    run -4 --separate-stderr $program \
      < <(printf '#gt 1\na = ones f32[1]\nab = ones f32[2]\nprint a')
    [[ $output != *"print a"* && $stderr == *"cut short after line 4"* ]]
  done
}

@test "a stream of another version is rejected" {
  printf '#gt 2\na = ones f32[1]\nprint a\n#end 0\n' >later
  local program
  for program in gt-emit 'gt-shard -c /dev/null' 'gt-shard --plan -n 2' gt-check; do
    # shellcheck disable=SC2086
    run -3 --separate-stderr $program later
    [[ $stderr == "${program%% *}: later:1: this stream is of a version"* ]]
  done
}

@test "a pipe that ends before its first byte is a stream cut short" {
  local program
  for program in gt-emit gt-shard gt-check gt-work 'gt-route -n 1' \
    'gt-log --summary' 'gt-shard --plan -n 2'; do
    # shellcheck disable=SC2086
    run -4 --separate-stderr within 60 $program < <(true)
    [[ $stderr == *"cut short before its first byte"* ]]
    # shellcheck disable=SC2086
    run -4 --separate-stderr within 60 $program <(true)
    [[ $stderr == *"cut short before its first byte"* ]]
  done
  for program in 'gt-emit --repeat 2' 'gt-emit --repeat 1'; do
    # shellcheck disable=SC2086
    run -4 --separate-stderr within 60 $program - < <(true)
    [[ $stderr == *"<stdin>: stream cut short before its first byte"* ]]
    # shellcheck disable=SC2086
    run -4 --separate-stderr within 60 $program <(true)
    [[ $stderr == *"cut short before its first byte"* ]]
  done
  # A program that was killed leaves an empty pipe behind.
  run -4 --separate-stderr bash -c \
    '(kill -KILL $BASHPID) | gt-log -o log | gt-work'
  [[ $stderr == *"cut short before its first byte"* ]]
}

@test "an empty program: a file, /dev/null, a comment in a pipe" {
  : >empty
  local program
  for program in gt-emit gt-shard gt-check gt-work 'gt-route -n 1' gt-log; do
    # shellcheck disable=SC2086
    within 60 $program empty >out
    # shellcheck disable=SC2086
    within 60 $program </dev/null >out
    # shellcheck disable=SC2086
    echo '#' | within 60 $program >out
  done
  gt-emit --repeat 2 empty >out
  gt-emit --repeat 2 - </dev/null >out
  # The first - reads all of standard input, so the second finds nothing.
  echo '#' | gt-emit - --repeat 2 - >out
}

@test "a byte order mark at the beginning is skipped" {
  printf '\xef\xbb\xbfa = ones f32[1]\r\nprint a\r\n' >bom.gt
  run -0 gt-work bom.gt
  lines_are 'a = tensor f32[1] 1'
  run -0 within 60 gt-route -n 1 bom.gt
  lines_are 'a = tensor f32[1] 1'
  run -0 bash -c 'gt-emit bom.gt | gt-work'
  lines_are 'a = tensor f32[1] 1'
  run -0 bash -c 'gt-emit --repeat 2 bom.gt | gt-work'
  lines_are $'a = tensor f32[1] 1\na = tensor f32[1] 1'
}

@test "a full disk is reported by each program" {
  printf 'a = ones f32[1]\nprint a\n' >p.gt
  printf '#gt 1\na = ones f32[1]\nprint a\n#end 0\n' >stream
  local program
  while read -r program; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr bash -c "$program <stream >/dev/full"
    [[ $stderr == *"cannot write standard output: No space left"* ]]
    # shellcheck disable=SC2086
    run -2 --separate-stderr bash -c "$program <stream >&-"
    [[ $stderr == *"cannot write standard output: Bad file descriptor"* ]]
  done < <(each_program | grep -v -- --plan; echo gt-key)
}

@test "gt-route waits for the writer of a FIFO, and for signals meanwhile" {
  mkfifo in
  # Status 124 means that TERM was enough; after a minute KILL would give 137.
  run -124 timeout -k 60 1 gt-route -n 1 in
  spawn gt-route -n 1 in >out
  printf 'x = ones f32[2]\nprint x\n' >in
  await '^x = tensor' out
  wait "${spawned[0]}"
}

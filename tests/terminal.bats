#!/usr/bin/env bats
# Text for people: whoever wrote it, nothing in it acts on a terminal, and errors
# are coloured there.

# shellcheck disable=SC2030,SC2031 # each test is a shell of its own

load helper

# This text sets a title and colours (C0), does so in one byte (C1), writes from
# right to left, and is no UTF-8. `quoted` is the same as a string of the stream.
hostile=$'\e]0;t\a\e[31m\r\xe2\x80\xae\xc2\x9b31m\xe2\x81\xa6\x9b\xff'
# shellcheck disable=SC1003 # the stream unescapes it
quoted='\x1b]0;t\x07\x1b[31m'$'\xe2\x80\xae\xc2\x9b31m'

# fit FILE: the file has text, and nothing in it acts on a terminal.
fit() {
  [ -s "$1" ] || { echo "nothing was said"; return 1; }
  if LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]\\|\xe2\x80[\x8b-\x8f\xa8-\xae]\\|\xe2\x81[\xa0-\xaf]\\|\xc2[\x80-\x9f]' "$1"; then
    cat -v "$1"
    return 1
  fi
  iconv -f UTF-8 -t UTF-8 "$1" >/dev/null
}

# says COMMAND... fails, and its message is fit and names what was wrong in visible
# characters.
says() {
  local status=0
  "$@" 2>err </dev/null >out || status=$?
  [ "$status" -ne 0 ] || { echo "status 0: $*"; return 1; }
  fit err || { printf 'by: %q ' "$@"; return 1; }
  grep -qF -e '\x1b' -e '\u202e' err || { cat err; printf 'by: %q ' "$@"; return 1; }
}

@test "names of files and options are shown, and do nothing to the terminal" {
  local program
  for program in gt-emit gt-shard gt-check gt-route gt-work gt-log; do
    says "$program" "$hostile"
    says "$program" "--$hostile"
  done
  says gt-key --public "$hostile"
  says gt-key "$hostile"
  says gt-cmp "$hostile" /dev/null
  says gt-cmp "--$hostile" a b
  says gt-cmp --rtol "$hostile" a b
  says gt-emit --repeat "$hostile" x
  says gt-emit --repeat 2 "$hostile"
  says gt-emit --seed "$hostile"
  says gt-emit --ops "$hostile"
  says gt-emit -e "$hostile"
  says gt-shard -c "$hostile"
  says gt-shard -n "$hostile"
  says gt-check --local "$hostile" /dev/null || says gt-check --"$hostile"
  says gt-log -o "$hostile/x" /dev/null
  says gt-log --op "[$hostile" --rank "$hostile" /dev/null
  says gt-log --timeline "$hostile" /dev/null
  says gt-log --timeline svg --from "$hostile" /dev/null
  says gt-log --plot "$hostile" /dev/null
  says gt-log why "$hostile"
  says gt-work --backend "$hostile"
  says gt-work --isa "$hostile"
  says gt-work --memory "$hostile"
  says gt-work --root "$hostile"
  says gt-work --trace "$hostile/x"
  says gt-work --connect "$hostile"
  says gt-work --rank "$hostile"
  says gt-work --connect "tcp://$hostile:1"
  says gt-work --connect ipc://@gt-none --key "$hostile" --route-key x
  says gt-work --connect "ipc://@$hostile" --timeout 0.1
  says gt-route --bind "$hostile" --workers 1
  says gt-route --bind "tcp://$hostile:1" --workers 1
  says gt-route --bind "ipc://$hostile/x/y" --workers 1
  says gt-route --log "$hostile/x"
  says gt-route --memory "$hostile"
  says gt-route -n "$hostile"
  says gt-route --bind ipc://@gt-none --workers 1 --key "$hostile" --allow x
}

@test "variables of the environment are shown, and do nothing to the terminal" {
  says env GT_BACKEND="$hostile" gt-work
  says env GT_CONFIG="$hostile" gt-shard
  says env GT_SILENCE="$hostile" gt-route
  says env GT_INSTRUCTION_LOG="$hostile/x" gt-route
  says env RANK="$hostile" gt-work --connect ipc://@gt-none
  says env GT_KEY="$hostile" GT_ROUTE_KEY=x gt-work --connect ipc://@gt-none
}

@test "lines of a stream are shown, and do nothing to the terminal" {
  local program line
  printf 'mesh: {dp: 2}\nsignals: {a: {shard: {dp: 0}}}\n' >c.yaml
  for program in gt-emit 'gt-shard -c c.yaml' gt-check gt-work 'gt-route -n 1'; do
    for line in "y = mat$hostile x" "$hostile = ones f32[2]" "y = add x $hostile" \
      "y = sum x $hostile=1" "y = sum x axis=$hostile" "print x $hostile" \
      "x@$hostile = ones f32[2]" "mesh $hostile=2" "y = load \"$hostile" \
      "#gt $hostile" "#end $hostile"; do
      printf 'x = ones f32[2,2]\n%s\nprint y\n' "$line" >p
      # shellcheck disable=SC2086 # the program has options
      $program p 2>err >out </dev/null || true
      [ ! -s err ] || fit err || { printf 'by: %s %q ' "$program" "$line"; return 1; }
    done
    printf '%s\n' 'mesh dp=2' 'x@0-1 = ones f32[4] split=dp:0' \
      "y@0-1 = matmul x@0-1 x@0-1 x@0-1 #at=\"$quoted:3\"" 'print y@0' >p
    if [[ $program == gt-shard* ]]; then # gt-shard passes placed lines
      printf 'x = ones f32[2] #signal=a\ny = matmul x x x #at="%s:3"\n' "$quoted" >p
    fi
    # shellcheck disable=SC2086 # the program has options
    says $program p
  done
}

@test "failures while a program runs have names that do nothing to the terminal" {
  local program
  printf 'x = load "%s" f32[2] #at="%s:3"\nprint x\n' "$quoted" "$quoted" >p
  cp p "$hostile"
  for program in gt-work 'gt-route -n 2'; do
    # shellcheck disable=SC2086 # the program has options
    says $program p
    # shellcheck disable=SC2086
    says $program "$hostile"
    printf 'x = load "%s" f32[2]\n' "$quoted" >"$hostile"
    # shellcheck disable=SC2086
    says $program "$hostile"
  done
}

@test "the text of a config is shown, and does nothing to the terminal" {
  local text
  echo 'x = ones f32[2,2] #signal=a' >p
  for text in "$hostile" "$hostile: 1" "mesh: {$hostile: 2}" \
    "mesh: {dp: $hostile}" "mesh: {dp: 2}"$'\n'"$hostile: {shard: {dp: 0}}" \
    "mesh: {dp: 2}"$'\n'"signals: {\"$quoted\": {shard: {dp: 0}}}" \
    "mesh: {dp: 2}"$'\n'"signals: {a: {shard: {\"$quoted\": 0}}}"; do
    printf '%s\n' "$text" >"c.yaml"
    cp c.yaml "$hostile.yaml"
    run ! bash -c 'gt-shard -c c.yaml p 2>err >out'
    fit err
    says gt-shard -c "$hostile.yaml" p
  done
}

@test "gt-cmp names the results that differ, and these names do nothing to the terminal" {
  printf '%s = tensor f32[] 1\n' "$hostile" >a
  printf '%s = tensor f32[] 2\n' "$hostile" >b
  says gt-cmp a b
  echo 'x = tensor f32[] 1' >c
  says gt-cmp a c
  printf 'x = fail "%s"\n' "$hostile" >d
  says gt-cmp d d
  printf 'x = tensor %s 1\n' "$hostile" >d
  says gt-cmp c d
}

@test "the name of a worker and words of gt-route do nothing to the terminal" {
  printf 'x = ones f32[2]\nprint x\n' >p
  spawn gt-route --bind "ipc://@gt-term-$$" --workers 2 -v --timeout 4 p 2>err >out
  route=$!
  spawn gt-work --connect "ipc://@gt-term-$$" --name "$hostile" --timeout 10 2>err.1
  await '1 of 2' err
  says gt-work --connect "ipc://@gt-term-$$" --name "$hostile" --timeout 10
  grep -q 'a worker of this name is here' err
  wait "$route" || true
  fit err
  # The last message of gt-route names the worker, and the worker prints it, too.
  await . err.1
  fit err.1
}

@test "tables and graphs for people have no bytes that act on a terminal" {
  printf 'x = ones f32[2] #signal="%s"\nprint x\n' "$quoted" >p
  gt-log --summary p >err
  fit err
  grep -qF '\x1b' err
  gt-log --summary --tsv p | tr '\t' ' ' >err
  fit err
}

# on_terminal COMMAND runs it on a terminal; $output is what the terminal shows.
on_terminal() {
  run script -qec "$1" /dev/null
}

@test "errors are coloured on a terminal that has colours, and nowhere else" {
  unset NO_COLOR
  export TERM=xterm
  printf 'x = ones f32[2\n' >p
  on_terminal 'gt-emit p >/dev/null'
  [[ $output == *$'\e[1;31mgt-emit\e[0m: p:1: '* ]]
  [[ $output == *$'\n  '*$' \e[1;31m^\e[0m'* ]]
  # Without colours the place and the words are the same.
  NO_COLOR=1 on_terminal 'gt-emit p >/dev/null'
  [[ $output == 'gt-emit: p:1: '* ]]
  [[ $output != *$'\e'* ]]
  NO_COLOR='' on_terminal 'gt-emit p >/dev/null'
  [[ $output == *$'\e[1;31mgt-emit'* ]]
  TERM=dumb on_terminal 'gt-emit p >/dev/null'
  [[ $output != *$'\e'* ]]
  on_terminal 'gt-emit p 2>err >/dev/null; cat err >/dev/null'
  [[ $(<err) == 'gt-emit: p:1: '* ]]
  [[ $(<err) != *$'\e'* ]]
}

@test "a warning is yellow, and other messages have no colour" {
  unset NO_COLOR
  export TERM=xterm
  printf 'x = ones f32[2] \nz = ones f32[2]\nl = sum x\ng = grad l z\n' >p
  on_terminal 'gt-emit p >/dev/null'
  [[ $output == *$'\e[1;33mgt-emit\e[0m: p:4: \e[1;33mwarning\e[0m: '* ]]
  printf 'x = ones f32[2]\n' >p
  on_terminal 'gt-work -v p'
  [[ $output == *'gt-work: 1 lines'* ]]
  [[ $output != *$'\e'* ]]
}

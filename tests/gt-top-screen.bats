#!/usr/bin/env bats
# gt-top on terminals of several sizes, which tmux plays.

load helper

setup() {
  # shellcheck disable=SC2034 # spawn adds to it
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
  command -v tmux > /dev/null || skip "tmux is not here"
  screen=gt-$$-$BATS_TEST_NUMBER
  mkfifo in
  spawn gt-route -n 2 --threads 1 in > out.txt 2> route.txt
  route=$!
  exec 5> in
}

teardown() {
  exec 5>&-
  [ -z "${screen:-}" ] || tmux -L "$screen" kill-server 2> /dev/null || true
  end_spawned
}

# on_screen COLUMNS ROWS [OPTION...] runs gt-top in a terminal of that size; its
# status goes to the file `status`.
on_screen() {
  tmux -L "$screen" -f /dev/null new-session -d -x "$1" -y "$2" \
    "TERM=${TERM_OF:-screen} gt-top -d 0.2 ${*:3} $route 2> err.txt; echo \$? > status; sleep 60" 5>&-
  shows '^gt-top: gt-route'
}

shot() {
  tmux -L "$screen" capture-pane -p
}

keys() {
  tmux -L "$screen" send-keys "$@"
}

# shows PATTERN waits until a line of the screen matches; hides waits until none
# does.
shows() {
  local end=$((SECONDS + 60))
  until shot | grep -q -e "$1"; do
    ((SECONDS < end)) || { echo "never shown: $1"; shot; return 1; }
    sleep 0.05
  done
}
hides() {
  local end=$((SECONDS + 60))
  while shot | grep -q -e "$1"; do
    ((SECONDS < end)) || { echo "still shown: $1"; shot; return 1; }
    sleep 0.05
  done
}

# work gives the run lines until gt-top has shown each of its ops.
work() {
  local end=$((SECONDS + 60))
  echo 'mesh dp=2'  >&5
  until shot | grep -q '^matmul'; do
    ((SECONDS < end)) || { shot; return 1; }
    printf '%s\n' 'x@0-1 = randn f32[64,64] 1' 'y@0-1 = matmul x@0-1 x@0-1' \
      'y@0-1 = tanh y@0-1' >&5
    sleep 0.1
  done
}

# fits COLUMNS ROWS: no line is longer than COLUMNS, and there are ROWS lines.
fits() {
  [ "$(shot | awk -v most="$1" 'length > most' | wc -l)" = 0 ]
  [ "$(shot | wc -l)" = "$2" ]
}

# quits: the key q ends gt-top with status 0, and it has reported no error.
quits() {
  keys q
  await '^0$' status
  [ ! -s err.txt ]
}

@test "60 columns: what matters most is there" {
  on_screen 60 20
  work
  shows '^\*WORKER STATE         BUSY  LINES/S  QUEUE   MEMORY LINE'
  shows '^      0 here '
  shows '^      1 here '
  shows '^OP  *\*BUSY  COUNT/S     MEAN    COUNT     TIME$'
  shows '^q quit  s sort  r reverse'
  fits 60 20
  quits
}

@test "80 columns" {
  on_screen 80 24
  work
  shows '^\*WORKER STATE         BUSY  COMM  WAIT  LINES/S  QUEUE .* MEMORY LINE'
  shows '^2 of 2 workers  reads .* lines/s '
  shows '^  .*% CPU  .*[KMG]iB$' # what had no room in the line above
  shows '^nobody waits'
  shows '^lines/s  *[-_.=+*#|].* busy .*%'
  fits 80 24
  quits
}

@test "200 columns: everything" {
  on_screen 200 50
  work
  shows '^\*WORKER NAME .*STATE .*CPU .*PEAK      RES HISTORY  *IN/S    OUT/S  RESULTS MOSTLY .*HOST .*AT .*LINE'
  shows '^      1 worker-1   here .* in:[0-9]* .*y@0-1 = tanh y@0-1'
  fits 200 50
  quits
}

# styled PATTERN waits until a line of the screen with its colours matches.
styled() {
  local end=$((SECONDS + 60))
  until tmux -L "$screen" capture-pane -e -p | grep -q -e "$1"; do
    ((SECONDS < end)) || { tmux -L "$screen" capture-pane -e -p; return 1; }
    sleep 0.05
  done
}

@test "states are in colour" {
  unset NO_COLOR
  on_screen 80 24
  work
  styled $'\e\\[32mhere'
  quits
}

@test "with NO_COLOR states are not in colour" {
  export NO_COLOR=1
  on_screen 80 24
  shows ' here '
  run ! grep -q $'\e\\[3[0-7]m' <(tmux -L "$screen" capture-pane -e -p)
  quits
}

@test "a terminal without colours, and one that knows little" {
  TERM_OF=vt100 on_screen 80 24
  work
  fits 80 24
  quits
}

@test "a terminal of an unknown type is reported as that" {
  skip_leaks 'ncurses keeps what it made for such a terminal'
  local type
  for type in nosuch dumb; do
    tmux -L "$screen" -f /dev/null new-session -d -x 80 -y 24 \
      "TERM=$type gt-top $route 2> err.txt; echo \$? > status; sleep 60"
    await '^2$' status
    [[ $(cat err.txt) == *"the terminal's type (\$TERM) is unknown or dumb; use -b" ]]
    rm status
  done
}

# ops_shown prints the names of the table of ops, from top to bottom.
ops_shown() {
  shot | awk '/^[*^]?OP / { on = 1; next } /^$/ { on = 0 } on { print $1 }' | paste -sd ' '
}

@test "sorts, reverses, filters" {
  on_screen 100 30
  work
  keys Tab s s s s s  # the table of ops; after its last column s sorts by name
  shows '^\*OP '
  [ "$(ops_shown)" = 'matmul randn tanh' ]
  keys r
  shows '^\^OP '
  [ "$(ops_shown)" = 'tanh randn matmul' ]
  keys '<'
  shows ' \^TIME'
  keys Tab Tab s s s s s s  # sorts workers by LINES/S, whose head has room for a mark
  shows ' \*LINES/S '
  keys r
  shows ' \^LINES/S '
  keys Tab
  keys / tan
  shows '^/tan_'
  hides '^matmul'
  [ "$(ops_shown)" = 'tanh' ]
  keys Enter
  shows '^\[tan\]'
  keys / nosuch Enter
  shows "none has 'nosuch'"
  keys Escape
  shows '^matmul'
  quits
}

@test "freezes, and helps" {
  on_screen 100 30
  work
  keys f
  shows FROZEN
  local before
  before=$(shot)
  echo 'z = ones f32[7]' >&5
  echo 'print z' >&5
  await '^z = ' out.txt
  sleep 0.5
  [ "$(shot)" = "$before" ]
  keys f
  hides FROZEN
  shows 'print z'
  keys h
  shows '^q            quit'
  keys x
  shows '^gt-top: gt-route'
  quits
}

@test "takes another size" {
  on_screen 200 50
  work
  shows ' HOST '
  tmux -L "$screen" resize-window -x 60 -y 20
  hides ' HOST '
  shows '^\*WORKER STATE         BUSY  LINES/S'
  fits 60 20
  tmux -L "$screen" resize-window -x 20 -y 3
  fits 20 3
  tmux -L "$screen" resize-window -x 120 -y 40
  shows ' OUT/S'
  fits 120 40
  quits
}

@test "the end of the run is shown, and so is the loss of gt-route" {
  on_screen 80 24
  echo 'x = ones f32[2]' >&5
  exec 5>&-
  shows '^gt-top: gt-route .* ended'
  keys q
  await '^0$' status
  [ "$(cat err.txt)" = 'gt-top: the run ended with status 0' ]
}

@test "gt-route that is killed is shown as lost, with status 4" {
  on_screen 80 24
  kill -KILL "$route"
  shows '^gt-top: gt-route .* lost'
  keys q
  await '^4$' status
}

@test "a gt-route that stands still is reported as silent" {
  on_screen 100 24
  kill -STOP "$route"
  shows 'says nothing for '
  kill -CONT "$route"
  hides 'says nothing for '
  quits
}

@test "an interrupt gives the terminal back, with status 130" {
  on_screen 80 24
  keys C-c
  await '^130$' status
}

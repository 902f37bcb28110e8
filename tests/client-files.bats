#!/usr/bin/env bats
# Files that travel beside the text: clients use gt-emit --send and --fetch, and
# workers load from and save to tcp://HOST:PORT.

load helper
load clients

# serve OPTION... starts gt-emit -l --files at $at, with a gt-route behind it, and
# keeps the stream between them in the file `stream`.
serve() {
  mkdir -p files/ann files/bob
  mkfifo back to_route
  # shellcheck disable=SC2094
  spawn env ${preload:+LD_PRELOAD="$preload"} \
    bash -c 'exec gt-emit -l "$0" --back back -v --files files "${@}" 2>served' "$at" "$@" \
    > >(tee stream >to_route)
  spawn bash -c 'exec gt-route -n 1 <to_route >back 2>routed'
  await 'listens at' served
}

# client OPTION... runs a client of the user ann; its output, its messages and its
# status go to out, err and $status.
client() {
  status=0
  within 100 gt-emit --to "${link:-$at}" --user "${user:-ann}" "$@" >out 2>err </dev/null ||
    status=$?
}

# await_part NAME waits until a mebibyte of that file has come.
await_part() {
  local end=$((SECONDS + 120))
  until [ -n "$(find . -name ".$1.*.gt-part" -size +1000k)" ]; do
    ((SECONDS < end)) || { echo "no part of $1 came"; return 1; }
    sleep 0.05
  done
}

# bytes N SEED prints N random bytes.
bytes() {
  python3 -c 'import random, sys
random.seed(int(sys.argv[2]))
sys.stdout.buffer.write(random.randbytes(int(sys.argv[1])))' "$@"
}

# make_x writes x.npy, an f32[1000,8].
make_x() {
  gt-emit -e 'x = randn f32[1000,8] 3' -e 'save x "x.npy"' | gt-work
}

@test "files that are sent are loaded, and files that are saved are fetched, bit by bit" {
  at_socket
  serve
  make_x
  client --send x.npy --fetch y.npy -e 'x = load "x.npy"' \
    -e 'y = copy x' -e 'save y "y.npy"' -e 's = sum y' -e 'print s'
  [ "$status" = 0 ]
  [ ! -s err ]
  grep -q '^s = tensor f32' out
  cmp x.npy y.npy
  cmp x.npy files/ann/x.npy
  # Files of these sizes go and come back by a client without a program.
  local size
  for size in 0 1 1044479 1044480 1044481 9400321; do
    bytes $size $size >sent
    client --send sent=in.bin --fetch in.bin=got
    [ "$status" = 0 ]
    [ ! -s err ]
    cmp sent got
  done
  # A lone - among the programs still means standard input.
  printf 'q = ones f32[1]\nprint q\n' |
    gt-emit --to "$at" --user ann --send sent - >out
  [ "$(cat out)" = 'q = tensor f32[1] 1' ]
  [ -z "$(find files . -name '*.gt-part')" ]
}

@test "names of files: with blanks, in folders, here and there" {
  at_socket
  serve
  bytes 5000 1 >'a b.bin'
  client --send 'a b.bin' --fetch 'a b.bin=deep/er/c "d".bin'
  [ "$status" = 0 ]
  cmp 'a b.bin' 'deep/er/c "d".bin'
  client --send 'a b.bin=x/y/z #1.bin' --send ./'a b.bin=n'
  [ "$status" = 0 ]
  cmp 'a b.bin' 'files/ann/x/y/z #1.bin'
  # A path from elsewhere keeps only its last part there.
  client --send "$PWD/deep/er/c \"d\".bin"
  [ "$status" = 0 ]
  cmp 'a b.bin' 'files/ann/c "d".bin'
}

@test "a file that cannot be sent or fetched gets a message with the remedy, and changes nothing" {
  at_socket
  serve
  client --send nothing
  [ "$status" = 2 ]
  grep -q '^gt-emit: cannot send nothing: No such file' err
  client --fetch nothing
  [ "$status" = 4 ]
  grep -q '^gt-emit: cannot fetch nothing from .*: No such file' err
  [ ! -e nothing ]
  mkdir folder files/ann/folder
  client --send folder
  [ "$status" = 2 ]
  client --fetch folder
  [ "$status" = 4 ]
  grep -q 'not a regular file' err
  bytes 100 1 >sent
  client --send sent=../bob/sent
  [ "$status" = 2 ]
  grep -q "'../bob/sent' is no path below the user's directory" err
  client --send sent=/tmp/sent
  [ "$status" = 2 ]
  local name
  for name in .x.gt-save .x.y.gt-part; do
    client --send sent=$name
    [ "$status" = 4 ]
    grep -q 'a file cannot have this name' err
  done
  user=zoe client --fetch sent
  [ "$status" = 4 ]
  grep -q "no files of the user 'zoe'; whoever runs it can make a directory" err
  # Standard output belongs to results, so "-" is refused as the end of a transfer
  # and nothing is written to a file of that name.
  client --send sent --send sent=-
  [ "$status" = 0 ]
  for transfer in '--fetch sent=-' '--fetch -' '--send -' '--send -=in'; do
    # shellcheck disable=SC2086
    client $transfer
    [ "$status" = 2 ]
    grep -q "^gt-emit: $transfer: standard input and output have .*; the file of that name is ./-" err
    [ ! -s out ]
  done
  [ ! -e - ]
  client --fetch -=./-
  [ "$status" = 0 ]
  cmp sent ./-
  # A file that has more bytes than its size says is refused, not sent as an empty
  # one.
  client --send /proc/self/environ=in
  [ "$status" = 2 ]
  grep -q '^gt-emit: cannot send /proc/self/environ: it has more bytes than its size says' err
  [ ! -e files/ann/in ]
  # A local target that cannot be written is an error of this machine, with status
  # 2.
  echo old >got
  client --send sent
  client --fetch sent=got/x
  [ "$status" = 2 ]
  # After a program that failed, nothing is fetched.
  client --fetch sent=got -e 'q = add x 1'
  [ "$status" = 3 ]
  grep -q 'nothing is fetched' err
  [ "$(cat got)" = old ]
  # A load of a file that was not sent fails, and its message offers --send.
  client -e 'x = load "none.npy"'
  [ "$status" = 3 ]
  grep -q 'load: none.npy: No such file or directory; gt-emit --send brings a file there' err
  for load in 'x = load "none.npy"' 'x = load "none.npy" f32[2]'; do
    user=zoe client -e "$load"
    [ "$status" = 3 ]
    grep -q 'load: this gt-emit has no files of its user; whoever runs it can make a directory' err
  done
  run -2 gt-emit --to "$at" --detach a --fetch sent -e 'x = ones f32[1]'
  run -2 gt-emit --send sent -e 'x = ones f32[1]'
  grep -q -e '--send needs --to' <<<"$output"
}

@test "a gt-emit that lends no files says so" {
  at_socket
  mkfifo back stream
  spawn bash -c 'exec gt-emit -l "$0" --back back -v >stream 2>served' "$at"
  spawn bash -c 'exec gt-route -n 1 <stream >back 2>routed'
  await 'listens at' served
  bytes 100 1 >sent
  client --send sent
  [ "$status" = 4 ]
  grep -q 'lends no files; whoever runs it can, with --files' err
}

@test "files are carried while another program runs" {
  at_socket
  serve
  bytes 3000000 1 >'a b'
  mkfifo ask
  spawn gt-emit --to "$at" --user ann --carry <>ask >answers
  await 'done' answers
  local asked=1
  # ask LINE ANSWER writes a request to the client and checks its answer.
  ask() {
    echo "$1" >ask
    asked=$((asked + 1))
    await . answers -m "$asked"
    until [ "$(wc -l <answers)" -ge "$asked" ]; do sleep 0.05; done
    # shellcheck disable=SC2053 # the answer is a pattern
    [[ $(tail -n 1 answers) == $2 ]] || { cat answers; return 1; }
  }
  ask 'send "a b" "d/one"' 'done'
  ask 'fetch "d/one" "back again"' 'done'
  cmp 'a b' 'back again'
  ask 'claim "two"' 'done'
  ask 'send "a b" "two"' 'done'
  ask 'remove "d/one"' 'done'
  [ ! -e files/ann/d/one ]
  ask 'remove "d/one"' 'failed cannot remove d/one at *: No such file or directory'
  ask 'fetch "d/one" "x"' 'failed cannot fetch d/one from *'
  ask 'send "a b" "../one"' "failed cannot send a b: '../one' is no path below *"
  ask 'send "a b"' 'failed no line of --carry*'
  ask 'x = zeros f32[2]' 'failed no line of --carry*'
  [ -e files/ann/two ]
  run -0 --separate-stderr gt-emit --to "$at" --user ann --carry < <(echo 'claim "two"')
  lines_are $'done\ndone'
  [ ! -e files/ann/two ]
  run -2 gt-emit --to "$at" --carry -e 'x = zeros f32[2]'
  [[ $output == *'--carry reads what travels from standard input, and takes no -e'* ]]
}

@test "no link leads out, and no file of another user is reached" {
  at_socket
  serve
  echo secret >outside
  ln -s "$PWD/outside" files/ann/out
  ln -s ../bob files/ann/bob
  echo his >files/bob/his
  local name
  for name in out bob/his; do
    client --fetch "$name=got"
    [ "$status" = 4 ]
    grep -q "$name: outside the directory of its user\|outside the directory of its user" err
    client --send outside="$name"
    [ "$status" = 4 ]
  done
  [ ! -e got ]
  [ "$(cat outside)" = secret ]
  [ "$(cat files/bob/his)" = his ]
  run ! grep -q "$PWD/files" err
}

@test "a user's directory holds no more bytes than --quota-files says" {
  at_socket
  serve --quota-files 1M
  bytes 600000 1 >one
  bytes 600000 2 >two
  client --send one
  [ "$status" = 0 ]
  client --send two
  [ "$status" = 4 ]
  grep -q 'its 600000 bytes and the 600000 of .* more than the 1048576 of --quota-files' err
  [ -z "$(find files -name '*.gt-part')" ]
  # A file that replaces another one takes over the bytes that it had.
  client --send two=one
  [ "$status" = 0 ]
  cmp two files/ann/one
  rm files/ann/one
  client --send two
  [ "$status" = 0 ]
  run -2 gt-emit -l "$at" --back back --quota-files 1M
}

@test "a connection that is cut at any point is made again, and files arrive whole" {
  at_port
  serve
  lay_link
  bytes 9000000 7 >sent
  local cut
  for cut in 10 200 3000 500000 5000000; do
    rm -f got files/ann/*
    tell_link cut $cut
    spawn bash -c 'gt-emit --to "$0" --user ann --send sent; echo $? >code' "$link"
    sleep 0.3
    tell_link go
    await . code
    [ "$(cat code)" = 0 ]
    rm code
    cmp sent files/ann/sent
    tell_link cut $cut
    spawn bash -c 'gt-emit --to "$0" --user ann --fetch sent=got; echo $? >code' "$link"
    sleep 0.3
    tell_link go
    await . code
    [ "$(cat code)" = 0 ]
    rm code
    cmp sent got
  done
  [ -z "$(find . -name '*.gt-part')" ]
}

@test "a byte that changes on the way is noticed, and sent again" {
  at_port
  serve
  lay_link
  bytes 9000000 8 >sent
  tell_link flip 1500000
  client --send sent
  [ "$status" = 0 ]
  cmp sent files/ann/sent
  tell_link flip 3500000
  client --fetch sent=got
  [ "$status" = 0 ]
  cmp sent got
}

@test "a client that is killed leaves a part of its file, and the next client goes on with it" {
  at_port
  serve
  lay_link
  bytes 9000000 9 >sent
  tell_link cut 6000000
  spawn gt-emit --to "$link" --user ann --send sent
  local first=$!
  await_part sent
  kill -KILL "$first"
  [ -n "$(find files -name '.sent.*.gt-part' -size +1000k)" ]
  tell_link go
  # Far fewer bytes go through than the whole file has, so the part must be reused.
  tell_link cut 8500000
  client --send sent
  [ "$status" = 0 ]
  tell_link go
  cmp sent files/ann/sent
  tell_link cut 6000000
  spawn gt-emit --to "$link" --user ann --fetch sent=got
  first=$!
  await_part got
  kill -KILL "$first"
  [ ! -e got ]
  tell_link go
  tell_link cut 8500000
  client --fetch sent=got
  [ "$status" = 0 ]
  cmp sent got
  tell_link go
  # A part that is not the beginning of the file is not used.
  rm got
  tell_link cut 6000000
  spawn gt-emit --to "$link" --user ann --fetch sent=got
  first=$!
  await_part got
  kill -KILL "$first"
  printf X | dd of="$(find . -name '.got.*.gt-part')" conv=notrunc bs=1 seek=100 2>/dev/null
  tell_link go
  client --fetch sent=got
  [ "$status" = 0 ]
  cmp sent got
}

@test "with keys, the list says which user a client is, and a worker which user it acts for" {
  at_port
  local who
  for who in server ann eve work; do
    (umask 077; gt-key >$who.key)
    gt-key --public $who.key >$who.pub
  done
  { sed 's/$/ user=ann/' ann.pub; cat eve.pub; sed 's/$/ role=worker/' work.pub; } >allowed
  serve --key server.key --allow allowed
  bytes 5000 1 >sent
  make_x
  user=bob client --key ann.key --server-key server.pub --send sent --send x.npy
  [ "$status" = 0 ]
  cmp sent files/ann/sent
  client --key eve.key --server-key server.pub --fetch sent=got
  [ "$status" = 4 ]
  grep -q "is nobody's who has files; user=NAME" err
  gt-emit -e "x = load \"$at/ann/x.npy\" f32[1000,8]" -e 's = max x' -e 'print s' >p.s
  gt-work --root "$at" --key work.key --files-key server.pub <p.s >out
  grep -q '^s = tensor f32' out
  run -1 gt-work --root "$at" --key ann.key --files-key server.pub <p.s
  grep -q "is no worker's; role=worker" <<<"$output"
  # A worker whose key is removed from the list is refused.
  grep -vF -e "$(cut -c1-40 work.pub)" allowed >less
  mv less allowed
  run ! gt-work --root "$at" --key work.key --files-key server.pub <p.s
}

@test "a worker without the files fetches what it loads, and stores what it saves" {
  at_port
  mkdir -p files/ann files/bob elsewhere
  mkfifo back to_route
  # shellcheck disable=SC2094
  spawn bash -c 'exec gt-emit -l "$0" --back back -v --files files --lend "$0" 2>served' "$at" \
    > >(tee stream >to_route)
  spawn bash -c 'exec gt-route --bind ipc://route --workers 2 <to_route >back 2>routed'
  spawn bash -c 'cd elsewhere; exec gt-work --connect ipc://../route --root "$0" 2>one' "$at"
  spawn bash -c 'cd elsewhere; exec gt-work --connect ipc://../route --root "$0" 2>two' "$at"
  await 'listens at' served
  make_x
  client --send x.npy --fetch y.npy --fetch m.safetensors -e 'x = load "x.npy"' \
    -e 'r = load "x.npy" f32[10,8] 20' -e 'save x "y.npy"' \
    -e 'save x "m.safetensors:x"' -e 'save r "m.safetensors:r"' \
    -e 'a = load "m.safetensors:x" f32[1000,8]' -e 'd = sub a x' -e 's = sum d' -e 'print s'
  [ "$status" = 0 ]
  [ ! -s err ]
  [ "$(cat out)" = 's = tensor f32[] 0' ]
  cmp x.npy y.npy
  grep -q "load \"$at/ann/x.npy\"" stream
  gt-emit -e 'x = load "m.safetensors:x" f32[1000,8]' -e 'save x "z.npy"' | gt-work
  cmp x.npy z.npy
  # A safetensors file that is there keeps its other tensors.
  gt-emit -e 'q = full f32[2] 7' -e 'save q "old.safetensors:q"' | gt-work
  client --send old.safetensors --fetch old.safetensors=new.safetensors \
    -e 'p = ones f32[3]' -e 'save p "old.safetensors:p"' -e 'print p'
  [ "$status" = 0 ]
  gt-emit -e 'q = load "new.safetensors:q"' -e 'p = load "new.safetensors:p"' -e 'print q' -e 'print p' |
    gt-work >out
  printf '%s\n' 'q = tensor f32[2] 7 7' 'p = tensor f32[3] 1 1 1' | cmp - out
  # A path that looks like an endpoint is taken as a path below the user's
  # directory.
  client -e 'e = load "tcp://127.0.0.1:9/bob/x.npy" f32[1]' -e 'print e'
  [ "$status" = 1 ]
  await "load \"$at/ann/tcp://127.0.0.1:9/bob/x.npy\"" stream -F
  grep -q 'tcp://127.0.0.1:9/bob.*: No such file' err
  client -e 'e = load "../bob/x.npy" f32[1]'
  [ "$status" = 3 ]
  [ -z "$(find elsewhere -mindepth 1 ! -name '*one*' ! -name '*two*')" ]
}

@test "a --files that is no directory is an error at the start" {
  local wrong
  echo >file
  for wrong in 'nosuch: No such file or directory' 'file: Not a directory' "'' is no directory"; do
    local name=${wrong%%:*}
    [[ $name != "''"* ]] || name=''
    run -2 --separate-stderr within 20 gt-emit -l "ipc://$PWD/e" --back back --files "$name"
    [ "$stderr" = "gt-emit: --files: $wrong; try gt-emit --help" ]
  done
}

@test "a worker opens a remote file only below what --root names" {
  at_port
  serve
  make_x
  cp x.npy files/ann/x.npy
  gt-emit -e "x = load \"$at/ann/x.npy\" f32[1000,8]" -e 's = sum x' -e 'print s' >p.s
  gt-emit -e 'x = load "x.npy"' -e 's = sum x' -e 'print s' | gt-work >wanted
  gt-work <p.s >out
  cmp wanted out
  run -1 --separate-stderr gt-work --root . <p.s
  grep -q "outside what --root allows; --root $at would allow it" <<<"$stderr"
  run -1 gt-work --root tcp://127.0.0.1:9 <p.s
  # No path through the user's own directory reaches another user's file.
  gt-emit -e "x = load \"$at/ann/../bob/x.npy\" f32[1]" -e 'print x' >q.s
  run -1 --separate-stderr gt-work <q.s
  run -2 gt-work --root tcp://nowhere <p.s
  # gt-emit cannot look into the remote file, so the line must say the type.
  run -3 --separate-stderr gt-emit -e "x = load \"$at/ann/x.npy\""
  grep -q 'lies where only workers look; say its type' <<<"$stderr"
  # A load sees what a save has changed there.
  gt-emit -e "x = load \"$at/ann/x.npy\" f32[1000,8]" -e 'y = add x 1' \
    -e "save y \"$at/ann/x.npy\"" -e "z = load \"$at/ann/x.npy\" f32[1000,8]" \
    -e 'd = sub z x' -e 'm = min d' -e 'M = max d' -e 'c = gt m 0.99' -e 'print c' |
    gt-work >out
  [ "$(cat out)" = 'c = tensor bool[] 1' ]
}

@test "a file that fills the disk of the server is removed" {
  mkdir small
  mount -t tmpfs -o size=3m tmpfs small 2>/dev/null || skip "no file system can be mounted here"
  mkdir -p small/ann
  ln -s "$PWD/small" files
  at_socket
  serve
  bytes 4500000 1 >sent
  client --send sent=in.bin
  local left
  left=$(find small -type f)
  bytes 1500000 2 >next
  [ "$status" = 4 ]
  grep -q 'No space left on device' err
  client --send next=in.bin
  cp small/ann/in.bin got
  umount -l small
  [ -z "$left" ]
  [ "$status" = 0 ]
  cmp next got
}

@test "the saves of a client's round to one file are all written, or none" {
  at_socket
  serve
  client -e 'x = ones f32[3]' -e 'k = tensor i64[] 0' -e 'save x "m.safetensors:a"' \
    -e 'k = floordiv k k' -e 'save k "m.safetensors:k"' -e 'save x "m.safetensors:b"'
  [ "$status" = 1 ]
  [ "$(grep -c 'save: .*m.safetensors:[ab] is not written, since ' err)" = 2 ]
  [ ! -e files/ann/m.safetensors ]
  # They go out in one block, so that nothing of other clients comes between them.
  {
    echo 'x = ones f32[300000]'
    for i in {1..40}; do printf 'y = mul x %d\nsave y "m.safetensors:w%d"\n' "$i" "$i"; done
    printf 'print y as=done\nsave x "n.safetensors:x"\n'
  } >p.gt
  client p.gt
  [ "$status" = 0 ]
  [ -s files/ann/n.safetensors ]
  awk '/^save .*:w1"/ { within = 1 } within && /^#sync/ { exit 1 } /^save .*:w40"/ { exit 0 }' stream
}

@test "a disk of the server that is full takes no part of a client's checkpoint" {
  mkdir small
  mount -t tmpfs -o size=3m tmpfs small 2>/dev/null || skip "no file system can be mounted here"
  mkdir -p small/ann
  ln -s "$PWD/small" files
  at_socket
  serve
  local old
  for old in 0 1; do
    ((!old)) || client -e 'x = ones f32[2]' -e 'save x "m.safetensors:a"'
    client -e 'x = zeros f32[2]' -e 'y = ones f32[1000000]' -e 'save x "m.safetensors:a"' \
      -e 'save y "m.safetensors:b"'
    cp err err."$old"
    find small -type f >left."$old"
    [ "$status" = 1 ]
  done
  cp small/ann/m.safetensors got.safetensors
  umount -l small
  [ ! -s left.0 ]
  [ "$(cat left.1)" = small/ann/m.safetensors ]
  [ "$(gt-emit -e 'x = load "got.safetensors:a"' -e 'print x' | gt-work)" = 'x = tensor f32[2] 1 1' ]
  for old in 0 1; do
    [ "$(grep -c 'save: .*No space left on device' err."$old")" = 2 ]
  done
}

@test "a client that may open no more files says so" {
  skip_if_sanitized 'a library is preloaded'
  at_socket
  serve
  bytes 1000 1 >sent
  client --send sent=in.bin
  [ "$status" = 0 ]
  local k ended
  for k in 1 2 3 4 5 6 7 8; do
    ended=0
    faults "open:$k:24:gt-emit" timeout 100 gt-emit --to "$at" --user ann \
      --fetch "in.bin=deep/got" >out 2>err </dev/null || ended=$?
    cat err
    ((ended == 0 || ended == 2))
    [[ $ended == 0 || $(<err) == *'Too many open files'* ]]
    [[ $(<err) != *variant* ]]
    rm -rf deep
  done
}

# while_stalled KIND COMMAND... runs the command in the background until its calls of
# that kind stall on the server's disk. Meanwhile another user comes, and gets the
# results of a program. Then the disk goes on, and the command must succeed.
while_stalled() {
  local pid
  rm -f stalled
  echo "$1" >stall
  spawn "${@:2}"
  pid=$!
  await "^$1$" stalled
  user=bob client -e 'x = ones f32[1]' -e 'print x'
  cat err
  [ "$(cat out)" = 'x = tensor f32[1] 1' ]
  is_spawned "$pid"
  rm stall
  wait "$pid"
}

@test "a disk that stalls holds up who waits for it, and nobody else" {
  skip_if_sanitized 'a library is preloaded'
  at_socket
  export GT_STALL=$PWD/stall GT_STALLED=$PWD/stalled
  preload=${GT_BIN%/bin}/tests/stall.so serve
  make_x
  bytes 3000000 1 >big
  local ann=(gt-emit --to "$at" --user ann)
  while_stalled open "${ann[@]}" --send x.npy
  while_stalled write "${ann[@]}" --send big
  while_stalled flush "${ann[@]}" --send big=big2
  while_stalled read "${ann[@]}" --fetch big=got
  cmp big got
  while_stalled read "${ann[@]}" -e 'x = load "x.npy"' -e 's = sum x' -e 'print s' >sum
  grep -q '^s = tensor f32' sum
  while_stalled open "${ann[@]}" -e 'x = load "x.npy"'
  while_stalled remove bash -c 'echo "remove \"big2\"" | "$@" --carry' - "${ann[@]}"
  [ ! -e files/ann/big2 ]
  # Nothing that stalls keeps the server from ending.
  echo read >stall
  rm stalled
  spawn "${ann[@]}" --fetch big=got2
  await '^read$' stalled
  kill -TERM "${spawned[0]}"
  local ended=0
  wait "${spawned[0]}" || ended=$?
  [ "$ended" = 130 ]
}

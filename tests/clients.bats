#!/usr/bin/env bats
# gt-emit -l serves many clients, and gt-emit --to is one of them.

load helper
load clients

@test "the server gives the results, messages and status of a run here" {
  serve 2
  cat >right.gt <<'END'
x = randn f32[64,8] 3
w = randn f32[8,8] 4
y = tanh x
y = matmul y w
l = mean y
gw = grad l w
w = sgd w gw 0.1
print l
print w as=weight
n = dropout x 0.5
print n
END
  same_as_here right.gt
  [ "$status" = 0 ]
  cat >wrong.gt <<'END'
i = tensor i64[2] 1 2
o = tensor i64[2] 0 1
q = floordiv i o
r = add q 1
print r
z = add i nope
print z
print i
print nobody
m = matmul i o axis=1
frobnicate x
END
  same_as_here wrong.gt
  [ "$status" = 3 ]
  # Messages of gt-emit and of the workers come with their line and caret.
  grep -A2 'wrong.gt:3: floordiv' err | tail -1 | grep -q '^      *^$'
  printf 'x = load "missing.npy" f32[2] 0\nprint x\n' >file.gt
  visit file.gt
  grep -q 'lends its clients no files' err
  same_as_here -e 'x = ones f32[2]' -e 'print x'
  echo 'y = add x x' >step.gt
  echo 'x = ones f32[2]' >init.gt
  echo 'print y' >end.gt
  same_as_here init.gt --repeat 500 step.gt end.gt
  gt-emit right.gt >emitted
  same_as_here emitted
  sed '$d' emitted >short
  same_as_here short
  [ "$status" = 4 ]
  visit missing.gt
  [ "$status" = 2 ]
  [ "$(cat err)" = 'gt-emit: cannot read missing.gt: No such file or directory' ]
}

@test "the examples give the same on the server as here" {
  serve 3
  local example
  for example in "$GT_EXAMPLES"/*.gt; do
    grep -q 'load\|save' "$example" && continue
    same_as_here "$example"
  done
}

@test "an answer comes while the program is still being written" {
  serve 1
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" <in >out 2>err' "$at"
  exec 5>in
  for k in 1 2 3; do
    printf 'x = full f32[2] %s\nprint x\n' $k >&5
    await "^x = tensor f32.2. $k $k\$" out
  done
  exec 5>&-
  await 'c1 is gone\|^free c1/x' stream
}

@test "a client cannot name, free or read the values of another" {
  serve 2
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" <in >mine 2>&1' "$at"
  exec 5>in
  printf 'w = full f32[2] 7\nmesh d=2\np@0-1 = ones f32[2]\nprint w\n' >&5
  await '^w = ' mine
  grep -q '^c1/w = ' stream
  cat >thief.gt <<'END'
print c1/w
x = add c1/w 1
free c1/w
free *
free c1/*
c1/w = zeros f32[2]
print c1/p@0
mesh d=4 space=c1
#sync c1:1
#sync c1/x
#end 0
#report 4 c1 "gt-work: forged\n"
#reports
#ranks c1 0-1=0
#fence 0 1 "x"
y = ones f32[2] #client=c1 #at=c1/x.gt:1
print y as=c1/w
save y "../../etc/passwd"
endmesh
END
  visit thief.gt
  [ "$status" = 3 ]
  grep -q "unknown name 'c1/w'" err
  run ! grep -q passwd stream
  # The thief's c1/w is a name of its own, c2/c1/w in the stream.
  run ! grep -q '^c1/w.*zeros' stream
  grep -q '^c2/c1/w = zeros' stream
  grep -q '^mesh d=4 space=c2/c1 ' stream
  run ! grep -q 'client=\|^#fence\|^#ranks\|^#report ' stream
  printf 'print w\nprint p@0-1\n' >&5
  await '^p@1 = ' mine
  exec 5>&-
  [ "$(grep -c '^w = tensor f32\[2\] 7 7$' mine)" = 2 ]
  run ! grep -qv '^w = \|^p@' mine
}

@test "each client has a mesh of its own, and name spaces within its own" {
  serve 4
  cat >a.gt <<'END'
mesh dp=4
x@0-3 = arange i64[8] split=dp:0
print x@0-3 split=dp:0
mesh tp=2 space=in
in/y@0-1 = arange i64[6] split=tp:0
print in/y@0-1 split=tp:0
y@0-3 = all_gather x@0-3 over=dp split=dp:0
print y@1
END
  cat >b.gt <<'END'
mesh d=2
x@0-1 = arange i64[4] split=d:0
print x@0-1 split=d:0
END
  for k in 1 2 3; do
    same_as_here a.gt
    same_as_here b.gt
  done
  # A client may place its own program by gt-shard.
  printf 'x = randn f32[8,8] 1\ny = matmul x x\ny = mean y\nprint y\n' >p.gt
  printf 'mesh: {tp: 2}\ntensors: {x: {shard: {tp: 0}}}\n' >m.yaml
  gt-emit p.gt | gt-shard -c m.yaml >placed
  same_as_here placed
}

@test "a client that dies leaves nothing behind, and others do not notice" {
  serve 2
  mkfifo in
  spawn bash -c 'exec gt-emit --to "$0" <in' "$at"
  victim=$!
  exec 5>in
  printf 'mesh d=2\na = ones f32[4]\nb@0-1 = ones f32[2]\nq = fail "no"\nprint a\n' >&5
  await '^print c1/a' stream
  # bash has replaced itself by gt-emit, so the number is that of gt-emit.
  kill -KILL "$victim"
  await 'endmesh space=c1' stream
  exec 5>&-
  grep -q '^free c1/a c1/q$\|^free c1/a' stream
  grep -q '^free c1/b@0-1' stream
  grep -q 'client c1 is gone: ' served
  printf 'a = ones f32[2]\nprint a\n' >p.gt
  same_as_here p.gt
  [ ! -s routed ]
}

@test "a client that reads nothing keeps nobody waiting" {
  serve 2
  # The results take 40 MB, and nobody reads them.
  printf 'x = ones f32[100000]\n%s\n' "$(for ((i = 0; i < 200; i++)); do echo 'print x'; done)" >much.gt
  mkfifo unread
  spawn bash -c 'exec gt-emit --to "$0" much.gt >unread' "$at"
  exec 6<unread
  await '^print c1/x' stream
  printf 'a = ones f32[2]\nprint a\n' >p.gt
  same_as_here p.gt
  # gt-emit has held back some of the prints, since their results had no reader.
  (($(grep -c '^print c1/x' stream) < 200))
  [ "$(wc -l <&6)" = 200 ]
}

@test "files of a client are below its user's directory, and nowhere else" {
  mkdir -p files/ann files/bob
  serve 1 --files files
  printf 'x = full f32[2] 3\nsave x "x.npy"\ny = load "x.npy"\nprint y\n' >save.gt
  visit --user ann save.gt
  [ "$status" = 0 ]
  [ "$(cat out)" = 'y = tensor f32[2] 3 3' ]
  [ -s files/ann/x.npy ]
  visit --user bob -e 'y = load "x.npy"' -e 'print y'
  [ "$status" = 3 ]
  run ! grep -q 'files/' err
  for path in ../ann/x.npy /etc/passwd a/../../ann/x.npy "$PWD/files/ann/x.npy"; do
    visit --user bob -e "y = load \"$path\" f32[2] 0" -e 'print y'
    [ "$status" = 3 ]
    grep -q "paths are relative, and below its directory" err
    visit --user bob -e 'x = ones f32[2]' -e "save x \"$path\""
    [ "$status" = 3 ]
  done
  # The refusal holds in a line that is refused for another reason, too.
  for line in 'save nobody "../ann/y.npy"' 'save _x "../ann/y.npy"' 'save x "../ann/y.npy" =' \
    'y@0-1 = load "../ann/x.npy" f32[2] 0 axis=1' 'save x "../ann/y.npy" "z.npy"'; do
    visit --user bob -e 'x = ones f32[2]' -e "$line"
    [ "$status" = 3 ]
  done
  run ! grep -q 'files/bob/\.\.' stream
  visit --user ../ann -e 'print x'
  [ "$status" = 2 ]
  grep -q "^gt-emit: --user: '../ann': expected " err
}

@test "when the server or what is behind it ends, clients are told" {
  serve 1
  mkfifo in
  spawn bash -c 'gt-emit --to "$0" <in >out 2>err; echo "status $?" >>err' "$at"
  exec 5>in
  printf 'x = ones f32[2]\nprint x\n' >&5
  await '^x = ' out
  kill -KILL "$route"
  await 'status 4' err
  exec 5>&-
  grep -q 'gt-emit has ended: what runs the programs behind it has ended' err
  await 'all clients are told, and it ends' served
  rm -f out err
  serve 1
  spawn bash -c 'gt-emit --to "$0" <in >out 2>err; echo "status $?" >>err' "$at"
  exec 5>in
  printf 'x = ones f32[2]\nprint x\n' >&5
  await '^x = ' out
  kill -TERM "$emit"
  await 'status 4' err
  exec 5>&-
  grep -q 'gt-emit has ended: it was ended' err
  tail -1 stream | grep -q '^#end 130$'
}

@test "a server whose stream nobody reads any more ends at once" {
  mkfifo back
  spawn bash -c 'gt-emit -l "$0" --back back -v 2>served | head -n 1 >first
    echo "status ${PIPESTATUS[0]}" >ended' "ipc://$PWD/at"
  await 'status 4' ended
  grep -q 'standard output: Broken pipe; all clients are told, and it ends' served
}

@test "a peer at the endpoint that is no client is refused" {
  serve 1
  python3 - "$PWD/at" <<'END'
import os, random, socket, sys
for seed in range(20):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    random.seed(seed)
    s.sendall(random.randbytes(random.randrange(1, 5000)))
    s.close()
END
  printf 'a = ones f32[2]\nprint a\n' >p.gt
  same_as_here p.gt
  run -4 --separate-stderr within 30 gt-emit --to "ipc://$PWD/nobody" -e 'print x'
  [[ $stderr == "gt-emit: no gt-emit at ipc://$PWD/nobody within 10.0 s" ]]
}

@test "a socket that is not there yet is waited for, one in no directory is not" {
  run -2 --separate-stderr gt-emit --to "ipc://$PWD/none/at" -e 'print x'
  [ -z "$output" ]
  [[ $stderr == "gt-emit: --to ipc://$PWD/none/at: nobody can listen there, since there is no directory $PWD/none/"* ]]
  run -2 gt-emit --to "ipc://$PWD/none/at" --send p.gt
  touch file
  run -2 gt-emit --to "ipc://$PWD/file/at" -e 'print x'
  spawn bash -c 'exec gt-emit --to "$0" -e "x = ones f32[2]" -e "print x" >out 2>err' \
    "ipc://$PWD/at"
  local visitor=$!
  serve 1
  wait "$visitor"
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
}

# gt-emit keeps an input until its end in order to repeat it. Meanwhile results are
# written, and the client can be interrupted.
@test "a FIFO and standard input that are repeated are not waited for" {
  serve 1
  mkfifo steps
  printf 'x = ones f32[2]\nprint x\n' >first.gt
  for name in steps -; do
    case $name in
      -) spawn bash -c 'exec gt-emit --to "$0" first.gt --repeat 3 - -e "print x" <steps >out 2>err' "$at" ;;
      *) spawn bash -c 'exec gt-emit --to "$0" first.gt --repeat 3 steps -e "print x" >out 2>err' "$at" ;;
    esac
    local visitor=$!
    exec 5>steps
    echo 'x = add x 1' >&5
    await '^x = tensor' out
    echo 'x = mul x 2' >&5
    exec 5>&-
    status=0
    wait "$visitor" || status=$?
    [ "$status" = 0 ]
    [ "$(cat out err)" = $'x = tensor f32[2] 1 1\nx = tensor f32[2] 22 22' ]
    rm out
  done
  spawn bash -c 'exec gt-emit --to "$0" --repeat 3 steps >out 2>err' "$at"
  visitor=$!
  await 'client c3 comes' served
  kill -INT "$visitor"
  status=0
  wait "$visitor" || status=$?
  [ "$status" = 130 ]
  # With --repeat, an input that ends before its first byte is an error as without.
  visit --repeat 3 - < <(:)
  [ "$status" = 4 ]
  grep -q 'gt-emit: <stdin>: ' err
}

@test "options of -l and --to that do not go together are bad usage" {
  wrong() {
    run -2 --separate-stderr gt-emit "${@:2}"
    [[ $stderr == "gt-emit: $1; try gt-emit --help" ]] || { echo "$stderr"; return 1; }
  }
  wrong '-l needs --back, the FIFO of the results' -l ipc://x
  wrong '--back needs -l' --back x
  wrong '--user needs --to' --user x
  wrong '--key needs -l or --to' --key x
  wrong '-l serves and --to is served; give one' -l ipc://x --to ipc://y
  wrong 'FILE is for one program; with -l they come from clients' -l ipc://x --back y p.gt
  wrong "--share: 'x' is not USER=N with a number above 0" -l ipc://x --back y --share x
  wrong "--share: 'b=0.5': one share may be 100 times another, and those of users without --share are 1" \
    -l ipc://x --back y --share a=60 --share b=0.5
  wrong "--share: 'a=101': one share may be 100 times another, and those of users without --share are 1" \
    -l ipc://x --back y --share a=101
  wrong '-l tcp://*:5550: anyone who reaches it could attach; give --key and --allow, bind tcp://127.0.0.1:PORT, or say --insecure' \
    -l 'tcp://*:5550' --back y
  [ "$output" = $'#gt 1\n#end 2' ]  # the output is a stream, which needs its marks
  wrong "--wait needs --detach" --to ipc://x --wait
  [ -z "$output" ]  # the output is results, which have no marks
  run -2 --separate-stderr gt-emit --to ipc://x --nothing
  [ -z "$output" ]
  touch plain
  run -2 --separate-stderr gt-emit -l "ipc://$PWD/e" --back plain
  [[ $stderr == 'gt-emit: plain: results come back through a FIFO (mkfifo), and this is none' ]]
}

@test "names of users are checked before anybody is served" {
  mkfifo back
  refused() { # MESSAGE OPTION...
    run -2 --separate-stderr gt-emit -l "ipc://$PWD/e" --back back "${@:2}"
    [[ $stderr == "gt-emit: $1"*'; try gt-emit --help' ]] || { echo "$stderr"; return 1; }
  }
  (umask 077 && gt-key >me.key)
  local key user
  key=$(gt-key --public me.key)
  for user in 'user=../bob' 'user=' 'user=.ann' 'user=a/b' 'user=a user=b'; do
    printf '# people\n%s %s\n' "$key" "$user" >allowed
    refused '--allow: allowed:2: user=' --key me.key --allow allowed
  done
  printf '%s user=a\n' "$key" "$key" >allowed
  refused '--allow: allowed:2: the key stands in a line above, too' --key me.key --allow allowed
  refused "--share: '../bob': expected a name: up to 64 letters" --share ../bob=2
  refused "--share: 'a b': expected a name" --share 'a b=2'
  refused "--share: 'ann' is given twice" --share ann=2 --share ann=3
  run -2 gt-emit --to "ipc://$PWD/e" --user 'a b' -e 'x = ones f32[2]'
  [[ $output == *"--user: 'a b': expected a name: "* ]]
}

# Prints a program whose results depend on its number, so that no other has them.
own_program() {
  cat <<END
x = randn f32[8,16] $1
w = randn f32[16,4] $((100 + $1))
t = tensor i64[8] 0 1 2 3 3 1 0 $(($1 % 4))
END
  local step
  for ((step = 0; step < 30; step++)); do
    cat <<'END'
y = matmul x w
l = cross_entropy y t
g = grad l w
w = sgd w g 0.5
print l
END
  done
  printf 'mesh d=2\nq@0-1 = ones f32[4] split=d:0\nr@0-1 = all_reduce q@0-1\nprint r@0-1\nprint w\n'
}

@test "ten clients at once beside five that misbehave: each has its own results" {
  serve 2 --quota 64M
  local k
  for ((k = 0; k < 10; k++)); do
    own_program $k >p$k.gt
    gt-emit p$k.gt | gt-route -n 1 >here$k
  done
  # The five send garbage, run a failing program, die, read nothing, and want all
  # memory.
  spawn python3 - "$PWD/at" <<'END'
import random, socket, sys, time
random.seed(1)
for _ in range(50):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(random.randbytes(random.randrange(1, 3000)))
    time.sleep(0.02)
    s.close()
END
  yes 'y = frobnicate nobody' | head -n 20000 >bad.gt
  spawn bash -c 'gt-emit --to "$0" bad.gt >/dev/null 2>&1' "$at"
  mkfifo in unread
  spawn bash -c 'exec gt-emit --to "$0" <in >/dev/null 2>&1' "$at"
  local victim=$!
  exec 5>in
  own_program 77 | head -40 >&5
  printf 'x = ones f32[200000]\n' >much.gt
  yes 'print x' | head -n 100 >>much.gt
  spawn bash -c 'exec gt-emit --to "$0" much.gt >unread 2>/dev/null' "$at"
  exec 6<unread
  { echo 'x = ones f32[1000000]'; for ((k = 0; k < 200; k++)); do echo "x$k = add x $k"; done; } >greedy.gt
  spawn bash -c 'gt-emit --to "$0" greedy.gt >/dev/null 2>greedy.err' "$at"
  local ids=()
  for ((k = 0; k < 10; k++)); do
    gt-emit --to "$at" p$k.gt >there$k 2>err$k 3>&- &
    ids+=($!)
  done
  sleep 0.3
  kill -KILL "$victim"
  exec 5>&-
  for k in "${!ids[@]}"; do wait "${ids[k]}"; done
  for ((k = 0; k < 10; k++)); do
    cmp here$k there$k
    [ ! -s err$k ]
  done
  exec 6<&-
  await 'is the quota' greedy.err
  [ ! -s routed ]
}

@test "a client that waits for its input lives on, and can be ended" {
  serve 1 --silence 1
  mkfifo in fifo
  spawn bash -c 'gt-emit --to "$0" --silence 1 -e "w = ones f32[2]" -e "print w" - <in >out 2>err; echo $? >code' "$at"
  exec 5>in
  # The first input runs while the second says nothing for two silences.
  await '^w = ' out
  sleep 2.2
  printf 'v = add w 1\nprint v\n' >&5
  exec 5>&-
  await 0 code
  [ "$(tail -1 out)" = 'v = tensor f32[2] 2 2' ]
  # A client waits for somebody to write to a FIFO until a signal ends it.
  spawn env --default-signal=INT,TERM gt-emit --to "$at" --silence 1 fifo
  local visitor=$!
  await 'client c2 comes' served
  kill -TERM "$visitor"
  status=0
  wait "$visitor" || status=$?
  [ "$status" = 130 ]
}

@test "a program whose name has a byte that does not print gives the results of a run here" {
  serve 1
  printf 'x = ones f32[2]\nprint x\ny = ad x\n' >$'a\nb.gt'
  same_as_here $'a\nb.gt'
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
}

@test "the place in a message is one of the program, or says that it is one of the shared stream" {
  serve 1
  printf 'x = ones f32[2]\ny = take x 5\nprint y\n' >p.gt
  places() {
    status=0
    within 60 gt-emit --to "$at" "$@" >out 2>err || status=$?
    [ $status = 1 ]
    sed -n 's/^gt-work: \(.*\): take: .*/\1/p' err
    sed -n 's/^y = fail "\(.*\): take: .*/\1/p' out
  }
  [ "$(places p.gt)" = $'p.gt:2\np.gt:2' ]
  [ "$(places --at <p.gt)" = $'<stdin>:2\n<stdin>:2' ]
  [[ $(places <p.gt) =~ ^'<shared>:'[0-9]+$'\n<shared>:'[0-9]+$ ]]
}

@test "a client's lines may be long, and come one after another" {
  serve 1
  # Each is more than the window of text that is on its way.
  awk 'BEGIN { for (i = 0; i < 6; i++) { printf "x%d = tensor f32[150000]", i
    for (k = 0; k < 150000; k++) printf " %d", k % 977; print "" } print "y = sum x5\nprint y" }' >long.gt
  same_as_here long.gt
  [ "$status" = 0 ]
}

@test "a server whose messages are not taken serves on" {
  at_socket
  mkfifo back to_route
  full said
  spawn bash -c 'exec gt-emit -l "$0" --back back -v 2>said >to_route' "$at"
  spawn bash -c 'exec gt-route -n 1 <to_route >back 2>routed'
  for _ in 1 2 3; do
    visit -e 'x = ones f32[2]' -e 'print x'
    [ "$status" = 0 ]
  done
}

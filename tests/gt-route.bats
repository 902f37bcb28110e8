#!/usr/bin/env bats
# What a user sees of gt-route: options, statuses, and results by several workers.

load helper

# wrong MESSAGE ARGUMENT... checks that the arguments are refused with that message.
wrong() {
  local message=$1
  shift
  run -2 --separate-stderr gt-route "$@" < /dev/null
  [ -z "$output" ]
  [ "$stderr" = "gt-route: $message; try gt-route --help" ]
}

@test "options that do not go together are bad usage" {
  wrong '-n starts workers and --bind waits for others; give one of them' \
    -n 2 --bind ipc://@gt-test --workers 2
  wrong '--bind needs --workers, how many to wait for' --bind ipc://@gt-test
  wrong '--workers needs --bind, where they attach' --workers 2
  wrong '--root is for workers that gt-route starts; give it to gt-work' \
    --bind ipc://@gt-test --workers 2 --root .
  wrong "--memory: '3x' is not a size such as 512M or 2G" --memory 3x
}

@test "an option that the workers cannot do is bad usage, and no line is blamed" {
  printf 'x = ones f32[2]\nprint x\n' >p.gt
  local n bad
  for n in 1 2; do
    for bad in '--backend nosuch' '--isa nosuch'; do
      for _ in {1..5}; do
        # shellcheck disable=SC2086 # words
        run -2 --separate-stderr gt-route -n "$n" $bad p.gt
        [[ $stderr == 'gt-route: worker '*' cannot begin: '*"nosuch"* ]]
        [[ $stderr != *p.gt* && $stderr != *$'\n'* ]]
      done
    done
    GT_BACKEND=nosuch run -2 --separate-stderr gt-route -n "$n" p.gt
    [[ $stderr == *' cannot begin: '*"nosuch"* ]]
    wrong '--root: nosuch: No such file or directory' -n "$n" --root . --root nosuch p.gt
    # A worker that ends before it attaches has said why on standard error.
    GT_NO_GRAPHS=maybe run -2 --separate-stderr gt-route -n "$n" p.gt
    [[ $stderr == *'gt-work: '*graphs*'gt-route: worker '*' exited with status 2 before it could begin' ]]
  done
  wrong "--root tcp://nowhere: $(gt-work --root tcp://nowhere </dev/null 2>&1 |
    sed 's/.*tcp:..nowhere: //; s/; try gt-work.*//')" --root tcp://nowhere p.gt
}

@test "an endpoint that anyone can reach needs keys, or --insecure" {
  wrong '--bind tcp://*:5560: anyone who reaches it could attach; give --key and --allow, bind tcp://127.0.0.1:PORT, or say --insecure' \
    --bind 'tcp://*:5560' --workers 1
}

@test "an endpoint may name a host, and a wrong endpoint is named as it is" {
  run -4 --separate-stderr gt-route --bind 'tcp://localhost:*' --workers 1 \
    --timeout 1 <<< 'x = ones f32[2]'
  [[ $stderr == *'gt-route: waits for 1 worker at tcp://'* ]]
  run -2 gt-route --bind tcp://127.0.0.1:99999 --workers 1 < /dev/null
  [ "$output" = "gt-route: --bind tcp://127.0.0.1:99999: '99999' is no port; expected 0 to 65535, or *; try gt-route --help" ]
  run -2 gt-work --connect tcp://127.0.0.1:70000
  [[ $output == *"'70000' is no port; expected 0 to 65535, or *; try gt-work --help" ]]
}

@test "gt-route waits for workers as long as it is told, and then names those that are missing" {
  run -4 --separate-stderr gt-route --bind ipc://@gt-test-$$ --workers 2 \
    --timeout 1 <<< 'x = ones f32[2]'
  [ -z "$output" ]
  [[ $stderr == *'gt-route: waits for 2 workers at ipc://@gt-test-'* ]]
  [[ $stderr == *'gt-route: waited 1 s for all workers; 0 of 2 workers are here'* ]]
}

@test "workers that are missing are named" {
  local at=ipc://@gt-test-$$-missing
  spawn gt-work --connect "$at" --rank 2 --name two
  run -4 --separate-stderr gt-route --bind "$at" --workers 4 --timeout 2 \
    <<< 'x = ones f32[2]'
  [[ $stderr == *'gt-route: 1 of 4 workers are here; waits for rank 0-1,3'* ]]
  [[ $stderr == *'waited 2 s for all workers; 1 of 4 workers are here (two on '*'; missing: rank 0-1,3'* ]]
}

@test "workers come before gt-route, die and stop while others are waited for" {
  local at=ipc://@gt-test-$$-attach route status=0
  echo 'x = ones f32[2]' > p.gt
  echo 'print x' >> p.gt
  spawn gt-work --connect "$at" --rank 1 --name first
  local first=$!
  spawn gt-route --bind "$at" --workers 2 --silence 1.5 p.gt > out.txt 2> err.txt
  route=$!
  await '1 of 2 workers are here; waits for rank 0' err.txt
  kill -KILL "$first"
  await 'first on .* is lost before all workers were here' err.txt
  spawn gt-work --connect "$at" --rank 1 --name second
  local second=$!
  within 20 bash -c 'until (($(grep -c "1 of 2" err.txt) == 2)); do sleep 0.05; done'
  kill -STOP "$second"
  await 'second on .* is lost before all workers were here: nothing' err.txt
  kill -CONT "$second"
  spawn gt-work --connect "$at" --rank 0 --name third
  wait "$route" || status=$?
  [ "$status" = 0 ]
  [ "$(cat out.txt)" = 'x = tensor f32[2] 1 1' ]
  wait "$second"
}

# answered FILE starts gt-route and a worker on a stream that stays open, until the
# first result.
answered() {
  mkfifo in
  spawn gt-route --bind "$1" --workers 1 --silence 2 in > out.txt 2> route.txt
  route=$!
  spawn gt-work --connect "$1" --silence 1 --name w 2> work.txt
  worker=$!
  exec 5> in
  printf '%s\n' 'x = ones f32[]' 'print x' >&5
  await '^x = tensor f32\[\] 1$' out.txt
}

@test "a worker that stands still is lost after --silence" {
  local route worker status=0
  answered ipc://@gt-test-$$-still
  kill -STOP "$worker"
  await '^gt-route: worker 0 (w .* is lost: nothing was heard of it for 2[.]0 s; ' route.txt
  wait "$route" || status=$?
  [ "$status" = 4 ]
  kill -KILL "$worker"
  exec 5>&-
}

@test "gt-route that stands still is lost after a worker's --silence" {
  local route worker status=0
  answered ipc://@gt-test-$$-still
  kill -STOP "$route"
  await '^gt-work: gt-route at .* is lost: nothing was heard of it for 1[.]0 s$' work.txt
  wait "$worker" || status=$?
  [ "$status" = 4 ]
  kill -KILL "$route"
  exec 5>&-
}

@test "--silence leaves room for two beats" {
  run -2 gt-route --silence 0.9 < /dev/null
  GT_SILENCE=0.9 run -2 gt-work --connect ipc://@gt-none
  [ "$output" = "gt-work: --silence: '0.9' is not a number from 1 to 1000000; try gt-work --help" ]
}

# same_results FILE checks that gt-work and gt-route with one, two and four workers
# print the same.
same_results() {
  local n
  gt-work --threads 1 "$1" > one.txt
  for n in 1 2 4; do
    gt-route -n "$n" --threads 1 "$1" > "$n.txt"
    cmp one.txt "$n.txt"
  done
}

@test "results are those of one gt-work, bit for bit" {
  {
    printf '%s\n' 'a = randn f32[64,64] 1' 'b = randn f32[64,64] 2' \
      'c = zeros f32[256,256]'
    for ((i = 0; i < 20; i++)); do
      printf '%s\n' 'a = matmul a b' 'a = tanh a' 'b = add b a' 's = sum b' \
        'print s' 'c = add c s' 'save c "c.npy"' 'd = load "c.npy" f32[256,256]' \
        'c = mul d 0.5' 'free d'
    done
    echo 'print c as=last'
  } > p.gt
  same_results p.gt
}

@test "ranks are played by several workers, collectives included" {
  printf '%s\n' 'mesh dp=2 tp=2' 'x@0-3 = randn f32[7,6] 3 split=dp:0,tp:1' \
    's@0-3 = sum x@0-3' 's@0-3 = all_reduce s@0-3 over=tp' 'print s@0-3' \
    'y@2-3 = copy x@0-1' 'print y@2-3' \
    'print x@0-3 split=dp:0,tp:1 shape=7,6' 'free x@0-3 y@2-3 s@0-3' > p.gt
  same_results p.gt
}

@test "a failure is reported once, spreads, and nothing else is affected" {
  printf '%s\n' 'x = ones f32[4]' 'n = tensor i64[] 0' 'q = floordiv 7 n' \
    'r = add q 1' 'y = matmul x nosuch' 'z = add y 1' 'print r' 'print z' \
    's = sum x' 'print s' > p.gt
  run -3 --separate-stderr gt-route -n 2 p.gt
  lines_are 'r = fail "p.gt:3: floordiv: integer division by zero"
z = fail "p.gt:5: matmul: unknown name '"'nosuch'"'"
s = tensor f32[] 4'
  [ "$(grep -c p.gt:3: <<< "$stderr")" = 1 ]
  [ "$(grep -c p.gt:5: <<< "$stderr")" = 1 ]
}

@test "a load by another worker knows of the save that failed" {
  printf '%s\n' 'mesh dp=2' 'x@0 = tensor i64[2] 1 2' 'save x@0 "f.npy"' \
    'n@0 = tensor i64[] 0' 'q@0 = floordiv x@0 n@0' 'save q@0 "f.npy"' \
    'y@1 = load "f.npy" i64[2]' 'print y@1' 'save x@0 "f.npy"' \
    'y@1 = load "f.npy" i64[2]' 'print y@1' 'save q@0 "s.safetensors:a"' \
    'save x@0 "s.safetensors:b"' 'y@1 = load "s.safetensors:a" i64[2]' \
    'print y@1' 'y@1 = load "s.safetensors:b" i64[2]' 'print y@1' > p.gt
  run -1 --separate-stderr gt-work p.gt
  local alone=$output
  run -1 --separate-stderr gt-route -n 2 p.gt
  [ "$output" = "$alone" ]
  [[ $output == *'y@1 = fail "p.gt:7: load: f.npy was not saved: p.gt:5: floordiv: '* ]]
  [[ $output == *'y@1 = tensor i64[2] 1 2'* ]]
}

@test "an answer comes without closing the pipe" {
  coproc ROUTE { gt-route -n 2 3>&-; }
  local pid=$ROUTE_PID in=${ROUTE[1]} out=${ROUTE[0]} i line
  for i in 1 2 3; do
    echo "x$i = tensor f32[] $i" >&"$in"
    echo "print x$i" >&"$in"
    read -r -t 10 line <&"$out"
    [ "$line" = "x$i = tensor f32[] $i" ]
  done
  exec {in}>&-
  wait "$pid"
}

@test "the status of the stage before counts, and so does a stream that is cut short" {
  run -3 gt-route <<< $'#gt 1\n#end 3'
  run -4 --separate-stderr gt-route <<< '#gt 1'
  [ "$stderr" = 'gt-route: <stdin>: stream cut short after line 1' ]
}

@test "a worker that is killed ends the run, and its results still come" {
  local to worker status=0
  mkfifo in
  exec {to}<> in
  spawn gt-route -n 2 in > out.txt 2> err.txt
  printf '%s\n' 'x = tensor f32[] 1' 'print x' >&"$to"
  await . out.txt
  worker=$(cut -d ' ' -f 1 "/proc/${spawned[0]}/task/${spawned[0]}/children")
  kill -KILL "$worker"
  wait "${spawned[0]}" || status=$?
  exec {to}>&-
  [ "$status" = 4 ]
  grep -q '^gt-route: worker 0 .*; it had done all it was sent$' err.txt
  [ "$(wc -l < err.txt)" = 1 ]
}

@test "every column of every row of the log has something in it" {
  printf '# before the first\n#gt 1\nx = ones f32[1]\nprint x\n#end 0\n' |
    gt-route -n 2 --log log >/dev/null
  run -0 awk -F '\t' 'NF < 7 || $2 == "" || $4 == "" || $5 == "" || $6 == ""' log
  [ -z "$output" ]
  run -0 awk -F '\t' '$3 == "comment" {print $4; exit}' log
  [ "$output" = - ]
}

@test "the log replays to the same results" {
  printf '%s\n' 'a = ones f32[512]' 'b = ones f32[512,512]' 'c = add b a' \
    'a = sum c axis=0' 'print a' 's = sum a' 'print s' 'free a b c' > p.gt
  gt-route -n 2 --log log.tsv p.gt > out.txt
  cut -f 7- log.tsv | gt-work > again.txt
  cmp out.txt again.txt
  [ "$(cut -f 3 log.tsv | grep -c issue)" -ge 8 ]
  [ "$(tail -n 1 log.tsv | cut -f 3,7)" = $'end\t# status=0' ]
}

# loop ROUNDS RANKS prints a training loop of which one line changes in each round.
loop() {
  local i k
  echo "mesh tp=$2"
  echo "x@0-$(($2 - 1)) = zeros f32[4,4]"
  for ((i = 0; i < $1; i++)); do
    for ((k = 0; k < 40; k++)); do
      echo "y$k@0-$(($2 - 1)) = add x@0-$(($2 - 1)) $k"
      echo "free y$k@0-$(($2 - 1))"
    done
    echo "x@0 = add x@0 $i"
    echo "print x@0-1"
  done
}

@test "64 workers in a process check every number and answer prints" {
  local endpoint=ipc://@gt-light-$$ hot
  command -v light_members || skip "light_members is not built: -DGT_TESTS=ON"
  loop 60 64 > p.gt
  for hot in '' --no-hot; do
    spawn light_members 64 "$endpoint" w
    # shellcheck disable=SC2086
    within 60 gt-route --bind "$endpoint" --workers 64 --log log $hot p.gt > out
    wait "$!"
    [ "$(wc -l < out)" = 120 ]
    [ "$(head -n 2 out | cut -d ' ' -f 1-3)" = $'x@0 = fail\nx@1 = fail' ]
    [ "$(awk -F '\t' '$3 == "send" && $7 ~ /as=hot/' log | wc -l)" -gt 64 ] ||
      [ -n "$hot" ]
    [ -z "$hot" ] || [ "$(grep -c 'as=hot\|as=block' log)" = 0 ]
    [ "$(grep -c $'\tbye\t.*status=0' log)" = 64 ]
  done
}

@test "blocks that were sent before go by their number, and change nothing" {
  cd "$GT_ROOT"
  local t=$BATS_TEST_TMPDIR
  {
    cat examples/digits-init.gt
    for _ in 1 2 3 4 5 6 7 8; do cat examples/digits.gt; done
    echo 'print loss'
    cat examples/digits-test.gt
  } | gt-emit > "$t/p"
  gt-route -n 2 --threads 1 --log "$t/log" "$t/p" > "$t/hot"
  gt-route -n 2 --threads 1 --no-hot --log "$t/text.log" "$t/p" > "$t/text"
  cmp "$t/hot" "$t/text"
  gt-work --threads 1 "$t/p" | cmp - "$t/hot"
  grep -q 'as=block' "$t/log"
  grep -q '#hot=1' "$t/log"
  [ "$(grep -c '#hot=\|as=block\|as=hot' "$t/text.log")" = 0 ]
  # The log has the full text of every line.
  cut -f 7- "$t/log" | gt-work --threads 1 | cmp - "$t/hot"
}

@test "a reader that has enough ends a run without a message, workers included" {
  { echo 'x = ones f32[4]' && yes $'x = add x 1\nprint x' | head -40000; } >long.gt
  for _ in {1..12}; do
    gt-route -n 2 long.gt 2>>told | head -1 >/dev/null || true
  done
  [ ! -s told ]
}

@test "a free of what is no name is refused, as a worker refuses it" {
  printf 'x = ones f32[2]\nfree 0\nfree x 1\nprint x\n' >p.gt
  run -3 --separate-stderr gt-route -n 1 p.gt
  [ "$output" = 'x = tensor f32[2] 1 1' ]
  [[ $stderr == *'p.gt:2: free: expected a tensor'*'name, got number 0'* ]]
  [[ $stderr == *'p.gt:3: free: expected a tensor'*'name, got number 1'* ]]
}

@test "a log that cannot be written is named, and the results come all the same" {
  printf 'x = ones f32[2]\nprint x\n' >p.gt
  run -2 --separate-stderr gt-route -n 1 --log /dev/full p.gt
  [ "$output" = 'x = tensor f32[2] 1 1' ]
  [ "$stderr" = 'gt-route: --log: /dev/full: No space left on device' ]
}

@test "a log that is emptied goes on at its beginning" {
  mkfifo in
  exec 5<>in
  spawn gt-route --log run.log in
  printf 'x = ones f32[2]\nprint x\n' >&5
  await 'print x' run.log
  : >run.log
  printf 'y = add x 1\nprint y\n' >&5
  await 'print y' run.log
  [ "$(tr -cd '\0' <run.log | wc -c)" -eq 0 ]
}

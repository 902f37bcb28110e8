#!/usr/bin/env bats
# gt-top for programs: which gt-route it finds, what it writes for awk and for
# Prometheus, and that watching changes nothing.

load helper

teardown() {
  end_spawned
  # Unmounts the file system of a test that did not come to its end.
  umount small 2> /dev/null || true
}

# wrong MESSAGE ARGUMENT... checks that the arguments are refused with that message.
wrong() {
  local message=$1
  shift
  run -2 --separate-stderr gt-top "$@" < /dev/null
  [ -z "$output" ]
  [ "$stderr" = "gt-top: $message; try gt-top --help" ]
}

# begin_run [OPTION...] starts a gt-route of two workers, $route, that runs the
# lines that are written to descriptor 5 until it is closed.
begin_run() {
  rm -f in
  mkfifo in
  spawn gt-route -n 2 --threads 1 "$@" in > out.txt 2> route.txt
  route=$!
  exec 5> in
  echo '# a run' >&5
}

# end_run ends the run, which must have status 0.
end_run() {
  exec 5>&-
  wait "$route"
}

# some_work prints lines that keep both workers busy, and make them exchange values.
some_work() {
  local i
  echo 'mesh dp=2'
  echo 'x@0-1 = randn f32[64,64] 1'
  for ((i = 0; i < 40; i++)); do
    printf '%s\n' 'y@0-1 = matmul x@0-1 x@0-1' 'y@0-1 = all_reduce y@0-1' \
      's@0-1 = sum y@0-1'
  done
  echo 'print s@0-1'
  echo 'endmesh'
}

# cells COLUMN CONDITION FILE prints that column of the rows for which awk's
# condition holds; conditions name a column as $c["busy"].
cells() {
  awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    '"$2"' { print $c["'"$1"'"] }' "$3"
}

# needs_own_network skips the test where it can have no network without other
# gt-routes.
needs_own_network() {
  unshare -rn true 2> /dev/null || skip "no network of its own can be had here"
}

@test "options that do not go together are bad usage" {
  wrong '-n is for -b' -n 3
  wrong '-b and --metrics are two jobs' -b --metrics :0
  wrong "-n: '0' is not a number from 1 to 1000000000" -b -n 0
  wrong "-d: '0.01' is not a number from 0.1 to 86400" -b -d 0.01
  wrong "-d: 'nan' is not a number from 0.1 to 86400" -b -d nan
  wrong 'standard input and output are no terminal; use -b'
  wrong "'nosuch' is no process number, and no endpoint such as tcp://127.0.0.1:5561" -b nosuch
  wrong "--metrics 0.0.0.0:0: anyone who reaches it could read it; serve at :PORT, or say --insecure" --metrics 0.0.0.0:0
  for metrics in :99999 :123456789012345678901 localhost: 127.0.0.1:65536; do
    for options in '' --insecure; do
      # shellcheck disable=SC2086
      wrong "--metrics: '$metrics' is no address; expected :PORT or HOST:PORT, with a port up to 65535" \
        --metrics "$metrics" $options
    done
    [ ! -e "$metrics" ]
  done
  wrong 'WHICH tcp://10.0.0.1:5561: without keys anyone on the way there could be gt-route; give --key and --route-key, or say --insecure' -b tcp://10.0.0.1:5561
}

@test "without a gt-route it says so, with status 4" {
  needs_own_network
  run -4 --separate-stderr unshare -rn gt-top -b
  [ -z "$output" ]
  [ "$stderr" = 'gt-top: no gt-route of this user runs on this host; of another host, name the endpoint of its --monitor' ]
  run -4 gt-top -b 999999999
  [ "$output" = 'gt-top: no gt-route of this user with process number 999999999 runs on this host' ]
}

@test "the only gt-route is found; several are listed, to choose from" {
  needs_own_network
  cat > several.sh <<'END'
mkfifo in1 in2
gt-route -n 1 in1 > /dev/null 2>&1 & one=$!
exec 5> in1
until gt-top -b -n 1 -d 0.1 > one.txt 2> one.err; do sleep 0.1; done
gt-route -n 2 in2 > /dev/null 2>&1 & two=$!
exec 6> in2
status=0
until gt-top -b > list.txt 2> list.err; [ $? = 2 ]; do sleep 0.1; done
gt-top -b -n 1 -d 0.1 $two > two.txt
echo "$one $two" > pids
exec 5>&- 6>&-
wait
END
  within 60 unshare -rn bash several.sh
  read -r one two < pids
  [ "$(cells id '$2 == "route"' one.txt)" = "$one" ]
  [ "$(cells id '$2 == "route"' two.txt)" = "$two" ]
  [ "$(cells id '$2 == "worker"' two.txt)" = $'0\n1' ]
  [ "$(head -1 list.txt)" = $'pid\tage\tworkers\tfile' ]
  [ "$(cut -f1,3,4 list.txt | tail -2 | sort)" = "$(printf '%s\n' "$one"$'\t1\tin1' "$two"$'\t2\tin2' | sort)" ]
  [[ $(cat list.err) == 'gt-top: 2 gt-routes run; say which, as: gt-top '* ]]
}

@test "awk reads what the workers do" {
  begin_run
  some_work >&5
  await '^s@1 = tensor' out.txt
  spawn gt-top -b -n 3 -d 0.5 "$route" > top.txt 5>&-
  local top=$!
  await worker top.txt
  some_work >&5
  wait "$top"
  awk -F '\t' 'NF != 34 { exit 1 }' top.txt
  [ "$(head -1 top.txt | cut -f1-6)" = $'time\tkind\tid\tname\tstate\tbusy' ]
  [ "$(cells state '$2 == "route"' top.txt | uniq)" = running ]
  [ "$(cells id '$2 == "worker"' top.txt | sort -u)" = $'0\n1' ]
  [ "$(cells count '$2 == "route"' top.txt | tail -1)" -ge 122 ]
  # Shares are at most one, counters only grow, and the last line of each worker is
  # known.
  [ -z "$(cells busy '$2 == "worker" && $c["busy"] != "-" && ($c["busy"] < 0 || $c["busy"] > 1)' top.txt)" ]
  cells seconds '$2 == "worker" && $c["id"] == 1' top.txt | sort -c -g
  [ "$(cells line '$2 == "worker" && $c["id"] == 1' top.txt | head -1)" = endmesh ]
  [ "$(cells in '$2 == "worker" && $c["id"] == 1' top.txt | tail -1)" -gt 0 ]
  [ "$(cells memory '$2 == "worker" && $c["id"] == 0' top.txt | tail -1)" -gt 0 ]
  end_run
}

@test "ops are counted one by one while somebody watches" {
  begin_run
  spawn gt-top -b -d 0.3 "$route" > top.txt 2> top.err 5>&-
  local top=$! end=$((SECONDS + 120))
  until grep -q $'\top\t-\tmatmul\t' top.txt; do
    ((SECONDS < end))
    some_work >&5
    sleep 0.1
  done
  end_run
  wait "$top"
  [ "$(cat top.err)" = 'gt-top: the run ended with status 0' ]
  [ "$(cells name '$2 == "op"' top.txt | sort -u | grep -c -e all_reduce -e matmul -e sum)" = 3 ]
  [ "$(cells state '$2 == "route"' top.txt | tail -1)" = ended ]
  [ -n "$(cells name '$2 == "worker-op" && $c["id"] == 1 && $c["name"] == "matmul" && $c["seconds"] > 0' top.txt)" ]
}

@test "one reading of ops is of what runs now, even if others have watched before" {
  begin_run
  echo 'x@0 = zeros f32[256,256]' >&5
  spawn bash -c 'while [[ ! -e enough ]]; do
    for _ in {1..20}; do echo "x@0 = matmul x@0 x@0"; done
    sleep 0.02
  done >&5'
  gt-top -b -n 1 -d 0.6 "$route" 5>&- >top.txt
  sleep 3
  # Worker 0 does nothing but products. On a busy machine its report may come too
  # late for a reading, so several readings are tried.
  local right=
  for _ in {1..5}; do
    gt-top -b -n 1 -d 1.3 "$route" 5>&- >top.txt
    if awk -v worker="$(cells busy '$2 == "worker" && $c["id"] == 0' top.txt)" \
      -v op="$(cells busy '$2 == "worker-op" && $c["id"] == 0 && $c["name"] == "matmul"' top.txt)" \
      'BEGIN { if (!(op > 0.5 * worker)) { print "op " op ", worker " worker; exit 1 } }'; then
      right=1
      break
    fi
  done
  touch enough
  [ -n "$right" ]
  wait "${spawned[1]}"
  end_run
}

@test "which worker waits for which is shown while it lasts" {
  begin_run
  printf '%s\n' 'mesh dp=2' 'x@0-1 = randn f32[512,512] 1' >&5
  # Worker 0 has much to do before the exchange that worker 1 waits for. On a busy
  # machine a report may come too late for a reading, so readings are made until
  # one shows it, or the exchange is over.
  for _ in {1..1500}; do echo 'x@0 = matmul x@0 x@0'; done >&5
  printf '%s\n' 'y@0-1 = all_reduce x@0-1' 'print y@1 as=y' >&5
  local state=
  until [ "$state" = waits ] || grep -q '^y = ' out.txt; do
    gt-top -b -n 1 -d 0.3 "$route" 5>&- > top.txt
    state=$(cells state '$2 == "worker" && $c["id"] == 1' top.txt)
  done
  cat top.txt
  [ "$state" = waits ]
  [[ $(cells wait_for '$2 == "route"' top.txt) == 'worker 1 (worker-1) waits '*' s for worker 0 (worker-0) at in:1504: y@0-1 = all_reduce x@0-1 ('*'); worker 0 (worker-0) is at in:'*': x@0 = matmul x@0 x@0' ]]
  end_run
}

@test "attached and detached many times, the results are the same" {
  some_work > p.gt
  for _ in {1..30}; do cat p.gt; done > all.gt
  gt-work --threads 1 all.gt > expected.txt
  begin_run
  for _ in {1..30}; do
    cat p.gt >&5
    gt-top -b -n 1 -d 0.1 "$route" > top.txt
  done
  end_run
  cmp expected.txt out.txt
  [ ! -s route.txt ]
}

@test "a gt-top that watches may be stopped or killed" {
  begin_run
  spawn gt-top -b -d 0.1 "$route" > top.txt 5>&-
  local top=$!
  await worker top.txt
  kill -STOP "$top"
  for _ in {1..20}; do some_work >&5; done
  await '^s@1 = ' out.txt
  run -0 gt-top -b -n 1 -d 0.1 "$route"
  kill -KILL "$top"
  end_run
  [ "$(grep -c '^s@1 = ' out.txt)" = 20 ]
  [ ! -s route.txt ]
}

@test "a gt-route that is killed is reported as lost to a gt-top that watches" {
  begin_run
  spawn gt-top -b "$route" > top.txt 2> top.err 5>&-
  local top=$! status=0
  await time top.txt
  run -0 gt-top -b -n 1 -d 0.1 "$route"
  kill -KILL "$route"
  wait "$top" || status=$?
  [ "$status" = 4 ]
  [[ $(cat top.err) == 'gt-top: gt-route at ipc://@gt-route.'*' is lost: the connection ended' ]]
  exec 5>&-
}

@test "--monitor puts it elsewhere, or turns it off" {
  begin_run --monitor none
  run -4 gt-top -b -n 1 "$route"
  end_run
  begin_run --monitor 'tcp://127.0.0.1:*'
  await 'may be watched at tcp://127' route.txt
  run -0 gt-top -b -n 1 -d 0.1 "$(sed -n 's/.* may be watched at //p' route.txt)"
  [[ $output == *$'\troute\t'"$route"$'\t'* ]]
  end_run
  run -2 gt-route --monitor 'tcp://*:0' /dev/null
  [[ $output == 'gt-route: --monitor tcp://*:0: anyone who reaches it could attach; give --monitor-key and --monitor-allow, or bind tcp://127.0.0.1:PORT; try'* ]]
  run -2 gt-route --monitor-key k /dev/null
  [ "$output" = 'gt-route: --monitor-key and --monitor-allow are for --monitor ENDPOINT; try gt-route --help' ]
}

@test "with keys, only those in the list may watch" {
  umask 077
  for who in route ann eve; do
    gt-key > "$who.key"
    gt-key --public "$who.key" > "$who.pub"
  done
  begin_run --monitor 'tcp://127.0.0.1:*' --monitor-key route.key \
    --monitor-allow ann.pub
  await 'may be watched at tcp://127' route.txt
  local at
  at=$(sed -n 's/.* may be watched at //p' route.txt)
  run -0 gt-top -b -n 1 -d 0.1 --key ann.key --route-key route.pub "$at"
  run -4 --separate-stderr gt-top -b -n 1 --key eve.key --route-key route.pub "$at"
  [[ $stderr == *"does not admit this key, $(cat eve.pub); its --allow lists whom it does" ]]
  run -4 --separate-stderr gt-top -b -n 1 "$at"
  [[ $stderr == *'takes no connection of ours: it wants keys (--key, --route-key), or it is no gt-route' ]]
  end_run
}

@test "strangers and nonsense at the monitor do no harm" {
  begin_run --monitor "ipc://@gt-test-$$-monitor"
  await 'may be watched at' route.txt
  gt-top -b -d 0.1 "$route" > /dev/null 2>&1 || true  # the monitor is elsewhere
  spawn gt-top -b -d 0.1 "ipc://@gt-test-$$-monitor" > top.txt 2> top.err 5>&-
  local top=$!
  await worker top.txt
  /usr/bin/python3 - "$$" <<'END'
import os, sys, zmq
context = zmq.Context()
for text in [b"", b"\0" * 5000, b"watch size=0\n", b"watch version=1 size=0\n",
             b"hello version=6 size=0\n", b"done seq=1 bytes=0 wait=0 size=0\n",
             b"state size=3\nabc", b"watch version=6 size=9\nx", os.urandom(999),
             b"lines seq=1 line=1 after=0 size=0\n", b"x" * 100000]:
    for parts in ([text], [text, text]):
        socket = context.socket(zmq.DEALER)
        socket.linger = 100
        socket.connect("ipc://@gt-test-%s-monitor" % sys.argv[1])
        for _ in range(50):
            socket.send_multipart(parts)
        socket.close()
context.term()
END
  some_work >&5
  await '^s@1 = ' out.txt
  end_run
  wait "$top"
  [ "$(cat top.err)" = 'gt-top: the run ended with status 0' ]
  [ "$(grep -v 'may be watched' route.txt)" = "" ]
}

# check_metrics FILE... checks texts of the exposition format that were read one
# after another.
check_metrics() {
  /usr/bin/python3 - "$@" <<'END'
import re, sys
before = {}
for name in sys.argv[1:]:
    kinds, now, family = {}, {}, None
    for line in open(name):
        head = re.fullmatch(r"# (HELP|TYPE) (gt_[a-z_]+) (.+)\n", line)
        if head:
            if head[1] == "HELP":
                assert head[2] not in kinds, "twice: " + line
                family = head[2]
            else:
                assert head[2] == family and head[3] in ("counter", "gauge"), line
                assert (head[3] == "counter") == family.endswith("_total"), line
                kinds[family] = head[3]
            continue
        sample = re.fullmatch(
            r'(gt_[a-z_]+)(\{([a-z]+="(?:[^"\\\n]|\\.)*",?)+\})? (-?[0-9.e+-]+)\n', line)
        assert sample and sample[1] == family, line
        labels = re.findall(r'([a-z]+)="', sample[2] or "")
        assert set(labels) <= {"worker", "op", "user", "version"}, line
        key = sample[1] + (sample[2] or "")
        assert key not in now, "twice: " + line
        now[key] = float(sample[4])
        if kinds[family] == "counter":
            assert now[key] >= before.get(key, 0), line
    assert now["gt_workers_here"] == 2, now
    before = now
END
}

@test "Prometheus reads it over HTTP, and counters only grow" {
  begin_run
  spawn gt-top --metrics :0 "$route" 2> top.err 5>&-
  local top=$!
  await 'serves /metrics at port' top.err
  local at
  at=http://127.0.0.1:$(sed -n 's/.*at port //p' top.err)
  cat > get.py <<'END'
import sys, time, urllib.error, urllib.request
for _ in range(600):
    try:
        with urllib.request.urlopen(sys.argv[1] + "/metrics") as got:
            assert got.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            text = got.read().decode()
            if "worker=\"1\",op=\"matmul\"" in text or len(sys.argv) == 2:
                break
    except urllib.error.HTTPError as e:  # nothing is known as yet
        assert e.code == 503, e.code
    time.sleep(0.1)
print(text, end="")
END
  python3 get.py "$at" > first.txt
  for _ in {1..10}; do some_work >&5; done
  python3 get.py "$at" again > second.txt
  check_metrics first.txt second.txt
  grep -q '^gt_worker_busy_seconds_total{worker="1",op="matmul"} [0-9]' second.txt
  grep -q '^gt_up 1$' second.txt
  run -0 python3 - "$at" <<'END'
import sys, urllib.error, urllib.request
for path, method in (("/", "GET"), ("/metrics", "POST"), ("/metrics", "HEAD")):
    try:
        with urllib.request.urlopen(urllib.request.Request(
                sys.argv[1] + path, method=method,
                data=b"x" * 100000 if method == "POST" else None)) as got:
            print(path, method, got.status, len(got.read()))
    except urllib.error.HTTPError as e:
        print(path, method, e.code)
END
  lines_are $'/ GET 404\n/metrics POST 405\n/metrics HEAD 200 0'
  end_run
  wait "$top"
}

@test "a file for node_exporter is replaced whole" {
  begin_run
  spawn gt-top --metrics ./gt.prom -d 0.1 "$route" 2> top.err 5>&-
  local top=$!
  await gt_up gt.prom
  cp gt.prom first.prom
  some_work >&5
  await '^s@1 = ' out.txt
  end_run
  wait "$top"
  check_metrics first.prom
  grep -q '^gt_up 0$' gt.prom
  grep -q '^gt_instructions_total 124$' gt.prom
  [ "$(stat -c %a gt.prom)" = 644 ]
  run -4 gt-top --metrics /nosuch/dir/gt.prom 999999999
}

@test "a file of metrics that cannot be written for a while does not end gt-top" {
  begin_run
  mkdir there
  spawn gt-top --metrics there/gt.prom -d 0.1 "$route" 2> top.err 5>&-
  local top=$!
  await gt_up there/gt.prom
  mv there away
  await 'metrics: there: No such file or directory; it stays as it was, and is tried again$' top.err
  grep -q gt_up away/gt.prom
  mv away there
  await 'there/gt.prom is written again$' top.err
  mv there away
  local end=$((SECONDS + 60))
  until [ "$(wc -l < top.err)" = 3 ]; do ((SECONDS < end)); done
  end_run
  # The last counts could not be written either, and the status says so.
  status=0
  wait "$top" || status=$?
  [ "$status" = 2 ]
  [ "$(grep -c 'tried again' top.err)" = 2 ]
}

@test "a full disk leaves the last file of metrics as it was" {
  mkdir small
  mount -t tmpfs -o size=64k tmpfs small 2> /dev/null ||
    skip "no file system can be mounted here"
  begin_run
  spawn gt-top --metrics small/gt.prom -d 0.1 "$route" 2> top.err 5>&-
  local top=$!
  await gt_up small/gt.prom
  cat /dev/zero > small/zero 2> /dev/null || true
  await 'small/gt.prom: .*No space left on device; it stays as it was' top.err
  cp small/gt.prom kept.prom
  rm small/zero
  await 'small/gt.prom is written again$' top.err
  end_run
  wait "$top"
  cp small/gt.prom last.prom
  umount small
  [ "$(grep -c '^# TYPE' kept.prom)" = "$(grep -c '^# TYPE' last.prom)" ]
  grep -q '^gt_up 0$' last.prom
}

@test "what only gt-emit knows of its clients is shown, too" {
  local at=ipc://@gt-test-$$-clients
  mkfifo back to_route
  spawn bash -c 'exec gt-emit -l "$0" --back back --share ann=3 --quota 64M >to_route' "$at"
  spawn bash -c 'exec gt-route -n 2 --monitor "$0" <to_route >back' "ipc://@gt-test-$$-m"
  mkfifo hold
  spawn gt-emit --to "$at" --user ann hold > ann.txt 5>&-
  local ann=$!
  exec 6> hold
  printf '%s\n' 'w = ones f32[1024]' 'print w' 's = sum w' 'print s' >&6
  await '^s = ' ann.txt
  local end=$((SECONDS + 60))
  until gt-top -b -n 1 -d 0.2 "ipc://@gt-test-$$-m" > top.txt &&
    [ "$(cells memory '$2 == "client"' top.txt)" = 4100 ]; do
    ((SECONDS < end)) || { cat top.txt; return 1; }
  done
  [ "$(cells id '$2 == "client"' top.txt)" = c1 ]
  [ "$(cells name '$2 == "client"' top.txt)" = ann ]
  [ "$(cells state '$2 == "client"' top.txt)" = here ]
  [ "$(cells share '$2 == "client"' top.txt)" = 3 ]
  [ "$(cells quota '$2 == "client"' top.txt)" = 67108864 ]
  [ "$(cells unread '$2 == "client"' top.txt)" = 0 ]
  exec 6>&-
  wait "$ann"
  end=$((SECONDS + 60))
  until gt-top -b -n 1 -d 0.2 "ipc://@gt-test-$$-m" > top.txt &&
    [ -z "$(cells share '$2 == "client" && $c["share"] != "-"' top.txt)" ]; do
    ((SECONDS < end)) || { cat top.txt; return 1; }
  done
}

@test "a trace that is written while gt-top watches is begun and ended in a run that goes on" {
  begin_run --trace run.trace --trace-watched
  apply() { # OP, and wait for the result
    echo "print $1@0 as=$1" | cat <(printf '%s\n' "$1@0 = $1 x@0") - >&5
    await "^$1 = " out.txt
  }
  printf '%s\n' 'mesh dp=2' 'x@0 = ones f32[4]' >&5
  apply exp
  spawn gt-top -b -d 0.1 "$route" > top.txt
  local watcher=$! end=$((SECONDS + 60))
  until [ -n "$(cells id '$c["kind"] == "worker" && $c["busy"] != "-"' top.txt)" ]; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
  apply tanh
  kill "$watcher"
  until grep -q tanh run.trace; do # with an instruction after the watching
    ((SECONDS < end)) || return 1
    echo 's@0 = sigmoid x@0' >&5
    sleep 0.05
  done
  apply relu
  end_run
  [[ $(cut -f6 run.trace | sort -u) != *exp* ]]
  run ! grep -q relu run.trace
  gt-log --timeline svg run.trace > run.svg
  run -2 --separate-stderr gt-route --trace-watched in < /dev/null
  [[ $stderr == *'--trace-watched is for --trace; '* ]]
  run -2 --separate-stderr gt-work --trace t --trace-watched < /dev/null
  [[ $stderr == *'--trace-watched is for --connect and --trace; '* ]]
}

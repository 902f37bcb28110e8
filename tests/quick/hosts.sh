#!/usr/bin/env bash
# Three hosts in network namespaces run gt-route and a worker on each of the other
# two. The examples print what one gt-work prints, bit for bit. Each host has a
# name, processes and a /proc of its own, so no memory is shared and values travel
# over ZeroMQ; the bytes on the wire between the workers show that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/tools/namespaces.sh
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH
unset GT_BACKEND GT_VERBOSE GT_INSTRUCTION_LOG

skip() {
  echo "skipped: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

route=gt$$r first=gt$$a second=gt$$b
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-hosts.XXXXXX")
pids=()

# What a namespace still runs is ended with the process that opened the namespace.
clean() {
  local pid name
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait || true
  for name in "$route" "$first" "$second"; do
    ip netns del "$name" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap clean EXIT

# The workers have a wire between them, and no other way to each other.
build_hosts() {
  local name
  for name in "$route" "$first" "$second"; do
    ip netns add "$name"
    ip -n "$name" link set lo up
  done
  link "$route" "$first" to_a to_r
  link "$route" "$second" to_b to_r
  link "$first" "$second" to_b to_a
  ip -n "$route" address add 10.99.1.1/30 dev to_a
  ip -n "$first" address add 10.99.1.2/30 dev to_r
  ip -n "$route" address add 10.99.2.1/30 dev to_b
  ip -n "$second" address add 10.99.2.2/30 dev to_r
  ip -n "$first" route add 10.99.2.2/32 dev to_b src 10.99.1.2
  ip -n "$second" route add 10.99.1.2/32 dev to_a src 10.99.2.2
}

# received HOST INTERFACE prints the bytes that came in there.
received() {
  ip netns exec "$1" awk -F '[: ]+' -v name="$2" '$2 == name { print $3 }' \
    /proc/net/dev
}

# These options say who may attach, and which keys the workers have.
trust=(--insecure) first_key=(--insecure) second_key=(--insecure)
use_keys() {
  local name
  for name in route a b; do
    (umask 077 && gt-key >"$work/$name.key")
    gt-key --public "$work/$name.key" >"$work/$name.pub"
  done
  cat "$work/a.pub" "$work/b.pub" >"$work/allowed"
  trust=(--key "$work/route.key" --allow "$work/allowed")
  first_key=(--key "$work/a.key" --route-key "$work/route.pub")
  second_key=(--key "$work/b.key" --route-key "$work/route.pub")
}

# through STREAM prints the results of the stream from the three hosts.
through() {
  local status=0
  pids=()
  (on "$route" head gt-route --bind 'tcp://*:5560' --workers 2 \
    "${trust[@]}" --log "$work/log" "$1" >"$work/got" 2>"$work/err") &
  pids+=("$!")
  (on "$first" a gt-work --connect tcp://10.99.1.1:5560 --threads 1 \
    "${first_key[@]}" --root "$PWD" 2>"$work/err.a") &
  pids+=("$!")
  (on "$second" b gt-work --connect tcp://10.99.2.1:5560 --threads 1 \
    "${second_key[@]}" --root "$PWD" 2>"$work/err.b") &
  pids+=("$!")
  wait "${pids[@]}" || status=$?
  pids=()
  return "$status"
}

passed=0 failed=0
check() { # NAME STATUS
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    tail -n 5 "$work"/err*
  fi
}

# same NAME runs the stream on standard input on three hosts and on one.
same() {
  local status=0
  gt-emit >"$work/p"
  gt-work --threads 1 "$work/p" >"$work/expected"
  through "$work/p" || status=$?
  cmp "$work/expected" "$work/got" || status=1
  check "$1" "$status"
}

why=$(need_namespaces "$route") || skip "$why"
build_hosts

repeat() { # N FILE LINE
  local i
  for ((i = 0; i < $1; i++)); do
    cat "$2"
    printf '%s\n' "$3"
  done
}

same quickstart <examples/quickstart.gt
same linear < <(
  cat examples/linear-init.gt
  repeat 20 examples/linear.gt 'print loss'
)
same digits < <(
  cat examples/digits-init.gt
  repeat 5 examples/digits.gt 'print loss'
  cat examples/digits-test.gt
)
use_keys
same digits-tp2 < <(
  cat examples/digits-tp2-init.gt
  repeat 5 examples/digits-tp2.gt 'print loss@0'
  cat examples/digits-tp2-test.gt
)

# The program sends 8 MiB each way, and a failure that travels with the data.
printf '%s\n' 'mesh tp=2' 'x@0-1 = randn f32[2,1024,1024] 1 split=tp:0' \
  'y@1 = copy x@0' 'z@0 = copy x@1' 's@0 = sum z@0' 's@1 = sum y@1' \
  'print s@0-1' 'r@0-1 = all_reduce x@0-1' 'print r@1 as=r' >"$work/copies.gt"
before=$(received "$first" to_b)
same copies <"$work/copies.gt"
crossed=$(($(received "$first" to_b) - before))
((crossed > 4 << 20)) && over=0 || over=1
check "the bytes went over the wire ($crossed)" "$over"
# gt-route told the two hosts apart, and their clocks agree.
hosts=$(grep -o 'host=[a-z]*' "$work/log" | sort -u | tr '\n' ' ')
[[ $hosts == 'host=a host=b ' ]] && told=0 || told=1
check "hosts: $hosts" "$told"
grep -q $'\ttransfer\t' "$work/log" && moved=0 || moved=1
check "transfers in the log" "$moved"

echo "$passed passed, $failed failed"
((failed == 0))

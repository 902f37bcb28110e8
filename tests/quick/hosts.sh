#!/usr/bin/env bash
# Three hosts in network namespaces, gt-route on one and a worker on each of the
# others: the examples print what one gt-work prints, bit for bit. Each host has
# a name, a process space and a /proc of its own, so no memory is shared and
# values travel over ZeroMQ; the bytes on the wire between the workers say so.
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

# What a namespace still runs ends with the process that opened it.
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

# Between the workers there is a wire of its own, and no way round it.
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

# received HOST INTERFACE: bytes that came in there.
received() {
  ip netns exec "$1" awk -F '[: ]+' -v name="$2" '$2 == name { print $3 }' \
    /proc/net/dev
}

# Who may attach, and what the workers say they are.
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

# through STREAM: what the three hosts print of it.
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

# same NAME: of the stream on stdin.
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

# 8 MiB each way, and a failure that travels with the data.
printf '%s\n' 'mesh tp=2' 'x@0-1 = randn f32[2,1024,1024] 1 split=tp:0' \
  'y@1 = copy x@0' 'z@0 = copy x@1' 's@0 = sum z@0' 's@1 = sum y@1' \
  'print s@0-1' 'r@0-1 = all_reduce x@0-1' 'print r@1 as=r' >"$work/copies.gt"
before=$(received "$first" to_b)
same copies <"$work/copies.gt"
crossed=$(($(received "$first" to_b) - before))
((crossed > 4 << 20)) && over=0 || over=1
check "the bytes went over the wire ($crossed)" "$over"
# Both hosts were told apart, and their clocks are one here.
hosts=$(grep -o 'host=[a-z]*' "$work/log" | sort -u | tr '\n' ' ')
[[ $hosts == 'host=a host=b ' ]] && told=0 || told=1
check "hosts: $hosts" "$told"
grep -q $'\ttransfer\t' "$work/log" && moved=0 || moved=1
check "transfers in the log" "$moved"

echo "$passed passed, $failed failed"
((failed == 0))

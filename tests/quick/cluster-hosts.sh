#!/usr/bin/env bash
# gt-cluster uses two hosts in network namespaces, which it reaches by ssh; one is
# at the end of a slow link, which is cut later. Programs give what one gt-work
# gives, the cut is reported, and down completes its work when the link is back.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/common.sh
. tests/tools/namespaces.sh
export PATH=${GT_BIN:-$PWD/build/bin}:$PATH:/usr/sbin
unset GT_BACKEND GT_VERBOSE GT_INSTRUCTION_LOG GT_CONFIG GT_CONNECT SLURM_JOB_ID
# A host that is cut off for so long is lost; a loaded machine is not silent that
# long.
export GT_SILENCE=5

head=gt$$h near=gt$$n far=gt$$f
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-cluster.XXXXXX")
export GT_CLUSTER_DIR=$work/clusters
pids=()

clean() {
  local pid name
  exec 2>/dev/null # a shell reports what was killed
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  grep -lzs "^GT_CLUSTER=$(cat "$work/token" 2>/dev/null || echo none)" \
    /proc/[0-9]*/environ | cut -d / -f 3 | xargs -r kill -KILL 2>/dev/null || true
  for name in "$head" "$near" "$far"; do
    ip netns del "$name" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap clean EXIT

for program in ssh sshd ssh-keygen; do
  command -v "$program" >/dev/null ||
    skip_rest "there is no $program; scripts/packages install heavy"
done
why=$(need_namespaces "$head") || skip_rest "$why"

# The hosts have a link to the head each, and one between them.
build_hosts() {
  local name
  for name in "$head" "$near" "$far"; do
    ip netns add "$name"
    ip -n "$name" link set lo up
  done
  link "$head" "$near" to_n to_h
  link "$head" "$far" to_f to_h
  link "$near" "$far" to_f to_n
  ip -n "$head" address add 10.98.1.1/30 dev to_n
  ip -n "$near" address add 10.98.1.2/30 dev to_h
  ip -n "$head" address add 10.98.2.1/30 dev to_f
  ip -n "$far" address add 10.98.2.2/30 dev to_h
  ip -n "$near" route add 10.98.2.2/32 dev to_f src 10.98.1.2
  ip -n "$far" route add 10.98.1.2/32 dev to_n src 10.98.2.2
}

# serve HOST NAME ADDRESS starts an sshd there, whose sessions have a state of their
# own.
serve() {
  mkdir -p "$work/$2"
  cat >"$work/$2/conf" <<CONF
ListenAddress $3:22
HostKey $work/host
AuthorizedKeysFile $work/me.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
SetEnv XDG_STATE_HOME=$work/$2/state GT_SILENCE=$GT_SILENCE
CONF
  (on "$1" "$2" "$(command -v sshd)" -D -e -f "$work/$2/conf" >"$work/$2/log" 2>&1) &
  pids+=("$!")
  until grep -qs 'Server listening' "$work/$2/log"; do
    kill -0 "${pids[-1]}" || die 1 "no sshd: $(<"$work/$2/log")"
    sleep 0.05
  done
}

# at_head COMMAND... runs it at the head, with an ssh that knows the hosts.
at_head() {
  ip netns exec "$head" env PATH="$work/bin:$PATH" "$@"
}

make_ssh() {
  local host
  mkdir -p "$work/bin"
  for host in 10.98.1.2 10.98.2.2; do
    echo "$host $(cut -d ' ' -f 1-2 "$work/host.pub")"
  done >"$work/known"
  cat >"$work/bin/ssh" <<SH
#!/bin/sh
exec $(command -v ssh) -F none -o IdentitiesOnly=yes -i $work/me \\
  -o UserKnownHostsFile=$work/known "\$@"
SH
  chmod +x "$work/bin/ssh"
}

passed=0 failed=0
check() { # NAME STATUS
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    tail -n 5 "$work"/*.err "$work"/*/log "$GT_CLUSTER_DIR"/*/*.log 2>/dev/null || true
  fi
}

# left HOST prints the files that the cluster has there.
left() {
  find "$work/$1/state" -path '*/gt-hosts/*' 2>/dev/null || true
}

((EUID != 0)) || mkdir -p /run/sshd
build_hosts
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/me"
make_ssh
serve "$near" near 10.98.1.2
serve "$far" far 10.98.2.2
printf '%s\n' 'root@10.98.1.2 slots=2' 'root@10.98.2.2 # far' >"$work/hosts"

# ---- a slow link -----------------------------------------------------------------

# slow HOST INTERFACE makes the link slow by netem, or narrow if the kernel lacks
# netem.
slow() {
  ip netns exec "$1" tc qdisc add dev "$2" root netem delay 60ms 20ms rate 4mbit \
    loss 1% 2>/dev/null ||
    ip netns exec "$1" tc qdisc add dev "$2" root tbf rate 1mbit burst 4kb latency 400ms
}
slow "$head" to_f
slow "$far" to_h
slow "$near" to_f
slow "$far" to_n
cat >"$work/p.gt" <<'GT'
mesh tp=3
x@0-2 = randn f32[48,48] 1 split=tp:0
y@0-2 = all_gather x@0-2 over=tp src=S0
z@0-2 = matmul y@0-2 y@0-2
s@0-2 = sum z@0-2
print s@0-2
GT
gt-emit "$work/p.gt" | gt-work --threads 1 >"$work/whole" || die 1 "no program"
status=0
at_head gt-cluster up --hosts "$work/hosts" --threads 1 >"$work/endpoint" \
  2>"$work/up.err" || status=$?
check "up over a slow link" "$status"
cp "$GT_CLUSTER_DIR/default/token" "$work/token"
status=0
at_head gt-cluster run "$work/p.gt" >"$work/got" 2>"$work/run.err" || status=$?
cmp "$work/whole" "$work/got" || status=1
check "what runs over a slow link" "$status"
hosts=$(sed -n 's/.*worker [0-9] (.* on \([a-z]*\), pid .*) is here/\1/p' \
  "$GT_CLUSTER_DIR/default/route.log" | tr '\n' ' ')
[[ $(tr ' ' '\n' <<<"$hosts" | sort -u | tr -d '\n') == farnear ]] && status=0 || status=1
check "both hosts have workers ($hosts)" "$status"
status=0
at_head gt-cluster status >"$work/status" 2>"$work/status.err" || status=$?
check "status over a slow link" "$status"

# ---- a cut -----------------------------------------------------------------------

ip -n "$head" link set to_f down
end=$((SECONDS + 60))
until grep -q 'worker 2 .* is lost' "$GT_CLUSTER_DIR/default/route.log"; do
  ((SECONDS < end)) || break
  sleep 0.2
done
status=0
at_head gt-cluster status >"$work/status" 2>"$work/status.err" || status=$?
[[ $status == 1 ]] && grep -q $'^worker 2\troot@10.98.2.2\tlost\tssh: ' "$work/status" &&
  grep -q $'^worker 0\t.*\there\t-$' "$work/status" && status=0 || status=1
check "a cut is told by status" "$status"
status=0
at_head gt-cluster run -e 'x = ones f32[2]' -e 'print x' >"$work/got" \
  2>"$work/run.err" || status=$?
[[ $status == 0 && $(<"$work/got") == 'x = tensor f32[2] 1 1' ]] || status=1
check "what needs no lost worker runs" "$status"
status=0
at_head gt-cluster down >"$work/down" 2>"$work/down.err" || status=$?
[[ $status == 4 ]] && grep -q '^gt-cluster: root@10.98.2.2: .*may be left there' \
  "$work/down.err" && [[ -z $(left near) && -n $(left far) ]] && status=0 || status=1
check "down says which host it has not reached" "$status"

# ---- the link is back ------------------------------------------------------------

ip -n "$head" link set to_f up
status=0
at_head gt-cluster down >"$work/down" 2>"$work/down.err" || status=$?
[[ -z $(left far) && ! -e $GT_CLUSTER_DIR ]] || status=1
! grep -lzs "^GT_CLUSTER=$(<"$work/token")" /proc/[0-9]*/environ || status=1
check "a second down completes it" "$status"

# ---- a cut while hosts are started -------------------------------------------------

ip -n "$head" link set to_f down
status=0
at_head gt-cluster up --hosts "$work/hosts" >"$work/endpoint" 2>"$work/up.err" ||
  status=$?
[[ $status == 4 && ! -e $GT_CLUSTER_DIR && -z $(left near) ]] &&
  grep -q '^gt-cluster: root@10.98.2.2: ssh: ' "$work/up.err" && status=0 || status=1
check "up with a host that is cut off" "$status"

echo "$passed passed, $failed failed"
((failed == 0))

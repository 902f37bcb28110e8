#!/usr/bin/env bash
# Tests gt-cluster on a real Slurm of one node, whose daemons, sockets and key are
# in a directory of this test. The example job gives what one gt-work gives; up,
# status, run and down work within an allocation; and a job that is ended leaves
# nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$gt_root"
export PATH=${GT_BIN:-$gt_root/build/bin}:/usr/sbin:$PATH
unset GT_BACKEND GT_VERBOSE GT_CONFIG GT_CONNECT GT_INSTRUCTION_LOG GT_CLUSTER_DIR

((EUID == 0)) || skip_rest "slurmd of a node needs root"
for program in srun slurmctld slurmd munged; do
  command -v "$program" >/dev/null ||
    skip_rest "there is no $program; scripts/packages install optional"
done

work=$(mktemp -d /tmp/gt-slurm.XXXXXX)
chmod 755 "$work"
pids=()
clean() {
  local pid
  scancel --quiet --user root 2>/dev/null || true
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  wait || true
  rm -rf "$work"
}
trap clean EXIT

# await COMMAND... waits until the command succeeds, for a minute at most.
await() {
  local end=$((SECONDS + 60))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || die 1 "a minute was not enough for: $*"
    sleep 0.1
  done
}

# free_port prints a port at which nobody listens now.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

start_slurm() {
  local node=${HOSTNAME%%.*}
  export SLURM_CONF=$work/slurm.conf
  mkdir -p "$work"/{munge,state,spool}
  (umask 077 && head -c 1024 /dev/urandom >"$work/munge/key")
  munged --foreground --force --key-file "$work/munge/key" --num-threads 2 \
    --socket "$work/munge/socket" --pid-file "$work/munge/pid" \
    --log-file "$work/munge/log" --seed-file "$work/munge/seed" \
    >"$work/munge.out" 2>&1 &
  pids+=("$!")
  await test -S "$work/munge/socket"
  cat >"$SLURM_CONF" <<CONF
ClusterName=gt
SlurmctldHost=$node(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
  slurmctld -D >"$work/slurmctld.out" 2>&1 &
  pids+=("$!")
  slurmd -D >"$work/slurmd.out" 2>&1 &
  pids+=("$!")
  await sh -c 'sinfo --noheader --format %T | grep -qx idle'
}

passed=0 failed=0
check() { # NAME STATUS
  if (($2 == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    tail -n 5 "$work"/*.out "$work"/*.err "$work"/slurm*.log 2>/dev/null || true
  fi
}

# nothing_left: no process or folder of a cluster is left.
nothing_left() {
  ! grep -lzs '^GT_CLUSTER=' /proc/[0-9]*/environ | grep -q . &&
    [[ -z $(ls -A "$work/clusters" 2>/dev/null) ]]
}

start_slurm
export GT_CLUSTER_DIR=$work/clusters
cat >"$work/two.yaml" <<'CONFIG'
mesh: {tp: 2}
signals:
  hidden: {shard: {tp: 1}}
  out: {shard: {tp: 0}}
CONFIG
gt-emit -e 'x = randn f32[8,16] 1' -e 'u = randn f32[16,6] 2' -e 'w = randn f32[6,4] 3' \
  -e 'h = matmul x u #signal=hidden' -e 'h = relu h' \
  -e 'w = matmul h w #signal=out' -e 'print w' >"$work/p"
gt-work --threads 1 "$work/p" >"$work/whole"

# ---- the example job -----------------------------------------------------------

status=0
sbatch --quiet --wait --ntasks=2 --cpus-per-task=1 --output="$work/job" \
  --error="$work/job.err" examples/launch/gt.sbatch "$work/p" -c "$work/two.yaml" || status=1
gt-cmp "$work/whole" "$work/job" || status=1
check "examples/launch/gt.sbatch" "$status"
await nothing_left
check "nothing is left of the job" 0

status=0
sbatch --quiet --wait --ntasks=1 --output="$work/bad" --error="$work/bad.err" \
  examples/launch/gt.sbatch -e 'x = nothing' || status=$?
[[ $status == 3 ]] && status=0 || status=1
check "the status of the job is the program's" "$status"

# ---- up and down in an allocation ------------------------------------------------

cat >"$work/session" <<'SESSION'
set -e
gt-cluster up --slurm
gt-cluster status
gt-cluster run "$1"
# No command line has a key.
for key in "$GT_CLUSTER_DIR"/*/*.key; do
  ! grep -saF -f "$key" /proc/[0-9]*/cmdline
done
gt-cluster down
SESSION
status=0
salloc --quiet --ntasks=2 bash "$work/session" "$work/p" \
  >"$work/session.out" 2>"$work/session.err" || status=$?
grep -q '^w = ' "$work/session.out" || status=1
[[ $(grep -c $'^worker [01]\t.*\there\t-$' "$work/session.out") == 2 ]] || status=1
check "up, status, run and down in an allocation" "$status"
await nothing_left
check "nothing is left after down" 0

# ---- the GPT of the examples ----------------------------------------------------

mkdir "$work/files"
head -c 3000 share/novel/pride-and-prejudice.txt >"$work/text"
sed 's/dp: 8/dp: 2/' examples/minigpt/dp8.yaml >"$work/dp2.yaml"
status=0
salloc --quiet --ntasks=2 examples/minigpt/train -c "$work/dp2.yaml" --slurm \
  --files "$work/files" --text "$work/text" --held 200 --hidden 16 --seq-len 8 \
  --batch-size 8 --microbatches 2 --steps 10 --rounds 1 --evaluate 1 --sample 0 \
  >"$work/gpt.out" 2>"$work/gpt.err" || status=$?
grep -q '^step 10  held-out loss [0-9.]*$' "$work/gpt.out" || status=1
check "examples/minigpt/train within an allocation" "$status"
await nothing_left
check "nothing is left of that training" 0

# ---- a job that is ended ---------------------------------------------------------

printf '%s\n' 'x = ones f32[2]' 'print x' >"$work/head"
mkfifo "$work/more"
(cat "$work/head" && exec sleep 600) >"$work/more" &
pids+=("$!")
job=$(sbatch --parsable --ntasks=2 --output="$work/long" --error="$work/long.err" \
  examples/launch/gt.sbatch "$work/more")
await grep -q '^x = ' "$work/long"
scancel --batch --signal=TERM "$job"
await nothing_left
check "nothing is left of a job that is ended" 0

# ---- what is refused -------------------------------------------------------------

status=0
env -u SLURM_JOB_ID gt-cluster up --slurm 2>"$work/none.err" || status=$?
[[ $status == 2 ]] && grep -q 'this is no Slurm job' "$work/none.err" && status=0 ||
  status=1
check "--slurm outside of a job" "$status"

status=0
salloc --quiet --ntasks=1 gt-cluster up --slurm -n 99 >"$work/many.out" \
  2>"$work/many.err" || status=$?
[[ $status == 4 ]] && grep -q 'srun: error' "$work/many.err" && status=0 || status=1
check "more tasks than the job has" "$status"
await nothing_left
check "nothing is left of that" 0

echo "$passed passed, $failed failed"
((failed == 0))

#!/usr/bin/env bats
# The files of examples/launch, as far as they can be tried without the machines
# that they are for. tests/full/slurm.sh runs gt.sbatch.

load helper

launch=$GT_ROOT/examples/launch

@test "systemd accepts the units" {
  command -v systemd-analyze >/dev/null || skip "there is no systemd-analyze"
  # The units get the programs and the user of this machine.
  local unit
  for unit in "$launch"/systemd/*; do
    sed "s,/usr/local/bin,$GT_BIN,; s/^User=gt$/User=$(id -un)/" "$unit" >"${unit##*/}"
  done
  cp gt-work@.service gt-work@0.service
  run -0 systemd-analyze verify ./gt-head.service ./gt-work@0.service
  [[ $output != *gt-*.service:* ]]
  XDG_RUNTIME_DIR=$PWD run -0 systemd-analyze verify --user ./gt-cluster.service
  [[ $output != *gt-cluster.service:* ]]
  sed -i s/^ExecStart=/ExecBegin=/ gt-head.service
  run ! systemd-analyze verify ./gt-head.service
}

# script NAME prints the text that the container of that name runs in the manifest.
script() {
  /usr/bin/python3 - "$launch/kubernetes.yaml" "$1" <<'PY'
import sys, yaml
for part in yaml.safe_load_all(open(sys.argv[1])):
    spec = part["spec"].get("template", {}).get("spec", {})
    for container in spec.get("containers", []):
        if container["name"] == sys.argv[2]:
            print(container["command"][-1])
PY
}

need_yaml() {
  /usr/bin/python3 -c 'import yaml' 2>/dev/null || skip "there is no python3-yaml"
}

@test "the parts of the Kubernetes manifest fit each other" {
  need_yaml
  /usr/bin/python3 - "$launch/kubernetes.yaml" <<'PY'
import re, sys, yaml
parts = {p["kind"]: p for p in yaml.safe_load_all(open(sys.argv[1]))}
service, head, work = (parts[k] for k in ("Service", "Deployment", "StatefulSet"))
labels = [p["spec"]["template"]["metadata"]["labels"] for p in (head, work)]
assert service["spec"]["selector"] == labels[0]
for part, label in zip((head, work), labels):
    assert part["spec"]["selector"]["matchLabels"] == label
    pod = part["spec"]["template"]["spec"]
    volumes = {v["name"] for v in pod["volumes"]}
    assert {m["name"] for m in pod["containers"][0]["volumeMounts"]} == volumes
text = head["spec"]["template"]["spec"]["containers"][0]["command"][-1]
ports = [p["port"] for p in service["spec"]["ports"]]
assert [int(p) for p in re.findall(r"tcp://\*:(\d+)", text)] == ports
assert "--workers %d " % work["spec"]["replicas"] in text
PY
}

@test "the commands of the Kubernetes manifest make a cluster" {
  need_yaml
  mkdir keys
  # The keys are made as the head of the manifest says.
  (umask 077 && cd keys && for k in emit route work me; do
    gt-key >$k.key
    gt-key --public $k.key >$k.pub
  done && echo "$(cat me.pub) user=me" >clients.allow)
  local base pod
  base=$(free_port 2)
  # Each pod has a /run/gt of its own.
  for pod in head work-0 work-1; do
    mkdir "run.$pod"
    script "${pod%-*}" | sed "s,/run/gt,$PWD/run.$pod,g; s,/keys,$PWD/keys,g
      s,tcp://gt-head,tcp://127.0.0.1,; s,:5550,:$base,; s,:5560,:$((base + 1)),
      s/--workers 4/--workers 2/" >"$pod.sh"
  done
  spawn bash -o pipefail head.sh 2>head.err
  for pod in work-0 work-1; do
    spawn env "HOSTNAME=gt-$pod" bash "$pod.sh" 2>"$pod.err"
  done
  local end=$((SECONDS + 60))
  until run within 60 gt-emit --to "tcp://127.0.0.1:$base" --key keys/me.key \
    --server-key keys/emit.pub -e 'x = ones f32[2]' -e 'print x' &&
    [ "$status" -eq 0 ]; do
    ((SECONDS < end)) || { cat ./*.err && echo "$output" && return 1; }
    sleep 0.2
  done
  lines_are 'x = tensor f32[2] 1 1'
}

@test "the unit of the head serves the users in its list" {
  local unit=$launch/systemd/gt-head.service base
  base=$(free_port 2)
  # The keys are made as the head of the unit says.
  sed -n "/sudo -u gt sh -c/,/done'/p" "$unit" | sed "s/^#//; s/.*sh -c '//; s/'$//" >keys.sh
  grep -q 'gt-key --public' keys.sh
  mkdir run files
  (umask 077 && sh keys.sh && gt-key >me.key && echo "$(gt-key --public me.key) user=me" >people)
  grep -q '^#   sudo -u gt tee clients.allow <people$' "$unit"
  tee clients.allow <people
  mkfifo run/back
  sed -n "/^ExecStart=/,/'$/p" "$unit" | sed "s/^ExecStart=.*-c '//; s/'$//
    s,/run/gt,run,g; s,/etc/gt/,,g; s,/var/lib/gt/files,files,; s,:5550,:$base,
    s,:5560,:$((base + 1))," >head.sh
  GT_WORKERS=1 spawn bash -o pipefail head.sh 2>head.err
  spawn gt-work --connect "tcp://127.0.0.1:$((base + 1))" --key work.key --route-key route.pub
  local end=$((SECONDS + 60))
  until run within 60 gt-emit --to "tcp://127.0.0.1:$base" --key me.key --server-key emit.pub \
    -e 'x = ones f32[2]' -e 'print x' && [ "$status" -eq 0 ]; do
    ((SECONDS < end)) || { cat head.err && echo "$output" && return 1; }
    sleep 0.2
  done
  lines_are 'x = tensor f32[2] 1 1'
}

@test "options in the examples are options of the programs" {
  local program rest option count=0
  sed -z 's/\\\n/ /g' "$launch"/*.* "$launch"/systemd/* | tr '\0' '\n' |
    grep -oE 'gt-(emit|route|work|key) [^|&]*' >commands
  while read -r program rest; do
    for option in $rest; do
      [[ $option =~ ^--?[a-z][a-z-]*$ ]] || continue
      count=$((count + 1))
      "$program" --help | grep -qE -- "(^ +|,)${option}[ ,]" ||
        { echo "$program $option" && return 1; }
    done
  done <commands
  [ "$count" -gt 20 ]
}

@test "the container is built by the steps of the README" {
  local step
  for step in 'scripts/build release programs' 'cmake --install build'; do
    grep -q "^RUN $step" "$launch/Containerfile"
    grep -qF "\$ $step" "$GT_ROOT/README.md"
  done
  grep -qx 'RUN scripts/packages install build' "$launch/Containerfile"
  run -0 "$GT_ROOT/scripts/packages" list build
  # The build also finds the packages that have the libraries.
  command -v dpkg-query >/dev/null || skip "this is no Debian"
  sed -n '/^RUN ldd/,/[^\\]$/p' "$launch/Containerfile" |
    sed "s/^RUN //; s,build/bin,$GT_BIN,; s,>/packages,," >find.sh
  bash find.sh >found
  for package in libc6 libzmq5 libfmt9 libyaml-cpp0.7; do grep -qx "$package" found; done
  run ! grep -q lib32 found
}

@test "the example of a hosts file is one" {
  run -0 gt-cluster up --hosts "$launch/hosts" --dry-run
  [ "$(grep -c ': .*LOCAL_RANK=' <<<"$output")" -eq 6 ]
  [[ $output == *"ann@node2:2222: PATH=/opt/gt/bin:"*"LOCAL_RANK=1"*"--backend cuda"* ]]
}

@test "their README names each example" {
  local file
  for file in "$launch"/* "$launch"/systemd/*; do
    file=${file##*/}
    [ "$file" = README ] || grep -qF "$file" "$launch/README"
  done
}

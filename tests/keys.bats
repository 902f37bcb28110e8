#!/usr/bin/env bats
# gt-key, and connections with keys between gt-route and workers.

load helper

# Makes the keys of gt-route, of workers a and b, which may attach, and of a
# stranger.
make_keys() {
  local name
  umask 077
  for name in route a b stranger; do
    gt-key >"$name.key"
    gt-key --public "$name.key" >"$name.pub"
  done
  { cat a.pub; echo '# the other'; sed 's/$/ b on node7/' b.pub; } >allowed
  at=tcp://127.0.0.1:$(free_port)
  printf '%s\n' 'mesh tp=2' 'x@0-1 = ones f32[4,4] split=tp:0' \
    'y@0-1 = sum x@0-1' 'z@0-1 = all_reduce y@0-1' 'print z@0' >p
}

# Runs a program; its output goes to FILE, its messages to NAME.err, its status to
# NAME.
# shellcheck disable=SC2016 # the inner shell expands it
told='out=$1 name=$2; shift 2; s=0; "$@" >"$out" 2>"$name.err" || s=$?; echo "$s" >"$name"'

route() {
  spawn bash -c "$told" sh out route.status gt-route --bind "$at" --workers 2 \
    --key route.key --allow allowed p
}

# attach NAME starts a worker with that key.
attach() {
  spawn bash -c "$told" sh /dev/null "$1.status" gt-work --connect "$at" \
    --key "$1.key" --route-key route.pub --name "$1" --timeout 20
}

wrong() { # MESSAGE COMMAND...
  run -2 --separate-stderr "${@:2}"
  [ "$stderr" = "$1" ]
}

@test "gt-key makes pairs of keys, and prints the public one" {
  make_keys
  [ "$(wc -c <a.key)" -eq 41 ]
  [ "$(gt-key --public - <a.key)" = "$(<a.pub)" ]
  [ "$(<a.key)" != "$(<a.pub)" ]
  [ "$(<a.key)" != "$(<b.key)" ]
  wrong 'gt-key: none: No such file or directory' gt-key --public none
  echo nonsense >bad
  wrong "gt-key: bad:1: expected a key, 40 characters as gt-key writes; the 8 there are none" \
    gt-key --public bad
  # The secret key is never shown, and it may be written with either end of line.
  sed 's/$/x/' a.key >long
  run -2 gt-key --public long
  [[ $output != *"$(<a.key)"* ]]
  sed 's/$/\r/' a.key >dos
  [ "$(gt-key --public dos)" = "$(<a.pub)" ]
  cat a.key b.key >two
  wrong 'gt-key: two: has 2 keys; expected one' gt-key --public two
  chmod 644 a.key
  wrong 'gt-key: a.key: others may read this secret key; chmod 600 it, and make a new one if they could have' \
    gt-key --public a.key
}

@test "workers with listed keys attach, and reach each other" {
  make_keys
  route
  attach a
  attach b
  await . route.status
  [ "$(<out)" = 'z@0 = tensor f32[] 16' ]
  [ "$(<route.status)" = 0 ]
  await . a.status
  await . b.status
  [ "$(cat a.status b.status)" = $'0\n0' ]
}

@test "a worker whose key is not listed is turned away, and the run goes on" {
  make_keys
  route
  attach stranger
  attach a
  await . stranger.status
  [ "$(<stranger.status)" = 4 ]
  grep -F "does not admit this worker's key, $(<stranger.pub)" stranger.status.err
  await "a worker with key $(<stranger.pub) at 127.0.0.1 is not one of those to be admitted" \
    route.status.err -F
  attach b
  await . route.status
  [ "$(<route.status)" = 0 ]
  [ "$(<out)" = 'z@0 = tensor f32[] 16' ]
}

@test "a key that is added while gt-route waits is admitted" {
  make_keys
  cp a.pub allowed
  route
  attach a
  await '1 of 2' route.status.err
  cat b.pub >>allowed
  attach b
  await . route.status
  [ "$(<route.status)" = 0 ]
}

@test "without keys nobody attaches to a gt-route that has them" {
  make_keys
  route
  run -4 --separate-stderr gt-work --connect "$at" --timeout 20
  [ "$stderr" = "gt-work: what listens at $at takes no connection of ours: it wants keys (--key, --route-key), or it is no gt-route" ]
}

@test "a worker with keys takes no gt-route that has none" {
  make_keys
  spawn gt-route --bind "$at" --workers 2 p
  run -4 --separate-stderr gt-work --connect "$at" --timeout 20 --key a.key \
    --route-key route.pub
  [ "$stderr" = "gt-work: what listens at $at takes no connection of ours: it has no keys, or it is no gt-route" ]
}

@test "a worker refuses a gt-route whose key is not the one it was given" {
  make_keys
  route
  run -4 --separate-stderr gt-work --connect "$at" --timeout 2 --key a.key \
    --route-key "$(<stranger.pub)"
  [ "$stderr" = "gt-work: no gt-route at $at within 2.0 s; what is there took no connection of ours: is --route-key its public key?" ]
}

@test "a secret key is not taken for the public one that others may know" {
  make_keys
  local told='this is a secret key, which nobody but its owner may know; gt-key --public FILE prints the public one of the key in FILE'
  for key in route a; do # its own, and that of a worker
    cat b.pub "$key.key" >mixed
    wrong "gt-route: --allow: mixed:2: $told; try gt-route --help" \
      gt-route --bind "$at" --workers 1 --key route.key --allow mixed
    wrong "gt-work: --route-key: $key.key: $told; try gt-work --help" \
      gt-work --connect "$at" --key a.key --route-key "$key.key"
    wrong "gt-work: --route-key: $told; try gt-work --help" \
      gt-work --connect "$at" --key a.key --route-key "$(<"$key.key")"
  done
}

# Half of the keys of other programs do not show that they are secret; here is one
# of such.
@test "the own secret key is not taken for a public one, whoever made it" {
  (umask 077 && printf '%040d\n' 0 >me.key)
  run -2 --separate-stderr gt-route --bind tcp://127.0.0.1:1 --workers 1 --key me.key --allow me.key
  [[ $stderr == 'gt-route: --allow: me.key has the secret key of --key, which nobody else may know; a public one is printed by gt-key --public me.key; '* ]]
  run -2 --separate-stderr gt-work --connect tcp://127.0.0.1:1 --key me.key --route-key me.key
  [[ $stderr == 'gt-work: --route-key: me.key has the secret key of --key, '* ]]
}

@test "keys that do not go together are refused" {
  make_keys
  wrong 'gt-route: --key and --allow go together: who this is, and who may attach; try gt-route --help' \
    gt-route --bind 'tcp://*:5570' --workers 1 --key route.key
  wrong 'gt-route: --key and --allow are for workers that attach: give --bind, too; try gt-route --help' \
    gt-route -n 1 --key route.key --allow allowed
  wrong 'gt-route: --insecure is for workers that attach: give --bind, too; try gt-route --help' \
    gt-route -n 1 --insecure
  wrong 'gt-route: --insecure is for a gt-route without --key; try gt-route --help' \
    gt-route --bind "$at" --workers 1 --key route.key --allow allowed --insecure
  echo '# nobody' >nobody
  wrong 'gt-route: --allow: nobody: has no key, so nobody could attach; try gt-route --help' \
    gt-route --bind "$at" --workers 1 --key route.key --allow nobody
  wrong 'gt-route: --allow: none: No such file or directory; try gt-route --help' \
    gt-route --bind "$at" --workers 1 --key route.key --allow none
  wrong 'gt-work: --key and --route-key go together: who this is, and to whom; try gt-work --help' \
    gt-work --connect "$at" --key a.key
  wrong 'gt-work: --route-key: none: No such file or directory; try gt-work --help' \
    gt-work --connect "$at" --key a.key --route-key none
  # GT_KEY and GT_ROUTE_KEY do not affect workers that gt-route starts itself.
  GT_KEY=$PWD/a.key GT_ROUTE_KEY=$PWD/route.pub \
    run -0 --separate-stderr gt-route -n 2 p
  [ "$output" = 'z@0 = tensor f32[] 16' ]
}

# shellcheck shell=bash disable=SC2034 # variables of the tests
# What the tests of gt-emit -l share: they `load clients` after `load helper`.

# at_socket and at_port choose an endpoint for this test alone.
at_socket() {
  at=ipc://$PWD/at
}

at_port() {
  at=tcp://127.0.0.1:$(free_port 2)
}

# serve WORKERS OPTION... starts gt-emit -l at $at, or at a socket, with gt-route
# behind it, and keeps the stream between them in the file `stream`.
serve() {
  local workers=$1
  shift
  [[ -n ${at:-} ]] || at_socket
  rm -f back to_route
  mkfifo back to_route
  # shellcheck disable=SC2094
  spawn bash -c '[[ -z ${files:-} ]] || ulimit -n "$files"
    exec gt-emit -l "$0" --back back -v "${@}" 2>served' "$at" "$@" \
    > >(tee stream >to_route)
  emit=$!
  spawn bash -c 'exec gt-route -n "$0" <to_route >back 2>routed' "$workers"
  route=$!
  await 'listens at' served
}

# visit PROGRAM... has the server run it; its output, messages and status go to out,
# err and $status.
visit() {
  status=0
  within 60 gt-emit --to "$at" "$@" >out 2>err || status=$?
}

# same_as_here PROGRAM... checks that the server gives the results, messages and
# status that a run on this machine gives.
same_as_here() {
  visit "$@"
  local here=0
  set -o pipefail
  { gt-emit "$@" 2>err.emit | gt-route -n 1 >out.here 2>err.route; } || here=$?
  set +o pipefail
  cat err.emit err.route | sed 's/^gt-route:/gt-work:/' | sort >err.here
  sed 's/^gt-route:/gt-work:/' err | sort >err.there
  diff out.here out
  diff err.here err.there
  [ "$status" = "$here" ]
}

# lay_link starts a relay to the port of $at. Tests write commands for it to
# descriptor 6, and clients connect to $link.
lay_link() {
  local port=${at##*:}
  mkfifo commands
  spawn bash -c 'exec python3 "$0" "$@" <commands >relayed' \
    "$GT_ROOT/tests/tools/relay.py" $((port + 1)) "$port"
  exec 6>commands
  await ready relayed
  link=tcp://127.0.0.1:$((port + 1))
}

# tell_link COMMAND... has the relay do it (tests/tools/relay.py).
tell_link() {
  echo "$*" >&6
  await "^$*\$" relayed
}

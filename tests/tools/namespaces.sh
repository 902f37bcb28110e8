# shellcheck shell=bash
# Hosts as network namespaces, for tests that need machines of their own and source
# this file. A test removes the namespaces that it has made.

# need_namespaces NAME tries to make one of that name, and says why if it cannot.
need_namespaces() {
  ((EUID == 0)) || { echo "network namespaces need root" && return 1; }
  command -v ip >/dev/null || { echo "there is no ip (iproute2)" && return 1; }
  ip netns add "$1" 2>/dev/null ||
    { echo "no network namespace can be made" && return 1; }
  ip netns del "$1"
  unshare --pid --fork --mount-proc --uts true 2>/dev/null ||
    { echo "no process space of its own can be made" && return 1; }
}

# link A B NAME_AT_A NAME_AT_B makes a wire from A to B.
link() {
  ip link add "$3" netns "$1" type veth peer name "$4" netns "$2"
  ip -n "$1" link set "$3" up
  ip -n "$2" link set "$4" up
}

# on HOST NAME COMMAND... becomes the command, with processes and a host name of its
# own.
on() {
  local host=$1 name=$2
  shift 2
  # shellcheck disable=SC2016 # the inner shell expands it
  exec ip netns exec "$host" unshare --pid --fork --kill-child --mount-proc \
    --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$name" "$@"
}

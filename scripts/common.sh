# shellcheck shell=bash
# What the scripts of this folder share. To be sourced, after set -euo pipefail.

# The root of the source tree, wherever the script was called from.
gt_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Prints the comment at the head of the script, which is its help.
usage() {
  sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p;}' "$0"
}

# say TEXT...: talk, on stderr.
say() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die STATUS TEXT...
die() {
  local status=$1
  shift
  say "$@"
  exit "$status"
}

# bad_usage ARG: for an option that the script does not have.
bad_usage() {
  die 2 "unknown argument '$1'; see ${0##*/} --help"
}

# build_dir PRESET: where that preset builds.
build_dir() {
  if [[ $1 == release ]]; then
    echo "$gt_root/build"
  else
    echo "$gt_root/build-$1"
  fi
}

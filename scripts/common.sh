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

# needs_value ARG...: whether something stands behind an option.
needs_value() {
  (($# > 1)) || die 2 "$1 needs a value; see ${0##*/} --help"
}

# skip_rest WHY: leaves a test whose tools are not installed, counted as skipped;
# with GT_NO_SKIPS it fails.
skip_rest() {
  [[ -z ${GT_NO_SKIPS:-} ]] || die 1 "$* (GT_NO_SKIPS is set)"
  echo "skipped: $*"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

# need_torch: for a test that compares with PyTorch.
need_torch() {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip_rest \
    "/usr/bin/python3 has no PyTorch to compare with; scripts/packages install heavy"
}

# build_dir PRESET: where that preset builds.
build_dir() {
  if [[ $1 == release ]]; then
    echo "$gt_root/build"
  else
    echo "$gt_root/build-$1"
  fi
}

# existing FOLDER...: those of the root's folders that are there.
existing() {
  local folder
  for folder in "$@"; do
    [[ ! -e $gt_root/$folder ]] || echo "$folder"
  done
}

# cpp_sources, shell_sources: paths below the root, one a line. Kernel text (.cuh)
# and files that are included for their rows or functions (.def) are C++, too.
cpp_sources() {
  local folders
  mapfile -t folders < <(existing cmd lib tests examples)
  (cd "$gt_root" && find "${folders[@]}" -name '*.cc' -o -name '*.h' -o -name '*.cuh' \
    -o -name '*.def') | sort
}

shell_sources() {
  local folders
  mapfile -t folders < <(existing scripts .ci tests examples)
  (cd "$gt_root" && {
    grep -lrIE '^#!.*\b(bash|sh|bats)$|^# shellcheck shell=' "${folders[@]}"
    find "${folders[@]}" -name '*.bats'
  }) | sort -u
}

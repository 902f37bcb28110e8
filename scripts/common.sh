# shellcheck shell=bash
# What the scripts of this folder share; they source it after set -euo pipefail.

# The root of the source tree, from wherever the script is called.
gt_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# usage prints the comment at the head of the script, which is its help.
usage() {
  sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p;}' "$0"
}

# say TEXT... writes a message to standard error.
say() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die STATUS TEXT... writes a message and exits with that status.
die() {
  local status=$1
  shift
  say "$@"
  exit "$status"
}

# bad_usage ARG dies because of an option that the script does not have.
bad_usage() {
  die 2 "unknown argument '$1'; see ${0##*/} --help"
}

# needs_value ARG... dies unless an argument follows the option.
needs_value() {
  (($# > 1)) || die 2 "$1 needs a value; see ${0##*/} --help"
}

# skip_rest WHY ends a test whose tools are not installed, and counts it as skipped;
# with GT_NO_SKIPS it fails.
skip_rest() {
  [[ -z ${GT_NO_SKIPS:-} ]] || die 1 "$* (GT_NO_SKIPS is set)"
  echo "skipped: $*"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

# need_torch skips a test that compares with PyTorch where that is not installed.
need_torch() {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip_rest \
    "/usr/bin/python3 has no PyTorch to compare with; scripts/packages install heavy"
}

# share_of N prints two numbers, K and N: of the cases of a test, those whose number
# modulo N is K are run for this commit. Its hash picks K, so that the commits of a day
# run all. With GT_TEST_SHARE=all, which runs all cases, it prints 0 and 1.
share_of() {
  local hash
  hash=$(git -C "$gt_root" rev-parse HEAD 2>/dev/null || echo 0)
  if [[ ${GT_TEST_SHARE:-} == all ]]; then echo 0 1; else echo $((16#${hash:0:8} % $1)) "$1"; fi
}

# seeds_of COUNT N prints how many of COUNT random programs, the seeds 0 to COUNT - 1, are
# made for this commit, a share of N, and the first of their seeds.
seeds_of() {
  local share shares
  read -r share shares < <(share_of "$2")
  echo $(($1 / shares)) $((share * ($1 / shares)))
}

# build_dir PRESET prints the folder in which that preset builds.
build_dir() {
  if [[ $1 == release ]]; then
    echo "$gt_root/build"
  else
    echo "$gt_root/build-$1"
  fi
}

# existing FOLDER... prints those of the root's folders that exist.
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

# changed_lately keeps those paths on stdin that one of the last thirty commits changed,
# or that differ from the last one; all of them without such a history, and with
# GT_TEST_SHARE=all.
changed_lately() {
  local base
  if [[ ${GT_TEST_SHARE:-} == all ]] ||
    ! base=$(git -C "$gt_root" rev-parse -q --verify 'HEAD~30' 2>/dev/null); then
    cat
    return
  fi
  grep -xFf <({
    git -C "$gt_root" diff --name-only "$base"
    git -C "$gt_root" ls-files --others --exclude-standard
  }) || true
}

shell_sources() {
  local folders
  mapfile -t folders < <(existing scripts .ci tests examples share)
  (cd "$gt_root" && {
    grep -lrIE '^#!.*\b(bash|sh|bats)$|^# shellcheck shell=' "${folders[@]}"
    find "${folders[@]}" -name '*.bats'
  }) | sort -u
}

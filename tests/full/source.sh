#!/usr/bin/env bash
# The source tarball builds without a network and without git, and what it has built
# runs and can be installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$gt_root"
git rev-parse HEAD >/dev/null 2>&1 || skip_rest "this is no clone"
unshare -rn true 2>/dev/null || unshare -n true 2>/dev/null ||
  skip_rest "this system lets nobody make a network of their own"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/gt-source.XXXXXX")
trap 'rm -rf "$work"' EXIT
tarball=$PWD/$(scripts/dist source)
commit=$(git rev-parse HEAD | cut -c 1-12)
cd "$work"
tar -xf "$tarball"
cd gt-*

# alone COMMAND... runs it without a network and without git.
mkdir "$work/bin"
printf '#!/bin/sh\necho "git: not here" >&2\nexit 127\n' >"$work/bin/git"
chmod +x "$work/bin/git"
as_root=()
((EUID == 0)) || as_root=(-r)
alone() {
  PATH=$work/bin:$PATH unshare "${as_root[@]}" -n "$@"
}

passed=0 failed=0
# check WHAT COMMAND... counts whether the command succeeds.
check() {
  if "${@:2}" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    tail -n 20 "$work/log"
  fi
}

check "there is no network" alone sh -c \
  '[ "$(wc -l </proc/net/route)" -le 1 ] && ! git --version'
check "build" alone scripts/build release programs
check "version" sh -c "build/bin/gt-emit --version | grep -q $commit"
# shellcheck disable=SC2016 # the shell that is started expands it
check "a program runs" alone sh -c \
  'PATH=$PWD/build/bin:$PATH; gt-emit examples/quickstart.gt | gt-work | grep "^corner ="'
check "install" alone cmake --install build --prefix "$work/usr"
check "gt-emit is installed" "$work/usr/bin/gt-emit" --version
check "libgt and gt for Python are installed" sh -c "ls $work/usr/lib/*/libgt.so $work/usr/include/gt/gt.h $work/usr/lib/python3/dist-packages/gt/__init__.py"

echo "$passed passed, $failed failed"
((failed == 0))

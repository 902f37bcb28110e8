#!/usr/bin/env bash
# Follows README.md in a bare Debian 12: its commands lead to a trained model, an
# installed gt, and programs in C++ and Python that run. Downloads and the growth of
# the disk stay within limits.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../bare.bash"
cd "$gt_root"
git rev-parse HEAD >/dev/null 2>&1 || skip_rest "this is no clone"
bare_root
git clone -q "$gt_root" "$root/root/gt"

# typed COMMAND runs it in the tree as README.md has it. $work/typed keeps its
# output, and $work/figures the seconds that it takes.
typed() {
  local begin=$SECONDS status=0
  grep -qF "$ $1" README.md || { echo "README.md has no command '$1'" && return 1; }
  inside bash -c "cd /root/gt && $1" >"$work/typed" 2>&1 || status=$?
  echo "$((SECONDS - begin)) s: $1" >>"$work/figures"
  cat "$work/typed"
  return $status
}

# disk prints the MB that the system takes.
disk() {
  du -xsm "$root" | cut -f 1
}

before=$(disk)
check "README to an accuracy" typed scripts/quickstart
check "the last line is an accuracy" sh -c \
  'tail -n 1 "$1" | grep "^accuracy = tensor f32\[\] 0\.9[0-9]*$"' - "$work/typed"
# In each call apt says "Fetched 97.2 MB in 3s", in bytes, kB or MB.
fetched=$(sed -n 's/^Fetched \([0-9.,]*\) \([kM]\?B\) in .*/\1 \2/p' "$work/typed" | tr -d , |
  awk '{ sum += $1 * ($2 == "MB" ? 1 : $2 == "kB" ? 0.001 : 0.000001) } END { print int(sum + 0.5) }')
growth=$(($(disk) - before))
check "at most 115 MB are fetched" test "$fetched" -gt 0 -a "$fetched" -le 115
check "the disk holds at most 500 MB more" test "$growth" -le 500
check "an install that lacks something says what to type" inside sh -c \
  'cd /root/gt && ! cmake --install build && cmake --install build 2>&1 | grep -e "--target programs"'
check "the other programs" typed 'scripts/build release programs'
check "the install" typed 'cmake --install build'
check "the programs are found" inside sh -c 'gt-emit /usr/local/share/gt/examples/quickstart.gt | gt-work'
# The files that README.md shows, each in the block behind its name.
for file in init.gt step.gt net.py net.cc; do
  awk -v name="\`$file\`" 'index($0, name ":") { named = 1; next }
    named && /^```/ { if (inside) exit; inside = 1; next }
    inside' README.md >"$root/root/gt/$file"
done
check "README's text" typed "gt-emit init.gt --repeat 100 step.gt -e 'print loss' >net.s"
check "its results" typed 'gt-work net.s | tee text'
check "they are a loss" grep '^loss = tensor f32\[\] 0\.' "$work/typed"
check "README's Python" typed 'python3 net.py | cmp - text && echo the same bits'
check "README's C++" typed \
  "c++ -std=c++20 net.cc -o net \$(pkg-config --cflags --libs gt) && ./net | cmp - text && echo the same bits"
check "Python finds what was installed" inside sh -c \
  "cd / && python3 -c 'import gt; print(gt.__file__)' | grep '^/usr/local/lib/python3.*/gt/__init__.py$'"

cat "$work/figures"
echo "$fetched MB were fetched, and the disk held $growth MB more, until the accuracy"
echo "$passed passed, $failed failed"
((failed == 0))

#!/usr/bin/env bash
# Installs the .debs in a bare Debian 12: apt finds what they need, man finds the
# pages, the programs and users' programs in C++ and Python run, and nothing is left
# when they are removed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../bare.bash"
cd "$gt_root"

for program in dpkg-shlibdeps fakeroot; do
  command -v "$program" >/dev/null ||
    skip_rest "there is no $program; scripts/packages install optional"
done
bare_root

# files prints all files of the system, except those that apt and man write anew.
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp \
    -o -path ./root -o -path ./run -o -path ./var/cache -o -path ./var/log \
    -o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune -o -print | sort)
}

mapfile -t packages < <(scripts/dist deb)
mkdir "$root/root/debs" "$root/root/consumer"
cp "${packages[@]}" "$root/root/debs/"
cp tests/consumer/* "$root/root/consumer/"
inside apt-get -q update >"$work/log" 2>&1
inside apt-get -q install --yes --no-install-recommends man-db g++ pkg-config python3 \
  >>"$work/log" 2>&1 || { tail "$work/log"; die 1 "apt-get failed"; }
# Packages that these need stay when these are removed, so they are installed
# before.
mapfile -t needs < <(for package in "${packages[@]}"; do
  dpkg-deb -f "$package" Depends
done | tr ',' '\n' | sed 's/ *(.*//; s/ *|.*//; s/ //g' | grep -v '^libgt' | sort -u)
inside apt-get -q install --yes --no-install-recommends "${needs[@]}" \
  >>"$work/log" 2>&1 || { tail "$work/log"; die 1 "apt-get failed"; }
files >"$work/before"

check "install" inside sh -c 'dpkg -i /root/debs/*.deb'
check "gt-emit --version" inside gt-emit --version
check "man gt-emit" inside sh -c 'man -w gt-emit && man gt-emit | grep -q gt-emit'
check "the pages are there as HTML" inside sh -c \
  'grep -q gt-work.1.html /usr/share/doc/gt/html/index.html'
check "a program runs" inside sh -c \
  'gt-emit /usr/share/gt/examples/quickstart.gt | gt-work | grep -q "^corner ="'
check "python3 finds gt" inside sh -c 'cd / && python3 -B -c "
import gt
print(gt.__file__, gt.ones((2,)).tolist())" |
  grep -x "/usr/lib/python3/dist-packages/gt/__init__.py .1.0, 1.0."'
check "a user builds and runs one" inside sh -c 'cd /root/consumer &&
  g++ -std=c++20 consumer.cc $(pkg-config --cflags --libs gt) -o consumer &&
  ./consumer | grep -q "^f32.3. 4"'
check "remove" inside dpkg --purge libgt-dev libgt0 gt-doc gt
files >"$work/after"
check "nothing is left" diff "$work/before" "$work/after"

echo "$passed passed, $failed failed"
((failed == 0))

#!/usr/bin/env bash
# The .debs in a bare Debian 12: apt installs them with what they need, man finds
# the pages, the programs and a user's program run, and after they are removed
# nothing of them is left. The bare system is made by debootstrap, from the mirror
# that this machine uses.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$gt_root"

((EUID == 0)) || skip_rest "a bare system is made and entered by root"
for program in debootstrap dpkg-shlibdeps fakeroot; do
  command -v "$program" >/dev/null ||
    skip_rest "there is no $program; scripts/packages install optional"
done
mirror=$(sed -n 's/^URIs: *\([^ ]*\/debian\/\?\) *$/\1/p
  s/^deb \(\[[^]]*\] \)\?\([^ ]*\/debian\/\?\) bookworm .*/\2/p' \
  /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)
[[ -n $mirror ]] || skip_rest "no mirror of Debian in apt's sources"

work=$(mktemp -d /var/tmp/gt-packages.XXXXXX)
root=$work/root
clean() {
  local mounted
  for mounted in dev/shm dev/pts dev proc; do
    ! mountpoint -q "$root/$mounted" || umount -l "$root/$mounted"
  done
  rm -rf --one-file-system "$work"
}
trap clean EXIT

# inside COMMAND...: in the bare system.
inside() {
  env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} chroot "$root" "$@" </dev/null
}

# A tar of such a root, if there is one, spares the download.
base=${GT_BARE_ROOT:-}
if [[ -n $base ]]; then
  mkdir "$root"
  tar -C "$root" -xf "$base"
else
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" \
    "$mirror" >"$work/log" 2>&1 || { tail "$work/log"; die 1 "debootstrap failed"; }
fi
chmod 755 "$root"
# The network as this machine has it.
rm -rf "$root"/etc/apt/sources.list{,.d}
cp -a /etc/apt/sources.list.d "$root/etc/apt/" 2>/dev/null || true
cp -a /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
for file in /etc/apt/apt.conf.d/*; do
  [[ -e $root$file ]] || cp -aL "$file" "$root$file" 2>/dev/null || true
done
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
  cp -L "$file" "$root$file" 2>/dev/null || true
done
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"

passed=0 failed=0
# check WHAT COMMAND...
check() {
  if "${@:2}" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    tail -n 20 "$work/out"
  fi
}

# files: all that the system has, but for what apt and man write anew.
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
inside apt-get -q install --yes --no-install-recommends man-db g++ pkg-config \
  >>"$work/log" 2>&1 || { tail "$work/log"; die 1 "apt-get failed"; }
# What they need stays when they go; so it is there before.
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
check "gt.py" inside sh -c 'dpkg -L gt | grep -q /share/python/gt.py$'
check "a user builds and runs one" inside sh -c 'cd /root/consumer &&
  g++ -std=c++20 consumer.cc $(pkg-config --cflags --libs gt) -o consumer &&
  ./consumer | grep -q "^f32.3. 4"'
check "remove" inside dpkg --purge libgt-dev libgt0 gt-doc gt
files >"$work/after"
check "nothing is left" diff "$work/before" "$work/after"

echo "$passed passed, $failed failed"
((failed == 0))

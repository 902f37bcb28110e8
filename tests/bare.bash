# shellcheck shell=bash
# A bare Debian 12 in a folder, for tests that install something; they source this
# file after scripts/common.sh. debootstrap makes it, from the mirror that this
# machine uses; GT_BARE_ROOT=FILE, a tar of such a root, spares the download. `work`
# is a folder of the test and `root` the system in it; both are removed at the end.

# bare_root makes the system, or skips the test where that cannot be done.
bare_root() {
  local mirror file
  ((EUID == 0)) || skip_rest "a bare system is made and entered by root"
  command -v debootstrap >/dev/null ||
    skip_rest "there is no debootstrap; scripts/packages install optional"
  mirror=$(sed -n 's/^URIs: *\([^ ]*\/debian\/\?\) *$/\1/p
    s/^deb \(\[[^]]*\] \)\?\([^ ]*\/debian\/\?\) bookworm .*/\2/p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)
  [[ -n $mirror ]] || skip_rest "no mirror of Debian in apt's sources"
  work=$(mktemp -d /var/tmp/gt-bare.XXXXXX)
  root=$work/root
  trap remove_root EXIT
  mkdir "$root"
  if [[ -n ${GT_BARE_ROOT:-} ]]; then
    tar -C "$root" -xf "$GT_BARE_ROOT"
  else
    debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" \
      "$mirror" >"$work/log" 2>&1 || { tail "$work/log"; die 1 "debootstrap failed"; }
  fi
  chmod 755 "$root"
  # The bare system uses the network as this machine does.
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
}

remove_root() {
  local mounted
  for mounted in dev/shm dev/pts dev proc; do
    ! mountpoint -q "$root/$mounted" || umount -l "$root/$mounted"
  done
  rm -rf --one-file-system "$work"
}

# inside COMMAND... runs it in the bare system.
inside() {
  env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} chroot "$root" "$@" </dev/null
}

passed=0 failed=0
# check WHAT COMMAND... counts whether the command succeeds.
check() {
  if "${@:2}" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    tail -n 20 "$work/out"
  fi
}

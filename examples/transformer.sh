#!/usr/bin/env bash
# Trains a character-level transformer on a novel and lets it write:
# examples/transformer | gt-emit | gt-work, and what they print.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: examples/transformer.sh [-o RESULTS] [TEXT] [NAME=VALUE ...]
Trains on TEXT, in ASCII (default share/novel/pride-and-prejudice.txt), but for
its end, which is held out. Prints the entropy of a character by its frequency
alone and the loss on the held-out text as training goes, both in nats; then how
the model goes on from where the held-out text begins, and the ratio of the last
loss to the entropy. NAME=VALUE as examples/transformer --help says. Programs are
looked for in GT_BIN, build/bin of this tree, where this is installed, and PATH.
  -o RESULTS   keep what gt-work prints, as for gt-log --plot loss,held
EOF
}

novel='' results=/dev/null
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -o) results=$(realpath "${2:?-o needs a file}"); shift ;;
    *=*) break ;;
    -*) usage >&2; exit 2 ;;
    *) novel=$(realpath "$1") ;;
  esac
  shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for bin in ../../bin build/bin; do
  [[ ! -x $bin/gt-work ]] || PATH=$PWD/$bin:$PATH
done
PATH=${GT_BIN:+$GT_BIN:}$PATH
export LC_ALL=C
command -v gt-work >/dev/null ||
  { echo "transformer.sh: build first: scripts/build" >&2; exit 2; }
if [[ -n $novel && " $*" != *' vocab='* ]] &&
  tr -d '\0-\177' <"$novel" | grep -q ''; then
  echo "transformer.sh: ${novel##*/} has characters beyond ASCII; set vocab=256" \
    "to take its bytes" >&2
  exit 2
fi
novel=${novel:-share/novel/pride-and-prejudice.txt}
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-transformer.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A .npy file of bytes is the bytes behind a header of 128.
length=$(wc -c <"$novel")
{
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
    "{'descr': '|u1', 'fortran_order': False, 'shape': ($length,), }"
  cat "$novel"
} >"$work/text.npy"

# Losses become a progress line on a terminal, codes become characters.
show() {
  local terminal=
  [[ ! -t 2 ]] || terminal=1
  awk -v terminal="$terminal" '
    function clear() { if (terminal) printf "\r%40s\r", "" >"/dev/stderr" }
    $3 != "tensor" { clear(); print; bad = 1; next }
    $1 == "loss" {
      if (terminal) printf "\rstep %d  loss %-12s", ++step, $5 >"/dev/stderr"
      next
    }
    $1 == "prompt" {
      clear()
      printf "\n"
      for (i = 5; i <= NF; i++) printf "%c", $i
      printf "|"
      next
    }
    $1 == "character" { printf "%c", $5; fflush(); next }
    $1 == "ratio" { printf "\n\n" }
    { clear(); print; fflush() }
    END { exit bad }'
}

examples/transformer text="$work/text.npy" length="$length" "$@" |
  gt-emit --no-at | gt-work | tee "$results" | show

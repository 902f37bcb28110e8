#!/usr/bin/env bash
# Trains a classifier of handwritten digits: gt-emit | gt-work, and what they
# print. The last line of stdout is the accuracy on images it never saw.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: examples/digits.sh [--placed] [EPOCHS]
Trains on 1,500 images for EPOCHS rounds of 15 steps (default 40) and prints
the accuracy on 297 others. Programs are looked for in build/bin of this tree,
then where this is installed, then in PATH.
  --placed   the same on two ranks, each with half of the hidden units
EOF
}

model=digits loss=loss
if [ "${1:-}" = --placed ]; then
  model=digits-tp2 loss='loss@0 as=loss'
  shift
fi
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  '' | *[!0-9]*) [ $# -eq 0 ] || { usage >&2; exit 2; } ;;
esac
epochs=${1:-40}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
for bin in ../../bin build/bin; do
  [ ! -x $bin/gt-work ] || PATH=$PWD/$bin:$PATH
done
command -v gt-work >/dev/null ||
  { echo "digits.sh: build first: scripts/build" >&2; exit 2; }

program() {
  cat "examples/$model-init.gt"
  step=$(grep -v '^#' "examples/$model.gt")
  for ((epoch = 1; epoch <= epochs; epoch++)); do
    for ((i = 0; i < 15; i++)); do printf '%s\n' "$step"; done
    printf 'print %s\n' "$loss"
  done
  cat "examples/$model-test.gt"
}

# Losses become a progress line on a terminal; the last line is the result.
progress() {
  local epoch=0 name equals op type value
  while read -r name equals op type value; do
    if [ "$name" = loss ]; then
      epoch=$((epoch + 1))
      [ ! -t 2 ] ||
        printf '\repoch %d of %d  loss %-12s' "$epoch" "$epochs" "$value" >&2
    else
      [ ! -t 2 ] || printf '\r%60s\r' '' >&2
      printf '%s %s %s %s %s\n' "$name" "$equals" "$op" "$type" "$value"
    fi
  done
}

program | gt-emit | gt-work | progress

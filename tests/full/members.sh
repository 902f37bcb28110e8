#!/usr/bin/env bash
# A thousand workers check every number of what they are sent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${GT_BIN:-$PWD/build/bin}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
all=1024
{
  echo "mesh tp=$all"
  echo "x@0-$((all - 1)) = zeros f32[4]"
  for ((i = 0; i < 50; i++)); do
    for ((k = 0; k < 60; k++)); do
      echo "x@0-$((all - 1)) = add x@0-$((all - 1)) $k"
    done
    echo "x@$((i * 7)) = add x@$((i * 7)) $i"
    echo "x@0-511 = add x@0-511 1"
    echo "print x@0-9"
  done
} >"$folder/p.gt"
for hot in '' --no-hot; do
  endpoint=ipc://@gt-members-$$
  "$bin/light_members" $all "$endpoint" &
  # shellcheck disable=SC2086
  "$bin/gt-route" --bind "$endpoint" --workers $all $hot \
    --log "$folder/log" "$folder/p.gt" >"$folder/out"
  wait "$!"
  [[ $(wc -l <"$folder/out") == 500 ]]
  [[ $(grep -c $'\tbye\t.*status=0' "$folder/log") == "$all" ]]
done

#!/usr/bin/env bash
# Compares examples/cpp with the same programs in libtorch, from the same first
# weights and data: the losses of the digits and of the character transformer differ
# only by rounding.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
cd "$gt_root"
export GT_BIN=${GT_BIN:-$PWD/build/bin}
export PATH=$GT_BIN:$gt_root/scripts:$PATH
unset GT_CONFIG GT_WORKERS GT_BACKEND

headers=/usr/include/torch/csrc/api/include
[[ -d $headers ]] ||
  skip_rest "libtorch is not installed; scripts/packages install optional"
cpp=$(dirname "$GT_BIN")/examples
[[ -x $cpp/transformer ]] || skip_rest "examples/cpp is not built"
work=$(mktemp -d "${TMPDIR:-/tmp}/gt-libtorch.XXXXXX")
trap 'rm -rf "$work"' EXIT
ln -s "$gt_root/share" "$work/share"

compile() {
  g++ -O1 -std=c++17 -isystem "$headers" "tests/bench/libtorch_$1.cc" \
    -o "$work/libtorch_$1" -ltorch -ltorch_cpu -lc10
}

passed=0 failed=0
# same NAME LINES TOLERANCE compares NAME.ours with NAME.theirs, a loss on each
# line.
same() {
  if paste "$work/$1.ours" "$work/$1.theirs" | awk -v lines="$2" -v most="$3" '
    NF != 2 { exit 1 }
    { d = ($1 - $2) / $2; if (d < 0) d = -d; if (d > worst) worst = d }
    NR == 1 { first = $2 }
    END { printf "largest relative difference of %d losses: %.2g\n", NR, worst
          exit !(NR == lines && worst < most && $2 < 0.8 * first) }'; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    paste "$work/$1.ours" "$work/$1.theirs"
  fi
}

compile digits
compile transformer
cd "$work"

GT_CONNECT=- "$cpp/digits" 10 |
  awk '/^[^ ]+ = load / && !done++ {
      split("hidden.w hidden.b out.w out.b", names)
      for (i = 1; i in names; ++i) printf "save digits.%s \"%s.npy\"\n", names[i], names[i]
    } 1' |
  gt-work | awk '/^loss = / { print $5 }' >digits.ours
./libtorch_digits . 10 >digits.theirs
same digits 10 1e-4

# The sizes are LAYERS WIDTH HEADS CONTEXT BATCH STEPS WARMUP.
sizes=(2 32 2 16 8 40 5)
text=share/novel/pride-and-prejudice.txt
length=$(wc -c <"$text")
{
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
    "{'descr': '|u1', 'fortran_order': False, 'shape': ($length,), }"
  cat "$text"
} >text.npy
GT_CONNECT=- "$cpp/transformer" text=text.npy length="$length" held=600 rounds=1 \
  sample=1 layers="${sizes[0]}" width="${sizes[1]}" heads="${sizes[2]}" \
  context="${sizes[3]}" batch="${sizes[4]}" steps="${sizes[5]}" \
  warmup="${sizes[6]}" |
  awk -v window="shape=${sizes[4]},$((sizes[3] + 1))" '
    / = (randn|ones) / && $1 ~ /\.w$/ { weights[++n] = $1 }
    / = rand / {
      if (!steps++) for (i = 1; i <= n; ++i) printf "save %s \"%s.npy\"\n", weights[i], weights[i]
      waits = 1
    }
    { print }
    waits && / = reshape / && index($0, " " window " ") {
      printf "save %s \"window.%d.npy\"\n", $1, steps
      waits = 0
    }' |
  gt-work | awk '/^loss = / { print $5 }' >transformer.ours
./libtorch_transformer . "${sizes[@]}" >transformer.theirs
same transformer "${sizes[5]}" 1e-4

echo "$passed passed, $failed failed"
((failed == 0))

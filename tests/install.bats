#!/usr/bin/env bats
# What is installed: programs, examples that find their data, completions.

load helper

# completed LINE: what bash offers at the end of a command line.
completed() {
  local program=${1%% *}
  COMP_LINE=$1 bash -c '. "$1"; COMP_POINT=${#COMP_LINE}
    "_${2//-/_}"; printf "%s\n" "${COMPREPLY[*]}"' - \
    "$GT_SHARE/completions/bash/$program" "$program"
}

@test "bash completes the options of every program, and the values it knows" {
  [ "$(completed 'gt-emit --rep')" = --repeat ]
  [ "$(completed 'gt-emit --ops=matm')" = matmul ]
  [ "$(completed 'gt-emit --ops matm')" = matmul ]
  [ "$(completed 'gt-key --pub')" = --public ]
  [ "$(completed 'gt-log --timeline=c')" = chrome ]
  [ -z "$(completed 'gt-work mod')" ]
  local program option
  for program in "$GT_BIN"/gt-*; do
    program=${program##*/}
    for option in $("$program" --help | grep -oE '^ +-[^ ]+' | tr , ' '); do
      [[ " $(completed "$program $option") " == *" $option "* ]] ||
        { echo "$program $option"; return 1; }
    done
  done
}

@test "completions are what their shells can read" {
  local file
  for file in "$GT_SHARE"/completions/bash/*; do bash -n "$file"; done
  ! command -v zsh >/dev/null || for file in "$GT_SHARE"/completions/zsh/*; do
    zsh -n "$file"
  done
  ! command -v fish >/dev/null || for file in "$GT_SHARE"/completions/fish/*; do
    fish -n "$file"
  done
}

@test "every program stands in one folder, in the build tree too" {
  run -0 env PATH="$GT_BIN:/usr/bin:/bin" gt-cmp --version
  [[ $output == 'gt-cmp 0.'* ]]
}

@test "what is installed runs without the tree" {
  cmake --install "${GT_BIN%/bin}" --prefix "$PWD/usr" >/dev/null
  export PATH=$PWD/usr/bin:/usr/bin:/bin
  local program
  for program in "$GT_BIN"/gt-*; do
    "${program##*/}" --version >/dev/null
    [ -s "usr/share/man/man1/${program##*/}.1" ]
    [ -s "usr/share/bash-completion/completions/${program##*/}" ]
  done
  # A script finds its parts.
  printf 'x = ones f32[2]\nprint x\n' >p.gt
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  # The shell examples go where their data is, from wherever they are called.
  run -0 usr/share/gt/examples/digits.sh 1
  [[ $output == 'accuracy = tensor f32[] 0.'* ]]
  PATH=/usr/bin:/bin run -0 usr/share/gt/examples/digits.sh 1
  run -0 usr/share/gt/examples/transformer.sh steps=1 rounds=1 layers=1 \
    width=16 heads=2 context=8 batch=2 held=1024 sample=1
  [[ $output == *'ratio = tensor f32[] '* ]]
  # The others are run from the folder that is laid out as the tree is.
  cd usr/share/gt
  gt-emit --no-at examples/digits-init.gt examples/digits.gt -e 'print loss' \
    >"$BATS_TEST_TMPDIR/p"
  gt-work "$BATS_TEST_TMPDIR/p" >"$BATS_TEST_TMPDIR/whole"
  gt-shard -c configs/tensor-parallel.yaml "$BATS_TEST_TMPDIR/p" | gt-work |
    gt-cmp "$BATS_TEST_TMPDIR/whole" -
}

#!/usr/bin/env bats
# An installed gt: its programs, examples that find their data, completions, libgt,
# and the module gt of Python.

load helper

# completed LINE [FILE] prints what bash offers at the end of a command line.
completed() {
  COMP_LINE=$1 bash -c '. "$1"; COMP_POINT=${#COMP_LINE}; _gt
    printf "%s\n" "${COMPREPLY[*]}"' - "${2:-$GT_SHARE/completions/gt.bash}"
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
    [[ $program != gt-cluster ]] || continue
    for option in $("$program" --help | grep -oE '^ +-[^ ]+' | tr , ' '); do
      [[ " $(completed "$program $option") " == *" $option "* ]] ||
        { echo "$program $option"; return 1; }
    done
  done
}

@test "bash completes the values of backends, instruction sets and GPUs" {
  local program
  for program in 'gt-work' 'gt-route' 'gt-cluster up' 'gt-cluster run' 'gt-cluster profile'; do
    [ "$(completed "$program --backend ")" = 'cpu ref null cuda' ]
    [ "$(completed "$program --backend=n")" = null ]
  done
  for program in gt-work gt-route; do
    [ "$(completed "$program --isa ")" = 'sse2 avx2 avx512' ]
  done
  [ "$(completed 'gt-route -n ')" = gpus ]
  [ -z "$(completed 'gt-route -n 4')" ]
  [ -z "$(completed 'gt-shard -n ')" ]
  # A plug-in is named by its file, so bash completes files itself.
  [ -z "$(completed 'gt-work --backend ./')" ]
}

@test "bash completes commands, and the options of each" {
  [ "$(completed 'gt-cluster ')" = 'run profile up status logs down' ]
  [ "$(completed 'gt-cluster s')" = status ]
  [ "$(completed 'gt-cluster -')" = '--help --version' ]
  [ -z "$(completed 'gt-cluster run p')" ]
  local all='--name --dry-run --help --version' own workers
  own='-n -c --config --root --backend --threads --memory'
  workers="$own --hosts --slurm --files --address --port --timeout"
  [ "$(completed 'gt-cluster run -')" = "$all $workers" ]
  [ "$(completed 'gt-cluster run --name a p.gt --')" = "$(tr ' ' '\n' <<<"$all $workers" | grep -e -- | xargs)" ]
  [ "$(completed 'gt-cluster profile -')" = "$all $own --step --show --tokens --peak --pace --tsv -o" ]
  [ "$(completed 'gt-cluster up -')" = "$all $workers --listen --allow" ]
  [ "$(completed 'gt-cluster status -')" = "$all" ]
  [ "$(completed 'gt-cluster logs -')" = "$all -f --follow" ]
  [ "$(completed 'gt-cluster down -')" = "$all --forget" ]
  # Words behind -- belong to another program, so nothing is offered.
  [ -z "$(completed 'gt-cluster run -- -')$(completed 'gt-cluster up -- --na')" ]
  [ "$(completed 'gt-log w')" = why ]
  [ -z "$(completed 'gt-log ')" ]
  [ "$(completed 'gt-log why -')" = '-h --help --now --version' ]
  [ -z "$(completed 'gt-log --now')" ]
  local option
  for option in $(gt-cluster --help | grep -oE '^ +-[^ ]+' | tr , ' '); do
    [[ $option == -- ]] ||
      [[ " $(for word in run profile up status logs down; do completed "gt-cluster $word $option"; done) " == *"$option"* ]]
  done
}

@test "the page of the ops is made of the op table" {
  local page=${GT_BIN%/bin}/man/gt-ops.7
  gt-emit --ops=mdoc | cmp - "$page"
  mandoc -Tlint -W warning "$page"
}

@test "each completion comes with its meaning" {
  run -0 "$GT_SHARE/completions/candidates" 'gt-emit --ops=soft'
  [ "${lines[1]}" = $'softmax\texp x, scaled to sum to 1 along an axis.' ]
  run -0 "$GT_SHARE/completions/candidates" 'gt-cluster l'
  lines_are $'logs\twhat the programs said'
}

@test "zsh and fish complete what bash does" {
  local program
  for program in "$GT_BIN"/gt-*; do
    [[ " $(head -n 1 "$GT_SHARE/completions/gt.zsh") " == *" ${program##*/} "* ]]
  done
  ! command -v zsh >/dev/null || zsh -n "$GT_SHARE/completions/gt.zsh"
  command -v fish >/dev/null || skip 'there is no fish'
  cp "$GT_SHARE/completions/gt.fish" gt-emit.fish
  run -0 fish -c 'source gt-emit.fish; complete -C "gt-emit --ops=matm"'
  lines_are $'--ops=matmul\tMatrix product over the last two dimensions.'
  touch model.gt
  run -0 fish -c 'source gt-emit.fish; complete -C "gt-emit mod"'
  lines_are model.gt
}

@test "every program stands in one folder, in the build tree too" {
  run -0 env PATH="$GT_BIN:/usr/bin:/bin" gt-cmp --version
  [[ $output == 'gt-cmp 0.'* ]]
}

@test "an install stops before its first file if something is not built" {
  mkdir tree
  sed 's|/libgt\.a|/none.a|g' "${GT_BIN%/bin}/cmake_install.cmake" >tree/cmake_install.cmake
  run ! cmake --install tree --prefix "$PWD/usr"
  [[ $output == *'nothing is installed, since these are not built yet: lib/none.a.'* ]]
  [[ $(tr -s ' \n' ' ' <<<"$output") == *"cmake --build ${GT_BIN%/bin} --target programs"* ]]
  [ ! -e usr ]
}

# The shell of a program tells it where gt is, by the lines that the install has
# printed.
@test "C++ and Python find what is installed by the lines that the install prints" {
  skip_if_sanitized "its users would have to be, too"
  cmake --install "${GT_BIN%/bin}" --prefix "$PWD/usr" 2>told >/dev/null
  grep '^  export ' told >lines
  cat >fit.cc <<'END'
#include <gt/gt.h>
int main() { gt::tensor({1.0F, 2.0F}).name("w").print(); }
END
  cat >user.sh <<'END'
. ./lines
c++ -std=c++20 fit.cc -o fit $(pkg-config --cflags --libs gt) && ./fit
/usr/bin/python3 -c 'import gt; print((gt.tensor([1.0, 2.0]) * 2).tolist(), gt._program("gt-emit"))'
END
  run -0 env -i PATH=/usr/bin:/bin sh -eu user.sh
  lines_are $'w = tensor f32[2] 1 2\n[2.0, 4.0] '"$PWD/usr/bin/gt-emit"
}

@test "a module in the prefix of a Python is found by that Python without more" {
  skip_if_sanitized "its users would have to be, too"
  /usr/bin/python3 -m venv --without-pip venv
  PATH=$PWD/venv/bin:$PATH cmake --install "${GT_BIN%/bin}" --prefix "$PWD/venv" 2>told >/dev/null
  run -1 grep PYTHONPATH told
  run -0 env -i PATH=/usr/bin:/bin venv/bin/python -c 'import gt; print(gt.ones((2,)).tolist())'
  lines_are '[1.0, 1.0]'
}

@test "the wheel is installed without a network, and finds the programs or says what is missing" {
  python3 -m pip --version >/dev/null 2>&1 || skip "no pip; scripts/packages install test"
  run -0 "$GT_ROOT/scripts/dist" wheel
  cp "$GT_ROOT/$output" .
  version=$(gt-emit --version | sed 's/.* \([0-9.]*\) .*/\1/')
  [ "$(echo *.whl)" = "gt-$version-py3-none-any.whl" ]
  /usr/bin/python3 -m pip install -q --no-index --no-warn-script-location --root-user-action=ignore \
    --target there ./*.whl
  export PYTHONPATH=$PWD/there
  run -0 /usr/bin/python3 -c 'import gt; print(gt.ones((2,)).tolist())'
  lines_are '[1.0, 1.0]'
  run -1 env -u GT_BIN PATH=/usr/bin:/bin /usr/bin/python3 -c 'import gt'
  [[ $output == *"gt.Lost: the program gt-emit is not in "*" or \$PATH: build and install gt's programs, or"* ]]
}

@test "what is installed runs without the tree" {
  cmake --install "${GT_BIN%/bin}" --prefix "$PWD/usr" >/dev/null 2>&1
  export PATH=$PWD/usr/bin:/usr/bin:/bin
  local program
  for program in "$GT_BIN"/gt-*; do
    "${program##*/}" --version >/dev/null
    [ -s "usr/share/man/man1/${program##*/}.1" ]
    [ -s "usr/share/bash-completion/completions/${program##*/}" ]
  done
  [ "$(completed 'gt-emit --rep' usr/share/bash-completion/completions/gt-emit)" = --repeat ]
  # A script finds its parts.
  printf 'x = ones f32[2]\nprint x\n' >p.gt
  run -0 gt-cluster run p.gt
  lines_are 'x = tensor f32[2] 1 1'
  # The shell examples change to the folder of their data, wherever they are called.
  run -0 usr/share/gt/examples/digits.sh 1
  [[ $output == 'accuracy = tensor f32[] 0.'* ]]
  PATH=/usr/bin:/bin run -0 usr/share/gt/examples/digits.sh 1
  run -0 usr/share/gt/examples/transformer.sh steps=1 rounds=1 layers=1 \
    width=16 heads=2 context=8 batch=2 held=1024 sample=1
  [[ $output == *'ratio = tensor f32[] '* ]]
  # The other examples are run in share/gt, which is laid out as the tree is.
  cd usr/share/gt
  gt-emit --no-at examples/digits-init.gt examples/digits.gt -e 'print loss' \
    >"$BATS_TEST_TMPDIR/p"
  gt-work "$BATS_TEST_TMPDIR/p" >"$BATS_TEST_TMPDIR/whole"
  gt-shard -c configs/tensor-parallel.yaml "$BATS_TEST_TMPDIR/p" | gt-work |
    gt-cmp "$BATS_TEST_TMPDIR/whole" -
}

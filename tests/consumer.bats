#!/usr/bin/env bats
# libgt as it is installed: a project and a plain command line build with it, its
# symbols and gdb's printer are right, and the source tarball configures.

load helper

setup_file() {
  [[ -z ${GT_SANITIZED:-} ]] || return 0
  export TREE=$BATS_FILE_TMPDIR/usr
  cmake --install "${GT_BIN%/bin}" --prefix "$TREE" >/dev/null 2>&1
  LIBRARY=$(dirname "$(find "$TREE/lib" -name libgt.so.0)")
  export LIBRARY PKG_CONFIG_PATH=$LIBRARY/pkgconfig
}

setup() {
  skip_if_sanitized "its users would have to be, too"
  # shellcheck disable=SC2034 # teardown reads it
  spawned=()
  cd "$BATS_TEST_TMPDIR" || return
}

# prints_total PROGRAM... checks the output of tests/consumer.
prints_total() {
  LD_LIBRARY_PATH=$LIBRARY run -0 "$@"
  lines_are $'f32[3] 4\n2\n4\n6'
}

# plain COMPILER OPTION... builds the consumer as a user would, with the flags of
# gt.pc.
plain() {
  local flags
  read -ra flags < <(pkg-config --cflags --libs gt)
  "$@" "$GT_ROOT/tests/consumer/consumer.cc" -Wall -Wextra -Werror -o plain \
    "${flags[@]}"
  run -0 ./plain # which finds the library without a LD_LIBRARY_PATH
  lines_are $'f32[3] 4\n2\n4\n6'
}

# bats test_tags=full
@test "each header of the library stands alone" {
  local header flags
  read -ra flags < <(pkg-config --cflags gt)
  for header in "$TREE"/include/gt/*.h; do
    echo "#include <gt/${header##*/}>" | g++ -std=c++20 -x c++ -fsyntax-only -Wall -Wextra -Werror "${flags[@]}" -
  done
}

@test "a project finds gt, shared and static" {
  cmake -S "$GT_ROOT/tests/consumer" -B build -G Ninja \
    -DCMAKE_PREFIX_PATH="$TREE" >/dev/null
  cmake --build build -j 2
  prints_total build/consumer
  run -0 env -u LD_LIBRARY_PATH build/consumer_static
  lines_are $'f32[3] 4\n2\n4\n6'
}

@test "a project that asks for another version is told so" {
  sed 's/gt 0.1/gt 9.9/' "$GT_ROOT/tests/consumer/CMakeLists.txt" >CMakeLists.txt
  run ! cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$TREE"
  [[ $output == *'requested version "9.9"'* ]]
}

@test "one line builds it with g++, as C++20 and C++23" {
  command -v pkg-config >/dev/null || skip "no pkg-config; scripts/packages install build"
  plain g++ -std=c++20
  plain g++ -std=c++23
}

@test "one line builds it with clang, as C++20 and C++23" {
  command -v pkg-config >/dev/null || skip "no pkg-config; scripts/packages install build"
  command -v clang++ >/dev/null || skip "no clang; scripts/packages install heavy"
  plain clang++ -std=c++20
  plain clang++ -std=c++2b
}

@test "libgt shows the functions of gt/c.h and nothing else" {
  grep -oE '\bgt_[a-z_]+\(' "$TREE/include/gt/c.h" | tr -d '(' | sort -u >all
  nm -D --defined-only "$LIBRARY/libgt.so" | awk '{ print $3 }' | sort >shared
  [ -s shared ]
  [ -z "$(comm -13 all shared)" ]
  nm --defined-only --extern-only "$LIBRARY/libgt.a" |
    awk 'NF == 3 { print $3 }' | sort >static
  cmp shared static
  readelf -d "$LIBRARY/libgt.so" | grep -q 'SONAME.*\[libgt\.so\.0\]'
}

@test "gdb shows a tensor's name, type and session" {
  command -v gdb >/dev/null || skip "no gdb; scripts/packages install optional"
  plain g++ -std=c++20 -g -O0
  local home=$TREE/share/gdb/auto-load
  LD_LIBRARY_PATH=$LIBRARY run -0 gdb -nx -batch -iex "set auto-load safe-path $home" \
    -iex "set auto-load scripts-directory $home" -ex 'break look_at' -ex run -ex 'print tensor' ./plain
  # gdb 13 does not know the registers of the newest processors, and then it cannot
  # call functions of the program.
  [[ $output != *"Couldn't write extended state status"* ]] ||
    skip "this gdb cannot write this processor's registers"
  [[ $output == *'total = f32[3], session open'* ]]
}

@test "a tarball knows its commit without git, and configures" {
  cd "$GT_ROOT"
  git rev-parse HEAD >/dev/null 2>&1 || skip "this is no clone"
  git archive --prefix=gt/ HEAD | tar -x -C "$BATS_TEST_TMPDIR"
  cd "$BATS_TEST_TMPDIR"
  # The tarball also knows its commit where it lies in a repository of somebody
  # else.
  git init -q .
  if [[ -d $GT_ROOT/build/headers ]]; then # of packages that are not installed
    mkdir gt/build
    ln -s "$GT_ROOT/build/headers" gt/build
  fi
  cmake -S gt -B out -G Ninja -DGT_TESTS=OFF >/dev/null
  cmake --build out --target gt_version
  grep -F "$(git -C "$GT_ROOT" rev-parse HEAD | cut -c 1-12)" out/gen/version.cc
}

#!/usr/bin/env bats
# The scripts that a developer meets first: they answer --help, and their checks
# find what they are for.

load helper

@test "every script answers --help" {
  run "$GT_ROOT/scripts/lint" scripts
  [ "$status" -eq 0 ]
}

@test "a script refuses an option it does not have" {
  for script in build packages lint test cases fmt check-deps quickstart \
    doc-examples docs test-gpu bench-gpu; do
    run -2 --separate-stderr "$GT_ROOT/scripts/$script" --no-such-option
    [[ $stderr == *"unknown argument '--no-such-option'"* ]]
    [ -z "$output" ]
  done
}

@test "the list of packages has names, and no name twice" {
  run -0 "$GT_ROOT/scripts/packages" list
  [ "${#lines[@]}" -ge 10 ]
  for package in "${lines[@]}"; do
    [[ $package =~ ^[a-z0-9][a-z0-9.+-]+$ ]]
  done
  [ -z "$(printf '%s\n' "${lines[@]}" | sort | uniq -d)" ]
}

@test "packages of a kind are part of the list" {
  for kind in build test optional; do
    run -0 "$GT_ROOT/scripts/packages" list "$kind"
    [ -z "$(comm -13 <("$GT_ROOT/scripts/packages" list | sort) \
      <(printf '%s\n' "${lines[@]}" | sort))" ]
  done
}

# Makes a tree of its own, in which it is known what a script has to find.
make_tree() {
  mkdir -p tree/tests
  cp -r "$GT_ROOT/scripts" tree/
  cd tree || return
}

@test "check-deps names the include that points upwards" {
  make_tree
  mkdir -p lib/base lib/stream
  printf '#include "base/b.h"\n#include <vector>\n' >lib/stream/s.h
  run -0 scripts/check-deps
  echo '#include "stream/s.h"' >lib/base/b.h
  run -1 scripts/check-deps
  lines_are 'lib/base/b.h:1: base may not include stream: #include "stream/s.h"'
  echo '#include "b2.h"' >lib/base/b.h
  run -1 scripts/check-deps
  [[ $output == *"include without its folder"* ]]
}

@test "check-deps names what a folder may include and does not" {
  make_tree
  mkdir -p lib/base lib/stream
  echo '#include <vector>' | tee lib/base/b.h >lib/stream/s.h
  run -1 scripts/check-deps
  lines_are 'scripts/check-deps: stream includes nothing of base'
}

@test "check-deps names the include that points upwards within lib/exec" {
  make_tree
  mkdir -p lib/exec/memory lib/exec/queue
  echo '#include "exec/memory/m.h"' >lib/exec/queue/q.h
  echo '#include "base/b.h"' >lib/exec/memory/m.h
  run -0 scripts/check-deps
  echo '#include "exec/queue/q.h"' >lib/exec/memory/m.h
  run -1 scripts/check-deps
  lines_are 'lib/exec/memory/m.h:1: exec/memory may not include exec/queue: #include "exec/queue/q.h"'
  mkdir lib/exec/new
  echo '#include "base/b.h"' >lib/exec/memory/m.h
  echo '#include "base/b.h"' >lib/exec/new/n.h
  run -1 scripts/check-deps
  [[ $output == "lib/exec/new/n.h:1: folder not in the table"* ]]
}

@test "check-ops names the place where code compares the name of an op" {
  make_tree
  mkdir -p cmd lib/ops lib/route
  echo '    {.signature = "y = neg x",' >lib/ops/pointwise.cc
  echo 'if (op == "nothing") return;' >lib/route/a.cc
  run scripts/check-ops
  [[ $output != *lib/route* ]]
  echo '  if (line.op == "neg") return;' >>lib/route/a.cc
  run -1 scripts/check-ops
  [[ ${lines[0]} == "check-ops: lib/route/a.cc:2: tells 'neg' by its name"* ]]
  [[ $output == *'the exception "lib/exec/backend/view.cc flip" is needed no more'* ]]
}

@test "check-ops knows the ways to compare the name of an op" {
  local way
  make_tree
  mkdir -p cmd lib/ops lib/route
  echo '    {.signature = "y = neg x",' >lib/ops/pointwise.cc
  for way in 'op == "neg"' 'op() != "neg"' 'word.text == "neg"' \
    '"neg" == op' 'line.starts_with("neg ")' 'tail.starts_with("neg")' \
    'step.op == find_op("neg")' 'find_op("neg") != op'; do
    echo "if ($way) return;" >lib/route/a.cc
    run -1 scripts/check-ops
    [[ $output == *"check-ops: lib/route/a.cc:1: tells 'neg' by its name"* ]]
  done
  echo 'line.op = "neg"; find_op("neg"); key.key == "negative";' >lib/route/a.cc
  run scripts/check-ops
  [[ $output != *lib/route* ]]
}

# A kernel whose table is not in use is missed by nobody: its op is expanded instead.
@test "a backend uses every table of kernels that its header declares" {
  local backend folder table tables
  for backend in ref cpu; do
    folder=$GT_ROOT/lib/exec/backend/$backend
    mapfile -t tables < <(sed -n 's/^std::span<const KernelRow> \([a-z_]*\)();$/\1/p' \
      "$folder/$backend.h")
    ((${#tables[@]} > 5))
    for table in "${tables[@]}"; do grep -qw "$table" "$folder/$backend.cc"; done
  done
}

@test "lint fails on code below cmd that ends the process or prints" {
  local call
  make_tree
  mkdir -p lib/base
  for call in 'std::abort()' 'abort()' '::_exit(1)' 'exit(1)' '_Exit (2)' \
    'std::terminate()' 'std::fprintf(stderr, "x")' 'printf("x")' \
    'puts("x")' 'std::cout << "x"' 'std::cerr << 1' 'fmt::print("x")'; do
    echo "void f() { $call; }" >lib/base/a.cc
    run -1 scripts/lint exits
    [[ $output == *"lib/base/a.cc:1:"* ]]
  done
  {
    echo '// exit(1) is called by nobody.'
    echo 'void f() { x.abort("why"); abort(why); y->exit(); snprintf(b, 1, "x"); }'
  } >lib/base/a.cc
  run scripts/lint exits
  [[ $output != *lib/base/a.cc:* ]]
}

@test "lint fails on a file that is too long, and warns before that" {
  make_tree
  mkdir -p lib/base
  seq 500 | sed 's,^,// ,' >lib/base/a.cc
  run -0 scripts/lint sizes
  [[ $output == *"warning: lib/base/a.cc: 500 lines"* ]]
  seq 601 | sed 's,^,// ,' >lib/base/a.cc
  run -1 scripts/lint sizes
  [[ $output == *"lib/base/a.cc: 601 lines, the limit is 600"* ]]
}

@test "lint fails on a class of too many lines or members, over all its files" {
  make_tree
  mkdir -p lib/base
  {
    echo '// Two classes.'
    echo 'class Wide {'
    seq 26 | sed 's/.*/  int member&_;/'
    echo '};'
    echo 'class Long {'
    echo '  void f();'
    echo '  void g();'
    echo '};'
  } >lib/base/a.h
  for part in f g; do
    { echo "void Long::$part() {" && seq 300 | sed 's/.*/  \/\/ &/' && echo '}'; } \
      >"lib/base/$part.cc"
  done
  run -1 scripts/lint classes
  [[ $output == *"lib/base/a.h: Wide has 28 lines and 26 members"* ]]
  [[ $output == *"lib/base/a.h: Long has 608 lines and 0 members"* ]]
}

@test "lint fails on a header that does not say what it is for" {
  make_tree
  mkdir -p lib/base
  echo '// Sums.' >lib/base/a.h
  run -0 scripts/lint contracts
  echo '#pragma once' >lib/base/b.h
  run -1 scripts/lint contracts
  [[ $output == *"lib/base/b.h: begins without a comment"* ]]
}

make_case() {
  mkdir -p "tests/cases/$1" bin
  printf '%s\n' "$2" >"tests/cases/$1/cmd"
}

@test "a golden case passes, fails with a diff, is accepted" {
  make_tree
  make_case a/sums 'echo hello; echo oh >&2; exit 3'
  run -1 scripts/cases -b bin
  [[ $output == *"FAILED a/sums"*"+hello"* ]]
  [ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
  run -0 scripts/cases -b bin --accept
  [ "$(cat tests/cases/a/sums/expout)" = hello ]
  [ "$(cat tests/cases/a/sums/experr)" = oh ]
  [ "$(cat tests/cases/a/sums/status)" = 3 ]
  run -0 scripts/cases -b bin a
  lines_are "1 passed, 0 failed, 0 skipped"
}

@test "a golden case runs in a copy of its folder, without its path" {
  make_tree
  make_case a/copy 'pwd; echo "$GT_SHARE"; touch new'
  run -0 scripts/cases -b bin --accept
  [ "$(cat tests/cases/a/copy/expout)" = $'$PWD\n$GT_SHARE' ]
  [ ! -e tests/cases/a/copy/new ]
}

@test "a golden case that hangs fails" {
  make_tree
  make_case a/hang 'sleep 30'
  GT_CASE_LIMIT=1 run -1 scripts/cases -b bin
  [[ $output == *"+124"* ]]
}

@test "examples of a page are run, and its skips are counted" {
  make_tree
  mkdir man
  cat >README.md <<'END'
What is counted is `in.txt`:

```
one
two
```

```console
$ wc -l <in.txt
2
$ seq 9
1
...
9
$ echo seen at $(date +%s)
seen at ...
```

<!-- skip: takes an hour -->
```console
$ sleep 3600
```
END
  cat >man/x.1 <<'END'
.Sh EXAMPLES
.Bd -literal -offset indent
$ printf '%s\en' "a\(aqb" \e
  more
a'b
more
.Ed
.\" status: 1
.Bd -literal
$ false
.Ed
.Pp
.Pa three.txt :
.Bd -literal
a \(ti b
.Ed
.Bd -literal
$ cat three.txt
a ~ b
.Ed
END
  run -0 scripts/doc-examples -b .
  [ "${lines[-1]}" = "6 passed, 0 failed, 1 skipped" ]
  sed -i 's/^2$/3/' README.md
  run -1 scripts/doc-examples -b .
  [[ $output == *"README.md:9: wc -l <in.txt"*"+2"* ]]
}

@test "teardown ends what spawn started" {
  spawn sleep 100
  pid=$!
  end_spawned
  run ! kill -0 "$pid"
}

@test "filters.py leaves nothing of the tests whose programs it records" {
  /usr/bin/python3 -c 'import numpy' || skip '/usr/bin/python3 has no numpy'
  mkfifo in
  cat >record.py <<'END'
import os, pathlib, sys
sys.path.insert(0, os.environ["GT_ROOT"] + "/tests/oracle")
import filters
here = pathlib.Path.cwd()
recorder = filters.Recorder(here)
# A program that its test ends; and those of a test that was stopped.
recorder.run(["bash", "-c", f"gt-emit <>{here}/in & sleep 0.5; kill $!; wait"], 20)
print(recorder.end_rest())
recorder.run(["bash", "-c", f"gt-emit <>{here}/in | gt-route -n 1 & sleep 0.5"], 20)
print(sorted({*recorder.end_rest()} - {"bash", "tee"}), recorder.end_rest())
END
  PYTHONDONTWRITEBYTECODE=1 run -0 within 60 /usr/bin/python3 record.py
  lines_are "[]
['gt-emit', 'gt-route', 'gt-work'] []"
}

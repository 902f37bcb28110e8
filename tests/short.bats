#!/usr/bin/env bats
# A program that is short of descriptors, memory, threads or disk says what is short
# and what to do, and ends with a status of its own.

load helper

setup_file() {
  printf 'x = ones f32[2]\nprint x\n' >"$BATS_FILE_TMPDIR/p.gt"
}

@test "few open files: gt-route says how many it needs, or does its work" {
  skip_if_sanitized "it opens files of its own"
  local n
  for n in 4 5 6 8 10 12 14 16 18 20 22 24 28 32; do
    status=0
    (ulimit -n "$n" && within 60 gt-route -n 1 "$BATS_FILE_TMPDIR/p.gt") \
      >out 2>err || status=$?
    if ((status == 0)); then
      [[ $(<out) == 'x = tensor f32[2] 1 1' ]]
    else
      # Status 127 means that the loader of the program had too few files itself.
      ((status == 2 || status == 4 || status == 127))
      ((status == 127)) || [[ $(<err) == *"open files"* ]]
    fi
  done
  ((status == 0)) || { ulimit -n 64 && gt-route -n 1 "$BATS_FILE_TMPDIR/p.gt"; }
}

@test "few open files: many workers are refused before they start" {
  ulimit -n 40
  run -2 --separate-stderr within 60 gt-route -n 30 "$BATS_FILE_TMPDIR/p.gt"
  [[ $stderr == *"gt-route: it needs "*" more open files"*"ulimit -n"* ]]
}

@test "few open files: a worker that attaches says so" {
  ulimit -n 16
  run -2 --separate-stderr within 60 gt-work --timeout 1 --connect ipc:///tmp/no
  [[ $stderr == *"gt-work: it needs "*"open files"*"ulimit -n"* ]]
}

@test "no memory: each program says so" {
  skip_if_sanitized "it preloads a library of its own"
  local program
  for program in gt-emit gt-shard gt-check 'gt-work --threads 1' gt-log; do
    # shellcheck disable=SC2086
    run -2 --separate-stderr faults memory:1+:12 $program "$BATS_FILE_TMPDIR/p.gt"
    [[ $stderr == "${program%% *}: out of memory; "* ]]
  done
}

@test "no memory: an address space that is too small is no abort" {
  skip_if_sanitized "a shadow memory needs terabytes"
  local size status
  for size in 20000 50000 100000 150000 200000; do
    status=0
    (ulimit -v "$size" && within 60 gt-route -n 1 "$BATS_FILE_TMPDIR/p.gt") \
      >out 2>err || status=$?
    # 3: no memory is left for one line, which is refused.
    case $status in
      0 | 2 | 4 | 127) ;;
      3) grep -q 'out of memory' err ;;
      *) false ;;
    esac
    ((status == 0)) || [[ -s err ]]
    [[ $(<err) != *terminate* && $(<err) != *"signal 6"* ]]
  done
}

@test "no thread: the message says which limits to raise" {
  skip_if_sanitized "it preloads a library of its own"
  run -2 --separate-stderr faults thread:1:11 gt-log "$BATS_FILE_TMPDIR/p.gt"
  [[ $stderr == "gt-log: cannot start a thread; "*"ulimit -u"* ]]
  run -2 --separate-stderr faults thread:1+:11 gt-work "$BATS_FILE_TMPDIR/p.gt"
  [[ $stderr == "gt-work: cannot start a thread; "*"ulimit -u"* ]]
  run -2 --separate-stderr faults thread:1+:11:gt-route \
    gt-route -n 1 "$BATS_FILE_TMPDIR/p.gt"
  [[ $stderr == "gt-route: cannot start a thread; "*"ulimit -u"* ]]
}

@test "the next save into a directory removes what a killed save left" {
  need flock
  printf 'x = ones f32[2]\nsave x "m.npy"\n' >save.gt
  : >.m.npy.999999.0.gt-save
  : >.other.safetensors.1.7.gt-save
  : >.mine.gt
  : >.held.npy.1.0.gt-save
  exec 7<.held.npy.1.0.gt-save
  flock 7
  gt-work save.gt
  # A file that another program holds stays, and so does a file that is not of a
  # save.
  [[ ! -e .m.npy.999999.0.gt-save && ! -e .other.safetensors.1.7.gt-save ]]
  [[ -e .held.npy.1.0.gt-save && -e .mine.gt ]]
  exec 7<&-
  gt-work save.gt
  [[ ! -e .held.npy.1.0.gt-save ]]
}

@test "a save is on the disk before the file gets its name" {
  skip_if_sanitized "it preloads a library of its own"
  printf 'x = ones f32[2]\nsave x "m.npy"\n' >save.gt
  printf old >m.npy
  run -1 --separate-stderr faults sync:1:5 gt-work save.gt
  [[ $(<m.npy) == old && $stderr == *"m.npy: Input/output error"* ]]
  # The second sync is that of the directory, when the file has its name.
  run -1 --separate-stderr faults sync:2:5 gt-work save.gt
  [[ $(<m.npy) != old && $stderr == *"m.npy: Input/output error"* ]]
  run -0 faults sync:3:5 gt-work save.gt
  [[ -z $(find . -name '*.gt-save') ]]
}

@test "a save where the file system has no files without a name" {
  skip_if_sanitized "its own first opens are counted, and it cannot do without"
  printf 'x = ones f32[2]\nsave x "m.npy"\nsave x "m.safetensors:x"\n' >save.gt
  # EOPNOTSUPP, 95, fails each open in turn, and so also the one of such a file.
  local k left
  for k in $(seq 1 40); do
    rm -f m.npy m.safetensors
    status=0
    faults "open:$k:95" gt-work save.gt 2>err || status=$?
    ((status == 0 || status == 1 || status == 2))
    ((status == 0)) || [[ -s err ]]
    ((status != 0)) || [[ -s m.npy && -s m.safetensors ]]
    left=$(find . -name '*.gt-save')
    [[ -z $left ]]
  done
}

@test "the file of a socket is removed by its gt-route" {
  local endpoint=ipc://$PWD/socket
  spawn gt-work --connect "$endpoint" --timeout 60
  run -0 --separate-stderr within 60 gt-route --bind "$endpoint" --workers 1 \
    "$BATS_FILE_TMPDIR/p.gt"
  lines_are 'x = tensor f32[2] 1 1'
  [[ ! -e socket ]]
  run -4 --separate-stderr within 60 gt-route --bind "$endpoint" --workers 1 \
    --timeout 1 "$BATS_FILE_TMPDIR/p.gt"
  [[ ! -e socket ]]
}

@test "no random numbers: who needs them says so" {
  skip_if_sanitized "it preloads a library of its own"
  run -2 --separate-stderr faults random:1+:38 gt-key
  [ -z "$output" ]
  [ "$stderr" = 'gt-key: the system gives no random numbers (getrandom): Function not implemented' ]
  run -2 --separate-stderr faults random:1+:38:gt-route gt-route "$BATS_FILE_TMPDIR/p.gt"
  [[ $stderr == 'gt-route: the system gives no random numbers (getrandom): '* ]]
}

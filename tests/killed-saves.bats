#!/usr/bin/env bats
# The saves of a round are done all or not at all, even if the client that writes them
# is killed between two bytes of their lines.

load helper
load clients
load python

# rounds writes old.safetensors, and `program`, the lines by which a client saves the
# next round.
rounds() {
  python '
def state(value):
    return {"w": gt.full((3,), value), "b": gt.full((2, 2), value), "deep": {"w": gt.full((1,), value)}}
gt.save(state(1.0), "m.safetensors")
gt.record("program")
gt.save(state(2.0), "m.safetensors")'
  grep -c '^save ' program
  python 'print(gt.load("m.safetensors")["b"].tolist())
gt.save({"w": gt.full((3,), 1.0), "b": gt.full((2, 2), 1.0), "deep": {"w": gt.full((1,), 1.0)}}, "m.safetensors")'
}

cut_saves() {
  python3 "$GT_ROOT/tests/tools/cut_saves.py" program "$@"
}

@test "a client that is killed at any byte of its saves leaves a round whole" {
  run -0 rounds
  lines_are '4
[[2.0, 2.0], [2.0, 2.0]]'
  run -0 cut_saves m.safetensors 1 bash -c 'gt-emit | gt-work'
  [[ $output == *"'after': "[1-9]* ]]
  run -0 cut_saves m.safetensors 23 bash -c 'gt-emit | gt-shard | gt-route -n 2'
}

@test "a client of a server that is killed at any byte of its saves leaves a round whole" {
  rounds
  mkdir files
  serve 2 --files files
  mkdir -p "files/$(id -un)"
  mv m.safetensors "files/$(id -un)"
  run -0 cut_saves "files/$(id -un)/m.safetensors" 19 gt-emit --to "$at"
  # The program that takes its lines dies with it.
  local i size kept
  kept=files/$(id -un)/m.safetensors
  cp "$kept" before
  size=$(grep -bo '#saves end' program | cut -d : -f 1)
  for i in 1 2 3; do
    mkfifo "in$i"
    gt-emit --to "$at" <"in$i" >/dev/null 2>&1 3>&- &
    local client=$!
    exec 5>"in$i"
    head -c $((size - 40 * i)) program >&5
    sleep 0.3
    kill -KILL "$client"
    exec 5>&-
    wait "$client" || true
    sleep 0.3
    cmp before "$kept"
  done
}

@test "Python that is killed among its saves leaves a round whole" {
  local i
  python '
gt.save({str(i): gt.full((1000,), 0.0) for i in range(40)}, "m.safetensors")'
  for i in 1 2 3; do
    spawn /usr/bin/env PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -c '
import gt
n = 0.0
while True:
    n += 1
    gt.save({str(i): gt.full((1000,), n) for i in range(40)}, "m.safetensors")'
    sleep "1.$((i * 37 % 10))"
    kill -KILL $!
    wait $! || true
    sleep 0.2
    run -0 python '
state = gt.load("m.safetensors")
print(len({state[str(i)][0].item() for i in range(40)}))'
    [ "$output" = 1 ]
  done
}

@test "gt-emit keeps back the saves of a group, and drops those of one that is not whole" {
  printf '%s\n' 'x = ones f32[2]' '#saves begin' 'save x "m.safetensors:x"' 'y = add x 1' \
    'save y "m.safetensors:y"' '#saves end' 'print y' >p.gt
  run -0 bash -c "gt-emit --no-at p.gt | grep -v '^#gt\|^#end'"
  [ "$output" = "$(cat p.gt)" ]
  # A result, another group, a save that is refused, and the end.
  printf '%s\n' 'x = ones f32[2]' '#saves begin' 'save x "m.safetensors:x"' 'y = add x 1' 'print y' \
    'save y "m.safetensors:y"' >q.gt
  run -3 --separate-stderr bash -o pipefail -c 'gt-emit q.gt | gt-work'
  lines_are 'y = tensor f32[2] 2 2'
  [ "$(grep -c "q.gt:2: a result was asked for before '#saves end': none of the saves" <<<"$stderr")" = 1 ]
  [ "$(gt-emit q.gt 2>/dev/null | grep -c '^save')" = 0 ]
  printf '%s\n' 'x = ones f32[2]' '#saves begin' 'save x "m.safetensors:x"' 'save z "m.safetensors:' \
    'save x "m.safetensors:z"' '#saves end' 'print x' >r.gt
  run -3 --separate-stderr gt-emit r.gt
  [[ $stderr == *'r.gt:2: one of its saves was refused: none'* ]]
  printf '%s\n' 'x = ones f32[2]' '#saves begin' 'save x "m.safetensors:x"' 'z = ones f32[1]' >s.gt
  run -3 --separate-stderr bash -o pipefail -c 'gt-emit s.gt | gt-work'
  [[ $stderr == *"s.gt:2: the program ended before '#saves end': none of the saves from here"* ]]
  [ ! -e m.safetensors ]
  # The lines that end a shell's pipeline are saved as ever.
  printf '%s\n' 'x = ones f32[2]' 'save x "m.safetensors:x"' | gt-emit | gt-work
  [ -s m.safetensors ]
}

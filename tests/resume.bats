#!/usr/bin/env bats
# A run that goes on from what another one saved computes what a single run does.
load helper

# train COMMAND... passes two trainings of a small model with dropout through
# COMMAND: `whole` is ten rounds in one run, and `resumed` is five, a save, and five
# more.
train() {
  {
    echo 'w = randn f32[4,3] 102 scale=0.3 #signal=col'
    printf '%s = zeros f32[4,3]\n' m v
    echo 'n = tensor i64[] 0'
  } >init.gt
  printf '%s\n' 'x = randn f32[8,4] 100 #signal=batch' 't = randn f32[8,3] 101' >data.gt
  printf '%s\n' 'h = dropout x 0.3' 'y = matmul h w' 'l = mse y t' 'n = add n 1' 'g = grad l w' \
    'w m v = adamw w g m v n 0.01' 'print l' >step.gt
  for name in w m v n _eseed; do
    echo "save $name \"run.safetensors:${name#_}\"" >>save.gt
    echo "$name = load \"run.safetensors:${name#_}\" #signal=col" >>load.gt
  done
  sed -i '/^[n_]/s/ #signal=col//' load.gt
  local end=(-e 'print w' -e 'print _eseed')
  gt-emit --seed 5 data.gt init.gt --repeat 10 step.gt "${end[@]}" >whole.s
  gt-emit --seed 5 data.gt init.gt --repeat 5 step.gt save.gt >first.s
  "$@" <whole.s | gt-work >whole
  "$@" <first.s | gt-work >resumed
  gt-emit data.gt load.gt --repeat 5 step.gt "${end[@]}" >second.s
  "$@" <second.s | gt-work >>resumed
  grep -q '^_eseed = tensor i64\[\] 15$' whole
  cmp whole resumed
}

@test "training with dropout in two runs is training in one, to the bit" {
  train cat
  # This holds because the seed register went on; without its saved value it does
  # not hold.
  gt-emit data.gt <(grep -v _eseed load.gt) --repeat 5 step.gt | gt-work >other
  run ! cmp -s <(tail -n +6 whole | head -n 5) other
}

@test "training in two runs is training in one when gt-shard has placed both" {
  printf '%s\n' 'mesh: {dp: 2, tp: 2}' 'signals:' '  batch: {shard: {dp: 0}}' \
    '  col: {shard: {tp: 1}}' >p.yaml
  train gt-shard -c p.yaml
  gt-shard -c p.yaml <second.s | gt-check -q
}

@test "a program that was placed by hand resumes its seeds" {
  printf '%s\n' 'x@0-1 = rand f32[2]' 'print x@0' >step.gt
  gt-emit --repeat 4 step.gt | gt-work >whole
  gt-emit --repeat 2 step.gt -e 'save _eseed@0 "seed.npy"' | gt-work >resumed
  # The seeds go on even if the second half runs on more ranks.
  sed -i 's/0-1/0-3/' step.gt
  gt-emit -e '_eseed@0-3 = load "seed.npy"' --repeat 2 step.gt | gt-work >>resumed
  cmp whole resumed
}

@test "a printed seed register is a line that a program can begin with" {
  printf '%s\n' 'x = rand f32[2]' 'print x' >step.gt
  gt-emit --repeat 4 step.gt | gt-work >whole
  gt-emit --repeat 2 step.gt -e 'print _eseed' | gt-work >first
  gt-emit <(tail -n 1 first) --repeat 2 step.gt | gt-work | cat <(head -n 2 first) - | cmp - whole
  # Before any use the register is what --seed says.
  run -0 gt-work <(gt-emit --seed 7 -e 'print _eseed')
  [[ $output == '_eseed = tensor i64[] 7' ]]
}

@test "the seed register is a count, the same on all of its ranks" {
  run -3 gt-emit -e '_eseed = tensor i32[] 1'
  [[ $output == *'_eseed counts the seeds that are left out, and is an i64[], not i32[]'* ]]
  run -3 gt-emit -e 'x@0-3 = rand f32[1]' -e '_eseed@0 = tensor i64[] 1'
  [[ $output == *'_eseed@1-3 would count from another number; bind these ranks too'* ]]
  # If loading the register fails, random numbers fail; they are not those of
  # another seed.
  run -3 gt-emit -e '_eseed = load "missing.npy"' -e 'x = rand f32[1]' -e 'print x'
  [[ $output == *'x = fail "-e:1: load: missing.npy'* ]]
  # No other name that belongs to a filter may be bound by a program.
  run -3 gt-emit -e '_e0 = tensor i64[] 1'
  run -3 gt-emit -e 'x = ones f32[]' -e 'print x as=_e0'
}

@test "a stream that names the seed register is gt-emit's own output" {
  for line in 'print _eseed' '_eseed = tensor i64[] 7' '_eseed = fail "no"' 'free _eseed' \
    'print _eseed@0' '_eseed@0-1 = tensor i64[] 4' 'free _eseed@0-1' 's = copy _eseed'; do
    printf '%s\n' 'x = ones f32[2]' 'y@0-1 = rand f32[1]' 'z = dropout x 0.5' "$line" \
      'z = dropout x 0.5' 'y@0-1 = rand f32[1]' 'l = sum z' 'g = grad l x' 'print g' >p.gt
    gt-emit --no-at p.gt >p.s
    gt-emit p.s | cmp - p.s
    # No alias of the register is left.
    run -0 awk '$2 == "=" && $1 ~ /^_e[0-9]/ { n++ } $1 == "free" { n -= NF - 1 }
      $0 == "free _eseed" || $0 == "free _eseed@0-1" { n++ } END { print n + 0 }' p.s
    [[ $output == 0 ]]
  done
}

@test "after a save that failed, a load of its file fails and does not give what was there before" {
  printf 'mesh: {tp: 2}\n' >m.yaml
  gt-work <<<'x@0-1 = tensor i64[] 5
save x@0-1 "f.npy"
x = tensor i64[] 5
save x "f.npy"'
  local program
  for program in $'save nosuch "f.npy"\ny = load "f.npy" i64[]\nprint y' \
    $'z = mod 1 0\nsave z "f.npy"\ny = load "f.npy" i64[]\nprint y' \
    $'save nosuch@0-1 "f.npy"\ny@0 = load "f@1.npy" i64[]\nprint y@0' \
    $'z@0-1 = mod 1 0\nsave z@0-1 "f.npy"\ny@1 = load "f@0.npy" i64[]\nprint y@1' \
    $'mesh tp=2\nz@0-1 = mod 1 0\nsave z@0-1 "f.npy" split=tp:0\ny@1 = load "f.npy" i64[]\nprint y@1'; do
    echo "$program" >p.gt
    { gt-work p.gt || true; gt-emit p.gt | gt-work || true; gt-emit p.gt | gt-route -n 2 || true; \
      gt-emit p.gt | gt-shard -c m.yaml | gt-route -n 2 || true; } >out 2>err
    [ "$(grep -c '^y.* = fail "p.gt:[0-9]*: load: f.*npy was not saved: p.gt:[0-9]*: ' out)" = 4 ]
  done
}

@test "gt-shard passes on the save of a line that it rejects" {
  printf 'mesh: {tp: 2}\n' >m.yaml
  run -3 --separate-stderr gt-shard -c m.yaml <<<'save nosuch "f.npy"'
  [[ $output == *$'_sfail = fail "gt-shard: save: unknown name \'nosuch\'"\nsave _sfail "f.npy"\nfree _sfail'* ]]
}

@test "seeds that are left out differ after one of their registers was freed" {
  # The register without ranks and the one with ranks never count in the same range.
  printf '%s\n' 'a = rand f32[4]' 'b@0 = rand f32[4]' 'free _eseed' 'c = rand f32[4]' \
    'free _eseed@0' 'd@0 = rand f32[4]' >p.gt
  gt-emit p.gt | sed -n 's/^_eseed\(@0\)* = tensor i64\[\] //p' >firsts
  printf '%s\n' 0 4611686018427387904 0 4611686018427387904 | cmp - firsts
  printf '%s\n' 'b@0 = rand f32[4]' 'a = rand f32[4]' 'free _eseed@0' 'b@0 = rand f32[4]' >p.gt
  gt-emit p.gt | sed -n 's/^_eseed\(@0\)* = tensor i64\[\] //p' >firsts
  printf '%s\n' 0 4611686018427387904 0 | cmp - firsts
}

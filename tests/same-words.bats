#!/usr/bin/env bats
# A fault gets the same words, place and caret from every program that finds it.

load helper

prelude='a = tensor f32[2,2] 1 2 3 4
c = ones f32[3,5]
p@0-1 = ones f32[2,2]
q@0-1 = ones f32[3,5]'

# words_of PROGRAM LINE prints the program's message for the prelude and the line,
# without the program's name, gt-check's "[rule]", and what follows the caret.
# gt-check passes lines without ranks unless there is a mesh, and gt-shard unless
# there is a config, so they get one.
words_of() {
  local program=$1 line=$2
  printf '%s\n%s\n' "$prelude" "$line" >t.gt
  echo 'mesh tp=2' >mesh.gt
  echo 'mesh: {tp: 2}' >mesh.yaml
  case $program in
    gt-route) $program -n 1 t.gt ;;
    gt-shard) $program -c mesh.yaml t.gt ;;
    gt-check) $program mesh.gt t.gt ;;
    *) $program t.gt ;;
  esac 2>&1 >/dev/null | sed -n "1,3s/^$program: //; 1s/ \[[a-z-]*\]\$//; 1,3p"
}

@test "gt-emit, gt-check, gt-route and gt-work say the same of a placed line" {
  local line wanted program
  while IFS= read -r line; do
    wanted=$(words_of gt-emit "$line")
    [[ $wanted == t.gt:5:*$'\n  '"$line"$'\n'*^ ]]
    for program in gt-check gt-route gt-work; do
      diff <(echo "$wanted") <(words_of $program "$line")
    done
  done <<'END'
y@0-1 = mul pp@0-1 2
y@0-1 = mul zzz@0-1 2
y@0-1 = all_reduce a@0-1
y@0 = copy nosuch@1
print p@0-3
print a@0
free p@1-2
y@0-2 = add p@0-1 p@0-1
y@0-1 = add p@0-1 q@0-1
y@0-1 = matmul p@0-1 q@0-1
y@0-1 = add p@0-1 a
y@0-1 = frob p@0-1
y@0-1 = sum p@0-1 axsi=0
y@0-1 = add p@0-1
END
}

@test "all five say the same of a line without ranks" {
  local line wanted program
  while IFS= read -r line; do
    wanted=$(words_of gt-emit "$line")
    [[ $wanted == t.gt:5:*$'\n  '"$line"$'\n'*^ ]]
    for program in gt-check gt-shard gt-route gt-work; do
      diff <(echo "$wanted") <(words_of $program "$line")
    done
  done <<'END'
y = add a nosuch
y = add a c
y = relu
y = sum a axis=5
y = gather a a
y = tensor f32[2] 1
y = cat a a
END
}

# gt-shard passes lines with ranks unchanged and does not follow their names.
@test "all but gt-shard know that a name is only on ranks" {
  local line='y = add a p' wanted program
  wanted=$(words_of gt-emit "$line")
  [[ $wanted == "t.gt:5: add: 'p' is on ranks alone; it lives on p@0-1"$'\n'* ]]
  for program in gt-check gt-route gt-work; do
    diff <(echo "$wanted") <(words_of $program "$line")
  done
  [[ $(words_of gt-shard "$line") == "t.gt:5: add: unknown name 'p'"$'\n'* ]]
}

@test "all five say the same of a line that cannot be parsed" {
  local line wanted program
  while IFS= read -r line; do
    wanted=$(words_of gt-emit "$line")
    [[ $wanted == t.gt:5:*$'\n  '"$line"$'\n'*^ ]]
    for program in gt-check gt-shard gt-route gt-work; do
      diff <(echo "$wanted") <(words_of $program "$line")
    done
  done <<'END'
y = add a 1e
y@1-0 = add p@1-0 p@1-0
= add a a
y =
y = zeros [2]
mesh dp=2 dp=3
END
}

@test "the fix that gt-check offers is a line that can be pasted" {
  cat >t.gt <<'END'
mesh tp=2
x@0-1 = ones f32[4,6] split=tp:1
w@0-1 = ones f32[6,2] split=tp:0
y@0-1 = matmul x@0-1 w@0-1
END
  echo 'z@0-1 = relu y@0-1' >bad.gt
  run -1 gt-check -q t.gt bad.gt
  sed -n 's/^  fix: //p' <<<"$output" | head -1 >fix.gt
  [ -s fix.gt ]
  sed 's/y@/y1@/' bad.gt >good.gt
  gt-check -q t.gt fix.gt good.gt
}

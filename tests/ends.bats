#!/usr/bin/env bats
# The two ends of conversions: which pairs of src= and dst= the ops convert,
# reinterpret and redistribute take, and what they make of the pieces.

load helper

ends=(R I V P S0 S1)

# operand END prints lines that make x@0-1, pieces f32[2,2], of that type on tp.
operand() {
  case $1 in
    R) echo 'x@0-1 = arange f32[4]' ;;
    I) echo 'x@0-1 = arange f32[4] #type=tp:I' ;;
    P)
      echo 'x@0-1 = arange f32[4]'
      echo 'x@0-1 = convert x@0-1 over=tp src=R dst=P'
      ;;
    *) echo 'x@0-1 = arange f32[8] split=tp:0' ;;
  esac
  echo 'x@0-1 = reshape x@0-1 shape=2,2 #local'
}

# grid OP KEYS prints a program with a line for each pair, whose result is named
# SRC_DST.
grid() {
  local src dst
  echo 'mesh tp=2'
  for src in "${ends[@]}"; do
    for dst in "${ends[@]}"; do
      operand "$src"
      echo "${src}_$dst@0-1 = $1 x@0-1 over=tp src=$src dst=$dst$2 #local"
    done
  done
}

# table reads names of pairs and prints a row for each src: 1 for each named dst,
# else 0.
table() {
  local named src dst row
  named=" $(tr '\n' ' ') "
  for src in "${ends[@]}"; do
    row=
    for dst in "${ends[@]}"; do
      [[ $named == *" ${src}_$dst "* ]] && row+=1 || row+=0
    done
    echo "$row"
  done
}

# takes OP KEYS EXPECTED checks which pairs gt-check finds nothing wrong with,
# gt-emit lets through and gt-work computes; the three must agree.
takes() {
  local pair='[RIVPS][01]*_[RIVPS][01]*'
  grid "$1" "$2" >grid.gt
  gt-check -l grid.gt 2>/dev/null >typed.gt || true
  grep -oE "^$pair@0-1 .*#type=" typed.gt | sed 's/@.*//' | table >checked
  gt-emit --no-at grid.gt 2>/dev/null >emitted.gt || true
  grep -E " = $1 x" emitted.gt | grep -oE "^$pair" | table >emitted
  sed -E "s/^($pair)@.*/&\nprint \1@1 as=\1/" grid.gt >printed.gt
  gt-work printed.gt 2>/dev/null >results || true
  [ "$(wc -l <results)" -eq 36 ]
  grep -E ' = tensor ' results | grep -oE "^$pair" | table >worked
  diff - checked <<<"$3"
  diff - emitted <<<"$3"
  diff - worked <<<"$3"
}

@test "convert takes what needs no communication, and ends that are one type" {
  takes convert '' '101111
111011
001011
000100
001010
001001'
  takes convert ' expert=1' '111111
111111
001111
000100
001110
001101'
}

@test "reinterpret keeps the bits of every pair that it takes" {
  takes reinterpret '' '100000
011100
001111
000100
001010
001001'
  takes reinterpret ' expert=1' '111100
111100
001111
000100
001010
001001'
  # On rank 1 a type whose pieces are alike (R, I) has 0 to 3, and V and S have 4 to
  # 7; P stays P with zeros.
  run grep ' = tensor ' results
  for line in "${lines[@]}"; do
    case $line in
      [RI]_*) [[ $line == *' 0 1 2 3' ]] ;;
      [VS]*) [[ $line == *' 4 5 6 7' ]] ;;
      P_P*) [[ $line == *' 0 0 0 0' ]] ;;
    esac
  done
}

@test "redistribute goes from every end to every other" {
  takes redistribute '' '111111
111111
111111
111111
111111
111111'
}

@test "ends that are one type, and V and a dimension, leave pieces and sums" {
  {
    echo 'mesh tp=2'
    for op in convert reinterpret redistribute; do
      for pair in S0:S0 S0:S-2 S0:V V:S0 V:V; do
        echo 's@0-1 = arange f32[4] split=tp:0'
        echo 's@0-1 = reshape s@0-1 shape=4,1 split=tp:0'
        echo "y@0-1 = $op s@0-1 over=tp src=${pair%:*} dst=${pair#*:}"
        echo 'print y@0-1 split=tp:0'
      done
      echo 'p@0-1 = sum s@0-1'
      echo "p@0-1 = $op p@0-1 over=tp src=P dst=P"
      echo "p@0-1 = all_reduce p@0-1 over=tp"
      echo "p@0-1 = $op p@0-1 over=tp src=R dst=R"
      echo 'print p@1 as=p'
    done
  } >kept.gt
  gt-emit --no-at kept.gt >emitted.gt
  gt-check emitted.gt >typed.gt
  [ "$(grep -cE '^y@.*#type=tp:S0$' typed.gt)" -eq 15 ]
  gt-work emitted.gt | sort | uniq -c | sed 's/^ *//' >results
  diff - results <<'END'
3 p = tensor f32[] 6
15 y = tensor f32[4,1] 0 1 2 3
END
  # gt-shard passes placed lines unchanged, and so does a second gt-emit.
  gt-shard -c "$GT_ROOT/configs/tensor-parallel.yaml" emitted.gt | diff emitted.gt -
  gt-emit emitted.gt | diff emitted.gt -
}

@test "V is given a dimension by convert, not the wrong one" {
  cat >named.gt <<'END'
mesh tp=2
x@0-1 = arange f32[4] split=tp:0
v@0-1 = reshape x@0-1 shape=2,1 #local
s@0-1 = convert v@0-1 over=tp src=V dst=S1
y@0-1 = add s@0-1 s@0-1
print y@0-1 split=tp:1
END
  gt-check named.gt | grep -E '^y@.*#type=tp:S1'
  run gt-work named.gt
  [ "$output" = 'y = tensor f32[2,2] 0 4 2 6' ]
  run -1 --separate-stderr gt-check -q <<'END'
mesh tp=2
x@0-1 = arange f32[4] split=tp:0
y@0-1 = convert x@0-1 over=tp src=S0 dst=R
END
  [[ $stderr == *'src=S0 dst=R: use all_gather [undefined]'* ]]
}

@test "gt-check and gt-work report the ends that an op does not take in the same words" {
  printf '%s\n' 'mesh tp=2' 'x@0-1 = ones f32[2]' \
    'y@0-1 = all_to_all x@0-1 over=tp src=V dst=R' >foreign.gt
  run -1 --separate-stderr gt-check -lq foreign.gt
  [[ $stderr == *'all_to_all connects V to V, or Si to Sj [src-dst]'* ]]
  run -3 --separate-stderr gt-work foreign.gt
  [[ $stderr == *'src=V dst=R: takes V to V, or Si to Sj'* ]]
}

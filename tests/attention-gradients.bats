#!/usr/bin/env bats
# Attention with a mask of floats, cut into pieces over ranks: its gradient passes
# gt-check and equals the gradient of the uncut attention.
load helper

# Prints a program placed on ranks 0 to RANKS-1, followed by lines that print each
# gradient whole: shards are gathered, and copies that hold summands are added up.
placed() { # RANKS Q K MASK QSPLIT KSPLIT MASKSPLIT KEYS
  local ranks=@0-$(($1 - 1)) name type split
  printf '%s\n' "mesh tp=$1" "q$ranks = randn $2 1 $5" "k$ranks = randn $3 2 $6" \
    "v$ranks = randn $3 3 $6" "m$ranks = randn $4 4 $7" \
    "o$ranks = attention q$ranks k$ranks v$ranks m$ranks $8" "h$ranks = mul o$ranks o$ranks" \
    "l$ranks = sum h$ranks" \
    "gq$ranks gk$ranks gv$ranks gm$ranks = grad l$ranks q$ranks k$ranks v$ranks m$ranks"
  while read -r name type split; do
    if [ -n "$split" ]; then
      type=${type#*[}
      echo "print $name$ranks $split shape=${type%]}"
    else
      printf '%s\n' "w$name$ranks = all_reduce $name$ranks over=tp" "print w$name@0 as=$name"
    fi
  done <<<"gq $2 $5
gk $3 $6
gv $3 $6
gm $4 $7"
}

# Prints the same program without ranks.
whole() { # RANKS Q K MASK QSPLIT KSPLIT MASKSPLIT KEYS
  placed "$1" "$2" "$3" "$4" "" "" "" "$8" |
    sed -E '/^mesh|all_reduce/d; s/@0-[0-9]//g; s/ (split|shape)=[^ ]*//g; s/^print w(g.).*/print \1/'
}

same() { # RANKS Q K MASK QSPLIT KSPLIT MASKSPLIT KEYS
  placed "$@" | gt-emit >p.s
  gt-check -q p.s
  gt-emit p.s | cmp - p.s
  gt-work p.s >parts.out
  whole "$@" | gt-emit | gt-work >whole.out
  "$GT_ROOT/scripts/gt-cmp" --atol 1e-5 whole.out parts.out
}

# Checks an attention of 6 heads over 2 and over 3 ranks. The heads have a dimension
# of their own in some lines and are given by heads=6 in others. With enable_gqa=1,
# two or three heads of q share one head of k and v.
each() { # KEYS
  local n rows flat q="f32[6,6,7,8]" m="f32[6,6,7,7]" f="f32[6,7,48]" gqa=enable_gqa=1
  for n in 2 3; do
    rows="" flat=""
    if [ -n "$1" ]; then
      rows="split=tp:2 shape=6,6,7,8"
      flat="split=tp:1 shape=6,7,48"
    fi
    # The batch is cut.
    same "$n" "$q" "$q" "$m" "split=tp:0" "split=tp:0" "split=tp:0" "$1"
    same "$n" "$q" "f32[6,3,7,8]" "$m" "split=tp:0" "split=tp:0" "split=tp:0" "$1 $gqa"
    same "$n" "$f" "$f" "$m" "split=tp:0" "split=tp:0" "split=tp:0" "$1 heads=6"
    same "$n" "$f" "f32[6,7,24]" "$m" "split=tp:0" "split=tp:0" "split=tp:0" "$1 heads=6 $gqa"
    # The rows of q are cut.
    same "$n" "$q" "$q" "$m" "split=tp:2" "" "split=tp:2" "$1 $rows"
    same "$n" "$q" "$q" "f32[7,7]" "split=tp:2" "" "split=tp:0" "$1 $rows"
    same "$n" "$q" "f32[6,3,7,8]" "$m" "split=tp:2" "" "split=tp:2" "$1 $gqa $rows"
    same "$n" "$f" "$f" "$m" "split=tp:1" "" "split=tp:2" "$1 heads=6 $flat"
    same "$n" "$f" "f32[6,7,24]" "$m" "split=tp:1" "" "split=tp:2" "$1 heads=6 $gqa $flat"
    # The heads are cut.
    same "$n" "$q" "$q" "$m" "split=tp:1" "split=tp:1" "split=tp:1" "$1"
    same "$n" "$q" "$q" "f32[6,1,7,7]" "split=tp:1" "split=tp:1" "" "$1"
    same "$n" "$q" "f32[6,3,7,8]" "$m" "split=tp:1*2" "split=tp:1" "split=tp:1*2" "$1 $gqa"
    flat="split=tp:2*8 shape=6,7,48"
    same "$n" "$f" "$f" "$m" "split=tp:2*8" "split=tp:2*8" "split=tp:1" "$1 heads=6 $flat"
    same "$n" "$f" "$f" "f32[7,7]" "split=tp:2*8" "split=tp:2*8" "" "$1 heads=6 $flat"
    flat="split=tp:2*16 shape=6,7,48"
    same "$n" "$f" "f32[6,7,24]" "$m" "split=tp:2*16" "split=tp:2*8" "split=tp:1*2" "$1 heads=6 $gqa $flat"
  done
}

@test "the gradient of a mask of floats is clean however its attention is cut" {
  each ""
}

@test "the gradient of a mask of floats is clean however its causal attention is cut" {
  each causal=1
}

@test "enable_gqa=1 works where the keys lack the batch dimension" {
  placed 2 "f32[6,7,48]" "f32[7,24]" "f32[7,7]" "split=tp:0" "" "" "heads=6 enable_gqa=1" | gt-emit >p.s
  gt-work p.s >parts.out
  whole 2 "f32[6,7,48]" "f32[7,24]" "f32[7,7]" "" "" "" "heads=6 enable_gqa=1" | gt-emit | gt-work >whole.out
  "$GT_ROOT/scripts/gt-cmp" --atol 1e-5 whole.out parts.out
}

# shellcheck shell=bash
# The programs that scripts/test-gpu makes; it sources this file after gpu.sh.

# Prints a program for each line of tests/ops.tsv that gt-emit can derive: random
# operands, and the gradient of the sum of the first result by all operands that are
# floats.
gradient_program() {
  awk -F '\t' -v only="$1" '
    function type(text) {
      gsub(/\$T|\$L/, "f64", text)
      gsub(/\$M/, 5, text); gsub(/\$N/, 3, text); gsub(/\$K/, 4, text)
      return text
    }
    /^#/ || ($3 !~ /float|number|all|f64/) { next }
    {
      n = split($1, word, " ")
      for (op = 1; word[op] != "="; op++) ;
      # With random operands, second derivatives are mostly rounding errors.
      if (word[op + 1] ~ /_grad$/) next
      if (only != "" && only !~ ("(^| )" word[op + 1] "( |$)")) next
      row++
      line = type($1); by = ""
      # Each row has names of its own.
      m = $2 == "-" ? 0 : split(type($2), operand, " ")
      for (i = 1; i < m; i += 2) {
        name = operand[i]; t = operand[i + 1]; bound = ""
        if (match(t, /[<>].*$/)) {
          bound = substr(t, RSTART); t = substr(t, 1, RSTART - 1)
        }
        is_float = t ~ /^f64/
        new = name row
        if (is_float && bound == "") print new " = randn " t " " row
        else if (is_float) {
          print new " = rand " t " " row
          print new " = mul " new " 0.8\n" new " = add " new " 0.1"
        } else if (t ~ /^bool/) {
          shape = substr(t, 5)
          print new " = rand f32" shape " " row "\n" new " = gt " new " 0.5"
        } else {
          dtype = t; sub(/\[.*/, "", dtype); shape = substr(t, index(t, "["))
          most = bound ~ /^</ ? substr(bound, 2) : 2
          print new " = rand f32" shape " " row "\n" new " = mul " new " " most
          if (bound !~ /^</) print new " = add " new " 1"
          print new " = cast " new " " dtype
        }
        if (is_float) by = by " " new
        line = rename(line, name, new)
      }
      if (by == "") next
      first = word[1]
      for (i = 1; i < op; i++) line = rename(line, word[i], "r" i "." row)
      print line
      print "l" row " = sum r1." row
      gradients = ""
      k = split(by, names, " ")
      for (i = 1; i <= k; i++) gradients = gradients "g" i "." row " "
      print gradients "= grad l" row by
      for (i = 1; i <= k; i++) print "print g" i "." row
    }
    # Replaces each whole word `from` of the line by `to`.
    function rename(line, from, to,    n, words, i, out) {
      n = split(line, words, " ")
      for (i = 1; i <= n; i++) {
        out = out (i > 1 ? " " : "") (words[i] == from ? to : words[i])
      }
      return out
    }' "$gt_root/tests/ops.tsv"
}

# attention_program DTYPE prints attentions with heads in each row, with heads that
# share those of k and v, with heads before the rows, and over the last rows of a
# whole. It prints the results and, except for the last rows, the gradients of the
# sum of their squares.
attention_program() {
  local dtype=$1 n=0 rows columns depth width wide
  rows=$(size 72 5) columns=$(size 136 9) depth=$(size 64 8) width=$(size 32 8)
  wide=$((4 * depth))
  # one KEYS Q K V prints one attention.
  one() {
    n=$((n + 1))
    printf '%s = randn %s[%s] %d\n' "q$n" "$dtype" "$2" "$((3 * n))" \
      "k$n" "$dtype" "$3" "$((3 * n + 1))" "v$n" "$dtype" "$4" "$((3 * n + 2))"
    echo "o$n l$n = attention q$n k$n v$n $1"
    printf 'print %s\n' "o$n" "l$n"
    [[ $1 != *part=* ]] || return 0
    printf '%s\n' "s = mul o$n o$n" 's = sum s' \
      "dq$n dk$n dv$n = grad s q$n k$n v$n"
    printf 'print %s\n' "dq$n" "dk$n" "dv$n"
  }
  local causal
  for causal in 0 1; do
    one "causal=$causal heads=4" "2,$columns,$wide" "2,$columns,$wide" \
      "2,$columns,$wide"
    one "causal=$causal heads=4 enable_gqa=1" "2,$columns,$wide" \
      "2,$columns,$((wide / 2))" "2,$columns,$((wide / 2))"
    one "causal=$causal scale=0.2" "2,3,$rows,$depth" "2,3,$columns,$depth" \
      "2,3,$columns,$width"
  done
  one "causal=1 heads=4 part=0,$((columns - rows)),0/2,$columns,$wide" \
    "2,$rows,$wide" "2,$columns,$wide" "2,$columns,$wide"
}

# make_exchanges writes exchanges.s, a program with ranks whose workers exchange
# values.
make_exchanges() {
  cat >exchanges.s <<'END'
mesh d=4
x@0-3 = randn f32[8,8] 1 split=d:0
y@0-3 = all_gather x@0-3 over=d src=S0
z@0-3 = mul x@0-3 2
s@0-3 = sum z@0-3 axis=0
s@0-3 = all_reduce s@0-3 over=d
t@0-3 = all_to_all x@0-3 over=d src=S0 dst=S1
g@0-3 = randn f32[80,200] 2
r@0-3 = reduce_scatter g@0-3 over=d dst=S1
c@1 = copy s@0
print y@3
print s@0-3
print t@0-3 split=d:1
print r@0-3 split=d:1
print c@1
END
}

# random_program SEED prints 30 lines over f64 matrices whose values stay small, and
# the gradients of their mean.
random_program() {
  awk -v seed="$1" 'BEGIN {
    srand(seed)
    n = split("neg tanh relu sigmoid silu gelu softplus abs softmax", one, " ")
    m = split("add sub mul maximum minimum", two, " ")
    rows = 1 + int(40 * rand()); columns = 1 + int(40 * rand())
    type = "f64[" rows "," columns "]"
    for (i = 0; i < 3; i++) print "x" i " = randn " type " " seed + i
    print "w = randn f64[" columns "," columns "] 9 scale=0.2"
    for (i = 3; i < 33; i++) {
      a = "x" int(i * rand()); b = "x" int(i * rand()); r = rand()
      if (r < 0.4) line = one[1 + int(n * rand())] " " a
      else if (r < 0.7) line = two[1 + int(m * rand())] " " a " " b
      else if (r < 0.8) line = "matmul " a " w"
      else if (r < 0.85) {
        print "s = mean " a " axis=0"
        line = "sub " b " s"
      } else if (r < 0.9) {
        print "c = gt " a " " b
        line = "where c " b " " a
      } else if (r < 0.95) line = "cumsum " a " axis=1"
      else line = "layer_norm " a
      print "x" i " = " line
      if (i % 4 == 0) print "x" i " = tanh x" i
    }
    print "h = matmul x32 w\nh = tanh h\nl = mean h"
    print "print x32\nprint x20"
    print "g = grad l w\nprint g"
  }'
}

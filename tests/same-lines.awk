# Writes what a stream computes, without the names of its registers. Each value has
# the number of the line that made it, and a copy has the number of its original. So
# two streams that compute the same in the same order give the same text. Frees and
# notes other than #signal are left out. Numbers are rounded to 4 digits, since some
# writers give fewer digits than others.
/^#/ || /^free / || NF == 0 { next }
{
  signal = match($0, / #signal=[^ ]*/) ? substr($0, RSTART, RLENGTH) : ""
  sub(/ #.*/, "")
  results = 0
  for (i = 2; i <= NF && $i != "="; i++) {}
  if (i <= NF) results = i - 1
  first = results ? results + 2 : 1
  if ($first == "copy") {
    number[$1] = number[$(first + 1)]
    next
  }
  out = $first
  for (i = first + 1; i <= NF; i++) {
    word = $i
    if (word in number) word = "%" number[word]
    else if (word ~ /^as=/) continue
    else if (match(word, /^([a-z_0-9]+=)?-?[0-9.]+(e-?[0-9]+)?$/)) {
      key = index(word, "=") ? substr(word, 1, index(word, "=")) : ""
      word = key sprintf("%.4g", substr(word, length(key) + 1))
    }
    out = out " " word
  }
  for (i = 1; i <= results; i++) number[$i] = ++made
  print out signal
}

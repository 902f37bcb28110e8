#!/usr/bin/env bats
# The backend cuda does consecutive point-wise lines in one launch, a chain; here
# the fake device (tests/cuda/fake) plays the GPU. With --sync each line is waited
# for and so is a launch of its own: the results must have the same bits.

load helper

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  use_fake_device
}

# calls_of REPORT prints how often the driver was called, as the fake device counts.
calls_of() {
  sed -n 's/^calls \([0-9]*\) .*/\1/p' "$1"
}

# A chain that was put off begins as soon as the device has nothing to do. So it is one
# that does nothing until it is waited for, whatever else the machine does.
busy=(env GT_FAKE_BUSY=1)
# Where a trace is written, events must be reached meanwhile.
paced=(env GT_FAKE_PACE=100)

# compiled COMMAND... repeats it until a run makes no new kernel.
compiled() {
  local before=-1 now=0
  while ((now != before)); do
    before=$now
    "$@" >/dev/null
    now=$(find "$XDG_CACHE_HOME" -name '*.kernel' | wc -l)
  done
}

# random_block SEED prints 14 lines over values of three shapes and four dtypes.
# Some values are written in place, repeated, broadcast, reduced, renamed or freed.
random_block() {
  awk -v seed="$1" 'BEGIN {
    srand(seed)
    for (i = 0; i < 14; i++) {
      a = any("x"); b = any("x"); r = 1.1 * rand()
      if (r < 0.35) print any("x") " = " pick("add mul sub maximum") " " a " " b
      else if (r < 0.5) print any("x") " = " pick("tanh sigmoid relu neg") " " a
      else if (r < 0.6) print any("x") " = mul " a " 0." int(9 * rand())
      else if (r < 0.66) print any("x") " = add " a " " pick("row column one")
      else if (r < 0.7)
        print any("x") " = expand " pick("row column one") " shape=8,8"
      else if (r < 0.75) {
        print "h = cast " a " " pick("f16 bf16 f64 i32")
        print any("x") " = cast h f32"
      } else if (r < 0.8) {
        print "c = gt " a " " b
        print any("x") " = where c " a " 0.5"
      } else if (r < 0.85) {
        print "s = reshape " a " shape=64"
        print "s = add s 0.125"
        print any("x") " = reshape s shape=8,8"
      } else if (r < 0.9) print "row = mul row 0.5\nrow = add row 0.25"
      else if (r < 0.95) print "free h c s\nh = mul x0 1\nc = gt h 0\ns = mul h 2\ns = reshape s shape=64"
      else if (r < 1) print "one = tanh one"
      else {
        if (rand() < 0.5) print a " = mul " a " 0.5"
        if (rand() < 0.3) print "v = mul v 0.5\nu = add u v\nu = layer_norm u v"
        else if (rand() < 0.5) {
          op = pick("softmax log_softmax layer_norm rms_norm")
          print any("x") " = " op " " a (op ~ /_norm/ && rand() < 0.5 ? " v" : "")
        } else print reduced(pick("row=sum|axis=0|keepdims=1 column=max|axis=1|keepdims=1 one=mean|"))
      }
    }
  }
  function any(letter) { return letter int(4 * rand()) }
  function reduced(text) {
    sub(/=/, " = ", text)
    sub(/\|/, " " a " ", text)
    gsub(/\|/, " ", text)
    return text
  }
  function pick(words,   n, w) { n = split(words, w, " "); return w[1 + int(n * rand())] }'
}

# make_random SEED writes p.s, 500 rounds of such a block.
make_random() {
  random_block "$1" >block.gt
  {
    for i in 0 1 2 3; do echo "x$i = randn f32[8,8] $i"; done
    printf '%s\n' 'row = rand f32[1,8] 5' 'column = rand f32[8,1] 6' \
      'one = rand f32[] 7' 'u = rand f32[8] 8' 'v = rand f32[8] 9' 'h = mul x0 1' 'c = gt h 0' 's = mul h 2' \
      's = reshape s shape=64'
    for _ in {1..500}; do
      cat block.gt
      echo 'x0 = tanh x0'
    done
    printf 'print %s\n' x0 x1 x2 x3 row one u v h c s
  } | gt-emit --no-at >p.s
}

@test "fake device: a chain of point-wise lines is one launch once it was compiled" {
  {
    printf 'x = rand f32[1000] 1\n'
    for _ in {1..3000}; do
      printf '%s\n' 'y = mul x 0.5' 'y = add y 0.25' 'y = tanh y' \
        'y = mul y 1.5' 'y = sub y 0.125' 'y = relu y' 'y = add y 0.1' \
        'x = mul y 0.9'
    done
    printf 'print x\nprint y\n'
  } >p.s
  GT_FAKE_REPORT=one gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  GT_FAKE_REPORT=chains "${busy[@]}" gt-work --backend cuda p.s | cmp - wanted
  # Lines that come before the chain's kernel is loaded are launches of their own.
  (($(calls_of chains) * 3 < $(calls_of one)))
  grep -q "$all_given_back" chains
}

@test "fake device: the gradient of a sum is expanded within the chain that reads it" {
  {
    printf 'x = rand f32[1000] 1\nw = rand f32[1000] 2\n'
    for _ in {1..500}; do
      printf '%s\n' 'e = rand f32[] 3' 'y = expand e shape=1000' 'y = mul y w' \
        'y = add y x' 'x = tanh y'
    done
    printf 'print x\nprint y\n'
  } >p.s
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  GT_FAKE_LAUNCHES=launches "${busy[@]}" gt-work --backend cuda p.s | cmp - wanted
  # A round takes two launches with the expansion in the chain, and three without.
  (($(count_launches) < 1400))
}

# reduced SHAPE LINE [ROUNDS] prints the launches of a round of p.s, in tenths. A round
# has four lines: two that make a chain, LINE, which reduces it, and a line behind it.
reduced() {
  local rounds=${3:-800} i
  {
    printf 'x = randn f32[%s] 1\nw = randn bf16[%s] 2\n' "$1" "$1"
    printf 'b = rand f32[%s] 3\nc = rand f32[%s] 4\n' "${1#*,}" "${1#*,}"
    for ((i = 0; i < rounds; ++i)); do
      printf '%s\n' 'p = cast w f32' 'p = mul p x' 'k = tanh p' 'p = add k 0.5' \
        "$2" 'free p' 'x = maximum x k'
    done
    printf 'print s\nprint k\nprint x\n'
  } >p.s
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  rm -f launches
  GT_FAKE_LAUNCHES=launches "${busy[@]}" gt-work --backend cuda p.s | cmp - wanted
  count_launches | awk -v rounds="$rounds" '{ print int(10 * $1 / rounds) }'
}

@test "fake device: a reduction is part of the chain before it" {
  local kind share shares
  local kinds=('sum p' 'mean p axis=1' 'max p axis=0' 'argmin p axis=1' 'sum p axis=0,1' 'prod p')
  read -r share shares < <(share_of 6)
  for kind in "${kinds[@]:share * (6 / shares):6 / shares}"; do
    # A round takes one launch but for the first rounds; without this it would take
    # two.
    (($(reduced 7,9 "s = $kind") < 17))
  done
  (($(reduced 30,40 's = max p axis=1') < 17))
  # A second launch adds the parts of long sums.
  (($(reduced 1,40000 's = sum p' 150) < 27))
}

@test "fake device: a softmax or a norm is part of the chain before it" {
  local kind share shares
  local kinds=('softmax p' 'log_softmax p' 'layer_norm p' 'layer_norm p b c' 'rms_norm p' 'rms_norm p b')
  read -r share shares < <(share_of 6)
  for kind in "${kinds[@]:share * (6 / shares):6 / shares}"; do
    echo "$kind"
    (($(reduced 6,72 "s = $kind") < 17))
    # The result may take the place of the chain's value, which nothing else reads.
    (($(reduced 5,9 "p = $kind"$'\n''s = neg p') < 27))
  done
}

# A chain's form is a string of the numbers of its kernels. In this program sum is
# kernel five and neg the second, whose word in a form is 5, so the two could be
# confused.
@test "fake device: a chain with an end is never taken for a longer one" {
  {
    printf 'x = randn f32[4,8] 1\n'
    for op in tanh neg relu sigmoid; do printf 'e = %s x\nd = cumsum x axis=1\n' $op; done
    for _ in {1..300}; do printf '%s\n' 'p = tanh x' 'q = neg x' 'd = cumsum x axis=1'; done
    for _ in {1..300}; do printf '%s\n' 'p = tanh x' 's = sum p' 'd = cumsum x axis=1'; done
    printf 'print %s\n' p q s d
  } | gt-emit --no-at >p.s
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  GT_FAKE_PACE=50 gt-work --backend cuda p.s | cmp - wanted
}

@test "fake device: expand keeps the bits of its values, those of a nan too" {
  {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
      "{'descr': '<f2', 'fortran_order': False, 'shape': (5,), }"
    printf '\x01\x7c\x01\x7e\x01\xfe\x55\xfc\xff\x7f'
  } >x.npy
  printf 'x = load "x.npy" f16[5]\ny = expand x shape=3,5\nsave y "y.npy"\n' >p.s
  gt-work p.s
  mv y.npy wanted.npy
  gt-work --backend cuda p.s
  cmp y.npy wanted.npy
}

@test "fake device: chains have the bits of single launches, even where values are overwritten" {
  local seed share shares
  read -r share shares < <(share_of 4)
  for ((seed = 1 + share; seed <= 4; seed += shares)); do
    make_random $seed
    rm -f one chains
    GT_FAKE_REPORT=one gt-work --backend cuda --sync p.s >wanted
    gt-work --backend cuda p.s | cmp - wanted
    compiled gt-work --backend cuda p.s
    GT_FAKE_REPORT=chains gt-work --backend cuda p.s | cmp - wanted || {
      echo "seed $seed:"
      cat block.gt
      return 1
    }
    echo "$(calls_of one) calls by line, $(calls_of chains) in chains"
    (($(calls_of chains) < $(calls_of one)))
  done
}

@test "fake device: a chain ends before a line that meets wrong data, and goes on after it" {
  cat >p.s <<'END'
x = ones i32[4]
z = zeros i32[4]
x = add x 1
y = mul x 3
d = floordiv y z
y = add y 1
print y
print d
END
  run -1 gt-work --backend ref p.s
  local wanted=$output
  for _ in 1 2 3; do
    run -1 gt-work --backend cuda p.s
    [ "$output" = "$wanted" ]
  done
}

@test "fake device: each line of a chain has its row in a trace, and its part of the time" {
  {
    printf 'x = ones f32[1000]\n'
    for _ in {1..1000}; do
      printf '%s\n' 'y = add x 1' 'y = mul y 2' 'x = tanh y'
    done
    printf 'print y\n'
  } >p.s
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  GT_FAKE_LAUNCHES=launches "${paced[@]}" gt-work --backend cuda --trace t p.s |
    cmp - wanted
  # A trace does not split the chain that it shows.
  (($(count_launches) < 2000))
  [ "$(awk -F '\t' '$3 == "gpu" { print $6 }' t | sort | uniq -c | xargs)" = \
    '1000 add 1000 mul 1 ones 1000 tanh' ]
  # The rows of the GPU follow one another without overlap.
  awk -F '\t' '$3 == "gpu" { if ($1 < end || $2 < $1) exit 1; end = $2 }' t
}

@test "fake device: a chain that waits for more lines is begun when no line comes" {
  mkfifo in
  gt-work --backend cuda <in >out &
  exec 9>in
  printf 'x = ones f32[4]\ny = add x 1\ny = mul y 2\nprint y\n' >&9
  for _ in {1..200}; do
    [[ -s out ]] && break
    sleep 0.05
  done
  grep -q '^y = tensor f32\[4\] 4 4 4 4$' out
  exec 9>&-
  wait $!
}

# make_alike ROUNDS writes p.s. A round has a product, which ends what was put off;
# then a step of 60 parameters of many sizes, of two lines each; and casts of the
# weights to bf16.
make_alike() {
  {
    echo 'rate = tensor f32[] 0.125'
    printf 'a = ones f32[4,4]\n'
    for k in {1..60}; do
      printf 'w%d = randn f32[%d] %d\ng%d = randn f32[%d] %d\n' \
        "$k" $(((k % 7 + 1) * 131)) "$k" "$k" $(((k % 7 + 1) * 131)) "$((k + 60))"
    done
    for ((i = 0; i < $1; ++i)); do
      for k in {1..60}; do echo "b$k = cast w$k bf16"; done
      echo 'c = matmul a a'
      for k in {1..60}; do
        printf 'u = mul g%d rate\nw%d = sub w%d u\nfree u\n' "$k" "$k" "$k"
      done
      echo 'c = matmul a a'
    done
    printf 'print w%d\n' {1..60}
    printf 'print b%d\n' {1..60}
  } | gt-emit --no-at >p.s
}

@test "fake device: chains of one form over other memory are one launch" {
  make_alike 40
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  GT_FAKE_REPORT=report GT_FAKE_LAUNCHES=launches "${busy[@]}" \
    gt-work --backend cuda p.s | cmp - wanted
  grep "$all_given_back" report
  # A round takes two launches for its casts and two for its steps, which are chains
  # of two lines. Without this it would take 120, so 4,800 in all.
  local launches
  launches=$(count_launches)
  echo "$launches launches"
  ((launches < 1000))
}

@test "fake device: each line of chains of one form has its row in a trace" {
  make_alike 20
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda --trace t p.s
  rm -f launches
  GT_FAKE_LAUNCHES=launches "${paced[@]}" gt-work --backend cuda --trace t p.s |
    cmp - wanted
  (($(count_launches) < 1000))
  [ "$(awk -F '\t' '$3 == "gpu" { print $6 }' t | sort | uniq -c | xargs)" = \
    '1200 cast 40 matmul 1200 mul 1 ones 120 randn 1200 sub 1 tensor' ]
  awk -F '\t' '$3 == "gpu" { if ($1 < end || $2 < $1) exit 1; end = $2 }' t
}

@test "fake device: chains of one form are recorded as one launch" {
  make_alike 12
  gt-work --backend cuda --sync p.s >wanted
  compiled gt-work --backend cuda p.s
  rm -f launches
  GT_FAKE_LAUNCHES=launches gt-work --backend cuda p.s | cmp - wanted
  grep -q 'graphs [1-9]' launches
}

@test "fake device: chains of one form that read what others write have their bits" {
  local seed share shares
  read -r share shares < <(share_of 6)
  for ((seed = 1 + share; seed <= 6; seed += shares)); do
    awk -v seed=$seed 'BEGIN {
      srand(seed)
      for (i = 0; i < 6; i++) {
        print "w" i " = randn f32[" size(i) "] " i "\nh" i " = cast w" i " bf16"
        print "k" i " = reshape w" i " shape=" size(i) / 2 ",2"
      }
      print "a = tensor f32[] 0.5\nb = tensor f32[] 0.25"
      # The same forms come again over other values of the same size.
      for (n = 0; n < 60; n++) {
        form[n] = int(8 * rand()); by[n] = pick("a b 0.5 0.25")
        x[n] = int(6 * rand()); y[n] = int(6 * rand())
      }
      for (round = 0; round < 40; round++) for (n = 0; n < 60; n++) {
        i = x[n]; j = y[n]; f = form[n]
        if (rand() < 0.2) i = (i + 2) % 6
        if (i % 2 != j % 2) j = (j + 1) % 6
        if (f < 2) print "h" i " = cast w" j " bf16"
        else if (f == 2) print "u" i " = cast h" j " f32\nw" i " = mul u" i " " by[n]
        else if (f == 3) print "u = mul w" i " " by[n] "\nw" i " = sub w" j " u\nfree u"
        else if (f == 4) {
          # The last line reads in another shape what the first one writes.
          print "w" i " = mul w" j " " by[n] "\nk" j " = reshape w" i " shape=" size(i) / 2 ",2"
          print "k" i " = mul k" j " " by[n]
        }
        else if (f == 5) print "w" i " = tanh w" j "\nk" i " = reshape w" i " shape=" size(i) / 2 ",2"
        else if (f == 6) print "k" i " = mul k" j " " by[n]
        else if (rand() < 0.3) print by[n] ~ /0/ ? "b = mul b 0.75" : by[n] " = tanh " by[n]
        else print "w" i " = add w" j " " by[n]
      }
      for (i = 0; i < 6; i++) print "print w" i "\nprint h" i "\nprint k" i
      print "print a\nprint b"
    }
    function size(i) { return i % 2 ? 70 : 18 }
    function pick(words,   n, w) { n = split(words, w, " "); return w[1 + int(n * rand())] }
    ' >p.gt
    gt-emit --no-at p.gt >p.s
    gt-work --backend cuda --sync p.s >wanted
    compiled gt-work --backend cuda p.s
    for _ in 1 2; do gt-work --backend cuda p.s | cmp - wanted; done
    for k in 1 2 3; do
      GT_FAKE_SEED=$k "${busy[@]}" gt-work --backend cuda p.s | cmp - wanted
    done
  done
}

@test "fake device: chains that come once get no kernel of their own" {
  # The cache is a new folder, since other tests may have compiled these chains.
  local kinds
  {
    for k in {1..20}; do
      printf 'x = randn f32[%d,3] 1\ny = mul x 0.5\ny = add y 1\nz = tanh y\nw = mul z x\n' "$k"
    done
    printf 'print w\n'
  } | gt-emit --no-at >p.s
  kinds=$(cut -d ' ' -f 3 p.s | sort -u | wc -l)
  for _ in 1 2; do
    XDG_CACHE_HOME=$PWD/own "${busy[@]}" gt-work --backend cuda p.s >/dev/null
  done
  (($(find own -name '*.kernel' | wc -l) <= kinds))
}

@test "fake device: scratch memory that a chain's end borrows is given back after the chain" {
  skip_if_sanitized "so many addresses are not to be had"
  {
    printf 'x = randn f32[65536,64] 1\n'
    for _ in {1..2000}; do
      printf 'y = mul x 0.5\ns = sum y axis=0\nx = mul x 0.99\n'
    done
    printf 'print s\n'
  } >p.s
  compiled env GT_FAKE_SPEED=2000:500000 gt-work --backend cuda p.s
  # The 2,000 sums borrow 200 MB together, which is more than the device has.
  GT_FAKE_MEMORY=$((128 << 20)) GT_FAKE_SPEED=2000:500000 gt-work --backend cuda p.s >out
  grep -q '^s = tensor f32\[64\]' out
}

#!/usr/bin/env bats
# Squares and products that leave the range of a dtype on the way to a result that does not,
# also where the elements lie on several ranks; and digits that cancel.
load helper

# Runs a program with x cut over two ranks along its dimension 0, and as it is, and compares.
cut_alike() { # PROGRAM [GT-CMP'S OPTIONS]
  printf 'mesh: {tp: 2}\nsignals:\n  rows: {shard: {tp: 0}}\n' >cut.yaml
  gt-emit --no-at "$1" >whole.s
  gt-shard -c cut.yaml whole.s >cut.s
  grep -q 'over=tp' cut.s
  gt-check -q cut.s
  gt-work whole.s >whole
  gt-work cut.s | gt-cmp --atol 0 "${@:2}" whole -
  run ! grep -qE 'nan|inf|fail' whole
}

@test "a norm, a deviation and their gradients hold at 1e30, over ranks as well" {
  local size
  for size in 1e30 1e-30; do
    printf '%s\n' "r = randn f32[8,4] 1 scale=$size #signal=rows" 'n = norm r' 's = std r axis=0' \
      't = sum s' 'l = add n t' 'g = grad l r' 'print n' 'print s' 'print g' >p.gt
    cut_alike p.gt --rtol 1e-5
    printf '%s\n' "r = randn f64[8,4] 1 scale=${size}0 #signal=rows" 'n = norm r' 's = std r axis=0' \
      't = sum s' 'l = add n t' 'g = grad l r' 'print n' 'print s' 'print g' >p.gt
    cut_alike p.gt --rtol 1e-12
  done
}

@test "layer_norm holds at 1e30 where its dimension is cut" {
  printf '%s\n' 'r = randn f32[64,64] 1 scale=1e30 #signal=rows' 'x = transpose r' \
    'y = layer_norm x' 'w = randn f32[64,64] 2' 'z = mul y w' 'l = sum z' 'g = grad l r' \
    'print y' 'print g' >p.gt
  cut_alike p.gt --rtol 1e-4 --atol 1e-5
}

@test "a deviation and layer_norm hold where the norm of their elements is out of range" {
  local backend dtype large size
  for large in 'f32 2.9e38' 'f64 1.5e308'; do
    read -r dtype size <<<"$large"
    printf '%s\n' "s = tensor ${dtype}[4,2] 1 -1 -1 1 0 1 0 -1 #signal=rows" "x = mul s $size" \
      'd = std x axis=0' "r = div d $size" 't = transpose x' \
      'y = layer_norm t' 'print r' 'print y' >p.gt
    cut_alike p.gt --rtol 1e-6
    for backend in ref cpu; do
      gt-emit p.gt | GT_BACKEND=$backend gt-work | head -1 | sed 's/f64/f32/' |
        gt-cmp --rtol 1e-6 <(echo 'r = tensor f32[2] 0.8164966 1.1547005') -
    done
  done
}

@test "one large gradient is clipped and deletes no step, over ranks as well" {
  local backend dtype
  printf '%s\n' 'a = tensor f32[2] 3e20 4e20' 'a = clip a 1' 'print a' | gt-emit >clip.s
  for backend in ref cpu; do
    GT_BACKEND=$backend gt-work clip.s | gt-cmp - <(echo 'a = tensor f32[2] 0.6 0.8')
  done
  for dtype in f32 f64; do
    printf '%s\n' "a = randn ${dtype}[8,4] 1 scale=1e30 #signal=rows" "b = randn ${dtype}[5] 2" \
      'a b = clip a b 1' 'print a' >p.gt
    cut_alike p.gt --rtol 1e-5
  done
  printf '%s\n' 'a = tensor f64[2] 3e200 4e200' 'b = tensor f32[] 1' 'a b = clip a b 1' 'print a' |
    gt-emit >clip.s
  for backend in ref cpu; do
    GT_BACKEND=$backend gt-work clip.s | gt-cmp --rtol 1e-12 - <(echo 'a = tensor f64[2] 0.6 0.8')
  done
}

@test "AdamW's second moment of a gradient of 1e20 is a number" {
  local backend
  printf '%s\n' 'w = tensor f32[1] 1' 'g = tensor f32[1] 1e20' 'm = zeros f32[1]' 'v = zeros f32[1]' \
    'w m v = adamw w g m v 1 0.1' 'print v' | gt-emit >adamw.s
  for backend in ref cpu; do
    GT_BACKEND=$backend gt-work adamw.s | gt-cmp - <(echo 'v = tensor f32[1] 1e37')
  done
}

@test "a row of 10000 + i / 1000 is normalised by its own digits" {
  local backend x='10000 10000.001 10000.002 10000.003 10000.004 10000.005 10000.006 10000.007'
  # Of the f32 next to these numbers; mean and variance are exact in f64.
  printf '%s\n' "x = tensor f32[8] $x" 'c = cast x f64' 'y = layer_norm c eps=0' 'v = var c' \
    'print y' 'print v' | gt-emit | gt-work | sed 's/f64/f32/' >want
  for backend in ref cpu; do
    printf '%s\n' "x = tensor f32[8] $x" 'y = layer_norm x eps=0' 'v = var x' 'print y' 'print v' |
      gt-emit | GT_BACKEND=$backend gt-work | gt-cmp --rtol 1e-5 want -
  done
}

@test "the deviation of equal elements is 0, and so is its gradient" {
  local backend
  for backend in ref cpu; do
    run -0 bash -c "printf '%s\n' 'x = full f32[1000] 0.1' 's = std x' 'g = grad s x' 'a = abs g' \
      't = sum a' 'print s' 'print t' | gt-emit | GT_BACKEND=$backend gt-work"
    [ "$output" = $'s = tensor f32[] 0\nt = tensor f32[] 0' ]
  done
}

@test "a product holds though it leaves the range on the way, and so does its gradient" {
  local backend dtype
  for backend in ref cpu; do
    for dtype in f32 f64; do
      local big=1e30 small=1e-30
      [ "$dtype" = f32 ] || big=1e200 small=1e-200
      run -0 bash -c "printf '%s\n' 'x = tensor ${dtype}[6] $big $big 3 $small $small 2' 'p = prod x' \
        'g = grad p x' 'y = mul g x' 'print p' 'print y' | gt-emit | GT_BACKEND=$backend gt-work"
      echo "${output//$dtype/f32}" >"$backend.$dtype"
    done
  done
  printf '%s\n' 'p = tensor f32[] 6' 'y = tensor f32[6] 6 6 6 6 6 6' >want
  for backend in ref cpu; do
    for dtype in f32 f64; do gt-cmp --rtol 1e-6 want "$backend.$dtype"; done
  done
  # Rows longer than a pack, with a zero, and with elements that are subnormal.
  printf '%s\n' 'r = randn f32[300] 1 scale=1e-20' 's = div 1 r' 'x = concat r s' 'p = prod x' \
    'g = grad p x' 'y = mul g x' 'm = mean y' 'print p' 'print m' | gt-emit >p.s
  GT_BACKEND=cpu gt-work p.s >have
  sed 's/.* //' have | awk '{ if ($1 < 0.9999 || $1 > 1.0001) exit 1 }'
  printf '%s\n' 'x = tensor f32[4] 0 1e30 1e30 1e-40' 'p = prod x' 'g = grad p x' 'print g' |
    gt-emit | gt-work | sed 's/\[4\]/[4]/' >have
  printf '%s\n' 'g = tensor f32[4] 1.0000e20 0 0 0' | gt-cmp --rtol 1e-4 - have
}

# Computes a program as it is and with its signals cut over four ranks, on ref and cpu, and compares
# with a stream of the results that are wanted.
gives() { # PROGRAM WANT
  local backend
  printf 'mesh: {tp: 4}\nsignals: {%s}\n' "$(grep -q '#signal=rows' "$1" &&
    echo 'rows: {shard: {tp: 0}}' || echo 'columns: {shard: {tp: 1}}')" >cut.yaml
  gt-emit --no-at "$1" >whole.s
  gt-shard -c cut.yaml whole.s >cut.s
  grep -q 'over=tp' cut.s
  gt-check -q cut.s
  for backend in ref cpu; do
    GT_BACKEND=$backend gt-work whole.s | gt-cmp --rtol 1e-6 --atol 0 "$2" -
    GT_BACKEND=$backend gt-work cut.s | gt-cmp --rtol 1e-6 --atol 0 "$2" -
  done
}

repeat() { # COUNT TEXT
  printf "%.0s$2" $(seq "$1")
}

@test "a mean of the largest numbers is one of them, over ranks as well" {
  local dtype most root
  while read -r dtype most root; do
    printf '%s\n' "x = full ${dtype}[8] $most #signal=rows" 'm = mean x' "m = div m $most" 'print m' \
      'h = huber x 0' "h = div h $most" 'print h' \
      "o = tensor ${dtype}[8] 1 0 1 0 0 0 0 0 #signal=rows" "y = mul o $root" 't = mul o 0' \
      's = mse y t' "s = div s $root" "s = div s $root" 'print s' >p.gt
    printf '%s\n' "m = tensor ${dtype}[] 1" "h = tensor ${dtype}[] 1" "s = tensor ${dtype}[] 0.25" >want
    gives p.gt want
  done <<<$'f32 3e38 1.9e19\nf64 1.5e308 1.4e154'
}

@test "a mean of the largest losses of classes is one of them, over ranks as well" {
  printf '%s\n' "x = tensor f32[8,2]$(repeat 8 ' 3e38 0') #signal=rows" 't = ones i64[8]' \
    'w = tensor f32[2] 1 0.5' 'a = cross_entropy x t' 'b = cross_entropy x t w' \
    'd = cross_entropy x t ignore_index=0' 'print a' 'print b' 'print d' >p.gt
  printf '%s\n' 'a = tensor f32[] 3e38' 'b = tensor f32[] 3e38' 'd = tensor f32[] 3e38' >want
  gives p.gt want
}

@test "classes are weighted by numbers whose sum is out of range, over ranks as well" {
  printf '%s\n' 'x = tensor f32[4,2] 1 0 0 1 1 1 2 0 #signal=rows' \
    't = tensor i64[4] 0 1 1 0' 'w = tensor f32[2] 1e38 3e38' 'v = tensor f32[2] 1 3' \
    'a = cross_entropy x t w' 'b = cross_entropy x t v' 'r = div a b' 'print r' \
    'g = grad a x' 'h = grad b x' 'r = div g h' 'print r' >p.gt
  printf '%s\n' 'r = tensor f32[] 1' 'r = tensor f32[4,2] 1 1 1 1 1 1 1 1' >want
  gives p.gt want
}

@test "the mean of ranks is in range though their sum is not" {
  local ends
  for ends in 'all_reduce x@0-2 over=dp op=mean' 'reduce x@0-2 over=dp op=mean root=0' \
    'reduce_scatter x@0-2 over=dp op=mean src=V dst=S0'; do
    printf '%s\n' 'mesh dp=3' 'x@0-2 = full f32[3] 3e38' "y@0-2 = $ends" 'print y@0 as=y' >p.s
    GT_BACKEND=ref gt-work p.s | sed -E 's/(3e\+38 ?)+$/3e+38/' | grep -E 'y = tensor f32\[[13]\] 3e\+38'
  done
}

@test "what the largest element hides is the logarithm of a sum, and that of softmax" {
  local dtype
  # Also in bf16, whose ops are those of f32, and where ranks have the classes.
  while read -r dtype far want; do
    printf '%s\n' \
      "x = tensor ${dtype}[4,8]$(repeat 4 " 0 $far -inf -inf -inf -inf -inf -inf") #signal=columns" \
      's = logsumexp x axis=1' 'l = log_softmax x' 'o = slice l : 0' 't = zeros i64[4]' 'e = cross_entropy x t' 'o = neg o' \
      'print s' 'print o' 'print e' >p.gt
    printf '%s\n' "s = tensor ${dtype}[4] $want $want $want $want" \
      "o = tensor ${dtype}[4] $want $want $want $want" "e = tensor ${dtype}[] $want" >want
    gives p.gt want
  done <<<$'f32 -20 2.0611537e-09\nf64 -40 4.248354255291589e-18\nbf16 -20 2.07e-09'
  # In a row of many parts, of which one has the largest element.
  printf '%s\n' 'x = full f32[300000] -30' 'z = zeros f32[1]' 'y = concat x z' 's = logsumexp y' \
    'print s' | gt-emit | gt-work | gt-cmp --rtol 1e-5 - <(echo 's = tensor f32[] 2.8072867e-08')
}

@test "a class's own gradient is as large as those of the others" {
  printf '%s\n' 'x = tensor f32[1,3] 20 0 -1' 't = zeros i64[1]' 'l = cross_entropy x t' \
    'g = grad l x' 'print g' | gt-emit | GT_BACKEND=cpu gt-work |
    gt-cmp --rtol 1e-6 - <(echo 'g = tensor f32[1,3] -2.8194103e-09 2.0611537e-09 7.582560e-10')
}

@test "a mean of pixels is in range though their sum is not" {
  local backend
  for backend in ref cpu; do
    printf '%s\n' 'x = full f32[1,1,2,2] 3e38' 'y = avg_pool2d x kernel_size=2' \
      'z = avg_pool2d x kernel_size=2 padding=1 count_include_pad=0' 'print y' 'print z' |
      gt-emit | GT_BACKEND=$backend gt-work |
      gt-cmp - <(printf '%s\n' 'y = tensor f32[1,1,1,1] 3e38' 'z = tensor f32[1,1,2,2] 3e38 3e38 3e38 3e38')
  done
}

@test "a hypotenuse out of range has a gradient" {
  local backend dtype most
  for backend in ref cpu; do
    while read -r dtype most; do
      printf '%s\n' "a = tensor ${dtype}[3] $most -$most 0" "b = tensor ${dtype}[3] $most 0 0" \
        'y = hypot a b' 'l = sum y' 'g h = grad l a b' 'print g' 'print h' |
        gt-emit | GT_BACKEND=$backend gt-work | gt-cmp --rtol 1e-6 - <(printf '%s\n' \
          "g = tensor ${dtype}[3] 0.70710678 -1 0" "h = tensor ${dtype}[3] 0.70710678 0 0")
    done <<<$'f32 3e38\nf64 1.5e308'
  done
}

@test "the gradient of atan2 at the origin is 0, in every dtype" {
  local backend dtype
  for backend in ref cpu; do
    for dtype in f32 f64 f16 bf16; do
      printf '%s\n' "a = tensor ${dtype}[4] 0 -0 2 0" "b = tensor ${dtype}[4] 0 0 0 -0" 'y = atan2 a b' \
        'l = sum y' 'g h = grad l a b' 'print g' 'print h' |
        gt-emit | GT_BACKEND=$backend gt-work | gt-cmp - <(printf '%s\n' \
          "g = tensor ${dtype}[4] 0 0 0 0" "h = tensor ${dtype}[4] 0 0 -0.5 0")
    done
  done
}

@test "the gradient of an even power has the sign of its base, however large the exponent" {
  local backend
  for backend in ref cpu; do
    printf '%s\n' 'a = tensor f32[4] -1 -1 -1 1' 'b = tensor f32[4] 16777216 16777218 -16777216 16777218' \
      'y = pow a b' 'l = sum y' 'g = grad l a' 'print g' 'a = tensor f32[1] -1' 'y = pow a 16777218' \
      'l = sum y' 'g = grad l a' 'print g' | gt-emit | GT_BACKEND=$backend gt-work |
      gt-cmp - <(printf '%s\n' 'g = tensor f32[4] -16777216 -16777218 16777216 16777218' \
        'g = tensor f32[1] -16777218')
  done
}

@test "a vector whose norm is out of range is normalised, over ranks as well" {
  local dtype most
  while read -r dtype most; do
    printf '%s\n' "x = full ${dtype}[4] $most #signal=rows" 'y = normalize x axis=0' 'z = normalize x axis=0 ord=1' \
      'print y' 'print z' >p.gt
    printf '%s\n' "y = tensor ${dtype}[4] 0.5 0.5 0.5 0.5" "z = tensor ${dtype}[4] 0.25 0.25 0.25 0.25" >want
    gives p.gt want
  done <<<$'f32 3e38\nf64 1.5e308'
}

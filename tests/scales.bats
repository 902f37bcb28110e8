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

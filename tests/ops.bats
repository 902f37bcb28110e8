#!/usr/bin/env bats
# The op table as users see it: the examples of its help run unchanged.

load helper

# section TITLE prints that section of an op's details, which come on standard
# input.
section() {
  awk -v title="$1" '
    /^[a-z]/ { inside = NR > 1 && $0 == title; next }
    inside && NF { sub(/^  /, ""); print }'
}

# ops prints the names that gt-emit --ops lists, one a line.
ops() {
  gt-emit --ops | awk '
    /^#/ || !NF { next }
    { for (i = 1; i < NF && $i != "="; i++); print $i == "=" ? $(i + 1) : $1 }' |
    sed 's/^[[:punct:]]*//'
}

examples_print_what_they_say() {
  local op count=0 failed=0
  while read -r op; do
    gt-emit --ops="$op" >details
    section example <details >program
    section prints <details >expected
    [[ -s program && -s expected ]]
    gt-emit program | GT_BACKEND=$1 gt-work >actual 2>errors || true
    count=$((count + 1))
    diff -u --label "$op" expected --label actual actual && continue
    cat errors
    failed=1
  done < <(ops)
  ((count > 80))
  ((failed == 0))
}

@test "each op's example prints what its help says, on ref" {
  examples_print_what_they_say ref
}

@test "each op's example prints what its help says, on cpu" {
  examples_print_what_they_say cpu
}

@test "gt-emit --ops lists the ops, shows details, and suggests names" {
  run -0 gt-emit --ops
  [[ $output == *"y = matmul a b ta=0 tb=0"* ]]
  [[ $output != *relu_grad* ]]
  run -0 gt-emit --ops=relu_grad
  [[ $output == *"meaning"*"z = where t 0 g"* ]]
  run ! gt-emit --ops=matmull
  [[ $output == *"did you mean 'matmul'"* ]]
}

@test "the JSON of the ops is JSON, and its names are those of the list" {
  command -v python3 >/dev/null || skip "no python3"
  gt-emit --ops=json >ops.json
  python3 -c '
import json
for op in json.load(open("ops.json"))["ops"]:
    if "internal" not in op:
        print(op["name"])' | sort >names
  ops | sort | diff names -
}

@test "a bound of clamp beyond the range of the dtype bounds nothing" {
  # torch.clamp gives the same for uint8 0 and 200 and for int32 -7 and 7.
  cat >p <<'END'
x = tensor u8[2] 0 200
a = clamp x -1 300
b = clamp x -1 5
c = clamp x 5 300
y = tensor i32[2] -7 7
d = clamp y -1099511627776 1099511627776
print a
print b
print c
print d
END
  for backend in ref cpu; do
    run -0 bash -c "gt-emit p | GT_BACKEND=$backend gt-work"
    lines_are 'a = tensor u8[2] 0 200
b = tensor u8[2] 0 5
c = tensor u8[2] 5 200
d = tensor i32[2] -7 7'
  done
  run -3 gt-emit -e 'x = ones u8[2]' -e 'y = clamp x 300 400'
  [[ $output == *"number 300 is over what u8 holds, 0 to 255"* ]]
  run -3 gt-emit -e 'x = ones u8[2]' -e 'y = clamp x -2 -1'
  [[ $output == *"number -1 is under what u8 holds"* ]]
}

@test "rope refuses a base that has no powers" {
  for base in 0 -1 inf nan; do
    run -3 gt-emit -e 'x = ones f32[2,2]' -e "y = rope x base=$base"
    [[ $output == *"base=$base must be above 0 and finite"* ]]
  done
}

@test "a part of a whole that is too large is refused with that reason" {
  run -3 gt-emit -e 'y = zeros f32[2] part=0/1000000000000000000'
  [[ $output == *"part=0/1000000000000000000: the whole is too large"* ]]
  [[ $output != *f64* ]]
}

# told FILE: each line of FILE is "LINE  =>  MESSAGE"; a program with images that
# ends with LINE gets that message.
told() {
  local line message
  while IFS= read -r line; do
    message=$({
      printf '%s\n' 'x = zeros f32[2,3,5,5]' 'y = zeros f32[3,5,5]' \
        'k = zeros f32[6,3,3,3]' 'i = zeros i64[2,3,5,5]' \
        'u = zeros f32[2,6,5,5]' 'b = zeros f32[6]' "${line%%  =>  *}"
    } | gt-emit 2>&1 >/dev/null | head -1) || true
    [ "${message#gt-emit: <stdin>:7: }" = "${line#*  =>  }" ] && continue
    echo "$message" >&2
    return 1
  done <"$1"
}

@test "convolutions and pools say which sizes do not fit" {
  cat >lines <<'LINES'
a = conv2d y k  =>  conv2d: y f32[3,5,5] must have 4 dimensions; unsqueeze axis=0 adds that of the batch
a = conv2d x k y  =>  conv2d: y f32[3,5,5] must have the shape [6], a number for each channel
a = conv2d x k groups=2  =>  conv2d: groups=2 does not divide 3 and 6 channels
a = conv2d x k groups=3  =>  conv2d: x f32[2,3,5,5] and k f32[6,3,3,3]: 3 channels in groups=3 are not 3 each
a = conv2d x k dilation=3,1  =>  conv2d: a window's height of 7 is larger than the image's, 5 with its padding
a = conv2d x k stride=0  =>  conv2d: stride= must be one or two numbers from 1 to 1073741824
a = conv2d x k padding=9223372036854775807  =>  conv2d: padding= must be one or two numbers from 0 to 1073741824
a = conv2d x k padding=1,2,3  =>  conv2d: padding= must be one or two numbers from 0 to 1073741824
a = conv_transpose2d u k stride=2,1 output_padding=2,0  =>  conv_transpose2d: output_padding= of 2 must be below stride=, which is 2
a = conv_transpose2d u k padding=4  =>  conv_transpose2d: the height of the result of u f32[2,6,5,5] must be from 1 to 1073741824
a = conv_transpose2d x k  =>  conv_transpose2d: x f32[2,3,5,5] must have the shape [2,6,5,5]
a = conv_transpose2d u k b  =>  conv_transpose2d: b f32[6] must have the shape [3], a number for each channel
a = conv_transpose2d u k groups=4  =>  conv_transpose2d: groups=4 does not divide 12 and 6 channels
a = huber x x delta=0  =>  huber: delta= must be above 0
a = conv2d i k  =>  conv2d: i i64[2,3,5,5] must hold floats; cast it first
a = max_pool2d x kernel_size=2 padding=2  =>  max_pool2d: padding= must be at most half of kernel_size=
a = max_pool2d x kernel_size=2,6  =>  max_pool2d: a window's width of 6 is larger than the image's, 5 with its padding
a = windows x axis=1 size=4  =>  windows: x f32[2,3,5,5]: a window of 4 is longer than the dimension of 3
a = windows x axis=1 size=9223372036854775807 dilation=9223372036854775807  =>  windows: x f32[2,3,5,5]: size=, stride= and dilation= must be from 1 to 1073741824
LINES
  told lines
}

@test "a pool takes nan or -inf as the largest value, and the first of equal ones" {
  cat >p <<'END'
x = tensor f32[1,3,2,2] 1 nan 3 2 -inf -inf -inf -inf 5 7 7 5
y = max_pool2d x kernel_size=2
l = sum y
g = grad l x
a = tensor f32[1,1,2,2] 1 2 3 4
m = avg_pool2d a kernel_size=2 padding=1
n = avg_pool2d a kernel_size=2 padding=1 count_include_pad=0
print y
print g
print m
print n
END
  for backend in ref cpu; do
    run -0 bash -c "gt-emit p | GT_BACKEND=$backend gt-work"
    lines_are 'y = tensor f32[1,3,1,1] nan -inf 7
g = tensor f32[1,3,2,2] 0 1 0 0 1 0 0 0 0 1 0 0
m = tensor f32[1,1,2,2] 0.25 0.5 0.75 1
n = tensor f32[1,1,2,2] 1 2 3 4'
  done
}

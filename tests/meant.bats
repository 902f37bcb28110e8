#!/usr/bin/env bats
# What a stranger writes at first, and what the message suggests instead.

load helper

# says PROGRAM TEXT: gt-emit's first message, without the place, contains TEXT.
says() {
  local message
  message=$(gt-emit <<<"$1" 2>&1 >/dev/null | head -1) || return
  message=${message#gt-emit: <stdin>:*: }
  [[ $message == *"$2"* ]] || {
    printf 'program: %s\nsays:    %s\nlacks:   %s\n' "$1" "$message" "$2" >&2
    return 1
  }
}

through() { gt-emit <<<"$1" | gt-work; }

@test "an op by the name that PyTorch or NumPy has for it" {
  says 'y = cat a b' "unknown op 'cat'; did you mean 'concat' (torch.cat, torch.concatenate)?"
  says 'y = concatenate a b' "did you mean 'concat' (torch.cat, torch.concatenate)?"
  says 'y = dot a b' "'matmul' (numpy.dot)?"
  says 'y = bmm a b' "did you mean 'matmul'"
  says 'y = std_mean x' "did you mean 'std' (with mean it is torch.std_mean)?"
  says 'y = permute x' "did you mean 'transpose' (torch.permute)?"
  says 'y = view x' "did you mean 'reshape' (torch.Tensor.view)?"
  says 'y = index_select x i' "did you mean 'take'"
  says 'y = mse_loss x t' "did you mean 'mse'"
  says 'y = logical_and a b' "did you mean 'and'"
  says 'y = matmull a b' "did you mean 'matmul'?"
  run -2 --separate-stderr gt-emit --ops=cat
  [[ $stderr == *"did you mean 'concat' (torch.cat, torch.concatenate)?"* ]]
}

@test "a line that lacks its =, or its op" {
  says 'x ones f32[2]' "unknown op 'x'; '=' is missing before 'ones'"
  says $'x = ones f32[2]\ny = x' "a second name for a value is made by copy: y = copy x"
  says $'x = ones f32[2]\ny = x + x' "an op is a word before its operands, as in y = add a b"
}

@test "a path without its quotes" {
  says 'x = load nope.npy' 'a path stands in double quotes: "nope.npy"'
  says 'x = load ./nope.npy' 'a path stands in double quotes'
  says $'x = ones f32[2]\nsave x data/x.npy' '"data/x.npy"'
  run ! gt-work <<<'x = load nope.npy'
  [[ $output == *'a path stands in double quotes: "nope.npy"'* ]]
}

@test "dtypes by the names of other libraries" {
  local x=$'x = ones f32[2]\n'
  says "$x"'y = cast x int64' "did you mean 'i64'?"
  says "$x"'y = cast x torch.bfloat16' "did you mean 'bf16'?"
  says "$x"'y = cast x integer' "dtypes are f32 f64 f16 bf16 i64 i32 u8 bool"
  says 'x = zeros float32[2]' "unknown dtype 'float32'; did you mean 'f32'?"
}

@test "keys by PyTorch's names, and flags given as true and false" {
  local x=$'x = ones f32[2,3]\n'
  says "$x"'y = sum x dim=1' "no key 'dim'; did you mean 'axis' (dimensions, negative from the end)?"
  says "$x"'y = sum x axis=1 keepdim=1' "did you mean 'keepdims' (keep reduced dimensions, of size 1)?"
  says "$x"'o = attention x x x is_causal=1' "did you mean 'causal' (row i sees columns up to i alone)?"
  says "$x"'y = sum x keepdims=yes' "must be 0 or 1, got yes"
  run -0 through "$x"'y = sum x axis=1 keepdims=true
z = sum x axis=1 keepdims=false
l = sum y
g = grad l x retain=true
print y
print z
print g'
  lines_are "y = tensor f32[2,1] 3 3
z = tensor f32[2] 3 3
g = tensor f32[2,3] 1 1 1 1 1 1"
}

@test "shapes that another library takes in another form" {
  says $'x = ones f32[2,3]\nw = ones f32[5,3]\ny = linear x w' \
    "the weight is [in,out], where PyTorch's is [out,in]: transpose w first"
  says $'a = ones f32[2,3]\nb = ones f32[5,3]\ny = matmul a b' \
    'tb=1 takes b transposed'
  says $'x = ones f32[4,3]\nt = zeros i64[4,1]\nl = cross_entropy x t' \
    'class numbers of shape [4]; squeeze axis=-1 drops the last dimension'
  says $'x = ones f32[4,3]\nt = zeros i64[4,3]\nl = cross_entropy x t' \
    'argmax axis=-1'
  says $'q = ones f32[4,3,2]\nk = ones f32[2,3,2]\no = attention q k k' \
    'enable_gqa=1 lets heads of q share those of k and v'
}

@test "a format that save does not know" {
  says $'x = ones f32[2]\nsave x "x.pt"' \
    "no format for '.pt'; save writes FILE.npy, or the tensor NAME of"
  run -3 gt-work <<<$'x = ones f32[2]\nsave x "x.pt"'
  [ ! -e x.pt ]
}

@test "the number of an optimizer's step begins at 1" {
  local state=$'w = ones f32[2]\nm = zeros f32[2]\nv = zeros f32[2]\n'
  says "$state"'w m v = adamw w w m v 0 0.1' \
    't is the number of this step, from 1, got 0'
  local backend
  for backend in ref cpu; do
    run -1 --separate-stderr gt-work --backend $backend <<<"$state"'t = zeros i64[]
w m v = adamw w w m v t 0.1
print w'
    [ "$output" = \
      'w = fail "<stdin>:5: adamw: t is the number of this step, from 1, got 0"' ]
  done
}

@test "the probability of a dropout is from 0 to 1" {
  says $'x = ones f32[4]\ny = dropout x 1.5 7' 'p must be from 0 to 1, got 1.5'
  local backend p
  for backend in ref cpu; do
    for p in 1.5 -0.25 nan inf; do
      run -1 --separate-stderr gt-work --backend $backend <<<"x = ones f32[4]
p = tensor f32[] $p
y = dropout x p 7
print y"
      [ "$output" = "y = fail \"<stdin>:3: dropout: p must be from 0 to 1, got $p\"" ]
    done
    printf 'x = ones f32[4]\np = tensor f64[] 1\ny = dropout x p 7\nprint y\n' >all.gt
    [ "$(gt-work --backend $backend all.gt)" = 'y = tensor f32[4] 0 0 0 0' ]
  done
}

@test "an option that is spelt like another, in every program" {
  local program
  run -2 --separate-stderr gt-emit --repeat 3
  [ "$stderr" = 'gt-emit: --repeat: expected N FILE; try gt-emit --help' ]
  run -2 --separate-stderr gt-work --threads
  [ "$stderr" = 'gt-work: --threads: expected N; try gt-work --help' ]
  run -2 --separate-stderr gt-emit --repeats 3
  [[ $stderr == *"--repeats; did you mean '--repeat'?; try gt-emit --help"* ]]
  for program in gt-emit gt-shard gt-check gt-route gt-work gt-log gt-key; do
    run -2 --separate-stderr "$program" --versoin
    [[ $stderr == *"did you mean '--version'?"* ]]
  done
}

@test "a failure that comes again in each round is reported once, and counted" {
  local step=$'x = tensor i64[2] 1 2\nt = zeros f32[1,1]\ny = embedding t x\nprint y\n'
  local program
  for program in gt-work 'gt-route -n 1'; do
    # shellcheck disable=SC2086
    run -1 --separate-stderr bash -c \
      "for i in 1 2 3 4; do printf '%s' \"\$1\"; done | gt-emit | $program" - "$step"
    [ "${#lines[@]}" -eq 4 ]
    [ "$(grep -c 'index 1 is out of range' <<<"$stderr")" -eq 1 ]
    [[ $stderr == *'gt-work: <stdin>:4: embedding: index 1 is out'* ]]
    [[ $stderr == *'gt-work: 3 more like the one at <stdin>:4'* ]]
    # A note explains such a place once, also where the failure does not come again.
    [ "$(grep -c 'note: a place in <stdin> is' <<<"$stderr")" -eq 1 ]
    run -1 --separate-stderr bash -c "printf '%s' \"\$1\" | gt-emit | $program" - "$step"
    [[ $stderr == *'gt-work: <stdin>:4: embedding: index 1 is out'* &&
      $stderr == *'note: a place in <stdin> is a line of the stream that came in'* ]]
  done
}

@test "failures of other lines and of other files are each reported" {
  printf 't = zeros f32[1,1]\nx = tensor i64[1] 7\ny = embedding t x\nz = embedding t x\n' >p.gt
  run -1 --separate-stderr gt-work - <p.gt
  [ "$(grep -c 'out of range' <<<"$stderr")" -eq 2 ]
  [[ $stderr != *more* ]]
  # By gt-emit lines have their places in the file, so the lines of a loop have one
  # place.
  run -1 --separate-stderr bash -c 'gt-emit --repeat 3 p.gt | gt-work'
  [ "$(grep -c 'out of range' <<<"$stderr")" -eq 2 ]
  [[ $stderr == *'gt-work: 2 more like the one at p.gt:3'* ]]
  [[ $stderr != *--at* ]]
}

@test "another failure at the same place of a source is reported" {
  sed 's/$/ #at=p.py:3/' >p.gt <<'END'
a = tensor i64[] 1
b = tensor i64[] 0
c = floordiv a b
save a "no/such/folder/a.npy"
END
  local program
  for program in gt-work 'gt-route -n 1'; do
    # shellcheck disable=SC2086
    run -1 --separate-stderr $program p.gt
    [[ $stderr == *'p.py:3: floordiv: '* && $stderr == *'p.py:3: save: '* ]]
  done
}

@test "lines of thousands of operands" {
  local names
  names=$(printf ' w%d' {1..4000})
  {
    printf 'w%d = ones f32[2]
' {1..4000}
    echo "s = concat$names axis=0"
    echo 't = sum s'
    echo "$(printf ' g%d' {1..4000}) = grad t$names"
    echo "$(printf ' g%d' {1..4000}) = clip$(printf ' g%d' {1..4000}) 1.0"
    echo 'print g4000'
  } >p.gt
  gt-emit p.gt >s
  echo 'g4000 = tensor f32[2] 0.01118034 0.01118034' >want
  gt-work s >out
  gt-cmp --rtol 1e-6 want out
}

@test "what other languages put between words" {
  local x=$'x = ones f32[2]\n'
  says 'x = ones f32[2, 3]' "'f32[2,' is not a name, number, range, type or string; a type ends with ']' and has no blanks, as in f32[2,3]"
  says 'x := ones f32[2]' "what is assigned stands behind '='"
  says 'x = ones f32[2];' "an instruction ends with its line, without ';'"
  says 'x = ones f32[2]; y = ones f32[3]' "an instruction ends with its line, without ';'"
  says "$x"'y = add x, x' 'operands stand one after another, with blanks between them and no commas, as in y = add a b'
  says $'x = ones\xc2\xa0f32[2]' "a no-break space (U+00A0) stands here, which is no blank of the language; write a plain one"
  says $'x\xc2\xa0= ones f32[2]' 'a no-break space (U+00A0) stands here'
  says "$x"$'y = add x\xc2\xa0x' 'a no-break space (U+00A0) stands here'
  says $'x = ones f32[2]\xe2\x80\x8b' 'a zero width space (U+200B) stands here'
  says "save x 'x.npy'" 'a string stands in plain double quotes, as in "x.npy"'
  says 'x = load “x.npy”' 'a string stands in plain double quotes'
  says "$x"'y = mul x −1' "a minus is the plain character '-'"
  says 'x = full f32[2] 1_000' "the digits of a number stand without '_'"
  says 'x = full i64[2] 0x10' 'numbers are decimal'
  says 'x = full f32[2] 0,5' 'a list stands in a key, as in shape=2,3, and a number has a point, as in 2.5'
  says "$x"'y = sum x axis:0' "a key is written with '=', as in axis=0"
  says "$x"'v,i = sort x' 'with blanks between them and no commas'
  says "$x"'y = x.shape' "unknown op 'x.shape'; shapes and dtypes are no values: they follow from the text, and print shows them"
  # The caret is below it.
  run ! gt-emit <<<$'x = ones\xc2\xa0f32[2]'
  [[ $output == *$'\n          ^'* ]]
}

@test "numbers as other programs print them" {
  local word
  for word in -nan -NaN NaN +nan; do
    says "x = tensor f32[1] $word" 'what is no number is nan, without a sign'
  done
  for word in -Infinity +Inf; do
    says "x = tensor f32[1] $word" 'the infinities are inf and -inf'
  done
  says 'x = tensor i64[2] 1 1e3' '1e3 is not a value of i64; an integer is written in digits alone, here 1000'
  says 'x = arange i64[3] -2e1' 'number -2e1 must be an integer; an integer is written in digits alone, here -20'
  says 'x = tensor i64[1] 1.5' '1.5 is not a value of i64'
}

@test "messages that 2>&1 has put into a stream" {
  gt-emit -e 'x = neg q' 2>&1 | cat >mixed || true
  run ! gt-work mixed
  [[ $output == *"this is a message of a stage before, which 2>&1 has put into the stream: leave that out"* ]]
}

@test "a mistake that a loop repeats is told once, and counted" {
  for _ in 1 2 3 4 5; do echo "x = ones f32[2]"; echo 'y = ad x x'; done >loop
  run -3 --separate-stderr gt-emit <loop
  [ "$(grep -c "unknown op 'ad'" <<<"$stderr")" -eq 1 ]
  [[ $stderr == *$'\ngt-emit: 4 more like the one at <stdin>:2' ]]
  [ "$(grep -c '^y = fail' <<<"$output")" -eq 5 ]
  printf 'x = ones f32[2]\n' >init.gt
  echo 'y = ad x x' >step.gt
  run -3 --separate-stderr gt-emit init.gt --repeat 100 step.gt
  [ "$(grep -c "unknown op 'ad'" <<<"$stderr")" -eq 1 ]
  [[ $stderr == *$'\ngt-emit: 99 more like the one at step.gt:1' ]]
}

@test "a home directory that only a shell knows" {
  # shellcheck disable=SC2088 # it is the text of a program
  says 'x = load "~/none.npy"' '~/none.npy: No such file or directory; only a shell knows what ~ is: write out the path'
  run -1 gt-work <<<'x = load "~/none.npy" f32[2]'
  [[ $output == *'only a shell knows what ~ is'* ]]
  run -1 gt-work <<<$'x = ones f32[2]\nsave x "~/none.npy"'
  [[ $output == *'only a shell knows what ~ is'* ]]
}

@test "a gt-shard without a config says so" {
  gt-emit -e 'x = ones f32[2]' >p
  run -0 --separate-stderr gt-shard p
  [ "$output" = "$(<p)" ]
  [ "$stderr" = 'gt-shard: no config is given, by -c or GT_CONFIG, so the stream passes as it comes' ]
  run -0 --separate-stderr gt-shard -c /dev/null p
  [ -z "$stderr" ]
}

@test "files whose names have bytes that do not print" {
  local name
  for name in $'a\nb.gt' $'a\tb.gt' $'a\033b.gt' $'a\177b.gt'; do
    printf 'x = ones f32[2]\ny = reshape x shape=3\nprint x\n' >"$name"
    run -3 --separate-stderr gt-emit "$name"
    [ "${#lines[@]}" -eq 5 ]
    run -3 --separate-stderr bash -c 'gt-emit "$1" 2>err | gt-work' - "$name"
    [ "$output" = 'x = tensor f32[2] 1 1' ]
    [ -z "$stderr" ]
  done
}

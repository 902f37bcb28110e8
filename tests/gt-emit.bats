#!/usr/bin/env bats
# What a user types at gt-emit.

load helper

# body prints the stream on standard input without its marks.
body() {
  sed '/^#gt /d; /^#end /d'
}

@test "inputs are read in the order of the command line" {
  echo 'a = ones f32[1]' >a
  echo 'b = ones f32[1]' >b
  echo 'c = ones f32[1]' >c
  run -0 bash -c 'gt-emit --no-at b --repeat 2 a -e "d = ones f32[1]" c \
    --repeat 1 b -e "e = ones f32[1]" - <a | cut -d " " -f 1'
  lines_are '#gt
b
a
a
d
c
b
e
a
#end'
}

@test "-e lines that stand together are one program; places count on" {
  run -3 --separate-stderr gt-emit -e 'x = ones f32[1]' -e 'y = neg z'
  [[ $stderr == "gt-emit: -e:2: neg: unknown name 'z'"* ]]
}

@test "a lone dash and no input at all are standard input" {
  echo 'x = ones f32[1]' >p
  run -0 gt-emit - <p
  dash=$output
  run -0 gt-emit <p
  [ "$output" = "$dash" ]
  [ "${lines[1]}" = 'x = ones f32[1]' ]
}

@test "--repeat 0 reads a file no time, and a missing one is still an error" {
  echo 'x = ones f32[1]' >p
  run -0 gt-emit --repeat 0 p
  lines_are $'#gt 1\n#end 0'
  run -2 --separate-stderr gt-emit --repeat 0 no-such
  [[ $stderr == 'gt-emit: cannot read no-such: No such file'* ]]
}

@test "--repeat of standard input feeds what it had again" {
  echo 'x = ones f32[1]' >p
  run -0 bash -c 'cat p | gt-emit --repeat 3 - -e "print x"'
  [ "$(grep -c '^x = ones' <<<"$output")" -eq 3 ]
  run -0 bash -c 'gt-emit --repeat 3 - -e "print x" <p'
  [ "$(grep -c '^x = ones' <<<"$output")" -eq 3 ]
  # --repeat read it to its end, so a second - finds nothing more.
  run -0 bash -c 'cat p | gt-emit --repeat 2 - -'
  [ "$(grep -c '^x = ones' <<<"$output")" -eq 2 ]
  run -3 --separate-stderr bash -c 'echo "y = nothing" | gt-emit --repeat 1 -'
  [[ $stderr == 'gt-emit: <stdin>:1: '* ]]
  run -2 --separate-stderr gt-emit --repeat 2 - <.
  [[ $stderr == 'gt-emit: cannot read <stdin>: Is a directory' ]]
}

@test "a place is noted for lines of files, and of stdin by --at alone" {
  echo 'x = ones f32[1] # one' >p.gt
  [ "$(gt-emit p.gt | body)" = 'x = ones f32[1] #at=p.gt:1 # one' ]
  [ "$(gt-emit --no-at p.gt | body)" = 'x = ones f32[1] # one' ]
  [ "$(gt-emit <p.gt | body)" = 'x = ones f32[1] # one' ]
  [ "$(gt-emit --at <p.gt | body)" = 'x = ones f32[1] #at=<stdin>:1 # one' ]
  [ "$(gt-emit p.gt | gt-emit --at | body)" = \
    'x = ones f32[1] #at=p.gt:1 # one' ]
  cp p.gt 'two words.gt'
  [ "$(gt-emit 'two words.gt' | body)" = \
    'x = ones f32[1] #at="two words.gt:1" # one' ]
  gt-emit 'two words.gt' >once
  gt-emit <once >twice
  cmp once twice
}

@test "messages name the place that a line's note states" {
  printf '%s\n' 'x = ones f32[2,3] #at=a.cc:1' \
    'y = matmul x x #signal=b #at="two words.cc:42" # why #at=c:2' \
    'z = neg y' 'w = #at=d.cc:7' >p.gt
  run -3 --separate-stderr gt-emit p.gt
  [[ $stderr == 'gt-emit: two words.cc:42: matmul: '*'gt-emit: d.cc:7: '* ]]
  [[ $output == *'y = fail "two words.cc:42: matmul: '* ]]
}

@test "a failure that has a key is refused by all programs in one wording" {
  local program
  echo 'y = fail "a" k=1' >p.gt
  for program in gt-emit gt-work 'gt-route -n 1' "gt-shard -c $BATS_TEST_DIRNAME/../configs/tensor-parallel.yaml"; do
    # shellcheck disable=SC2086
    run -3 --separate-stderr $program p.gt
    [[ $stderr == "${program%% *}: p.gt:1: fail: no key 'k'; usage: y... = fail message"* ]]
  done
}

@test "rounds have the places of the file's own lines" {
  printf 'x = ones f32[1]\n\ny = neg x\n' >p.gt
  run -0 bash -c 'gt-emit --repeat 50 p.gt | grep -c "#at=p.gt:3$"'
  [ "$output" -eq 50 ]
  run -0 bash -c 'gt-emit --repeat 50 p.gt | grep "#at=" | sort -u | wc -l'
  [ "$output" -eq 2 ]
}

@test "messages of replayed loops name the line where they are" {
  {
    echo 'x = ones f32[1]'
    yes 'x = add x 1' | head -n 500
    echo 'y = neg q'
    yes 'x = add x 1' | head -n 500
    echo 'l = sum x'
    echo 'g = grad l x'
    echo 'h = grad l x'
  } >p
  run -3 --separate-stderr gt-emit - <p
  [[ $stderr == *"gt-emit: <stdin>:502: neg: unknown name 'q'"* ]]
  [[ $stderr == *"<stdin>:1005: grad: cannot reach x: the history of l, "* ]]
  [[ $stderr == *"computed at <stdin>:1003, was consumed by the grad at \
<stdin>:1004"* ]]
}

@test "--seed is where seeds that are left out begin" {
  program=(-e 'x = rand f32[3]' -e 'y = rand f32[3]' -e 'print x' -e 'print y')
  run -0 gt-emit "${program[@]}"
  [ "${lines[1]}" = '_eseed = tensor i64[] 0' ]
  gt-emit "${program[@]}" | gt-work >zero
  gt-emit "${program[@]}" | gt-work | cmp - zero # every run gives the same numbers
  gt-emit --seed 1 "${program[@]}" | gt-work >one
  # Seed 0's second value is seed 1's first; each use gets another number.
  [ "$(sed -n 's/^y = //p' zero)" = "$(sed -n 's/^x = //p' one)" ]
  [ "$(sed 's/^. = //' zero | sort -u | wc -l)" -eq 2 ]
  run -2 gt-emit --seed high
}

@test "a loop with seeds left out is the same text each round" {
  printf 'x = rand f32[2]\nprint x\n' >p
  run -0 bash -c 'gt-emit --no-at --repeat 9 p | sort | uniq -c | sort -n |
    awk "{ print \$1, \$2, \$3, \$4 }"'
  lines_are '1 #end 0 
1 #gt 1 
1 _eseed = tensor
9 _eseed = add
9 print x 
9 x = rand'
}

@test "--fail-fast stops at the first rejected line" {
  run -3 --separate-stderr gt-emit --fail-fast -e 'x = one f32[1]' \
    -e 'y = two f32[1]' -e 'z = ones f32[1]'
  [ "${#lines[@]}" -eq 3 ]
  [ "${lines[2]}" = '#end 3' ]
  [[ $stderr != *two* ]]
}

@test "--history warns once, and names the value that holds it and what to write" {
  {
    echo 'w = ones f32[]'
    echo 'sum = zeros f32[]'
    yes 'sum = add sum w' | head -n 100
  } >p
  run -0 --separate-stderr gt-emit --history 20 - <p
  [ "$(grep -c warning <<<"$stderr")" -eq 1 ]
  [[ $stderr == "gt-emit: <stdin>:23: warning: the history that 'sum' holds is \
longer than 20 lines"*"write sum = detach sum"* ]]
  echo 'sum = detach sum' >>p
  run -0 --separate-stderr gt-emit --history 101 - <p
  [ -z "$stderr" ]
}

@test "#backward=NAME gives the lines of a gradient another signal" {
  printf '%s\n' 'w = ones f32[2]' 'y = mul w 3 #signal=up #backward=down #mb=1' \
    'l = sum y #signal=up' 'g = grad l w' 'print g' >p.gt
  run -0 gt-emit p.gt
  [[ $output == *'y = mul w 3 #signal=up #backward=down #mb=1'* ]]
  [[ $output == *'g = mul '*' 3 #signal=down #mb=1 #bwd #grad=w'* ]]
  [[ $output == *'expand '*' #signal=up #bwd'* ]]
  run -0 gt-work <<<"$output"
  lines_are 'g = tensor f32[2] 3 3'
}

@test "#tape NAME gives the history behind a value back among the results" {
  printf '%s\n' 'w = ones f32[2,2]' 'y = mul w w #signal=a/b' 'y = exp y' 'l = sum y' \
    '#tape l' '#tape w' '# tape l' '#tape of mine' >p.gt
  run -0 gt-emit p.gt
  [ "$(grep '^#' <<<"$output")" = "#gt 1
#sync tape:v0%20=%20mul%20w%20w%20#signal=a/b%20%20#%20f32[2,2]%0Ay%20=%20exp%20v0%20%20#%20f32[2,2]%0Al%20=%20sum%20y%20%20#%20f32[]%0A
# tape l
#tape of mine
#end 0" ]
  run -0 gt-work <<<"$output"
  [[ $output == '#sync tape:v0%20=%20mul'* ]]
}

@test "--tape prints histories, and no stream" {
  run -0 gt-emit --tape -e 'w = ones f32[2]' -e 'y = exp w' -e 'l = sum y' \
    -e 'g = grad l w'
  lines_are '# history behind l at -e:4: 2 lines
y = exp w  # -e:2 f32[2] reads y
l = sum y  # -e:3 f32[]
# history at the end: 0 lines'
}

@test "free takes globs, and frees each name once" {
  run -0 gt-emit -e 'act/b = ones f32[1]' -e 'act/a = ones f32[1]' \
    -e 'acts = ones f32[1]' -e 'free act/* act/a'
  [ "${lines[4]}" = 'free act/a act/b' ]
  run -3 --separate-stderr gt-emit -e 'free x' -e 'x = ones f32[1]' \
    -e 'free x' -e 'free x'
  [ "$(grep -c "unknown name 'x'" <<<"$stderr")" -eq 2 ]
}

@test "names that nobody made, and more of them than the op takes" {
  gt-emit --ops | sed -nE 's/^([^#=]*= )?([a-z_0-9]+).*/\2/p' | sort -u >ops
  [ "$(wc -l <ops)" -gt 100 ]
  sed 's/.*/y = & a b c d e f g h i j k l/' ops >p
  for program in gt-emit gt-work; do
    run -3 --separate-stderr "$program" p
    [ "$(grep -c '^gt-' <<<"$stderr")" -ge "$(wc -l <ops)" ]
  done
}

@test "a save to a path that is refused goes through gt-emit again unchanged" {
  run -3 --separate-stderr gt-emit -e 'x = ones f32[2]' -e 'save x "x.py"'
  gt-emit <<<"$output" >again || [ $? -eq 3 ]
  diff again - <<<"$output"
}

@test "a load gets its type from the file, or from the save before" {
  printf 'x = arange f32[6]\nsave x "six.npy"\n' | gt-work
  run -0 gt-emit -e 'y = load "six.npy"' -e 'z = zeros i64[2,2]' \
    -e 'save z "six.npy"' -e 'y = load "six.npy"'
  [ "${lines[1]}" = 'y = load "six.npy" f32[6]' ]
  [ "${lines[4]}" = 'y = load "six.npy" i64[2,2]' ]
}

@test "--ops describes the table, and exits" {
  run -0 gt-emit --ops
  [[ $output == *'y = matmul a b ta=0 tb=0'* ]]
  run -0 gt-emit --ops matmul -e 'this is not read'
  [[ ${lines[0]} == 'y = matmul a b ta=0 tb=0 [out=]' ]]
  run -2 --separate-stderr gt-emit --ops=matmull
  [[ $stderr == *"did you mean 'matmul'?"* ]]
  [ -z "$output" ]
}

@test "bad usage is status 2, an empty stream and a hint" {
  for bad in --no-such '--seed' '--repeat 2' '--history x' '--at --no-at'; do
    # shellcheck disable=SC2086 # words
    run -2 --separate-stderr gt-emit $bad
    lines_are $'#gt 1\n#end 2'
    [[ $stderr == 'gt-emit: '* ]]
  done
}

@test "--help and --version say so and exit" {
  run -0 --separate-stderr gt-emit --help
  [[ $output == *'gt-emit'*'--repeat'*'Examples:'* ]]
  [[ $output != *'#gt 1'* ]]
  run -0 gt-emit --version
  [[ $output =~ ^gt-emit\ [0-9]+\.[0-9]+ ]]
  run -2 --separate-stderr bash -c 'gt-emit --help >/dev/full'
  [ "$stderr" = 'gt-emit: cannot write standard output: No space left on device' ]
}

@test "comments and blank lines pass in place" {
  printf '# one\n\nx = ones f32[1] # two\n   # three\n# four' >p
  run -0 bash -c 'gt-emit <p | sed 1d | sed \$d'
  lines_are '# one

x = ones f32[1] # two
   # three
# four'
}

@test "gt-emit fed its own output prints it unchanged, and its status" {
  printf '%s\n' 'w = ones f32[2]' 'h = exp w' 'h = exp h' 'l = sum h' \
    'free h' 'g = grad l w' 'q = oops' 'print q' 'r = rand f32[2]' \
    >p
  gt-emit p >once 2>/dev/null || true
  run -3 --separate-stderr gt-emit once
  [ -z "$stderr" ]
  diff once <(gt-emit <once)
  [ "$(tail -n 1 once)" = '#end 3' ]
}

@test "with and without --no-replay the same bytes" {
  printf 'x = ones f32[2]\nl = sum x\n' >init
  printf 'h = tanh x\nl = sum h\ng = grad l x\nx = sgd x g 0.1\n' >step
  for more in '' '-e print l' '--repeat 30 step'; do
    # shellcheck disable=SC2086 # words
    cmp <(gt-emit init --repeat 40 step $more) \
      <(gt-emit --no-replay init --repeat 40 step $more)
  done
}

@test "the gradient of an unreached target is zeros of its type, whatever the results are named" {
  printf '%s\n' 'x = tensor f32[2] 1 2' 'z = tensor f64[3] 1 2 3' 'L = sum x' \
    'z g w = grad L L x z' 'print w' >p.gt
  run -0 gt-work <(gt-emit p.gt 2>/dev/null)
  [[ $output == 'w = tensor f64[3] 0 0 0' ]]
  # The same holds with ranks, where one part of the name is bound again.
  printf '%s\n' 'x@0-1 = tensor f32[2] 1 2' 'z@0 = tensor f64[3] 1 2 3' 'z@1 = ones f32[]' \
    'L@0-1 = sum x@0-1' 'z@0-1 w@0-1 = grad L@0-1 L@0-1 z@0-1' 'print w@0-1' >p.gt
  run -0 gt-work <(gt-emit p.gt 2>/dev/null)
  [[ $output == $'w@0 = tensor f64[3] 0 0 0\nw@1 = tensor f32[] 0' ]]
}

@test "#grad= does not name a name that the line has bound again" {
  gt-emit --no-at <(printf '%s\n' 'v = ones f32[2]' 'w = ones f32[3]' 'a = sum v' 'b = sum w' \
    'l = mul a b' 'w v = grad l v w # swapped') >p.s
  # The backward goes from the last line to the first. So v, the gradient by w, is
  # bound while w still has its name, and then w is bound again.
  grep -q '^v = .*#grad=w # swapped$' p.s
  grep -q '^w = ' p.s
  run ! grep '#grad=v' p.s
}

@test "a print under a filter's name prints a failure, and a second gt-emit keeps it" {
  for line in 'print _x' 'print _x as=_y' 'print _x@0-1' 'print c1/_x'; do
    gt-emit -e "$line" >p.s 2>/dev/null || true
    run -3 --separate-stderr gt-work p.s
    [[ ${lines[0]} == print*' = fail '* ]]
    run -3 gt-emit p.s
    [[ $output == "$(<p.s)" ]]
  done
}

@test "the gradient of a slice from a named start counts it from the end, too" {
  for start in -5 -2 0 3; do
    printf '%s\n' 'x = tensor f64[5] 1 2 3 4 5' "i = tensor i64[] $start" \
      's = slice x i axis=0 size=2' 's = mul s s' 'l = sum s' \
      'g = grad l x' 'print g' >named.gt
    sed "/^i =/d;s/slice x i/slice x $start/" named.gt >plain.gt
    gt-cmp --exact <(gt-emit named.gt | gt-work) <(gt-emit plain.gt | gt-work)
  done
}

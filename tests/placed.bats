#!/usr/bin/env bats
# Programs placed by hand against the same programs without ranks, forward and
# backward. Values are small integers, so every sum is exact.

load helper

# integers NAME SIZES SEED [KEYS] prints lines that make NAME, a name with or
# without ranks. The whole is the same however it is cut.
integers() {
  echo "$1 = rand f32[$2] $3 ${4:-}"
  echo "$1 = mul $1 5"
  echo "$1 = cast $1 i64"
  echo "$1 = add $1 -2"
  echo "$1 = cast $1 f32"
}

# run_program FILE prints its results; its stream is left in FILE.s.
run_program() {
  gt-emit --no-at "$1" >"$1.s"
  gt-work "$1.s"
}

# agree: the programs `whole` and `placed` print the same.
agree() {
  run -0 "$GT_ROOT/scripts/gt-cmp" --exact <(run_program whole) <(run_program placed)
  # A second gt-emit leaves the stream of a placed program unchanged.
  gt-emit placed.s | diff placed.s -
  gt-check -q placed.s
}

# Prints a two-layer block and the gradients by its input and its weights.
whole_block() {
  integers x 4,6 1
  integers u 6,8 2
  integers d 8,3 3
  cat <<'END'
h = matmul x u
h = relu h
o = matmul h d
q = mul o o
l = sum q
gx gu gd = grad l x u d
print l
print gx
print gu
print gd
END
}

@test "a column-parallel and a row-parallel product make a block" {
  whole_block >whole
  {
    echo 'mesh tp=4'
    integers x@0-3 4,6 1 | sed '1s/$/ #type=tp:I/'
    integers u@0-3 6,8 2 split=tp:1
    integers d@0-3 8,3 3 split=tp:0
    cat <<'END'
c@0-3 = convert x@0-3 over=tp src=I dst=R
h@0-3 = matmul c@0-3 u@0-3
h@0-3 = relu h@0-3
o@0-3 = matmul h@0-3 d@0-3 #partial=tp
o@0-3 = all_reduce o@0-3 over=tp dst=I
q@0-3 = mul o@0-3 o@0-3
l@0-3 = sum q@0-3
gx@0-3 gu@0-3 gd@0-3 = grad l@0-3 x@0-3 u@0-3 d@0-3
print l@2 as=l
print gx@3 as=gx
print gu@0-3 split=tp:1
print gd@0-3 split=tp:0
END
  } >placed
  agree
}

@test "rows are cut over data-parallel ranks, whose gradients are summed" {
  whole_block >whole
  {
    echo 'mesh dp=3' # of four rows the first rank has two
    integers x@0-2 4,6 1 split=dp:0
    integers u@0-2 6,8 2
    integers d@0-2 8,3 3
    cat <<'END'
h@0-2 = matmul x@0-2 u@0-2
h@0-2 = relu h@0-2
o@0-2 = matmul h@0-2 d@0-2
q@0-2 = mul o@0-2 o@0-2
l@0-2 = sum q@0-2 #partial=dp
gx@0-2 gu@0-2 gd@0-2 = grad l@0-2 x@0-2 u@0-2 d@0-2
gu@0-2 = all_reduce gu@0-2 over=dp
gd@0-2 = all_reduce gd@0-2 over=dp
l@0-2 = all_reduce l@0-2 over=dp
print l@1 as=l
print gx@0-2 split=dp:0
print gu@2 as=gu
print gd@0 as=gd
END
  } >placed
  agree
}

# Prints the same block over four ranks, with sequence parallelism.
sequence_block() {
  echo 'mesh dp=2 tp=2'
  integers x@0-3 4,6 1 split=dp:0,tp:0
  integers u@0-3 6,8 2 split=tp:1
  integers d@0-3 8,3 3 split=tp:0
  cat <<'END'
r@0-3 = all_gather x@0-3 over=tp src=S0
h@0-3 = matmul r@0-3 u@0-3
h@0-3 = relu h@0-3
o@0-3 = matmul h@0-3 d@0-3 #partial=tp
o@0-3 = reduce_scatter o@0-3 over=tp dst=S0
q@0-3 = mul o@0-3 o@0-3
l@0-3 = sum q@0-3 #partial=dp+tp
gx@0-3 gu@0-3 gd@0-3 = grad l@0-3 x@0-3 u@0-3 d@0-3
gu@0-3 = all_reduce gu@0-3 over=dp
gd@0-3 = all_reduce gd@0-3 over=dp
l@0-3 = all_reduce l@0-3 over=dp+tp
print l@3 as=l
print gx@0-3 split=dp:0,tp:0
print gu@0-1 split=tp:1
print gd@2-3 split=tp:0
END
}

@test "rows are gathered before a block and scattered after it, in two ways" {
  whole_block >whole
  sequence_block >placed
  agree
}

@test "a table cut by rows is looked up by whole indices" {
  table() { # RANKS, KEYS of the table, KEYS of the lookup
    integers "t$1" 7,3 1 "$2"
    echo "i$1 = tensor i64[5] 6 0 2 6 3"
    echo "e$1 = embedding t$1 i$1$3"
  }
  {
    table '' '' ''
    cat <<'END'
q = mul e e
l = sum q
g = grad l t
print l
print g
END
  } >whole
  {
    echo 'mesh tp=3'
    table @0-2 split=tp:0 ' split=tp:0 shape=7,3'
    cat <<'END'
e@0-2 = all_reduce e@0-2 over=tp dst=I
q@0-2 = mul e@0-2 e@0-2
l@0-2 = sum q@0-2
g@0-2 = grad l@0-2 t@0-2
print l@0 as=l
print g@0-2 split=tp:0
END
  } >placed
  agree
  grep -q '^g@0-2 = embedding_grad .* rows=7 split=tp:0 shape=7,3 ' placed.s
}

@test "stages on their own ranks hand over by copy" {
  whole_block >whole
  {
    integers x@0 4,6 1
    integers u@0 6,8 2
    integers d@1 8,3 3
    cat <<'END'
h@0 = matmul x@0 u@0
h@0 = relu h@0
a@1 = copy h@0
o@1 = matmul a@1 d@1
q@1 = mul o@1 o@1
l@1 = sum q@1
gx@0 gu@0 gd@1 = grad l@1 x@0 u@0 d@1
print l@1 as=l
print gx@0 as=gx
print gu@0 as=gu
print gd@1 as=gd
END
  } >placed
  agree
}

@test "a step of training is replayed, and a seed that is left out goes on counting" {
  {
    echo 'mesh dp=2'
    integers w@0-1 4 1
  } >init
  cat >step <<'END'
x@0-1 = rand f32[6,4] split=dp:0
x@0-1 = mul x@0-1 3
x@0-1 = cast x@0-1 i64
x@0-1 = cast x@0-1 f32
y@0-1 = mul x@0-1 w@0-1
l@0-1 = sum y@0-1 #partial=dp
g@0-1 = grad l@0-1 w@0-1
g@0-1 = all_reduce g@0-1 over=dp
w@0-1 = sgd w@0-1 g@0-1 1
END
  echo 'print w@1 as=w' >end
  gt-emit --no-at init --repeat 50 step end >stream
  gt-emit --no-at --no-replay init --repeat 50 step end | cmp - stream
  sed 's/@0-1//g; s/@1 / /; s/ split=dp:0//; s/ over=dp//
    /^mesh/d; /all_reduce/d' init >plain-init
  sed 's/@0-1//g; s/ split=dp:0//; /all_reduce/d' step >plain-step
  run -0 "$GT_ROOT/scripts/gt-cmp" --exact <(gt-work stream) \
    <(gt-emit plain-init --repeat 50 plain-step -e 'print w' | gt-work)
}

@test "a number where a collective wants a name is reported by every program" {
  printf '%s\n' 'mesh dp=2' 'y@0-1 = all_reduce 1 over=dp' 'print y@0' >p.gt
  for program in gt-emit gt-work; do
    run -3 --separate-stderr "$program" p.gt
    [[ $stderr == *':2: all_reduce: '*'one name'*'; usage: y = all_reduce '* || $stderr == *':2: all_reduce: '*"tensor's name"*'; usage: y = all_reduce '* ]]
  done
  run -0 gt-log --summary --tsv p.gt
  [[ $output == *$'op\tall_reduce\t1\t1\t'* ]]
}

@test "seeds left out with and without ranks differ" {
  printf '%s\n' 'w = randn f32[2]' 'v@0-1 = randn f32[2]' 'u@2 = randn f32[2]' \
    'w2 = randn f32[2]' 'print w' 'print v@0' 'print u@2' 'print w2' >p
  run -0 run_program p
  [ "$(printf '%s\n' "${lines[@]}" | sed 's/.*= //' | sort -u | wc -l)" -eq 4 ]
}

@test "notes may be left out, since a loss over a cut dimension is known to be a sum" {
  whole_block >whole
  sequence_block | sed 's/ #.*//' >placed
  agree
}

@test "the message about a refused loss says what mends it, and gt-check accepts that" {
  mended() { # PROGRAM and LOSS
    run -3 --separate-stderr gt-emit --no-at - <<<"$1
g@0-1 = grad $2@0-1 x@0-1"
    fix=$(grep -o "${2}1@0-1 = [^,]*" <<<"$stderr")
    gt-emit --no-at - <<<"$1
$fix
g@0-1 = grad ${2}1@0-1 x@0-1" >mended.s
    gt-check -q mended.s
  }
  mended $'mesh tp=2\nx@0-1 = ones f32[4]\nl@0-1 = sum x@0-1' l
  [[ $fix == *'convert l@0-1 over=tp src=R dst=P' ]]
  mended $'mesh tp=2\nx@0 = ones f32[4] #local\nx@1 = zeros f32[4] #local
l@0-1 = sum x@0-1 #local' l
  [[ $fix == *'reinterpret l@0-1 over=tp src=V dst=P #local' ]]
}

@test "gradients of uneven pieces are cut as their values are" {
  cat >whole <<'END'
x = arange f32[30]
x = reshape x shape=5,6
a = slice x : 1:6:2
b = sum a axis=1
c d = split x axis=1
d = reshape d shape=15
e = sum b
f = sum d
l = mul e f
g = grad l x
print g
END
  cat >placed <<'END'
mesh tp=3
x@0-2 = arange f32[30] split=tp:0*6
x@0-2 = reshape x@0-2 shape=5,6 split=tp:0
a@0-2 = slice x@0-2 : 1:6:2
b@0-2 = sum a@0-2 axis=1
c@0-2 d@0-2 = split x@0-2 axis=1
d@0-2 = reshape d@0-2 shape=15 split=tp:0*3
e@0-2 = sum b@0-2
f@0-2 = sum d@0-2
e@0-2 = all_reduce e@0-2 over=tp dst=R
l@0-2 = mul e@0-2 f@0-2
g@0-2 = grad l@0-2 x@0-2
print g@0-2 split=tp:0
END
  agree
}

@test "redistribute between specs takes steps over one axis each, and its gradient goes back" {
  # moved MESH SHAPE SRC DST SPLIT SPLIT AXES AXES: the specs, the same as split=
  # has them, the axes over which the loss is the same, and those over which g is
  # summed.
  moved() {
    cat >whole <<END
x = randn f32[$2] 1
c = randn f32[$2] 2
z = mul x c
l = sum z
g = grad l x
print x as=y
print g
END
    local at
    at=@0-$(($(sed 's/[a-z]*=//g; s/ /*/g' <<<"$1") - 1))
    cat >placed <<END
mesh $1
x$at = randn f32[$2] 1${5:+ split=$5}
c$at = randn f32[$2] 2${6:+ split=$6}
y$at = redistribute x$at src_spec=$3 dst_spec=$4
z$at = mul y$at c$at
l$at = sum z$at
END
    # The loss is the same on all ranks of an axis that cuts nothing, so one of them
    # counts.
    local axis loss=l
    for axis in $7; do
      echo "${loss}1$at = convert $loss$at over=$axis src=R dst=P" >>placed
      loss=${loss}1
    done
    cat >>placed <<END
g$at = grad $loss$at x$at
END
    for axis in $8; do
      echo "g$at = all_reduce g$at over=$axis" >>placed
    done
    if [[ -n $6 ]]; then
      echo "print y$at split=$6 as=y" >>placed
    else
      echo "print y@0 as=y" >>placed
    fi
    if [[ -n $5 ]]; then
      echo "print g$at split=$5 as=g" >>placed
    else
      echo "print g@0 as=g" >>placed
    fi
    gt-check -q placed # redistribute itself is clean, before gt-emit takes it apart
    agree
  }
  moved 'dp=2 tp=2' 8,4 dp+tp,- tp+dp,- dp:0,tp:0 tp:0,dp:0
  moved 'dp=2 tp=3' 7,5 dp+tp,- tp+dp,- dp:0,tp:0 tp:0,dp:0
  moved 'dp=2 tp=3' 7,5 dp+tp,- dp,tp dp:0,tp:0 dp:0,tp:1
  moved 'dp=2 tp=2' 6,4 dp,tp tp,dp dp:0,tp:1 tp:0,dp:1
  moved 'a=2 b=2 c=2' 9,8,8 a+b,c,- c,-,b+a a:0,b:0,c:1 c:0,b:2,a:2
  moved 'dp=2 tp=2' 6,4 dp+tp,- -,- dp:0,tp:0 '' 'dp tp' ''
  moved 'dp=2 tp=2' 6,4 -,- -,tp '' tp:1 'dp' 'dp tp'
  grep -q '^y@0-3 = convert x@0-3 over=tp src=R dst=S1' placed.s
}

@test "a name space with which no name can begin is refused by all programs" {
  for space in 'a b' a@0 '"a/"'; do
    printf 'mesh dp=4 space=%s\nx = ones f32[2]\nprint x\n' "$space" >p.gt
    for program in gt-emit gt-check gt-work 'gt-route -n 1'; do
      # shellcheck disable=SC2086
      run -3 --separate-stderr $program p.gt
      [[ $stderr == *'p.gt:1:'* && $(wc -l <<<"$stderr") -le 4 ]]
    done
  done
}

@test "name spaces lie within each other, and the innermost one with a mesh counts" {
  cat >p.gt <<'X'
mesh all=4
mesh dp=2 space=c1
mesh tp=2 space=c1/a
o@0-3 = arange i64[8] split=all:0
c1/x@0-1 = arange i64[4] split=dp:0
c1/a/y@0-1 = arange i64[6] split=tp:0
c1/b/z@0-1 = arange i64[2] split=dp:0
print o@0-3 split=all:0
print c1/x@0-1 split=dp:0
print c1/a/y@0-1 split=tp:0
print c1/b/z@0-1 split=dp:0
endmesh space=c1/a
c1/a/y@0-1 = add c1/a/y@0-1 c1/a/y@0-1
print c1/a/y@0-1 split=dp:0
free c1/a/y@0-1
free c1/x@0-1
free c1/b/z@0-1
endmesh space=c1
c1/x@0-3 = arange i64[4] split=all:0
print c1/x@0-3 split=all:0
X
  run -0 gt-work p.gt
  lines_are 'o = tensor i64[8] 0 1 2 3 4 5 6 7
c1/x = tensor i64[4] 0 1 2 3
c1/a/y = tensor i64[6] 0 1 2 3 4 5
c1/b/z = tensor i64[2] 0 1
c1/a/y = tensor i64[6] 0 2 4 6 8 10
c1/x = tensor i64[4] 0 1 2 3'
  gt-work p.gt >alone
  for n in 1 2 3 4; do cmp alone <(gt-emit p.gt | gt-route -n $n); done
  gt-check -q p.gt
}

@test "specs that do not fit the tensor, or are missing, are reported" {
  head='mesh dp=2 tp=2
x@0-3 = ones f32[4,4] split=dp:0'
  says() { # the rest of the LINE and the MESSAGE
    printf '%s\n' "$head" "y@0-3 = redistribute x@0-3 $1" >p.gt
    run -3 --separate-stderr gt-emit p.gt
    [[ $stderr == *"$2"* ]] || { echo "$stderr"; return 1; }
  }
  says 'src_spec=dp dst_spec=tp,-' 'has 1 entries, the tensor 2 dimensions'
  says 'src_spec=dp,- dst_spec=pp,-' "no axis 'pp' in mesh dp=2 tp=2"
  says 'src_spec=dp,-' 'src_spec= and dst_spec=, both'
  says 'over=dp' 'takes src= and dst= on the axis over=, or src_spec='
  says 'src_spec=dp,- dst_spec=-,- over=dp' 'key over goes with src='
  printf '%s\n' "$head" \
    'y@0-3 = redistribute x@0-3 src_spec=-,dp dst_spec=-,-' >p.gt
  run -1 --separate-stderr gt-check -q p.gt
  [[ $stderr == *'[shard-src]'* ]]
  run gt-work p.gt
  [[ $output == *'run this through gt-emit'* ]]
}

@test "without its notes a block of R and I has the same gradient" {
  {
    echo 'mesh dp=2 tp=2'
    integers x@0-3 4,6 1 split=dp:0 | sed '1s/$/ #type=tp:I/'
    integers u@0-3 6,8 2 split=tp:1
    integers d@0-3 8,3 3 split=tp:0
    cat <<'END'
r@0-3 = convert x@0-3 over=tp src=I dst=R
h@0-3 = matmul r@0-3 u@0-3
o@0-3 = matmul h@0-3 d@0-3 #partial=tp
y@0-3 = all_reduce o@0-3 over=tp dst=I
q@0-3 = mul y@0-3 y@0-3
l@0-3 = sum q@0-3 #partial=dp
gx@0-3 gu@0-3 = grad l@0-3 x@0-3 u@0-3
print gx@0-3 split=dp:0
gu@0-3 = all_reduce gu@0-3 over=dp
print gu@0-3 split=tp:1
END
  } >whole
  sed 's/ #.*//' whole >placed
  gt-emit --no-at whole | gt-check -q
  run -0 "$GT_ROOT/scripts/gt-cmp" --exact <(run_program whole) <(run_program placed)
  [ -s whole.s ]
}

@test "a print that comes again sees all pieces, even those that were empty" {
  cat >shrinks.gt <<'END'
mesh tp=4
x@0-3 = ones f32[2] split=tp:0
print x@0-3 split=tp:0
x@0-3 = ones f32[1] split=tp:0
print x@0-3 split=tp:0
x@0-3 = zeros f32[2] split=tp:0
print x@0-3 split=tp:0
END
  printf 'x = tensor f32[%s\n' '2] 1 1' '1] 1' '2] 0 0' >expected
  gt-work shrinks.gt | diff - expected
  gt-work --no-cache shrinks.gt | diff - expected
  gt-route -n 1 <shrinks.gt | diff - expected
  gt-route -n 3 <shrinks.gt | diff - expected
}

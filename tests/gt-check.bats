#!/usr/bin/env bats
# What a user sees of gt-check: right streams pass, and wrong ones get a finding.

load helper

# Writes a program with column- and row-parallel products on two ranks and a
# training step.
make_placed() {
  cat >placed.gt <<'END'
mesh dp=2 tp=2
x@0-3 = load "x.npy" f32[7,16] 0 split=dp:0
w@0-3 = randn f32[16,6] 7 split=tp:1
v@0-3 = randn f32[6,4] 8 split=tp:0
h@0-3 = matmul x@0-3 w@0-3
h@0-3 = relu h@0-3
y@0-3 = matmul h@0-3 v@0-3
y@0-3 = all_reduce y@0-3 over=tp dst=I
l@0-3 = sum y@0-3
dy@0-3 = ones f32[7,4] split=dp:0 #bwd #type=tp:I
r@0-3 = convert dy@0-3 over=tp src=I dst=R #bwd
gv@0-3 = matmul h@0-3 r@0-3 ta=1 #bwd #grad=v
gv@0-3 = all_reduce gv@0-3 over=dp #bwd #grad=v
v@0-3 = sgd v@0-3 gv@0-3 0.1
print y@0-3 split=dp:0 shape=7,4 as=y
END
}

# finds KIND checks that gt-check -q finds that kind of fault in standard input.
finds() {
  run -1 --separate-stderr gt-check -q
  [[ $stderr == *"[$1]"* ]] || {
    printf '%s\n' "$stderr"
    return 1
  }
}

@test "a right stream is clean, and comes out with its types" {
  make_placed
  gt-check placed.gt >out
  run -0 grep -c '#type=' out
  [ "$output" = 13 ]
  grep -q '^h@0-3 = matmul x@0-3 w@0-3 #type=dp:S0,tp:S1$' out
  grep -q '^gv@0-3 = matmul h@0-3 r@0-3 ta=1 #bwd #grad=v #type=dp:P,tp:S0$' out
  gt-check out | cmp - out
}

@test "notes are all that is added" {
  make_placed
  diff <(gt-check placed.gt | sed 's/ #.*//') \
    <({ echo '#gt 1'; cat placed.gt; echo '#end 0'; } | sed 's/ #.*//')
}

@test "a stream without a mesh passes as it is" {
  printf 'x  = ones f32[2]\n# a comment\n\nprint x # y\n' >a.gt
  diff <(gt-check a.gt) <({ echo '#gt 1'; cat a.gt; echo '#end 0'; })
}

@test "a collective that is deleted, doubled or over another axis is found" {
  make_placed
  sed '/all_reduce y/d' placed.gt | finds part-nonlin
  sed '/all_reduce y/{p;}' placed.gt | finds src-type
  sed 's/f32\[7/f32[8/; s/shape=7/shape=8/; /all_reduce y/s/tp/dp/' placed.gt |
    finds src-type
  sed '/all_reduce gv/d' placed.gt | finds part-affine
  sed '/all_reduce gv/{p;}' placed.gt | finds src-type
  sed '/all_reduce gv/s/dp/tp/' placed.gt | finds src-type
  sed '/convert dy/s/ convert.*#/ copy dy@0-3 #/' placed.gt | finds inv-mix
}

@test "a cut that is another than its readers want is found" {
  make_placed
  sed '/^v@0-3 = randn/s/tp:0/tp:1/' placed.gt | finds shard-prop
  sed '/^w@0-3/s/tp:1/tp:0/' placed.gt | finds shard-prop
  sed '/^w@0-3/s/tp:1/tp:1*2/' placed.gt | finds uneven
  sed '/^print/s/dp:0/tp:0/' placed.gt | finds spec-conflict
  sed '/^x@/s/split=dp:0//; /^print/s/split=dp:0 shape=7,4//' placed.gt |
    finds shard-prop
}

@test "operands that are not on the ranks of their line are found" {
  make_placed
  sed '/^h@0-3 = relu/s/ h@0-3/ h@0-1/' placed.gt | finds ranks
  sed '/^w@0-3/d' placed.gt | finds unbound
  sed '/all_reduce y/s/@0-3/@0-1/g' placed.gt | finds shard-prop
}

@test "a finding names the operands and lines that mend it" {
  make_placed
  sed -i '/all_reduce y/d' placed.gt
  run -1 --separate-stderr gt-check -q placed.gt
  [ -z "$output" ]
  [[ $stderr == "gt-check: placed.gt:14: print: axis tp: "* ]]
  [[ $stderr == *"fix: y1@0-3 = all_reduce y@0-3 over=tp src=P dst=R"* ]]
}

@test "the status goes into the end mark, and a stream that is cut short is reported" {
  make_placed
  sed -i '/all_reduce y/d' placed.gt
  run -1 --separate-stderr gt-check placed.gt
  [ "${lines[-1]}" = '#end 1' ]
  printf 'x = = y\n' >bad.gt
  run -3 --separate-stderr gt-check bad.gt
  [ "${lines[-1]}" = '#end 3' ]
  printf '#gt 1\nx = ones f32[1]\n' >cut.gt
  run -4 --separate-stderr gt-check cut.gt
  [[ $stderr == *'stream cut short after line 2'* ]]
  run -2 --separate-stderr gt-check nothing.gt
  run -2 --separate-stderr gt-check --no-such
}

@test "-t says what each line reads and gives" {
  make_placed
  run -0 --separate-stderr gt-check -q -t placed.gt
  [[ $stderr == *$'\n5 matmul({dp:S0,tp:R}, {dp:R,tp:S1}) -> {dp:S0,tp:S1}\n'* ]]
}

@test "-l follows no shards, --explicit-partial wants sums to be claimed" {
  make_placed
  gt-check -l placed.gt | grep -q '^h@0-3 = relu h@0-3 #type=dp:V,tp:V$'
  run -1 --separate-stderr gt-check -q --explicit-partial placed.gt
  [[ $stderr == *'[partial-implicit]'* ]]
}

@test "an annotated program without ranks is checked with whole shapes" {
  cat >a.gt <<'END'
mesh tp=2
x = load "x.npy" f32[4,6] #type=tp:S1
w = load "w.npy" f32[6,2] #type=tp:S0
y = matmul x w
z = relu y
END
  run -1 --separate-stderr gt-check a.gt
  [[ $stderr == *'a.gt:5: relu: axis tp: '*'[part-nonlin]'* ]]
  [[ $output == *'y = matmul x w #type=tp:P'* ]]
}

@test "--memory says what ranks hold and copies carry" {
  cat >a.gt <<'END'
mesh pp=2 tp=2
x@0-1 = ones f32[8] split=tp:0
y@2-3 = copy x@0-1
z@2-3 = copy x@0-1
u@2-3 = add y@2-3 z@2-3
free y@2-3 z@2-3
y@2-3 = copy x@0-1
u@2-3 = add y@2-3 u@2-3
END
  run -0 --separate-stderr gt-check -q --memory a.gt
  [ "$stderr" = 'ranks 0-1: 16 bytes at most
ranks 2-3: 48 bytes at most
rank 0 to 2: 3 copies, 48 bytes, 32 in flight at most
rank 1 to 3: 3 copies, 48 bytes, 32 in flight at most' ]
}

@test "pipelines hand over between sets of ranks of one layout" {
  cat >a.gt <<'END'
mesh pp=2 tp=2
x@0-1 = ones f32[8,4] split=tp:1
y@2-3 = copy x@0-1
w@2-3 = ones f32[4,2] split=tp:0
z@2-3 = matmul y@2-3 w@2-3
z@2-3 = all_reduce z@2-3 over=tp
l@0-3 = copy z@2
print l@0 as=l
END
  gt-check -q a.gt
  sed 's/copy z@2/copy y@2/' a.gt | finds shard-prop
  sed '/all_reduce/d' a.gt | finds part-nonlin
  sed 's/copy x@0-1/copy x@1,0/' a.gt | finds src-type
}

@test "notes: #local follows no shards, #unchecked judges nothing, #partial claims" {
  cat >a.gt <<'END'
mesh tp=2
x@0-1 = ones f32[4,6] split=tp:0
y@0-1 = flip x@0-1 axis=0
END
  finds shard-prop <a.gt
  sed 's/axis=0/& #local/' a.gt | gt-check | grep -q 'flip.*#type=tp:V$'
  sed 's/axis=0/& #unchecked/' a.gt | gt-check -q
  { sed 's/axis=0/& #unchecked #type=tp:S0/' a.gt
    echo 'z@0-1 = sum y@0-1 #partial=tp'; } | gt-check | grep -q 'sum.*#type=tp:P$'
  { sed 's/axis=0/axis=1/' a.gt
    echo 'z@0-1 = sum y@0-1 axis=1 #partial=tp'; } | finds partial-repl
}

@test "a second mesh, and types on the axes of the first" {
  cat >a.gt <<'END'
mesh dp=2 tp=2
x@0-3 = ones f32[8] split=dp:0,tp:0
mesh all=4
y@0-3 = neg x@0-3
endmesh
z@0-3 = neg y@0-3
END
  gt-check a.gt >out
  grep -q '^y@0-3 = neg x@0-3 #type=all:S0$' out
  grep -q '^z@0-3 = neg y@0-3 #type=dp:V,tp:V #spec=dp+tp$' out
  sed 's/dp:0,tp:0/tp:0,dp:0/' a.gt | finds remesh-spec
}

@test "a group that lacks a rank is found" {
  printf '%s\n' 'mesh dp=2 tp=2' 'x@0-3 = ones f32[2] #type=tp:P' \
    'y@0-2 = all_reduce x@0-2 over=tp' | finds ranks
}

@test "split= states the order of three axes on one dimension" {
  printf '%s\n' 'mesh a=2 b=2 c=2' 's@0-7 = ones f32[]' \
    'e@0-7 = expand s@0-7 shape=8 split=c:0,a:0,b:0' >p
  run -0 --separate-stderr gt-check -q p
  [ -z "$stderr" ]
}

@test "beside #spec= no letter says S, so that gt-check reads what it wrote" {
  printf '%s\n' 'mesh a=2 b=2 c=2' \
    'x@0-7 = randn f32[8,8] 1 split=c:0,b:1,a:1' 'y@0-7 = relu x@0-7' >p
  gt-check p >out
  grep -q '^y@0-7 = relu x@0-7 #type=a:V,b:V,c:V #spec=c,b+a$' out
  gt-check out | cmp - out
}

@test "the two-rank example of the digits is clean" {
  cd "$GT_ROOT/examples"
  gt-emit digits-tp2-init.gt digits-tp2.gt digits-tp2-test.gt | gt-check -q
}

@test "a message about an unknown name suggests the name that may be meant" {
  says() { # LINE MESSAGE
    printf '%s\n' 'mesh dp=2 tp=2' 'x@0-3 = ones f32[4,4] split=dp:0' "$1" |
      { run gt-check -q; [[ $output == *"$2"* ]] || { echo "$output"; return 1; }; }
  }
  says 'y@0-3 = mtamul x@0-3 x@0-3' "did you mean 'matmul'?"
  says 'y@0-3 = all_gather x@0-3 over=dq src=S0' "did you mean 'dp'?"
  says 'y@0-3 = neg x@0-3 #type=tq:R' "did you mean 'tp'?"
  says 'y@0-3 = sum x@0-3 #partial=dq' "did you mean 'dp'?"
}

@test "--local of an axis that no mesh has is refused" {
  make_placed
  run -2 --separate-stderr gt-check --local dq placed.gt
  [[ $stderr == *"no mesh of the stream has an axis 'dq'; did you mean 'dp'?"* ]]
  [ "${lines[-1]}" = '#end 2' ]
  gt-check -q --local dp placed.gt || [ $? -eq 1 ]
}

@test "a finding names the place where the line was written" {
  cat >model.gt <<'END'
mesh tp=2
x@0-1 = ones f32[4,6] split=tp:1
w@0-1 = ones f32[6,2] split=tp:0
y@0-1 = matmul x@0-1 w@0-1
z@0-1 = relu y@0-1
END
  gt-emit model.gt >stream
  run -1 --separate-stderr gt-check -q stream
  [[ $stderr == 'gt-check: model.gt:5: relu: axis tp: '* ]]
}

@test "a line whose meaning depends on a rank's part needs split=" {
  # says_split PROGRAM LINE takes a line without split=; the line that gt-check
  # offers instead is clean and gives the values of the program without ranks.
  says_split() {
    { echo 'mesh dp=2 tp=2'; echo "$1"; echo "$2"; } >a.gt
    run -1 --separate-stderr gt-check -q a.gt
    [[ $stderr == *'[shard-prop]'* ]] || { echo "$stderr"; return 1; }
    sed -n 's/^  fix: //p' <<<"$stderr" >fix
    [ "$(wc -l <fix)" = 1 ]
    local keys
    keys=$(grep -o 'split=[^ ]*' fix)
    { echo 'mesh dp=2 tp=2'; echo "$1"; cat fix; echo "print y@0-3 $keys as=y"; } >b.gt
    gt-check -q b.gt
    { echo "$1"; echo "$2"; } | sed 's/@0-3//g; s/ split=[^ ]*//; s/ over=.*//
      s/all_gather/copy/' >c.gt
    gt-cmp <({ cat c.gt; echo 'print y'; } | gt-work) <(gt-work b.gt)
  }
  says_split 'x@0-3 = randn f32[8] 1 split=dp:0' 'y@0-3 = dropout x@0-3 0.5 7'
  says_split 'x@0-3 = randn f32[2,5,8] 1 split=dp:0,tp:1' 'y@0-3 = rope x@0-3 heads=2'
  says_split 'x@0-3 = randn f32[5,8] 1 split=tp:1*4' 'y@0-3 = rope_grad x@0-3 heads=2'
  says_split 'x@0-3 = randn f32[5,8] 1 split=tp:1*2' \
    'y@0-3 = attention x@0-3 x@0-3 x@0-3 heads=4'
  says_split $'x@0-3 = randn f32[6,4] 1 split=tp:0
k@0-3 = all_gather x@0-3 over=tp src=S0' 'y@0-3 = attention x@0-3 k@0-3 k@0-3 causal=1'
  # split= is not needed where the part plays no role, nor in a program without
  # ranks.
  gt-check -q <<'END'
mesh tp=2
x@0-1 = randn f32[2,5,8] 1 split=tp:0
y@0-1 = rope x@0-1 heads=2
z@0-1 = attention x@0-1 y@0-1 y@0-1 causal=1 heads=2
u = randn f32[4] 1 #type=tp:S0
v = dropout u 0.5 7
END
}

# with LINE... prints a mesh, x and its sum s, and then these lines.
with() {
  printf '%s\n' 'mesh dp=2 tp=2' 'x@0-1 = arange f32[4] split=tp:0' \
    's@0-1 = sum x@0-1' "$@"
}

@test "a group whose ranks are in another order than the axis's" {
  with 'y@1,0 = all_gather x@1,0 src=S0' | finds shard-order
  with 'y@0-1 = ones f32[4]' 'z@1,0 = convert y@1,0 src=R dst=S0' | finds shard-order
  with 'y@0-1 = ones f32[4]' 'y@0-1 = convert y@0-1 src=R dst=P' \
    'z@1,0 = reduce_scatter y@1,0 dst=S0' | finds shard-order
  with 'y@0-1 = ones f32[4,4] split=tp:0' \
    'z@1,0 = all_to_all y@1,0 src=S0 dst=S1' | finds shard-order
  # over= puts the ranks in the order of the axis, and the order does not matter to
  # a sum.
  with 'y@1,0 = all_gather x@1,0 over=tp src=S0' 'print y@0 as=y' >a.gt
  gt-check -q a.gt
  [ "$(gt-work a.gt)" = 'y = tensor f32[4] 0 1 2 3' ]
  with 'y@1,0 = all_reduce s@1,0' 'print y@0 as=y' | gt-check -q
}

@test "root= names a rank, whatever the order of the group" {
  with 'r@0-1 = reduce s@0-1 over=tp root=0' 'print r@0' >a.gt
  gt-check -q a.gt
  [ "$(gt-work a.gt)" = 'r@0 = tensor f32[] 6' ]
  with 'r@0-1 = reduce s@0-1 over=tp root=0' 'print r@1' | finds part-nonlin
  with 'r@1,0 = reduce s@1,0 root=0' 'print r@1' >a.gt
  gt-check -q a.gt
  [ "$(gt-work a.gt)" = 'r@1 = tensor f32[] 6' ]
  with 'r@1,0 = reduce s@1,0 root=0' 'print r@0' | finds part-nonlin
  with 'r@1,0 = reduce s@1,0 root=0' 'b@0-1 = broadcast r@0-1 over=tp root=1' |
    gt-check -q
  with 'r@1,0 = reduce s@1,0 root=0' 'b@0-1 = broadcast r@0-1 over=tp' |
    finds src-type
  # After a copy, the root is the corresponding rank of the copy.
  with 'r@0-1 = reduce s@0-1 over=tp root=1' 'q@2-3 = copy r@0-1' 'print q@3' |
    gt-check -q
  with 'r@0-1 = reduce s@0-1 over=tp root=1' 'q@2-3 = copy r@0-1' 'print q@2' |
    finds part-nonlin
}

@test "values that were bound separately are neither copies nor parts of one whole" {
  with 'w@0,3 = full f32[4] 1' 'w@1,2 = full f32[4] 2' 'y@0-3 = neg w@0-3' |
    finds vary-global
  with 'w@0-1 = full f32[4] 1' 'w@2-3 = full f32[4] 2' 'y@0-3 = neg w@0-3' |
    finds vary-global
  with 'w@0,3 = full f32[4] 1' 'w@1,2 = full f32[4] 2' 'y@0,3 = neg w@0,3' |
    gt-check -q
  # One half of the shards has been bound again, or is not read.
  with 'x@1 = ones f32[2]' 'y@0 = neg x@0' | finds shard-prop
  with 'w@0-3 = ones f32[4,4] split=tp:0,dp:1' 'y@0,3 = neg w@0,3' | finds shard-prop
  with 'w@0-1 = ones f32[4] split=tp:0' 'w@2-3 = zeros f32[4] split=tp:0' \
    'y@0-1 = neg w@0-1' 'y@2-3 = neg w@2-3' | gt-check -q
  with 'w@0-3 = ones f32[8] split=dp:0,tp:0' 'w@0 = zeros f32[2]' \
    'w@1 = zeros f32[2]' 'y@2-3 = neg w@2-3' | finds shard-prop
}

@test "values may be printed and saved in pieces, one a rank" {
  with 'print x@0-1' 'save x@0-1 "w.npy"' 'print x@0-1 as=y' | gt-check -q
  with 'print x@0' | finds shard-prop
  with 'print s@0-1' | finds part-nonlin
}

@test "an annotated program without ranks: names and shapes" {
  printf '%s\n' 'mesh tp=2' 'x = ones f32[4] #type=tp:S0' >start
  { cat start; echo 'y = neg z'; } | finds unbound
  { cat start; echo 'free x'; echo 'y = neg x'; } | finds unbound
  { cat start; echo 'print y'; } | finds unbound
  { cat start; echo 'w = ones f32[3]'; echo 'y = add x w'; } | finds shape
  { cat start; echo 'y = all_reduce x over=tp'; } | finds ranks
  # Names from before the mesh stay known, and a name with ranks is another name.
  { echo 'w = ones f32[4]'; cat start; echo 'y = neg w'; } | gt-check -q
  { cat start; printf '%s\n' 'x@0 = ones f32[1]' 'print x' 'free x' 'print x@0'
    } | gt-check -q
}

@test "lines that mend a finding are right" {
  mends() { # PROGRAM KIND MODE: each line that is offered removes the finding
    run -1 --separate-stderr gt-check -q "${3:--g}" <<<"$1"
    [[ $stderr == *"[$2]"* ]] || { echo "$stderr"; return 1; }
    local fix name last
    last=$(sed -n '$p' <<<"$1")
    grep -q '^  fix: ' <<<"$stderr"
    while read -r fix; do
      sed '$d' <<<"$1" >mended
      if [ "${fix%% = *}" = "${last%% = *}" ]; then
        echo "$fix" >>mended # it takes the place of the line
      else
        name=${fix%%1@*} # it comes before the line, which then reads its result
        printf '%s\n' "${fix%%   (*}" "${last// $name@/ ${name}1@}" >>mended
      fi
      gt-check -q "${3:--g}" mended || { echo "$fix"; return 1; }
    done < <(sed -n 's/^  fix: //p' <<<"$stderr")
  }
  local start=$'mesh tp=2\nx@0-1 = ones f32[4,4] split=tp:0
w@0-1 = ones f32[4,4]\np@0-1 = convert w@0-1 over=tp src=R dst=P
c@0-1 = ones f32[4,4] split=tp:1\n'
  mends "$start"'y@0-1 i@0-1 = sort x@0-1 axis=0' shard-prop
  mends "$start"'y@0-1 = mean x@0-1 axis=0' partial-op
  mends "$start"'y@0-1 = add x@0-1 c@0-1' shard-prop
  mends "$start"'y@0-1 = mul x@0-1 w@0-1' shard-prop
  mends "$start"'w@0-1 = sgd w@0-1 p@0-1 0.1' part-affine
  mends "$start"'w@0-1 = sgd w@0-1 x@0-1 0.1' shard-prop
  mends "$start"'c@0-1 = sgd c@0-1 x@0-1 0.1' shard-prop
  mends "$start"'y@0-1 = exp p@0-1' part-nonlin
  mends "$start"'y@0-1 = all_reduce w@0-1 over=tp src=P' src-type
  mends "$start"'y@0-1 = all_gather w@0-1 over=tp src=S0' src-type
  mends "$start"$'g@0-1 = ones f32[4,4] split=tp:0\nv@0-1 = ones f32[2,4]
v@0-1 = sgd v@0-1 g@0-1 0.1' dual -l
  mends "$start"'y@1,0 = all_gather x@1,0 src=S0' shard-order
  mends "$start"'y@0-1 = dropout x@0-1 0.5 7' shard-prop
  mends "$start"$'v@0 = ones f32[2]\nv@1 = zeros f32[2]\ny@0-1 = neg v@0-1' vary-global
  mends "$start"$'v@0 = ones f32[2]\nv@1 = zeros f32[2]\ny@0-1 = all_gather v@0-1 over=tp' vary-global
  mends "$start"$'q@0-1 = ones f32[2,3]\ny@0-1 = convert q@0-1 over=tp src=R dst=V' vary-global
  mends $'u@0-1 = ones f32[4]\n'"$start"'y@0-1 = neg u@0-1' axis-missing
  local two=$'mesh dp=2 tp=2\na@0-3 = ones f32[8] split=dp:0,tp:0
b@0-3 = ones f32[8] split=tp:0,dp:0\nc@0-3 = ones f32[8,4]\n'
  mends "$two"'y@0-3 = add a@0-3 b@0-3' shard-order
  mends "$two"'y@0-3 = dropout a@0-3 0.5 7 split=tp:0,dp:0 shape=8' shard-order
  mends "$two"'y@0-3 = all_gather a@0-3 over=dp+tp src=S0' vary-global
  mends "$two"'y@0-3 = convert c@0-3 over=dp+tp src=R dst=S0' vary-global
  mends $'u@0-3 = ones f32[4]\n'"$two"'y@0-3 = add c@0-3 u@0-3' axis-missing
}

@test "shards are added up only by a line that says so" {
  printf 'mesh dp=2 tp=2\nx@0-3 = ones f32[4,6] split=dp:0,tp:1\nw@0-3 = ones f32[6,2] split=tp:0\ny@0-3 = matmul x@0-3 w@0-3\n' >p.s
  sed '$a y@0-3 = all_reduce y@0-3 over=tp' p.s | gt-check -q
  for over in dp dp+tp; do
    run -1 gt-check -q <(cat p.s; echo "y@0-3 = all_reduce y@0-3 over=$over")
    [[ $output == *'is sharded on dimension 0, and shards are no summands [src-type]'* ]]
    [[ $output == *"fix: y@0-3 = all_reduce y@0-3 over=$over src=V"* ]]
  done
  # In local mode gt-check only knows that the pieces vary.
  printf 'mesh dp=2\nx@0-1 = ones f32[4] split=dp:0\ny@0-1 = all_reduce x@0-1 over=dp\n' | gt-check -q -l
}

@test "gradients of columns that come out uneven, or one to a rank, are clean" {
  for columns in 2 3 4; do
    printf 'mesh tp=2\nx@0-1 = randn f32[2,4,6] 1\nw@0-1 = randn f32[6,%d] 2 split=tp:1\ny@0-1 = linear x@0-1 w@0-1\nl@0-1 = sum y@0-1\nl@0-1 = all_reduce l@0-1 over=tp dst=I\ng@0-1 = grad l@0-1 w@0-1\nprint g@0-1 split=tp:1 shape=6,%d as=g\n' \
      "$columns" "$columns" >p.gt
    gt-emit p.gt >p.s
    gt-check -q p.s
    sed -e 's/@0-1//g; /^mesh\|all_reduce/d; s/ split=[^ ]*//; s/ shape=.*//' p.gt >whole.gt
    run -0 "$GT_ROOT/scripts/gt-cmp" --rtol 1e-5 <(gt-work p.s) <(gt-emit whole.gt | gt-work)
  done
}

@test "the value that the root of a reduce computes is broadcast" {
  printf 'mesh dp=4\nx@0-3 = randn f32[8,4] 1 split=dp:0\ns@0-3 = sum x@0-3 axis=0\nr@0-3 = reduce s@0-3 over=dp root=2\nr@2 = div r@2 8\n' >p.s
  { cat p.s; echo 'y@0-3 = broadcast r@0-3 over=dp root=2'; echo 'z@0-3 = sub x@0-3 y@0-3'; } | gt-check -q
  # On another rank than the root, the reduced value is a summand and not the sum.
  sed 's/r@2 = div r@2/r@1 = div r@2/' p.s >q.s
  run -1 gt-check -q <(cat q.s; echo 'y@0-3 = broadcast r@0-3 over=dp root=1')
}

@test "in local mode the claims of a line say what its result is" {
  ring=$(printf 'mesh tp=3\nx@0-2 = randn f32[6,4] 1 split=tp:0\nw@0-2 = randn f32[4,4] 2\nr@1,2,0 = copy x@0,1,2%s\nb@0-2 = matmul r@0-2 w@0-2\n' ' #NOTE')
  gt-check -q <<<"${ring/\#NOTE/#local #type=tp:S0}"
  run -1 gt-check -q <<<"${ring/\#NOTE/}"
  [[ $output == *'changes the order of its shards'* ]]
  run -1 gt-check -q <<<"${ring/\#NOTE/#local}"
  [[ $output == *'r is V, but no dimension of it is sharded'* ]]
  printf 'mesh pp=2\nn@0 = ones f32[]\nn@1 = ones f32[]\nn@0-1 = copy n@0-1 #local #type=pp:P\nn@0-1 = all_reduce n@0-1 over=pp\nprint n@0\n' | gt-check -q
}

@test "a value that is made on one rank and copied under its name is one value" {
  printf 'mesh dp=4\nw@0 = randn f32[4] 1\nw@1 = copy w@0\nw@2-3 = copy w@0-1\ny@0-3 = mul w@0-3 2\n' | gt-check -q
  # That does not hold if the value is bound again, or if a copy is of pieces in
  # another order.
  run -1 gt-check -q <<<$'mesh dp=2\nw@0 = randn f32[4] 1\nw@1 = copy w@0\nw@0 = mul w@0 2\ny@0-1 = mul w@0-1 2'
  [[ $output == *'no dimension of it is sharded [vary-global]'* ]]
  run -1 gt-check -q <<<$'mesh dp=2 tp=2\nw@0-1 = randn f32[4] 1 split=tp:0\nw@2,3 = copy w@1,0\ny@0-3 = mul w@0-3 2'
}

@test "a free of what is no name, and a free with a result, are reported" {
  printf '%s\n' 'mesh d=2' 'x@0 = zeros f32[2]' 'free x@0 0' 'y@0 = free x@0' \
    'z = add 1 2' 'free 1' 'print x@0' >p.gt
  run -1 --separate-stderr gt-check p.gt
  [[ $stderr == *"p.gt:3: free: expected a tensor's name, got number 0"* ]]
  [[ $stderr == *'p.gt:4: free: takes 0 results, got 1'* ]]
  [[ $stderr == *"p.gt:6: free: expected a tensor's name, got number 1"* ]]
  [[ $stderr != *'p.gt:7'* ]]
}

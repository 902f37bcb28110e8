#!/usr/bin/env bats
# "#sync WORD" is a comment that comes back among the results once all lines before
# it are done.

load helper

program() {
  cat <<'END'
x = randn f32[64,64] 1
#sync start
w = randn f32[64,64] 2
y = matmul x w
y = sum y
z = mul y 0
print z
#sync first of two words
save z "z.npy"
#sync
#syncs
#sync saved
print z as=last
END
}

wanted='#sync start
z = tensor f32[] 0
#sync first
#sync saved
last = tensor f32[] 0'

@test "a sync comes back in its turn, from gt-work and from gt-route" {
  program >p.gt
  gt-work p.gt | sed 's/-0$/0/' >out
  diff <(echo "$wanted") out
  for options in '-n 1' '-n 2' '-n 3 --no-hot'; do
    # shellcheck disable=SC2086
    gt-route $options p.gt | sed 's/-0$/0/' >out
    diff <(echo "$wanted") out
  done
}

@test "filters pass a sync on in its place" {
  program >p.gt
  printf 'mesh: {tp: 2}\ntensors: {w: {shard: {tp: 1}}}\n' >m.yaml
  gt-emit p.gt | gt-shard -c m.yaml | gt-check | gt-route -n 2 | sed 's/-0$/0/' >out
  diff <(echo "$wanted") out
}

@test "when a sync has come, what was saved before it is there" {
  mkfifo in
  local run
  for run in gt-work 'gt-route -n 2'; do
    rm -f ./*.npy out
    # shellcheck disable=SC2086
    $run <in >out &
    exec 5>in
    for k in 1 2 3; do
      printf 'x = full f32[8] %s\nsave x "%s.npy"\n#sync %s\n' $k $k $k >&5
      await "^#sync $k\$" out
      [ -s $k.npy ]
    done
    exec 5>&-
    wait $!
  done
}

@test "each round of a loop has its sync, and the stream stays in order" {
  echo 'x@0-3 = zeros f32[8]' >p.gt
  for ((i = 1; i <= 200; i++)); do
    for ((k = 0; k < 40; k++)); do echo "x@0-3 = add x@0-3 1"; done
    echo "print x@$((i % 4)) as=x"
    echo '#sync round'
  done >>p.gt
  gt-work p.gt >wanted
  [ "$(grep -c '^#sync round$' wanted)" = 200 ]
  gt-route -n 2 p.gt | cmp - wanted
  gt-route -n 2 --no-hot p.gt | cmp - wanted
}

@test "lines that are held back for a block, and lines of one worker, are done before a sync" {
  mkfifo in
  gt-route -n 2 <in >out &
  exec 5>in
  for ((i = 1; i <= 5; i++)); do
    for ((k = 0; k < 40; k++)); do echo "x$k@$((k % 2)) = full f32[8] $k"; done >&5
    echo "#sync $i" >&5
    await "^#sync $i\$" out
  done
  # A block begins again and does not come to its end.
  for ((k = 0; k < 20; k++)); do echo "x$k@$((k % 2)) = full f32[8] $k"; done >&5
  echo '#sync inside' >&5
  await '^#sync inside$' out
  exec 5>&-
  wait $!
}

@test "a run that is lost answers no more sync" {
  mkfifo in
  GT_SILENCE=1.5 gt-route -n 2 <in >out 2>err &
  local route=$!
  exec 5>in
  printf 'x@0-1 = ones f32[2]\nprint x@1\n#sync 1\n' >&5
  await '^#sync 1$' out
  kill -KILL "$(pgrep -P $route | sed -n 2p)"
  (printf 'print x@1\n#sync 2\n' >&5) || true  # if the run has ended, SIGPIPE ends only this subshell
  local status=0
  wait $route || status=$?
  exec 5>&-
  [ $status = 4 ]
  run ! grep '^#sync 2$' out
}

@test "a failure is reported before its line is said to be done" {
  coproc gt-route -n 1 --log run.log 2>err
  echo 'x = zeros f32[2]' >&"${COPROC[1]}"
  local k
  for ((k = 1; k <= 200; k++)); do
    printf 'save x "no/%d.npy"\n#sync %d\n' $k $k >&"${COPROC[1]}"
    read -r got <&"${COPROC[0]}"
    [ "$got" = "#sync $k" ]
  done
  eval "exec ${COPROC[1]}>&-"
  wait "$COPROC_PID" || true
  awk -F'\t' '$3 == "done" { done = $2 } $3 == "report" { ++n; late += $2 <= done }
    END { print n, late + 0 }' run.log >counts
  [ "$(<counts)" = '200 0' ]
}

@test "with several workers, a load before a sync has read its file" {
  printf 'x = ones f32[2]\nsave x "x.npy"\n' | gt-work
  mkfifo in
  spawn bash -c 'exec gt-route -n 2 <in >out'
  exec 5>in
  printf 'y = load "x.npy" f32[2]\n#sync loaded\n' >&5
  await '^#sync loaded$' out
  rm x.npy
  echo 'print y' >&5
  await '^y = ' out
  exec 5>&-
  [ "$(tail -n 1 out)" = 'y = tensor f32[2] 1 1' ]
}

# shellcheck shell=bash
# Writes a program with a pair of products between values whose sequence, dimension
# 1, is cut over ranks.
make_block() {
  cat >block.gt <<'END'
x = randn f32[8,6,16] 1 #signal=norm
up = randn f32[16,12] 2 scale=0.2 #signal=up
down = randn f32[12,16] 3 scale=0.2 #signal=down
n = rms_norm x #signal=norm
h = matmul n up #signal=up
h = relu h #signal=up
y = matmul h down #signal=down
x = add x y #signal=norm
l = mean x
gu gd = grad l up down
print l
print gu
print gd
END
  cat >sp.yaml <<'END'
mesh: {tp: 2}
signals:
  norm: {results: {tp: 1}}
  up:   {shard: {tp: 1}, results: {tp: -1}, backward: free}
  down: {shard: {tp: 0}}
  free: {}
END
}

# Writes a step of training an 8 B Llama's shapes as a gt program, for --plan: nothing
# of it is executed.
# usage: awk -v microbatches=16 -v batch=128 -f llama.awk
BEGIN {
  if (!layers) layers = 32
  if (!batch) batch = 128
  if (!microbatches) microbatches = 1
  hidden = 4096; mlp = 14336; heads = 32; kv = 1024; vocab = 128256; rows = 4096
  matrix("table", vocab, hidden)
  for (l = 0; l < layers; l++) {
    norm("l" l ".norm1"); matrix("l" l ".q", hidden, hidden)
    matrix("l" l ".k", hidden, kv); matrix("l" l ".v", hidden, kv)
    matrix("l" l ".out", hidden, hidden)
    norm("l" l ".norm2"); matrix("l" l ".gate", hidden, mlp)
    matrix("l" l ".up", hidden, mlp); matrix("l" l ".down", mlp, hidden)
  }
  norm("norm"); matrix("head", hidden, vocab)
  print "t = tensor i64[] 0"
  print "tokens = load \"tokens.npy\" i64[" batch "," rows + 1 "]"
  size = batch / microbatches
  for (k = 0; k < microbatches; k++) microbatch()
  print "t = add t 1"
  for (w = 1; w <= n; w++) {
    print weight[w], "m." weight[w], "v." weight[w], "= adamw", weight[w], "g." weight[w],
      "m." weight[w], "v." weight[w], "t 3e-4"
  }
  print "print loss"
}

function norm(name) { weight[++n] = name; print name, "= ones f32[" hidden "]"; moments(name, hidden) }
function matrix(name, rows, columns) {
  weight[++n] = name
  print name, "= randn f32[" rows "," columns "] " n " scale=0.02"
  moments(name, rows "," columns)
}
function moments(name, shape) {
  print "m." name, "= zeros f32[" shape "]"
  print "v." name, "= zeros f32[" shape "]"
}

function line(text, signal) {
  print text, "#signal=" signal, note (recompute && signal ~ /^layer/ ? " #recompute=" l : "")
}
function microbatch(   names, gradients) {
  note = microbatches > 1 ? "#mb=" k : ""
  line("x = slice tokens " k * size ":" (k + 1) * size " :-1", "first/batch")
  line("y = slice tokens " k * size ":" (k + 1) * size " 1:", "last/batch")
  line("x = embedding table x", "first/table")
  for (l = 0; l < layers; l++) layer("l" l ".", "layer" l "/")
  line("x = rms_norm x norm", "last/norm")
  line("z = matmul x head", "last/colpar")
  line("l = cross_entropy z y", "last/loss")
  if (microbatches > 1) line("l = div l " microbatches, "last/loss")
  for (w = 1; w <= n; w++) {
    names = names " " weight[w]; gradients = gradients (k ? "d." : "g.") weight[w] " "
  }
  print gradients "= grad l" names, note
  if (!k) {
    line("loss = detach l", "last/loss")
  } else {
    for (w = 1; w <= n; w++) print "g." weight[w], "= add", "g." weight[w], "d." weight[w], note
    print "free " gradients
    line("l = detach l", "last/loss")
    line("loss = add loss l", "last/loss")
  }
  print "free x y h q k v u z l"
}
function layer(w, s) {
  line("h = rms_norm x " w "norm1", s "norm")
  line("q = matmul h " w "q", s "colpar")
  line("k = matmul h " w "k", s "colpar")
  line("v = matmul h " w "v", s "colpar")
  line("q = reshape q shape=" size "," rows "," heads ",-1", s "attention")
  line("k = reshape k shape=" size "," rows ",8,-1", s "attention")
  line("v = reshape v shape=" size "," rows ",8,-1", s "attention")
  line("q = transpose q axes=0,2,1,3", s "attention")
  line("k = transpose k axes=0,2,1,3", s "attention")
  line("v = transpose v axes=0,2,1,3", s "attention")
  line("q = rope q", s "attention")
  line("k = rope k", s "attention")
  line("h = attention q k v causal=1 enable_gqa=1", s "attention")
  line("h = transpose h axes=0,2,1,3", s "attention")
  line("h = reshape h shape=" size "," rows ",-1", s "attention")
  line("h = matmul h " w "out", s "rowpar")
  line("x = add x h", s "residual")
  line("h = rms_norm x " w "norm2", s "norm")
  line("u = matmul h " w "gate", s "colpar")
  line("u = silu u", s "colpar")
  line("h = matmul h " w "up", s "colpar")
  line("h = mul u h", s "colpar")
  line("h = matmul h " w "down", s "rowpar")
  line("x = add x h", s "residual")
}

# A training step of GPT-2, of weights in f32 and computed in bf16, as a gt
# program: what comes before the steps with -v part=init, a step with -v
# part=step. The tokens are random. For scripts/bench-gpu, which has no Python.
#
#   awk -v part=step -v layers=12 -v width=768 -v heads=12 -v tokens=1024 \
#       -v batch=16 -v vocabulary=50304 -f tests/bench/gpt2.awk
#
# Norms take and give bf16, as llm.c's do: gt computes them in f32 and rounds what
# it writes. Logits are of bf16, as llm.c's and PyTorch's; the loss is of f32. A
# step prints nothing, and l is its loss.

function weight(name, shape) {
  names[++count] = name
  shapes[count] = shape
}

function list_weights(   i, h) {
  weight("wte", vocabulary "," width)
  weight("wpe", tokens "," width)
  for (i = 0; i < layers; i++) {
    h = "h" i "."
    weight(h "n1", width); weight(h "c1", width)
    weight(h "wq", width "," width); weight(h "bq", width)
    weight(h "wk", width "," width); weight(h "bk", width)
    weight(h "wv", width "," width); weight(h "bv", width)
    weight(h "wo", width "," width); weight(h "bo", width)
    weight(h "n2", width); weight(h "c2", width)
    weight(h "w1", width "," 4 * width); weight(h "b1", 4 * width)
    weight(h "w2", 4 * width "," width); weight(h "b2", width)
  }
  weight("n", width); weight("c", width)
}

function init(   i, what) {
  for (i = 1; i <= 2; i++) {
    what = i == 1 ? "x" : "y"
    print what " = rand f32[" batch "," tokens "] " i
    print what " = mul " what " " vocabulary
    print what " = cast " what " i64"
  }
  print "t = tensor i64[] 0"
  for (i = 1; i <= count; i++) {
    what = "f32[" shapes[i] "]"
    print names[i] " = randn " what " " i " scale=0.02"
    print "m." names[i] " = zeros " what
    print "v." names[i] " = zeros " what
  }
}

function norm(to, from, scale, shift) {
  print to " = layer_norm " from " b." scale " b." shift
}

function linear(to, from, w, b) {
  print to " = linear " from " b." w " b." b
}

function block(h) {
  norm("a", "h", h "n1", h "c1")
  linear("q", "a", h "wq", h "bq")
  linear("k", "a", h "wk", h "bk")
  linear("v", "a", h "wv", h "bv")
  print "o = attention q k v causal=1 heads=" heads
  linear("a", "o", h "wo", h "bo")
  print "h = add h a"
  norm("a", "h", h "n2", h "c2")
  linear("a", "a", h "w1", h "b1")
  print "a = gelu a approximate=tanh"
  linear("a", "a", h "w2", h "b2")
  print "h = add h a"
}

function step(   i, all, gradients) {
  for (i = 1; i <= count; i++) {
    all = all " " names[i]
    gradients = gradients "g." names[i] " "
    print "b." names[i] " = cast " names[i] " bf16"
  }
  print "h = embedding b.wte x\nh = add h b.wpe"
  for (i = 0; i < layers; i++) block("h" i ".")
  norm("h", "h", "n", "c")
  print "z = matmul h b.wte tb=1\nl = cross_entropy z y out=f32"
  print "free a q k v o h z"
  print gradients "= grad l" all
  print "t = add t 1"
  for (i = 1; i <= count; i++) {
    print names[i] " m." names[i] " v." names[i] " = adamw " names[i] " g." \
      names[i] " m." names[i] " v." names[i] " t 6e-4 decay=0.1"
  }
  print "free " gradients
  for (i = 1; i <= count; i++) print "free b." names[i]
}

BEGIN {
  list_weights()
  if (part == "init") init()
  else step()
}

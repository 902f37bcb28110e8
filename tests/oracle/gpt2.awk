# A GPT-2 as a gt program, its weights and data from the files of scripts/oracle.
#
#   awk -v from=tests/oracle/gpt2 -v layers=2 -v heads=3 -v tokens=12 \
#       -v batch=2 -v steps=10 -f tests/oracle/gpt2.awk | gt-emit | gt-work
#
# Prints what the first step computes, all losses, and the weights after the last
# step. With -v expected=1 the program prints, under the same names, what they
# should be.

function load(name, file, what) {
  print name " = load \"" from "/" file ".safetensors:" what "\""
}

# weight NAME SUFFIX... adds names of weights, in the order of the model.
function weight(name) {
  weights[++count] = "transformer." name
}

function both(name) {
  weight(name ".weight")
  weight(name ".bias")
}

function list_weights(   i, h) {
  weight("wte.weight")
  weight("wpe.weight")
  for (i = 0; i < layers; i++) {
    h = "h." i "."
    both(h "ln_1")
    both(h "attn.c_attn")
    both(h "attn.c_proj")
    both(h "ln_2")
    both(h "mlp.c_fc")
    both(h "mlp.c_proj")
  }
  both("ln_f")
}

function prefixed(prefix,   i, text) {
  for (i = 1; i <= count; i++) text = text " " prefix weights[i]
  return text
}

# affine TO OP FROM NAME prints an op of an input, a weight and a bias.
function affine(to, op, from, name) {
  print to " = " op " " from " transformer." name ".weight transformer." name \
    ".bias"
}

function block(h) {
  affine("a", "layer_norm", "x", h "ln_1")
  affine("a", "linear", "a", h "attn.c_attn")
  print "q k v = split a axis=2"
  print "a = attention q k v causal=1 heads=" heads
  affine("a", "linear", "a", h "attn.c_proj")
  print "x = add x a"
  affine("a", "layer_norm", "x", h "ln_2")
  affine("a", "linear", "a", h "mlp.c_fc")
  print "a = gelu a approximate=tanh"
  affine("a", "linear", "a", h "mlp.c_proj")
  print "x = add x a"
}

# The label of a token is the next token, as in the transformers package.
function forward(step,   i) {
  load("inputs", "expected", "inputs")
  load("labels", "expected", "labels")
  print "inputs = slice inputs " step
  print "labels = slice labels " step " : 1:"
  print "x = embedding transformer.wte.weight inputs"
  print "p = slice transformer.wpe.weight :" tokens
  print "x = add x p"
  for (i = 0; i < layers; i++) block("h." i ".")
  affine("x", "layer_norm", "x", "ln_f")
  print "logits = matmul x transformer.wte.weight tb=1"
  print "x = slice logits : :-1"
  print "loss = cross_entropy x labels"
}

function step(t,   i, w) {
  forward(t - 1)
  print "free a q k v p x inputs labels"
  print prefixed("grad/") " = grad loss " prefixed("")
  for (i = 1; i <= count; i++) {
    w = weights[i]
    print w " m/" w " v/" w " = adamw " w " grad/" w " m/" w " v/" w " " t \
      " 1e-3 eps=1e-5"
  }
}

function train(   i, t) {
  for (i = 1; i <= count; i++) {
    load(weights[i], "model", weights[i])
    print "m/" weights[i] " = mul " weights[i] " 0"
    print "v/" weights[i] " = mul " weights[i] " 0"
  }
  for (t = 1; t <= steps; t++) {
    step(t)
    print "print loss as=losses/" t
    if (t > 1) continue
    print "print logits"
    for (i = 1; i <= count; i++) print "print grad/" weights[i]
  }
  for (i = 1; i <= count; i++) print "print " weights[i] " as=after/" weights[i]
}

function expect(name) {
  load("x", "expected", name)
  print "print x as=" name
}

function answer(   i, t) {
  load("losses", "expected", "losses")
  for (t = 1; t <= steps; t++) {
    print "x = slice losses " t - 1
    print "print x as=losses/" t
    if (t > 1) continue
    expect("logits")
    for (i = 1; i <= count; i++) expect("grad/" weights[i])
  }
  for (i = 1; i <= count; i++) expect("after/" weights[i])
}

BEGIN {
  list_weights()
  if (expected) answer()
  else train()
}

"""A small transformer as a gt program: its weights are read from a folder of .npy
files, as torch_transformer.py reads them, and so the losses are the same. It
prints l, the loss, each step; its lines say in #signal= what configs/ cuts.

Pre-norm blocks with causal attention and a gelu MLP of four times the width,
learned positions, cross_entropy, gradients clipped to norm 1, AdamW.
"""

import os

from measure import optional

numpy = optional("numpy")

LAYERS, WIDTH, HEADS, TOKENS, VOCABULARY = 4, 256, 4, 128, 1000
RATE = 1e-3


def weights():
    """Names and shapes, in the order of a forward pass; w [in,out]."""
    d = WIDTH
    yield "wte", (VOCABULARY, d)
    yield "wpe", (TOKENS, d)
    for i in range(LAYERS):
        for name, shape in (("n1", d), ("c1", d), ("wq", (d, d)), ("bq", d),
                            ("wk", (d, d)), ("bk", d), ("wv", (d, d)),
                            ("bv", d), ("wo", (d, d)), ("bo", d), ("n2", d),
                            ("c2", d), ("w1", (d, 4 * d)), ("b1", 4 * d),
                            ("w2", (4 * d, d)), ("b2", d)):
            yield f"h{i}/{name}", shape
    yield "n", (d,)
    yield "c", (d,)
    yield "wu", (d, VOCABULARY)


def path_of(folder, name):
    return os.path.join(folder, name.replace("/", "_") + ".npy")


def make(folder, batch):
    """Weights and a batch of tokens, as .npy files."""
    random = numpy.random.default_rng(1)
    for name, shape in weights():
        kind = name.split("/")[-1][0]
        if kind == "n":
            w = numpy.ones(shape)
        elif kind in "bc":
            w = numpy.zeros(shape)
        else:
            w = random.normal(0, 0.02, shape)
        numpy.save(path_of(folder, name), w.astype("float32"))
    tokens = random.integers(0, VOCABULARY, (batch, TOKENS + 1))
    numpy.save(path_of(folder, "x"), tokens[:, :-1].copy())
    numpy.save(path_of(folder, "y"), tokens[:, 1:].copy())


def block(p, heads):
    """A pre-norm block: h to h, by the weights whose names begin with p."""
    return [f"a = layer_norm h {p}n1 {p}c1 #signal=norm",
            f"q = linear a {p}wq {p}bq #signal=hidden",
            f"k = linear a {p}wk {p}bk #signal=hidden",
            f"v = linear a {p}wv {p}bv #signal=hidden",
            f"o = attention q k v causal=1 heads={heads}",
            f"a = linear o {p}wo {p}bo #signal=out",
            "h = add h a #signal=residual",
            f"a = layer_norm h {p}n2 {p}c2 #signal=norm",
            f"a = linear a {p}w1 {p}b1 #signal=hidden",
            "a = gelu a #signal=hidden",
            f"a = linear a {p}w2 {p}b2 #signal=out",
            "h = add h a #signal=residual"]


def program(folder):
    """The lines before the loop, and those of one step; it prints l."""
    names = [name for name, _ in weights()]
    init = [f'{name} = load "{path_of(folder, name)}" #signal=batch'
            for name in ("x", "y")]
    init += [f'{name} = load "{path_of(folder, name)}"' for name in names]
    init.append("step = tensor i64[] 0")
    for name, shape in weights():
        shape = ",".join(map(str, shape if isinstance(shape, tuple)
                             else (shape,)))
        init.append(f"m/{name} = zeros f32[{shape}]")
        init.append(f"v/{name} = zeros f32[{shape}]")
    step = ["h = embedding wte x", "h = add h wpe"]
    for i in range(LAYERS):
        step += block(f"h{i}/", HEADS)
    gradients = " ".join(f"g/{name}" for name in names)
    step += ["h = layer_norm h n c",
             "z = linear h wu #signal=hidden",
             "l = cross_entropy z y",
             "free a q k v o h z",
             f"{gradients} = grad l {' '.join(names)}",
             f"{gradients} = clip {gradients} 1",
             "step = add step 1"]
    step += [f"{w} m/{w} v/{w} = adamw {w} g/{w} m/{w} v/{w} step {RATE}"
             for w in names]
    step += [f"free {gradients}", "print l"]
    return "\n".join(init) + "\n", "\n".join(step) + "\n"


def write(folder, batch):
    """Weights, a batch, init.gt and step.gt."""
    make(folder, batch)
    init, step = program(folder)
    with open(os.path.join(folder, "init.gt"), "w") as out:
        out.write(init)
    with open(os.path.join(folder, "step.gt"), "w") as out:
        out.write(step)

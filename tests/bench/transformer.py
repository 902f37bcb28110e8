"""A small transformer as a gt program and as PyTorch: the same weights, read
from one folder of .npy files, and so the same losses. The gt program prints l,
the loss, each step; as a program this is PyTorch's side, which prints the same
and, last, its peak memory in KiB.

Pre-norm blocks with causal attention and a gelu MLP of four times the width,
learned positions, cross_entropy, gradients clipped to norm 1, AdamW.
"""

import os
import sys

import numpy

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


def program(folder):
    """The lines before the loop, and those of one step; it prints l."""
    names = [name for name, _ in weights()]
    init = [f'{name} = load "{path_of(folder, name)}"'
            for name in ["x", "y", *names]]
    init.append("step = tensor i64[] 0")
    for name, shape in weights():
        shape = ",".join(map(str, shape if isinstance(shape, tuple)
                             else (shape,)))
        init.append(f"m/{name} = zeros f32[{shape}]")
        init.append(f"v/{name} = zeros f32[{shape}]")
    step = ["h = embedding wte x", "h = add h wpe"]
    for i in range(LAYERS):
        p = f"h{i}/"
        step += [
            f"a = layer_norm h {p}n1 {p}c1",
            f"q = linear a {p}wq {p}bq",
            f"k = linear a {p}wk {p}bk",
            f"v = linear a {p}wv {p}bv",
            f"o = attention q k v causal=1 heads={HEADS}",
            f"a = linear o {p}wo {p}bo",
            "h = add h a",
            f"a = layer_norm h {p}n2 {p}c2",
            f"a = linear a {p}w1 {p}b1",
            "a = gelu a",
            f"a = linear a {p}w2 {p}b2",
            "h = add h a",
        ]
    gradients = " ".join(f"g/{name}" for name in names)
    step += ["h = layer_norm h n c",
             "z = linear h wu",
             "l = cross_entropy z y",
             "free a q k v o h z",
             f"{gradients} = grad l {' '.join(names)}",
             f"{gradients} = clip {gradients} 1",
             "step = add step 1"]
    step += [f"{w} m/{w} v/{w} = adamw {w} g/{w} m/{w} v/{w} step {RATE}"
             for w in names]
    step += [f"free {gradients}", "print l"]
    return "\n".join(init) + "\n", "\n".join(step) + "\n"


def resident_kib(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise KeyError(field)


def peer(folder, threads, steps):
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.set_num_threads(threads)
    read = {name: torch.from_numpy(numpy.load(path_of(folder, name)))
            for name in ["x", "y", *(name for name, _ in weights())]}

    def linear(w, b=None):
        layer = nn.Linear(*w.shape, bias=b is not None)
        layer.weight.data = w.T.contiguous()
        if b is not None:
            layer.bias.data = b.clone()
        return layer

    def norm(w, b):
        layer = nn.LayerNorm(WIDTH)
        layer.weight.data, layer.bias.data = w.clone(), b.clone()
        return layer

    class Block(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.norm1, self.norm2 = norm(w("n1"), w("c1")), norm(w("n2"),
                                                                  w("c2"))
            self.qkv = linear(torch.cat([w("wq"), w("wk"), w("wv")], 1),
                              torch.cat([w("bq"), w("bk"), w("bv")]))
            self.out = linear(w("wo"), w("bo"))
            self.up, self.down = linear(w("w1"), w("b1")), linear(w("w2"),
                                                                  w("b2"))

        def forward(self, h):
            b, t, d = h.shape
            q, k, v = (x.view(b, t, HEADS, d // HEADS).transpose(1, 2)
                       for x in self.qkv(self.norm1(h)).split(d, 2))
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            h = h + self.out(o.transpose(1, 2).reshape(b, t, d))
            return h + self.down(F.gelu(self.up(self.norm2(h))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding.from_pretrained(read["wte"].clone(), False)
            self.wpe = nn.Parameter(read["wpe"].clone())
            self.blocks = nn.Sequential(*(
                Block(lambda name, i=i: read[f"h{i}/{name}"])
                for i in range(LAYERS)))
            self.norm = norm(read["n"], read["c"])
            self.logits = linear(read["wu"])

        def forward(self, x):
            return self.logits(self.norm(self.blocks(self.wte(x) + self.wpe)))

    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak counts from here
    before = resident_kib("VmRSS")
    model = Model()
    # Not the default, but the faster.
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    for _ in range(steps):
        loss = F.cross_entropy(model(read["x"]).view(-1, VOCABULARY),
                               read["y"].view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"l = tensor f32[] {loss.item()}", flush=True)
    print(resident_kib("VmHWM") - before)


if __name__ == "__main__":
    peer(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

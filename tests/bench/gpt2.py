"""A training step of GPT-2 with 124 million weights, as a gt program and in JAX,
for 8 ranks: the batch over two, heads, columns and rows of weights and the
vocabulary over four. Both are written out block by block and update by AdamW.

usage: gpt2.py unrolled|scan

The seconds that JAX takes to lower and compile the step for 8 devices of the
host; nothing runs. `scan` writes the blocks as one that is repeated, which
compiles sooner.
"""
import os
import sys
import time

from transformer import block

LAYERS, WIDTH, HEADS, TOKENS, BATCH = 12, 768, 12, 1024, 8
VOCABULARY = 50304  # of the 50257, up to a multiple of 64, as is usual
RATE, DECAY = 6e-4, 0.1

CONFIG = """mesh: {dp: 2, tp: 4}
signals:
  batch:  {shard: {dp: 0}}
  hidden: {shard: {tp: 1}, results: {tp: -1}, backward: free}
  out:    {shard: {tp: 0}}
  free:   {}
tensors:
  wte: {shard: {tp: 0}}
"""

D = WIDTH
# Names, shapes, and the dimension that tp cuts.
BLOCK = [("n1", (D,), None), ("c1", (D,), None),
         ("wq", (D, D), 1), ("bq", (D,), 0), ("wk", (D, D), 1),
         ("bk", (D,), 0), ("wv", (D, D), 1), ("bv", (D,), 0),
         ("wo", (D, D), 0), ("bo", (D,), None),
         ("n2", (D,), None), ("c2", (D,), None),
         ("w1", (D, 4 * D), 1), ("b1", (4 * D,), 0),
         ("w2", (4 * D, D), 0), ("b2", (D,), None)]
ENDS = [("wte", (VOCABULARY, D), 0), ("wpe", (TOKENS, D), None),
        ("n", (D,), None), ("c", (D,), None)]


def program():
    """The lines before the step, and the step."""
    weights = ENDS[:2] + [(f"h{i}.{n}", shape, cut) for i in range(LAYERS)
                          for n, shape, cut in BLOCK] + ENDS[2:]
    names = " ".join(name for name, _, _ in weights)
    gradients = " ".join("g." + name for name, _, _ in weights)
    init = [f"x = zeros i64[{BATCH},{TOKENS}] #signal=batch",
            f"y = zeros i64[{BATCH},{TOKENS}] #signal=batch",
            "t = tensor i64[] 0"]
    for name, shape, _ in weights:
        kind = "f32[" + ",".join(map(str, shape)) + "]"
        init.append(f"{name} = randn {kind} scale=0.02")
        init += [f"{moment}.{name} = zeros {kind}" for moment in "mv"]
    step = ["h = embedding wte x", "h = add h wpe"]
    for i in range(LAYERS):
        step += block(f"h{i}.", HEADS)
    step += ["h = layer_norm h n c", "z = matmul h wte tb=1",
             "l = cross_entropy z y", "free a q k v o h z",
             f"{gradients} = grad l {names}", "t = add t 1"]
    step += [f"{w} m.{w} v.{w} = adamw {w} g.{w} m.{w} v.{w} t {RATE} "
             f"decay={DECAY}" for w, _, _ in weights]
    step += [f"free {gradients}", "print l"]
    return "\n".join(init + step) + "\n"


def jax_step(jax, jnp, scan):
    """A step over (weights, moments, moments, t), tokens and classes."""

    def norm(x, w, b):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w + b

    def block(h, w):
        a = norm(h, w["n1"], w["c1"])
        q, k, v = ((a @ w["w" + n] + w["b" + n]).reshape(
            BATCH, TOKENS, HEADS, D // HEADS) for n in "qkv")
        o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        h = h + o.reshape(BATCH, TOKENS, D) @ w["wo"] + w["bo"]
        a = norm(h, w["n2"], w["c2"])
        a = jax.nn.gelu(a @ w["w1"] + w["b1"], approximate=False)
        return h + a @ w["w2"] + w["b2"]

    def loss(w, x, y):
        h = w["wte"][x] + w["wpe"]
        if scan:
            h = jax.lax.scan(lambda h, w: (block(h, w), None), h,
                             w["blocks"])[0]
        else:
            for one in w["blocks"]:
                h = block(h, one)
        z = norm(h, w["n"], w["c"]) @ w["wte"].T
        mine = jnp.take_along_axis(z, y[..., None], -1)[..., 0]
        return (jax.nn.logsumexp(z, -1) - mine).mean()

    def step(w, m, v, t, x, y):
        l, g = jax.value_and_grad(loss)(w, x, y)
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)

        def update(w, m, v):
            m, v = m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)
            return w - RATE * (m / (jnp.sqrt(v) + 1e-8) + DECAY * w)

        return l, jax.tree.map(update, w, m, v), m, v, t

    return step


def compile_seconds(way):
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    from jax import numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    import numpy

    mesh = Mesh(numpy.array(jax.devices()).reshape(2, 4), ("dp", "tp"))

    def tensor(shape, dtype=jnp.float32, **cuts):
        axes = [None] * len(shape)
        for axis, dim in cuts.items():
            axes[dim] = axis
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(
            mesh, PartitionSpec(*axes)))

    def weights(rows, stack=()):
        return {name: tensor(stack + shape, **(
            {} if cut is None else {"tp": len(stack) + cut}))
                for name, shape, cut in rows}

    scan = way == "scan"
    w = weights(ENDS)
    w["blocks"] = (weights(BLOCK, (LAYERS,)) if scan else
                   [weights(BLOCK) for _ in range(LAYERS)])
    tokens = tensor((BATCH, TOKENS), jnp.int32, dp=0)
    places = jax.tree.map(lambda leaf: leaf.sharding, w)
    whole = NamedSharding(mesh, PartitionSpec())
    step = jax.jit(jax_step(jax, jnp, scan), donate_argnums=(0, 1, 2),
                   out_shardings=(whole, places, places, places, whole))
    start = time.perf_counter()
    step.lower(w, w, w, tensor((), jnp.int32), tokens, tokens).compile()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(compile_seconds(sys.argv[1]))

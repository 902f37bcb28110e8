"""Compares random networks under random configs with themselves without
gt-shard. They do what the shipped examples do, in all sizes.

usage: shard_networks.py [COUNT [SEED]]

A network has a few layers (products with and without bias, gated ones, norms,
attention by heads, an embedding), a loss, gradients, an optimizer, some
rounds, and sometimes microbatches. The table of the embedding may be tied: the
last product reads it again. Weights are cut by columns, by rows, or over the
data axis; the batch and the sequence are cut over another axis; layers are on
stages of a pipeline, which may have a schedule.
"""
import random
import sys

from shard_programs import link, main

MESHES = [{"tp": 2}, {"tp": 3}, {"dp": 2}, {"dp": 3}, {"dp": 2, "tp": 2},
          {"dp": 2, "tp": 3}, {"pp": 2, "tp": 2}, {"pp": 2, "dp": 2},
          {"pp": 2, "dp": 2, "tp": 2}]


class Network:
    def __init__(self, rng, micro=1, tied=False):
        self.rng = rng
        self.tied = tied
        self.init, self.body, self.layers = [], [], []
        self.weights, self.count = [], 0
        self.batch = rng.choice([1, 2, 3, 4, 7])
        self.length = rng.choice([1, 2, 3, 5])
        self.heads = rng.choice([1, 2, 3, 4])
        self.width = self.heads * rng.choice([1, 2, 4])
        self.classes = rng.choice([2, 3, 5, 8])
        self.dtype = rng.choice(["f64", "f64", "f32"])
        self.micro = micro
        self.mb = ""

    def weight(self, shape, signal, kind="randn"):
        self.count += 1
        name = f"w{self.count}"
        tail = f" {self.count} scale=0.4" if kind == "randn" else ""
        where = f" #signal={signal}" if self.rng.random() < 0.2 else ""
        self.init.append(f"{name} = {kind} {self.dtype}[{shape}]{tail}{where}")
        self.weights.append((name, signal, shape))
        return name

    def line(self, text, signal=None):
        self.body.append(text + (f" #signal={signal}" if signal else "")
                         + self.mb)

    # Each takes the activations x [B,S,E] and leaves its result in x.

    def mlp(self, at):
        hidden = self.rng.choice([2, 3, 6, 8])
        u = self.weight(f"{self.width},{hidden}", at + "colpar")
        d = self.weight(f"{hidden},{self.width}", at + "rowpar")
        bias = self.rng.random() < 0.5
        b = self.weight(f"{hidden}", at + "colpar", "zeros") if bias else None
        c = bias and self.weight(f"{self.width}", at + "rowpar",
                                 self.rng.choice(["ones", "zeros"]))
        gate = self.rng.random() < 0.3
        self.line(f"h = linear x {u} {b}" if b else f"h = matmul x {u}",
                  at + "colpar")
        self.line(f"h = {self.rng.choice(['relu', 'gelu', 'tanh', 'silu'])} h")
        if gate:
            v = self.weight(f"{self.width},{hidden}", at + "colpar")
            self.line(f"k = matmul x {v}", at + "colpar")
            self.line("h = mul h k")
        self.line(f"h = linear h {d} {c}" if c else f"h = matmul h {d}",
                  at + "rowpar")
        self.line("x = add x h", at + "residual")

    def attention(self, at):
        e, keys = self.width, self.rng.choice(["", " causal=1"])
        names = [self.weight(f"{e},{e}", at + "colpar") for _ in range(3)]
        out = self.weight(f"{e},{e}", at + "rowpar")
        for letter, name in zip("qkv", names):
            self.line(f"{letter} = matmul x {name}", at + "colpar")
        if self.rng.random() < 0.5:
            self.line(f"h = attention q k v heads={self.heads}{keys}")
        else:
            shape = f"{self.batch},{self.length},{self.heads},{e // self.heads}"
            for letter in "qkv":
                self.line(f"{letter} = reshape {letter} shape={shape}")
                self.line(f"{letter} = transpose {letter} axes=0,2,1,3")
            self.line(f"h = attention q k v{keys}")
            self.line("h = transpose h axes=0,2,1,3")
            self.line(f"h = reshape h shape={self.batch},{self.length},{e}")
        self.line(f"h = linear h {out}", at + "rowpar")
        self.line("x = add x h", at + "residual")

    def norm(self, at):
        if self.width == 1:
            return
        w = self.weight(f"{self.width}", at + "norm", "ones")
        if self.rng.random() < 0.5:
            self.line(f"x = rms_norm x {w} eps=0.1", at + "norm")
        else:
            b = self.weight(f"{self.width}", at + "norm", "zeros")
            self.line(f"x = layer_norm x {w} {b} eps=0.1", at + "norm")

    def drop(self, at):
        self.line("x = dropout x 0.3 5", at + "norm")

    def forward(self, depth):
        b, s = self.batch, self.length
        t = self.weight(f"{self.classes},{self.width}", "table")
        kinds = [self.mlp, self.mlp, self.attention, self.norm, self.drop]
        for _ in range(b * s):
            self.rng.random()
        ids = " ".join(str(self.rng.randrange(self.classes))
                       for _ in range(b * s))
        goals = " ".join(str(self.rng.randrange(self.classes))
                         for _ in range(b * s))
        self.line(f"ids = tensor i64[{b},{s}] {ids}", "batch")
        self.line(f"goal = tensor i64[{b},{s}] {goals}", "batch")
        self.line(f"x = embedding {t} ids", "table")
        for i in range(depth):
            at = f"stage{int(2 * i >= depth)}/"
            if i and 2 * i >= depth > 2 * (i - 1) and self.rng.random() < 0.5:
                self.line("x = copy x", at + "in")
            self.rng.choice(kinds)(at)
        if self.tied:
            self.line(f"y = matmul x {t} tb=1", "head")
        else:
            w = self.weight(f"{self.width},{self.classes}", "head")
            self.line(f"y = matmul x {w}", "head")
        self.line("l = cross_entropy y goal" if self.rng.random() < 0.7
                  else "l = mean y")

    def text(self):
        self.forward(self.rng.randint(1, 4))
        names = [w for w, _, _ in self.weights]
        lines = list(self.init)
        adam = self.rng.random() < 0.4
        moments = []
        if adam:
            made = self.rng.choice(["zeros {d}[{s}]", "mul {w} 0", "sub {w} {w}"])
            for w, signal, shape in self.weights:
                made_now = made.format(d=self.dtype, s=shape, w=w)
                moments += [f"m.{w} = {made_now}", f"v.{w} = {made_now}"]
        late = self.rng.random() < 0.5  # they are made when the optimizer first runs
        lines += [] if late else moments
        step = self.microbatched(names) if self.micro > 1 else [
            *self.body, " ".join(f"g.{w}" for w in names) + " = grad l "
            + " ".join(names)]
        rounds = self.rng.randint(1, 3)
        for i in range(rounds):
            lines += step
            lines += moments if late and i == 0 else []
            for w in names:
                lines.append(
                    f"{w} m.{w} v.{w} = adamw {w} g.{w} m.{w} v.{w} {i + 1} "
                    "0.01 eps=0.1" if adam else f"{w} = sgd {w} g.{w} 0.1")
            lines.append("print l")
        lines += [f"print {w}" for w in names] + ["print y", "print x"]
        return "\n".join(lines) + "\n"

    def microbatched(self, names):
        step = []
        for i in range(self.micro):
            for line in self.body:
                step.append(line + f" #mb={i}")
            grads = " ".join(f"d.{w}" for w in names)
            step.append(f"{grads} = grad l " + " ".join(names))
            step += [f"g.{w} = add g.{w} d.{w} #mb={i}" if i else
                     f"g.{w} = copy d.{w} #mb={i}" for w in names]
        return step


def config_of(rng, network):
    mesh = rng.choice(MESHES)
    axis = {a: a for a in mesh}
    data = [a for a in mesh if a in ("dp", "tp")]
    signals = {}

    def maybe(name, share, text):
        if rng.random() < share:
            signals[name] = text

    tp, dp = axis.get("tp"), axis.get("dp") or axis.get("tp")
    unit = network.width // network.heads
    if tp:
        cut = f"{tp}: 1*{unit}" if rng.random() < 0.3 and unit > 1 else f"{tp}: 1"
        maybe("colpar", 0.8, f"shard: {{{cut}}}")
        maybe("rowpar", 0.8, f"shard: {{{tp}: 0}}")
        maybe("table", 0.5, f"shard: {{{tp}: {rng.randint(0, 1)}}}")
        maybe("head", 0.5, f"shard: {{{tp}: {rng.randint(0, 1)}}}")
        maybe("norm", 0.3, f"results: {{{tp}: 1}}")
        maybe("residual", 0.3, f"results: {{{tp}: 1}}")
    maybe("batch", 0.7, f"shard: {{{dp}: 0}}")
    if "pp" in mesh:
        signals["stage0"] = "on: {pp: 0}"
        signals["stage1"] = "on: {pp: 1}"
        for name in ("batch", "table"):
            text = signals.get(name, "")
            signals[name] = text + (", " if text else "") + "on: {pp: 0}"
        text = signals.get("head", "")
        signals["head"] = text + (", " if text else "") + "on: {pp: 1}"
    text = "mesh: {" + ", ".join(f"{a}: {n}" for a, n in mesh.items()) + "}\n"
    text += "signals:\n" + "".join(
        f"  {n}: {{{t}}}\n" for n, t in signals.items() if t)
    if data and rng.random() < 0.4:  # ZeRO and FSDP
        names = rng.choice(["m.*", "v.*", "w*"])
        text += f"tensors:\n  \"{names}\": {{shard: {{{rng.choice(data)}: 0}}}}\n"
    if rng.random() < 0.2:
        text += "regather: true\n"
    if rng.random() < 0.3:
        text += f"chunks: {rng.choice([2, 3, 4, 'auto'])}\n"
    return text + link(rng) + "\n"


def gt_config(rng):
    """A config in the form of GT's own files."""
    n = rng.choice([2, 3, 4])
    half = n // 2
    stages = rng.random() < 0.5 and n > 2
    lines = []
    for i in range(2):
        workers = list(range(half) if i == 0 else range(half, n)) if stages \
            else list(range(n))
        for name, dim in (("colpar", 1), ("rowpar", 0)):
            if rng.random() < 0.8:
                lines.append(f"stage{i}/{name}: {{shard: {{axis: {dim}, "
                             f"workers: {workers}}}}}")
        if stages:
            lines.append(f"stage{i}: {{workers: {workers}}}")
    lines.append("batch: {shard: {axis: 0, workers: null}}" if not stages
                 else f"batch: {{workers: {list(range(half))}}}")
    return "\n".join(lines) + "\n", n


def generate(seed):
    """A program, its config, and options for gt-shard."""
    rng = random.Random(seed)
    network = Network(rng, rng.choice([1, 1, 1, 2, 3]), tied=seed % 3 == 1)
    text = network.text()
    if seed % 4 == 3:
        config, n = gt_config(rng)
        return text, config, ["-n", str(n)]
    config = config_of(rng, network)
    if "pp: 2" in config and network.micro > 1 and seed % 2:
        kind = rng.choice(["gpipe", "1f1b", "zb-h1", "zb-h2"])
        config += f"schedule: {{kind: {kind}}}\n"
    if network.dtype == "f32" and seed % 4 < 2:
        config += f"precision: {rng.choice(['bf16', 'bf16', 'f16'])}\n"
        if rng.random() < 0.5:
            config += "sums: bf16\n"
    return text, config, []


if __name__ == "__main__":
    sys.exit(main(generate, "network"))

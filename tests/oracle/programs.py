"""Random well-typed programs, a function of their seed alone.

Programs have loops, names that are bound again, gradients, frees, prints,
notes and remarks, of floats and integers. There are few shapes, so that many
lines fit each other.
"""
import random

SHAPES = [(), (4,), (3, 4), (4, 3), (3, 1), (1, 4), (2, 3, 4), (0, 4)]
FLOATS = ("f32", "f64")
ONE = ("neg", "sin", "tanh", "sigmoid", "relu", "abs", "erf", "copy",
       "detach", "sign", "cos")
TWO = ("add", "sub", "mul", "maximum", "minimum")
NORMS = ("layer_norm", "rms_norm")
ASK = ("lt", "ge", "eq", "ne")


def broadcast(a, b):
    """The shape of both together, or None."""
    rank = max(len(a), len(b))
    a, b = ((1,) * (rank - len(s)) + s for s in (a, b))
    shape = []
    for m, n in zip(a, b):
        if m != n and 1 not in (m, n):
            return None
        shape.append(n if m == 1 else m)
    return tuple(shape)


def type_text(dtype, shape):
    return f"{dtype}[{','.join(map(str, shape))}]"


class Program:
    """Lines so far, and the type of every live name."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.types = {}
        self.leaves = set()  # floats that creations made, which are good targets
        self.made = 0
        self.write()

    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self):
        for _ in range(self.rng.randint(3, 6)):
            self.create()
        for _ in range(self.rng.randint(2, 5)):
            self.rng.choice([self.block, self.block, self.loop, self.train])()
        for name in sorted(self.types):
            if self.rng.random() < 0.5:
                self.lines.append(f"print {name}")

    # ---- lines ---------------------------------------------------------------

    def add(self, line):
        roll = self.rng.random()
        if roll < 0.08:
            line += f" #signal=s{self.rng.randint(0, 3)}/t #mb=1"
        elif roll < 0.12:
            line += ' #unknown="a b" # a remark with "quotes'
        elif roll < 0.14:
            self.lines.append("# a comment of its own")
        self.lines.append(line)

    def name(self):
        """A name, mostly one that is bound already."""
        if self.types and self.rng.random() < 0.6:
            return self.rng.choice(sorted(self.types))
        self.made += 1
        space = self.rng.choice(["", "", "a.", "act/"])
        return f"{space}n{self.made}"

    def bind(self, name, dtype, shape, leaf=False):
        self.types[name] = (dtype, shape)
        self.leaves.discard(name)
        if leaf and dtype in FLOATS:
            self.leaves.add(name)

    def create(self, name=None):
        dtype = self.rng.choice(["f32", "f64", "f64", "i64", "i32", "bool"])
        shape = self.rng.choice(SHAPES)
        kind = type_text(dtype, shape)
        if dtype in FLOATS:
            seed = self.rng.choice([" 7", " 8", ""])
            text = self.rng.choice(
                [f"randn {kind}{seed} scale=0.5", f"rand {kind}{seed}",
                 f"full {kind} 0.25", f"ones {kind}"])
        else:
            text = self.rng.choice([f"ones {kind}", f"zeros {kind}",
                                    f"full {kind} 1"])
        name = name or self.name()
        self.bind(name, dtype, shape, True)
        self.add(f"{name} = {text}")

    def pick(self, floats=False, shape=None, numbers=False):
        found = [n for n, (d, s) in sorted(self.types.items())
                 if (not floats or d in FLOATS) and shape in (None, s)
                 and not (numbers and d == "bool")]
        return self.rng.choice(found) if found else None

    # Each gives (text of the right side, dtype, shape), or None if nothing
    # fits.
    def unary(self):
        x = self.pick(floats=True)
        return x and (f"{self.rng.choice(ONE)} {x}", *self.types[x])

    def integer(self):
        x = self.pick(numbers=True)
        if not x or self.types[x][0] in FLOATS:
            return None
        op = self.rng.choice(["add", "mul", "sub"])
        return (f"{op} {x} 3", *self.types[x])

    def binary(self):
        a, b = self.pick(floats=True), self.pick(floats=True)
        if not a or self.types[a][0] != self.types[b][0]:
            return None
        shape = broadcast(self.types[a][1], self.types[b][1])
        if shape is None:
            return None
        return f"{self.rng.choice(TWO)} {a} {b}", self.types[a][0], shape

    def literal(self):
        a = self.pick(floats=True)
        op = self.rng.choice(TWO)
        return a and (f"{op} {a} {self.rng.choice(['2', '0.5', '-1'])}",
                      *self.types[a])

    def ask(self):
        a = self.pick()
        if not a:
            return None
        # A float near the number that it is compared with would be decided by
        # rounding.
        than = "0.0371" if self.types[a][0] in FLOATS else "0"
        return (f"{self.rng.choice(ASK)} {a} {than}", "bool",
                self.types[a][1])

    def choose(self):
        c, a = self.pick(), self.pick(floats=True)
        if not a or self.types[c][0] != "bool":
            return None
        shape = broadcast(self.types[c][1], self.types[a][1])
        return shape and (f"where {c} {a} 0", self.types[a][0], shape)

    def reduce(self):
        x = self.pick(floats=True)
        if not x or not self.types[x][1]:
            return None
        dtype, shape = self.types[x]
        axis = self.rng.randrange(len(shape))
        keep = self.rng.random() < 0.5
        kept = (1,) if keep else ()
        op = self.rng.choice(["sum", "mean", "prod", "cumsum"])
        if 0 in shape and op == "mean":
            return None
        if op == "cumsum":
            return f"cumsum {x} axis={axis}", dtype, shape
        return (f"{op} {x} axis={axis - len(shape)}"
                + (" keepdims=1" if keep else ""), dtype,
                shape[:axis] + kept + shape[axis + 1:])

    def product(self):
        a, b = self.pick(floats=True), self.pick(floats=True)
        if not a or self.types[a][0] != self.types[b][0]:
            return None
        dtype, left = self.types[a]
        right = self.types[b][1]
        if len(left) < 2 or len(right) != 2 or left[-1] != right[0]:
            return None
        return f"matmul {a} {b}", dtype, left[:-1] + right[1:]

    def layout(self):
        x = self.pick()
        if not x or not self.types[x][1]:
            return None
        dtype, shape = self.types[x]
        if self.rng.random() < 0.5:
            return f"transpose {x}", dtype, shape[::-1]
        return f"reshape {x} shape=-1" if 0 not in shape else (
            f"flip {x}"), dtype, (
                (size(shape),) if 0 not in shape else shape)

    def softmax(self):
        x = self.pick(floats=True)
        if not x or not self.types[x][1] or 0 in self.types[x][1]:
            return None
        op = self.rng.choice(["softmax", "log_softmax"])
        return (f"{op} {x} axis=-1", *self.types[x])

    def norm(self):
        x = self.pick(floats=True)
        if not x or self.types[x][1][-1:] in ((), (1,)):
            return None  # of one element, the sign would be that of a rounding
        dtype, shape = self.types[x]
        w = self.pick(shape=shape[-1:])
        if w and self.types[w][0] == dtype:
            return f"{self.rng.choice(NORMS)} {x} {w} eps=0.5", dtype, shape
        return f"{self.rng.choice(NORMS)} {x} eps=0.5", dtype, shape

    def attention(self):
        q, k = self.pick(floats=True), self.pick(floats=True)
        if not q or self.types[q][0] != self.types[k][0]:
            return None
        dtype, shape = self.types[q]
        other = self.types[k][1]
        if len(shape) < 2 or len(other) != 2 or shape[-1] != other[-1]:
            return None
        keys = self.rng.choice(["", " causal=1"])
        if shape[-1] % 2 == 0:
            keys += self.rng.choice(["", " heads=2"])
        return f"attention {q} {k} {k}{keys}", dtype, shape

    def random(self):
        x = self.pick(floats=True)
        seed = self.rng.choice(["", " 5"])
        return x and (f"dropout {x} 0.25{seed}", *self.types[x])

    def rope(self):
        x = self.pick(floats=True)
        if not x or len(self.types[x][1]) < 2 or self.types[x][1][-1] % 2:
            return None
        tail = self.rng.choice(["", " 3", " interleaved=1"])
        return (f"rope {x}{tail}", *self.types[x])

    def compute(self, name=None, wanted=None):
        """Adds a line; if a name is given, its result has the type that the
        name has."""
        makers = [self.unary, self.unary, self.binary, self.binary,
                  self.literal, self.integer, self.ask, self.choose,
                  self.reduce, self.product, self.layout, self.softmax,
                  self.norm, self.attention, self.random, self.rope]
        for _ in range(40):
            made = self.rng.choice(makers)()
            if not made or (wanted and made[1:] != wanted):
                continue
            if size(made[2]) > 200:
                continue
            name = name or self.name()
            results = name
            if (made[0].startswith("attention") and name != "lse"
                    and self.rng.random() < 0.5):
                lse = self.statistics(made)
                # In a loop it has its type back at the end of the round.
                if wanted is None or self.types.get("lse", lse) == lse:
                    self.bind("lse", *lse)
                    results += " lse"
            self.bind(name, made[1], made[2])
            return self.add(f"{results} = {made[0]}")
        return None

    def statistics(self, made):
        """The type of attention's second result."""
        wide = "f64" if made[1] == "f64" else "f32"
        heads = (2,) if "heads" in made[0] else ()
        return wide, made[2][:-2] + heads + made[2][-2:-1]

    # ---- blocks --------------------------------------------------------------

    def block(self):
        for _ in range(self.rng.randint(3, 12)):
            roll = self.rng.random()
            if roll < 0.1:
                self.create()
            elif roll < 0.18 and len(self.types) > 4:
                self.free()
            elif roll < 0.26:
                self.gradient()
            elif roll < 0.34:
                self.add(f"print {self.pick()}")
            else:
                self.compute()

    def free(self):
        name = self.pick()
        del self.types[name]
        self.leaves.discard(name)
        self.add(f"free {name}")

    def gradient(self):
        for _ in range(3):
            self.compute()
        targets = sorted(self.leaves)
        computed = [n for n, (d, _) in sorted(self.types.items())
                    if d in FLOATS and n not in self.leaves]
        x = self.rng.choice(computed) if computed else None
        if not targets or not x or "loss" == x:
            return
        self.rng.shuffle(targets)
        targets = targets[:self.rng.randint(1, 3)]
        self.add(f"loss = {self.rng.choice(['sum', 'mean'])} {x}")
        self.bind("loss", self.types[x][0], ())
        retain = self.rng.choice(["", "", " retain=1"])
        grads = [f"g{i}" for i in range(len(targets))]
        self.add(f"{' '.join(grads)} = grad loss {' '.join(targets)}{retain}")
        for g, t in zip(grads, targets):
            self.bind(g, *self.types[t])

    def repeat(self, body, rounds):
        self.lines += body * rounds

    def loop(self):
        """Rounds of one text: every name has its type back at the end."""
        start, before = len(self.lines), dict(self.types)
        names = [n for n in sorted(self.types) if n not in self.leaves]
        for _ in range(self.rng.randint(2, 6)):
            if not names:
                break
            name = self.rng.choice(names)
            self.compute(name, self.types[name])
        if self.rng.random() < 0.5:
            self.add(f"print {self.pick()}")
        self.types = before
        body = self.lines[start:]
        del self.lines[start:]
        self.repeat(body, self.rng.randint(3, 30))

    def train(self):
        """Descent on a small model, by hand or by an optimizer."""
        dtype = self.rng.choice(FLOATS)
        w = f"w{self.made}"
        self.made += 1
        self.add(f"{w} = randn {dtype}[4,3] 3 scale=0.3")
        self.add(f"x = randn {dtype}[5,4] 4")
        self.bind(w, dtype, (4, 3))
        self.bind("x", dtype, (5, 4), True)
        start = len(self.lines)
        self.add(f"h = matmul x {w}")
        if self.rng.random() < 0.5:
            self.add("h = tanh h")
        if self.rng.random() < 0.3:
            self.add(f"noise = randn {dtype}[5,3] scale=0.1")
            self.add("h = add h noise")
            self.bind("noise", dtype, (5, 3))
        self.add("loss = mse h 0.5")
        early = self.rng.random() < 0.4
        if early:
            self.add("free h")
        self.add(f"g = grad loss {w}")
        if self.rng.random() < 0.5:
            self.add(f"{w} = sgd {w} g 0.1")
        else:
            self.add("g = mul g 0.1")
            self.add(f"{w} = sub {w} g")
        if self.rng.random() < 0.3:
            self.add("print loss")
        self.bind("loss", dtype, ())
        self.bind("g", dtype, (4, 3))
        if early:
            self.types.pop("h", None)
        else:
            self.bind("h", dtype, (5, 3))
        body = self.lines[start:]
        del self.lines[start:]
        self.repeat(body, self.rng.randint(2, 25))


def size(shape):
    n = 1
    for s in shape:
        n *= s
    return n

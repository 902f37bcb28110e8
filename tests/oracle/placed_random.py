"""Random placed programs of every family of ops, cut in every way.

A program is made twice, line by line: with ranks and as one device runs it. A
value has a whole shape and, for each axis of the mesh, a type: cuts of its
dimensions (outer first, some in units, some uneven), sums, or copies (R or I).
A step takes a value and makes another, by lines that are legal on its types.
"""
import math

MESHES = [{"tp": 2}, {"tp": 3}, {"dp": 2, "tp": 2}, {"dp": 3, "tp": 2},
          {"a": 2, "b": 2, "c": 2}]
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 12]


def parts_of(sizes, count, unit):
    """The parts of each size, cut in units: the first are longer."""
    made = []
    for size in sizes:
        each, longer = divmod(size // unit, count)
        made += [(each + (i < longer)) * unit for i in range(count)]
    return made


class Value:
    def __init__(self, name, shape, cuts=(), sums=(), inv=()):
        self.name, self.shape = name, list(shape)
        self.cuts = list(cuts)            # (axis, dim, unit)
        self.sums, self.inv = set(sums), set(inv)

    def cut_axes(self):
        return {a for a, _, _ in self.cuts}

    def cuts_of(self, dim):
        return [c for c in self.cuts if c[1] == dim]

    def is_cut(self, dim):
        return bool(self.cuts_of(dim))

    def whole_dims(self):
        return [d for d in range(len(self.shape)) if not self.is_cut(d)]

    def split(self):
        return ",".join(f"{a}:{d}" + (f"*{u}" if u > 1 else "")
                        for a, d, u in self.cuts)

    def dims(self):
        return ",".join(map(str, self.shape))

    def moved(self, to):
        """Its cuts where dimension d becomes to[d]; absent ones go."""
        return [(a, to[d], u) for a, d, u in self.cuts if d in to]


class Program:
    def __init__(self, rng, prefix=""):
        self.rng, self.prefix = rng, prefix
        self.mesh = rng.choice(MESHES)
        self.at = f"@0-{math.prod(self.mesh.values()) - 1}"
        self.placed = ["mesh " + " ".join(f"{a}={n}"
                                          for a, n in self.mesh.items())]
        self.whole = []
        self.leaves, self.values, self.count = [], [], 0

    # ---- lines ---------------------------------------------------------------

    def name(self):
        self.count += 1
        return f"{self.prefix}x{self.count}"

    def seed(self):
        return self.count + 1

    def both(self, results, op, names, tail="", more=""):
        """A line of both programs; `more` is the placed one's alone."""
        results = [results] if isinstance(results, str) else results
        left = " ".join(results)
        self.whole.append(f"{left} = {op} {' '.join(names)}{tail}")
        left = " ".join(r + self.at for r in results)
        right = " ".join(n + self.at for n in names)
        self.placed.append(f"{left} = {op} {right}{tail}{more}")

    def source(self, name, op, tail, split, note=""):
        self.whole.append(f"{name} = {op}{tail}")
        self.placed.append(f"{name}{self.at} = {op}{tail}"
                           + (f" split={split}" if split else "") + note)

    def move(self, result, op, name, tail):
        self.placed.append(f"{result}{self.at} = {op} {name}{self.at} {tail}")
        self.whole.append(f"{result} = copy {name}")

    def stated(self, v):
        """split= of the result, and shape= where the line has no sizes."""
        return f" split={v.split()} shape={v.dims()}" if v.cuts else ""

    # ---- types ---------------------------------------------------------------

    def free(self, v, inv=False):
        """Axes on which it is R; or I."""
        return [a for a in self.mesh if a not in v.sums
                and a not in v.cut_axes() and (a in v.inv) == inv]

    def unit(self, size, cuts):
        """A unit in which one more axis may cut a dimension."""
        sizes = [size]
        for axis, _, unit in cuts:
            sizes = parts_of(sizes, self.mesh[axis], unit)
        common = math.gcd(*sizes)
        if common < 2 or self.rng.random() < 0.6:
            return 1
        return self.rng.choice([u for u in range(2, common + 1)
                                if common % u == 0])

    def with_cut(self, v, axis, dim):
        return v.cuts + [(axis, dim, self.unit(v.shape[dim], v.cuts_of(dim)))]

    def create(self, shape, cuts=None, inv=None, leaf=True):
        """A leaf; cut and invariant as told, or at random."""
        v = Value(self.name(), shape)
        if cuts is None:
            for axis in self.rng.sample(list(self.mesh), len(self.mesh)):
                if shape and self.rng.random() < 0.6:
                    v.cuts = self.with_cut(v, axis,
                                           self.rng.randrange(len(shape)))
        else:
            v.cuts = list(cuts)
        if inv is None:
            inv = [a for a in self.free(v) if self.rng.random() < 0.2]
        v.inv = set(inv)
        note = ",".join(f"{a}:I" for a in self.mesh if a in v.inv)
        self.source(v.name, "randn", f" f64[{v.dims()}] {self.seed()}",
                    v.split(), f" #type={note}" if note else "")
        if leaf:
            self.leaves.append(v)
        return v

    def like(self, v, shape, to, cuts=()):
        """An operand to join with v, on whose dimension to[d] its own d lies;
        sums are left to the caller."""
        mine = [(a, d, u) for d, e in to.items() for a, f, u in v.cuts
                if e == f]
        order = [a for a, _, _ in v.cuts]
        mine.sort(key=lambda c: order.index(c[0]))
        return self.create(shape, mine + list(cuts), v.inv)

    def made(self, v, shape, cuts, sums=(), op=None, names=(), tail="",
             more=""):
        r = Value(self.name(), shape, cuts, v.sums | set(sums), v.inv)
        if op is not None:
            self.both(r.name, op, [v.name, *names], tail, more)
        return r

    # ---- steps: None where one does not apply ----------------------------------

    def unary(self, v):
        linear = ["neg", "copy", "cast"]
        op = self.rng.choice(linear if v.sums else linear + [
            "tanh", "relu", "sigmoid", "abs", "gelu", "exp"])
        return self.made(v, v.shape, v.cuts, op=op,
                         tail=" f64" if op == "cast" else "")

    def scaled(self, v):
        return self.made(v, v.shape, v.cuts, op="mul", tail=" 0.5")

    def binary(self, v):
        """With another of its shape, or one that is broadcast to it."""
        rank = len(v.shape)
        drop = self.rng.randint(0, rank) if self.rng.random() < 0.4 else 0
        shape, to = [], {}
        for d in range(drop, rank):
            one = v.shape[d] > 1 and self.rng.random() < 0.2
            shape.append(1 if one else v.shape[d])
            if not one:
                to[d - drop] = d
        w = self.like(v, shape, to)
        if not v.sums:
            op = self.rng.choice(["add", "sub", "mul", "maximum"])
        elif self.rng.random() < 0.5 or not drop == 0 or shape != v.shape:
            op = "mul"
        else:
            op = "add"
            w = self.summand(w, v.sums)
        if self.rng.random() < 0.3 and op in ("add", "mul"):
            v, w = w, v
            r = self.made(w, w.shape, w.cuts)
            self.both(r.name, op, [v.name, w.name])
            return r
        return self.made(v, v.shape, v.cuts, op=op, names=[w.name])

    def summand(self, w, axes):
        for axis in sorted(axes):
            r = Value(self.name(), w.shape, w.cuts, w.sums | {axis}, w.inv)
            self.move(r.name, "convert", w.name, f"over={axis} src=R dst=P")
            w = r
        return w

    def where(self, v):
        if v.sums:
            return None
        w = self.like(v, v.shape, {d: d for d in range(len(v.shape))})
        c = self.name()
        self.both(c, "lt", [v.name, w.name])
        r = self.made(v, v.shape, v.cuts)
        self.both(r.name, "where", [c, v.name, w.name])
        return r

    def matmul(self, v):
        if not v.shape:
            return None
        k, n = len(v.shape) - 1, self.rng.randint(1, 6)
        cuts, out = [], [c for c in v.cuts if c[1] != k]
        sums = [a for a, d, _ in v.cuts if d == k]
        op = "matmul" if k > 0 and self.rng.random() < 0.5 else "linear"
        w = Value("", [v.shape[k], n], [(a, 0, u) for a, _, u in v.cuts_of(k)])
        if k >= 0:
            for axis in self.free(v):
                if self.rng.random() < 0.5:
                    w.cuts = self.with_cut(w, axis, 1)
                    out.append((axis, k, w.cuts[-1][2]))
        cuts = w.cuts
        w = self.create(w.shape, cuts, v.inv)
        names = [w.name]
        if op == "linear" and not sums and not v.sums:
            b = self.create([n], [(a, 0, u) for a, d, u in cuts if d == 1],
                            v.inv)
            names.append(b.name)
        return self.made(v, v.shape[:-1] + [n], out, sums, op, names)

    def batched(self, v):
        """A product with its own dimensions before the last two."""
        rank = len(v.shape)
        if rank < 3:
            return None
        n = self.rng.randint(1, 4)
        to = {d: d for d in range(rank - 2)}
        to[rank - 2] = rank - 1
        w = self.like(v, v.shape[:-2] + [v.shape[-1], n], to)
        sums = [a for a, d, _ in v.cuts if d == rank - 1]
        return self.made(v, v.shape[:-1] + [n],
                         [c for c in v.cuts if c[1] != rank - 1], sums,
                         "matmul", [w.name])

    def sum(self, v):
        if not v.shape:
            return None
        dims = sorted(self.rng.sample(range(len(v.shape)),
                                      self.rng.randint(1, len(v.shape))))
        keep = self.rng.random() < 0.4
        left = [d for d in range(len(v.shape)) if d not in dims]
        to = {d: d if keep else left.index(d) for d in left}
        shape = [1 if d in dims else n for d, n in enumerate(v.shape)] \
            if keep else [v.shape[d] for d in left]
        sums = [a for a, d, _ in v.cuts if d in dims]
        return self.made(v, shape, v.moved(to), sums, "sum",
                         tail=f" axis={','.join(map(str, dims))}"
                         f" keepdims={int(keep)}")

    def reduce(self, v):
        """What needs the dimension whole."""
        whole = [d for d in v.whole_dims() if v.shape[d] > 1]
        if not whole:
            return None
        d = self.rng.choice(whole)
        op = "mean" if v.sums else self.rng.choice(
            ["mean", "max", "min", "var", "prod"])
        keep = self.rng.random() < 0.4
        to = {e: e if keep or e < d else e - 1
              for e in range(len(v.shape)) if e != d}
        shape = v.shape[:d] + ([1] if keep else []) + v.shape[d + 1:]
        return self.made(v, shape, v.moved(to), (), op,
                         tail=f" axis={d} keepdims={int(keep)}")

    def along(self, v):
        """What works along a dimension that is whole, and keeps it."""
        whole = v.whole_dims()
        if not whole:
            return None
        d = self.rng.choice(whole)
        op = self.rng.choice(["cumsum", "flip"] if v.sums else [
            "cumsum", "flip", "softmax", "log_softmax"])
        return self.made(v, v.shape, v.cuts, (), op, tail=f" axis={d}")

    def norm(self, v):
        last = len(v.shape) - 1
        if last < 1 or v.sums or v.is_cut(last):
            return None
        w = self.create([v.shape[last]], [], v.inv)
        if self.rng.random() < 0.5:
            return self.made(v, v.shape, v.cuts, (), "rms_norm", [w.name])
        b = self.create([v.shape[last]], [], v.inv)
        return self.made(v, v.shape, v.cuts, (), "layer_norm",
                         [w.name, b.name])

    def ordered(self, v):
        whole = v.whole_dims()
        if not whole or v.sums:
            return None
        d, kind = self.rng.choice(whole), self.rng.randrange(3)
        r = self.made(v, v.shape, v.cuts)
        if kind == 0:
            self.both([r.name, self.name()], "sort", [v.name], f" axis={d}")
        elif kind == 1:
            r.shape[d] = self.rng.randint(1, v.shape[d])
            self.both([r.name, self.name()], "topk", [v.name],
                      f" axis={d} size={r.shape[d]}")
        else:
            i = self.name()
            self.both(i, "argsort", [v.name], f" axis={d}")
            self.both(r.name, "gather", [v.name, i], f" axis={d}")
        return r

    def indices(self, shape, cuts, below, inv=()):
        i = Value(self.name(), shape, cuts)
        note = ",".join(f"{a}:I" for a in self.mesh if a in inv)
        self.source(i.name, "rand", f" f64[{i.dims()}] {self.seed()}",
                    i.split(), f" #type={note}" if note else "")
        self.both(i.name, "mul", [i.name], f" {below}")
        self.both(i.name, "cast", [i.name], " i64")
        return i

    def gather(self, v):
        """Picked along a whole dimension, by indices cut along it or not."""
        whole = v.whole_dims()
        if not whole or v.sums:
            return None
        d, k = self.rng.choice(whole), self.rng.randint(1, 6)
        r = Value("", v.shape[:d] + [k] + v.shape[d + 1:], v.cuts)
        for axis in self.free(v):
            if self.rng.random() < 0.4:
                r.cuts = self.with_cut(r, axis, d)
        i = self.indices(r.shape, r.cuts, v.shape[d], v.inv)
        return self.made(v, r.shape, r.cuts, (), "gather", [i.name],
                         f" axis={d}")

    def looked_up(self, v):
        """Indices into a dimension that is cut; the parts sum to the whole."""
        cut = [d for d in range(len(v.shape)) if v.is_cut(d)]
        if not cut or v.sums or len(v.shape) != 2:
            return None
        d = self.rng.choice(cut)
        sums = [a for a, _, _ in v.cuts_of(d)]
        tail, others = f" split={v.split()} shape={v.dims()}", \
            [c for c in v.cuts if c[1] != d]
        if d == 0 and self.rng.random() < 0.5:
            i = self.indices([self.rng.randint(1, 6)], [], v.shape[0], v.inv)
            return self.made(v, i.shape + v.shape[1:], others, sums,
                             "embedding", [i.name], more=tail)
        shape = list(v.shape)
        shape[d] = self.rng.randint(1, 6)
        i = self.indices(shape, others, v.shape[d], v.inv)
        return self.made(v, shape, others, sums, "gather", [i.name],
                         f" axis={d}", tail)

    def embedding(self, v):
        if len(v.shape) != 2 or v.sums or v.is_cut(0):
            return None
        ids = Value("", [self.rng.randint(1, 6)
                         for _ in range(self.rng.randint(1, 2))])
        for axis in self.free(v):
            if self.rng.random() < 0.5:
                ids.cuts = self.with_cut(ids, axis,
                                         self.rng.randrange(len(ids.shape)))
        i = self.indices(ids.shape, ids.cuts, v.shape[0], v.inv)
        rank = len(i.shape)
        return self.made(v, i.shape + v.shape[1:],
                         i.cuts + [(a, rank, u) for a, _, u in v.cuts], (),
                         "embedding", [i.name])

    def transpose(self, v):
        order = self.rng.sample(range(len(v.shape)), len(v.shape))
        if not order:
            return None
        to = {d: order.index(d) for d in order}
        return self.made(v, [v.shape[d] for d in order], v.moved(to), (),
                         "transpose", tail=f" axes={','.join(map(str, order))}")

    def unsqueeze(self, v):
        d = self.rng.randint(0, len(v.shape))
        if len(v.shape) > 3:
            return None
        to = {e: e + (e >= d) for e in range(len(v.shape))}
        return self.made(v, v.shape[:d] + [1] + v.shape[d:], v.moved(to), (),
                         "unsqueeze", tail=f" axis={d}")

    def squeeze(self, v):
        ones = [d for d in v.whole_dims() if v.shape[d] == 1]
        if not ones:
            return None
        d = self.rng.choice(ones)
        to = {e: e - (e > d) for e in range(len(v.shape)) if e != d}
        return self.made(v, v.shape[:d] + v.shape[d + 1:], v.moved(to), (),
                         "squeeze", tail=f" axis={d}")

    def reshape(self, v, shape, cuts):
        r = self.made(v, shape, cuts)
        tail = f" shape={r.dims()}"
        self.both(r.name, "reshape", [v.name], tail,
                  f" split={r.split()}" if r.cuts else "")
        return r

    def merge(self, v):
        pairs = [d for d in range(len(v.shape) - 1) if not v.is_cut(d + 1)]
        if not pairs:
            return None
        d = self.rng.choice(pairs)
        inner = v.shape[d + 1]
        to = {e: e - (e > d) for e in range(len(v.shape))}
        cuts = [(a, to[e], u * inner if e == d else u) for a, e, u in v.cuts]
        return self.reshape(v, v.shape[:d] + [v.shape[d] * inner]
                            + v.shape[d + 2:], cuts)

    def divide(self, v):
        """A dimension into two, of which the first has the cuts."""
        choices = []
        for d, n in enumerate(v.shape):
            sizes = [n]
            for axis, _, unit in v.cuts_of(d):
                sizes = parts_of(sizes, self.mesh[axis], unit)
            common = math.gcd(*sizes)
            choices += [(d, b) for b in range(2, common + 1)
                        if common % b == 0]
        choices = [(d, b) for d, b in choices
                   if all(u % b == 0 or u == 1 for _, _, u in v.cuts_of(d))
                   and self.divides(v, d, b)]
        if not choices or len(v.shape) > 3:
            return None
        d, b = self.rng.choice(choices)
        to = {e: e + (e > d) for e in range(len(v.shape))}
        cuts = [(a, to[e], max(u // b, 1) if e == d else u)
                for a, e, u in v.cuts]
        return self.reshape(v, v.shape[:d] + [v.shape[d] // b, b]
                            + v.shape[d + 1:], cuts)

    def divides(self, v, d, b):
        """Whether the leading factor is cut where the dimension was."""
        mine, other = [v.shape[d]], [v.shape[d] // b]
        for axis, _, unit in v.cuts_of(d):
            mine = parts_of(mine, self.mesh[axis], unit)
            if any(n % max(unit // b, 1) for n in other):
                return False
            other = parts_of(other, self.mesh[axis], max(unit // b, 1))
        return mine == [n * b for n in other]

    def expand(self, v):
        if len(v.shape) > 3:
            return None
        lead = self.rng.randint(0, 1)
        grows = [d for d in v.whole_dims()
                 if v.shape[d] == 1 and self.rng.random() < 0.7]
        if not lead and not grows:
            return None
        shape = [self.rng.randint(2, 5)] * lead + [
            self.rng.randint(2, 5) if d in grows else n
            for d, n in enumerate(v.shape)]
        r = self.made(v, shape, [(a, d + lead, u) for a, d, u in v.cuts])
        new = [0] * lead + [d + lead for d in grows]
        for axis in self.free(v):
            if self.rng.random() < 0.4:
                r.cuts = self.with_cut(r, axis, self.rng.choice(new))
        self.both(r.name, "expand", [v.name], f" shape={r.dims()}",
                  f" split={r.split()}" if r.cuts else "")
        return r

    def slice(self, v):
        whole = [d for d in v.whole_dims() if v.shape[d] > 1]
        if not whole:
            return None
        d = self.rng.choice(whole)
        n = v.shape[d]
        start = self.rng.randrange(n)
        kind = self.rng.randrange(4)
        if kind == 0:  # an index
            to = {e: e - (e > d) for e in range(len(v.shape)) if e != d}
            return self.made(v, v.shape[:d] + v.shape[d + 1:], v.moved(to), (),
                             "slice", tail=" :" * d + f" {start}")
        stop = self.rng.randint(start + 1, n)
        step = self.rng.randint(1, 3) if kind == 1 else 1
        shape = list(v.shape)
        shape[d] = len(range(start, stop, step))
        if kind == 3:
            i = self.name()
            self.source(i, "tensor", f" i64[] {start}", "")
            return None if v.inv else self.made(
                v, shape, v.cuts, (), "slice", [i],
                f" axis={d} size={shape[d]}")
        return self.made(v, shape, v.cuts, (), "slice",
                         tail=" :" * d + f" {start}:{stop}:{step}")

    def pad(self, v):
        whole = v.whole_dims()
        if not whole:
            return None
        d = self.rng.choice(whole)
        width = [0] * (2 * len(v.shape))
        width[2 * d], width[2 * d + 1] = (self.rng.randint(0, 2),
                                          self.rng.randint(0, 2))
        shape = list(v.shape)
        shape[d] += width[2 * d] + width[2 * d + 1]
        return self.made(v, shape, v.cuts, (), "pad",
                         tail=f" width={','.join(map(str, width))}")

    def joined(self, v):
        whole = v.whole_dims()
        if not whole:
            return None
        d = self.rng.choice(whole)
        w = v
        if self.rng.random() < 0.6:
            w = self.summand(self.like(
                v, v.shape, {e: e for e in range(len(v.shape))}), v.sums)
        if len(v.shape) < 4 and self.rng.random() < 0.4:
            to = {e: e + (e >= d) for e in range(len(v.shape))}
            return self.made(v, v.shape[:d] + [2] + v.shape[d:], v.moved(to),
                             (), "stack", [w.name], f" axis={d}")
        shape = list(v.shape)
        shape[d] *= 2
        r = self.made(v, shape, v.cuts, (), "concat", [w.name], f" axis={d}")
        if self.rng.random() < 0.5:
            return r
        s = self.made(v, v.shape, v.cuts)
        self.both([s.name, self.name()], "split", [r.name], f" axis={d}")
        return s

    def dropout(self, v):
        if len(v.shape) < 1:
            return None
        return self.made(v, v.shape, v.cuts, (), "dropout",
                         tail=f" 0.5 {self.seed()}", more=self.stated(v))

    def rope(self, v):
        last = len(v.shape) - 1
        if last < 1 or v.shape[last] % 2 or v.is_cut(last) or v.sums:
            return None
        return self.made(v, v.shape, v.cuts, (), "rope", more=self.stated(v))

    def loss_per_row(self, v):
        last = len(v.shape) - 1
        if last < 1 or v.sums or v.is_cut(last):
            return None
        t = self.indices(v.shape[:-1], v.cuts, v.shape[last], v.inv)
        return self.made(v, v.shape[:-1], v.cuts, (), "cross_entropy",
                         [t.name], " reduction=none")

    # ---- between ranks ---------------------------------------------------------

    def all_reduce(self, v):
        if not v.sums:
            return None
        axis = self.rng.choice(sorted(v.sums))
        r = self.made(v, v.shape, v.cuts)
        r.sums.discard(axis)
        dst = "R"
        if self.rng.random() < 0.3:
            dst = "I"
            r.inv.add(axis)
        self.move(r.name, self.rng.choice(["all_reduce", "redistribute"]),
                  v.name, f"over={axis} src=P dst={dst}")
        return r

    def enter(self, v):
        """An axis cuts a dimension from now on."""
        if not v.shape:
            return None
        axes = sorted(v.sums) + self.free(v) + self.free(v, True)
        if not axes:
            return None
        axis, d = self.rng.choice(axes), self.rng.randrange(len(v.shape))
        src = "P" if axis in v.sums else "I" if axis in v.inv else "R"
        op = "reduce_scatter" if src == "P" else "convert"
        r = self.made(v, v.shape, self.with_cut(v, axis, d))
        r.sums.discard(axis)
        r.inv.discard(axis)
        self.move(r.name, self.rng.choice([op, "redistribute"]), v.name,
                  f"over={axis} src={src} dst=S{d}{self.stated(r)}")
        return r

    def leave(self, v):
        """The innermost axis of a dimension goes."""
        inner = [c for k, c in enumerate(v.cuts)
                 if all(e[1] != c[1] for e in v.cuts[k + 1:])]
        if not inner:
            return None
        cut = self.rng.choice(inner)
        axis, d, _ = cut
        r = self.made(v, v.shape, [c for c in v.cuts if c != cut])
        others = [e for e in range(len(v.shape)) if e != d]
        if others and self.rng.random() < 0.4:
            e = self.rng.choice(others)
            r.cuts = self.with_cut(r, axis, e)
            self.move(r.name, self.rng.choice(["all_to_all", "redistribute"]),
                      v.name, f"over={axis} src=S{d} dst=S{e}{self.stated(r)}")
            return r
        dst = "R"
        if self.rng.random() < 0.3:
            dst = "I"
            r.inv.add(axis)
        self.move(r.name, self.rng.choice(["all_gather", "redistribute"]),
                  v.name, f"over={axis} src=S{d} dst={dst}{self.stated(v)}")
        return r

    def retyped(self, v):
        """I to R, R to P; or an end to itself, and S to V and back."""
        axis = self.rng.choice(list(self.mesh))
        op = self.rng.choice(["convert", "redistribute"])
        r = self.made(v, v.shape, v.cuts)
        cut = [d for a, d, _ in v.cuts if a == axis]
        is_ = "P" if axis in v.sums else "I" if axis in v.inv else \
            f"S{cut[0]}" if cut else "R"
        dst = is_
        if self.rng.random() < 0.7:
            if is_ == "I":
                dst = "R"
                r.inv.discard(axis)
            elif is_ == "R":
                dst = "P"
                r.sums.add(axis)
            elif cut:
                dst = "V"
        self.move(r.name, op, v.name, f"over={axis} src={is_} dst={dst}")
        return r

    # ---- the end ---------------------------------------------------------------

    def show(self, v, label):
        name = v.name
        if v.sums:
            name = self.name()
            self.placed.append(f"{name}{self.at} = all_reduce {v.name}"
                               f"{self.at} over={'+'.join(sorted(v.sums))}")
        self.whole.append(f"print {v.name} as={label}")
        self.placed.append(f"print {name}{self.at} split={v.split()} as={label}"
                           if v.cuts else f"print {name}@0 as={label}")

    def loss_of(self, v):
        """The sum of its elements, weighted, as a P on every axis."""
        w = self.like(v, v.shape, {d: d for d in range(len(v.shape))})
        m = self.made(v, v.shape, v.cuts, (), "mul", [w.name])
        name = self.name()
        self.both(name, "sum", [m.name])
        for axis in self.mesh:
            if axis in v.inv:
                self.move(name, "convert", name, f"over={axis} src=I dst=R")
            if axis not in v.sums and axis not in v.cut_axes():
                self.move(name, "convert", name, f"over={axis} src=R dst=P")
        return name

    def finish(self, with_grad):
        shown = self.values[-4:]
        if with_grad:
            self.grads(shown)
        for k, v in enumerate(shown):
            self.show(v, f"{self.prefix}v{k}")

    def grads(self, values):
        losses = [self.loss_of(v) for v in values]
        total = losses[0]
        for other in losses[1:]:
            name = self.name()
            self.both(name, "add", [total, other])
            total = name
        wanted = self.leaves[:8]
        gs = [f"{self.prefix}g{v.name[len(self.prefix):]}" for v in wanted]
        self.both(gs, "grad", [total] + [v.name for v in wanted])
        for g, v in zip(gs, wanted):
            self.show(Value(g, v.shape, v.cuts, self.free(v), v.inv), g)


STEPS = """unary scaled binary where matmul batched sum reduce along norm
ordered gather looked_up embedding transpose unsqueeze squeeze merge divide
expand slice pad joined dropout rope loss_per_row all_reduce enter leave
retyped""".split()


def generate(rng, prefix="", only=None):
    p = Program(rng, prefix)
    shape = [rng.choice(SIZES) for _ in range(rng.randint(1, 3))]
    p.values.append(p.create(shape))
    wanted, tries = rng.randint(2, 9), 0
    while len(p.values) < wanted and tries < 60:
        tries += 1
        v = rng.choice(p.values[-3:])
        if math.prod(v.shape) > 400:
            v = p.values[0]
        made = getattr(p, rng.choice(only or STEPS))(v)
        if made is not None:
            p.values.append(made)
    p.finish(rng.random() < 0.8)
    return p

"""Makes placed programs twice, line by line: with ranks, and as one device
runs them. A value has a whole shape and, for each axis of the mesh, a type: it
cuts dimensions (the outer cut comes first; some cuts have units, are uneven,
or are over two axes as one), or the value is a sum or a copy (R or I).
placed_steps.py has the steps that make values.
"""
import math

# In a mesh with pp, that axis is the first, and its ranks are stages of a
# pipeline.
MESHES = [{"tp": 2}, {"tp": 3}, {"dp": 2, "tp": 2}, {"dp": 3, "tp": 2},
          {"a": 2, "b": 2, "c": 2}, {"pp": 2, "dp": 2, "tp": 2},
          {"pp": 2, "tp": 3}]
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 12]


def parts_of(sizes, count, unit):
    """The parts of each size, cut in units; the first parts are longer."""
    made = []
    for size in sizes:
        each, longer = divmod(size // unit, count)
        made += [(each + (i < longer)) * unit for i in range(count)]
    return made


def axes_of(cuts):
    return [axis for cut in cuts for axis in cut[0].split("+")]


class Value:
    def __init__(self, name, shape, cuts=(), sums=(), inv=()):
        self.name, self.shape = name, list(shape)
        self.at = ""                      # its ranks, as they are written in a name
        self.cuts = list(cuts)            # (axis, dim, unit); axis: "dp+tp" too
        self.sums, self.inv = set(sums), set(inv)

    def cut_axes(self):
        return set(axes_of(self.cuts))

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
        """Its cuts, where dimension d becomes to[d]; a dimension that is not
        in `to` goes."""
        return [(a, to[d], u) for a, d, u in self.cuts if d in to]


class Program:
    def __init__(self, rng, prefix=""):
        self.rng, self.prefix = rng, prefix
        self.mesh = rng.choice(MESHES)
        ranks = math.prod(self.mesh.values())
        self.axes = [a for a in self.mesh if a != "pp"]
        half = ranks // 2
        self.stages = [f"@0-{half - 1}", f"@{half}-{ranks - 1}"] \
            if "pp" in self.mesh else [f"@0-{ranks - 1}"]
        self.at = self.stages[0]
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
        """Adds a line to both programs; `more` is only in the placed one."""
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
        """split= of the result, and shape=, for a line that does not have the
        sizes."""
        return f" split={v.split()} shape={v.dims()}" if v.cuts else ""

    # ---- types ---------------------------------------------------------------

    def free(self, v, inv=False):
        """Axes on which it is R, or with inv I."""
        return [a for a in self.axes if a not in v.sums
                and a not in v.cut_axes() and (a in v.inv) == inv]

    def parts(self, size, cuts):
        sizes = [size]
        for axis, _, unit in cuts:
            count = math.prod(self.mesh[a] for a in axis.split("+"))
            sizes = parts_of(sizes, count, unit)
        return sizes

    def unit(self, size, cuts):
        """A unit that lets one more axis cut a dimension."""
        common = math.gcd(*self.parts(size, cuts))
        if common < 2 or self.rng.random() < 0.6:
            return 1
        return self.rng.choice([u for u in range(2, common + 1)
                                if common % u == 0])

    def with_cut(self, v, axis, dim):
        return v.cuts + [(axis, dim, self.unit(v.shape[dim], v.cuts_of(dim)))]

    def create(self, shape, cuts=None, inv=None, leaf=True):
        """Makes a leaf, with cuts and types as given, or random ones."""
        v = Value(self.name(), shape)
        v.at = self.at
        if cuts is None:
            axes = self.rng.sample(self.axes, len(self.axes))
            if len(axes) > 1 and self.rng.random() < 0.2:
                axes = ["+".join(axes[:2])] + axes[2:]
            for axis in axes:
                if shape and self.rng.random() < 0.6:
                    v.cuts = self.with_cut(v, axis,
                                           self.rng.randrange(len(shape)))
        else:
            v.cuts = list(cuts)
        if inv is None:
            inv = [a for a in self.free(v) if self.rng.random() < 0.2]
        v.inv = set(inv)
        note = ",".join(f"{a}:I" for a in self.axes if a in v.inv)
        self.source(v.name, "randn", f" f64[{v.dims()}] {self.seed()}",
                    v.split(), f" #type={note}" if note else "")
        if leaf:
            self.leaves.append(v)
        return v

    def like(self, v, shape, to, cuts=()):
        """An operand to join with v: its dimension d lies on v's dimension
        to[d]. The caller sees to sums."""
        mine = [(a, d, u) for d, e in to.items() for a, f, u in v.cuts
                if e == f]
        order = [a for a, _, _ in v.cuts]
        mine.sort(key=lambda c: order.index(c[0]))
        return self.create(shape, mine + list(cuts), v.inv)

    def made(self, v, shape, cuts, sums=(), op=None, names=(), tail="",
             more=""):
        r = Value(self.name(), shape, cuts, v.sums | set(sums), v.inv)
        r.at = self.at
        if op is not None:
            self.both(r.name, op, [v.name, *names], tail, more)
        return r

    def summand(self, w, axes):
        for axis in sorted(axes):
            r = Value(self.name(), w.shape, w.cuts, w.sums | {axis}, w.inv)
            self.move(r.name, "convert", w.name, f"over={axis} src=R dst=P")
            w = r
        return w

    def indices(self, shape, cuts, below, inv=()):
        i = Value(self.name(), shape, cuts)
        note = ",".join(f"{a}:I" for a in self.mesh if a in inv)
        self.source(i.name, "rand", f" f64[{i.dims()}] {self.seed()}",
                    i.split(), f" #type={note}" if note else "")
        self.both(i.name, "mul", [i.name], f" {below}")
        self.both(i.name, "cast", [i.name], " i64")
        return i

    # ---- the end ---------------------------------------------------------------

    def show(self, v, label):
        name = v.name
        if v.sums:
            name = self.name()
            self.placed.append(f"{name}{v.at} = all_reduce {v.name}{v.at}"
                               f" over={'+'.join(sorted(v.sums))}")
        self.whole.append(f"print {v.name} as={label}")
        first = v.at.partition("-")[0]
        self.placed.append(f"print {name}{v.at} split={v.split()} as={label}"
                           if v.cuts else f"print {name}{first} as={label}")

    def loss_of(self, v):
        """The weighted sum of its elements, a P on every axis, on the last
        stage."""
        self.at = v.at
        w = self.like(v, v.shape, {d: d for d in range(len(v.shape))})
        m = self.made(v, v.shape, v.cuts, (), "mul", [w.name])
        name = self.name()
        self.both(name, "sum", [m.name])
        for axis in self.axes:
            if axis in v.inv:
                self.move(name, "convert", name, f"over={axis} src=I dst=R")
            if axis not in v.sums and axis not in v.cut_axes():
                self.move(name, "convert", name, f"over={axis} src=R dst=P")
        if v.at != self.stages[-1]:
            self.hand_over(name, name)
        self.at = self.stages[-1]
        return name

    def hand_over(self, result, name):
        """Copies a value to the next stage."""
        self.placed.append(f"{result}{self.stages[1]} = copy "
                           f"{name}{self.stages[0]}")
        self.whole.append(f"{result} = copy {name}")

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
        gs = [Value(f"{self.prefix}g{v.name[len(self.prefix):]}", v.shape,
                    v.cuts, self.free(v), v.inv) for v in wanted]
        for g, v in zip(gs, wanted):
            g.at = v.at
        self.whole.append(" ".join(g.name for g in gs) + f" = grad {total} "
                          + " ".join(v.name for v in wanted))
        self.placed.append(
            " ".join(g.name + g.at for g in gs) + f" = grad {total}{self.at} "
            + " ".join(v.name + v.at for v in wanted))
        for g in gs:
            self.show(g, g.name)

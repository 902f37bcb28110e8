"""Random placed programs of every family of ops, cut in every way: each step
takes a value and makes another one by lines that are legal on its types, or
gives None where it does not apply.
"""
import math

from placed_random import SIZES, Program, Value, axes_of, parts_of


class Steps(Program):
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
        sums = axes_of(v.cuts_of(k))
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
        sums = axes_of(v.cuts_of(rank - 1))
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
        sums = axes_of([c for c in v.cuts if c[1] in dims])
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
        sums = axes_of(v.cuts_of(d))
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
            common = math.gcd(*self.parts(n, v.cuts_of(d)))
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
            count = math.prod(self.mesh[a] for a in axis.split("+"))
            mine = parts_of(mine, count, unit)
            if any(n % max(unit // b, 1) for n in other):
                return False
            other = parts_of(other, count, max(unit // b, 1))
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
                 if all(e[1] != c[1] for e in v.cuts[k + 1:])
                 and "+" not in c[0]]
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
        axis = self.rng.choice(self.axes)
        op = self.rng.choice(["convert", "redistribute"])
        r = self.made(v, v.shape, v.cuts)
        if any(axis in c[0].split("+") and axis != c[0] for c in v.cuts):
            return None
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

    def root(self, v):
        """The sum to one rank of each group, and from it to all."""
        if not v.sums:
            return None
        axis = self.rng.choice(sorted(v.sums))
        tail = f"over={axis} root={self.rng.randrange(self.mesh[axis])}"
        r = self.made(v, v.shape, v.cuts)
        self.move(r.name, "reduce", v.name, tail)
        if self.rng.random() < 0.5:
            return r
        s = self.made(v, v.shape, v.cuts)
        s.sums.discard(axis)
        self.move(s.name, "broadcast", r.name, tail)
        return s

    def respec(self, v):
        """From specs to specs; axes that neither names stay as they are."""
        if not v.shape or any(u > 1 or "+" in a for a, _, u in v.cuts):
            return None
        r = self.made(v, v.shape, [])
        named = sorted(v.cut_axes()) + sorted(v.sums) + self.free(v) \
            + self.free(v, True)
        for axis in self.rng.sample(named, len(named)):
            if self.rng.random() < 0.6:
                r.cuts.append((axis, self.rng.randrange(len(v.shape)), 1))
        if not r.cuts and not v.cuts:
            return None
        r.sums -= r.cut_axes()
        r.inv -= r.cut_axes()
        specs = [",".join("+".join(a for a, e, _ in w.cuts if e == d) or "-"
                          for d in range(len(v.shape))) for w in (v, r)]
        self.move(r.name, "redistribute", v.name,
                  f"src_spec={specs[0]} dst_spec={specs[1]}")
        return r

    def handed(self, v):
        """Given to the next stage of a pipeline."""
        if v.at == self.stages[-1]:
            return None
        r = self.made(v, v.shape, v.cuts)
        r.at = self.stages[1]
        self.hand_over(r.name, v.name)
        return r

    def attention(self, v):
        """Of itself with two others alike; sequences and features are whole."""
        rank = len(v.shape)
        if rank < 2 or v.sums or v.is_cut(rank - 1) or v.is_cut(rank - 2):
            return None
        same = {d: d for d in range(rank)}
        keys = self.like(v, v.shape, same), self.like(v, v.shape, same)
        causal = self.rng.random() < 0.5
        return self.made(v, v.shape, v.cuts, (), "attention",
                         [k.name for k in keys], " causal=1" * causal)

    def scattered(self, v):
        """Added to where indices along a whole dimension say."""
        whole = v.whole_dims()
        if not whole:
            return None
        d = self.rng.choice(whole)
        shape = list(v.shape)
        shape[d] = self.rng.randint(1, 5)
        i = self.indices(shape, v.cuts, v.shape[d], v.inv)
        w = self.summand(self.like(
            v, shape, {e: e for e in range(len(shape)) if e != d}), v.sums)
        return self.made(v, v.shape, v.cuts, (), "scatter_add",
                         [i.name, w.name], f" axis={d}")

    def error(self, v):
        """Element by element against another of its shape."""
        if v.sums:
            return None
        w = self.like(v, v.shape, {d: d for d in range(len(v.shape))})
        return self.made(v, v.shape, v.cuts, (), "mse", [w.name],
                         " reduction=none")


STEPS = """unary scaled binary where matmul batched sum reduce along norm
ordered gather looked_up embedding transpose unsqueeze squeeze merge divide
expand slice pad joined dropout rope loss_per_row all_reduce enter leave
retyped root
respec handed attention scattered error""".split()


def generate(rng, prefix="", only=None):
    p = Steps(rng, prefix)
    shape = [rng.choice(SIZES) for _ in range(rng.randint(1, 3))]
    p.values.append(p.create(shape))
    wanted, tries = rng.randint(2, 9), 0
    while len(p.values) < wanted and tries < 60:
        tries += 1
        v = rng.choice(p.values[-3:])
        if math.prod(v.shape) > 400:
            v = p.values[0]
        p.at = v.at
        made = getattr(p, rng.choice(only or STEPS))(v)
        if made is not None:
            p.values.append(made)
    p.finish(rng.random() < 0.8)
    return p

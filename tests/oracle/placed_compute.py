"""Steps of random placed programs that compute: point-wise ops, sums,
products, norms, attention and losses.
placed_steps.py says what a step is.
"""
from placed_random import Program, Value, axes_of


class Computing(Program):
    def unary(self, v):
        linear = ["neg", "copy", "cast"]
        op = self.rng.choice(linear if v.sums else linear + [
            "tanh", "relu", "sigmoid", "abs", "gelu", "exp"])
        return self.made(v, v.shape, v.cuts, op=op,
                         tail=" f64" if op == "cast" else "")

    def scaled(self, v):
        return self.made(v, v.shape, v.cuts, op="mul", tail=" 0.5")

    def binary(self, v):
        """An op with a value of the same shape, or with one that is broadcast
        to it."""
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
        """A product with a value that has its own dimensions before the last
        two."""
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
        """An op that needs a dimension whole and removes it."""
        whole = [d for d in v.whole_dims() if v.shape[d] > 1]
        if not whole:
            return None
        d = self.rng.choice(whole)
        op = "mean" if v.sums else self.rng.choice(
            ["mean", "max", "min", "var", "std", "prod"])
        keep = self.rng.random() < 0.4
        to = {e: e if keep or e < d else e - 1
              for e in range(len(v.shape)) if e != d}
        shape = v.shape[:d] + ([1] if keep else []) + v.shape[d + 1:]
        return self.made(v, shape, v.moved(to), (), op,
                         tail=f" axis={d} keepdims={int(keep)}")

    def along(self, v):
        """An op along a whole dimension that keeps the dimension."""
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

    def attention(self, v):
        """Attention of the value with two others of its shape. Sequences and
        features are whole."""
        rank = len(v.shape)
        if rank < 2 or v.sums or v.is_cut(rank - 1) or v.is_cut(rank - 2):
            return None
        same = {d: d for d in range(rank)}
        keys = self.like(v, v.shape, same), self.like(v, v.shape, same)
        causal = self.rng.random() < 0.5
        return self.made(v, v.shape, v.cuts, (), "attention",
                         [k.name for k in keys], " causal=1" * causal)

    def error(self, v):
        """A loss for each element, against a value of the same shape."""
        if v.sums:
            return None
        w = self.like(v, v.shape, {d: d for d in range(len(v.shape))})
        return self.made(v, v.shape, v.cuts, (), "mse", [w.name],
                         " reduction=none")

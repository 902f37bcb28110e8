"""Steps of random placed programs that move elements: lookups, shapes, slices,
joins.
placed_steps.py says what a step is.
"""
import math

from placed_random import Program, Value, axes_of, parts_of


class Arranging(Program):
    def gather(self, v):
        """Picks along a whole dimension, by indices that may be cut along
        it."""
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
        """Looks indices up in a dimension that is cut; the sum of the parts is
        the whole."""
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

    def scattered(self, v):
        """Adds values where indices along a whole dimension say."""
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
        """Makes two dimensions of one; the first of them has its cuts."""
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

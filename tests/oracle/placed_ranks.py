"""Steps of random placed programs that cross ranks, or say anew what type a
value has on an axis.
placed_steps.py says what a step is.
"""
from placed_random import Program


class Crossing(Program):
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
        """Lets one more axis cut a dimension."""
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
        """Removes the innermost cut of a dimension."""
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
        """Converts I to R, R to P, a type to itself, or S to V and back."""
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
        """Takes the sum to one rank of each group, and from there to all."""
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
        """Goes from specs to specs; axes that neither names stay as they
        are."""
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
        """Hands a value to the next stage of a pipeline."""
        if v.at == self.stages[-1]:
            return None
        r = self.made(v, v.shape, v.cuts)
        r.at = self.stages[1]
        self.hand_over(r.name, v.name)
        return r

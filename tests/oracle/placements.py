"""Compares random programs, placed at random, with the same programs without
ranks.

usage: placements.py [COUNT [SEED]]

Each program makes some matrices, works on them and moves them between
placements; its loss reaches all of them. Values and gradients are small
integers in f64, so they must agree to the last bit. The placed stream must
also be a fixed point of gt-emit.
"""
import random
import sys

from gt import emit, work

MESHES = [{"tp": 2}, {"tp": 3}, {"dp": 2, "tp": 2}, {"dp": 2, "tp": 3},
          {"a": 2, "b": 2, "c": 2}]


class Value:
    def __init__(self, name, shape, cuts, sums):
        self.name, self.shape = name, shape
        self.cuts = cuts  # (axis, dim) in order, outer first on one dim
        self.sums = sums  # it is a P on these axes

    def split(self, cuts=None):
        cuts = self.cuts if cuts is None else cuts
        return ",".join(f"{axis}:{dim}" for axis, dim in cuts)

    def dims(self):
        return ",".join(map(str, self.shape))


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.mesh = rng.choice(MESHES)
        n = 1
        for size in self.mesh.values():
            n *= size
        self.at = f"@0-{n - 1}"
        self.whole = []
        self.placed = ["mesh " + " ".join(
            f"{k}={v}" for k, v in self.mesh.items())]
        self.leaves, self.values, self.count = [], [], 0

    def name(self):
        self.count += 1
        return f"x{self.count}"

    def both(self, result, op, *names, tail="", split=""):
        operands = "".join(" " + n for n in names)
        placed = "".join(f" {n}{self.at}" for n in names)
        self.whole.append(f"{result} = {op}{operands}{tail}")
        self.placed.append(f"{result}{self.at} = {op}{placed}{tail}{split}")

    def move(self, result, op, name, tail):
        """Adds a line that only the placed program has; the other one
        copies."""
        self.placed.append(f"{result}{self.at} = {op} {name}{self.at} {tail}")
        self.whole.append(f"{result} = copy {name}")

    def random_cuts(self, rank):
        cuts = []
        for axis in self.rng.sample(list(self.mesh), len(self.mesh)):
            if self.rng.random() < 0.6:
                cuts.append((axis, self.rng.randrange(rank)))
        return cuts

    def create(self, shape, cuts, leaf=True):
        v = Value(self.name(), shape, cuts, set())
        split = f" split={v.split()}" if cuts else ""
        self.both(v.name, f"rand f64[{v.dims()}] {self.count}", split=split)
        self.both(v.name, "mul", v.name, tail=" 5")
        self.both(v.name, "cast", v.name, tail=" i64")
        self.both(v.name, "sub", v.name, tail=" 2")
        self.both(v.name, "cast", v.name, tail=" f64")
        if leaf:
            self.leaves.append(v)
        return v

    def keep(self, v):
        self.values.append(v)
        return v

    def free_axes(self, v):
        return [a for a in self.mesh
                if a not in v.sums and a not in dict(v.cuts)]

    # ---- steps: each takes a value and makes another one, or gives up --------

    def unary(self, v):
        op = self.rng.choice(["neg"] if v.sums else ["neg", "relu", "abs"])
        r = Value(self.name(), v.shape, v.cuts, v.sums)
        self.both(r.name, op, v.name)
        return r

    def binary(self, v):
        same = [w for w in self.values if w.shape == v.shape
                and w.cuts == v.cuts and w.sums == v.sums]
        op = self.rng.choice(["add", "sub"] if v.sums
                             else ["add", "sub", "mul", "maximum"])
        w = self.rng.choice(same)
        if not v.sums and self.rng.random() < 0.7:
            w = self.create(v.shape, v.cuts)
        r = Value(self.name(), v.shape, v.cuts, v.sums)
        self.both(r.name, op, v.name, w.name)
        return r

    def matmul(self, v):
        m, k = v.shape
        n = self.rng.randint(1, 5)
        cuts = []  # the cuts of w [k,n]; its k is cut as the columns of v
        for axis, dim in v.cuts:
            if dim == 1:
                cuts.append((axis, 0))
        out = [c for c in v.cuts if c[1] == 0]
        for axis in self.free_axes(v):
            if self.rng.random() < 0.5:
                cuts.append((axis, 1))
                out.append((axis, 1))
        w = self.create([k, n], cuts)
        r = Value(self.name(), [m, n], out, set(v.sums))
        self.both(r.name, "matmul", v.name, w.name)
        return self.contracted(r, [a for a, d in v.cuts if d == 1])

    def contracted(self, r, axes):
        for axis in axes:
            self.move(r.name, "reinterpret", r.name,
                      f"over={axis} src=V dst=P")
            r.sums = r.sums | {axis}
        return r

    def sum(self, v):
        dim = self.rng.randrange(2)
        shape = list(v.shape)
        shape[dim] = 1
        r = Value(self.name(), shape, [c for c in v.cuts if c[1] != dim],
                  set(v.sums))
        self.both(r.name, "sum", v.name, tail=f" axis={dim} keepdims=1")
        return self.contracted(r, [a for a, d in v.cuts if d == dim])

    def transpose(self, v):
        r = Value(self.name(), v.shape[::-1],
                  [(a, 1 - d) for a, d in v.cuts], v.sums)
        self.both(r.name, "transpose", v.name)
        return r

    def reduce(self, v):
        if not v.sums:
            return None
        axis = self.rng.choice(sorted(v.sums))
        rest = v.sums - {axis}
        if self.rng.random() < 0.5:
            r = Value(self.name(), v.shape, v.cuts, rest)
            self.move(r.name, "all_reduce", v.name, f"over={axis} src=P dst=R")
            return r
        dim = self.rng.randrange(2)
        r = Value(self.name(), v.shape, v.cuts + [(axis, dim)], rest)
        self.move(r.name, "reduce_scatter", v.name,
                  f"over={axis} src=P dst=S{dim} split={r.split()} "
                  f"shape={r.dims()}")
        return r

    def gather(self, v):
        # Only the innermost axis of a dimension may move.
        inner = [c for i, c in enumerate(v.cuts)
                 if all(d != c[1] for _, d in v.cuts[i + 1:])]
        if not inner:
            return None
        axis, dim = self.rng.choice(inner)
        rest = [c for c in v.cuts if c != (axis, dim)]
        kind = self.rng.random()
        if kind < 0.6:
            r = Value(self.name(), v.shape, rest, v.sums)
            op = self.rng.choice(["all_gather", "redistribute"])
            self.move(r.name, op, v.name,
                      f"over={axis} src=S{dim} dst=R split={v.split()} "
                      f"shape={v.dims()}")
            return r
        r = Value(self.name(), v.shape, rest + [(axis, 1 - dim)], v.sums)
        self.move(r.name, "all_to_all", v.name,
                  f"over={axis} src=S{dim} dst=S{1 - dim} split={r.split()} "
                  f"shape={r.dims()}")
        return r

    def convert(self, v):
        free = self.free_axes(v)
        if not free:
            return None
        axis = self.rng.choice(free)
        if self.rng.random() < 0.3:
            r = Value(self.name(), v.shape, v.cuts, v.sums | {axis})
            self.move(r.name, "convert", v.name, f"over={axis} src=R dst=P")
            return r
        dim = self.rng.randrange(2)
        r = Value(self.name(), v.shape, v.cuts + [(axis, dim)], v.sums)
        self.move(r.name, "convert", v.name,
                  f"over={axis} src=R dst=S{dim} split={r.split()} "
                  f"shape={r.dims()}")
        return r

    # ---- the end ---------------------------------------------------------------

    def show(self, v, label):
        """Prints the value; if it is a P, its sum is taken first."""
        name = v.name
        if v.sums:
            name = self.name()
            self.placed.append(f"{name}{self.at} = all_reduce {v.name}"
                               f"{self.at} over={'+'.join(sorted(v.sums))}")
        self.whole.append(f"print {v.name} as={label}")
        if v.cuts:
            self.placed.append(
                f"print {name}{self.at} split={v.split()} as={label}")
        else:
            self.placed.append(f"print {name}@0 as={label}")

    def loss_of(self, v):
        """The sum of all elements as a P on every axis."""
        name = self.name()
        self.both(name, "sum", v.name)
        for axis in self.mesh:
            if axis in v.sums:
                continue
            if axis in dict(v.cuts):
                self.move(name, "reinterpret", name,
                          f"over={axis} src=V dst=P")
            else:
                self.move(name, "convert", name, f"over={axis} src=R dst=P")
        return name

    def finish(self):
        losses = [self.loss_of(v) for v in self.values[-4:]]
        total = losses[0]
        for other in losses[1:]:
            name = self.name()
            self.both(name, "add", total, other)
            total = name
        wanted = self.leaves[:6]
        for k, v in enumerate(self.values):
            self.show(v, f"v{k}")
        grads = [f"g{v.name}" for v in wanted]
        targets = [v.name for v in wanted]
        self.whole.append(" ".join(grads) + f" = grad {total} "
                          + " ".join(targets))
        self.placed.append(
            " ".join(g + self.at for g in grads) + f" = grad {total}{self.at} "
            + " ".join(t + self.at for t in targets))
        for v in wanted:
            g = Value(f"g{v.name}", v.shape, v.cuts, set(self.free_axes(v)))
            self.show(g, g.name)


def generate(rng):
    p = Program(rng)
    shape = [rng.randint(1, 6), rng.randint(1, 6)]
    p.keep(p.create(shape, p.random_cuts(2)))
    steps = [p.unary, p.binary, p.matmul, p.sum, p.transpose, p.reduce,
             p.gather, p.convert]
    while len(p.values) < rng.randint(5, 14):
        v = rng.choice(p.values[-3:])
        r = rng.choice(steps)(v)
        if r is not None:
            p.keep(r)
    p.finish()
    return p


def run(lines):
    stream, said, _ = emit("\n".join(lines) + "\n")
    results, more, _ = work(stream)
    said = "\n".join(s for s in said.splitlines() if "does not depend" not in s
                     and "= grad" not in s)
    return stream, results.splitlines(), said + more


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    passed = failed = 0
    for number in range(seed, seed + count):
        p = generate(random.Random(number))
        _, whole, said = run(p.whole)
        stream, placed, more = run(p.placed)
        again, _, _ = emit(stream)
        # The sign of a zero may depend on the order of a sum.
        plain = [line.replace(" -0", " 0") for line in whole]
        same = plain == [line.replace(" -0", " 0") for line in placed]
        if same and whole and not said + more and again == stream:
            passed += 1
            continue
        failed += 1
        if failed < 6:
            print(f"program {number}: fixed point: {again == stream}\n"
                  f"{said}{more}")
            print("\n".join(p.placed))
            for a, b in zip(whole, placed):
                if a != b:
                    print(f"  whole  {a[:300]}\n  placed {b[:300]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

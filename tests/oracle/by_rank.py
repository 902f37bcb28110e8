"""Compares random placed programs with what they are rank by rank.

usage: by_rank.py [--programs N] [SEED]

A program computes on the ranks of a mesh. It has lines on all ranks of a set
or on some, names that are bound again on a part of their ranks, values put
together from pieces, copies from set to set, and collectives with even and
uneven parts. Beside it is the same program without ranks, in which each
register has a name (x.2 is x on rank 2) and each collective is written out.
The loss is the sum over the ranks, so the gradient by a value that differs
from rank to rank is the same number in both. Values are small integers in f64,
so both agree exactly. The placed stream is also fed to gt-emit again, which
must not change it.
"""
import argparse
import random
import sys

from gt import emit, work


class Value:
    """A name on some ranks: a letter, and a shape on each rank."""

    def __init__(self, name, letter, shapes):
        self.name, self.letter, self.shapes = name, letter, shapes

    def ranks(self):
        return sorted(self.shapes)


def at(ranks):
    return "@" + ",".join(str(r) for r in ranks)


def text(shape):
    return ",".join(str(n) for n in shape)


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.n = rng.choice([2, 2, 3, 4])
        self.sets = [list(range(self.n)), list(range(self.n, 2 * self.n))]
        self.placed = [f"mesh pp=2 tp={self.n}"]
        self.single = []
        self.values = []
        self.sources = []
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def add(self, name, letter, shapes):
        value = Value(name, letter, shapes)
        self.values.append(value)
        return value

    def source(self, ranks, uneven):
        """Makes a value that differs from rank to rank."""
        name = self.fresh()
        shapes = {r: [self.rng.randint(0, 3) if uneven else 2, 2]
                  for r in ranks}
        for r in ranks:
            size = shapes[r][0] * shapes[r][1]
            numbers = " ".join(str(self.rng.randint(-2, 2))
                               for _ in range(size))
            line = f"tensor f64[{text(shapes[r])}] {numbers}".rstrip()
            self.placed.append(f"{name}@{r} = {line}")
            self.single.append(f"{name}.{r} = {line}")
        self.sources.append((name, ranks))
        return self.add(name, "V", shapes)

    def local(self, name, ranks, op, operands, keys=""):
        reads = " ".join(o.name + at(ranks) for o in operands)
        self.placed.append(f"{name}{at(ranks)} = {op} {reads}{keys}")
        for r in ranks:
            reads = " ".join(f"{o.name}.{r}" for o in operands)
            self.single.append(f"{name}.{r} = {op} {reads}{keys}")

    def pick(self, letters, ranks=None, alike=False):
        found = [v for v in self.values if v.letter in letters
                 and (ranks is None or set(ranks) <= set(v.shapes))]
        if alike:
            found = [v for v in found
                     if len({text(s) for s in v.shapes.values()}) == 1]
        # Newer values are preferred, so that histories grow long.
        return self.rng.choice(found[-5:]) if found else None

    def group(self, value):
        return next((s for s in self.sets if set(s) <= set(value.shapes)), None)

    # ---- steps; each may find nothing to do ---------------------------------

    def pointwise(self):
        a = self.pick("VR")
        if a is None:
            return
        ranks = a.ranks()
        if self.rng.random() < 0.3 and a.letter == "V":
            ranks = sorted(self.rng.sample(ranks, self.rng.randint(
                1, len(ranks))))
        same = [v for v in self.values if v.letter in "VR"
                and all(v.shapes.get(r) == a.shapes[r] for r in ranks)]
        b = self.rng.choice(same)
        op = self.rng.choice(["add", "sub", "mul", "maximum", "neg", "relu"])
        operands = [a] if op in ("neg", "relu") else [a, b]
        letters = {v.letter for v in operands}
        name = self.fresh()
        self.local(name, ranks, op, operands)
        self.add(name, "V" if "V" in letters or len(ranks) < self.n else "R",
                 {r: a.shapes[r] for r in ranks})

    def product(self):
        a = self.pick("V")
        if a is None:
            return
        name = self.fresh()
        ranks = a.ranks()
        self.local(name, ranks, "matmul", [a, a], " ta=1")
        # The mod keeps the numbers small.
        self.local(name, ranks, "mod", [Value(name, "V", {})], " 7")
        self.add(name, "V", {r: [2, 2] for r in ranks})

    def shape(self):
        """Lines whose gradients state sizes in their text."""
        a = self.pick("V")
        if a is None:
            return
        name = self.fresh()
        ranks = a.ranks()
        keys, to = self.rng.choice([
            (" axis=0 keepdims=1", lambda s: [1, s[1]]),
            (" axis=1 keepdims=1", lambda s: [s[0], 1])])
        self.local(name, ranks, "sum", [a], keys)
        b = self.fresh()
        small = Value(name, "V", {r: to(a.shapes[r]) for r in ranks})
        self.local(b, ranks, "mul", [a, small])
        self.add(b, "V", {r: a.shapes[r] for r in ranks})

    def rebind(self):
        """Binds a name again on a part of its ranks."""
        a = self.pick("V")
        if a is None or len(a.shapes) < 2:
            return
        part = sorted(self.rng.sample(a.ranks(), self.rng.randint(
            1, len(a.shapes) - 1)))
        b = next((v for v in self.values if v is not a and v.letter in "VR"
                  and all(v.shapes.get(r) == a.shapes[r] for r in part)), None)
        if b is None:
            return
        self.local(a.name, part, self.rng.choice(["add", "mul"]), [b, b])
        # Its gradient is asked for no more, since the name is another value
        # now.
        self.sources = [s for s in self.sources if s[0] != a.name]

    def copy(self):
        a = self.pick("V")
        ranks = self.group(a) if a else None
        if ranks is None:
            return
        to = self.sets[1 - self.sets.index(ranks)]
        name = self.fresh()
        if self.rng.random() < 0.4:
            one = self.rng.choice(a.ranks())
            to = self.rng.choice(self.sets)
            self.placed.append(f"{name}{at(to)} = copy {a.name}@{one}")
            self.single += [f"{name}.{r} = copy {a.name}.{one}" for r in to]
            self.add(name, "R", {r: a.shapes[one] for r in to})
            return
        order = list(ranks)
        self.rng.shuffle(order)
        self.placed.append(f"{name}{at(to)} = copy {a.name}{at(order)}")
        self.single += [f"{name}.{t} = copy {a.name}.{f}"
                        for t, f in zip(to, order)]
        self.add(name, "V", {t: a.shapes[f] for t, f in zip(to, order)})

    def gather(self):
        a = self.pick("V")
        ranks = self.group(a) if a else None
        if ranks is None:
            return
        name = self.fresh()
        sizes = "+".join(str(a.shapes[r][0]) for r in ranks)
        self.placed.append(f"{name}{at(ranks)} = all_gather {a.name}{at(ranks)}"
                           f" over=tp src=S0 split_sizes={sizes}")
        parts = " ".join(f"{a.name}.{r}" for r in ranks)
        self.single += [f"{name}.{r} = concat {parts}" for r in ranks]
        rows = sum(a.shapes[r][0] for r in ranks)
        self.add(name, "R", {r: [rows, a.shapes[ranks[0]][1]] for r in ranks})

    def reduce(self):
        a = self.pick("V", alike=True)
        ranks = self.group(a) if a else None
        if ranks is None:
            return
        name, p = self.fresh(), self.fresh()
        total = " ".join(f"{a.name}.{r}" for r in ranks)
        shape = a.shapes[ranks[0]]
        here = at(ranks)
        how = self.rng.randint(0, 3)
        self.single += [f"{p} = stack {total}", f"{p} = sum {p} axis=0"]
        if how == 0:
            self.placed.append(f"{name}{here} = all_reduce {a.name}{here} "
                               "over=tp")
        elif how == 1:
            self.placed += [
                f"{p}{here} = reinterpret {a.name}{here} over=tp src=V dst=P",
                f"{p}{here} = mul {p}{here} 2",
                f"{name}{here} = all_reduce {p}{here} over=tp dst=R"]
            self.single.append(f"{p} = mul {p} 2")
        elif how == 2:
            self.placed.append(f"{name}{here} = reduce_scatter {a.name}{here} "
                               f"over=tp dst=S0 split=tp:0 shape={text(shape)}")
            return self.scattered(name, p, ranks, shape)
        else:
            self.placed += [
                f"{p}{here} = all_reduce {a.name}{here} over=tp",
                f"{name}{here} = convert {p}{here} over=tp src=R dst=S0 "
                f"split=tp:0 shape={text(shape)}"]
            return self.scattered(name, p, ranks, shape)
        self.single += [f"{name}.{r} = copy {p}" for r in ranks]
        return self.add(name, "R", {r: shape for r in ranks})

    def scattered(self, name, p, ranks, shape):
        start, shapes = 0, {}
        for i, r in enumerate(ranks):
            each = shape[0] // self.n + (1 if i < shape[0] % self.n else 0)
            self.single.append(
                f"{name}.{r} = slice {p} {start}:{start + each}")
            shapes[r] = [each, shape[1]]
            start += each
        return self.add(name, "V", shapes)

    def exchange(self):
        a = self.pick("V")
        ranks = self.group(a) if a else None
        if ranks is None:
            return
        name = self.fresh()
        here = at(ranks)
        width = a.shapes[ranks[0]][1]
        rows = sum(a.shapes[r][0] for r in ranks)
        self.placed.append(
            f"{name}{here} = all_to_all {a.name}{here} over=tp src=S0 dst=S1 "
            f"split=tp:1 shape={rows},{width}")
        whole = self.fresh()
        parts = " ".join(f"{a.name}.{r}" for r in ranks)
        self.single.append(f"{whole} = concat {parts}")
        start, shapes = 0, {}
        for i, r in enumerate(ranks):
            each = width // self.n + (1 if i < width % self.n else 0)
            self.single.append(
                f"{name}.{r} = slice {whole} : {start}:{start + each}")
            shapes[r] = [rows, each]
            start += each
        # The gather gives two columns again, which other steps expect.
        back = self.fresh()
        self.placed.append(
            f"{back}{here} = all_gather {name}{here} over=tp src=S1 "
            f"split=tp:1 shape={rows},{width}")
        parts = " ".join(f"{name}.{r}" for r in ranks)
        self.single += [f"{back}.{r} = concat {parts} axis=1" for r in ranks]
        self.add(back, "R", {r: [rows, width] for r in ranks})

    def loss(self):
        parts = []
        last = self.values[-6:]
        for value in self.rng.sample(last, min(4, len(last))):
            if value.letter == "V":
                parts.append((value, value.ranks()))
        if not parts:
            return False
        everywhere = self.sets[0] + self.sets[1]
        self.placed.append(f"l{at(everywhere)} = zeros f64[] #type=P")
        self.single.append("l = zeros f64[]")
        for i, (value, ranks) in enumerate(parts):
            here = at(ranks)
            self.placed += [f"s{i}{here} = sum {value.name}{here}",
                            f"l{here} = add l{here} s{i}{here} #type=P"]
            for r in ranks:
                self.single += [f"s = sum {value.name}.{r}", "l = add l s"]
        # The loss is bound again on parts of its ranks, which this line joins.
        axes = "#partial=pp+tp"
        self.placed.append(f"t{at(everywhere)} = mul l{at(everywhere)} 1 "
                           f"{axes}")
        self.single.append("t = mul l 1")
        return True

    def grads(self):
        if not self.sources:
            return False
        self.rng.shuffle(self.sources)
        wanted, results, single, names = [], [], [], []
        for name, ranks in self.sources[:4]:
            some = sorted(self.rng.sample(ranks, self.rng.randint(
                1, len(ranks))))
            wanted.append(name + at(some))
            results.append("g" + name + at(some))
            for r in some:
                single.append(f"{name}.{r}")
                names.append(f"g{name}.{r}")
        everywhere = self.sets[0] + self.sets[1]
        retain = self.rng.choice(["", " retain=1"])
        self.placed.append(" ".join(results) + f" = grad t{at(everywhere)} "
                           + " ".join(wanted) + retain)
        self.single.append(" ".join(names) + " = grad t " + " ".join(single))
        self.placed += [f"print {r}" for r in results]
        self.single += [f"print {n}" for n in names]
        return True

    def make(self):
        rng = self.rng
        for _ in range(3):
            self.source(rng.choice(self.sets), rng.random() < 0.4)
        steps = [self.pointwise, self.pointwise, self.pointwise, self.product,
                 self.shape, self.rebind, self.copy, self.gather, self.reduce,
                 self.exchange]
        for _ in range(rng.randint(4, 14)):
            rng.choice(steps)()
        return self.loss() and self.grads()


def plain(value):
    """The numbers of a result. The sign of a zero only tells in which order
    numbers were added, so it is dropped."""
    return " ".join("0" if word == "-0" else word for word in value.split())


def check(seed):
    program = Program(random.Random(seed))
    if not program.make():
        return None
    placed, said, status = emit("\n".join(program.placed) + "\n")
    single, _, _ = emit("\n".join(program.single) + "\n")
    said = "\n".join(line for line in said.splitlines() if "gt-emit" in line
                     and "does not depend" not in line)
    again, _, _ = emit(placed)
    a, more, _ = work(placed)
    b, _, _ = work(single)
    values = {}
    for line in b.splitlines():
        name, _, value = line.partition(" = ")
        values[name.replace(".", "@")] = plain(value)
    wrong = [line for line in a.splitlines()
             if values.get(line.partition(" = ")[0])
             != plain(line.partition(" = ")[2])]
    if len(a.splitlines()) != len(values):
        wrong.append(f"{len(a.splitlines())} results, {len(values)} expected")
    if again != placed:
        wrong.append("gt-emit changes its own output")
    if status or said or more or wrong:
        return "\n".join([said, more] + wrong + ["# " + line for line
                                                  in program.placed])
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    options = parser.parse_args()
    passed = failed = skipped = 0
    for seed in range(options.seed, options.seed + options.programs):
        outcome = check(seed)
        skipped += outcome is None
        passed += outcome == ""
        if outcome:
            failed += 1
            if failed < 4:
                print(f"program {seed}:\n{outcome}\n")
    print(f"by_rank: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


main()

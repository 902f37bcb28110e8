"""gt-shard against the same program without it.

usage: shard.py [--rounds N] [--seed S] [--part K] [--templates N]
                [--all-cuts] [--only TEXT] [--show N]

A round has a mesh: every case of the oracle, or one in K, its operands cut at
random, by the config or by a note of their line, and every template in N sizes,
0 among them, and once in f16 or bf16, with gradients. The placed stream, played
by one gt-work, gives what the unplaced one does: small integers to the last bit,
else within TOLERANCE. gt-shard prints its own output unchanged, and gt-check
finds nothing in it.
"""
import argparse
import itertools
import os
import random
import re
import sys
import tempfile

import numpy
import torch

import arrays
import creation
import layers
import networks
import pointwise
from gt import DTYPES, difference, emit, parse_result, tensor_line, work
from sharding import (MESHES, UNUSED, findings, first_change, mesh_text, shard,
                      value_of)
from templates import TEMPLATES, Template

# Values and gradients of these ops over integers are integers, so sums are
# exact in any order.
EXACT = set("""add sub mul neg abs sign relu maximum minimum copy detach eq ne
lt le gt ge and or not where clamp cast sum max min any all argmax argmin cumsum
argsort sort topk matmul linear reshape squeeze unsqueeze transpose expand flip
pad slice concat stack split gather scatter_add embedding take scatter one_hot
tensor full zeros ones
arange eye randn rand randperm load""".split())
UNITS = 0.1
# The bounds are relative to the largest magnitude, and allow sums in another
# order.
TOLERANCE = {"f64": 1e-11, "f32": 2e-5, "f16": 8e-3, "bf16": 6e-2}


def layouts(mesh, rank):
    """Every way to cut, without units; the outer axis of a dimension comes
    first."""
    axes = list(mesh)
    for dims in itertools.product([None, *range(rank)], repeat=len(axes)):
        cuts = [f"{a}: {d}" for a, d in zip(axes, dims) if d is not None]
        yield "{" + ", ".join(cuts) + "}"
        if len(cuts) == 2 and dims[0] == dims[1]:
            yield "{" + ", ".join(cuts[::-1]) + "}"


def layout(rng, mesh, shape):
    """A random shard: for a tensor of this shape."""
    cuts = []
    for axis in rng.sample(list(mesh), len(mesh)):
        if not shape or rng.random() < 0.35:
            continue
        dim = rng.randrange(len(shape))
        if rng.random() < 0.2:
            dim -= len(shape)
        unit = f"*{rng.randint(2, 3)}" if rng.random() < UNITS else ""
        cuts.append(f"{axis}: {dim}{unit}")
    return "{" + ", ".join(cuts) + "}"


def note(rng, cut, rank):
    """The same as a note of the line, or None if a note cannot say it."""
    entries = [e.split(": ") for e in cut.strip("{}").split(", ") if e]
    if not entries or "*" in cut:
        return None
    dims = {axis: int(dim) % rank for axis, dim in entries}
    if len(set(dims.values())) == len(dims) and rng.random() < 0.5:
        return " #type=" + ",".join(f"{a}:S{d}" for a, d in dims.items())
    by_dim = ["+".join(a for a, d in dims.items() if d == k) or "-"
              for k in range(rank)]
    return " #spec=" + ",".join(by_dim)


class Piece:
    """A part of a program that is tested by itself, and its part of the
    config.

    The names that it prints begin with its prefix, and so do its signals.
    """

    def __init__(self, prefix, what, exact):
        self.prefix, self.what, self.exact = prefix, what, exact
        self.lines, self.signals = [], {}

    def signal(self, name, text):
        self.signals[f"{self.prefix}.{name}"] = text
        return f" #signal={self.prefix}.{name}"


def integers(rng, tensor):
    if not tensor.is_floating_point():
        return tensor
    data = rng.integers(-3, 4, tuple(tensor.shape))
    return torch.tensor(data).to(tensor.dtype)


def with_gradients(piece, rng, numbers, mesh, case, results):
    """The loss is the sum of all float results, weighted."""
    body, terms = [], []
    for name, (dtype, shape) in results.items():
        q = torch.tensor(numbers.integers(-2, 3, shape)).to(DTYPES[dtype])
        body += [tensor_line(f"q.{name}", q)
                 + piece.signal(f"q{name}", f"shard: {layout(rng, mesh, shape)}"),
                 f"p.{name} = mul {name} q.{name}", f"t.{name} = sum p.{name}"]
        terms.append(f"t.{name}")
    total = terms[0]
    for term in terms[1:]:
        body.append(f"t.all = add {total} {term}")
        total = "t.all"
    targets = " ".join(case.targets)
    grads = " ".join(f"g.{n}" for n in case.targets)
    return body + [f"{grads} = grad {total} {targets}"] + [
        f"print g.{n} as={piece.prefix}.g.{n}" for n in case.targets]


def line_of(case, piece, rng, mesh):
    """The case's line; sometimes the config says how its result is cut."""
    first = case.results()[0]
    if first not in case.shapes or rng.random() < 0.6:
        return case.line
    cut = layout(rng, mesh, case.shapes[first])
    key = "results" if case.inputs else rng.choice(["shard", "results"])
    return case.line + piece.signal("line", f"{key}: {cut}")


def piece_of(case, number, rng, mesh, cuts=None):
    """A case of the oracle whose operands are cut at random, or as `cuts`
    says."""
    exact = case.op in EXACT and "f16" not in case.name
    piece = Piece(f"k{number}", case.name or case.line, exact)
    numbers = numpy.random.default_rng(rng.randrange(1 << 30))
    for i, (name, tensor) in enumerate(case.inputs.items()):
        if exact and "whole" not in case.name:
            tensor = integers(numbers, tensor)
        cut = cuts[i] if cuts else layout(rng, mesh, tensor.shape)
        noted = note(rng, cut, tensor.dim()) if rng.random() < 0.15 else None
        piece.lines.append(tensor_line(name, tensor) + (
            noted or piece.signal(name, f"shard: {cut}")))
    piece.lines += case.before.split("\n") if case.before else []
    piece.lines.append(line_of(case, piece, rng, mesh))
    for name in case.results():
        piece.lines.append(f"print {name} as={piece.prefix}.{name}")
    if case.order > 0 and case.types:
        piece.lines += with_gradients(piece, rng, numbers, mesh, case,
                                      case.types)
    names = set(case.inputs) | set(case.results())
    piece.lines.append("free " + " ".join(sorted(names)))
    if case.order > 0 and case.types:
        piece.lines.append("free q.* p.* t.* g.*")
    return piece


def oracle_cases(folder):
    found = []
    for case in [*pointwise.cases(), *arrays.cases(), *networks.cases(),
                 *layers.cases(), *creation.cases(folder)]:
        case.types = None
        found.append(case)
    return found


def of_halves(case, dtype):
    """The same case in f16 or bf16, where nothing is exact."""
    case.name = case.name.replace("whole", dtype)
    for name in case.targets:
        case.inputs[name] = case.inputs[name].to(DTYPES[dtype])
    case.types = {n: (dtype, shape) for n, (_, shape) in case.types.items()}
    return case


def find_types(cases):
    """The shapes of the results, as gt-work prints them, and the types of
    floats."""
    lines = []
    for i, case in enumerate(cases):
        lines += [tensor_line(n, t) for n, t in case.inputs.items()]
        lines += case.before.split("\n") if case.before else []
        lines.append(case.line)
        lines += [f"print {n} as=k{i}.{n}" for n in case.results()]
    stream, _, _ = emit("\n".join(lines) + "\n")
    found = {}
    for line in work(stream)[0].splitlines():
        name, text = line.split(" = ", 1)
        kind, _ = parse_result(text)
        dtype = kind.split("[")[0]
        if kind == "fail":
            continue
        shape = [int(n) for n in kind.split("[")[1][:-1].split(",") if n]
        k, result = name.split(".", 1)
        found.setdefault(int(k[1:]), {})[result] = (dtype, shape)
    for i, case in enumerate(cases):
        results = found.get(i, {})
        case.shapes = {n: shape for n, (_, shape) in results.items()}
        case.types = {n: t for n, t in results.items()
                      if t[0] in ("f64", "f32")}


def compare(got, wanted, exact):
    """How a printed line differs from the one without gt-shard, or None."""
    if got == wanted:
        return None
    if got is None:
        return "is not printed"
    if wanted.startswith("fail"):
        return None if got.startswith("fail") else f"did not fail: {got[:80]}"
    tensor = value_of(wanted)
    if exact:  # zeros may differ in their sign
        return difference(got, tensor, 1e-300)
    dtype = wanted.split()[1].split("[")[0]
    return difference(got, tensor, TOLERANCE.get(dtype), 1.0)


class Run:
    """Pieces that make one program under one config."""

    def __init__(self, mesh, pieces):
        self.pieces = pieces
        self.program = "\n".join(
            line for p in pieces for line in p.lines) + "\n"
        self.config = f"mesh: {mesh_text(mesh)}\nsignals:\n" + "".join(
            f"  {name}: {{{text}}}\n"
            for p in pieces for name, text in p.signals.items())
        self.stream, _, self.emit_status = emit(self.program)
        self.placed, self.said, self.status = shard(self.stream, self.config)

    def problems(self):
        """For each piece, what is wrong with it; under None, what may be any
        piece's fault."""
        found = {}
        if self.status != self.emit_status:
            found[None] = f"gt-shard: status {self.status}: {self.said[:600]}"
        elif not all(map(UNUSED.search, self.said.splitlines())):
            found[None] = f"gt-shard says: {self.said[:600]}"
        plain = lines_of(work(self.stream)[0])
        output, said, status = work(self.placed)
        placed = lines_of(output)
        if status == 4:
            found[None] = f"gt-work: status {status}: {said[:400]}"
        self.check(found)
        for piece in self.pieces:
            for name, wanted in plain.get(piece.prefix, {}).items():
                got = placed.get(piece.prefix, {}).get(name)
                problem = compare(got, wanted, piece.exact)
                if problem:
                    found[piece] = f"{name} {problem}"
                    break
        again, said, _ = shard(self.placed, self.config)
        if again != self.placed and None not in found:
            found[None] = "gt-shard changes its own output: " + first_change(
                self.placed, again) + said[:300]
        return found


    def check(self, found):
        """Assigns findings to pieces: a finding belongs to the piece that
        prints next."""
        lines = self.placed.splitlines()
        by_prefix = {p.prefix: p for p in self.pieces}
        for number, text in findings(self.placed):
            piece = None
            for line in lines[number - 1:]:
                whose = re.search(r" as=(k\d+)\.", line)
                if whose:
                    piece = by_prefix[whose.group(1)]
                    break
            found[piece or self.pieces[-1]] = text


def lines_of(output):
    """The printed lines, by prefix and name."""
    found = {}
    for line in output.splitlines():
        name, text = line.split(" = ", 1)
        found.setdefault(name.split(".")[0], {})[name] = text
    return found


class Tally:
    def __init__(self, limit):
        self.passed = self.failed = 0
        self.limit = limit

    def take(self, mesh, pieces):
        problems = Run(mesh, pieces).problems()
        if not problems:
            self.passed += len(pieces)
            return
        if None in problems:  # halves the pieces until the faulty one is known
            if len(pieces) > 1:
                middle = len(pieces) // 2
                self.take(mesh, pieces[:middle])
                self.take(mesh, pieces[middle:])
                return
            problems = {pieces[0]: problems[None]}
        self.passed += len(pieces) - len(problems)
        for piece, problem in problems.items():
            self.failed += 1
            if self.failed <= self.limit:
                show(mesh, piece, problem)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def show(mesh, piece, problem):
    alone = Run(mesh, [piece])
    problem = next(iter(alone.problems().values()), f"among others: {problem}")
    print(f"FAILED {piece.what}: {problem}\n--- config\n{alone.config}"
          f"--- program\n{alone.program}--- placed")
    print("\n".join(line[:160] for line in alone.placed.splitlines()), "\n",
          flush=True)


def check(tally, cases, rng, mesh):
    """Tests the cases in batches, so that programs start once for many of
    them."""
    pieces = [piece_of(case, i, rng, mesh) for i, case in enumerate(cases)]
    for start in range(0, len(pieces), 400):
        tally.take(mesh, pieces[start:start + 400])


def check_all_cuts(tally, mesh, rng, only):
    """Each template with its operands cut in every way, each time in new
    sizes."""
    for line, shapes in TEMPLATES:
        if only not in line:
            continue
        ranks = [len(w.split("=")[1].split(":")[0]) for w in shapes.split()]
        ways = list(itertools.product(*[list(layouts(mesh, r))
                                        for r in ranks]))
        if len(ways) > 800:
            ways = rng.sample(ways, 800)
        made = [Template(line, shapes, rng, 17) for _ in ways]
        find_types(made)
        pieces = [piece_of(t, i, rng, mesh, w)
                  for i, (t, w) in enumerate(zip(made, ways))]
        for start in range(0, len(pieces), 400):
            tally.take(mesh, pieces[start:start + 400])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--templates", type=int, default=2)
    parser.add_argument("--all-cuts", action="store_true")
    parser.add_argument("--only", default="", help="what their line contains")
    parser.add_argument("--show", type=int, default=6)
    options = parser.parse_args()
    numpy.seterr(all="ignore")
    tally = Tally(options.show)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cases = [c for c in oracle_cases(folder) if options.only in c.line]
        find_types(cases)
        for number in range(options.seed, options.seed + options.rounds):
            rng = random.Random(number)
            mesh = MESHES[list(MESHES)[number % len(MESHES)]]
            made = [Template(*t, rng, 17) for t in TEMPLATES
                    if options.only in t[0] for _ in range(options.templates)]
            find_types(made)
            halves = [Template(*t, rng, 17) for t in TEMPLATES
                      if options.only in t[0]]
            find_types(halves)
            made += [of_halves(case, rng.choice(["f16", "bf16"]))
                     for case in halves]
            some = rng.sample(cases, -(-len(cases) // options.part))
            check(tally, made + some, rng, mesh)
            if options.all_cuts:
                check_all_cuts(tally, mesh, rng, options.only)
        os.chdir("/")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

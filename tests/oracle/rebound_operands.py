#!/usr/bin/env python3
"""Binds every operand of every op again, or frees it: nothing else changes.

usage: rebound_operands.py [--share K N] BACKEND...

Takes a line of every form that the oracle knows, with names for its operands,
and with the name of a scalar in place of each number that allows it. The line
runs unchanged; then, for each operand, its name is bound to something else
right after the line, or by the line itself, or freed, or only once the loss is
there, or between two gradients of one history. Results, gradients and
gradients of gradients must stay the same to the bit; with ranks as well. With
--share, each N-th form is spoiled so, from the K-th on.
"""
import argparse
import copy
import re
import sys
import tempfile

import torch

import arrays
import creation
import layers
import lines
import networks
import ops_table
import pointwise
from gt import Tally, emit, results_of, tensor_line, work

NUMBER = re.compile(r"^[+-]?[0-9.]+(e-?[0-9]+)?$")
WAYS = ("bound after the line", "bound by the line", "freed",
        "bound after the loss", "bound between gradients")


def forms(folder):
    """One case for each line, in f64 and with elements if there is such a
    case."""
    best = {}
    for case in [*lines.cases(), *pointwise.cases(), *arrays.cases(),
                 *networks.cases(), *layers.cases(), *creation.cases(folder)]:
        types = [t.dtype for t in case.inputs.values()]
        rank = (case.order, torch.float64 in types,
                all(t.numel() for t in case.inputs.values()))
        key = (case.line, case.before, torch.int64 in types)
        if key not in best or rank > best[key][0]:
            best[key] = (rank, case)
    return [case for _, case in best.values()]


class Form:
    """A line, the lines before it, and the names by which its gradient is
    asked for."""

    def __init__(self, case):
        self.before = [tensor_line("t." + n, t)
                       for n, t in case.inputs.items()]
        self.before += [f"{n} = copy t.{n}" for n in case.inputs]
        self.before += case.before.split("\n") if case.before else []
        self.line = case.line
        self.targets = case.targets if case.order > 0 else []
        self.order = case.order

    def words(self):
        """New names for the results, which no operand has, and the words after
        the "="."""
        results, rest = self.line.split(" = ", 1)
        made = [f"made{k}" for k in range(len(results.split(" ")))]
        return made, rest.split(" ")

    def operands(self):
        """The names that the line reads."""
        bound = {w for b in self.before if " = " in b
                 for w in b.split(" = ")[0].split(" ")}
        return [w for w in dict.fromkeys(self.words()[1][1:]) if w in bound]

    def with_scalars(self):
        """Yields a form for each number of the line, with the name of a scalar
        there."""
        results, rest = self.words()
        for i, word in enumerate(rest):
            if i == 0 or not NUMBER.match(word):
                continue
            form = copy.copy(self)
            form.line = " ".join([*results, "=", *rest[:i], "number",
                                  *rest[i + 1:]])
            dtype = "i64" if word.lstrip("+-").isdigit() else "f64"
            form.before = self.before + [f"number = tensor {dtype}[] {word}"]
            yield form

    def program(self, prefix, operand="", way="", at=""):
        """The lines of the program. With an operand, its name loses its value
        in that way."""
        spoil = ([f"free {operand}"] if way == "freed"
                 else [f"{operand} = full i32[3] 77"])
        results, rest = self.words()
        if way == "bound by the line":
            results[0] = operand
        lines = [*self.before, " ".join([*results, "=", *rest])]
        if way in ("bound after the line", "freed"):
            lines += spoil
        lines += [f"print {r} as={prefix}.{k}" for k, r in enumerate(results)]
        if self.targets:
            lines += self.loss(results)
            lines += spoil if way == "bound after the loss" else []
            lines += self.gradients(prefix, "g", " retain=1")
        if self.targets and self.order > 1:
            lines += spoil if way == "bound between gradients" else []
            lines += self.square("g") + self.gradients(prefix, "h", "")
        return with_ranks(lines, at) + ["free *"]

    def loss(self, results):
        lines = ["loss = zeros f64[]"]
        for r in results:
            lines += [f"part = cast {r} f64", "part = sin part",
                      "part = sum part", "loss = add loss part"]
        return lines

    def square(self, letter):
        lines = ["loss = zeros f64[]"]
        for t in self.targets:
            lines += [f"part = mul {letter}.{t} {letter}.{t}",
                      "part = sum part", "loss = add loss part",
                      "loss = cast loss f64"]
        return lines

    def gradients(self, prefix, letter, key):
        found = " ".join(f"{letter}.{t}" for t in self.targets)
        of = " ".join("t." + t for t in self.targets)
        return [f"{found} = grad loss {of}{key}"] + [
            f"print {letter}.{t} as={prefix}.{letter}.{t}"
            for t in self.targets]


def with_ranks(lines, at):
    """The same lines on each of these ranks, of which the first prints."""
    if not at:
        return lines
    names = {w for line in lines if " = " in line
             for w in line.split(" = ")[0].split(" ")}
    found = []
    for line in lines:
        here = at if not line.startswith("print ") else "@0"
        found.append(" ".join(w + here if w in names else w
                              for w in line.split(" ")))
    return found


def run(programs, backend):
    """What gt-emit said, and what each program printed, by its prefix."""
    text = "".join(f"{line}\n" for lines in programs for line in lines)
    stream, messages, _ = emit(text)
    printed = {}
    for name, value in results_of(work(stream, backend)[0]).items():
        prefix, result = name.split(".", 1)
        printed.setdefault(prefix, {})[result] = value
    return [m for m in messages.splitlines() if m.startswith("gt-emit: ")
            and "the loss does not depend on" not in m], printed


def check(tally, backend, found, at, share):
    """The legal ones among the forms; some ops take no scalar in place of a
    number. Those of the share are spoiled."""
    first, step = share
    _, plain = run([f.program(f"f{i}", at=at) for i, f in enumerate(found)],
                   backend)
    programs, wanted, legal = [], {}, set()
    for i, form in enumerate(found):
        expected = plain.get(f"f{i}", {"0": "fail"})
        if any(value.startswith("fail") for value in expected.values()):
            continue
        legal |= {form.line} if form.operands() else set()
        for operand in form.operands() if i % step == first else ():
            for way in WAYS:
                prefix = f"v{len(programs)}"
                programs.append(form.program(prefix, operand, way, at))
                wanted[prefix] = (expected, f"{form.line}: {operand} {way}")
    said, got = run(programs, backend)
    where = f"{backend}{' with ranks' if at else ''}"
    tally.check(f"{where}: gt-emit", "\n".join(said[:5]) or None)
    for prefix, (expected, what) in wanted.items():
        problem = next((f"{n} is {got.get(prefix, {}).get(n)}, not {v}"
                        for n, v in expected.items()
                        if got.get(prefix, {}).get(n) != v), None)
        tally.check(f"{where}: {what}", problem)
    return legal


def coverage(tally, forms_checked):
    """Checks that there is a form of every op that reads tensors and is not
    internal."""
    covered = {form.split(" = ")[1].split(" ")[0] for form in forms_checked}
    for name, op in ops_table.ops().items():
        reads = op["signature"].split(" = ")[-1].split(" ")
        if op["family"] in ("ranks", "output") or "type" in reads[1:2]:
            continue
        tally.check(f"op {name}", None if name in covered else
                    "no form of it has operands that are bound again")


def main(backends, share):
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        cases = [Form(case) for case in forms(folder)]
        scalars = [s for form in cases for s in form.with_scalars()]
        for backend in backends:
            coverage(tally, check(tally, backend, cases + scalars, "",
                                  share))
            check(tally, backend, cases + scalars, "@0-1", share)
    return tally.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1),
                        metavar=("K", "N"))
    parser.add_argument("backends", nargs="*", default=["ref"])
    options = parser.parse_args()
    sys.exit(main(options.backends, options.share))

#!/usr/bin/env python3
"""Compares every op with PyTorch: values, gradients, and gradients of
gradients; and compares gradients in f64 with central differences of gt's own
values.

usage: oracle.py BACKEND...

All cases are one program, which gt-emit reads once and each backend runs.
"""
import sys
import tempfile
import zlib

import numpy
import torch

import arrays
import creation
import layers
import lines
import networks
import ops_table
import pointwise
from cases import Case, dtype_of
from gt import (TOLERANCE, Tally, difference, emit, parse_result, results_of, tensor_line,
                work)

HALF_CHAIN = 4  # so many roundings may add up in lines of a half type
SEED = 1
STEP = 1e-6  # of central differences; their error is about its square
ZEROS = "the loss does not depend on"


def largest(tensors):
    """A tenth of the largest magnitude, to which small elements are
    compared."""
    return 0.1 * max([float(t.detach().abs().max())
                      for t in tensors if t.numel()] + [0.0])


class Written:
    """A case as lines of a program, and the results that its prints should
    have."""

    def __init__(self, number, case, rng):
        self.case = case
        self.prefix = f"c{number}"
        self.rng = rng
        self.lines = []
        self.expected = {}  # the tensor for each printed name
        self.scales = {}
        self.tolerances = {}
        self.slopes = []  # (prefix of two prints, gradient, direction)
        try:
            self.write()
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            raise SystemExit(f"oracle: {case.name}: PyTorch: {error}")

    def write(self):
        case = self.case
        self.lines += [tensor_line(n, t) for n, t in case.inputs.items()]
        self.lines += case.before.split("\n") if case.before else []
        self.lines.append(case.line)
        inputs = [self.wide(t).clone().requires_grad_(n in case.targets)
                  for n, t in case.inputs.items()]
        by_name = dict(zip(case.inputs, inputs))
        wanted = case.function(*inputs)
        if not isinstance(wanted, (tuple, list)):
            wanted = (wanted,)
        for name, tensor in zip(case.results(), wanted):
            self.print(name, name, self.rounded(name, tensor))
        if case.order > 0:
            targets = [by_name[n] for n in case.targets]
            self.derivatives(dict(zip(case.results(), wanted)), targets)
        names = set(case.inputs) | set(case.results())
        self.lines.append("free " + " ".join(sorted(names)))

    def wide(self, tensor):
        """The tensor in f32 if it is of a half type, whose function is rounded
        once."""
        if self.case.half and tensor.is_floating_point():
            return tensor.float()
        return tensor

    def rounded(self, name, tensor):
        """The tensor in the dtype of the inputs; statistics such as lse, and
        what the function gives in f64, stay wide."""
        if not self.case.half or not tensor.is_floating_point():
            return tensor
        if name in self.case.wide_results or tensor.dtype == torch.float64:
            return tensor
        return tensor.to(next(iter(self.case.inputs.values())).dtype)

    def print(self, name, tag, tensor, scale=0.0, looser=1):
        printed = f"{self.prefix}.{tag}"
        self.lines.append(f"print {name} as={printed}")
        self.expected[printed] = tensor.detach()
        self.scales[printed] = scale
        self.tolerances[printed] = self.case.tolerance
        if looser != 1:
            self.tolerances[printed] = looser * TOLERANCE[dtype_of(tensor)]

    def weights(self, name, like):
        data = torch.tensor(self.rng.normal(0, 1, tuple(like.shape)))
        data = self.rounded(name.split(".")[-1], data.to(like.dtype))
        self.lines.append(tensor_line(name, data))
        return self.wide(data)

    def loss_lines(self, results):
        """A scalar of all float results, weighted by o.q.NAME."""
        lines, terms = [], []
        for name in results:
            lines.append(f"o.p = mul {name} o.q.{name}")
            lines.append(f"o.t.{name} = sum o.p")
            terms.append(f"o.t.{name}")
        lines.append(f"o.l = copy {terms[0]}")
        lines += [f"o.l = add o.l {t}" for t in terms[1:]]
        return lines + ["free o.p " + " ".join(terms)]

    def derivatives(self, results, targets):
        case = self.case
        results = {n: t for n, t in results.items() if t.is_floating_point()}
        loss = torch.zeros((), dtype=targets[0].dtype)
        for name, tensor in results.items():
            loss = loss + (tensor * self.weights("o.q." + name, tensor)).sum()
        body = self.loss_lines(results)
        self.lines += body
        grads = self.gradient("o.g", "o.l", loss, targets, case.order > 1)
        scale = largest(grads)
        for name, g in zip(case.targets, grads):
            self.print("o.g." + name, "g." + name, self.rounded(name, g),
                       scale, HALF_CHAIN if case.half else 1)
        if case.order > 1:
            self.second(grads, targets)
        if case.smooth and targets[0].dtype == torch.float64:
            self.slope_lines(body, dict(zip(case.targets, targets)), grads)
        self.lines.append("free o.*")

    def gradient(self, prefix, name, loss, targets, again):
        results = " ".join(f"{prefix}.{n}" for n in self.case.targets)
        self.lines.append(
            f"{results} = grad {name} {' '.join(self.case.targets)}"
            + (" retain=1" if again else ""))
        if not loss.requires_grad:
            return [torch.zeros_like(t) for t in targets]
        found = torch.autograd.grad(loss, targets, create_graph=again,
                                    allow_unused=True)
        return [torch.zeros_like(t) if g is None else g
                for g, t in zip(found, targets)]

    def second(self, grads, targets):
        loss = torch.zeros((), dtype=targets[0].dtype)
        for name, g in zip(self.case.targets, grads):
            r = self.weights("o.r", g)
            loss = loss + (g * r).sum()
            self.lines += [f"o.p = mul o.g.{name} o.r",
                           f"o.s.{name} = sum o.p"]
        sums = ["o.s." + n for n in self.case.targets]
        self.lines.append(f"o.s = copy {sums[0]}")
        self.lines += [f"o.s = add o.s {t}" for t in sums[1:]]
        found = self.gradient("o.h", "o.s", loss, targets, False)
        scale = 10 * max(largest(grads), largest(found))
        for name, h in zip(self.case.targets, found):
            self.print("o.h." + name, "h." + name, h, scale)

    def slope_lines(self, body, targets, grads):
        """Prints the loss a little before and after the inputs along a
        direction."""
        for (name, x), g in zip(targets.items(), grads):
            if x.numel() == 0:
                continue
            way = torch.tensor(self.rng.normal(0, 1, tuple(x.shape)))
            for sign, tag in ((1, "p"), (-1, "m")):
                self.lines.append(tensor_line(
                    name, x.detach() + sign * STEP * way))
                self.lines += [self.case.line] + body
                self.lines.append(f"print o.l as={self.prefix}.{name}.{tag}")
            self.lines.append(tensor_line(name, x))
            slope = float((g.detach() * way).sum())
            scale = float((g.detach() * way).abs().sum())
            self.slopes.append((name, slope, scale))

    def problems(self, results):
        """Yields (what, problem or None) for everything that was printed."""
        for printed, tensor in self.expected.items():
            yield printed, difference(results.get(printed), tensor,
                                      self.tolerances[printed],
                                      self.scales[printed])
        for name, slope, scale in self.slopes:
            yield f"{self.prefix}.{name} slope", self.slope_problem(
                results, name, slope, scale)

    def slope_problem(self, results, name, slope, scale):
        losses = []
        for tag in "pm":
            text = results.get(f"{self.prefix}.{name}.{tag}")
            if text is None:
                return "was not printed"
            kind, found = parse_result(text)
            if kind != "f64[]":
                return f"is {found}"
            losses.append(found[0])
        found = (losses[0] - losses[1]) / (2 * STEP)
        # The error comes from rounding of the loss, and from the third
        # derivative times the square of STEP.
        allowed = 1e-5 * (scale + abs(losses[0]) * 1e-4 + 1e-4)
        if abs(found - slope) <= allowed:
            return None
        return f"central difference {found!r}, gradient {slope!r}"


def unknown_messages(messages):
    """What gt-emit said, except that gradients are zeros where they rightly
    are."""
    lines = messages.splitlines()
    found = []
    for i, line in enumerate(lines):
        if line.startswith("gt-emit: ") and ZEROS not in line:
            found += lines[i:i + 3]
    return found


def coverage(tally, all_cases):
    """Every op of the table has a case, and every op with a gradient a
    derivative."""
    table = ops_table.ops()
    forward = {c.op for c in all_cases}
    backward = {c.op for c in all_cases if c.order > 0}
    for name, op in table.items():
        if op["family"] == "ranks":  # splits.py holds them to whole tensors
            continue
        problem = None
        if name not in forward:
            problem = "has no case: tests/ops.tsv lacks what PyTorch calls it"
        elif op["gradient"] and name not in backward:
            problem = "has a gradient but no case that compares it"
        tally.check(f"op {name}", problem)
    tally.check("names of cases", None if forward <= table.keys() else
                f"no such op: {sorted(forward - table.keys())}")


def run(backend, written, stream, tally):
    output, messages, status = work(stream, backend)
    results = results_of(output)
    for w in written:
        for what, problem in w.problems(results):
            tally.check(f"{backend}: {w.case.name}: {what}", problem)
    tally.check(f"{backend}: status",
                None if status == 0 else f"{status}: {messages[:2000]}")


def main(backends):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    numpy.seterr(all="ignore")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        all_cases: list[Case] = [
            *lines.cases(), *pointwise.cases(), *arrays.cases(),
            *networks.cases(), *layers.cases(), *creation.cases(folder)]
        coverage(tally, all_cases)
        # Of a case's own seed, so that a new case changes no other.
        written = [Written(i, c, numpy.random.default_rng(
            SEED + zlib.crc32(c.name.encode()))) for i, c in enumerate(all_cases)]
        program = "\n".join(line for w in written for line in w.lines)
        stream, messages, status = emit(program + "\n")
        tally.check("gt-emit says nothing",
                    "\n".join(unknown_messages(messages)[:12]) or None)
        tally.check("gt-emit's status",
                    None if status == 0 else str(status))
        for backend in backends:
            run(backend, written, stream, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["ref"]))

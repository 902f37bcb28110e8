#!/usr/bin/env python3
"""Computes every reduction, norm and loss, and its gradient, of numbers so large
and so small that their squares and products leave the range of the dtype, and
compares with the true values.

usage: scales.py [--table [PYTHON]] BACKEND...

The ops are those of these families in gt-emit --ops=json: a new one fails here
until TRUTHS has it. The true values are computed by NumPy in 80 bits, whose range
holds all squares, and rounded to the dtype. --table prints which scales hold, and
those of PyTorch beside if PYTHON is one that has it.
"""
import json
import os
import subprocess
import sys

import numpy
from gt import Tally, emit, parse_result, results_of, work

SELF = os.path.abspath(__file__)
L = numpy.longdouble
FAMILIES = ("reductions", "statistics", "norms", "losses", "networks")
# The scales of each dtype, and its digits and range.
SCALES = {"f32": ("1e30", "1e-30", "1e19", "1.3e19", "1e-19", "1"),
          "f64": ("1e200", "1e-200", "8e153", "1e154", "1"),
          "bf16": ("1e30", "1e-30", "1.3e19", "1"),
          "f16": ("8000", "1e-6", "300", "1")}
FORMATS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024),
           "bf16": (8, -133, 128), "f16": (11, -24, 16)}
BASE = numpy.array([3, -4, 1.5, 2, -0.75, 1, 2.5, -6], dtype=L)
WEIGHTS = numpy.array([1, -2, 0.5, 3, -1, 2, 1.5, -0.25], dtype=L)
# Units in the last place of the largest element by which results may be off. The
# gradients of f16 and bf16 go through a few lines, each of which rounds.
UNITS = {"f32": 8, "f64": 16, "bf16": 2, "f16": 2}
EPS = L("1e-5")


def only(n, i):
    y = numpy.zeros(n, dtype=L)
    y[i] = 1
    return y


def softmax(x):
    e = numpy.exp(x - x.max())
    return e / e.sum()


def log_sum(x):
    """The logarithm of the sum of exp(x - x.max())."""
    return numpy.log1p(numpy.delete(numpy.exp(x - x.max()), x.argmax()).sum())


def class_slope(x):
    """softmax less 1 at class 3, which is what the others are."""
    y = softmax(x)
    y[3] = -numpy.delete(y, 3).sum()
    return y


def centered(x):
    return x - x.mean()


def std(x):
    return numpy.sqrt((centered(x) ** 2).sum() / (len(x) - 1))


def norm(x):
    return numpy.sqrt((x * x).sum())


def row_norm(center):
    def value(x):
        e = center(x)
        return e / numpy.sqrt((e * e).mean() + EPS)

    def slope(x, w):
        e = center(x)
        root = numpy.sqrt((e * e).mean() + EPS)
        z = e / root
        h = w - w.mean() if center is centered else w
        return (h - z * (w * z).mean()) / root
    return value, slope


def same(x):
    return x


def scaled(x):
    """normalize, whose divisor is 1e-12 at least."""
    return x / numpy.maximum(norm(x), L("1e-12"))


def scaled_slope(x, w):
    z = scaled(x)
    along = (w * z).sum() if norm(x) > L("1e-12") else 0
    return (w - z * along) / numpy.maximum(norm(x), L("1e-12"))


def distance(x):
    """From the target, which is three quarters of x."""
    return x / 4


def each(value, slope):
    """A reduction: the gradient for a weight of 1."""
    return value, lambda x, w: slope(x)


# The calls of each op, with what of a row's values they give and their gradient
# for weights of the result. c has the row as a column.
TRUTHS = {
    "sum x": each(numpy.sum, numpy.ones_like),
    "mean x": each(numpy.mean, lambda x: numpy.ones_like(x) / len(x)),
    "max x": each(numpy.max, lambda x: only(len(x), x.argmax())),
    "min x": each(numpy.min, lambda x: only(len(x), x.argmin())),
    "prod x": each(numpy.prod, lambda x: numpy.prod(x) / x),
    "cumsum x axis=0": (numpy.cumsum,
                        lambda x, w: numpy.cumsum(w[::-1])[::-1]),
    "var x": each(lambda x: std(x) ** 2,
                  lambda x: 2 * centered(x) / (len(x) - 1)),
    "std x": each(std, lambda x: centered(x) / std(x) / (len(x) - 1)),
    "var c axis=0": each(lambda x: std(x) ** 2,
                         lambda x: 2 * centered(x) / (len(x) - 1)),
    "std c axis=0": each(std, lambda x: centered(x) / std(x) / (len(x) - 1)),
    "norm x": each(norm, lambda x: x / norm(x)),
    "norm x ord=1": each(lambda x: abs(x).sum(), numpy.sign),
    "norm x ord=inf": each(lambda x: abs(x).max(), lambda x: numpy.sign(x) *
                           only(len(x), abs(x).argmax())),
    "normalize x": (scaled, scaled_slope),
    "logsumexp x": each(lambda x: x.max() + log_sum(x), softmax),
    "any x": (lambda x: L(1), None),
    "all x": (lambda x: L(1), None),
    "argmax x": (lambda x: L(x.argmax()), None),
    "argmin x": (lambda x: L(x.argmin()), None),
    "softmax x": (softmax, lambda x, w: softmax(x) * (
        w - (w * softmax(x)).sum())),
    "log_softmax x": (lambda x: x - x.max() - log_sum(x),
                      lambda x, w: w - softmax(x) * w.sum()),
    "layer_norm x": row_norm(centered),
    "rms_norm x": row_norm(same),
    "mse x t": each(lambda x: (distance(x) ** 2).mean(),
                    lambda x: 2 * distance(x) / len(x)),
    "huber x t": each(
        lambda x: numpy.where(abs(distance(x)) < 1, distance(x) ** 2 / 2,
                              abs(distance(x)) - L(0.5)).mean(),
        lambda x: numpy.clip(distance(x), -1, 1) / len(x)),
    "cross_entropy x k": each(
        lambda x: x.max() - x[3] + log_sum(x), class_slope),
    "bce p 0.25": each(
        lambda p: -(0.25 * numpy.maximum(numpy.log(p), -100)
                    + 0.75 * numpy.log1p(-p)).mean(),
        lambda p: (p - 0.25) / numpy.maximum(p * (1 - p), L("1e-12")) / len(p)),
}

# Those that numbers as large as there are do not take out of range.
OF_MOST = ("var x", "var c axis=0", "std x", "std c axis=0", "layer_norm x",
           "mean x", "huber x t", "logsumexp x", "softmax x")
# Those of which most is said by exponentials that are lost beside a 1.
OF_TAIL = ("logsumexp x", "log_softmax x", "cross_entropy x k")
SOME = {"most": OF_MOST, "tail": OF_TAIL}
# What the expansions do not have, which ref computes: the class's own gradient,
# where it is less than the last digit of 1 (gt-figures(7)).
LOST = {("ref", "cross_entropy x k", "tail")}


def ops():
    done = subprocess.run(["gt-emit", "--ops=json"], capture_output=True,
                          text=True, check=True)
    for op in json.loads(done.stdout)["ops"]:
        if op["family"] in FAMILIES and not op.get("internal"):
            yield op["name"]


def rounded(dtype, x, fewer=0):
    """x as a number of the dtype, or of so many digits less."""
    digits, least, most = FORMATS[dtype]
    digits -= fewer
    x = numpy.asarray(x, dtype=L)
    unit = numpy.ldexp(L(1), numpy.maximum(
        numpy.frexp(numpy.where(numpy.isfinite(x), x, 1))[1] - digits, least))
    y = numpy.where(numpy.isfinite(x), numpy.rint(x / unit) * unit, x)
    return numpy.where(abs(y) >= numpy.ldexp(L(1), most),
                       numpy.copysign(L(numpy.inf), y), y)


def text(values):
    return " ".join(repr(float(v)) for v in values)


def rows(dtype):
    """(scale, x): the rows that are computed with."""
    for scale in SCALES[dtype]:
        # A quarter of x and three must be exact, as the target is made of them.
        yield scale, 4 * rounded(dtype, BASE * L(scale) / 4, 2)
    # As large as there are, of which one is out of range without the mean.
    most = numpy.ldexp(L(1), FORMATS[dtype][2] - 1)
    yield "most", most * numpy.array([1.5, 1.75, 1.5, -1.75, 1.25, 1.5, 1.625,
                                      1.5], dtype=L)
    # The largest is far above the others.
    yield "tail", L(2 if dtype == "f64" else 1) * numpy.array(
        [-20, -21, -22, 0, -20.5, -23, -24, -25], dtype=L)
    # Large and small ones, of which a product is a usual number.
    large = L(SCALES[dtype][0])
    yield "both", 4 * rounded(dtype, BASE / 4 * numpy.where(
        numpy.arange(8) % 4 < 2, large, 1 / large), 2)


def shares(dtype, x):
    """Probabilities: of a small scale tiny ones."""
    small = abs(x).max() < 1
    return rounded(dtype, abs(x) if small else abs(BASE) / 10)


def cases():
    """(tag, call, dtype, row, whether its result has the row's shape)"""
    for dtype in SCALES:
        for scale, x in rows(dtype):
            for call in TRUTHS:
                if call not in SOME.get(scale, TRUTHS):
                    continue
                row = shares(dtype, x) if " p " in call else x
                yield f"{call} of {scale} {dtype}", call, dtype, row


def program(found):
    lines = []
    for i, (_, call, dtype, row) in enumerate(found):
        value, slope = TRUTHS[call]
        name = "p" if " p " in call else "x"
        lines += [f"{name} = tensor {dtype}[8] {text(row)}"]
        if " t" in call:
            lines += ["h = mul x 0.75", "t = detach h"]
        if " k" in call:
            lines += ["k = tensor i64[] 3"]
        if " c " in call:
            lines += ["c = stack x x axis=1", f"v = {call}", "y = slice v 0"]
        else:
            lines += [f"y = {call}"]
        lines += [f"print y as=y{i}"]
        if not slope:
            continue
        if numpy.ndim(value(row)):
            lines += [f"w = tensor {dtype}[8] {text(WEIGHTS)}", "z = mul y w",
                      "l = sum z"]
        else:
            lines += ["l = copy y"]
        lines += [f"g = grad l {name}", f"print g as=g{i}"]
    return "\n".join(lines) + "\n"


def problem(printed, dtype, true, near):
    if printed is None:
        return "was not printed"
    kind, have = parse_result(printed)
    if kind == "fail":
        return have
    have = rounded(dtype, have).reshape(-1)
    want = rounded(dtype, true).reshape(-1)
    digits, least, most = FORMATS[dtype]
    finite = abs(true[numpy.isfinite(true)]) if numpy.ndim(true) else abs(true)
    largest = min(numpy.max(finite, initial=0), numpy.ldexp(L(1), most - 1))
    unit = numpy.ldexp(L(1), max(int(numpy.frexp(largest)[1]) - digits, least))
    with numpy.errstate(invalid="ignore"):
        fine = (have == want) | (abs(have - want) <= near * unit) | (
            numpy.isnan(have) & numpy.isnan(want))
    if fine.all():
        return None
    return f"is {text(have)}, not {text(want)}"


def verdicts(found, results):
    """Whether each case's value and gradient are right."""
    for i, (_, call, dtype, row) in enumerate(found):
        value, slope = TRUTHS[call]
        kind = "f64" if not slope else dtype
        yield problem(results.get(f"y{i}"), kind, numpy.asarray(value(row)),
                      UNITS[dtype])
        yield slope and problem(results.get(f"g{i}"), dtype,
                                slope(row, WEIGHTS), 2 * UNITS[dtype])


def main(backends):
    tally = Tally()
    known = {call.split(" ")[0] for call in TRUTHS}
    for op in ops():
        tally.check(f"{op} is known", None if op in known else
                    "TRUTHS in tests/oracle/scales.py has no call of it")
    found = list(cases())
    for backend in backends:
        told = verdicts(found, computed(found, backend))
        for tag, *_ in found:
            tally.check(f"{backend}: {tag}", next(told))
            slope = next(told)
            call, scale = tag.rsplit(" ", 1)[0].split(" of ")
            if (backend, call, scale) not in LOST:
                tally.check(f"{backend}: gradient of {tag}", slope)
    return tally.end()


def computed(found, backend):
    stream, messages, status = emit(program(found))
    if status != 0:
        raise SystemExit(f"scales: gt-emit: {messages}")
    name, _, isa = backend.partition(":")
    return results_of(work(stream, name, *(["--isa", isa] if isa else []))[0])


def peers(torch):
    """PyTorch's own function for each call, of x, the target, and k, the class."""
    # pylint: disable=import-outside-toplevel
    import torch.nn.functional as F
    vector_norm = torch.linalg.vector_norm
    return {
        "sum x": torch.sum, "mean x": torch.mean, "max x": torch.amax,
        "min x": torch.amin, "prod x": torch.prod, "var x": torch.var,
        "std x": torch.std, "norm x": vector_norm,
        "cumsum x axis=0": lambda x: torch.cumsum(x, 0),
        "norm x ord=1": lambda x: vector_norm(x, 1),
        "norm x ord=inf": lambda x: vector_norm(x, float("inf")),
        "normalize x": lambda x: F.normalize(x, dim=0),
        "logsumexp x": lambda x: torch.logsumexp(x, 0),
        "any x": torch.any, "all x": torch.all, "argmax x": torch.argmax,
        "argmin x": torch.argmin, "softmax x": lambda x: torch.softmax(x, 0),
        "log_softmax x": lambda x: torch.log_softmax(x, 0),
        "layer_norm x": lambda x: F.layer_norm(x, (8,), eps=1e-5),
        "rms_norm x": lambda x: F.rms_norm(x, (8,), eps=1e-5),
        "mse x t": lambda x: F.mse_loss(x, (x * 0.75).detach()),
        "huber x t": lambda x: F.huber_loss(x, (x * 0.75).detach()),
        "cross_entropy x k": lambda x: F.cross_entropy(x, torch.tensor(3)),
        "bce p 0.25": lambda x: F.binary_cross_entropy(
            x, torch.full_like(x, 0.25)),
    }


def peer():
    """Prints PyTorch's results as gt-work prints its own; run by the Python that
    has it."""
    # pylint: disable=import-outside-toplevel
    import torch
    kinds = {"f16": torch.float16, "bf16": torch.bfloat16,
             "f32": torch.float32, "f64": torch.float64}
    own = peers(torch)
    for i, (_, call, dtype, row) in enumerate(cases()):
        if call not in own:
            continue
        x = torch.tensor([float(v) for v in row], dtype=torch.float64).to(
            kinds[dtype]).requires_grad_()
        y = own[call](x)
        print(f"y{i} = tensor {dtype}[] {text(y.double().reshape(-1).tolist())}")
        if TRUTHS[call][1]:
            w = torch.tensor([float(v) for v in WEIGHTS], dtype=x.dtype)
            g = torch.autograd.grad((y * w).sum() if y.ndim else y, x)[0]
            print(f"g{i} = tensor {dtype}[] {text(g.double().tolist())}")


def table(python):
    """Prints for each call and dtype the scales at which a value or, marked ', a
    gradient is wrong: ours, and then PyTorch's."""
    found = list(cases())
    sides = [computed(found, "cpu")]
    if python:
        done = subprocess.run([python, SELF, "--peer"], check=True, text=True,
                              stdout=subprocess.PIPE)
        sides.append(results_of(done.stdout))
    wrong = {}
    for side, results in enumerate(sides):
        told = verdicts(found, results)
        for tag, call, dtype, _ in found:
            scale = tag.split(" of ")[-1].split(" ")[0]
            for what in ("", "'"):
                if next(told) is not None:
                    wrong.setdefault((call, dtype, side), []).append(
                        scale + what)
    for call in TRUTHS:
        for dtype in SCALES:
            sides_of = [" ".join(wrong.get((call, dtype, side), ["-"]))
                        for side in range(len(sides))]
            if set(sides_of) != {"-"}:
                print(f"{call:15}{dtype:6}{sides_of[0]:8}",
                      *sides_of[1:])


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    if sys.argv[1:2] == ["--peer"]:
        peer()
    elif sys.argv[1:2] == ["--table"]:
        table(sys.argv[2] if len(sys.argv) > 2 else None)
    else:
        sys.exit(main(sys.argv[1:] or ["ref", "cpu", "cpu:sse2"]))

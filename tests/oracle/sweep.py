#!/usr/bin/env python3
"""Puts every value of bf16 and of f16 through every op of one tensor, point by
point, and through its gradient, and compares with the true value.

usage: sweep.py [--table [PYTHON]] BACKEND...

The ops are those of gt-emit --ops=json: a new one fails here until TRUTHS has
it. A value may be one unit in the last place away from the true one rounded; the
true one is computed by NumPy in 80 bits. --table prints the page's table, with
PyTorch's errors beside if PYTHON is one that has it.
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import numpy
from gt import Tally, emit, work

SELF = os.path.abspath(__file__)
L = numpy.longdouble
HALVES = {"f16": "F16", "bf16": "BF16"}
ONE_ULP = 1


def each(function):
    """A function of doubles as one of arrays."""
    def of(x):
        return numpy.array([function(float(v)) for v in x], dtype=L)
    return of


erf, erfc = each(math.erf), each(math.erfc)
ROOT2, PI = numpy.sqrt(L(2)), L("3.14159265358979323846264338327950288")
DENSITY = 1 / numpy.sqrt(2 * PI)
RATE, CUBIC = numpy.sqrt(2 / PI), L(0.044715)


def sigmoid(x):
    e = numpy.exp(-abs(x))
    return numpy.where(x < 0, e, 1) / (1 + e)


def sigmoid_slope(x):
    e = numpy.exp(-abs(x))
    return e / (1 + e) ** 2


def tanh_slope(x):
    return 4 * sigmoid_slope(2 * x)


def share(x):
    return erfc(-x / ROOT2) / 2


def at_ends(x, inner, below, above):
    """inner(x), and at -inf and inf these limits."""
    y = inner(numpy.where(numpy.isfinite(x), x, 0))
    y = numpy.where(x == -numpy.inf, L(below), y)
    y = numpy.where(x == numpy.inf, L(above), y)
    return numpy.where(numpy.isnan(x), L(numpy.nan), y)


def gelu_tanh_inner(x):
    return 2 * RATE * (x + CUBIC * x ** 3)


def gelu_tanh_slope(x):
    u = gelu_tanh_inner(x)
    return sigmoid(u) + x * sigmoid_slope(u) * 2 * RATE * (
        1 + 3 * CUBIC * x * x)


def mish_share(x):
    n = numpy.exp(numpy.minimum(x, L(40)))
    n = n * (n + 2)
    return n / (n + 2)


def mish_slope(x):
    e = numpy.exp(numpy.minimum(x, L(40)))
    n = e * (e + 2)
    return n / (n + 2) + numpy.clip(x, -40000, 40) * 4 * e * (1 + e) / (
        n + 2) ** 2


def softplus(x):
    return numpy.where(x > 20, x, numpy.maximum(x, 0)
                       + numpy.log1p(numpy.exp(-abs(x))))


def nothing(x):
    return numpy.where(numpy.isnan(x), x, 0 * numpy.ones_like(x))


def ends(inner, below, above):
    return lambda x: at_ends(x, inner, below, above)


# The value and the derivative of each op, by its call.
TRUTHS = {
    "copy": (lambda x: x, numpy.ones_like),
    "detach": (lambda x: x, None),
    "neg": (lambda x: -x, lambda x: -numpy.ones_like(x)),
    "abs": (abs, numpy.sign),
    "sign": (lambda x: numpy.where(numpy.isnan(x), 0, numpy.sign(x)),
             numpy.zeros_like),
    "floor": (numpy.floor, numpy.zeros_like),
    "ceil": (numpy.ceil, numpy.zeros_like),
    "round": (numpy.rint, numpy.zeros_like),
    "relu": (lambda x: numpy.where(x < 0, 0, x),
             lambda x: (x > 0).astype(L)),
    "exp": (numpy.exp, numpy.exp),
    "expm1": (numpy.expm1, numpy.exp),
    "log": (numpy.log, lambda x: 1 / x),
    "log1p": (numpy.log1p, lambda x: 1 / (1 + x)),
    "sqrt": (numpy.sqrt, lambda x: 0.5 / numpy.sqrt(x)),
    "rsqrt": (lambda x: 1 / numpy.sqrt(x),
              lambda x: -0.5 / (x * numpy.sqrt(x))),
    "sinh": (numpy.sinh, numpy.cosh),
    "cosh": (numpy.cosh, numpy.sinh),
    "sin": (numpy.sin, numpy.cos),
    "cos": (numpy.cos, lambda x: -numpy.sin(x)),
    "atan": (numpy.arctan, lambda x: 1 / (1 + x * x)),
    "erf": (erf, lambda x: 2 / numpy.sqrt(PI) * numpy.exp(-x * x)),
    "erfc": (erfc, lambda x: -2 / numpy.sqrt(PI) * numpy.exp(-x * x)),
    "tanh": (numpy.tanh, tanh_slope),
    "sigmoid": (sigmoid, sigmoid_slope),
    "silu": (ends(lambda x: x * sigmoid(x), 0, numpy.inf),
             ends(lambda x: sigmoid(x) + x * sigmoid_slope(x), 0, 1)),
    "gelu": (ends(lambda x: x * share(x), 0, numpy.inf),
             ends(lambda x: share(x) + x * DENSITY * numpy.exp(-x * x / 2),
                  0, 1)),
    "gelu approximate=tanh": (
        ends(lambda x: x * sigmoid(gelu_tanh_inner(x)), 0, numpy.inf),
        ends(gelu_tanh_slope, 0, 1)),
    "mish": (ends(lambda x: x * mish_share(x), 0, numpy.inf),
             ends(mish_slope, 0, 1)),
    "softplus": (softplus, lambda x: numpy.where(x > 20, 1, sigmoid(x))),
}


def calls():
    """The calls of ops of one tensor whose result has its shape and is a
    float, and with each word of a key that has words."""
    done = subprocess.run(["gt-emit", "--ops=json"], capture_output=True,
                          text=True, check=True)
    table = json.loads(done.stdout)
    words = {key["name"]: key["words"].split() for key in table["keys"]
             if key["kind"] == "word"}
    for op in table["ops"]:
        kinds = [operand["kind"] for operand in op["operands"]]
        if (kinds != ["tensor"] or len(op["results"]) != 1 or
                op["index"] != "...->..." or op.get("internal") or
                op["family"] in ("ranks", "output") or
                op["dtype"] == "bool" or op["accepts"] == "bool"):
            continue
        yield op["name"]
        for key in op["keys"]:
            for word in words.get(key["name"], []):
                if word != key.get("default"):
                    yield f"{op['name']} {key['name']}={word}"


def all_values(dtype):
    """Every value of the dtype as an array of its bits, and in 80 bits."""
    bits = numpy.arange(1 << 16, dtype=numpy.uint16)
    return bits, wide(dtype, bits)


def wide(dtype, bits):
    with numpy.errstate(invalid="ignore"):  # of nans that signal
        if dtype == "f16":
            return bits.view(numpy.float16).astype(L)
        return (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(L)


def rounded(dtype, x):
    """x rounded once to the dtype, to nearest, ties to even; in 80 bits."""
    digits, least, most = ((11, -24, 16) if dtype == "f16" else
                           (8, -133, 128))
    exponent = numpy.frexp(numpy.where(numpy.isfinite(x), x, 1))[1]
    unit = numpy.ldexp(L(1), numpy.maximum(exponent - digits, least))
    y = numpy.where(numpy.isfinite(x), numpy.rint(x / unit) * unit, x)
    return numpy.where(numpy.isfinite(y) & (abs(y) >= L(2) ** most),
                       numpy.copysign(L(numpy.inf), y), y)


def order(dtype, x):
    """The numbers of the dtype's values in their order, zeros being one."""
    if dtype == "f16":
        bits = x.astype(numpy.float16).view(numpy.uint16).astype(numpy.int64)
    else:
        bits = (x.astype(numpy.float32).view(numpy.uint32) >> 16).astype(
            numpy.int64)
    return numpy.where(bits & 0x8000, -(bits & 0x7fff), bits)


def errors(dtype, have, true):
    """How many units in the last place each value is off; inf where only one
    of the two is nan."""
    want = rounded(dtype, true)
    nans = numpy.isnan(have), numpy.isnan(want)
    off = abs(order(dtype, have) - order(dtype, want)).astype(float)
    off[nans[0] | nans[1]] = 0
    off[nans[0] != nans[1]] = numpy.inf
    return off


def write(path, tensors):
    """A safetensors file of {name: (dtype, bits)}."""
    head, at = {}, 0
    for name, (dtype, bits) in tensors.items():
        head[name] = {"dtype": HALVES[dtype], "shape": [len(bits)],
                      "data_offsets": [at, at + 2 * len(bits)]}
        at += 2 * len(bits)
    text = json.dumps(head).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, bits in tensors.values():
            file.write(bits.tobytes())


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    return {name: numpy.frombuffer(data, numpy.uint16,
                                   (at["data_offsets"][1]
                                    - at["data_offsets"][0]) // 2,
                                   8 + size + at["data_offsets"][0])
            for name, at in head.items() if name != "__metadata__"}


def program(found):
    lines = []
    for dtype in HALVES:
        lines.append(f'x = load "x.safetensors:{dtype}" {dtype}[65536]')
        for i, call in enumerate(found):
            op, *keys = call.split(" ")
            lines += [" ".join(["y =", op, "x", *keys]),
                      f'save y "y.safetensors:{dtype}.{i}"']
            if TRUTHS[call][1]:
                lines += ["l = sum y", "g = grad l x",
                          f'save g "y.safetensors:{dtype}.{i}.g"']
    return "\n".join(lines) + "\n"


def results(stream, backend):
    """{name: bits} of what a backend computes of the stream."""
    name, _, isa = backend.partition(":")
    options = ["--isa", isa] if isa else []
    if os.path.exists("y.safetensors"):
        os.remove("y.safetensors")
    _, messages, status = work(stream, name, *options)
    if status != 0:
        raise SystemExit(f"sweep: gt-work: {messages}")
    return read("y.safetensors")


def truths(call, dtype, x):
    """[(tag, true values, where they count)]"""
    with numpy.errstate(all="ignore"):
        value, slope = TRUTHS[call]
        y = value(x)
        yield "", y, numpy.ones(len(x), bool)
        if slope:
            d = slope(x)
            # A derivative is asked for where there is a value to derive.
            yield ".g", d, ~numpy.isnan(y) & ~numpy.isnan(d)


def main(backends):
    tally = Tally()
    found = list(calls())
    for call in found:
        tally.check(f"{call} is known", None if call in TRUTHS else
                    "TRUTHS in tests/oracle/sweep.py has no such call")
    found = [call for call in found if call in TRUTHS]
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        values = {dtype: all_values(dtype) for dtype in HALVES}
        write("x.safetensors", {d: (d, v[0]) for d, v in values.items()})
        stream, messages, status = emit(program(found))
        if status != 0:
            raise SystemExit(f"sweep: gt-emit: {messages}")
        made = {backend: results(stream, backend) for backend in backends}
        for dtype, (_, x) in values.items():
            for i, call in enumerate(found):
                for tag, true, counts in truths(call, dtype, x):
                    for backend in backends:
                        have = wide(dtype, made[backend][f"{dtype}.{i}{tag}"])
                        off = numpy.where(counts, errors(dtype, have, true), 0)
                        tally.check(f"{backend}: {call}{tag} {dtype}",
                                    problem(x, have, rounded(dtype, true),
                                            off))
        os.chdir("/")
    return tally.end()


def problem(x, have, want, off):
    if off.max() <= ONE_ULP:
        return None
    i = int(off.argmax())
    return (f"of {float(x[i])!r} is {float(have[i])!r}, not "
            f"{float(want[i])!r}: {off[i]:.0f} units off, as "
            f"{int((off > ONE_ULP).sum())} are")


def peer(found):
    """Writes what PyTorch makes of x.safetensors to p.safetensors; run by the
    Python that has it."""
    # pylint: disable=import-outside-toplevel
    import torch
    import torch.nn.functional as F
    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16}
    bits, made = read("x.safetensors"), {}
    for dtype, own in dtypes.items():
        for i, call in enumerate(found):
            op, *keys = call.split(" ")
            function = getattr(torch, {"copy": "clone"}.get(op, op), None)
            function = function or getattr(F, op)
            x = torch.from_numpy(bits[dtype].view(numpy.int16).copy()).view(own)
            x.requires_grad_(op != "detach")
            y = function(x, **dict(key.split("=") for key in keys))
            made[f"{dtype}.{i}"] = y.detach()
            if op != "detach":
                made[f"{dtype}.{i}.g"] = torch.autograd.grad(y.sum(), x)[0]
    write("p.safetensors", {
        name: (name.split(".")[0],
               t.contiguous().view(torch.int16).numpy().view(numpy.uint16))
        for name, t in made.items()})


def shown(worst):
    return f"{worst:.0f}" if math.isfinite(worst) else "nan"


def table(python, found, backend="cpu"):
    """Prints the largest errors, ours and then PyTorch's."""
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        values = {dtype: all_values(dtype) for dtype in HALVES}
        write("x.safetensors", {d: (d, v[0]) for d, v in values.items()})
        made = [results(emit(program(found))[0], backend)]
        if python:
            subprocess.run([python, SELF, "--peer", *found], check=True)
            made.append(read("p.safetensors"))
        os.chdir("/")
    print(f"{'':26}" + "".join(f"{d + ' ' + what:>20}" for d in HALVES
                               for what in ("value", "gradient")))
    for i, call in enumerate(found):
        columns = [""] * 4
        for d, (dtype, (_, x)) in enumerate(values.items()):
            for g, (tag, true, counts) in enumerate(truths(call, dtype, x)):
                off = [errors(dtype, wide(dtype, m[f"{dtype}.{i}{tag}"]), true)
                       for m in made]
                columns[2 * d + g] = " ".join(
                    f"{shown(numpy.where(counts, o, 0).max()):>6}" for o in off)
        print(f"{call:26}" + "".join(f"{c:>20}" for c in columns).rstrip())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2:])
    elif sys.argv[1:2] == ["--table"]:
        table(sys.argv[2] if len(sys.argv) > 2 else None,
              [call for call in calls() if call in TRUTHS])
    else:
        sys.exit(main(sys.argv[1:] or ["ref", "cpu", "cpu:sse2"]))

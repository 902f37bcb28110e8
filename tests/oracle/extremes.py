#!/usr/bin/env python3
"""Compares ops at the ends of their dtypes with PyTorch: at the largest number
and half of it, the smallest normal and subnormal numbers, zeros, infinities
and nan. Values and gradients are compared, each element by its own magnitude.

usage: extremes.py BACKEND...

An element is right if it is what PyTorch computes in the dtype itself (f16 and
bf16 in f32, rounded once), or what it computes in f64 and rounds: gt may be
more exact than PyTorch, but not less. The gradient of what is nan may be nan.
"""
import itertools
import sys

import torch
import torch.nn.functional as F

import pointwise
from gt import DTYPES, Tally, emit, parse_result, results_of, tensor_line, work
from lines import at_ends

# The bounds are relative to each element, and in steps of the smallest
# subnormal.
TOLERANCE = {"f64": 1e-14, "f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}
GRADIENT = {"f64": 1e-12, "f32": 1e-5, "f16": 8e-3, "bf16": 6e-2}
STEPS = 2
# So many units of the dtype's last place at 1 are lost where nearly equal
# numbers are subtracted, as in 1 - y * y.
LOST = 16
HALVES = ("f16", "bf16")


class Power(torch.autograd.Function):
    """torch.pow, but that the gradient of an even power has the sign of its base.
    PyTorch's has not where the exponent less 1 rounds to an even number."""

    @staticmethod
    def forward(context, a, b):
        context.save_for_backward(a, b)
        return torch.pow(a, b)

    @staticmethod
    def backward(context, g):
        a, b = (t.detach().requires_grad_() for t in context.saved_tensors)
        with torch.enable_grad():
            da, db = torch.autograd.grad(torch.pow(a, b), (a, b), g)
        even = (b / 2 == (b / 2).floor()) & (a < 0)
        return torch.where(even, -da.abs() * torch.sign(b * g), da), db


UNARY = {call: function
         for call, (function, _, _, order) in pointwise.UNARY.items() if order}
BINARY = {op: pointwise.BINARY[op][0] for op in (
    "add", "sub", "mul", "div", "maximum", "minimum")}
BINARY["pow"] = Power.apply
# These functions reduce the last dimension. Beyond the root of the largest
# number PyTorch's squares overflow, but for the answer in f64; scales.py has
# f64 there.
SQUARES = ("var", "layer_norm", "rms_norm", "mse")


def norm(x):
    """PyTorch's squares of f64 leave its range."""
    most = x.detach().abs().amax(-1, keepdim=True)
    scale = torch.ones_like(most)
    if x.dtype == torch.float64:
        scale[most < 1e-100], scale[most > 1e100] = 2.0 ** 600, 2.0 ** -600
    return torch.linalg.vector_norm(x * scale, dim=-1) / scale.squeeze(-1)


ROWS = {
    "softmax": ("softmax x", lambda x: torch.softmax(x, -1)),
    "log_softmax": ("log_softmax x", lambda x: torch.log_softmax(x, -1)),
    "norm": ("norm x axis=-1", norm),
    "var": ("var x axis=-1", lambda x: torch.var(x, -1)),
    "mean": ("mean x axis=-1", lambda x: torch.mean(x, -1)),
    "layer_norm": ("layer_norm x", lambda x: F.layer_norm(x, x.shape[-1:])),
    "rms_norm": ("rms_norm x", lambda x: x * torch.rsqrt(
        (x * x).mean(-1, keepdim=True) + 1e-5)),
    "mse": ("mse x 0.5 reduction=none", lambda x: (x - 0.5) ** 2),
}
MORE = {  # other lines that work point by point
    "gelu": ("gelu x approximate=tanh",
             lambda x: at_ends(
                 lambda x: F.gelu(x, approximate="tanh"), x)),
    # At a bound the gradient is 0, as in PyTorch 2.15; before it was 1.
    "clamp": ("clamp x -1 1", lambda x: torch.where(
        (x > -1) & (x < 1), x, torch.clamp(x, -1, 1).detach())),
    "pow 3": ("pow x 3", lambda x: torch.pow(x, 3)),
    # The exponent is a tensor: for the number 0.5 PyTorch takes the root, which
    # is nan for -inf.
    "pow 0.5": ("pow x 0.5", lambda x: torch.pow(x, torch.full_like(x, 0.5))),
    "pow -1": ("pow x -1", lambda x: torch.pow(x, -1)),
}


def ends(dtype):
    """Numbers at the ends of a dtype, and where functions change how they
    compute."""
    limits = torch.finfo(DTYPES[dtype])
    tiny = limits.tiny  # the smallest normal number
    sizes = [limits.max, limits.max * 0.51, limits.max * 0.49, limits.max ** 0.5,
             tiny ** 0.5, tiny * 2, tiny, tiny / 2, tiny * limits.eps,
             30.0, 12.0, 5.0, 1.0, 0.5, 0.0, float("inf")]
    both = [s * size for size in sizes for s in (1, -1)]
    return torch.tensor(both + [float("nan")], dtype=torch.float64).to(
        DTYPES[dtype])


def adamw(w, g, m, v):
    """The first step of torch.optim.AdamW with its defaults and rate 0.1."""
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w * (1 - 0.1 * 0.01) - 0.1 / 0.1 * m / (
        v.sqrt() / 0.001 ** 0.5 + 1e-8)


def cases(dtype):
    """Yields (name, line, inputs, function, whether it has a gradient)."""
    x = ends(dtype)
    for call, function in UNARY.items():
        yield call, f"y = {call}", {"x": x}, function, True
    for name, (line, function) in MORE.items():
        yield name, f"y = {line}", {"x": x}, function, True
    pairs = torch.tensor(list(itertools.product(x.tolist(), repeat=2)),
                         dtype=torch.float64).to(x.dtype)
    for op, function in BINARY.items():
        yield (op, f"y = {op} a b", {"a": pairs[:, 0], "b": pairs[:, 1]},
               function, dtype not in HALVES)
    shares = x[(x >= 0) & (x <= 1)]
    yield ("bce", "y = bce x 0.25 reduction=none", {"x": shares},
           lambda x: F.binary_cross_entropy(x, torch.full_like(x, 0.25),
                                            reduction="none"), True)
    zeros = torch.zeros_like(x)
    yield ("adamw", "y m v = adamw w g m v 1 0.1",
           {"w": x.flip(0), "g": x, "m": zeros, "v": zeros}, adamw, False)
    yield from row_cases(x)


def row_cases(x):
    low = x[x.abs() <= torch.finfo(x.dtype).max ** 0.5 / 4]
    for name, (line, function) in ROWS.items():
        doubles = x.dtype == torch.float64
        first = low if name in SQUARES and doubles else x
        others = torch.tensor([1.0, -0.5, 0.25], dtype=x.dtype)
        rows = torch.cat([first.reshape(-1, 1),
                          others.expand(len(first), 3)], 1)
        gradient = x.dtype in (torch.float32, torch.float64)
        yield name, f"y = {line}", {"x": rows}, function, gradient
        if name not in ("layer_norm", "rms_norm"):  # there the gradient is rounding
            alone = first.reshape(-1, 1).expand(-1, 4).contiguous()
            yield (f"{name} of equals", f"y = {line}", {"x": alone}, function,
                   False)
    yield ("norm of tiny equals", "y = norm x axis=-1",
           {"x": low[low.abs() < 1e-3].reshape(-1, 1).expand(-1, 4)
            .contiguous()}, ROWS["norm"][1], True)


def weights(shape):
    """Weights that differ within a row, so that gradients do not cancel."""
    each = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
    return each.expand(shape) if shape and shape[-1] == 4 else torch.ones(shape)


def answer(inputs, function, has_gradient, dtype, to):
    """Value and gradients, computed in `dtype` and rounded to `to`."""
    leaves = [t.to(dtype).clone().requires_grad_() for t in inputs.values()]
    y = function(*leaves)
    found = [y]
    if has_gradient:
        grads = torch.autograd.grad((y * weights(tuple(y.shape)).to(dtype))
                                    .sum(), leaves, allow_unused=True)
        found += [torch.zeros_like(x) if g is None else g
                  for g, x in zip(grads, leaves)]
    return [t.detach().to(to).double().reshape(-1) for t in found]


def near(have, want, relative, absolute):
    same = (have == want) | (have.isnan() & want.isnan())
    return same | ((have - want).abs() <= relative * want.abs() + absolute)


def problem(text, answers, value, inputs, dtype, name, is_gradient):
    if text is None:
        return "was not printed"
    kind, found = parse_result(text)
    if kind == "fail":
        return found
    have = torch.tensor(found, dtype=torch.float64).to(DTYPES[dtype]).double()
    limits = torch.finfo(DTYPES[dtype])
    relative = (GRADIENT if is_gradient else TOLERANCE)[dtype]
    if name == "bce" and dtype == "f64":
        relative = 1e-8  # PyTorch's least divisor is 1e-12 as an f32
    absolute = STEPS * limits.tiny * limits.eps
    if is_gradient:
        absolute += LOST * limits.eps
    elif name.startswith(("gelu", "log_softmax", "layer_norm")):
        wide = torch.float32 if dtype in HALVES else DTYPES[dtype]
        absolute += LOST * torch.finfo(wide).eps
    own, exact = answers
    fine = (near(have, own, relative, absolute) |
            near(have, exact, relative, absolute))
    if is_gradient and len(have) % len(value) == 0:
        fine |= have.isnan() & value.isnan().repeat_interleave(
            len(have) // len(value))
    if bool(fine.all()):
        return None
    i = int((~fine).nonzero()[0])
    each = len(have) // len(next(iter(inputs.values())))
    at = [t[i // each].reshape(-1)[0].item() for t in inputs.values()]
    return (f"at {at} is {have[i].item()!r}; PyTorch in {dtype} "
            f"{own[i].item()!r}, in f64 {exact[i].item()!r} "
            f"({int((~fine).sum())} such)")


def written(number, line, inputs, y, has_gradient):
    lines = [tensor_line(name, t) for name, t in inputs.items()]
    lines += [line, f"print y as=c{number}"]
    if not has_gradient:
        return lines
    grads = " ".join("g." + name for name in inputs)
    w = weights(y).to(next(iter(inputs.values())).dtype)
    lines += [tensor_line("w", w), "p = mul y w", "l = sum p",
              f"{grads} = grad l {' '.join(inputs)}"]
    return lines + [f"print g.{name} as=c{number}.{name}" for name in inputs]


def main(backends):
    torch.set_num_threads(1)
    tally = Tally()
    for dtype in ("f32", "f64", "f16", "bf16"):
        found = list(cases(dtype))
        own = torch.float32 if dtype in HALVES else DTYPES[dtype]
        answers = [[answer(inputs, function, gradient, d, DTYPES[dtype])
                    for d in (own, torch.float64)]
                   for _, _, inputs, function, gradient in found]
        lines = []
        for i, (_, line, inputs, function, gradient) in enumerate(found):
            y = tuple(function(*[t.double() for t in inputs.values()]).shape)
            lines += written(i, line, inputs, y, gradient)
        stream, _, status = emit("\n".join(lines) + "\n")
        tally.check("gt-emit's status", None if status == 0 else str(status))
        for backend in backends:
            results = results_of(work(stream, backend)[0])
            for i, (name, _, inputs, _, gradient) in enumerate(found):
                tags = ["", *("." + n for n in inputs if gradient)]
                for k, tag in enumerate(tags):
                    tally.check(f"{backend}: {name} {dtype}{tag}", problem(
                        results.get(f"c{i}{tag}"), [a[k] for a in answers[i]],
                        answers[i][1][0], inputs, dtype, name, bool(tag)))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["ref", "cpu"]))

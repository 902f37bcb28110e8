"""Cases of point-wise ops, comparisons, choice and activations."""
import itertools

import numpy
import torch
import torch.nn.functional as F

import lines
from cases import (ALL, DTYPES, FLOATS, HALVES, INTS, NUMBERS, Case, make,
                   random_pairs, random_shapes, values)

UNARY = lines.unary()
# op: function, dtypes, kinds of input, derivatives
BINARY = {
    "add": (torch.add, ALL, "normal", "normal", 2),
    "sub": (torch.sub, NUMBERS, "normal", "normal", 2),
    "mul": (torch.mul, ALL, "normal", "normal", 2),
    "div": (torch.div, ALL, "normal", "normal", 2),
    "pow": (torch.pow, FLOATS, "positive", "normal", 2),
    "mod": (torch.remainder, FLOATS, "normal", "positive", 2),
    "floordiv": (lambda a, b: torch.div(a, b, rounding_mode="floor"),
                 FLOATS, "normal", "positive", 1),
    "maximum": (torch.maximum, ALL, "normal", "normal", 2),
    "minimum": (torch.minimum, ALL, "normal", "normal", 2),
    "eq": (torch.eq, ALL, "whole", "whole", 0),
    "ne": (torch.ne, ALL, "whole", "whole", 0),
    "lt": (torch.lt, ALL, "whole", "whole", 0),
    "le": (torch.le, ALL, "whole", "whole", 0),
    "gt": (torch.gt, ALL, "whole", "whole", 0),
    "ge": (torch.ge, ALL, "whole", "whole", 0),
    "and": (torch.logical_and, ALL, "whole", "whole", 0),
    "or": (torch.logical_or, ALL, "whole", "whole", 0),
}


def unary_cases(rng):
    for call, (function, dtypes, kind, order) in UNARY.items():
        op, line = call.split(" ")[0], f"y = {call}"
        shapes = random_shapes(rng, 12)
        for i, shape in enumerate(shapes):
            yield from make(op, line, function, {"x": shape},
                            dtypes if i in (1, 3, 7) else FLOATS, kind, order)
        yield from make(op, line, function, {"x": (3, 5)}, HALVES, kind, 0)
        for kind in ("whole", "special"):
            yield from make(op, line, function, {"x": (23,)}, FLOATS, kind, 0)
    for op in ("floor", "ceil", "round"):  # halves go to the even number
        for case in make(op, f"y = {op} x", UNARY[op + " x"][0], {"x": (17,)},
                         FLOATS + HALVES, "whole", 1):
            case.inputs["x"] = case.inputs["x"] * 1.25 + 0.5
            case.tolerance = 0
            yield case
    for op in ("abs", "relu", "sign"):  # their gradient at 0
        yield from make(op, f"y = {op} x", UNARY[op + " x"][0], {"x": (9,)}, FLOATS,
                        "whole", 1)


def divisor(a, b):
    return torch.where(b == 0, torch.ones_like(b), b)


def binary_cases(rng):
    for op, (function, dtypes, left, right, order) in BINARY.items():
        kinds = {"a": left, "b": right}
        for i, (a, b) in enumerate(random_pairs(rng, 24)):
            yield from make(op, f"y = {op} a b", function, {"a": a, "b": b},
                            dtypes if i % 4 == 3 else FLOATS, kinds, order)
        yield from make(op, f"y = {op} a b", function,
                        {"a": (3, 5), "b": (5,)}, HALVES, kinds, 0)
        yield from make(op, f"y = {op} a a",
                        lambda a, f=function: f(a, a), {"a": (4,)}, FLOATS,
                        "positive", order if op not in ("mod", "floordiv",
                                                        "maximum", "minimum")
                        else 0)
        if op not in ("pow", "mod", "floordiv"):
            yield from make(op, f"y = {op} a b", function,
                            {"a": (61,), "b": (61,)}, FLOATS, "special", 0)
    for op in ("maximum", "minimum"):  # equal elements share the gradient
        yield from make(op, f"y = {op} a b", BINARY[op][0],
                        {"a": (11,), "b": (11,)}, FLOATS, "whole", 1)
    for op in ("mod", "floordiv"):
        for dtype in INTS:
            for case in make(op, f"y = {op} a b", BINARY[op][0],
                             {"a": (4, 6), "b": (6,)}, (dtype,), "int", 0):
                b = case.inputs["b"]
                case.inputs["b"] = divisor(None, b)
                yield case
    for dtype in INTS:
        yield from make("pow", "y = pow a b", torch.pow,
                        {"a": (9,), "b": (9,)}, (dtype,),
                        {"b": ("int", "u8")}, 0)


def literal_cases():
    for op in ("add", "sub", "mul", "div", "maximum", "minimum", "mod",
               "floordiv", "eq", "lt", "ge"):
        function, _, _, _, order = BINARY[op]
        number = {"maximum": 0, "minimum": 0}.get(op, 3)
        for k in (number, 0.75, -2):
            yield from make(op, f"y = {op} a {k}",
                            lambda a, f=function, k=k: f(*weak(a, k)),
                            {"a": (2, 3)},
                            NUMBERS if k == 3 else FLOATS + ("i64",),
                            "normal", order)
            yield from make(op, f"y = {op} {k} a",
                            lambda a, f=function, k=k: f(*weak(a, k)[::-1]),
                            {"a": (2, 3)}, FLOATS, "normal", order)
    for k in (0, 1, 2, 3, -1, 0.5, -0.5):
        yield from make("pow", f"y = pow a {k}",
                        lambda a, k=k: torch.pow(a, k), {"a": (5,)}, FLOATS,
                        "positive", 2)
    for k in (0, 1, 2, 3):
        yield from make("pow", f"y = pow a {k}",
                        lambda a, k=k: torch.pow(a, k), {"a": (7,)}, NUMBERS,
                        "whole", 1)
    for k in (2, 0.5):
        yield from make("pow", f"y = pow {k} a",
                        lambda a, k=k: torch.pow(k, a), {"a": (5,)}, FLOATS,
                        "normal", 2)


def weak(a, k):
    """A number beside a tensor: only its category takes part in the choice of
    the dtype."""
    dtype = torch.result_type(a, k)
    return a.to(dtype), torch.tensor(k, dtype=dtype)


def promotion_cases(rng):
    """Every pair of dtypes, and scalars with tensors."""
    functions = {"add": torch.add, "maximum": torch.maximum, "eq": torch.eq,
                 "div": torch.div}
    for left, right in itertools.product(DTYPES, DTYPES):
        for op, function in functions.items():
            for a, b in (((3,), (3,)), ((), (3,)), ((3,), ())):
                inputs = {"a": values(rng, "bool", a, left),
                          "b": values(rng, "bool", b, right)}
                if op == "div":
                    inputs["b"] = torch.ones_like(inputs["b"])
                yield Case(op, f"y = {op} a b", function, inputs,
                           name=f"{op} {left}{list(a)} {right}{list(b)}")
        inputs = {"c": torch.tensor([True, False, True]),
                  "a": values(rng, "bool", (3,), left),
                  "b": values(rng, "bool", (3,), right)}
        yield Case("where", "y = where c a b", torch.where, inputs,
                   name=f"where {left} {right}")


def cast_cases(rng):
    for source, target in itertools.product(DTYPES, DTYPES):
        x = values(rng, "whole" if source != "u8" else "bool", (7,), source)
        if source in ("f32", "f64", "f16", "bf16"):
            x = x * 1.375
            if target == "u8":
                x = x.abs()
        order = 1 if source in FLOATS and target in FLOATS else 0
        yield Case("cast", f"y = cast x {target}",
                   lambda x, t=target: x.to(DTYPES[t]), {"x": x},
                   ["x"] if order else [], order,
                   name=f"cast {source} {target}", smooth=False)
    for target, low, high in (("i64", -2**63, 2**63 - 1),
                              ("i32", -2**31, 2**31 - 1), ("u8", 0, 255)):
        x = torch.tensor([1e30, -1e30, numpy.inf, -numpy.inf, numpy.nan, -0.9])
        want = torch.tensor([high, low, high, low, 0, 0]).to(DTYPES[target])
        yield Case("cast", f"y = cast x {target}", lambda x, w=want: w,
                   {"x": x}, name=f"cast saturates to {target}")
    yield Case("cast", "y = cast x i32", lambda x: x.to(torch.int32),
               {"x": torch.tensor([2**40 + 5, -2**33 - 1, 2**31])},
               name="cast wraps")


def choice_cases(rng):
    for c, a, b in (((4,), (4,), (4,)), ((3, 1), (1, 4), ()), ((0,), (1,), ()),
                    ((2, 3), (3,), (2, 1)), ((), (5,), (5,))):
        kinds = {"c": ("bool", "bool")}
        yield from make("where", "y = where c a b", torch.where,
                        {"c": c, "a": a, "b": b}, ALL, kinds, 2)
        yield from make("where", "y = where c a 0",
                        lambda c, a: torch.where(c, a, torch.zeros_like(a)),
                        {"c": c, "a": a}, FLOATS, kinds, 2)
    for shape in ((), (0,), (1,), (17,), (3, 5)):
        yield from make("clamp", "y = clamp x -0.5 0.75",
                        lambda x: clamped(x, -0.5, 0.75), {"x": shape},
                        FLOATS, "normal", 2)
        yield from make("clamp", "y = clamp x -1 2",
                        lambda x: clamped(x, -1, 2), {"x": shape},
                        NUMBERS[:-1], "whole", 1)
        if shape != ():  # PyTorch 1.13 fails to differentiate that
            yield from make("clamp", "y = clamp x lo hi", torch.clamp,
                            {"x": shape, "lo": (1,), "hi": ()}, FLOATS,
                            "normal", 2)
    yield from make("clamp", "y = clamp x -1 2",
                    lambda x: clamped(x, -1, 2), {"x": (23,)}, FLOATS,
                    "special", 0)


def gradient_op_cases():
    """Ops that only gradients use, against PyTorch's own backward
    functions."""
    pairs = {"g": (3, 5), "x": (3, 5)}
    yield from make("relu_grad", "z = relu_grad g x",
                    lambda g, x: g * (x > 0), pairs, FLOATS, "normal", 2)
    yield from make("silu_grad", "z = silu_grad g x",
                    lambda g, x: g * torch.sigmoid(x) * (
                        1 + x * (1 - torch.sigmoid(x))),
                    pairs, FLOATS, "normal", 2)
    for how in ("none", "tanh"):
        yield from make(
            "gelu_grad", f"z = gelu_grad g x approximate={how}",
            lambda g, x, how=how: gelu_grad(g, x, how), pairs, FLOATS,
            "normal", 2)
        yield from make("gelu", f"y = gelu x approximate={how}",
                        lambda x, how=how: F.gelu(x, approximate=how),
                        {"x": (4, 3)}, FLOATS, "normal", 2)
    for op, function in (
            ("tanh", torch.tanh), ("sigmoid", torch.sigmoid),
            ("erf", torch.erf), ("mish", F.mish)):
        yield from make(f"{op}_grad", f"z = {op}_grad g x",
                        lambda g, x, f=function: g * slope(f, x),
                        {"g": (4,), "x": (4,)}, FLOATS, "normal", 2)
    yield from make("rsqrt_grad", "z = rsqrt_grad g x",
                    lambda g, x: -g / 2 * x ** -1.5, {"g": (4,), "x": (4,)},
                    FLOATS, "positive", 2)
    yield from make("atan2_grad", "z = atan2_grad g a b",
                    lambda g, a, b: g * b / (a * a + b * b),
                    {"g": (4,), "a": (4,), "b": (4,)}, FLOATS, "normal", 2)
    yield from make("bce_grad", "z = bce_grad g x t",
                    lambda g, x, t: g * (x - t) / (x * (1 - x)),
                    {"g": (4,), "x": (4,), "t": (4,)}, FLOATS, "unit", 2)
    yield from make("bce_target_grad", "z = bce_target_grad g x",
                    lambda g, x: -g * torch.log(x / (1 - x)),
                    {"g": (4,), "x": (4,)}, FLOATS, "unit", 2)
    three = {"g": (3, 5), "a": (3, 5), "b": (3, 5)}

    def share(g, a, b):
        return torch.where(a > b, g, torch.where(a == b, g / 2, 0 * g))
    yield from make("maximum_grad", "z = maximum_grad g a b", share, three,
                    FLOATS, "normal", 2)
    yield from make("maximum_grad", "z = maximum_grad g a b", share, three,
                    FLOATS, {"a": "whole", "b": "whole"}, 0)
    yield from make("clamp_grad", "z = clamp_grad g x -0.5 0.5",
                    lambda g, x: g * ((x > -0.5) & (x < 0.5)), pairs,
                    FLOATS, "normal", 2)


def slope(function, x):
    """The derivative, with a history of its own."""
    if not x.requires_grad:
        x = x.detach().requires_grad_()
    return torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]


def clamped(x, low, high):
    """clamp, whose gradient at a bound is 0, as in PyTorch 2.15; before it was 1."""
    return torch.where((x > low) & (x < high), x, x.clamp(low, high).detach())


def gelu_grad(g, x, how):
    if how == "none":
        share = 0.5 * (1 + torch.erf(x / 2 ** 0.5))
        return g * (share + x * torch.exp(-x * x / 2) / (2 * numpy.pi) ** 0.5)
    k = (2 / numpy.pi) ** 0.5
    t = torch.tanh(k * (x + 0.044715 * x ** 3))
    inner = k * (1 + 3 * 0.044715 * x * x)
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner)


def cases():
    rng = numpy.random.default_rng(1)
    yield from unary_cases(rng)
    yield from binary_cases(rng)
    yield from literal_cases()
    yield from promotion_cases(rng)
    yield from cast_cases(rng)
    yield from choice_cases(rng)
    yield from gradient_op_cases()

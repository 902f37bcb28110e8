"""A case is one line of gt, its inputs, and PyTorch's function for it."""
import dataclasses
import zlib
from typing import Callable

import numpy
import torch

from gt import DTYPES, NAMES
from ops_table import ALL, FLOATS, HALVES, INTS, NUMBERS  # noqa: F401


def values(rng, kind, shape, dtype):
    """A tensor of a kind: values where the function is smooth, or where it is
    not."""
    shape = tuple(shape)
    if kind == "int":
        data = rng.integers(0 if dtype == "u8" else -9, 10, shape)
    elif kind == "bool":
        data = rng.integers(0, 2, shape)
    elif kind == "positive":
        data = rng.uniform(0.4, 2.5, shape)
    elif kind == "unit":
        data = rng.uniform(0.05, 0.95, shape)
    elif kind == "whole":  # floats with ties, zeros and both signs
        data = rng.integers(-2, 3, shape)
    elif kind == "special":
        data = rng.choice(
            [numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1.0, -1.0, 2.5,
             -2.5, 1e-38, 3e38, -3e38, 88.0, -104.0], shape)
    else:
        data = rng.normal(0, 1, shape)
        data += numpy.where(data < 0, -0.05, 0.05)  # off the kinks at 0
    return torch.tensor(data).to(DTYPES[dtype])


def natural(kind, dtype):
    """The kind of values for a dtype: integers and bools have their own."""
    if "bool" in (dtype, kind):
        return "bool"
    return "int" if dtype in ("i64", "i32", "u8") else kind


@dataclasses.dataclass
class Case:
    """inputs by name, in the order of the function's parameters."""
    op: str
    line: str
    function: Callable
    inputs: dict
    targets: list = dataclasses.field(default_factory=list)
    order: int = 0  # so many derivatives are compared
    tolerance: float = None
    name: str = ""
    before: str = ""  # lines that come first
    smooth: bool = True  # so near the inputs that differences tell a slope
    half: bool = False  # the exact function, rounded once, is expected
    wide_results: tuple = ("lse",)  # results that stay wide for half types

    def results(self):
        return self.line.split(" = ")[0].split()


def make(op, line, function, shapes, dtypes=("f64", "f32"), kinds="normal",
         order=2, tolerance=None):
    """Makes a case for each dtype. Shapes are given by the inputs' names, and
    kinds as one or by name."""
    found = []
    for dtype in dtypes:
        inputs, targets = {}, []
        seed = zlib.crc32(f"{line} {shapes} {dtype} {kinds}".encode())
        rng = numpy.random.default_rng(seed)
        for name, shape in shapes.items():
            kind = kinds if isinstance(kinds, str) else kinds.get(
                name, "normal")
            own = dtype
            if isinstance(kind, tuple):  # a dtype of its own, or a tensor
                kind, own = kind
            if kind == "index":
                limit, own = own, "i64"
                data = rng.integers(0, max(limit, 1), shape)
                inputs[name] = torch.tensor(data)
                continue
            inputs[name] = values(rng, natural(kind, own), shape, own)
            if inputs[name].is_floating_point():
                targets.append(name)
        real = order if targets else 0
        if dtype in HALVES:  # the exact gradient, but for each line's rounding
            real = min(real, 1)
        found.append(Case(
            op, line, function, inputs, targets if real else [], real,
            tolerance, f"{line} {shapes} {dtype} {kinds}",
            smooth="whole" not in str(kinds), half=dtype in HALVES))
    return found


def random_shapes(rng, count):
    """Shapes of 0 to 4 dimensions, with sizes 0 and 1 among them."""
    found = [(), (0,), (1,), (7,)]
    while len(found) < count:
        rank = int(rng.integers(1, 5))
        found.append(tuple(int(n) for n in rng.choice(
            [0, 1, 2, 3, 4, 5, 7], rank, p=[.06, .16, .2, .2, .16, .16, .06])))
    return found


def random_pairs(rng, count):
    """Pairs of shapes that broadcast."""
    found = [((), ()), ((), (3,)), ((0,), (1,)), ((1,), (5,)),
             ((2, 0, 3), (1, 3)), ((3, 1), (1, 4)), ((5,), (2, 3, 5))]
    while len(found) < count:
        rank = int(rng.integers(1, 5))
        whole = rng.choice([0, 1, 2, 3, 5], rank, p=[.05, .2, .25, .3, .2])
        pair = []
        for _ in range(2):
            shape = [1 if rng.random() < 0.3 else int(n) for n in whole]
            drop = int(rng.integers(0, rank + 1)) if rng.random() < 0.3 else 0
            pair.append(tuple(shape[drop:]))
        found.append(tuple(pair))
    return found


def dtype_of(tensor):
    return NAMES[tensor.dtype]

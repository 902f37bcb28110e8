"""Cases of the lines of tests/ops.tsv that say what PyTorch calls them."""
import torch
import torch.nn.functional as F

from cases import make
from ops_table import HALVES, ops, rows

SIZES = ({"M": 3, "N": 5, "K": 4}, {"M": 1, "N": 2, "K": 1},
         {"M": 7, "N": 4, "K": 2})


def absolute(x):
    """torch.abs, whose second derivative is wrong in PyTorch 1.13."""
    if x.requires_grad:
        return x * torch.sign(x.detach())
    return torch.abs(x)


def log1p(x):
    """torch.log1p, which gives inf for 3e38 in f32 in PyTorch 1.13."""
    if x.dtype == torch.float32:
        return torch.log1p(x.double()).float()
    return torch.log1p(x)


def whole(function, x):
    """Rounds floats; PyTorch 1.13 has no such function for integers."""
    return function(x) if x.is_floating_point() else x.clone()


def at_ends(function, x):
    """An activation that goes to 0 far below 0, and to x far above: in PyTorch
    it, or its gradient, is nan at an end, where 0 is multiplied by inf."""
    low, high = x < -1000, x > 1000
    y = function(torch.where(low | high, torch.zeros_like(x), x))
    return torch.where(low, torch.zeros_like(y), torch.where(high, x, y))


def max_pool2d_pick(d, x, size, stride, padding):
    """The elements of d at the places of the largest elements of x's
    windows."""
    _, at = F.max_pool2d(x.detach(), size, stride, padding,
                         return_indices=True)
    return d.flatten(2).gather(2, at.flatten(2)).reshape(at.shape)


def max_pool2d_grad(g, x, size, stride, padding):
    _, at = F.max_pool2d(x.detach(), size, stride, padding,
                         return_indices=True)
    return torch.zeros_like(x).flatten(2).scatter_add(
        2, at.flatten(2), g.flatten(2)).reshape(x.shape)


def adjoint(linear, shape, g):
    """The gradient of a linear function of a tensor of that shape."""
    x = torch.zeros(shape, dtype=g.dtype, requires_grad=True)
    return torch.autograd.grad(linear(x), x, g, create_graph=True)[0]


def function(row):
    names = ", ".join(row.operands)
    return eval(f"lambda {names}: {row.torch}", globals())


def unary():
    """Functions of one tensor, point by point: call: (function, dtypes, kind of
    input, derivatives)."""
    table, found = ops(), {}
    for row in rows():
        if not row.torch or list(row.operands) != ["x"]:
            continue
        op = table[row.op]
        if op["index"] != "...->...":
            continue
        dtypes = tuple(d for d in row.dtypes if d not in HALVES)
        found[row.call] = (function(row), dtypes, row.kinds()["x"],
                           2 if op["gradient"] else 0)
    return found


def cases():
    """The cases of all lines that unary() leaves out."""
    table, single = ops(), unary()
    for row in rows():
        if not row.torch or row.call in single:
            continue
        order = 2 if table[row.op]["gradient"] else 0
        for sizes in SIZES:
            line = row.line
            for name, size in sizes.items():
                line = line.replace("$" + name, str(size))
            yield from make(row.op, line, function(row), row.shapes(sizes),
                            row.dtypes, row.kinds(), order)

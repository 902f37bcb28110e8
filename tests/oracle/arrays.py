"""Cases of reductions, ordering, layout and indexing."""
import numpy
import torch
import torch.nn.functional as F

from cases import ALL, FLOATS, HALVES, INTS, NUMBERS, Case, make, values
from gt import DTYPES
from lines import absolute

SHAPES = [(5,), (1,), (3, 4), (2, 1, 5), (0, 3), (3, 0), (2, 3, 4)]


def axes_of(axis, rank):
    """The axes that an axis= names, or all axes if there is none."""
    if axis is None:
        return tuple(range(rank))
    return tuple(int(a) for a in str(axis).split(","))


def key(axis):
    return "" if axis is None else f" axis={axis}"


def each(function):
    """Makes a reduction over several axes out of one over one axis."""
    def run(x, dims, keep):
        if x.dim() == 0:
            x, dims, keep = x.reshape(1), (0,), False
        for d in sorted((d % max(x.dim(), 1) for d in dims), reverse=True):
            x = function(x, d, keep)
        return x
    return run


def norm(order):
    """In f64, since PyTorch's squares of f32 leave its range."""
    return lambda x, dims, keep: torch.linalg.vector_norm(
        x.double(), order, dim=dims, keepdim=keep).to(x.dtype)


def fractional_var(x, dims, keep):
    """The variance with correction 0.5: the same sum divided by n - 0.5, since
    PyTorch's correction= is an integer."""
    n = int(numpy.prod([x.shape[d] for d in dims])) if dims else 1
    whole = torch.var(x, dims, unbiased=False, keepdim=keep) * n
    return whole / max(n - 0.5, 0.0) if n else whole + numpy.nan


# op and keys: function of x, axes and keepdims; dtypes; derivatives
REDUCTIONS = [
    ("sum", "", lambda x, d, k: torch.sum(x, d, k) if d else x.clone(), ALL,
     2),
    ("mean", "", lambda x, d, k: torch.mean(x, d, k) if d else x.clone(),
     FLOATS, 2),
    ("max", "", lambda x, d, k: torch.amax(x, d, k), ALL, 2),
    ("min", "", lambda x, d, k: torch.amin(x, d, k), ALL, 2),
    ("prod", "", each(torch.prod), ALL, 2),
    ("any", "", each(lambda x, d, k: torch.any(x.bool(), d, k)), ALL, 0),
    ("all", "", each(lambda x, d, k: torch.all(x.bool(), d, k)), ALL, 0),
    ("var", "", lambda x, d, k: torch.var(x, d, unbiased=True, keepdim=k),
     FLOATS, 2),
    ("var", " correction=0",
     lambda x, d, k: torch.var(x, d, unbiased=False, keepdim=k), FLOATS, 2),
    ("var", " correction=0.5", fractional_var, FLOATS, 2),
    ("std", "", lambda x, d, k: torch.std(x, d, unbiased=True, keepdim=k),
     FLOATS, 2),
    ("std", " correction=0",
     lambda x, d, k: torch.std(x, d, unbiased=False, keepdim=k), FLOATS, 2),
    ("norm", "", norm(2), FLOATS, 2),
    ("norm", " ord=1", lambda x, d, k: torch.sum(absolute(x), d, k) if d
     else absolute(x), FLOATS, 2),
    ("norm", " ord=inf", norm(float("inf")), FLOATS, 1),
]
SPREADS = ("var", "std")
CHOICES = ("max", "min", "argmax", "argmin")


def chosen_from(shape, axis):
    """Whether there are elements along the axes to choose from."""
    return all(shape[d] > 0 for d in axes_of(axis, len(shape)))


def too_few(shape, axis):
    n = 1
    for d in axes_of(axis, len(shape)):
        n *= shape[d]
    return n < 2


def reduction_cases():
    for op, keys, function, dtypes, order in REDUCTIONS:
        for shape in SHAPES + [()]:
            rank = len(shape)
            for axis in [None, 0, -1, "0,-1", "1"]:
                if axis is not None and (
                        rank == 0 or (axis in ("0,-1", "1") and rank < 2)):
                    continue
                if (op in CHOICES or "inf" in keys) and not chosen_from(
                        shape, axis):
                    continue
                if rank == 0 and op in SPREADS:
                    continue
                dims = axes_of(axis, rank)
                keep = axis in (-1, "1")
                tail = keys + key(axis) + (" keepdims=1" if keep else "")
                own = 0 if op in SPREADS and too_few(shape, axis) else order
                yield from make(
                    op, f"y = {op} x{tail}",
                    lambda x, f=function, d=dims, k=keep: f(x, d, k),
                    {"x": shape},
                    dtypes if shape in ((3, 4), (0, 3)) else FLOATS,
                    "normal", own)
        yield from make(op, f"y = {op} x{keys} axis=1",
                        lambda x, f=function: f(x, (1,), False),
                        {"x": (3, 4)}, HALVES, "normal", 0)
        yield from make(op, f"y = {op} x{keys} axis=0",
                        lambda x, f=function: f(x, (0,), False),
                        {"x": (3, 5)}, FLOATS, "special", 0)
    for op, function in (("max", torch.amax), ("min", torch.amin)):
        yield from make(op, f"y = {op} x axis=-1",
                        lambda x, f=function: f(x, -1), {"x": (4, 6)}, FLOATS,
                        "whole", 1)
    for shape in ((4,), (3, 5)):  # sizes with zeros, ones and more
        yield from make("prod", "y = prod x axis=-1",
                        lambda x: torch.prod(x, -1), {"x": shape}, FLOATS,
                        "whole", 1)


def index_reduction_cases():
    for op, function in (("argmax", torch.argmax), ("argmin", torch.argmin)):
        for shape in SHAPES:
            for axis in (None, 0, -1):
                if not chosen_from(shape, axis):
                    continue
                yield from make(op, f"y = {op} x{key(axis)}",
                                lambda x, f=function, a=axis: f(x, a),
                                {"x": shape}, NUMBERS + HALVES, "normal", 0)
        yield from make(op, f"y = {op} x axis=1 keepdims=1",
                        lambda x, f=function: f(x, 1, True), {"x": (3, 4)},
                        FLOATS, "normal", 0)
        pick = numpy.argmax if op == "argmax" else numpy.argmin
        for kind in ("whole", "special"):  # the first of equals; nan wins
            yield from make(op, f"y = {op} x axis=-1",
                            lambda x, f=pick: torch.tensor(f(x.numpy(), -1)),
                            {"x": (5, 9)}, FLOATS, kind, 0)
    for shape in SHAPES:
        for axis in (0, -1):
            yield from make("cumsum", f"y = cumsum x axis={axis}",
                            lambda x, a=axis: torch.cumsum(x, a),
                            {"x": shape}, ALL + HALVES, "normal", 2)


def ordering_cases():
    for shape in SHAPES:
        for axis in (0, -1):
            for down in (0, 1):
                tail = f" axis={axis}" + (" descending=1" if down else "")
                for kind in ("normal", "whole"):
                    def sort(x, a=axis, d=bool(down)):
                        return torch.sort(x, dim=a, descending=d, stable=True)
                    yield from make("sort", f"v i = sort x{tail}", sort,
                                    {"x": shape}, NUMBERS + HALVES, kind,
                                    2 if kind == "normal" else 1)
                    yield from make("argsort", f"i = argsort x{tail}",
                                    lambda x, f=sort: f(x)[1], {"x": shape},
                                    NUMBERS + HALVES, kind, 0)
            for size in (0, 1, shape[axis]):
                if size > shape[axis]:
                    continue
                yield from make(
                    "topk", f"v i = topk x axis={axis} size={size}",
                    lambda x, a=axis, s=size: tuple(
                        t.narrow(a, 0, s) for t in torch.sort(
                            x, dim=a, descending=True, stable=True)),
                    {"x": shape}, NUMBERS + HALVES, "normal", 2)
    yield from make("sort", "v i = sort x",
                    lambda x: torch.sort(x, stable=True), {"x": (3, 9)},
                    FLOATS, "special", 0)


def layout_cases():
    table = [
        ("reshape", "shape=2,-1", lambda x: x.reshape(2, -1), (3, 4)),
        ("reshape", "shape=12", lambda x: x.reshape(12), (3, 4)),
        ("reshape", 'shape=""', lambda x: x.reshape(()), (1, 1)),
        ("reshape", "shape=1,1", lambda x: x.reshape(1, 1), ()),
        ("reshape", "shape=3,0,2", lambda x: x.reshape(3, 0, 2), (0, 5)),
        ("squeeze", "", torch.squeeze, (1, 3, 1)),
        ("squeeze", "", torch.squeeze, ()),
        ("squeeze", "axis=-1", lambda x: x.squeeze(-1), (1, 3, 1)),
        ("squeeze", "axis=1", lambda x: x.squeeze(1), (1, 3, 1)),
        ("squeeze", "axis=0,2", lambda x: x.squeeze(2).squeeze(0), (1, 3, 1)),
        ("unsqueeze", "axis=0", lambda x: x.unsqueeze(0), (2, 3)),
        ("unsqueeze", "axis=-1", lambda x: x.unsqueeze(-1), (2, 3)),
        ("unsqueeze", "axis=-1", lambda x: x.unsqueeze(-1), ()),
        ("unsqueeze", "axis=0,2", lambda x: x.unsqueeze(0).unsqueeze(2),
         (2, 3)),
        ("transpose", "", lambda x: x.permute(2, 1, 0), (2, 3, 4)),
        ("transpose", "", lambda x: x.clone(), (5,)),
        ("transpose", "", lambda x: x.clone(), ()),
        ("transpose", "axes=1,-1,0", lambda x: x.permute(1, 2, 0), (2, 0, 4)),
        ("transpose", "axes=0,2,1", lambda x: x.permute(0, 2, 1), (2, 3, 4)),
        ("expand", "shape=4,3", lambda x: x.expand(4, 3), (3,)),
        ("expand", "shape=2,-1,5", lambda x: x.expand(2, 3, 5), (3, 1)),
        ("expand", "shape=2,0", lambda x: x.expand(2, 0), (2, 1)),
        ("expand", "shape=3,2", lambda x: x.expand(3, 2), ()),
        ("flip", "", lambda x: x.flip((0, 1)), (3, 4)),
        ("flip", "", lambda x: x.clone(), ()),
        ("flip", "axis=-1", lambda x: x.flip(-1), (2, 3, 4)),
        ("flip", "axis=0,2", lambda x: x.flip((0, 2)), (2, 3, 4)),
        ("flip", "axis=0", lambda x: x.flip(0), (0, 2)),
        ("pad", "width=1,2", lambda x: F.pad(x, (1, 2)), (4,)),
        ("pad", "width=0,1,2,0 value=-1.5",
         lambda x: F.pad(x, (2, 0, 0, 1), value=-1.5), (2, 3)),
        ("pad", "width=-1,0,0,-2", lambda x: F.pad(x, (0, -2, -1, 0)),
         (3, 5)),
        ("pad", "width=-1,2,1,-2", lambda x: F.pad(x, (1, -2, -1, 2)),
         (3, 5)),
        ("pad", "width=1,1", lambda x: F.pad(x, (1, 1)), (0,)),
    ]
    for op, tail, function, shape in table:
        dtypes = FLOATS if "value" in tail else ALL + HALVES
        yield from make(op, f"y = {op} x {tail}".rstrip(), function,
                        {"x": shape}, dtypes, "normal", 2)


def slice_cases():
    table = [
        ("1:3", lambda x: x[1:3], (5, 4)),
        ("::2 1", lambda x: x[::2, 1], (5, 4)),
        (": -1", lambda x: x[:, -1], (5, 4)),
        ("-3:-1 1::2", lambda x: x[-3:-1, 1::2], (5, 4)),
        ("3:1", lambda x: x[3:1], (5, 4)),
        ("-99:99", lambda x: x[-99:99], (5, 4)),
        ("0 1 2", lambda x: x[0, 1, 2], (2, 3, 4)),
        (": : 3", lambda x: x[:, :, 3], (2, 3, 4)),
        (":", lambda x: x[:], (0, 4)),
        ("2 axis=1 size=2", lambda x: x[:, 2:4], (5, 4)),
        ("0 axis=-1 size=0", lambda x: x[:, 0:0], (5, 4)),
        ("n axis=0 size=3", lambda x, n: x[int(n):int(n) + 3], (5, 4)),
    ]
    for tail, function, shape in table:
        shapes = {"x": shape}
        kinds = {}
        if tail.startswith("n "):
            shapes["n"] = ()
            kinds["n"] = ("index", 3)
        yield from make("slice", f"y = slice x {tail}", function, shapes,
                        ALL + HALVES, kinds or "normal", 2)


def joining_cases():
    for a, b, axis in (((2, 3), (4, 3), 0), ((2, 3), (2, 1), -1),
                       ((0, 3), (2, 3), 0), ((2, 3, 1), (2, 0, 1), 1),
                       ((4,), (3,), 0)):
        yield from make("concat", f"y = concat a b a axis={axis}",
                        lambda a, b, d=axis: torch.cat((a, b, a), d),
                        {"a": a, "b": b}, ALL + HALVES, "normal", 2)
    yield from make("concat", "y = concat a b", lambda a, b: torch.cat(
        (a.to(torch.result_type(a, b)), b.to(torch.result_type(a, b)))),
                    {"a": (2,), "b": (3,)}, FLOATS + ("i64",),
                    {"b": ("normal", "f32")}, 1)
    yield from make("concat", "y = concat a", torch.clone, {"a": (2, 3)},
                    FLOATS, "normal", 2)
    for shape, axis in (((2, 3), 0), ((2, 3), -1), ((), 0), ((0,), 1),
                        ((2, 3), 1)):
        yield from make("stack", f"y = stack a b axis={axis}",
                        lambda a, b, d=axis: torch.stack((a, b), d),
                        {"a": shape, "b": shape}, ALL + HALVES, "normal", 2)
    table = [
        ("a b = split x", lambda x: torch.tensor_split(x, 2), (4, 3)),
        ("a b c = split x axis=-1", lambda x: torch.tensor_split(x, 3, -1),
         (4, 3)),
        ("a b = split x axis=1 sizes=3,1", lambda x: x.split([3, 1], 1),
         (2, 4)),
        ("a b = split x axis=0 sizes=0,2", lambda x: x.split([0, 2], 0),
         (2, 4)),
        ("a b = split x", lambda x: torch.tensor_split(x, 2), (0, 3)),
        ("a = split x", lambda x: (x.clone(),), (2,)),
    ]
    for line, function, shape in table:
        yield from make("split", line, function, {"x": shape}, ALL + HALVES,
                        "normal", 2)


def gather_cases(rng):
    for shape, index, axis in (((5, 3), (4, 3), 0), ((5, 3), (5, 7), 1),
                               ((5, 3), (2, 2), -1), ((6,), (9,), 0),
                               ((6,), (0,), 0), ((2, 3, 4), (1, 3, 6), 2),
                               ((2, 3, 4), (2, 5, 4), -2)):
        for dtype in ALL + HALVES:
            x = values(rng, "normal" if dtype in FLOATS else "bool", shape,
                       dtype)
            i = torch.tensor(rng.integers(0, shape[axis], index))
            src = values(rng, "normal" if dtype in FLOATS else "bool", index,
                         dtype)
            order = 2 if dtype in FLOATS else 0
            name = f"{shape} {index} axis={axis} {dtype}"
            yield Case("gather", f"y = gather x i axis={axis}",
                       lambda x, i, d=axis: torch.gather(x, d, i),
                       {"x": x, "i": i}, ["x"] if order else [], order,
                       name="gather " + name)
            if dtype == "bool":
                src = values(rng, "bool", index, "bool")
                yield Case("scatter_add", f"y = scatter_add x i s axis={axis}",
                           lambda x, i, s, d=axis: torch.scatter_add(
                               x.long(), d, i, s.long()).bool(),
                           {"x": x, "i": i, "s": src},
                           name="scatter_add " + name)
                continue
            yield Case("scatter_add", f"y = scatter_add x i s axis={axis}",
                       lambda x, i, s, d=axis: torch.scatter_add(x, d, i, s),
                       {"x": x, "i": i, "s": src},
                       ["x", "s"] if order else [], order,
                       name="scatter_add " + name)
    for ids in ((), (0,), (4,), (2, 3)):
        kinds = {"ids": ("index", 5)}
        yield from make("embedding", "y = embedding t ids",
                        lambda t, ids: F.embedding(ids, t),
                        {"t": (5, 3), "ids": ids}, FLOATS, kinds, 2)

        def table_grad(g, ids):
            flat = g.reshape(-1, 3)
            return torch.zeros(5, 3, dtype=g.dtype).index_add(
                0, ids.reshape(-1), flat)
        yield from make("embedding_grad", "z = embedding_grad g ids rows=5",
                        table_grad, {"g": ids + (3,), "ids": ids}, FLOATS,
                        kinds, 2)
    yield from make("embedding", "y = embedding t ids",
                    lambda t, ids: F.embedding(ids.long(), t),
                    {"t": (5, 3), "ids": (4,)}, HALVES,
                    {"ids": ("bool", "u8")}, 0)


def numpy_take(x, i, axis):
    """numpy.take: PyTorch's functions lack negative indices."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis %= x.dim()
    i = torch.where(i < 0, i + x.shape[axis], i).long()
    picked = torch.index_select(x, axis, i.reshape(-1))
    return picked.reshape(x.shape[:axis] + i.shape + x.shape[axis + 1:])


def take_cases(rng):
    """Indices out of order, repeated, and from the end."""
    for shape, index, axis in (
            ((5, 3), (4,), 0), ((5, 3), (2, 3), 0), ((5, 3), (), 0),
            ((5, 3), (7,), 1), ((5, 3), (2, 2), -1), ((6,), (9,), 0),
            ((6,), (3,), None), ((6,), (2, 2), None), ((2, 3), (4,), None),
            ((6, 2), (0,), 0), ((2, 3, 4), (5,), 1), ((2, 3, 4), (2, 1), -2),
            ((2, 0, 4), (0,), 1), ((0, 3), (2,), 1), ((2, 3, 0), (4,), 1)):
        size = (numpy.prod(shape, dtype=int) if axis is None else shape[axis])
        for dtype in ALL + HALVES:
            x = values(rng, "normal" if dtype in FLOATS else "bool", shape,
                       dtype)
            least = -size if dtype != "u8" else 0
            i = torch.tensor(rng.integers(least, max(size, 1), index))
            order = 2 if dtype in FLOATS else 1 if dtype in HALVES else 0
            tail = "" if axis is None else f" axis={axis}"
            yield Case("take", f"y = take x i{tail}",
                       lambda x, i, a=axis: numpy_take(x, i, a),
                       {"x": x, "i": i}, ["x"] if order else [], order,
                       half=dtype in HALVES,
                       name=f"take {shape} {index}{tail} {dtype}")
    for number, tail in ((-1, " axis=1"), (0, " axis=0"), (4, "")):
        yield from make(
            "take", f"y = take x {number}{tail}",
            lambda x, n=number, t=tail: numpy_take(
                x, torch.tensor(n), int(t[-1]) if t else None),
            {"x": (3, 4)}, FLOATS, "normal", 2)
    yield from make("take", "y = take x i axis=0",
                    lambda x, i: numpy_take(x, i.long(), 0),
                    {"x": (5, 3), "i": (4,)}, FLOATS,
                    {"i": ("bool", "u8")}, 2)
    for g, index, axis in (((4, 3), (4,), 0), ((2, 2, 3), (2, 2), 0),
                           ((3, 4), (4,), 1), ((3, 4, 2), (4,), -2),
                           ((3,), (), 0), ((0, 3), (0,), 0)):
        def take_grad(g, i, a=axis):
            a = a % (g.dim() + 1 - i.dim())
            flat = g.reshape(g.shape[:a] + (i.numel(),)
                             + g.shape[a + i.dim():])
            zeros = torch.zeros(flat.shape[:a] + (5,) + flat.shape[a + 1:],
                                dtype=g.dtype)
            return zeros.index_add(a, i.reshape(-1), flat)
        yield from make("take_grad", f"z = take_grad g i rows=5 axis={axis}",
                        take_grad, {"g": g, "i": index}, FLOATS,
                        {"i": ("index", 5)}, 2)
    for case in make("take_grad", "z = take_grad g i rows=5",
                     lambda g, i: torch.zeros(5, 3, dtype=g.dtype).index_add(
                         0, i, g), {"g": (6, 3), "i": (6,)}, HALVES,
                     {"i": ("index", 5)}, 1):
        yield case


def last_writes(index, axis):
    """Which elements of an index are not overwritten by a later one. NumPy
    keeps the last of equal indices in an assignment."""
    i = index.numpy()
    shape = list(i.shape)
    shape[axis] = int(i.max(initial=-1)) + 1
    last = numpy.zeros(shape, numpy.int64)
    number = numpy.arange(i.size).reshape(i.shape)
    numpy.put_along_axis(last, i, number, axis)
    return torch.tensor(numpy.take_along_axis(last, i, axis) == number)


def scatter_last(x, index, src, axis):
    """scatter, in which the last of equal indices stays."""
    if index.numel() == 0:
        return x.clone()
    rows = torch.where(last_writes(index, axis), src.detach() * 0 + 1,
                       src.detach() * 0)
    kept = torch.zeros_like(x).scatter_add(axis, index, rows) > 0
    return torch.where(kept, torch.zeros_like(x).scatter_add(
        axis, index, src * rows), x)


def scatter_cases(rng):
    for shape, index, axis in (((5, 3), (4, 3), 0), ((5, 3), (5, 7), 1),
                               ((5, 3), (2, 2), -1), ((6,), (9,), 0),
                               ((6,), (0,), 0), ((2, 3, 4), (1, 3, 6), 2),
                               ((2, 3, 4), (2, 5, 4), -2)):
        for dtype in ALL + HALVES:
            kind = "normal" if dtype in FLOATS else "bool"
            x = values(rng, kind, shape, dtype)
            i = torch.tensor(rng.integers(0, shape[axis], index))
            src = values(rng, kind, index, dtype)
            order = 2 if dtype in FLOATS else 1 if dtype in HALVES else 0

            def scatter(x, i, s, a=axis):
                if x.dtype == torch.bool:
                    return scatter_last(x.long(), i, s.long(), a).bool()
                return scatter_last(x, i, s, a)
            name = f"scatter {shape} {index} axis={axis} {dtype}"
            yield Case("scatter", f"y = scatter x i s axis={axis}", scatter,
                       {"x": x, "i": i, "s": src},
                       ["x", "s"] if order else [], order,
                       half=dtype in HALVES, name=name)
            if dtype not in FLOATS:
                continue
            yield Case("scatter_grad", f"z = scatter_grad g i axis={axis}",
                       lambda g, i, a=axis: torch.where(
                           last_writes(i, a), g.gather(a, i),
                           torch.zeros(i.shape, dtype=g.dtype))
                       if i.numel() else g.gather(a, i),
                       {"g": x, "i": i}, ["g"], 2, name="grad of " + name)


def one_hot_cases(rng):
    for shape in ((), (0,), (1,), (4,), (2, 3)):
        for dtype in INTS:
            x = torch.tensor(rng.integers(0, 5, shape)).to(DTYPES[dtype])
            yield Case("one_hot", "y = one_hot x num_classes=5",
                       lambda x: F.one_hot(x.long(), 5), {"x": x},
                       name=f"one_hot {shape} {dtype}")


def block_cases():
    """Lookups in rows or columns of which part= says the place in the
    whole."""
    def inside(i, start, size):
        return (i >= start) & (i < start + size), (i - start).clamp(
            0, max(size - 1, 0))

    for start, size, whole in ((0, 2, 5), (2, 2, 5), (1, 4, 5), (4, 1, 5),
                               (3, 0, 5)):
        def embedding(t, i, start=start, size=size):
            here, row = inside(i, start, size)
            if size == 0:
                return torch.zeros(*i.shape, 3, dtype=t.dtype)
            return F.embedding(row, t) * here.unsqueeze(-1)

        def table_grad(g, i, start=start, size=size, whole=whole):
            flat = g.reshape(-1, 3)
            full = torch.zeros(whole, 3, dtype=g.dtype)
            return full.index_add(0, i.reshape(-1), flat)[start:start + size]

        part = f" part={start},0/{whole},3"
        kinds = {"i": ("index", whole)}
        yield from make("embedding", f"y = embedding t i{part}", embedding,
                        {"t": (size, 3), "i": (2, 4)}, FLOATS + HALVES, kinds,
                        2)
        yield from make(
            "embedding_grad", f"z = embedding_grad g i rows={size}{part}",
            table_grad, {"g": (2, 4, 3), "i": (2, 4)}, FLOATS, kinds, 2)
        def take(x, i, axis, start=start, size=size):
            here, row = inside(i, start, size)
            wide = [1] * axis + [-1] + [1] * (1 - axis)
            shape = list(x.shape)
            shape[axis] = len(i)
            if size == 0:
                return torch.zeros(shape, dtype=x.dtype)
            return torch.index_select(x, axis, row) * here.reshape(wide)

        for axis in (0, 1):
            shape = (size, 3) if axis == 0 else (3, size)
            places = f"{start},0/{whole},3" if axis == 0 else (
                f"0,{start}/3,{whole}")
            yield from make("take", f"y = take x i axis={axis} part={places}",
                            lambda x, i, a=axis, f=take: f(x, i, a),
                            {"x": shape, "i": (7,)}, FLOATS + ("i64",), kinds,
                            2)
            yield from make(
                "take_grad", f"z = take_grad g i rows={size} axis={axis} "
                f"part={places}",
                lambda g, i, a=axis, b=start, n=size, w=whole: torch.zeros(
                    (w, 3) if a == 0 else (3, w), dtype=g.dtype).index_add(
                        a, i, g).narrow(a, b, n),
                {"g": (7, 3) if axis == 0 else (3, 7), "i": (7,)}, FLOATS,
                kinds, 2)

            def scatter(x, i, s, a=axis, start=start, size=size, whole=whole):
                full = torch.zeros((whole, 3) if a == 0 else (3, whole),
                                   dtype=x.dtype)
                before = full.narrow(a, 0, start)
                after = full.narrow(a, start + size, whole - start - size)
                return scatter_last(torch.cat((before, x, after), a), i, s,
                                    a).narrow(a, start, size)
            yield from make("scatter",
                            f"y = scatter x i s axis={axis} part={places}",
                            scatter, {"x": shape, "i": (6, 3) if axis == 0
                                      else (3, 6), "s": (6, 3) if axis == 0
                                      else (3, 6)},
                            FLOATS + ("i64",), kinds, 2)
        for axis in (0, 1):
            shape = (size, 3) if axis == 0 else (3, size)
            index = (6, 3) if axis == 0 else (3, 6)
            places = f"{start},0/{whole},3" if axis == 0 else (
                f"0,{start}/3,{whole}")

            def gather(x, i, a=axis, start=start, size=size):
                here, at = inside(i, start, size)
                if size == 0:
                    return torch.zeros(i.shape, dtype=x.dtype)
                return torch.gather(x, a, at) * here

            def scatter_add(x, i, s, a=axis, start=start, size=size):
                here, at = inside(i, start, size)
                if size == 0:
                    return x.clone()
                return torch.scatter_add(x, a, at, s * here)

            yield from make("gather",
                            f"y = gather x i axis={axis} part={places}",
                            gather, {"x": shape, "i": index},
                            FLOATS + HALVES + ("i64",), kinds, 2)
            yield from make("scatter_add",
                            f"y = scatter_add x i s axis={axis} part={places}",
                            scatter_add, {"x": shape, "i": index, "s": index},
                            FLOATS + ("i64",), kinds, 2)


def gradient_op_cases():
    """Ops that only gradients use."""
    def chosen(g, x, y):
        same = x == y.unsqueeze(1)
        return same * (g / same.sum(1)).unsqueeze(1)
    for kind in ("normal", "whole"):
        for case in make("max_grad", "z = max_grad g x y axis=1", chosen,
                         {"g": (3,), "x": (3, 4), "y": (3,)}, FLOATS, kind,
                         1):
            case.inputs["y"] = case.inputs["x"].amax(1)
            case.targets = ["g"]
            yield case

    def prod(g, x):
        rows = [torch.stack([torch.prod(torch.cat((r[:i], r[i + 1:])))
                             for i in range(len(r))]) for r in x]
        return g.unsqueeze(1) * torch.stack(rows)
    for kind in ("normal", "whole"):
        yield from make("prod_grad", "z = prod_grad g x axis=1", prod,
                        {"g": (3,), "x": (3, 4)}, FLOATS, kind,
                        2 if kind == "normal" else 1)


def cases():
    rng = numpy.random.default_rng(2)
    yield from reduction_cases()
    yield from index_reduction_cases()
    yield from ordering_cases()
    yield from layout_cases()
    yield from slice_cases()
    yield from joining_cases()
    yield from gather_cases(rng)
    yield from take_cases(rng)
    yield from scatter_cases(rng)
    yield from one_hot_cases(rng)
    yield from block_cases()
    yield from gradient_op_cases()

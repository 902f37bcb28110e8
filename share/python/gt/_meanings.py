"""Calls of ops that PyTorch means otherwise than the op table: each is made to mean what it
does there, or refused with what to write."""
import math
import builtins as _py

from ._ops import _ops
from ._table import _Pair
from ._tensor import Tensor, _is_bool, _shown, tensor
from ._types import _kind, _many
from ._words import _EPSILON, Error, _is_data, _is_flag, _is_number, _is_whole, _plain

_meanings = {}


def _means(*ops):
    """These ops are called through the function below, whose first argument is the row's."""
    def put(meaning):
        for op in ops:
            _meanings[op] = meaning
        return meaning
    return put


def _meant_so(op, f):
    meaning = _meanings.get(op)
    if meaning is None:
        return f

    def function(*args, **kwargs):
        if not args and "input" in kwargs:
            args = (kwargs.pop("input"),)
        return meaning(f, *args, **kwargs) if args or kwargs else f()  # which says what is missing
    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{f.__doc__}\n\nIn Python: {meaning.__doc__}"
    return function


@_means("arange")
def _arange(f, *args, **keys):
    """arange(end), (start, end) and (start, end, step) are PyTorch's, i64 of integers;
    arange((5,), start, step) has as many elements as the shape."""
    if not _py.all(map(_is_number, args)) or "shape" in keys or not (args or "end" in keys):
        return f(*args, **keys)
    given = dict(zip(["end"] if len(args) == 1 and "end" not in keys else ["start", "end", "step"], args))
    if len(args) > 3 or set(given) & set(keys) or (len(args) == 1 and "start" in keys):
        raise TypeError("arange: expected (end), (start, end) or (start, end, step), or a shape as (5,)")
    for key in ("start", "end", "step"):
        if key in keys:
            given[key] = keys.pop(key)
    start, end, step = given.get("start", 0), given["end"], given.get("step", 1)
    if _py.any(isinstance(v, Tensor) for v in (start, end, step)):
        raise TypeError("arange: expected numbers, as they give the size; found a tensor, which item() reads")
    if not step or (end - start) / step < 0:
        raise Error(f"arange: no steps of {step} lead from {start} to {end}")
    exact = _py.all(map(_is_whole, (start, end, step)))
    count = -((start - end) // step) if exact else math.ceil((end - start) / step)
    if keys.get("dtype") is None:
        keys["dtype"] = "i64" if exact else "f32"
    return f((count,), *([start, step] if (start, step) != (0, 1) else []), **keys)


@_means("eye")
def _eye(f, *args, n=None, m=None, **keys):
    """eye(n) and eye(n, m) are PyTorch's, eye((n, m)) has a shape."""
    args += tuple(size for size in (n, m) if size is not None)
    return f(*args, *args, **keys) if len(args) == 1 and _is_whole(args[0]) else f(*args, **keys)


@_means("add", "sub")
def _scaled(f, a, *args, alpha=1, **keys):
    """With alpha=, b times it is added or subtracted, as in PyTorch."""
    b = args[0] if args else keys.get("other")
    if f.__name__ == "sub" and (_is_flag(b) and isinstance(a, Tensor) or _is_flag(a) and isinstance(b, Tensor)):
        raise TypeError("sub: expected numbers; found True or False; of bool, write ^ or ~")
    if isinstance(alpha, int) and alpha == 1 or b is None:
        return f(a, *args, **keys)
    keys.pop("other", None)
    if isinstance(alpha, Tensor) or not _is_number(alpha):
        raise TypeError(f"{f.__name__}: expected a number as alpha; found {_shown(alpha)}")
    if alpha != 1:
        if isinstance(_plain(alpha), float) and not _py.any(
                isinstance(x, Tensor) and _kind(x.dtype) == 2 or isinstance(x, float) for x in (a, b)):
            raise TypeError(f"{f.__name__}: of integers, alpha is a whole number; found {alpha!r}")
        b = _ops["mul"](b, _py.bool(alpha) if _is_bool(b) and isinstance(_plain(alpha), int) else alpha)
    return f(a, b, **keys)


@_means("log")
def _logarithm(f, x, **keys):
    """A path is no tensor: gt.record(path) writes the program to a file."""
    if isinstance(x, (str, bytes)) or hasattr(x, "__fspath__") or x is None:
        raise TypeError(f"log: expected a tensor or a number; found {x!r}; gt.record(path) writes the program to "
                        "a file")
    return f(x, **keys)


@_means("div")
def _divided(f, a, *args, rounding_mode=None, **keys):
    """rounding_mode="floor" is floordiv, "trunc" rounds to zero."""
    b = args[0] if args else keys.get("other")
    if rounding_mode is None or b is None:
        return f(a, *args, **keys)
    keys.pop("other", None)
    if rounding_mode == "floor":
        return _ops["floordiv"](a, b, **keys)
    if rounding_mode != "trunc":
        raise TypeError(f"div: expected None, 'floor' or 'trunc' as rounding_mode; found {rounding_mode!r}")
    if isinstance(a, Tensor) and _is_bool(a):
        a = a.to(b if isinstance(b, Tensor) else "i64")
    whole = _py.all(_kind(x.dtype) < 2 if isinstance(x, Tensor) else not isinstance(_plain(x), float)
                    for x in (a, b))
    if whole:  # of integers, by which no digit is lost
        down = _ops["floordiv"](a, b)
        rest = _ops["sub"](a, _ops["mul"](down, b))
        up = _ops["and_"](_ops["lt"](down, 0), _ops["ne"](rest, 0))
        return _ops["add"](down, up, **keys)
    return _ops["trunc"](f(a, b), **keys)


@_means("round")
def _rounded(f, x, *, decimals=0, **keys):
    """With decimals=, to that many digits behind the point, or before it."""
    if not decimals:
        return f(x, **keys)
    if isinstance(x, Tensor) and _kind(x.dtype) < 2:
        raise TypeError(f"round: decimals= is for floats; found {_shown(x)}, which is {x.dtype}")
    ten = 10.0 ** abs(decimals)
    there, back = (_ops["mul"], _ops["div"]) if decimals > 0 else (_ops["div"], _ops["mul"])
    return back(f(there(x, ten)), ten, **keys)


@_means("randperm")
def _randperm(f, *args, dtype=None, n=None, **keys):
    """i64 if not told else."""
    return f(*(args if n is None else (n, *args)), dtype=dtype or "i64", **keys)


@_means("transpose")
def _swapped(f, x, *args, dim0=None, dim1=None, **keys):
    """transpose(0, 1) swaps two dimensions, for which the rank is asked where Python does
    not know it; transpose((2, 0, 1)), or axes=, is their order; transpose() reverses it."""
    if dim0 is not None and dim1 is not None:
        args = (dim0, dim1)
    if len(args) != 2 or not _py.all(map(_is_whole, args)):
        return f(x, *args, **keys)
    rank = x.ndim
    if not _py.all(-rank <= axis < _py.max(rank, 1) for axis in args):
        raise IndexError(f"transpose: {args[0]} and {args[1]} are not both axes of {x._name}, "
                         f"which has {rank}")
    order = list(range(rank))
    if rank:
        order[args[0]], order[args[1]] = order[args[1]], order[args[0]]
    return f(x, axes=order, **keys)


@_means("matmul")
def _product(f, a, b=None, *args, other=None, name=None, into=None, **keys):
    """A vector is a row before a matrix and a column behind one, and the result has no such
    dimension, as in PyTorch. What Python does not know the rank of is taken for a matrix."""
    b = other if b is None else b
    if b is None:
        return f(a, **keys)  # which says what is missing
    # What is no data, as a text is, f refuses.
    a, b = (tensor(x) if not isinstance(x, Tensor) and not _is_number(x) and _is_data(x) else x
            for x in (a, b))
    rows, columns = (isinstance(x, Tensor) and x._rank == 1 for x in (a, b))
    if not rows and not columns:
        return f(a, b, *args, name=name, into=into, **keys)
    y = f(_ops["unsqueeze"](a, axis=0) if rows else a, _ops["unsqueeze"](b, axis=1) if columns else b,
          *args, **keys)
    return _without(y, [-2] * rows + [-1] * columns, name=name, into=into)


def _without(x, axes, **keys):
    """x without dimensions that are of size 1."""
    y, rank = _ops["squeeze"](x, axis=axes, **keys), x._rank
    if y._rank is None and rank:
        y._rank = rank - _many(axes)
    return y


@_means("mod", "pow", "floordiv")
def _of_numbers(f, *args, into=None, **keys):
    """A bool is 0 or 1 in the dtype of the other operand, i64 beside a number, as in PyTorch."""
    if len(args) == 1 and "other" in keys:
        args += (keys.pop("other"),)
    if f.__name__ == "pow" and len(args) == 2 and _is_whole(args[1]) and args[1] < 0 and \
            isinstance(args[0], Tensor) and args[0]._dtype is not None and _kind(args[0]._dtype) < 2:
        raise Error(f"pow: {args[0]._name} is {args[0]._dtype}, and integers have no negative powers: cast it first")
    if len(args) == 2 and _is_bool(args[0]) != _is_bool(args[1]):
        args = [x.to(y if isinstance(y, Tensor) else "i64") if isinstance(x, Tensor) and _is_bool(x)
                else x for x, y in (args, args[::-1])]
    return f(*args, into=into, **keys)


@_means("any", "all")
def _of_bytes(f, x, *args, **keys):
    """Of u8 the result is u8, as in PyTorch."""
    if _py.any(isinstance(dim, (list, tuple)) and not dim for dim in (*args[:1], keys.get("dim"), keys.get("axis"))):
        raise TypeError(f"{f.__name__}: expected a dim or none; found (), which PyTorch takes otherwise from version to "
                        "version")
    y = f(x, *args, **keys)
    return y.to("u8") if isinstance(x, Tensor) and x._dtype == "u8" else y


@_means("reshape")
def _reshaped(f, x, *shape, **keys):
    """reshape(()) is of one element a scalar."""
    given = keys["shape"] if "shape" in keys else shape[0] if len(shape) == 1 else shape or None
    if isinstance(given, (list, tuple)) and not given:
        if x.numel() != 1:
            raise Error(f"reshape: {x._name} has {x.numel()} elements, and a scalar has one")
        return _ops["squeeze"](x)
    return f(x, *shape, **keys)


@_means("sign")
def _sign(f, x, **keys):
    """Of bool it is x."""
    return (_ops["copy"] if _is_bool(x) else f)(x, **keys)


@_means("max", "min")
def _extreme(f, x, dim=None, keepdim=None, *, other=None, name=None, **keys):
    """max(dim), or dim=, gives values and indices, and max(y) is maximum, as in PyTorch;
    amax(dim), or axis=, gives the values alone. min likewise."""
    op, keep = f.__name__, keys.get("keepdims", keepdim)
    if isinstance(dim, (Tensor, float)) or hasattr(dim, "__array__") and not _is_whole(dim):
        dim, other = None, dim
    if other is not None:
        return _ops[op + "imum"](x, other, name=name, **keys)
    if dim is None:
        return f(x, name=name, **{"keepdims": keep, **keys})
    if not _is_whole(dim):
        raise TypeError(f"{op}: expected one dim, or a tensor; found {dim!r}; a{op} takes more axes")
    if not (keep is None or _is_flag(keep)) or set(keys) - {"keepdims"}:
        raise TypeError(f"{op}: with a dim, expected keepdim=True or False alone; a{op} takes more")
    # The gradient goes to one of equals, as in PyTorch; that of the op is shared out.
    found = _ops["arg" + op](x, axis=dim, keepdims=True)
    if keep:
        return _Pair(_ops["gather"](x, found, axis=dim, name=name), found)
    values = _without(_ops["gather"](x, found, axis=dim), dim, name=name)
    return _Pair(values, _without(found, dim))


@_means("var", "std")
def _var(f, x, *args, unbiased=None, **keys):
    """PyTorch's unbiased is correction=1, or 0, and may stand behind the axis or alone."""
    at = 0 if args and _is_flag(args[0]) else 1
    if len(args) > at:
        unbiased, args = args[at], args[:at] + args[at + 1:]
    if unbiased is not None and not _is_flag(unbiased):
        raise TypeError(f"{f.__name__}: expected True or False as unbiased; found {unbiased!r}; "
                        "correction= is a keyword")
    if unbiased is not None:
        keys["correction"] = int(unbiased)
    return f(x, *args, **keys)


@_means("norm")
def _norm(f, x, *args, **keys):
    """norm(1) is the sum of absolute values, norm(2, dim) that along dim; "fro" is 2."""
    order = args[0] if args else keys.pop("p", keys.pop("ord", None))
    args, order = args[1:], 2 if order is None or isinstance(order, str) and order == "fro" else order
    if _is_number(order) and order not in (1, 2, math.inf):
        dims = {k: v for k, v in zip(("dim", "keepdim"), args)}
        dims.update({k: v for k, v in keys.items() if k not in ("dtype", "name")})
        sizes = _ops["abs"](x if keys.get("dtype") is None else x.to(keys["dtype"]))
        if order == 0:
            return _ops["sum"](_ops["ne"](sizes, 0).to(sizes), **dims)
        if order == -math.inf:
            return _ops["amin"](sizes, **dims)
        return _power_norm(sizes, order, **dims)
    return f(x, order, *args, **keys)


def _power_norm(sizes, order, dim=None, keepdim=False, axis=None, keepdims=False):
    """The root of the sum of powers. They are of quotients by the largest, or of a negative order the
    least, so that none leaves the range where the norm does not."""
    dim, keep = axis if dim is None else dim, keepdim or keepdims
    if 0 in sizes.shape:
        return _ops["pow"](_ops["sum"](_ops["pow"](sizes, order), dim, keep), 1 / order)
    scale = _ops["amax" if order > 0 else "amin"](sizes.detach(), dim, True)
    usable = _ops["and_"](_ops["gt"](scale, 0), _ops["isfinite"](scale))
    scale = _ops["where"](usable, scale, _ops["cast"](1.0, sizes.dtype))
    total = _ops["sum"](_ops["pow"](_ops["div"](sizes, scale), order), dim, True)
    if order > 0:  # the norm of zeros has the gradient 0, which the root would make nan
        is_zero = _ops["eq"](total, 0)
        total = _ops["where"](is_zero, 1.0, total)
    root = _ops["mul"](_ops["pow"](total, 1 / order), scale)
    if order > 0:
        root = _ops["where"](is_zero, 0.0, root)
    return root if keep else _ops["sum"](root) if dim is None else _without(root, dim)


@_means("clamp")
def _clamped(f, x, min=None, max=None, **keys):
    """One of min and max may be absent. At a bound that is a number the gradient is 0; what is as
    large as a bound that is a tensor shares it, as in PyTorch."""
    if min is None and max is None:
        raise TypeError("clamp: expected min, max, or both")
    if _py.any(isinstance(bound, Tensor) for bound in (min, max)):
        y = x if min is None else _ops["maximum"](x, min, **({} if max is not None else keys))
        return y if max is None else _ops["minimum"](y, max, **keys)
    is_float = _py.any(isinstance(bound, float) for bound in (min, max))
    if isinstance(x, Tensor) and _kind(x.dtype) == 1 and not is_float:
        min, max = -2**63 if min is None else min, 2**63 - 1 if max is None else max
    if min is not None and max is not None:
        return f(x, min, max, **keys)
    beyond, bound = (_ops["le"](x, min), min) if max is None else (_ops["ge"](x, max), max)
    return _ops["where"](beyond, bound, x, **keys)


@_means("clip")
def _clipped(f, *args, **keys):
    """clip(x, min, max) is clamp, as in PyTorch; clip([g, ...], max) scales gradients."""
    scales = args and isinstance(args[0], (list, tuple))
    return f(*args, **keys) if scales or "g" in keys else _ops["clamp"](*args, **keys)


@_means("topk")
def _largest(f, x, k=None, *args, largest=True, sorted=True, **keys):
    """With largest=False, the smallest."""
    args = args if k is None else (k, *args)
    if len(args) > 2:  # PyTorch has largest and sorted behind k and dim
        largest, args = args[2], args[:2]
    if largest:
        return f(x, *args, **keys)
    size = args[0] if args else keys.get("k", keys.get("size"))
    dim = args[1] if len(args) > 1 else keys.get("dim", keys.get("axis", -1))
    found = _ops["sort"](x, dim)
    return _Pair(*(_ops["slice"](part, 0, axis=dim, size=size) for part in found))


@_means("sort", "argsort")
def _sorted(f, x, *args, stable=None, **keys):
    """It is stable, whatever stable= says."""
    return f(x, *args, **keys)


@_means("max_pool2d", "avg_pool2d")
def _pooled(f, x, kernel_size=None, stride=None, padding=0, *args, ceil_mode=False, **keys):
    """An image may be without a batch. With ceil_mode=True windows may reach beyond the margin, which
    the rank and the shape are asked for where Python does not know them."""
    op = f.__name__
    names = ("dilation", "ceil_mode", "return_indices") if op == "max_pool2d" else \
        ("ceil_mode", "count_include_pad", "divisor_override")
    if kernel_size is None:
        return f(x, **keys)  # which says what is missing
    for name, value in zip(names, args):
        if name == "ceil_mode":
            ceil_mode = value
        else:
            keys[name] = value
    if keys.pop("return_indices", False):
        raise TypeError(f"{op}: it has no indices; argmax of windows() gives them")
    if keys.get("divisor_override") is not None:
        raise TypeError(f"{op}: expected no divisor_override: write count_include_pad=True, and scale")
    keys.pop("divisor_override", None)
    if stride is not None and not isinstance(stride, int) and not len(stride):
        stride = None
    keys = {"kernel_size": kernel_size, "padding": padding, **keys}
    if stride is not None:
        keys["stride"] = stride
    if x.ndim == 3:
        return _ops["squeeze"](_pooled(f, _ops["unsqueeze"](x, axis=0), ceil_mode=ceil_mode, **keys), axis=0)
    if not ceil_mode:
        return f(x, **keys)
    window, edge, wide = (_pair(keys.get(key, d)) for key, d in (("kernel_size", 1), ("padding", 0), ("dilation", 1)))
    step = _pair(stride) if stride is not None else window
    more, sizes = [], x.shape[2:]
    for n, k, s, p, d in zip(sizes, window, step, edge, wide):
        reach = n + 2 * p - d * (k - 1) - 1
        out = -(-reach // s) + 1
        out -= (out - 1) * s >= n + p  # a window begins in the image or in the margin before it
        more.append((out - 1) * s - reach if (out - 1) * s > reach else 0)
    if more == [0, 0]:
        return f(x, **keys)
    if op == "avg_pool2d":
        return _averaged(x, window, step, edge, more, keys.get("count_include_pad", True))
    # What is added is less than everything.
    x = _ops["pad"](x, width=(0, 0, 0, 0, 0, more[0], 0, more[1]), value=-math.inf)
    return f(x, **keys)


def _averaged(x, window, step, edge, more, counts_margin):
    """Means of windows that may reach beyond the margin: the sum by what of each is within."""
    wide = [n + 2 * p for n, p in zip(x.shape[2:], edge)]
    padded = _ops["pad"](x, width=(0, 0, 0, 0, edge[0], edge[0] + more[0], edge[1], edge[1] + more[1]))
    means = _ops["avg_pool2d"](padded, window, step)
    counts = []
    for n, k, s, p, w, m in zip(x.shape[2:], window, step, edge, wide, more):
        begin, end = (0, w) if counts_margin else (p, p + n)
        counts.append([_py.max(_py.min(i + k, end) - _py.max(i, begin), 1) for i in range(0, w + m - k + 1, s)])
    factor = [[window[0] * window[1] / (a * b) for b in counts[1]] for a in counts[0]]
    return _ops["mul"](means, tensor(factor, dtype=x.dtype))


def _pair(sizes):
    sizes = (sizes,) if _is_whole(sizes) else tuple(sizes)
    return sizes * 2 if len(sizes) == 1 else sizes


def _weight(w, keys):
    """The weight, which may be one of the keys; a bias among them is called b from now on."""
    for name, own in ("weight", "w"), ("bias", "b"):
        if name in keys:
            keys[own] = keys.pop(name)
    return keys.pop("w") if w is None and "w" in keys else w


@_means("conv2d")
def _convolved(f, x, w=None, *args, **keys):
    """An image may be without a batch; padding may be "valid" or "same", for which the shape of w
    is asked where Python does not know it."""
    w = _weight(w, keys)
    if w is None:
        return f(x, **keys)  # which says what is missing
    for name, value in zip(("b", "stride", "padding", "dilation", "groups"), args):
        if name in keys:
            raise TypeError(f"conv2d: {name} is given twice")
        keys[name] = value
    b = keys.pop("b", None)
    if isinstance(x, Tensor) and x.ndim == 3:
        return _ops["squeeze"](_convolved(f, _ops["unsqueeze"](x, axis=0), w, b, **keys), axis=0)
    if keys.get("padding") == "valid":
        keys["padding"] = 0
    if keys.get("padding") == "same":
        if _pair(keys.get("stride", 1)) != (1, 1):
            raise TypeError("conv2d: padding='same' is for a stride of 1")
        all = [d * (k - 1) for d, k in zip(_pair(keys.get("dilation", 1)), w.shape[2:])]
        if _py.any(n % 2 for n in all):
            x = _ops["pad"](x, width=(0, 0, 0, 0, 0, all[0] % 2, 0, all[1] % 2))
        keys["padding"] = tuple(n // 2 for n in all)
    return f(x, w, b, **keys) if b is not None else f(x, w, **keys)


@_means("conv_transpose2d")
def _convolved_back(f, x, w=None, *args, **keys):
    """An image may be without a batch."""
    w = _weight(w, keys)
    if w is None:
        return f(x, **keys)
    if isinstance(x, Tensor) and x.ndim == 3:
        return _ops["squeeze"](f(_ops["unsqueeze"](x, axis=0), w, *args, **keys), axis=0)
    return f(x, w, *args, **keys)


@_means("split")
def _split(f, x, *args, split_size=None, split_size_or_sections=None, **keys):
    """split(2, dim) has parts of size 2, for which the shape is asked where Python does not
    know it, and split([1, 3], dim) those sizes; chunk(2, dim), or parts=2, is two parts."""
    size, args = (args[0], args[1:]) if args else (split_size or split_size_or_sections, args)
    if size is None and not {"sizes", "parts"} & set(keys):
        raise TypeError("split: expected the size of a part, a list of sizes, or parts=")
    if _is_whole(size):
        if size < 1:
            raise Error(f"split: expected parts of one row or more; found {size}")
        axis = args[0] if args else keys.get("dim", keys.get("axis", 0))
        length = x.shape[axis]
        size = [_py.min(size, length - i) for i in range(0, length, size)] or [0]
    elif size is not None and not isinstance(size, (list, tuple)):
        raise TypeError(f"split: expected a number or a list of numbers; found {_shown(size)}")
    return f(x, *args, **keys) if size is None else f(x, *args, sizes=size, **keys)


@_means("gather", "scatter", "scatter_add")
def _along(f, x, *args, sparse_grad=False, reduce=None, value=None, **keys):
    """The dim may stand before the index, as in PyTorch; else it is axis=. What is scattered may be a number,
    and larger than the index, for which shapes are asked where Python does not know them."""
    if reduce is not None:
        raise TypeError(f"{f.__name__}: expected no reduce=: scatter_add adds")
    if args and _is_whole(args[0]):
        args, keys = args[1:], {**keys, "axis": args[0]}
    if f.__name__ == "gather":
        return f(x, *args, **keys)
    index = args[0] if args else keys.pop("index", None)
    src = args[1] if len(args) > 1 else keys.pop("src", value)
    if index is None or src is None:
        return f(x, *args, **keys)  # which says what is missing
    if _is_number(src):
        src = _ops["full"](index.shape, src, dtype=x.dtype)
    if isinstance(src, Tensor) and isinstance(index, Tensor) and src.shape != index.shape and \
            len(src.shape) == len(index.shape):
        src = _ops["slice"](src, *(f":{n}" for n in index.shape))
    return f(x, index, src, **keys)


@_means("expand")
def _expanded(f, x, *shape, size=None, **keys):
    """The sizes may stand one by one, or as size=."""
    return f(x, *shape, **keys) if size is None else f(x, *size, **keys)


@_means("layer_norm", "rms_norm")
def _over_last(f, x, *args, normalized_shape=None, weight=None, bias=None, **keys):
    """layer_norm(x, shape, w, b) is PyTorch's, also over more dimensions than the last; without a
    shape, as layer_norm(x, w, b), it is over the last."""
    op, shape = f.__name__, normalized_shape
    if args and shape is None and (_is_whole(args[0]) or isinstance(args[0], (list, tuple)) and _py.all(
            map(_is_whole, args[0]))):
        shape, args = args[0], args[1:]
    names = ("w", "b", "eps") if op == "layer_norm" else ("w", "eps")
    for name, value in zip(names, args):
        keys[name] = value
    for name, value in (("w", weight), ("b", bias)):
        if value is not None:
            keys[name] = value
    w, b = keys.pop("w", None), keys.pop("b", None)
    if op == "rms_norm" and shape is not None and keys.get("eps") is None:
        keys["eps"] = _EPSILON[x.dtype]  # as in PyTorch
    keys = {k: v for k, v in keys.items() if v is not None}
    if b is not None and w is None:
        return _ops["add"](f(x, **{k: v for k, v in keys.items() if k == "eps"}), b)
    more = [v for v in (w, b) if v is not None]
    if shape is None:
        return f(x, *more, **keys)
    shape = (shape,) if _is_whole(shape) else tuple(shape)
    own = x.shape
    if own[len(own) - len(shape):] != shape or not shape:
        raise Error(f"{op}: expected a normalized_shape that ends the shape {own}; found {shape}")
    if len(shape) == 1:
        return f(x, *more, **keys)
    flat = own[:len(own) - len(shape)] + (math.prod(shape),)
    y = f(_ops["reshape"](x, flat), *(_ops["reshape"](v, (-1,)) for v in more), **keys)
    return _ops["reshape"](y, own)


@_means("dropout")
def _dropout(f, x, p=0.5, *args, training=True, train=None, inplace=False, **keys):
    """dropout(x, p, training) is PyTorch's, and x itself where training is False; a seed is
    a whole number there, or seed=."""
    if args and _is_flag(args[0]):
        training, args = args[0], args[1:]
    if args and _is_flag(args[0]):
        inplace, args = args[0], args[1:]
    if inplace:
        keys["into"] = x
    return f(x, p, *args, **keys) if training and train is not False else x


@_means("pad")
def _padded(f, x, pad=None, mode="constant", value=None, **keys):
    """pad(x, (1, 2)) is PyTorch's, with the last dimension first, for which the rank is
    asked where Python does not know it; width= has the first dimension first."""
    if mode != "constant":
        raise TypeError(f"pad: expected the mode 'constant'; found {mode!r}")
    if pad is not None:
        if not isinstance(pad, (list, tuple)) or len(pad) % 2 or not _py.all(map(_is_whole, pad)):
            raise TypeError(f"pad: expected (before, after) of the last dimension, then of that before "
                            f"it and so on; found {_shown(pad)}")
        pairs = [pad[i:i + 2] for i in range(0, len(pad), 2)]
        pairs += [(0, 0)] * (x.ndim - len(pairs))
        keys["width"] = [n for pair in reversed(pairs) for n in pair]
    return f(x, value=value, **keys)

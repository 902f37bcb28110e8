"""Methods and functions of tensors that PyTorch has, made of few ops.

Where the op table gets a row of the same name, that is taken in place of the function here."""
import math, operator

from ._meanings import _without
from ._ops import _ops
from ._tensor import Tensor, _is_bool, _shown, _whole_number, tensor
from ._types import _broadcast, _expands, _kind
from ._words import _LARGEST, _WHOLE, Error, _dtype, _found_dtype, _is_number, _is_whole, _type


class _Methods:
    """Methods; those that are functions, too, are named first."""

    functions = (
        "permute t flatten ravel chunk var_mean std_mean masked_fill square reciprocal isnan index_select "
        "narrow dot mv outer zeros_like ones_like empty_like full_like rand_like randn_like randint_like tile "
        "repeat_interleave roll tril triu lerp addcmul addcdiv addmm unbind select unflatten trunc "
        "frac isinf nan_to_num count_nonzero diff trace diagonal diag clamp_min clamp_max equal isclose "
        "allclose").split()
    # Those that PyTorch has in place, too: square_ and so on.
    in_place = ("square reciprocal tril triu lerp addcmul addcdiv addmm trunc frac nan_to_num clamp_min "
                "clamp_max").split()

    def permute(self, *dims, **keys):
        """The dimensions in another order."""
        return _ops["transpose"](self, axes=_unpacked(dims), **keys)

    def t(self):
        """A matrix transposed."""
        return _ops["transpose"](self)

    def flatten(self, start_dim=0, end_dim=-1):
        """The dimensions from start_dim to end_dim as one, for which the shape is asked where
        Python does not know it and they are not all."""
        if (start_dim, end_dim) == (0, -1):
            return _ops["reshape"](self, -1)
        shape = self.shape or (1,)
        start, end = (_axis("flatten", shape, d) for d in (start_dim, end_dim))
        if start > end:
            raise Error(f"flatten: expected a start_dim before end_dim; found {start_dim} and {end_dim}")
        return _ops["reshape"](self, (*shape[:start], math.prod(shape[start:end + 1]), *shape[end + 1:]))

    def ravel(self):
        """The elements as one dimension."""
        return _ops["reshape"](self, -1)

    def chunk(self, chunks, dim=0):
        """So many parts along dim, the last of which may be shorter or lack, for which the shape is
        asked where Python does not know it."""
        n, chunks = self.shape[dim], operator.index(chunks)
        if chunks < 1:
            raise Error(f"chunk: expected one part or more; found {chunks}")
        return _ops["split"](self, -(-n // chunks) if n else [0] * chunks, dim)

    def var_mean(self, *args, **keys):
        """var and mean, of which the first has these arguments."""
        return _with_mean("var", self, args, keys)

    def std_mean(self, *args, **keys):
        """std and mean, of which the first has these arguments."""
        return _with_mean("std", self, args, keys)

    def masked_fill(self, mask, value, **keys):
        """value where mask is true, else x, in the dtype of x, as in PyTorch."""
        if isinstance(value, Tensor):
            value = value.to(self.dtype)
        elif _kind(self.dtype) < 2 and not (_kind(self.dtype) and _is_whole(value)):
            value = tensor(value, self.dtype)
        return _ops["where"](mask, value, self, **keys)

    def masked_fill_(self, mask, value):
        """masked_fill in place."""
        return self.masked_fill(mask, value, into=self)

    def repeat(self, *sizes):
        """Copies along each dimension, for which the shape is asked where Python does not know it."""
        sizes = tuple(map(operator.index, _unpacked(sizes)))
        if len(sizes) < self.ndim:
            raise Error(f"repeat: expected a number for each of {self.ndim} dimensions; found {sizes}")
        shape = (1,) * (len(sizes) - self.ndim) + self.shape
        split = [n for size in shape for n in (1, size)]
        whole = [n for pair in zip(sizes, shape) for n in pair]
        y = _ops["expand"](_ops["reshape"](self, split), whole)
        return _ops["reshape"](y, tuple(r * n for r, n in zip(sizes, shape)))

    def tile(self, *sizes, dims=None):
        """repeat, with as many numbers as one likes."""
        dims = tuple(_unpacked(sizes) if dims is None else dims)
        return _Methods.repeat(self, *(1,) * (self.ndim - len(dims)), *dims)

    def repeat_interleave(self, repeats, dim=None, *, output_size=None):
        """Each element, or slice along dim, so many times; a list has a number for each."""
        x = _ops["reshape"](self, -1) if dim is None else self
        dim, shape = 0 if dim is None else _axis("repeat_interleave", x.shape, dim), x.shape
        if isinstance(repeats, Tensor):
            raise TypeError("repeat_interleave: expected a number or a list; a shape does not depend on "
                            "values: tolist() reads them")
        if not _is_whole(repeats):
            rows = [i for i, n in enumerate(repeats) for _ in range(n)]
            return _ops["take"](x, tensor(rows, "i64"), axis=dim)
        y = _ops["expand"](_ops["unsqueeze"](x, axis=dim + 1), (*shape[:dim + 1], repeats, *shape[dim + 1:]))
        return _ops["reshape"](y, (*shape[:dim], shape[dim] * repeats, *shape[dim + 1:]))

    def roll(self, shifts, dims=None):
        """Moves elements along dims; what leaves at the end comes in at the beginning."""
        if dims is None:
            return _ops["reshape"](_Methods.roll(_ops["reshape"](self, -1), shifts, 0), self.shape)
        y = self
        for shift, dim in zip(*((v,) if _is_whole(v) else v for v in (shifts, dims))):
            n = y.shape[dim]
            at = -shift % n if n else 0
            if at:
                y = _ops["concat"]([_ops["slice"](y, at, axis=dim, size=n - at),
                                    _ops["slice"](y, 0, axis=dim, size=at)], axis=dim)
        return y if y is not self else _ops["copy"](self)

    def tril(self, diagonal=0):
        """What is on and below a diagonal, and else 0."""
        return _ops["where"](_below(self, diagonal), self, False if _is_bool(self) else 0)

    def triu(self, diagonal=0):
        """What is on and above a diagonal, and else 0."""
        return _ops["where"](_below(self, diagonal - 1), False if _is_bool(self) else 0, self)

    def lerp(self, end, weight):
        """From x to end, by the part that weight says."""
        # Not as a multiple of end - x, which may be out of range where the result is not.
        rest = _ops["sub"](1, weight) if isinstance(weight, Tensor) else 1 - weight
        return _ops["add"](_ops["mul"](self, rest), _ops["mul"](weight, end))

    def addcmul(self, tensor1, tensor2, *, value=1):
        """x and value times a product."""
        product = _ops["mul"](tensor1, tensor2)
        return _ops["add"](self, product if value == 1 else _ops["mul"](product, value))

    def addcdiv(self, tensor1, tensor2, *, value=1):
        """x and value times a quotient."""
        quotient = _ops["div"](tensor1, tensor2)
        return _ops["add"](self, quotient if value == 1 else _ops["mul"](quotient, value))

    def addmm(self, mat1, mat2, *, beta=1, alpha=1):
        """beta times x and alpha times a product of matrices."""
        product = _ops["matmul"](mat1, mat2)
        product = product if alpha == 1 else _ops["mul"](product, alpha)
        return _ops["add"](product, self if beta == 1 else _ops["mul"](self, beta)) if beta else product

    def unbind(self, dim=0):
        """The slices along dim, for which the shape is asked where Python does not know it."""
        n = self.shape[dim]
        if not n:
            return ()
        return tuple(_without(part, dim) for part in _ops["split"](self, axis=dim, parts=n))

    def select(self, dim, index):
        """The slice along dim at index."""
        n = self.shape[dim]
        if not -n <= index < n:
            raise IndexError(f"select: {index} is out of range of {n} slices")
        return _without(_ops["slice"](self, index % n, axis=dim, size=1), dim)

    def unflatten(self, dim, sizes):
        """A dimension as several."""
        shape, dim = self.shape, _axis("unflatten", self.shape, dim)
        sizes = tuple(sizes)
        if -1 in sizes:
            sizes = tuple(shape[dim] // -math.prod(sizes) if n == -1 else n for n in sizes)
        return _ops["reshape"](self, (*shape[:dim], *sizes, *shape[dim + 1:]))

    def trunc(self, **keys):
        """Rounded to zero."""
        if self.dtype == "bool":
            raise TypeError("trunc: expected numbers; found bool")
        if _kind(self.dtype) < 2:
            return _ops["copy"](self, **keys)
        return _ops["where"](_ops["lt"](self, 0), _ops["ceil"](self), _ops["floor"](self), **keys)

    def frac(self):
        """What is behind the point."""
        return _ops["sub"](self, _ops["trunc"](self))

    def isinf(self):
        """Whether it is infinite."""
        return _ops["eq"](_ops["abs"](self), math.inf) if _kind(self.dtype) == 2 else _ops["ne"](self, self)

    def nan_to_num(self, nan=0.0, posinf=None, neginf=None):
        """Numbers in place of what is no finite number: at inf the largest of the dtype."""
        if _kind(self.dtype) < 2:
            return _ops["copy"](self)
        most = _LARGEST[self.dtype]
        y = _ops["where"](_ops["ne"](self, self), nan, self)
        y = _ops["where"](_ops["eq"](y, math.inf), most if posinf is None else posinf, y)
        return _ops["where"](_ops["eq"](y, -math.inf), -most if neginf is None else neginf, y)

    def count_nonzero(self, dim=None):
        """How many elements are not 0."""
        return _ops["sum"](_ops["ne"](self, 0), dim)

    def diff(self, n=1, dim=-1, prepend=None, append=None):
        """Differences of neighbours along dim."""
        parts = [part for part in (prepend, self, append) if part is not None]
        y = self if len(parts) == 1 else _ops["concat"](parts, axis=dim)
        for _ in range(n):
            size = y.shape[dim] - 1
            y = _ops["sub"](_ops["slice"](y, 1, axis=dim, size=size), _ops["slice"](y, 0, axis=dim, size=size))
        return y

    def trace(self):
        """The sum of a matrix's diagonal."""
        return _ops["sum"](_ops["diagonal"](self))

    def diagonal(self, offset=0, dim1=0, dim2=1):
        """The elements of a matrix whose column is offset more than their row."""
        if self.ndim != 2 or (dim1, dim2) != (0, 1):
            raise TypeError(f"diagonal: expected a matrix; found {_shown(self)}, which has {self.ndim} dimensions")
        rows, columns = self.shape
        count = max(min(rows - max(-offset, 0), columns - max(offset, 0)), 0)
        first = max(-offset, 0) * columns + max(offset, 0)
        index = [first + i * (columns + 1) for i in range(count)]
        return _ops["take"](_ops["reshape"](self, -1), tensor(index, "i64"))

    def diag(self, diagonal=0):
        """A vector as the diagonal of a matrix, or that of a matrix."""
        if self.ndim == 2:
            return _ops["diagonal"](self, diagonal)
        if self.ndim != 1:
            raise TypeError(f"diag: expected a vector or a matrix; found {_shown(self)}, which has {self.ndim} "
                            "dimensions")
        before, after = max(-diagonal, 0), max(diagonal, 0)
        square = _ops["where"](_ops["eye"](self.shape[0], dtype="bool"), _ops["unsqueeze"](self, axis=0), 0)
        return _ops["pad"](square, width=(before, after, after, before)) if diagonal else square

    def clamp_min(self, min):
        """No less than min."""
        return _ops["clamp"](self, min)

    def clamp_max(self, max):
        """No more than max."""
        return _ops["clamp"](self, max=max)

    def equal(self, other):
        """Whether both have one shape and the same values; waits for that."""
        return self.shape == other.shape and bool(_ops["all"](_ops["eq"](self, other)).item())

    def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        """Whether elements differ by no more than atol + rtol * |other|."""
        far = _ops["abs"](_ops["sub"](self, other))
        near = _ops["and_"](_ops["isfinite"](far), _ops["le"](
            far, _ops["add"](_ops["mul"](_ops["abs"](other), rtol), atol)))
        near = _ops["or_"](near, _ops["eq"](self, other))
        return _ops["or_"](near, _ops["and_"](_ops["isnan"](self), _ops["isnan"](other))) if equal_nan else near

    def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
        """Whether all elements are close; waits for that."""
        return bool(_ops["all"](_ops["isclose"](self, other, rtol, atol, equal_nan)).item())

    def square(self):
        """x times x, of bool as integers."""
        return _ops["mul"](*[self.to("i64") if _is_bool(self) else self] * 2)

    def reciprocal(self):
        """1 over x."""
        return _ops["div"](1, self)

    def isnan(self):
        """Whether x is nan."""
        return _ops["ne"](self, self)

    def index_select(self, dim, index):
        """Slices along dim that an index names."""
        return _ops["take"](self, index, axis=dim)

    def narrow(self, dim, start, length):
        """length slices along dim from start."""
        return _ops["slice"](self, start, axis=dim, size=length)

    def dot(self, other, **keys):
        """The sum of the products of two vectors, for which the rank is asked where Python does
        not know it; so do mv and outer."""
        return _ops["matmul"](*_of_ranks("dot", (1, 1), self, other), **keys)

    def mv(self, vec, **keys):
        """A matrix by a vector."""
        return _ops["matmul"](*_of_ranks("mv", (2, 1), self, vec), **keys)

    def outer(self, vec2, **keys):
        """Each element of a vector by each of another."""
        a, b = _of_ranks("outer", (1, 1), self, vec2)
        return _ops["mul"](_ops["unsqueeze"](a, axis=1), b, **keys)

    def to(self, dtype=None, non_blocking=False, copy=False, *, memory_format=None):
        """x in another dtype, or in that of another tensor."""
        found = dtype.dtype if isinstance(dtype, Tensor) else _found_dtype(dtype)
        if found is None:
            raise TypeError(f"to: expected a dtype or a tensor; found {dtype!r}; the environment says "
                            "where lines run: help(gt)")
        if self._dtype == found:
            return _ops["copy"](self) if copy else self
        return _ops["cast"](self, found)

    def type(self, dtype=None, non_blocking=False):
        """x in another dtype; without one, the name of its own."""
        return self.dtype if dtype is None else self.to(dtype)

    def type_as(self, other):
        """x in the dtype of another tensor."""
        return self.to(other)

    def cpu(self):
        """x itself, as numpy() reads a value from wherever it is."""
        return self

    def contiguous(self):
        """x itself, as there are no strides."""
        return self

    def dim(self):
        """How many dimensions it has."""
        return self.ndim

    def expand_as(self, other):
        """x in the shape of another tensor, along dimensions of size 1."""
        return _ops["expand"](self, other.shape)

    def view_as(self, other):
        """x in the shape of another tensor."""
        return _ops["reshape"](self, other.shape)

    reshape_as = view_as

    def copy_(self, source, non_blocking=False):
        """Takes the values of another tensor or a number, in its own shape and dtype."""
        dtype, shape = self._find_type()
        if not isinstance(source, Tensor):
            source = tensor(source, dtype)
        if source._shape is not None and not _expands(source._shape, shape):
            raise Error(f"copy_: {_type(source._shape, source._dtype or dtype)} does not expand to {_type(shape, dtype)}")
        if source._shape != shape:
            source = _ops["expand"](source, shape)
        if source._dtype != dtype:
            source = _ops["cast"](source, dtype)
        _ops["copy"](source, into=self)
        self._known = dtype, shape
        return self

    def fill_(self, value):
        """Has one value throughout."""
        return self.copy_(value)

    def zero_(self):
        """Has zeros throughout."""
        return self.copy_(0)

    def normal_(self, mean=0, std=1, *, generator=None):
        """Has normal random numbers."""
        values = _like("randn", self)
        return self.copy_(_ops["add"](_ops["mul"](values, std), mean) if (mean, std) != (0, 1) else values)

    def uniform_(self, a=0, b=1, *, generator=None):
        """Has uniform random numbers from a to b."""
        values = _like("rand", self)
        return self.copy_(_ops["add"](_ops["mul"](values, b - a), a) if (a, b) != (0, 1) else values)

    def detach_(self):
        """Has no history from now on."""
        kinds = self._dtype, self._shape, self._rank
        _ops["detach"](self, into=self)
        self._dtype, self._shape, self._rank = kinds
        return self

    def zeros_like(self, **keys):
        """Zeros in the shape and dtype of x; so are ones_like and the others."""
        return _like("zeros", self, **keys)

    def ones_like(self, **keys):
        """Ones in the shape and dtype of x."""
        return _like("ones", self, **keys)

    def empty_like(self, **keys):
        """Zeros in the shape and dtype of x, as there are no values that nobody wrote."""
        return _like("zeros", self, **keys)

    def full_like(self, fill_value, **keys):
        """One value in the shape and dtype of x."""
        return _like("full", self, fill_value, **keys)

    def rand_like(self, **keys):
        """Uniform random numbers in the shape and dtype of x."""
        return _like("rand", self, **keys)

    def randn_like(self, **keys):
        """Normal random numbers in the shape and dtype of x."""
        return _like("randn", self, **keys)

    def randint_like(self, low, high=None, **keys):
        """Random integers in the shape and dtype of x."""
        keys["dtype"] = keys.get("dtype") or self.dtype
        return _ops["randint"](low, high, self.shape, **keys) if high is not None else \
            _ops["randint"](low, self.shape, **keys)

    def new_zeros(self, *size, dtype=None, requires_grad=False):
        """Zeros in the dtype of x; so are new_ones and the others."""
        return _ops["zeros"](*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_ones(self, *size, dtype=None, requires_grad=False):
        """Ones in the dtype of x."""
        return _ops["ones"](*size, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_full(self, size, fill_value, *, dtype=None, requires_grad=False):
        """One value in the dtype of x."""
        return _ops["full"](size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad)

    def new_tensor(self, data, *, dtype=None, requires_grad=False):
        """A tensor of data in the dtype of x."""
        return tensor(data, dtype or self.dtype, requires_grad=requires_grad)


# ---- creations of few ops ---------------------------------------------------------------

def linspace(start, end, steps, *, dtype=None, requires_grad=False):
    """steps numbers from start to end, at equal distances."""
    dtype = _dtype(dtype or "f32")
    if steps < 1 or not _is_whole(steps):
        return _ops["zeros"](steps, dtype=dtype)  # which says what is expected
    step = (end - start) / (steps - 1) if steps > 1 else 0
    own = dtype if _kind(dtype) == 2 else "f64"
    for number in (start, end):
        if dtype in _WHOLE and _is_number(number):
            _whole_number(number, dtype, "linspace")
    i = _ops["arange"](steps, dtype="f64" if own == "f64" else "f32")
    up = _ops["add"](_ops["mul"](i, step), start)
    down = _ops["sub"](end, _ops["mul"](_ops["sub"](steps - 1, i), step))
    y = up if steps == 1 else _ops["where"](_ops["lt"](i, steps // 2), up, down)
    y = (_ops["trunc"](y) if own != dtype else y).to(dtype)
    return y.requires_grad_() if requires_grad else y


def randint(*args, low=None, high=None, size=None, dtype=None, seed=None, requires_grad=False):
    """randint(high, size), or (low, high, size): random integers from low, or 0, below high."""
    args = list(args)
    if size is None and args and not _is_whole(args[-1]):
        size = args.pop()
    if high is None and args:
        high = args.pop()
    if low is None and args:
        low = args.pop()
    low = low or 0
    if args or size is None or not _is_whole(low) or not _is_whole(high) or high <= low:
        raise TypeError("randint: expected (high, size) or (low, high, size), with low below high")
    dtype = _dtype(dtype or "i64")
    for number in (low, high - 1):
        if dtype in _WHOLE:
            _whole_number(number, dtype, "randint")
    of = "f32" if high - low <= 1 << 24 else "f64"
    y = _ops["rand"](size, *([] if seed is None else [seed]), dtype=of)
    y = _ops["floor"](_ops["mul"](y, high - low)).to("i64")
    y = _ops["minimum"](y, high - low - 1)
    return (_ops["add"](y, low) if low else y).to(dtype)


def normal(mean=0.0, std=1.0, size=None, **keys):
    """Normal random numbers of a mean and a deviation, which may be tensors that say the size."""
    if size is None:
        shapes = [x.shape for x in (mean, std) if isinstance(x, Tensor)]
        if not shapes:
            raise TypeError("normal: expected a size, or tensors as mean or std")
        size = _broadcast(shapes)
    return _ops["add"](_ops["mul"](_ops["randn"](size, **keys), std), mean)


def _below(x, diagonal):
    """Whether the column is not more than diagonal above the row."""
    if x.ndim < 2:
        raise TypeError(f"tril: expected 2 dimensions or more; found {_shown(x)}, which has {x.ndim}")
    rows, columns = x.shape[-2:]
    row, column = _ops["arange"](rows), _ops["arange"](columns)
    return _ops["ge"](_ops["unsqueeze"](_ops["add"](row, diagonal), axis=1), column)


_FUNCTIONS = "linspace randint normal".split()


def _axis(op, shape, dim):
    """The dimension that dim names, counted from 0."""
    if not -len(shape) <= operator.index(dim) < len(shape):
        raise IndexError(f"{op}: {dim} is not one of the {len(shape)} dimensions")
    return operator.index(dim) % len(shape)


def _with_mean(op, x, args, keys):
    where = {k: v for k, v in keys.items() if k in ("dim", "axis", "keepdim", "keepdims")}
    return _ops[op](x, *args, **keys), _ops["mean"](x, *args[:1], **where)


def _like(op, x, *args, dtype=None, **keys):
    return _ops[op](x.shape, *args, dtype=dtype or x.dtype, **keys)


def _of_ranks(op, ranks, *operands):
    """The operands, which have these ranks."""
    operands = [x if isinstance(x, Tensor) else tensor(x) for x in operands]
    for x, rank in zip(operands, ranks):
        if x.ndim != rank:
            raise TypeError(f"{op}: expected {rank} dimension{'s' * (rank > 1)}; found {_shown(x)}, "
                            f"which has {x.ndim}; gt.matmul takes vectors and matrices")
    return operands


def _unpacked(sizes):
    """Sizes that stand one by one or in a tuple."""
    return sizes if len(sizes) != 1 or _is_whole(sizes[0]) else tuple(sizes[0])

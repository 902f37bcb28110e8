"""Tensors: registers of the program, how lines are made of them, and how values come and go."""
import contextlib, copy as _copy, gc, math, operator, os, re, struct, sys, weakref
import builtins as _py

from ._hints import _meant
from ._ops import _ops
from ._pipeline import _Register, _the
from ._scopes import _end, _has_grad, _scope, enable_grad, no_grad, signal
from ._types import _common, _kind
from ._words import (_CODE, _NPY, _WHOLE, _WIDTH, Error, Failed, Lost, _dtype, _flat, _is_flag, _is_name,
                     _is_number, _is_whole, _key, _nested, _np, _number, _of_numpy, _parse, _plain, _quote,
                     _type)

_TEXT_MOST = 1000     # values that are written as numbers; more go by a file
_leaves = weakref.WeakValueDictionary()  # by number: what requires a gradient
_leaf_count = 0
_none = frozenset()


class Tensor:
    """A register of the program. Letting go of it frees it."""

    __array_priority__ = 1000  # NumPy leaves operators to this class
    __array_ufunc__ = None

    def __init__(self, register, type=None, session=None, reach=_none):
        if not (register is None or isinstance(register, _Register)):
            raise TypeError("Tensor: write gt.tensor(data), which makes one")
        self._register, self._session = register, session
        self._dtype = self._shape = self._rank = None  # as far as Python can tell
        self._known = type
        self._reach, self._leaf, self.grad = reach, None, None
        self._whole = None                             # whose data it is

    def __del__(self):
        session = getattr(self, "_session", None)
        if session is not None:
            session.dead.append(self._register)

    _name = property(lambda self: self._register and self._register.name)
    _is_mask = property(lambda self: self._dtype == "bool")

    @property
    def _known(self):
        """Its dtype and shape, where Python knows both."""
        return None if self._dtype is None or self._shape is None else (self._dtype, self._shape)

    @_known.setter
    def _known(self, type):
        self._dtype, self._shape = type or (None, None)
        self._rank = None if self._shape is None else len(self._shape)

    @property
    def name(self):
        """Its name in the program."""
        return self._name

    def rename(self, name):
        """Gives it this name, by a copy."""
        with self._session.lock:
            if name != self.name:
                old = self._register
                [new] = self._session.write(
                    lambda n: f"{n} = copy {old.name}{_end()}", 1, [name])
                new.moved, new.made, new.bound = new.made, old.made, old.bound
                self._register = new
                self._session.dead.append(old)
        return self

    def _read(self):
        line = self._session.ask(lambda: f"print {self._name}{_end()}")
        try:
            return _parse(line)
        except Failed as failed:
            self._session.told.saw(str(failed))
            message = self._session.placed(str(failed))
        raise Failed(message)

    def _find_type(self):
        if self._known is None:
            with _scope(None, None):  # no config is to cut this
                empty = _ops["unsqueeze"](self.detach(), axis=0)[0:0]
                dtype, shape, _ = empty._read()
            self._known = dtype, shape[1:]
        return self._known

    def _has_masks_type(self):
        """Whether it is bool. Asks, where nothing says so and there is somebody to ask."""
        return self._is_mask or (self._dtype is not None or self._session.can_answer()) and \
            self.dtype == "bool"

    def _same_type(self, other):
        """Python knows of it what it knows of another."""
        self._dtype, self._shape, self._rank = other._dtype, other._shape, other._rank
        return self

    dtype = property(lambda self: sys.intern(self._dtype or self._find_type()[0]))  # x.dtype is gt.float32
    shape = property(lambda self: self._shape if self._shape is not None else self._find_type()[1])
    ndim = property(lambda self: len(self.shape) if self._rank is None else self._rank)
    is_leaf = property(lambda self: not self._history or self._leaf is not None)
    itemsize = property(lambda self: _WIDTH[self.dtype])
    nbytes = property(lambda self: self.numel() * self.itemsize)
    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.transpose(-2, -1))

    @property
    def data(self):
        """Its values without their history. What changes them in place changes x, too, as it
        would under no_grad()."""
        values = self.detach()._same_type(self)
        values._whole = self
        return values

    @data.setter
    def data(self, values):
        if getattr(values, "_whole", None) is not self:  # which has changed in place
            with no_grad():
                self.copy_(values)

    # What requires a gradient and went into it; integers and bool have none, where Python knows their dtype.
    _history = property(lambda self: _none if self._dtype is not None and _kind(self._dtype) < 2 else self._reach)
    requires_grad = property(lambda self: _py.bool(self._history), lambda self, on: self.requires_grad_(on))

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def numel(self):
        """How many elements it has."""
        return math.prod(self.shape)

    nelement = numel

    def element_size(self):
        return self.itemsize

    def is_floating_point(self):
        """Whether its dtype is one of floats."""
        return _kind(self.dtype) == 2

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self._name} is a scalar, which has no length and no rows")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _values(self):
        """(dtype, shape, values): a NumPy array where NumPy is, else a flat list."""
        session = self._session
        session.check()
        by_file = self.numel() > _TEXT_MOST
        if by_file and self.dtype == "bf16":
            return "bf16", self.shape, self.cast("f32")._values()[2]
        if by_file:
            path, name = session.place()
            try:
                session.ask(lambda: f"save {self._name} {_quote(name)}{_end()}#sync python\n")
                if name != path:
                    with contextlib.suppress(Error):  # of what failed there is no file
                        session.courier.run("fetch", name, path)
                if os.path.exists(path):
                    return (*self._known, _load_npy(path, *self._known))
            finally:
                session.remove(path, name)
        dtype, shape, words = self._read()  # of what failed, it says why
        self._known = dtype, shape
        values = [_value(word, dtype) for word in words]
        return dtype, shape, _np.array(values, _NPY.get(dtype, "<f4")).reshape(shape) \
            if _np is not None else values

    def numpy(self, *, force=False):
        """Its values as a NumPy array; waits for them."""
        if _np is None:
            raise Error("numpy: NumPy is not installed; use tolist()")
        return self._values()[2]

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def tolist(self):
        """Its values as nested lists."""
        _, shape, values = self._values()
        return values.tolist() if _np is not None else _nested(values, shape)

    def item(self):
        """The one value that it has, as a Python number."""
        dtype, shape, words = self._read()
        self._known = dtype, shape
        if len(words) != 1:
            raise Error(f"item: {self._name} is {_type(shape, dtype)}, not one value")
        return _value(words[0], dtype)

    def __format__(self, spec):
        return format(self.item(), spec) if spec or not self.ndim else str(self)

    def __getattr__(self, name):  # of what there is not
        raise AttributeError(f"a tensor has no {name!r}{_meant(name)}")

    __float__ = lambda self: float(self.item())
    __int__ = lambda self: int(self.item())
    __bool__ = lambda self: _py.bool(self.item())

    def __index__(self):
        if self._dtype is not None and _kind(self._dtype) == 2:
            raise TypeError(f"{self._name} is {self._dtype}, and only integers are an index")
        value = self.item()
        if isinstance(value, float):
            raise TypeError(f"{self._name} is {self.dtype}, and only integers are an index")
        return int(value)

    def __repr__(self):
        """Its values; of many, those at the ends of each dimension."""
        x, shape = self, self.shape
        whole = self.numel() <= _TEXT_MOST
        if not whole:  # a dimension of more than 6 is shown by 3 at each end
            x = self.detach()
            for axis, n in enumerate(shape):
                if n > 6:
                    x = _ops["take"](x, tensor([0, 1, 2, 3, n - 3, n - 2, n - 1]), axis=axis)
        more = "" if self.dtype in ("f32", "i64", "bool") else f", dtype={self.dtype}"
        if not whole:
            more = f", shape={shape}{more}"
        if _np is None:
            return f"tensor({x.tolist()}{more})"
        limits = {} if whole else {"threshold": 0, "edgeitems": 3}
        return "tensor(" + _np.array2string(x.numpy(), separator=", ", prefix="tensor(", **limits) + more + ")"

    def print_(self, as_=None):
        """Has it printed as a line of results when it is there; waits for nothing."""
        session = self._session
        if as_ and not _is_name(as_):
            raise Error(f"print_: expected a name to print under; found {as_!r}")
        as_ = f" as={as_}" if as_ else ""
        shows = session.can_answer()
        session.write(lambda: f"print {self._name}{as_}{_end()}",
                      expect=(lambda line: print(line, flush=True)) if shows else None)

    def save(self, path):
        """Writes it to a .npy file or "FILE.safetensors:NAME", and does not wait for that; gt.sync()
        does, and raises what failed."""
        _save_all([(self, path)])

    def _find_saved(self, path):
        """Raises why it was not saved, if it was not."""
        dtype, shape = self._find_type()
        with _scope(None, None):
            saved = _call("load", [path, _type(shape, dtype)])[0]
            _ops["slice"](_ops["unsqueeze"](saved, axis=0), "0:0")._read()

    # Gradients.
    def requires_grad_(self, requires_grad=True):
        """Whether backward() gives it a gradient."""
        global _leaf_count
        if requires_grad and self._leaf is None:
            if self._known is not None and "f" not in self._known[0]:
                raise Error(f"only tensors of floats can require gradients; {self._name or 'the parameter'} is "
                            f"{_type(self._known[1], self._known[0])}: write 2.0 in place of 2, or "
                            'dtype="f32"')
            if self._reach:
                raise Error(f"{self._name} is computed from what requires a gradient: detach it")
            _leaf_count += 1
            self._leaf, self._reach = _leaf_count, frozenset([_leaf_count])
            _leaves[self._leaf] = self
        elif not requires_grad and self._leaf is not None:
            del _leaves[self._leaf]
            self._leaf, self._reach = None, _none
        return self

    def _targets(self):
        return [_leaves[n] for n in sorted(self._history) if n in _leaves]

    def _is_loss(self, caller):
        """Whether the program will take it as one, as far as Python can tell: a scalar, or one
        element in a shape, whose sum is meant. Raises where it will not."""
        if self._known is None or math.prod(self._known[1]) == 1:
            return self._known is None or not self._known[1]
        raise Error(f"{caller}: expected one element, as a loss has; found {self.name}, which is "
                    f"{_type(self._known[1], self._known[0])}: take its sum() or mean(), or write "
                    "x.backward(gradient), where the gradient has its shape")

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Adds to the .grad of each tensor that requires one and went into this: a scalar,
        or a tensor that is multiplied by its gradient first."""
        retain_graph = create_graph if retain_graph is None else retain_graph
        if gradient is not None:
            if not isinstance(gradient, Tensor):
                raise TypeError(f"backward: expected a tensor as gradient; found {gradient!r}; "
                                "retain_graph= is a keyword")
            with enable_grad():
                whole = (self * gradient).sum()
            return whole.backward(None, retain_graph, create_graph, inputs)
        self._is_loss("backward")
        targets = self._targets()
        if inputs is not None:
            wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
            targets = [target for target in targets if _py.any(target is x for x in wanted)]
        if not targets:
            raise Error(f"backward: nothing that requires a gradient, and is still there, went into "
                        f"{self._name}, or an earlier backward took its history")
        for target, new in zip(targets, grad(self, targets, retain_graph=retain_graph)):
            if not create_graph:
                new._reach = _none
            if target.grad is None:
                target.grad = new
            elif create_graph:
                target.grad = target.grad + new
            else:
                _call("add", [target.grad, new], into=[target.grad], type=new._known)

    # Operators.
    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        index = [tensor(i, None if len(i) else "i64") if isinstance(i, (list, tuple, range)) else
                 tensor(i) if hasattr(i, "__array__") and not isinstance(i, Tensor) and not _is_whole(i) else i
                 for i in index]
        if Ellipsis in [i for i in index if not isinstance(i, Tensor)]:
            at = [i is Ellipsis for i in index].index(True)
            missing = self.ndim - _py.sum(i is not None for i in index) + 1
            index = index[:at] + [slice(None)] * missing + index[at + 1:]
        known = self._known
        if known is not None and _py.sum(i is not None for i in index) > len(known[1]):
            raise IndexError(f"more indices than axes of {self._name}, which is "
                             f"{_type(known[1], known[0])}")
        if _py.any(isinstance(i, Tensor) for i in index):
            return self._picked(index)
        words, new, out = [], [], 0
        for i in index:
            if i is None:
                new.append(out)
            elif isinstance(i, slice):
                colon = [i.start, i.stop] + ([i.step] if i.step is not None else [])
                if colon[2:] and operator.index(colon[2]) < 1:
                    raise IndexError(f"expected steps of 1 or more; found {i}; flip() turns a dimension")
                words.append(":".join("" if n is None else str(operator.index(n)) for n in colon))
            else:
                words.append(self._one(i, len(words)))
                out -= 1
            out += 1
        y = _ops["slice"](self, *words) if words else self
        for axis in new:
            y = _ops["unsqueeze"](y, axis=axis)
        return y

    def _one(self, i, axis):
        """The word of an index that is one number."""
        if not hasattr(i, "__index__") or _is_flag(i):
            raise IndexError(f"expected a number, a range, a tensor or None as an index; found {i!r}")
        i, known = operator.index(i), self._known
        size = known and known[1][axis]
        if known is not None and not -size <= i < size:
            raise IndexError(f"index {i} is out of range of {self._name}, which is "
                             f"{_type(known[1], known[0])}")
        return str(i)

    def _picked(self, index):
        """The rows that one tensor among whole ranges names."""
        [axis, *more] = [a for a, i in enumerate(index) if isinstance(i, Tensor)]
        if _is_bool(index[axis]):
            raise IndexError("there are no boolean masks, as a shape does not depend on values: "
                             "write gt.where(mask, x, 0), or mask.cast(x.dtype) * x")
        if more or _py.any(i != slice(None) for a, i in enumerate(index) if a != axis):
            raise IndexError("expected one tensor or list among whole ranges, as in x[:, i]: "
                             "use take(index, axis=) once for each axis, or gather")
        return self.take(index[axis], axis=axis)

    def __setitem__(self, index, value):
        raise TypeError("there is no assignment to a part of a tensor: use where, scatter or concat, "
                        "which make another")

    def __hash__(self):
        return id(self)

    def __deepcopy__(self, memo):
        """Its values in a register of its own, and its .grad likewise."""
        if self._reach and not self._leaf:
            raise Error(f"deepcopy: {self._name} is computed from what requires a gradient, and a copy has "
                        "no history: write x.detach(), or x.clone(), which keeps it")
        twin = self.detach()._same_type(self)
        twin.grad = _copy.deepcopy(self.grad, memo)
        return twin.requires_grad_(self._leaf is not None)

    def __reduce_ex__(self, _):
        raise TypeError("a tensor is a register of this session, which cannot be pickled or shared by a "
                        "copy.copy: write x.clone() or copy.deepcopy(x), or x.save(path) for its values")


def _is_bool(value):
    """Whether it is True, False, or a tensor that is bool as far as Python can tell."""
    return value._is_mask if isinstance(value, Tensor) else _is_flag(value)


def _shown(value):
    """A value for a message, which is not to wait for a tensor."""
    return f"the tensor {value._name}" if isinstance(value, Tensor) else repr(value)


def _carry(x, name):
    """A copy of x among the lines of that signal, so that a config may say where it is."""
    with signal(name):
        return _ops["copy"](x)


signal.tensor = _carry


def _value(word, dtype):
    """A word of a result as the number of Python that has the very value, as item() in PyTorch."""
    if dtype == "bool":
        return word == "1"
    if "f" not in dtype:
        return int(word)
    value = float(word)
    if dtype == "f64" or not math.isfinite(value):
        return value
    if dtype == "bf16":  # the nearest of those whose 32 bits end with 16 zeros
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    return struct.unpack("<" + _CODE[dtype], struct.pack("<" + _CODE[dtype], value))[0]


def _call(op, operands, keys=None, count=1, names=(), into=(), type=None):
    """Writes COUNT results = OP OPERANDS KEYS, and gives the results."""
    session, reach = _the(), _none
    for word in operands:
        if isinstance(word, Tensor):
            if word._session not in (None, session):
                raise Lost(f"{word._name} is of a session that is closed")
            if not word._reach <= reach and word._history:
                reach = reach | word._reach if reach else word._reach
            if word._name is None:
                word._bind(None)
    keys = [f"{key}={_key(value)}" for key, value in (keys or {}).items()]
    end = _end()
    cut = _py.bool(reach) and not _has_grad()
    results = [into[i] if i < len(into) else None for i in range(count)]
    if cut or op in ("grad", "detach", "sgd", "adamw"):
        reach = _none

    def line(*made):
        words = [w._name if isinstance(w, Tensor) else w if isinstance(w, str) else _number(w)
                 for w in operands]
        text = f"{' '.join(made)} = {' '.join([op, *words, *keys])}{end}"
        return text + "".join(f"{n} = detach {n}{end}" for n in made) if cut else text
    for tensor in results:
        if tensor is not None and tensor._name is None:
            tensor._bind(None)
        if tensor is not None and tensor._leaf and reach:
            raise Error(f"{tensor._name} requires a gradient: change it under gt.no_grad()")
    made = session.write(line, count, [r._register if r is not None else names[i] if i < len(names) else None
                                       for i, r in enumerate(results)])
    for i, register in enumerate(made):
        if results[i] is None:
            results[i] = Tensor(register, type, session, reach)
        else:
            if op not in ("sgd", "adamw"):
                results[i]._known = type
            results[i]._reach = results[i]._reach if results[i]._leaf else reach
            whole = results[i]._whole
            if whole is not None:
                known = whole._dtype, whole._shape, whole._rank
                with no_grad():
                    _call("copy", [results[i]], into=[whole], type=results[i]._known)
                if whole._known is None:
                    whole._dtype, whole._shape, whole._rank = known
    return results


def grad(loss, targets, *, retain_graph=False):
    """The gradients of a scalar by each of the targets."""
    targets = [targets] if isinstance(targets, Tensor) else list(targets)
    for x in (loss, *targets):
        if not isinstance(x, Tensor):
            raise TypeError(f"grad: expected tensors, a scalar and what it depends on; found {x!r}")
    since, whole = loss._register.made if loss._register else 0, loss
    if not loss._is_loss("grad"):
        with enable_grad():
            loss = loss.sum()
    registers = [target._register for target in targets]
    for register in registers:
        if register and register.moved > since:
            raise Error(f"grad: {register.name} was given that name after the loss was computed, "
                        "which depends on it by its old one: name it before that")
    # Of these, what their names held before is not meant, as gt-emit would think.
    reused = [i for i, register in enumerate(registers) if register and (
        register.made > since or (register.reused and register.bound == register.made))]
    keys = {**({"retain": 1} if retain_graph else {}), **({"reused": reused} if reused else {})}
    out = _call("grad", [loss, *targets], keys, len(targets))
    for target, gradient in zip(targets, out):
        gradient._known = target._known
        gradient._reach = loss._reach if retain_graph else _none
    if not retain_graph and not whole._leaf:
        whole._reach = _none
    return out


def _zero_grads(tensors, set_to_none):
    """Forgets the gradients of these, or fills them with zeros."""
    for x in tensors:
        if x.grad is not None and not set_to_none:
            x.grad.zero_()
        else:
            x.grad = None


# ---- data ---------------------------------------------------------------------------

def tensor(data, dtype=None, name=None, requires_grad=False):
    """A tensor of a number, nested lists or an array. Floats are f32 if not told
    else, integers i64; an array, a number of NumPy and a tensor keep their dtype. More than
    1,000 values travel in a file beside the text."""
    session = _the()
    if isinstance(data, Tensor):
        out = _call("detach", [data], names=[name])[0]._same_type(data)
        if dtype is not None and out._dtype != _dtype(dtype):
            out = _ops["cast"](out, dtype, name=name)
        return out.requires_grad_() if requires_grad else out
    if hasattr(data, "__array__") and _np is not None:
        data = _np.asarray(data)
        found = _of_numpy(data.dtype)
        if found is None:
            raise TypeError(f"tensor: an array of {data.dtype}; there are {' '.join(_NPY)}: write "
                            'array.astype("float32")')
        shape, count, values = data.shape, data.size, data
    else:
        found = _found_in(data)
        values, shape = _flat(data.tolist() if hasattr(data, "tolist") else data)
        count = len(values)
    dtype = _dtype(dtype or found)
    if count <= _TEXT_MOST:
        flat = values.ravel().tolist() if _np is not None and values is data else values
        if dtype[0] in "iu":
            flat = [_whole_number(v, dtype) for v in flat]
        elif dtype == "bool":
            flat = [_py.bool(v) for v in flat]
        out = _call("tensor", [_type(shape, dtype), *flat], names=[name], type=(dtype, shape))[0]
    else:
        if dtype[0] in "iu":
            values = _whole_numbers(values, dtype)
        path, sent = session.place()
        stored = "f32" if dtype == "bf16" else dtype
        _save_npy(path, values, stored, shape)
        if sent != path:
            session.courier.run("send", path, sent)
        with _scope("once", ""):
            out = _call("load", [_quote(sent), _type(shape, stored)], names=[name],
                        type=(stored, shape))[0]
        if session.can_answer():
            session.travels(out._register, (path, sent), os.path.getsize(path))
        if stored != dtype:
            _call("cast", [out, dtype], into=[out], type=(dtype, shape))
            out._register.made = out._register.bound
    return out.requires_grad_() if requires_grad else out


def _whole_number(value, dtype, caller="tensor"):
    """A value as one of an integer dtype, which is refused where the dtype does not hold it."""
    low, high = _WHOLE[dtype]
    if isinstance(value, float) and not math.isfinite(value) or not low <= int(value) <= high:
        raise Error(f"{caller}: {value} is none of the values of {dtype}, which are {low} to {high}")
    return int(value)


def _whole_numbers(values, dtype):
    """Many values as those of an integer dtype, which are refused where it does not hold one of them."""
    if _np is None:
        return [_whole_number(v, dtype) for v in values]
    low, high = _WHOLE[dtype]
    values = _np.asarray(values)
    if values.dtype == object:  # larger than any integer of NumPy
        values = values.ravel()
        return [_whole_number(v, dtype) for v in values]
    whole = _np.trunc(values) if values.dtype.kind == "f" else values
    # Of floats the bound above is one more, as the greatest i64 is none.
    fits = (whole >= low) & ((whole < float(high + 1)) if values.dtype.kind == "f" else (whole <= high))
    if not fits.all():
        _whole_number(values[~fits].flat[0].item(), dtype)  # which says so
    return values


def _found_in(data):
    """The dtype of nested lists: that of their elements together. Floats of Python are f32."""
    if isinstance(data, (list, tuple, range)):
        found = None
        for part in data:
            if not (isinstance(part, (list, tuple)) and not part):
                found = _common(found, _found_in(part))
        return found or "f32"
    if isinstance(data, Tensor):
        return data.dtype
    if hasattr(data, "dtype") and _np is not None:
        found = _of_numpy(data.dtype)
        if found is not None:
            return found
    if not _is_number(data):
        return "f32"
    return {_py.bool: "bool", int: "i64", float: "f32"}[type(_plain(data))]


def as_tensor(data, dtype=None):
    """A tensor as it is, if it has that dtype; else gt.tensor(data, dtype), which copies."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return tensor(data, dtype)


def asarray(obj, *, dtype=None, requires_grad=False):
    """as_tensor, which may require a gradient."""
    out = as_tensor(obj, dtype)
    return out.requires_grad_() if requires_grad else out


def from_numpy(ndarray, requires_grad=False):
    """A tensor with the values of an array, which it does not share."""
    if _np is None or not isinstance(ndarray, _np.ndarray):
        raise TypeError(f"from_numpy: expected an array of NumPy; found {ndarray!r}")
    return tensor(ndarray, requires_grad=requires_grad)


def is_tensor(obj):
    """Whether it is a tensor."""
    return isinstance(obj, Tensor)


def tape(x):
    """The history of x, which x.backward() walks, as the lines of a program with their types."""
    answer = _the().ask(lambda: f"#tape {x.name}\n#sync python\n")
    return re.sub("%(..)", lambda m: chr(int(m[1], 16)), answer.removesuffix("#sync python"))


def print_tape(x=None):
    """Prints tape(x); without x, that of the tensor that was computed last and has a history."""
    if x is None:
        computed = [t for t in gc.get_objects() if type(t) is Tensor and t._reach and not t._leaf]
        if not computed:
            raise Error("print_tape: no tensor has a history: nothing requires a gradient, or backward() "
                        "took it; call it before that, or with a tensor, as print_tape(loss)")
        x = _py.max(computed, key=lambda t: t._register.bound)
    print(tape(x), end="")


# ---- random numbers --------------------------------------------------------------------

def manual_seed(seed):
    """From now on creations and dropout draw as they did after this call before, in this process or
    another. A state between is get_rng_state()."""
    if not _is_number(seed) or isinstance(_plain(seed), float):
        raise TypeError(f"manual_seed: expected a whole number; found {seed!r}")
    set_rng_state(tensor(int(seed)))


def get_rng_state():
    """The state from which the next random numbers are drawn, a scalar, which can be saved."""
    return _call("copy", ["_eseed"], type=("i64", ()))[0]


def set_rng_state(new_state):
    """Goes on from what get_rng_state() gave."""
    state = tensor(new_state, "i64")
    with _scope(None, None):
        _the().write(lambda: f"_eseed = copy {state._name}{_end()}")
    _the().is_seeded = True


def _save_all(parts):
    """Saves (tensor, path) together: those to one file are all written, or none."""
    quoted = [(tensor, _quote(os.fspath(path))) for tensor, path in parts]
    if not quoted:
        return
    lines = lambda: "".join(f"save {tensor._name} {path}{_end()}" for tensor, path in quoted)
    for tensor, _ in quoted:
        tensor._session.check()
    session = quoted[0][0]._session
    session.write(lines if len(quoted) == 1 else lambda: f"#saves begin\n{lines()}#saves end\n")
    for tensor, path in quoted:
        if tensor._session.told.any and tensor._session.can_answer():  # it may tell a second failure no more
            tensor._find_saved(path)


def _take_seed():
    """A scalar with the seed of what is drawn next, which nothing else will draw from; None where
    manual_seed() was not called, since then nobody can tell from which seed one draws."""
    if not _the().is_seeded:
        return None
    with _scope(None, None):
        seed = get_rng_state()
        _the().write(lambda: f"_eseed = add _eseed 1{_end()}")
    return seed


def _save_npy(path, values, dtype, shape):
    if _np is not None:
        return _np.save(path, _np.ascontiguousarray(_np.asarray(values, _NPY[dtype]).reshape(shape)))
    head = f"{{'descr': '{_NPY[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head = head.ljust(-(-(len(head) + 11) // 64) * 64 - 11) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(values)}{_CODE[dtype]}", *values))


def _load_npy(path, dtype, shape):
    if _np is not None:
        return _np.load(path)
    with open(path, "rb") as file:
        data = file.read()
    wide = data[6] > 1
    begin = (12 if wide else 10) + struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    return list(struct.unpack_from(f"<{math.prod(shape)}{_CODE[dtype]}", data, begin))



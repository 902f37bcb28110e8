"""Modules: parts of a model, with their parameters, buffers and states."""
import collections, collections.abc, copy as _copy, functools, itertools, math, sys, warnings

from .._hints import _INSTEAD
from .._ops import _ops
from .._pipeline import _the, sync
from .._scopes import no_grad
from .._tensor import Tensor, _call, _save_all, _shown, _take_seed, _zero_grads, tensor
from .._words import Error, _dtype, _is_name, _is_whole, _quote, _states_path, _type
from .._types import _kind


class Parameter(Tensor):
    """A tensor of a module that requires a gradient: Parameter(t) has the values of t, and
    Parameter("randn", shape, scale=0.1) those of a creation. It is made, with its name in
    the module, at its first use."""

    def __init__(self, op, shape=(), dtype="f32", requires_grad=True, **options):
        if isinstance(op, Tensor):  # as in PyTorch
            values = op.detach()._same_type(op)
            super().__init__(None, (values.dtype, values.shape))
            self._recipe = "copy", (values,), {}
            self.requires_grad_(shape if isinstance(shape, bool) else requires_grad)
            return
        for word in (op, *options):
            if not _is_name(word):
                raise Error("Parameter: expected the name of a function and its keys, as in "
                            f'Parameter("randn", (2, 3), scale=0.1); found {_shown(word)}')
        super().__init__(None, (dtype, tuple(shape)))
        seed = _take_seed() if op in ("randn", "rand") else None
        self._recipe = op, (_type(shape, dtype), *([] if seed is None else [seed])), options
        self.requires_grad_(requires_grad)

    @property
    def name(self):
        if self._name is None:
            self._bind(None)
        return self._name

    def _bind(self, name):
        if self._name is not None:
            return
        session, (op, operands, keys) = _the(), self._recipe
        known = name
        if op == "copy" and name in session.used and session.used[name] not in session.dead:
            known = None  # what it is a copy of, or another copy, keeps the name
        with no_grad():
            made = _call(op, operands, keys, names=[known])[0]
        self._register, self._session, made._session = made._register, session, None
        self._register.given = name or self._register.given
        self._recipe = None

    def __deepcopy__(self, memo):
        """A parameter with the values of now and no .grad, which is made and named as any other."""
        if self._recipe:  # whose values are made now, and once
            op, operands, keys = self._recipe
            values = _call(op, operands, keys, type=self._known)[0] if op != "copy" else operands[0]
            self._recipe = "copy", (values,), {}
        else:
            values = self.detach()
        twin = type(self).__new__(type(self))
        Tensor.__init__(twin, None, self._known)
        twin._recipe = "copy", (values,), {}
        return twin.requires_grad_(self._leaf is not None)


def _when_bound(f):
    @functools.wraps(f)
    def method(self, *args, **keys):
        self.name
        return f(self, *args, **keys)
    return method


for _part in "_values _read print_ save rename".split():
    setattr(Parameter, _part, _when_bound(getattr(Tensor, _part)))


def _warn(text):
    """Warns at the line outside of gt that led here."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gt":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


class _Parts(list):
    """A list, of which next() takes one after the other, as of PyTorch's iterators."""

    def __next__(self):
        self._rest = getattr(self, "_rest", None) or iter(self)
        return next(self._rest)


class Module:
    """A part of a model. Parameters and modules that are its attributes, and tensors that require a
    gradient, are named by them: the up of a Module's mlp has mlp.up.w. Subclasses define forward."""

    training = True
    _compiled_in = None

    def __init__(self, *args, **keys):
        if args or keys:
            raise TypeError(f"{type(self).__name__}: expected no arguments, as it defines no __init__")

    def __setattr__(self, name, value):
        if isinstance(value, Tensor) and not isinstance(value, Parameter) and \
                isinstance(vars(self).get(name), Parameter):
            raise TypeError(f"{type(self).__name__}: {name} is a Parameter, and a tensor in its place would not be trained: "
                            f"write self.{name}.copy_(x) under gt.no_grad(), nn.Parameter(x), or another name")
        object.__setattr__(self, name, value)

    # What there is in it.
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """It and all its parts, each once, by their names; its own is ""."""
        memo = set() if memo is None else memo
        if self in memo and remove_duplicate:
            return
        memo.add(self)
        yield prefix, self
        for key, part in self.named_children():
            yield from part.named_modules(memo, f"{prefix}.{key}" if prefix else key, remove_duplicate)

    def modules(self):
        """It and all its parts, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """The modules that are its attributes."""
        for key, value in list(vars(self).items()):
            if isinstance(value, Module):
                yield key, value

    def children(self):
        """The modules that are its attributes."""
        return (part for _, part in self.named_children())

    def apply(self, fn):
        """Calls fn with each part, and with it."""
        for part in self.children():
            part.apply(fn)
        fn(self)
        return self

    def _attach(self, name, part, kind):
        """Sets the attribute, which must not hide another one, such as a method."""
        what = type(self).__name__
        if not isinstance(name, str):
            raise TypeError(f"{what}: expected a name, found {name!r}")
        taken = hasattr(type(self), name) or not isinstance(vars(self).get(name), (kind, type(None)))
        if not name or "." in name or taken:
            why = "it is empty" if not name else "it has a '.'" if "." in name else \
                f"a {what} has an attribute of that name"
            raise KeyError(f"{what}: {name!r} cannot be a name here: {why}")
        setattr(self, name, part)

    def add_module(self, name, module):
        """Makes the module its attribute."""
        if not isinstance(module, (Module, type(None))):
            raise TypeError(f"{type(self).__name__}: expected a module; found {module!r}")
        self._attach(name, module, Module)

    register_module = add_module

    def register_parameter(self, name, param):
        """Makes the parameter its attribute."""
        self._attach(name, param, Tensor)

    def register_buffer(self, name, tensor, persistent=True):
        """Makes the tensor its attribute, which is saved with it and not trained."""
        self._attach(name, tensor, Tensor)
        self.__dict__.setdefault("_buffers", {})[name] = persistent

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Tensors that were registered as buffers, by their names."""
        seen = set()
        for where, module in self.named_modules(prefix=prefix):
            for key in module.__dict__.get("_buffers", ()):
                value = getattr(module, key)
                if value is not None and (value not in seen or not remove_duplicate):
                    seen.add(value)
                    yield f"{where}.{key}" if where else key, value
            if not recurse:
                return

    def buffers(self, recurse=True):
        """Tensors that were registered as buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """What is trained, each once, by its name."""
        self._warn_of_lists()
        seen = set()
        for name, value in self._places(prefix, recurse):
            if isinstance(value, Parameter):
                value._bind(name)
            if value not in seen or not remove_duplicate:
                seen.add(value)
                yield name, value

    def _places(self, prefix="", recurse=True):
        """Each place that has a parameter: its name and the parameter."""
        for key, value in list(vars(self).items()):
            name = f"{prefix}{key}" if prefix or key[0] not in "_0123456789" else f"m{key}"
            if isinstance(value, Parameter) or isinstance(value, Tensor) and value._leaf is not None and \
                    key not in self.__dict__.get("_buffers", ()):
                yield name, value
            elif isinstance(value, Module) and recurse:
                yield from value._places(name + ".")

    def _warn_of_lists(self):
        for module in self.modules():
            own = type(module).__name__
            for key, value in vars(module).items():
                if not isinstance(value, _CONTAINERS) or (type(module), key) in _warned:
                    continue
                what = _trained_in(value)
                if not what:
                    continue
                _warned.add((type(module), key))
                _warn(f"{own}.{key} is a {type(value).__name__}, and {what.lower()}s in it are not trained, as in "
                      f"PyTorch: nn.{what}{'Dict' if isinstance(value, dict) else 'List'} has {what.lower()}s that are")

    def parameters(self, recurse=True):
        """What is trained, each once."""
        return _Parts(p for _, p in self.named_parameters(recurse=recurse))

    def get_parameter(self, target):
        """The parameter of that name."""
        found = dict(self.named_parameters())
        if target not in found:
            raise AttributeError(f"{type(self).__name__} has no parameter {target!r}; there are {', '.join(found)}")
        return found[target]

    def __getattr__(self, name):  # of what there is not
        other = {"weight": "w", "bias": "b"}.get(name)
        if other is not None and isinstance(vars(self).get(other), Tensor):
            shape = vars(self)[other].shape
            advice = "; PyTorch's is [outputs, inputs], which w.t() is" if isinstance(self, Linear) and \
                name == "weight" else ""
            raise AttributeError(f"{type(self).__name__} has no {name!r}: its {name} is {other}, of the shape "
                                 f"{list(shape)}{advice}")
        instead = _INSTEAD.get(name)
        raise AttributeError(f"{type(self).__name__} has no {name!r}" + (f"; {instead}" if instead else ""))

    # How it is.
    def train(self, mode=True):
        """Whether Dropout drops, here and in all parts."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Whether backward() gives its parameters gradients."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def to(self, dtype=None, *args, **keys):
        """Parameters and buffers of floats in another dtype."""
        if not isinstance(dtype, (str, type)) and not isinstance(dtype, Tensor):
            dtype = _dtype(dtype)
        dtype = dtype.dtype if isinstance(dtype, Tensor) else dtype
        for p in [*self.parameters(), *self.buffers()]:
            target = p.to(dtype) if _kind(p.dtype) == 2 else p  # which says what it expects
            if target is not p:
                with no_grad():
                    _call("cast", [p, _dtype(dtype)], into=[p], type=(_dtype(dtype), p.shape))
        return self

    def float(self):
        """to("f32")."""
        return self.to("f32")

    def double(self):
        """to("f64")."""
        return self.to("f64")

    def half(self):
        """to("f16")."""
        return self.to("f16")

    def bfloat16(self):
        """to("bf16")."""
        return self.to("bf16")

    def cpu(self):
        """It itself, as the environment says where lines run."""
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients of all parameters."""
        _zero_grads(self.parameters(), set_to_none)

    # States.
    def state_dict(self, *, prefix=""):
        """Parameters and buffers by their names. They are the tensors themselves, as in PyTorch; one that
        is in two places has two names."""
        for _ in self.named_parameters():  # which names them
            pass
        out = collections.OrderedDict((prefix + name, value) for name, value in self._places())
        for where, module in self.named_modules(remove_duplicate=False):
            for key, persistent in module.__dict__.get("_buffers", {}).items():
                if persistent and getattr(module, key) is not None:
                    out[prefix + (f"{where}.{key}" if where else key)] = getattr(module, key)
        return out

    def load_state_dict(self, state_dict, strict=True):
        """Takes the values of a state_dict() for its own parameters and buffers."""
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict and (missing or unexpected):
            told = "; PyTorch's weight is w here, and bias b" if any(
                name.rpartition(".")[2] in ("weight", "bias") for name in unexpected) else ""
            raise Error("load_state_dict: " + "; ".join(
                f"{word} {', '.join(names)}" for word, names in (("missing", missing), ("unexpected", unexpected))
                if names) + told)
        for name in own:
            if name in state_dict:
                new = state_dict[name] if isinstance(state_dict[name], Tensor) else tensor(state_dict[name])
                if new.shape != own[name].shape:
                    raise Error(f"load_state_dict: {name} has the shape {own[name].shape}; found {new.shape}")
        with no_grad():
            done = set()
            for name, value in own.items():
                if name in state_dict and value not in done and state_dict[name] is not value:
                    done.add(value)
                    value.copy_(state_dict[name])
        return _Keys(missing, unexpected)

    def save(self, path):
        """Writes parameters and buffers to a safetensors file, and waits for it. Raises why it could not."""
        path = _states_path(path, "save")
        _save_all((value, f"{path}:{name}") for name, value in self._saved())
        if _the().can_answer():
            sync()

    def load(self, path):
        """Reads them from a safetensors file."""
        path = _states_path(path, "load")
        for name, value in self._saved():
            _call("load", [_quote(f"{path}:{name}"), _type(value.shape, value.dtype)], into=[value],
                  type=value._known)
        return self

    def _saved(self):
        seen = set()
        for name, value in self.state_dict().items():
            if value not in seen:
                seen.add(value)
                yield name, value

    def __deepcopy__(self, memo):
        """A module of its own, with copies of its parameters, named when it is first called."""
        twin = memo[id(self)] = type(self).__new__(type(self))
        twin.__dict__.update(_copy.deepcopy({k: v for k, v in vars(self).items() if k != "_is_bound"}, memo))
        return twin

    # Calls.
    def forward(self, *args, **keys):
        """What a call computes; a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *args, **kwargs):
        if not self.__dict__.get("_is_bound"):
            self._bind_all("")
        if self._compiled_in is not None:
            with self._compiled_in():
                return self.forward(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _bind_all(self, prefix):
        for _ in self.named_parameters(prefix):
            pass
        for module in self.modules():
            module.__dict__["_is_bound"] = True

    def _compiled(self, scope):
        """The same module, whose calls are each within a scope()."""
        twin = _copy.copy(self)
        twin.__dict__["_compiled_in"] = scope
        return twin

    def __repr__(self):
        parts = [f"  ({key}): " + repr(part).replace("\n", "\n  ") for key, part in self.named_children()]
        return type(self).__name__ + ("(\n" + "\n".join(parts) + "\n)" if parts else f"({self.extra_repr()})")

    def extra_repr(self):
        """What stands between the brackets when it is printed."""
        return ""


_warned = set()
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)


def _trained_in(value, depth=5):
    """What is in it that an optimizer could train: "Module", "Parameter" or "". Of a long list the beginning counts."""
    if isinstance(value, Module):
        return "Module"
    if isinstance(value, Tensor):
        return "Parameter" if value._leaf is not None else ""
    if depth == 0 or not isinstance(value, _CONTAINERS):
        return ""
    parts = value.values() if isinstance(value, dict) else value
    return next(filter(None, (_trained_in(part, depth - 1) for part in itertools.islice(parts, 100))), "")


_Keys = collections.namedtuple("Keys", "missing_keys unexpected_keys")


# The least that the sizes of layers may be.
_LEAST = {"in_features": 0, "out_features": 0, "num_embeddings": 0, "embedding_dim": 0, "normalized_shape": 0,
          "in_channels": 1, "out_channels": 1, "kernel_size": 1, "stride": 1, "padding": 0, "dilation": 1,
          "groups": 1, "width": 1, "hidden": 1, "experts": 1, "top_k": 1, "shared": 0}


def _check_sizes(layer, **sizes):
    """Raises an exception for a size that no layer has. A size may be several, left out, or a word."""
    for name, value in sizes.items():
        least = _LEAST.get(name)
        if least is None or value is None or isinstance(value, str):
            continue
        several = value if isinstance(value, (tuple, list)) else (value,)
        if not all(map(_is_whole, several)):
            raise TypeError(f"{layer}: expected {name} to be a whole number; found {value!r}")
        if any(n < least for n in several):
            raise ValueError(f"{layer}: expected {name} of at least {least}; found {value!r}")


class Linear(Module):
    """x @ w + b with w [inputs, outputs], which begins with normal numbers of the deviation
    1 / sqrt(inputs), and b with zeros; PyTorch's weight is [outputs, inputs], and begins otherwise."""

    def __init__(self, in_features, out_features, bias=True, dtype=None):
        _check_sizes("Linear", in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features
        self.w = Parameter("randn", (in_features, out_features), _dtype(dtype or "f32"),
                           scale=1 / math.sqrt(in_features) if in_features else 1)
        self.b = Parameter("zeros", (out_features,), _dtype(dtype or "f32")) if bias else None

    def forward(self, x):
        return _ops["linear"](x, self.w, self.b) if self.b is not None else x @ self.w

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.b is not None}"


class Embedding(Module):
    """Rows of a table."""

    def __init__(self, num_embeddings, embedding_dim, dtype=None):
        _check_sizes("Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.w = Parameter("randn", (num_embeddings, embedding_dim), _dtype(dtype or "f32"))

    def forward(self, ids):
        return _ops["embedding"](self.w, ids)

    def extra_repr(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"


def _sizes(layer, shape):
    """A normalized_shape as a tuple."""
    shape = (shape,) if not isinstance(shape, collections.abc.Iterable) else tuple(shape)
    _check_sizes(layer, normalized_shape=shape)
    return tuple(map(int, shape))


class LayerNorm(Module):
    """Normalises the last dimension, or as many as the shape has."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, dtype=None):
        shape, dtype = _sizes("LayerNorm", normalized_shape), _dtype(dtype or "f32")
        self.normalized_shape, self.eps = shape, eps
        self.w = Parameter("ones", shape, dtype) if elementwise_affine else None
        self.b = Parameter("zeros", shape, dtype) if elementwise_affine and bias else None

    def forward(self, x):
        if len(self.normalized_shape) > 1:
            return _ops["layer_norm"](x, self.normalized_shape, self.w, self.b, self.eps)
        return _ops["layer_norm"](x, *(v for v in (self.w, self.b) if v is not None), eps=self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}"


class RMSNorm(Module):
    """Scales the last dimension, or as many as the shape has, to mean square 1. eps is that of the
    dtype, the distance from 1 to the next number, if it is not said."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, dtype=None):
        shape = _sizes("RMSNorm", normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.w = Parameter("ones", shape, _dtype(dtype or "f32")) if elementwise_affine else None

    def forward(self, x):
        return _ops["rms_norm"](x, self.normalized_shape, self.w, eps=self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}"


class Dropout(Module):
    """Drops elements at random, with probability p, unless eval() was called."""

    def __init__(self, p=0.5, inplace=False):
        if not 0 <= p <= 1:
            raise ValueError(f"Dropout: expected p from 0 to 1; found {p!r}")
        self.p, self.inplace = p, inplace

    def forward(self, x):
        return _ops["dropout"](x, self.p, self.training, inplace=self.inplace)

    def extra_repr(self):
        return f"p={self.p}"


class Conv2d(Module):
    """Images [n, inputs, h, w] convolved with w [outputs, inputs / groups, *kernel_size], plus b. They begin
    as those of Linear."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
                 bias=True, padding_mode="zeros", dtype=None):
        if padding_mode != "zeros":
            raise TypeError(f"Conv2d: expected the padding_mode 'zeros'; found {padding_mode!r}")
        _check_sizes("Conv2d", in_channels=in_channels, out_channels=out_channels, kernel_size=kernel_size,
                     stride=stride, padding=padding, dilation=dilation, groups=groups)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"Conv2d: expected groups that divide {in_channels} and {out_channels} channels; "
                             f"found {groups}")
        window = (kernel_size,) * 2 if _is_whole(kernel_size) else tuple(kernel_size)
        shape, dtype = (out_channels, in_channels // groups, *window), _dtype(dtype or "f32")
        self.w = Parameter("randn", shape, dtype, scale=1 / math.sqrt(math.prod(shape[1:])))
        self.b = Parameter("zeros", (out_channels,), dtype) if bias else None
        self.keys = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    def forward(self, x):
        return _ops["conv2d"](x, self.w, self.b, **self.keys)


class _Function(Module):
    """A function as a part of a Sequential or a ModuleList."""

    def __init__(self, function):
        self.function = function

    def forward(self, *args, **keys):
        return self.function(*args, **keys)

    def __repr__(self):
        return getattr(self.function, "__name__", repr(self.function))


class ModuleList(Module):
    """Modules by their number: that of a module's layers has layers.0.w, one that is no
    module's part m0.w."""

    def __init__(self, modules=()):
        self.extend(modules)

    def _part(self, part):
        """A part as a module, which a function becomes."""
        if isinstance(part, Module):
            return part
        if not callable(part) or isinstance(part, type):
            own = type(self).__name__
            also = f": write nn.{own}(*layers)" if own == "Sequential" and isinstance(part, (list, tuple)) else \
                f": write {part.__name__}()" if isinstance(part, type) else ""
            raise TypeError(f"{own}: expected modules, or functions; found {part!r}{also}")
        return _Function(part)

    _parts = property(lambda self: dict(self.named_children()))

    def _renumber(self, parts):
        """Has these parts, by their numbers."""
        for key in self._parts:
            delattr(self, key)
        for i, part in enumerate(parts):
            setattr(self, str(i), self._part(part))

    def append(self, part):
        setattr(self, str(len(self)), self._part(part))
        return self

    def extend(self, modules):
        for part in list(modules):
            self.append(part)
        return self

    def insert(self, index, part):
        parts = list(self)
        parts.insert(index, part)
        self._renumber(parts)
        return self if isinstance(self, Sequential) else None

    def pop(self, index=-1):
        part = self[index]
        del self[index]
        return part

    def __len__(self):
        return len(self._parts)

    def __iter__(self):
        return iter(self._parts.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            if isinstance(self, Sequential):
                return Sequential(dict(list(self._parts.items())[index]))
            return ModuleList(list(self)[index])
        return list(self)[index]

    def __setitem__(self, index, part):
        setattr(self, list(self._parts)[index], self._part(part))

    def __delitem__(self, index):
        parts = list(self)
        del parts[index]
        self._renumber(parts)

    def __add__(self, other):
        both = [*self, *other]
        return Sequential(*both) if isinstance(self, Sequential) else ModuleList(both)

    def __iadd__(self, other):
        return self.extend(other)


class Sequential(ModuleList):
    """Modules and functions, one after the other, named as those of a ModuleList. A module that
    becomes its attribute is the last of them."""

    def __init__(self, *parts):
        if len(parts) == 1 and isinstance(parts[0], dict):
            for name, part in parts[0].items():
                self.add_module(name, self._part(part))
        else:
            super().__init__(parts)

    def forward(self, x):
        for part in self:
            x = part(x)
        return x


class _Named(Module):
    """What ModuleDict and ParameterDict share. `_named` has the parts by their names."""

    def __init__(self, parts=()):
        self.update(parts)

    def update(self, parts):
        for name, part in dict(parts).items():
            self[name] = part

    def __getitem__(self, name):
        return self._named[name]

    def __delitem__(self, name):
        if name not in self._named:
            raise KeyError(name)
        delattr(self, name)

    def pop(self, name):
        part = self[name]
        del self[name]
        return part

    def clear(self):
        for name in self._named:
            delattr(self, name)

    def __contains__(self, name):
        return name in self._named

    def __len__(self):
        return len(self._named)

    def __iter__(self):
        return iter(self._named)

    def keys(self):
        return self._named.keys()

    def values(self):
        return self._named.values()

    def items(self):
        return self._named.items()


class ModuleDict(_Named):
    """Modules by names."""

    _named = property(lambda self: dict(self.named_children()))

    def __setitem__(self, name, part):
        self.add_module(name, part)


def _trained(values, value):
    """A tensor as a Parameter, as which a list or a dictionary has it."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{type(values).__name__}: expected tensors; found {_shown(value)}")
    return value if isinstance(value, Parameter) else Parameter(value)


class ParameterList(Module):
    """Parameters by their number, as those of a ModuleList; other tensors become Parameters."""

    def __init__(self, values=()):
        self.extend(values)

    _listed = property(lambda self: {k: v for k, v in vars(self).items() if isinstance(v, Tensor)})

    def append(self, value):
        setattr(self, str(len(self)), _trained(self, value))
        return self

    def extend(self, values):
        for value in list(values):
            self.append(value)
        return self

    __iadd__ = extend

    def __len__(self):
        return len(self._listed)

    def __iter__(self):
        return iter(self._listed.values())

    def __getitem__(self, index):
        return ParameterList(list(self)[index]) if isinstance(index, slice) else list(self)[index]

    def __setitem__(self, index, value):
        setattr(self, list(self._listed)[index], _trained(self, value))


class ParameterDict(_Named):
    """Parameters by names; other tensors become Parameters."""

    _named = property(lambda self: {k: v for k, v in vars(self).items() if isinstance(v, Tensor)})

    def __setitem__(self, name, value):
        self.register_parameter(name, _trained(self, value))


class Identity(Module):
    """What it is given."""

    def __init__(self, *args, **keys):
        pass

    def forward(self, x):
        return x


class Flatten(Module):
    """flatten of dimensions 1 to the last, or others."""

    def __init__(self, start_dim=1, end_dim=-1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x):
        return _ops["flatten"](x, self.start_dim, self.end_dim)


class Unflatten(Module):
    """A dimension as several."""

    def __init__(self, dim, unflattened_size):
        self.dim, self.sizes = dim, unflattened_size

    def forward(self, x):
        return _ops["unflatten"](x, self.dim, self.sizes)


def _layer(name, function, *parameters):
    """A module without parameters of its own: the function of nn.functional, with these arguments, each
    NAME or NAME=DEFAULT."""
    names = [p.partition("=")[0] for p in parameters]

    def __init__(self, *args, **keys):
        if len(args) > len(names):
            raise TypeError(f"{name}: expected {', '.join(parameters)}; found {len(args)} arguments")
        given = {**dict(zip(names, args)), **keys}
        unknown = [key for key in given if key not in names]
        missing = [p for p in parameters if "=" not in p and p not in given]
        if unknown or missing:
            raise TypeError(f"{name}: expected {', '.join(parameters) or 'nothing'}; found "
                            f"{', '.join(given) or 'nothing'}")
        _check_sizes(name, **given)
        self.keys = given

    def forward(self, *operands):
        return getattr(functional, function)(*operands, **self.keys)
    made = type(name, (Module,), {"__init__": __init__, "forward": forward, "__module__": __name__,
                                  "__doc__": f"nn.functional.{function} as a module."})
    made.extra_repr = lambda self: ", ".join(f"{key}={value!r}" for key, value in self.keys.items())
    return made


_LAYERS = """
ReLU relu inplace=False
ReLU6 relu6 inplace=False
LeakyReLU leaky_relu negative_slope=0.01 inplace=False
ELU elu alpha=1.0 inplace=False
GELU gelu approximate='none'
SiLU silu inplace=False
Mish mish inplace=False
Sigmoid sigmoid
LogSigmoid logsigmoid
Tanh tanh
Softplus softplus beta=1.0 threshold=20.0
Softsign softsign
Hardtanh hardtanh min_val=-1.0 max_val=1.0 inplace=False
Softmax softmax dim
LogSoftmax log_softmax dim
MaxPool2d max_pool2d kernel_size stride=None padding=0 dilation=1 return_indices=False ceil_mode=False
AvgPool2d avg_pool2d kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True
MSELoss mse_loss reduction='mean'
L1Loss l1_loss reduction='mean'
SmoothL1Loss smooth_l1_loss reduction='mean' beta=1.0
HuberLoss huber_loss reduction='mean' delta=1.0
BCELoss binary_cross_entropy weight=None reduction='mean'
BCEWithLogitsLoss binary_cross_entropy_with_logits weight=None reduction='mean' pos_weight=None
CrossEntropyLoss cross_entropy weight=None ignore_index=-100 reduction='mean' label_smoothing=0.0
NLLLoss nll_loss weight=None ignore_index=-100 reduction='mean'
KLDivLoss kl_div reduction='mean' log_target=False
CosineSimilarity cosine_similarity dim=1 eps=1e-08
"""
for _line in filter(None, _LAYERS.split("\n")):
    _name, _function, *_parameters = _line.split()
    globals()[_name] = _layer(_name, _function, *_parameters)

from . import functional, init, utils  # which are made of the functions, not of the modules
from ._experts import MoE


def __getattr__(name):
    """Functions, too, are found here: nn.relu is nn.functional.relu."""
    try:
        return getattr(functional, name)
    except AttributeError:
        raise AttributeError(f"gt.nn has no {name!r}; it has {', '.join(sorted(_ALL))}, and what nn.functional "
                             "has") from None


_ALL = [name for name, value in globals().items() if isinstance(value, type) and name[0] != "_"
        and issubclass(value, Module)] + ["Parameter"]

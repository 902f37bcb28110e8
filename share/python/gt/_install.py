"""Makes the functions of gt and the methods of tensors, of the rows of the op table and of the
modules beside this one."""
import functools, json, re, subprocess
import builtins as _py

from . import _methods
from ._meanings import _meant_so
from ._methods import _Methods
from ._ops import _ops
from ._pipeline import _program
from ._table import _OTHERWISE, _alias, _flags, _make
from ._tensor import Tensor, _shown, tensor
from ._words import _DTYPE_NAMES, _is_data, _is_flag


def _of_masks(sign, name, f):
    """An operator that is PyTorch's for bool alone, as whole numbers have no bits here."""
    def operation(*operands):
        for x in operands:
            if not (x._has_masks_type() if isinstance(x, Tensor) else _is_flag(x)):
                raise TypeError(f"{sign}: expected bool; found {_shown(x)}; gt.{name} takes what is "
                                "not zero as true")
        return f(*operands)
    return operation


def _of_equals(f):
    """== and !=, by which Python compares as objects what can be no tensor, as None."""
    return lambda a, b: f(a, b) if isinstance(b, Tensor) or _is_data(b) else NotImplemented


def _names_elsewhere(row):
    """Of the clauses of the row's source that have nothing but names of PyTorch, each name, and
    behind what it stands there: "", "Tensor." or "nn.functional."."""
    name = r"torch\.(Tensor\.|nn\.functional\.|)([a-z]\w*)"
    for clause in row["source"].split("; "):
        if re.fullmatch(f"{name}(, {name})*", clause):
            yield from re.findall(name, clause)


def _in_place_form(f):
    """A method that changes its tensor: f, whose result takes its place."""
    def method(self, *args, **keys):
        return f(self, *args, into=self, **keys)
    method.__doc__ = f"{f.__name__} in place."
    return method


def _stored(f):
    """The same of a function that is made of several ops."""
    def method(self, *args, **keys):
        return _ops["copy"](f(self, *args, **keys), into=self)
    method.__doc__ = f"{f.__name__} in place."
    return method


def _with_defaults(f):
    """f, to which what PyTorch's functions take besides may be given as it is there by default."""
    @functools.wraps(f)
    def function(*args, **keys):
        for key in _BESIDES & keys.keys():
            if keys.pop(key) not in (None, False):
                raise TypeError(f"{f.__name__}: unexpected {key}; {_OTHERWISE[key]}")
        return f(*args, **keys)
    return function


_BESIDES = {"out", "device", "layout", "generator", "memory_format", "pin_memory"}


def _function_of(method):
    """A method as a function, whose first argument PyTorch calls input."""
    @functools.wraps(method)
    def function(*args, **keys):
        if not args and "input" in keys:
            args = (keys.pop("input"),)
        if args and not isinstance(args[0], Tensor):
            args = (tensor(args[0]) if _is_data(args[0]) else args[0], *args[1:])
        return method(*args, **keys)
    return function


def _contains(x, value):
    """value in x, which waits for x."""
    return _py.bool(_ops["any"](_ops["eq"](x, value)).item())


def _where(x, condition, other, **keys):
    """x where the condition is true, else other; gt.where(condition, x, other) has the condition first."""
    return _ops["where"](condition, x, other, **keys)


def _install():
    text = subprocess.run([_program("gt-emit"), "--ops=json"], stdout=subprocess.PIPE, check=True).stdout
    table, words = json.loads(text), {"and", "or", "not", "print"}
    for key in table["keys"]:
        if key["kind"] == "flag":
            _flags.add(key["name"])
        for names in re.findall(r"PyTorch's (\w+(?:, \w+\b(?!'))*)", key["sense"]):
            for name in names.split(", "):
                _alias.setdefault(name, []).append(key["name"])
    called = []  # what PyTorch has other names for
    for row in table["ops"]:
        op = row["name"]
        if not row["results"] or op in ("tensor", "grad", "fail"):
            continue
        row["keys"] = [key["name"] for key in row["keys"]]  # all that is asked of them
        plain, shown = _make(row), op + "_" * (op in words)
        _ops[shown] = function = _meant_so(op, plain)
        is_method = row["operands"] and row["operands"][0]["kind"] in ("tensor", "any")
        if not row.get("internal"):
            called += [(name, where, function, is_method) for where, name in _names_elsewhere(row)]
        if op in ("max", "min"):
            _ops["a" + op] = plain
            setattr(Tensor, "a" + op, plain)
        if is_method and not hasattr(Tensor, shown):
            setattr(Tensor, shown, function)
            in_place = op.rstrip("_") + "_" if op not in words else "_" + op
            if in_place not in vars(_Methods) and not hasattr(Tensor, in_place):
                setattr(Tensor, in_place, _in_place_form(function))
    for name, where, function, is_method in called:
        if where != "Tensor.":
            _ops.setdefault(name, function)
        if is_method and not hasattr(Tensor, name):
            setattr(Tensor, name, function)
            if name[-1] != "_" and not hasattr(Tensor, name + "_"):
                setattr(Tensor, name + "_", _in_place_form(function))
    rows = {row["name"] for row in table["ops"]}
    for name, function in vars(_Methods).items():
        if name[0] == "_" or not callable(function) or name in rows:
            continue
        function = _with_defaults(function)
        setattr(Tensor, name, function)
        if name in _Methods.functions:
            _ops[name] = _function_of(function)
        if name in _Methods.in_place:
            setattr(Tensor, name + "_", _stored(function))
    for name in ("numel", "is_floating_point"):
        _ops[name] = _function_of(getattr(Tensor, name))
    for name in _methods._FUNCTIONS:
        if name not in rows:
            _ops[name] = _with_defaults(getattr(_methods, name))
    for name in _DTYPE_NAMES:
        if not name[-1].isdigit() or name == "bfloat16":
            setattr(Tensor, name, (lambda dtype: lambda self, memory_format=None: self.to(dtype))(_DTYPE_NAMES[name]))
    Tensor.where = _where
    Tensor.where_ = lambda x, condition, other: x.where(condition, other, into=x)
    for method, op in dict(add="add", sub="sub", mul="mul", truediv="div", pow="pow", mod="mod",
                           floordiv="floordiv", matmul="matmul").items():
        f = _ops[op]
        setattr(Tensor, f"__{method}__", (lambda f: lambda a, b: f(a, b))(f))
        setattr(Tensor, f"__r{method}__", (lambda f: lambda a, b: f(b, a))(f))
        if op != "matmul":
            setattr(Tensor, f"__i{method}__", (lambda f: lambda a, b: f(a, b, into=a))(f))
    for method in "lt le gt ge".split():
        setattr(Tensor, f"__{method}__", (lambda f: lambda a, b: f(a, b))(_ops[method]))
    for method in "eq", "ne":
        setattr(Tensor, f"__{method}__", _of_equals(_ops[method]))
    for op in "neg", "abs":
        setattr(Tensor, f"__{op}__", (lambda f: lambda a: f(a))(_ops[op]))
    Tensor.__pos__, Tensor.__contains__ = lambda x: x, _contains
    for methods, sign, op in ("and rand", "&", "and_"), ("or ror", "|", "or_"), ("xor rxor", "^", "ne"), \
            ("invert", "~", "not_"):
        for method in methods.split():
            setattr(Tensor, f"__{method}__", _of_masks(sign, op, _ops[op]))


_install()

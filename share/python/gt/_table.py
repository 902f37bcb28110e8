"""Functions from the op table: a call's operands and keys become a line.

`gt-emit --ops=json` has a row for each op. Nothing here knows an op by name, but for what
its row does not say."""
import collections, operator, re
import builtins as _py

from ._tensor import Tensor, _call, _is_bool, _shown, tensor
from ._types import _kind, _known
from ._words import (Error, _dtype, _is_data, _is_flag, _is_number, _is_whole, _type, _word)

_Pair = collections.namedtuple("Pair", "values indices")
# Keys and operands by PyTorch's name for them.
_alias = {"fill_value": ["value"], "input": ["x", "a", "g"], "other": ["b"], "exponent": ["b"], "mat2": ["b"],
          "condition": ["c"], "tensors": ["a"], "weight": ["w"], "bias": ["b"], "indices": ["index", "ids"],
          "query": ["q"], "key": ["k"], "attn_mask": ["mask"], "source": ["src"], "self": ["a", "x"]}
_flags = set()                      # keys that are True or False
_INTERNAL = {"split", "part", "acc", "out", "bwd"}  # keys that no message advises
# What PyTorch has as a key, and what to write here.
_OTHERWISE = {
    "alpha": "multiply the operand", "device": "the environment says where it runs: help(gt)",
    "dtype": "cast before or after", "generator": "give a seed",
    "largest": "of -x, the largest are the smallest of x", "out": "write into=, or name=",
    "normalized_shape": "it is over the last dimension", "rounding_mode": "floordiv rounds down",
    "layout": "there are no strides", "memory_format": "there are no strides",
    "pin_memory": "the environment says where it runs: help(gt)", "stable": "it is stable"}
_BROADCAST = {"point-wise", "elementary", "comparisons", "activations"}  # families of ops


def _cast_to(x, dtype):
    x = x if isinstance(x, Tensor) else tensor(x)
    return x.to(dtype)


def _operands(row, args, kwargs):
    """The call's operands in their order, and its keys."""
    declared, keys = row["operands"], row["keys"]
    kwargs = {_own_name(k, declared, keys): v for k, v in kwargs.items() if v is not None}
    args, out, given = list(args), [], set()
    named = {o["name"] for o in declared if o["name"] in kwargs and o["name"] not in keys}
    spare = len(args) - _py.sum(not o.get("optional") and not o.get("variadic")
                                and o["name"] not in named for o in declared)
    for i, o in enumerate(declared):
        if o["name"] in named:
            values = kwargs.pop(o["name"])
            values = list(values) if o.get("variadic") and isinstance(values, (list, tuple)) else [values]
        elif o.get("variadic") and i == 0 and args and isinstance(args[0], (list, tuple)):
            values = args.pop(0)
        elif o.get("variadic"):
            after = _py.sum(not p.get("optional") and p["name"] not in named for p in declared[i + 1:])
            values = [v for a in args[:len(args) - after]
                      for v in (a if isinstance(a, (list, tuple)) else [a])]
            args = args[len(args) - after:]
        elif o.get("optional"):
            values = [args.pop(0)] if spare > 0 else []
            spare -= 1
            values = [v for v in values if v is not None]
        elif args:
            values = [args.pop(0)]
        else:
            raise TypeError(f"{row['signature']}: {o['name']} is missing")
        if values:
            given.add(o["name"])
        out += [(o["kind"], v) for v in values]
    if args:
        _place(row, args, kwargs)
    unknown = [k for k in kwargs if k not in keys]
    if unknown:
        advice = [f"; {_OTHERWISE[k]}" for k in unknown if k in _OTHERWISE]
        raise TypeError(f"{row['signature']}: unexpected {', '.join(unknown)}{''.join(advice)}")
    for key, value in kwargs.items():
        if isinstance(value, Tensor):
            raise TypeError(f"{row['signature']}: expected a number or a word as {key}; "
                            f"found {_shown(value)}, which item() reads")
    return out, kwargs, given


def _own_name(key, declared, keys):
    """What the op calls a key or an operand that PyTorch calls so."""
    own = {*keys, *(o["name"] for o in declared)}
    return key if key in own else next((a for a in _alias.get(key, ()) if a in own), key)


def _place(row, args, kwargs):
    """Adds to the keys what stands behind the operands."""
    places = row["places"].split()
    if len(args) > 1 and places and places[0][0] == "*" and _py.all(map(_is_whole, args)):
        args = [tuple(args)]
    for key, value in zip((place.lstrip("*") for place in places), args):
        flag = key in _flags
        if key in kwargs:
            raise TypeError(f"{row['signature']}: {key} is given twice")
        if value is not None and _is_flag(value) != flag:
            raise TypeError(f"{row['signature']}: expected {'True or False' if flag else 'a number'} as "
                            f"{key}; found {_shown(value)}; several axes stand in a tuple, as (0, 1)")
        if value is not None:
            kwargs[key] = value
    if len(args) > len(places):
        keys = [key + "=" for key in row["keys"] if key not in {*kwargs, *_INTERNAL}]
        advice = f"; {', '.join(keys)} take{'s' * (len(keys) == 1)} a keyword" if keys else ""
        raise TypeError(f"{row['signature']}: unexpected {_shown(args[len(places)])}{advice}")


def _in_place(op, into, kinds):
    """Refuses what PyTorch refuses in place: another shape, or a dtype of a higher kind. Gives the
    dtypes that results must be cast to, or None."""
    casts = []
    for target, (dtype, shape, rank) in zip(into, kinds):
        if (target._dtype is None or target._shape is None) and target._session.can_answer():
            target._find_type()
        own = target._dtype
        if None not in (own, dtype) and _kind(dtype) > _kind(own) and dtype != "bool":
            raise Error(f"{op}: {target._name} is {own}, which cannot have values of {dtype} in place: write "
                        f"x = gt.{op}(x, ...), which makes another tensor, or cast an operand")
        if None not in (target._rank, rank) and rank > target._rank:
            raise Error(f"{op}: {target._name} has {target._rank} dimensions, and cannot have {rank} in place")
        if None not in (target._shape, shape) and target._shape != shape:
            raise Error(f"{op}: {target._name} is {_type(target._shape, own or 'f32')}, and cannot have the "
                        f"shape {shape} in place")
        casts.append(own if own != dtype else None)
    return casts


_PLACES_AXES = {"unsqueeze", "stack", "take"}  # whose axis need not be there before


def _of_scalar(f, pairs, keys, name, into):
    """A scalar has the dimension 0, as in PyTorch, where it is one of size 1."""
    out = f(*[x.reshape(1) if isinstance(x, Tensor) else x for _, x in pairs], **keys)
    parts = [x.squeeze(0) if x._rank else x for x in (out if isinstance(out, tuple) else [out])]
    if into is not None:
        return parts[0].copy(into=into)
    return type(out)(*parts) if isinstance(out, _Pair) else tuple(parts) if isinstance(out, tuple) else parts[0]


def _make(row):
    op, results = row["name"], row["results"]
    creates = row["operands"] and row["operands"][0]["kind"] == "type"
    pair = [r["name"] for r in results] == ["v", "i"]
    # Of these PyTorch has a dtype=, to which it casts the operand.
    casts_first = op in ("sum", "mean", "prod", "cumsum", "softmax", "log_softmax", "norm")
    sums = row["dtype"] == "sum"
    # A result that has the name of an operand is that operand, changed, as in sgd.
    changes = {r["name"] for r in results} & {o["name"] for o in row["operands"]}
    # Keys that stand in the signature without a value, and not in brackets.
    needed = re.findall(r"(?<!\S)(\w+)=(?!\S)", re.sub(r"\[[^]]*\]", "", row["signature"]))

    def function(*args, name=None, into=None, parts=None, dtype=None, requires_grad=False, **kwargs):
        known = None
        if creates:
            shape, args = _shape(row, args, kwargs)
            known = (_dtype(dtype or "f32"), shape)
            args = (_type(known[1], known[0]), *args)
        elif dtype is not None and casts_first:
            args = (kwargs.pop("input"),) if not args and "input" in kwargs else args
            args = (_cast_to(args[0], dtype), *args[1:]) if args else args
            if sums and _dtype(dtype) in ("i32", "u8", "bool"):  # sums of integers are i64
                return function(*args, into=into, parts=parts, **kwargs).to(dtype)
        elif dtype is not None:
            kwargs["dtype"] = dtype
        pairs, keys, given = _operands(row, args, kwargs)
        if not pairs and _py.any(o.get("variadic") for o in row["operands"]):
            raise Error(f"{op}: expected one tensor or more; found none")
        lacking = [key for key in needed if keys.get(key) is None]
        if lacking:
            raise TypeError(f"{row['signature']}: {lacking[0]} is missing")
        if isinstance(keys.get("axis"), (list, tuple)) and not keys["axis"]:  # no dimension
            if "keepdims" not in row["keys"]:
                return pairs[0][1].clone()
            del keys["axis"]  # by which PyTorch means all
        if _is_whole(keys.get("axis")) and int(keys["axis"]) in (0, -1) and pairs and \
                isinstance(pairs[0][1], Tensor) and pairs[0][1]._rank == 0 and op not in _PLACES_AXES:
            return _of_scalar(function, pairs, keys, name, into)
        words = []
        masks = row["family"] in _BROADCAST and _py.any(
            isinstance(v, Tensor) and _is_bool(v) for _, v in pairs)
        for kind, value in pairs:
            if masks and _is_flag(value):
                words.append(tensor(value))  # which, as a number, would make an integer of a mask
            elif isinstance(value, Tensor) or _is_number(value):
                words.append(value)
            elif isinstance(value, str):
                words.append(_word(op, value, kind))
            elif not _is_data(value):
                raise TypeError(f"{op}: expected a tensor, a number or lists of numbers; found {value!r}")
            else:
                words.append(tensor(value))
        many = [r for r in results if r.get("variadic")]
        count = len(results)
        if many:
            count = parts or (len(keys["sizes"]) if "sizes" in keys else
                              len([v for v in words if isinstance(v, Tensor)]))
        else:
            count -= _py.sum(r.get("optional", False) and r["name"] not in given for r in results)
        into = [into] if isinstance(into, Tensor) else into or []
        kinds = [(*known, len(known[1]))] if creates else _known(row, words, keys, count)
        casts = _in_place(op, into, kinds) if into and not changes else []
        names = name if isinstance(name, list) else [name]
        if any(casts):  # the result is stored in the dtype that it has had
            made = _call(op, words, keys, count, names)
            for target, result, cast in zip(into, made, casts):
                _call("cast", [result, cast], into=[target])
                target._dtype, target._shape, target._rank = cast, result._shape, result._rank
            made, kinds = into, [(target._dtype, *kind[1:]) for target, kind in zip(into, kinds)]
        else:
            made = _call(op, words, keys, count, names, into, known)
        for result, (own, shape, rank) in zip(made, kinds):
            result._dtype, result._shape, result._rank = own, shape, rank
        if requires_grad:
            made[0].requires_grad_()
        return _Pair(*made) if pair else made[0] if count == 1 and not many else tuple(made)
    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{row['signature']}\n\n{row['sense']}\n\n{row['details']}\n\nSource: {row['source']}"
    return function


def _shape(row, args, kwargs):
    """The shape of a creation, whole or size by size, and the arguments behind it."""
    given = [kwargs.pop(key) for key in ("size", "shape") if key in kwargs]
    args = (*given, *args)
    if not args:
        raise TypeError(f"{row['signature']}: expected a shape, as (2, 3)")
    if not _is_whole(args[0]):
        if isinstance(args[0], (Tensor, str, float)):
            raise TypeError(f"{row['signature']}: expected a shape, as (2, 3); found {_shown(args[0])}")
        return tuple(map(operator.index, args[0])), args[1:]
    count = len(args)
    if row["name"] in ("full", "randperm"):  # which have other numbers behind it
        count = 1
    sizes = args[:count]
    if not _py.all(map(_is_whole, sizes)):
        raise TypeError(f"{row['signature']}: expected sizes; found "
                        f"{', '.join(_shown(s) for s in sizes if not _is_whole(s))}")
    return tuple(map(int, sizes)), args[count:]

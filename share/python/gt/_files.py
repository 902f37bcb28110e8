"""gt.save and gt.load of what has tensors in it, as torch.save and torch.load: states of models and
optimizers, in one safetensors file."""
import json, os

from ._ops import _ops
from ._pipeline import _the
from ._tensor import Tensor, _call, _save_all, tensor
from ._words import _is_number, _plain, _quote, _states_path, _type

_OUTLINE = "gt.outline"  # the tensor with the outline of what was saved, as bytes of JSON


_SAFETENSORS = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "I64": "i64", "I32": "i32", "U8": "u8",
                "BOOL": "bool"}


def save(obj, f):
    """Writes a tensor, or dicts and lists with tensors, numbers and texts in them, to a safetensors file, as
    gt.save({"model": model.state_dict(), "epoch": 3}, "run.safetensors"), and waits for it. Raises why it could
    not."""
    path = _states_path(f, "save")
    tensors = {}
    outline = json.dumps(_outlined(obj, "", tensors)).encode()
    tensors[_OUTLINE] = tensor(list(outline), "u8")
    _save_all((x, f"{path}:{name}") for name, x in tensors.items())
    session = _the()
    if session.can_answer():
        session.sync()


def _outlined(value, name, tensors):
    """What JSON can hold: [kind, ...] of each value."""
    if isinstance(value, Tensor):
        key = next((known for known, x in tensors.items() if x is value), None)
        if key is None:  # else it is in two places, and is saved once
            key = name or "value"
            while key in tensors or key == _OUTLINE:  # as the "a.b" of a dict beside the b of its a
                key += "_"
            tensors[key] = value
        return ["tensor", key, value.dtype, list(value.shape)]
    if isinstance(value, dict):
        return ["dict", [[_outlined(k, "", {}), _outlined(v, f"{name}.{k}" if name else str(k), tensors)]
                         for k, v in value.items()]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__ if type(value) in (list, tuple) else "tuple",
                [_outlined(v, f"{name}.{i}" if name else str(i), tensors) for i, v in enumerate(value)]]
    if value is None or isinstance(value, (str, bool)):
        return ["plain", value]
    if _is_number(value):
        value = _plain(value)
        return ["float", value.hex()] if isinstance(value, float) else ["plain", value]
    raise TypeError(f"save: expected tensors, dicts, lists, numbers and texts; found {value!r}")


def load(f, *args, map_location=None, weights_only=None, **keys):
    """What gt.save wrote, or the dict of all tensors of another safetensors file; of a path of one tensor, a
    .npy file or "FILE.safetensors:NAME", that tensor, as the op load: load(path, "f32[2,3]", row)."""
    path = os.fspath(f)
    if not path.endswith(".safetensors") or args or keys:
        return _ops["load"](path, *args, **keys)
    held = _held(path)
    if held is not None and _OUTLINE not in held:  # by another program, or by model.save
        return {name: _call("load", [_quote(f"{path}:{name}"), _type(shape, dtype)], type=(dtype, shape))[0]
                for name, (dtype, shape) in held.items()}
    outline = bytes(_ops["load"](f"{path}:{_OUTLINE}").tolist())
    return _filled(json.loads(outline), path, {})


def _held(path):
    """The tensors of a safetensors file with their dtypes and shapes, or None where it is not of this machine, or
    cannot be read, which the program says."""
    session = _the()
    if session.where:
        return None
    session.ask(lambda: "#sync python\n")  # what is being saved is there then
    try:
        with open(path, "rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    except (OSError, ValueError, MemoryError, OverflowError):
        return None
    found = {name: (_SAFETENSORS.get(each["dtype"]), tuple(each["shape"])) for name, each in head.items()
             if name != "__metadata__"}
    unknown = [name for name, (dtype, _) in found.items() if dtype is None]
    if unknown:
        raise TypeError(f"load: {path}: {unknown[0]} is {head[unknown[0]]['dtype']}; there are "
                        f"{' '.join(_SAFETENSORS)}: write gt.load(\"{path}:NAME\") for one of those")
    return found


def _filled(outline, path, tensors):
    kind, value = outline[:2]
    if kind == "tensor":
        if value not in tensors:
            dtype, shape = outline[2], tuple(outline[3])
            tensors[value] = _call("load", [_quote(f"{path}:{value}"), _type(shape, dtype)], type=(dtype, shape))[0]
        return tensors[value]
    if kind == "dict":
        return {_filled(k, path, tensors): _filled(v, path, tensors) for k, v in value}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(_filled(v, path, tensors) for v in value)
    return float.fromhex(value) if kind == "float" else value

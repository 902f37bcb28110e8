"""Words of the language: names, numbers, types and texts, and what results say.

Nothing here writes a line; the other parts of gt stand on it."""
import math, operator, os, re
import builtins as _py
try:
    import numpy as _np
except ImportError:
    _np = None

f32, f64, f16, bf16, i64, i32, u8 = "f32", "f64", "f16", "bf16", "i64", "i32", "u8"
_DTYPES = [f32, f64, f16, bf16, i64, i32, u8, "bool"]
_RESERVED = {*_DTYPES, "true", "false", "nan", "inf"}  # words of the language, no names
_DTYPE_NAMES = {"float32": f32, "float": f32, "float64": f64, "double": f64, "float16": f16, "half": f16,
                "bfloat16": bf16, "int64": i64, "long": i64, "int32": i32, "int": i32, "uint8": u8,
                "byte": u8, "bool": "bool"}
_NPY = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i64": "<i8", "i32": "<i4",
        "u8": "|u1", "bool": "|b1"}
_CODE = {"f32": "f", "f64": "d", "f16": "e", "i64": "q", "i32": "i", "u8": "B",
         "bool": "?"}
_OF_NUMPY = {code: dtype for dtype, code in _NPY.items()}
_FLOATS = [f32, f64, f16, bf16]
_WIDTH = {"bool": 1, "u8": 1, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}  # in bytes
# The largest of each, and the distance from 1 to the next number.
_LARGEST = {"f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308, "f16": 65504.0,
            "bf16": 3.3895313892515355e38}
_EPSILON = {"f32": 2.0 ** -23, "f64": 2.0 ** -52, "f16": 2.0 ** -10, "bf16": 2.0 ** -7}
_WHOLE = {"u8": (0, 2**8 - 1), "i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1)}  # the least and the largest


class Error(RuntimeError):
    """What goes wrong in gt; a RuntimeError, as most of PyTorch's."""


class Failed(Error):
    """A value could not be computed; the text says why and where."""


class Lost(Error):
    """The program that runs the lines has ended, or cannot be started."""


for _error in (Error, Failed, Lost):
    _error.__module__ = "gt"  # as which users know them


def _is_name(text):
    return isinstance(text, str) and text not in _RESERVED and \
        re.fullmatch(r"[A-Za-z_][\w./]*", text, re.A) is not None


def _word(op, text, kind):
    """A caller's text as an operand: a type or range, or a string where one stands. Where a
    tensor or a number stands there is none, as it would be taken for the name of a register."""
    if kind in ("path", "string"):
        return _quote(text)
    if kind == "dtype":
        return _dtype(text)
    if kind not in _WORDS:
        raise TypeError(f"{op}: expected a tensor or a number; found {text!r}")
    words, form = _WORDS[kind]
    if not re.fullmatch(form, text, re.A):
        raise Error(f"{op}: expected {words}; found {text!r}")
    return text


_WORDS = {"type": ("a type, as f32[2,3]", r"\w+\[[\d,]*\]"),
          "any": ("a tensor, a number or a range, as 1:3", r"[+-]?\d+|[+-]?\d*(:[+-]?\d*){1,2}")}


def _quote(text):
    text = str(text)
    if re.search("[\ud800-\udc7f\udd00-\udfff]", text):
        raise Error(f"expected a text that UTF-8 can hold; found {text!r}")
    return '"' + "".join(f"\\x{ord(c):02x}" if c in '"\\#\x7f' or c < " " else c
                         for c in text) + '"'


def _number(value):
    value = _plain(value)
    if isinstance(value, int):
        return str(int(value))
    return repr(value) if math.isfinite(value) else str(value)


def _plain(value):
    """A number of Python or NumPy as one of Python, of its kind: bool, int or float."""
    if isinstance(value, (_py.bool, int)):
        return value
    if _np is not None and isinstance(value, _np.bool_):
        return _py.bool(value)
    if _np is not None and isinstance(value, _np.integer):
        return int(value)
    return float(value)


def _is_number(value):
    return isinstance(value, (int, float)) or (
        _np is not None and isinstance(value, (_np.integer, _np.floating, _np.bool_)))


def _is_data(value):
    """Whether tensor() may take it."""
    return not isinstance(value, (str, bytes)) and (_is_number(value) or isinstance(value, (list, tuple, range))
                                                    or hasattr(value, "__array__")
                                                    or hasattr(value, "__float__")
                                                    or hasattr(value, "tolist"))


def _is_whole(value):
    """Whether it is an integer: of Python or NumPy, and not True or False."""
    return isinstance(value, int) and not isinstance(value, _py.bool) or (
        _np is not None and isinstance(value, _np.integer))


def _is_flag(value):
    return isinstance(value, _py.bool) or _np is not None and isinstance(value, _np.bool_)


def _key(value):
    if isinstance(value, (tuple, list)):
        return ",".join(str(operator.index(v)) for v in value)
    if isinstance(value, str):
        return value if re.fullmatch(r"[\w.,:+*/-]+", value, re.A) else _quote(value)
    return _number(value)


def _dtype(word):
    """A dtype by its name here, in PyTorch or in NumPy: f32, "float32", np.float32, float."""
    found = _found_dtype(word)
    if found is None:
        raise Error(f"expected a dtype, one of {' '.join(_DTYPES)}; found {word!r}")
    return found


def _found_dtype(word):
    """The dtype that a word means, or None."""
    if isinstance(word, str):
        return word if word in _DTYPES else _DTYPE_NAMES.get(word.removeprefix("torch."))
    if isinstance(word, type) and word in (float, int, _py.bool):
        return {float: f64, int: i64, _py.bool: "bool"}[word]  # as PyTorch takes them
    if _np is not None and isinstance(word, (type, _np.dtype)):
        try:
            return _of_numpy(_np.dtype(word))
        except TypeError:
            return None
    return None


def _of_numpy(dtype):
    """The dtype that is one of NumPy, or None."""
    return _OF_NUMPY.get(dtype.newbyteorder("<").str)


def _type(shape, dtype="f32"):
    sizes = (shape,) if _is_whole(shape) else tuple(shape)
    return f"{_dtype(dtype)}[{','.join(str(int(n)) for n in sizes)}]"


def _parse_type(text):
    dtype, sizes = re.fullmatch(r"(\w+)\[([\d,]*)\]", text).groups()
    return dtype, tuple(int(n) for n in sizes.split(",") if n)


def _parse(line):
    """The dtype, shape and words of a result."""
    words = line.split(None, 4)
    if len(words) > 3 and words[2] == "fail":
        text = line.split(None, 3)[3]
        raise Failed(re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: chr(int(m[1][1:], 16))
                            if m[1][0] == "x" else {"n": "\n", "t": "\t"}.get(m[1], m[1]),
                            text.strip()[1:-1]))
    if len(words) < 4 or words[2] != "tensor":
        raise Lost(f"no result: {line[:80]!r}; somebody else writes among the results")
    return (*_parse_type(words[3]), words[4].split() if len(words) > 4 else [])


def _nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _flat(data):
    """The values of nested lists, and their shape."""
    if not isinstance(data, (list, tuple, range)):
        if hasattr(data, "tolist") and not _is_number(data):  # of an array, or a tensor, in a list
            return _flat(data.tolist())
        if not _is_number(data) and not hasattr(data, "__float__"):
            raise Error(f"tensor: expected a number; found {data!r}")
        return [data if _is_number(data) else float(data)], ()
    parts = [_flat(part) for part in data]
    if len({shape for _, shape in parts}) > 1:
        raise Error("tensor: rows of different lengths")
    return [v for part, _ in parts for v in part], (len(parts),) + (parts[0][1] if parts else ())


def _states_path(path, caller):
    """The path of a safetensors file: of another one, each tensor would be a file of its own."""
    text = os.fspath(path)
    if not isinstance(text, str) or not text.endswith(".safetensors"):
        raise TypeError(f"{caller}: expected a path that ends with .safetensors, which all is kept in; found {path!r}"
                        + (f"; x.{caller}(path) writes .npy" if caller == "save" and str(path).endswith(".npy") else ""))
    return text

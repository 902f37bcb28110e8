"""Which dtype and shape a result has, as far as Python can tell without asking.

The program has the types of all lines. Python follows them by the table of ops, so that
x.shape waits for nothing, and a call in place is refused where it would change a dtype or
a shape. None stands for what only the program knows: with it no conclusion is drawn."""
import functools, math

from ._words import _DTYPES, _FLOATS, _WIDTH, _is_number, _is_whole, _plain, f32, i64


def _kind(dtype):
    """0 of bool, 1 of integers, 2 of floats."""
    return 0 if dtype == "bool" else 2 if dtype in _FLOATS else 1


def _common(a, b):
    """The dtype of both."""
    if a is None or b is None or a == b:
        return a or b
    if _kind(a) != _kind(b):
        return a if _kind(a) > _kind(b) else b
    if {a, b} == {"f16", "bf16"}:
        return f32
    return a if _WIDTH[a] > _WIDTH[b] else b


def _promoted(operands):
    """The dtype of a result by PyTorch's rule: a tensor without dimensions counts where its kind
    is above that of those with some, and a number of Python where its kind is above both."""
    groups = [None, None, None]  # of tensors with dimensions, without, and of numbers
    for x in operands:
        if _is_number(x):
            kind, dtype = 2, {bool: "bool", int: i64, float: f32}[type(_plain(x))]
        elif x._dtype is None or x._rank is None:
            return None
        else:
            kind, dtype = int(x._rank == 0), x._dtype
        groups[kind] = _common(groups[kind], dtype)
    out = None
    for dtype in groups:
        if dtype is not None and (out is None or _kind(dtype) > _kind(out)):
            out = dtype
    return out


def _broadcast(shapes):
    """The shape that shapes have together, or None if there is none."""
    rank = max(map(len, shapes), default=0)
    out = []
    for i in range(-rank, 0):
        sizes = {shape[i] for shape in shapes if len(shape) >= -i} - {1}
        if len(sizes) > 1:
            return None
        out.append(sizes.pop() if sizes else 1)
    return tuple(out)


def _expands(shape, wanted):
    return len(shape) <= len(wanted) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(wanted)))


def _many(axes):
    """How many there are of what is a number or more of them."""
    return 1 if _is_whole(axes) else len(axes.split(",") if isinstance(axes, str) else axes)


def _axes_of(value):
    """A key's axes as numbers."""
    if isinstance(value, str):
        value = value.split(",")
    return [int(value)] if _is_whole(value) else [int(axis) for axis in value]


def _known(row, words, keys, count):
    """(dtype, shape, rank) of each result of a call."""
    if not keys and row["index"] in _POINTWISE:
        found = _of_alike(row["dtype"], words)
        if found is not None:
            return [found]
    pairs = list(zip(_operands_of(row, len(words)), words))
    words = [word for operand, word in pairs if operand["name"] not in _SAY_NOTHING]
    shapes = _shapes(row, words, keys, count)
    dtype = _dtype_of(row, pairs)
    out = []
    for i in range(count):
        result = row["results"][min(i, len(row["results"]) - 1)]
        same = _of_operand(result["name"], pairs, i)
        if same is not None:  # a result that has the name of an operand has its type
            out.append((same._dtype, same._shape, same._rank))
            continue
        if result.get("optional") or row.get("internal"):  # as the lse of attention, in a dtype of its own
            out.append((None, None, None))
            continue
        shape = shapes[i] if i < len(shapes) else None
        own = i64 if result["name"] == _INDICES else dtype
        out.append((own, shape, len(shape) if shape is not None else _rank(row, words, keys)))
    return out


_SAY_NOTHING = {"mask"}  # operands that change no type
_INDICES = "i"           # the name of a result that has indices


def _operands_of(row, count):
    """The declared operand of each of so many words; of optional ones, the first are given."""
    declared = row["operands"]
    spare = count - sum(not o.get("optional") and not o.get("variadic") for o in declared)
    out = []
    for operand in declared:
        if operand.get("variadic"):
            out += [operand] * spare
        elif not operand.get("optional"):
            out.append(operand)
        elif spare > 0:
            out.append(operand)
            spare -= 1
    return out


def _of_operand(name, pairs, index):
    """The tensor that is the operand of this name; of several, the one at the index."""
    found = [word for operand, word in pairs if operand["name"] == name]
    word = found[index if len(found) > index else 0] if found else None
    return word if hasattr(word, "_shape") else None


_POINTWISE = {"...->...", "...,...->..."}


def _of_alike(rule, words):
    """The same of what most calls are, a point-wise op of tensors of one type, or of one and a number of
    its kind; else None."""
    dtype = shape = None
    for word in words:
        kind = type(word)
        if kind is int or kind is float:
            if dtype is None or dtype not in _FLOATS and (kind is float or dtype == "bool"):
                return None
        elif kind is str or getattr(word, "_shape", None) is None or word._dtype is None:
            return None
        elif dtype is None:
            dtype, shape = word._dtype, word._shape
        elif word._dtype != dtype or word._shape != shape:
            return None
    if rule != "promote":
        if rule != "bool" and (rule != "float" or dtype not in _FLOATS):
            return None
        dtype = "bool" if rule == "bool" else dtype
    return dtype, shape, len(shape)


def _dtype_of(row, pairs):
    rule = row["dtype"]
    if rule in _DTYPES:
        return rule
    if any(operand["kind"] in ("type", "dtype") for operand in row["operands"]):  # which a word says, or a file
        told = [word.partition("[")[0] for operand, word in pairs if operand["kind"] in ("type", "dtype")]
        return told[0] if told and told[0] in _DTYPES else None
    tensors = [(operand, word) for operand, word in pairs if operand["kind"] == "tensor"]
    if rule == "first":
        return getattr(tensors[0][1], "_dtype", None) if tensors else None
    accepts = row["accepts"].split(",")
    names = [operand["name"] for operand in row["operands"] if operand["kind"] == "tensor"]
    # Indices and conditions say nothing of the result.
    dtype = _promoted([word for operand, word in tensors
                       if operand["name"] not in _SAY_NOTHING and
                       (len(accepts) == 1 or accepts[names.index(operand["name"])] not in ("int", "bool"))])
    if dtype is None:
        return None
    if rule == "float" and _kind(dtype) < 2:
        return f32
    if rule == "sum" and _kind(dtype) < 2:
        return i64
    return dtype


def _rank(row, words, keys):
    """The rank of the results where the shape is not known, or None."""
    ranks, op = [0 if isinstance(word, (str, int, float)) or _is_number(word) else word._rank
                 for word in words], row["name"]
    if row["places"] == "*shape":
        return _many(keys["shape"])
    if None in ranks:
        return None
    if "keepdims" in row["keys"]:
        return ranks[0] if keys.get("keepdims") else ranks[0] - _many(keys["axis"]) if "axis" in keys else 0
    rule = _RANKS.get(row["name"])
    if rule is not None:
        return rule(ranks, keys)
    return _index_rank(row, ranks) if keys.get("reduction") != "none" else None


def _index_tells(row):
    """Whether the index rule says what the sizes of the results are. It does not where a key says so; and
    where one operand has indices into another, letter by letter, it is about their values."""
    return row["index"] and not any(o.get("variadic") for o in row["operands"]) and \
        not _SIZE_KEYS.intersection(row["keys"]) and \
        not (row["index"] in _POINTWISE and "int" in row["accepts"].split(","))


_SIZE_KEYS = {"size", "kernel_size", "stride"}


def _index_rank(row, ranks):
    """The rank of the first result by the op's index rule, as "...mk,...kn->...mn": leading
    dimensions, which are those of the operand that has most of them, and one for each letter."""
    if not _index_tells(row):
        return None
    operands, results = _terms(row["index"])
    leading = [rank - len(letters) for (leads, letters), rank in zip(operands, ranks) if leads]
    leads, letters = results[0]
    if not leads:
        return len(letters)
    return max(leading) + len(letters) if leading else None


@functools.lru_cache(None)
def _terms(index):
    """The operands and the results of an index rule: of each, whether it has leading dimensions, and its letters."""
    sides = index.replace("!", "").split("->")
    return [[(term[:3] == "...", term.removeprefix("...")) for term in side.split(",")] for side in sides]


def _shapes(row, words, keys, count):
    """The shapes of the results, as far as they are known; an empty list where they are not."""
    shapes = []
    for word in words:
        shapes.append(() if _is_number(word) else None if isinstance(word, str) else word._shape)
    rule = _SHAPES.get(row["name"])
    try:
        if rule is not None:
            return rule(shapes, keys, words, count)
        if None in shapes:
            return []
        if "keepdims" in row["keys"]:
            return [_reduced(shapes[0], keys)]
        return _by_index(row, shapes, keys)
    except (IndexError, ValueError, KeyError, TypeError, ZeroDivisionError):
        return []  # what is wrong with the line, the program says


def _reduced(shape, keys):
    axes = [axis % len(shape) for axis in _axes_of(keys["axis"])] if "axis" in keys and shape else \
        range(len(shape))
    if keys.get("keepdims"):
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _by_index(row, shapes, keys):
    if not _index_tells(row):
        return []
    leading, sizes = [], {}
    flip = [keys.get("ta"), keys.get("tb")]
    operands, results = _terms(row["index"])
    for i, ((leads, letters), shape) in enumerate(zip(operands, shapes)):
        if i < 2 and flip[i]:
            letters = letters[::-1]
        if len(letters) > len(shape):
            return []
        if leads:
            leading.append(shape[:len(shape) - len(letters)])
        elif len(letters) != len(shape):
            return []
        for letter, size in zip(letters, shape[len(shape) - len(letters):]):
            if sizes.setdefault(letter, size) != size:
                return []
    lead = _broadcast(leading)
    if lead is None:
        return []
    if keys.get("reduction") == "none":
        return [lead]
    out = []
    for leads, letters in results:
        if any(letter not in sizes for letter in letters):
            return out
        out.append((lead if leads else ()) + tuple(sizes[letter] for letter in letters))
    return out


def _filled(shape, sizes):
    """sizes, of which one may be -1."""
    if -1 not in sizes:
        return sizes
    rest = -math.prod(sizes)
    return tuple(math.prod(shape) // rest if n == -1 else n for n in sizes)


def _of_reshape(shapes, keys, words, count):
    sizes = tuple(_axes_of(keys["shape"]))
    return [] if -1 in sizes and shapes[0] is None else [_filled(shapes[0], sizes)]


def _of_expand(shapes, keys, words, count):
    sizes = tuple(_axes_of(keys["shape"]))
    if -1 not in sizes:
        return [sizes]
    own = (-1,) * (len(sizes) - len(shapes[0])) + shapes[0]
    return [tuple(m if n == -1 else n for n, m in zip(sizes, own))]


def _of_squeeze(shapes, keys, words, count):
    shape = shapes[0]
    axes = {axis % len(shape) for axis in _axes_of(keys["axis"])} if "axis" in keys else range(len(shape))
    return [tuple(n for i, n in enumerate(shape) if i not in axes or n != 1)]


def _of_unsqueeze(shapes, keys, words, count):
    axes = _axes_of(keys["axis"])
    rank = len(shapes[0]) + len(axes)
    axes, sizes = {axis % rank for axis in axes}, iter(shapes[0])
    return [tuple(1 if i in axes else next(sizes) for i in range(rank))]


def _of_transpose(shapes, keys, words, count):
    shape = shapes[0]
    order = _axes_of(keys["axes"]) if "axes" in keys else range(len(shape) - 1, -1, -1)
    return [tuple(shape[axis] for axis in order)] if len(order) == len(shape) else []


def _of_slice(shapes, keys, words, count):
    shape, out = shapes[0], []
    if "size" in keys:
        axis = _axes_of(keys["axis"])[0] % len(shape)
        return [tuple(int(keys["size"]) if i == axis else n for i, n in enumerate(shape))]
    if len(words) - 1 > len(shape):
        return []
    for i, n in enumerate(shape):
        word = words[i + 1] if i + 1 < len(words) else ":"
        if not isinstance(word, str):  # a number, or the name of one
            continue
        if ":" in word:
            ends = [int(end) if end else None for end in word.split(":")]
            out.append(len(range(n)[slice(*ends)]))
    return [tuple(out)]


def _of_concat(shapes, keys, words, count):
    first = shapes[0]
    axis = _axes_of(keys.get("axis", 0))[0] % len(first)
    if any(len(shape) != len(first) for shape in shapes):
        return []
    return [tuple(sum(shape[i] for shape in shapes) if i == axis else n for i, n in enumerate(first))]


def _of_stack(shapes, keys, words, count):
    axis = _axes_of(keys.get("axis", 0))[0] % (len(shapes[0]) + 1)
    if len(set(shapes)) > 1:
        return []
    return [shapes[0][:axis] + (len(shapes),) + shapes[0][axis:]]


def _of_split(shapes, keys, words, count):
    shape = shapes[0]
    axis = _axes_of(keys.get("axis", 0))[0] % len(shape)
    sizes = _axes_of(keys["sizes"]) if "sizes" in keys else [shape[axis] // count] * count
    return [shape[:axis] + (n,) + shape[axis + 1:] for n in sizes]


def _of_pad(shapes, keys, words, count):
    width = _axes_of(keys["width"])
    return [tuple(n + width[2 * i] + width[2 * i + 1] for i, n in enumerate(shapes[0]))]


def _of_take(shapes, keys, words, count):
    shape, index = shapes[:2]
    if "axis" not in keys:
        return [index]
    axis = _axes_of(keys["axis"])[0] % len(shape)
    return [shape[:axis] + index + shape[axis + 1:]]


def _pairs(keys, key, default):
    values = keys.get(key)
    values = [default] if values is None else _axes_of(values)
    return values * 2 if len(values) == 1 else values


def _of_conv(shapes, keys, words, count):
    (n, _, *image), (out, _, *window) = shapes[:2]
    step, edge, wide = (_pairs(keys, key, d) for key, d in (("stride", 1), ("padding", 0), ("dilation", 1)))
    return [(n, out, *((image[i] + 2 * edge[i] - wide[i] * (window[i] - 1) - 1) // step[i] + 1
                       for i in (0, 1)))]


def _of_conv_transpose(shapes, keys, words, count):
    (n, _, *image), (_, out, *window) = shapes[:2]
    step, edge, more, wide = (_pairs(keys, key, d) for key, d in (
        ("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1)))
    return [(n, out * int(keys.get("groups", 1)),
             *((image[i] - 1) * step[i] - 2 * edge[i] + wide[i] * (window[i] - 1) + more[i] + 1
               for i in (0, 1)))]


def _of_pool(shapes, keys, words, count):
    n, channels, *image = shapes[0]
    window = _pairs(keys, "kernel_size", 1)
    step = window if keys.get("stride") is None else _pairs(keys, "stride", 1)
    edge, wide = _pairs(keys, "padding", 0), _pairs(keys, "dilation", 1)
    return [(n, channels, *((image[i] + 2 * edge[i] - wide[i] * (window[i] - 1) - 1) // step[i] + 1
                            for i in (0, 1)))]


def _of_topk(shapes, keys, words, count):
    axis, size = _axes_of(keys.get("axis", -1))[0] % len(shapes[0]), int(keys["size"])
    return [tuple(size if i == axis else n for i, n in enumerate(shapes[0]))] * count


def _of_first(shapes, keys, words, count):
    return [shapes[0]] * count


# The rules of ops whose results the index does not tell: their shapes, and their ranks where a shape
# is not known. Without a rule nothing is concluded.
_SHAPES = {
    "reshape": _of_reshape, "expand": _of_expand, "squeeze": _of_squeeze, "unsqueeze": _of_unsqueeze,
    "transpose": _of_transpose, "slice": _of_slice, "concat": _of_concat, "stack": _of_stack,
    "split": _of_split, "pad": _of_pad, "take": _of_take, "conv2d": _of_conv,
    "conv_transpose2d": _of_conv_transpose, "topk": _of_topk, "max_pool2d": _of_pool, "avg_pool2d": _of_pool,
    "gather": lambda shapes, keys, words, count: [shapes[1]],
    "one_hot": lambda shapes, keys, words, count: [shapes[0] + (int(keys["num_classes"]),)],
    "flip": _of_first, "scatter": _of_first,
    "scatter_add": _of_first, "cast": _of_first, "rope": _of_first}
_RANKS = {
    "unsqueeze": lambda ranks, keys: ranks[0] + _many(keys["axis"]), "stack": lambda ranks, keys: ranks[0] + 1,
    "one_hot": lambda ranks, keys: ranks[0] + 1,
    "take": lambda ranks, keys: ranks[1] + (ranks[0] - 1 if "axis" in keys else 0),
    **dict.fromkeys(("transpose", "flip", "pad", "concat", "split", "gather", "scatter", "scatter_add", "topk",
                     "conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d"), lambda ranks, keys: ranks[0]),
    "slice": lambda ranks, keys: ranks[0] if "size" in keys else None}

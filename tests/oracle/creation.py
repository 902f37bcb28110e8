"""Cases of creation, files, results and names."""
import numpy
import torch

from cases import ALL, DTYPES, FLOATS, HALVES, Case, make, values
from gt import type_text

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFFFFFF


def philox_words(seed, count):
    """The first 64-bit words of Philox4x32-10 (Salmon et al., SC11)."""
    words = []
    for block in range((count + 1) // 2):
        c = [block & LOW, block >> 32, 0, 0]
        k = [seed & LOW, (seed >> 32) & LOW]
        for _ in range(10):
            a, b = MULTIPLIERS[0] * c[0], MULTIPLIERS[1] * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & LOW,
                 (a >> 32) ^ c[3] ^ k[1], a & LOW]
            k = [(k[0] + WEYL[0]) & LOW, (k[1] + WEYL[1]) & LOW]
        words += [c[0] | c[1] << 32, c[2] | c[3] << 32]
    return words[:count]


DIGITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


def uniform(seed, shape, dtype):
    bits = DIGITS[dtype]
    words = philox_words(seed, int(numpy.prod(shape)))
    data = [(w >> (64 - bits)) / 2 ** bits for w in words]
    return torch.tensor(data, dtype=torch.float64).reshape(shape).to(
        DTYPES[dtype])


def normal(seed, shape, dtype, scale=1.0):
    """Box and Muller's method, which makes two values of two words."""
    count = int(numpy.prod(shape))
    words = philox_words(seed, count + count % 2)
    data = []
    for first, second in zip(words[::2], words[1::2]):
        u = 1 - (first >> 11) / 2 ** 53
        angle = 2 * numpy.pi * ((second >> 11) / 2 ** 53)
        radius = numpy.sqrt(-2 * numpy.log(u))
        data += [radius * numpy.cos(angle), radius * numpy.sin(angle)]
    data = numpy.array(data[:count]) * scale
    return torch.tensor(data).reshape(shape).to(DTYPES[dtype])


def constant(op, line, tensor, **extra):
    name = line if len(line) < 80 else line[:77] + "..."
    return Case(op, line, lambda *_: tensor, extra.pop("inputs", {}),
                name=name, **extra)


def plain_cases(rng):
    for dtype, torch_type in DTYPES.items():
        for shape in ((), (0,), (3,), (2, 1, 4)):
            x = values(rng, "bool", shape, dtype)
            t = type_text(x)
            words = " ".join(str(int(v)) for v in x.reshape(-1).tolist())
            yield constant("tensor", f"y = tensor {t} {words}".rstrip(), x)
            yield constant("zeros", f"y = zeros {t}", torch.zeros_like(x))
            yield constant("ones", f"y = ones {t}", torch.ones_like(x))
            yield constant("full", f"y = full {t} 1", torch.ones_like(x))
            yield constant("full", f"y = full {t} v", torch.full_like(x, 1),
                           inputs={"v": torch.tensor(1.0)})
        for m, n in ((3, 3), (2, 5), (5, 2), (0, 3)):
            yield constant("eye", f"y = eye {dtype}[{m},{n}]",
                           torch.eye(m, n).to(torch_type))
        if dtype == "bool":
            continue
        for n in (0, 1, 7):
            yield constant("arange", f"y = arange {dtype}[{n}]",
                           torch.arange(n).to(torch_type))
            yield constant("arange", f"y = arange {dtype}[{n}] 3 2",
                           (torch.arange(n) * 2 + 3).to(torch_type))
    steps = numpy.arange(9) * -0.1 + 0.5
    for dtype in FLOATS:
        yield constant("arange", f"y = arange {dtype}[9] 0.5 -0.1",
                       torch.tensor(steps).to(DTYPES[dtype]))
    exact = torch.tensor([0.1, -1e-300, numpy.inf, numpy.nan, 5e-324, -0.0],
                         dtype=torch.float64)
    yield constant("tensor",
                   "y = tensor f64[6] 0.1 -1e-300 inf nan 5e-324 -0", exact,
                   tolerance=0)


def scalar_cases():
    """Constants made from scalars whose gradients are asked for."""
    for dtype in FLOATS:
        yield from make("full", f"y = full {dtype}[2,3] v",
                        lambda v: v.expand(2, 3), {"v": ()}, (dtype,), order=1)
        count = torch.arange(5, dtype=DTYPES[dtype])
        yield from make("arange", f"y = arange {dtype}[5] a b",
                        lambda a, b, n=count: a + b * n, {"a": (), "b": ()},
                        (dtype,), order=1)


def random_cases():
    for seed in (0, 7, 2 ** 40 + 3):
        for shape in ((), (0,), (1,), (6,), (3, 5)):
            for dtype in FLOATS + HALVES:
                t = f"{dtype}[{','.join(map(str, shape))}]"
                yield constant("rand", f"y = rand {t} {seed}",
                               uniform(seed, shape, dtype), tolerance=0)
                yield constant("randn", f"y = randn {t} {seed}",
                               normal(seed, shape, dtype))
        yield constant("randn", f"y = randn f64[5] {seed} scale=0.25",
                       normal(seed, (5,), "f64", 0.25))
        for n in (0, 1, 2, 11):
            words = philox_words(seed, n)
            order = sorted(range(n), key=lambda i, w=words: (w[i], i))
            for dtype in ("i64", "i32"):
                yield constant("randperm", f"y = randperm {dtype}[{n}] {seed}",
                               torch.tensor(order, dtype=DTYPES[dtype]))
    yield constant("rand", "y = rand f64[4] s", uniform(9, (4,), "f64"),
                   inputs={"s": torch.tensor(9)}, tolerance=0)


def file_cases(rng, folder):
    """gt reads files that NumPy wrote, and files that save wrote."""
    for dtype in ALL + ("f16",):
        for shape in ((), (0, 3), (1,), (5, 3)):
            x = values(rng, "bool", shape, dtype)
            path = f"{folder}/{dtype}-{len(shape)}-{x.numel()}.npy"
            numpy.save(path, x.numpy())
            yield constant("load", f'y = load "{path}"', x)
            yield constant("load", f'y = load "{path}" {type_text(x)}', x)
            copy = path.replace(".npy", "-copy.npy")
            yield Case("save", f'y = load "{copy}"', lambda x: x, {"x": x},
                       before=f'save x "{copy}"', name=f"save {copy[-20:]}")
        rows = values(rng, "bool", (6, 2), dtype)
        path = f"{folder}/rows-{dtype}.npy"
        numpy.save(path, rows.numpy())
        yield constant("load", f'y = load "{path}" {dtype}[2,2] 3', rows[3:5])
        yield constant("load", f'y = load "{path}" {dtype}[4,2] i', rows[1:5],
                       inputs={"i": torch.tensor(1)})
    for order in "CF":
        for name, start, sizes, row in (
                ("rows", (1, 0), (2, 5), 0), ("columns", (0, 2), (4, 2), 1),
                ("both", (2, 1), (2, 3), 2), ("none", (1, 1), (0, 3), 0)):
            x = values(rng, "int", (6, 5), "f64")
            path = f"{folder}/part-{name}-{order}.npy"
            numpy.save(path, numpy.array(x.numpy(), order=order))
            b = tuple(slice(s, s + n) for s, n in zip(start, sizes))
            yield constant(
                "load", f'y = load "{path}" f64[{sizes[0]},{sizes[1]}] {row} '
                f"part={start[0]},{start[1]}/4,5", x[row:row + 4][b])
    x = torch.arange(6.0).reshape(2, 3)
    numpy.save(f"{folder}/fortran.npy", numpy.asfortranarray(x.numpy()))
    yield constant("load", f'y = load "{folder}/fortran.npy"', x)
    big = x.numpy().astype(">f4")
    numpy.save(f"{folder}/big.npy", big)
    yield constant("load", f'y = load "{folder}/big.npy"', x)


def name_cases():
    x = torch.tensor([1.0, 0.1, -0.0])
    yield Case("print", "y = copy x", lambda x: x, {"x": x}, tolerance=0,
               name="print digits")
    yield Case("free", "y = copy x", lambda x: x, {"x": x},
               before="u = mul x x\nfree u", name="free")
    yield Case("fail", "y = copy x", lambda x: x, {"x": x},
               before='u = fail "no"\nv = add u x',
               name="fail spreads to nothing else")
    yield Case("grad", "y = mul x x", lambda x: x * x, {"x": x}, ["x"], 2,
               name="grad")


def cases(folder):
    rng = numpy.random.default_rng(4)
    yield from plain_cases(rng)
    yield from random_cases()
    yield from scalar_cases()
    yield from file_cases(rng, folder)
    yield from name_cases()

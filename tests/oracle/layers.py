"""Cases of norms, attention, positions and dropout."""
import dataclasses

import numpy
import torch
import torch.nn.functional as F

import creation
from cases import FLOATS, HALVES, Case, make, values

EPS = 1e-5


def centred(x, eps):
    """(x - mean) r, and r."""
    c = x - x.mean(-1, keepdim=True)
    r = torch.rsqrt((c * c).mean(-1, keepdim=True) + eps)
    return c * r, r


def scaled(x, eps):
    r = torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)
    return x * r, r


def rms_norm(eps):
    def run(x, w=None):
        n, _ = scaled(x, eps)
        return n if w is None else n * w
    return run


def layer_norm(eps):
    return lambda x, w=None, b=None: F.layer_norm(
        x, x.shape[-1:], w, b, eps)


def norm_grad(eps, results, normal, means):
    """The chain rule through n = (x - mean x) r, or n = x r."""
    def run(g, x, w=None):
        n, r = normal(x, eps)
        h = g if w is None else g * w
        out = h - n * (h * n).mean(-1, keepdim=True)
        if means:
            out = out - h.mean(-1, keepdim=True)
        lead = tuple(range(x.dim() - 1))
        over = (lambda t: t.sum(lead)) if lead else (lambda t: t)
        return [out * r, over(g * n), over(g)][:results]
    return run


def norm_cases():
    for shape in ((4,), (3, 5), (2, 3, 4), (0, 3), (1, 3)):
        last = shape[-1:]
        for eps, tail in ((EPS, ""), (0.25, " eps=0.25")):
            for names in ("x", "x w", "x w b"):
                shapes = dict(zip(names.split(), (shape, last, last)))
                yield from make(
                    "layer_norm", f"y = layer_norm {names}{tail}",
                    layer_norm(eps), shapes, FLOATS, "normal", 2)
                if "b" in names:
                    continue
                yield from make("rms_norm", f"y = rms_norm {names}{tail}",
                                rms_norm(eps), shapes, FLOATS, "normal", 2)
        for op, results, names, normal in (
                ("layer_norm", "gx", "g x", centred),
                ("layer_norm", "gx gw", "g x w", centred),
                ("layer_norm", "gx gw gb", "g x w", centred),
                ("rms_norm", "gx", "g x", scaled),
                ("rms_norm", "gx gw", "g x w", scaled)):
            yield from make(
                f"{op}_grad", f"{results} = {op}_grad {names} eps=0.1",
                norm_grad(0.1, len(results.split()), normal,
                          normal is centred),
                dict(zip(names.split(), (shape, shape, last))), FLOATS,
                "normal", 2)
    shapes = {"x": (3, 6), "w": (6,), "b": (6,)}
    yield from make("layer_norm", "y = layer_norm x w b", layer_norm(EPS),
                    shapes, HALVES, "normal", 1)
    del shapes["b"]
    yield from make("rms_norm", "y = rms_norm x w", rms_norm(EPS), shapes,
                    HALVES, "normal", 1)
    for op, normal in (("layer_norm", centred), ("rms_norm", scaled)):
        yield from make(
            f"{op}_grad", f"gx gw = {op}_grad g x w",
            norm_grad(EPS, 2, normal, normal is centred),
            {"g": (3, 6), "x": (3, 6), "w": (6,)}, HALVES, "normal", 1)


@dataclasses.dataclass
class Attention:
    """attention and its gradient, written out by heads."""
    heads: int = 0  # not given if 0
    causal: bool = False
    scale: float = None
    first: int = 0

    def split(self, x):
        if not self.heads:
            return x
        return x.unflatten(-1, (self.heads, x.shape[-1] // self.heads)
                           ).transpose(-2, -3)

    def merge(self, x):
        if not self.heads:
            return x
        return x.transpose(-2, -3).flatten(-2)

    def scores(self, q, k, mask=None):
        scale = self.scale or max(q.shape[-1], 1) ** -0.5
        s = q @ k.transpose(-1, -2) * scale
        if mask is not None:
            s = (s.masked_fill(~mask, -numpy.inf) if mask.dtype == torch.bool
                 else s + mask)
        if not self.causal:
            return s
        rows = torch.arange(q.shape[-2]).unsqueeze(-1) + self.first
        seen = torch.arange(k.shape[-2]) <= rows
        return s.masked_fill(~seen, -numpy.inf)

    def kv_split(self, x, group):
        """k or v by heads, each of them `group` times, as by PyTorch's
        enable_gqa."""
        if group == 1:
            return self.split(x)
        if self.heads:
            n = self.heads // group
            x = x.unflatten(-1, (n, x.shape[-1] // n)).transpose(-2, -3)
        return x.repeat_interleave(group, -3)

    def run(self, q, k, v, mask=None, group=1):
        s = self.scores(self.split(q), self.kv_split(k, group), mask)
        # A row that sees nothing gives 0, as in PyTorch from 2.5 on.
        none = (s == -numpy.inf).all(-1, keepdim=True) & (s.shape[-1] > 0)
        p = torch.softmax(s.masked_fill(none, 0.0), -1).masked_fill(none, 0.0)
        lse = torch.logsumexp(s.masked_fill(none, 0.0), -1).masked_fill(
            none.squeeze(-1), -numpy.inf)
        return self.merge(p @ self.kv_split(v, group)), lse

    def grad(self, q, k, v, go, glse=None, mask=None):
        q, k, v, go = (self.split(x) for x in (q, k, v, go))
        p = torch.softmax(self.scores(q, k, mask), -1)
        gp = go @ v.transpose(-1, -2)
        n = (p * gp).sum(-1, keepdim=True)
        if glse is not None:
            n = n - glse.unsqueeze(-1)
        gs = p * (gp - n) * (self.scale or max(q.shape[-1], 1) ** -0.5)
        return tuple(self.merge(x) for x in (
            gs @ k, gs.transpose(-1, -2) @ q, p.transpose(-1, -2) @ go))

    def keys(self):
        keys = " causal=1" if self.causal else ""
        keys += f" heads={self.heads}" if self.heads else ""
        return keys + (f" scale={self.scale}" if self.scale else "")


# Shapes of q, k and v; each last size is even.
SIZES = [
    ((3, 4), (3, 4), (3, 4)), ((2, 4), (5, 4), (5, 6)),
    ((2, 3, 4), (2, 3, 4), (2, 3, 4)), ((2, 3, 4), (1, 5, 4), (5, 2)),
    ((2, 1, 3, 2), (2, 2, 3, 2), (2, 1, 3, 2)),
    ((0, 4), (3, 4), (3, 4)), ((2, 0, 4), (2, 3, 4), (2, 3, 2)),
    ((0, 3, 4), (0, 3, 4), (0, 3, 4)),
]


def part_text(start, whole):
    return f" part={','.join(map(str, start))}/{','.join(map(str, whole))}"


def attention_cases():
    for q, k, v in SIZES:
        shapes = {"q": q, "k": k, "v": v}
        for causal in (False, True):
            for heads, scale in ((0, None), (2, 0.7), (1, None)):
                a = Attention(heads, causal, scale)
                line = "attention q k v" + a.keys()
                yield from make("attention", f"o = {line}",
                                lambda *x, a=a: a.run(*x)[0], shapes,
                                ("f64",) if heads else FLOATS, "normal", 2)
                yield from make("attention", f"o lse = {line}", a.run, shapes,
                                ("f64",), "normal", 2)
                yield from attention_grad_cases(a, shapes)
    for first, rows in ((0, 2), (2, 3), (4, 1), (5, 0)):
        whole = {"q": (2, rows, 4), "k": (2, 6, 4), "v": (2, 6, 2)}
        a = Attention(2, True, None, first)
        part = part_text((0, first, 0), (2, 5, 2))
        line = "attention q k v" + a.keys() + part
        yield from make("attention", f"o lse = {line}", a.run, whole, ("f64",),
                        "normal", 2)
        yield from make("attention", f"o = {line}",
                        lambda *x, a=a: a.run(*x)[0], whole, FLOATS, "normal",
                        2)
        yield from attention_grad_cases(a, whole, part)
    a = Attention(2, True)
    shapes = {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 4)}
    yield from make("attention", "o = attention q k v causal=1 heads=2",
                    lambda *x: a.run(*x)[0], shapes, HALVES, "normal", 1)
    yield from make("attention", "o lse = attention q k v causal=1 heads=2",
                    a.run, shapes, HALVES, "normal", 1)
    yield Case("attention", "o lse = attention q k v",
               lambda q, k, v: (torch.zeros(2, 4), torch.full((2,),
                                                              -numpy.inf)),
               {"q": torch.ones(2, 3), "k": torch.ones(0, 3),
                "v": torch.ones(0, 4)}, name="attention of no columns")


def masked_cases():
    """Masks of bool and of floats, that broadcast or not."""
    rng = numpy.random.default_rng(6)
    for q, k, v, heads, masks in (
            ((3, 4), (5, 4), (5, 6), 0, ((3, 5), (5,), (3, 1), (1, 1), ())),
            ((2, 3, 4), (2, 5, 4), (2, 5, 4), 2,
             ((3, 5), (2, 3, 5), (2, 1, 3, 5), (2, 2, 3, 5), (2, 1, 1, 5))),
            ((2, 2, 3, 4), (2, 1, 5, 4), (1, 2, 5, 4), 0,
             ((2, 1, 1, 5), (2, 3, 5))), ((37, 4), (70, 4), (70, 4), 0,
                                          ((37, 70),))):
        for mask in masks:
            for kind in ("bool", "normal"):
                for causal in (False, True):
                    a = Attention(heads, causal)
                    shapes = {"q": q, "k": k, "v": v, "m": mask}
                    large = q == (37, 4)
                    for case in make(
                            "attention", "o lse = attention q k v m" + a.keys(),
                            a.run, shapes,
                            FLOATS if large else FLOATS + HALVES,
                            {"m": (kind, "bool")} if kind == "bool" else kind,
                            0 if large else 2):
                        if kind == "bool":  # lse is finite if no row is blind
                            case.inputs["m"].reshape(-1, mask[-1] if mask else 1)[:, 0] = True
                        yield case
                        yield dataclasses.replace(
                            case, line="o = attention q k v m" + a.keys(),
                            function=lambda *x, a=a: a.run(*x)[0],
                            name="one result: " + case.name)
    # Rows that see nothing give 0, and get no gradient.
    for kind in ("bool", "float"):
        for causal in (False, True):
            a = Attention(2, causal)
            for case in make("attention", "o = attention q k v m" + a.keys(),
                             lambda *x, a=a: a.run(*x)[0],
                             {"q": (2, 3, 4), "k": (2, 5, 4), "v": (2, 5, 4),
                              "m": (3, 5)}, FLOATS, "normal", 1):
                sees = torch.tensor(rng.random((3, 5)) < 0.6)
                sees[1] = False
                sees[2] = True
                sees[0, 0] = True
                dtype = case.inputs["q"].dtype
                case.inputs["m"] = sees if kind == "bool" else torch.where(
                    sees, 0.5, -numpy.inf).to(dtype)
                case.targets = ["q", "k", "v"]
                yield case


def grouped_cases():
    """Heads of q that share heads of k and v."""
    for q, k, v, heads, group in (
            ((3, 8), (5, 4), (5, 6), 4, 2), ((2, 3, 8), (2, 5, 2), (2, 5, 3), 4,
                                             4),
            ((2, 3, 8), (5, 8), (5, 4), 4, 1), ((4, 3, 2), (2, 5, 2), (2, 5, 3),
                                                0, 2),
            ((2, 6, 3, 2), (2, 2, 5, 2), (1, 2, 5, 2), 0, 3),
            ((2, 4, 3, 2), (1, 5, 2), (1, 5, 2), 0, 4)):
        for masked in (False, True):
            for causal in (False, True):
                a = Attention(heads, causal)
                shapes = {"q": q, "k": k, "v": v}
                if masked:
                    shapes["m"] = (3, 5)
                line = ("attention q k v" + (" m" if masked else "") + a.keys()
                        + " enable_gqa=1")
                yield from make(
                    "attention", "o lse = " + line,
                    lambda q, k, v, m=None, a=a, g=group: a.run(q, k, v, m, g),
                    shapes, FLOATS + HALVES, "normal", 2)
    for op, group, shape, heads in (
            ("repeat_heads", 3, (2, 5, 4), 0), ("repeat_heads", 2, (3, 4), 2),
            ("fold_heads", 2, (4, 5, 2), 0), ("fold_heads", 2, (3, 8), 4)):
        def run(x, op=op, group=group, heads=heads):
            # heads= counts the fewer heads, whichever of the tensors has them.
            own = heads * group if op == "fold_heads" else heads
            y = x.unflatten(-1, (own, -1)) if heads else x
            at = -2 if heads else -3
            if op == "repeat_heads":
                y = y.repeat_interleave(group, at)
            else:
                y = y.unflatten(at, (y.shape[at] // group, group)).sum(at)
            return y.flatten(-2) if heads else y
        yield from make(op, f"y = {op} x size={group}"
                        + (f" heads={heads}" if heads else ""), run,
                        {"x": shape}, FLOATS, "normal", 2)


def attention_grad_cases(a, shapes, part=""):
    """The gradients. o and lse are computed from q, k and v, whose derivatives
    say everything; a difference must not hold them fixed."""
    some = torch.zeros
    o, lse = a.run(*[some(s) for s in shapes.values()])
    for names in ("go", "go glse", "go glse m"):
        own = {**shapes, "go": tuple(o.shape), "glse": tuple(lse.shape)}
        if names == "go":
            del own["glse"]
        if names.endswith(" m"):
            if part:
                continue
            own["m"] = lse.shape + (shapes["k"][-2],)
        before = "o lse = attention q k v" + (
            " m" if "m" in own else "") + a.keys() + part
        for case in make(
                "attention_grad", "gq gk gv = attention_grad q k v o lse "
                f"{names}{a.keys()}{part}", a.grad, own, ("f64",), "normal",
                2):
            yield dataclasses.replace(case, before=before, smooth=False)


def head_cases():
    for shape in ((3, 4), (2, 0, 6), (5, 1, 2)):
        yield from make(
            "split_heads", "y = split_heads x heads=2",
            lambda x: x.unflatten(-1, (2, x.shape[-1] // 2)).transpose(-2, -3),
            {"x": shape}, FLOATS, "normal", 2)
        yield from make(
            "merge_heads", "y = merge_heads x heads=3",
            lambda x: x.transpose(-2, -3).flatten(-2),
            {"x": shape[:-2] + (3,) + shape[-2:]}, FLOATS, "normal", 2)
    yield from make("split_heads", "y = split_heads x", lambda x: x + 0,
                    {"x": (3, 4)}, ("f64",), "normal", 2)
    yield from make("merge_heads", "y = merge_heads x", lambda x: x + 0,
                    {"x": (3, 4)}, ("f64",), "normal", 2)


def rope(start=0, base=10000.0, heads=1, interleaved=False, back=False):
    def run(x, *_):
        d = x.shape[-1] // heads
        place = torch.arange(x.shape[-2], dtype=torch.float64) + start
        wave = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        angle = place.unsqueeze(-1) * wave
        c = torch.cos(angle).to(x.dtype).unsqueeze(-2)
        s = torch.sin(angle).to(x.dtype).unsqueeze(-2) * (-1 if back else 1)
        x = x.unflatten(-1, (heads, d))
        if interleaved:
            a, b = x[..., ::2], x[..., 1::2]
            y = torch.stack((a * c - b * s, b * c + a * s), -1).flatten(-2)
        else:
            a, b = x[..., :d // 2], x[..., d // 2:]
            y = torch.cat((a * c - b * s, b * c + a * s), -1)
        return y.flatten(-2)
    return run


def rope_cases():
    for op, back in (("rope", False), ("rope_grad", True)):
        for shape in ((3, 4), (2, 5, 8), (2, 3, 1, 4), (0, 4), (2, 0, 4)):
            for tail, options in (
                    ("", {}), (" 7", {"start": 7}), (" 2 heads=2 base=100",
                     {"start": 2, "heads": 2, "base": 100.0}),
                    (" interleaved=1", {"interleaved": True}),
                    (" 3 interleaved=1 heads=2",
                     {"start": 3, "interleaved": True, "heads": 2})):
                yield from make(op, f"y = {op} x{tail}",
                                rope(back=back, **options), {"x": shape},
                                FLOATS, "normal", 2)
        yield from make(op, f"y = {op} x part=0,2,0/2,9,4",
                        rope(2, back=back), {"x": (2, 3, 4)}, FLOATS,
                        "normal", 2)
        yield from make(op, f"y = {op} x 5 part=4,0/7,4",
                        rope(9, back=back), {"x": (3, 4)}, FLOATS, "normal",
                        2)
        yield from make(op, f"y = {op} x", rope(back=back), {"x": (3, 4)},
                        HALVES, "normal", 1)
        yield from with_scalar(
            make(op, f"y = {op} x s part=4,0/7,4", rope(10, back=back),
                 {"x": (3, 4)}, FLOATS, "normal", 2), s=torch.tensor(6))


def with_scalar(found, **scalars):
    """The cases with more inputs, which their function may ignore."""
    for case in found:
        function = case.function
        yield dataclasses.replace(
            case, inputs={**case.inputs, **scalars},
            function=lambda x, *_, f=function: f(x))


def dropout(p, seed, whole=None, start=None):
    def run(x, *_):
        sizes = tuple(whole or x.shape)
        mask = creation.uniform(seed, sizes, "f32") >= numpy.float32(p)
        if start is not None:
            mask = mask[tuple(slice(b, b + n)
                              for b, n in zip(start, x.shape))]
        return torch.where(mask, x / (1 - p), torch.zeros_like(x))
    return run


def dropout_cases():
    for shape in ((), (0,), (7,), (3, 5)):
        for p in (0, 0.3, 1):
            yield from make("dropout", f"y = dropout x {p} 7",
                            dropout(p, 7) if p < 1 else lambda x: x * 0,
                            {"x": shape}, FLOATS, "normal", 2)
    yield from make("dropout", "y = dropout x 0.5 3", dropout(0.5, 3),
                    {"x": (9,)}, HALVES, "normal", 1)
    yield from with_scalar(
        make("dropout", "y = dropout x p s", dropout(0.25, 9), {"x": (9,)},
             FLOATS, "normal", 2), p=torch.tensor(0.25), s=torch.tensor(9))
    for start, whole in (((0, 0), (3, 4)), ((2, 1), (5, 7)), ((1, 0), (4, 4))):
        yield from make(
            "dropout", f"y = dropout x 0.4 5{part_text(start, whole)}",
            dropout(0.4, 5, whole, start), {"x": (3, 4)}, FLOATS, "normal", 2)


def cases():
    yield from norm_cases()
    yield from attention_cases()
    yield from masked_cases()
    yield from grouped_cases()
    yield from head_cases()
    yield from rope_cases()
    yield from dropout_cases()

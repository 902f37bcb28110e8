"""Cases of products, softmax, losses and optimizers."""
import dataclasses

import numpy
import torch
import torch.nn.functional as F

from cases import FLOATS, HALVES, NUMBERS, Case, make, values

MATRICES = [
    ((3, 4), (4, 5)), ((1, 1), (1, 1)), ((0, 4), (4, 5)), ((3, 0), (0, 5)),
    ((3, 4), (4, 0)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 3, 4), (0, 4, 5)),
    ((17, 9), (9, 33)),
]


def swapped(shape):
    return shape[:-2] + (shape[-1], shape[-2])


def product_cases():
    for a, b in MATRICES:
        for ta in (0, 1):
            for tb in (0, 1):
                tail = (" ta=1" if ta else "") + (" tb=1" if tb else "")
                yield from make(
                    "matmul", f"y = matmul a b{tail}",
                    lambda a, b, ta=ta, tb=tb: torch.matmul(
                        a.transpose(-1, -2) if ta else a,
                        b.transpose(-1, -2) if tb else b),
                    {"a": swapped(a) if ta else a,
                     "b": swapped(b) if tb else b},
                    NUMBERS if a == (2, 3, 4) else FLOATS, "normal", 2)
    yield from make("matmul", "y = matmul a a",
                    lambda a: a @ a, {"a": (3, 3)}, FLOATS, "normal", 2)
    yield from make("matmul", "y = matmul a b",
                    lambda a, b: (a.float() @ b.float()).to(a.dtype),
                    {"a": (3, 4), "b": (4, 5)}, HALVES, "normal", 0)
    for case in (*make("matmul", "y = matmul a b out=f32",
                       lambda a, b: a.float() @ b.float(),
                       {"a": (3, 4), "b": (4, 5)}, HALVES, "normal", 2),
                 *make("linear", "y = linear x w b out=f32",
                       lambda x, w, b: x.float() @ w.float() + b.float(),
                       {"x": (2, 3, 4), "w": (4, 5), "b": (5,)}, HALVES,
                       "normal", 2)):
        yield dataclasses.replace(case, wide_results=("y",))
    for x in ((4,), (3, 4), (0, 4), (2, 3, 4), (1, 4), (2, 0, 4)):
        for bias in (False, True):
            shapes = {"x": x, "w": (4, 5)}
            if bias:
                shapes["b"] = (5,)
            yield from make(
                "linear", "y = linear x w" + (" b" if bias else ""),
                lambda x, w, b=None: x @ w if b is None else x @ w + b,
                shapes, NUMBERS if x == (3, 4) else FLOATS, "normal", 2)


def softmax_grad(g, y, d):
    return y * (g - (g * y).sum(d, keepdim=True))


def log_softmax_grad(g, y, d):
    return g - torch.exp(y) * g.sum(d, keepdim=True)


def softmax_cases():
    for op, function, back in (
            ("softmax", torch.softmax, softmax_grad),
            ("log_softmax", torch.log_softmax, log_softmax_grad)):
        for shape, axis in (((5,), -1), ((3, 4), 1), ((3, 4), 0),
                            ((2, 3, 4), -2), ((1,), 0), ((0, 3), 1),
                            ((3, 0), 1), ((2, 1), -1)):
            yield from make(op, f"y = {op} x axis={axis}",
                            lambda x, f=function, a=axis: f(x, a),
                            {"x": shape}, FLOATS, "normal", 2)
            yield from make(op + "_grad", f"z = {op}_grad g y axis={axis}",
                            lambda g, y, f=back, a=axis: f(g, y, a),
                            {"g": shape, "y": shape}, FLOATS, "normal", 2)
        yield from make(op, f"y = {op} x", lambda x, f=function: f(x, -1),
                        {"x": (3, 4)}, HALVES, "normal", 0)
        yield from make(op, f"y = {op} x",
                        lambda x, f=function: f(x, -1), {"x": (9, 2)}, FLOATS,
                        "special", 0)


def cross_entropy(reduction):
    def run(x, t):
        flat = F.cross_entropy(x.reshape(-1, x.shape[-1]),
                               t.reshape(-1).long(), reduction=reduction)
        return flat.reshape(t.shape) if reduction == "none" else flat
    return run


def cross_entropy_grad(reduction):
    def run(g, x, t):
        hot = F.one_hot(t.long(), x.shape[-1]).to(x.dtype)
        difference = torch.softmax(x, -1) - hot
        if reduction == "mean":
            return g * difference / t.numel()
        if reduction == "sum":
            return g * difference
        return g.unsqueeze(-1) * difference
    return run


def weighted_cross_entropy(reduction, ignore, smoothing):
    def run(x, t, w=None):
        flat = F.cross_entropy(
            x.reshape(-1, x.shape[-1]), t.reshape(-1).long(), weight=w,
            reduction=reduction, label_smoothing=smoothing,
            ignore_index=-100 if ignore is None else ignore)
        return flat.reshape(t.shape) if reduction == "none" else flat
    return run


def weighted_loss_cases():
    """Weights, ignored classes and smoothing, each alone and together."""
    rng = numpy.random.default_rng(9)
    for reduction in ("mean", "sum", "none"):
        for weighs in (False, True):
            for ignore in (None, -100, 1):
                for smoothing in (0.0, 0.1, 1.0):
                    if not weighs and ignore is None and smoothing == 0:
                        continue
                    keys = f" reduction={reduction}"
                    keys += f" ignore_index={ignore}" if ignore else ""
                    keys += (f" label_smoothing={smoothing}" if smoothing
                             else "")
                    line = "y = cross_entropy x t"
                    line += (" w" if weighs else "") + keys
                    for shape in ((5, 4), (2, 3, 4), (6, 3)):
                        yield from marked(rng, make(
                            "cross_entropy", line, weighted_cross_entropy(
                                reduction, ignore, smoothing),
                            {"x": shape, "t": shape[:-1],
                             **({"w": (shape[-1],)} if weighs else {})},
                            FLOATS + HALVES if shape == (5, 4) else FLOATS,
                            {"t": ("index", shape[-1]), "w": "positive"}, 2),
                            ignore)
    for reduction in ("mean", "none"):
        for smoothing in (0.0, 0.1):
            run = weighted_cross_entropy(reduction, None, smoothing)
            keys = f" reduction={reduction} out=f32"
            keys += f" label_smoothing={smoothing}" if smoothing else ""
            for case in make("cross_entropy", "y = cross_entropy x t" + keys,
                             lambda x, t, run=run: run(x.float(), t),
                             {"x": (5, 4), "t": (5,)}, HALVES,
                             {"t": ("index", 4)}, 2):
                yield dataclasses.replace(case, wide_results=("y",))
    # All targets are ignored, so the mean is 0/0 and the sum 0.
    for reduction in ("mean", "sum"):
        for case in make("cross_entropy", "y = cross_entropy x t "
                         f"reduction={reduction} ignore_index=1",
                         weighted_cross_entropy(reduction, 1, 0.0),
                         {"x": (3, 4), "t": (3,)}, FLOATS,
                         {"t": ("index", 4)}, 0):
            case.inputs["t"] = torch.ones(3, dtype=torch.long)
            yield case


def marked(rng, found, ignore):
    """The cases with some targets ignored, and without a gradient by the
    weights."""
    for case in found:
        if ignore is not None:
            t = case.inputs["t"]
            case.inputs["t"] = torch.where(
                torch.tensor(rng.random(tuple(t.shape)) < 0.4), ignore, t)
        case.targets = [n for n in case.targets if n != "w"]
        yield case


def loss_cases():
    for reduction in ("mean", "sum", "none"):
        tail = "" if reduction == "mean" else f" reduction={reduction}"
        for shape in ((4, 5), (1, 3), (5,), (2, 3, 4), (0, 3), (4, 1)):
            kinds = {"t": ("index", shape[-1])}
            shapes = {"x": shape, "t": shape[:-1]}
            yield from make("cross_entropy", f"y = cross_entropy x t{tail}",
                            cross_entropy(reduction), shapes, FLOATS, kinds,
                            2)
            g = shape[:-1] if reduction == "none" else ()
            yield from make(
                "cross_entropy_grad",
                f"z = cross_entropy_grad g x t{tail}",
                cross_entropy_grad(reduction), {"g": g, **shapes}, FLOATS,
                kinds, 0 if 0 in shape else 2)
        yield from make("cross_entropy", f"y = cross_entropy x t{tail}",
                        cross_entropy(reduction), {"x": (4, 2), "t": (4,)},
                        FLOATS, {"t": ("bool", "u8")}, 1)
        for shape in ((), (0,), (1,), (3, 5)):
            yield from make(
                "mse", f"y = mse x t{tail}",
                lambda x, t, r=reduction: F.mse_loss(x, t, reduction=r),
                {"x": shape, "t": shape}, FLOATS, "normal", 2)
            yield from make(
                "mse", f"y = mse x 0.5{tail}",
                lambda x, r=reduction: F.mse_loss(
                    x, torch.full_like(x, 0.5), reduction=r),
                {"x": shape}, FLOATS, "normal", 2)
            yield from make(
                "bce", f"y = bce x t{tail}",
                lambda x, t, r=reduction: F.binary_cross_entropy(
                    x, t, reduction=r),
                {"x": shape, "t": shape}, FLOATS, "unit", 2)
            yield from make(
                "bce", f"y = bce x 1{tail}",
                lambda x, r=reduction: F.binary_cross_entropy(
                    x, torch.ones_like(x), reduction=r),
                {"x": shape}, FLOATS, "unit", 2)


def sgd_step(momentum):
    def run(w, g, v):
        p = torch.nn.Parameter(w.clone())
        step = torch.optim.SGD([p], 0.3, momentum=momentum)
        p.grad = g
        step.state[p]["momentum_buffer"] = v.clone()
        step.step()
        return p.data, step.state[p]["momentum_buffer"]
    return run


def adamw_step(steps, decay, betas, eps):
    """The state after one more step; m and v come from the steps before."""
    def run(w, g, m, v):
        p = torch.nn.Parameter(w.clone())
        step = torch.optim.AdamW([p], 0.01, betas, eps, decay)
        p.grad = g
        step.state[p] = {"step": torch.tensor(float(steps - 1)),
                         "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
        step.step()
        return p.data, step.state[p]["exp_avg"], step.state[p]["exp_avg_sq"]
    return run


def clip(*grads):
    whole = torch.cat([g.reshape(-1).double() for g in grads]).norm()
    factor = min(1.0, float(2.0 / (whole + 1e-6)))
    return tuple(g * factor for g in grads)


def optimizer_cases(rng):
    for shape in ((), (0,), (1,), (3, 5)):
        yield from make("sgd", "w = sgd w g 0.3", lambda w, g: w - 0.3 * g,
                        {"w": shape, "g": shape}, FLOATS, "normal", 0)
        yield from make("sgd", "w = sgd w g lr",
                        lambda w, g, lr: w - lr * g,
                        {"w": shape, "g": shape, "lr": ()}, FLOATS,
                        {"lr": ("unit", "f32")}, 0)
        for momentum in (0.0, 0.9):
            yield from make(
                "sgd", f"w v = sgd w g v 0.3 momentum={momentum}",
                sgd_step(momentum) if momentum else
                lambda w, g, v: (w - 0.3 * g, g),
                {"w": shape, "g": shape, "v": shape}, FLOATS, "normal", 0)
        for steps, keys, decay, betas, eps in (
                (1, "", 0.01, (0.9, 0.999), 1e-8),
                (7, " beta1=0.8 beta2=0.95 eps=0.001 decay=0.1", 0.1,
                 (0.8, 0.95), 1e-3)):
            yield from make(
                "adamw", f"w m v = adamw w g m v {steps} 0.01{keys}",
                adamw_step(steps, decay, betas, eps),
                {"w": shape, "g": shape, "m": shape, "v": shape}, FLOATS,
                {"v": "positive"}, 0)
    yield from make("probability", "y = probability x", lambda x: x.clone(),
                    {"x": ()}, FLOATS, "unit", 0)
    yield from make("step_number", "y = step_number x", lambda x: x.clone(),
                    {"x": ()}, FLOATS, "positive", 0)
    for first, second in (((3,), (2, 5)), ((1,), ()), ((0,), (4,))):
        for kind in ("normal", "unit"):
            yield from make("clip", "a b = clip a b 2", clip,
                            {"a": first, "b": second}, FLOATS, kind, 0)
    x = values(rng, "unit", (2,), "f32") * 0.01
    yield Case("clip", "g = clip g 2", clip, {"g": x}, name="clip not needed")


def cases():
    rng = numpy.random.default_rng(3)
    yield from product_cases()
    yield from softmax_cases()
    yield from loss_cases()
    yield from weighted_loss_cases()
    yield from optimizer_cases(rng)

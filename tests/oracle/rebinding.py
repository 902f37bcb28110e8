#!/usr/bin/env python3
"""Compares programs that bind names again under the tape with PyTorch.

usage: rebinding.py BACKEND...
"""
import re
import sys

import torch

from gt import Tally, difference, emit, results_of, tensor_line, work


def data(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def leaf(seed, *shape):
    return data(seed, *shape).requires_grad_()


def inputs(**tensors):
    return [tensor_line(n, t) for n, t in tensors.items()]


def relu_loop():
    """h = relu h several times; each round's h is another value."""
    x, w = data(1, 4, 3), leaf(2, 3, 3)
    lines = inputs(x=x, w=w) + ["h = copy x"]
    h = x
    for _ in range(5):
        lines += ["h = matmul h w", "h = relu h", "h = add h 0.1"]
        h = torch.relu(h @ w) + 0.1
    lines += ["l = sum h", "g = grad l w", "print l", "print g"]
    loss = h.sum()
    return lines, {"l": loss, "g": torch.autograd.grad(loss, w)[0]}


def recurrent():
    """A recurrent net over a sequence, whose steps share their weights."""
    u, w, b = leaf(3, 3, 5), leaf(4, 5, 5), leaf(5, 5)
    x, target = data(6, 7, 2, 3), data(7, 2, 5)
    lines = inputs(u=u, w=w, b=b, x=x, target=target)
    lines += ["h = zeros f64[2,5]"]
    h = torch.zeros(2, 5, dtype=torch.float64)
    for t in range(7):
        lines += [f"xt = slice x {t}", "a = matmul xt u", "r = linear h w b",
                  "h = add a r", "h = tanh h"]
        h = torch.tanh(x[t] @ u + h @ w + b)
    lines += ["free xt a r", "l = mse h target", "gu gw gb = grad l u w b",
              "print l", "print gu", "print gw", "print gb"]
    loss = ((h - target) ** 2).mean()
    gu, gw, gb = torch.autograd.grad(loss, (u, w, b))
    return lines, {"l": loss, "gu": gu, "gw": gw, "gb": gb}


def two_losses():
    """retain=1 keeps the history that two losses share."""
    w, x = leaf(8, 3), data(9, 3)
    lines = inputs(w=w, x=x) + [
        "h = mul w x", "h = exp h", "a = sum h", "q = mul h h", "b = mean q",
        "free q h", "ga = grad a w retain=1", "gb = grad b w", "print ga",
        "print gb"]
    h = torch.exp(w * x)
    return lines, {"ga": torch.autograd.grad(h.sum(), w, retain_graph=True)[0],
                   "gb": torch.autograd.grad((h * h).mean(), w)[0]}


def updates():
    """w = sub w step, written out; each round's w is a new leaf."""
    w, x, y = leaf(10, 3), data(11, 5, 3), data(12, 5)
    lines = inputs(w=w, x=x, y=y)
    lines += ["w = reshape w shape=3,1", "y = reshape y shape=5,1"]
    found = {}
    w = w.detach().reshape(3, 1)
    y = y.reshape(5, 1)
    for t in range(4):
        w = w.requires_grad_()
        loss = ((x @ w - y) ** 2).mean()
        g, = torch.autograd.grad(loss, w)
        lines += ["p = matmul x w", "l = mse p y", "g = grad l w",
                  "step = mul g 0.1", "w = sub w step",
                  f"print l as=l{t}"]
        found[f"l{t}"] = loss
        w = (w - 0.1 * g).detach()
    lines += ["print w", "print g"]
    return lines, {**found, "w": w, "g": g}


def unrolled_update():
    """A gradient through a step of descent that is itself made of a
    gradient."""
    w, x = leaf(13, 4), data(14, 4)
    lines = inputs(w=w, x=x) + [
        "v = mul w x", "v = sin v", "l = sum v", "g = grad l w retain=1",
        "v = mul g 0.3", "v = sub w v", "v = mul v v", "l = sum v",
        "h = grad l w", "print l", "print h"]
    g, = torch.autograd.grad(torch.sin(w * x).sum(), w, create_graph=True)
    loss = ((w - 0.3 * g) ** 2).sum()
    return lines, {"l": loss, "h": torch.autograd.grad(loss, w)[0]}


def third_derivative():
    w = leaf(15, 3)
    lines = inputs(w=w) + ["y = exp w", "y = mul y w", "l = sum y"]
    found = {}
    loss = (torch.exp(w) * w).sum()
    for t in range(3):
        lines += [f"g = grad l w{' retain=1' if t < 2 else ''}",
                  f"print g as=g{t}", "l = sum g"]
        g, = torch.autograd.grad(loss, w, create_graph=True)
        found[f"g{t}"] = g
        loss = g.sum()
    return lines, found


def swapped_names():
    """Operands that the lines which read them bind again."""
    a, b = leaf(16, 3), leaf(17, 3)
    lines = inputs(a=a, b=b) + [
        "x = mul a b", "y = sin x", "t = copy x", "x = mul y x",
        "y = mul t t", "t = add x y", "x = mul x t", "l = sum x",
        "free x y t", "ga gb = grad l a b", "print ga", "print gb"]
    x = a * b
    y = torch.sin(x)
    t = x
    x, y = y * x, t * t
    loss = (x * (x + y)).sum()
    ga, gb = torch.autograd.grad(loss, (a, b))
    return lines, {"ga": ga, "gb": gb}


def prepared_data():
    """Data whose name is bound again after the weights were made."""
    w, x = leaf(18, 3), data(19, 3)
    lines = inputs(w=w, x=x)
    value = x
    for _ in range(3):
        lines += ["x = mul x 0.5", "x = add x 1"]
        value = value * 0.5 + 1
    lines += ["p = mul x w", "l = sum p", "g = grad l w", "print g"]
    return lines, {"g": value}


def two_names():
    """One value has two names, and its gradient counts both."""
    x = leaf(20, 3)
    lines = inputs(x=x) + [
        "y = copy x", "z = mul x y", "x = neg x", "l = sum z",
        "g = grad l y", "print g"]
    y = x.clone()
    loss = (x * y).sum()
    return lines, {"g": torch.autograd.grad(loss, y)[0]}


def middle_target():
    """One of the targets lies inside the history of the loss."""
    w = leaf(21, 3)
    lines = inputs(w=w) + [
        "h = exp w", "y = mul h h", "l = sum y", "gh gw = grad l h w",
        "print gh", "print gw"]
    h = torch.exp(w)
    gh, gw = torch.autograd.grad((h * h).sum(), (h, w))
    return lines, {"gh": gh, "gw": gw}


def detached():
    w, x = leaf(22, 3), data(23, 3)
    lines = inputs(w=w, x=x) + [
        "h = mul w x", "d = detach h", "h = mul h d", "l = sum h",
        "g = grad l w", "print g"]
    h = w * x
    return lines, {"g": torch.autograd.grad((h * h.detach()).sum(), w)[0]}


def same_gradient_twice():
    a, b = leaf(24, 3), leaf(25, 3)
    lines = inputs(a=a, b=b) + [
        "y = add a b", "y = mul y y", "l = sum y",
        "a b c = grad l a b a", "print a", "print b", "print c"]
    g, = torch.autograd.grad(((a + b) ** 2).sum(), a)
    return lines, {"a": g, "b": g, "c": g}


def momentum_training():
    """sgd with momentum and adamw over minibatches, as PyTorch's."""
    w = leaf(26, 4, 2)
    x, y = data(27, 12, 4), torch.arange(12) % 2
    lines = inputs(w=w, x=x, y=y) + [
        "v = zeros f64[4,2]", "u = copy w", "m = zeros f64[4,2]",
        "s = zeros f64[4,2]", "t = tensor i64[] 0", "i = tensor i64[] 0"]
    a, b = (torch.nn.Parameter(w.detach().clone()) for _ in range(2))
    sgd = torch.optim.SGD([a], 0.1, momentum=0.9)
    adamw = torch.optim.AdamW([b], 0.05)
    for step in range(6):
        lines += ["xb = slice x i axis=0 size=4",
                  "yb = slice y i axis=0 size=4",
                  "i = add i 4", "i = mod i 12", "t = add t 1"]
        rows = slice(step % 3 * 4, step % 3 * 4 + 4)
        for name, p, optimizer, update in (
                ("w", a, sgd, "w v = sgd w g v 0.1 momentum=0.9"),
                ("u", b, adamw, "u m s = adamw u g m s t 0.05")):
            lines += [f"o = matmul xb {name}", "l = cross_entropy o yb",
                      f"g = grad l {name}", update]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(x[rows] @ p, y[rows]).backward()
            optimizer.step()
    return lines + ["print w", "print u"], {"w": a, "u": b}


VALUES = [relu_loop, recurrent, two_losses, updates, unrolled_update,
          third_derivative, swapped_names, prepared_data, two_names,
          middle_target, detached, same_gradient_twice, momentum_training]


def text(lines):
    return "\n".join(lines) + "\n"


def check_values(tally, backends):
    for program in VALUES:
        lines, expected = program()
        stream, messages, status = emit(text(lines))
        name = program.__name__
        tally.check(f"{name}: gt-emit", messages or None)
        again, messages, status = emit(stream)
        tally.check(f"{name}: fed its own output",
                    None if again == stream and status == 0
                    else messages or "the stream changed")
        for backend in backends:
            output, messages, status = work(stream, backend)
            results = results_of(output)
            for printed, tensor in expected.items():
                tally.check(f"{backend}: {name}: {printed}",
                            difference(results.get(printed), tensor))
            tally.check(f"{backend}: {name}: status",
                        messages if status else None)


# ---- memory ------------------------------------------------------------------


def peak(lines):
    """The most bytes that values took, and the names left at the end."""
    stream, messages, status = emit(text(lines))
    if status:
        raise SystemExit(f"rebinding: {messages}")
    _, messages, _ = work(stream, "ref", "-v")
    return int(re.search(r"(\d+) bytes at most", messages).group(1))


def chain(freed):
    """Layers have weights of their own; gradients come while activations
    go. Of relu's operand and result the gradient reads the result alone,
    which the next product keeps as well."""
    lines = ["h = ones f32[64,64]"]
    layers = range(20)
    lines += [f"w{t} = full f32[64,64] 0.01" for t in layers]
    for t in layers:
        lines += [f"h = matmul h w{t}", "h = relu h",
                  "h = copy h" if freed else f"h{t} = copy h"]
    lines += ["l = sum h"] + (["free h"] if freed else [])
    targets = " ".join(f"w{t}" for t in layers)
    return lines + [f"{targets.replace('w', 'g')} = grad l {targets}",
                    "print l"]


def flat(name, body, rounds=(40, 400)):
    """Whether a longer loop takes no more memory and no more names."""
    def run(n):
        return ["w = ones f64[32]", "x = full f64[32] 0.5",
                "total = tensor f64[] 0"] + body * n
    few, many = (peak(run(n)) for n in rounds)
    return name, None if many == few else f"{few} bytes, then {many}"


def check_memory(tally):
    kept, freed = peak(chain(False)), peak(chain(True))
    tally.check("free before grad lets activations go",
                None if freed < 0.8 * kept else f"{freed} of {kept} bytes")
    limit = str((freed + kept) // 2)
    for lines, expected in ((chain(True), 0), (chain(False), 1)):
        stream, _, _ = emit(text(lines + ["print g0"]))
        _, messages, status = work(stream, "ref", "--memory", limit)
        problem = None if status == expected else f"{status}: {messages}"
        if expected and "out of memory: f32[64,64] needs" not in messages:
            problem = f"the message does not say so: {messages}"
        tally.check(f"--memory {limit}: status {expected}", problem)
    forward = ["h = mul x w", "h = tanh h", "l = mean h"]
    tally.check(*flat("an evaluation loop keeps nothing", forward))
    tally.check(*flat("a running sum with detach keeps nothing", forward + [
        "d = detach l", "total = add total d"]))
    tally.check(*flat("an update by hand keeps nothing", forward + [
        "g = grad l w", "step = mul g 0.1", "w = sub w step"]))
    tally.check(*flat("a sum of data keeps nothing", [
        "y = mul x 2", "s = sum y", "total = add total s"]))


# ---- messages ----------------------------------------------------------------


def check_message(tally, name, lines, wanted, status, *options):
    _, messages, got = emit(text(lines), *options)
    missing = [w for w in wanted if w not in messages]
    tally.check(name, None if not missing and got == status
                else f"status {got}, without {missing}: {messages}")


def check_messages(tally):
    forward = ["w = ones f64[2]", "h = mul w w", "l = sum h"]
    check_message(
        tally, "a running sum without detach",
        ["w = ones f64[2]", "total = tensor f64[] 0"]
        + ["h = mul w w", "l = sum h", "total = add total l"] * 60,
        ["the history that 'total' holds is longer than 100 lines",
         "total = detach total"], 0, "--history", "100")
    check_message(
        tally, "a target bound again since the loss",
        forward + ["w = ones f64[2]", "g = grad l w"],
        ["<stdin>:5: grad: l, computed at <stdin>:3, depends on the value that "
         "w had until <stdin>:4", "take grad before that line"], 3)
    check_message(
        tally, "a target bound again before the loss is computed",
        forward[:2] + ["w = ones f64[2]", "l = sum h", "g = grad l w"],
        ["l, computed at <stdin>:4, depends on the value that w had until "
         "<stdin>:3, and not on the one that it has now; bind another name "
         "there"], 3)
    check_message(
        tally, "a target freed and bound before and after",
        forward[:2] + ["free w", "l = sum h", "w = ones f64[2]",
                       "g = grad l w"],
        ["the value that w had until <stdin>:3"], 3)
    check_message(
        tally, "a target updated since the loss",
        forward + ["w = sub w 0.1", "g = grad l w"],
        ["w had until <stdin>:4"], 3)
    check_message(
        tally, "a history that was consumed",
        forward + ["g = grad l w", "k = grad l w"],
        ["<stdin>:5: grad: ", "l, computed at <stdin>:3",
         "was consumed by the grad at <stdin>:4", "retain=1"], 3)
    check_message(
        tally, "a history that was forgotten",
        ["w = ones f64[]", "t = copy w"] + ["t = mul t w"] * 30
        + ["g = grad t w"],
        ["was forgotten at <stdin>:", "--history"], 3, "--history", "10")
    check_message(
        tally, "a target that the loss does not reach",
        forward + ["u = ones f64[2]", "g k = grad l w u"],
        ["warning: ", "the loss does not depend on u"], 0)
    check_message(
        tally, "a loss that is no scalar",
        ["w = ones f64[2]", "g = grad w w"], ["must be a scalar"], 3)
    check_message(
        tally, "a target that holds no floats",
        ["n = ones i64[2]"] + forward + ["g = grad l n"],
        ["n i64[2] holds no floats"], 3)


def main(backends):
    torch.set_num_threads(1)
    tally = Tally()
    check_values(tally, backends)
    check_memory(tally)
    check_messages(tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["ref"]))

"""Elementary functions of a million f32 on one thread, beside PyTorch's: ns an
element, and the largest errors of both in units in the last place."""

import os

from measure import WORK, optional, peer, per_step, run

numpy = optional("numpy")
torch = optional("torch")

COUNT = 1 << 20
OPS = ("exp", "log", "sin", "cos", "tanh", "erf", "sigmoid", "silu", "gelu",
       "expm1", "log1p")


def units(values, exact):
    """The largest error of f32 values, in units in the last place of exact
    ones, subnormal results apart."""
    normal = numpy.abs(exact) >= numpy.finfo(numpy.float32).tiny
    values, exact = values[normal], exact[normal]
    unit = 2.0 ** (numpy.floor(numpy.log2(numpy.abs(exact))) - 23)
    return float(numpy.max(numpy.abs(values - exact) / unit))


def errors(op, folder):
    """Of gt and of PyTorch, over numbers from 0.001 to 20, of either sign where
    a function has no tail that both lose to 1 + erf."""
    function = getattr(torch, op, None) or getattr(torch.nn.functional, op)
    random = numpy.random.default_rng(1)
    x = numpy.exp(random.uniform(numpy.log(1e-3), numpy.log(20), COUNT))
    if op not in ("log", "gelu"):
        x[::2] *= -1 if op != "log1p" else -0.04
    x = x.astype(numpy.float32)
    numpy.save(folder + "/x.npy", x)
    run([WORK, "--threads", "1"], text=True, cwd=folder, input=(
        f'x = load "x.npy" f32[{COUNT}] 0\ny = {op} x\nsave y "y.npy"\n'))
    ours = numpy.load(folder + "/y.npy").astype(float)
    os.remove(folder + "/y.npy")
    exact = function(torch.from_numpy(x).double()).numpy()
    theirs = function(torch.from_numpy(x)).double().numpy()
    return units(ours, exact), units(theirs, exact)


def elementary(report, folder):
    for op in OPS:
        init = (f"x = rand f32[{COUNT}] 1\nx = add x 0.5\n"
                "probe = tensor f32[] 0\n")

        def measure(op=op, init=init):
            ours = per_step(init, f"y = {op} x\n", 1, 20, 420)
            theirs = peer("elementary", op, COUNT, 200)
            scale = 1e9 / COUNT
            return ours * scale, theirs * scale, ours / theirs

        off = "{:.2f} : {:.2f}".format(*errors(op, folder))
        report.pair(f"{op} 1M f32, ns : PyTorch; ulp {off}", measure, 1, 0.7,
                    True)

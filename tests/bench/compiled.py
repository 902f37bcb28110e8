"""gt beside compilers: torch.compile and jax.jit. What is not installed is
skipped."""

import os
import subprocess

from measure import EMIT, WORK, per_step, run, same

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "compiled_peer.py")
COMPILERS = {"torch": "torch.compile", "jax": "jax.jit"}

CHAIN_INIT = """x = arange f32[1000000]
x = div x 1000000
probe = tensor f32[] 0
"""
CHAIN_STEP = """y = mul x 1.5
y = add y 0.25
y = sqrt y
y = mul y x
y = sub y 0.5
y = maximum y 0
y = exp y
y = neg y
y = tanh y
y = mul y 2
"""

CHEAP_INIT = """x = arange f32[SIZE]
x = div x SIZE
probe = tensor f32[] 0
"""
CHEAP_STEP = """y = mul x 1.5
y = add y 0.25
y = mul y x
y = sub y 0.5
y = maximum y 0
y = neg y
y = abs y
y = add y x
"""

MLP_INIT = """x = arange f32[100352]
x = mul x 0.37
x = sin x
x = reshape x shape=128,784
t = zeros i64[128]
w1 = arange f32[200704]
w1 = sin w1
w1 = mul w1 0.05
w1 = reshape w1 shape=784,256
b1 = zeros f32[256]
w2 = arange f32[2560]
w2 = sin w2
w2 = mul w2 0.05
w2 = reshape w2 shape=256,10
b2 = zeros f32[10]
probe = tensor f32[] 0
"""
MLP_STEP = """h = linear x w1 b1
h = relu h
o = linear h w2 b2
l = cross_entropy o t
g1 g2 g3 g4 = grad l w1 b1 w2 b2
w1 = sgd w1 g1 0.01
b1 = sgd b1 g2 0.01
w2 = sgd w2 g3 0.01
b2 = sgd b2 g4 0.01
"""


def cheap(size, words, rounds):
    return (f"eight cheap point-wise ops over {words}",
            CHEAP_INIT.replace("SIZE", str(size)), CHEAP_STEP,
            "m = mean y\nprint m\n", rounds)


WORKLOADS = {
    "cheap65536": cheap(65536, "64 K", 5000),
    "cheap1000000": cheap(1000000, "1 M", 500),
    "chain": ("ten point-wise ops over 1 M", CHAIN_INIT, CHAIN_STEP,
              "m = mean y\nprint m\n", 300),
    "mlp": ("MLP step", MLP_INIT, MLP_STEP, "print l\n", 1000),
}


def emitted(text):
    return run([EMIT, "--no-at"], input=text,
               stdout=subprocess.PIPE, text=True).stdout


def value_of(init, step, result):
    out = run([WORK, "--threads", "1"], input=emitted(init + step + result),
              stdout=subprocess.PIPE, text=True).stdout
    return float(out.split()[-1])


def peer(compiler, name, threads, rounds):
    """(the value of the first step, seconds of a step)"""
    out = run([os.environ["GT_BENCH_PYTHON"], PEER, compiler, name,
               str(threads), str(rounds)],
              stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in out.split()[-2:]]


def is_missing(compiler):
    """Why a compiler cannot be measured, or None."""
    done = subprocess.run(
        [os.environ["GT_BENCH_PYTHON"], PEER, compiler, "check"],
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"status {done.returncode}"


def compiled(report, folder):
    del folder
    for compiler, title in COMPILERS.items():
        why = is_missing(compiler)
        if why is not None:
            report.skip(f"{title} : gt", why)
            continue
        for name, (what, init, step, result, rounds) in WORKLOADS.items():
            for threads in 1, 2:

                def measure(name=name, init=init, step=step, result=result,
                            rounds=rounds, threads=threads, compiler=compiler):
                    value, theirs = peer(compiler, name, threads, rounds)
                    same([value_of(init, step, result)], [value], 1e-4, name)
                    ours = per_step(init, step, threads, 30, rounds, emitted)
                    return ours, theirs, theirs / ours

                report.pair(f"{what}, {threads} thr, {title} s : ours",
                            measure, 0.1, 1)


BENCHES = {"compiled": compiled}

"""Random placed programs of every family of ops, cut in every way: each step
takes a value and makes another one by lines that are legal on its types, or
gives None where it does not apply.
"""
import math

from placed_compute import Computing
from placed_layout import Arranging
from placed_random import SIZES
from placed_ranks import Crossing


class Steps(Computing, Arranging, Crossing):
    """All steps, by name in STEPS."""


STEPS = """unary scaled binary where matmul batched sum reduce along norm
ordered gather looked_up embedding transpose unsqueeze squeeze merge divide
expand slice pad joined dropout rope loss_per_row all_reduce enter leave
retyped root
respec handed attention scattered error""".split()


def generate(rng, prefix="", only=None):
    p = Steps(rng, prefix)
    shape = [rng.choice(SIZES) for _ in range(rng.randint(1, 3))]
    p.values.append(p.create(shape))
    wanted, tries = rng.randint(2, 9), 0
    while len(p.values) < wanted and tries < 60:
        tries += 1
        v = rng.choice(p.values[-3:])
        if math.prod(v.shape) > 400:
            v = p.values[0]
        p.at = v.at
        made = getattr(p, rng.choice(only or STEPS))(v)
        if made is not None:
            p.values.append(made)
    p.finish(rng.random() < 0.8)
    return p

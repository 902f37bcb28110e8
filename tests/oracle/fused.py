#!/usr/bin/env python3
"""Runs point-wise programs with and without --no-fuse, which must give the same
bits: every op at the beginning, in the middle and at the end of a group of
lines, and random programs.

usage: fused.py [--share K N] PROGRAMS [FIRST]

Of N shares, it makes the K-th of the ops' groups. PROGRAMS random programs are
made of the seeds from FIRST on.
"""
import argparse
import json
import random
import re
import subprocess
import sys

from gt import Tally, work

FAMILIES = ("point-wise", "elementary", "comparisons", "activations")
FLOATS = ("f32", "f64", "bf16", "f16")
# Sizes at and behind the least that is fused, with a part of a tile at the end.
SIZES = (8192, 8193, 10000, 20011, 65536)


def pointwise_ops():
    """Every op of these families, with its number of operands."""
    table = json.loads(subprocess.run(["gt-emit", "--ops=json"],
                                      capture_output=True, text=True,
                                      check=True).stdout)
    ops = []
    for op in table["ops"]:
        operands = [o["kind"] for o in op["operands"]]
        if op["family"] in FAMILIES and set(operands) <= {"tensor"} \
                and len(op["results"]) == 1 and op["name"] != "cast":
            ops.append((op["name"], len(operands)))
    return ops


def inputs(dtype, size):
    return [f"x = randn {dtype}[{size}] 1", f"w = rand {dtype}[{size}] 2",
            "h = tensor f32[] 0.75", "b = lt x w", "z = cast x bf16"]


def outputs(names):
    """Prints that show each element's bits, in few words."""
    lines = []
    for name in names:
        lines += [f"p = slice {name} ::97", f"print p as={name}"]
    return lines


def groups_of(op, operands, dtype, size):
    """Programs with the op in the places of a group, and over its own result."""
    first = "b" if op == "where" else "x"
    call = " ".join(("= " + op, first, "w", "x")[:1 + operands])
    again = call.replace(" x", " y", 1) if op != "where" else call
    for lines in (
            [f"y {call}", "v = cast y " + dtype, "v = mul v 1.5", "u = add v x"],
            ["v = mul x 0.5", f"y {call.replace(' x', ' v', 1)}",
             "u = cast y " + dtype, "u = sub u v"],
            ["v = mul x 0.5", "u = add v w",
             f"y {call.replace(' x', ' u', 1)}"],
            ["y = copy x", "y = add y 0", f"y {again}", "v = add x 1",
             "u = cast v bf16"]):
        yield inputs(dtype, size) + lines + ["free w"] + outputs("yvu")


class Random:
    """A random program, a function of its seed alone."""

    ONE = ("neg", "abs", "exp", "sqrt", "relu", "tanh", "sigmoid", "square",
           "gelu", "silu", "log", "reciprocal", "sin", "erf", "floor", "sign")
    TWO = ("add", "sub", "mul", "div", "maximum", "minimum", "pow", "mod")
    ASK = ("lt", "gt", "le", "ge", "eq", "ne")

    def __init__(self, seed):
        self.rng = random.Random(seed)
        size = self.rng.choice(SIZES)
        self.lines = []
        self.types = {}
        for i in range(3):
            dtype = self.rng.choice(FLOATS + ("f32", "f32"))
            self.lines.append(f"x{i} = randn {dtype}[{size}] {seed + i}")
            self.types[f"x{i}"] = dtype
        self.lines += ["s = tensor f32[] 0.5", "far = full i64[9000] 70000"]
        for _ in range(self.rng.randint(5, 60)):
            self.step()
        self.lines += outputs(sorted(self.types))

    def pick(self, *dtypes):
        names = [n for n, d in self.types.items() if not dtypes or d in dtypes]
        return self.rng.choice(sorted(names)) if names else None

    def operand(self, dtype):
        numbers = ["0.5", "2", "-1.25"] + (["s"] if dtype == "f32" else [])
        if self.rng.random() < 0.4:
            return self.rng.choice(numbers)
        return self.pick(dtype)

    def bind(self, text, dtype):
        name = self.rng.choice(["x0", "x1", "a", "b", "c", "d", "e"])
        self.lines.append(f"{name} = {text}")
        self.types[name] = dtype

    def step(self):
        x = self.pick(*FLOATS)
        if x is None:
            return self.bind("ones f32[8192]", "f32")
        dtype, kind = self.types[x], self.rng.random()
        if kind < 0.3:
            self.bind(f"{self.rng.choice(self.ONE)} {x}", dtype)
        elif kind < 0.65:
            self.bind(f"{self.rng.choice(self.TWO)} {x} {self.operand(dtype)}",
                      dtype)
        elif kind < 0.73:
            self.bind(f"{self.rng.choice(self.ASK)} {x} {self.operand(dtype)}",
                      "bool")
        elif kind < 0.8 and self.pick("bool"):
            self.bind(f"where {self.pick('bool')} {x} {self.operand(dtype)}",
                      dtype)
        elif kind < 0.9:
            to = self.rng.choice(FLOATS)
            self.bind(f"cast {x} {to}", to)
        elif kind < 0.93:
            self.lines += [f"t = sum {x}", "print t"]
        elif kind < 0.94:
            self.bind(f"take {x} far", dtype)  # it fails when it runs
        elif kind < 0.97 and len(self.types) > 3:
            self.lines.append(f"free {x}")
            del self.types[x]
        else:
            self.lines += outputs([x])


def same(tally, what, lines):
    text = "\n".join(lines) + "\n"
    plain = work(text, "cpu", "--no-fuse", "--threads", "1")
    fused = 0
    for threads in ("1", "3"):
        out, said, status = work(text, "cpu", "-v", "--threads", threads)
        found = re.search(r"\((\d+) fused\)", said)
        fused += int(found.group(1)) if found else 0
        messages = re.sub(r"gt-work: \d+ lines, .*\n", "", said)
        agrees = (out, messages, status) == plain
        tally.check(f"{what}, {threads} threads",
                    None if agrees else f"it differs:\n{text}")
    return fused


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", nargs=2, type=int, default=(0, 1))
    parser.add_argument("programs", type=int)
    parser.add_argument("first", type=int, nargs="?", default=0)
    options = parser.parse_args()
    tally, fused, number = Tally(), 0, 0
    share, shares = options.share
    for op, operands in pointwise_ops():
        for dtype in FLOATS:
            number += 1
            if number % shares != share:
                continue
            for lines in groups_of(op, operands, dtype,
                                   SIZES[number % len(SIZES)]):
                fused += same(tally, f"{op} of {dtype}", lines)
    for seed in range(options.first, options.first + options.programs):
        fused += same(tally, f"seed {seed}", Random(seed).lines)
    tally.check("lines fused", None if fused > 0 else "none")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Mixtures of experts as a loop over tokens in PyTorch.

usage: experts.py

Trains examples/experts.gt some steps, and compares in each what it computes, how many
choices it drops, and all gradients, with mixture(), to which nn.MoE is held as well.
"""
import pathlib
import subprocess
import sys

import torch
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = "router up down shared.up shared.down out".split()
SHOWN = ["x", "y", *WEIGHTS, "total", "h", "balance", "dropped",
         *(f"g{k}" for k in range(1, 7))]


def mixture(groups, router, up, down, k, places, shared=()):
    """What tokens [groups, n, width] get of the k experts that each chooses, and of
    two weights that they share; the balance loss; and how many choices were dropped,
    since the expert had no place left in the token's group."""
    out, balance, dropped = [], 0, 0
    for tokens in groups:
        shares = (tokens @ router).softmax(-1)
        values, experts = shares.topk(k)
        if k > 1:
            values = values / values.sum(-1, keepdim=True)
        y, taken = [torch.zeros(tokens.shape[-1])] * len(tokens), [0] * len(up)
        for choice in range(k):
            for t, token in enumerate(tokens):
                e = experts[t, choice]
                if taken[e] < places:
                    y[t] = y[t] + values[t, choice] * (F.gelu(token @ up[e]) @ down[e])
                else:
                    dropped += 1
                taken[e] += 1
        y = torch.stack(y)
        if shared:
            y = y + F.gelu(tokens @ shared[0]) @ shared[1]
        out.append(y)
        part = torch.tensor(taken) / (len(tokens) * k) * shares.mean(0)
        balance = balance + part.sum() * len(up) / len(groups)
    return torch.stack(out), balance, dropped


def step(seen):
    """The same values of one step, from its images, labels and weights."""
    w = {name: seen[name].clone().requires_grad_() for name in WEIGHTS}
    h, balance, dropped = mixture(seen["x"], w["router"], w["up"], w["down"], 2, 16,
                                  (w["shared.up"], w["shared.down"]))
    h = h + seen["x"]
    logits = (h @ w["out"]).reshape(-1, 10)
    total = F.cross_entropy(logits, seen["y"].reshape(-1)) + 0.01 * balance
    gradients = torch.autograd.grad(total, list(w.values()))
    return {"total": total, "h": h, "balance": balance, "dropped": torch.tensor(dropped),
            **{f"g{k}": g for k, g in enumerate(gradients, 1)}}


def steps_of(count):
    """What the example prints in each step; weights are those before the step."""
    def text(name):
        return (ROOT / "examples" / name).read_text(encoding="utf-8")
    lines = []
    for line in text("experts.gt").splitlines():
        if line.startswith("g1 g2"):  # the weights are still those of before
            lines += [f"print {name}" for name in SHOWN if name[0] != "g"]
        lines.append(line)
    lines += [f"print g{k}" for k in range(1, 7)]
    program = text("experts-init.gt") + count * ("\n".join(lines) + "\n")
    done = subprocess.run("gt-emit | gt-work", shell=True, input=program, cwd=ROOT,
                          stdout=subprocess.PIPE, text=True, check=True)
    printed = done.stdout.splitlines()
    for first in range(0, len(printed), len(SHOWN)):
        seen = {}
        for line in printed[first:first + len(SHOWN)]:
            name, _, _, kind, *values = line.split()
            dtype, _, sizes = kind[:-1].partition("[")
            numbers = [int(v) if dtype == "i64" else float(v) for v in values]
            seen[name] = torch.tensor(numbers).reshape([int(n) for n in sizes.split(",") if n])
        yield seen


def main():
    dropped = compared = 0
    for number, seen in enumerate(steps_of(3)):
        for name, wanted in step(seen).items():
            found = seen[name]
            bound = 3e-5 * wanted.abs().max()
            if found.shape != wanted.shape or (found - wanted).abs().max() > bound:
                print(f"step {number}: {name}: expected {wanted}; found {found}")
                return 1
            compared += 1
        dropped += int(seen["dropped"])
    print(f"{compared} values of experts.gt are PyTorch's, and {dropped} choices were dropped")
    return 0 if dropped > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

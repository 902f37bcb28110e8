"""examples/minigpt against PyTorch: the losses of every step, and on text that
is held out.

usage: minigpt.py RTOL [CONFIG [WORKERS MEMORY]] -- [OPTION VALUE ...]

The program is that of examples/minigpt/minigpt with these options, without
dropout; it also prints the tokens of each batch, with which PyTorch trains the
same model from the same weights. With a config it runs
placed, in one gt-work or on so many workers with so much memory each.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy
import torch
import torch.nn.functional as F

from layers import rope


def sh(command, **keys):
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True,
                          stdout=subprocess.PIPE, text=True, **keys).stdout


def first(program):
    """A program that saves what the weights are before the first step."""
    init = program.split("\nt = tensor")[0].splitlines()
    weights = [line.split()[0] for line in init
               if line.split()[2] in ("randn", "ones")]
    return init + [f'save {name} "first.safetensors:{name}"' for name in weights]


def with_prints(program):
    """The program, which also prints the batches."""
    for line in program.splitlines():
        yield line
        if line.startswith("c = reshape"):
            yield "print c as=tokens"


def write(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)


def saved(path):
    """The tensors of a safetensors file, all f32."""
    data = numpy.memmap(path, numpy.uint8, "r")
    size = int(data[:8].view(numpy.uint64)[0])
    head = json.loads(bytes(data[8:8 + size]))
    head.pop("__metadata__", None)
    for name, entry in head.items():
        begin, end = (8 + size + at for at in entry["data_offsets"])
        values = numpy.array(data[begin:end]).view(numpy.float32)
        yield name, torch.from_numpy(values.reshape(entry["shape"]))


class Model:
    def __init__(self, weights, options):
        self.w, self.o = weights, options

    def loss(self, tokens):
        x = self.w["table"][tokens[:, :-1]]
        for i in range(self.o["layers"]):
            x = self.layer(x, lambda name: self.w[f"l{i}.{name}"])
        x = norm(x, self.w["norm"]) @ self.w["head"]
        return F.cross_entropy(x.flatten(0, 1), tokens[:, 1:].flatten())

    def layer(self, x, w):
        heads = self.o["heads"]
        h = norm(x, w("norm1"))
        turn = rope(heads=heads)
        q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2)
                   for y in (turn(h @ w("q")), turn(h @ w("k")), h @ w("v")))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        h = scores.masked_fill(mask, -math.inf).softmax(-1) @ v
        x = x + h.transpose(1, 2).flatten(-2) @ w("out")
        h = F.gelu(norm(x, w("norm2")) @ w("up"), approximate="tanh")
        return x + h @ w("down")


def norm(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * w


def rate(o, t):
    falling = max(o["steps"] - o["warmup"], 1)
    turn = math.pi * max(t - o["warmup"], 0) / falling
    return o["rate"] * min(t / o["warmup"], 1) * (0.45 * math.cos(turn) + 0.55)


def train(weights, found, o):
    """PyTorch's losses, in the order of those that were found."""
    for w in weights.values():
        w.requires_grad_()
    model = Model(weights, o)
    groups = [{"params": [w for w in weights.values() if w.dim() == rank],
               "weight_decay": decay} for rank, decay in ((2, 0.1), (1, 0.0))]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99))
    batches, t = [], 0
    for name, values in found:
        if name == "tokens":
            batches.append(torch.tensor(values).view(-1, o["seq-len"] + 1))
            continue
        if name == "held":
            with torch.no_grad():
                losses = [model.loss(batch).item() for batch in batches]
            yield sum(losses) / len(losses)
        else:
            t += 1
            optimizer.zero_grad()
            total = 0
            for part in batches[0].chunk(o["microbatches"]):
                loss = model.loss(part) / o["microbatches"]
                loss.backward()
                total += loss.item()
            yield total
            torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
            for group in optimizer.param_groups:
                group["lr"] = rate(o, t)
            optimizer.step()
        batches = []


def main():
    words = sys.argv[1:]
    at = words.index("--")
    (rtol, *place), options = words[:at], words[at + 1:]
    o = {"layers": 8, "heads": 4, "seq-len": 64, "microbatches": 8, "steps": 120,
         "rate": 3e-3, "warmup": 20}
    for name, value in zip(options[::2], options[1::2]):
        o[name[2:]] = float(value) if name == "--rate" else int(value) \
            if value.isdigit() else value
    here = os.getcwd()
    program = sh(" ".join([f"{here}/examples/minigpt/minigpt", *options,
                           "--dropout 0 --sample 0"]))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write("first.gt", first(program))
        write("p.gt", with_prints(program))
        sh("gt-emit first.gt | gt-work")
        run = "gt-work"
        if len(place) == 3:
            run = f"gt-route -n {place[1]} --memory {place[2]}"
        if place:
            run = f"gt-shard -c {here}/{place[0]} | {run}"
        found = []
        for line in sh(f"gt-emit --no-at p.gt | {run}").splitlines():
            name, _, _, dtype, *values = line.split()
            kind = int if dtype.startswith("i") else float
            found.append((name, [kind(v) for v in values]))
        weights = dict(saved("first.safetensors"))
        os.chdir(here)
    if float(rtol) < 1e-5:
        weights = {name: w.double() for name, w in weights.items()}
    got = [values[0] for name, values in found if name != "tokens"]
    passed = failed = 0
    for ours, theirs in zip(got, train(weights, found, o)):
        is_near = abs(ours - theirs) <= float(rtol) * theirs
        passed, failed = passed + is_near, failed + (not is_near)
        if not is_near:
            print(f"FAILED loss {passed + failed}: {ours}, PyTorch's {theirs}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed < 2)


if __name__ == "__main__":
    main()

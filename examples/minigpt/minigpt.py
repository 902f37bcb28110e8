#!/usr/bin/env python3
"""Trains a GPT on the tokens of a file, and lets it write: the program that
examples/minigpt/minigpt writes, whose --help says what the options are.
GT_CONFIG=tp2-pp4.yaml GT_WORKERS=8 spreads it over workers, see gt-python(7)."""
import argparse
import contextlib
import math
import re

import gt
from gt import nn
from gt.nn.functional import dropout


class Layer(nn.Module):
    def __init__(self, o, number):
        h, out = o.hidden, 2 * o.layers  # what adds to x begins smaller
        self.o, self.number = o, number
        self.norm1 = nn.RMSNorm(h, eps=1e-5)
        self.q, self.k, self.v = (matrix(h, h) for _ in "qkv")
        self.out = matrix(h, h, out * h)
        self.norm2 = nn.RMSNorm(h, eps=1e-5)
        self.up = matrix(h, o.mlp)
        self.down = matrix(o.mlp, h, out * o.mlp)

    def forward(self, x):
        return self.mlp(self.attention(x))

    def attention(self, x):
        heads = self.o.heads
        with self.signal("norm"):
            h = self.norm1(x)
        with self.signal("colpar"):
            q, k, v = h @ self.q, h @ self.k, h @ self.v
        with self.signal("attention"):
            q, k = gt.rope(q, heads=heads), gt.rope(k, heads=heads)
            h = gt.attention(q, k, v, causal=1, heads=heads)
        return self.add(x, h, self.out)

    def mlp(self, x):
        with self.signal("norm"):
            h = self.norm2(x)
        with self.signal("colpar"):
            h = (h @ self.up).gelu(approximate="tanh")
        return self.add(x, h, self.down)

    def add(self, x, h, w):
        with self.signal("rowpar"):
            h = h @ w
        with self.signal("residual"):
            if self.training and self.o.dropout:
                h = dropout(h, self.o.dropout)
            return x + h

    def signal(self, part):
        return signal(self.o, self.number, part)


class Gpt(nn.Module):
    def __init__(self, o):
        self.o = o
        self.table = nn.Parameter("randn", (o.vocab, o.hidden), scale=0.02)
        self.layers = nn.ModuleList(Layer(o, i) for i in range(o.layers))
        self.norm = nn.RMSNorm(o.hidden, eps=1e-5)
        self.head = matrix(o.hidden, o.vocab)

    def forward(self, x):
        """Logits from tokens."""
        o = self.o
        with signal(o, "first", "table"):
            x = gt.embedding(self.table, x)
        for i, layer in enumerate(self.layers):
            if o.stages and i and stage(o, i) != stage(o, i - 1):
                x = gt.signal.tensor(x, f"stage{stage(o, i - 1)}_to_stage{stage(o, i)}")
            with gt.recompute() if o.recompute else contextlib.nullcontext():
                x = layer(x)
        with signal(o, "last", "norm"):
            x = self.norm(x)
        with signal(o, "last", "colpar"):
            return x @ self.head


def matrix(rows, columns, n=None):
    """Normal numbers of the deviation 1 / sqrt(n), where n is the rows if not said."""
    return nn.Parameter("randn", (rows, columns), scale=1 / math.sqrt(n or rows))


def signal(o, layer, part):
    """The scope of a part of a layer, which is a number, or "first" or "last"."""
    if not o.stages:
        return gt.signal(f"{layer if isinstance(layer, str) else f'layer{layer}'}/{part}")
    pp = f"pp_stage{stage(o, layer)}"
    return gt.signal(f"{pp}/{pp}_{part}")


def stage(o, layer):
    return {"first": 0, "last": o.stages - 1}.get(layer) if isinstance(layer, str) \
        else layer * o.stages // o.layers


class Text:
    """The tokens, and windows of them."""

    def __init__(self, o):
        with open(o.text, "rb") as file:  # whose head says how many there are
            dtype, length = re.search(rb"'descr': '[|<](u1|i4|i8)'.*'shape': \((\d+),\)", file.read(256)).groups()
        dtype = {b"u1": "u8", b"i4": "i32", b"i8": "i64"}[dtype]
        self.o, self.length = o, int(length)
        self.tokens = gt.load(o.text, f"{dtype}[{self.length}]")
        self.window = gt.arange(o.seq_len + 1)

    def anywhere(self):
        """A batch from what is not held out."""
        o = self.o
        start = gt.rand((o.batch_size, 1)) * (self.length - o.held - o.seq_len)
        return self.windows(start.cast("i64"))

    def held_out(self, number):
        """A batch from what is held out."""
        rows, size = self.o.batch_size, self.o.seq_len
        first = self.length - self.o.held + number * rows * size
        return self.windows(gt.arange(first, first + rows * size, size).reshape(rows, 1))

    def windows(self, start):
        found = self.tokens.gather((start + self.window).reshape(-1)).cast("i64")
        return found.reshape(self.o.batch_size, self.o.seq_len + 1)

    def rows(self, batch, first, end):
        """Of a batch, what is seen and what comes next."""
        with signal(self.o, "first", "batch"):
            x = batch[first:end, :-1]
        with signal(self.o, "last", "batch"):
            return x, batch[first:end, 1:]


class Training:
    def __init__(self, o):
        gt.manual_seed(o.seed)
        self.o, self.model = o, Gpt(o)
        parameters = list(self.model.parameters())
        matrices = [p for p in parameters if len(p.shape) == 2]
        norms = [p for p in parameters if len(p.shape) == 1]
        self.optimizer = gt.AdamW([{"params": matrices, "weight_decay": o.decay},
                                   {"params": norms, "weight_decay": 0}], betas=(0.9, 0.99))
        self.t = gt.tensor(0)
        if o.resume:
            self.resume()
        self.text = Text(o)

    def run(self):
        o = self.o
        done = o.steps_done
        for r in range(1, o.rounds + 1):
            end = min(o.steps * r // o.rounds, o.stop or o.steps)
            if done >= end:
                continue
            for _ in range(done, end):
                self.step()
            done = end
            self.evaluate().print_("held")
            if o.save:
                self.save()
        if o.sample:
            self.write()

    def step(self):
        o, size = self.o, self.o.batch_size // self.o.microbatches
        batch, total = self.text.anywhere(), None
        for k in range(o.microbatches):
            with gt.microbatch(k):
                loss = self.loss(*self.text.rows(batch, k * size, (k + 1) * size), o.microbatches)
                loss.backward()
                with signal(o, "last", "loss"):
                    loss = loss.detach()
                    total = loss if total is None else total + loss
        parameters = self.optimizer.parameters
        for p, g in zip(parameters, gt.clip([p.grad for p in parameters], o.clip)):
            p.grad = g
        self.optimizer.lr = self.learning_rate()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.optimizer.lr = o.rate  # what lives on into the next step would change its names
        total.print_("loss")

    def loss(self, x, y, parts):
        z = self.model(x)
        with signal(self.o, "last", "loss"):
            loss = gt.cross_entropy(z, y)
            return loss / parts if parts else loss

    def learning_rate(self):
        """Rises in a line, then falls along half a cosine."""
        o = self.o
        self.t.add_(1)
        up = (self.t / o.warmup).minimum(1)
        done = (self.t - o.warmup).maximum(0)
        falling = (done * (math.pi / max(o.steps - o.warmup, 1))).cos() * 0.45 + 0.55
        return up * falling * o.rate

    @gt.no_grad()
    def evaluate(self):
        """The loss on the text that is held out."""
        self.model.eval()
        held = gt.tensor(0.0)
        for i in range(self.o.evaluate):
            held = held + self.loss(*self.text.rows(self.text.held_out(i), 0, self.o.batch_size), 0)
        self.model.train()
        return held / self.o.evaluate

    @gt.no_grad()
    def write(self):
        """Writes on from where the text that is held out begins: a token is drawn by adding Gumbel noise to
        the logits and taking the largest."""
        o, first = self.o, self.text.length - self.o.held
        self.model.eval()
        w = self.text.tokens[first:first + o.seq_len].cast("i64")
        w.print_("prompt")
        w = w.reshape(1, o.seq_len)
        for _ in range(o.sample):
            z = self.model(w)[0, o.seq_len - 1] / o.temperature
            token = (z - (-gt.rand((o.vocab,)).log()).log()).argmax()
            token.print_("token")
            w = gt.concat([w[:, 1:], token.reshape(1, 1)], axis=1)

    def save(self):
        gt.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "t": self.t,
                 "random": gt.get_rng_state()}, self.o.save)

    def resume(self):
        state = gt.load(self.o.resume)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.t = state["t"]
        gt.set_rng_state(state["random"])


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in {
            "text": "text.npy", "held": 65536, "vocab": 256, "layers": 8, "hidden": 64, "heads": 4, "mlp": 0,
            "seq-len": 64, "batch-size": 32, "microbatches": 8, "steps": 120, "rounds": 3, "evaluate": 4,
            "rate": 3e-3, "warmup": 20, "decay": 0.1, "clip": 1.0, "dropout": 0.1, "recompute": 0, "seed": 0,
            "save": "", "resume": "", "steps-done": 0, "stop": 0, "sample": 200, "temperature": 0.7, "stages": 0}.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, metavar="VALUE")
    o = parser.parse_args()
    o.mlp = o.mlp or 4 * o.hidden
    return o


if __name__ == "__main__":
    Training(options()).run()

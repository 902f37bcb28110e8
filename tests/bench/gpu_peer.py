"""What scripts/bench-gpu measures gt against: PyTorch on a GPU. Prints seconds
for each op or step.

usage: gpu_peer.py is_there | chain OPS | attention STEPS | gpt2 STEPS

GT_PEER_DEVICE   cuda (the default), or cpu with small sizes: whether this runs
"""

import os
import sys
import time

import torch
from torch.nn import functional

DEVICE = os.environ.get("GT_PEER_DEVICE", "cuda")
SMALL = DEVICE == "cpu"


def finish():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def timed(step, steps):
    # As long as clocks take until they are those of a GPU at work.
    warm = time.perf_counter() + (0 if SMALL else 0.5)
    done = 0
    while done < 3 or time.perf_counter() < warm:
        step()
        finish()
        done += 1
    start = time.perf_counter()
    for _ in range(steps):
        step()
    finish()
    return (time.perf_counter() - start) / steps


def is_there():
    if DEVICE == "cuda" and not torch.cuda.is_available():
        sys.exit(1)


def chain(ops):
    y = torch.ones(4, 4, device=DEVICE)
    x = torch.zeros(4, 4, device=DEVICE)
    for _ in range(1000):
        x + y
    finish()
    start = time.perf_counter()
    for i in range(ops):
        x = x + y
        if i % 1000 == 999:
            x.tolist()
    return (time.perf_counter() - start) / ops


def attention(steps):
    shape = (1, 2, 8, 4) if SMALL else (1, 16, 4096, 64)
    q, k, v, u = (torch.randn(shape, device=DEVICE, dtype=torch.bfloat16)
                  for _ in range(4))
    for x in (q, k, v):
        x.requires_grad_()

    def step():
        o = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        torch.autograd.grad(o, (q, k, v), u)

    return timed(step, steps)


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = (torch.nn.LayerNorm(width) for _ in range(2))
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, h):
        batch, tokens, width = h.shape
        q, k, v = (x.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for x in self.qkv(self.n1(h)).split(width, 2))
        o = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.out(o.transpose(1, 2).reshape(batch, tokens, width))
        return h + self.down(functional.gelu(self.up(self.n2(h)),
                                             approximate="tanh"))


class Gpt2(torch.nn.Module):
    def __init__(self, layers, width, heads, tokens, vocabulary):
        super().__init__()
        self.wte = torch.nn.Embedding(vocabulary, width)
        self.wpe = torch.nn.Embedding(tokens, width)
        self.blocks = torch.nn.ModuleList(
            Block(width, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x, y):
        h = self.wte(x) + self.wpe.weight
        for block in self.blocks:
            h = block(h)
        z = self.norm(h) @ self.wte.weight.T
        return functional.cross_entropy(z.flatten(0, 1).float(), y.flatten())


def gpt2(steps):
    """The step of gpt2.awk, as who wants it fast in PyTorch writes it."""
    layers, width, heads, tokens, batch, vocabulary = (
        (1, 16, 2, 8, 2, 64) if SMALL else (12, 768, 12, 1024, 16, 50304))
    torch.set_float32_matmul_precision("high")
    model = Gpt2(layers, width, heads, tokens, vocabulary).to(DEVICE)
    x, y = (torch.randint(vocabulary, (batch, tokens), device=DEVICE)
            for _ in range(2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4,
                                  weight_decay=0.1, fused=not SMALL)
    run = model if SMALL else torch.compile(model)

    def step():
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = run(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    return timed(step, steps)


if __name__ == "__main__":
    name, *sizes = sys.argv[1:]
    seconds = {"is_there": is_there, "chain": chain, "attention": attention,
               "gpt2": gpt2}[name](*map(int, sizes))
    if seconds is not None:
        print(seconds)

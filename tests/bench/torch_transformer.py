"""PyTorch's side of transformer.py: prints the loss of each step, as gt does,
and, last, its peak memory in KiB.

usage: torch_transformer.py FOLDER THREADS STEPS [WAY]

WAY: alone, the default; data, two processes with a half of the batch each under
DistributedDataParallel; tensor, two processes that have columns of one and rows
of the next product, heads and a part of the vocabulary each, as Megatron-LM
does. Processes exchange by gloo.
"""
import os
import socket
import sys

import numpy
import torch
from torch import distributed, multiprocessing, nn
from torch.nn import functional as F

from transformer import HEADS, LAYERS, RATE, WIDTH, path_of, weights


class Enter(torch.autograd.Function):
    """Whole before a product by columns; the gradient is summed."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous()
        distributed.all_reduce(gradient)
        return gradient


class Leave(torch.autograd.Function):
    """Summed behind a product by rows."""

    @staticmethod
    def forward(ctx, x):
        distributed.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class PartialCrossEntropy(torch.autograd.Function):
    """Of logits whose classes from `first` on are here."""

    @staticmethod
    def forward(ctx, logits, classes, first):
        largest = logits.max(1).values
        distributed.all_reduce(largest, distributed.ReduceOp.MAX)
        powers = (logits - largest[:, None]).exp_()
        mine = classes - first
        outside = (mine < 0) | (mine >= logits.shape[1])
        mine = mine.masked_fill(outside, 0)
        sums = torch.stack([powers.sum(1), (logits.gather(1, mine[:, None])[
            :, 0] - largest).masked_fill(outside, 0)])
        distributed.all_reduce(sums)
        powers /= sums[0][:, None]
        ctx.save_for_backward(powers, mine, outside)
        return (sums[0].log() - sums[1]).mean()

    @staticmethod
    def backward(ctx, gradient):
        powers, mine, outside = ctx.saved_tensors
        rows = torch.arange(len(mine))
        powers[rows, mine] -= (~outside).to(powers.dtype)
        return powers.mul_(gradient / len(mine)), None, None


class Parts:
    """What one of `size` processes has of a tensor-parallel model."""

    def __init__(self, rank=0, size=1):
        self.rank, self.size = rank, size
        self.sharded = []  # parameters of which each process has a part

    def cut(self, w, dim):
        return w.chunk(self.size, dim)[self.rank].clone()

    def enter(self, x):
        return Enter.apply(x) if self.size > 1 else x

    def leave(self, x):
        return Leave.apply(x) if self.size > 1 else x

    def columns(self, ws, bs=()):
        """Products side by side, each cut by its columns."""
        w = torch.cat([self.cut(w, 1) for w in ws], 1)
        layer = nn.Linear(*w.shape, bias=bool(bs))
        layer.weight.data = w.T.contiguous()
        if bs:
            layer.bias.data = torch.cat([self.cut(b, 0) for b in bs])
        self.sharded += layer.parameters()
        return layer

    def rows(self, w):
        w = self.cut(w, 0)
        layer = nn.Linear(*w.shape, bias=False)
        layer.weight.data = w.T.contiguous()
        self.sharded += layer.parameters()
        return layer

    def loss(self, logits, classes):
        logits = logits.flatten(0, 1)
        if self.size == 1:
            return F.cross_entropy(logits, classes.view(-1))
        return PartialCrossEntropy.apply(logits, classes.view(-1),
                                         logits.shape[1] * self.rank)

    def clip(self, parameters):
        """To a norm of 1 of all gradients together."""
        if self.size == 1:
            nn.utils.clip_grad_norm_(parameters, 1.0)
            return
        gradients = [p.grad for p in parameters]
        squares = torch.stack(torch._foreach_norm(gradients)).square()
        here = {id(p) for p in self.sharded}
        cut = torch.tensor([id(p) in here for p in parameters])
        part = squares[cut].sum()
        distributed.all_reduce(part)
        norm = (part + squares[~cut].sum()).sqrt()
        torch._foreach_mul_(gradients, torch.clamp(1 / (norm + 1e-6), max=1))


def norm(w, b):
    layer = nn.LayerNorm(WIDTH)
    layer.weight.data, layer.bias.data = w.clone(), b.clone()
    return layer


class Block(nn.Module):
    def __init__(self, parts, w):
        super().__init__()
        self.parts = parts
        self.norm1, self.norm2 = norm(w("n1"), w("c1")), norm(w("n2"), w("c2"))
        self.qkv = parts.columns([w("wq"), w("wk"), w("wv")],
                                 [w("bq"), w("bk"), w("bv")])
        self.up = parts.columns([w("w1")], [w("b1")])
        self.out, self.down = parts.rows(w("wo")), parts.rows(w("w2"))
        self.out_bias = nn.Parameter(w("bo").clone())
        self.down_bias = nn.Parameter(w("b2").clone())

    def product(self, layer, x, bias):
        if self.parts.size == 1:
            return F.linear(x, layer.weight, bias)
        return self.parts.leave(layer(x)) + bias

    def forward(self, h):
        b, t, d = h.shape
        heads = HEADS // self.parts.size
        a = self.parts.enter(self.norm1(h))
        q, k, v = (x.view(b, t, heads, d // HEADS).transpose(1, 2)
                   for x in self.qkv(a).split(heads * (d // HEADS), 2))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        o = o.transpose(1, 2).reshape(b, t, -1)
        h = h + self.product(self.out, o, self.out_bias)
        a = self.parts.enter(self.norm2(h))
        return h + self.product(self.down, F.gelu(self.up(a)), self.down_bias)


class Model(nn.Module):
    def __init__(self, parts, read):
        super().__init__()
        self.parts = parts
        self.wte = nn.Embedding.from_pretrained(read["wte"].clone(), False)
        self.wpe = nn.Parameter(read["wpe"].clone())
        self.blocks = nn.Sequential(*(
            Block(parts, lambda name, i=i: read[f"h{i}/{name}"])
            for i in range(LAYERS)))
        self.norm = norm(read["n"], read["c"])
        self.logits = parts.columns([read["wu"]])

    def forward(self, x):
        h = self.norm(self.blocks(self.wte(x) + self.wpe))
        return self.logits(self.parts.enter(h))


def resident_kib(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise KeyError(field)


def train(folder, steps, way, rank=0):
    read = {name: torch.from_numpy(numpy.load(path_of(folder, name)))
            for name in ["x", "y", *(name for name, _ in weights())]}
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak counts from here
    before = resident_kib("VmRSS")
    parts = Parts(rank, 2) if way == "tensor" else Parts()
    model, x, y = Model(parts, read), read["x"], read["y"]
    if way == "data":
        model = nn.parallel.DistributedDataParallel(
            model, gradient_as_bucket_view=True)
        x, y = x.chunk(2)[rank], y.chunk(2)[rank]
    parameters = list(model.parameters())
    # Not the default, but the faster.
    optimizer = torch.optim.AdamW(parameters, lr=RATE, fused=True)
    for _ in range(steps):
        loss = parts.loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        parts.clip(parameters)
        optimizer.step()
        loss = loss.detach()
        if way == "data":
            distributed.all_reduce(loss)
            loss /= 2
        if rank == 0:
            print(f"l = tensor f32[] {loss.item()}", flush=True)
    if rank == 0:
        print(resident_kib("VmHWM") - before)


def rank_main(rank, port, folder, threads, steps, way):
    torch.set_num_threads(threads)
    distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    train(folder, steps, way, rank)
    distributed.destroy_process_group()


def main(folder, threads, steps, way="alone"):
    threads, steps = int(threads), int(steps)
    if way == "alone":
        torch.set_num_threads(threads)
        train(folder, steps, way)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    multiprocessing.spawn(rank_main, (port, folder, threads, steps, way), 2)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Compares gt-shard with processes of PyTorch that exchange by gloo.

usage: gloo.py [RANKS ...]

The cases are linear layers by columns and by rows, and both as a pair; a block
that is tensor and sequence parallel; and training by DistributedDataParallel,
also with a sharded optimizer. PyTorch's side is written by hand, as
Megatron-LM has it: each process has its parts and says what is exchanged. The
placed program gives the same values, rank by rank where a tensor is cut, with
no more collectives; gt-route and its workers give the bits that gt-work does.
"""
import datetime
import os
import re
import subprocess
import sys
import tempfile

import torch
from torch import distributed, multiprocessing, nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn import functional as F

from gt import Tally, difference, emit, results_of, tensor_line, work
from sharding import findings, shard

CONFIGS = os.path.join(os.path.dirname(__file__), "../../configs")
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all",
               "broadcast", "reduce")
LIMIT = 120  # seconds that a process may take


# ---- what a process of PyTorch's has ----------------------------------------

class Ranks:
    """The processes, how they cut tensors, and what they exchanged."""

    def __init__(self, rank, size):
        self.rank, self.size, self.count = rank, size, 0

    def part(self, x, dim):
        """The first of uneven parts are one longer, as in gt."""
        return x.tensor_split(self.size, dim)[self.rank].clone()

    def sum(self, x):
        self.count += 1
        x = x.detach().clone()
        distributed.all_reduce(x)
        return x

    def whole(self, x, dim):
        """Gathers uneven parts, which gloo's all_gather does not take."""
        self.count += 1
        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = x.shape[dim]
        distributed.all_reduce(lengths)
        shape = list(x.shape)
        shape[dim] = int(lengths.sum())
        out = torch.zeros(shape, dtype=x.dtype)
        start = int(lengths[:self.rank].sum())
        out.narrow(dim, start, x.shape[dim]).copy_(x.detach())
        distributed.all_reduce(out)
        return out


def crossing(forward, backward):
    """An autograd function made of two functions of (ranks, x)."""

    class Crossing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, ranks, x):
            ctx.ranks = ranks
            return forward(ranks, x)

        @staticmethod
        def backward(ctx, gradient):
            return None, backward(ctx.ranks, gradient)

    return Crossing.apply


def same(ranks, x):
    del ranks
    return x.detach().clone()


# Sequences are cut along dimension 1.
enter = crossing(same, Ranks.sum)
leave = crossing(Ranks.sum, same)
gather = crossing(lambda r, x: r.whole(x, 1),
                  lambda r, g: r.part(r.sum(g), 1))
scatter = crossing(lambda r, x: r.part(r.sum(x), 1),
                   lambda r, g: r.whole(g, 1))


# ---- cases ------------------------------------------------------------------

class Case:
    """A program, its config, and the same in PyTorch.

    `values` are printed as wholes, and of `cut` each rank prints its part. The
    reference gives the values of rank 0 and the parts of all ranks, by name.
    """

    def __init__(self, name, config, seed):
        self.name, self.config = name, config
        self.random = torch.Generator().manual_seed(seed)
        self.tensors, self.lines = {}, []
        self.values, self.cut = [], []

    def tensor(self, name, *shape, scale=1.0, signal=""):
        value = scale * torch.randn(shape, generator=self.random,
                                    dtype=torch.float64)
        self.tensors[name] = value
        self.lines.append(tensor_line(name, value)
                          + (f" #signal={signal}" if signal else ""))

    def program(self):
        return "\n".join(self.lines) + "\n"


class Linear(Case):
    """By columns, by rows, or by columns and then rows."""

    def __init__(self, kind, size, seed):
        config = f"mesh: {{tp: {size}}}\nsignals:\n"
        if kind != "rows":
            config += "  columns: {shard: {tp: 1}}\n"
        if kind != "columns":
            config += "  rows: {shard: {tp: 0}}\n"
        if kind == "rows":
            config += "tensors: {x: {shard: {tp: 1}}}\n"
        super().__init__(f"{kind} of {size}", config, seed)
        self.kind = kind
        self.tensor("x", 4, 5)
        self.tensor("w", 5, 7)
        self.tensor("b", 7)
        self.tensor("q", 4, 3 if kind == "pair" else 7)
        weights = ["x", "w", "b"]
        if kind == "pair":
            self.tensor("u", 7, 3)
            self.tensor("c", 3)
            weights += ["u", "c"]
            self.lines += ["h = linear x w b #signal=columns",
                           "h = gelu h #signal=columns",
                           "y = matmul h u #signal=rows", "y = add y c"]
        elif kind == "columns":
            self.lines.append("y = linear x w b #signal=columns")
        else:
            self.lines += ["y = matmul x w #signal=rows", "y = add y b"]
        self.lines += ["p = mul y q", "l = sum p",
                       " ".join(f"g.{n}" for n in weights) + " = grad l "
                       + " ".join(weights)]
        self.lines += [f"{n} = sgd {n} g.{n} 0.1" for n in weights[1:]]
        self.values = ["y", "l", *weights[1:], *(f"g.{n}" for n in weights)]
        self.cut = {"columns": ["w", "b", "g.w", "g.b", "y"],
                    "rows": ["w", "g.w", "g.x"],
                    "pair": ["w", "b", "u", "g.w", "g.b", "g.u"]}[kind]

    def reference(self, ranks):
        t = dict(self.tensors)
        dims = {"columns": {"w": 1, "b": 0}, "rows": {"x": 1, "w": 0},
                "pair": {"w": 1, "b": 0, "u": 0}}[self.kind]
        for name, dim in dims.items():
            t[name] = ranks.part(t[name], dim)
        weights = [n for n in t if n != "q"]
        for name in weights:
            t[name].requires_grad_()
        if self.kind == "rows":
            y = leave(ranks, t["x"] @ t["w"]) + t["b"]
        else:
            y = enter(ranks, t["x"]) @ t["w"] + t["b"]
        if self.kind == "pair":
            y = leave(ranks, F.gelu(y) @ t["u"]) + t["c"]
        q = ranks.part(t["q"], 1) if self.kind == "columns" else t["q"]
        loss = (y * q).sum()
        loss.backward()
        found = {"y": y, "l": loss}
        if self.kind == "columns":
            found["l"] = ranks.sum(loss)
        for name in weights:
            found["g." + name] = t[name].grad
            found[name] = t[name] - 0.1 * t[name].grad
        dims["y"] = 1
        return found, {n: dims[n.split(".")[-1]] for n in self.cut}


# Each weight has the dimension that columns and rows cut, or None. Keys have no
# bias, since a softmax cancels it, and its gradient would be only rounding.
WEIGHTS = {"n1": None, "c1": None, "wq": 1, "bq": 0, "wk": 1, "wv": 1, "bv": 0,
           "wo": 0, "bo": None, "n2": None, "c2": None, "w1": 1, "b1": 0,
           "w2": 0, "b2": None}


def attention(q, k, v, heads):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    o = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
    return o.transpose(1, 2).flatten(-2)


def block(x, w, heads, before=lambda x: x, behind=lambda x: x):
    """A transformer's block; `before` and `behind` stand around its pairs of
    products."""
    def norm(x, n, c):
        return F.layer_norm(x, x.shape[-1:], n, c)

    a = before(norm(x, w["n1"], w["c1"]))
    q, k, v = a @ w["wq"] + w["bq"], a @ w["wk"], a @ w["wv"] + w["bv"]
    x = x + (behind(attention(q, k, v, heads) @ w["wo"]) + w["bo"])
    a = before(norm(x, w["n2"], w["c2"]))
    return x + (behind(F.gelu(a @ w["w1"] + w["b1"]) @ w["w2"]) + w["b2"])


class Block(Case):
    """Some training steps of a block."""

    def __init__(self, name, config, seed, batch, length, heads, signal=""):
        super().__init__(name, config, seed)
        self.heads, width, hidden = heads, 8 * heads, 61
        self.tensor("x", batch, length, width, signal=signal)
        self.tensor("t", batch, length, width, signal=signal)
        for n in WEIGHTS:
            rows = hidden if n == "w2" else width
            columns = hidden if n in ("w1", "b1") else width
            shape = (rows, columns) if n[0] == "w" else (columns,)
            self.tensor(n, *shape, scale=0.2)

    def forward(self):
        return ["h = layer_norm x n1 c1 #signal=norm",
                "q = linear h wq bq #signal=hidden",
                "k = matmul h wk #signal=hidden",
                "v = linear h wv bv #signal=hidden",
                f"h = attention q k v causal=1 heads={self.heads}",
                "h = matmul h wo #signal=out",
                "h = add h bo #signal=residual",
                "s = add x h #signal=residual",
                "h = layer_norm s n2 c2 #signal=norm",
                "h = linear h w1 b1 #signal=hidden",
                "h = gelu h #signal=hidden",
                "h = matmul h w2 #signal=out",
                "h = add h b2 #signal=residual",
                "y = add s h #signal=residual", "l = mse y t",
                " ".join(f"g.{n}" for n in WEIGHTS) + " = grad l "
                + " ".join(WEIGHTS)]


class SequenceParallel(Block):
    """Heads, columns and rows are cut, and between them the sequence."""

    def __init__(self, size, seed):
        with open(f"{CONFIGS}/sequence-parallel.yaml", encoding="utf-8") as f:
            config = f.read().replace("{tp: 2}", f"{{tp: {size}}}")
        super().__init__(f"sequence-parallel block of {size}", config, seed,
                         batch=2, length=5, heads=size)
        self.lines += self.forward()
        self.lines += [f"{n} = sgd {n} g.{n} 0.1" for n in WEIGHTS]
        self.values = ["y", "l", *WEIGHTS, *(f"g.{n}" for n in WEIGHTS)]
        parts = [n for n, dim in WEIGHTS.items() if dim is not None]
        self.cut = ["y", *parts, *(f"g.{n}" for n in parts)]

    def reference(self, ranks):
        w = {n: self.tensors[n] if dim is None else
             ranks.part(self.tensors[n], dim) for n, dim in WEIGHTS.items()}
        for value in w.values():
            value.requires_grad_()
        x, t = (ranks.part(self.tensors[n], 1) for n in "xt")
        y = block(x, w, self.heads // ranks.size,
                  lambda x: gather(ranks, x), lambda x: scatter(ranks, x))
        loss = ((y - t) ** 2).sum() / self.tensors["t"].numel()
        loss.backward()
        found = {"y": y, "l": ranks.sum(loss)}
        for n, dim in WEIGHTS.items():
            # A weight that worked on parts of the sequence has a part of its
            # gradient.
            g = ranks.sum(w[n].grad) if dim is None else w[n].grad
            found["g." + n], found[n] = g, w[n] - 0.1 * g
        dims = {"y": 1, **WEIGHTS}
        return found, {n: dims[n.split(".")[-1]] for n in self.cut}


class DataParallel(Block):
    """Each process has a part of the batch, and all weights."""
    STEPS = 4

    def __init__(self, kind, size, seed):
        with open(f"{CONFIGS}/{kind}.yaml", encoding="utf-8") as f:
            config = f.read().replace("{dp: 2}", f"{{dp: {size}}}")
        super().__init__(f"{kind} training on {size}", config, seed,
                         batch=2 * size, length=3, heads=2, signal="batch")
        self.kind = kind
        for n in WEIGHTS:
            self.lines += [f"{m}.{n} = mul {n} 0" for m in "mv"]
        self.lines.append("step = tensor i64[] 0")
        for _ in range(self.STEPS):
            self.lines += [*self.forward(), "step = add step 1"]
            self.lines += [f"{n} m.{n} v.{n} = adamw {n} g.{n} m.{n} v.{n} "
                           "step 0.01 decay=0.01" for n in WEIGHTS]
        self.values = ["l", *WEIGHTS, *(f"g.{n}" for n in WEIGHTS)]

    def reference(self, ranks):
        own = {n: nn.Parameter(self.tensors[n].clone()) for n in WEIGHTS}

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = nn.ParameterDict(own)

            def forward(self, x, heads):
                return block(x, self.own, heads)

        model = nn.parallel.DistributedDataParallel(Model())
        options = {"lr": 0.01, "weight_decay": 0.01}
        if self.kind == "data-parallel":
            optimizer = torch.optim.AdamW(own.values(), **options)
        else:
            optimizer = ZeroRedundancyOptimizer(
                list(own.values()), torch.optim.AdamW, **options)
        x, t = (ranks.part(self.tensors[n], 0) for n in "xt")
        for _ in range(self.STEPS):
            optimizer.zero_grad()
            y = model(x, self.heads)
            loss = F.mse_loss(y, t)
            loss.backward()
            optimizer.step()
        ranks.count = None  # DDP sums many at once, so the number is not known
        distributed.all_reduce(loss := loss.detach())
        found = {"l": loss / ranks.size}
        for n, value in own.items():
            found["g." + n], found[n] = value.grad, value
        return found, {}


def cases(size):
    seed = 100 * size
    for kind in "columns", "rows", "pair":
        yield Linear(kind, size, seed := seed + 1)
    yield SequenceParallel(size, seed := seed + 1)
    for kind in "data-parallel", "sharded-optimizer", "sharded-weights":
        yield DataParallel(kind, size, seed := seed + 1)


# ---- both sides, compared ---------------------------------------------------

def process(rank, size, folder):
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/met", rank=rank,
        world_size=size, timeout=datetime.timedelta(seconds=LIMIT))
    found = {}
    for case in cases(size):
        ranks = Ranks(rank, size)
        values, dims = case.reference(ranks)
        found[case.name] = ({n: v.detach() for n, v in values.items()}, dims,
                            ranks.count)
    torch.save(found, f"{folder}/{rank}")
    distributed.destroy_process_group()


def references(size):
    """By rank and case: values, what is cut and along which dimension, and how
    many collectives there were."""
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(process, (size, folder), size)
        return [torch.load(f"{folder}/{rank}") for rank in range(size)]


def placed_count(stream):
    return len(re.findall(rf"^\S+ = ({'|'.join(COLLECTIVES)}) ", stream, re.M))


def check(tally, case, size, found):
    stream, said, status = emit(case.program())
    tally.check(f"{case.name}: gt-emit", said if status else None)
    prints = "".join(f"print {n}\n" for n in case.values)
    stream = stream.replace("#end 0", prints + "#end 0")
    placed, said, status = shard(stream, case.config)
    tally.check(f"{case.name}: gt-shard", said if status or said else None)
    tally.check(f"{case.name}: gt-check", str(findings(placed) or "") or None)
    compare_values(tally, case, size, placed, [f[case.name] for f in found])
    routed = subprocess.run(
        ["gt-route", "-n", str(size), "--threads", "1"], input=placed,
        capture_output=True, text=True, timeout=LIMIT, check=False)
    alone = work(placed, None, "--threads", "1")[0]
    tally.check(f"{case.name}: gt-route", None if routed.stdout == alone
                else f"other bits than gt-work's: {routed.stderr[:300]}")


def compare_values(tally, case, size, placed, found):
    parts = "".join(f"print {n}@0-{size - 1}\n" for n in case.cut)
    got = results_of(work(placed.replace("#end 0", parts + "#end 0"))[0])
    values, dims, count = found[0]
    for n in case.values:
        whole = values[n]
        if n in dims:
            whole = torch.cat([f[0][n] for f in found], dims[n])
        tally.check(f"{case.name}: {n}", difference(got.get(n), whole))
    for n in case.cut:
        for rank, (parts, _, _) in enumerate(found):
            tally.check(f"{case.name}: {n} of rank {rank}",
                        difference(got.get(f"{n}@{rank}"), parts[n]))
    if count is not None and placed_count(placed) > count:
        tally.check(f"{case.name}: collectives",
                    f"{placed_count(placed)} where {count} are enough")


def main():
    tally = Tally()
    for size in map(int, sys.argv[1:] or ["2", "3"]):
        found = references(size)
        for case in cases(size):
            check(tally, case, size, found)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

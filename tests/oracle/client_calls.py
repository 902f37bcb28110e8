"""Compares calls of libgt with the same calls of PyTorch.

usage: client_calls.py [--refused] PROGRAM

PROGRAM is tests/tools/client_calls.cc, compiled. It makes calls of the ops by the op table, and of
layers, losses and optimizers with all their arguments, and says what each is in PyTorch. A call must
give the values, dtype and shape that it has there, or be refused with words; client_differs.txt has
those that the pages say to differ. Every op of the table that a client has must be in a call."""
import argparse, json, math, operator, os, re, subprocess, sys, tempfile

import numpy as np
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, StepLR

import python_calls
from python_calls import HERE, NAMES, operands, plain, same, short

nn, F = torch.nn, torch.nn.functional
WIDE = {"f32": "<f4", "f64": "<f8", "i64": "<i8", "i32": "<i4", "u8": "u1", "bool": "u1"}
# Ops that a call has by another name, and those of programs alone.
IN_OTHERS = {"tensor": "gt::tensor", "sgd": "optim::SGD", "adamw": "optim::AdamW", "clip": "clip_grad_norm",
             "grad": "optim::SGD", "slice": "x(0)", "print": "", "save": "", "free": "", "fail": ""}


def numbers(*shape):
    """The same numbers as in client_calls.h."""
    n = math.prod(shape)
    return ((torch.arange(n, dtype=torch.float64) * 7) % 11 / 11 - 0.4).reshape(shape).float()


def tables():
    """What PyTorch calls each op."""
    rows = json.loads(subprocess.run(["gt-emit", "--ops=json"], stdout=subprocess.PIPE, check=True).stdout)["ops"]
    rows = [row for row in rows if not row.get("internal") and row["family"] != "ranks"]
    names = {}
    for row in rows:
        found = re.findall(r"torch\.((?:nn\.functional\.|linalg\.)?[a-z]\w*)(?=[,;]|$)", row["source"])
        names[row["name"]] = (found + [row["name"]])[0]
    names["copy"] = "clone"
    return rows, names


def op_of(names):
    def op(name):
        out, *parts = torch, *names[name].split(".")
        if not hasattr(torch, parts[0]):
            out = F
        for part in parts:
            out = getattr(out, part)
        return out

    def op_(name):
        def changed(z, *others):
            z = z.clone()
            getattr(z, names[name] + "_")(*others)
            return z
        return changed
    return op, op_


# ---- what is made of several calls of PyTorch -------------------------------

class Linear(nn.Module):
    """PyTorch's, with its weight as here."""

    def __init__(self, n, m, bias=True, dtype=torch.float32):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n, m, dtype=dtype))
        self.b = nn.Parameter(torch.zeros(m, dtype=dtype)) if bias else None

    def forward(self, x):
        return F.linear(x, self.w.t(), self.b)


class Flatten(nn.Module):
    def forward(self, x):
        return x.flatten(1)


def rope(x, base=10000, heads=1, interleaved=False):
    """As in Llama of the transformers library, or with neighbours as pairs."""
    parts = x.reshape(*x.shape[:-1], heads, -1)
    half = parts.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * base ** -(torch.arange(half) / half)
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    a, b = (parts[..., ::2], parts[..., 1::2]) if interleaved else (parts[..., :half], parts[..., half:])
    c, d = a * cos - b * sin, b * cos + a * sin
    out = torch.stack([c, d], -1).flatten(-2) if interleaved else torch.cat([c, d], -1)
    return out.reshape(x.shape)


def by_heads(q, k, v, heads, causal=False):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(-2, -3) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(-2, -3).flatten(-2)


class Attention(nn.Module):
    def __init__(self, width, heads, causal=False, rope_base=None, bias=False):
        super().__init__()
        self.q, self.k, self.v, self.out = (Linear(width, width, bias) for _ in range(4))
        self.heads, self.causal, self.base = heads, causal, rope_base

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.base:
            q, k = (rope(part, self.base, self.heads) for part in (q, k))
        return self.out(by_heads(q, k, v, self.heads, self.causal))


class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up, self.down = Linear(width, hidden), Linear(hidden, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


def filled(module):
    with torch.no_grad():
        for w in module.parameters():
            w.copy_(numbers(*w.shape).to(w.dtype) if w.dtype != torch.float64 else wide_numbers(*w.shape))
    return module


def wide_numbers(*shape):
    n = math.prod(shape)
    return ((torch.arange(n, dtype=torch.float64) * 7) % 11 / 11 - 0.4).reshape(shape)


def layer(module, x):
    """The value of a layer, and the gradients of the sum of its squares."""
    x = x.clone()
    if x.is_floating_point():
        x.requires_grad_()
    y = filled(module)(x)
    (y * y).sum().backward()
    return [y, *([x.grad] if x.is_floating_point() else []), *(w.grad for w in module.parameters())]


def loss(f, x):
    z = x.detach().clone().requires_grad_()
    y = f(z)
    (y * y * y).sum().backward()
    return [y, z.grad]


def logits(x):
    return x @ numbers(7, 4).t()


def mixed(x):
    with torch.autocast("cpu", torch.bfloat16):
        return F.linear(x.bfloat16(), numbers(4, 5).t().bfloat16(), numbers(5).bfloat16())


def train(make, schedule=None, dtype=torch.float64, steps=12, clip=None):
    net = filled(Linear(4, 3, dtype=dtype))
    optimizer = make(net.parameters())
    schedule = schedule(optimizer) if schedule else None
    x, y = wide_numbers(5, 4).to(dtype), wide_numbers(5, 3).to(dtype)
    for _ in range(steps):
        F.mse_loss(net(x), y * 3).backward()
        if clip:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()
        if schedule:
            schedule.step()
        optimizer.zero_grad()
    return list(net.parameters())


# ---- both sides -------------------------------------------------------------

def write_safetensors(path, tensors):
    head, data = {}, b""
    for name, x in tensors.items():
        bytes_ = x.contiguous().flatten().view(torch.uint8).numpy().tobytes() if x.numel() else b""
        dtype = {"f32": "F32", "f64": "F64", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "u8": "U8",
                 "bool": "BOOL"}[NAMES[str(x.dtype)[6:]]]
        head[name] = {"dtype": dtype, "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def printed(line):
    """The result of a line "r1 = tensor f32[2] 1 2", or its failure as a text."""
    name, _, rest = line.partition(" = ")
    kind, _, rest = rest.partition(" ")
    if kind != "tensor":
        return name, rest
    form, *words = rest.split(" ")
    dtype, sizes = form[:-1].split("[")
    shape = tuple(map(int, sizes.split(","))) if sizes else ()
    values = torch.tensor([int(w) if dtype in ("i64", "i32", "u8", "bool") else float(w) for w in words if w],
                          dtype=torch.int64 if dtype[0] in "iu" or dtype == "bool" else torch.float64)
    exact = values.to(getattr(torch, {v: k for k, v in NAMES.items()}[dtype])).reshape(shape)
    return name, plain(exact)


def results_of(program, folder):
    write_safetensors(os.path.join(folder, "operands.safetensors"), operands())
    done = subprocess.run([program, "operands.safetensors", "calls"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{program} ended with status {done.returncode}\n{done.stderr[-3000:]}")
    found = {}
    for line in done.stdout.splitlines():
        name, value = printed(line)
        number, _, part = name[1:].partition(".")
        if part:
            found.setdefault(int(number), []).append(value)
        else:
            found[int(number)] = value
    with open(os.path.join(folder, "calls"), encoding="utf-8") as file:
        for line in file:
            number, theirs, ours, why = line.rstrip("\n").split("\t")
            yield theirs, ours, why, found.get(int(number))


def space_of(names):
    space = {**globals(), **operands()}
    for name in ("x", "y", "m", "r", "s"):
        space[name] = space[f"{name}_f32"]
    op, op_ = op_of(names)
    space.update(op=op, op_=op_, image=space["x"][None], b=space["y_bool"].float(),
                 n=numbers(2, 5), queries=numbers(1, 4, 3, 4), x_times_30=space["x_f64"] * 30,
                 sigmoid=space["x"].sigmoid(), log_m=space["m"].log_softmax(-1), log_x=space["x"].log_softmax(-1),
                 Embedding=nn.Embedding, LayerNorm=nn.LayerNorm, RMSNorm=getattr(nn, "RMSNorm", None),
                 Conv2d=nn.Conv2d, ConvTranspose2d=nn.ConvTranspose2d, Dropout=nn.Dropout,
                 Sequential=nn.Sequential, SGD=torch.optim.SGD, AdamW=torch.optim.AdamW, Adam=torch.optim.Adam)
    return space


def compared(theirs, why, got, space):
    """What came of a call: a word of the counts, and what is wrong with it."""
    try:
        want = plain(eval(theirs, space))
    except (RuntimeError, IndexError, ValueError, TypeError, AttributeError) as error:
        want = error
    failed = why or (got if isinstance(got, str) else "")
    if failed or got is None:
        if not failed.strip():
            return "wrong", "refused without a word"
        return "both" if isinstance(want, Exception) else "refused", None
    if isinstance(want, Exception):
        # That there is no kernel for a dtype on a CPU is no rule of PyTorch.
        is_rule = theirs.startswith("op_") and isinstance(want, RuntimeError) and \
            "not implemented for" not in str(want)
        return ("wrong", f"PyTorch refuses it ({short(want)}), and gt gives {short(got)}") if is_rule else ("more", None)
    # The sums in gradients cancel. Of gelu's tail PyTorch has lost digits.
    ulps = 64 if theirs.startswith(("loss(", "layer(")) else 16
    if same(want, got, ulps, not theirs.startswith("op") or "'gelu'" in theirs):
        return "same", None
    return "wrong", f"PyTorch gives {short(want)}, and gt {short(got)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("K", "N"),
                        help="compare each Nth call, from the Kth on")
    parser.add_argument("--refused", action="store_true", help="list what is refused")
    parser.add_argument("program", metavar="PROGRAM")
    args = parser.parse_args()
    rows, names = tables()
    space, known = space_of(names), python_calls.differences("client_differs.txt")
    counts = dict.fromkeys("same differs refused more both wrong".split(), 0)
    wrong, texts, total = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for theirs, ours, why, got in results_of(os.path.abspath(args.program), folder):
            texts.append(ours)
            if len(texts) % args.share[1] != args.share[0]:
                continue
            total += 1
            what, told = compared(theirs, why, got, space)
            is_listed = not re.match(r"op_?\(|operator\.", theirs)
            if what == "refused" and is_listed:
                what, told = "wrong", f"it is refused: {short(why or got)}"
            if what == "wrong" and any(re.fullmatch(pattern, ours) for pattern, _ in known):
                what = "differs"
            if what == "wrong":
                wrong.append(f"{ours}, in PyTorch {theirs}: {told}")
            if what == "refused" and args.refused:
                print("refused:", ours, "|", short(why or got))
            counts[what] += 1
    text = "\n".join(texts)
    for row in rows:
        name, other = row["name"], IN_OTHERS.get(row["name"])
        if other is None and not re.search(rf"(::|\.|\b){name}_?\(", text) or other and other not in text:
            wrong.append(f"no call has the op {name}: add one to tests/tools/client_calls_ops.cc")
    for line in wrong[:400]:
        print(line)
    print(f"{total} calls: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    print(f"{total - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong or not counts["same"] else 0


if __name__ == "__main__":
    sys.exit(main())

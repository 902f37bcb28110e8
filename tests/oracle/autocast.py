"""Trains a small transformer with precision: in the config beside PyTorch's
autocast.

usage: autocast.py

Both begin with the same weights and see the same batches. The losses in f32 are
PyTorch's; those in bf16 and f16 differ from them by no more than a few times
what autocast's do, on one rank and on four.
"""
import math
import subprocess
import sys
import tempfile

import torch

from gt import Tally, emit, parse_result, tensor_line, work

LAYERS, WIDTH, HEADS, VOCAB, BATCH, LENGTH, STEPS = 2, 32, 4, 24, 4, 16, 8
RATE = 0.2
CONFIGS = {
    "one rank": "mesh: {tp: 1}\n",
    "two times two ranks": """mesh: {dp: 2, tp: 2}
signals:
  batch: {shard: {dp: 0}}
  col: {shard: {tp: 1}}
  row: {shard: {tp: 0}}
""",
}


def weights():
    torch.manual_seed(5)
    out = {"wte": torch.randn(VOCAB, WIDTH)}
    for layer in range(LAYERS):
        for name, shape in {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH),
                            "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH),
                            "up": (WIDTH, 4 * WIDTH),
                            "down": (4 * WIDTH, WIDTH)}.items():
            out[f"l{layer}.{name}"] = torch.randn(shape) / math.sqrt(shape[0])
    out["head"] = torch.randn(WIDTH, VOCAB) / math.sqrt(WIDTH)
    return out


def program(params, batches):
    signal = {"q": "col", "k": "col", "v": "col", "up": "col", "o": "row",
              "down": "row"}

    def product(result, x, name):
        of = signal.get(name.split(".")[-1])
        return f"{result} = matmul {x} {name}" + (f" #signal={of}" if of else "")

    lines = [tensor_line(name, value) for name, value in params.items()]
    for ids in batches:
        lines += [tensor_line("ids", ids) + " #signal=batch",
                  "x = slice ids : :-1", "t = slice ids : 1:",
                  "x = embedding wte x"]
        for layer in range(LAYERS):
            at = f"l{layer}."
            lines += ["h = layer_norm x",
                      *[product(n, "h", at + n) for n in "qkv"],
                      f"a = attention q k v heads={HEADS} causal=1",
                      product("a", "a", at + "o"), "x = add x a",
                      "h = layer_norm x", product("h", "h", at + "up"),
                      "h = gelu h", product("h", "h", at + "down"),
                      "x = add x h"]
        lines += ["x = layer_norm x", product("z", "x", "head"),
                  "l = cross_entropy z t", "print l",
                  " ".join("g." + n for n in params) + " = grad l "
                  + " ".join(params)]
        lines += [f"{n} = sgd {n} g.{n} {RATE}" for n in params]
    return "\n".join(lines) + "\n"


def losses_of_torch(params, batches, dtype):
    """The losses with autocast to the dtype; None: in f32."""
    params = {n: p.clone().requires_grad_() for n, p in params.items()}
    scale = 1024.0 if dtype == torch.float16 else 1.0
    norm = torch.nn.functional.layer_norm
    mask = torch.full((LENGTH, LENGTH), -math.inf).triu(1)

    def heads(x):
        return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    def forward(ids):
        x = params["wte"][ids[:, :-1]]
        for layer in range(LAYERS):
            q, k, v, o, up, down = (params[f"l{layer}.{n}"] for n in
                                    ("q", "k", "v", "o", "up", "down"))
            h = norm(x, (WIDTH,))
            s = heads(h @ q) @ heads(h @ k).transpose(-1, -2)
            p = torch.softmax(s.float() / math.sqrt(WIDTH // HEADS) + mask, -1)
            a = (p @ heads(h @ v)).transpose(1, 2).flatten(-2)
            x = x + a @ o
            h = torch.nn.functional.gelu(norm(x, (WIDTH,)) @ up)
            x = x + h @ down
        z = norm(x, (WIDTH,)) @ params["head"]
        return torch.nn.functional.cross_entropy(
            z.float().flatten(0, 1), ids[:, 1:].flatten())

    out = []
    for ids in batches:
        if dtype is None:
            loss = forward(ids)
        else:
            with torch.autocast("cpu", dtype=dtype):
                loss = forward(ids)
        out.append(loss.item())
        grads = torch.autograd.grad(loss * scale, list(params.values()))
        with torch.no_grad():
            for p, g in zip(params.values(), grads):
                p -= RATE * g / scale
    return out


def losses_of_gt(stream, config):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(config)
        file.flush()
        placed = subprocess.run(["gt-shard", "-c", file.name], input=stream,
                                stdout=subprocess.PIPE, text=True, check=True)
    output, said, status = work(placed.stdout)
    assert status == 0, said
    return [parse_result(line.split(" = ", 1)[1])[1][0]
            for line in output.splitlines()]


def most(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def main():
    params = weights()
    batches = [torch.randint(0, VOCAB, (BATCH, LENGTH + 1))] * STEPS
    stream, said, status = emit(program(params, batches))
    assert status == 0, said
    tally = Tally()
    right = losses_of_torch(params, batches, None)
    noise = most(losses_of_torch(params, batches, torch.bfloat16), right)
    assert right[-1] < right[0] / 2 and noise > 1e-4, (right, noise)
    for where, config in CONFIGS.items():
        for dtype, bound in {"f32": 1e-4, "bf16": 3 * noise,
                             "f16": noise}.items():
            for sums in ("f32", "bf16"):
                got = losses_of_gt(
                    stream, config + f"precision: {dtype}\nsums: {sums}\n")
                # A sum that is sent in bf16 has bf16's noise in any precision.
                allowed = bound if sums == "f32" else max(bound, 3 * noise)
                off = most(got, right)
                tally.check(
                    f"{where}, {dtype}, sums in {sums}",
                    None if off <= allowed else
                    f"losses {got} are {off:.3g} off {right}, where autocast's "
                    f"to bf16 are {noise:.3g} off")
                if dtype != "f32":
                    tally.check(f"{where}, {dtype}: reads it", None if off > 0
                                 else "the losses are those of f32")
    sys.exit(tally.end())


main()

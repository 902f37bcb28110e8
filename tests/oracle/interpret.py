"""Runs the lines of programs.py by PyTorch, whose autograd does grad."""
import re

import torch

import creation
import layers
from gt import DTYPES

PLACE = re.compile(r"gt-emit: <stdin>:(\d+): (grad: [^\n]*)")

ONE = {
    "neg": torch.neg, "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "relu": torch.relu, "erf": torch.erf,
    "copy": torch.clone, "detach": lambda x: x.detach(), "exp": torch.exp,
    "abs": lambda x: x * torch.sign(x.detach()), "sign": torch.sign,
}
TWO = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul,
    "maximum": torch.maximum, "minimum": torch.minimum, "lt": torch.lt,
    "ge": torch.ge, "eq": torch.eq, "ne": torch.ne, "matmul": torch.matmul,
}
NORMS = {"layer_norm": layers.layer_norm, "rms_norm": layers.rms_norm}
OVER = {
    "sum": torch.sum, "mean": torch.mean, "prod": torch.prod,
    "cumsum": lambda x, axis, keep: torch.cumsum(x, axis),
    "softmax": lambda x, axis, keep: torch.softmax(x, axis),
    "log_softmax": lambda x, axis, keep: torch.log_softmax(x, axis),
}


class Failed:
    """The result of a line that gt-emit rejected, or that read such a
    result."""


class Interpreter:
    """Names and their tensors; `printed` is what a program would print."""

    def __init__(self, messages):
        self.names = {}
        self.printed = []
        self.problems = []
        self.seed = 0
        self.rejected = {int(n): text for n, text in PLACE.findall(messages)}

    def run(self, text):
        for number, line in enumerate(text.splitlines(), 1):
            words = re.sub(r" #.*", "", line).split()
            if words and not words[0].startswith("#"):
                self.line(number, words)

    def line(self, number, words):
        if words[0] == "print":
            self.printed.append((words[1], self.names[words[1]]))
        elif words[0] == "free":
            for name in words[1:]:
                del self.names[name]
        elif "grad" in words:
            self.grad(number, words)
        else:
            at = words.index("=")
            value = self.value(words[at + 1], words[at + 2:])
            if isinstance(value, tuple):
                self.names.update(zip(words, value))
            else:
                self.names.update((name, value) for name in words[:at])

    def leaf(self, tensor):
        """A value with no history, which may be a target."""
        tensor = tensor.detach()
        return tensor.requires_grad_(tensor.is_floating_point())

    def value(self, op, words):
        operands = [w for w in words if "=" not in w]
        keys = dict(w.split("=") for w in words if "=" in w)
        if re.match(r"(f32|f64|i64|i32|bool)\[", operands[0]):
            return self.leaf(self.create(op, operands, keys))
        values = [self.names.get(w, w) for w in operands]
        if any(isinstance(v, Failed) for v in values):
            return Failed()
        x = values[0]
        if op == "dropout":
            seed = int(operands[2]) if len(operands) > 2 else self.seed
            self.seed += len(operands) == 2
            return layers.dropout(float(operands[1]), seed)(x)
        if op in ("detach", "sgd"):
            return self.leaf(x if op == "detach"
                             else x - float(values[2]) * values[1])
        return self.computed(op, x, values, keys)

    def computed(self, op, x, values, keys):
        if op in ONE:
            return ONE[op](x)
        if op in TWO:
            return TWO[op](x, self.operand(values[1], x))
        if op == "where":
            return torch.where(x, values[1], torch.zeros_like(values[1]))
        if op == "mse":
            return ((x - float(values[1])) ** 2).mean()
        if op in OVER and "axis" in keys:
            return OVER[op](x, int(keys["axis"]), keys.get("keepdims") == "1")
        if op in OVER:
            return OVER[op](x)
        if op == "transpose":
            return x.permute(*range(x.dim() - 1, -1, -1))
        if op == "reshape":
            return x.reshape(-1)
        if op == "layer_norm" and x.shape[-1] > 0:
            # A row of equal numbers gives zeros here. Rounding would give
            # something else, which loops would make large.
            values[0] = x - x[..., :1]
        if op in NORMS:
            return NORMS[op](float(keys["eps"]))(*values)
        if op == "attention":
            whole = layers.Attention(int(keys.get("heads", 0)),
                                     "causal" in keys)
            return whole.run(*values)
        if op == "rope":
            start = int(values[1]) if len(values) > 1 else 0
            return layers.rope(start, interleaved="interleaved" in keys)(x)
        if op == "flip":
            return x.flip(tuple(range(x.dim())))
        raise ValueError(f"no such op here: {op}")

    def operand(self, value, like):
        """The number with the dtype that it has beside a tensor, which depends
        only on its category."""
        if not isinstance(value, str):
            return value
        number = float(value) if "." in value else int(value)
        dtype = torch.result_type(like, number)
        return torch.tensor(number, dtype=dtype)

    def create(self, op, operands, keys):
        dtype, sizes = operands[0][:-1].split("[")
        shape = tuple(int(n) for n in sizes.split(",") if n)
        if op in ("rand", "randn"):
            seed = int(operands[1]) if len(operands) > 1 else self.seed
            self.seed += len(operands) == 1
            if op == "rand":
                return creation.uniform(seed, shape, dtype)
            return creation.normal(seed, shape, dtype,
                                   float(keys.get("scale", 1)))
        fill = {"ones": 1, "zeros": 0}.get(op) if op != "full" else float(
            operands[1])
        return torch.full(shape, fill).to(DTYPES[dtype])

    def grad(self, number, words):
        at = words.index("grad")
        results = words[:at - 1]
        targets = [w for w in words[at + 1:] if "=" not in w]
        loss, *targets = [self.names[w] for w in targets]
        failed = any(isinstance(v, Failed) for v in (loss, *targets))
        message = self.rejected.get(number, "")
        found = [None] * len(targets)
        if not failed and loss.requires_grad:
            found = torch.autograd.grad(
                loss, targets, create_graph="retain=1" in words,
                retain_graph=True, allow_unused=True)
        if "warning" not in message and message:
            self.explain(number, message, found)
            failed = True
        for name, target, g in zip(results, targets, found):
            if failed:
                self.names[name] = Failed()
                continue
            g = torch.zeros_like(target) if g is None else g
            self.names[name] = (
                g if g.grad_fn and "retain=1" in words else self.leaf(g))

    def explain(self, number, message, found):
        """Notes that PyTorch reaches all targets, if the message says that a
        target was bound again."""
        if "not on the one that it has now" in message and None not in found:
            self.problems.append(
                f"line {number}: PyTorch reaches every target: {message}")

"""PyTorch's side of scripts/bench ops, as a process that is asked one line of
JSON after another and answers each with one.

  {"row": [[NAME, DTYPE], ...], "torch": TEXT, "gradient": [NAME, ...]}
      a new row, whose operands lie in NAME.npy: a step computes it, or its
      gradients by those names if there are any. The answer has the norm of each
      result, "norms", and the "dtype" and "shape" of the first.
  {"steps": N}
      The answer, {"seconds": S}, has the time of one of N steps.
"""

import json
import os
import sys
import time

import numpy
import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                             "oracle"))
import lines  # pylint: disable=wrong-import-position

DTYPES = {torch.float32: "f32", torch.float64: "f64"}
optimizers = {}


def step(kind, parameters, gradients, **options):
    """A step of an optimizer that is kept from one call to the next."""
    key = parameters[0].data_ptr()
    if key not in optimizers:
        for p, g in zip(parameters, gradients):
            p.requires_grad_()
            p.grad = g.detach()
        optimizers[key] = kind(parameters, **options)
    optimizers[key].step()
    return tuple(p.detach() for p in parameters)


def clip(gradients, most):
    parameters = [torch.empty_like(g) for g in gradients]
    for p, g in zip(parameters, gradients):
        p.grad = g
    torch.nn.utils.clip_grad_norm_(parameters, most)
    return gradients


def function_of(row, names):
    # The text is that of tests/ops.tsv and of tests/bench/ops.tsv.
    return eval(f"lambda {', '.join(names)}: {row}",
                {**vars(lines), **globals()})


def contiguous(result):
    """As gt's results are; a view that is so already costs neither of them."""
    if isinstance(result, tuple):
        return tuple(t.contiguous() for t in result)
    return result.contiguous()


def norm(tensor):
    return float(tensor.detach().double().norm())


def prepare(ask):
    """A step of the row, and the norms of what one gives."""
    optimizers.clear()
    names = [name for name, _ in ask["row"]]
    values = []
    for name, dtype in ask["row"]:
        value = torch.from_numpy(numpy.load(name + ".npy"))
        values.append(value.to(getattr(torch, dtype)))
    forward = function_of(ask["torch"], names)
    if not ask["gradient"]:
        return lambda: contiguous(forward(*values))
    reached = [values[names.index(name)].requires_grad_()
               for name in ask["gradient"]]
    made = forward(*values)
    made = made[0] if isinstance(made, tuple) else made
    seed = torch.from_numpy(numpy.load("l.q.npy")).to(made.dtype)
    return lambda: contiguous(torch.autograd.grad(made, reached, seed,
                                                  retain_graph=True))


def main():
    torch.set_num_threads(int(sys.argv[1]))
    run = None
    for line in sys.stdin:
        ask = json.loads(line)
        if "row" in ask:
            try:
                run = prepare(ask)
                given = run()
            except (AttributeError, RuntimeError, TypeError) as error:
                print(json.dumps({"error": str(error)}), flush=True)
                continue
            given = given if isinstance(given, (tuple, list)) else (given,)
            answer = {"norms": [norm(t) for t in given],
                      "dtype": DTYPES.get(given[0].dtype, ""),
                      "shape": list(given[0].shape)}
        else:
            start = time.perf_counter()
            for _ in range(ask["steps"]):
                given = run()  # as a program holds what it has computed
            answer = {"seconds": (time.perf_counter() - start) / ask["steps"]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""What gt is measured against: PyTorch, eager. Prints seconds per step."""

import sys
import time

import torch


def timed(step, rounds):
    for _ in range(max(3, rounds // 10)):
        step()
    start = time.perf_counter()
    for _ in range(rounds):
        step()
    return (time.perf_counter() - start) / rounds


def chain(rounds):
    torch.set_num_threads(1)
    y = torch.ones(4, 4)
    state = [torch.zeros(4, 4)]
    start = time.perf_counter()
    x = state[0]
    for i in range(int(rounds)):
        x = x + y
        if i % 1000 == 999:
            x.tolist()
    return (time.perf_counter() - start) / int(rounds)


def matmul(n, threads, rounds):
    torch.set_num_threads(int(threads))
    a, b = torch.randn(int(n), int(n)), torch.randn(int(n), int(n))
    return timed(lambda: a @ b, int(rounds))


def mlp(threads, rounds):
    torch.set_num_threads(int(threads))
    x = torch.randn(128, 784)
    t = torch.zeros(128, dtype=torch.int64)
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(),
                                torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        loss = torch.nn.functional.cross_entropy(model(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return timed(step, int(rounds))


def attention(folder, threads, rounds):
    """Forward and backward, of heads side by side as gt has them."""
    import numpy
    torch.set_num_threads(int(threads))
    heads, depth = 8, 64
    q, k, v, g = (torch.from_numpy(numpy.load(f"{folder}/{name}.npy"))
                  for name in "qkvg")

    def split(x):
        return x.view(1, -1, heads, depth).transpose(1, 2)

    for x in q, k, v:
        x.requires_grad_()

    def forward():
        return torch.nn.functional.scaled_dot_product_attention(
            split(q), split(k), split(v), is_causal=True)

    with torch.no_grad():
        ahead = timed(forward, int(rounds))
    o = forward()
    back = timed(lambda: torch.autograd.grad(
        o, (q, k, v), split(g), retain_graph=True), int(rounds))
    values = o, *torch.autograd.grad(o, (q, k, v), split(g))
    return " ".join(str(x) for x in [*(x.norm().item() for x in values), ahead,
                                     back])


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))

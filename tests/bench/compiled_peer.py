"""What compilers make of a workload: prints the first step's value and seconds
per step.

usage: compiled_peer.py torch|jax chain|cheapN|mlp THREADS ROUNDS
       compiled_peer.py torch|jax check
"""
import math
import os
import sys
import time


def timed(step, wait, rounds):
    for _ in range(max(5, rounds // 10)):
        wait(step())
    start = time.perf_counter()
    for _ in range(rounds):
        last = step()
    wait(last)
    return (time.perf_counter() - start) / rounds


def ramp(lib, *shape, scale=1.0, factor=1.0):
    """The numbers that gt's workload has, by either library."""
    values = lib.arange(math.prod(shape), dtype=lib.float32) * factor
    return (lib.sin(values) * scale).reshape(shape)


def mlp_weights(lib):
    return [ramp(lib, 784, 256, scale=0.05), lib.zeros(256),
            ramp(lib, 256, 10, scale=0.05), lib.zeros(10)]


def chain_of(lib, x):
    y = lib.sqrt(x * 1.5 + 0.25) * x - 0.5
    return lib.tanh(-lib.exp(lib.maximum(y, lib.zeros_like(y)))) * 2


def cheap_of(lib, x):
    y = (x * 1.5 + 0.25) * x - 0.5
    return lib.abs(-lib.maximum(y, lib.zeros_like(y))) + x


def torch_workload(name, threads, rounds):
    import torch
    torch.set_num_threads(threads)
    if name == "chain":
        x = torch.arange(1000000, dtype=torch.float32) / 1000000
        run = torch.compile(lambda x: chain_of(torch, x))
        value = float(run(x).mean())
        return value, timed(lambda: run(x), lambda y: None, rounds)

    if name.startswith("cheap"):
        size = int(name.removeprefix("cheap"))
        x = torch.arange(size, dtype=torch.float32) / size
        run = torch.compile(lambda x: cheap_of(torch, x))
        value = float(run(x).mean())
        return value, timed(lambda: run(x), lambda y: None, rounds)

    x = ramp(torch, 128, 784, factor=0.37)
    t = torch.zeros(128, dtype=torch.int64)
    weights = mlp_weights(torch)
    for w in weights:
        w.requires_grad_()

    @torch.compile
    def loss_of(x, t):
        h = torch.relu(x @ weights[0] + weights[1])
        return torch.nn.functional.cross_entropy(h @ weights[2] + weights[3], t)

    optimizer = torch.optim.SGD(weights, lr=0.01)

    def step():
        loss = loss_of(x, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return float(step()), timed(step, float, rounds)


def jax_workload(name, threads, rounds):
    os.environ["JAX_PLATFORMS"] = "cpu"
    if threads == 1:  # it takes as many as there are cores to run on
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import jax
    from jax import numpy as jnp
    if name == "chain":
        x = jnp.arange(1000000, dtype=jnp.float32) / 1000000
        run = jax.jit(lambda x: chain_of(jnp, x))
        value = float(run(x).mean())
        return value, timed(lambda: run(x), jax.block_until_ready, rounds)

    if name.startswith("cheap"):
        size = int(name.removeprefix("cheap"))
        x = jnp.arange(size, dtype=jnp.float32) / size
        run = jax.jit(lambda x: cheap_of(jnp, x))
        value = float(run(x).mean())
        return value, timed(lambda: run(x), jax.block_until_ready, rounds)

    x = ramp(jnp, 128, 784, factor=0.37)
    state = [tuple(mlp_weights(jnp))]

    def loss_of(weights):
        w1, b1, w2, b2 = weights
        z = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jax.nn.log_softmax(z)[:, 0].mean()

    @jax.jit
    def train(weights):
        loss, grads = jax.value_and_grad(loss_of)(weights)
        return loss, tuple(w - 0.01 * g for w, g in zip(weights, grads))

    def step():
        loss, state[0] = train(state[0])
        return loss

    return float(step()), timed(step, jax.block_until_ready, rounds)


def main():
    workload = {"torch": torch_workload, "jax": jax_workload}[sys.argv[1]]
    if sys.argv[2] == "check":
        if sys.argv[1] == "torch":
            import torch
            torch.compile(lambda x: x + 1)(torch.zeros(2))
        else:
            import jax  # noqa: F401, to see that it is there
        return
    value, seconds = workload(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    print(value, seconds)


if __name__ == "__main__":
    main()

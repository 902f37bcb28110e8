"""What gt is measured against: PyTorch, eager. Prints seconds per step."""

import os
import socket
import sys
import time

import torch
import torch.distributed
import torch.multiprocessing


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


def elementary(op, count, rounds):
    torch.set_num_threads(1)
    function = getattr(torch, op, None) or getattr(torch.nn.functional, op)
    x = torch.rand(int(count)) + 0.5
    return timed(lambda: function(x), int(rounds))


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


def gt2_chain(clone, rounds):
    """bwasti/gt2: its own server and worker, started by itself."""
    sys.path.insert(0, clone)
    import gt  # pylint: disable=import-outside-toplevel
    y, x = gt.ones(4, 4), gt.zeros(4, 4)
    for _ in range(20):
        x = x + y
    x.data.numpy()
    start = time.perf_counter()
    for _ in range(int(rounds)):
        x = x + y
    total = float(x.data.numpy().sum())
    took = (time.perf_counter() - start) / int(rounds)
    assert total == 16 * (20 + int(rounds)), total
    return took


def memcpy(size, rounds):
    source = torch.ones(int(size) // 4)
    target = torch.empty_like(source)
    torch.set_num_threads(1)
    return timed(lambda: target.copy_(source), int(rounds))


def gloo_rank(rank, n, rounds, port, results):
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    x = torch.ones(n)
    took = timed(lambda: torch.distributed.all_reduce(x), rounds)
    torch.distributed.barrier()
    if rank == 0:
        results.put(took)
    torch.distributed.destroy_process_group()


def gloo(n, rounds):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn = torch.multiprocessing.get_context("spawn")
    results = spawn.SimpleQueue()
    ranks = [spawn.Process(target=gloo_rank,
                           args=(r, int(n), int(rounds), port, results))
             for r in range(2)]
    for rank in ranks:
        rank.start()
    took = results.get()
    for rank in ranks:
        rank.join()
        assert rank.exitcode == 0
    return took


def zmq_echo(address):
    import zmq  # pylint: disable=import-outside-toplevel
    router = zmq.Context().socket(zmq.ROUTER)
    router.bind(address)
    while True:
        who, text = router.recv_multipart()
        if text == b"end":
            return
        router.send_multipart([who, text])


def zmq_round_trip(rounds):
    import zmq  # pylint: disable=import-outside-toplevel
    address = f"ipc://@gt-bench-{os.getpid()}"
    echo = torch.multiprocessing.get_context("spawn").Process(
        target=zmq_echo, args=(address,))
    echo.start()
    dealer = zmq.Context().socket(zmq.DEALER)
    dealer.connect(address)

    def once():
        dealer.send(b"x" * 64)
        dealer.recv()

    took = timed(once, int(rounds))
    dealer.send(b"end")
    echo.join()
    return took


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))

"""Rows of scripts/bench about gt-route: many workers beside one, and beside
what else carries values between processes.

How the ratios are taken. Ours and the peer's side of a ratio run one after the
other, each alone, and a row is the median over rounds; where the machine is
busy, run the bench with `nice -n -15`. A step of copy, of all_reduce, of the
digits, of the transformer, and a block is the difference of a long and a short
run, both of which touch each page for the first time, as peers are measured warm
too (peer.py: timed). Each step reads what the one before it made, and the last
value is checked, so that no step can be left out. Time of an op of the chains is
that of the whole run, starts of processes included.
"""

import math
import os
import subprocess
import sys
import tempfile
import time

from measure import (BIN, EMIT, WORK, Missing, need_module, optional, peer,
                     peer_values, run, shell_seconds)

numpy = optional("numpy")
ROUTE = os.path.join(BIN, "gt-route")


def chain_program(path, ops):
    with open(path, "w") as f:
        f.write("x = zeros f32[4,4]\ny = full f32[4,4] 1\n")
        block = "x = add x y\n" * 1000 + "print x\n"
        f.write(block * (ops // 1000))


def chain_seconds(folder, ops):
    """Seconds an op of a chain through gt-emit, gt-route and two workers."""
    path, out = folder + "/chain.gt", folder + "/chain.out"
    chain_program(path, ops)
    took = shell_seconds(f"{EMIT} < {path} 2>/dev/null | "
                         f"{ROUTE} -n 2 --threads 1 > {out}")
    values = [float(line.split()[4]) for line in open(out)]
    assert values == [1000 * (i + 1) for i in range(ops // 1000)]
    return took / ops


def chain(report, folder):
    def measure():
        ours = chain_seconds(folder, 1_000_000)
        theirs = peer("chain", 200_000)
        return ours, theirs, ours / theirs

    report.pair("chain through gt-route, s/op : PyTorch", measure, 1, 0.3,
                True)


def chain_gt2(report, folder):
    """bwasti/gt2, if GT_BENCH_GT2 names a clone of it."""
    clone = os.environ.get("GT_BENCH_GT2")
    if not clone:
        raise Missing("GT_BENCH_GT2 names no clone of bwasti/gt2")

    def measure():
        ours = 1 / chain_seconds(folder, 1_000_000)
        theirs = 1 / peer("gt2_chain", clone, 300)
        return ours, theirs, ours / theirs

    report.pair("chain through gt-route, op/s : gt2", measure, 300, 1000)


def warm_step_seconds(folder, init, step, last, few, many, value):
    """Seconds of a step by two local workers: the difference of a long and a
    short run, so that no first touch of memory is in it. `last` prints what
    value(steps) says."""

    def total(steps):
        path = f"{folder}/steps.gt"
        with open(path, "w") as program:
            program.write(init + step * steps + last)
        start = time.perf_counter()
        out = run([ROUTE, "-n", "2", "--threads", "1", path],
                  stdout=subprocess.PIPE, text=True).stdout
        took = time.perf_counter() - start
        assert float(out.split()[-1]) == value(steps), out
        return took

    return (total(few + many) - total(few)) / many


def digits_program(steps):
    step = "".join(line for line in open("examples/digits.gt")
                   if not line.startswith("#"))
    return (open("examples/digits-init.gt").read() + step * steps
            + "print loss\n")


def transformer_program(text, steps):
    return run(["examples/transformer", f"text={text}", f"steps={steps}",
                "rounds=1", "sample=0"], stdout=subprocess.PIPE,
               text=True).stdout


def one_worker(report, folder):
    """A step of the digits and of the transformer, through gt-route -n 1 and
    through gt-work: the difference of a long and a short run, so that starting
    a worker is not in it."""
    text = folder + "/text.npy"
    with open("share/novel/pride-and-prejudice.txt", "rb") as novel:
        numpy.save(text, numpy.frombuffer(novel.read(), numpy.uint8))
    programs = {"digits": (digits_program, 1000, 9000),
                "transformer": (lambda n: transformer_program(text, n), 5, 40)}
    for name, (program, few, many) in programs.items():
        path = f"{folder}/{name}"
        for steps in few, few + many:
            with open(f"{path}.{steps}", "w") as out:
                run([EMIT, "--no-at"], input=program(steps), text=True,
                    stdout=out)

        def measure(path=path, few=few, many=many):
            def total(command, steps):
                return shell_seconds(f"{command} --threads 1 {path}.{steps} "
                                     f"> {path}.{command.split('/')[-1][:7]}")

            def step(command):
                return (total(command, few + many) - total(command, few)) / many

            a, b = step(f"{ROUTE} -n 1"), step(WORK)
            run(["cmp", f"{path}.gt-rout", f"{path}.gt-work"])
            return a, b, a / b

        report.pair(f"{name} through gt-route -n 1 : gt-work", measure, 1.05,
                    1.01, True)


def copy(report, folder):
    """1 GiB from one local worker to another, and from there back."""
    n = 1 << 28
    init = f"x@0 = full f32[{n}] 3\n"
    step = "y@1 = copy x@0\nx@0 = copy y@1\n"
    last = "p@0 = slice x@0 -1\nprint p@0\n"

    def measure():
        took = warm_step_seconds(folder, init, step, last, 2, 5,
                                 lambda _: 3) / 2
        theirs = peer("memcpy", 4 * n, 5)
        return 4 * n / took / 1e9, 4 * n / theirs / 1e9, theirs / took

    report.pair("copy of 1 GiB, GB/s : memcpy", measure, 0.3, 0.7)


def all_reduce(report, folder):
    n = 1 << 24
    init = f"x@0-1 = full f32[{n}] 1\n"
    step = "x@0-1 = all_reduce x@0-1\n"
    last = "p@0 = slice x@0 -1\nprint p@0\n"

    def measure():
        ours = warm_step_seconds(folder, init, step, last, 5, 30,
                                 lambda steps: 2.0 ** steps)
        theirs = peer_values("gloo", n, 10)[-1]
        return ours, theirs, theirs / ours

    report.pair("all_reduce of 64 MiB, gloo s : ours", measure, 3, 10)


def round_trip(report, folder):
    """A print through the running pipeline, beside libzmq's own round trip."""
    del folder
    need_module("zmq")
    rounds = 300

    def ours():
        emit = subprocess.Popen([EMIT, "--no-at"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        route = subprocess.Popen([ROUTE, "-n", "1", "--threads", "1"],
                                 stdin=emit.stdout, stdout=subprocess.PIPE)
        emit.stdout.close()
        emit.stdin.write(b"x = ones f32[]\n")

        def once():
            emit.stdin.write(b"print x\n")
            emit.stdin.flush()
            assert route.stdout.readline() == b"x = tensor f32[] 1\n"

        for _ in range(20):
            once()
        start = time.perf_counter()
        for _ in range(rounds):
            once()
        took = (time.perf_counter() - start) / rounds
        emit.stdin.close()
        assert route.wait() == 0 and emit.wait() == 0
        return took

    def measure():
        a, b = ours(), peer("zmq_round_trip", rounds)
        return a, b, a / b

    report.pair("round trip of a print, s : libzmq's", measure, 5, 2, True)


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def idle(report, folder):
    """CPU time of nine processes that have nothing to do, over a minute."""
    del folder

    def measure():
        with tempfile.TemporaryFile() as out:
            route = subprocess.Popen([ROUTE, "-n", "8", "--threads", "1"],
                                     stdin=subprocess.PIPE, stdout=out)
            route.stdin.write(b"x = ones f32[]\nprint x\n")
            route.stdin.flush()
            while os.fstat(out.fileno()).st_size == 0:
                time.sleep(0.01)
            children = open(f"/proc/{route.pid}/task/{route.pid}/children")
            pids = [route.pid, *map(int, children.read().split())]
            assert len(pids) == 9, pids
            before, start = cpu_seconds(pids), time.perf_counter()
            time.sleep(60)
            used = cpu_seconds(pids) - before
            took = time.perf_counter() - start
            route.stdin.close()
            assert route.wait() == 0
        return used, took, used / took

    rounds, report.rounds = report.rounds, 1
    # A clock that counts hundredths of a second may well have seen none.
    report.pair("CPU s of an idle cluster of nine : s", measure, 0.01, 0.001,
                True, beyond=math.inf)
    report.rounds = rounds


def light_seconds(folder, workers, path, *options):
    """Seconds of a program by so many workers of one process that compute
    nothing, once they are attached: gt-route opens its input then."""
    os.environ["GT_SILENCE"] = "60"  # whole clusters on a machine that is full
    endpoint = f"ipc://@gt-bench-{os.getpid()}-{time.monotonic_ns()}"
    fifo = f"{folder}/start"
    os.mkfifo(fifo)
    work = subprocess.Popen([os.path.join(BIN, "light_members"), str(workers),
                             endpoint])
    route = subprocess.Popen(
        [ROUTE, "--bind", endpoint, "--workers", str(workers), *options, fifo,
         path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with open(fifo, "w") as input_fifo:  # an empty one were cut short
        start = time.perf_counter()
        input_fifo.write("#\n")
    out = route.stdout.read()
    assert route.wait() == 0 and work.wait() == 0
    took = time.perf_counter() - start
    assert out.count(b"\n") == 1, out
    os.unlink(fifo)
    return took


def deliveries(report, folder):
    """Lines to all of 1,024 workers and to all of 8, as text."""

    def rate(workers, lines):
        path, ranks = f"{folder}/deliveries.gt", f"@0-{workers - 1}"
        with open(path, "w") as f:
            f.write(f"mesh tp={workers}\nx{ranks} = zeros f32[4,4]\n")
            f.writelines(f"x{ranks} = add x{ranks} {i % 1000}\n"
                         for i in range(lines))
            f.write("print x@0\n")
        return lines * workers / light_seconds(folder, workers, path,
                                               "--no-hot")

    def measure():
        many, few = rate(1024, 40_000), rate(8, 2_000_000)
        return many, few, many / few

    report.pair("deliveries/s to 1,024 workers : 8", measure, 0.5, 0.9)


def hot(report, folder):
    """A block of 1,000 lines to 64 workers, again and again."""
    few, many_as_text, many = 20, 500, 10_000
    names = [f"x{i}@0-63" for i in range(1000)]
    block = "".join(f"{name} = add {name} 1\n" for name in names)
    for rounds in few, few + many_as_text, few + many:
        with open(f"{folder}/hot.{rounds}", "w") as f:
            f.write("mesh tp=64\n")
            f.writelines(f"{name} = zeros f32[4,4]\n" for name in names)
            for _ in range(rounds):
                f.write(block)
            f.write("print x0@0\n")

    def block_seconds(rounds, *options):
        def total(n):
            return light_seconds(folder, 64, f"{folder}/hot.{n}", *options)

        return (total(few + rounds) - total(few)) / rounds

    def measure():
        a = block_seconds(many)
        b = block_seconds(many_as_text, "--no-hot")
        return b, a, b / a

    report.pair("blocks to 64 workers, text s : hash s", measure, 5, 50)


def literal(report, folder):
    path = folder + "/literal.gt"
    count = 1_040_000
    with open(path, "w") as f:
        f.write(f"x = tensor f64[{count}]")
        for i in range(count):
            f.write(f" {(i * 37 % 1009) / 1009:.58f}")
        f.write("\ns = sum x\nprint s\n")
    assert os.path.getsize(path) > 60 << 20

    def measure():
        out = folder + "/literal.out"
        ours = shell_seconds(f"{ROUTE} -n 2 {path} > {out}")
        theirs = shell_seconds(f"{WORK} {path} > {out}.work")
        assert open(out).read() == open(out + ".work").read() != ""
        return ours, theirs, ours / theirs

    report.pair("a literal of 60 MiB, s : gt-work", measure, 1.5, 1.1, True)


BENCHES = {"route-chain": chain, "route-gt2": chain_gt2,
           "route-one": one_worker, "route-copy": copy,
           "route-all-reduce": all_reduce, "route-trip": round_trip,
           "route-idle": idle, "route-deliveries": deliveries,
           "route-hot": hot, "route-literal": literal}

if __name__ == "__main__":
    sys.exit("run scripts/bench")

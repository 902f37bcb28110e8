"""Rows of scripts/bench about many clients of one gt-emit.

A cluster (gt-emit -l, gt-route and its workers) stands while a row is measured.
Times are those of whole runs of gt-emit --to, its start included, beside those of
the same program through a pipe of one's own, or of one client alone. Where a
client is measured beside another that keeps the workers busy, that one has far
more to do than the measurement takes, and is ended after it.
"""

import os
import signal
import statistics
import subprocess
import threading
import time

from measure import BIN, EMIT, shell_seconds

ROUTE = os.path.join(BIN, "gt-route")


class Cluster:
    """gt-emit -l with so many workers behind it, while a `with` lasts."""

    def __init__(self, folder, workers, options=(), to=(), endpoint=None):
        self.at = endpoint or f"ipc://{folder}/at"
        self.folder, self.workers = folder, workers
        self.options, self.to = list(options), list(to)

    def __enter__(self):
        for name in "back", "stream":
            if os.path.exists(f"{self.folder}/{name}"):
                os.remove(f"{self.folder}/{name}")
            os.mkfifo(f"{self.folder}/{name}")
        command = (f"exec {EMIT} -l {self.at} --back back "
                   f"{' '.join(self.options)} >stream 2>served")
        self.emit = subprocess.Popen(["bash", "-c", command], cwd=self.folder)
        self.route = subprocess.Popen(
            ["bash", "-c", f"exec {ROUTE} -n {self.workers} --threads 1 "
                           "<stream >back"], cwd=self.folder)
        self.seconds("-e", "x = ones f32[2]", "-e", "print x")  # it stands
        return self

    def __exit__(self, *_):
        self.emit.send_signal(signal.SIGTERM)
        self.emit.wait()
        self.route.wait()

    def start(self, *program):
        return subprocess.Popen([EMIT, "--to", self.at, *self.to, *program],
                                cwd=self.folder, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, bufsize=1)

    def seconds(self, *program):
        start = time.perf_counter()
        client = self.start(*program)
        client.communicate()
        assert client.returncode == 0, program
        return time.perf_counter() - start

    def trip(self, times=200):
        """Median seconds from a line written to its result read."""
        client = self.start()
        took = []
        for _ in range(times + 20):
            start = time.perf_counter()
            client.stdin.write("x = ones f32[2]\nprint x\n")
            client.stdin.flush()
            client.stdout.readline()
            took.append(time.perf_counter() - start)
        client.communicate()
        return statistics.median(took[20:])


def write(path, lines):
    with open(path, "w") as f:
        f.writelines(lines)
    return path


def small(folder, lines=400_000):
    """Small instructions, most of which come again."""
    return write(f"{folder}/small.gt",
                 ["x = ones f32[4,4]\n"] +
                 ["x = add x 1\ny = mul x x\nz = sub y x\ny = add z y\n"] *
                 (lines // 4))


def unseen(folder, lines=200_000):
    return write(f"{folder}/unseen.gt",
                 ["x = ones f32[4,4]\n"] +
                 [f"y{i % 7} = add x {i * 7919 % 100_003 / 100}\n"
                  for i in range(lines)])


def products(folder, lines=100_000):
    """Work that keeps all workers busy for very long."""
    return write(f"{folder}/products.gt",
                 ["a = randn f32[256,256] 1\nb = randn f32[256,256] 2\n"] +
                 ["c = matmul a b\nd = matmul b a\n"] * (lines // 2))


def through(report, folder):
    """One client through --to, beside a pipe of its own."""
    for name, path in ("small", small(folder)), ("unseen", unseen(folder)):
        with Cluster(folder, 1) as cluster:
            def measure():
                ours = cluster.seconds(path)
                theirs = shell_seconds(
                    f"{EMIT} {path} | {ROUTE} -n 1 --threads 1")
                return ours, theirs, ours / theirs

            report.pair(f"--to : a pipe, {name} lines, s", measure, 1.15, 1.02,
                        True)


def eight(report, folder):
    """Eight clients at once, beside one with all of their lines: lines a second
    in all; and the spread of their times. Each runs for about a second: with an
    eighth of the lines the starts of eight processes, about 6 ms of a processor
    each, were half of the difference."""
    rounds, lines = 8, 50_000
    eighth = small(folder, lines)
    spreads = []
    with Cluster(folder, 2) as cluster:
        def measure():
            one = cluster.seconds("--repeat", str(8 * rounds), eighth)
            start = time.perf_counter()
            clients = [cluster.start("--repeat", str(rounds), eighth)
                       for _ in range(8)]
            ends = {}
            while len(ends) < 8:
                for k, client in enumerate(clients):
                    if k not in ends and client.poll() is not None:
                        ends[k] = time.perf_counter() - start
                time.sleep(0.001)
            for client in clients:
                client.communicate()
            took = max(ends.values())
            spreads.append((took, min(ends.values())))
            whole = 8 * rounds * lines
            return whole / took, whole / one, one / took

        report.pair("eight clients : one, lines/s", measure, 0.8, 1)
        shown = iter(spreads)

        def spread():
            most, least = next(shown)
            return most, least, most / least

        report.pair("eight clients, s: last : first", spread, 1.2, 1.05, True)


def trip(report, folder):
    """A small client's round trip beside one that keeps all workers busy."""
    path = products(folder)
    with Cluster(folder, 2) as cluster:
        def measure():
            alone = cluster.trip()
            busy = cluster.start(path)
            time.sleep(1)
            beside = cluster.trip()
            busy.kill()
            busy.communicate()
            time.sleep(0.2)
            return beside, alone, beside / alone

        report.pair("round trip beside work : alone, s", measure, 20, 3, True)


class Slow:
    """Has a process run a tenth of the time, while a `with` lasts."""

    def __init__(self, pid):
        self.pid, self.ends = pid, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends.is_set():
            os.kill(self.pid, signal.SIGSTOP)
            time.sleep(0.09)
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.01)

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def slow_worker(report, folder):
    """Two clients: one uses a worker that is slow, the other one does not. That
    runs for a second, of which the time until the slow one is known as such
    beside it, some 20 milliseconds, is little."""
    slow = write(f"{folder}/slow.gt",
                 ["mesh w=2\na@0 = randn f32[256,256] 1\n"] +
                 ["b@0 = matmul a@0 a@0\n"] * 100_000)
    fast = write(f"{folder}/fast.gt",
                 ["mesh w=2\nx@1 = ones f32[64,64]\n"] +
                 ["x@1 = mul x@1 1\n"] * 3_000_000)
    with Cluster(folder, 2) as cluster:
        workers = subprocess.run(["pgrep", "-P", str(cluster.route.pid)],
                                 stdout=subprocess.PIPE, text=True).stdout
        first = min(map(int, workers.split()))  # it plays rank 0
        with Slow(first):
            def measure():
                alone = cluster.seconds(fast)
                other = cluster.start(slow)
                time.sleep(0.5)
                beside = cluster.seconds(fast)
                other.kill()
                other.communicate()
                time.sleep(1)
                return 1 / beside, 1 / alone, alone / beside

            report.pair("speed beside a slow worker : alone", measure, 0.95,
                        1)


def keys(report, folder):
    """Small instructions with keys, beside none."""
    for name in "server", "client":
        shell_seconds(f"umask 077; cd '{folder}'; {BIN}/gt-key >{name}.key; "
                      f"{BIN}/gt-key --public {name}.key >{name}.pub")
    path = small(folder)
    os.mkdir(folder + "/keys")
    at = "tcp://127.0.0.1:25551"
    with Cluster(folder, 1) as plain, Cluster(
            folder + "/keys", 1,
            ["--key", "../server.key", "--allow", "../client.pub"],
            ["--key", "../client.key", "--server-key", "../server.pub"],
            at) as keyed:
        def measure():
            with_keys = keyed.seconds(path)
            without = plain.seconds(path)
            return 1 / with_keys, 1 / without, without / with_keys

        report.pair("with keys : without, runs/s", measure, 0.7, 0.95)


def files(report, folder):
    """A tensor of 64 MiB to a client's files and back, beside copying it in
    memory: bytes a second of both ways together, starts included."""
    size = 64 << 20
    data = os.urandom(size)
    with open(f"{folder}/sent", "wb") as f:
        f.write(data)
    os.makedirs(f"{folder}/files/ann")
    target = memoryview(bytearray(data))  # its pages are there
    with Cluster(folder, 1, ["--files", "files"], ["--user", "ann"]) as cluster:
        def measure():
            start = time.perf_counter()
            target[:] = data
            copied = size / (time.perf_counter() - start)
            ours = 2 * size / cluster.seconds("--send", "sent", "--fetch",
                                              "sent=got")
            return ours, copied, ours / copied

        report.pair("64 MiB to and from a client : memcpy, B/s", measure, 0.1,
                    0.3)

        def beside_disk():
            ours = cluster.seconds("--send", "sent", "--fetch", "sent=got")
            copy = f"cd '{folder}'; dd if=sent of={{0}} bs=1M conv=fsync 2>dd"
            theirs = shell_seconds(
                copy.format("there") + "; " + copy.format("back.bin"))
            return ours, theirs, ours / theirs

        report.pair("the same : dd conv=fsync twice, s", beside_disk, 3, 1.5,
                    True)


BENCHES = {
    "clients-files": files,
    "clients-through": through,
    "clients-eight": eight,
    "clients-trip": trip,
    "clients-slow": slow_worker,
    "clients-keys": keys,
}

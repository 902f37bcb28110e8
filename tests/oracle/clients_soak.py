#!/usr/bin/env python3
"""Ten clients come and go for as long as is said, and nothing grows.

usage: clients_soak.py SECONDS [SEED]

One gt-emit -l with a gt-route of two workers serves ten clients at a time. Each
is of a random kind: one whose results are checked against a run of its own, one
that is killed, one that leaves and comes back, one whose program is wrong, one
that asks for too much, one that reads nothing and is killed. Memory, file
descriptors and shared memory are looked at every SECONDS / 120: after a third of
the time none of them may grow.
"""
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 10
LOOKS = 120
# Allocators and tables of recent text settle in the first third. Something that
# grows with every client would far exceed this afterwards.
ALLOWED = 1.15
SPARE = 8 << 10  # KiB
LIMIT = 300.0    # seconds for one client
PAUSE = 0.5      # seconds at most between two clients

GT_EMIT, GT_ROUTE = "gt-emit", "gt-route"


def own_program(rng):
    n = rng.randint(2, 64)
    lines = [f"x = randn f32[{n},{n}] {rng.randint(0, 999)}", f"w = randn f32[{n},4] 3"]
    for k in range(rng.randint(1, 60)):
        lines += ["h = matmul x w", f"l{k} = mean h", f"g = grad l{k} w",
                  "w = sgd w g 0.1", f"free l{k}"]
        if rng.random() < 0.3:
            lines.append("print w")
        if rng.random() < 0.1:
            lines += ["mesh d=2", "a@0-1 = ones f32[4] split=d:0",
                      "s@0-1 = sum a@0-1", "s@0-1 = all_reduce s@0-1", "print s@1",
                      "endmesh"]
    lines.append("print w")
    return "\n".join(lines) + "\n"


class Soak:
    def __init__(self, folder, seconds, seed):
        self.folder, self.seconds = folder, seconds
        self.seed = seed
        self.at = f"ipc://{folder}/at"
        self.served = self.failed = 0
        self.kinds = {}
        self.lock = threading.Lock()
        self.wanted = {}

    def begin(self):
        os.mkfifo(f"{self.folder}/back")
        os.mkfifo(f"{self.folder}/stream")
        self.emit = subprocess.Popen(
            ["bash", "-c", f"exec {GT_EMIT} -l {self.at} --back back "
             "--quota 32M --keep 5 >stream 2>served"], cwd=self.folder)
        self.route = subprocess.Popen(
            ["bash", "-c", f"exec {GT_ROUTE} -n 2 --threads 1 <stream >back "
             "2>routed"], cwd=self.folder)
        self.end = time.monotonic() + self.seconds

    def has_ended(self):
        return self.emit.poll() is not None or self.route.poll() is not None

    # ---- clients -------------------------------------------------------------

    def start(self, *arguments, stdout=subprocess.PIPE):
        return subprocess.Popen([GT_EMIT, "--to", self.at, *arguments],
                                cwd=self.folder, stdin=subprocess.PIPE,
                                stdout=stdout, stderr=subprocess.PIPE, text=True)

    def say(self, text, *arguments):
        client = self.start(*arguments)
        out, err = client.communicate(text, timeout=LIMIT)
        return client.returncode, out, err

    def check(self, holds, what):
        if holds:
            return
        with self.lock:
            self.failed += 1
            print(f"failed: {what}"[:2000], flush=True)

    def right(self, rng, name):
        text = own_program(random.Random(rng.randint(0, 40)))
        with self.lock:
            wanted = self.wanted.get(text)
        if wanted is None:
            emit = subprocess.run([GT_EMIT, "-"], input=text, stdout=subprocess.PIPE,
                                  text=True, check=True)
            wanted = subprocess.run([GT_ROUTE, "-n", "1", "--threads", "1"],
                                    input=emit.stdout, stdout=subprocess.PIPE,
                                    text=True, check=True).stdout
            with self.lock:
                self.wanted[text] = wanted
        status, out, err = self.say(text)
        self.check(status == 0 and out == wanted,
                   f"a right program: status {status}, {err!r}")

    def killed(self, rng, name):
        client = self.start(stdout=subprocess.DEVNULL)
        try:
            client.stdin.write(own_program(rng))
            client.stdin.flush()
            time.sleep(rng.random() * 0.2)
        except BrokenPipeError:
            pass
        client.kill()
        client.communicate()

    def unread(self, rng, name):
        client = self.start()
        try:
            client.stdin.write("x = ones f32[1000]\n" + "print x\n" * 500)
            client.stdin.flush()
        except BrokenPipeError:
            pass
        time.sleep(rng.random() * 0.3)
        client.kill()
        client.communicate()

    def wrong(self, rng, name):
        status, _, _ = self.say("y = frobnicate nobody\nz = add y 1\nprint z\n" * 40)
        self.check(status == 3, f"a wrong program: status {status}")

    def greedy(self, rng, name):
        text = "x = ones f32[1000000]\n" + "".join(
            f"x{k} = add x {k}\n" for k in range(20))
        status, _, err = self.say(text)
        self.check(status == 3 and "is the quota" in err,
                   f"a program that wants too much: status {status}")

    def kept(self, rng, name):
        status, _, err = self.say("w = full f32[8] 3\n", "--detach", name)
        self.check(status == 0, f"--detach: {status} {err!r}")
        if rng.random() < 0.3:
            return  # --keep has ended it
        for _ in range(rng.randint(0, 2)):
            status, out, err = self.say("print w\n", "--attach", name, "--detach",
                                        name, "--wait")
            self.check(status == 0 and out == "w = tensor f32[8] 3 3 3 3 3 3 3 3\n",
                       f"--attach: {status} {err!r}")
        status, _, err = self.say("free w\n", "--attach", name)
        self.check(status == 0, f"the last --attach: {status} {err!r}")

    def client(self, k):
        rng = random.Random(self.seed * 1000 + k)
        kinds = [self.right] * 4 + [self.killed, self.unread, self.wrong,
                                    self.greedy, self.kept, self.kept]
        n = 0
        while time.monotonic() < self.end and not self.has_ended():
            kind = rng.choice(kinds)
            n += 1
            try:
                kind(rng, f"k{k}.{n}")
            except subprocess.TimeoutExpired:
                self.check(False, f"{kind.__name__}: no end within {LIMIT} s")
                return
            with self.lock:
                self.served += 1
                self.kinds[kind.__name__] = self.kinds.get(kind.__name__, 0) + 1
            time.sleep(rng.random() * PAUSE)

    # ---- what may not grow -----------------------------------------------------

    def processes(self):
        workers = subprocess.run(["pgrep", "-P", str(self.route.pid)],
                                 stdout=subprocess.PIPE, text=True).stdout.split()
        return [("gt-emit", self.emit.pid), ("gt-route", self.route.pid),
                *((f"worker {k}", int(pid)) for k, pid in enumerate(sorted(workers)))]

    def look(self):
        seen = {}
        for name, pid in self.processes():
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("VmRSS:"):
                        seen[name, "KiB"] = int(line.split()[1])
            seen[name, "descriptors"] = len(os.listdir(f"/proc/{pid}/fd"))
        seen["all", "files of shared memory"] = len(os.listdir("/dev/shm"))
        return seen

    def run(self):
        self.begin()
        threads = [threading.Thread(target=self.client, args=(k,))
                   for k in range(CLIENTS)]
        for thread in threads:
            thread.start()
        looks = []
        while time.monotonic() < self.end and not self.has_ended():
            time.sleep(min(self.seconds / LOOKS, max(0, self.end - time.monotonic())) + 0.01)
            if not self.has_ended():
                looks.append(self.look())
        for thread in threads:
            thread.join()
        if self.has_ended():
            self.check(False, "gt-emit or gt-route has ended: "
                       f"{self.emit.poll()}, {self.route.poll()}")
            return
        time.sleep(6)  # clients that were kept are ended by now
        idle = self.look()
        self.emit.terminate()
        status = self.emit.wait(timeout=LIMIT), self.route.wait(timeout=LIMIT)
        self.check(status[0] == 130, f"the statuses of gt-emit and gt-route: {status}")
        self.judge(looks, idle)
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        print(f"{self.served} clients in {self.seconds:.0f} s: {kinds}")

    def judge(self, looks, idle):
        third = len(looks) // 3
        for key in sorted(looks[-1]):
            middle = max(look.get(key, 0) for look in looks[third:2 * third])
            last = max(look.get(key, 0) for look in looks[2 * third:])
            name, unit = key
            print(f"{name}: {middle}, then {last}, at the end {idle.get(key, 0)} {unit}")
            allowed = middle * ALLOWED + (SPARE if unit == "KiB" else 4)
            self.check(last <= allowed, f"{name} has grown: {middle} to {last} {unit}")
        for name in "gt-emit", "gt-route":
            self.check(idle[name, "descriptors"] <= looks[0][name, "descriptors"] + 4,
                       f"{name} keeps descriptors of clients that are gone")


def main():
    seconds = float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder, seconds, seed)
        try:
            soak.run()
        finally:
            for process in soak.emit, soak.route:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        for name in "served", "routed":
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                told = file.read()
            if soak.failed and told:
                print(f"{name}: {told[-8000:]}")
        print(f"{max(0, soak.served - soak.failed)} passed, {soak.failed} failed")
    sys.exit(1 if soak.failed else 0)


main()

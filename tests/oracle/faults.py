#!/usr/bin/env python3
"""Kills and stops a process of a running pipeline at a random moment.

usage: faults.py COUNT SEED NOTICE

Each trial runs gt-emit | gt-route -n N and sends SIGKILL or SIGSTOP to a worker,
to gt-route or to gt-emit. Whatever dies: the pipeline ends in time, with the
right status and one error that names worker and line, NOTICE seconds after the
fault at most; what was printed before is right; no process, no file and no
socket is left behind. A machine that does nothing else needs 2 seconds; run it
with a temporary folder and a network name space of its own (unshare --net), so
that nobody else's files and sockets count.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120.0  # seconds without a result for a trial that still has work after the fault

INIT = """\
mesh tp=2
x = randn f32[32,32] 1
x = mul x 0.1
w@0-1 = randn f32[16,16] 2 split=tp:0
"""
STEP = """\
y = matmul x x
y = tanh y
x = sub x y
x = tanh x
s = sum x
print s
v@0-1 = mul w@0-1 0.5
v@0-1 = all_reduce v@0-1 over=tp
w@0-1 = tanh v@0-1
t@0-1 = sum w@0-1
print t@1
"""


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(entry))
    return found


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def sockets():
    with open("/proc/net/unix") as table:
        return {line.split()[-1] for line in table if "@gt-" in line}


# The places where shared memory and temporary files would be.
def files():
    found = set()
    for folder in ("/dev/shm", tempfile.gettempdir(), os.getcwd()):
        if os.path.isdir(folder):
            found |= {os.path.join(folder, name) for name in os.listdir(folder)}
    return found


# Prints what gt has left after so many seconds, since others may use these
# folders as well. A process of many threads can be gone before its last thread
# has closed its files.
def left_behind(sockets_before, files_before, patience):
    end = time.monotonic() + patience
    while True:
        new = files() - files_before
        left = sorted(sockets() - sockets_before) + sorted(
            name for name in new if "gt" in os.path.basename(name).lower())
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


class Trial:
    def __init__(self, rng, folder, notice):
        self.notice = notice
        self.rng = rng
        self.victim = rng.choice(["worker", "worker", "route", "emit"])
        self.signal = rng.choice([signal.SIGKILL, signal.SIGSTOP])
        self.workers = rng.choice([1, 2, 3])
        self.folder = folder
        self.problems = []

    def __str__(self):
        return f"{self.signal.name} of {self.victim}, {self.workers} workers"

    def expect(self, holds, text):
        if not holds:
            self.problems.append(text)

    def start(self):
        init = os.path.join(self.folder, "init.gt")
        step = os.path.join(self.folder, "step.gt")
        with open(init, "w") as out:
            out.write(INIT)
        with open(step, "w") as out:
            out.write(STEP)
        self.err = open(os.path.join(self.folder, "err"), "w+")
        self.out = open(os.path.join(self.folder, "out"), "w+")
        # A pipeline whose gt-emit is stopped and resumed ends with its input.
        # Otherwise only the fault ends it.
        source = ["-"] if self.goes_on() else ["--repeat", "100000000", step]
        self.emit = subprocess.Popen(["gt-emit", "--no-at", init, *source],
                                     stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self.rounds = 0
        self.resumed = threading.Event()
        self.feeder = threading.Thread(target=self.feed)
        self.feeder.start()
        self.route = subprocess.Popen(
            ["gt-route", "-n", str(self.workers), "--threads", "1"],
            stdin=self.emit.stdout, stdout=self.out, stderr=self.err)
        self.emit.stdout.close()

    # Writes rounds until gt-emit has been stopped and resumed.
    def feed(self):
        with self.emit.stdin as pipe:
            while self.goes_on() and not self.resumed.is_set():
                pipe.write(STEP.encode() * 100)
                pipe.flush()
                self.rounds += 100
                self.resumed.wait(0.01)

    def goes_on(self):
        return self.victim == "emit" and self.signal == signal.SIGSTOP

    def await_output(self):
        end = time.monotonic() + LIMIT
        while os.fstat(self.out.fileno()).st_size == 0:
            if time.monotonic() > end or self.route.poll() is not None:
                self.problems.append("nothing was printed")
                return
            time.sleep(0.01)

    def strike(self):
        self.local = children(self.route.pid)
        self.expect(len(self.local) == self.workers,
                    f"{len(self.local)} workers run")
        target = {
            "worker": self.rng.choice(self.local or [self.route.pid]),
            "route": self.route.pid,
            "emit": self.emit.pid
        }[self.victim]
        os.kill(target, self.signal)
        if self.signal == signal.SIGSTOP and self.victim != "worker":
            if self.victim == "route":
                self.await_workers("workers of a stopped gt-route run on")
            else:
                time.sleep(0.5)
            os.kill(target, signal.SIGCONT)
        self.resumed.set()

    def end(self):
        # What gt-emit wrote before it died is still to be done.
        limit = LIMIT if self.victim == "emit" else self.notice
        began = time.monotonic()
        written = -1
        self.status = None
        while self.status is None:
            try:
                self.status = self.route.wait(limit)
            except subprocess.TimeoutExpired:
                size = os.fstat(self.out.fileno()).st_size
                if self.victim == "emit" and size > written:
                    written = size
                    continue
                self.problems.append(f"gt-route runs on after {limit} s")
                self.route.kill()
                self.status = self.route.wait()
        self.took = time.monotonic() - began
        try:
            self.emit.wait(self.notice)
        except subprocess.TimeoutExpired:
            self.problems.append("gt-emit runs on")
            self.emit.kill()
            self.emit.wait()
        self.feeder.join()

    def check(self):
        self.err.seek(0)
        self.out.seek(0)
        said = self.err.read()
        printed = self.out.read().splitlines()
        killed_route = self.victim == "route" and self.signal == signal.SIGKILL
        wanted = -9 if killed_route else 0 if self.goes_on() else 4
        self.expect(self.status == wanted,
                    f"status {self.status}, not {wanted}")
        if self.victim == "worker":
            self.expect(re.search(r"worker \d.*<stdin>:\d+", said),
                        "no error names worker and line")
            lost = [l for l in said.splitlines() if l.startswith("gt-route:")
                    and not l.startswith("gt-route: note:")]
            self.expect(len(lost) == 1, f"{len(lost)} errors of gt-route")
        if self.victim == "emit" and not self.goes_on():
            self.expect("cut short" in said, "no word of a stream cut short")
        if killed_route and printed:
            printed.pop()  # the last line may be incomplete
        self.check_values(printed)
        if self.goes_on():
            self.expect(len(printed) == 2 * self.rounds,
                        f"{len(printed)} results")
        self.await_workers("workers are left behind")
        if self.problems:
            print(said)

    def await_workers(self, problem):
        end = time.monotonic() + self.notice
        while time.monotonic() < end and not all(map(is_gone, self.local)):
            time.sleep(0.02)
        self.expect(all(map(is_gone, self.local)), problem)

    # Each printed value is what one worker prints, or a failure.
    def check_values(self, printed):
        rounds = min(len(printed) // 2 + 1, 3000)
        program = os.path.join(self.folder, "program")
        with open(program, "w") as out:
            out.write(INIT + STEP * rounds)
        whole = subprocess.run(["gt-work", "--threads", "1", program],
                               capture_output=True, text=True, check=True)
        expected = whole.stdout.splitlines()
        wrong = [a for a, b in zip(printed, expected)
                 if a != b and " = fail " not in a]
        self.expect(not wrong, "a wrong value: " + "; ".join(wrong[:2]))

    def run(self):
        self.start()
        self.await_output()
        if not self.problems:
            time.sleep(self.rng.random())
            self.strike()
        else:
            self.local = []
            self.route.kill()
            self.resumed.set()
        self.end()
        self.check()
        return not self.problems


def main():
    count, seed, notice = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    failed = 0
    took = []
    for i in range(count):
        before = sockets(), files()
        with tempfile.TemporaryDirectory(prefix="faults") as folder:
            trial = Trial(random.Random(seed + i), folder, notice)
            trial.run()
        left = left_behind(*before, notice)
        trial.expect(not left, "left behind: " + " ".join(left))
        if trial.problems:
            failed += 1
            print(f"seed {seed + i}: {trial}: {'; '.join(trial.problems)}")
        if trial.victim == "worker":
            took.append(trial.took)
    if took:
        print(f"a worker: the run ended {max(took):.1f} s after, at most")
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tests runs that lose workers and go on (gt-route --keep-going).

usage: losses.py COUNT [SEED]

Each trial runs a program on two to four workers and kills or stops one or two
of them at a random moment. Whatever the worker was doing, the run ends in time
with status 4. Each print gives one line, in order, which is that of an
undisturbed run or a failure; prints that need no lost worker are right.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 60.0  # seconds from the loss to the end

INIT = """\
mesh d=4
x@0-3 = randn f32[16,8] 1 split=d:0
u = randn f32[32,32] 2
v = randn f32[32,32] 3
print u
"""
STEPS = [
    "x@0-3 = tanh x@0-3\n",
    "y@0-3 = all_gather x@0-3 over=d src=S0\nprint y@1\n",
    "s@0-3 = sum x@0-3\ns@0-3 = all_reduce s@0-3 over=d\nprint s@2\n",
    "c@0 = copy x@3\nc@0 = add c@0 1\nprint c@0\n",
    "print x@0\nprint x@3\n",
    "print x@0-3 split=d:0\n",
    "u = matmul u v\nu = tanh u\n",
    "w = matmul v v\nw = sum w\nprint w\n",
    "print u\n",
    "w = sum u\nprint w\nv = tanh v\n",
    "save v \"{folder}/v.npy\"\nr = load \"{folder}/v.npy\" f32[32,32]\nprint r\n",
]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as line:
        return [int(word) for word in line.read().split()]


def route(workers, out, *options):
    return subprocess.Popen(
        ["gt-route", "-n", str(workers), "--threads", "1", *options],
        stdin=subprocess.PIPE, stdout=out, stderr=subprocess.PIPE, text=True)


def program(rng, folder):
    """The steps before, during and after the loss of a worker."""
    step = "".join(rng.sample(STEPS, 6)).replace("{folder}", folder)
    return [INIT + step * rng.randint(1, 40), step * rng.randint(1, 400),
            step * rng.randint(1, 40)]


def wrong(said, wanted, status):
    """What is wrong with the output, or None."""
    got, wanted = said.splitlines(), wanted.splitlines()
    if status not in (0, 4):
        return f"status {status}"
    if len(got) != len(wanted):
        return f"{len(got)} lines, not {len(wanted)}"
    failed = 0
    for mine, right in zip(got, wanted):
        name = right.split(" = ")[0]
        if mine.startswith(name + " = fail "):
            failed += 1
        elif mine != right:
            return f"{mine[:100]} where {right[:100]} was due"
    if failed and status != 4:
        return f"{failed} failures, and status {status}"
    return None


def trial(seed):
    rng = random.Random(seed)
    workers = rng.choice([2, 3, 4])
    with tempfile.TemporaryDirectory() as folder, \
            tempfile.TemporaryFile("w+") as out:
        before, while_lost, after = program(rng, folder)
        whole = route(workers, subprocess.PIPE).communicate(
            before + while_lost + after)[0]
        run = route(workers, out, "--keep-going")
        run.stdin.write(before)
        run.stdin.flush()
        while os.fstat(out.fileno()).st_size == 0:
            time.sleep(0.005)  # until all workers are there
        if rng.random() < 0.7:  # now it is at work
            run.stdin.write(while_lost)
            run.stdin.flush()
            while_lost = ""
        time.sleep(rng.choice([0.01, 0.1, 0.3]) * rng.random())
        victims = rng.sample(children(run.pid), 2 if workers > 2 and
                             rng.random() < 0.3 else 1)
        for victim in victims:
            os.kill(victim, rng.choice([signal.SIGKILL, signal.SIGSTOP]))
        try:
            talk = run.communicate(while_lost + after, timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            run.kill()
            return f"it runs on after {LIMIT} s"
        out.seek(0)
        problem = wrong(out.read(), whole, run.returncode)
        return problem and f"{workers} workers: {problem}\n{talk[:600]}"


def main():
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    for seed in range(first, first + count):
        problem = trial(seed)
        if problem:
            failed += 1
            print(f"FAILED loss {seed}: {problem}")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

#!/usr/bin/env python3
"""Checks that memory is bounded: compares each program at ten thousand lines
and at many more.

usage: memory.py [LINES]          (10000000)
"""
import subprocess
import sys
import tempfile
import threading
from functools import partial

FEW = 10_000
FILLED = 100_000  # so many lines fill the tables of recent text
ALLOWED = 1.1
LAST = b"all.done"  # the last print, whose name nothing else has

ADDS = "x = ones f32[4,4]\n", "x = add x 1\nx = mul x 0.5\n"
# This is a product, since a value made of constants alone is written where it
# is read.
FREES = ("w = ones f32[4,4]\nx = matmul w w\n",
         "a = mul x 2\nb = add a a\nfree a b\n")
TRAINING = ("w = ones f32[4,2]\nx = randn f32[8,4] 1\n",
            "h = matmul x w\nl = mse h 0.5\ng = grad l w\nw = sgd w g 0.1\n")
AGAIN = (TRAINING[0], "h = matmul x w #recompute\nh = tanh h #recompute\n"
         "l = mse h 0.5\nfree h\ng = grad l w\nw = sgd w g 0.1\n")
# Each value is made of the one before, and its history is never used.
ENDLESS = "w = ones f32[4]\nx = mul w 2\n", "x = tanh x #recompute\n"
DETACHED = (TRAINING[0] + "total = tensor f32[] 0\n",
            "h = matmul x w\nl = mse h 0.5\nd = detach l\n"
            "total = add total d\n")
SEEDS = FREES[0], "d = rand f32[4,4]\nw = mul x d\n"


def fresh(lines, at="", cut=""):
    """Text that never comes twice, as names and numbers differ each time."""
    yield f"x{at} = ones f32[2]{cut}\n"
    for i in range(lines // 2):
        yield f"n{i}{at} = add x{at} {i}.25\nfree n{i}{at}\n"


def fresh_placed(lines):
    yield "mesh tp=2\n"
    yield from fresh(lines, "@0-1", " split=tp:0")


def high_water(pid):
    """The most KiB that a process took so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    raise SystemExit("no VmHWM in /proc: is this Linux?")


def drain(stream, until, seen):
    """Reads until the text comes, sets the event, and goes on reading."""
    tail = b""
    while chunk := stream.read1(1 << 20):
        tail = tail[-len(until):] + chunk
        if until in tail:
            seen.set()
    seen.set()


def peak_of(command, chunks, last):
    """The most memory that a program took when it has done all the lines."""
    seen = threading.Event()
    with subprocess.Popen(command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        reader = threading.Thread(
            target=drain, args=(process.stdout, LAST, seen))
        reader.start()
        for chunk in chunks:
            process.stdin.write(chunk.encode())
        # A line that has this word comes through filters and out of gt-work.
        process.stdin.write(last.encode() + b" as=" + LAST + b"\n")
        process.stdin.flush()
        seen.wait(3000)
        peak = high_water(process.pid)
        process.stdin.write(b"#end 0\n")
        process.stdin.close()
        reader.join()
    if process.returncode != 0:
        raise SystemExit(f"{command} exits {process.returncode}")
    return peak


def rounds(head, body, lines):
    """head, and then body repeated to about that many lines."""
    count = max(1, lines // body.count("\n"))
    step = max(1, 2000 // body.count("\n"))
    yield head
    for _ in range(count // step):
        yield body * step


def stream_of(command, text):
    done = subprocess.run(command, input=text, text=True, capture_output=True,
                          check=True)
    return done.stdout.splitlines(keepends=True)[1:-1]


def made_of(command, head, body):
    """What a filter writes for a loop: its beginning, and one round."""
    three = stream_of(command, head + body * 3 + "#end 0\n")
    four = stream_of(command, head + body * 4 + "#end 0\n")
    step = len(four) - len(three)
    first = len(four) - 2 * step
    if step == 0:
        raise SystemExit(f"{command} writes nothing of this loop: {body}")
    if four[first:first + step] != four[first + step:]:
        raise SystemExit(f"the rounds of this loop differ: {body}")
    return "#gt 1\n" + "".join(four[:first]), "".join(four[-step:])


def check(failed, name, command, source, many, start=FEW, last="print x"):
    few = peak_of(command, source(start), last)
    lot = peak_of(command, source(many), last)
    print(f"{name}: {few} KiB at {start} lines, {lot} KiB at {many}")
    if lot > ALLOWED * few:
        failed.append(name)
        print(f"FAILED {name}: {lot / few:.2f} times as much")
    return 1


def placed(failed, name, stream, many):
    """Checks gt-shard over a stream and gt-check over its output; without a
    stream, over lines that never come twice."""
    head = "\nx = " if stream is None else stream[0]
    cut = [f"{n}: {{shard: {{tp: 0}}}}" for n in "wx" if f"\n{n} = " in head]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(f"mesh: {{tp: 2}}\ntensors: {{{', '.join(cut)}}}\n")
        config.flush()
        shard = ["gt-shard", "-c", config.name]
        plain, typed, start = fresh, fresh_placed, FILLED
        if stream is not None:
            loop = made_of(shard, *stream)
            plain, typed = partial(rounds, *stream), partial(rounds, *loop)
            start = FEW
        count = check(failed, f"gt-shard: {name}", shard, plain, many, start)
        return count + check(failed, f"gt-check: {name}", ["gt-check"], typed,
                             many, start, "print x@0-1 split=tp:0")


def main(lines="10000000"):
    many = int(lines)
    failed, count = [], 0
    loops = {"adds": ADDS, "frees": FREES, "training": TRAINING,
             "computed again": AGAIN, "a running sum": DETACHED, "seeds": SEEDS}
    for name, loop in loops.items():
        for command in (["gt-emit"], ["gt-emit", "--no-replay"]):
            count += check(failed, f"{' '.join(command)}: {name}", command,
                           lambda n, loop=loop: rounds(*loop, n), many)
        stream = made_of(["gt-emit", "--no-replay"], *loop)
        for backend in ("ref", "cpu"):
            count += check(
                failed, f"gt-work {backend}: {name}",
                ["gt-work", "--backend", backend, "--threads", "1"],
                lambda n, s=stream: rounds(*s, n), many)
        count += placed(failed, name, stream, many)
    count += check(failed, "gt-emit: an endless region",
                   ["gt-emit", "--history", "1000"],
                   lambda n: rounds(*ENDLESS, n), many, FILLED)
    for command in (["gt-emit"], ["gt-work", "--backend", "ref"]):
        count += check(failed, f"{command[0]}: lines never seen before",
                       command, fresh, many, FILLED)
    count += placed(failed, "lines never seen before", None, many)
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""Memory is bounded: each program at ten thousand lines and at many more.

usage: memory.py [LINES]          (10000000)
"""
import subprocess
import sys
import threading

FEW = 10_000
FILLED = 100_000  # lines that fill the tables of what was seen lately
ALLOWED = 1.1

ADDS = "x = ones f32[4,4]\n", "x = add x 1\nx = mul x 0.5\n"
FREES = "w = ones f32[4]\nx = copy w\n", "a = mul w 2\nb = add a a\nfree a b\n"
TRAINING = ("w = ones f32[4,2]\nx = randn f32[8,4] 1\n",
            "h = matmul x w\nl = mse h 0.5\ng = grad l w\nw = sgd w g 0.1\n")
DETACHED = (TRAINING[0] + "total = tensor f32[] 0\n",
            "h = matmul x w\nl = mse h 0.5\nd = detach l\n"
            "total = add total d\n")
SEEDS = "w = ones f32[4]\nx = copy w\n", "d = rand f32[4]\nw = mul w d\n"


def fresh(lines):
    """Text that never comes twice: other names and numbers each time."""
    yield "x = ones f32[2]\n"
    for i in range(lines // 2):
        yield f"n{i} = add x {i}.25\nfree n{i}\n"


def high_water(pid):
    """KiB that a process took at most, so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    raise SystemExit("no VmHWM in /proc: is this Linux?")


def drain(stream, until, seen):
    """Reads until the text comes by, then sets the event, and goes on."""
    tail = b""
    while chunk := stream.read1(1 << 20):
        tail = tail[-len(until):] + chunk
        if until in tail:
            seen.set()
    seen.set()


def peak_of(command, chunks):
    """What a program took at most once it has done all that chunks ask."""
    seen = threading.Event()
    with subprocess.Popen(command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        reader = threading.Thread(
            target=drain, args=(process.stdout, b"over", seen))
        reader.start()
        for chunk in chunks:
            process.stdin.write(chunk.encode())
        # Through gt-emit, and out of gt-work, comes what holds the word.
        process.stdin.write(b"print x as=over\n")
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
    """head, then body as often as makes about so many lines."""
    count = max(1, lines // body.count("\n"))
    step = max(1, 2000 // body.count("\n"))
    yield head
    for _ in range(count // step):
        yield body * step


def stream_of(program):
    done = subprocess.run(["gt-emit", "--no-replay"], input=program, text=True,
                          capture_output=True, check=True)
    return done.stdout.splitlines(keepends=True)[1:-1]


def emitted(head, body):
    """The stream of a loop: what comes first, and what a round becomes."""
    three, four = stream_of(head + body * 3), stream_of(head + body * 4)
    step = len(four) - len(three)
    first = len(four) - 2 * step
    if four[first:first + step] != four[first + step:]:
        raise SystemExit(f"the rounds of this loop differ: {body}")
    return "#gt 1\n" + "".join(four[:first]), "".join(four[-step:])


def check(failed, name, command, source, many, start=FEW):
    few = peak_of(command, source(start))
    lot = peak_of(command, source(many))
    print(f"{name}: {few} KiB at {start} lines, {lot} KiB at {many}")
    if lot > ALLOWED * few:
        failed.append(name)
        print(f"FAILED {name}: {lot / few:.2f} times as much")
    return 1


def main(lines="10000000"):
    many = int(lines)
    failed, count = [], 0
    loops = {"adds": ADDS, "frees": FREES, "training": TRAINING,
             "a running sum": DETACHED, "seeds": SEEDS}
    for name, loop in loops.items():
        for command in (["gt-emit"], ["gt-emit", "--no-replay"]):
            count += check(failed, f"{' '.join(command)}: {name}", command,
                           lambda n, loop=loop: rounds(*loop, n), many)
        stream = emitted(*loop)
        for backend in ("ref", "cpu"):
            count += check(
                failed, f"gt-work {backend}: {name}",
                ["gt-work", "--backend", backend, "--threads", "1"],
                lambda n, s=stream: rounds(*s, n), many)
    for command in (["gt-emit"], ["gt-work", "--backend", "ref"]):
        count += check(failed, f"{command[0]}: lines never seen before",
                       command, fresh, many, FILLED)
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

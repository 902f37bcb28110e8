"""What rows of scripts/bench are measured with."""

import os
import statistics
import subprocess
import sys
import time

BIN = os.environ["GT_BIN"]
EMIT = os.path.join(BIN, "gt-emit")
LOG = os.path.join(BIN, "gt-log")
WORK = os.path.join(BIN, "gt-work")
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")


def run(command, **kwargs):
    return subprocess.run(command, check=True, **kwargs)


def seconds(command, **kwargs):
    start = time.perf_counter()
    run(command, **kwargs)
    return time.perf_counter() - start


def shell_seconds(command):
    return seconds(["bash", "-c", "set -o pipefail; " + command])


def count_lines(path):
    return int(run(["wc", "-l", path], stdout=subprocess.PIPE,
                   text=True).stdout.split()[0])


def against_mawk(report, name, command, path, must, aim):
    """Lines of that file a second, as the command needs for them, beside mawk's
    that counts their words."""
    shell_seconds(command)  # it can, and the file is there
    lines = count_lines(path)

    def measure():
        ours = lines / shell_seconds(command)
        theirs = lines / shell_seconds(
            "mawk '{c[$3]++} END {print NR}' " + path + " > /dev/null")
        return ours, theirs, ours / theirs

    report.pair(name, measure, must, aim)


def peer_values(*args):
    """What tests/bench/peer.py prints."""
    out = run([os.environ["GT_BENCH_PYTHON"], PEER, *map(str, args)],
              stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in out.split()]


def peer(*args):
    """Seconds per step of PyTorch, as tests/bench/peer.py measures them."""
    return peer_values(*args)[-1]


def same(ours, theirs, tolerance, what):
    """A ratio is void where the outputs differ."""
    assert len(ours) == len(theirs) and all(
        abs(a - b) <= tolerance * abs(b) for a, b in zip(ours, theirs)), (
            what, ours, theirs)


class Report:
    def __init__(self, rounds):
        self.rounds = rounds
        self.missed = 0

    def pair(self, name, measure, must, aim, less=False):
        """measure() gives (ours, the peer's, their ratio)."""
        results = [measure() for _ in range(self.rounds)]
        ratios = sorted(r[2] for r in results)
        median = statistics.median(ratios)
        ours = statistics.median(r[0] for r in results)
        theirs = statistics.median(r[1] for r in results)
        good = median <= must if less else median >= must
        aimed = median <= aim if less else median >= aim
        self.missed += not good
        sign = "<=" if less else ">="
        word = "aim" if aimed else "ok" if good else "MISSED"
        print(f"{name:34} {ours:12.5g} {theirs:12.5g} {median:8.3f} "
              f"[{ratios[0]:.3f}, {ratios[-1]:.3f}]  must {sign} {must} "
              f"aim {sign} {aim}: {word}", flush=True)


def per_step(init, step, threads, few, many, emitted=str):
    """Seconds of one step: the difference of a long and a short run. `emitted`
    makes of a program what gt-work runs."""

    def total(rounds):
        text = emitted(init + step * rounds + "print probe\n")
        return seconds([WORK, "--threads", str(threads)], input=text,
                       text=True, stdout=subprocess.DEVNULL)

    return (total(few + many) - total(few)) / many


# A process that execs keeps the peak of what it was, so the command's parent is
# as small as Python gets.
SMALL_PARENT = """
import os, resource, sys
status = os.spawnlp(os.P_WAIT, "bash", "bash", "-c", sys.argv[1])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status != 0)
"""


def peak_kib(command):
    """Peak resident size of the largest process of a command without output,
    in KiB."""
    return int(run([sys.executable, "-IS", "-c", SMALL_PARENT, command],
                   stdout=subprocess.PIPE, text=True).stdout)


def printed_steps(command, steps):
    """What a command printed at each step, seconds of a step (the median, the
    first three apart), and its last line."""
    process = subprocess.Popen(["bash", "-c", "set -o pipefail; " + command],
                               stdout=subprocess.PIPE, text=True)
    lines, times = [], []
    for line in process.stdout:
        lines.append(line)
        times.append(time.perf_counter())
    assert process.wait() == 0, command
    took = [b - a for a, b in zip(times[2:], times[3:steps])]
    values = [float(line.split()[4]) for line in lines[:steps]]
    return values, statistics.median(took), lines[-1]

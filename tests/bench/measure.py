"""What rows of scripts/bench are measured with."""

import importlib
import importlib.util
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

BIN = os.environ["GT_BIN"]
EMIT = os.path.join(BIN, "gt-emit")
LOG = os.path.join(BIN, "gt-log")
WORK = os.path.join(BIN, "gt-work")
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")


class Missing(Exception):
    """What a row is measured with is not installed: the row is skipped."""


class Untrue(Exception):
    """A figure that cannot be one of the work that was to be timed."""


class Absent:
    """Stands for a module that is not installed, until a row uses it."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, _):
        raise Missing(f"{sys.executable} has no module {self.name}")


def optional(name):
    """The module, or what skips the rows that use it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Absent(name)


def need_module(name):
    """scripts/bench runs this by the Python that has the peers."""
    if importlib.util.find_spec(name) is None:
        raise Missing(f"{sys.executable} has no module {name}")


def need_command(name):
    if shutil.which(name) is None:
        raise Missing(f"there is no command {name}")


def need_file(path, what):
    if not os.path.exists(path):
        raise Missing(f"{path} is missing: {what}")


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
    need_command("mawk")
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
    need_module("torch")
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


# A median that is so many times better than the aim is of work that was left
# out, or of results that came all at once, and of nothing that was measured.
BEYOND = 100


class Report:
    def __init__(self, rounds):
        self.rounds = rounds
        self.missed = 0

    def skip(self, name, why):
        print(f"{name:34} skipped: {why}", flush=True)

    def fail(self, name, why):
        self.missed += 1
        print(f"{name:34} FAILED: {why}", flush=True)

    def pair(self, name, measure, must, aim, less=False, beyond=BEYOND):
        """measure() gives (ours, the peer's, their ratio). Returns the median
        of the ratios."""
        results = [measure() for _ in range(self.rounds)]
        ratios = sorted(r[2] for r in results)
        median = statistics.median(ratios)
        ours = statistics.median(r[0] for r in results)
        theirs = statistics.median(r[1] for r in results)
        best = aim / beyond if less else aim * beyond
        is_true = math.isfinite(median) and (
            best <= median if less else 0 < median <= best)
        good = is_true and (median <= must if less else median >= must)
        aimed = median <= aim if less else median >= aim
        self.missed += not good
        sign = "<=" if less else ">="
        word = ("FAILED, this cannot be true" if not is_true else "aim"
                if aimed and good else "ok" if good else "MISSED")
        print(f"{name:34} {ours:12.5g} {theirs:12.5g} {median:8.3f} "
              f"[{ratios[0]:.3f}, {ratios[-1]:.3f}]  must {sign} {must} "
              f"aim {sign} {aim}: {word}", flush=True)
        return median


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
    first three apart), and its last line. Error: the results came in bunches, so
    that the time between two of them tells nothing of a step."""
    process = subprocess.Popen(["bash", "-c", "set -o pipefail; " + command],
                               stdout=subprocess.PIPE, text=True)
    lines, times = [], []
    for line in process.stdout:
        lines.append(line)
        times.append(time.perf_counter())
    assert process.wait() == 0, command
    took = [b - a for a, b in zip(times[2:], times[3:steps])]
    step = statistics.median(took)
    if step < statistics.mean(took) / 5:
        raise Untrue("the results of several steps came at once")
    values = [float(line.split()[4]) for line in lines[:steps]]
    return values, step, lines[-1]

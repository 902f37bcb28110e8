"""Ratios of gt to its peers, measured in turns. Run by scripts/bench."""

import argparse
import functools
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

import clients
import compiled
import cpp
import elementary
import many
import networks
import ops
import sharding
import watching
from measure import (EMIT, LOG, WORK, Missing, Report, against_mawk,
                     count_lines, peak_kib, peer, per_step, run, shell_seconds)


def emit_against_mawk(report, name, path, out, must, aim):
    against_mawk(report, name, f"{EMIT} < {path} > {out} 2>/dev/null", out,
                 must, aim)


def emit_loop(report, folder):
    path, out = folder + "/loop.gt", folder + "/loop.out"
    step = [line for line in open("examples/digits.gt")
            if not line.startswith("#")]
    with open(path, "w") as f:
        f.write(open("examples/digits-init.gt").read())
        f.writelines(step * 100_000)
    emit_against_mawk(report, "gt-emit digits loop, lines/s : mawk", path, out,
                      1, 3)


def emit_new(report, folder):
    path, out = folder + "/new.gt", folder + "/new.out"
    with open(path, "w") as f:
        f.write("x0 = randn f32[4,4] 1\ny = randn f32[4,4] 2\n")
        for i in range(1, 1_000_001):
            f.write(f"x{i} = add x{i - 1} y\n")
            if i > 8:
                f.write(f"free x{i - 8}\n")
    emit_against_mawk(report, "gt-emit unseen lines/s : mawk", path, out, 0.2,
                      0.5)


def emit_placed(report, folder):
    """Lines with ranks, of names never seen, beside the same without ranks."""
    paths = []
    for at in "", "@0-1":
        paths.append(f"{folder}/new{at}.gt")
        with open(paths[-1], "w") as f:
            f.write(f"mesh tp=2\nx0{at} = randn f32[4,4] 1\n"
                    f"y{at} = randn f32[4,4] 2\n")
            for i in range(1, 300_001):
                f.write(f"x{i}{at} = add x{i - 1}{at} y{at}\n")
                if i > 8:
                    f.write(f"free x{i - 8}{at}\n")

    def measure():
        unplaced, placed = (shell_seconds(f"{EMIT} < '{path}' > {folder}/out")
                            for path in paths)
        return placed, unplaced, placed / unplaced

    report.pair("gt-emit placed : unplaced lines, s", measure, 3, 1.5, True)


def chain(report, folder):
    path, out = folder + "/chain.gt", folder + "/chain.out"
    ops = 1_000_000
    many.chain_program(path, ops)

    def measure():
        ours = shell_seconds(
            f"{EMIT} < {path} 2>/dev/null | {WORK} > {out}") / ops
        values = [float(line.split()[4]) for line in open(out)]
        assert values == [1000 * (i + 1) for i in range(ops // 1000)]
        theirs = peer("chain", 200_000)
        return ours, theirs, ours / theirs

    report.pair("chained 4x4 adds, s/op : PyTorch", measure, 0.5, 0.15, True)


def matmul(report, folder):
    del folder
    for threads in 1, 2:
        for n in 256, 512, 1024, 2048, 4096:
            init = (f"a = randn f32[{n},{n}] 1\nb = randn f32[{n},{n}] 2\n"
                    "probe = tensor f32[] 0\n")
            step = "c = matmul a b\n"
            rounds = max(2, min(2000, int(4e10 / (2 * n ** 3))))

            def measure(n=n, threads=threads, init=init, step=step,
                        rounds=rounds):
                flops = 2 * n ** 3
                ours = flops / per_step(init, step, threads, 3, rounds) / 1e9
                theirs = flops / peer("matmul", n, threads, rounds) / 1e9
                return ours, theirs, ours / theirs

            report.pair(f"matmul {n} f32, {threads} thr, GFLOP/s : PyTorch",
                        measure, 0.95, 1)


MLP_INIT = """x = randn f32[128,784] 1
t = zeros i64[128]
w1 = randn f32[784,256] 2 scale=0.05
b1 = zeros f32[256]
w2 = randn f32[256,10] 3 scale=0.05
b2 = zeros f32[10]
probe = tensor f32[] 0
"""
MLP_STEP = """h = linear x w1 b1
h = relu h
o = linear h w2 b2
l = cross_entropy o t
g1 g2 g3 g4 = grad l w1 b1 w2 b2
w1 = sgd w1 g1 0.01
b1 = sgd b1 g2 0.01
w2 = sgd w2 g3 0.01
b2 = sgd b2 g4 0.01
"""


def mlp(report, folder):
    del folder

    def emitted(rounds):
        return MLP_INIT + MLP_STEP * rounds + "print l\n"

    def total(rounds, threads):
        emit = subprocess.Popen([EMIT, "--no-at"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        start = time.perf_counter()
        work = subprocess.Popen([WORK, "--threads", str(threads)],
                                stdin=emit.stdout, stdout=subprocess.PIPE)
        emit.stdout.close()
        emit.stdin.write(emitted(rounds).encode())
        emit.stdin.close()
        out = work.communicate()[0].decode()
        assert emit.wait() == 0 and work.returncode == 0
        assert re.match(r"l = tensor f32\[\] [0-9]", out), out
        return time.perf_counter() - start

    for threads in 1, 2:

        def measure(threads=threads):
            ours = (total(1050, threads) - total(50, threads)) / 1000
            theirs = peer("mlp", threads, 500)
            return ours, theirs, theirs / ours

        report.pair(f"MLP step, {threads} thr, PyTorch s : ours", measure, 1,
                    1.5)


def memory(report, folder):
    step = "".join(line for line in open("examples/digits.gt")
                   if not line.startswith("#"))
    lines = step.count("\n")
    open(folder + "/step.gt", "w").write(step)

    def peak(program, total):
        rounds = total // lines
        repeat = f"examples/digits-init.gt --repeat {rounds} {folder}/step.gt"
        if program == "emit":
            return peak_kib(f"exec {EMIT} {repeat} >/dev/null")
        return peak_kib(f"exec {WORK} --backend null < "
                        f"<({EMIT} {repeat}) >/dev/null")

    for program in "emit", "work":

        def measure(program=program):
            few, many = peak(program, 10_000), peak(program, 10_000_000)
            return many, few, many / few

        report.pair(f"gt-{program} KiB at 10M lines : at 10k", measure, 1.1, 1,
                    True)


def trace(report, folder):
    """The MLP's steps, small ones, with and without --trace."""
    program = f"{folder}/trace.gt"
    out = run([EMIT, "--no-at"], input=MLP_INIT + MLP_STEP * 1000 + "print l\n",
              stdout=subprocess.PIPE, text=True).stdout
    open(program, "w").write(out)

    def total(options):
        return shell_seconds(f"{WORK} --threads 1 {options} {program} "
                             ">/dev/null")

    def measure():
        on, off = total(f"--trace {folder}/trace"), total("")
        return on, off, on / off

    report.pair("MLP steps with --trace, s : without", measure, 1.03, 1.01,
                True)


def log(report, folder):
    """gt-log -o beside tee, both to a file and to nowhere."""
    stream, copy = folder + "/log.gt", folder + "/log.out"
    steps = "".join(line for line in open("examples/digits.gt")
                    if not line.startswith("#"))
    open(folder + "/log.in", "w").write(
        open("examples/digits-init.gt").read() + steps * 50_000)
    shell_seconds(f"{EMIT} --no-at < {folder}/log.in > {stream} 2>/dev/null")
    lines = count_lines(stream)
    shell_seconds(f"{LOG} -o {folder}/log {stream} | cmp - {stream}")

    def measure():
        ours = lines / shell_seconds(
            f"{LOG} -o {folder}/log < {stream} >/dev/null")
        theirs = lines / shell_seconds(f"tee {copy} < {stream} >/dev/null")
        return ours, theirs, ours / theirs

    report.pair("gt-log -o, lines/s : tee", measure, 0.3, 0.8)


BENCHES = {"emit-loop": emit_loop, "emit-new": emit_new,
           "emit-placed": emit_placed, "chain": chain,
           "elementary": elementary.elementary, **ops.BENCHES,
           "matmul": matmul, "mlp": mlp, "memory": memory,
           "transformer": networks.transformer,
           "transformer-memory": networks.transformer_memory,
           "recompute": networks.recompute,
           "attention": networks.attention,
           "attention-memory": networks.attention_memory, "trace": trace,
           "log": log, **compiled.BENCHES, **many.BENCHES,
           "watched": watching.watched, **clients.BENCHES,
           **sharding.BENCHES, **cpp.BENCHES}


VERSION = """
try:
    import torch
    print(torch.__version__)
except ImportError:
    print("is not installed")
"""


def run_row(report, name, bench):
    """A row that cannot be measured says why, and those after it are run."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench(report, folder)
    except Missing as missing:
        report.skip(name, missing)
    except Exception as error:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        report.fail(name, f"{type(error).__name__}: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=7)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    for name in args.names:
        if name.split("=")[0] not in BENCHES:
            parser.error(f"there is no row {name}: {' '.join(BENCHES)}")
    version = run([os.environ["GT_BENCH_PYTHON"], "-c",
                   VERSION],
                  stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"PyTorch {version}; {os.cpu_count()} cores; {args.n} rounds; "
          "columns: ours, theirs, ratio [least, greatest]")
    report = Report(args.n)
    for name in args.names or BENCHES:
        row, _, part = name.partition("=")
        run_row(report, name, functools.partial(BENCHES[row], only=part)
                if part else BENCHES[row])
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())

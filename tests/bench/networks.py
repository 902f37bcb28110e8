"""Rows of scripts/bench: a transformer, and attention alone."""

import os
import re
import subprocess
import sys
import time

import transformer as model
from measure import (EMIT, PEER, WORK, need_module, optional, peak_kib,
                     peer_values, per_step, printed_steps, run, same)

numpy = optional("numpy")


def torch_transformer(*args):
    """PyTorch's side of transformer.py, as a command."""
    need_module("torch")
    python = os.environ["GT_BENCH_PYTHON"]
    script = os.path.join(os.path.dirname(PEER), "torch_transformer.py")
    return " ".join(map(str, (python, script, *args)))


def transformer_commands(folder, batch):
    """Ours and PyTorch's of so many steps, as functions of threads."""
    model.write(folder, batch)

    def ours(threads, steps):
        return (f"{EMIT} --no-at {folder}/init.gt --repeat {steps} "
                f"{folder}/step.gt | {WORK} --threads {threads}")

    def theirs(threads, steps):
        return torch_transformer(folder, threads, steps)

    return ours, theirs


def transformer(report, folder):
    ours_of, theirs_of = transformer_commands(folder, 8)
    steps = 13
    for threads in 1, 2:

        def measure(threads=threads):
            values, ours, _ = printed_steps(ours_of(threads, steps), steps)
            peers, theirs, _ = printed_steps(theirs_of(threads, steps), steps)
            same(values, peers, 1e-3, "losses")
            return ours, theirs, theirs / ours

        report.pair(f"transformer step, {threads} thr, PyTorch s : ours",
                    measure, 1, 1.5)


def transformer_memory(report, folder):
    ours_of, theirs_of = transformer_commands(folder, 64)
    steps = 5
    empty = f"{EMIT} -e 'x = zeros f32[]' | {WORK} --threads 1 >/dev/null"

    def measure():
        _, _, last = printed_steps(theirs_of(1, steps), steps)
        ours = peak_kib(ours_of(1, steps) + " >/dev/null") - peak_kib(empty)
        return ours, float(last), ours / float(last)

    report.pair("transformer KiB, batch 64 : PyTorch", measure, 1, 0.7, True)


def recompute(report, folder):
    """Training whose layers are computed again in the backward, beside training
    that keeps what they made: bytes and seconds of one run."""
    random = numpy.random.default_rng(1)
    numpy.save(f"{folder}/text.npy",
               random.integers(0, 128, 50_000).astype("uint8"))
    streams = [f"{folder}/{again}.s" for again in (0, 1)]
    for again, stream in enumerate(streams):
        run(["bash", "-c",
             f"examples/transformer text={folder}/text.npy length=50000 held=4097 "
             "batch=16 context=256 layers=8 steps=4 rounds=1 sample=0 "
             f"recompute={again} | {EMIT} --no-at > {stream}"])

    def work(stream):
        begin = time.perf_counter()
        done = run([WORK, "-v", stream], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - begin
        said = re.search(r"(\d+) bytes at most", done.stderr)
        return done.stdout, int(said[1]), seconds

    def measure(at):
        kept, again = work(streams[0]), work(streams[1])
        if kept[0] != again[0]:
            sys.exit("recompute: the losses differ")
        return again[at], kept[at], again[at] / kept[at]

    report.pair("#recompute of 8 layers, bytes : kept",
                lambda: measure(1), 0.5, 0.32, True)
    report.pair("#recompute of 8 layers, seconds : kept",
                lambda: measure(2), 1.35, 1.25, True)


ATTENTION = {
    "forward": "o s = attention q k v causal=1 heads=8\n",
    "backward":
        "gq gk gv = attention_grad q k v o s g causal=1 heads=8\n",
}


def attention(report, folder):
    random = numpy.random.default_rng(1)
    for name in "qkvg":
        numpy.save(f"{folder}/{name}.npy", random.standard_normal(
            (1, 2048, 8 * 64), "float32"))
    init = "".join(f'{name} = load "{folder}/{name}.npy" f32[1,2048,512]\n'
                   for name in "qkvg") + "probe = tensor f32[] 0\n"
    rounds = 10

    def norms():
        text = init + "".join(ATTENTION.values())
        for name in "o", "gq", "gk", "gv":
            text += f"n = norm {name}\nprint n\n"
        out = run([WORK], input=text, stdout=subprocess.PIPE, text=True).stdout
        return [float(line.split()[4]) for line in out.splitlines()]

    for threads in 1, 2:

        for way, line in ATTENTION.items():

            def measure(threads=threads, way=way, line=line):
                start = init + ATTENTION["forward"]
                ours = per_step(start, line, threads, 2, rounds)
                *values, ahead, back = peer_values("attention", folder,
                                                   threads, rounds)
                same(norms(), values, 1e-3, "norms")
                theirs = ahead if way == "forward" else back
                return ours, theirs, theirs / ours

            report.pair(f"attention 2048 {way}, {threads} thr, PyTorch : ours",
                        measure, 0.8, 1.2)


def attention_memory(report, folder):
    del folder

    def peak(tokens):
        names = f"f32[1,{tokens},512] 1\n"
        text = "".join(f"{name} = randn {names}" for name in "qkvg")
        text += "".join(ATTENTION.values())
        return peak_kib(f"{WORK} --threads 1 <<'END' >/dev/null\n{text}END")

    def measure():
        empty = peak(0)
        few, many = ((peak(n) - empty) / n for n in (2048, 8192))
        return many, few, many / few

    report.pair("attention KiB/token at 8192 : at 2048", measure, 1.1, 1, True)

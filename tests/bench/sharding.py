"""Rows of scripts/bench about gt-shard and gt-check: lines a second, memory,
what JAX takes to place a training step, and steps on two workers beside
PyTorch's on two processes, which exchange by gloo.
"""

import os
import re
import statistics
import subprocess

import gpt2
import transformer
from measure import (BIN, EMIT, LOG, WORK, against_mawk, need_module, peak_kib,
                     printed_steps, run, same, shell_seconds)
from networks import torch_transformer

SHARD = os.path.join(BIN, "gt-shard")
CHECK = os.path.join(BIN, "gt-check")
ROUTE = os.path.join(BIN, "gt-route")


def config(name):
    return f"{SHARD} -c configs/{name}.yaml"


def digits(folder):
    """The digits' program: its beginning, and a step of training."""
    step = folder + "/digits-step.gt"
    with open("examples/digits.gt") as lines, open(step, "w") as out:
        out.writelines(line for line in lines if not line.startswith("#"))
    return "examples/digits-init.gt", step


def stream(folder, steps):
    """Of training the digits, as gt-emit writes it."""
    init, step = digits(folder)
    path = folder + "/digits.s"
    shell_seconds(f"{EMIT} --no-at {init} --repeat {steps} {step} > {path}")
    return path


def shard_lines(report, folder):
    path = stream(folder, 20_000)
    for name in "data-parallel", "tensor-parallel":
        against_mawk(report, f"gt-shard {name}, lines/s : mawk",
                     f"{config(name)} 2>/dev/null < {path} > /dev/null", path,
                     0.5, 3)


def check_lines(report, folder):
    path, placed = stream(folder, 20_000), folder + "/placed.s"
    for name in "data-parallel", "tensor-parallel":
        shell_seconds(f"{config(name)} {path} > {placed} 2>/dev/null")
        against_mawk(report, f"gt-check {name}, lines/s : mawk",
                     f"{CHECK} < {placed} > /dev/null", placed, 0.2, 1)


def jax(report, folder):
    """gt-shard's time to its last line, beside JAX's lowering and compiling, with
    blocks written out and as a scan. gt-emit, which writes the gradients, takes
    about as long and runs beside it where there is a second core."""
    python = os.environ["GT_BENCH_PYTHON"]
    need_module("jax")
    with open(folder + "/gpt2.gt", "w") as out:
        out.write(gpt2.program())
    with open(folder + "/gpt2.yaml", "w") as out:
        out.write(gpt2.CONFIG)
    placed = (f"{SHARD} -c {folder}/gpt2.yaml {folder}/gpt2.emitted "
              f"> {folder}/gpt2.s")
    shell_seconds(f"{EMIT} --no-at {folder}/gpt2.gt > {folder}/gpt2.emitted; "
                  + placed)
    shell_seconds(f"{CHECK} -q {folder}/gpt2.s")
    for way in "unrolled", "scan":

        def measure(way=way):
            theirs = float(run([python, gpt2.__file__, way], text=True,
                               stdout=subprocess.PIPE).stdout)
            ours = statistics.median(shell_seconds(placed) for _ in range(5))
            return ours, theirs, theirs / ours

        report.pair(f"GPT-2 for 8 ranks, JAX {way}, s : ours", measure, 100,
                    10_000)


def memory(report, folder):
    init, step = digits(folder)
    one = int(run(["bash", "-c", f"{EMIT} --no-at {init} --repeat 3 {step} | "
                   "wc -l"], stdout=subprocess.PIPE, text=True).stdout) // 3
    shard = f"{config('data-parallel')} 2>/dev/null"

    def peak(program, lines):
        emitted = f"{EMIT} --no-at {init} --repeat {lines // one} {step}"
        if program == "shard":
            return peak_kib(f"exec {shard} < <({emitted}) >/dev/null")
        return peak_kib(f"exec {CHECK} < <({emitted} | {shard}) >/dev/null")

    for program in "shard", "check":

        def measure(program=program):
            few, many = peak(program, 10_000), peak(program, 10_000_000)
            return many, few, many / few

        report.pair(f"gt-{program} KiB at 10M lines : at 10k", measure, 1.1, 1,
                    True)


def beside_torch(report, folder, name, way, must, aim):
    """Losses are those of PyTorch's two processes, or the row is void."""
    transformer.write(folder, 8)
    steps = 13
    ours_of = (f"{EMIT} --no-at {folder}/init.gt --repeat {steps} "
               f"{folder}/step.gt | {config(name)} 2>/dev/null | "
               f"{ROUTE} -n 2 --threads 1")

    def measure():
        values, ours, _ = printed_steps(ours_of, steps)
        peers, theirs, _ = printed_steps(
            torch_transformer(folder, 1, steps, way), steps)
        same(values, peers, 1e-3, "losses")
        return ours, theirs, theirs / ours

    report.pair(f"{name} transformer step, gloo s : ours", measure, must, aim)


def ddp(report, folder):
    beside_torch(report, folder, "data-parallel", "data", 1, 1.5)


def tensor(report, folder):
    beside_torch(report, folder, "tensor-parallel", "tensor", 1, 3)


def pipeline(report, folder):
    """A step of two stages on two workers, whose microbatches go through one
    after the other as in the program, and by a schedule. Two workers that never
    wait would take half the time, 1f1b of 8 microbatches 27 of 48 parts of it."""
    size, count, steps = 640, 8, 12
    init = [f"x = randn f32[{size * count},{size}] 1 #signal=first"]
    init += [f"w{i} = randn f32[{size},{size}] {i} scale=0.04 #signal={stage}"
             for i, stage in enumerate(("first", "second"))]
    step = ["g0 = zeros f32[%d,%d] #signal=first" % (size, size),
            "g1 = zeros f32[%d,%d] #signal=second" % (size, size)]
    for i in range(count):
        step += [f"{line} #mb={i}" for line in (
            f"h = slice x {i * size} axis=0 size={size} #signal=first",
            "h = linear h w0 #signal=first", "h = tanh h #signal=first",
            "h = linear h w1 #signal=second", "h = tanh h #signal=second",
            "l = sum h #signal=second", "d0 d1 = grad l w0 w1",
            "g0 = add g0 d0 #signal=first", "g1 = add g1 d1 #signal=second")]
    step += ["w0 = sgd w0 g0 1e-6", "w1 = sgd w1 g1 1e-6", "print l"]
    for name, lines in ("init", init), ("step", step):
        with open(f"{folder}/{name}.gt", "w") as out:
            out.write("\n".join(lines) + "\n")
    with open("configs/schedule.yaml") as ordered:
        text = ordered.read()
    with open(f"{folder}/plain.yaml", "w") as out:
        out.writelines(line for line in text.splitlines(True)
                       if not line.startswith("schedule:"))

    def took(yaml):
        return printed_steps(
            f"{EMIT} --no-at {folder}/init.gt --repeat {steps} "
            f"{folder}/step.gt | {SHARD} -c {yaml} 2>/dev/null | "
            f"{ROUTE} -n 2 --threads 1", steps)

    def measure():
        values, ours, _ = took("configs/schedule.yaml")
        others, plain, _ = took(folder + "/plain.yaml")
        same(values, others, 0, "losses")
        return ours, plain, plain / ours

    report.pair("a pipeline's step, program order s : 1f1b", measure, 1.4, 1.7)


def rehearsed(report, folder):
    """A step of a pipeline of four stages on workers that sleep as long as a
    machine of 0.4 Gflop a second would compute, 8 microbatches, eight layers: by
    1f1b and by schedules that put the gradients of weights off: at best 33 to 24
    parts. (The factor s is there so that the first layer, too, makes a gradient
    of what it reads.)"""
    size, rows, layers, count, steps = 256, 64, 8, 8, 10
    init = [f"x = randn f32[{rows * count},{size}] 1 #signal=l0",
            f"s = ones f32[{size}] #signal=l0"]
    for i in range(layers):
        init += [f"w{i} = randn f32[{size},{size}] {i} scale=0.06 #signal=l{i}",
                 f"g{i} = zeros f32[{size},{size}] #signal=l{i}"]
    step = []
    names = [f"w{i}" for i in range(layers)]
    for b in range(count):
        lines = [f"h = slice x {b * rows} axis=0 size={rows} #signal=l0",
                 "h = mul h s #signal=l0"]
        for i in range(layers):
            lines += [f"h = linear h w{i} #signal=l{i}",
                      f"h = tanh h #signal=l{i}"]
        lines += [f"l = sum h #signal=l{layers - 1}",
                  " ".join(f"d{i}" for i in range(layers)) + " ds = grad l " +
                  " ".join(names) + " s"]
        lines += [f"g{i} = add g{i} d{i} #signal=l{i}" for i in range(layers)]
        step += [f"{line} #mb={b}" for line in lines]
    for i in range(layers):
        step += [f"w{i} = sgd w{i} g{i} 1e-6 #signal=l{i}",
                 f"g{i} = zeros f32[{size},{size}] #signal=l{i}"]
    step.append("print l")
    for name, lines in ("init", init), ("step", step):
        with open(f"{folder}/{name}.gt", "w") as out:
            out.write("\n".join(lines) + "\n")
    machine = {"flops": 4e8, "memory_bandwidth": 1e12, "bandwidth": 1e10,
               "latency": 1e-5}

    def took(kind, stage):
        config = "mesh: {pp: 4}\nschedule: {kind: %s}\n%ssignals:\n" % (
            kind, yaml_of(machine))
        config += "".join(f"  l{i}: {{on: {{pp: {stage(i)}}}}}\n"
                          for i in range(layers))
        return rehearsed_step(folder, kind, 4, machine, config, steps)

    def beside(kind, stage):
        def measure():
            ours = took(kind, stage)
            plain = took("1f1b", lambda i: i // 2)
            return ours, plain, plain / ours
        return measure

    report.pair("a rehearsed pipeline's step, 1f1b s : zb-h2",
                beside("zb-h2", lambda i: i // 2), 1.25, 1.36)
    report.pair("a rehearsed pipeline's step, 1f1b s : zb-v",
                beside("zb-v", lambda i: min(i, 7 - i)), 1.05, 1.29)


def rehearsed_step(folder, name, workers, machine, config, steps):
    """The seconds of a step of init.gt and step.gt in the folder under this text of a
    config, NAME.yaml, on workers that sleep as long as the machine would compute."""
    with open(f"{folder}/{name}.yaml", "w") as out:
        out.write(config)
    pace = ",".join(f"{key}={value:g}" for key, value in machine.items())
    return printed_steps(
        f"{EMIT} --no-at {folder}/init.gt --repeat {steps} "
        f"{folder}/step.gt | {SHARD} -c {folder}/{name}.yaml 2>/dev/null | "
        f"{ROUTE} -n {workers} --threads 1 --backend null --pace {pace}", steps)[1]


def yaml_of(machine):
    figures = ", ".join(f"{key}: {value:g}" for key, value in machine.items())
    return f"machine: {{{figures}}}\n"


def chunks(report, folder):
    """Products of 2,048 rows with weights of 512 x 2,048, cut by columns and then
    by rows, on two workers that sleep as long as a machine of 10 Gflop a second
    would compute, whose links are so fast that what is gathered and summed takes
    half of the time of the products: how much of it is hidden behind them."""
    size, layers, steps = 512, 4, 6
    init = ["c = randn f32[16,128,%d] 3 #signal=norm" % size]
    step = ["x = copy c #signal=norm"]
    for i in range(layers):
        init += [f"w{i} = randn f32[{size},{4 * size}] {i} scale=0.05 #signal=up",
                 f"v{i} = randn f32[{4 * size},{size}] {i} scale=0.02 #signal=down"]
        step += ["n = rms_norm x #signal=norm", f"h = matmul n w{i} #signal=up",
                 "h = relu h #signal=up", f"y = matmul h v{i} #signal=down",
                 "x = add x y #signal=norm"]
    step += ["l = mean x", "print l"]
    for name, lines in ("init", init), ("step", step):
        with open(f"{folder}/{name}.gt", "w") as out:
            out.write("\n".join(lines) + "\n")

    def took(count, bandwidth):
        machine = {"flops": 1e10, "memory_bandwidth": 1e12, "latency": 1e-4,
                   "bandwidth": bandwidth}
        config = ("mesh: {tp: 2}\nregather: true\nchunks: %s\n%s"
                  "signals:\n  norm: {results: {tp: 1}}\n"
                  "  up: {shard: {tp: 1}, results: {tp: -1}}\n"
                  "  down: {shard: {tp: 0}}\n" % (count, yaml_of(machine)))
        return rehearsed_step(folder, "chunks", 2, machine, config, steps)

    def measure():
        ours, serial = took("auto", 2e7), took(1, 2e7)
        return ours, serial, (serial - ours) / (serial - took(1, 1e12))

    report.pair("a rehearsed product's chunks, hidden of what travels", measure,
                0.8, 0.95)


def gathers(report, folder):
    """Steps of eight layers of 512 x 512 on two workers that keep half of each
    weight, gather it for each use and sum its gradient into halves. The workers
    sleep as long as a machine of 100 Gflop a second would compute. What travels
    takes a quarter of the time of the products: for which share of a step workers
    compute. With overlap: false it was 0.83."""
    size, layers, steps = 512, 8, 6
    names = [f"w{i}" for i in range(layers)]
    init = [f"{w} = randn f32[{size},{size}] {i} scale=0.05"
            for i, w in enumerate(names)]
    init.append(f"x = randn f32[{8 * size},{size}] 9 #signal=batch")
    step = ["h = copy x #signal=batch"]
    for w in names:
        step += [f"h = matmul h {w} #signal=batch", "h = tanh h #signal=batch"]
    gradients = [f"g{i}" for i in range(layers)]
    step += ["l = mean h #signal=batch",
             f"{' '.join(gradients)} = grad l {' '.join(names)}"]
    step += [f"{w} = sgd {w} {g} 0.1" for w, g in zip(names, gradients)]
    step.append("print l")
    for name, lines in ("init", init), ("step", step):
        with open(f"{folder}/{name}.gt", "w") as out:
            out.write("\n".join(lines) + "\n")

    def took(bandwidth):
        machine = {"flops": 1e11, "memory_bandwidth": 1e12, "latency": 1e-5,
                   "bandwidth": bandwidth}
        config = ("mesh: {dp: 2}\nregather: true\nsignals:\n"
                  "  batch: {shard: {dp: 0}, results: {dp: 0}}\n"
                  "tensors:\n  w*: {shard: {dp: 0}}\n")
        return rehearsed_step(folder, "gathers", 2, machine, config, steps)

    def share():
        ours, computing = took(2e8), took(1e13)
        return ours, computing, computing / ours

    report.pair("rehearsed FSDP: share of a step that computes", share, 0.95,
                0.99)


def buckets(report, folder):
    """Steps of training sixteen layers of 64 x 64 with biases on four workers that
    share the batch and sleep as long as a machine of 1 Gflop a second would compute,
    whose messages have a latency of 1 ms; and of the GPT of examples/minigpt on eight.
    The sums of small gradients go one by one (overlap: false) and together. The
    losses have the same bits."""
    size, layers, steps = 64, 16, 6
    names = [f"{kind}{i}" for i in range(layers) for kind in "wb"]
    init = [f"w{i} = randn f32[{size},{size}] {i} scale=0.1\nb{i} = zeros f32[{size}]"
            for i in range(layers)]
    init.append(f"x = randn f32[{16 * size},{size}] 9 #signal=batch")
    step = ["h = copy x #signal=batch"]
    for i in range(layers):
        step += [f"h = linear h w{i} b{i} #signal=batch", "h = tanh h #signal=batch"]
    step.append("l = mean h #signal=batch")
    step.append(f"{' '.join('g' + n for n in names)} = grad l {' '.join(names)}")
    step += [f"{n} = sgd {n} g{n} 0.1" for n in names] + ["print l"]
    machine = {"flops": 1e9, "memory_bandwidth": 1e12, "latency": 1e-3,
               "bandwidth": 1e8}

    def gpt():
        """The stream of the GPT's steps, whose results are their losses alone."""
        options = ("--microbatches 1 --steps 6 --rounds 1 --evaluate 1 --sample 0 "
                   "--dropout 0")
        novel = "share/novel/pride-and-prejudice.txt"
        shell_seconds(f"examples/minigpt/tokens {novel} > {folder}/text.npy; "
                      f"examples/minigpt/minigpt --text {folder}/text.npy {options} | "
                      f"sed '/^held = /,$d' | {EMIT} --no-at > {folder}/gpt.s")
        return f"cat {folder}/gpt.s"

    def layers_of_64():
        for name, lines in ("init", init), ("step", step):
            with open(f"{folder}/{name}.gt", "w") as out:
                out.write("\n".join(lines) + "\n")
        return f"{EMIT} --no-at {folder}/init.gt --repeat {steps} {folder}/step.gt"

    def took(stream, ranks, overlap):
        with open(folder + "/dp.yaml", "w") as out:
            out.write(f"mesh: {{dp: {ranks}}}\noverlap: {overlap}\n{yaml_of(machine)}"
                      "signals: {batch: {results: {dp: 0}}}\n")
        placed = f"{stream} | {SHARD} -c {folder}/dp.yaml 2>/dev/null"
        pace = ",".join(f"{key}={value:g}" for key, value in machine.items())
        said = run(["bash", "-c", f"{placed} | {WORK} --threads 1"],
                   stdout=subprocess.PIPE, text=True).stdout
        losses = [float(line.split()[4]) for line in said.splitlines()]
        return losses, printed_steps(
            f"{placed} | {ROUTE} -n {ranks} --threads 1 --backend null --pace {pace}",
            steps)[1]

    def beside(stream, ranks):
        def measure():
            together, ours = took(stream, ranks, "true")
            apart, one_by_one = took(stream, ranks, "false")
            same(together, apart, 0, "losses")
            return ours, one_by_one, one_by_one / ours
        return measure

    report.pair("rehearsed DP=4, 32 small gradients, one by one s : together",
                beside(layers_of_64(), 4), 1.05, 1.1)
    report.pair("rehearsed DP=8, the GPT's gradients, one by one s : together",
                beside(gpt(), 8), 1.2, 1.4)


def ring(report, folder):
    """Causal attention of 8 heads of 64 over 8,192 tokens, forward and backward, on
    four workers with 2,048 tokens each that sleep as long as a machine of 1 Tflop a
    second would compute, with links of 1 GB/s: as a ring beside keys and values that
    are gathered, in time, and in bytes of a rank's keys and values of other ranks."""
    steps, tokens, width = 6, 8192, 512
    with open(folder + "/init.gt", "w") as out:
        out.writelines(f"{name} = randn f32[1,{tokens},{width}] {seed} #signal=rows\n"
                       for seed, name in enumerate("xyzd"))
    with open(folder + "/step.gt", "w") as out:
        out.write("q = mul x 2\nk = mul y 2\nv = mul z 2\n"
                  "o = attention q k v causal=1 heads=8\n"
                  "p = mul o d\nl = sum p\ngq gk gv = grad l q k v\n"
                  "free q k v o p gq gk gv\nprint l\n")
    machine = {"flops": 1e12, "memory_bandwidth": 2e11, "latency": 1e-5,
               "bandwidth": 1e9}

    def config(form):
        return (f"mesh: {{cp: 4}}\nring: {form}\n{yaml_of(machine)}"
                "signals:\n  rows: {shard: {cp: 1}}\n")

    def took(form):
        return rehearsed_step(folder, "ring", 4, machine, config(form), steps)

    def beside():
        ours, gathered = took("true"), took("false")
        return ours, gathered, gathered / ours

    report.pair("rehearsed attention over 8 K tokens on 4 ranks, gathered s : ring",
                beside, 1 / 0.9, 1 / 0.8)


def minigpt(report, folder):
    """The GPT of examples/minigpt under TP=2 x PP=4: what a rank sends if products
    read bf16 and sums are sent so, and for which share of the time workers that
    sleep as long as a machine of 2 Gflop a second would compute do so, beside the
    share that is expected."""
    options = ["--hidden", "256", "--steps", "4", "--rounds", "1", "--evaluate",
               "1", "--sample", "0", "--dropout", "0"]
    novel = "share/novel/pride-and-prejudice.txt"
    shell_seconds(f"examples/minigpt/tokens {novel} > {folder}/text.npy; "
                  f"examples/minigpt/minigpt --text {folder}/text.npy "
                  f"{' '.join(options)} | {EMIT} --no-at > {folder}/gpt.s")

    def sent(more):
        with open("examples/minigpt/tp2-pp4.yaml") as config:
            text = config.read()
        with open(folder + "/gpt.yaml", "w") as out:
            out.write(text + more)
        said = run([SHARD, "-c", folder + "/gpt.yaml", "--summary",
                    folder + "/gpt.s"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, text=True).stderr
        return sum(float(mb) for mb in re.findall(r"lines, (\S+) MB", said))

    def bytes_of():
        ours, theirs = sent("precision: bf16\nsums: bf16\n"), sent("")
        return ours, theirs, theirs / ours

    def busy():
        said = run(["examples/minigpt/train", "--schedule", "zb-h1",
                    "--timeline", folder + "/step.svg", "--pace", "flops=2e9,"
                    "memory_bandwidth=1e12,bandwidth=1e11,latency=1e-6",
                    *options], stdout=subprocess.PIPE, text=True,
                   env={**os.environ, "GT_BIN": os.path.abspath(BIN)}).stdout
        expected, ours = map(float, re.findall(r": (\S+) %", said))
        return ours, expected, ours / expected

    # Links are so slow that what is sent, and what hides of it, counts.
    machine = {"flops": 4e9, "memory_bandwidth": 1e12, "bandwidth": 2e8,
               "latency": 1e-4}
    pace = ",".join(f"{key}={value:g}" for key, value in machine.items())

    def foretold():
        worst = None
        for name in "tp2-pp4", "tp4-pp2", "sp4-dp2", "fsdp8", "dp8":
            with open(f"examples/minigpt/{name}.yaml") as config:
                text = config.read() + yaml_of(machine)
            with open(folder + "/gpt.yaml", "w") as out:
                out.write(text)
            placed, trace = folder + "/placed.s", folder + "/run.trace"
            shell_seconds(f"{SHARD} -c {folder}/gpt.yaml {folder}/gpt.s >{placed}")
            shell_seconds(f"{ROUTE} -n 8 --threads 1 --backend null --pace {pace} "
                          f"--trace {trace} {placed} >{folder}/results")
            table = run([LOG, "--rehearsal", pace, "--step", "loss", "--tsv", placed,
                         trace], stdout=subprocess.PIPE, text=True).stdout
            said, took = map(float, table.split("\n")[1].split("\t")[2:4])
            found = said, took, min(said / took, took / said)
            worst = min(worst or found, found, key=lambda pair: pair[2])
        return worst

    report.pair("GPT, 5 configs, predicted : rehearsed ns of a step", foretold,
                0.9, 0.97)
    report.pair("GPT, TP=2 x PP=4, MB f32 : bf16", bytes_of, 1.4, 1.9)
    report.pair("GPT, zb-h1, % busy : expected", busy, 0.97, 0.99)


def gpt_step(folder, *options):
    """The GPT of examples/minigpt up to its first evaluation, as gt-emit writes it."""
    novel = "share/novel/pride-and-prejudice.txt"
    return (f"examples/minigpt/tokens {novel} > {folder}/text.npy; "
            f"examples/minigpt/minigpt --text {folder}/text.npy --rounds 1 "
            f"--evaluate 1 --sample 0 {' '.join(options)} | "
            f"sed '/^held = /,$d' | {EMIT} --no-at")


def planned(report, folder):
    """The GPT of examples/minigpt on eight workers that sleep as long as a machine of
    50 Gflop a second would compute, whose messages take 10 ms: a step under the config
    that --plan finds, with the microbatches that it takes, beside the best one of
    those by hand: TP and pipelines with 8 microbatches, DP and FSDP with one. Lines are
    that slow so that what two cores do for eight workers takes a small part of a step."""
    size = ["--hidden", "256", "--dropout", "0"]
    steps, counts = 5, (1, 4, 8)
    machine = {"flops": 5e10, "memory_bandwidth": 1e9, "bandwidth": 2.5e7,
               "latency": 1e-2}
    pace = ",".join(f"{key}={value:g}" for key, value in machine.items())

    def stream(count, steps):
        options = ["--steps", str(steps), "--microbatches", str(count)]
        return f"{{ {gpt_step(folder, *size, *options)}; }}"

    def took(config, count):
        return printed_steps(
            f"{stream(count, steps)} | {SHARD} -c {config} 2>/dev/null | "
            f"{ROUTE} -n 8 --threads 1 --backend null --pace {pace}", steps)[1]

    def measure():
        for count in counts:
            shell_seconds(f"{stream(count, 1)} > {folder}/mb{count}.s")
        with open(f"{folder}/machine.yaml", "w") as out:
            out.write(yaml_of(machine))
        forms = " ".join(f"{folder}/mb{count}.s" for count in counts)
        shell_seconds(f"{SHARD} --plan -n 8 -c {folder}/machine.yaml {forms} "
                      f"> {folder}/plan.yaml")
        with open(f"{folder}/plan.yaml") as plan:
            chosen = int(re.search(r"/mb(\d+)\.s\.", plan.read())[1])
        ours = took(f"{folder}/plan.yaml", chosen)
        by_hand = [took(f"examples/minigpt/{name}.yaml", count)
                   for name, count in (("dp8", 1), ("fsdp8", 1), ("pp8", 8),
                                       ("tp2-pp4", 8), ("tp4-pp2", 8), ("zb-v", 8))]
        return ours, min(by_hand), min(by_hand) / ours

    report.pair("a rehearsed step of a GPT, best by hand s : --plan", measure, 1,
                1 / 0.95)


def planning(report, folder):
    """How long --plan takes, beside a minute: for the GPT of examples/minigpt as large
    as GT's demonstration, and for an 8 B Llama's shapes with 16 microbatches, on 72
    ranks of 36 nodes and on 1,024 of 128."""
    large = ["--hidden", "1024", "--heads", "16", "--vocab", "50257", "--seq-len",
             "1024", "--batch-size", "128", "--held", "600000", "--steps", "1"]
    programs = {
        "GPT": f"{{ {gpt_step(folder, *large)}; }}",
        "Llama": "awk -v microbatches=16 -f tests/bench/llama.awk | "
                 f"{EMIT} --no-at"}
    for name, stream in programs.items():
        for ranks, node in (72, 2), (1024, 8):

            def measure(name=name, stream=stream, ranks=ranks, node=node):
                shell_seconds(f"{stream} > {folder}/large.s")
                with open(f"{folder}/machine.yaml", "w") as out:
                    out.write("machine: {flops: 4e14, memory_bandwidth: 3e12, memory: "
                              "80e9, node: {ranks: %d, bandwidth: 4e11, latency: 2e-6}, "
                              "net: {bandwidth: 5e10, latency: 1e-5}}\n" % node)
                ours = shell_seconds(f"{SHARD} --plan -n {ranks} -c "
                                     f"{folder}/machine.yaml {folder}/large.s "
                                     f"> {folder}/plan.yaml")
                return ours, 60, 60 / ours

            report.pair(f"--plan, {name}, {ranks} ranks, a minute : s", measure, 1, 3)


BENCHES = {"shard-lines": shard_lines, "check-lines": check_lines,
           "shard-jax": jax, "shard-memory": memory, "shard-ddp": ddp, "shard-tensor": tensor,
           "shard-pipeline": pipeline, "shard-rehearsed": rehearsed,
           "shard-chunks": chunks, "shard-gathers": gathers,
           "shard-buckets": buckets, "shard-ring": ring,
           "shard-plan": planned, "shard-planning": planning,
           "shard-minigpt": minigpt}

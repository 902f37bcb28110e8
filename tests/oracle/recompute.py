#!/usr/bin/env python3
"""Random programs with #recompute: the note changes no value.

usage: recompute.py [COUNT [FIRST]]

Each program binds, frees and rebinds names, in regions and outside of them, and
takes gradients: of one loss or of several, kept or consumed, and of gradients.
With its notes and without them it must give the same results, to the last bit
(sharded: but for rounding);
what gt-emit writes must be what gt-emit writes of it again; and in a loop the
replay of rounds must write what gt-emit writes without it. Every third program
is sharded as well. Prints "N passed, N failed".
"""
import math
import random
import re
import subprocess
import sys
import tempfile

from gt import Tally, emit, work

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?$")
INVENTED = re.compile(r"\b_e\d+\b")
NOTE = re.compile(r" #recompute(=\w+)?")
CONFIG = """mesh: {dp: 2}
signals:
  cut: {shard: {dp: 0}}
"""


class Program:
    """Lines of a random program over f64[4,4] tensors."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = [f"{w} = randn f64[4,4] {i}" for i, w in enumerate("uvw")]
        self.lines += ["x = randn f64[4,4] 7 #signal=cut"]
        self.body = []
        self.live = ["x"]
        self.note = " #recompute"

    def pick(self):
        return self.random.choice(self.live)

    def line(self):
        choose = self.random.choice
        if self.random.random() < 0.3:
            self.note = choose(["", " #recompute", " #recompute=1", " #recompute=2"])
        name = choose(["a", "b", "c", "d"])
        h = self.pick()
        text = choose([
            f"matmul {h} {choose('uvw')}", f"linear {h} {choose('uvw')}",
            f"mul {h} {choose('uvw')}", f"add {h} {choose('uvw')}",
            f"matmul {choose('uvw')} {h}", f"minimum {h} {choose('uvw')}",
            f"tanh {h}", f"sigmoid {h}", f"relu {h}", f"sin {h}", f"gelu {h}",
            f"mul {h} {self.pick()}", f"add {h} {self.pick()}", f"mul {h} 0.5",
            f"softmax {h} axis=1", f"dropout {h} 0.3 {self.random.randrange(9)}",
            f"dropout {h} 0.5", f"attention {h} {self.pick()} {self.pick()}",
            f"copy {h}", f"transpose {h}", f"reshape {h} shape=4,4",
            f"maximum {h} {self.pick()}", f"rms_norm {h}"])
        signal = choose(["", "", " #signal=cut"])
        if self.random.random() < 0.1:  # one may be freed before the other
            self.body.append(f"p q = split {h} axis=1{self.note}")
            if self.random.random() < 0.5:
                self.body.append(f"q = sin q{self.note}")
            text = "concat q p axis=1"
        self.body.append(f"{name} = {text}{signal}{self.note}")
        if name not in self.live:
            self.live.append(name)

    def free(self):
        loose = [n for n in self.live if n != "x"]
        if loose:
            name = self.random.choice(loose)
            self.live.remove(name)
            self.body.append("free " + name)

    def grads(self):
        loss = self.random.choice([n for n in self.live if n != "x"] or ["x"])
        if loss == "x":
            return
        targets = self.random.sample("uvw", self.random.randint(1, 3))
        names = " ".join("g" + t for t in targets)
        retain = self.random.choice(["", "", " retain=1"])
        self.body += [f"l = sum {loss}"]
        if any("split" in line for line in self.body):
            self.body += ["free p", "p = zeros f64[1]"]
        while self.random.random() < 0.9 and len(self.live) > 1:
            self.free()
        self.body += [f"{names} = grad l {' '.join(targets)}{retain}"]
        if retain and self.random.random() < 0.5:
            self.body += [f"q = mul g{targets[0]} g{targets[0]}", "m = sum q",
                          f"h = grad m {targets[-1]}", "print h"]
        self.body += [f"print g{t}" for t in targets]
        if not retain:
            self.body += [f"{t} = sgd {t} g{t} 0.01" for t in targets]

    def make(self):
        for _ in range(self.random.randint(4, 25)):
            self.line()
            if self.random.random() < 0.25:
                self.free()
            if self.random.random() < 0.08:
                self.grads()
        self.grads()
        return self


def shard(stream, config):
    done = subprocess.run(["gt-shard", "-c", config], input=stream, text=True,
                          capture_output=True, timeout=300, check=False)
    return done.stdout


def known(text):
    """The text without what differs only by the notes: messages may have them,
    and names that gt-emit has made up."""
    return INVENTED.sub("", NOTE.sub("", text))


def near(a, b):
    """True if two outputs differ by rounding alone: a line that is computed again
    may be cut otherwise than the first time, and so be summed in another order."""
    a, b = a.split(), b.split()
    return len(a) == len(b) and all(
        x == y or NUMBER.match(x) and NUMBER.match(y) and
        math.isclose(float(x), float(y), rel_tol=1e-9, abs_tol=1e-9)
        for x, y in zip(a, b))


def check(seed, config):
    program = Program(seed).make()
    head = "\n".join(program.lines) + "\n"
    text = head + ("\n".join(program.body) + "\n") * 3
    stream, said, status = emit(text, "--no-at")
    plain, plain_said, plain_status = emit(NOTE.sub("", text), "--no-at")
    if status != plain_status or known(said) != known(plain_said):
        return f"gt-emit says {said!r}, and without the notes {plain_said!r}"
    if known(work(stream)[0]) != known(work(plain)[0]):
        return "another value than without the notes"
    if emit(stream, "--no-at")[0] != stream:
        return "gt-emit changes its own output"
    if emit(text, "--no-at", "--no-replay")[0] != stream:
        return "rounds that are replayed differ"
    if seed % 3 == 0 and not near(work(shard(stream, config))[0],
                                  work(shard(plain, config))[0]):
        return "another value than without the notes, sharded"
    return None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    tally = Tally()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(CONFIG)
        config.flush()
        for seed in range(first, first + count):
            tally.check(f"seed {seed}", check(seed, config.name))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

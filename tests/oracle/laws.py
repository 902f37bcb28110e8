#!/usr/bin/env python3
"""Checks the laws of the programs over the examples and over random programs.

usage: laws.py [PROGRAMS [FIRST_SEED]]
"""
import re
import subprocess
import sys
import tempfile

import torch

from gt import Tally, difference, emit, work
from interpret import Failed, Interpreter
from programs import Program

# A random program may be told that a history is consumed. A line that comes again
# with the same reason is only counted.
EXPECTED = re.compile(r"was consumed by the grad at|the loss does not depend"
                      r"|and not on the one that it has now"
                      r"|gt-emit: \d+ more like the one at ")
EXAMPLES = {
    "quickstart": (["examples/quickstart.gt"], "cpu"),
    "linear": (["examples/linear-init.gt", "--repeat", "30",
                "examples/linear.gt", "-e", "print w"], "ref"),
    "tape": (["examples/tape.gt"], "ref"),
    "digits": (["examples/digits-init.gt", "--repeat", "30",
                "examples/digits.gt", "examples/digits-test.gt"], "cpu"),
}


def stripped(text):
    """The text without its notes, as sed 's/ #.*//' leaves it."""
    return re.sub(r" #.*", "", text)


def same(got, wanted):
    if got == wanted:
        return None
    got, wanted = got.splitlines(), wanted.splitlines()
    for i, (a, b) in enumerate(zip(got, wanted)):
        if a != b:
            return f"line {i + 1} is '{a[:200]}', not '{b[:200]}'"
    return f"{len(got)} lines, not {len(wanted)}"


def unexpected(messages):
    return [line for line in messages.splitlines()
            if line.startswith("gt-emit: ") and not EXPECTED.search(line)]


def all_messages(messages, stream):
    """Those of gt-emit, and those that it only counted, which the stream has."""
    return "\n".join([messages, *("gt-emit: " + reason for reason in re.findall(
        r' = fail "([^"]*)"', stream))])


def in_chunks(program, rng, *options):
    """gt-emit whose input comes in pieces of random length."""
    with tempfile.TemporaryFile("w+") as out, subprocess.Popen(
            ["gt-emit", *options], stdin=subprocess.PIPE, stdout=out,
            stderr=subprocess.DEVNULL, bufsize=0) as process:
        rest = program.encode()
        while rest:
            n = rng.choice([1, 7, 100, 5000])
            process.stdin.write(rest[:n])
            rest = rest[n:]
        process.stdin.close()
        process.wait(timeout=60)
        out.seek(0)
        return out.read()


def check_stream(tally, name, stream, status, backend):
    """Checks the laws that hold for every stream of gt-emit."""
    again, _, code = emit(stream)
    tally.check(f"{name}: gt-emit prints its own output unchanged",
                same(again, stream) or (
                    None if code == status else f"status {code}"))
    results, messages, code = work(stream, backend, "--threads", "1")
    tally.check(f"{name}: gt-work's status", None if code == status
                else f"{code}: {messages[:500]}")
    for what, *options in (("no cache", "--no-cache"), ("again",)):
        other, _, _ = work(stream, backend, "--threads", "1", *options)
        tally.check(f"{name}: the same bits, {what}", same(other, results))
    bare, _, _ = work(stripped(stream), backend, "--threads", "1")
    tally.check(f"{name}: notes stripped", same(bare, results))
    for isa in ("sse2", "avx2"):
        first, messages, code = work(stream, "cpu", "--threads", "1",
                                     "--isa", isa)
        if code == 2:  # this machine lacks these instructions
            tally.skipped += 1
            continue
        second, _, _ = work(stream, "cpu", "--threads", "1", "--isa", isa,
                            "--no-cache")
        tally.check(f"{name}: the same bits, {isa}, no cache",
                    same(second, first))
    return results


def check_values(tally, name, text, messages, results):
    """The printed values are those that PyTorch computes, as far as the
    program ran."""
    model = Interpreter(messages)
    model.run(text)
    tally.check(f"{name}: errors are right", "; ".join(model.problems) or None)
    lines = results.splitlines()
    for i, (printed, value) in enumerate(model.printed):
        got = lines[i].split(" = ", 1)[1] if i < len(lines) else None
        if isinstance(value, Failed):
            problem = None if got and got.startswith("fail ") else got
        else:
            loose = 1e-3 if value.dtype == torch.float32 else 1e-7
            problem = difference(got, value, loose, 1e-3)
        tally.check(f"{name}: print {i}, {printed}", problem)


def check_random(tally, seed):
    program = Program(seed)
    text, name = program.text(), f"program {seed}"
    stream, messages, status = emit(text)
    tally.check(f"{name}: is well typed", "; ".join(unexpected(messages))
                or (None if status in (0, 3) else f"status {status}"))
    slow, _, _ = emit(text, "--no-replay")
    tally.check(f"{name}: --no-replay", same(slow, stream))
    tally.check(f"{name}: in pieces",
                same(in_chunks(text, program.rng), stream))
    backend = "ref" if seed % 2 else "cpu"
    results = check_stream(tally, name, stream, status, backend)
    check_values(tally, name, text, all_messages(messages, stream), results)
    prints = sum(line.startswith("print ") for line in stream.splitlines())
    tally.check(f"{name}: one line for each print",
                None if prints == len(results.splitlines())
                else f"{len(results.splitlines())} of {prints}")
    bare, _, _ = emit(stripped(text))
    bare, _, _ = work(bare, backend, "--threads", "1")
    plain = stripped(results) if status == 0 else None
    if plain is not None:  # messages name places, which stay the same
        tally.check(f"{name}: notes stripped from the source",
                    same(bare, results))


def check_examples(tally):
    for name, (arguments, backend) in EXAMPLES.items():
        stream, messages, status = emit("", *arguments)
        tally.check(f"{name}: gt-emit", messages or (
            None if status == 0 else f"status {status}"))
        slow, _, _ = emit("", "--no-replay", *arguments)
        tally.check(f"{name}: --no-replay", same(slow, stream))
        check_stream(tally, name, stream, 0, backend)


def main(count=60, first=0):
    torch.set_num_threads(1)
    tally = Tally()
    check_examples(tally)
    for seed in range(int(first), int(first) + int(count)):
        check_random(tally, seed)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

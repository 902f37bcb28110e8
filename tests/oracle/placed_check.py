"""Tests random placed programs (placed_steps.py), alone and with their
gradients.

usage: placed_check.py [COUNT [SEED]] [--only STEP,...] [--show N]

Each must give the values of the same program without ranks, gt-check must find
nothing in what gt-emit writes of it, its gradients included, and gt-emit must
leave its own output as it is. Programs go through the filters several at a
time; those of a batch that does not pass go through by themselves.
"""
import argparse
import random
import subprocess
import sys

from gt import emit, parse_result, results_of, work
from placed_steps import generate

BATCH = 16
TOLERANCE = 1e-9


def check(stream):
    done = subprocess.run(["gt-check", "-q"], input=stream, text=True,
                          capture_output=True, timeout=300, check=False)
    return done.stderr, done.returncode


def apart(want, got):
    """How the results of the placed program differ; "" if they do not."""
    if want.keys() != got.keys():
        return f"printed {sorted(got)}, not {sorted(want)}"
    for name, text in want.items():
        a, b = parse_result(text), parse_result(got[name])
        if a[0] != b[0] or a[0] == "fail":
            return f"{name} is {got[name][:200]}, not {text[:200]}"
        bound = TOLERANCE * max([1.0, *(abs(x) for x in a[1] if x == x)])
        if any(not (abs(x - y) <= bound or x == y or (x != x and y != y))
               for x, y in zip(a[1], b[1])):
            return f"{name} is {got[name][:200]}, not {text[:200]}"
    return ""


def judge(placed, whole):
    """What is wrong with programs; "" if nothing is."""
    stream, said, status = emit("\n".join(placed) + "\n", "--no-at")
    if status:
        return "gt-emit: " + said
    found, status = check(stream)
    if status:
        return "gt-check: " + found
    again, _, _ = emit(stream, "--no-at")
    if again != stream:
        return "gt-emit changes its own output"
    alone, said, status = emit("\n".join(whole) + "\n", "--no-at")
    if status:
        return "gt-emit, without ranks: " + said
    want, said, status = work(alone)
    got, more, other = work(stream)
    if status or other:
        return f"gt-work: {said}{more}"
    return apart(results_of(want), results_of(got))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--only", help="steps to take, with commas between")
    parser.add_argument("--show", type=int, default=5,
                        help="failures that are told")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    passed = failed = 0
    numbers = range(options.seed, options.seed + options.count)
    for first in range(0, len(numbers), BATCH):
        batch = [generate(random.Random(n), f"p{n}.", only)
                 for n in numbers[first:first + BATCH]]
        if not judge(sum((p.placed for p in batch), []),
                     sum((p.whole for p in batch), [])):
            passed += len(batch)
            continue
        for p in batch:
            wrong = judge(p.placed, p.whole)
            passed += not wrong
            failed += bool(wrong)
            if wrong and failed <= options.show:
                print("\n".join(p.placed))
                print(f"FAILED {p.prefix[1:-1]}: {wrong}\n")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

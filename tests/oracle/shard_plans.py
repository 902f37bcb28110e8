"""Compares the plans that gt-shard --plan finds for random networks with the
networks without gt-shard: a plan is accepted unchanged, and means the same.

usage: shard_plans.py [COUNT [SEED]]

The networks are those of shard_networks.py, some of them larger. Some
gradients are by values that the loss does not reach, and so are zeros. A
network that diverges by itself, so that its last digits decide, is reported
and not counted.
"""
import random
import re
import subprocess
import sys
import tempfile

from gt import emit
from shard_networks import Network
from shard_programs import is_unstable, problem_of


def with_unreached(text, rng):
    """The program with one more target, which the loss does not reach."""
    shape = rng.choice(["3", "4,5", "64,64", "8,9,10"])
    text = re.sub(r"(?m)^(\S.*) = grad l ", r"gu \1 = grad l unused ", text)
    return (f"unused = randn f64[{shape}] 3\n{text}"
            + rng.choice(["unused = sgd unused gu 0.1\nprint unused\n",
                          "print gu\n", "unused = add unused gu\n", ""]))


def program(seed):
    """A random network, and on how many ranks it is to run."""
    rng = random.Random(seed)
    network = Network(rng, rng.choice([1, 1, 2]))
    if rng.random() < 0.5:
        network.batch *= 8
        network.width *= 8
    text = network.text()
    if rng.random() < 0.6:
        text = with_unreached(text, rng)
    return text, rng.choice(["2", "3", "4", "6"])


def filtered(stream, *options):
    done = subprocess.run(["gt-shard", *options], input=stream, text=True,
                          capture_output=True, timeout=300, check=False)
    return done.stdout, done.stderr, done.returncode


def wrong_plan(text, ranks):
    """What is wrong with the plan that --plan finds, or None."""
    stream = emit(text)[0]
    plan, said, status = filtered(stream, "--plan", "-n", ranks)
    if status:
        return "no plan: " + said
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(plan)
        file.flush()
        _, said, status = filtered(stream, "-c", file.name)
    if status or said:
        return f"the plan is refused: {said}{plan}"
    return problem_of(text, plan, [])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = 0
    for seed in range(first, first + count):
        text, ranks = program(seed)
        problem = wrong_plan(text, ranks)
        if problem is None:
            continue
        if is_unstable(text):
            print(f"skipped plan {seed}: it diverges by itself; {problem}")
            continue
        failed += 1
        if failed <= 6:
            print(f"FAILED plan {seed} for {ranks} ranks: {problem}\n{text}")
    print(f"{count - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

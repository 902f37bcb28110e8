"""Random programs whose lines are of random microbatches, under random configs
with a schedule, against the same without the schedule.

usage: schedules.py [COUNT [SEED]]

Results have the same bits, gt-check finds nothing that it did not find before,
gt-shard prints its own output unchanged, and what --summary says of memory is
what gt-check finds. Some programs also run on workers of their own for each
rank, which must not wait for each other without end, and send what --summary
says. A program that differs is
shown cut down to few lines.
"""
import random
import re
import sys

from gt import emit, work
from programs import Program
from shard_programs import own_form, smaller, with_signals
from sharding import (findings, first_change, most_bytes, most_expected, route,
                      sent_problem, shard)

KINDS = ["gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v"]


def with_microbatches(text, rng):
    """The program with runs of lines in microbatches, some of them twice."""
    lines, number, left = [], -1, rng.randint(0, 8)
    for line in text.splitlines():
        if left == 0:
            number = rng.choice([-1, *range(5)])
            left = rng.randint(1, 12)
        left -= 1
        is_fit = not re.match(r"(print|free|save|mesh|axis)\b|#|$", line)
        if number >= 0 and is_fit and rng.random() < 0.9:
            line += f" #mb={number}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def without(text):
    """The config without its schedule."""
    return re.sub(r"(?m)^schedule:.*\n", "", text)


def named(messages):
    """Messages without the name of the config's file."""
    return re.sub(r"/tmp/\S+\.yaml", "c.yaml", messages)


def problem_of(text, config, routes=False):
    """How the schedule changes more than the order, or None."""
    stream = emit(text)[0]
    plain, said_plain, status_plain = shard(stream, without(config))
    placed, said, status = shard(stream, config)
    if "there is nothing to order" in said:
        same = placed.replace("#end 3", "#end 0") == plain.replace("#end 3",
                                                                   "#end 0")
        return None if same else "lines are changed, but not put in order"
    if (status, named(said)) != (status_plain, named(said_plain)):
        return f"gt-shard: status {status}, not {status_plain}: {said[:300]}"
    wanted, _, status_plain = work(plain)
    got, said, status = work(placed)
    if status != status_plain:
        return f"gt-work: status {status}, not {status_plain}: {said[:300]}"
    if got != wanted:
        return "results differ: " + first_change(wanted, got)
    if routes:
        routed, sent = route(placed)
        if routed != got:
            return "gt-route gives other results"
        problem = sent_problem(stream, config, sent)
        if problem and "fail" not in placed:
            return problem
    again = shard(placed, config)[0]
    if again != placed:
        return "gt-shard changes its own output: " + first_change(placed, again)
    if "fail" in placed:
        return None
    found = findings(placed)
    if len(found) > len(findings(plain)):
        return found[0][1]
    expected, most = most_expected(stream, config), most_bytes(placed)
    if expected != most and most < 1e6:  # gt-shard prints six digits
        return f"--summary: {expected} bytes, gt-check: {most}"
    return None


def generate(seed):
    rng = random.Random(seed)
    text = with_microbatches(with_signals(Program(seed).text(), rng), rng)
    window = rng.choice(["", "", f", window: {rng.randint(1, 4)}"])
    schedule = f"schedule: {{kind: {rng.choice(KINDS)}{window}}}\n"
    return text, own_form(rng, text) + schedule


def show(text, config, problem):
    lines = smaller(text.splitlines(), lambda ls: problem_of(
        "\n".join(ls) + "\n", config) is not None)
    text = "\n".join(lines) + "\n"
    placed = shard(emit(text)[0], config)[0]
    print(f"{problem_of(text, config)} (was: {problem})\n--- config\n{config}"
          f"--- program\n{text}--- placed\n{placed}", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failed = moved = 0
    for seed in range(first, first + count):
        text, config = generate(seed)
        problem = problem_of(text, config, routes=seed % 8 == 0)
        if problem is not None:
            failed += 1
            print(f"seed {seed}:")
            show(text, config, problem)
            continue
        stream = emit(text)[0]
        moved += shard(stream, config)[0] != shard(stream, without(config))[0]
    print(f"{moved} of {count} programs were put in another order")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or not moved else 0


if __name__ == "__main__":
    sys.exit(main())

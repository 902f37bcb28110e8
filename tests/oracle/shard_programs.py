"""Compares random programs under random configs of both forms with themselves
without gt-shard.

usage: shard_programs.py [COUNT [SEED]]

Values agree within the bounds of laws.py, failures are failures, gt-shard
prints its own output unchanged, ranks hold and send what --summary says, and
without notes the values are the same. A program that differs is cut down to few
lines before it is shown. A program that diverges by itself, so that its last
digits decide, is reported and not counted.
"""
import random
import re
import sys

from gt import difference, emit, work
from programs import Program
from sharding import (MESHES, findings, first_change, mesh_text, most_bytes,
                      most_expected, route, sent_problem, shard, value_of)

BOUND = {"f32": 1e-3, "f64": 1e-7}
# Casts round to two digits, sums in another order to others.
HALF_BOUND = {"f32": 5e-2, "f64": 1e-7}
SIGNALS = ["s0", "s1", "s2", "s3", "t", "s0/t", "s1/t"]
# A random config may be told these.
SILENT = re.compile(
    r"is used by no line|matches no tensor|cuts no tensor over")


def cuts(rng, mesh, place=""):
    found = []
    for axis in rng.sample(list(mesh), len(mesh)):
        if rng.random() < 0.6 and not place:
            unit = "*2" if rng.random() < 0.1 else ""
            found.append(f"{axis}: {rng.choice([0, 0, 1, -1])}{unit}")
    return "{" + ", ".join(found) + "}"


def ranks_of(mesh):
    n = 1
    for size in mesh.values():
        n *= size
    return n


def some_ranks(rng, n):
    return sorted(rng.sample(range(n), rng.randint(1, n)))


def place(rng, mesh):
    if rng.random() < 0.5:
        return f"workers: {some_ranks(rng, ranks_of(mesh))}"
    axis = rng.choice(list(mesh))
    return f"on: {{{axis}: {rng.randrange(mesh[axis])}}}"


def with_signals(text, rng):
    """The program with signals on more lines; equal lines get equal
    signals."""
    chosen = {}
    lines = []
    for line in text.splitlines():
        if "#" not in line and not line.startswith(("print", "free")):
            if line not in chosen:
                chosen[line] = rng.choice(["", f" #signal={rng.choice(SIGNALS)}"])
            line += chosen[line]
        lines.append(line)
    return "\n".join(lines) + "\n"


def patterns(text, rng):
    names = sorted({line.split(" =")[0] for line in text.splitlines()
                    if re.match(r"[\w./]+ =", line)})
    found = rng.sample(names, min(len(names), rng.randint(0, 4)))
    return found + rng.sample(["g*", "*2", "n*"], rng.randint(0, 1))


def own_form(rng, text):
    mesh = MESHES[rng.choice(list(MESHES))]
    lines = [f"mesh: {mesh_text(mesh)}", "signals:"]
    places = rng.random() < 0.4
    for name in rng.sample(SIGNALS, rng.randint(2, 6)):
        # Where a line runs must not contradict how it is cut.
        if places and name[0] == "s" and "/" not in name:
            parts = [place(rng, mesh)]
        else:
            parts = [f"shard: {cuts(rng, mesh, places)}"]
            if rng.random() < 0.5:
                parts = [f"results: {cuts(rng, mesh, places)}"]
        if rng.random() < 0.1:
            parts.append("compile: true")
        if rng.random() < 0.1:
            parts.append("regather: true")
        if rng.random() < 0.1:
            parts.append(f"chunks: {rng.randint(1, 5)}")
        lines.append(f"  {name}: {{{', '.join(parts)}}}")
    lines.append("tensors:")
    for name in patterns(text, rng):
        if places and rng.random() < 0.3:
            parts = [place(rng, mesh)]
        else:
            parts = [f"shard: {cuts(rng, mesh, places)}"]
        lines.append(f"  \"{name}\": {{{', '.join(parts)}}}")
    if rng.random() < 0.1:
        lines.append("regather: true")
    if rng.random() < 0.2:
        lines.append(f"chunks: {rng.choice([2, 3, 4, 'auto'])}")
    lines.append(link(rng))
    return "\n".join(lines) + "\n"


def link(rng):
    """For machines on whose links small sums go together, or products in chunks."""
    if rng.random() < 0.1:
        return "overlap: false"
    return (f"machine: {{latency: {rng.choice(['1e-6', '2e-5', '1e-3'])}, "
            f"bandwidth: {rng.choice(['1e5', '1e8', '1e10'])}}}")


def gt_form(rng):
    lines = []
    n = rng.randint(2, 4)
    for name in rng.sample(SIGNALS, rng.randint(2, 6)):
        ranks = rng.choice(["null", str(some_ranks(rng, n))])
        kind = rng.random()
        if kind < 0.5:
            parts = [f"shard: {{axis: {rng.randint(0, 1)}, workers: {ranks}}}"]
        elif kind < 0.7:
            parts = [f"shard: {{replicated: true, workers: {ranks}}}"]
        else:
            parts = [f"workers: {ranks}"]
        if rng.random() < 0.2:
            parts.append("compile: true")
        lines.append(f"{name}: {{{', '.join(parts)}}}")
    return "\n".join(lines) + "\n", n


def problem_of(text, config, options):
    """How the placed program differs, or None."""
    stream, _, status = emit(text)
    if status not in (0, 3):
        return f"gt-emit: {status}"
    placed, said, code = shard(stream, config, *options)
    loud = [s for s in said.splitlines()
            if s.startswith("gt-shard") and not SILENT.search(s)]
    if code != status or loud:
        return f"gt-shard: status {code}, not {status}: {loud[:2]}"
    # With mixed precision the program is the one that it makes on one rank.
    mixed = [s + "\n" for s in config.splitlines()
             if s.startswith("precision:")]
    whole = shard(stream, mixed[0], "-n", "1")[0] if mixed else stream
    wanted, _, status = work(whole)
    got, said, code = work(placed)
    if code != status:
        return f"gt-work: status {code}, not {status}: {said[:300]}"
    problem = compare(got, wanted, HALF_BOUND if mixed else BOUND)
    if problem:
        return problem
    again, said, _ = shard(placed, config, *options)
    if again != placed:
        return "gt-shard changes its own output: " + first_change(
            placed, again)
    found = findings(placed)
    if found and "fail" not in placed:
        return found[0][1]
    if "fail" not in placed:
        expected = most_expected(stream, config, *options)
        most = most_bytes(placed)
        if expected != most and most < 1e6:  # gt-shard prints six digits
            return f"--summary: {expected} bytes, gt-check: {most}"
        problem = sent_problem(stream, config, route(placed)[1], *options)
        if problem:
            return problem
    if "small sums travel together" in placed and "chunks" not in config:
        apart, _, _ = shard(stream, config + "overlap: false\n", *options)
        if work(apart)[0] != got:
            return "sums that travel together have other bits"
    bare, _, _ = work(re.sub(r" #.*", "", placed))
    if bare != got and "fail" not in got:
        return "notes stripped change the values"
    return None


def compare(got, wanted, bound):
    got, wanted = got.splitlines(), wanted.splitlines()
    for i, line in enumerate(wanted):
        name, text = line.split(" = ", 1)
        if i >= len(got) or not got[i].startswith(name + " = "):
            return f"line {i + 1} is not {name}"
        have = got[i].split(" = ", 1)[1]
        if have == text or text.startswith("fail") == have.startswith("fail"):
            if have == text or text.startswith("fail"):
                continue
        if text.startswith("fail"):
            return f"{name} does not fail"
        dtype = text.split()[1].split("[")[0]
        found = difference(have, value_of(text), bound.get(dtype), 1e-3)
        if found:
            return f"{name} {found}"
    return None if len(got) == len(wanted) else "more lines"


def smaller(lines, fails):
    """Removes lines as long as the rest still fails."""
    step = max(1, len(lines) // 2)
    while step:
        start = 0
        while start < len(lines):
            rest = lines[:start] + lines[start + step:]
            if rest and fails(rest):
                lines = rest
            else:
                start += step
        step //= 2
    return lines


def kind_of(problem):
    """The part of a problem that is the same for problems of one cause."""
    found = re.search(r"\[[a-z-]+\]", problem)
    return found.group() if found else re.sub(
        r"/tmp/\S+|'[^']*'|[0-9.<>]+", "", problem)[:60]


def show(text, config, options, problem):
    kind = kind_of(problem)

    def fails_as(program, yaml):
        try:
            found = problem_of(program, yaml, options)
        except Exception as error:  # of a program that lost lines
            found = str(error)
        return found is not None and kind_of(found) == kind

    lines = smaller(text.splitlines(),
                    lambda ls: fails_as("\n".join(ls) + "\n", config))
    text = "\n".join(lines) + "\n"
    yaml = smaller(config.splitlines(),
                   lambda ls: ls[0] == config.splitlines()[0]
                   and fails_as(text, "\n".join(ls) + "\n"))
    config = "\n".join(yaml) + "\n"
    placed, said, _ = shard(emit(text)[0], config, *options)
    print(problem_of(text, config, options))
    print(f"--- config {' '.join(options)}\n{config}--- program\n{text}"
          f"--- placed\n{placed}{said[:600]}", flush=True)


def generate(seed):
    """A program, its config, and options for gt-shard."""
    rng = random.Random(seed)
    text = with_signals(Program(seed).text(), rng)
    if seed % 3 == 2:
        config, n = gt_form(rng)
        return text, config, ["-n", str(n)]
    return text, own_form(rng, text), []


WEIGHT = re.compile(r"(?m)^(\w+) = randn ((f32|f64)\[[\d,]*\]) \d+ scale=0\.4.*$")


def nudged(weight, mixed):
    """The line that makes a weight, and lines that change the last digits of
    each of its elements, which in mixed precision are those of bf16."""
    name, of, dtype = weight.group(1, 2, 3)
    digit = "2e-3" if mixed else "1e-7" if dtype == "f32" else "4e-16"
    return (f"{weight.group()}\nnudge = randn {of} 99 scale={digit}\n"
            f"{name} = add {name} nudge\nfree nudge")


def is_unstable(text, mixed=False):
    """Whether the program itself, on one worker, differs as much when the last
    digits of its random weights change. A training that diverges does, and a
    softmax of logits that are large and nearly equal."""
    other = WEIGHT.sub(lambda weight: nudged(weight, mixed), text)
    return compare(work(emit(other)[0])[0], work(emit(text)[0])[0],
                   HALF_BOUND if mixed else BOUND) is not None


def main(generator, what):
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    passed = failed = 0
    for seed in range(first, first + count):
        text, config, options = generator(seed)
        problem = problem_of(text, config, options)
        if problem is None:
            passed += 1
            continue
        if is_unstable(text, "precision:" in config):
            print(f"skipped {what} {seed}: it diverges by itself; {problem}")
            continue
        failed += 1
        if failed <= 6:
            print(f"FAILED {what} {seed}: {problem}")
            show(text, config, options, problem)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(generate, "program"))

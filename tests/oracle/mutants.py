#!/usr/bin/env python3
"""Does gt-check find what breaks a placed stream?

usage: mutants.py [-n MOST] [-s SEED] [STREAM...]

Takes placed streams, or else every example under every config, which must be
clean, and makes mutants of them: one collective, conversion or copy between
ranks is left out, dropped, doubled, or moved, or it gets other ends, another
axis or none, another root or reduction, or its ranks in another order; or one
split= is changed or dropped, with shape= or without, except those of prints
and saves, which then print and save pieces. Of lines in the same surroundings,
as those of the rounds of a loop, only the first is used. A mutant counts if
gt-work prints other values than before, beyond rounding; mutants that gt-work
refuses are counted apart. gt-check must find all that leave out, drop or
double the reduction of a gradient, and 95 % of all, of either sort. Prints the
survivors, a line of counts for each kind, and "N passed, N failed".
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import shipped

OPS = ("all_reduce all_gather reduce_scatter all_to_all convert redistribute "
       "broadcast reduce reinterpret copy").split()
CROSSING = re.compile(r"^(\S+) = (%s) (\S+)" % "|".join(OPS))
ENDS = ("R", "I", "V", "P", "S0", "S1")
ENOUGH = 0.95
# The bound is relative to the largest magnitude of a tensor.
ROUNDING = 1e-4
GRADIENT = ("drop", "leave out", "double")
SUM = " of a gradient's sum"

# A mutant lacks the line `line`, and has `lines` at `at` of the others.
Mutant = collections.namedtuple("Mutant", "stream kind line lines at")


def output(text, *command):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=False)


# ---- mutants -----------------------------------------------------------------

def with_key(line, key, value):
    """The line with key=value in place of the key's own value, or after its
    keys."""
    if re.search(r" %s=\S+" % key, line):
        return re.sub(r" %s=\S+" % key, " %s=%s" % (key, value), line)
    text, mark, notes = line.partition(" #")
    return "%s %s=%s%s%s" % (text, key, value, mark, notes)


def without_keys(line, *keys):
    text, mark, notes = line.partition(" #")
    for key in keys:
        text = re.sub(r" %s=\S+" % key, "", text)
    return text + mark + notes


def reversed_ranks(text):
    """The line or word with each "@0-3" as "@3,2,1,0"."""
    return re.sub(r"@(\d+)-(\d+)", lambda m: "@" + ",".join(
        str(r) for r in range(int(m[2]), int(m[1]) - 1, -1)), text)


def orders_of(line, op, operand):
    """The line with its ranks in reverse order: all of them as one group, or
    only those of a copy's source."""
    if op == "copy":
        if reversed_ranks(operand) != operand:
            yield "order", line.replace(" " + operand,
                                        " " + reversed_ranks(operand), 1)
        return
    text, mark, notes = line.partition(" #")
    for other in (text, without_keys(text, "over")):
        if reversed_ranks(other) != text:
            yield "order", reversed_ranks(other) + mark + notes


def ends_of(line, op):
    for key in ("src", "dst"):
        for end in ENDS:
            if " %s=%s" % (key, end) not in line:
                yield "retype", with_key(line, key, end)
    if op in ("all_reduce", "reduce_scatter") and " op=" not in line:
        for how in ("max", "mean"):
            yield "reduction", with_key(line, "op", how)
    if op in ("broadcast", "reduce"):
        old = re.search(r" root=(\d+)", line)
        root = 1 if old is None or old.group(1) == "0" else 0
        yield "root", with_key(line, "root", root)


def mutants_of_crossing(lines, i, axes):
    """Yields (kind, lines in place of this one, where they go if not
    there)."""
    line = lines[i]
    result, op, operand = CROSSING.match(line).groups()

    def put(kind, *text):
        return kind, text, i

    yield put("drop")
    if result != operand:
        yield put("leave out", "%s = copy %s" % (result, operand))
    yield put("double", line, line.replace("%s %s" % (op, operand),
                                           "%s %s" % (op, result), 1))
    for step in (-8, -3, -1, 1, 3, 8):
        at = i + step
        if 1 < at < len(lines) - 1:
            yield "move", (line,), at
    over = re.search(r" over=(\w+)", line)
    for axis in axes if over else ():
        if axis != over.group(1):
            yield put("axis", with_key(line, "over", axis))
    if over:
        yield put("axis", without_keys(line, "over"))
    for kind, text in orders_of(line, op, operand):
        yield put(kind, text)
    if op != "copy":
        for kind, text in ends_of(line, op):
            yield put(kind, text)


def mutants_of_split(lines, i, axes):
    line = lines[i]
    entries = re.search(r" split=(\S+)", line).group(1).split(",")

    def put(split):
        return "cut", (with_key(line, "split", ",".join(split)),), i

    if not line.startswith(("print ", "save ")):
        yield "no split", (without_keys(line, "split"),), i
        if " shape=" in line:
            yield "no split", (without_keys(line, "split", "shape"),), i
            yield "no shape", (without_keys(line, "shape"),), i
    for k, entry in enumerate(entries):
        axis, _, place = entry.partition(":")
        dim, _, unit = place.partition("*")
        others = ["%s:%s" % (a, place) for a in axes if a != axis]
        others += ["%s:%s%s" % (axis, d, "*" + unit if unit else "")
                   for d in "012" if d != dim]
        others.append("%s:%s%s" % (axis, dim, "" if unit else "*2"))
        for other in others:
            yield put(entries[:k] + [other] + entries[k + 1:])


def crosses(line):
    """Whether the line is a collective, or a copy from other ranks."""
    found = CROSSING.match(line)
    if found is None:
        return False
    result, op, operand = found.groups()
    return op != "copy" or result.partition("@")[2] != operand.partition("@")[2]


def mutants(stream, lines):
    axes = []
    seen = set()
    for i, line in enumerate(lines):
        if line.startswith("mesh "):
            axes = re.findall(r"(\w+)=\d+", line)
        surroundings = tuple(lines[max(i - 1, 0):i + 2])
        if surroundings in seen:
            continue
        seen.add(surroundings)
        if crosses(line):
            for kind, made, at in mutants_of_crossing(lines, i, axes):
                yield Mutant(stream, kind, i, made, at)
        if " split=" in line:
            for kind, made, at in mutants_of_split(lines, i, axes):
                yield Mutant(stream, kind, i, made, at)


def gradient_reductions(lines):
    """The lines that add up the result of a line with #grad=."""
    names, found = set(), set()
    for i, line in enumerate(lines):
        results, _, rest = line.partition(" = ")
        reads = re.match(r"(?:all_reduce|reduce_scatter) (\S+)", rest)
        if reads and reads.group(1) in names:
            found.add(i)
        elif "#grad=" in line:
            names.update(results.split())
        elif rest:
            names.difference_update(results.split())
    return found


# ---- what they do ------------------------------------------------------------

def values_of(words):
    try:
        return [float(w) for w in words]
    except ValueError:
        return None


def alike(a, b):
    """Whether two outputs of gt-work are the same but for rounding."""
    if a == b:
        return True
    a, b = a.split("\n"), b.split("\n")
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        if x == y:
            continue
        x, y = x.split(), y.split()
        if x[:4] != y[:4] or len(x) != len(y):
            return False
        x, y = values_of(x[4:]), values_of(y[4:])
        if x is None or y is None:
            return False
        bound = ROUNDING * max(map(abs, x), default=0)
        # nan is near nothing, unless it was nan before.
        if any(p != q and not abs(p - q) <= bound and (p == p or q == q)
               for p, q in zip(x, y)):
            return False
    return True


def text_of(mutant, lines):
    rest = lines[:mutant.line] + lines[mutant.line + 1:]
    rest[mutant.at:mutant.at] = mutant.lines
    return "\n".join(rest) + "\n"


Outcome = collections.namedtuple("Outcome", "does found notes")


def outcome(text, before):
    """What gt-work does (same, other or fails), and what gt-check says."""
    ran = output(text, "gt-work", "--threads", "1")
    if ran.returncode != 0 or " = fail " in ran.stdout:
        does = "fails"
    elif alike(before, ran.stdout):
        return Outcome("same", False, False)
    else:
        does = "other"
    checked = output(text, "gt-check", "-q")
    return Outcome(does, checked.returncode == 1, "note: " in checked.stderr)


def reason(mutant, done):
    """The reason why gt-check does not find the mutant."""
    if done.notes:
        return ("shards are read as unrelated values, which is legal: gt-check "
                "notes it")
    if mutant.kind == "move":
        return ("the name holds another value of the same type there, from "
                "before or after")
    return "not known"


def judge(streams, before, chosen):
    """Runs the mutants. Returns counts by kind, effect, and whether gt-check
    found it, and the survivors by kind and reason."""
    lines = {name: text.splitlines() for name, text in streams.items()}
    reductions = {name: gradient_reductions(lines[name]) for name in lines}
    counts = collections.Counter()
    survivors = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        all_done = pool.map(lambda m: outcome(text_of(m, lines[m.stream]),
                                              before[m.stream]), chosen)
        for mutant, done in zip(chosen, all_done):
            kind = mutant.kind
            if kind in GRADIENT and mutant.line in reductions[mutant.stream]:
                kind += SUM
            counts[kind, done.does, done.found] += 1
            if done.does != "same" and not done.found:
                survivors[kind, reason(mutant, done)].append(
                    "%s:%d: %s" % (mutant.stream, mutant.line + 1,
                                   lines[mutant.stream][mutant.line]))
    return counts, survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, help="so many mutants, of all streams")
    parser.add_argument("-s", type=int, default=1, help="seed of the choice")
    parser.add_argument("streams", nargs="*")
    options = parser.parse_args()
    streams = {}
    for path in map(pathlib.Path, options.streams):
        streams[path.name] = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        if not streams:
            os.chdir(folder)
            streams = shipped.shipped(pathlib.Path(folder))
        sys.exit(run(streams, options) > 0)


def run(streams, options):
    """Tests the streams and their mutants. Returns how many demands are not met."""
    failed = 0
    before = {}
    chosen = []
    for name, text in streams.items():
        ran = output(text, "gt-work", "--threads", "1")
        clean = output(text, "gt-check", "-q")
        if ran.returncode != 0 or clean.returncode != 0:
            print("%s: is not right: %s" % (name, ran.stderr + clean.stderr))
            failed += 1
        before[name] = ran.stdout
        chosen.extend(mutants(name, text.splitlines()))
    total = len(chosen)
    if options.n is not None and total > options.n:
        chosen = random.Random(options.s).sample(chosen, options.n)
    counts, survivors = judge(streams, before, chosen)
    for (kind, why), places in sorted(survivors.items()):
        print("%s: %d survive: %s" % (kind, len(places), why))
        for place in places:
            print("  %s" % place[:110])
    return failed + sum_up(counts, len(chosen), total)


def sum_up(counts, chosen, total):
    """Prints the counts. Returns how many kinds do not meet their demand."""
    failed = 0
    for kind in sorted({kind for kind, _, _ in counts}):
        same = counts[kind, "same", False]
        found = {d: counts[kind, d, True] for d in ("other", "fails")}
        left = {d: counts[kind, d, False] for d in ("other", "fails")}
        print("%s: %d equivalent; %d of %d that change a value found, %d of %d "
              "that fail" % (
                  kind, same, found["other"], found["other"] + left["other"],
                  found["fails"], found["fails"] + left["fails"]))
        if kind.endswith(SUM):
            failed += left["other"] + left["fails"]
    all_found = 0
    for does in ("other", "fails"):
        found = sum(n for (_, d, f), n in counts.items() if d == does and f)
        of = sum(n for (_, d, _), n in counts.items() if d == does)
        print("all: %d of %d that %s are found" % (
            found, of, "change a value" if does == "other" else "fail"))
        all_found += found
        failed += found < ENOUGH * of
    print("%d mutants of %d" % (chosen, total))
    print("%d passed, %d failed" % (all_found, failed))
    return failed


if __name__ == "__main__":
    main()

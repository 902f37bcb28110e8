"""Does gt-check find what breaks a placed stream?

usage: mutants.py [-n MOST] [-s SEED] STREAM...

From each stream, which must be clean, it makes mutants: one collective, copy or
conversion is left out, dropped, doubled, moved, given other ends, another axis,
root or reduction, or one split= is changed. A mutant counts if gt-work prints
other values than before, beyond rounding. All those that leave out, drop or
double the reduction of a gradient must be found, and 95 % of the others. Prints
the survivors, a line of counts a kind, and "N passed, N failed".
"""

import argparse
import collections
import random
import re
import subprocess
import sys

OPS = ("all_reduce all_gather reduce_scatter all_to_all convert redistribute "
       "broadcast reduce reinterpret copy").split()
CROSSING = re.compile(r"^(\S+) = (%s) (\S+)" % "|".join(OPS))


def output(program, text):
    return subprocess.run(program, input=text, capture_output=True, text=True,
                          check=False)


def values(text):
    """What was printed: names and numbers; of a failure only that it is one."""
    found = []
    for line in output(["gt-work", "--backend", "ref"], text).stdout.split("\n"):
        words = line.split()
        found.append(words[0] if words else "")
        if len(words) > 2 and words[2] == "tensor":
            found.extend(float(w) for w in words[4:])
        else:
            found.extend(words[1:3])
    return found


def alike(a, b):
    def same(x, y):
        if isinstance(x, float) and isinstance(y, float):
            return x == y or (x != x and y != y) or (
                abs(x - y) <= 1e-4 * (1 + abs(x)))
        return x == y
    return len(a) == len(b) and all(map(same, a, b))


def with_key(line, key, value):
    """The line with key=value in place of the key's own, or behind its keys."""
    if re.search(r" %s=\S+" % key, line):
        return re.sub(r" %s=\S+" % key, " %s=%s" % (key, value), line)
    text, mark, notes = line.partition(" #")
    return "%s %s=%s%s%s" % (text, key, value, mark, notes)


def mutants_of_crossing(lines, i, axes):
    line = lines[i]
    result, op, operand = CROSSING.match(line).groups()
    rest = lines[:i], lines[i + 1:]

    def put(kind, *text):
        return kind, i, rest[0] + list(text) + rest[1]

    yield put("drop")
    yield put("leave out", *([] if result == operand else
                             ["%s = copy %s" % (result, operand)]))
    yield put("double", line, line.replace("%s %s" % (op, operand),
                                           "%s %s" % (op, result), 1))
    without = rest[0] + rest[1]
    for step in (-8, -3, -1, 1, 3, 8):
        at = i + step
        if 1 < at < len(lines) - 1:
            yield "move", i, without[:at] + [line] + without[at:]
    over = re.search(r" over=(\w+)", line)
    for axis in axes if over else ():
        if axis != over.group(1):
            yield put("axis", with_key(line, "over", axis))
    if op == "copy":
        return
    for key in ("src", "dst"):
        for end in ("R", "I", "V", "P", "S0", "S1"):
            if " %s=%s" % (key, end) not in line:
                yield put("retype", with_key(line, key, end))
    if op in ("all_reduce", "reduce_scatter") and " op=" not in line:
        for how in ("max", "mean"):
            yield put("reduction", with_key(line, "op", how))
    if op in ("broadcast", "reduce"):
        old = re.search(r" root=(\d+)", line)
        root = 1 if old is None or old.group(1) == "0" else 0
        yield put("root", with_key(line, "root", root))


def mutants_of_split(lines, i, axes):
    line = lines[i]
    entries = re.search(r" split=(\S+)", line).group(1).split(",")

    def put(split):
        text = (with_key(line, "split", ",".join(split)) if split else
                re.sub(r" split=\S+", "", line))
        return "cut", i, lines[:i] + [text] + lines[i + 1:]

    yield put([])
    for k, entry in enumerate(entries):
        axis, _, place = entry.partition(":")
        dim, _, unit = place.partition("*")
        others = ["%s:%s" % (a, place) for a in axes if a != axis]
        others += ["%s:%s%s" % (axis, d, "*" + unit if unit else "")
                   for d in "012" if d != dim]
        others.append("%s:%s%s" % (axis, dim, "" if unit else "*2"))
        for other in others:
            yield put(entries[:k] + [other] + entries[k + 1:])


def mutants(lines):
    axes = []
    for i, line in enumerate(lines):
        if line.startswith("mesh "):
            axes = re.findall(r"(\w+)=\d+", line)
        if CROSSING.match(line):
            yield from mutants_of_crossing(lines, i, axes)
        if " split=" in line:
            yield from mutants_of_split(lines, i, axes)


def reduces_gradient(lines, i):
    return "#grad=" in lines[i] and re.search(
        r"= (all_reduce|reduce_scatter) ", lines[i]) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=1000, help="mutants a stream")
    parser.add_argument("-s", type=int, default=1, help="seed of the choice")
    parser.add_argument("streams", nargs="+")
    options = parser.parse_args()
    random.seed(options.s)
    made, changed = collections.Counter(), collections.Counter()
    found = collections.Counter()
    failed = 0
    for path in options.streams:
        with open(path, encoding="utf-8") as file:
            lines = file.read().strip().split("\n")
        text = "\n".join(lines) + "\n"
        clean = output(["gt-check", "-q"], text)
        if clean.returncode != 0:
            print("%s is not clean: %s" % (path, clean.stderr.split("\n")[0]))
            failed += 1
        before = values(text)
        chosen = list(mutants(lines))
        if len(chosen) > options.n:
            chosen = random.sample(chosen, options.n)
        for kind, i, mutant in chosen:
            made[kind] += 1
            text = "\n".join(mutant) + "\n"
            if alike(before, values(text)):
                continue
            changed[kind] += 1
            if output(["gt-check", "-q"], text).returncode != 0:
                found[kind] += 1
                continue
            print("%s:%d: survives: %s: %s" % (path, i + 1, kind, lines[i]))
            if kind in ("drop", "leave out", "double"):
                failed += reduces_gradient(lines, i)
    for kind in made:
        print("%s: %d mutants, %d change a value, %d of them found" %
              (kind, made[kind], changed[kind], found[kind]))
    total = sum(changed.values())
    failed += sum(found.values()) < 0.95 * total
    print("%d of %d found" % (sum(found.values()), total))
    print("%d passed, %d failed" % (sum(found.values()), failed))
    sys.exit(failed > 0)


main()

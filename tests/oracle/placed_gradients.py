#!/usr/bin/env python3
"""Gradients of placed programs: gt-emit writes them, gt-check judges them.

usage: placed_gradients.py [--share K N] [-v]

Only the forward lines of every example under every config are placed, as if by
hand, and gt-emit differentiates them. gt-check must find nothing wrong in the
result, and gt-work must give the gradients of the program for one device; the
same must hold with all notes removed. It is tested as well with each
collective forward, and with programs that have each op whose gradient states
sizes. With --share, each N-th program is tested, from the K-th on. Prints
"N passed, N failed".
"""
import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import placed_programs
import gt
import shipped

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTE = re.compile(r" #\S.*$")


def check(stream, *options):
    """gt-check over a stream: what comes out, messages and status."""
    done = subprocess.run(["gt-check", *options], input=stream, text=True,
                          capture_output=True, timeout=300, check=False)
    return done.stdout, done.stderr, done.returncode


def note(line, key):
    found = re.search(r" #%s=(\S+)" % key, line)
    return found.group(1) if found else ""


class Wrong(Exception):
    pass


def emitted(program):
    stream, said, status = gt.emit(program, "--no-at")
    if status != 0:
        raise Wrong("gt-emit: " + said)
    return stream


def clean(stream, *options):
    out, said, status = check(stream, *options)
    if status != 0:
        raise Wrong("gt-check %s: %s" % (" ".join(options), said))
    return out


def letters(line):
    """{"dp": "S0", "tp": "P"} of a line with #type=."""
    return dict(pair.split(":") for pair in note(line, "type").split(",")
                if pair)


def of_result(line, name):
    """The line with only those notes that are of this one of its results."""
    part = line.split(" = ")[0].split(" ").index(name)
    for key in ("type", "spec"):
        parts = note(line, key).split(";")
        if len(parts) > 1:
            line = line.replace(note(line, key), parts[part])
    return line


def last_line(stream, name):
    """The line that last binds the name, other than a free or a copy of it."""
    for line in reversed(stream.splitlines()):
        if re.match(r"(?:\S+ )*%s@\S+ (?:\S+ )*= " % re.escape(name), line):
            return line
    raise Wrong("no line gives " + name)


def forward(program):
    """The lines before the first gradient, its loss, and its targets."""
    lines = program.splitlines()
    for i, line in enumerate(lines):
        found = re.match(r"\S.* = grad (\S+) (.*)", line.partition(" #")[0])
        if found:
            return ("\n".join(lines[:i]) + "\n", found.group(1),
                    found.group(2).split())
    return None


def by_hand(stream):
    """A placed stream as a person would write it, without marks and filters'
    names."""
    lines = [line for line in stream.splitlines()
             if not re.match(r"#(gt|end)\b", line)]
    return re.sub(r"(?<![\w.])_([a-z])", r"hand.\1", "\n".join(lines)) + "\n"


def with_loss(placed, loss):
    """The program, and the name of its loss as a sum over all ranks: what all
    of them compute counts once."""
    line = last_line(clean(placed), loss)
    ranks = re.search(re.escape(loss) + r"@(\S+)", line).group(1)
    for axis, letter in letters(line).items():
        if letter == "R":
            placed += (f"{loss}1@{ranks} = convert {loss}@{ranks} over={axis} "
                       "src=R dst=P\n")
            loss += "1"
    return placed, loss + "@" + ranks


def cut_of(line, stream, name):
    """split= of a tensor with the line's types, in the units that the tensor
    has."""
    spec = note(line, "spec")
    cuts = []
    for axis, letter in letters(line).items():
        if letter.startswith("S") and not spec:
            cuts.append((axis, letter[1:]))
    for dim, entry in enumerate(spec.split(",") if spec else []):
        cuts += [(axis, str(dim)) for axis in entry.split("+") if axis != "-"]
    units = dict(re.findall(r"(\w+):(-?\d+\*\d+)",
                            " ".join(l for l in stream.splitlines()
                                     if l.startswith(name + "@"))))
    return ",".join(axis + ":" + dim +
                    ("*" + units[axis].partition("*")[2] if axis in units
                     else "") for axis, dim in cuts)


def shown(stream, targets):
    """Lines that print the gradients whole, and take the sums that are
    owed."""
    text = ""
    typed = clean(stream)
    for k, target in enumerate(targets):
        ranks = target.partition("@")[2]
        name = f"grad{k}@{ranks}"
        line = of_result(last_line(typed, f"grad{k}"), name)
        owed = [a for a, letter in letters(line).items() if letter == "P"]
        if owed:
            text += f"{name} = all_reduce {name} over={'+'.join(owed)}\n"
        cut = cut_of(line, stream, target.partition("@")[0])
        if cut:
            text += f"print {name} split={cut} as=grad{k}\n"
        else:
            text += f"print grad{k}@{re.match(r'[0-9]+', ranks)[0]} as=grad{k}\n"
    return text


def with_prints(stream, targets):
    lines = shown(stream, targets)
    return stream.replace("\n#end 0\n", "\n" + lines + "#end 0\n")


def compare(name, want, got):
    want, got = gt.results_of(want), gt.results_of(got)
    for key in want:
        if key not in got:
            raise Wrong(f"{name}: nothing printed as {key}")
        a, b = gt.parse_result(want[key]), gt.parse_result(got[key])
        if a[0] != b[0] or a[0] == "fail":
            raise Wrong(f"{name}: {key} is {b[0]} {b[1] if b[0] == 'fail' else ''}"
                        f", not {a[0]}")
        bound = 1e-4 * max(map(abs, a[1]), default=0) + 1e-7
        if any(not abs(x - y) <= bound for x, y in zip(a[1], b[1])):
            raise Wrong(f"{name}: {key}: {want[key][:200]}\n  {got[key][:200]}")


def values(stream):
    out, said, status = gt.work(stream)
    if status != 0:
        raise Wrong("gt-work: " + said + out[:300])
    return "\n".join(l for l in out.splitlines() if l.startswith("grad")) + "\n"


def judge(placed, loss, targets, whole):
    """Raises Wrong where the gradients of the placed program are wrong."""
    def with_grad(program):
        grads = " ".join(f"grad{k}@{t.partition('@')[2]}"
                         for k, t in enumerate(targets))
        return emitted(program + f"{grads} = grad {loss} {' '.join(targets)}\n")
    stream = with_grad(placed)
    clean(stream, "-q")
    ready = with_prints(stream, targets)
    clean(ready, "-q")
    compare("placed", whole, values(ready))
    # No value depends on a note.
    bare = "\n".join(NOTE.sub("", l) for l in placed.splitlines()) + "\n"
    try:
        bare = with_grad(bare)
    except Wrong as wrong:
        if "[loss]" not in str(wrong):
            raise
        return
    lines = shown(stream, targets)
    compare("stripped", whole,
            values(bare.replace("\n#end 0\n", "\n" + lines + "#end 0\n")))


def gradients_of_whole(program, loss, targets):
    grads = " ".join(f"grad{k}" for k in range(len(targets)))
    prints = "".join(f"print grad{k}\n" for k in range(len(targets)))
    return values(emitted(
        program + f"{grads} = grad {loss} {' '.join(targets)}\n{prints}"))


def shipped_cases(folder, mine):
    """Yields name, placed program, loss, targets, and the gradients of the
    whole, of the programs for which mine() is true."""
    shipped.novel(folder, 400)
    (folder / "share").symlink_to(ROOT / "share")
    for config in sorted((ROOT / "configs").glob("*.yaml")):
        layers = 2 if config.stem == "pipeline" else 1
        for name, program in shipped.programs(layers).items():
            found = forward(program)
            if found is None:
                continue
            text, loss, targets = found
            stream = shipped.filtered(shipped.stream_of(text), "gt-shard",
                                      "-c", str(config))
            if "@" not in stream or not mine():
                continue
            placed, placed_loss = with_loss(by_hand(stream), loss)
            places = []
            for target in targets:
                line = last_line(placed, target)
                ranks = re.search(re.escape(target) + r"@(\S+)", line).group(1)
                places.append(f"{target}@{ranks}")
            yield (f"{name}.{config.stem}", placed, placed_loss, places,
                   gradients_of_whole(text, loss, targets))


def written_cases(programs, mine):
    """The same for programs that are written here, which have their own
    losses."""
    for name, placed, loss, targets, whole in programs:
        if not mine():
            continue
        names = [t.partition("@")[0] for t in targets]
        try:
            placed, placed_loss = with_loss(placed, loss)
        except Wrong as wrong:
            yield name + ": " + str(wrong), None, None, None, None
            continue
        yield (name, placed, placed_loss, targets,
               gradients_of_whole(whole, loss, names))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1),
                        metavar=("K", "N"))
    parser.add_argument("-v", action="store_true", help="say each one's name")
    options = parser.parse_args()
    first, step = options.share
    number = itertools.count()

    def mine():
        return next(number) % step == first
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        cases = itertools.chain(written_cases(placed_programs.programs(), mine),
                                written_cases(placed_programs.programs_of_ops(), mine),
                                shipped_cases(pathlib.Path(name), mine))
        for case, placed, loss, targets, whole in cases:
            try:
                if placed is None:
                    raise Wrong("")
                judge(placed, loss, targets, whole)
                passed += 1
                if options.v:
                    print("ok", case)
            except Wrong as wrong:
                failed += 1
                print(f"{case}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

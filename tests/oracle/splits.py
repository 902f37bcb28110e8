"""Compares every op split over ranks with the same op in one piece.

usage: splits.py [--forward] [--every N] [SEED]

A case names the dimensions of an op's operands and results by letters. A
letter is split over a mesh axis wherever it stands: a result that has it is
put together again, one that lacks it is the sum over the axis. Values are
small integers, so that sums are exact; what is not exact by nature is compared
to a few roundings. Backward: the loss is the sum of y * r, each rank giving
its part (a P), and gradients of operands that lack a split letter are summed.

All cases of one mesh are one program, which gt-emit and gt-work run placed and
not. --every N takes every Nth case, beginning at SEED.
"""
import argparse
import itertools
import re
import sys

import ops_table
from gt import emit, work

# op: lines. A line: text, operands by name ("letters:kind"), results' letters,
# flags. Kinds: int, pos, unit, bool, mask, i64; index<letter> below a size.
#   whole=   letters that must not be split
#   max= min= prod= any= all=  how pieces of a contracted letter combine
#   flat     no gradient;  near   not exact
BINARY = "add sub mul maximum minimum"
COMPARE = "eq ne lt le gt ge"


def table():
    cases = []

    def case(line, operands, results, *flags, **more):
        cases.append((line, operands, results, set(flags), more))

    case("y = gelu x approximate=tanh", {"x": "mn:int"}, ["mn"], "near")
    case("y = copy x", {"x": "mn:int"}, ["mn"])
    case("y = detach x", {"x": "mn:int"}, ["mn"], "flat")
    for op in BINARY.split():
        for a, b in (("mn", "mn"), ("mn", "n"), ("mn", ""), ("n", "mn")):
            case(f"y = {op} a b", {"a": a + ":int", "b": b + ":int"}, ["mn"])
        case(f"y = {op} a 2", {"a": "mn:int"}, ["mn"])
    for a, b in (("mn", "mn"), ("mn", "n")):
        for op in ("div", "pow"):
            case(f"y = {op} a b", {"a": a + ":pos", "b": b + ":pos"}, ["mn"],
                 "near")
        for op in ("mod", "floordiv"):
            case(f"y = {op} a b", {"a": a + ":int", "b": b + ":pos"}, ["mn"],
                 "flat")
        for op in COMPARE.split():
            case(f"y = {op} a b", {"a": a + ":int", "b": b + ":int"}, ["mn"],
                 "flat")
        for op in ("and", "or"):
            case(f"y = {op} a b", {"a": a + ":bool", "b": b + ":bool"}, ["mn"],
                 "flat")
    case("y = not x", {"x": "mn:bool"}, ["mn"], "flat")
    case("y = isfinite x", {"x": "mn:int"}, ["mn"], "flat")
    case("y = where c a b", {"c": "mn:bool", "a": "mn:int", "b": "n:int"},
         ["mn"])
    case("y = clamp x -1 2", {"x": "mn:int"}, ["mn"])
    case("y = cast x i32", {"x": "mn:int"}, ["mn"], "flat")
    case("y = cast x f64", {"x": "mn:int"}, ["mn"])
    for keep in (0, 1):
        y = "m1" if keep else "m"
        tail = f" axis=1 keepdims={keep}"
        case("y = sum x" + tail, {"x": "mn:int"}, [y])
        for op in ("max", "min", "prod"):
            case(f"y = {op} x" + tail, {"x": "mn:int"}, [y], "flat",
                 combine=op, nonempty="n")
        case("y = any x" + tail, {"x": "mn:bool"}, [y], "flat", combine="max")
        case("y = all x" + tail, {"x": "mn:bool"}, [y], "flat", combine="min")
        for op in ("argmax", "argmin"):
            case(f"y = {op} x" + tail, {"x": "mn:int"}, [y], "flat",
                 whole="n", nonempty="n")
        for op in ("mean", "norm", "logsumexp"):
            case(f"y = {op} x" + tail, {"x": "mn:pos"}, [y], "near",
                 whole="n", nonempty="n")
        for op in ("var", "std"):
            case(f"y = {op} x" + tail, {"x": "mn:int"}, [y], "near", whole="n",
                 least=("n", 2))
        case("y = max x" + tail, {"x": "mn:int"}, [y], whole="n",
             nonempty="n")
    case("y = sum x", {"x": "mn:int"}, [""])
    case("y = cumsum x axis=1", {"x": "mn:int"}, ["mn"], whole="n")
    case("y = argsort x axis=1", {"x": "mn:int"}, ["mn"], "flat", whole="n")
    case("y i = sort x axis=1", {"x": "mn:int"}, ["mn", "mn"], whole="n")
    case("y i = topk x axis=1 size=1", {"x": "mn:int"}, ["m1", "m1"],
         whole="n", nonempty="n")
    for ta, tb in itertools.product((0, 1), (0, 1)):
        a, b = "km" if ta else "mk", "nk" if tb else "kn"
        case(f"y = matmul a b ta={ta} tb={tb}",
             {"a": a + ":int", "b": b + ":int"}, ["mn"])
    case("y = matmul a b", {"a": "bmk:int", "b": "bkn:int"}, ["bmn"])
    case("y = matmul a b", {"a": "bmk:int", "b": "kn:int"}, ["bmn"])
    case("y = linear x w", {"x": "bmk:int", "w": "kn:int"}, ["bmn"])
    case("y = linear x w b", {"x": "mk:int", "w": "kn:int", "b": "n:int"},
         ["mn"], whole="k")
    case("y = transpose x axes=2,0,1", {"x": "bmn:int"}, ["nbm"])
    case("y = unsqueeze x axis=1", {"x": "mn:int"}, ["m1n"])
    case("y = squeeze x axis=1", {"x": "m1n:int"}, ["mn"])
    case("y = flip x axis=1", {"x": "mn:int"}, ["mn"], whole="n")
    case("y = pad x width=0,0,1,2", {"x": "mn:int"}, ["m_"], whole="n")
    case("y = windows x axis=1 size=2 stride=2", {"x": "m4:int"}, ["m__"])
    case("y = slice x : 0:1", {"x": "mn:int"}, ["m1"], whole="n",
         nonempty="n")
    case("y = slice x : 0", {"x": "mn:int"}, ["m"], whole="n", nonempty="n")
    case("y = concat a b axis=1", {"a": "mn:int", "b": "mk:int"}, ["m_"],
         whole="nk")
    case("y = stack a b axis=1", {"a": "mn:int", "b": "mn:int"}, ["m2n"])
    case("y z = split x axis=1", {"x": "m2:int"}, ["m1", "m1"])
    case("y = gather x i axis=1", {"x": "mn:int", "i": "mk:indexn"}, ["mk"],
         whole="n", nonempty="n")
    case("y = scatter_add x i s axis=1",
         {"x": "mn:int", "i": "mk:indexn", "s": "mk:int"}, ["mn"], whole="n",
         nonempty="n", held="k")
    case("y = embedding t i", {"t": "vd:int", "i": "mn:indexv"}, ["mnd"],
         whole="v", nonempty="v")
    case("y = take x i axis=1", {"x": "mnd:int", "i": "kj:indexn"}, ["mkjd"],
         whole="n", nonempty="n")
    case("y = take x i axis=0", {"x": "nd:int", "i": "m:indexn"}, ["md"],
         whole="n", nonempty="n")
    case("y = scatter x i s axis=1",
         {"x": "mn:int", "i": "mk:indexn", "s": "mk:int"}, ["mn"], whole="nk",
         nonempty="n")
    case("y = one_hot i num_classes=20", {"i": "mn:i64"}, ["mn_"], "flat")
    for op in ("softmax", "log_softmax"):
        case(f"y = {op} x", {"x": "mn:int"}, ["mn"], "near", whole="n")
        case(f"y = {op} x axis=0", {"x": "mn:int"}, ["mn"], "near", whole="m")
    case("y = normalize x", {"x": "mn:pos"}, ["mn"], "near", whole="n")
    for how in ("none", "sum"):
        y = ["m"] if how == "none" else [""]
        case(f"y = cross_entropy x t reduction={how}",
             {"x": "mc:int", "t": "m:indexc"}, y, "near", whole="c",
             nonempty="c")
        case(f"y = cross_entropy x t w reduction={how} ignore_index=0 "
             "label_smoothing=0.25", {"x": "mc:int", "t": "m:indexc",
                                      "w": "c:factor"}, y, "near", whole="c",
             nonempty="c")
        y = ["mn"] if how == "none" else [""]
        case(f"y = mse x t reduction={how}", {"x": "mn:int", "t": "mn:int"},
             y)
        case(f"y = huber x t delta=2 reduction={how}",
             {"x": "mn:int", "t": "mn:int"}, y)
        case(f"y = bce x t reduction={how}", {"x": "mn:unit", "t": "mn:mask"},
             y, "near")
    case("y = sgd w g 0.5", {"w": "mn:int", "g": "mn:int"}, ["mn"], "flat")
    case("y v = sgd w g v 0.5 momentum=0.5",
         {"w": "mn:int", "g": "mn:int", "v": "mn:int"}, ["mn", "mn"], "flat")
    case("y m v = adamw w g m v 3 0.5",
         {"w": "mn:int", "g": "mn:int", "m": "mn:int", "v": "mn:pos"},
         ["mn", "mn", "mn"], "flat", "near")
    for w, b in (("", ""), (" w", ""), (" w", " b")):
        operands = {"x": "mn:int"}
        operands.update({k.strip(): "n:int" for k in (w, b) if k})
        case("y = layer_norm x" + w + b, operands, ["mn"], "near", whole="n",
             nonempty="n")
        if not b:
            case("y = rms_norm x" + w, operands, ["mn"], "near", whole="n",
                 nonempty="n")
    case("y = rope x", {"x": "bs4:int"}, ["bs4"], "near", whole="s")
    case("y = split_heads x heads=2", {"x": "bs4:int"}, ["b2s2"])
    case("y = merge_heads x heads=2", {"x": "b2s4:int"}, ["bs8"])
    qkv = {"q": "bs4:int", "k": "bt4:int", "v": "bt4:int"}
    case("y = attention q k v m", {**qkv, "m": "bst:int"}, ["bs4"], "near",
         whole="t", nonempty="t")
    case("y = attention q k v enable_gqa=1",
         {"q": "h4s2:int", "k": "h2t2:int", "v": "h2t2:int"}, ["h4s2"], "near",
         whole="t", nonempty="t")
    case("y = repeat_heads x size=3", {"x": "bmn:int"}, ["_mn"], whole="b")
    case("y = fold_heads x size=2", {"x": "b4mn:int"}, ["b2mn"])
    for tail in ("", " causal=1", " heads=2"):
        case("y = attention q k v" + tail, qkv, ["bs4"], "near",
             whole="t" if "causal" not in tail else "st", nonempty="t")
    return cases + derived({line.split(" = ")[1].split()[0]
                            for line, *_ in cases})


def derived(known):
    """Makes cases for the other ops that tests/ops.tsv has a line for."""
    found, ops = [], ops_table.ops()
    for row in ops_table.rows():
        op = ops[row.op]
        if row.op in known | EXCUSED or op.get("internal") or not op["index"]:
            continue
        terms, results = op["index"].split("->")
        operands = {}
        for (name, spec), term in zip(row.operands.items(), terms.split(",")):
            operands[name] = spelled(term, spec[1]) + (
                ":pos" if spec[2] == ">0" else ":int")
        found.append((row.line, operands, [
            spelled(term, "____") for term in results.split(",")],
            {"near"} if op["gradient"] else {"near", "flat"}, {}))
        known = known | {row.op}
    return found


def spelled(term, sizes):
    """An index term in letters: mn for "...", and the size of a dimension that
    is whole."""
    letters = "mn" if term.startswith("...") else ""
    rest = re.findall("([a-z])(!?)", term)
    for (letter, is_whole), size in zip(rest, sizes[len(sizes) - len(rest):]):
        letters += size if is_whole else letter
    return letters


# These need no case, as they read no tensor or make one by a rule of their own.
EXCUSED = set("""tensor full zeros ones arange eye randn rand randperm load
    reshape expand clip dropout mesh endmesh axis all_reduce all_gather
    reduce_scatter all_to_all broadcast reduce convert reinterpret redistribute
    remesh retype print save free fail grad step_number probability""".split())

MESHES = {"tp=2": ["tp"], "tp=3": ["tp"], "tp=4": ["tp"],
          "dp=2 tp=2": ["dp", "tp"]}
SIZES = [0, 1, 2, 3, 4, 5, 7, 12]


def check_coverage(cases):
    covered = {line.split(" = ")[1].split()[0] for line, *_ in cases}
    return [op["name"] for op in ops_table.ops().values()
            if not op["name"].endswith("_grad") and not op.get("internal")
            and op["name"] not in covered | EXCUSED]


def ranks_of(mesh):
    n = 1
    for word in mesh.split():
        n *= int(word.split("=")[1])
    return n


class Program:
    """A program written twice: whole, and on ranks."""

    def __init__(self, mesh, forward):
        self.whole, self.placed, self.forward = [], [f"mesh {mesh}"], forward
        self.near = set()
        self.set = f"@0-{ranks_of(mesh) - 1}"
        self.count = 0

    def both(self, text, names, split=""):
        """Adds a line to both; {x} stands for a name."""
        whole = {n: f"{n}.{self.count}" for n in names}
        placed = {n: f"{n}.{self.count}{self.set}" for n in names}
        self.whole.append(text.format(**whole))
        self.placed.append(text.format(**placed) + split)

    def show(self, name, split, near):
        label = f"{name}.{self.count}"
        self.whole.append(f"print {label}")
        if split:
            self.placed.append(f"print {label}{self.set} split={split}")
        else:
            self.placed.append(f"print {label}@0 as={label}")
        if near:
            self.near.add(label)


def sizes_text(letters, sizes):
    return ",".join(str(sizes[c]) if c in sizes else c for c in letters)


def split_of(letters, split):
    """split= of a tensor; `split` gives (axis, letter, unit) in order."""
    return ",".join(
        f"{axis}:{letters.index(c)}" + (f"*{unit}" if unit > 1 else "")
        for axis, c, unit in split if c in letters)


def make_operand(p, name, spec, sizes, split):
    letters, kind = spec.split(":")
    cut = split_of(letters, split)
    tail = f" split={cut}" if cut else ""
    seed = p.count * 31 + len(name) + ord(name[0])
    p.both(f"{{u}} = rand f32[{sizes_text(letters, sizes)}] {seed}", "u", tail)
    if kind == "unit":
        p.both(f"{{{name}}} = add {{u}} 0.001", ("u", name))
        return
    limit = {"int": 9, "pos": 5, "bool": 2, "mask": 2}.get(kind)
    if limit is None:
        limit = sizes[kind[-1]] if kind.startswith("index") else 9
    p.both(f"{{u}} = mul {{u}} {limit}", "u")
    p.both("{u} = cast {u} i64", "u")
    shift = {"int": -4, "pos": 1}.get(kind, 0)
    p.both(f"{{u}} = add {{u}} {shift}", "u")
    dtype = {"bool": "bool"}.get(kind, "i64" if "index" in kind or kind == "i64" else "f32")
    p.both(f"{{{name}}} = cast {{u}} {dtype}", ("u", name))


def add_case(p, case, sizes, split):
    line, operands, results, flags, more = case
    p.count += 1
    near = "near" in flags
    for name, spec in operands.items():
        make_operand(p, name, spec, sizes, split)
    left, right = line.split(" = ")
    outs = left.split()
    words = right.split()
    named = [f"{{{w}}}" if w in operands else w for w in words[1:]]
    p.both(" ".join(f"{{{o}}}" for o in outs) + f" = {words[0]} "
           + " ".join(named), set(outs) | set(operands))
    axes = [axis for axis, _, _ in split]
    for out, letters in zip(outs, results):
        lacking = [a for a, c, _ in split if c not in letters]
        shown = out
        if lacking:
            shown = out + "s"
            how = more.get("combine", "sum")
            cast = how in ("max", "min") and words[0] in ("any", "all")
            p.both(f"{{{shown}}} = copy {{{out}}}", (shown, out))
            if cast:
                p.both(f"{{{shown}}} = cast {{{shown}}} i64", (shown,))
            p.placed.append(
                f"{shown}.{p.count}{p.set} = all_reduce {shown}.{p.count}"
                f"{p.set} over={'+'.join(lacking)} op={how}")
        p.show(shown, split_of(letters, split), near)
    if p.forward or "flat" in flags:
        return
    floats = [n for n, s in operands.items()
              if s.split(":")[1] in ("int", "pos", "unit")]
    y = outs[0]
    # r has a number for each element of y, which depends on the index in the
    # whole.
    p.both(f"{{q}} = mul {{{y}}} 3", ("q", y))
    p.both("{l} = sum {q}", ("l", "q"))
    tag = f".{p.count}{p.set}"
    for axis in axes:
        p.placed.append(f"l{tag} = reinterpret l{tag} over={axis} src=V dst=P")
    grads = ["d" + n for n in floats]
    p.both(" ".join(f"{{{g}}}" for g in grads) + " = grad {l} "
           + " ".join(f"{{{n}}}" for n in floats),
           set(grads) | {"l"} | set(floats))
    for name in floats:
        letters = operands[name].split(":")[0]
        lacking = [a for a, c, _ in split if c not in letters]
        if lacking:
            p.placed.append(f"d{name}{tag} = all_reduce d{name}{tag} "
                            f"over={'+'.join(lacking)}")
        p.show("d" + name, split_of(letters, split), near)


def splits_of(case, mesh):
    """All ways to split the case's letters over the mesh's axes."""
    _, operands, results, _, more = case
    fixed = set(more.get("whole", "")) | set(more.get("held", ""))
    letters = sorted({c for s in operands.values() for c in s.split(":")[0]
                      if c.isalpha()} - fixed)
    axes = MESHES[mesh]
    if len(axes) == 1:
        for c in letters:
            yield [("tp", c, 1)]
            yield [("tp", c, 3)]
        return
    for c, d in itertools.product(letters, letters):
        yield [("dp", c, 1), ("tp", d, 1)]


def sizes_for(case, split, size):
    _, operands, _, _, more = case
    letters = {c for s in operands.values() for c in s.split(":")[0]
               if c.isalpha()}
    sizes = {c: 2 + (ord(c) % 2) for c in letters}
    for _, c, unit in split:
        sizes[c] = size * unit
    units = {c: unit for _, c, unit in split}
    for c in more.get("nonempty", ""):
        sizes[c] = max(sizes[c], units.get(c, 1))
    # Nothing has no largest element, so every rank needs a part.
    if more.get("combine") in ("max", "min") and "nonempty" in more:
        for _, c, unit in split:
            if c in more["nonempty"]:
                sizes[c] = max(sizes[c], 4 * unit)
    if "least" in more:
        c, least = more["least"]
        sizes[c] = max(sizes[c], least)
    return sizes


def close(a, b):
    a, b = a.split(), b.split()
    if a[:2] != b[:2] or len(a) != len(b):
        return False
    x, y = [float(w) for w in a[2:]], [float(w) for w in b[2:]]
    scale = max([1.0] + [abs(v) for v in x if v == v])
    return all(u == v or (u != u and v != v) or abs(u - v) <= 1e-5 * scale
               for u, v in zip(x, y))


def run(lines, forward, mesh, what):
    text = "\n".join(lines) + "\n"
    stream = text
    if not forward:
        stream, said, _ = emit(text)
        # Some gradients are zeros, and gt-emit warns of that.
        if said and "warning: grad: the loss does not depend" not in said:
            print(f"{mesh}: {what}: gt-emit says:\n{said[:2000]}")
    results, said, _ = work(stream)
    if said:
        print(f"{mesh}: {what}: gt-work says:\n{said[:2000]}")
    return dict(r.split(" = ", 1) for r in results.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    options = parser.parse_args()
    cases = table()
    failed = passed = 0
    for name in check_coverage(cases):
        print(f"no case for {name}")
        failed += 1
    for mesh in MESHES:
        p = Program(mesh, options.forward)
        number = options.seed
        described = {}
        for case in cases:
            for split in splits_of(case, mesh):
                for size in SIZES:
                    number += 1
                    if number % options.every:
                        continue
                    sizes = sizes_for(case, split, size)
                    add_case(p, case, sizes, split)
                    described[p.count] = f"{case[0]} {sizes} {split}"
        whole = run(p.whole, options.forward, mesh, "whole")
        placed = run(p.placed, options.forward, mesh, "placed")
        for label, value in whole.items():
            other = placed.get(label, "nothing")
            if value == other and not value.startswith("fail"):
                passed += 1
            elif (label in p.near and "fail" not in value + other
                  and close(value, other)):
                passed += 1
            else:
                failed += 1
                if failed < 20:
                    print(f"{mesh}: {described[int(label.split('.')[1])]}: "
                          f"{label}\n  whole  {value[:300]}\n"
                          f"  placed {other[:300]}")
        if len(placed) != len(whole):
            failed += 1
            print(f"{mesh}: {len(whole)} results and {len(placed)}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

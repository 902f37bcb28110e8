"""Compares split forms written by hand with the same program in one piece.

usage: forms.py [--forward] [--every N] [SEED]

The forms are of what no rule places: lookups in a table cut by rows, causal
attention and rotary positions cut along the sequence, dropout, a cross entropy
whose classes are cut, heads that stay whole, creations, and collectives of
uneven parts. Each form is a program without ranks and one with ranks, over
some meshes and sizes; both print the same names. Integers are exact, and lines
named near_* may round. --every N takes every Nth case, beginning at SEED.
"""
import argparse
import sys

from gt import emit, work

MESHES = ["tp=2", "tp=3", "tp=4", "dp=2 tp=2"]
FORMS = []


def form(function):
    FORMS.append(function)
    return function


def ranks_of(mesh):
    n = 1
    for word in mesh.split():
        n *= int(word.split("=")[1])
    return n


def ranks_of_set(at):
    first, last = at[1:].split("-")
    return int(last) - int(first) + 1


def integers(name, shape, seed, at="", split="", limit=9, shift=-4,
             dtype="f32"):
    """Lines that make small integers, which are the same however they are
    split."""
    n = name + at
    return [f"{n} = rand f32[{shape}] {seed}{split}", f"{n} = mul {n} {limit}",
            f"{n} = cast {n} i64", f"{n} = add {n} {shift}",
            f"{n} = cast {n} {dtype}"]


def indices(name, shape, seed, limit, at=""):
    return integers(name, shape, seed, at, "", limit, 0, "i64")


def written_by_rows(op, shape, cut, at, n):
    """A table cut by rows, to which a source is added or written."""
    v = n + 1
    whole = integers("t", f"{v},3", 1) + indices("i", shape, 2, v) + integers(
        "s", shape, 3) + [f"y = {op} t i s axis=0", "print y"]
    placed = integers("t", f"{v},3", 1, at, f" split={cut(0)}") + indices(
        "i", shape, 2, v, at) + integers("s", shape, 3, at) + [
        f"y{at} = {op} t{at} i{at} s{at} axis=0 split={cut(0)} "
        f"shape={v},3", f"print y{at} split={cut(0)}"]
    return whole, placed, [("t", cut(0), ""), ("s", "", "sum")], "y"


# A form gets a function that writes split= for the mesh's axes ("tp", or both
# nested), the set of ranks, and a size. It gives the two programs, and names
# whose gradients are asked for.

@form
def embedding_by_rows(cut, at, n):
    v, d = n + 1, 3
    whole = integers("t", f"{v},{d}", 1) + indices("i", "4,2", 2, v) + [
        "y = embedding t i", "print y"]
    placed = integers("t", f"{v},{d}", 1, at, f" split={cut(0)}") + indices(
        "i", "4,2", 2, v, at) + [
        f"y{at} = embedding t{at} i{at} split={cut(0)} shape={v},{d}",
        f"s{at} = all_reduce y{at}", f"print s{at[:2]} as=y"]
    return whole, placed, [("t", cut(0), f"shape={v},{d}")], "y"


@form
def gather_by_rows(cut, at, n):
    v = n + 1
    whole = integers("t", f"{v},3", 1) + indices("i", "4,3", 2, v) + [
        "y = gather t i axis=0", "print y"]
    placed = integers("t", f"{v},3", 1, at, f" split={cut(0)}") + indices(
        "i", "4,3", 2, v, at) + [
        f"y{at} = gather t{at} i{at} axis=0 split={cut(0)} shape={v},3",
        f"s{at} = all_reduce y{at}", f"print s{at[:2]} as=y"]
    return whole, placed, [("t", cut(0), f"shape={v},3")], "y"


@form
def scatter_by_rows(cut, at, n):
    return written_by_rows("scatter_add", "4,3", cut, at, n)


@form
def take_by_columns(cut, at, n):
    v = n + 1
    whole = integers("t", f"2,{v},3", 1) + indices("i", "4,2", 2, v) + [
        "i = sub i 1", "i = maximum i " + str(-v),
        "y = take t i axis=1", "print y"]
    placed = integers("t", f"2,{v},3", 1, at, f" split={cut(1)}") + indices(
        "i", "4,2", 2, v, at) + [
        f"i{at} = sub i{at} 1", f"i{at} = maximum i{at} {-v}",
        f"y{at} = take t{at} i{at} axis=1 split={cut(1)} shape=2,{v},3",
        f"s{at} = all_reduce y{at}", f"print s{at[:2]} as=y"]
    return whole, placed, [("t", cut(1), f"shape=2,{v},3")], "y"


@form
def overwritten_by_rows(cut, at, n):
    return written_by_rows("scatter", "6,3", cut, at, n)


@form
def dropout_by_rows(cut, at, n):
    whole = integers("x", f"{n},3", 1) + ["y = dropout x 0.5 9", "print y"]
    placed = integers("x", f"{n},3", 1, at, f" split={cut(0)}") + [
        f"y{at} = dropout x{at} 0.5 9 split={cut(0)} shape={n},3",
        f"print y{at} split={cut(0)}"]
    return whole, placed, [("x", cut(0), "")], "y"


@form
def rope_by_sequence(cut, at, n):
    whole = integers("x", f"2,{n},4", 1) + [
        "near_y = rope x", "print near_y"]
    placed = integers("x", f"2,{n},4", 1, at, f" split={cut(1)}") + [
        f"near_y{at} = rope x{at} split={cut(1)} shape=2,{n},4",
        f"print near_y{at} split={cut(1)}"]
    return whole, placed, [("x", cut(1), "")], "near_y"


@form
def causal_attention_by_sequence(cut, at, n):
    n += 1
    whole, placed = [], []
    for k, name in enumerate("qkv"):
        whole += integers(name, f"2,{n},4", k)
        placed += integers(name, f"2,{n},4", k, at,
                           f" split={cut(1)}" if name == "q" else "")
    whole += ["near_y = attention q k v causal=1", "print near_y"]
    placed += [f"near_y{at} = attention q{at} k{at} v{at} causal=1 "
               f"split={cut(1)} shape=2,{n},4",
               f"print near_y{at} split={cut(1)}"]
    return whole, placed, [("q", cut(1), ""), ("k", "", "sum"),
                           ("v", "", "sum")], "near_y"


@form
def attention_by_heads(cut, at, n):
    """wq is cut in units of a head, so that the reshape keeps heads whole."""
    heads, d = n + 1, 2
    e = heads * d
    whole = integers("x", "2,3,5", 1) + integers("w", f"5,{e}", 2) + [
        "q = linear x w", f"q = reshape q shape=2,3,{heads},{d}",
        "q = transpose q axes=0,2,1,3", "near_y = attention q q q causal=1",
        "near_y = transpose near_y axes=0,2,1,3",
        f"near_y = reshape near_y shape=2,3,{e}", "print near_y"]
    unit = cut(1, d)
    placed = integers("x", "2,3,5", 1, at) + integers(
        "w", f"5,{e}", 2, at, f" split={unit}") + [
        f"q{at} = linear x{at} w{at}",
        f"q{at} = reshape q{at} shape=2,3,{heads},{d} split={cut(2)}",
        f"q{at} = transpose q{at} axes=0,2,1,3",
        f"near_y{at} = attention q{at} q{at} q{at} causal=1",
        f"near_y{at} = transpose near_y{at} axes=0,2,1,3",
        f"near_y{at} = reshape near_y{at} shape=2,3,{e} split={cut(2, d)}",
        f"print near_y{at} split={cut(2, d)}"]
    return whole, placed, [("w", unit, ""), ("x", "", "sum")], "near_y"


@form
def cross_entropy_by_classes(cut, at, n):
    """Logits are never gathered; their largest and the sum of exponentials are
    reduced."""
    c = n + 4
    whole = integers("x", f"5,{c}", 1) + indices("t", "5", 2, c) + [
        "near_y = cross_entropy x t reduction=none", "print near_y"]
    placed = integers("x", f"5,{c}", 1, at, f" split={cut(1)}") + indices(
        "t", "5", 2, c, at) + [
        f"d{at} = detach x{at}",
        f"m{at} = max d{at} axis=1 keepdims=1",
        f"m{at} = all_reduce m{at} op=max",
        f"z{at} = sub x{at} m{at}", f"e{at} = exp z{at}",
        f"s{at} = sum e{at} axis=1",
        f"s{at} = all_reduce s{at} dst=I",
        f"u{at} = unsqueeze t{at} axis=1",
        f"p{at} = gather z{at} u{at} axis=1 split={cut(1)} shape=5,{c}",
        f"p{at} = squeeze p{at} axis=1",
        f"p{at} = all_reduce p{at} dst=I",
        f"g{at} = log s{at}", f"near_y{at} = sub g{at} p{at}",
        f"print near_y{at[:2]} as=near_y"]
    return whole, placed, [("x", cut(1), "")], "near_y:I"


@form
def softmax_over_columns(cut, at, n):
    """The largest is not detached, and its gradient is zero but for
    rounding."""
    c = n + 4
    whole = [f"x = randn f32[3,{c}] 1", "near_y = softmax x axis=1",
             "near_y = mul near_y near_y", "print near_y"]
    placed = [f"x{at} = randn f32[3,{c}] 1 split={cut(1)}",
              f"m{at} = max x{at} axis=1 keepdims=1",
              f"m{at} = all_reduce m{at} op=max src=V",
              f"x1{at} = sub x{at} m{at}", f"e{at} = exp x1{at}",
              f"s{at} = sum e{at} axis=1 keepdims=1",
              f"s{at} = all_reduce s{at}", f"near_y{at} = div e{at} s{at}",
              f"near_y{at} = mul near_y{at} near_y{at}",
              f"print near_y{at} split={cut(1)}"]
    return whole, placed, [("x", cut(1), "")], "near_y"


def combined(reduction, how, is_cut, kind):
    """A reduction over a cut dimension, whose parts are not combined by a
    sum."""
    def written(cut, at, n):
        c = n + 4
        whole = [f"x = randn f32[12,{c}] 1", f"near_y = {reduction} x axis=1",
                 "near_y = mul near_y near_y", "print near_y"]
        placed = [f"x{at} = randn f32[12,{c}] 1 split={cut(1)}",
                  f"m{at} = {reduction} x{at} axis=1",
                  f"z{at} = {how.format(m='m' + at)}",
                  f"near_y{at} = mul z{at} z{at}",
                  f"print near_y{at} split={cut(0)}" if is_cut
                  else "print near_y@0 as=near_y"]
        return whole, placed, [("x", cut(1), "")], "near_y" + kind
    written.__name__ = f"{reduction}, then {how}"
    return form(written)


for _op in ("max", "min", "prod"):
    combined(_op, f"all_reduce {{m}} op={_op} src=V dst=I", False, ":I")
    combined(_op, f"reduce {{m}} op={_op}", False, "")
    combined(_op, f"reduce_scatter {{m}} op={_op} dst=S0", True, "")


@form
def means(cut, at, n):
    """The sum of what the ranks have, divided by their number."""
    k = ranks_of_set(at)
    whole = integers("x", f"12,{n}", 1) + [
        "y = sum x axis=1", f"near_y = div y {k}", "print near_y"]
    placed = integers("x", f"12,{n}", 1, at, f" split={cut(1)}") + [
        f"y{at} = sum x{at} axis=1",
        f"near_y{at} = all_reduce y{at} op=mean src=V dst=I",
        "print near_y@0 as=near_y"]
    return whole, placed, [("x", cut(1), "")], "near_y:I"


@form
def creations(cut, at, n):
    kinds = [("arange", f"f32[{n}] 3 0.5", 0), ("arange", f"i64[{n}] 5", 0),
             ("eye", f"f32[{n},4]", 0), ("eye", f"f32[4,{n}]", 1),
             ("randn", f"f32[{n},3] 4 scale=0.5", 0),
             ("rand", f"f64[2,{n},3] 4", 1), ("randperm", f"i64[{n}] 6", 0),
             ("full", f"f32[2,{n}] 3", 1), ("ones", f"i32[{n}]", 0),
             ("zeros", f"bool[{n}]", 0),
             ("tensor", f"f32[{n},2] " + " ".join(map(str, range(2 * n))), 0),
             ("randn", f"bf16[{n},3] 4", 0), ("rand", f"f16[3,{n}] 4", 1)]
    whole, placed = [], []
    for k, (op, rest, dim) in enumerate(kinds):
        whole += [f"a{k} = {op} {rest}", f"print a{k}"]
        words = rest.split(" scale=")
        tail = f" scale={words[1]}" if len(words) > 1 else ""
        placed += [f"a{k}{at} = {op} {words[0]}{tail} split={cut(dim)}",
                   f"print a{k}{at} split={cut(dim)}"]
    return whole, placed, [], ""


@form
def files(cut, at, n):
    """A whole saved from its pieces, and pieces loaded from it."""
    whole = integers("x", f"{n},4", 1) + [
        "save x \"whole.npy\"", f"y = load \"whole.npy\" f32[{n},4]",
        "print y", f"z = load \"whole.npy\" f32[{max(n - 1, 0)},4] "
        f"{min(n, 1)}", "print z"]
    placed = integers("x", f"{n},4", 1, at, f" split={cut(0)}") + [
        f"save x{at} \"placed.npy\" split={cut(0)}",
        f"y{at} = load \"placed.npy\" f32[{n},4] split={cut(1)}",
        f"print y{at} split={cut(1)}",
        f"z{at} = load \"placed.npy\" f32[{max(n - 1, 0)},4] {min(n, 1)} "
        f"split={cut(0)}", f"print z{at} split={cut(0)}"]
    return whole, placed, [], ""


@form
def uneven_collectives(cut, at, n):
    """All ways from whole to parts and back."""
    whole = integers("x", f"{n},{n + 1}", 1) + ["print x as=a", "print x as=b",
                                                "print x as=c", "print x as=d"]
    size = f"shape={n},{n + 1}"
    k = ranks_of_set(at)
    whole += [f"s = mul x {k}", "print s", "print s as=t"]
    placed = integers("x", f"{n},{n + 1}", 1, at) + [
        f"p{at} = convert x{at} src=R dst=S0 split={cut(0)} {size}",
        f"print p{at} split={cut(0)} as=a",
        f"q{at} = all_to_all p{at} src=S0 dst=S1 split={cut(1)} {size}",
        f"print q{at} split={cut(1)} as=b",
        f"g{at} = all_gather q{at} src=S1 split={cut(1)} {size}",
        f"print g{at[:2]} as=c",
        f"h{at} = redistribute p{at} src=S0 dst=R split={cut(0)} {size}",
        f"print h{at[:2]} as=d",
        f"r{at} = reduce_scatter x{at} dst=S1 split={cut(1)} {size}",
        f"print r{at} split={cut(1)} as=s",
        f"t{at} = all_reduce x{at}", f"print t{at[:2]} as=t"]
    return whole, placed, [], ""


def cut_over(mesh):
    axes = [word.split("=")[0] for word in mesh.split()]

    def cut(dim, unit=1):
        last = f"*{unit}" if unit > 1 else ""
        return ",".join(f"{axis}:{dim}{last}" for axis in axes)
    return cut, "+".join(axes)


def programs(function, mesh, n, forward):
    """The two programs of a form, with gradients."""
    cut, over = cut_over(mesh)
    at = f"@0-{ranks_of(mesh) - 1}"
    whole, placed, targets, result = function(cut, at, n)
    placed = [f"mesh {mesh}"] + placed
    if forward or not targets:
        return whole, placed
    y, _, kind = result.partition(":")
    for lines, a in ((whole, ""), (placed, at)):
        lines += [f"y3{a} = mul {y}{a} 3", f"l{a} = sum y3{a}"]
    if kind != "I":  # if the result is whole on each rank, its loss is I
        for axis in over.split("+"):
            placed.append(f"l{at} = reinterpret l{at} over={axis} src=V dst=P")
    names = [t[0] for t in targets]
    near = "near_" if y.startswith("near") else ""
    grads = [f"{near}d{n}" for n in names]
    whole.append(" ".join(grads) + " = grad l " + " ".join(names))
    placed.append(" ".join(g + at for g in grads) + f" = grad l{at} "
                  + " ".join(n + at for n in names))
    for grad, (name, split, how) in zip(grads, targets):
        whole.append(f"print {grad}")
        if how == "sum":
            placed += [f"{grad}{at} = all_reduce {grad}{at}",
                       f"print {grad}@0 as={grad}"]
        else:
            placed.append(f"print {grad}{at} split={split}")
    return whole, placed


def run(lines, forward):
    text = "\n".join(lines) + "\n"
    said = ""
    if not forward:
        text, said, _ = emit(text)
    results, more, _ = work(text)
    return results.splitlines(), said + more


def close(a, b):
    a, b = a.split(), b.split()
    if a[:4] != b[:4] or len(a) != len(b) or a[2] == "fail":
        return False
    x, y = [float(w) for w in a[4:]], [float(w) for w in b[4:]]
    scale = max([1.0] + [abs(v) for v in x])
    return all(abs(u - v) <= 2e-5 * scale for u, v in zip(x, y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    options = parser.parse_args()
    passed = failed = 0
    number = options.seed
    for function in FORMS:
        for mesh in MESHES:
            for n in (0, 1, 2, 3, 4, 5, 11):
                number += 1
                if number % options.every:
                    continue
                pair = programs(function, mesh, n, options.forward)
                whole, said = run(pair[0], options.forward)
                placed, more = run(pair[1], options.forward)
                same = len(whole) == len(placed) and not said + more
                for a, b in zip(whole, placed):
                    if a != b and not (a.startswith("near_") and close(a, b)):
                        same = False
                        said += f"  whole  {a[:200]}\n  placed {b[:200]}\n"
                passed += same
                failed += not same
                if not same and failed < 10:
                    print(f"{function.__name__}: mesh {mesh}: size {n}\n"
                          f"{said}{more}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()

"""Placed programs that take each collective forward, and so its counterpart in
the table of gt-check(1) backward. Each stands beside a program for one device
with its meaning.

A chain begins with a tensor x of the type START, whose whole has the shape
SHAPE, goes through STEPS and ends with the type END; WHOLE computes the same
from x on one device.
"""

SUM = "y = sum x axis=0"
SAME = "y = copy x"
SPREAD = "convert src=R dst=V #local"    # rank r gets slice r of [n,...]
STACK = "all_gather src=V dst=R #local"  # and gives it back

# name, START, SHAPE, steps, END, whole
CHAINS = [
    ("all_reduce P>R", "P", "6,4", ["all_reduce src=P dst=R"], "R", SAME),
    ("all_reduce P>I", "P", "6,4", ["all_reduce src=P dst=I"], "I", SAME),
    ("all_reduce V>R", "R", "2,6", [SPREAD, "all_reduce src=V dst=R #local"],
     "R", SUM),
    ("all_reduce V>I", "R", "2,6", [SPREAD, "all_reduce src=V dst=I #local"],
     "I", SUM),
    ("all_gather V>R", "R", "2,6", [SPREAD, STACK], "R", SAME),
    ("all_gather V>I", "R", "2,6", [SPREAD, "all_gather src=V dst=I #local"],
     "I", SAME),
    ("all_gather S0>R", "S0", "6,4", ["all_gather src=S0 dst=R"], "R", SAME),
    ("all_gather S1>R", "S1", "6,4", ["all_gather src=S1 dst=R"], "R", SAME),
    ("all_gather S-1>I", "S1", "6,4", ["all_gather src=S-1 dst=I"], "I", SAME),
    ("all_gather uneven", "S0", "7,4",
     ["all_gather src=S0 dst=R split=tp:0 shape=7,4"], "R", SAME),
    ("reduce_scatter P>V", "P", "2,6",
     ["reduce_scatter src=P dst=V #local", STACK], "R", SAME),
    ("reduce_scatter P>S0", "P", "6,4", ["reduce_scatter src=P dst=S0"], "S0",
     SAME),
    ("reduce_scatter P>S1", "P", "6,4", ["reduce_scatter src=P dst=S1"], "S1",
     SAME),
    ("reduce_scatter uneven", "P", "7,4",
     ["reduce_scatter src=P dst=S0 split=tp:0 shape=7,4"], "S0", SAME),
    ("reduce_scatter V>S0", "R", "2,6,4",
     [SPREAD, "reduce_scatter src=V dst=S0 #local",
      "all_gather src=S0 dst=R #local"], "R", SUM),
    ("reduce_scatter V>V", "R", "2,2,4",
     [SPREAD, "reduce_scatter src=V dst=V #local", STACK], "R", SUM),
    ("all_to_all V>V", "R", "2,2,3",
     [SPREAD, "all_to_all src=V dst=V #local", STACK], "R",
     "y = transpose x axes=1,0,2"),
    ("all_to_all S0>S1", "S0", "6,4", ["all_to_all src=S0 dst=S1"], "S1", SAME),
    ("all_to_all uneven", "S0", "7,3",
     ["all_to_all src=S0 dst=S1 split=tp:1 shape=7,3"], "S1", SAME),
    ("all_to_all S0>S0", "S0", "6,4",
     ["all_to_all src=S0 dst=S0 split_sizes=1+2,2+1"], "S0",
     "a b c d e f = split x\ny = concat a d e b c f"),
    ("convert I>R", "I", "6,4", ["convert src=I dst=R"], "R", SAME),
    ("convert R>V", "R", "2,6", [SPREAD, STACK], "R", SAME),
    ("convert R>S0", "R", "6,4", ["convert src=R dst=S0"], "S0", SAME),
    ("convert R>S0 uneven", "R", "7,4",
     ["convert src=R dst=S0 split=tp:0 shape=7,4"], "S0", SAME),
    ("convert I>V", "I", "2,6", ["convert src=I dst=V #local", STACK], "R",
     SAME),
    ("convert I>S-1", "I", "6,4", ["convert src=I dst=S-1"], "S1", SAME),
    ("convert R>P", "R", "6,4", ["convert src=R dst=P"], "P", SAME),
    ("convert R>I", "R", "6,4", ["convert src=R dst=I expert=1"], "I", SAME),
    ("convert I>P", "I", "6,4", ["convert src=I dst=P expert=1"], "P", SAME),
    ("convert V>P", "R", "2,6",
     [SPREAD, "convert src=V dst=P expert=1 #local"], "P", SAME),
    ("convert S0>P", "S0", "6,4", ["convert src=S0 dst=P expert=1"], "P", SAME),
    ("reinterpret V>P", "R", "2,6", [SPREAD, "reinterpret src=V dst=P #local"],
     "P", SUM),
    ("reinterpret R>V", "R", "6",
     ["reinterpret src=R dst=V expert=1 #local",
      "all_reduce src=V dst=R #local"], "R", "y = mul x 2"),
    ("reinterpret R>P", "R", "6,4", ["reinterpret src=R dst=P expert=1"], "P",
     "y = mul x 2"),
    ("reinterpret I>V", "I", "6",
     ["reinterpret src=I dst=V #local", "all_reduce src=V dst=R #local"], "R",
     "y = mul x 2"),
    ("reinterpret I>P", "I", "6", ["reinterpret src=I dst=P"], "P",
     "y = mul x 2"),
    ("reinterpret R>I", "R", "6", ["reinterpret src=R dst=I expert=1"], "I",
     SAME),
    ("reinterpret I>R", "I", "6", ["reinterpret src=I dst=R expert=1"], "R",
     SAME),
    ("broadcast", "R", "6", ["broadcast"], "R", SAME),
    ("reduce and broadcast", "P", "6", ["reduce root=1", "broadcast root=1"],
     "R", SAME),
] + [
    (f"redistribute {start}>{end}", start, "6,4",
     [f"redistribute src={start} dst={end}"], end, SAME)
    for start, end in [("S0", "R"), ("S1", "I"), ("P", "R"), ("P", "I"),
                       ("P", "S1"), ("S0", "S1"), ("R", "S0"), ("I", "S1"),
                       ("I", "R"), ("R", "P"), ("I", "P"), ("R", "I")]
] + [
    # The two ends are one type, or a dimension is named or forgotten.
    (f"{op} {start}>{end}", start, "6,4",
     [f"{op} src={start} dst={end}"], end, SAME)
    for op in ("convert", "reinterpret", "redistribute")
    for start, end in [("R", "R"), ("I", "I"), ("P", "P"), ("S0", "S0"),
                       ("S1", "S-1")]
] + [
    (f"{op} S0>V>V>S0", "S0", "6,4",
     [f"{op} src=S0 dst=V", f"{op} src=V dst=V", f"{op} src=V dst=S0"], "S0",
     SAME)
    for op in ("convert", "reinterpret", "redistribute")
]


def declared(name, kind, shape, seed, at):
    """Lines that make a tensor of the type out of seeded numbers."""
    line = f"{name}{at} = randn f32[{shape}] {seed}"
    if kind == "I":
        return [line + " #type=tp:I"]
    if kind.startswith("S"):
        return [line + f" split=tp:{kind[1:]}"]
    return [line]


def programs():
    """Name, placed program, loss, targets, program for one device."""
    for name, start, shape, steps, end, whole in CHAINS:
        at = "@0-1"
        lines = ["mesh tp=2"] + declared("x", start, shape, 7, at)
        made = f"x{at}"
        if start == "P":
            lines.append(f"xp{at} = convert {made} over=tp src=R dst=P")
            made = f"xp{at}"
        for k, step in enumerate(steps):
            op, _, keys = step.partition(" ")
            lines.append(f"y{k}{at} = {op} {made} over=tp {keys}".rstrip())
            made = f"y{k}{at}"
        # c has a number for each element, so that each element has its own
        # gradient.
        result = {SUM: shape.partition(",")[2]}.get(whole, shape)
        if whole.startswith("y = transpose"):
            result = shape
        lines += declared("c", end, result, 8, at)
        lines += [f"z{at} = mul {made} c{at}", f"l{at} = sum z{at}"]
        one = [f"x = randn f32[{shape}] 7", whole, f"c = randn f32[{result}] 8",
               "z = mul y c", "l = sum z"]
        yield name, "\n".join(lines) + "\n", "l", [f"x{at}", f"c{at}"], \
            "\n".join(one) + "\n"


# Each has a name and lines for one device; only the placed program has the keys
# after a "|". Every name gets ranks, and y is what the loss is taken of.
OPS = [
    ("sums", "x = randn f32[5,4,3] 7 | split=tp:0\n"
     "a = sum x axis=1\nb = sum a axis=1 keepdims=1\ny = mul b b"),
    ("sum over the cut", "x = randn f32[5,4] 7 | split=tp:0\n"
     "y = sum x axis=0 | #partial=tp"),
    ("means", "x = randn f32[5,4,3] 7 | split=tp:1\n"
     "a = mean x axis=0,2\nb = var x axis=2\nc = mean b axis=0\n"
     "y = mul a c"),
    ("reshape", "x = randn f32[12,4] 7 | split=tp:0*2\n"
     "a = reshape x shape=6,2,4 | split=tp:0\n"
     "y = reshape a shape=24,2 | split=tp:0*4"),
    ("reshape of what is uneven", "x = randn f32[5,4] 7 | split=tp:0\n"
     "a = reshape x shape=5,2,2 | split=tp:0\ny = mul a a"),
    ("squeeze", "x = randn f32[5,1,4] 7 | split=tp:0\n"
     "a = squeeze x axis=1\nb = unsqueeze a axis=2\ny = mul b b"),
    ("transpose", "x = randn f32[5,4] 7 | split=tp:0\n"
     "a = transpose x\nb = flip a axis=0\ny = mul b b"),
    ("expand", "x = randn f32[5,1] 7 | split=tp:0\n"
     "a = expand x shape=3,5,4 | split=tp:1\ny = mul a a"),
    ("expand to a cut", "x = randn f32[1,4] 7\n"
     "a = expand x shape=5,4 | split=tp:0\n"
     "c = randn f32[5,4] 9 | split=tp:0\ny = mul a c"),
    ("slices", "x = randn f32[5,6] 7 | split=tp:0\n"
     "a = slice x : 1:4\nb = slice x : 2\nc = unsqueeze b axis=1\n"
     "y = mul a c"),
    ("a slice at a scalar", "x = randn f32[5,6] 7 | split=tp:0\n"
     "i = tensor i64[] 2\na = slice x i axis=1 size=3\ny = mul a a"),
    ("a strided slice", "x = randn f32[5,6,4] 7 | split=tp:0\n"
     "a = slice x : 1:6:2 ::3\nb = slice x : 4 ::3\n"
     "c = unsqueeze b axis=1\ny = mul a c"),
    ("pad", "x = randn f32[5,6] 7 | split=tp:0\n"
     "a = pad x width=0,0,2,-1\ny = mul a a"),
    ("split, a part of it unused", "x = randn f32[5,6] 7 | split=tp:0\n"
     "a b = split x axis=1\nb = neg a\ny = mul a b"),
    ("concat and stack", "x = randn f32[5,6] 7 | split=tp:0\n"
     "a = exp x\nb = concat x a axis=1\nc d = split b axis=1\n"
     "y = stack c d axis=1"),
    ("gather", "x = randn f32[5,6] 7 | split=tp:0\n"
     "i = argsort x axis=1\ny = gather x i axis=1"),
    ("sort", "x = randn f32[5,6] 7 | split=tp:0\n"
     "v i = sort x axis=1\nw j = topk x axis=1 size=2\n"
     "u = sum w axis=1 keepdims=1\ny = mul v u"),
    ("max", "x = randn f32[5,6] 7 | split=tp:0\n"
     "a = max x axis=1\nb = prod x axis=1\ny = mul a b"),
    ("broadcast of one", "x = randn f32[1,4] 7\n"
     "c = randn f32[2,4] 9 | split=tp:0\ny = mul c x"),
    ("broadcast of a row", "x = randn f32[4] 7\n"
     "c = randn f32[3,2,4] 9 | split=tp:1\na = add c x\ny = mul a a"),
    ("products cut inside", "x = randn f32[4,4] 7\n"
     "c = randn f32[3,5,4] 9 | split=tp:1\ny = matmul c x"),
    ("products of uneven batches", "x = randn f32[4,4] 7\n"
     "c = randn f32[3,5,4] 9 | split=tp:0\na = matmul c x\ny = linear a x"),
    ("norms", "x = randn f32[5,8] 7 | split=tp:0\n"
     "w = randn f32[8] 9\nb = randn f32[8] 10\na = layer_norm x w b\n"
     "c = rms_norm a w\nd = softmax c\ny = mul d c"),
    ("dropout and rope", "x = randn f32[3,6,8] 7 | split=tp:1\n"
     "a = dropout x 0.5 3 | split=tp:1 shape=3,6,8\n"
     "b = rope a | split=tp:1 shape=3,6,8\ny = mul b b"),
    ("attention", "x = randn f32[2,3,16] 7 | split=tp:2*4\n"
     "a = exp x\nb = neg x\n"
     "y = attention x a b causal=1 heads=4 | split=tp:2*4 shape=2,3,16"),
    ("embedding", "x = randn f32[7,4] 7\n"
     "i = tensor i64[5] 1 6 2 1 0 | split=tp:0\ny = embedding x i"),
    ("embedding of a cut table", "x = randn f32[7,4] 7 | split=tp:0\n"
     "i = tensor i64[5] 1 6 2 1 0\n"
     "y = embedding x i | split=tp:0 shape=7,4"),
    ("take of a cut table", "x = randn f32[2,7,4] 7 | split=tp:1\n"
     "i = tensor i64[5] 1 -1 2 1 0\n"
     "y = take x i axis=1 | split=tp:1 shape=2,7,4"),
    ("take by cut indices", "x = randn f32[7,4] 7\n"
     "i = tensor i64[5] 1 -1 2 1 0 | split=tp:0\ny = take x i axis=0"),
    ("scatter into a cut table", "x = randn f32[7,4] 7 | split=tp:0\n"
     "i = tensor i64[3,4] 1 6 2 1 0 6 3 1 1 1 1 1\ns = randn f32[3,4] 8\n"
     "a = scatter x i s axis=0 | split=tp:0 shape=7,4\ny = mul a a"),
    ("scatter beside a cut", "x = randn f32[5,6] 7 | split=tp:0\n"
     "i = argsort x axis=1\na = exp x\nb = scatter x i a axis=1\n"
     "y = mul b b"),
    ("weighted losses", "x = randn f32[5,6] 7 | split=tp:0\n"
     "t = tensor i64[5] 1 5 2 1 0 | split=tp:0\nw = rand f32[6] 9\n"
     "a = cross_entropy x t w reduction=none ignore_index=1 "
     "label_smoothing=0.1\nb = unsqueeze a axis=1\nc = exp x\n"
     "y = mul b c"),
    ("losses", "x = randn f32[5,6] 7 | split=tp:0\n"
     "t = tensor i64[5] 1 5 2 1 0 | split=tp:0\n"
     "a = cross_entropy x t reduction=none\nb = unsqueeze a axis=1\n"
     "c = sigmoid x\nd = mse c x reduction=none\ny = mul b d"),
]


def placed_line(line, at):
    text, _, more = line.partition(" |")
    results, _, rest = text.partition(" = ")
    words = rest.split()
    names = [w + at if w.isidentifier() and k > 0 and w not in ("f32", "i64")
             else w for k, w in enumerate(words)]
    return (" ".join(r + at for r in results.split()) + " = " +
            " ".join(names) + more)


def programs_of_ops():
    """The same for ops whose gradients state sizes, on two ranks and on
    three."""
    for ranks in (2, 3):
        at = f"@0-{ranks - 1}"
        for name, text in OPS:
            if ranks == 3 and name == "attention":
                continue  # heads come out even
            lines = text.split("\n") + ["l = sum y"]
            placed = [f"mesh tp={ranks}"]
            placed += [placed_line(line, at) for line in lines]
            whole = [line.partition(" |")[0] for line in lines]
            yield (f"{name}, {ranks} ranks", "\n".join(placed) + "\n", "l",
                   ["x" + at], "\n".join(whole) + "\n")

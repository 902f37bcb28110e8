"""The row of scripts/bench about the ops: every op of the table, and its
gradient where it has one, beside PyTorch's eager one.

What is measured stands in ops.tsv beside this file and, of the ops that it does
not name, in tests/ops.tsv; an op that neither knows by a name of PyTorch fails.
Ops that only gradients use are measured in these. Both sides keep a process for
each number of threads and are measured in turns, a batch of steps each; the
norms of what they compute must agree.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import time

from measure import EMIT, WORK, Untrue, need_module, optional, run, same

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "oracle"))
import ops_table  # pylint: disable=wrong-import-position

numpy = optional("numpy")

MOST = 1 << 20  # elements of an operand whose sizes tests/ops.tsv leaves open
# Seconds of a batch, less than a machine gives to another process at a time, and
# how many there are on each side, of which the fastest counts.
BATCH, BATCHES = 0.004, 4
# Threads of OpenMP that wait for work spin for some 10 ms unless they are told
# less, which is into the other side's batch. PAUSE seconds are enough for these.
SPINS, PAUSE = "10000", 0.001
# The norms show that the work was done; a view can well be a thousand times as
# fast as PyTorch's gradient of one.
BEYOND = 10_000
WORST = 12  # rows to name at the end
# Numbers that were drawn from different sequences have about the same norm.
NEAR = 0.02
# How a line with a seed ends in ops.tsv. A program has a new seed at each step, so
# the lines that are timed have one too: what was drawn for a seed may be kept.
SEED = " 7\n"
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16",
          "bf16": "bfloat16", "i64": "int64", "i32": "int32", "u8": "uint8",
          "bool": "bool"}


class Row:
    """A line of gt whose names are bound, and what PyTorch calls it."""

    def __init__(self, line, operands, torch, sizes):
        dtype = "f32" if "f32" in operands.dtypes else operands.dtypes[0]
        at = {"$T": dtype, "$L": dtype, **{f"${k}": str(n)
                                           for k, n in sizes.items()}}
        self.line = re.sub(r"\$\w", lambda m: at[m[0]], line)
        self.torch = torch
        shapes = operands.shapes(sizes)
        self.operands = {
            name: (at.get(own, own), shapes[name], limit)
            for name, (own, _, limit) in operands.operands.items()}

    @property
    def results(self):
        return self.line.split(" = ")[0].split()

    @property
    def title(self):
        types = [f"{dtype}[{','.join(map(str, shape))}]"
                 for dtype, shape, _ in self.operands.values()]
        return " ".join([self.line.split(" = ")[1], *types[:1]])

    def write(self, random):
        """Makes a file of each operand; returns the lines that load them."""
        lines = []
        for name, (dtype, shape, limit) in self.operands.items():
            data = values(random, dtype, shape, limit)
            numpy.save(name + ".npy", data)
            half = dtype in ops_table.HALVES
            kind = f"{'f32' if half else dtype}[{','.join(map(str, shape))}]"
            lines.append(f'{name} = load "{name}.npy" {kind}\n')
            if half:
                lines.append(f"{name} = cast {name} {dtype}\n")
        return "".join(lines)


def values(random, dtype, shape, limit):
    """As the sign behind a type in tests/ops.tsv says."""
    if limit.startswith("!"):
        axis = int(limit[1:])
        each = numpy.indices(shape)[axis].astype(DTYPES[dtype])
        return random.permuted(each, axis=axis)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if limit.startswith("<") and limit != "<1":
        return random.integers(0, int(limit[1:]), shape).astype(DTYPES[dtype])
    if dtype in ops_table.INTS:
        low = 1 if limit == ">0" else 0 if dtype == "u8" else -100
        return random.integers(low, 100, shape).astype(DTYPES[dtype])
    data = (random.uniform(0.4, 2.5, shape) if limit == ">0" else
            random.uniform(0.05, 0.95, shape) if limit == "<1" else
            random.standard_normal(shape))
    return data.astype("float64" if dtype == "f64" else "float32")


def given_rows():
    """By op, those of ops.tsv."""
    found = {}
    with open(os.path.join(HERE, "ops.tsv"), encoding="utf-8") as file:
        for text in file:
            if text.startswith("#"):
                continue
            line, operands, torch = text.rstrip("\n").split("\t")
            parsed = ops_table.parse(f"{line}\t{operands}\tf32\t0\t{torch}")
            found.setdefault(parsed.op, []).append(
                Row(line, parsed, torch, {}))
    return found


def first_rows():
    """By op, the first line of tests/ops.tsv that says what PyTorch calls it,
    with sizes so large that no operand has more than MOST elements."""
    found = {}
    for parsed in ops_table.rows():
        if not parsed.torch or parsed.op in found:
            continue
        size, next_size = 1, 2
        while next_size <= MOST and all(
                count(shape) <= MOST for shape in parsed.shapes(
                    dict.fromkeys("MNK", next_size)).values()):
            size, next_size = next_size, 2 * next_size
        found[parsed.op] = [Row(parsed.line, parsed, parsed.torch,
                                dict.fromkeys("MNK", size))]
    return found


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def ops():
    """gt's own table, but for the language's words, what computes between ranks
    (measured by the rows of gt-route), and what only gradients use."""
    table = json.loads(run([EMIT, "--ops=json"], stdout=subprocess.PIPE,
                           text=True).stdout)["ops"]
    return [op for op in table if not op.get("internal")
            and op["family"] not in ("ranks", "output")]


class Side:
    """A process that answers each line of input with a line of output."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env={**os.environ,
                                             "GOMP_SPINCOUNT": SPINS})

    def ask(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args} ended, status "
                               f"{self.process.wait()}")
        return answer

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Ours(Side):
    def __init__(self, threads):
        super().__init__(WORK, "--threads", str(threads))
        self.ask("probe = tensor f32[] 0\nprint probe\n")
        self.seeds = itertools.count(8)

    def prepare(self, setup, step, results, seed):
        """Makes the operands, and the results once. Where the line ends with a
        seed, it has another one each time that it is measured."""
        text = setup + step
        for name in results:
            text += (f"n.o = cast {name} f64\nn.o = norm n.o\nprint n.o\n")
        said = [self.ask(text if i == 0 else "") for i in range(len(results))]
        if any(" fail " in words for words in said):
            raise Untrue("gt: " + said[0])
        norms = [float(words.split()[-1]) for words in said]
        self.parts = step.split(seed) if seed else [step]
        return norms

    def seconds(self, steps):
        text = "".join(f" {next(self.seeds)}\n".join(self.parts)
                       for _ in range(steps))
        start = time.perf_counter()
        self.ask(text + "print probe\n")
        return (time.perf_counter() - start) / steps


class Theirs(Side):
    def __init__(self, threads):
        super().__init__(os.environ["GT_BENCH_PYTHON"],
                         os.path.join(HERE, "ops_peer.py"), str(threads))

    def tell(self, **ask):
        answer = json.loads(self.ask(json.dumps(ask) + "\n"))
        if "error" in answer:
            raise Untrue("PyTorch: " + answer["error"])
        return answer

    def prepare(self, row, gradient):
        return self.tell(torch=row.torch, gradient=gradient, row=[
            (name, DTYPES[dtype])
            for name, (dtype, _, _) in row.operands.items()])

    def seconds(self, steps):
        return self.tell(steps=steps)["seconds"]


def gradient_lines(row, setup, like, targets):
    """The lines of the gradients d.NAME of a row, given that of its result,
    l.q; none if they are zeros, or l.q itself."""
    dtype, shape = like
    kind = f"{dtype}[{','.join(map(str, shape))}]"
    text = (f'{setup}l.q = load "l.q.npy" {kind}\n{row.line}\n'
            f"l.p = mul {row.results[0]} l.q\nl.l = sum l.p\n"
            f"{' '.join('d.' + name for name in targets)} = grad l.l "
            f"{' '.join(targets)}\n")
    out = run([EMIT, "--no-at"], input=text, stdout=subprocess.PIPE,
              stderr=subprocess.DEVNULL, text=True).stdout
    lines = [re.sub(r" ?#.*", "", line) for line in out.splitlines()]
    lines = [line for line in lines[lines.index("l.l = sum l.p") + 1:] if line]
    first = next(i for i, line in enumerate(lines)
                 if re.fullmatch(r"\S+ = mul \S+ l\.q", line))
    seed = lines[first].split()[0]
    if seed.startswith("d."):
        return ""
    done, made = [], set()
    for line in lines[first + 1:]:
        words = line.split()
        if words[0] == "free":
            # What was made before, and l.q, which the next step reads again.
            names = [w for w in words[1:] if w in made]
            if seed in words:
                seed = None
            made -= set(names)
            if names:
                done.append("free " + " ".join(names))
            continue
        at = words.index("=")
        bound = words[:at]
        read = ["l.q" if w == seed else w for w in words[at + 1:]]
        if seed in bound:
            seed = None
        made |= set(bound)
        done.append(" ".join([*bound, "=", *read]))
    if all(" = zeros " in line for line in done):
        return ""
    return "\n".join(done) + "\n"


def cases_of(row, op, theirs, random):
    """(title, setup, step, results, names of the gradient) of a row: the op, and
    its gradient."""
    setup = row.write(random)
    answer = theirs.prepare(row, [])
    yield row.title, setup, row.line + "\n", row.results, []
    targets = [name for name, (dtype, _, _) in row.operands.items()
               if dtype in ("f32", "f64")]
    if not op["gradient"] or not targets or answer["dtype"] not in ("f32",
                                                                    "f64"):
        return
    like = answer["dtype"], answer["shape"]
    numpy.save("l.q.npy", random.standard_normal(like[1]).astype(
        DTYPES[like[0]]))
    step = gradient_lines(row, setup, like, targets)
    if step:
        setup += (f'l.q = load "l.q.npy" {like[0]}'
                  f"[{','.join(map(str, like[1]))}]\n{row.line}\n")
        yield (f"gradient of {row.title}", setup, step,
               ["d." + name for name in targets], targets)


def steps_for(side):
    """So many that a batch takes about BATCH seconds."""
    steps = 1
    while True:
        took = side.seconds(steps) * steps
        if took > BATCH / 4 or steps > 4000:
            return max(1, int(steps * BATCH / took))
        steps *= 4


def measure_rows(report, only, found):
    sides = {threads: (Ours(threads), Theirs(threads)) for threads in (1, 2)}
    random = numpy.random.default_rng(1)
    given, first = given_rows(), first_rows()
    for op in ops():
        name = op["name"]
        if only and name not in only.split(","):
            continue
        rows = given.get(name) or first.get(name)
        if rows is None:
            report.fail(name, "neither tests/ops.tsv nor tests/bench/ops.tsv "
                        "says what PyTorch calls it")
            continue
        for row in rows:
            if row.torch.startswith("- "):
                report.skip(name, row.torch[2:])
                continue
            try:
                for title, *case in cases_of(row, op, sides[1][1], random):
                    for threads, pair in sides.items():
                        measure_one(report, f"{title}, {threads} thr", row,
                                    case, pair, found)
            except (AssertionError, Untrue) as error:
                report.fail(row.title, str(error))
    for pair in sides.values():
        for side in pair:
            side.end()


def measure_one(report, title, row, case, pair, found):
    ours, theirs = pair
    setup, step, results, gradient = case
    norms = ours.prepare(setup, step, results, "" if gradient else SEED)
    answer = theirs.prepare(row, gradient)["norms"]
    same(norms[:len(answer)], answer, NEAR, title)
    counts = [steps_for(side) for side in pair]

    def measure():
        batches = [[], []]
        for _ in range(BATCHES):
            for side, steps, took in zip(pair, counts, batches):
                time.sleep(PAUSE)
                side.seconds(1)
                took.append(side.seconds(steps))
        a, b = map(min, batches)
        return a, b, b / a

    found.append((report.pair(title, measure, 0.75, 1, beyond=BEYOND), title))


def bench(report, folder, only=""):
    need_module("torch")
    found, back = [], os.getcwd()
    os.chdir(folder)
    try:
        measure_rows(report, only, found)
    finally:
        os.chdir(back)
        print("the least of PyTorch's time : ours:")
        for ratio, title in sorted(found)[:WORST]:
            print(f"  {ratio:6.3f}  {title}")


BENCHES = {"ops": bench}

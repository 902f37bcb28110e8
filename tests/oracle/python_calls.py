"""Compares calls of gt with the same calls of PyTorch.

usage: python_calls.py [--share K N] [--refused] [CALL...]

README says that a call that PyTorch has means the same in gt, or is refused. Here calls are made
in both: those that the op table has rows for, in all forms (a function, a method, an operator, in
place, with keywords), of all dtypes, with numbers of Python and NumPy as operands; and calls of a
list, python_calls.txt, in which forms stand that no row tells of. A call must give the values,
dtype and shape that it has in PyTorch, or be refused by an exception; one of the list is refused only where
python_differs.txt says so. What Python concludes of a
result's type without asking must be what the program says."""
import argparse, json, os, re, subprocess, sys, warnings

os.environ.setdefault("GT_SILENCE", "60")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../share/python"))
import numpy as np
import torch
import gt

warnings.simplefilter("ignore")
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
         "int32": "i32", "uint8": "u8", "bool": "bool"}
DTYPES = list(NAMES.values())
# Refusals: what a user is told in place of a value. All others are mistakes of gt.
REFUSALS = (gt.Error, TypeError, AttributeError, ValueError, IndexError)
ULPS = {"f32": 2.0 ** -23, "f64": 2.0 ** -52, "f16": 2.0 ** -10, "bf16": 2.0 ** -7}


def operands():
    """What calls are made of: NAME_DTYPE, as x_f32, of shape 2 3 4 and others."""
    random_ = np.random.default_rng(7)
    arrays = {"x": (2, 3, 4), "y": (2, 3, 4), "m": (3, 3), "r": (4,), "s": (), "e": (0, 3)}
    out = {}
    for name, shape in arrays.items():
        values = random_.integers(1, 7, shape) * (1 if name in "ye" else random_.choice([-1, 1], shape))
        for torch_name, dtype in NAMES.items():
            mine = np.abs(values) if dtype == "u8" else values % 2 if dtype == "bool" else values
            mine = mine * (0.75 if dtype[0] in "fb" and dtype != "bool" else 1)
            out[f"{name}_{dtype}"] = torch.tensor(mine, dtype=getattr(torch, torch_name))
    out["i"] = torch.tensor([[0, 1, 2], [2, 0, 1], [1, 1, 0]])
    out["j"] = torch.tensor([1, 0])
    return out


def plain(value):
    """The dtype, shape and values of a result, in a form that both have."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, torch.Tensor):
        dtype = NAMES.get(str(value.dtype)[6:], str(value.dtype))
        return dtype, tuple(value.shape), value.detach().to(torch.float64 if dtype != "i64" else torch.int64).numpy()
    if isinstance(value, gt.Tensor):
        concluded = value._dtype, value._shape, value._rank
        dtype, shape, _ = value._read() if value.numel() <= 1000 else (value.dtype, value.shape, 0)
        for told, known in zip((dtype, shape, len(shape)), concluded):
            if known is not None and told != known:
                raise AssertionError(f"Python concluded {concluded}, and the program says {dtype} {shape}")
        return dtype, tuple(shape), np.array(value.numpy(), "i8" if dtype == "i64" else "f8")
    if isinstance(value, torch.Size):
        return tuple(value)
    return value


def same(want, got, ulps, by_norm):
    """Whether both are the same, but for so many units in the last place: of each element, or by_norm of the
    largest."""
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(
            same(a, b, ulps, by_norm) for a, b in zip(want, got))
    if not (isinstance(want, tuple) and len(want) == 3 and isinstance(want[2], np.ndarray)):
        return want == got or isinstance(want, float) and isinstance(got, float) and np.isclose(want, got, 1e-6)
    if not isinstance(got, tuple) or len(got) != 3 or want[:2] != got[:2]:
        return False
    sizes = np.abs(want[2]).astype("f8")
    finite = sizes[np.isfinite(sizes)]
    if by_norm and finite.size:
        sizes = np.maximum(sizes, finite.max())
    with np.errstate(invalid="ignore"):
        near = np.abs(want[2] - got[2]) <= ulps * (ULPS.get(want[0], 0) * sizes + (want[0] == "f16") * 2.0 ** -24)
    return bool(np.all(near | (want[2] == got[2]) | (np.isnan(want[2]) & np.isnan(got[2]))))


def run(call, space):
    space = dict(space)
    steps = call.split("; ")
    for step in steps[:-1]:
        exec(step, space)
    return eval(steps[-1], space)


class Grid:
    def __init__(self):
        self.torch_space = {"gt": torch, "F": torch.nn.functional, "nn": torch.nn, "np": np, **operands()}
        for dtype, name in zip(DTYPES, NAMES):
            self.torch_space[dtype] = getattr(torch, name)
        self.gt_space = {"gt": gt, "F": gt.nn.functional, "nn": gt.nn, "np": np}
        for name, value in self.torch_space.items():
            if isinstance(value, torch.Tensor):
                dtype = NAMES[str(value.dtype)[6:]]
                self.gt_space[name] = gt.tensor(value.tolist() if value.numel() else np.zeros(value.shape), dtype=dtype)
        for dtype in DTYPES:
            self.gt_space[dtype] = dtype
        self.kept = dict(self.gt_space)
        self.counts = dict.fromkeys("same differs refused more both wrong".split(), 0)
        self.refused = {}
        self.known = differences()

    def check(self, call, is_listed, ulps=8):
        """Makes the call in both, and says what is wrong; None where nothing is."""
        inplace = re.search(r"\w_\(|[-+*/]=|//=", call)
        space = {k: v.clone() if isinstance(v, torch.Tensor) and inplace else v for k, v in self.torch_space.items()}
        try:
            want = plain(run(call, space))
        except Exception as error:
            want = error
        space = self.gt_space
        if inplace:
            space = {k: v.clone() if isinstance(v, gt.Tensor) and re.search(rf"\b{k}\b", call) else v
                     for k, v in space.items()}
        try:
            got = plain(run(call, space))
        except REFUSALS as error:
            got = error
        except AssertionError as error:
            return self.wrong(call, f"{error}")
        except Exception as error:
            return self.wrong(call, f"{type(error).__name__}: {error}")
        if isinstance(got, Exception):
            self.counts["both" if isinstance(want, Exception) else "refused"] += 1
            if not isinstance(want, Exception):
                self.refused[call] = str(got)
                if not str(got).strip():
                    return self.wrong(call, "refused without a word")
                if is_listed:
                    return self.wrong(call, f"it is refused: {short(got)}")
            return None
        if isinstance(want, Exception):
            # What PyTorch refuses by a rule, as a result that does not fit into its tensor, gt refuses too. That a
            # method is not there, or has no kernel for a dtype on a CPU ("not implemented for 'Half'"), is no rule.
            if inplace and isinstance(want, RuntimeError) and "not implemented for" not in str(want):
                return self.wrong(call, f"PyTorch refuses it ({want}), and gt gives {short(got)}")
            self.counts["more"] += 1
            return None
        if same(want, got, ulps, is_listed):
            self.counts["same"] += 1
            return None
        return self.wrong(call, f"PyTorch gives {short(want)}, and gt {short(got)}")

    def wrong(self, call, why):
        for pattern, reason in self.known:
            if re.fullmatch(pattern, call):
                self.counts["differs"] += 1
                return None
        self.counts["wrong"] += 1
        return f"{call}: {why}"


def short(value):
    text = re.sub(r"\s+", " ", str(value))
    return text if len(text) < 160 else text[:157] + "..."


def differences(name="python_differs.txt"):
    """The calls that the pages say to differ, as a regular expression and a reason. A line may name a
    version of PyTorch, before which alone the call differs."""
    out, version = [], tuple(map(int, re.findall(r"\d+", torch.__version__)[:2]))
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for line in file:
            if line.strip() and line[0] != "#":
                pattern, reason, *before = line.rstrip("\n").split("\t")
                if not before or version < tuple(map(int, before[0].split("."))):
                    out.append((pattern, reason))
    return out


OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
             "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
NUMBERS = ["2", "2.5", "True", "np.int64(2)", "np.float32(2.5)", "np.float64(2.5)", "np.int32(3)", "-1"]


def of_rows():
    """The calls that the rows of the op table make."""
    table = json.loads(subprocess.run([gt._program("gt-emit"), "--ops=json"], stdout=subprocess.PIPE,
                                      check=True).stdout)
    for row in table["ops"]:
        names = [row["name"]] if not row.get("internal") else []
        names += re.findall(r"torch\.(?:Tensor\.)?([a-z]\w*)(?=[,;]|$)", row["source"]) if names else []
        names = [n for n in dict.fromkeys(names) if hasattr(torch, n) or hasattr(torch.Tensor, n)]
        count = len([o for o in row["operands"] if o["kind"] == "tensor"])
        family, keys = row["family"], [k["name"] for k in row["keys"]]
        for name in names:
            if "keepdims" in keys:
                yield from reduction(name)
            elif family in ("point-wise", "elementary", "comparisons", "activations") and count == 1 and \
                    len(row["operands"]) == 1:
                yield from unary(name)
            elif family in ("point-wise", "elementary", "comparisons") and count == 2:
                yield from binary(name, OPERATORS.get(row["name"]) if name == row["name"] or
                                  row["name"] not in OPERATORS else None)


def unary(name):
    for dtype in DTYPES:
        for x in (f"x_{dtype}", f"s_{dtype}", f"e_{dtype}", f"y_{dtype}"):
            yield f"gt.{name}({x})"
        yield f"gt.{name}(input=x_{dtype})"
        yield f"x_{dtype}.{name}()"
        yield f"x_{dtype}.{name}_()"
        yield f"z = x_{dtype}.clone(); z.{name}_(); z"


def binary(name, sign):
    for a in DTYPES:
        for b in DTYPES:
            yield f"gt.{name}(x_{a}, y_{b})"
            yield f"x_{a}.{name}(y_{b})"
            yield f"z = x_{a}.clone(); z.{name}_(y_{b}); z"
            yield f"gt.{name}(s_{a}, y_{b})"
            yield f"gt.{name}(x_{a}, s_{b})"
            yield f"z = x_{a}.clone(); z.{name}_(s_{b}); z"
            yield f"z = s_{a}.clone(); z.{name}_(y_{b}); z"
            if sign:
                yield f"x_{a} {sign} y_{b}"
                if sign in "+-*/ // % **":
                    yield f"z = x_{a}.clone(); z {sign}= y_{b}; z"
        yield f"gt.{name}(x_{a}, other=y_{a})"
        yield f"gt.{name}(input=x_{a}, other=y_{a})"
        yield f"gt.{name}(x_{a}, r_{a})"
        yield f"z = r_{a}.clone(); z.{name}_(x_{a}); z"
        for number in NUMBERS:
            yield f"gt.{name}(x_{a}, {number})"
            yield f"z = x_{a}.clone(); z.{name}_({number}); z"
            if sign:
                yield f"x_{a} {sign} {number}"
                yield f"{number} {sign} x_{a}"
                yield f"s_{a} {sign} {number}"


def reduction(name):
    for dtype in DTYPES:
        x = f"x_{dtype}"
        for args in ("", "1", "-1", "1, True", "dim=0", "dim=-1, keepdim=True", "dim=1, keepdim=False", "(0, 2)",
                     "dim=(0, 1)", "dim=[0, 1], keepdim=True", "axis=1", "None", "dim=None"):
            yield f"gt.{name}({x}{', ' * bool(args)}{args})"
            yield f"{x}.{name}({args})"
        yield f"gt.{name}(input={x}, dim=1)"
        for args in ("", "0", "-1", "dim=0", "0, True"):
            yield f"gt.{name}(s_{dtype}{', ' * bool(args)}{args})"
        yield f"gt.{name}(e_{dtype})"
        yield f"gt.{name}(e_{dtype}, 1)"
        for other in DTYPES:
            yield f"gt.{name}({x}, dtype={other})"
            yield f"gt.{name}({x}, 1, dtype={other})"


def of_list():
    """The calls of python_calls.txt: "; " stands between those of a line, and $T for each dtype."""
    with open(os.path.join(HERE, "python_calls.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and line[0] != "#":
                for call in line.strip().split(" ;; "):
                    for dtype in DTYPES if "$T" in call else [""]:
                        yield call.replace("$T", dtype)


def hide_messages():
    """What the programs tell of lines that are refused is no news here."""
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("K", "N"),
                        help="of the rows' calls, make each Nth, from the Kth on")
    parser.add_argument("--refused", action="store_true", help="list what is refused")
    parser.add_argument("calls", nargs="*", metavar="CALL", help="make these calls alone")
    args = parser.parse_args()
    hide_messages()
    grid = Grid()
    rows, listed = list(dict.fromkeys(of_rows())), list(dict.fromkeys(of_list()))
    if args.calls:
        rows, listed = [], args.calls
    rows = rows[args.share[0]::args.share[1]]
    wrong, names = [], set(listed)
    for call in listed + rows:
        told = grid.check(call, call in names)
        if told:
            wrong.append(told)
    for told in wrong[:400]:
        print(told)
    if args.refused:
        for call, why in grid.refused.items():
            print("refused:", call, "|", short(why))
    print(f"{len(listed) + len(rows)} calls: " + ", ".join(f"{n} {what}" for what, n in grid.counts.items()))
    print(f"{len(listed) + len(rows) - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong or not grid.counts["same"] else 0


if __name__ == "__main__":
    sys.exit(main())

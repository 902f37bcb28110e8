"""What the oracle's scripts share: they write values as text, run programs,
and read results.

The programs are found on PATH; GT_BACKEND names the backend.
"""
import os
import subprocess

import numpy

try:
    import torch
except ImportError:
    torch = None  # scripts that compare gt with itself do without PyTorch

DTYPES = {} if torch is None else {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
    "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
    "u8": torch.uint8, "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
# The bounds are relative to the largest magnitude of the value. They are wide
# enough for sums in another order, and far too narrow for a wrong formula.
TOLERANCE = {"f64": 1e-10, "f32": 3e-5, "f16": 4e-3, "bf16": 3e-2}


def type_text(tensor):
    sizes = ",".join(str(n) for n in tensor.shape)
    return f"{NAMES[tensor.dtype]}[{sizes}]"


def number_text(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def tensor_line(name, tensor):
    """A line "name = tensor TYPE VALUES", with all digits of the values."""
    # Every float dtype is exact in f64.
    flat = tensor.detach().reshape(-1)
    values = (flat.double() if tensor.is_floating_point() else flat).tolist()
    words = [f"{name} = tensor {type_text(tensor)}"]
    words += [number_text(v) for v in values]
    return " ".join(words)


def parse_result(text):
    """("f32[2]", values) for a printed result, or ("fail", message)."""
    words = text.split()
    if words[0] != "tensor":
        return "fail", text
    if words[1].startswith(("i", "u", "bool")):
        return words[1], [int(w) for w in words[2:]]
    return words[1], [float(w) for w in words[2:]]


def emit(program, *options):
    """gt-emit over a program: its stream, messages and status."""
    done = subprocess.run(
        ["gt-emit", *options], input=program, capture_output=True,
        text=True, timeout=300, check=False)
    return done.stdout, done.stderr, done.returncode


def work(stream, backend=None, *options):
    """gt-work over a stream: its results, messages and status."""
    env = dict(os.environ)
    if backend:
        env["GT_BACKEND"] = backend
    done = subprocess.run(
        ["gt-work", *options], input=stream, capture_output=True,
        text=True, timeout=300, env=env, check=False)
    return done.stdout, done.stderr, done.returncode


def results_of(output):
    """The printed lines by name."""
    found = {}
    for line in output.splitlines():
        name, text = line.split(" = ", 1)
        if name in found:
            raise ValueError(f"{name} was printed twice")
        found[name] = text
    return found


def difference(text, expected, tolerance=None, scale=0.0):
    """How a printed result differs from a tensor, or None."""
    if text is None:
        return "was not printed"
    got_type, got = parse_result(text)
    want_type = type_text(expected)
    if got_type != want_type:
        return f"is {got_type} {got if got_type == 'fail' else ''}, " \
               f"not {want_type}"
    if not expected.is_floating_point():
        want = [int(v) for v in expected.reshape(-1).tolist()]
        return None if got == want else f"is {got}, not {want}"
    if tolerance is None:
        tolerance = TOLERANCE[want_type.split("[")[0]]
    want = expected.detach().double().reshape(-1).numpy()
    # The digits are the fewest that give the value in its own dtype.
    have = torch.tensor(got, dtype=torch.float64).to(
        expected.dtype).double().numpy()
    if want.shape != have.shape:
        return f"has {have.size} values, not {want.size}"
    finite = want[numpy.isfinite(want)]
    largest = max([scale, *numpy.abs(finite)]) if finite.size else scale
    with numpy.errstate(invalid="ignore"):
        near = numpy.abs(have - want) <= tolerance * max(largest, 1e-300)
    if tolerance == 0:  # then -0 differs from 0
        near = (have == want) & (numpy.signbit(have) == numpy.signbit(want))
        have = numpy.where(near, have, numpy.nan)
    same = (have == want) | (numpy.isnan(have) & numpy.isnan(want)) | near
    if same.all():
        return None
    i = int(numpy.argmin(same))
    return f"element {i} is {have[i]!r}, not {want[i]!r}"


class Tally:
    """Counts what passed, and prints what did not."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, what, problem):
        if problem is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: {problem}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, "
              f"{self.skipped} skipped")
        return 1 if self.failed else 0

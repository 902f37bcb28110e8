#!/usr/bin/env python3
"""Puts every pair of a grid of special and extreme values through every op of two
tensors, point by point: tensors with tensors, tensors with numbers, and numbers
with tensors, in every dtype; comparisons also between all dtypes.

usage: pairs.py [--share K N] BACKEND...

The ops are those of gt-emit --ops=json: a new one fails here until TRUTHS has
it. The truth is computed with Python's integers and fractions and with NumPy's
80 bits, and rounded once to the result's dtype. A number that an integer dtype
does not hold must be refused by arithmetic, and compared by its value. With
--share, only each N-th case is tried, from the K-th on.
"""
import argparse
import dataclasses
import fractions
import json
import math
import operator
import subprocess
import sys

import numpy

from gt import Tally, emit, results_of, work

L = numpy.longdouble
# Digits, the exponent of the smallest subnormal, and that of what is too large.
FLOATS = {"f32": (24, -149, 128), "f64": (53, -1074, 1024), "f16": (11, -24, 16),
          "bf16": (8, -133, 128)}
INTS = {"i64": (-2**63, 2**63 - 1), "i32": (-2**31, 2**31 - 1), "u8": (0, 255)}
KINDS = {"any": (*FLOATS, *INTS, "bool"), "number": (*FLOATS, *INTS), "float": (*FLOATS,)}
NUMBERS = ("0", "-0.0", "1", "-1", "2", "3", "-3", "0.5", "0.1", "-2.5", "254.5", "255", "256", "300", "3.0",
           "200.00000001", "16777217", "16777216.5", "2147483647", "2147483648",
           "-2147483649", "9007199254740993", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "1e-46", "1e39", "1e300",
           "inf", "-inf", "nan")


def rounded(dtype, value):
    """The nearest value of the dtype, ties to even, of a float, a fraction or 80
    bits, as a float."""
    digits, least, most = FLOATS[dtype]
    if isinstance(value, numpy.floating):
        if not numpy.isfinite(value) or value == 0:
            return float(value)
        fraction, exponent = numpy.frexp(value)
        value = fractions.Fraction(int(numpy.ldexp(fraction, 64))) * fractions.Fraction(2) ** (
            int(exponent) - 64)
    elif isinstance(value, float):
        if not math.isfinite(value) or value == 0:
            return value
        value = fractions.Fraction(value)
    if value == 0:
        return 0.0
    size = value.numerator.bit_length() - value.denominator.bit_length()
    unit = fractions.Fraction(2) ** max(size - digits, least)
    if abs(value) >= unit * 2 ** digits:
        unit *= 2  # the quotient of the lengths is one too small
    whole = round(value / unit)
    found = whole * unit
    if abs(found) >= 2 ** most:
        return math.copysign(math.inf, whole)
    return math.copysign(float(found), value)


def grid(dtype):
    """The values of a dtype, as Python's numbers."""
    if dtype == "bool":
        return [0, 1]
    if dtype in INTS:
        low, high = INTS[dtype]
        some = [0, 1, 2, 3, 7, 100, 200, 255, 256, 2**24, 2**31, 2**53, 2**62, low, high]
        near = {n + d for n in some for d in (-1, 0, 1)} | {-5, -(2**24) - 1, -(2**53) - 1}
        return sorted(n for n in near if low <= n <= high)
    digits, least, most = FLOATS[dtype]
    normal, one = 2.0 ** (least + digits - 1), 2.0 ** (1 - digits)
    largest = math.ldexp(2 - one, most - 1)
    some = [0.0, 2.0 ** least, normal - 2.0 ** least, normal, normal ** 0.5, 0.1, 1 / 3, 0.5,
            1 - one / 2, 1.0, 1 + one, 2.0, math.pi, 10.0, 88.0, 200.0, 2.0**24 + 1,
            2.0**53, largest ** 0.5, largest / 2, largest, math.inf]
    held = [rounded(dtype, x) for x in some]
    return held + [-x for x in held] + [math.nan]


def text(value):
    return repr(value) if isinstance(value, int) else repr(float(value))


# ---- truths -----------------------------------------------------------------


def wrap(dtype, value):
    low, high = INTS[dtype]
    return (value - low) % (high - low + 1) + low


def exact(function):
    """Of fractions, where both are finite; Python's floats have the other cases."""
    def of(a, b):
        if math.isfinite(a) and math.isfinite(b):
            found = function(fractions.Fraction(a), fractions.Fraction(b))
            return found if found else function(a, b)
        return function(a, b)
    return of


def divide(a, b):
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def quotient(a, b):
    if not math.isfinite(a) or b == 0 or b != b:
        return divide(a, b) if b == 0 else math.nan
    if math.isinf(b):
        return -1.0 if a != 0 and (a < 0) != (b < 0) else 0.0
    return fractions.Fraction(fractions.Fraction(a) // fractions.Fraction(b))


def remainder(a, b):
    if not math.isfinite(a) or b == 0 or b != b:
        return math.nan
    if math.isinf(b):
        return b if a != 0 and (a < 0) != (b < 0) else a
    return fractions.Fraction(a) % fractions.Fraction(b)


def extreme(choose):
    return lambda a, b: math.nan if a != a or b != b else choose(a, b)


def wide(function):
    def of(a, b):
        with numpy.errstate(all="ignore"):
            return function(L(a), L(b))
    return of


@dataclasses.dataclass
class Truth:
    """How an op is computed of floats and of integers, and how many units in the
    last place it may be off in f32 and f64; those of 16 bits by one at most."""
    real: object = None
    integer: object = None
    ulps: float = 0
    # The units are those of the larger operand, where operands cancel.
    cancels: bool = False
    divides: bool = False


def power(a, b):
    """NumPy's of 80 bits, which is wrong at infinities."""
    if math.isinf(a) or math.isinf(b):
        return math.pow(a, b)
    return wide(numpy.power)(a, b)


TRUTHS = {
    "add": Truth(exact(operator.add), operator.add),
    "sub": Truth(exact(operator.sub), operator.sub),
    "mul": Truth(exact(operator.mul), operator.mul),
    "div": Truth(lambda a, b: exact(operator.truediv)(a, b)
                 if a and b and math.isfinite(a) and math.isfinite(b) else divide(a, b)),
    "pow": Truth(power, lambda a, b: pow(a, b, 2**64), 2),
    "mod": Truth(remainder, operator.mod, divides=True),
    "floordiv": Truth(quotient, operator.floordiv, 1, divides=True),
    "maximum": Truth(extreme(max), max),
    "minimum": Truth(extreme(min), min),
    "atan2": Truth(wide(numpy.arctan2), None, 2),
    "hypot": Truth(wide(numpy.hypot), None, 2),
    "logaddexp": Truth(wide(numpy.logaddexp), None, 2, cancels=True),
    "eq": Truth(operator.eq), "ne": Truth(operator.ne), "lt": Truth(operator.lt),
    "le": Truth(operator.le), "gt": Truth(operator.gt), "ge": Truth(operator.ge),
    "and": Truth(lambda a, b: a != 0 and b != 0),
    "or": Truth(lambda a, b: a != 0 or b != 0),
}


@dataclasses.dataclass
class Case:
    op: str
    left: tuple  # (dtype, values), or ("", [number])
    right: tuple
    words: tuple = ()  # a number as it is written
    result: str = ""
    refused: bool = False

    def __str__(self):
        names = [side[0] or word for side, word in zip((self.left, self.right), self.words)]
        return f"{self.op} {' '.join(names)}"


def result_of(op, left, right):
    """The dtype of the result, and that in which floats are computed."""
    if op["dtype"] == "bool":
        return "bool", ""
    names = [d for d in (left[0], right[0]) if d]
    kind = names[0]
    for dtype, values in (left, right):
        if not dtype and kind not in FLOATS:
            if isinstance(values[0], float):
                kind = "f32"
            elif kind == "bool":
                kind = "i64"
    if op["dtype"] == "float" and kind not in FLOATS:
        kind = "f32"
    return kind, "f32" if kind in ("f16", "bf16") else kind


def is_whole(word):
    return word.lstrip("+-").isdigit()


def cases(op):
    dtypes = KINDS[op["accepts"]]
    compares = op["dtype"] == "bool"
    truth = TRUTHS[op["name"]]

    def divisors(side):
        if truth.divides and side[0] in INTS:
            return side[0], [v for v in side[1] if v != 0]
        if op["name"] == "pow" and side[0] in INTS:
            return side[0], [v for v in side[1] if v >= 0]
        return side
    for dtype in dtypes:
        for other in dtypes if compares else (dtype,):
            yield Case(op["name"], (dtype, grid(dtype)), divisors((other, grid(other))),
                       ("", ""))
        for word in NUMBERS:
            number = int(word) if is_whole(word) and abs(int(word)) < 2**63 else float(word)
            if word == str(-2**63):
                number = -2**63
            bool_too = dtype == "bool" and op["accepts"] != "any"
            if bool_too or (op["accepts"] == "float" and dtype not in FLOATS):
                continue
            held = dtype not in INTS or (
                INTS[dtype][0] <= number <= INTS[dtype][1] if isinstance(number, int)
                else not is_whole(word))
            for swap in (False, True):
                side, lone = (dtype, grid(dtype)), ("", [number])
                if swap:
                    left, right, words = lone, divisors(side), (word, "")
                else:
                    left, right, words = side, lone, ("", word)
                result, _ = result_of(op, left, right)
                refused = not held and op["dtype"] == "promote"
                whole = result in INTS
                wrong = whole and not swap and (
                    truth.divides and number == 0 or op["name"] == "pow" and number < 0)
                if refused or not wrong:
                    yield Case(op["name"], left, right, words, "", refused)


def truths(case, op):
    """The true values, rounded, and for each the unit in its last place."""
    truth = TRUTHS[case.op]
    result, computed = result_of(op, case.left, case.right)
    floats = [s[0] for s in (case.left, case.right) if s[0] in FLOATS]

    def seen(side):
        dtype, values = side
        if result == "bool":  # by value, but that numbers take the dtype of floats
            if dtype or not floats or case.op in ("and", "or"):
                return values
            near = [rounded(floats[0], fractions.Fraction(v) if isinstance(v, int) else v)
                    for v in values]
            return [v if math.isinf(n) else n for v, n in zip(values, near)]
        if result in FLOATS:
            # Halves are computed in f32, and numbers rounded to that.
            return [rounded(computed, fractions.Fraction(v) if isinstance(v, int) else v)
                    for v in values]
        return values
    found = []
    for a in seen(case.left):
        for b in seen(case.right):
            if result == "bool":
                found.append((int(bool(truth.real(a, b))), 0))
            elif result in INTS:
                found.append((wrap(result, truth.integer(a, b)), 0))
            else:
                value = rounded(result, truth.real(a, b))
                size = max(abs(value), abs(a), abs(b)) if truth.cancels else abs(value)
                found.append((value, size))
    return result, found


def problem(case, result, want, printed):
    if case.refused:
        return None if printed and "does not fit into" in printed else f"is not refused: {printed}"
    if printed is None:
        return "was not printed"
    words = printed.split(" ")
    if words[0] != "tensor":
        return printed
    if not words[1].startswith(result + "["):
        return f"is of {words[1]}, not {result}"
    have = words[2:]
    if len(have) != len(want):
        return f"has {len(have)} values, not {len(want)}"
    truth = TRUTHS[case.op]
    ulps = truth.ulps
    if result in ("f16", "bf16"):  # beside a number, which is an f32, rounded twice
        ulps = 1 if ulps or any(case.words) else 0
    wrong = []
    pairs = ((a, b) for a in case.left[1] for b in case.right[1])
    for (a, b), word, (value, size) in zip(pairs, have, want):
        if result not in FLOATS:
            fine = int(word) == value
        else:
            digits, least, _ = FLOATS[result]
            x = rounded(result, float(word))
            fine = x == value or x != x and value != value
            if not fine and ulps and math.isfinite(x) and math.isfinite(value):
                exponent = math.frexp(min(size, sys.float_info.max))[1] - digits
                fine = abs(x - value) <= ulps * math.ldexp(1, max(exponent, least))
            elif not fine and ulps:  # at the end of the dtype's range
                fine = abs(x) >= 0.9999 * math.ldexp(1, FLOATS[result][2] - 1) * 2 and (
                    x > 0) == (value > 0) and abs(value) > 1
        if not fine:
            wrong.append(f"of {text(a)} and {text(b)} is {word}, not {value!r}")
    return None if not wrong else f"{wrong[0]} ({len(wrong)} such)"


def program(found):
    lines = []
    for dtype in KINDS["any"]:
        values = grid(dtype)
        lines.append(f"a.{dtype} = tensor {dtype}[{len(values)},1] "
                     + " ".join(text(v) for v in values))
    sides = {}
    for i, case in enumerate(found):
        words = []
        for k, (dtype, values) in enumerate((case.left, case.right)):
            if not dtype:
                words.append(case.words[k])
                continue
            shape = f"{len(values)},1" if k == 0 else f"{len(values)}"
            key = (dtype, shape)
            if key not in sides:
                sides[key] = f"s{len(sides)}"
                lines.append(f"{sides[key]} = tensor {dtype}[{shape}] "
                             + " ".join(text(v) for v in values))
            words.append(sides[key])
        lines += [f"y = {case.op} {' '.join(words)}", f"print y as=c{i}"]
    return "\n".join(lines) + "\n"


def table():
    done = subprocess.run(["gt-emit", "--ops=json"], capture_output=True, text=True, check=True)
    for op in json.loads(done.stdout)["ops"]:
        if (op["index"] == "...,...->..." and not op.get("internal") and
                op["family"] not in ("ranks", "output", "losses") and
                [o["kind"] for o in op["operands"]] == ["tensor", "tensor"] and
                "int" not in op["accepts"]):
            yield op


def main(backends, first, step):
    tally = Tally()
    ops = {op["name"]: op for op in table()}
    for name in ops:
        tally.check(f"{name} is known", None if name in TRUTHS else
                    "TRUTHS in tests/oracle/pairs.py has no such op")
    for name in TRUTHS:
        tally.check(f"{name} is an op", None if name in ops else
                    "TRUTHS has an op that gt-emit --ops=json does not name")
    found = [case for name, op in ops.items() if name in TRUTHS for case in cases(op)]
    found = found[first::step]
    stream, _, _ = emit(program(found))
    made = {}
    for backend in backends:
        name, _, isa = backend.partition(":")
        made[backend] = results_of(work(stream, name, *(["--isa", isa] if isa else []))[0])
    for i, case in enumerate(found):
        result, want = ("", []) if case.refused else truths(case, ops[case.op])
        for backend in backends:
            tally.check(f"{backend}: {case}",
                        problem(case, result, want, made[backend].get(f"c{i}")))
    return tally.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1),
                        metavar=("K", "N"))
    parser.add_argument("backends", nargs="*",
                        default=["ref", "cpu", "cpu:sse2"])
    options = parser.parse_args()
    sys.exit(main(options.backends, *options.share))

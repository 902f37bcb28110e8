#!/usr/bin/env python3
"""Compares random programs that bind names again with a tape that forgets
nothing.

usage: former_names.py PROGRAMS [SEED]

The model here keeps every value, the lines that made it and all names that it
had. It says for each grad whether it is an error, since the loss depends on
what the target's name held before or on a history that was consumed; or zeros
and a warning, since the loss does not depend on the target; or a number. Each
program runs through gt-emit and gt-work once, in part as a loop, which gt-emit
replays. Where the loss depends on several consumed values, gt-emit may not
know which targets those depend on, and may refuse one that they do not.
"""
import random
import sys

from gt import Tally, emit, work

NAMES = "abcdefw"
NUMBERS = (0.5, 1.25, -0.75, 1.5)
ERROR, ZEROS, VALUE = "an error", "zeros", "a value"
CONSUMED = "was consumed by the grad at"


class Value:
    """A value, which a line made: its operands, each with the slope by it."""

    def __init__(self, number, slopes=()):
        self.number = number
        self.slopes = list(slopes)
        self.names = set()
        self.consumed = False  # whether a grad consumed its line


def behind(loss):
    """All values that the loss was computed from, and the loss."""
    seen, open_ = {id(loss): loss}, [loss]
    while open_:
        for operand, _ in open_.pop().slopes:
            if id(operand) not in seen:
                seen[id(operand)] = operand
                open_.append(operand)
    return list(seen.values())


def leads_to(value, target):
    return any(v is target for v in behind(value))


def consumed_between(loss, target):
    """True if a consumed line lies between the loss and the target."""
    seen, open_ = set(), [loss]
    while open_:
        value = open_.pop()
        if value is target or id(value) in seen:
            continue
        seen.add(id(value))
        if value.consumed:
            if leads_to(value, target):
                return True
            continue
        open_ += [v for v, _ in value.slopes]
    return False


def slope(loss, target, known=None):
    known = {} if known is None else known
    if loss is target:
        return 1.0
    if id(loss) not in known:
        known[id(loss)] = sum(by * slope(v, target, known)
                              for v, by in loss.slopes)
    return known[id(loss)]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.held, self.expected = [], {}, []
        for name in NAMES:
            self.run(("leaf", name, self.random.choice(NUMBERS), ""))
        for _ in range(self.random.randrange(1, 4)):
            self.block()

    def bind(self, name, value):
        value.names.add(name)
        self.held[name] = value

    def block(self):
        """Adds lines, once or several times over."""
        body = [self.draw() for _ in range(self.random.randrange(1, 12))]
        for _ in range(self.random.choice((1, 1, 2, 3, 12))):
            for line in body:
                self.run(line)

    def draw(self):
        pick = self.random.choice
        kind = pick(("neg", "mul", "mul", "add", "copy", "leaf", "detach",
                     "sgd", "free", "grad", "grad", "grad", "retain"))
        x = pick(NUMBERS if kind == "leaf" else NAMES)
        return kind, pick(NAMES), x, pick(NAMES)

    def run(self, line):
        kind, r, x, y = line
        if kind == "leaf":
            self.lines.append(f"{r} = tensor f64[] {x}")
            return self.bind(r, Value(x))
        if kind == "free":
            if r in self.held and len(self.held) > 3:
                self.lines.append(f"free {r}")
                del self.held[r]
            return None
        if x not in self.held or y not in self.held:
            return None
        a, b = self.held[x], self.held[y]
        if kind in ("grad", "retain"):
            return self.grad(kind, x, y)
        if kind == "neg":
            text, value = f"neg {x}", Value(-a.number, [(a, -1.0)])
        elif kind == "copy":
            text, value = f"copy {x}", Value(a.number, [(a, 1.0)])
        elif kind == "mul":
            text = f"mul {x} {y}"
            value = Value(a.number * b.number,
                          [(a, b.number), (b, a.number)])
        elif kind == "add":
            text = f"add {x} {y}"
            value = Value(a.number + b.number, [(a, 1.0), (b, 1.0)])
        elif kind == "detach":
            text, value = f"detach {x}", Value(a.number)
        else:
            text = f"sgd {x} {y} 0.25"
            value = Value(a.number - 0.25 * b.number)
        if not abs(value.number) < 1e6:
            return None
        self.lines.append(f"{r} = {text}")
        return self.bind(r, value)

    def grad(self, kind, x, y):
        """Adds a grad with the loss x and the target y. A grad that is refused
        prints nothing."""
        loss, target = self.held[x], self.held[y]
        way = self.way(loss, target, y)
        retain = " retain=1" if kind == "retain" else ""
        self.lines.append(f"g = grad {x} {y}{retain}")
        number = slope(loss, target) if way == VALUE else 0.0
        merged = sum(v.consumed for v in behind(loss)) > 1
        self.expected.append((len(self.lines), way, number, merged))
        self.lines += ["print g", "free g"]
        if way != ERROR and not retain:
            for value in behind(loss):
                value.consumed = value.consumed or bool(value.slopes)

    @staticmethod
    def way(loss, target, name):
        if consumed_between(loss, target):
            return ERROR
        values = behind(loss)
        if any(v is target for v in values):
            return VALUE
        return ERROR if any(name in v.names for v in values) else ZEROS


def got_way(stream, messages, at):
    """What the grad at a line became, and what says so. A message that comes
    again is only counted, at the end, so an error is looked for in the stream."""
    for line in stream:
        if f' = fail "<stdin>:{at}: ' in line:
            return ERROR, line
    text = "\n".join(line for line in messages if f"<stdin>:{at}: " in line)
    if "warning: grad: the loss does not depend" in text:
        return ZEROS, text
    return VALUE, text


def is_near(printed, number):
    got = float(printed.split()[-1])
    return abs(got - number) <= 1e-9 * max(1.0, abs(number))


def check(seed, counts):
    program = Program(seed)
    text = "\n".join(program.lines) + "\n"
    stream, messages, _ = emit(text)
    output, _, _ = work(stream)
    printed = output.splitlines()
    if len(printed) != len(program.expected):
        return f"{len(printed)} results\n{text}"
    stream, messages = stream.splitlines(), messages.splitlines()
    counted = any(" more like the one at " in line for line in messages)
    for result, (at, way, number, merged) in zip(printed, program.expected):
        got, said = got_way(stream, messages, at)
        if got == VALUE and way == ZEROS and counted:
            got = ZEROS
        counts[way] = counts.get(way, 0) + 1
        if got == ERROR and way == ZEROS and merged and CONSUMED in said:
            continue
        if got != way:
            return f"line {at} is {got}, not {way}: {said}\n{text}"
        if way != ERROR and not is_near(result, number):
            return f"line {at} is {result}, not {number}\n{text}"
    return None


def main(programs, seed=0):
    tally, counts = Tally(), {}
    for s in range(seed, seed + programs):
        tally.check(f"program {s}", check(s, counts))
    for way in (ERROR, ZEROS, VALUE):
        tally.check(f"there is {way}",
                    None if counts.get(way) else "there is none")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:] or ["100"])))

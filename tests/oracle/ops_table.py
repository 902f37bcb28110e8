"""Reads tests/ops.tsv, whose head explains its columns, and gt's own table of
ops."""
import dataclasses
import json
import pathlib
import re
import subprocess

TABLE = pathlib.Path(__file__).parent.parent / "ops.tsv"
FLOATS = ("f64", "f32")
INTS = ("i64", "i32", "u8")
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ("bool",)
HALVES = ("f16", "bf16")
GROUPS = {"float": FLOATS + HALVES, "int": INTS, "number": NUMBERS + HALVES,
          "all": ALL + HALVES}


@dataclasses.dataclass
class Row:
    line: str
    operands: dict  # name: (dtype, sizes, range)
    dtypes: tuple
    torch: str  # "" where other cases compare the op

    @property
    def op(self):
        return self.line.split(" = ")[1].split(" ")[0]

    @property
    def call(self):
        """The right side of the line."""
        return self.line.split(" = ")[1]

    def kinds(self):
        """The kind of each operand's values, as cases.make() takes it."""
        found = {}
        for name, (dtype, _, limit) in self.operands.items():
            kind = {">0": "positive", "<1": "unit", "": "normal"}.get(limit)
            if kind is None:
                found[name] = ("index", int(limit[1:]))
            else:
                found[name] = kind if dtype == "$T" else (kind, dtype)
        return found

    def shapes(self, sizes):
        return {name: tuple(sizes[s[1:]] if s.startswith("$") else int(s)
                            for s in words)
                for name, (_, words, _) in self.operands.items()}


def parse(text):
    columns = text.rstrip("\n").split("\t")
    operands = {}
    if columns[1] != "-":
        for name, spec in re.findall(r"(\S+) (\S+)", columns[1]):
            dtype, sizes, limit = re.fullmatch(r"(.*)\[(.*)\](.*)",
                                               spec).groups()
            operands[name] = (dtype, [s for s in sizes.split(",") if s], limit)
    dtypes = []
    for word in columns[2].split():
        dtypes += GROUPS.get(word, (word,))
    return Row(columns[0], operands, tuple(dtypes),
               columns[4] if len(columns) > 4 else "")


def rows():
    with open(TABLE, encoding="utf-8") as file:
        return [parse(line) for line in file if not line.startswith("#")]


def ops():
    """gt's own table of ops, by name."""
    output = subprocess.run(["gt-emit", "--ops=json"], check=True,
                            capture_output=True, text=True).stdout
    return {op["name"]: op for op in json.loads(output)["ops"]}

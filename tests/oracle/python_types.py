"""Checks what gt for Python concludes of the types of results without asking.

usage: python_types.py

Each line of tests/ops.tsv is run, and what Python concludes of it must be what comes. Then the op is
given a name that Python does not know: then, too, it may conclude nothing that is wrong, since a new op
is in the table of ops and nowhere else."""
import os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../share/python"))
from gt import _types

import ops_table

SIZES = {"$M": "4", "$N": "6", "$K": "3", "M": 4, "N": 6, "K": 3}


class Known:
    """What Python knows of a tensor."""

    def __init__(self, dtype, shape, rank):
        self._dtype, self._shape, self._rank = dtype, shape, rank


def filled(text, dtype):
    sums = {"bool": "i64", "u8": "i64", "i32": "i64"}.get(dtype, dtype)
    for name, value in {"$T": dtype, "$L": sums, **{k: v for k, v in SIZES.items() if k[0] == "$"}}.items():
        text = text.replace(name, value)
    return text


def programs():
    """(row, dtype) of each line, and the lines that run it."""
    for row in ops_table.rows():
        for dtype in row.dtypes:
            lines, types = [], {}
            for name, (kind, sizes, limit) in row.operands.items():
                form = filled(f"{kind}[{','.join(sizes)}]", dtype)
                types[name] = form
                lines.append(f"{name} = {'zeros' if limit[:1] == '<' and limit != '<1' else 'ones'} {form}")
            line = filled(row.line, dtype)
            if "load" not in line:
                yield row, dtype, line, types, lines


def word_of(text, types):
    if text in types:
        dtype, _, sizes = types[text][:-1].partition("[")
        shape = tuple(map(int, sizes.split(","))) if sizes else ()
        return Known(dtype, shape, len(shape))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text, text)


def concluded(row, line, types, count):
    words, keys = [], {}
    for word in line.split(" = ")[1].split(" ")[1:]:
        key, sign, value = word.partition("=")
        if sign and '"' not in key:
            keys[key] = word_of(value, {})
        else:
            words.append(word_of(word, types))
    return _types._known(row, words, keys, count)


def main():
    cases = list(programs())
    text, wanted = "", {}
    for i, (_, _, line, _, before) in enumerate(cases):
        results = line.split(" = ")[0].split(" ")
        text += "\n".join([*before, line, *(f"print {r} as=r{i}.{j}" for j, r in enumerate(results))]) + "\n"
    out = subprocess.run("gt-emit 2>/dev/null | gt-work 2>/dev/null", shell=True, input=text, text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    for name, form in re.findall(r"^(r\d+\.\d+) = tensor (\S+)", out, re.M):
        dtype, _, sizes = form[:-1].partition("[")
        wanted[name] = dtype, tuple(map(int, sizes.split(","))) if sizes else ()
    rows = ops_table.ops()
    for row in rows.values():  # as gt for Python keeps them
        row["keys"] = [key["name"] for key in row["keys"]]
    passed, wrong, whole = 0, [], 0
    for i, (case, dtype, line, types, _) in enumerate(cases):
        row = rows.get(case.op)
        if row is None or case.op == "tensor":
            continue
        count = len(line.split(" = ")[0].split(" "))
        for known_as in (case.op, "new_op"):
            found = concluded({**row, "name": known_as}, line, types, count)
            for j in range(count):
                want = wanted.get(f"r{i}.{j}")
                if want is None:
                    continue
                told = (found[j][0], found[j][1], found[j][2])
                right = all(a is None or a == b for a, b in zip(told, (*want, len(want[1]))))
                passed += right
                whole += right and None not in told and known_as == case.op
                if not right:
                    wrong.append(f"{line} of {types} as {known_as}: Python concludes {told}, and it is {want}")
    for told in wrong[:100]:
        print(told)
    print(f"{whole} types are known whole")
    print(f"{passed} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong or whole < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

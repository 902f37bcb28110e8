#!/usr/bin/env python3
"""Gives a program to a command as far as its writer got before it was killed, at every
byte of its saves, and looks at what the file then holds.

usage: cut_saves.py PROGRAM FILE EVERY COMMAND...

PROGRAM has lines from "#saves begin" to "#saves end", which save tensors in FILE, a
safetensors file that another round has written. It is cut behind every EVERY-th byte
from the first of these lines to the end. FILE must then hold what it held before, or,
if all of these lines were there, what PROGRAM saves. Prints how often it held each."""
import pathlib
import subprocess
import sys


def main():
    program, file = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
    every, command = int(sys.argv[3]), sys.argv[4:]
    before = file.read_bytes()

    def left(size):
        file.write_bytes(before)
        subprocess.run(command, input=program[:size], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return file.read_bytes()

    after = left(len(program))
    assert after != before, "the whole program saves nothing"
    begin = program.index(b"#saves begin")
    end = program.index(b"#saves end") + len("#saves end")
    held = {"before": 0, "after": 0}
    for size in [*range(begin, end + 2, every), end - 1, end, len(program)]:
        found, wanted = left(size), after if size >= end else before
        if found != wanted:
            sys.exit(f"cut behind byte {size}, which follows {program[max(begin, size - 40):size]!r}, it "
                     f"holds {'a part of a round' if found not in (before, after) else 'the other round'}")
        held["after" if found == after else "before"] += 1
    file.write_bytes(before)
    print(held)


if __name__ == "__main__":
    main()

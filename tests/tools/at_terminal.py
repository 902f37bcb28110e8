#!/usr/bin/env python3
"""Runs a command at a terminal of its own, in the foreground, and types Ctrl-C
once a line of its output matches.

usage: at_terminal.py PATTERN COMMAND...

Prints what the command wrote, then "status N" or "signal N", and a line "left
NAME" for each process of its session that is there ten seconds later."""
import os
import pty
import re
import sys
import time


def session_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            text = stat.read()
    except (FileNotFoundError, ProcessLookupError):
        return None, None
    name = text[text.index("(") + 1:text.rindex(")")]
    state, _, _, session = text[text.rindex(")") + 2:].split()[:4]
    return int(session), (name if state != "Z" else None)


def members(session):
    found = [session_of(pid) for pid in os.listdir("/proc") if pid.isdigit()]
    return [name for its, name in found if its == session and name]


def main(pattern, command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    written, is_typed = "", False
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # no process has the terminal open any more
            break
        if not chunk:
            break
        written += chunk.decode(errors="replace")
        if not is_typed and re.search(pattern, written):
            os.write(terminal, b"\x03")
            is_typed = True
    status = os.waitpid(pid, 0)[1]
    sys.stdout.write(written.replace("\r\n", "\n"))
    if os.WIFSIGNALED(status):
        print("signal", os.WTERMSIG(status))
    else:
        print("status", os.WEXITSTATUS(status))
    for _ in range(100):
        left = members(pid)
        if not left:
            return
        time.sleep(0.1)
    for name in left:
        print("left", name)


main(sys.argv[1], sys.argv[2:])

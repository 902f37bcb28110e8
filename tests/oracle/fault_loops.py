#!/usr/bin/env python3
"""Makes the k-th call of a kind fail, for every k of small runs of all programs.

usage: fault_loops.py LIBRARY MOST [NAME ...]

LIBRARY is tests/tools/faults.cc, built. A run is done once without faults, which
counts its calls, and then once for each call, at most MOST evenly chosen ones of
a kind (0: all of them). NAME: only those runs. Whatever fails, a program

  - ends by itself, within a limit, with a status that its page has,
  - says why on standard error if that status is not 0,
  - prints what it prints without faults if the status is 0, and else nothing
    that differs from it but what says "fail",
  - leaves each file that it saves as it was or as it should be, and no other.

An interrupted or short transfer is no failure: it changes nothing at all. A
process that is killed while it saves leaves the old file or the new one, and what
else it leaves the next program that saves there removes.
"""

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KILL = -1
LIMIT = 60.0  # seconds for one run, as the machine may have other work
STATUSES = {0, 1, 2, 3, 4}

ONCE, ON = "", "+"
KINDS = [  # class, how, from there on, whether nothing may change
    ("read", errno.EIO, ONCE, False),
    ("read", errno.EINTR, ONCE, True),
    ("read", 0, ONCE, True),
    ("write", errno.ENOSPC, ONCE, False),
    ("write", errno.ENOSPC, ON, False),
    ("write", errno.EINTR, ONCE, True),
    ("write", 0, ONCE, True),
    ("open", errno.EMFILE, ONCE, False),
    ("open", errno.EACCES, ON, False),
    ("write", KILL, ONCE, False),
    ("rename", errno.EIO, ONCE, False),
    ("rename", KILL, ONCE, False),
    ("sync", errno.EIO, ONCE, False),
    ("sync", KILL, ONCE, False),
    ("socket", errno.EMFILE, ONCE, False),
    ("thread", errno.EAGAIN, ONCE, False),
    ("map", errno.ENOMEM, ONCE, False),
    ("memory", errno.ENOMEM, ONCE, False),
    ("memory", errno.ENOMEM, ON, False),
]

MODEL = """\
x = randn f32[8,16] 1
u = randn f32[16,6] 2 #signal=colpar
h = matmul x u #signal=colpar
l = sum h
g = grad l u
u = sub u g
print l
print u
"""
CONFIG = """\
mesh: {tp: 2}
signals:
  colpar: {shard: {tp: 1}}
"""
WORK = """\
a = load "a.npy" f32[4,3]
b = load "m.safetensors:b" f32[4,3]
c = add a b
print c
save c "a.npy"
save c "m.safetensors:c"
d = load "m.safetensors:c" f32[4,3]
d = mul d 2
print d
"""
START = """\
a = randn f32[4,3] 5
b = ones f32[4,3]
save a "a.npy"
save b "m.safetensors:b"
"""

# Name, command, standard input, files that it makes or changes, whether what it
# prints is a report, which is only to be right when the status is 0.
RUNS = [
    ("emit", ["gt-emit", "model.gt"], None, [], False),
    ("emit-stdin", ["gt-emit"], "model.gt", [], False),
    ("emit-repeat", ["gt-emit", "--repeat", "3", "model.gt"], None, [], False),
    ("shard", ["gt-shard", "-c", "tp2.yaml"], "stream", [], False),
    ("plan", ["gt-shard", "--plan", "-n", "2"], "stream", [], True),
    ("check", ["gt-check", "placed"], None, [], False),
    ("work", ["gt-work", "--threads", "2", "work.gt"], None,
     ["a.npy", "m.safetensors"], False),
    ("work-placed", ["gt-work", "--threads", "1"], "placed", [], False),
    ("work-trace", ["gt-work", "--threads", "1", "--trace", "trace"], "stream",
     ["trace"], False),
    ("route", ["gt-route", "-n", "1", "--log", "log", "stream"], None, ["log"],
     False),
    ("route-two", ["gt-route", "-n", "2", "--threads", "1"], "placed", [],
     False),
    ("route-save", ["gt-route", "-n", "1", "work.gt"], None,
     ["a.npy", "m.safetensors"], False),
    ("log", ["gt-log", "-o", "log"], "stream", ["log"], False),
    ("log-filter", ["gt-log", "--op", "matmul", "stream"], None, [], False),
    ("log-summary", ["gt-log", "--summary", "stream"], None, [], True),
    ("key", ["gt-key", "--public", "key"], None, [], True),
]


def environment(library, **more):
    out = dict(os.environ, LC_ALL="C", GT_SILENCE="20", LD_PRELOAD=library,
               GOMP_SPINCOUNT="1000")
    out.update(more)
    return out


# By prctl(2) a descendant that loses its parent becomes a child of this
# process, which can then learn that the descendant has ended.
PR_SET_CHILD_SUBREAPER = 36


def is_alive(group):
    """Whether a process of the group still runs. One that has ended does not
    count, however late the init of this machine notices its end."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0] != 0:
            pass
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False


class Outcome:
    """A run with what it left: its status, output, messages and files."""

    def __init__(self, run, template, library, **more):
        self.folder = tempfile.mkdtemp()
        try:
            shutil.copytree(template, self.folder, dirs_exist_ok=True)
            self.start(run, environment(library, **more))
            self.left = set(self.files)
            if any(name.endswith(".gt-save") for name in self.left):
                program = os.path.join(self.folder, "again.gt")
                subprocess.run(["gt-work", program], cwd=self.folder,
                               check=True)
                self.left = set(os.listdir(self.folder))
        finally:
            shutil.rmtree(self.folder)

    def start(self, run, env):
        _, command, source, _, _ = run
        path = os.path.join(self.folder, source) if source else os.devnull
        with open(path, "rb") as stdin:
            process = subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, cwd=self.folder, env=env,
                start_new_session=True)
        self.hangs = False
        try:
            self.out, self.err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.hangs = True
            os.killpg(process.pid, signal.SIGKILL)
            self.out, self.err = process.communicate()
        self.status = process.returncode
        end = time.monotonic() + 10
        while is_alive(process.pid) and time.monotonic() < end:
            time.sleep(0.01)
        self.has_left = is_alive(process.pid)
        if self.has_left:
            os.killpg(process.pid, signal.SIGKILL)
        self.files = {}
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name), "rb") as file:
                self.files[name] = file.read()


def wrong_lines(out, right):
    """The first line that the run without faults did not print there, or
    None."""
    lines, expected = out.split(b"\n"), right.split(b"\n")
    for i, line in enumerate(lines):
        want = expected[i] if i < len(expected) else b""
        is_last = i == len(lines) - 1
        if line == want or (is_last and want.startswith(line)):
            continue
        # OpenPGM, which comes with libzmq, prints this on standard output
        # before it aborts, and gt prints nothing after it.
        if line.startswith(b"Fatal: file mem.c:") and not any(lines[i + 1:]):
            continue
        if b" = fail " in line or line.startswith(b"#end ") and line != b"#end 0":
            continue
        return line.decode(errors="replace")
    return None


def problems(run, fault, clean, got, before, is_harmless):
    _, _, _, made, is_report = run
    out = []
    is_killed = got.status == -signal.SIGKILL and f":{KILL}:" in fault
    if got.hangs:
        return ["it does not end"]
    if got.has_left:
        out.append("a process is left behind")
    if got.status not in STATUSES and not is_killed:
        out.append(f"status {got.status}")
    if is_harmless and got.status != clean.status:
        out.append(f"status {got.status} though nothing failed")
    if got.status == 0 and got.out != clean.out:
        out.append("status 0, but another output")
    if got.status != 0 and not got.err and not is_killed:
        out.append(f"status {got.status} without a word")
    if got.status != 0 and not is_report:
        line = wrong_lines(got.out, clean.out)
        if line is not None:
            out.append(f"printed '{line}'")
    for name in got.left - set(clean.files) - {"again.npy"}:
        out.append(f"left {name}")
    for name, right in clean.files.items():
        is_text = name in ("log", "trace")  # their times differ from run to run
        if name in made and is_text:
            continue
        allowed = [right] if got.status == 0 else [right, before.get(name)]
        if got.files.get(name) not in allowed:
            out.append(f"{name} is neither the old nor the new one")
    return out


def chosen(count, most):
    if most == 0 or count <= most:
        return range(1, count + 1)
    if most == 1:
        return [1]
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


def counts_of(run, template, library):
    """How many calls of each class each program makes, and the run without
    faults."""
    with tempfile.NamedTemporaryFile("r") as file:
        clean = Outcome(run, template, library, GT_FAULT_COUNTS=file.name)
        most = {}
        for line in file:
            program, kind, count = line.split()
            at = (program, kind)
            most[at] = max(most.get(at, 0), int(count))
    return most, clean


def loop(run, template, library, most, report):
    before = {}
    for name in os.listdir(template):
        with open(os.path.join(template, name), "rb") as file:
            before[name] = file.read()
    counts, clean = counts_of(run, template, library)
    if clean.status != 0 or not counts:
        report(run[0], "without faults", [f"status {clean.status}"], clean)
        return
    for (program, kind), count in sorted(counts.items()):
        for name, how, goes_on, is_harmless in KINDS:
            if name != kind:
                continue
            if how == KILL and not run[3]:
                continue
            for k in chosen(count, most):
                fault = f"{kind}:{k}{goes_on}:{how}:{program}"
                got = Outcome(run, template, library, GT_FAULT=fault)
                report(run[0], fault,
                       problems(run, fault, clean, got, before, is_harmless),
                       got)


def prepare(folder):
    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    def output(name, *command):
        with open(os.path.join(folder, name), "wb") as file:
            subprocess.run(command, check=True, cwd=folder, stdout=file)

    write("model.gt", MODEL)
    write("work.gt", WORK)
    write("start.gt", START)
    write("again.gt", 'a = ones f32[2]\nsave a "again.npy"\n')
    write("tp2.yaml", CONFIG)
    output("stream", "gt-emit", "model.gt")
    output("placed", "gt-shard", "-c", "tp2.yaml", "stream")
    output("nothing", "gt-work", "start.gt")
    output("key", "gt-key")
    os.chmod(os.path.join(folder, "key"), 0o600)


def main():
    library, most = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    wanted = sys.argv[3:]
    passed, failed = 0, 0
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def report(name, fault, found, got):
        nonlocal passed, failed
        if not found:
            passed += 1
            return
        failed += 1
        print(f"{name}: {fault}: {'; '.join(found)}")
        for line in got.err.decode(errors="replace").splitlines()[:3]:
            print(f"    {line}")

    with tempfile.TemporaryDirectory(prefix="fault-loops") as template:
        prepare(template)
        for run in RUNS:
            if not wanted or run[0] in wanted:
                loop(run, template, library, most, report)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

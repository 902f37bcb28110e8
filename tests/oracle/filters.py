#!/usr/bin/env python3
"""Checks the laws of the filters over every program that other tests run.

usage: filters.py [--all] [--share K N] [-v]

Records what gt-emit and gt-shard write while other tests run: the golden
cases, the examples of the pages, and the oracle's random programs; with --all
the Bats tests as well. To these it adds the examples under every config, files
with programs, and the lines that gt-route recorded of runs. For each of them
it checks that:

  no filter crashes on it;
  fed its own output, each filter prints it unchanged;
  gt-shard without a config and gt-log print what they read, and so does
  gt-check, but for the types that it adds;
  gt-check finds nothing in a program without ranks and claims of types that
  gt-emit finds right, nor in an example under a config.
"""
import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import shipped
from gt import Tally

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = ROOT / "tests/oracle"
FILTERS = ("gt-emit", "gt-shard", "gt-check", "gt-log")
LARGEST = 8 << 20  # bytes of a stream
TYPES = re.compile(rb" #(type|spec)=\S+")
PLACED = re.compile(rb"@| #(type|spec|partial)=")
# The status 130 means that the stream says it was interrupted; no filter makes
# it.
STATUSES = (0, 1, 2, 3, 4, 130)

# The process becomes the program, so that signals reach it: a shell that waited for it
# would leave it behind when a test ends what it started.
RECORDER = """#!/usr/bin/env bash
exec > >(exec tee "$(mktemp "$GT_RECORDS/XXXXXXXX")")
exec "$GT_RECORDED/${0##*/}" "$@"
"""
PYTHON = "/usr/bin/python3"
COMMANDS = [
    [ROOT / "scripts/cases"],
    [ROOT / "scripts/doc-examples"],
    [PYTHON, ORACLE / "laws.py", "12"],
    [PYTHON, ORACLE / "placements.py", "25"],
    [PYTHON, ORACLE / "by_rank.py", "--programs", "15"],
    [PYTHON, ORACLE / "rebinding.py", "null"],
    [PYTHON, ORACLE / "rebound_operands.py", "null"],
    [PYTHON, ORACLE / "oracle.py", "null"],
    [PYTHON, ORACLE / "shard.py", "--rounds", "1", "--part", "12"],
    [PYTHON, ORACLE / "shard_programs.py", "8"],
    [PYTHON, ORACLE / "shard_networks.py", "8"],
]
BATS = [["bats", path] for path in sorted((ROOT / "tests").glob("*.bats"))]


class Recorder:
    """A folder of the programs; two of them keep a copy of what they write."""

    def __init__(self, folder):
        self.bin, self.records = folder / "bin", folder / "records"
        self.bin.mkdir()
        self.records.mkdir()
        programs = pathlib.Path(shutil.which("gt-emit")).resolve().parent
        for program in programs.iterdir():
            if program.name in ("gt-emit", "gt-shard"):
                (self.bin / program.name).write_text(RECORDER)
                (self.bin / program.name).chmod(0o755)
            else:
                (self.bin / program.name).symlink_to(program)
        self.env = dict(os.environ, GT_RECORDED=str(programs),
                        GT_RECORDS=str(self.records), GT_BIN=str(self.bin),
                        # What a test expects of a program's end may come later
                        # here, or not at all, so some wait in vain.
                        BATS_TEST_TIMEOUT="20",
                        PATH=f"{self.bin}:{os.environ['PATH']}")

    def run(self, command, seconds):
        """Runs the command for some seconds at most. Its failures and slowness
        are not this test's matter."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["timeout", "-k", "5", str(seconds), *command],
                           env=self.env, timeout=600, check=False,
                           cwd=ROOT, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def rest(self):
        """What tests that were stopped have left: names by numbers of processes."""
        mine, left = f"GT_RECORDS={self.records}".encode(), {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mine in (process / "environ").read_bytes().split(b"\0"):
                    word = (process / "cmdline").read_bytes().split(b"\0")[0]
                    left[int(process.name)] = os.path.basename(word.decode())
        return left

    def end_rest(self):
        """Ends what is left, and returns the names."""
        ended = {}
        while left := self.rest():
            ended |= left
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.05)
        return [*ended.values()]


def run(program, text, *options):
    done = subprocess.run([program, *options], input=text, timeout=300,
                          capture_output=True, check=False)
    return done.stdout, done.stderr, done.returncode


def recorded(folder, commands, seconds):
    recorder = Recorder(folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda command: recorder.run(command, seconds), commands))
    left = recorder.end_rest()
    if left:
        print("ended what was left of tests:", *sorted(left))
    return {f"record {path.name}": path.read_bytes()
            for path in sorted(recorder.records.iterdir())
            if path.stat().st_size <= LARGEST}


def files():
    """Programs and streams that are files of the tree."""
    places = [*ROOT.glob("examples/*.gt"), *ROOT.glob("tests/**/*.gt"),
              *ROOT.glob("tests/cases/*/*/expout")]
    for corpus in ("check", "emit", "log", "parser", "rounds", "route", "shard",
                   "worker"):
        places += (ROOT / "tests/fuzz/corpus" / corpus).iterdir()
    return {str(path.relative_to(ROOT)): path.read_bytes()
            for path in sorted(places)}


def recorded_runs(folder, streams):
    """The instructions of runs, which include those that gt-route inserted."""
    found = {}
    for name, stream in streams.items():
        log = folder / "run.log"
        done = subprocess.run(
            ["gt-route", "-n", "2", "--log", str(log)], input=stream.encode(),
            capture_output=True, timeout=300, check=False)
        rows = log.read_bytes().splitlines(keepends=True)
        if done.returncode == 0:
            found[f"run of {name}"] = b"".join(
                row.split(b"\t", 6)[6] for row in rows)
    return found


def difference(a, b):
    if a == b:
        return None
    lines = zip(a.split(b"\n"), b.split(b"\n"))
    first = next(((x, y) for x, y in lines if x != y), (a[-80:], b[-80:]))
    return f"{first[1][:300]!r}, not {first[0][:300]!r}"


def without_end(stream):
    """The stream without its status, which each filter sets itself."""
    return re.sub(rb"#end \d+\n$", b"", stream)


def problems_of(text):
    """What the filters do wrong with one text: (what, problem)."""
    written = {}
    for program in FILTERS:
        out, said, status = run(program, text)
        if status not in STATUSES:
            yield program, f"status {status}: {said[:300]!r}"
            return
        written[program] = out, said, status
    stream, _, status = written["gt-emit"]
    for program in FILTERS:
        out, said, code = run(program, stream)
        if code not in STATUSES:
            yield f"{program} of the stream", f"status {code}: {said[:300]!r}"
            continue
        again, _, _ = run(program, out)
        yield (f"{program} fed its own output", difference(out, again))
        kept, wanted = without_end(out), without_end(stream)
        if program == "gt-check":
            kept, wanted = TYPES.sub(b"", kept), TYPES.sub(b"", wanted)
            if status == 0 and not PLACED.search(stream):
                yield "gt-check accepts it", (
                    None if code == 0 else said[:400].decode())
        yield f"{program} prints the stream", difference(wanted, kept)


def check_shipped(stream):
    _, said, status = run("gt-check", stream.encode(), "-q")
    return None if status == 0 else said[:400].decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="the Bats tests too")
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1),
                        metavar=("K", "N"),
                        help="record each N-th test from the K-th on, and "
                             "check a quarter of the other texts")
    parser.add_argument("-v", action="store_true", help="say how many texts")
    options = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, step = options.share
        commands = COMMANDS + (BATS if options.all else [])
        texts = recorded(folder, commands[first::step], 600 if step == 1 else 15)
        os.chdir(folder)
        streams = shipped.shipped(folder)
        for stream, text in streams.items():
            tally.check(f"gt-check of {stream}", check_shipped(text))
        others = {name: text.encode() for name, text in streams.items()} | files()
        some = [*others][first % 4::4 if step > 1 else 1]
        texts |= {name: others[name] for name in some}
        texts |= recorded_runs(folder, {name: streams[name] for name in some if name in streams})
        unique = {text: name for name, text in texts.items()}
        if options.v:
            print(f"{len(unique)} texts")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda t: list(problems_of(t)), unique)
            for (text, where), problems in zip(unique.items(), found):
                for what, problem in problems:
                    tally.check(f"{where}: {what}", problem and
                                f"{problem}\n  of: {text[:200]!r}")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())

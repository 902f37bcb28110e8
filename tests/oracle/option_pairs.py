#!/usr/bin/env python3
"""Runs one failing program under every pair of options of gt-route and gt-work.

usage: option_pairs.py K N

The options are those that --help lists, so that a new one joins by itself; an
option whose value cannot be told from its type needs a line in VALUES. There
are three settings: two options of gt-route, which starts its workers; two of
gt-work on a file; and one of each, where gt-work attaches to gt-route. A run
ends within a limit, with status 1 and the program's results (4 if the worker
leaves at the failure), or with status 2 and a message if the options do not go
together. Of all pairs each N-th is run, from the K-th on (counted from 0; 0 1 runs
all), and the order of the pairs is the same each time.
"""

import concurrent.futures
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 60.0  # seconds for one run, as the machine may have other work

PROGRAM = """\
x = ones f32[2]
i = tensor i32[2] 1 2
z = tensor i32[2] 0 1
q = floordiv i z
print x
print q
r = add q i
print r
print x as=w
"""
NAMES = ["x", "q", "r", "w"]  # it prints these; q and r fail

# The value of each option; {} is the folder of the run. An option that needs
# others is given with them.
VALUES = {
    "--backend": ["ref"],
    "--isa": ["sse2"],
    "--pace": ["flops=1e12"],
    "--memory": ["64M"],
    "-n": ["2"],
    "--workers": ["1"],
    "--threads": ["1"],
    "--root": ["{}"],
    "--log": ["{}/log"],
    "--trace": ["{}/trace"],
    "--silence": ["20"],
    "--timeout": ["10"],
    "--rank": ["0"],
    "--name": ["one"],
    "--monitor": ["none"],
}
KEYS = {
    "gt-route": {"--key": ["{}/route", "--allow", "{}/allowed"],
                 "--allow": ["{}/allowed", "--key", "{}/route"],
                 "--monitor-key": ["{}/route", "--monitor-allow", "{}/allowed",
                                   "--monitor", "ipc://{}/watch"],
                 "--monitor-allow": ["{}/allowed", "--monitor-key", "{}/route",
                                     "--monitor", "ipc://{}/watch"]},
    "gt-work": {"--key": ["{}/work", "--route-key", "{}/open"],
                "--route-key": ["{}/open", "--key", "{}/work"],
                "--files-key": ["{}/open", "--root", "tcp://127.0.0.1:9", "--key",
                              "{}/work", "--route-key", "{}/open"],
                "--trace-since": ["0", "--trace", "{}/trace", "--rank", "0"]},
}
# These options choose the setting, run nothing, or need a GPU.
LEFT_OUT = {"--help", "--version", "--bind", "--connect", "--list-devices",
            "--device", "--granted"}


def options_of(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True,
                          check=True).stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"  (?:-\w,)?(--?[\w-]+)(?: ([A-Z][^ ]*|[^ ]+\|[^ ]+))?", line)
        if not match or match[1] in LEFT_OUT:
            continue
        name, kind = match[1], match[2] or ""
        if kind.startswith("(Env"):
            kind = ""
        found.append([name] + value_of(program, name, kind, line))
    return found


def value_of(program, name, kind, line):
    if name in KEYS[program]:
        return KEYS[program][name]
    if not kind:
        return []
    if name in VALUES:
        return VALUES[name]
    least = re.search(r" in \[([\d.]+) - ", line)
    if least:
        return [least[1]]
    sys.exit(f"option_pairs.py: say in VALUES what {program} {name} is given")


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("GT_")}
    return dict(env, LC_ALL="C", GT_SILENCE="20", GOMP_SPINCOUNT="1000")


class Process:
    def __init__(self, folder, *command):
        self.name = command[0]
        self.process = subprocess.Popen(
            [word.replace("{}", folder) for word in command], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment())
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        self.out, self.err = self.process.communicate()

    def is_running(self):
        return self.process.poll() is None

    def end(self, limit=LIMIT):
        """Its status, or None if it did not end and was killed."""
        self.reader.join(limit)
        ended = not self.reader.is_alive()
        if not ended:
            self.process.kill()
            self.reader.join()
        return self.process.returncode if ended else None

    def refuses(self):
        return self.process.returncode == 2 and f"{self.name} --help" in self.err


def check_results(process, options, status):
    """What is wrong with the output of a whole run, or None."""
    lines = process.out.splitlines()
    names = [line.split(" ")[0] for line in lines]
    if "--fail-fast" in options:
        if names != NAMES[:len(names)]:
            return f"printed {names}"
    elif names != NAMES:
        return f"printed {names}, not {NAMES}"
    for name, line in zip(names, lines):
        if name in "qr" and " = fail " not in line and "null" not in options:
            return f"printed {line}"
        # A worker that left had not sent these results, so they are failures.
        if status == 4 and " = fail " in line:
            continue
        if name in "xw" and line.split(" = ")[1] != "tensor f32[2] 1 1":
            return f"printed {line}"
    return None


def judge(process, options, expected=1):
    status = process.end()
    if status is None:
        return "does not end"
    if process.refuses():
        return None if not process.out else "refuses its options, and prints"
    if status != expected:
        return f"status {status}: {process.err.strip()[:200]}"
    return check_results(process, options, status)


def alone(program):
    extra = ["--timeout", "10"] if program == "gt-route" else []

    def run(folder, first, second):
        given = first + second
        if extra and extra[0] not in given:
            given = given + extra
        return judge(Process(folder, program, *given, "p.gt"), given)

    return run


def attached(folder, of_route, of_work):
    endpoint = f"ipc://{folder}/socket"
    route_words = list(of_route)
    if "--timeout" not in route_words:
        route_words += ["--timeout", "10"]
    if "--workers" not in route_words:
        route_words += ["--workers", "1"]
    route = Process(folder, "gt-route", "--bind", endpoint, *route_words, "p.gt")
    work = Process(folder, "gt-work", "--connect", endpoint, *of_work)
    # If one of them refuses its options, the other waits in vain.
    for one, other in ((work, route), (route, work)):
        while one.is_running() and other.is_running():
            time.sleep(0.01)
        if not one.is_running():
            one.end()
            if one.refuses() and other.is_running():
                other.process.send_signal(signal.SIGTERM)
    if route.end() is None or work.end() is None:
        return "does not end"
    if route.refuses() or work.refuses():
        return None
    if ("--key" in of_route) != ("--key" in of_work):
        ok = route.process.returncode == 4 and route.err and work.err
        return None if ok else "a worker without its keys was let in"
    # An attached worker that stops at its first failure is lost to the run.
    return judge(route, of_route + of_work,
                 4 if "--fail-fast" in of_work else 1)


def prepare(folder):
    def write(name, data, mode=0o644):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(data)
        os.chmod(path, mode)

    def output(*command):
        return subprocess.run(command, capture_output=True, text=True,
                              check=True, cwd=folder).stdout

    write("p.gt", PROGRAM)
    write("route", output("gt-key"), 0o600)
    write("work", output("gt-key"), 0o600)
    write("open", output("gt-key", "--public", "route"))
    write("allowed", output("gt-key", "--public", "work"))


def pairs():
    route, work = options_of("gt-route"), options_of("gt-work")
    for name, options in (("gt-route", route), ("gt-work", work)):
        for first, second in itertools.combinations(options, 2):
            yield f"{name} {first[0]} {second[0]}", alone(name), first, second
    for first, second in itertools.product([[]] + route, [[]] + work):
        title = f"gt-route {first[:1]}, attached gt-work {second[:1]}"
        yield title, attached, first, second


def run_one(template, pair):
    title, run, first, second = pair
    folder = tempfile.mkdtemp(prefix="pairs")
    try:
        shutil.copytree(template, folder, dirs_exist_ok=True)
        return title, run(folder, first, second)
    finally:
        shutil.rmtree(folder)


def main():
    share, shares = int(sys.argv[1]), int(sys.argv[2])
    todo = list(pairs())
    random.Random(13).shuffle(todo)
    left = iter(todo[share::shares])
    lock = threading.Lock()
    passed, failed = 0, 0

    def work_off(template):
        nonlocal passed, failed
        while True:
            with lock:
                pair = next(left, None)
                if pair is None:
                    return
            title, problem = run_one(template, pair)
            with lock:
                passed += problem is None
                failed += problem is not None
                if problem:
                    print(f"{title}: {problem}", flush=True)

    with tempfile.TemporaryDirectory(prefix="pairs") as template:
        prepare(template)
        at_once = 2 * (os.cpu_count() or 1)
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for job in [pool.submit(work_off, template)
                        for _ in range(at_once)]:
                job.result()
    print(f"{len(todo)} pairs of options, {passed + failed} of them run")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

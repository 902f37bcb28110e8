#!/usr/bin/env python3
"""Examples of libgt take no more memory in many rounds than in a tenth of them,
nor do the programs that run them.

usage: client_rounds.py [ROUNDS]          (10000)

GT_BIN is the directory of the programs; examples/ stands beside it."""
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.environ.get("GT_BIN", ROOT + "/build/bin")
EXAMPLES = os.path.dirname(BIN) + "/examples/"
NOVEL = ROOT + "/share/novel/pride-and-prejudice.txt"
ALLOWED = 1.1
# In KiB: lines that are not sent yet take up to 1 MiB, several times while
# their buffer grows, and allocators keep some of what was freed.
SLACK = 4096
WARM = 500  # at least so many rounds fill the tables of recent text
BATCHES = 15  # in an epoch of the digits


def status_of(pid, field):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return line.split()[1]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def children(pid):
    """The processes that the process with this id has started itself."""
    out = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and status_of(entry, "PPid") == str(pid):
            out.append(int(entry))
    return out


def peaks(command, folder, requests):
    """The most KiB that the client and each program of its pipeline took."""
    environment = {**os.environ, "GT_BIN": BIN}
    for name in "GT_CONNECT", "GT_CONFIG", "GT_WORKERS", "GT_BACKEND":
        environment.pop(name, None)
    with open(folder + "/requests", "w", encoding="ascii") as file:
        file.write((" ".join(["0.5"] * 64) + "\n") * requests)
    with open(folder + "/requests", encoding="ascii") as source:
        process = subprocess.Popen(command, cwd=folder, env=environment,
                                   stdin=source, stdout=subprocess.DEVNULL)
    found, pids = {}, [process.pid]
    watched = {os.path.basename(command[0]), "gt-emit", "gt-work"}
    while process.poll() is None:
        if len(pids) < 3:
            pids = [process.pid, *children(process.pid)]
        for pid in pids:
            # A process that has ended has a state but no memory, and one that
            # was just made still has the name of its maker.
            name, most = status_of(pid, "Name"), status_of(pid, "VmHWM")
            if most is not None and name in watched:
                found[name] = max(found.get(name, 0), int(most))
        time.sleep(0.005)
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return found


def programs(folder):
    """The command of each example for so many rounds."""
    size = os.path.getsize(NOVEL)
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % size
    with open(NOVEL, "rb") as novel, open(folder + "/text.npy", "wb") as text:
        text.write(b"\x93NUMPY\x01\x00\x76\x00%-117s\n" % header.encode())
        text.write(novel.read())
    os.symlink(ROOT + "/share", folder + "/share")
    small = ["text=text.npy", f"length={size}", "layers=1", "width=16",
             "heads=2", "context=8", "batch=4", "held=600", "sample=1",
             "rounds=1"]
    return {
        "module": lambda n: ["module", str(n)],
        "own_gradient": lambda n: ["own_gradient", str(n)],
        "signals": lambda n: ["signals", str(n)],
        "digits": lambda n: ["digits", str(-(-n // BATCHES)),
                             "model.safetensors"],
        "serve": lambda n: ["serve", "model.safetensors"],
        "transformer": lambda n: ["transformer", *small, f"steps={n}"],
        # One of its steps has as many lines as many rounds of the others.
        "mini_gpt": lambda n: ["mini_gpt", NOVEL, str(n // 5), str(n // 5)],
    }


def main(rounds):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder).items():
            def run(n):
                program, *words = command(n)
                for _ in range(10):  # a short run may end before it is looked at
                    found = peaks([EXAMPLES + program, *words], folder,
                                  n if name == "serve" else 0)
                    if len(found) == 3:
                        break
                return found
            few, many = run(max(rounds // 10, WARM)), run(rounds)
            for process in many:
                if process not in few:
                    continue
                most = few[process] * ALLOWED + SLACK
                if many[process] <= most:
                    passed += 1
                else:
                    failed += 1
                print(f"{name}: {process} {few[process]} KiB, of "
                      f"{rounds} rounds {many[process]} KiB"
                      f"{'' if many[process] <= most else ': too much'}",
                      flush=True)
            if len(few) < 3 or len(many) < 3:
                failed += 1
                print(f"{name}: not all three processes were seen")
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))

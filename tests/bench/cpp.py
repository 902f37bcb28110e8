"""Rows of scripts/bench about libgt, the C++ library.

The programs are compiled when a row is measured, with the compiler and the
flags that a user of the build tree would take; those of libtorch want its
headers (Debian's libtorch-dev, of the kind optional in scripts/packages)."""

import os
import shlex
import subprocess
import time

from measure import (EMIT, WORK, need_command, need_file, need_module,
                     optional, peer, run, seconds, shell_seconds)

numpy = optional("numpy")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.path.dirname(os.environ["GT_BIN"])
BENCH = ROOT + "/tests/bench/"
OURS = ["g++", "-O2", "-std=c++20", f"-I{ROOT}/lib/client/include",
        f"-I{BUILD}/include"]
OURS_LINK = [f"-L{BUILD}/lib", "-lgt", f"-Wl,-rpath,{BUILD}/lib"]
TORCH_HEADERS = "/usr/include/torch/csrc/api/include"
TORCH = ["g++", "-O2", "-std=c++17", f"-I{TORCH_HEADERS}"]
TORCH_LINK = ["-ltorch", "-ltorch_cpu", "-lc10"]


def need_libgt():
    need_command("g++")
    need_file(f"{BUILD}/include/gt/ops.h", "build all with scripts/build, not "
              "only the programs")


def client(folder):
    need_libgt()
    path = folder + "/client_peer"
    run([*OURS, BENCH + "client_peer.cc", "-o", path, *OURS_LINK])
    return path


def told(*command, **environment):
    """The number that the program writes last on standard error."""
    out = run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
              text=True, env={**os.environ, **environment}).stderr
    return float(out.split()[-1])


def need_libtorch():
    need_file(TORCH_HEADERS, "libtorch-dev is not installed")


def chain(report, folder):
    need_libtorch()
    ours, theirs = client(folder), folder + "/libtorch_peer"
    run([*TORCH, BENCH + "libtorch_peer.cc", "-o", theirs, *TORCH_LINK])

    def measure():
        mine = told(ours, "chain", "900000")
        other = told(theirs, "900000")
        return mine, other, mine / other

    report.pair("C++ chained 4x4 adds, s/op : libtorch", measure, 0.7, 0.25,
                True)


def lines(report, folder):
    ours, log = client(folder), folder + "/lines.gt"
    told(ours, "lines", "900000", log, GT_CONNECT="-")

    def measure():
        mine = told(ours, "lines", "900000", GT_CONNECT="-")
        with open(log) as f:
            other = 900_000 / seconds([EMIT], stdin=f,
                                      stdout=subprocess.DEVNULL)
        return mine, other, mine / other

    report.pair("C++ lines/s : gt-emit on the same from a file", measure, 1, 2)


def trip(report, folder):
    need_module("zmq")
    ours = client(folder)

    def measure():
        mine, theirs = told(ours, "trip", "3000"), peer("zmq_round_trip", 3000)
        return mine, theirs, mine / theirs

    report.pair("C++ item(), s : libzmq's round trip", measure, 3, 1.6, True)


def blob(report, folder):
    ours = client(folder)

    def measure():
        a = numpy.ones(16 << 20, dtype=numpy.float32)
        b = numpy.zeros_like(a)
        start = time.perf_counter()
        for _ in range(10):
            numpy.copyto(b, a)
        other = 10 * a.nbytes / (time.perf_counter() - start)
        mine = told(ours, "blob", "10")
        return mine, other, mine / other

    report.pair("C++ 64 MiB there and back, B/s : memcpy", measure, 0.2, 0.5)


def compiled(report, folder):
    need_libtorch()
    need_libgt()
    ours = [*OURS, ROOT + "/examples/cpp/digits.cc", "-c", "-o",
            folder + "/digits.o"]
    theirs = [*TORCH, BENCH + "libtorch_digits.cc", "-c", "-o",
              folder + "/theirs.o"]

    def measure():
        mine, other = seconds(ours), seconds(theirs)
        return mine, other, mine / other

    report.pair("compiling the digits, s : libtorch's", measure, 0.15, 0.05,
                True)


def transformer(report, folder):
    """The example, start and evaluation and all, and the same by the shell's."""
    steps = 60
    need_file(f"{BUILD}/examples/transformer", "build all with scripts/build, "
              "not only the programs")
    with open(ROOT + "/share/novel/pride-and-prejudice.txt", "rb") as f:
        text = numpy.frombuffer(f.read(), dtype=numpy.uint8)
    numpy.save(folder + "/text.npy", text)
    settings = [f"text={folder}/text.npy", f"length={len(text)}", "held=4096",
                "rounds=1", "sample=1", f"steps={steps}"]
    words = shlex.join(settings)
    ours = f"{BUILD}/examples/transformer {words} >/dev/null"
    theirs = (f"{ROOT}/examples/transformer {words} | {EMIT} --no-at | {WORK} "
              ">/dev/null")

    def measure():
        mine, other = shell_seconds(ours) / steps, shell_seconds(theirs) / steps
        return mine, other, mine / other

    report.pair("C++ transformer, s/step : the shell's lines", measure, 1.03,
                1, True)


BENCHES = {"cpp-chain": chain, "cpp-lines": lines, "cpp-trip": trip,
           "cpp-blob": blob, "cpp-compile": compiled,
           "cpp-transformer": transformer}

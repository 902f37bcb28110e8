"""The row of scripts/bench about gt-top: the throughput of a run that is
watched beside that of one that is not.

The program is the one that loses most: chained adds of 4x4, of which a worker
does millions a second, and each is timed while somebody watches."""

import os
import subprocess
import time

from many import ROUTE, chain_program
from measure import BIN

TOP = os.path.join(BIN, "gt-top")
OPS = 5_000_000


def run_seconds(path, out, is_watched):
    with open(out, "w") as to:
        start = time.perf_counter()
        route = subprocess.Popen([ROUTE, "-n", "2", "--threads", "1", path],
                                 stdout=to)
        top = None
        name = f"@gt-route.{os.geteuid()}.{route.pid}."
        while name not in open("/proc/net/unix").read():
            time.sleep(0.002)
        if is_watched:
            top = subprocess.Popen([TOP, "-b", "-d", "0.1", str(route.pid)],
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        assert route.wait() == 0
        took = time.perf_counter() - start
    if top is not None:
        records = top.communicate()[0].splitlines()
        assert top.returncode == 0 and "\tadd\t" in "\n".join(records), records
    values = [float(line.split()[4]) for line in open(out)]
    assert values == [1000 * (i + 1) for i in range(OPS // 1000)]
    return took


def watched(report, folder):
    path, out = folder + "/chain.gt", folder + "/chain.out"
    chain_program(path, OPS)

    def measure():
        seen = OPS / run_seconds(path, out, True)
        alone = OPS / run_seconds(path, out, False)
        return seen, alone, seen / alone

    report.pair("chain with gt-top : without, op/s", measure, 0.97, 0.99)

"""What a program does: its history, and what its workers have done."""
import subprocess

from . import _pipeline
from ._tensor import print_tape, tape
from ._words import Error


def get_worker_stats():
    """What gt-top(1) says of each worker, once all lines are done: its "operations" with their "total", its
    "state", the "seconds" that it computed, and the bytes of "memory" and "peak"."""
    session = _pipeline._the()
    session.sync()
    routes = [str(p.pid) for p in session.processes if p.args[0].endswith("gt-route")]
    told = subprocess.run([_pipeline._program("gt-top"), "-b", "-n", "1", *routes], text=True,
                          stdout=subprocess.PIPE).stdout
    if not told:  # gt-top has said why; of a cluster it takes your only gt-route on this host
        raise Error("get_worker_stats: gt-top sees no gt-route of this session")
    names, *rows = [line.split("\t") for line in told.splitlines()]
    rows = [dict(zip(names, row)) for row in rows]
    return {row["name"]: {"operations": {"total": int(row["count"])}, "state": row["state"],
                          "seconds": float(row["seconds"]), "memory": int(row["memory"]), "peak": int(row["peak"])}
            for row in rows if row["kind"] == "worker"}


def print_worker_stats():
    """Prints what get_worker_stats() says."""
    for name, stats in get_worker_stats().items():
        print(f"{name}: {stats['operations']['total']} operations in {stats['seconds']:.3f} s, "
              f"{stats['peak']} bytes at most")

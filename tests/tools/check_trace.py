#!/usr/bin/env python3
"""usage: check_trace.py FILE

Checks Chrome trace JSON by the rules that Perfetto has for it: times in order,
slices of a thread nested, each flow one start and one end that lie in slices
and do not go back in time, and names for all processes and threads. Prints what
is wrong and exits 1; else prints what there is.
"""

import json
import sys
from fractions import Fraction


def fail(text):
    print(f"check_trace: {text}", file=sys.stderr)
    sys.exit(1)


def check_slices(slices):
    """No two slices of a thread overlap, unless one lies within the other."""
    for thread, events in slices.items():
        stack = []
        for start, end in events:
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and end > stack[-1]:
                fail(f"thread {thread}: slice {start} to {end} overlaps "
                     f"one that ends at {stack[-1]}")
            stack.append(end)


def check_flows(flows, slices):
    for flow, ends in flows.items():
        if sorted(phase for phase, _, _ in ends) != ["f", "s"]:
            fail(f"flow {flow} is no pair: {ends}")
        (_, begin, source), (_, end, target) = sorted(
            ends, key=lambda e: e[0] != "s")
        if begin > end:
            fail(f"flow {flow} ends before it starts")
        for time, thread in (begin, source), (end, target):
            if not any(a <= time < b for a, b in slices[thread]):
                fail(f"flow {flow}: no slice of {thread} at {time}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        trace = json.load(f, parse_float=Fraction, parse_int=Fraction)
    slices, flows, names, last = {}, {}, set(), -1
    for event in trace["traceEvents"]:
        thread = (event["pid"], event["tid"])
        if event["ph"] == "M":
            names.add((event["name"], *thread))
            continue
        if event["ts"] < last:
            fail(f"not in order: {event}")
        last = event["ts"]
        if event["ph"] == "X":
            if event["dur"] < 0:
                fail(f"a slice that ends before it starts: {event}")
            span = (event["ts"], event["ts"] + event["dur"])
            slices.setdefault(thread, []).append(span)
            if ("thread_name", *thread) not in names:
                fail(f"thread {thread} has no name")
            if not any(n == "process_name" and p == thread[0]
                       for n, p, _ in names):
                fail(f"process {thread[0]} has no name")
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(
                (event["ph"], event["ts"], thread))
        else:
            fail(f"unknown phase: {event}")
    check_slices(slices)
    check_flows(flows, slices)
    print(f"{sum(map(len, slices.values()))} slices of {len(slices)} threads, "
          f"{len(flows)} flows")


if __name__ == "__main__":
    main()

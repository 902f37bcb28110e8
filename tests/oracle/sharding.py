"""What the oracles of gt-shard share."""
import math
import re
import subprocess
import tempfile

import torch

from gt import DTYPES, parse_result

MESHES = {"2": {"tp": 2}, "3": {"tp": 3}, "4": {"tp": 4},
          "2x2": {"dp": 2, "tp": 2}, "2x3": {"dp": 2, "tp": 3}}
LITTLE_ORDER = re.compile(
    r"(?m)^gt-shard: .*: warning: (?:the )?schedule.*\n(?:  .*\n)?(?: +\^\n)?")
UNUSED = re.compile(
    r"is used by no line|matches no tensor's name|cuts no tensor over|"
    r"there is nothing to order")
FINDING = re.compile(r"gt-check: <stdin>:(\d+): (.*)")


def mesh_text(mesh):
    return "{" + ", ".join(f"{k}: {v}" for k, v in mesh.items()) + "}"


def shard(stream, config, *options):
    """gt-shard over a stream: its output, messages and status. Entries of a
    random config that no line uses are not counted as faults, and warnings of a
    schedule that finds little to order are left out."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(config)
        file.flush()
        done = subprocess.run(
            ["gt-shard", "-c", file.name, *options], input=stream,
            capture_output=True, text=True, timeout=120, check=False)
    messages = LITTLE_ORDER.sub("", done.stderr)
    said = messages.splitlines()
    if (done.returncode == 3 and said and "#end 3" not in stream
            and all(UNUSED.search(line) for line in said)):
        return done.stdout.replace("\n#end 3\n", "\n#end 0\n"), messages, 0
    return done.stdout, messages, done.returncode


def findings(stream):
    """What gt-check finds in a placed stream: (line number, text)."""
    done = subprocess.run(
        ["gt-check", "-q"], input=stream, capture_output=True, text=True,
        timeout=120, check=False)
    found = [(int(n), f"gt-check: {text}")
             for n, text in FINDING.findall(done.stderr)]
    if done.returncode == 1 and not found:
        found = [(1, f"gt-check: {done.stderr[:300]}")]
    return found


def most_bytes(placed):
    """The most bytes that a rank holds, by gt-check."""
    done = subprocess.run(
        ["gt-check", "-q", "--memory"], input=placed, capture_output=True,
        text=True, timeout=120, check=False)
    return max(map(int, re.findall(r": (\d+) bytes at most", done.stderr)),
               default=0)


def most_expected(stream, config, *options):
    """The most bytes that a rank holds, by gt-shard."""
    said = shard(stream, config, *options, "--summary")[1]
    found = re.search(r"([\d.e+-]+) MB a rank at most", said)
    return round(float(found.group(1)) * 1e6)


def route(placed):
    """What gt-route prints for a placed stream with a worker for each rank, and
    the bytes that each worker sends to others, but for what is printed or
    saved: as the workers tell them."""
    ranks = max((math.prod(map(int, re.findall(r"=(\d+)", mesh)))
                 for mesh in re.findall(r"(?m)^mesh .*", placed)), default=1)
    with tempfile.NamedTemporaryFile("r", suffix=".log") as log:
        done = subprocess.run(
            ["gt-route", "-n", str(ranks), "--threads", "1", "--log", log.name],
            input=placed, capture_output=True, text=True, timeout=60,
            check=False)
        rows = [row.rstrip("\n").split("\t") for row in log
                if not row.startswith("#")]
    outputs = {row[1] for row in rows if row[2] == "issue"
               and re.match(r"print |save ", row[-1])}
    sent = [0] * ranks
    for _, seq, event, _, _, size, said in rows:
        if event == "transfer" and seq not in outputs:
            sent[int(re.search(r"from=(\d+)", said).group(1))] += int(size)
    return done.stdout, sent


def sent_problem(stream, config, sent, *options):
    """How what --summary says of the bytes that ranks send differs, or None."""
    said = shard(stream, config, *options, "--summary")[1]
    found = re.search(r"sent: rank (\d+) sends most, ([\d.e+-]+) MB of "
                      r"([\d.e+-]+) MB", said)
    told = (0, 0, 0)
    if found:
        told = (int(found.group(1)), *(round(float(found.group(i)) * 1e6)
                                       for i in (2, 3)))
    counted = (sent.index(max(sent)), max(sent), sum(sent))
    if told == counted or counted[2] >= 1e6:  # gt-shard prints six digits
        return None
    return f"--summary: rank, bytes and all are {told}, not {counted}: {sent}"


def value_of(text):
    kind, values = parse_result(text)
    if kind == "fail":
        return None
    dtype, sizes = kind[:-1].split("[")
    shape = [int(n) for n in sizes.split(",") if n]
    return torch.tensor(values, dtype=torch.float64).to(
        DTYPES[dtype]).reshape(shape)


def first_change(a, b):
    a, b = a.splitlines(), b.splitlines()
    for x, y in zip(a, b):
        if x != y:
            return f"'{x[:200]}' becomes '{y[:200]}' "
    return f"{len(a)} lines become {len(b)} "

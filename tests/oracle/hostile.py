#!/usr/bin/env python3
"""Plays a hostile peer that says right and wrong things, at random from a
seed.

usage: hostile.py COUNT SEED

Each trial plays one end of gt-wire(7) against the programs: a worker of
gt-route, the gt-route of a gt-work, or the data peer of a gt-work. It does what
is right for a while, then one thing that is wrong (or none), and then perhaps
goes on. Whatever it does, the program ends in time, with one of its statuses
and by no signal. Its standard output has a line for each print, in order,
which is the right result or a failure, and no other byte. If nothing wrong was
said, it has the right results, with status 0. (With another status it may end
early, since nothing is read after a loss.) A trial that fails prints its
seed; COUNT 1 and that SEED play it again.
"""

import concurrent.futures
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import zmq

import wire

LIMIT = 60.0  # seconds, within which a program must end
OWES = "has done all it was sent, but has not "  # gt-route says this of a worker
STATUSES = (0, 1, 2, 3, 4, 130)
PROGRAM = """\
x = tensor f32[2] 1 2
print x
y = add x x
print y
z = tensor i64[] 7
print z
"""
RESULTS = {"x": "tensor f32[2] 1 2", "y": "tensor f32[2] 2 4",
           "z": "tensor i64[] 7"}
PLACED = """\
x@0-1 = tensor f32[2] 1 2
y@0 = copy x@1
print y@0
print x@1
"""
PLACED_RESULTS = {"y@0": "tensor f32[2] 1 2", "x@1": "tensor f32[2] 1 2"}


class Wrong(Exception):
    """The program did what it must not."""


def result(name, results):
    return f"{name} = {results[name]}\n".encode()


def name_of(text):
    return text.split()[1]


def one_of(rng, wrongs):
    return rng.choice(sorted(wrongs.items()))


# ---- what a worker may say that is wrong ------------------------------------

def bodies(rng, w):
    """Results that are none, or that nobody asked for."""
    owed = b"".join(w.owed) or b"x = tensor f32[2] 1 2\n"
    return rng.choice([
        b"\n", b"#end 0\n", b"#gt 1\n", b"garbage\n", b"\x1b]0;owned\x07\n",
        owed.replace(b" = ", b"2 = ", 1),
        owed.replace(b"f32", b"f64", 1) + owed,
        owed.replace(b"tensor", b"tensr", 1), owed.replace(b" 1", b" 1 1", 1),
        owed.replace(b"\n", b" # hello\n", 1),
        owed.replace(b" 1", b" \x1b[31m"),
        owed.replace(b"[2]", b"[1,2]", 1).replace(b"[]", b"[1]"),
        owed + owed + owed + owed, b"x" * 70000, b"x = fail \"" + b"a" * 70000,
        b"x = fail \"\x1b[2J\"\n", owed[:-1] + b" \n", owed[:-1] + b"\r\n",
        os.urandom(rng.randrange(1, 200))])


def frames(rng):
    """Bytes that are no message."""
    return rng.choice([
        [b""], [b"\n"], [b"done"], [b"GET / HTTP/1.1\r\n\r\n"],
        [b"done seq=1 bytes=0 wait=0 size=0\n", b"more"],
        [b"results size=5\nx\n"], [b"results size=1 size=1\nx"],
        [b"done " + b"a=1 " * 40 + b"size=0\n"], [b"x" * 5000 + b" size=0\n"],
        [b"results size=2000000\n" + b"x" * 2000000],
        [os.urandom(rng.randrange(1, 300))]])


WORKER_WRONGS = {
    "bytes that are none": lambda rng, w: w.say(*frames(rng)),
    "a second hello": lambda rng, w: w.say_hello(),
    "results that are wrong":
        lambda rng, w: w.say(wire.message("results", bodies(rng, w))),
    "a part of results":
        lambda rng, w: w.say(wire.message("results", b"x", more=1)),
    "done too far": lambda rng, w: w.say_done(seq=w.last_seq + 1000),
    "too many bytes": lambda rng, w: w.say_done(taken=w.bytes + 1),
    "a done without numbers": lambda rng, w: w.say(wire.message("done")),
    "a done with much to say": lambda rng, w: w.say_done(body=b"x" * 20000),
    "a report without status":
        lambda rng, w: w.say(wire.message("report", "no", seq=1, line=1)),
    "a report of a status that is none": lambda rng, w: w.say(wire.message(
        "report", "no", seq=1, line=1, status=rng.choice([5, 256, 1 << 40]))),
    "what only gt-route says": lambda rng, w: w.say(wire.message(rng.choice(
        ["welcome", "refuse", "lines", "block", "hot", "forget", "beat", "end",
         "abort"]))),
    "a bye without status": lambda rng, w: w.say(wire.message("bye")),
    "a bye of a status that is none": lambda rng, w: w.say(wire.message(
        "bye", status=rng.choice([-1, 5, 256, 260, 1 << 32]))),
    "a bye too early":
        lambda rng, w: w.say(wire.message("bye", status=rng.choice([0, 1]))),
    "rows that are none":
        lambda rng, w: w.say(wire.message("ran", "compute 1\n", time=1)),
    "an end of the connection": lambda rng, w: w.socket.close(0),
}


def play_owing(w, owes_results):
    """A worker that beats and does all it is sent, but keeps its results or
    sends no bye. Goes on until the run is over."""
    w.say_hello()
    while True:
        w.step()
        if not owes_results:
            w.say_results()


def play_worker(rng, w, will_stop, will_be_silent):
    """Plays a worker until the run is over; w.is_wrong tells that it said
    something wrong."""
    wrong_at = rng.randrange(0, 12) if rng.random() < 0.85 else None
    stage = rng.choice(["hello", "welcome", "work", "work", "work"])
    name, wrong = one_of(rng, WORKER_WRONGS)
    if wrong_at is not None and stage == "hello":
        # gt-route hears nothing before a hello, and a second hello is from
        # another worker.
        if name != "a second hello":
            w.is_wrong = True  # the connection and the hello may be lost
            wrong(rng, w)
        if w.socket.closed:
            return
    w.say_hello()
    if wrong_at is not None and stage == "welcome":
        w.is_wrong = True
        wrong(rng, w)
    w.await_welcome()
    steps = 0
    while True:
        w.step()
        steps += 1
        is_time = wrong_at is not None and (
            steps >= wrong_at and w.owed or w.is_end or rng.random() < 0.1)
        if stage == "work" and is_time:
            if will_be_silent:
                w.beat_at = float("inf")
                while True:  # the worker is there, and says nothing
                    w.step()
            if will_stop:
                while True:  # the worker beats, and has done nothing
                    w.last_seq = 0
                    w.step()
            w.is_wrong = True
            wrong(rng, w)
            wrong_at = None
        if w.owed and rng.random() < 0.7:
            w.say_results()
        if w.is_end and not w.owed:
            w.say_done()
            w.say(wire.message("bye", status=0))
            while True:
                w.step()  # until gt-route answers the bye


def check_output(out, results, may_fail):
    """Raises Wrong unless the output has a line for each print, in order."""
    lines = out.split(b"\n")
    if lines.pop() != b"":
        raise Wrong(f"a line that is cut: {out[-80:]!r}")
    # Lines after a loss are not read any more.
    if len(lines) > len(results) or (
            len(lines) < len(results) and not may_fail):
        raise Wrong(f"{len(lines)} lines of {len(results)}: {out[:300]!r}")
    for line, (name, value) in zip(lines, results.items()):
        text = line.decode(errors="backslashreplace")
        if text == f"{name} = {value}":
            continue
        if not may_fail or not re.fullmatch(
                re.escape(name) + r' = fail "(?:[^"\\\x00-\x1f\x7f]|\\.)*"',
                text):
            raise Wrong(f"a line that is none: {text[:200]!r}")


def end_of(process, limit, ended_by=None):
    """The status of a process that ends by itself. A run that was over may
    also end by the signal that came at that moment."""
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Wrong(f"it has not ended within {limit} s") from None
    if ended_by is not None and status == -ended_by:
        return 4
    if status not in STATUSES:
        raise Wrong(f"it ended with status {status}")
    return status


def await_first_word(process, path):
    """Waits for a program to say something, since it may not handle signals
    before."""
    end = time.monotonic() + LIMIT
    while (process.poll() is None and not said(path)
           and time.monotonic() < end):
        time.sleep(0.01)


def said(path):
    with open(path, errors="replace") as file:
        return file.read()[-2000:]


class Trial:
    """A trial with one seed, in a folder of its own."""

    def __init__(self, seed, table, folder):
        self.rng = random.Random(seed)
        self.table = table
        self.folder = folder
        self.endpoint = f"ipc://@gt-hostile-{os.getpid()}-{seed}"
        self.context = zmq.Context()
        self.context.setsockopt(zmq.LINGER, 200)
        # A send that nobody receives fails after that time, or it would never
        # return.
        self.context.setsockopt(zmq.SNDTIMEO, 2000)
        self.processes = []

    def start(self, *words):
        name = f"{self.folder}/{len(self.processes)}"
        with open(name + ".out", "wb") as out, open(name + ".err", "wb") as err:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.processes.append(process)
        return process, name

    def finish(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.context.destroy(linger=0)

    def program(self, text):
        path = f"{self.folder}/p.gt"
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_worker(self):
        rng = self.rng
        will_stop = rng.random() < 0.08
        will_be_silent = not will_stop and rng.random() < 0.08
        will_owe = not (will_stop or will_be_silent) and rng.random() < 0.08
        log = ["--log", f"{self.folder}/log"] if rng.random() < 0.5 else []
        route, name = self.start(
            "gt-route", "--bind", self.endpoint, "--workers", "1", "--timeout",
            "5", "--silence", "2" if will_be_silent else "20", *log,
            self.program(PROGRAM))
        worker = wire.Worker(
            self.context, self.endpoint,
            lambda seq, text: result(name_of(text), RESULTS),
            table=self.table)
        worker.is_wrong = will_stop or will_be_silent or will_owe
        stop_at = time.monotonic() + (3 if will_stop else LIMIT)
        try:
            worker.step = until(route, stop_at, worker.step)
            if will_owe:
                play_owing(worker, rng.random() < 0.5)
            play_worker(rng, worker, will_stop, will_be_silent)
        except wire.Gone:
            pass
        except (zmq.ZMQError, TimeoutError):
            pass
        if not worker.socket.closed and not will_be_silent:
            worker.socket.close(200)
        if will_stop:
            await_first_word(route, name + ".err")
        if will_stop and route.poll() is None:
            route.send_signal(signal.SIGTERM)
        was_over = will_stop and " is lost: " in said(name + ".err")
        status = end_of(route, LIMIT, signal.SIGTERM if was_over else None)
        with open(name + ".out", "rb") as out:
            check_output(out.read(), RESULTS, status != 0)
        err = said(name + ".err")
        if will_owe and (status != 4 or OWES not in err):
            raise Wrong(f"a worker that owes is not lost: status {status}")
        return not worker.is_wrong, status, err

    # ---- gt-route is ours
    def run_route(self):
        rng = self.rng
        route = wire.Route(self.context, self.endpoint)
        work, name = self.start(
            "gt-work", "--connect", self.endpoint, "--silence", "20",
            "--timeout", "3", "--threads", "1")
        try:
            self.play_route(rng, route)
        except zmq.ZMQError:
            pass
        status = end_of(work, LIMIT)
        with open(name + ".out", "rb") as out:
            if out.read():
                raise Wrong("gt-work wrote to its standard output")
        return status, said(name + ".err")

    def play_route(self, rng, route):
        hello = route.await_hello()
        if hello["table"] != self.table:
            raise Wrong("the digest of the op table is another one")
        wrong = rng.choice(ROUTE_WRONGS) if rng.random() < 0.9 else None
        at = rng.choice(["welcome", "first", "later", "end"])
        if wrong and at == "welcome":
            wrong(rng, route)
        route.say_welcome()
        for place in ("first", "later"):
            if wrong and at == place:
                wrong(rng, route)
            route.say_lines(PROGRAM)
            route.step()
        route.say(wire.message("end", after=route.seq))
        if wrong and at == "end":
            wrong(rng, route)
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            came = route.step()
            if came and came[0] == "bye":
                route.say(wire.message("bye"))
                return
        route.socket.close(0)  # the worker is gone

    # ---- one of two workers is ours
    def run_peer(self):
        rng = self.rng
        route, name = self.start(
            "gt-route", "--bind", self.endpoint, "--workers", "2", "--timeout",
            "20", "--silence", "20", self.program(PLACED))
        work, _ = self.start(
            "gt-work", "--connect", self.endpoint, "--rank", "0", "--silence",
            "20", "--timeout", "3", "--threads", "1")
        data = self.context.socket(zmq.ROUTER)
        place = self.endpoint + "-data"
        data.bind(place)
        worker = wire.Worker(
            self.context, self.endpoint,
            lambda seq, text: result(name_of(text), PLACED_RESULTS),
            table=self.table, rank=1, data=place)
        worker.step = until(route, time.monotonic() + LIMIT, worker.step)
        peer = DataPeer(self.context, data, worker, rng)
        try:
            worker.say_hello()
            worker.await_welcome()
            peer.connect()
            ended = False
            while not ended:
                worker.step(0.02)
                peer.step()
                worker.say_results()
                if worker.is_end:
                    worker.say_done()
                    worker.say(wire.message("bye", status=0))
                    worker.is_end = False
        except (wire.Gone, zmq.ZMQError, TimeoutError):
            pass
        limit = time.monotonic() + LIMIT
        while route.poll() is None and time.monotonic() < limit:
            try:
                peer.step()  # the peer is still there
            except zmq.ZMQError:
                pass  # nobody received what it sent
            time.sleep(0.05)
        status = end_of(route, 1)
        end_of(work, LIMIT)
        with open(name + ".out", "rb") as out:
            check_output(out.read(), PLACED_RESULTS, status != 0)
        return peer.is_right, status, said(name + ".err")


def until(process, limit, step):
    """The same step, which stops if the program has ended or the time is
    over."""
    def limited(*arguments):
        if process.poll() is not None or time.monotonic() > limit:
            raise TimeoutError
        return step(*arguments)
    return limited


# ---- what a gt-route may say that is wrong ----------------------------------

def raw(rng, route):
    route.say(*frames(rng))


def flood(rng, route):
    for _ in range(200):
        route.say(wire.message("lines", "# " + "x" * 500000 + "\n", seq=0,
                               line=1, after=route.seq))


def parts(rng, route):
    for _ in range(rng.choice([1, 3, 70])):
        route.say(wire.message("lines", "x" * 1000000, seq=1, line=1, after=0,
                               more=1))
    route.say(wire.message(rng.choice(["beat", "lines", "end", "abort"])))


ROUTE_WRONGS = [
    raw, flood, parts,
    lambda rng, r: r.say_welcome(worker=rng.choice([1, -1, 1 << 40])),
    lambda rng, r: r.say_welcome(workers=rng.choice([0, 2, 70000])),
    lambda rng, r: r.say_welcome(body=rng.choice(["", "x", "0 w h e 1\n" * 3])),
    lambda rng, r: r.say_welcome(body="0 w h not-an-endpoint 1\n"),
    lambda rng, r: r.say_lines("print x\n", after=rng.choice([7, 1 << 62])),
    lambda rng, r: r.say_lines("print x\n", seq=rng.choice([0, 1 << 63])),
    lambda rng, r: r.say_lines("print x\n", line=(1 << 64) - 1),
    lambda rng, r: r.say_lines("#+1 x\nprint x\n"),
    lambda rng, r: r.say_lines("#+18446744073709551615 1\nprint x\n"),
    lambda rng, r: r.say_lines("#ranks - 0-99999999=0\n", seq=0),
    lambda rng, r: r.say_lines("#ranks\n#fence\n#fence 5 6\n#file\n"),
    lambda rng, r: r.say_lines("#fence 0 9 \"f\"\n"),
    lambda rng, r: r.say_lines("x@0-9 = ones f32[2]\nx@3 = copy x@5\n"),
    lambda rng, r: r.say_lines("x = ones f32[2] #from=7 #to=9\n"),
    lambda rng, r: r.say_lines("x = copy x #from=0 #to=0\n"),
    lambda rng, r: r.say_lines("x = load \"/etc/passwd\" u8[1]\n"),
    lambda rng, r: r.say_lines(os.urandom(200).hex() + "\n\x1b[31m\n"),
    lambda rng, r: r.say_lines("x = ones f32[2]\n", verb="hot", id=3),
    lambda rng, r: r.say(wire.message("hot", id=1, seq=1, line=1, after=0)),
    lambda rng, r: r.say(wire.message("forget", id=1)),
    lambda rng, r: [r.say(wire.message(
        "block", "", id=1, seq=r.seq + 1, line=1, after=r.seq,
        times=1 << 61, seq_by=0, line_by=0)) for _ in range(2)],
    lambda rng, r: r.say(wire.message("end", after=rng.choice([None, 99]))),
    lambda rng, r: r.say(wire.message(rng.choice(
        ["hello", "results", "report", "done", "ran"]))),
    lambda rng, r: r.say(wire.message("bye")),
    lambda rng, r: r.say(wire.message("abort", "\x1b]0;owned\x07")),
    lambda rng, r: r.say(wire.message("refuse", "\x1b]0;owned\x07")),
    lambda rng, r: r.socket.close(0),
]


# ---- what a data peer may say that is wrong ---------------------------------

class DataPeer:
    """Worker 1, as worker 0 sees it."""

    TOKEN = "00" * 16

    def __init__(self, context, data, worker, rng):
        self.data = data
        self.worker = worker
        self.rng = rng
        self.to = context.socket(zmq.DEALER)
        self.wrong_at = rng.randrange(1, 8) if rng.random() < 0.9 else None
        self.is_right = self.wrong_at is None
        self.gets = True
        self.messages = 0

    def connect(self):
        fields, body = self.worker.welcome
        session = fields["session"]
        self.to.connect(body.decode().splitlines()[0].split()[3])
        if self.rng.random() < 0.1:
            self.is_right = False
            self.to.send(wire.message("hello", worker=1, session="guess"))
        self.to.send(wire.message("hello", worker=1, session=session))

    def say(self, text, body=b""):
        self.to.send_multipart([text.encode() + b"\n", body])

    def step(self):
        while not self.data.closed and self.data.poll(0):
            peer, *came = self.data.recv_multipart()
            if len(came) == 1:  # its hello, or its answer to this peer's hello
                if wire.parse(came[0])[0] == "hello":
                    self.to.send(wire.message("welcome"))
                    self.say(f"hello 1 1 0 {self.TOKEN}")
                continue
            self.messages += 1
            self.take(came[0].decode().split())
        if self.wrong_at is not None and self.messages >= self.wrong_at:
            self.wrong_at = None
            self.say_wrong()

    def take(self, words):
        """Shows the value that is asked for, and sends it."""
        if words[0] == "ask":
            self.say("here")
        if words[0] == "hello":
            seq = self.copy_seq
            self.say(f"ready {seq} 0 0 {self.source} f32[2] -")
            if self.wrong_at is not None:
                self.messages += self.wrong_at
        if words[0] == "get":
            value = b"\x00\x00\x80?\x00\x00\x00@"
            first, size = int(words[6]), int(words[7])
            self.say(f"data {words[1]}", value[first:first + size])

    # In PLACED, `y@0 = copy x@1` is the second instruction.
    copy_seq = 2
    source = 0

    def say_wrong(self):
        rng = self.rng
        big = 1 << 63
        tag = f"{self.copy_seq} 0 0 {self.source}"
        rng.choice([
            lambda: self.to.send_multipart([b"x" * 5000, b""]),
            lambda: self.to.send_multipart([b"here\n", b"", b""]),
            lambda: self.to.send(os.urandom(50)),
            lambda: self.say(""),
            lambda: self.say("hello 1 1 0 " + self.TOKEN),
            lambda: self.say(f"hello {os.getpid()} 0 4096 {self.TOKEN}"),
            lambda: self.say(f"ready {tag} f64[2] -"),
            lambda: self.say(f"ready {tag} f32[2] {big}"),
            lambda: self.say("ready 1 1 1 1 f32[999999999] 0"),
            lambda: [self.say(f"ready 9{i} 0 0 0 f32[] -") for i in range(99)],
            lambda: self.say(f"fail {tag}", b"\x1b]0;owned\x07\"#\n" * 9),
            lambda: self.say("released 1 0 0 0"),
            lambda: self.say(f"get 1 {tag} 0 {big} 0 2"),
            lambda: self.say("get 1 1 0 0 0 0 8 0 2"),
            lambda: self.say(f"data {rng.randrange(3)}", b"x" * 9),
            lambda: [self.say("here") for _ in range(5000)],
            lambda: [self.say("ask") for _ in range(5000)],
            lambda: self.say("x" * 900, b"y" * 1000000),
            lambda: self.to.close(0),
            lambda: self.data.close(0),
        ])()


def digest():
    """The digest of the op table, as gt-work says it."""
    context = zmq.Context()
    endpoint = f"ipc://@gt-hostile-{os.getpid()}"
    route = wire.Route(context, endpoint)
    with subprocess.Popen(["gt-work", "--connect", endpoint]) as work:
        table = route.await_hello()["table"]
        work.kill()
    context.destroy(linger=0)
    return table


def trial(seed, table):
    """What went wrong, or None; and which end was played."""
    kind = ("worker", "route", "peer")[seed % 3]
    with tempfile.TemporaryDirectory() as folder:
        run = Trial(seed, table, folder)
        try:
            if kind == "route":
                status, _ = run.run_route()
                return None, f"{kind} {status}"
            is_right, status, err = (
                run.run_worker() if kind == "worker" else run.run_peer())
            if is_right and kind == "worker" and status != 0:
                raise Wrong(f"nothing wrong was said, status {status}: {err}")
            return None, f"{kind} {status}"
        except Wrong as wrong:
            texts = "".join(
                said(os.path.join(folder, name)) for name in sorted(
                    os.listdir(folder)) if name.endswith(".err"))
            return f"seed {seed} ({kind}): {wrong}\n{texts}", kind
        finally:
            run.finish()


def main():
    count, first = int(sys.argv[1]), int(sys.argv[2])
    table = digest()
    failed, seen = 0, {}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for wrong, played in pool.map(
                lambda seed: trial(seed, table), range(first, first + count)):
            seen[played] = seen.get(played, 0) + 1
            if wrong:
                failed += 1
                print(f"FAILED {wrong}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in sorted(seen.items())))
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The protocol of gt-wire(7) in Python: messages, and ends of connections that
send what they are told to, however wrong it is."""

import os
import pathlib
import re
import shlex
import time

import zmq

HEADER = pathlib.Path(__file__).parents[2] / "lib/net/wire.h"
VERSION = int(re.search(r"kWireVersion = (\d+);", HEADER.read_text())[1])


def message(verb, body=b"", **fields):
    """The bytes of a message; a field that is None is left out."""
    if isinstance(body, str):
        body = body.encode()
    words = [verb]
    for key, value in fields.items():
        if value is None:
            continue
        text = str(value)
        plain = text and not any(c in ' "#' for c in text)
        words.append(f"{key}={text}" if plain else f'{key}="{text}"')
    words.append(f"size={len(body)}")
    return " ".join(words).encode() + b"\n" + body


def parse(frame):
    """(verb, fields, body) of a message that gt has sent."""
    header, _, body = frame.partition(b"\n")
    words = shlex.split(header.decode())
    fields = dict(word.split("=", 1) for word in words[1:])
    assert int(fields.pop("size")) == len(body), frame[:80]
    return words[0], fields, body


def numbered(body, seq):
    """(seq, text) of the instructions in a body whose first one has that
    seq."""
    for line in body.decode().splitlines():
        if line.startswith("#+"):
            seq += int(line[2:].split()[0])
        elif not line.startswith("#") or line.startswith("#fence "):
            yield seq, line
            seq += 1


class Gone(Exception):
    """The other end said that the run is over."""


class End:
    """One socket, which is polled for at most so long."""

    def __init__(self, context, kind):
        self.socket = context.socket(kind)
        self.socket.linger = 200

    def receive(self, seconds):
        if self.socket.poll(int(seconds * 1000)) == 0:
            return None
        return self.socket.recv_multipart()


class Worker(End):
    """A worker's connection to gt-route. `answer` gets (seq, text) of each
    print and gives the bytes of its result."""

    def __init__(self, context, endpoint, answer, data="", **hello):
        super().__init__(context, zmq.DEALER)
        self.socket.connect(endpoint)
        self.answer = answer
        self.hello = {
            "version": VERSION, "table": "", "token": "", "epoch": 0,
            "name": f"w{id(self)}", "rank": None, "host": "h",
            "pid": os.getpid(), "data": data, "threads": 1, "isa": "none",
            "backend": "cpu"} | hello
        self.welcome = None  # fields and body, once it has come
        self.last_seq = 0  # that of the last instruction that came
        self.bytes = 0  # the credit that is left
        self.owed = []  # results that were not sent yet
        self.is_end = False
        self.beat_at = 0.0

    def say(self, *frames):
        self.socket.send_multipart(
            [f if isinstance(f, bytes) else f.encode() for f in frames])

    def say_hello(self, **fields):
        self.say(message("hello", **(self.hello | fields)))

    def say_done(self, seq=None, taken=None, wait=0, body=b""):
        self.say(message(
            "done", body, seq=self.last_seq if seq is None else seq,
            bytes=self.bytes if taken is None else taken, wait=wait))

    def step(self, seconds=0.05):
        """Takes what has come, and beats. Gives the verb, or None."""
        if self.welcome and time.monotonic() > self.beat_at:
            self.beat_at = time.monotonic() + 0.4
            self.say_done()
        frames = self.receive(seconds)
        if frames is None:
            return None
        verb, fields, body = parse(frames[0])
        if verb in ("abort", "refuse", "bye"):
            raise Gone(f"{verb}: {body.decode(errors='replace')}")
        if verb == "welcome":
            self.welcome = (fields, body)
        elif verb == "end":
            self.is_end = True
        elif verb in ("lines", "block", "hot"):
            self.bytes += len(frames[0])
            for seq, text in numbered(body, int(fields.get("seq", 0))):
                self.last_seq = seq
                if text.startswith("print "):
                    self.owed.append(self.answer(seq, text))
        return verb

    def say_results(self):
        if self.owed:
            self.say(message("results", b"".join(self.owed)))
            self.owed = []

    def await_welcome(self):
        while self.welcome is None:
            self.step()


class Route(End):
    """gt-route's socket, for one worker."""

    def __init__(self, context, endpoint):
        super().__init__(context, zmq.ROUTER)
        self.socket.router_mandatory = 0
        self.socket.bind(endpoint)
        self.peer = None
        self.beat_at = 0.0
        self.seq = 0  # that of the last instruction that was sent

    def say(self, *frames):
        self.socket.send_multipart([self.peer, *frames])

    def step(self, seconds=0.05):
        """(verb, fields, body) of what came, or None. Beats as well."""
        if self.peer and time.monotonic() > self.beat_at:
            self.beat_at = time.monotonic() + 0.4
            self.say(message("beat"))
        frames = self.receive(seconds)
        if frames is None:
            return None
        self.peer = frames[0]
        return parse(frames[1])

    def await_hello(self, seconds=20):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            came = self.step()
            if came and came[0] == "hello":
                return came[1]
        raise TimeoutError("no hello came")

    def say_welcome(self, body=None, **fields):
        if body is None:
            body = "0 w h ipc://@gt-nobody 1\n"
        self.say(message("welcome", body, **({
            "worker": 0, "workers": 1, "epoch": 1, "session": "s",
            "file": "p.gt"} | fields)))

    def say_lines(self, text, verb="lines", **fields):
        count = sum(not line.startswith("#") for line in text.splitlines())
        self.say(message(verb, text, **({
            "seq": self.seq + 1, "line": self.seq + 1,
            "after": self.seq} | fields)))
        self.seq += count

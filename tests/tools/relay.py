#!/usr/bin/env python3
"""relay.py PORT TARGET_PORT: a link between two ports of this host, which can
be made bad. It prints "ready" once it listens, and takes commands, one a line,
from standard input:

  cut N   ends the connections after N more bytes, and takes no others; says
          "was cut after N" then
  flip N  changes the byte after N more bytes
  stall   passes nothing on, and keeps what comes
  go      takes connections, and passes on all that was kept
"""
import selectors
import socket
import sys


class Relay:
    def __init__(self, port, target):
        self.target = target
        self.passes = True
        self.left = None  # bytes until the cut; None if no cut comes
        self.cut_after = 0  # the N of the command
        self.flips = None  # bytes until the one that is changed
        self.peers = {}  # the other end of each socket
        self.kept = {}  # bytes that wait for each socket
        self.selector = selectors.DefaultSelector()
        self.port = port
        self.listener = None
        self.listen()
        self.selector.register(sys.stdin, selectors.EVENT_READ)

    def listen(self):
        if self.listener is not None:
            return
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.selector.register(self.listener, selectors.EVENT_READ)

    def command(self, line):
        words = line.split()
        if words[0] == "cut":
            self.left = self.cut_after = int(words[1])
            if self.left == 0:
                self.cut()
        elif words[0] == "flip":
            self.flips = int(words[1])
        elif words[0] == "stall":
            self.passes = False
        else:
            self.passes = True
            self.left = None
            self.listen()
            for end in list(self.peers):
                self.flush(end)
        print(line.strip(), flush=True)

    def cut(self):
        for end in list(self.peers):
            self.close(end)
        if self.listener is not None:
            self.selector.unregister(self.listener)
            self.listener.close()
            self.listener = None
        print(f"was cut after {self.cut_after}", flush=True)

    def close(self, end):
        for each in (end, self.peers.get(end)):
            if each in self.peers:
                del self.peers[each], self.kept[each]
                self.selector.unregister(each)
                each.close()

    def accept(self):
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            near.close()
            return
        self.peers.update({near: far, far: near})
        for end in (near, far):
            self.kept[end] = b""
            self.selector.register(end, selectors.EVENT_READ)

    def take(self, end):
        try:
            data = end.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            if self.passes:
                self.close(end)
            else:
                self.selector.unregister(end)
            return
        other = self.peers[end]
        if self.flips is not None:
            if self.flips < len(data):
                at = self.flips
                data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                self.flips = None
            else:
                self.flips -= len(data)
        if self.left is not None:
            data = data[: self.left]
            self.left -= len(data)
        self.kept[other] += data
        if self.passes:
            self.flush(other)
        if self.left == 0:
            self.cut()

    def flush(self, end):
        if end not in self.kept:
            return
        try:
            end.settimeout(60)
            end.sendall(self.kept[end])
            self.kept[end] = b""
        except OSError:
            self.close(end)

    def run(self):
        print("ready", flush=True)
        while True:
            for key, _ in self.selector.select():
                if key.fileobj is sys.stdin:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    self.command(line)
                elif key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj in self.peers:
                    self.take(key.fileobj)


Relay(int(sys.argv[1]), int(sys.argv[2])).run()

#!/usr/bin/env bats
# Peers at the endpoint of gt-emit -l that should not be let in, or that stop
# half-way: none of them is admitted, the other clients do not notice, and the log
# gets a limited number of lines about them.

load helper

# make_keys NAME... makes a pair of keys for each name.
make_keys() {
  local name
  umask 077
  for name; do
    gt-key >"$name.key"
    gt-key --public "$name.key" >"$name.pub"
  done
  umask 022
}

# serve OPTION... starts gt-emit -l at a port of this test, with a worker behind it.
serve() {
  port=$(free_port 2)
  at=tcp://127.0.0.1:$port
  mkfifo back to_route
  spawn bash -c 'exec gt-emit -l "$0" --back back -v "$@" >to_route 2>served' "$at" "$@"
  spawn bash -c 'exec gt-route -n 1 <to_route >back'
  await 'listens at' served
}

serve_with_keys() {
  make_keys server ann
  cp ann.pub allowed
  serve --key server.key --allow allowed
}

# as_ann PROGRAM... runs it as ann, who is in the list; output and messages go to
# out and err.
as_ann() {
  within 60 gt-emit --to "$at" --key ann.key --server-key server.pub "$@" >out 2>err
}

works_for_ann() {
  as_ann -e 'x = ones f32[2]' -e 'print x'
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
}

@test "a handshake that was recorded lets nobody in" {
  serve_with_keys
  # The tape is a link that records what the client sends.
  cat >tape.py <<'END'
import socket, sys, threading
port, target = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", port))
print("ready", flush=True)
near, _ = listener.accept()
far = socket.create_connection(("127.0.0.1", target))
said = open("said", "wb")
def pass_on(source, to, keep):
    while data := source.recv(1 << 16):
        if keep:
            said.write(data)
            said.flush()
        to.sendall(data)
    to.shutdown(socket.SHUT_WR)
back = threading.Thread(target=pass_on, args=(far, near, False))
back.start()
pass_on(near, far, True)
back.join()
END
  spawn bash -c 'exec python3 tape.py "$0" "$1" >taped' $((port + 1)) "$port"
  await ready taped
  within 60 gt-emit --to tcp://127.0.0.1:$((port + 1)) --key ann.key \
    --server-key server.pub -e 'x = full f32[2] 7' -e 'print x' >out
  [ "$(cat out)" = 'x = tensor f32[2] 7 7' ]
  await 'c1 leaves\|c1 ended\|client c1' served
  # Ten connections send the same bytes again, whole and in small pieces.
  python3 - "$port" <<'END'
import socket, sys, time
said = open("said", "rb").read()
assert len(said) > 300
for k in range(10):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    step = len(said) if k % 2 else 97
    try:
        for at in range(0, len(said), step):
            s.sendall(said[at:at + step])
            time.sleep(0.002)
        s.settimeout(5)
        while s.recv(4096):
            pass
    except OSError:
        pass
    s.close()
END
  works_for_ann
  # Only ann has come, twice.
  await 'client c2 comes' served
  [ "$(grep -c ' comes' served)" = 2 ]
}

@test "half a greeting, half a handshake and half a frame keep nobody waiting" {
  serve_with_keys
  spawn python3 - "$port" <<'END'
import socket, sys, time
greeting = (b"\xff" + bytes(8) + b"\x7f" + b"\x03\x01" +
            b"CURVE".ljust(20, b"\0") + b"\0" + bytes(31))
frame = b"\x06" + (1 << 40).to_bytes(8, "big") + b"\x05HELLO\x01\0" + bytes(20)
kept = []
for n in (1, 10, 63, 64):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(greeting[:n])
    kept.append(s)
for body in (frame, frame[:9], b"\x04\x19\x05HELLO", b"\x04\xff" + b"x" * 255):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(greeting)
    s.recv(64)
    s.sendall(body)
    kept.append(s)
open("half", "w").write("open\n")
time.sleep(60)
END
  await open half
  works_for_ann
  works_for_ann
  [ "$(grep -c ' comes' served)" = 2 ]
}

@test "clients that are turned away are logged once a second at most" {
  serve_with_keys
  make_keys stranger
  # Of a hundred clients, half have a key that is not in the list and half have
  # none.
  within 60 /usr/bin/python3 - "$port" <<'END'
import sys, time, zmq, zmq.auth
server = open("server.pub").read().strip().encode()
own, secret = open("stranger.pub").read().strip().encode(), open("stranger.key").read().strip().encode()
context = zmq.Context()
at = f"tcp://127.0.0.1:{sys.argv[1]}"
start, kept = time.monotonic(), []
for k in range(100):
    s = context.socket(zmq.DEALER)
    s.linger = 0
    if k % 2 == 0:
        s.curve_serverkey, s.curve_publickey, s.curve_secretkey = server, own, secret
    s.connect(at)
    s.send(b"hello version=6 table=0 user=ann seed=0 history=1 size=0\n")
    kept.append(s)
poller = zmq.Poller()
for s in kept:
    poller.register(s, zmq.POLLIN)
assert not poller.poll(2000), "somebody was answered"
open("seconds", "w").write(str(int(time.monotonic() - start) + 2))
context.destroy(0)
END
  works_for_ann
  grep -q 'not one of those to be admitted' served
  [ "$(grep -c 'not one of those to be admitted' served)" -le "$(cat seconds)" ]
  [ "$(grep -c ' comes' served)" = 1 ]
}

@test "without keys, a peer that says no hello or a wrong one is told why and gets nothing else" {
  serve
  local version
  version=$(sed -n 's/.*kWireVersion = \([0-9]*\);.*/\1/p' "$GT_ROOT/lib/net/wire.h")
  within 60 /usr/bin/python3 - "$port" "$version" <<'END'
import sys, zmq
version = int(sys.argv[2])
context = zmq.Context()
def say(*messages):
    s = context.socket(zmq.DEALER)
    s.linger = 0
    s.connect(f"tcp://127.0.0.1:{sys.argv[1]}")
    for message in messages:
        s.send(message)
    got = s.recv() if s.poll(1500) else b""
    s.close()
    return got
hello = b"hello version=%d table=%d user=%s seed=0 history=1 size=0\n"
assert b"another version" in say(hello % (version + 1, 0, b"ann"))
assert b"another version" in say(hello % (version, 1, b"ann"))
assert say(b"text size=5\nx = 1") == b""
assert say(b"input name=a at=1 size=0\n", b"end size=0\n") == b""
assert say(b"\0\xff" * 500) == b""
assert say(b"hello size=99999999999\n") == b""
END
  within 60 gt-emit --to "$at" -e 'x = ones f32[2]' -e 'print x' >out
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
  [ "$(grep -c ' comes' served)" = 1 ]
}

@test "a client that breaks the protocol is told so, and its values are freed" {
  serve
  said=$(within 60 /usr/bin/python3 - "$port" <<'END'
import re, sys, zmq
# The script learns the version and the digest of the op table from a gt-emit --to
# that connects to a listener of its own.
context = zmq.Context()
s = context.socket(zmq.ROUTER)
s.bind(f"tcp://127.0.0.1:{int(sys.argv[1]) + 1}")
import subprocess
visit = subprocess.Popen(["gt-emit", "--to", f"tcp://127.0.0.1:{int(sys.argv[1]) + 1}", "-e", "x = ones f32[2]"], stderr=subprocess.DEVNULL)
_, hello = s.recv_multipart()
print(re.search(rb"(version=\d+ table=\d+)", hello)[1].decode())
visit.kill()
END
  )
  within 60 /usr/bin/python3 - "$port" "$said" <<'END'
import sys, zmq
context = zmq.Context()
def visit(*messages):
    s = context.socket(zmq.DEALER)
    s.linger = 0
    s.connect(f"tcp://127.0.0.1:{sys.argv[1]}")
    s.send(b"hello %s user=eve seed=0 history=1000 size=0\n" % sys.argv[2].encode())
    assert s.recv().startswith(b"welcome "), "not taken"
    for message in messages:
        s.send(message)
    while s.poll(10000):
        got = s.recv()
        if got.startswith(b"bye "):
            return got
    raise SystemExit("nothing was said of it")
begin = b"input name=a at=0 size=0\n"
line = b"x = ones f32[1000]\n"
text = b"text size=%d\n" % len(line) + line
assert b"status=4" in visit(begin, text, b"lines seq=1 line=1 after=0 size=0\n")
assert b"than those it was sent" in visit(begin, text, b"taken bytes=999999 reports=0 size=0\n")
assert b"status=4" in visit(begin, text, b"text size=4\n")
much = b"#" * 1000000
assert b"more text than there was room" in visit(begin, *[b"text size=1000000\n" + much] * 40)
END
  within 60 gt-emit --to "$at" -e 'x = ones f32[2]' -e 'print x' >out
  [ "$(cat out)" = 'x = tensor f32[2] 1 1' ]
}

#!/usr/bin/env bats
# The module gt, in share/python, as its users see it.

load helper
load python

@test "a tensor program in Python prints what NumPy computes" {
  need_module numpy
  run -0 python '
import numpy as np
x = np.arange(6, dtype="f4").reshape(2, 3)
a = gt.tensor(x)
checks = [(a @ a.T, x @ x.T), (2 - a, 2 - x), (a / 2.0, x / 2), (a[1], x[1]), (a[..., 1:], x[..., 1:]),
          (a[:, None], x[:, None]), (a.sum(0), x.sum(0)), (a.reshape(3, -1), x.reshape(3, -1)),
          (a > 2, x > 2), (a.mean(dim=1, keepdim=True), x.mean(1, keepdims=True)), (x + a, x + x),
          (gt.concat([a, a], axis=1), np.concatenate([x, x], 1)), (-a, -x), (a[gt.tensor([1, 0])], x[[1, 0]])]
for got, want in checks:
    got = got.numpy()
    assert got.shape == want.shape and np.allclose(got, want), (got, want)
print(a.shape, a.dtype, len(checks), a.sum().item(), gt.tensor([True, False]).tolist())'
  lines_are '(2, 3) f32 14 15.0 [True, False]'
}

@test "large arrays travel in files, which are removed" {
  need_module numpy
  mkdir files
  TMPDIR=$PWD/files run -0 python '
import numpy as np, os
for kind in "f4 f8 f2 i8 i4 u1 ?".split():
    x = (np.arange(5000).reshape(50, 100) % 200).astype(kind)
    assert (gt.tensor(x).numpy() == x).all(), kind
print(gt.tensor(np.ones(2000, "f4"), dtype="bf16").numpy().sum())
gt.sync()
print(sum(len(f) for _, _, f in os.walk("files")))'
  lines_are $'2000.0\n0'
  run ls files
  lines_are ''
}

@test "without NumPy values are lists, also through files" {
  mkdir none
  echo 'raise ImportError("none")' >none/numpy.py
  run -0 env PYTHONPATH=none:"$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
print(gt.tensor([[1, 2], [3, 4]]).tolist(), gt.tensor(1.5).item())
n = [[float(i + j) for i in range(40)] for j in range(40)]
print(gt.tensor(n).tolist() == n, gt.tensor([True, False]))'
  lines_are $'[[1, 2], [3, 4]] 1.5\nTrue tensor([True, False])'
}

@test "gradients and AdamW are PyTorch's" {
  need_module torch
  run -0 python '
import torch, numpy as np
x = torch.randn(8, 4); w = torch.randn(4, 2)
a = w.clone().requires_grad_(); b = gt.tensor(w.numpy(), requires_grad=True)
one = torch.optim.AdamW([a], lr=0.1); two = gt.AdamW([b], lr=0.1)
for i in range(5):
    one.zero_grad(); two.zero_grad()
    torch.tanh(x @ a).pow(2).sum().backward()
    loss = (gt.tensor(x.numpy()) @ b).tanh().pow(2).sum()
    loss.backward()
    assert np.allclose(a.grad.numpy(), b.grad.numpy(), atol=1e-4)
    one.step(); two.step()
print(np.allclose(a.detach().numpy(), b.numpy(), atol=1e-4))'
  lines_are True
}

@test "a large array that is read after a sync goes through a config" {
  echo 'mesh: {tp: 2}' >two.yaml
  mkdir files
  TMPDIR=$PWD/files GT_CONFIG=two.yaml GT_WORKERS=2 run -0 python '
import os
kept = gt.tensor(list(range(2000)))
for i in range(3):
    x = gt.tensor([0.5] * 2000)
    gt.sync()
    print((x + 1).sum().item())
print(sum(len(f) for _, _, f in os.walk("files")) <= 3, (kept - 1).sum().item())'
  lines_are $'3000.0\n3000.0\n3000.0\nTrue 1997000'
}

@test "grad tells a tensor from an earlier one that had its name" {
  run -0 --separate-stderr python '
x = gt.tensor(2.0)
def loss():
    once = x * x
    return once * 3
l = loss()
other = gt.tensor(1.0)
assert other.name == "t1"
print([g.item() for g in gt.grad(l, [x, other])])
def refused(l):
    try:
        gt.grad(l, [x])
    except gt.Error as error:
        return f"{x.name} was given that name after the loss" in str(error)
l = x * x
x.rename("w")
assert refused(l)
l = x * x
y = gt.tensor(3.0, name="w")  # l still depends on the first w
assert x.name != "w" and refused(l)
late = gt.tensor(1.0)
late.add_(1)
assert [g.item() for g in gt.grad(x * y, [x, y, late])] == [3.0, 2.0, 0.0]
print([g.item() for g in gt.grad(loss(), [x])])'
  lines_are $'[12.0, 0.0]\n[12.0]'
}

@test "grad tells a large tensor of bf16 from an earlier one of its name, too" {
  run -0 --separate-stderr python '
x = gt.tensor(2.0)
def loss():
    once = x * x
    return once * 3
l = loss()
other = gt.tensor([1.0] * 2000, dtype="bf16")
assert other.name == "t1"
print([g.sum().item() for g in gt.grad(l, [x, other])])'
  lines_are '[12.0, 0.0]'
}

@test "prints that nobody reads are an exception, not a hang" {
  python '
x = gt.tensor([1.0])
while True:
    x.print_()
    x.item()' 2>errors | head -n 1 >first || true
  grep -q BrokenPipeError errors
}

@test "a training loop writes the same bytes in each round" {
  run -0 python '
gt.record("run.gt")
model = gt.Sequential(gt.Linear(4, 8), gt.relu, gt.LayerNorm(8), gt.Linear(8, 2))
best = gt.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = gt.randn((8, 4), 1)
def step():
    with gt.signal("model"), gt.microbatch(3):
        loss = (model(x) * 2.0).mean()
    best.zero_grad(); loss.backward(); best.step()
    return loss.item()
for i in range(4):
    step()
print(sorted(model.state_dict()))'
  lines_are "['m0.b', 'm0.w', 'm2.b', 'm2.w', 'm3.b', 'm3.w']"
  awk '/print/ { n++; next } { print >("round." n) }' run.gt
  diff round.2 round.3
  grep -q 'mul t[0-9]* 2.0 #signal=model #mb=3 #at=<string>:' round.2
  grep -q '^m0.w = randn f32\[4,8\] scale=0.5' run.gt
}

@test "dropped names are free again, and user names stand in the text" {
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
w = gt.ones((2,), name="fc1.w")
for i in range(3):
    y = w + 1
    y.exp()
y.rename("out").print_()
w.add_(1)'
  lines_are "#gt 1
fc1.w = ones f32[2] #at=<string>:3
t0 = add fc1.w 1 #at=<string>:5
t1 = exp t0 #at=<string>:6
t1 = add fc1.w 1 #at=<string>:5
t0 = exp t1 #at=<string>:6
t0 = add fc1.w 1 #at=<string>:5
t1 = exp t0 #at=<string>:6
free t1
out = copy t0 #at=<string>:7
free t0
print out #at=<string>:7
fc1.w = add fc1.w 1 #at=<string>:8
#end 0"
}

@test "a tensor has rows, and an index beyond them is an IndexError" {
  run -0 python '
x, y, z = gt.ones((3,))
print(y.item(), len(gt.ones((2, 5))), [r.tolist() for r in gt.ones((2, 2)) + 1], list(gt.ones((0, 2))))
print(len(list(zip(range(10), gt.ones((2, 2))))), [v.item() for r in gt.ones((1, 2)) for v in r])
s = gt.tensor(1.5)
for f in (lambda: len(s), lambda: iter(s.exp()), lambda: gt.ones((3,))[3], lambda: gt.ones((3, 2))[..., -3],
          lambda: gt.ones((3,))[0, 0]):
    try:
        f()
    except (TypeError, IndexError) as e:
        print(type(e).__name__, e)'
  [[ ${lines[0]} == '1.0 2 [[2.0, 2.0], [2.0, 2.0]] []' && ${lines[1]} == '2 [1.0, 1.0]' ]]
  [[ ${lines[2]} == 'TypeError t'*' is a scalar'* && ${lines[3]} == 'TypeError t'*' is a scalar'* ]]
  [[ ${lines[4]} == 'IndexError index 3 is out of range of t'*', which is f32[3]' ]]
  [[ ${lines[5]} == 'IndexError index -3 is out of range of t'*', which is f32[3,2]' ]]
  [[ ${lines[6]} == 'IndexError more indices than axes of t'*', which is f32[3]' ]]
}

@test "no text from a caller becomes a line of its own" {
  run -0 python '
gt.record("run.gt")
n = "1\nprint t0 as=evil"
a = gt.ones((2,))
p = gt.Parameter("ones", (2,))
p.sum().backward()
calls = [lambda: gt.signal(n), lambda: gt.signal("a b"), lambda: gt.signal("a#b"), lambda: gt.signal(""), lambda: gt.microbatch(n),
         lambda: gt.microbatch(-1),
         lambda: a.print_(n), lambda: a.print_("a b"), lambda: a.print_("f32"), lambda: gt.tensor("abc"),
         lambda: gt.tensor([1, n]), lambda: gt.tensor(1, dtype=n), lambda: gt.ones((2,), dtype="integer"),
         lambda: a.cast(n), lambda: gt.add(a, n), lambda: a.slice("0 1"), lambda: gt.load("x", "f32[2] " + n),
         lambda: gt.ones((2,), name=n), lambda: gt.ones((2,), name="true"), lambda: gt.ones((2,), name="w\xe9"),
         lambda: a.rename("t4"), lambda: gt.ones((4,)).split(sizes=(2, 2), name=["q", "q"]),
         lambda: gt.Parameter(n, (2,)), lambda: gt.Parameter("full", (2,), **{n: 1}),
         lambda: a.save("\ud800"), gt.SGD([p], lr=n).step]
for i, f in enumerate(calls):
    try:
        print("taken", i, f())
    except (gt.Error, TypeError) as e:
        assert "expected" in str(e) and "found" in str(e), e
a.save("a\"#\n.npy"); a.save("\udce9\x7f.npy")
with gt.signal("x/y"), gt.signal("z"):
    a.mean(axis=0, keepdims=True).save("m.npy")
gt.sync()'
  lines_are ''
  [[ -s $'a"#\n.npy' && -s $'\xe9\x7f.npy' && -s m.npy ]]
  run -1 grep -a evil run.gt
}

@test "a name that is given again goes to the new tensor" {
  run -0 python '
for i in range(2):
    w = gt.full((2,), i, name="w")
old = w
w = gt.add(w, 5, name="w")
print(old.tolist(), w.name, w.tolist())
old.rename("w")
print(old.name, old.tolist(), w.name != "w", w.tolist())
one, two = gt.Linear(2, 1), gt.Linear(2, 1)
x = gt.ones((1, 2))
one(x), two(x)
before = one.w.tolist()
one(x).sum().backward()
one.save("one.safetensors")
print(list(one.state_dict()), two.w.name, one.w.grad.tolist(), one.load("one.safetensors").w.tolist() == before)'
  lines_are "[1.0, 1.0] w [6.0, 6.0]
w [1.0, 1.0] True [6.0, 6.0]
['w', 'b'] w [[1.0], [1.0]] True"
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
w = gt.ones((2,), name="w")
with gt.signal("s"): v = gt.ones((2,), name="w")
w.print_(); del w
v.exp()'
  lines_are "#gt 1
w = ones f32[2] #at=<string>:3
t0 = copy w #at=<string>:4
w = ones f32[2] #signal=s #at=<string>:4
print t0 #at=<string>:5
t0 = exp w #at=<string>:6
#end 0"
}

@test "a failure is an exception with its text, and the program goes on" {
  run -0 python '
a = gt.ones((2, 3))
try:
    (a @ a).tolist()
except gt.Failed as e:
    print("Failed", e)
print(a.sum().item())
try:
    a.softmax(axes=1)
except TypeError as e:
    print(e)'
  [[ $output == *'Failed <string>:5: matmul: '*'inner sizes 3 and 2 differ'* ]]
  [[ $output == *$'6.0\ny = softmax x axis=-1: unexpected axes'* ]]
}

@test "a pipeline that dies is an exception, not a hang" {
  run -0 python '
import os
a = gt.ones((2,)); a.tolist()
gt._session.processes[-1].kill()
try:
    for i in range(100000): a.exp().tolist()
except gt.Lost as e:
    print(e)'
  [[ $output == *'gt-route was ended by signal 9'* ]]
  GT_BIN=/nowhere PATH=/usr/bin:/bin run -1 python ''
  [[ $output == *'gt.Lost: the program gt-emit is not in /nowhere, which GT_BIN names: build and install'* ]]
}

@test "a forked child cannot use its parent's session" {
  run -0 python '
import os
a = gt.ones((2,)); a.tolist()
if os.fork() == 0:
    try:
        a.tolist()
    except gt.Lost as e:
        print(e, flush=True)
    os._exit(0)
os.wait()
print(a.tolist())'
  [[ ${lines[0]} == 'this process was forked'* && ${lines[1]} == '[1.0, 1.0]' ]]
}

@test "modules are saved to safetensors and loaded again" {
  run -0 python '
model = gt.Linear(3, 2)
before = model.w.tolist()
model.save("m.safetensors")
with gt.no_grad():
    model.w.mul_(0)
print(model.w.sum().item(), model.w.requires_grad)
print(model.load("m.safetensors").w.tolist() == before)'
  lines_are $'0.0 True\nTrue'
}

@test "a program in Python is the beginning of a pipeline, and a client" {
  run -0 bash -c "export PYTHONPATH=$GT_ROOT/share/python GT_CONNECT=-; /usr/bin/python3 -B -c 'import gt
gt.ones((2,), name=\"x\").print_()' | gt-work"
  lines_are 'x = tensor f32[2] 1 1'
  mkfifo back results to_route
  GT_CONNECT=- GT_BACK=back within 60 bash -c "PYTHONPATH=$GT_ROOT/share/python /usr/bin/python3 -B -c 'import gt,sys
sys.stderr.write(str(gt.ones((2,)).sum().item()))' 2>value | gt-work >back"
  run cat value
  lines_are 2.0
  spawn bash -c 'exec gt-emit -l "ipc://$PWD/cluster" --back results >to_route'
  spawn bash -c 'exec gt-route -n 1 <to_route >results'
  GT_CONNECT=ipc://$PWD/cluster run -0 python 'print(gt.ones((40, 50)).sum().item())'
  lines_are 2000.0
  GT_CONNECT=ipc://$PWD/cluster run -1 --separate-stderr python 'gt.tensor([1.0] * 2000)'
  [[ $stderr == *'gt.Error: values travel to a cluster as a file: '*'--files'* ]]
}

@test "a cluster may be named as HOST:PORT" {
  local port
  port=$(free_port)
  mkfifo back to_route
  spawn bash -c 'exec gt-emit -l "tcp://127.0.0.1:$0" --back back >to_route' "$port"
  spawn bash -c 'exec gt-route -n 1 <to_route >back'
  run -0 python "
gt.connect('localhost:$port')
print((gt.tensor([1, 2, 3, 4]) + gt.tensor([5, 6, 7, 8])).data.numpy())"
  lines_are '[ 6  8 10 12]'
  GT_CONNECT=127.0.0.1:$port run -0 python 'print(gt.ones((4,)).sum().item())'
  lines_are 4.0
}

@test "options behind the endpoint are those of gt-emit" {
  local name
  umask 077
  for name in server ann; do
    gt-key >$name.key
    gt-key --public $name.key >$name.pub
  done
  sed 's/$/ user=ann/' ann.pub >allowed
  mkdir -p files/ann
  mkfifo back to_route
  at=ipc://$PWD/cluster
  spawn bash -c 'exec gt-emit -l "$0" --back back --key server.key --allow allowed --files files >to_route' "$at"
  spawn bash -c 'exec gt-route -n 1 <to_route >back'
  GT_CONNECT="$at --key ann.key --server-key server.pub" \
    run -0 python 'print(gt.tensor([2.0] * 2000).sum().item())'
  lines_are 4000.0
  run -0 python "
gt.connect('$at  --key ann.key --server-key server.pub')
print(gt.tensor([2.0] * 2000).sum().item())
try:
    gt.connect('')
except gt.Error as e:
    print(e)
gt.close()
gt.connect('')
print(gt.ones((2,)).sum().item())"
  lines_are '4000.0
connect: expected no open session; call it before the first tensor, or after close()
2.0'
}

@test "a config shards what Python writes" {
  cat >tp2.yaml <<'END'
mesh: {tp: 2}
signals:
  colpar: {shard: {tp: 1}}
END
  GT_CONFIG=tp2.yaml GT_WORKERS=2 run -0 python '
x, w = gt.ones((2, 4)), gt.ones((4, 6))
with gt.signal("colpar"):
    y = x @ w
    print(y.shape)
print(y.sum().item())'
  lines_are $'(2, 6)\n48.0'
}

@test "the digits are learned from Python" {
  run -0 within 120 /usr/bin/python3 -B "$GT_EXAMPLES/python/digits.py" 10
  [[ ${lines[0]} == loss* && ${lines[-1]} =~ ^accuracy\ 0\.9 ]]
}

@test "each op of the table is a function with a docstring" {
  run -1 python '
import inspect
assert all(inspect.getdoc(getattr(gt, n)) for n in dir(gt) if n in gt._ops)
print(len(gt._ops) > 100, hasattr(gt.Tensor, "softmax"), gt.softmax.__doc__.splitlines()[0])
gt.einsum'
  [[ $output == *'True True y = softmax x axis=-1'* && $output == *"gt has no 'einsum'"* ]]
}

@test "a program of the pipeline that stands still is reported as lost, and ended" {
  local who
  for who in gt-emit gt-route; do
    run -0 python "
import os, signal, subprocess
w = gt.randn((64, 64))
w.sum().item()
[child] = [p for p in gt._session.processes if p.args[0].endswith('$who')]
os.kill(child.pid, signal.SIGSTOP)
try:
    for i in range(50000):  # more than a pipe holds
        w = w.tanh()
    w.sum().item()
except gt.Lost as error:
    print(error)
print(child.wait() != 0)"
    [[ ${lines[-2]} == "the program that runs the lines is gone: $who was stopped by signal 19" ]]
    [ "${lines[-1]}" = True ]
  done
}

@test "names are found in submodules as a package would have them" {
  run -0 /usr/bin/env PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
from gt.client import nn
import gt, gt.optim, gt.nn.functional as F
from gt.client.nn import Linear
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(10, 20), Linear(20, 1)
    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))
model = Net()
best = gt.optim.SGD(model.parameters(), lr=0.1)
x, y = gt.randn(8, 10), gt.randn(8, 1)
def step():
    loss = nn.mse_loss(model(x), y)
    best.zero_grad(); loss.backward(); best.step()
    return loss.item()
first = step()
print([step() for i in range(20)][-1] < first)'
  lines_are True
}

@test "a tensor is put into a signal, and lines into a scope" {
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
w = gt.ones(2, 2, requires_grad=True)
with gt.signal.context("up"), gt.recompute(), gt.compile():
    x = w * 2
y = gt.signal.tensor(x, name="down")
assert y.requires_grad'
  lines_are "#gt 1
t0 = ones f32[2,2] #at=<string>:3
t1 = mul t0 2 #signal=up #recompute=0 #compile #at=<string>:5
t2 = copy t1 #signal=down #at=<string>:6
#end 0"
  cat >two.yaml <<'END'
mesh: {pp: 2}
signals:
  up: {on: {pp: 0}}
  down: {on: {pp: 1}}
END
  GT_CONFIG=two.yaml GT_WORKERS=2 run -0 python '
w = gt.Parameter("ones", (2, 2))
with gt.signal("up"):
    x = w * 3
y = gt.signal.tensor(x, "down")
with gt.signal("down"):
    loss = (y * y).sum()
loss.backward()
print(w.grad.tolist())'
  lines_are '[[18.0, 18.0], [18.0, 18.0]]'
}

@test "the number of workers is known before the first tensor" {
  run -0 python '
import os
gt.cpu_workers(2)
gt.ones(2).sum().item()
print([p.args[1:] for p in gt._session.processes if p.args[0].endswith("gt-route")])
def told(f, *args):
    try:
        f(*args)
    except gt.Error as e:
        print(e)
told(gt.gpu_workers, 8)
gt.close()
told(gt.gpu_workers, 0)
gt.gpu_workers(8)
print(os.environ["GT_WORKERS"], os.environ["GT_BACKEND"])'
  lines_are "[['-n', '2']]
gpu_workers: expected no open session; call it before the first tensor, or after close(), or run the program with GT_WORKERS=8 GT_BACKEND=cuda
gpu_workers: expected how many workers, 1 or more; found 0
8 cuda"
}

@test "the history behind a value is printed" {
  run -0 python '
def told():
    try:
        gt.debug.print_tape()
    except gt.Error as e:
        print(e)
told()
w = gt.ones((4, 3), name="w", requires_grad=True)
h = gt.ones((2, 4)) @ w
with gt.signal("100%"):
    loss = h.relu().sum()
gt.debug.print_tape()
print(gt.tape(loss) == gt.tape(loss), loss.item())
gt.debug.print_tape(h)
loss.backward()
del h
told()'
  lines_are 'print_tape: no tensor has a history: nothing requires a gradient, or backward() took it; call it before that, or with a tensor, as print_tape(loss)
t1 = matmul v0 w  # f32[2,3]
v1 = relu t1 #signal=100%  # f32[2,3]
t2 = sum v1 #signal=100%  # f32[]
True 24.0
t1 = matmul v0 w  # f32[2,3]
'"${lines[-1]}"
  [[ ${lines[-1]} == 'print_tape: no tensor has a history'* ]]
}

@test "a record that is emptied goes on at its beginning" {
  run -0 python '
gt.record("run.gt"); gt.ones(2).sum().item()
open("run.gt", "w").close()
gt.ones(3).sum().item(); gt.record(None)
print(open("run.gt", "rb").read().count(0))'
  lines_are 0
  grep -q 'ones f32\[3\]' run.gt
}

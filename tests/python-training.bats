#!/usr/bin/env bats
# Training with the module gt: parameters, optimizers, states and random numbers, as PyTorch has them.

load helper
load python

# shellcheck disable=SC2034 # of python.bash
before="from gt import nn
$told"

@test "a parameter in two places is one parameter, and is stepped once" {
  run -0 python '
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(3, 2), nn.Linear(2, 3)
        self.again, self.table = self.head, self.embed.w
    def forward(self, ids):
        return self.again(self.embed(ids)) @ self.table
net = Tied()
print(*[name for name, _ in net.named_parameters()])
print(len(net.parameters()), sum(1 for _ in net.modules()), *net.state_dict())
p = nn.Parameter(gt.tensor([1.0]))
class Two(nn.Module):
    def __init__(self):
        self.a = self.b = p
opt = gt.SGD(Two().parameters(), lr=0.1)
(p * 1).sum().backward(); opt.step()
print(round(p.item(), 6), len(gt.SGD([p, p], lr=0.1).parameters))
told(lambda: gt.SGD([{"params": [p]}, {"params": p}], lr=0.1))'
  [[ ${lines[0]} == 'embed.w head.w head.b' ]]
  [[ ${lines[1]} == '3 3 embed.w head.w head.b again.w again.b table' ]]
  [[ ${lines[2]} == '0.9 1' && ${lines[3]} == 'Error SGD: '*' is in two groups' ]]
}

@test "optimizers step as those of PyTorch, also parameters whose gradients come late" {
  need_module torch numpy
  run -0 python '
import torch, numpy as np
def run(lib, make):
    ps = [(torch if lib is torch else gt).nn.Parameter(lib.tensor(v)) for v in ([1.0, 2, 3], [[1.0, -1], [0.5, 2]])]
    best = make(lib.optim, ps)
    for i in range(6):
        best.zero_grad()
        loss = (ps[0] ** 2).sum() * 0.5
        if i >= 2:
            loss = loss + (ps[1] ** 3).sum()
        loss.backward(); best.step()
    return [p.detach().numpy() for p in ps]
for name, make in {
    "AdamW": lambda o, p: o.AdamW(p, lr=0.1), "Adam": lambda o, p: o.Adam(p, lr=0.1, weight_decay=0.1),
    "SGD": lambda o, p: o.SGD(p, lr=0.1), "momentum": lambda o, p: o.SGD(p, lr=0.01, momentum=0.9),
    "nesterov": lambda o, p: o.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.1),
    "dampening": lambda o, p: o.SGD(p, lr=0.01, momentum=0.9, dampening=0.5),
    "maximize": lambda o, p: o.AdamW(p, lr=0.01, maximize=True),
    "groups": lambda o, p: o.AdamW([{"params": [p[0]], "lr": 0.5}, {"params": p[1], "weight_decay": 0.3}], lr=0.1)}.items():
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(run(torch, make), run(gt, make))), name
for name, make in {
    "StepLR": lambda o, s: s.StepLR(o, 2, 0.5), "MultiStepLR": lambda o, s: s.MultiStepLR(o, [1, 3], 0.1),
    "ExponentialLR": lambda o, s: s.ExponentialLR(o, 0.9), "LinearLR": lambda o, s: s.LinearLR(o, total_iters=4),
    "CosineAnnealingLR": lambda o, s: s.CosineAnnealingLR(o, 10, 0.01), "ConstantLR": lambda o, s: s.ConstantLR(o),
    "LambdaLR": lambda o, s: s.LambdaLR(o, lambda e: 0.5 ** e)}.items():
    rates = []
    for lib in torch, gt:
        best = lib.optim.SGD([lib.tensor([1.0], requires_grad=True)], lr=0.1)
        schedule, seen = make(best, lib.optim.lr_scheduler), []
        for i in range(8):
            seen.append(schedule.get_last_lr()[0]); best.step(); schedule.step()
        rates.append(seen)
    assert np.allclose(*rates), (name, rates)
for lib in torch, gt:
    ps = [lib.tensor([3.0, 4.0], requires_grad=True), lib.tensor([12.0], requires_grad=True)]
    (ps[0] * ps[0]).sum().backward(); (ps[1] * 2).sum().backward()
    norm = lib.nn.utils.clip_grad_norm_(ps, 1.0)
    print(round(norm.item(), 4), [[round(v, 4) for v in p.grad.tolist()] for p in ps])'
  lines_are '10.198 [[0.5883, 0.7845], [0.1961]]
10.198 [[0.5883, 0.7845], [0.1961]]'
}

@test "schedules go on from what another schedule, or the program, makes of the lr" {
  # The rates that PyTorch 2.15 gives.
  run -0 python '
s = gt.optim.lr_scheduler
def rates(*make, at=None, to=None):
    best = gt.SGD([gt.ones(1, requires_grad=True)], lr=0.1)
    schedules, seen = [f(best) for f in make], []
    for i in range(8):
        best.step()
        for schedule in schedules:
            schedule.step()
        seen.append(round(best.param_groups[0]["lr"], 5))
        if i == at:
            best.param_groups[0]["lr"] = to
    print(seen)
rates(lambda o: s.ExponentialLR(o, 0.9), lambda o: s.StepLR(o, 2, 0.5))
rates(lambda o: s.LinearLR(o, 0.5, total_iters=4), lambda o: s.MultiStepLR(o, [3, 6], 0.1))
rates(lambda o: s.CosineAnnealingLR(o, 5, 0.01), lambda o: s.ConstantLR(o, 0.5, 3))
rates(lambda o: s.CosineAnnealingLR(o, 6), at=3, to=0.5)
rates(lambda o: s.ExponentialLR(o, 0.5), at=1, to=0.8)
rates(lambda o: s.StepLR(o, 3, 0.5), lambda o: s.LambdaLR(o, lambda e: 1 / (1 + e)))
best = gt.SGD([gt.ones(1, requires_grad=True)], lr=0.1)
both = [s.ExponentialLR(best, 0.9), s.StepLR(best, 2, 0.5)]
for i in range(3): [schedule.step() for schedule in both]
states = [schedule.state_dict() for schedule in both], best.state_dict()
again = gt.SGD([gt.ones(1, requires_grad=True)], lr=0.1)
both = [s.ExponentialLR(again, 0.9), s.StepLR(again, 2, 0.5)]
again.load_state_dict(states[1])
for schedule, state in zip(both, states[0]): schedule.load_state_dict(state)
for schedule in both: schedule.step()
print(round(again.param_groups[0]["lr"], 5))'
  lines_are '[0.09, 0.0405, 0.03645, 0.0164, 0.01476, 0.00664, 0.00598, 0.00269]
[0.0625, 0.075, 0.00875, 0.01, 0.01, 0.001, 0.001, 0.001]
[0.04618, 0.03618, 0.04764, 0.0204, 0.01, 0.01859, 0.04109, 0.06891]
[0.0933, 0.075, 0.05, 0.025, 0.13397, 0.0, 0.0067, 0.025]
[0.05, 0.025, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125]
[0.05, 0.03333, 0.025, 0.02, 0.01667, 0.01429, 0.0125, 0.01111]
0.0164'
}

@test "steps are counted by a line for all parameters that step together" {
  run -0 python '
gt.record("run.gt")
ps = [gt.tensor([1.0], requires_grad=True) for _ in range(3)]
best = gt.AdamW(ps, lr=0.1)
def step(used):
    best.zero_grad(); sum((p * p).sum() for p in used).backward(); best.step(); gt.sync()
for used in (ps[:2], ps[:2], ps, ps, ps[1:], ps):
    step(used)
print([best.state[p]["step"].item() for p in ps])'
  lines_are '[5, 6, 4]'
  awk '/^#sync/ { n++ } / = adamw /{ adamw[n]++ } /= add t[0-9]+ 1 #at/ { counts[n]++ }
       END { print adamw[2], counts[2] + 0, adamw[3], counts[3] }' run.gt >counted
  grep -qx '[0-9]* [0-9]* 3 2' counted
}

@test "an optimizer without parameters, and lists of modules, are told" {
  run -0 --separate-stderr python '
class Net(nn.Module):
    def __init__(self):
        self.w = gt.ones(2, requires_grad=True)
        self.fixed, self.layers = gt.ones(2), [nn.Linear(2, 2)]
net = Net()
print([name for name, p in net.named_parameters()])
best = gt.SGD(net.parameters(), lr=0.5)
(net.w * 3).sum().backward(); best.step()
print(net.w.tolist())
told(lambda: gt.AdamW([]), lambda: gt.SGD(nn.ReLU().parameters(), lr=0.1), lambda: gt.SGD(net.w, 0.1),
     lambda: gt.SGD([net.w * 2], 0.1), lambda: gt.SGD([{"params": [net.w], "rate": 1}]),
     lambda: gt.SGD([{"params": []}]), lambda: gt.SGD([net.w], lr=-1), lambda: gt.SGD([net.w], momentum=float("nan")),
     lambda: gt.AdamW([net.w], betas=(0.9, 1)))
class Kept(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(gt.ones(1))
        self.by_name, self.deep = {"a": nn.Linear(2, 2)}, [1, ({"b": [nn.Linear(2, 2)]},)]
        self.tensors, self.plain = [gt.ones(1, requires_grad=True)], [gt.ones(1), 2, "c"]
Kept().parameters()'
  [[ ${lines[0]} == "['w']" && ${lines[1]} == '[-0.5, -0.5]' ]]
  [[ ${lines[2]} == 'Error AdamW: there are no parameters to train'* && ${lines[3]} == 'Error SGD: there are no'* ]]
  [[ ${lines[4]} == 'TypeError SGD: expected a list of parameters'* && ${lines[5]} == *'is computed'*'detach it' ]]
  [[ ${lines[6]} == 'TypeError SGD: expected params and lr, '*'found rate' ]]
  [[ ${lines[7]} == 'Error SGD: there are no parameters to train'* && ${lines[8]} == *'lr of 0 or more; found -1' ]]
  [[ ${lines[9]} == *'momentum of 0 or more; found nan' && ${lines[10]} == *'betas from 0 to below 1; found 1' ]]
  [[ $stderr == *'Net.layers is a list, and modules in it are not trained, as in PyTorch: nn.ModuleList'* ]]
  [[ $stderr == *'Kept.by_name is a dict, '* && $stderr == *'Kept.deep is a list, '* ]]
  [[ $stderr == *'Kept.tensors is a list, '* && $stderr != *Kept.plain* ]]
  run -0 --separate-stderr python '
class Net(nn.Module):
    def __init__(self):
        self.up, self.by = nn.Linear(2, 2), {"a": nn.Linear(2, 2)}
        self.rows, self.named = [nn.Parameter(gt.ones(2))], {"b": gt.ones(2, requires_grad=True)}
        self.other = [1, "a", gt.ones(2)]
print(len(Net().parameters()))'
  [ "$output" = 2 ]
  [ "$(grep -o '<string>:.*UserWarning.*' <<<"$stderr" | sed 's/^[^N]*Net.//')" = "\
by is a dict, and modules in it are not trained, as in PyTorch: nn.ModuleDict has modules that are
rows is a list, and parameters in it are not trained, as in PyTorch: nn.ParameterList has parameters that are
named is a dict, and parameters in it are not trained, as in PyTorch: nn.ParameterDict has parameters that are" ]
}

@test "an attribute that begins with _ has a name of the language, too" {
  run -0 python '
from gt import nn
class Model(nn.Module):
    def __init__(self):
        self._in, self.out, self._scale = nn.Linear(2, 3), nn.Linear(3, 1), nn.Parameter(gt.ones(1))
    def forward(self, x):
        return self.out(self._in(x)) * self._scale
class Whole(nn.Module):
    def __init__(self):
        self.part = Model()
model, whole = Model(), Whole()
print(model(gt.ones(4, 2)).shape, *model.state_dict())
print(*(name for name, _ in whole.named_parameters()))
model.save("m.safetensors")
other = Model()
other.load("m.safetensors")
print(other._in.w.tolist() == model._in.w.tolist())'
  lines_are '(4, 1) m_in.w m_in.b out.w out.b m_scale
part._in.w part._in.b part.out.w part.out.b part._scale
True'
}

@test "parameters in a ParameterList and a ParameterDict are trained" {
  run -0 python '
class Net(nn.Module):
    def __init__(self):
        self.rows = nn.ParameterList([gt.ones(2), nn.Parameter(gt.zeros(2))])
        self.named = nn.ParameterDict({"a": gt.ones(2)})
    def forward(self, x):
        return sum(x * row for row in self.rows) * self.named["a"]
net = Net()
net.rows.append(gt.ones(2)); net.named["b"] = gt.ones(1); net.rows[1] = gt.ones(2)
print(*net.state_dict(), len(net.rows), len(net.rows[1:]), *net.named.keys(), "b" in net.named)
opt = gt.SGD(net.parameters(), lr=0.5)
net(gt.ones(2)).sum().backward(); opt.step()
print(net.rows[0].tolist(), net.named["a"].tolist())
told(lambda: net.rows.append(3))'
  lines_are "rows.0 rows.1 rows.2 named.a named.b 3 2 a b True
[0.5, 0.5] [-0.5, -0.5]
TypeError ParameterList: expected tensors; found 3"
}

@test "a run that is resumed from a file goes on with the same bits" {
  cat >run.py <<'END_RUN'
import sys
import gt
from gt import nn
gt.manual_seed(3)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
best = gt.AdamW(model.parameters(), lr=0.01)
rates = gt.optim.lr_scheduler.StepLR(best, 2, 0.5)
x, y, first = gt.randn((16, 4), 1), gt.randn((16, 1), 2), 0
if sys.argv[1] == "resumed":
    state = gt.load("run.safetensors")
    model.load_state_dict(state["model"]); best.load_state_dict(state["best"])
    rates.load_state_dict(state["rates"]); gt.set_rng_state(state["random"])
    first = state["step"]
    assert state["more"] == ["a", None, True, (1, 2.5), {}], state["more"]
def step():
    best.zero_grad(); loss = ((model(x) - y) ** 2).mean(); loss.backward(); best.step(); rates.step()
    return loss.item()
for i in range(first, 6):
    print(i, step().hex())
    if i == 2 and sys.argv[1] == "saved":
        gt.save({"model": model.state_dict(), "best": best.state_dict(), "rates": rates.state_dict(), "step": 3,
                 "random": gt.get_rng_state(), "more": ["a", None, True, (1, 2.5), {}]}, "run.safetensors")
END_RUN
  for how in whole saved resumed; do
    PYTHONPATH=$GT_ROOT/share/python within 60 /usr/bin/python3 -B run.py "$how" >"$how.out"
  done
  cmp whole.out saved.out
  tail -n 3 whole.out | cmp - resumed.out
  [ "$(cut -d ' ' -f 2 whole.out | sort -u | wc -l)" = 6 ]
}

@test "gt.save keeps apart tensors whose keys read alike, and saves once what is in two places" {
  run -0 python '
x = gt.ones(1)
gt.save({"a.b": x, "a": {"b": gt.zeros(2)}, "gt.outline": x * 3, "again": x}, "alike.safetensors")
state = gt.load("alike.safetensors")
print(state["a.b"].tolist(), state["a"]["b"].tolist(), state["gt.outline"].tolist(), state["again"] is state["a.b"])'
  lines_are '[1.0] [0.0, 0.0] [3.0] True'
}

@test "a seed settles what is drawn, in this process and others" {
  run -0 python '
def draw():
    gt.manual_seed(7)
    layer = nn.Linear(3, 2)
    return gt.randn(2).tolist(), gt.rand(1).item(), layer.w.tolist(), nn.Dropout(0.5)(gt.ones(4)).tolist()
a, b = draw(), draw()
gt.manual_seed(7); one = nn.Linear(3, 2)
gt.manual_seed(7); two = nn.Linear(3, 2)
state = gt.get_rng_state(); c = gt.rand(3).tolist(); gt.set_rng_state(state)
print(a == b, (one.w == two.w).all().item(), c == gt.rand(3).tolist(), gt.rand(1).item() != gt.rand(1).item())
told(lambda: gt.manual_seed(1.5))'
  lines_are 'True True True True
TypeError manual_seed: expected a whole number; found 1.5'
}

@test "states, buffers and modules without parameters" {
  run -0 python '
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(2, 2), nn.LayerNorm(2, bias=False)
        self.register_buffer("count", gt.zeros(()))
        self.register_buffer("scratch", gt.ones(2), persistent=False)
        self.act = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Identity(), nn.Softmax(dim=1))
    def forward(self, x):
        self.count.add_(1)
        return self.act(self.norm(self.layer(x)))
one, two = Net(), Net()
print(*one.state_dict()); print([n for n, _ in one.named_buffers()], [n for n, _ in one.named_children()])
y = one(gt.ones(3, 2)); one(gt.ones(3, 2))
print(y.shape, round(y.sum().item(), 4), two.load_state_dict(one.state_dict()), two.count.item())
print((two(gt.ones(3, 2)) == y).all().item(), two.layer.w is not one.layer.w)
told(lambda: two.load_state_dict({"layer.weight": gt.ones(2, 2)}), lambda: one.layer.weight, lambda: one.nosuch,
     lambda: nn.Linear(2, 2).to("f64").w.dtype, lambda: nn.Softmax(1, 2), lambda: nn.BatchNorm9d)
print(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
w = gt.ones(2, requires_grad=True)
p = nn.Parameter(w * 2, requires_grad=False); q = nn.Parameter(gt.arange(3.0))
print(p.requires_grad, p.tolist(), q.requires_grad, q.is_leaf, isinstance(q, nn.Parameter))'
  lines_are "layer.w layer.b norm.w count
['count', 'scratch'] ['layer', 'norm', 'act']
(3, 2) 3.0 Keys(missing_keys=[], unexpected_keys=[]) 2.0
True True
Error load_state_dict: missing layer.w, layer.b, norm.w, count; unexpected layer.weight; PyTorch's weight is w here, and bias b
AttributeError Linear has no 'weight': its weight is w, of the shape [2, 2]; PyTorch's is [outputs, inputs], which w.t() is
AttributeError Net has no 'nosuch'
taken: f64
TypeError Softmax: expected dim; found 2 arguments
${lines[9]}
Linear(in_features=2, out_features=3, bias=True) Sequential(
  (0): ReLU()
)
False [2.0, 2.0] True True True"
  [[ ${lines[9]} == "AttributeError gt.nn has no 'BatchNorm9d'; it has AvgPool2d, "* ]]
}

@test "compile, no_grad and log mean what they do in PyTorch" {
  run -0 python '
x, net = gt.ones(2, 2, requires_grad=True), nn.Linear(2, 2)
@gt.compile
def twice(x): return x * 2
@gt.no_grad()
def frozen(x): return x * 2
@gt.no_grad
def frozen_too(x): return x * 2
print(twice(x).tolist(), frozen(x).requires_grad, frozen_too(x).requires_grad, (x * 2).requires_grad)
fast = gt.compile(net, fullgraph=True)
print((fast(x) == net(x)).all().item(), fast.parameters()[0] is net.w)
with gt.no_grad(), gt.enable_grad():
    print((x * 2).requires_grad, gt.is_grad_enabled())
gt.set_grad_enabled(False); print((x * 2).requires_grad); gt.set_grad_enabled(True)
with gt.inference_mode():
    print((x * 2).requires_grad)
print(gt.log(gt.ones(2)).tolist(), x.log().sum().item())
told(lambda: gt.log("run.gt"), lambda: gt.compile(3))'
  lines_are '[[2.0, 2.0], [2.0, 2.0]] False False True
True True
True True
False
False
[0.0, 0.0] 0.0
TypeError log: expected a tensor or a number; found '"'run.gt'"'; gt.record(path) writes the program to a file
TypeError compile: expected a function or a module; found 3'
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
f = gt.compile(lambda x: x * 2)
f(gt.ones(2))'
  [[ $output == *'mul t0 2 #compile'* ]]
}

@test "signals are entered and left, and gradients may have another" {
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
w = gt.ones(2, requires_grad=True)
gt.signal.enter("up")
with gt.signal.context("in", backward="back"):
    x = w * 3
gt.signal.exit("up")
x.sum().backward()
try:
    gt.signal.exit()
except gt.Error as e:
    gt.ones(1, name="told").print_()'
  [[ $output == *'mul t0 3 #signal=up/in #backward=up/back'* && $output == *'mul '*' 3 #signal=up/back #bwd'* ]]
  [[ $output == *'sum t1 #at='* && $output == *'print told'* ]]
}

@test "tensors are printed with their values, of many those at the ends" {
  run -0 python '
print(gt.tensor([[1.5, 2], [3, 4]]), gt.tensor([1], dtype="f64"), gt.tensor(True))
print(gt.arange(3000).reshape(1500, 2))
print(gt.zeros(2, 2000)[0, :3], gt.ones(1, dtype="float32").dtype, gt.ones(1, dtype="torch.float16").dtype)
told(lambda: gt.ones(1, dtype="float128"))'
  lines_are 'tensor([[1.5, 2. ],
        [3. , 4. ]]) tensor([1.], dtype=f64) tensor(True)
tensor([[   0,    1],
        [   2,    3],
        [   4,    5],
        ...,
        [2994, 2995],
        [2996, 2997],
        [2998, 2999]], shape=(1500, 2))
tensor([0., 0., 0.]) f32 f16
Error expected a dtype, one of f32 f64 f16 bf16 i64 i32 u8 bool; found '"'float128'"
}

@test "programs of GT run as they are" {
  run -0 env GT_BACKEND=cpu PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt as torch
import numpy as np
from gt.client import nn
from gt.client.tensor import randn
torch.gpu_workers(2)
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 8), nn.Linear(8, 1)
    def forward(self, x):
        return nn.sigmoid(self.fc2(nn.relu(self.fc1(x))))
model, x, y = MLP(), torch.from_numpy(np.ones((5, 4), "f4")), torch.from_numpy(np.zeros((5, 1), "f4"))
for epoch in range(3):
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= 0.1 * param.grad
            param.grad.zero_()
print(sum(p.shape[0] * p.shape[1] if len(p.shape) == 2 else p.shape[0] for p in model.parameters()))
print(torch.tensor([1, 2], dtype="float32") - 1, torch.from_numpy(np.array(0.5, "f4"), requires_grad=True).requires_grad)
print(randn(2, 2).data.numpy().shape, len(torch.debug.get_worker_stats()))
torch.debug.print_worker_stats()'
  [[ ${lines[0]} == 49 && ${lines[1]} == 'tensor([0., 1.]) True' && ${lines[2]} == '(2, 2) 2' ]]
  [[ ${lines[3]} == 'worker-0: '*' operations in '* && ${lines[4]} == 'worker-1: '* ]]
}

@test "gt.load gives the tensors of a safetensors file that something else wrote, by their names" {
  run -0 python '
model = nn.Sequential(nn.Linear(2, 3)); model.save("m.safetensors")
print({k: (v.dtype, v.shape) for k, v in gt.load("m.safetensors").items()})
gt.tensor([1, 2]).save("n.safetensors:a.b")  # which waits for nothing
gt.tensor([True]).save("n.safetensors:c")
print({k: v.tolist() for k, v in gt.load("n.safetensors").items()})
twin = nn.Sequential(nn.Linear(2, 3)); twin.load_state_dict(gt.load("m.safetensors"))
print(twin[0].w.tolist() == model[0].w.tolist())
import json, struct
head = json.dumps({"x": {"dtype": "I16", "shape": [1], "data_offsets": [0, 2]}}).encode()
open("i.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + b"\0\0")
told(lambda: gt.load("i.safetensors"))
gt.save({"k": 3}, "s.safetensors"); print(gt.load("s.safetensors"))'
  lines_are "{'m0.b': ('f32', (3,)), 'm0.w': ('f32', (2, 3))}
{'a.b': [1, 2], 'c': [True]}
True
TypeError load: i.safetensors: x is I16; there are F64 F32 F16 BF16 I64 I32 U8 BOOL: write gt.load(\"i.safetensors:NAME\") for one of those
{'k': 3}"
}

@test "options of no meaning are refused where they are given" {
  run -0 python '
p = [gt.ones(2, requires_grad=True)]
told(lambda: gt.SGD(p, lr=-1), lambda: gt.AdamW(p, betas=(0.9, 1.5)), lambda: gt.AdamW(p, eps=float("nan")),
     lambda: gt.SGD([{"params": p, "momentum": -1}], lr=0.1), lambda: nn.Dropout(2))
print(gt.SGD(p, lr=gt.tensor(0.5)), gt.SGD(p, lr=0).lr)'
  lines_are "ValueError SGD: expected lr of 0 or more; found -1
ValueError AdamW: expected betas from 0 to below 1; found 1.5
ValueError AdamW: expected eps of 0 or more; found nan
ValueError SGD: expected momentum of 0 or more; found -1
ValueError Dropout: expected p from 0 to 1; found 2
SGD of 1 parameters, lr=0.5, momentum=0, dampening=0, weight_decay=0, nesterov=False, maximize=False 0"
}

@test "a tensor in the place of a parameter is refused, as it would not be trained" {
  run -0 python '
class Net(nn.Module):
    def __init__(self):
        self.w, self.fixed = nn.Parameter(gt.ones(2)), gt.zeros(2)
net = Net()
told(lambda: setattr(net, "w", net.w - 1))
net.fixed = gt.ones(2); net.w = nn.Parameter(gt.zeros(2)); print(net.w.tolist(), len(net.parameters()))
net.w = None; net.w = gt.ones(2); print(len(net.parameters()))
w = gt.ones(2, requires_grad=True)
w = w * 2
told(lambda: w.sum().backward())'
  lines_are "TypeError Net: w is a Parameter, and a tensor in its place would not be trained: write self.w.copy_(x) under gt.no_grad(), nn.Parameter(x), or another name
[0.0, 0.0] 1
0
Error backward: nothing that requires a gradient, and is still there, went into t2, or an earlier backward took its history"
}

@test "a decorated generator is in its scope at each step, and threads do not mix their scopes" {
  run -0 python '
import threading
w = gt.ones(2, requires_grad=True)
@gt.no_grad()
def steps():
    got = yield (w * 1).requires_grad
    try:
        yield got, (w * 2).requires_grad
    except KeyError:
        yield "thrown", (w * 3).requires_grad
    return (w * 4).requires_grad
it = steps()
print(next(it), (w * 5).requires_grad, it.send(7), it.throw(KeyError()), (w * 6).requires_grad)
try:
    next(it)
except StopIteration as end:
    print(end.value)
closed = steps(); next(closed); closed.close(); print((w * 7).requires_grad)
gt.record("lines")
inner, outer = threading.Event(), threading.Event()
@gt.signal("hidden")
def twice(wait, then):
    then.set(); wait.wait(5)
def first():
    twice(inner, outer)
    gt.ones(2, name="after"); done.set()
def second():
    outer.wait(5)
    with gt.signal("other"):
        twice(done, inner)
        gt.ones(2, name="within")
done = threading.Event()
threads = [threading.Thread(target=f) for f in (first, second)]
for t in threads: t.start()
for t in threads: t.join()
gt.sync(); gt.record(None)
print(*[" ".join(line.split()[:4] + [w for w in line.split() if w[:7] == "#signal"]) for line in open("lines") if "ones" in line], sep="\n")'
  lines_are "False True (7, False) ('thrown', False) True
False
True
after = ones f32[2]
within = ones f32[2] #signal=other"
}

#!/usr/bin/env bats
# The module gt for users of PyTorch: a call of PyTorch means the same here, or
# is refused with what to write instead.

load helper
load python

# shellcheck disable=SC2034 # of python.bash
before="${told}m = gt.tensor([[1.0, 2.0], [3.0, 4.0]])
i = gt.tensor([[0, 1], [1, 0]])
n = gt.tensor([6, 3])
"

@test "calls that PyTorch has give what PyTorch gives" {
  need_module torch numpy
  cat >calls <<'END_CALLS'
m.transpose(0, 1); m.transpose(-2, -1); x.transpose(dim0=1, dim1=2); x.swapaxes(0, 2); m.t(); x.mT
x.permute(2, 0, 1); gt.permute(x, (2, 0, 1)); x.flip(0, 1); gt.flip(x, (1,))
x.norm(1); x.norm("fro"); x.norm(2, 1); x.norm(p=1, dim=(0, 1)); gt.norm(m, 1, 0, True)
gt.arange(5); gt.arange(2, 5); gt.arange(0, 10, 2); gt.arange(10, 0, -3); gt.arange(0, 1, 0.3); gt.arange(5.0)
x.max(dim=1); x.max(1); gt.max(x, 1, True); x.min(dim=0, keepdim=True); x.max(); gt.max(m, m * 0 + 2); m.min(m.t())
x.amax((0, 1)); x.amax(1, True); gt.amin(x, 0); x.argmax(1, True); gt.argmin(x, dim=0)
x.sum(1); x.sum((0, 2), True); x.sum(dim=-1, keepdim=True); x.mean(1); x.prod(1); x.any(1); x.all(0)
x.var(1); x.var(True); x.var(False); x.var(1, False, True); x.var(dim=1, unbiased=True); gt.std(x, 1, False, True)
x.cumsum(1); x.softmax(0); gt.softmax(m, 1); x.topk(2, 1); x.topk(k=1, dim=0).indices; x.sort(1, True); x.argsort(1, True)
m.clamp(2, 3); m.clamp(2); m.clamp(max=2.5); n.clamp(min=4); m.clip(2, 3); gt.clip(m, 2); gt.clip(m, max=3)
x.split(2, 1); x.split([1, 2], 1); gt.split(x, 3, dim=-1); x.chunk(2, -1); gt.chunk(x, 3, 1)
m.gather(1, i); gt.gather(m, 0, i); m.gather(dim=1, index=i); m.scatter_add(1, i, m); m.scatter(0, i, m * 10)
m.expand(3, 2, 2); x.reshape(3, -1); x.view(6, 4); x.view((-1,)); x.flatten(); x.flatten(1); x.flatten(0, 1); m.unsqueeze(-1)
gt.zeros(2, 3); gt.zeros([2, 3]); gt.ones(3); gt.zeros(size=(2, 3)); gt.zeros(()); gt.eye(3); gt.eye(2, 3); gt.rand(2, 3) < 2
gt.full(size=(2,), fill_value=1.5); gt.zeros_like(m); gt.full_like(n, 3); gt.randperm(5).sum(); gt.randn(3, 1) < 99
gt.where(m > 2, m, m * 0); m.where(m > 2, m * 0); m.masked_fill(m > 2, float("-inf")); gt.isnan(m / 0 * 0)
gt.cat([m, m], 1); gt.cat((m, m), dim=-1); gt.stack([m, m], 1); gt.concat([m, m])
F.pad(m, (1, 2)); F.pad(x, (1, 0, 2, 1)); F.pad(m, (0, 1), "constant", 7); F.pad(m, (1, 1, 0, 1), value=7.0)
F.one_hot(i, 3); F.softplus(m, 2, 1); F.dropout(m, 0.5, False); F.dropout(m, 0.5, training=False); F.dropout(m, 0.0, True)
F.max_pool2d(x.unsqueeze(0), 2, 1); F.avg_pool2d(x.unsqueeze(0), 2, 1, 0); F.mse_loss(m, m * 2)
F.conv2d(x.unsqueeze(0), x[:, :2, :2].unsqueeze(1), None, 1, 1, 1, 2)
F.conv_transpose2d(x.unsqueeze(0), x[:, :2, :2].unsqueeze(1), None, 2, 1, 1, 2, 2); F.huber_loss(m, m * 2, "sum", 2.5)
x.atan(); gt.arctan(m); gt.atan2(m, -m); m.atan2(m); F.huber_loss(m, m * 2); F.huber_loss(m, m * 3, delta=0.5)
x[[1, 0]]; x[:, [0, 2]]; x[..., [1, 3]]; x[gt.tensor(1)]; x[gt.tensor([-1])]; x[-1, 2]; x[None, 0]
~b; b | ~b; (m > 2) & (m < 4); n.float(); n.to(gt.float64); m.to(n); m.half(); m.long(); m.bool(); n.type_as(m); m.cpu()
m.clone(); m.dim(); m.square(); m.reciprocal(); x.index_select(1, gt.tensor([0, 2])); x.narrow(1, 1, 2); gt.mm(m, m)
v @ v; m @ v; v @ m; x @ u; w @ x; gt.matmul(v, m); gt.mv(m, v); m.mv(v); gt.dot(n, n); v.dot(v); gt.outer(u, v); n @ n
x[0, 0] @ u; m[:, 0] @ v; x[:, 0] @ u; x.sum(1)[0] @ u; (x @ u)[0] @ w; m.max(1).values @ m; x.mean((0, 2)) @ w; x.narrow(0, 0, 1) @ u
x.amax(1, True) @ u; x.flatten() @ x.flatten(); m.squeeze(0) @ v; x.index_select(2, n % 3) @ v; x[None, 0, 0] @ u; w @ x[..., 0].t()
b % 2; 5 % ~(b & ~b); b ** 2; 2 ** b; b ** 2.0; b // 2.5; b % n; n // (b | ~b); v ** b; b.sign(); b.square(); b * True; b + True
gt.where(b, True, False); n * True; b == True; m * False
gt.bmm(x, x.transpose(1, 2)); gt.remainder(-m, 3); gt.floor_divide(m, 2); gt.logical_and(m, m - 1); m.expand_as(m)
END_CALLS
  run -0 python '
import torch, warnings, numpy as np
warnings.simplefilter("ignore")
X = torch.tensor([[[3.0, -1, 2, 0], [5, 4, -6, 7], [8, 9, 10, -11]], [[12, 1, 14, 15], [1.5, 2.5, 3.5, -4], [0, 20, 19, 21]]])
vectors = dict(v=[1.0, -2.0], u=[1.0, 2.0, 3.0, 4.0], w=[3.0, 2.0, 1.0])
one = dict(gt=torch, F=torch.nn.functional, x=X, m=torch.tensor(m.numpy()), i=torch.tensor(i.numpy()),
           n=torch.tensor([6, 3]), b=torch.tensor([True, False]), **{k: torch.tensor(v) for k, v in vectors.items()})
two = dict(gt=gt, F=gt, x=gt.tensor(X.numpy()), m=m, i=i, n=n, b=gt.tensor([True, False]),
           **{k: gt.tensor(v) for k, v in vectors.items()})
def plain(y):
    if isinstance(y, (tuple, list)):
        return [plain(part) for part in y]
    dtype = gt._DTYPE_NAMES.get(str(y.dtype)[6:], y.dtype) if hasattr(y, "dtype") else "number"
    return dtype, np.round(np.array(y.tolist() if hasattr(y, "tolist") else y, dtype="f8"), 3).tolist()
calls = [c for line in open("calls") for c in line.strip().split("; ")]
for call in calls:
    want, got = plain(eval(call, one)), plain(eval(call, two))
    assert str(want) == str(got), (call, want, got)
print(len(calls) > 140)'
  lines_are True
}

@test "gradients of these calls are PyTorch's, for equal values too" {
  need_module torch numpy
  run -0 python '
import torch, numpy as np
rows = [[1.0, 2, 2], [0, 3, -1]]
for call in ("x.clamp(min=1.5).sum()", "x.clamp(max=1.5).square().sum()", "x.max(1).values.sum()", "x.min(dim=0)[0].sum()",
             "x.amax(1).sum()", "x.transpose(0, 1)[0].sum()", "x.chunk(3, 1)[1].sum()", "x.std()", "x.norm(1)",
             "x.masked_fill(x > 1, 0).sum()", "(x @ x[0]).square().sum()", "(x[:, 1] @ x).exp().sum()",
             "x[0] @ x[1]", "x.mv(x[1]).sum()", "x[0].dot(x[0])", "x[0].outer(x[:, 0]).square().sum()", "x[:, [0]].sum()", "x.where(x > 1, x * 3).sum()"):
    a, b = torch.tensor(rows, requires_grad=True), gt.tensor(rows, requires_grad=True)
    eval(call, {"x": a}).backward(); eval(call, {"x": b}).backward()
    assert np.allclose(a.grad.numpy(), b.grad.numpy(), atol=1e-5), (call, a.grad, b.grad)
v = gt.tensor([1.0, 2.0], requires_grad=True)
(v * v).backward(gt.tensor([1.0, 10.0]))
print(v.grad.tolist(), gt.grad((v * v).sum(), v)[0].tolist())
told(lambda: (v * v).sum().backward(True))'
  lines_are '[2.0, 40.0] [2.0, 4.0]
TypeError backward: expected a tensor as gradient; found True; retain_graph= is a keyword'
}

@test "calls give what PyTorch gives at the edges of functions, too" {
  run -0 python '
F = gt.nn.functional
def slope(f, *values):
    x = gt.tensor(values, requires_grad=True)
    f(x).sum().backward()
    return x.grad.tolist()
print(slope(F.elu, 0.0, -0.0, 1.0), slope(lambda x: F.elu(x, 0.5), 0.0, 2.0), F.elu(gt.tensor([-0.0])).tolist())
print(F.kl_div(gt.zeros(3), gt.tensor([-1.0, 0.0, 1.0]), reduction="none").tolist())
print([p.shape for p in gt.ones(0, 2).chunk(2)], [p.shape for p in gt.ones(5).chunk(4)])
print(gt.ones(2).dtype is gt.float32, gt.ones(2).argmax().dtype is gt.int64, (gt.ones(2) > 1).dtype is gt.bool)'
  lines_are '[1.0, 1.0, 1.0] [0.5, 1.0] [-0.0]
[nan, 0.0, 0.0]
[(0, 2), (0, 2)] [(2,), (2,), (1,)]
True True True'
}

@test "calls for which PyTorch has other words, without PyTorch" {
  run -0 python '
print(m.transpose(0, 1).tolist(), m.norm(1).item(), gt.arange(2, 5).tolist(), gt.arange(0, 10, 2).tolist())
v, i = m.max(dim=1)
print(v.tolist(), i.tolist(), m.max(axis=1).tolist(), m.min(0).indices.tolist(), gt.max(m, 2.5).tolist())
print(gt.zeros(2, 3).shape, gt.eye(2).tolist(), m.gather(1, gt.tensor([[1], [0]])).tolist())
print(gt.clip([m], 1.0)[0].norm().item() < 1.001, m.clip(2, 3).tolist(), gt.arange((3,), 2, 2).tolist())
print(gt.randn((2, 3), 7).shape, m.split(parts=2, axis=1)[1].tolist(), m.transpose((0, 1)).tolist() == m.tolist())
print(f"{m.sum():.2f}", gt.float32, n.to(gt.half).dtype, gt.dropout(m, 0.5, training=False) is m)'
  lines_are '[[1.0, 3.0], [2.0, 4.0]] 10.0 [2, 3, 4] [0, 2, 4, 6, 8]
[2.0, 4.0] [1, 1] [2.0, 4.0] [0, 0] [[2.5, 2.5], [3.0, 4.0]]
(2, 3) [[1.0, 0.0], [0.0, 1.0]] [[2.0], [3.0]]
True [[2.0, 2.0], [3.0, 3.0]] [2.0, 4.0, 6.0]
(2, 3) [[2.0], [4.0]] True
10.00 f32 f16 True'
}

@test "the rank of a reshaped tensor is known without asking" {
  run -0 env GT_CONNECT=- PYTHONPATH="$GT_ROOT/share/python" /usr/bin/python3 -B -c '
import gt
x = gt.load("x.npy", "f32[2,3,4]").reshape(2, -1, 4).relu().transpose(1, 2)'
  lines_are '#gt 1
t0 = load "x.npy" f32[2,3,4] #at=<string>:3
t1 = reshape t0 shape=2,-1,4 #at=<string>:3
t0 = relu t1 #at=<string>:3
t1 = transpose t0 axes=0,2,1 #at=<string>:3
#end 0'
}

@test "an argument by position that PyTorch takes only by keyword is refused, with the keyword" {
  run -0 python 'told(lambda: m.sum(0, 1), lambda: m.sum(True), lambda: m.sum(m), lambda: m.softmax(1, axis=1),
     lambda: gt.gelu(m, "tanh"), lambda: gt.cross_entropy(m, n, m[0], "sum"), lambda: m.var(1, 0), lambda: m.max((0, 1)),
     lambda: gt.layer_norm(m, (3,)), lambda: gt.matmul(m, m, m), lambda: m.split(m), lambda: gt.zeros(m),
     lambda: gt.zeros(), lambda: gt.arange(5, start=2), lambda: gt.arange(5, 2), lambda: gt.pad(m, (1,)),
     lambda: m.topk(1, out=m), lambda: gt.zeros(2, device="cpu"), lambda: m.transpose(0, 2), lambda: m.exp(2), lambda: gt.transpose())'
  lines_are "TypeError y = sum x [axis=] keepdims=0: expected True or False as keepdims; found 1; several axes stand in a tuple, as (0, 1)
TypeError y = sum x [axis=] keepdims=0: expected a number as axis; found True; several axes stand in a tuple, as (0, 1)
TypeError y = sum x [axis=] keepdims=0: expected a number or a word as axis; found the tensor t0, which item() reads
TypeError y = softmax x axis=-1: axis is given twice
TypeError y = gelu x approximate=none: unexpected 'tanh'; approximate= takes a keyword
TypeError y = cross_entropy x target [weight] reduction=mean [ignore_index=] label_smoothing=0 [out=]: unexpected 'sum'; reduction=, ignore_index=, label_smoothing= take a keyword
TypeError var: expected True or False as unbiased; found 0; correction= is a keyword
TypeError max: expected one dim, or a tensor; found (0, 1); amax takes more axes
Error layer_norm: expected a normalized_shape that ends the shape (2, 2); found (3,)
TypeError y = matmul a b ta=0 tb=0 [out=]: unexpected the tensor t0; ta=, tb= take a keyword
TypeError split: expected a number or a list of numbers; found the tensor t0
TypeError y = zeros type [split=] [part=]: expected a shape, as (2, 3); found the tensor t0
TypeError y = zeros type [split=] [part=]: expected a shape, as (2, 3)
TypeError arange: expected (end), (start, end) or (start, end, step), or a shape as (5,)
Error arange: no steps of 1 lead from 5 to 2
TypeError pad: expected (before, after) of the last dimension, then of that before it and so on; found (1,)
TypeError v i = topk x axis=-1 size=: unexpected out; write into=, or name=
TypeError y = zeros type [split=] [part=]: unexpected device; the environment says where it runs: help(gt)
IndexError transpose: 0 and 2 are not both axes of t0, which has 2
TypeError y = exp x: unexpected 2
TypeError y = transpose x [axes=]: x is missing"
}

@test "masks, floats and pairs of lists are no index, and integers have no bits" {
  run -0 python 'told(lambda: m[m > 2], lambda: m[(m > 2)[:, 0]], lambda: m[[True, False]], lambda: m[1.5],
     lambda: m["1"], lambda: m[[0, 1], [1, 0]], lambda: m.__setitem__(0, 1), lambda: n & n, lambda: ~(n + 1))'
  masks='IndexError there are no boolean masks, as a shape does not depend on values: write gt.where(mask, x, 0), or mask.cast(x.dtype) * x'
  [[ ${lines[0]} == "$masks" && ${lines[1]} == "$masks" && ${lines[2]} == "$masks" ]]
  [[ ${lines[3]} == 'IndexError expected a number, a range, a tensor or None as an index; found 1.5' ]]
  [[ ${lines[4]} == *"as an index; found '1'" ]]
  [[ ${lines[5]} == 'IndexError expected one tensor or list among whole ranges'* ]]
  [[ ${lines[6]} == 'TypeError there is no assignment to a part'* ]]
  [[ ${lines[7]} == 'TypeError &: expected bool; found the tensor t2; gt.and_ takes what is not zero as true' ]]
  [[ ${lines[8]} == 'TypeError ~: expected bool; found the tensor t'*'; gt.not_ takes what is not zero as true' ]]
}

@test "a text is no operand, and names no register" {
  run -0 python 'told(lambda: gt.ones(2) + "t0", lambda: "t0" + m, lambda: gt.ones(2) * "5", lambda: gt.maximum(m, "t0"),
     lambda: m @ "t0", lambda: "t0" @ m, lambda: gt.where(m > 1, "inf", m), lambda: gt.concat([m, "t0"]),
     lambda: gt.embedding(m, "t2"), lambda: m.add_("t0"), lambda: m < "t0", lambda: m + None, lambda: m.pow(b"t0"),
     lambda: gt.grad("t0", m), lambda: gt.grad(m, ["t0"]), lambda: m.max("t0"), lambda: m.slice("i"))
m.save("m.npy"); m.print_("shown"); m.print_(as_="again")
print(gt.load("m.npy", "f32[2,2]").tolist(), m.slice("1:", "-1:").tolist(), m.cast("i64").dtype)'
  lines_are "TypeError add: expected a tensor or a number; found 't0'
TypeError add: expected a tensor or a number; found 't0'
TypeError mul: expected a tensor or a number; found '5'
TypeError maximum: expected a tensor or a number; found 't0'
TypeError matmul: expected a tensor or a number; found 't0'
TypeError matmul: expected a tensor or a number; found 't0'
TypeError where: expected a tensor or a number; found 'inf'
TypeError concat: expected a tensor or a number; found 't0'
TypeError embedding: expected a tensor or a number; found 't2'
TypeError add: expected a tensor or a number; found 't0'
TypeError lt: expected a tensor or a number; found 't0'
TypeError add: expected a tensor, a number or lists of numbers; found None
TypeError pow: expected a tensor, a number or lists of numbers; found b't0'
TypeError grad: expected tensors, a scalar and what it depends on; found 't0'
TypeError grad: expected tensors, a scalar and what it depends on; found 't0'
TypeError max: expected one dim, or a tensor; found 't0'; amax takes more axes
Error slice: expected a tensor, a number or a range, as 1:3; found 'i'
shown = tensor f32[2,2] 1 2 3 4
again = tensor f32[2,2] 1 2 3 4
[[1.0, 2.0], [3.0, 4.0]] [[4.0]] i64"
}

@test "backward of more than one element is refused at once, and of one element it is taken" {
  run -0 python 'w, v = gt.ones(2, requires_grad=True), gt.ones(1, 1, requires_grad=True)
told(w.backward, lambda: gt.grad(w, w), lambda: gt.zeros(0, requires_grad=True).backward())
v.backward(); w.backward(gt.tensor([2.0, 3.0]))
print(v.grad.tolist(), w.grad.tolist(), v.requires_grad)
s = gt.tensor(2.0, requires_grad=True)
s.backward(); s.backward(); (s * s).backward()
print(s.grad.item(), s.requires_grad, (s * 3).requires_grad)'
  lines_are 'Error backward: expected one element, as a loss has; found t3, which is f32[2]: take its sum() or mean(), or write x.backward(gradient), where the gradient has its shape
Error grad: expected one element, as a loss has; found t3, which is f32[2]: take its sum() or mean(), or write x.backward(gradient), where the gradient has its shape
Error backward: expected one element, as a loss has; found t5, which is f32[0]: take its sum() or mean(), or write x.backward(gradient), where the gradient has its shape
[[1.0]] [2.0, 3.0] True
6.0 True True'
}

@test "a tensor is not None, and equal to no text" {
  run -0 python 'told(lambda: m == None, lambda: m != None, lambda: None == m, lambda: m == "t0", lambda: m != "t0",
     lambda: (m == [[1, 0], [3, 0]]).tolist(), lambda: (m != 1).tolist(), lambda: m < None, lambda: gt.eq(m, None))'
  lines_are "taken: False
taken: True
taken: False
taken: False
taken: True
taken: [[True, False], [True, False]]
taken: [[False, True], [True, True]]
TypeError lt: expected a tensor, a number or lists of numbers; found None
TypeError eq: expected a tensor, a number or lists of numbers; found None"
}

@test "deepcopy gives a tensor and a module registers of their own, and copy is refused" {
  run -0 python 'import copy, pickle
x = gt.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
y = copy.deepcopy(x)
with gt.no_grad():
    x += 1; x.grad.zero_()
print(x.tolist(), y.tolist(), y.grad.tolist(), y.requires_grad, y.shape, copy.deepcopy(m > 1)._is_mask)
told(lambda: copy.deepcopy(x * 2), lambda: copy.copy(x), lambda: pickle.dumps(x))
class Net(gt.Module):
    def __init__(self):
        self.up, self.twice = gt.Linear(2, 2), []
        self.same = self.up
        self.layers = gt.ModuleList([copy.deepcopy(self.up) for _ in range(2)])
    def forward(self, x):
        return self.layers[1](self.layers[0](self.up(x)))
net = Net()
other = copy.deepcopy(net)  # before its tensors have names
loss = net(m).sum(); loss.backward()
third = copy.deepcopy(net)  # and after that
print(*net.state_dict()); print(*other.state_dict()); print(*third.state_dict())
print([p.grad for p in third.parameters()], third.same is third.up, third.twice is net.twice)
def same(a, b): return all((p == q).all().item() for p, q in zip(a.parameters(), b.parameters()))
print(same(net, other), same(net, third), same(net.layers[0], net.layers[1]), (net(m) == third(m)).all().item())
gt.SGD(net.parameters(), 0.1).step()
print(same(net, other), same(other, third))
loss = third(m).sum(); names = third.parameters(); loss.backward()
print(third.up.w.grad is not None, other.up.w.grad, net.up.w.name, net.layers[1].w.name)
third.save("third.safetensors"); other.load("third.safetensors")
p = gt.Parameter("ones", ())
q = copy.deepcopy(p); q.print_("q"); p.data += 1; q.rename("Q"); r = copy.deepcopy(q)
print(same(other, third), p.item(), q.item(), r.item(), q.name)
a = gt.Linear(2, 2); b = copy.deepcopy(a)
loss = a(m).sum() - b(m).sum(); loss.backward(); print(a.w.name, b.w.name[0], *b.state_dict(), a.w.grad.tolist())'
  lines_are '[2.0, 3.0] [1.0, 2.0] [2.0, 4.0] True (2,) True
Error deepcopy: '"$(sed -n '2s/Error deepcopy: //p' <<<"$output")"'
TypeError a tensor is a register of this session, which cannot be pickled or shared by a copy.copy: write x.clone() or copy.deepcopy(x), or x.save(path) for its values
TypeError a tensor is a register of this session, which cannot be pickled or shared by a copy.copy: write x.clone() or copy.deepcopy(x), or x.save(path) for its values
up.w up.b same.w same.b layers.0.w layers.0.b layers.1.w layers.1.b
up.w up.b same.w same.b layers.0.w layers.0.b layers.1.w layers.1.b
up.w up.b same.w same.b layers.0.w layers.0.b layers.1.w layers.1.b
[None, None, None, None, None, None] True False
True True True True
False True
True None up.w layers.1.w
q = tensor f32[] 1
True 2.0 1.0 1.0 Q
w t w b [[4.0, 4.0], [6.0, 6.0]]'
  [[ ${lines[1]} == 'Error deepcopy: t'*' is computed from what requires a gradient, and a copy has no history:'* ]]
}

@test "in place a tensor keeps its shape, dtype and handles" {
  run -0 python '
p = gt.Parameter("ones", (2, 2))
other = p
p.copy_(gt.tensor([5, 6]))
print(other.tolist(), p.dtype, p.shape, p.requires_grad)
p.fill_(3); print(p.tolist()); p.zero_(); print(other.tolist())
x = y = gt.tensor([1.0, 2.0])
x += 1; x *= gt.tensor(2.0); x -= 1; x /= 2
print(y.tolist(), m.masked_fill_(m > 2, 0).tolist(), m.clamp_(1, 1).tolist())
def grow():
    z = gt.tensor([1.0, 2.0])
    z += gt.ones(3, 2)
def leaf():
    z = gt.tensor([1.0, 2.0], requires_grad=True)
    z += z
told(grow, leaf, lambda: x.copy_(gt.ones(3)))'
  lines_are '[[5.0, 6.0], [5.0, 6.0]] f32 (2, 2) True
[[3.0, 3.0], [3.0, 3.0]]
[[0.0, 0.0], [0.0, 0.0]]
[1.5, 2.5] [[1.0, 2.0], [0.0, 0.0]] [[1.0, 1.0], [1.0, 1.0]]
'"${lines[4]}"$'\n'"${lines[5]}"'
Error copy_: f32[3] does not expand to f32[2]'
  [[ ${lines[4]} == 'Error add: t'*' has 1 dimensions, and cannot have 2 in place' ]]
  [[ ${lines[5]} == 'Error t'*' requires a gradient: change it under gt.no_grad()' ]]
}

@test "for a name that gt lacks, the message says what to write" {
  run -0 python 'told(lambda: m.einsum, lambda: gt.einsum, lambda: gt.vdot, lambda: gt.shape, lambda: m.cuda(), lambda: m.to("cuda"),
     lambda: m.zeros, lambda: m.nosuch, lambda: gt.print, lambda: gt.Tensor([1.0]))
print(hasattr(m, "view"), hasattr(m, "einsum"))'
  lines_are "AttributeError a tensor has no 'einsum'; did you mean 'matmul' (between transpose and reshape, torch.einsum, torch.tensordot)?
AttributeError gt has no 'einsum'; did you mean 'matmul' (between transpose and reshape, torch.einsum, torch.tensordot)?
AttributeError gt has no 'vdot'; of two vectors, write gt.dot(a, b)
AttributeError gt has no 'shape'; a tensor has it: x.shape
AttributeError a tensor has no 'cuda'; the environment says where lines run: help(gt)
TypeError to: expected a dtype or a tensor; found 'cuda'; the environment says where lines run: help(gt)
AttributeError a tensor has no 'zeros'; gt.zeros is a function
AttributeError a tensor has no 'nosuch'; gt-emit --ops lists what there is
AttributeError gt has no 'print'; write x.print_()
TypeError Tensor: write gt.tensor(data), which makes one
True False"
}

@test "x.data are the values without their history, and changing them changes x" {
  need_module torch numpy
  run -0 python '
import torch
a, b = (m(rows, requires_grad=True) for m, rows in ((torch.tensor, [1.0, 2.0, 3.0]), (gt.tensor, [1.0, 2.0, 3.0])))
for x, lib in (a, torch), (b, gt):
    (x * x.data).sum().backward()
    x.data -= 0.5 * x.grad
    x.data.mul_(4).add_(x.grad.data)
    (x * 2).data.zero_()
    x.data[0:2].zero_() if lib is gt else None  # a part of x.data is a copy
    print(x.data.numpy(), x.grad.data.numpy(), x.requires_grad, x.data.requires_grad)
    x.data = lib.tensor([7.0, 8.0, 9.0])
    (x * x).sum().backward()
    print(x.tolist(), x.requires_grad, (x * x).data.tolist(), (x @ x.grad).item())
told(lambda: gt.Parameter("ones", (2,)).data.numpy(), lambda: setattr(b, "data", gt.ones(2)), lambda: gt.nn.Parameter("a b"), lambda: gt.nn.Parameter(m).tolist())'
  lines_are '[3. 6. 9.] [1. 2. 3.] True False
[7.0, 8.0, 9.0] True [49.0, 64.0, 81.0] 438.0
[3. 6. 9.] [1. 2. 3.] True False
[7.0, 8.0, 9.0] True [49.0, 64.0, 81.0] 438.0
taken: [1. 1.]
Error copy_: f32[2] does not expand to f32[3]
Error Parameter: expected the name of a function and its keys, as in Parameter("randn", (2, 3), scale=0.1); found '"'a b'"'
taken: [[1.0, 2.0], [3.0, 4.0]]'
}

@test "only floats require gradients" {
  run -0 python 'told(lambda: gt.tensor([1, 2, 3], requires_grad=True), lambda: n.requires_grad_(),
     lambda: gt.ones((2,), dtype="i64", requires_grad=True), lambda: gt.tensor([True], requires_grad=True),
     lambda: gt.tensor([1, 2], dtype="f16", requires_grad=True).requires_grad, lambda: n.requires_grad_(False).requires_grad)'
  [[ ${lines[0]} == 'Error only tensors of floats can require gradients; t'*' is i64[3]: write 2.0 in place of 2, or dtype="f32"' ]]
  [[ ${lines[1]} == 'Error only tensors of floats can require gradients; t2 is i64[2]:'* ]]
  [[ ${lines[2]} == *'is i64[2]:'* && ${lines[3]} == *'is bool[1]:'* ]]
  [[ ${lines[4]} == 'taken: True' && ${lines[5]} == 'taken: False' ]]
}

@test "products with vectors, and operands that make no product" {
  run -0 --separate-stderr python 'told(lambda: gt.matmul([1, 2], [[1, 2], [3, 4]]).tolist(), lambda: gt.matmul(n, n, name="s").name,
     lambda: (gt.ones(3, 2)[0:1].slice(0, axis=0, size=1) @ n.float()).tolist(), lambda: gt.dot(m, m), lambda: m.mv(m), lambda: n.mv(n), lambda: n.outer(m),
     lambda: gt.dot([1, 2], n).item(), lambda: gt.matmul(n), lambda: (n @ gt.tensor([1, 2, 3])).item())'
  told='found the tensor t0, which has 2; gt.matmul takes vectors and matrices'
  [[ ${lines[0]} == 'taken: [7, 10]' && ${lines[1]} == 'taken: s' && ${lines[2]} == 'taken: [9.0]' ]]
  [[ ${lines[3]} == "TypeError dot: expected 1 dimension; $told" && ${lines[4]} == "TypeError mv: expected 1 dimension; $told" ]]
  [[ ${lines[5]} == 'TypeError mv: expected 2 dimensions; found the tensor t2, which has 1;'* ]]
  [[ ${lines[6]} == "TypeError outer: expected 1 dimension; $told" && ${lines[7]} == 'taken: 12' ]]
  [[ ${lines[8]} == *'b is missing' && $output == *'inner sizes 2 and 3 differ'* ]]
}

@test "modules compute what those of PyTorch do, and eval ends dropout" {
  need_module torch numpy
  run -0 python '
import torch, numpy as np
from gt import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, (3, 2), 2, (1, 0), 1, 2)
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.layers.append(nn.RMSNorm(4, eps=1e-5))
        self.tail = nn.Sequential(nn.Linear(4, 3), gt.relu, nn.Dropout(0.25))
    def forward(self, x):
        x = self.conv(x).mean((2, 3))
        for layer in self.layers:
            x = layer(x)
        return self.tail(x)
net = Net()
print(*net.state_dict())
x = gt.randn(8, 2, 5, 6)
print((net(x) == net(x)).all().item(), net.eval() is net, (net(x) == net(x)).all().item(), net.tail[2].training)
X = torch.tensor(x.numpy())
conv = torch.nn.Conv2d(2, 4, (3, 2), 2, (1, 0), 1, 2)
w = [conv.weight, conv.bias] + [torch.tensor(p.numpy(), requires_grad=True) for p in net.parameters()[2:]]
with torch.no_grad():
    w[0].copy_(torch.tensor(net.conv.w.numpy())), w[1].zero_()
Y = conv(X).mean((2, 3)) @ w[2] + w[3]
Y = Y @ w[4] + w[5]
Y = torch.relu(Y / (Y.square().mean(-1, True) + 1e-5).sqrt() * w[6] @ w[7] + w[8])
y = net(x)
print(np.allclose(y.numpy(), Y.detach().numpy(), atol=1e-5))
y.square().sum().backward(), Y.square().sum().backward()
print([np.allclose(p.grad.numpy(), q.grad.numpy(), atol=1e-4) for p, q in zip(net.parameters(), w)].count(True))
kept = nn.Dropout(0.25)(gt.ones(10000)).mean().item()
print(0.95 < kept < 1.05, net.train().tail[2].training, [type(m).__name__ for m in net.modules()][:3], len(net.layers), *nn.ModuleList([nn.RMSNorm(1)]).state_dict())
net.save("net.safetensors"); other = Net().load("net.safetensors")
print(other.layers[0].w.tolist() == net.layers[0].w.tolist(), nn.Conv2d(3, 2, 1, bias=False).b)'
  lines_are "conv.w conv.b layers.0.w layers.0.b layers.1.w layers.1.b layers.2.w tail.0.w tail.0.b
False True True False
True
9
True True ['Net', 'Conv2d', 'ModuleList'] 3 m0.w
True None"
}

@test "names, keys and places of PyTorch are those of the op table" {
  run -0 python '
q = gt.randn((2, 3, 4), 7)
same = lambda a, b: print(gt.eq(a, b).all().item())
same(gt.concatenate([q, q], dim=1), gt.concat(q, q, axis=1))
same(gt.broadcast_to(q, (5, 2, 3, 4)), q.expand(5, 2, 3, 4))
same(gt.scaled_dot_product_attention(q, q, q, is_causal=True), gt.attention(q, q, q, causal=1))
same(q.norm(1, 0, True), q.norm(p=1, dim=0, keepdim=True))
print(gt.empty(2, 3).shape, q.topk(2, 1)[0].shape, gt.huber_loss(q, q, "sum", 2.0).item())
for name in "movedim vstack index_add meshgrid".split():
    assert not hasattr(gt, name), name'
  lines_are $'True\nTrue\nTrue\nTrue\n(2, 3) (2, 2, 4) 0.0'
}

@test "the rank that Python concludes from an index rule is the program's" {
  run -0 python '
x, ids, w = gt.randn((2, 3, 4)), gt.tensor([[1, 0, 1]]), gt.randn((4, 5))
image, kernel = gt.randn((1, 2, 5, 5)), gt.randn((3, 2, 2, 2))
for y in [gt.embedding(w, ids), x @ w, gt.linear(x, w), x.softmax(-1), x.sum((0, 1)), x.sum(0, True),
          x.argmax(), x.topk(2)[1], gt.conv2d(image, kernel), image.max_pool2d(2), gt.layer_norm(x),
          gt.attention(x, x, x), gt.mse(x, x), gt.cross_entropy(x, ids.expand(2, 3)), x.cumsum(0),
          gt.where(x > 0, x, w.sum(1)[:4].sum()), x.take(ids, axis=1), ids.one_hot(3), x.std(0)]:
    known = y._rank
    assert known == len(y.shape), (known, y.shape)
    print(known, end=" ")
for y in [gt.mse(x, x, reduction="none"), gt.clip([x, w], 1.0)[1], x.windows(axis=0, size=2), x.squeeze()]:
    assert y._rank in (None, len(y.shape)), y._rank'
  [ "$output" = '3 3 3 3 1 3 0 3 4 4 3 3 0 0 3 3 4 3 2 ' ]
}

@test "a part cannot hide a method of its module" {
  run -0 python '
from gt import nn
def told(f):
    try:
        f(); print("taken")
    except (KeyError, TypeError) as e:
        print(type(e).__name__, e.args[0])
for name in ("keys", "a.b", "", 3, "up"):
    told(lambda: nn.ModuleDict({name: nn.ReLU()}))
told(lambda: nn.Sequential({"parameters": nn.ReLU()}))
net = nn.ModuleDict({"up": nn.Linear(2, 2)})
told(lambda: net.add_module("up", nn.ReLU())); told(lambda: net.register_parameter("up", gt.ones(2)))
told(lambda: net.register_parameter("forward", gt.ones(2))); told(lambda: net.register_buffer("state_dict", gt.ones(2)))
net["down"] = nn.ReLU()
print(*net.keys(), len(net))'
  lines_are "KeyError ModuleDict: 'keys' cannot be a name here: a ModuleDict has an attribute of that name
KeyError ModuleDict: 'a.b' cannot be a name here: it has a '.'
KeyError ModuleDict: '' cannot be a name here: it is empty
TypeError ModuleDict: expected a name, found 3
taken
KeyError Sequential: 'parameters' cannot be a name here: a Sequential has an attribute of that name
taken
KeyError ModuleDict: 'up' cannot be a name here: a ModuleDict has an attribute of that name
KeyError ModuleDict: 'forward' cannot be a name here: a ModuleDict has an attribute of that name
KeyError ModuleDict: 'state_dict' cannot be a name here: a ModuleDict has an attribute of that name
up down 2"
}

@test "numbers that a dtype does not hold are refused, and a norm of any order keeps its range" {
  run -0 python '
import math
told(lambda: gt.linspace(0, 300, 4, dtype="u8"), lambda: gt.randint(0, 300, (2,), dtype="u8"),
     lambda: gt.randint(-1, 3, (2,), dtype="u8"), lambda: m.to("u8").new_zeros(2).randint_like(300))
for x, p in ([1e20, 1e20], 3), ([1e-20, 1e-20], 3), ([1e-20, 1e20], -2), ([3.0, math.inf], 3), ([0.0, 0.0], 3):
    print(gt.tensor(x).norm(p).item())
print(gt.tensor([300.0, 300.0], dtype="f16").norm(3).item(), gt.nn.functional.normalize(gt.tensor([[1e20, 1e20]]), 3).tolist())'
  for k in 0 1 2 3; do
    [[ ${lines[k]} == 'Error '*' is none of the values of u8, which are 0 to 255' ]]
  done
  [[ ${lines[4]} == 1.2599*e+20 && ${lines[5]} == 1.2599*e-20 && ${lines[6]} == 9.99999*e-21 && ${lines[7]} == inf ]]
  [[ ${lines[8]} == 0.0 && ${lines[9]} == '378.0 [[0.7937'*', 0.7937'*']]' ]]
}

@test "what becomes a part of a Sequential or a ModuleList is a part of what it computes" {
  run -0 python '
from gt import nn
x = gt.tensor([-1.0, 2.0])
s = nn.Sequential(nn.ReLU(), gt.neg)
s.add_module("last", nn.Sigmoid()); s.more = nn.Tanh()
print(len(s), s(x).tolist() == x.relu().neg().sigmoid().tanh().tolist())
s[0] = nn.Identity(); del s[1]; s.insert(0, nn.Linear(2, 2)); s.pop(); s += [nn.ReLU()]
print(s, *[name for name, _ in s.named_parameters()])
print(*(type(part).__name__ for part in s[1:] + s[:1]))
parts = nn.ModuleList([nn.ReLU()]); parts.extend([nn.Tanh()]); parts.insert(0, nn.Identity()); parts[1] = nn.Mish()
print(*parts, (parts + [nn.ELU()])[-1], parts.pop(), len(parts))
named = nn.ModuleDict({"a": nn.ReLU()}); named.update({"b": nn.Tanh(), "c": nn.Mish()}); del named["a"]
print(named.pop("b"), *named); named.clear(); print(len(named))
def told(f):
    try:
        f(); print("taken")
    except TypeError as e:
        print(e)
told(lambda: nn.Sequential([nn.ReLU()])); told(lambda: nn.ModuleList([3])); told(lambda: nn.Sequential(nn.ReLU))
told(lambda: s.add_module("new", 3))'
  lines_are "4 True
Sequential(
  (0): Linear(in_features=2, out_features=2, bias=True)
  (1): Identity()
  (2): Sigmoid()
  (3): ReLU()
) m0.w m0.b
Identity Sigmoid ReLU Linear
Identity() Mish() Tanh() ELU() Tanh() 2
Tanh() c
0
Sequential: expected modules, or functions; found [ReLU()]: write nn.Sequential(*layers)
ModuleList: expected modules, or functions; found 3
Sequential: expected modules, or functions; found <class 'gt.nn.ReLU'>: write ReLU()
Sequential: expected a module; found 3"
}

@test "lerp and smooth_l1_loss are in range wherever their results are" {
  run -0 python '
from gt import nn
a, b = gt.tensor([3e38, 1.0]), gt.tensor([-3e38, 2.0])
print(a.lerp(b, 0.5).tolist(), a.lerp(b, gt.tensor([0.5, 1.0])).tolist())
x = gt.tensor([1e-10, 4e19])
for beta in (1e-30, 0, 1e20):
    losses = nn.functional.smooth_l1_loss(x, gt.zeros(2), beta=beta, reduction="none")
    print(*(f"{y:.3g}" for y in losses.tolist()))'
  lines_are "[0.0, 1.5] [0.0, 2.0]
1e-10 4e+19
1e-10 4e+19
5e-41 8e+18"
}

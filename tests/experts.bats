#!/usr/bin/env bats
# Mixtures of experts: nn.MoE of the module gt and examples/experts.gt beside PyTorch,
# and over four ranks by configs/experts.yaml.

load helper
load python

# make(k) is a step of a model whose experts have 10 places of 16 tokens a group with
# k = 2, and 2 with k = 1, so that choices are dropped; it returns its parts.
# shellcheck disable=SC2034 # of python.bash
before="import gt.nn as nn
$told
class Net(nn.Module):
    def __init__(self, k, shared):
        self.up = nn.Linear(8, 8)
        self.moe = nn.MoE(8, 32, 4, top_k=k, capacity_factor=1.25 if k == 2 else 0.5, groups=4, shared=shared)
    def forward(self, x):
        return self.moe(self.up(x))
def make(k, shared=32):
    gt.manual_seed(k)
    net = Net(k, shared)
    with gt.signal('batch'):
        x = gt.randn(4, 16, 8)
    y, balance, dropped = net(x)
    loss = (y * y).mean() + 0.01 * balance
    loss.backward()
    return net, x, y, balance, dropped
"

@test "experts: values and gradients are those of a loop over tokens in PyTorch" {
  need_module torch numpy
  run -0 python '
import sys, torch, numpy as np
sys.path.append("'"$GT_ROOT"'/tests/oracle")
from experts import mixture
def reference(net, x, k, places):
    w = {n: torch.tensor(p.detach().numpy(), requires_grad=True) for n, p in net.named_parameters()}
    y, balance, dropped = mixture(torch.tensor(x.numpy()) @ w["up.w"] + w["up.b"], w["moe.router.w"], w["moe.up"],
                                  w["moe.down"], k, places, [v for n, v in w.items() if "shared" in n])
    ((y * y).mean() + 0.01 * balance).backward()
    return w, y, balance, dropped
for k, places, shared in (1, 2, 32), (2, 10, 32), (2, 10, 0):
    net, x, y, balance, dropped = make(k, shared)
    w, want, b, d = reference(net, x, k, places)
    assert net.moe.capacity(16) == places and d > 0 and dropped.item() == d, (d, dropped)
    assert np.allclose(y.detach().numpy(), want.detach().numpy(), atol=1e-5)
    assert abs(balance.item() - b.item()) < 1e-5, (balance, b)
    for n, p in net.named_parameters():
        assert np.allclose(p.grad.numpy(), w[n].grad.numpy(), atol=1e-5), (n, p.grad.numpy(), w[n].grad)
    print(k, len(w), d > 0)
net.moe.capacity_factor = 0
print(net(x)[2].item())'
  lines_are '1 7 True
2 7 True
2 5 True
0'
}

@test "experts: those of the text are those of PyTorch, with all gradients, and some are dropped" {
  need_module torch
  run -0 /usr/bin/python3 "$GT_ROOT/tests/oracle/experts.py"
  [[ $output =~ ^"30 values of experts.gt are PyTorch's, and "[1-9] ]]
}

@test "experts: four workers exchange by all_to_all, and nothing else but gradients" {
  local code='
for k in 1, 2:
    net, x, y, balance, dropped = make(k)
    gt.sync()
    for value in y, balance, dropped, *(p.grad for p in net.parameters()):
        value.print_()
'
  python "$code" >whole
  GT_WORKERS=4 GT_CONFIG=$GT_ROOT/configs/experts.yaml python "$code" >placed
  gt-cmp --atol 1e-5 whole placed
  [ "$(wc -l <whole)" = 20 ]
  # A step of the first: forward and backward there and back, of 2 places for 8
  # numbers of each expert in the one group that a rank has, 3 of 4 parts of it.
  python 'gt.record("step.gt")
make(1)
gt.sync()'
  gt-emit step.gt | gt-shard -c "$GT_ROOT/configs/experts.yaml" --summary 2>said >placed.s
  gt-check -q placed.s
  grep -q 'all_to_all: 4 lines, 0.000768 MB from each rank' said
  run ! grep -E ' (all_gather|reduce_scatter) ' placed.s
  run ! grep -E ' all_reduce .*signal=(dispatch|experts|combine)' placed.s
}

@test "experts: half of the shared expert is computed while each exchange travels" {
  python 'gt.record("step.gt")
make(2)
gt.sync()'
  gt-emit step.gt | gt-shard -c "$GT_ROOT/configs/experts.yaml" >placed.s
  # Products and exchanges in their order, by their signals.
  run -0 awk '/= matmul|all_to_all/ && /signal=(dispatch|experts|combine|hidden|out)/ {
    match($0, /signal=[a-z]*/); printf "%s%s ", ($3 == "all_to_all" ? "*" : ""), substr($0, RSTART + 7, RLENGTH - 7)
  }' placed.s
  [ "$output" = "*dispatch hidden experts experts *experts out *combine out out experts experts experts experts *experts hidden hidden " ]
}

@test "experts: sizes that cannot be are told" {
  run -0 python '
told(lambda: nn.MoE(8, 32, 4, top_k=5), lambda: nn.MoE(8, 0, 4), lambda: nn.MoE(8, 32, 4, groups=1.5),
     lambda: nn.MoE(8, 32, 4, groups=3)(gt.ones(4, 8)), lambda: nn.MoE(8, 32, 4)(gt.ones(4, 6)))'
  lines_are 'ValueError MoE: expected a top_k of at most 4, the number of experts; found 5
ValueError MoE: expected hidden of at least 1; found 0
TypeError MoE: expected groups to be a whole number; found 1.5
ValueError MoE: expected tokens of 8 numbers for 3 equal groups; found the shape [4, 8]
ValueError MoE: expected tokens of 8 numbers for 1 equal groups; found the shape [4, 6]'
}

#!/usr/bin/env bats
# What the module gt refuses, by which exceptions, and what they say to write instead.

load helper
load python

@test "errors are those that programs for PyTorch catch, and parameters are taken one by one" {
  run -0 python '
from gt import nn
x = gt.ones(2, 3)
def caught(f):
    try:
        f(); print("taken")
    except RuntimeError as e:
        print("caught", type(e).__name__)
caught(lambda: x.item()); caught(lambda: x.requires_grad_().add_(1))
caught(lambda: gt.connect("blah"))
net = nn.Linear(2, 3)
each = net.parameters()
print(next(each) is net.w, next(each) is net.b, next(each, "no more"), next(net.parameters()).dtype, len(each), issubclass(gt.Failed, RuntimeError))'
  lines_are "caught Error
caught Error
caught Error
True True no more f32 2 True"
}

@test "a mistake is told by the call that was written, and a forked process what to do" {
  run -0 python '
from gt import nn
def told(f):
    try:
        f(); print("taken")
    except Exception as e:
        print(type(e).__name__, str(e)[:150])
told(lambda: gt.cat([])); told(lambda: gt.stack([])); told(lambda: nn.Parameter(gt.tensor([1])))
told(lambda: nn.functional.cross_entropy(gt.ones(2, 3), gt.tensor([0.0, 1.0])))
gt.sync()
import os, sys
sys.stdout.flush()
if not (child := os.fork()):
    told(lambda: gt.ones(2)); sys.stdout.flush(); os._exit(0)
os.waitpid(child, 0)'
  lines_are "Error concat: expected one tensor or more; found none
Error stack: expected one tensor or more; found none
Error only tensors of floats can require gradients; the parameter is i64[1]: write 2.0 in place of 2, or dtype=\"f32\"
Error cross_entropy: expected classes, which are integers, or probabilities in the shape (2, 3); found the tensor t1, which is f32[2]
Lost this process was forked from the one whose session this is, which alone may use it: make the first tensor in the child, or start it by multiprocessing"
}

@test "what PyTorch has and gt has not is refused with what to write" {
  run -0 python '
from gt import nn, optim
x = gt.tensor([[1.0, 2.0], [3.0, 4.0]])
def told(*calls):
    for f in calls:
        try:
            f(); print("taken")
        except AttributeError as e:
            print(e)
told(lambda: gt.Generator, lambda: gt.amp, lambda: gt.finfo, lambda: gt.distributed, lambda: gt.linalg, lambda: gt.utils,
     lambda: x.short(), lambda: x.mode(), lambda: x.index_copy_(0, x, x), lambda: x.rot90(), lambda: x.grad_fn,
     lambda: nn.Linear(2, 2).cuda(), lambda: nn.Linear(2, 2).register_forward_hook(print), lambda: gt.autograd.Function,
     lambda: optim.lr_scheduler.OneCycleLR, lambda: optim.RMSprop)
print(gt.numel(x), gt.is_floating_point(x), gt.numel(input=x))'
  lines_are 'gt has no '"'Generator'"'; gt.manual_seed(n) begins random numbers, and gt.randn((2, 3), 7) has a seed of its own
gt has no '"'amp'"'; nothing is cast unasked: write model.bfloat16(), or x.to(gt.bfloat16)
gt has no '"'finfo'"'; write float("-inf"), or the number
gt has no '"'distributed'"'; a config spreads a program over workers: help(gt)
gt has no '"'linalg'"'; there are gt.norm and gt.matmul, and no solvers and decompositions
gt has no '"'utils'"'; rows of a file are gt.load(path)[a:b], gt.recompute() is checkpoint, and gt.nn.utils clips gradients
a tensor has no '"'short'"'; integers are i64, i32 and u8
a tensor has no '"'mode'"'; x.sort(dim) has the values in order
a tensor has no '"'index_copy_'"'; write where, scatter or concat, which make another tensor
a tensor has no '"'rot90'"'; write x.transpose(0, 1).flip(0)
a tensor has no '"'grad_fn'"'; x.requires_grad says whether it has a history, and gt.print_tape(x) shows it
Linear has no '"'cuda'"'; the environment says where lines run: help(gt)
Linear has no '"'register_forward_hook'"'; do it in forward()
gt.autograd has no '"'Function'"'; functions of your own are written in those that there are, which have gradients
gt.optim.lr_scheduler has no '"'OneCycleLR'"'; it has ConstantLR, CosineAnnealingLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR, StepLR: of these LambdaLR takes any function
gt.optim has no '"'RMSprop'"'; it has SGD, Adam, AdamW and lr_scheduler; a step of another is p.sub_(...) under gt.no_grad()
4 True 4'
}

@test "numbers that an integer dtype does not hold are refused, whether few or many" {
  cat >many.py <<'END'
import gt
def told(f):
    try:
        print("taken", f())
    except gt.Error as e:
        print(e)
for n in (2, 2000):
    told(lambda: gt.tensor([300] * n, dtype="u8"))
    told(lambda: gt.tensor([2.0**63] * n, dtype="i64"))
    told(lambda: gt.tensor([2**70] * n))
    told(lambda: gt.tensor([float("nan")] * n, dtype="i32"))
    told(lambda: gt.tensor([255.9, -0.5] * n, dtype="u8")[:2].tolist())
    told(lambda: gt.tensor([-2**63, 2**63 - 1] * n)[:2].tolist())
END
  run -0 python '
exec(open("many.py").read())'
  [ "$(sort <<<"$output" | uniq -c | awk '{print $1}' | sort -u)" = 2 ]
  [ "$(grep -c '^tensor: .* is none of the values of ' <<<"$output")" -eq 8 ]
  [[ $output == *'taken [255, 0]'*'taken [-9223372036854775808, 9223372036854775807]'* ]]
  need_module numpy
  run -0 python '
import numpy as np
def told(f):
    try:
        print("taken", f())
    except gt.Error as e:
        print(e)
for n in (2, 2000):
    told(lambda: gt.tensor(np.array([300] * n), dtype="u8")); told(lambda: gt.tensor(np.array([np.nan] * n), dtype="i32"))
    told(lambda: gt.tensor(np.array([1.7, -1.7] * n), dtype="i64")[:2].tolist())'
  [ "$(grep -c ' is none of the values of ' <<<"$output")" -eq 4 ]
  [ "$(grep -cF 'taken [1, -1]' <<<"$output")" -eq 2 ]
}

@test "what a call lacks is named" {
  run -0 python '
x = gt.ones(2, 3)
for f in (x.reshape, x.view, x.expand, x.unsqueeze, x.topk, x.cumsum):
    try:
        f(); print("taken")
    except TypeError as e:
        print(e)'
  lines_are 'y = reshape x shape= [split=]: shape is missing
y = reshape x shape= [split=]: shape is missing
y = expand x shape= [split=]: shape is missing
y = unsqueeze x axis=: axis is missing
v i = topk x axis=-1 size=: size is missing
y = cumsum x axis=: axis is missing'
}

@test "layers refuse sizes that no tensor has" {
  run -0 python "$told"'
from gt import nn
told(lambda: nn.Linear(-1, 2), lambda: nn.Linear(2, 1.5), lambda: nn.Embedding(3, -1), lambda: nn.LayerNorm((2, -1)),
     lambda: nn.RMSNorm(-3), lambda: nn.Conv2d(1, 1, 0), lambda: nn.Conv2d(1, 1, (3, 0)), lambda: nn.Conv2d(0, 1, 3),
     lambda: nn.Conv2d(4, 2, 3, groups=0), lambda: nn.Conv2d(4, 3, 3, groups=2), lambda: nn.Conv2d(1, 1, 3, stride=0),
     lambda: nn.MaxPool2d(0), lambda: nn.AvgPool2d(2, padding=-1))
print(nn.Linear(0, 2).w.shape, nn.Conv2d(2, 4, (3, 1), groups=2).w.shape, nn.LayerNorm([2, 3]).w.shape)'
  lines_are 'ValueError Linear: expected in_features of at least 0; found -1
TypeError Linear: expected out_features to be a whole number; found 1.5
ValueError Embedding: expected embedding_dim of at least 0; found -1
ValueError LayerNorm: expected normalized_shape of at least 0; found (2, -1)
ValueError RMSNorm: expected normalized_shape of at least 0; found (-3,)
ValueError Conv2d: expected kernel_size of at least 1; found 0
ValueError Conv2d: expected kernel_size of at least 1; found (3, 0)
ValueError Conv2d: expected in_channels of at least 1; found 0
ValueError Conv2d: expected groups of at least 1; found 0
ValueError Conv2d: expected groups that divide 4 and 3 channels; found 2
ValueError Conv2d: expected stride of at least 1; found 0
ValueError MaxPool2d: expected kernel_size of at least 1; found 0
ValueError AvgPool2d: expected padding of at least 0; found -1
(0, 2) (4, 1, 3, 1) (2, 3)'
}

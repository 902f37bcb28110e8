"""Tensors, gradients and modules that write the lines of a gt program.

    import gt
    a = gt.randn((1000, 1000))
    c = (a @ a).relu()
    print(c[:4, :4])

A Tensor is a register of the program (gt-stream(5)): each call writes one line
and returns at once, and a value is waited for only when it is looked at. The
functions and methods are the rows of `gt-emit --ops`; keys are keyword
arguments, help(gt.softmax) tells what an op does. `and or not print` have a _
behind them. A creation takes a shape and dtype="f32"; name="w" names a result.

A call that PyTorch has means the same: x.transpose(0, 1), x.sum(1, True),
x.max(dim=1), x.gather(1, i), gt.zeros(2, 3), gt.arange(2, 5). A key stands behind
the operands only where it does in PyTorch. What cannot be as it is there is
refused, with what to write, and so is a name that is not here. These differ:
  x[0].add_(1)          there are no views: it changes a copy; x[0] = 1 is refused
  x.max(axis=1)         the values alone, as amax; max(dim=1) and max(1) are a pair
  gt.full((2,), 1)      f32, as each creation of a shape; gt.arange(5) is i64
  gt.randn((2, 3), 7)   a number behind a shape is the seed
  gt.linear(x, w)       w is [in, out], as is that of gt.Linear, and ids are last in
                        gt.embedding(w, ids); gt.cross_entropy has the classes last,
                        and ignores none. gt.nn.functional has them as PyTorch
  nn.Linear(4, 2).w     modules call their parameters w and b; they begin with normal
                        numbers of the deviation 1 / sqrt(inputs), and zeros
  x @ v                 does not ask: what Python does not know the rank of, as a file
                        that is loaded without a type, is no vector; x.mv(v) asks
  x.data                a copy; what changes it in place is copied to x

Where it runs is said by the environment when the first line is written:
  GT_CONNECT  unset: gt-emit | [gt-shard -c $GT_CONFIG |] gt-route -n $GT_WORKERS
              is started, and ended at exit. "-": the stream goes to standard
              output, and results are read from $GT_BACK. tcp://.., ipc://..: a
              cluster (gt-clients(7)); more words, as in "tcp://head:5550 --key
              mine --server-key head.pub", are options of gt-emit. head:5550 is
              tcp://head:5550. gt.connect() says the same; gt.gpu_workers(8) and
              gt.cpu_workers(2) say GT_WORKERS.
  GT_BIN      where the programs are; else beside this file's installation or
              build, else in PATH.

Scopes: lines within `with gt.signal("up"):` are those that a config means by up, and
gt.signal.tensor(x, "up") is a copy of x among them. gt.microbatch(3), gt.compile(),
gt.recompute() and gt.no_grad() are scopes, too, and decorators. gt.print_tape() shows the history that
backward() would walk.

Shapes: Python follows them from line to line. What it does not know, as that of a file
that is loaded without a type, x.shape and x.dtype ask for once, which is one round trip.
Whether a line is right the program knows: what is wrong is told when a value is looked at,
and gt.Failed has the message, with file and line. gt.sync(), which model.save() waits for,
and gt.close() raise what failed and was in no exception yet, and a process that nobody told
ends with status 1.
gt.Lost says that the program that runs the lines is gone, or was stopped. More than 1,000 values
travel in a file beside the text; a cluster that keeps no files (gt-emit -l
--files) takes none. With "-" and no GT_BACK, files that carry values stay in
$TMPDIR, as others may still read them.

Loops: a name is free once its tensor is gone. Put the body of a training loop
into a function: its tensors end with it, and all rounds are the same bytes. In a
loop without one, old values live while new ones are made, and two texts take
turns. gt.Module names parameters when the outermost module is first called, or
asked for its parameters. Dropout drops until model.eval(), and again after train().

A name="w" that another tensor has goes to the new one, as when a cell of a notebook
runs again. The older tensor keeps its value in a register without a name of its
own; a backward() to it through what was computed before fails.
"""
from . import _hints, _install, _ops as _table_of_ops, _pipeline
from ._pipeline import _program, close, connect, cpu_workers, gpu_workers, record, sync
from ._scopes import (compile, enable_grad, inference_mode, is_grad_enabled, microbatch, no_grad, recompute,
                      set_grad_enabled, signal)
from ._tensor import (Tensor, as_tensor, asarray, from_numpy, get_rng_state, grad, is_tensor, manual_seed,
                      print_tape, set_rng_state, tape, tensor)
from ._words import _DTYPE_NAMES, Error, Failed, Lost, bf16, f16, f32, f64, i32, i64, u8

_ops = _table_of_ops._ops

# What stands on all of this is imported before there is a __getattr__, which would ask gt-emit about
# each of these names.
from . import autograd, client, debug, nn, optim
from ._files import load, save
from .nn import (Conv2d, Dropout, Embedding, LayerNorm, Linear, Module, ModuleList, Parameter, RMSNorm,
                 Sequential)
from .optim import SGD, Adam, AdamW


def __getattr__(name):
    if name == "_session":  # the one that is open
        return _pipeline._session
    found = _ops.get(name) or _DTYPE_NAMES.get(name)
    if found is None:
        raise AttributeError(f"gt has no {name!r}{_hints._meant(name)}")
    return found


def __dir__():
    return sorted([n for n in globals() if n[0] != "_"] + list(_ops))

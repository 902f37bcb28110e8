"""Gradients, as torch.autograd has them."""
from ._hints import _INSTEAD
from ._scopes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ._tensor import Tensor, _none, grad as _grad
from ._words import Error


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    """The gradients of outputs by inputs, as a tuple. What an output does not depend on is an error, or
    None with allow_unused=True, or zeros with materialize_grads=True."""
    outputs, inputs = ([x] if isinstance(x, Tensor) else list(x) for x in (outputs, inputs))
    if is_grads_batched:
        raise TypeError("grad: is_grads_batched is not here; write a loop")
    factors = [None] * len(outputs) if grad_outputs is None else \
        [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    with enable_grad():
        loss = None
        for x, factor in zip(outputs, factors):
            part = x if factor is None else (x * factor).sum()
            part = part.sum() if not part._is_loss("grad") else part
            loss = part if loss is None else loss + part
    unused = [not x._reach or not x._reach <= loss._reach for x in inputs]
    for x, is_unused in zip(inputs, unused):
        if not x.requires_grad:
            raise Error(f"grad: {x.name} does not require a gradient: requires_grad_() says that it does")
        if is_unused and not allow_unused and not materialize_grads:
            raise Error(f"grad: nothing depends on {x.name}: allow_unused=True gives None for it")
    retain = create_graph if retain_graph is None else retain_graph
    targets = [x for x, is_unused in zip(inputs, unused) if not is_unused]
    found = iter(_grad(loss, targets, retain_graph=retain)) if targets else iter(())
    out = []
    for x, is_unused in zip(inputs, unused):
        gradient = (x.zeros_like() if materialize_grads else None) if is_unused else next(found)
        if gradient is not None and not create_graph:
            gradient._reach = _none
        out.append(gradient)
    return tuple(out)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False):
    """backward() of each tensor."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    factors = [None] * len(tensors) if grad_tensors is None else \
        [grad_tensors] if isinstance(grad_tensors, Tensor) else list(grad_tensors)
    for i, (x, factor) in enumerate(zip(tensors, factors)):
        last = i + 1 == len(tensors)
        x.backward(factor, True if not last else retain_graph, create_graph)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"gt.autograd has no {name!r}" + (f"; {_INSTEAD[name]}" if name in _INSTEAD else
                         "; it has grad and backward"))

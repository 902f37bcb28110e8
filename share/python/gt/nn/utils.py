"""What is done with the parameters of a model."""
import math

from .._ops import _ops
from .._scopes import no_grad
from .._tensor import Tensor
from .._words import Error


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales gradients so that their common norm is no more than max_norm, and gives that norm, of
    before."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return _ops["zeros"](())
    with no_grad():
        norms = [_ops["norm"](g, norm_type) for g in grads]
        total = norms[0] if len(norms) == 1 else _ops["norm"](_ops["stack"](norms), norm_type)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise Error(f"clip_grad_norm_: the norm of the gradients is {total.item()}")
        factor = _ops["minimum"](_ops["div"](max_norm, _ops["add"](total, 1e-6)), 1.0)
        for g in grads:
            _ops["mul"](g, factor, into=g)
    return total


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Bounds each element of the gradients by clip_value."""
    with no_grad():
        for p in [parameters] if isinstance(parameters, Tensor) else list(parameters):
            if p.grad is not None:
                _ops["clamp"](p.grad, -clip_value, clip_value, into=p.grad)

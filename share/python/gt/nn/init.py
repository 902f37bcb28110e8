"""Values with which parameters begin, as torch.nn.init has them."""
import math

from .._scopes import no_grad


def _set(tensor, how):
    with no_grad():
        how(tensor)
    return tensor


def zeros_(tensor):
    """Zeros."""
    return _set(tensor, lambda t: t.zero_())


def ones_(tensor):
    """Ones."""
    return _set(tensor, lambda t: t.fill_(1))


def constant_(tensor, val):
    """One value."""
    return _set(tensor, lambda t: t.fill_(val))


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal random numbers."""
    return _set(tensor, lambda t: t.normal_(mean, std))


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform random numbers from a to b."""
    return _set(tensor, lambda t: t.uniform_(a, b))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform random numbers, so that values and gradients keep their size."""
    bound = gain * math.sqrt(6.0 / _fans(tensor))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal random numbers, so that values and gradients keep their size."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / _fans(tensor)))


def _fans(tensor):
    """Inputs and outputs together, which are the first two dimensions in one order or the other."""
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError(f"expected 2 dimensions or more; found {len(shape)}")
    return (shape[0] + shape[1]) * math.prod(shape[2:])


def __getattr__(name):
    raise AttributeError(f"gt.nn.init has no {name!r}; a weight of gt is [inputs, outputs], of which "
                         "normal_(w, std=...) says the deviation")

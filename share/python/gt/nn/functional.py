"""Functions as torch.nn.functional has them.

A name that is not here is the function of gt, where the op table says that PyTorch's function of
this name is that op. What gt has otherwise than PyTorch, as gt.linear with w [in, out], means here
what it means there."""
import math

from .._ops import _ops
from .._tensor import Tensor, _shown
from .._types import _kind
from .._words import Error, _type


def _reduced(losses, reduction, count=None):
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise ValueError(f"expected 'mean', 'sum' or 'none' as reduction; found {reduction!r}")
    total = _ops["sum"](losses)
    if reduction == "sum":
        return total
    return _ops["mean"](losses) if count is None else _ops["div"](total, count)


def _in_place(y, x, inplace):
    return _ops["copy"](y, into=x) if inplace else y


def linear(input, weight, bias=None):
    """x @ weight.t() + bias, with the weight [out, in]; gt.linear has [in, out]."""
    y = _ops["matmul"](input, weight if weight.ndim == 1 else weight.t())
    return y if bias is None else _ops["add"](y, bias)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
              sparse=False):
    """Rows of the weight by ids; gt.embedding has the weight first."""
    if padding_idx is not None or max_norm is not None or scale_grad_by_freq or sparse:
        raise TypeError("embedding: expected ids and a weight alone; padding_idx, max_norm, scale_grad_by_freq "
                        "and sparse are not here")
    return _ops["embedding"](weight, input)


def one_hot(tensor, num_classes=-1):
    """1 at the class, of num_classes, which are asked for if they are -1."""
    if num_classes == -1:
        num_classes = int(tensor.max().item()) + 1
    return _ops["one_hot"](tensor, num_classes)


def relu(input, inplace=False):
    """max(x, 0)."""
    return _ops["relu"](input, into=input) if inplace else _ops["relu"](input)


def relu6(input, inplace=False):
    """x from 0 to 6."""
    return _in_place(_ops["clamp"](input, 0, 6), input, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x from min_val to max_val."""
    return _in_place(_ops["clamp"](input, min_val, max_val), input, inplace)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x above 0, below it x by the slope."""
    y = _ops["where"](_ops["gt"](input, 0), input, _ops["mul"](input, negative_slope))
    return _in_place(y, input, inplace)


def elu(input, alpha=1.0, inplace=False):
    """x above 0, below it alpha * (exp(x) - 1)."""
    above = _ops["gt"](input, 0)  # 0 is not, as its gradient, alpha, says
    low = _ops["mul"](_ops["expm1"](_ops["where"](above, 0, input)), alpha)
    return _in_place(_ops["where"](above, input, low), input, inplace)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _in_place(_ops["silu"](input), input, inplace)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _in_place(_ops["mish"](input), input, inplace)


def softsign(input):
    """x / (1 + |x|)."""
    return _ops["div"](input, _ops["add"](_ops["abs"](input), 1))


def logsigmoid(input):
    """log(sigmoid(x))."""
    return _ops["neg"](_softplus(_ops["neg"](input)))


def _softplus(x):
    """log(1 + exp(x)), exact to the digits of f64: of x above 40 it is x."""
    return _ops["softplus"](x, 1, 40)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) over their sum along dim."""
    return _ops["softmax"](input, _dim(input, dim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax."""
    return _ops["log_softmax"](input, _dim(input, dim), dtype=dtype)


def _dim(x, dim):
    """The dimension that softmax takes where none is said, as in PyTorch."""
    return dim if dim is not None else 0 if x.ndim in (0, 1, 3) else 1


def dropout(input, p=0.5, training=True, inplace=False):
    """Elements are dropped with probability p."""
    return _ops["dropout"](input, p, training=training, inplace=inplace)


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """x by its norm along dim, which is no less than eps."""
    if p in (1, 2, math.inf):
        return _ops["normalize"](input, axis=dim, ord=p, eps=eps)
    size = _ops["clamp"](_ops["norm"](input, p, dim, True), eps)
    return _ops["div"](input, size)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Products along dim by both norms, which are no less than eps."""
    a = _ops["maximum"](_ops["norm"](x1, 2, dim, True), eps)
    b = _ops["maximum"](_ops["norm"](x2, 2, dim, True), eps)
    return _ops["sum"](_ops["mul"](_ops["div"](x1, a), _ops["div"](x2, b)), dim)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """(x - mean) / deviation over the last dimensions, by weight, plus bias."""
    return _ops["layer_norm"](input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x over the root of its mean square over the last dimensions, by weight."""
    return _ops["rms_norm"](input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """layer_norm over groups of channels, which are dimension 1."""
    shape = input.shape
    y = _ops["layer_norm"](_ops["reshape"](input, (shape[0], num_groups, -1)), eps=eps)
    y = _ops["reshape"](y, shape)
    of = (-1,) + (1,) * (len(shape) - 2)
    if weight is not None:
        y = _ops["mul"](y, _ops["reshape"](weight, of))
    return y if bias is None else _ops["add"](y, _ops["reshape"](bias, of))


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """conv2d of images of height 1."""
    if isinstance(padding, str):
        wide = _flat(1, dilation)[1] * (weight.shape[2] - 1) if padding == "same" else 0
        if wide % 2:
            input = _ops["pad"](input, (0, 1))
        padding = wide // 2
    y = _ops["conv2d"](_ops["unsqueeze"](input, axis=-2), _ops["unsqueeze"](weight, axis=-2), bias,
                       _flat(1, stride), _flat(0, padding), _flat(1, dilation), groups)
    return _ops["squeeze"](y, axis=-2)


def _flat(height, n):
    """A number along one dimension, or a tuple with it, as that of height and width."""
    return height, n if isinstance(n, int) else n[0]


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool2d of images of height 1."""
    y = _ops["max_pool2d"](_ops["unsqueeze"](input, axis=-2), _flat(1, kernel_size),
                           None if stride is None else _flat(1, stride), _flat(0, padding), _flat(1, dilation),
                           ceil_mode, return_indices)
    return _ops["squeeze"](y, axis=-2)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """softmax(q @ k.t() * scale + mask) @ v; a mask of bool is true where there is attention."""
    if dropout_p:
        raise TypeError("scaled_dot_product_attention: expected dropout_p=0.0; dropout of its result is here")
    keys = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    return _ops["attention"](query, key, value, *([] if attn_mask is None else [attn_mask]), **keys)


def _unweighted(name, weight):
    if weight is not None:
        raise TypeError(f"{name}: expected no weight: reduction='none' gives the losses, which can be weighted")


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of squared differences."""
    _unweighted("mse_loss", weight)
    return _ops["mse"](input, target, reduction=reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of absolute differences."""
    _unweighted("l1_loss", weight)
    return _reduced(_ops["abs"](_ops["sub"](input, target)), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half of a squared difference, and linear from delta on."""
    _unweighted("huber_loss", weight)
    return _ops["huber"](input, target, reduction=reduction, delta=delta)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """huber_loss by beta, and l1_loss where beta is all but 0."""
    if 0 <= beta < 1e-37:
        return l1_loss(input, target, reduction=reduction)
    if 0 < beta < 1e-6 or beta > 1e6:  # beta times a difference, and its square, may be out of range
        d = _ops["abs"](_ops["sub"](input, target))
        c = _ops["minimum"](d, beta)
        return _reduced(_ops["mul"](_ops["div"](c, beta), _ops["sub"](d, _ops["mul"](c, 0.5))), reduction)
    return _ops["div"](_ops["huber"](input, target, reduction=reduction, delta=beta), beta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The loss of probabilities of two classes."""
    if weight is None:
        return _ops["bce"](input, target, reduction=reduction)
    return _reduced(_ops["mul"](_ops["bce"](input, target, reduction="none"), weight), reduction)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None,
                                     reduction="mean", pos_weight=None):
    """The loss of two classes by logits, exact for large ones."""
    of_one = _ops["mul"](target, _softplus(_ops["neg"](input)))
    if pos_weight is not None:
        of_one = _ops["mul"](of_one, pos_weight)
    losses = _ops["add"](of_one, _ops["mul"](_ops["sub"](1, target), _softplus(input)))
    return _reduced(losses if weight is None else _ops["mul"](losses, weight), reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), which is 0 where the target is."""
    if log_target:
        losses = _ops["mul"](_ops["exp"](target), _ops["sub"](target, input))
    else:
        some = _ops["ne"](target, 0)
        logs = _ops["log"](_ops["where"](some, target, 1))
        losses = _ops["sub"](_ops["mul"](target, logs), _ops["mul"](target, input))
    if reduction == "batchmean":
        return _ops["div"](_ops["sum"](losses), input.shape[0])
    return _reduced(losses, reduction)


def _classes_last(x):
    """Logits with the classes behind, which PyTorch has in dimension 1."""
    rank = x.ndim
    if rank < 3:
        return x
    return _ops["transpose"](x, (0, *range(2, rank), 1))


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None,
                  reduction="mean", label_smoothing=0.0):
    """The loss of logits, whose classes are dimension 1, by classes or by probabilities."""
    x = _classes_last(input)
    if isinstance(target, Tensor) and _kind(target.dtype) == 2:
        target = _classes_last(target)
        if None not in (x._shape, target._shape) and x._shape != target._shape:
            raise Error(f"cross_entropy: expected classes, which are integers, or probabilities in the shape "
                        f"{input.shape}; found {_shown(target)}, which is {_type(target.shape, target.dtype)}")
        if label_smoothing:
            target = _ops["add"](_ops["mul"](target, 1 - label_smoothing), label_smoothing / x.shape[-1])
        losses = _ops["mul"](_ops["log_softmax"](x, -1), target)
        losses = _ops["neg"](_ops["sum"](losses if weight is None else _ops["mul"](losses, weight), -1))
        return _reduced(losses, reduction)
    return _ops["cross_entropy"](x, target, *([] if weight is None else [weight]), reduction=reduction,
                                 ignore_index=ignore_index, label_smoothing=label_smoothing or None)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """The loss of log probabilities, whose classes are dimension 1."""
    x = _classes_last(input)
    counts = _ops["ne"](target, ignore_index)
    safe = _ops["where"](counts, target, 0)
    picked = _ops["squeeze"](_ops["gather"](x, -1, _ops["unsqueeze"](safe, axis=-1)), axis=-1)
    each = counts.to(x) if weight is None else _ops["where"](counts, _ops["take"](weight, safe, axis=0), 0)
    losses = _ops["neg"](_ops["mul"](_ops["where"](counts, picked, 0), each))
    return _reduced(losses, reduction, _ops["sum"](each) if reduction == "mean" else None)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import gt
    return getattr(gt, name)

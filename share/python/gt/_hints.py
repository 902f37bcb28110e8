"""What to write in place of a name that there is not."""
import functools, subprocess, sys

from ._ops import _ops
from ._pipeline import _program
from ._words import _is_name

# Names of PyTorch that are no op, and what to write here.
_INSTEAD = {name: text for names, text in {
    "device cuda is_cuda backends set_num_threads get_num_threads pin_memory":
        "the environment says where lines run: help(gt)",
    "distributed parallel DataParallel DistributedDataParallel":
        "a config spreads a program over workers: help(gt)",
    "Generator seed initial_seed random_":
        "gt.manual_seed(n) begins random numbers, and gt.randn((2, 3), 7) has a seed of its own",
    "amp autocast GradScaler": "nothing is cast unasked: write model.bfloat16(), or x.to(gt.bfloat16)",
    "get_default_dtype set_default_dtype": "it is f32: write dtype= where another is wanted",
    "finfo iinfo": 'write float("-inf"), or the number',
    "short char int8 int16": "integers are i64, i32 and u8",
    "utils": "rows of a file are gt.load(path)[a:b], gt.recompute() is checkpoint, and gt.nn.utils clips gradients",
    "vmap func": "gt.grad gives gradients, and a batch is a dimension",
    "linalg svd qr inverse det cholesky solve": "there are gt.norm and gt.matmul, and no solvers and decompositions",
    "fft": "there are no Fourier transforms",
    "sparse is_sparse to_sparse": "there are no sparse tensors",
    "grad_fn": "x.requires_grad says whether it has a history, and gt.print_tape(x) shows it",
    "register_forward_hook register_forward_pre_hook register_full_backward_hook": "do it in forward()",
    "apply_ map_": "x.tolist() gives the values to Python",
    "mode kthvalue": "x.sort(dim) has the values in order",
    "aminmax": "write x.amin(dim) and x.amax(dim)",
    "signbit": "write x < 0",
    "logical_xor": "of bool, write a ^ b",
    "take_along_dim": "write x.gather(dim, index)",
    "column_stack dstack": "write gt.stack(tensors, dim), or gt.cat",
    "tensor_split": "x.split(sizes, dim) has parts of any sizes",
    "baddbmm addmv addr": "write gt.add(x, a @ b)",
    "broadcast_tensors atleast_1d atleast_2d atleast_3d": "write x.expand(shape), or x.unsqueeze(dim)",
    "logspace": "write 10 ** gt.linspace(a, b, n)",
    "rot90": "write x.transpose(0, 1).flip(0)",
    "diag_embed": "gt.diag makes a matrix of a vector",
    "fill_diagonal_ heaviside threshold hardshrink softshrink celu": "write gt.where(condition, x, y)",
    "tanhshrink": "write x - x.tanh()", "softmin": "write gt.softmax(-x, dim)",
    "Size": "a shape is a tuple", "resize_": "x.reshape(shape) makes another tensor",
    "Function": "functions of your own are written in those that there are, which have gradients",
    "inner vdot": "of two vectors, write gt.dot(a, b)",
    "print": "write x.print_()", "free": "del x frees it",
    "nonzero masked_select unique": "a shape does not depend on values: use where, sort or topk",
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift":
        "integers have no bits here; of bool, write &, | and ~, or gt.and_, gt.or_ and gt.not_",
    "retain_grad": "gt.grad(loss, [x]) gives the gradient of any tensor",
    "register_hook": "gt.grad(loss, [x]) gives a gradient, which can be changed",
    "storage data_ptr stride is_contiguous as_strided set_": "there are no views and no strides",
    "index_put_ index_put index_fill index_copy": "write where, scatter or concat, which make another tensor",
    "complex real imag angle view_as_real": "there are no complex numbers",
    "cummax cummin": "write gt.maximum over slices",
    "jit": "there is nothing to script: what a program writes is a program; gt.record(path) keeps it",
    }.items() for name in names.split()}


@functools.lru_cache(None)
def _meant(name):
    """What to write in place of a name that there is not, for the end of a message."""
    instead = _INSTEAD.get(name) or _INSTEAD.get(name.rstrip("_"))
    if instead is not None:
        return f"; {instead}"
    if name in _ops or name in vars(sys.modules["gt"]):
        return f"; gt.{name} is a function"
    if hasattr(sys.modules["gt"].Tensor, name):
        return f"; a tensor has it: x.{name}"
    if not _is_name(name) or name[0] == "_":
        return ""
    told = subprocess.run([_program("gt-emit"), f"--ops={name}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True).stderr
    return told.strip().partition(f"no op '{name}'")[2] or "; gt-emit --ops lists what there is"

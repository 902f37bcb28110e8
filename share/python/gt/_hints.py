"""What to write in place of a name that there is not."""
import functools, subprocess, sys

from ._ops import _ops
from ._pipeline import _program
from ._words import _is_name

# Names of PyTorch that are no op, and what to write here.
_INSTEAD = {name: text for names, text in {
    "device cuda is_cuda": "the environment says where lines run: help(gt)",
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
    if name in _INSTEAD:
        return f"; {_INSTEAD[name]}"
    if name in _ops or name in vars(sys.modules["gt"]):
        return f"; gt.{name} is a function"
    if hasattr(sys.modules["gt"].Tensor, name):
        return f"; a tensor has it: x.{name}"
    if not _is_name(name) or name[0] == "_":
        return ""
    told = subprocess.run([_program("gt-emit"), f"--ops={name}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True).stderr
    return told.strip().partition(f"no op '{name}'")[2] or "; gt-emit --ops lists what there is"

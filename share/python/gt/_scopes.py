"""Scopes: notes of the lines within, and whether lines have a history."""
import contextlib, functools, inspect, itertools, os, re, sys, threading
import builtins as _py

from ._words import Error

_local = threading.local()
_PACKAGE = os.path.dirname(__file__) + os.sep  # as the names of its sources begin


def _within(scope, f):
    """f, each call of which is in a scope() of its own; of a generator, each of its steps."""
    if not inspect.isgeneratorfunction(f):
        @functools.wraps(f)
        def within(*args, **keys):
            with scope():
                return f(*args, **keys)
        return within

    @functools.wraps(f)
    def steps(*args, **keys):
        made = f(*args, **keys)
        go_on = functools.partial(next, made)
        while True:
            try:
                with scope():
                    value = go_on()
            except StopIteration as end:
                return end.value
            try:
                go_on = functools.partial(made.send, (yield value))
            except GeneratorExit:
                with scope():
                    made.close()
                raise
            except BaseException as error:
                go_on = functools.partial(made.throw, error)
    return steps


class _scope:
    """Lines within have a note; as a decorator, those of each call."""

    def __init__(self, key, value, backward=None):
        self.key, self.value, self.backward, self.before = key, value, backward, []

    def __enter__(self):
        notes = getattr(_local, "notes", ())
        self.before.append(notes)
        _local.notes = notes + ((self.key, self.value, self.backward),) if self.key is not None else ()
        return self

    def __exit__(self, *_):
        _local.notes = self.before.pop()

    def __call__(self, f):
        return _within(lambda: _scope(self.key, self.value, self.backward), f)


def _checked_name(name, what="signal"):
    if not isinstance(name, str) or not name or re.search(r'[\0- \x7f"#\ud800-\udfff]', name):
        raise Error(f"{what}: expected a text of one character or more, without blank, quote or '#'; "
                    f"found {name!r}")
    return name


def signal(name, backward=None):
    """Lines within have the note #signal=NAME, which a config may speak of; with backward=, the lines
    of their gradients have that name in its place."""
    return _scope("signal", _checked_name(name),
                  backward if backward is None else _checked_name(backward, "signal: backward="))


_entered = threading.local()


def _enter(name, backward=None):
    """Begins a signal, which signal.exit() ends."""
    scope = signal(name, backward)
    scope.__enter__()
    if not hasattr(_entered, "scopes"):
        _entered.scopes = []
    _entered.scopes.append(scope)


def _exit(name=None):
    """Ends the signal that was begun last, whose name may be said."""
    scopes = getattr(_entered, "scopes", [])
    if not scopes or name is not None and scopes[-1].value != name:
        raise Error(f"signal.exit: expected the signal that was entered last, "
                    f"{scopes[-1].value if scopes else 'and none was'}; found {name!r}")
    scopes.pop().__exit__()


signal.context, signal.enter, signal.exit = signal, _enter, _exit


def microbatch(number):
    """Lines within are those of this microbatch."""
    if not hasattr(number, "__index__") or int(number) < 0:
        raise Error(f"microbatch: expected a whole number, 0 or more; found {number!r}")
    return _scope("mb", str(int(number)))


def compile(model=None, *, fullgraph=None, dynamic=None, backend=None, mode=None, options=None,
            disable=False):
    """compile(f), or compile(model), calls it with lines that are worth compiling together, as
    torch.compile means it; the values are the same. Without one it is a scope and a decorator. The
    hints of torch.compile change nothing here."""
    scope = functools.partial(_scope, "compile", "") if not disable else contextlib.nullcontext
    if model is None:
        return scope()
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module; found {model!r}")
    if hasattr(model, "_compiled"):
        return model._compiled(scope)
    return _within(scope, model)


_regions = itertools.cycle("01")  # so that a scope is told from the one before it


def recompute():
    """What is made within is computed again in the backward pass, and not kept. With one such
    scope around each layer, the layers' inputs are kept, and what one layer makes."""
    return _scope("recompute", next(_regions))


class _Mode:
    """Whether what is computed has a history; a scope, and a decorator with or without ()."""

    def __init__(self, on):
        self.on, self.before = on, []

    def __enter__(self):
        self.before.append(_has_grad())
        _local.grad = self.on
        return self

    def __exit__(self, *_):
        _local.grad = self.before.pop()

    def __call__(self, f):
        return _within(lambda: _Mode(self.on), f)


def no_grad(f=None):
    """What is computed within has no history."""
    return _Mode(False) if f is None else _Mode(False)(f)


def enable_grad(f=None):
    """What is computed within has a history, also inside no_grad()."""
    return _Mode(True) if f is None else _Mode(True)(f)


def inference_mode(mode=True):
    """no_grad(), if the mode is True."""
    return _Mode(False)(mode) if callable(mode) else _Mode(not mode)


class set_grad_enabled(_Mode):
    """Whether what is computed from now on has a history; as a scope, within it."""

    def __init__(self, mode):
        super().__init__(_py.bool(mode))
        self.first = _has_grad()
        _local.grad = self.on

    def __enter__(self):
        super().__enter__()
        self.before[-1] = self.first
        return self


def is_grad_enabled():
    """Whether what is computed now has a history."""
    return _has_grad()


def _has_grad():
    return getattr(_local, "grad", True)


def _end():
    """What stands behind a line: its notes, and the line of the user's program that wrote it."""
    notes, backward = {}, None
    for key, value, other in getattr(_local, "notes", ()):
        if key == "signal":
            above = notes.get(key)
            if other is not None or backward is not None:
                backward = "/".join(filter(None, [backward or above, other or value]))
            value = f"{above}/{value}" if above else value
        notes[key] = value
    if backward is not None:
        notes["backward"] = backward
    text = "".join(f" #{key}" + f"={value}" * (value != "") for key, value in notes.items() if key)
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is not None:
        text += f" #at={_shown_file(frame.f_code.co_filename)}:{frame.f_lineno}"
    return text + "\n"


@functools.lru_cache(None)
def _shown_file(path):
    """The name of a source as a note can have it."""
    return re.sub(r'[\s\0-\x1f\x7f\ud800-\udfff"#\\]', "_", os.path.basename(path))

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
  gt.linear(x, w)       w is [in, out], as is that of gt.Linear
  gt.embedding(w, ids)  as torch.embedding; torch.nn.functional's has ids first
  gt.cross_entropy      classes are the last dimension; ignore_index= has no default
  gt.randn((2, 3), 7)   a number behind a shape is the seed
  x += y                in place, as x.add_(y); y may not have more dimensions
  x.transpose(0, 1)     asks for the rank where Python does not know it, as of a slice;
                        axes=(1, 0) never asks. x.split(2) and x.flatten(1) ask alike
  x @ v                 does not ask: what Python does not know the rank of, as of a load
                        without a type and of squeeze, is no vector; x.mv(v) and v.dot(v) ask
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
gt.recompute() and gt.no_grad() are scopes, too. gt.print_tape() shows the history that
backward() would walk.

Shapes: the program knows them, Python does not. x.shape and x.dtype print an
empty slice, which is one round trip, and remember it; so does len(x), and with it
a loop over x. So a wrong shape is told when a value is looked at: gt.Failed has the
message, with file and line. An index out of range is an IndexError at once where
the shape is remembered, as that of a creation is.
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
import atexit, collections, contextlib, functools, gc, itertools, json, math, operator, os, re, shutil
import struct, subprocess, sys
import array as _array, builtins as _py, copy as _copy, select as _select, signal as _signal
import tempfile, threading, weakref
try:
    import numpy as _np
except ImportError:
    _np = None

f32, f64, f16, bf16, i64, i32, u8 = "f32 f64 f16 bf16 i64 i32 u8".split()
_DTYPES = [f32, f64, f16, bf16, i64, i32, u8, "bool"]
_RESERVED = {*_DTYPES, "true", "false", "nan", "inf"}  # words of the language, no names
_HISTORY = "#sync tape:"  # with which parts of a history come back
_SILENCE = 1.5        # seconds after which it is asked whether a program was stopped
_TEXT_MOST = 1000     # values that are written as numbers; more go by a file
_SENT_MOST = 1 << 28  # bytes of such files at a time; with more, waits for their loads
_NPY = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "i64": "<i8", "i32": "<i4",
        "u8": "|u1", "bool": "|b1"}
_CODE = {"f32": "f", "f64": "d", "f16": "e", "i64": "q", "i32": "i", "u8": "B",
         "bool": "?"}


class Error(Exception):
    """What goes wrong in gt."""


class Failed(Error):
    """A value could not be computed; the text says why and where."""


class Lost(Error):
    """The program that runs the lines has ended, or cannot be started."""


# ---- the program that runs -----------------------------------------------------

def _program(name):
    told, here = os.environ.get("GT_BIN"), os.path.dirname(os.path.abspath(__file__))
    # From lib/python3/dist-packages and its like, and from the source tree.
    folders = [told] if told else [os.path.normpath(os.path.join(here, bin))
                                   for bin in ("../../../bin", "../../build/bin")]
    path = shutil.which(name, path=os.pathsep.join(folders)) or (not told and shutil.which(name))
    if not path:
        where = f"{told}, which GT_BIN names" if told else f"{', '.join(folders)} or $PATH"
        raise Lost(f"the program {name} is not in {where}: build and install gt's programs, or let "
                   "GT_BIN name the folder where they are")
    return path


class _Courier:
    """Carries files between here and a cluster, by a gt-emit --carry of its own."""

    def __init__(self, where):
        self.lock = threading.Lock()
        self.process = subprocess.Popen(
            [_program("gt-emit"), "--to", *where.split(), "--carry"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline().rstrip("\n")
        if line != "done":
            raise Error("values travel to a cluster as a file: "
                        + (line.removeprefix("failed ") or "gt-emit --carry has ended")
                        + ' (gt-clients(7), "Files")')

    def run(self, verb, *paths):
        with self.lock:
            try:
                self.process.stdin.write(" ".join([verb, *map(_quote, paths)]) + "\n")
                self.process.stdin.flush()
            except BrokenPipeError:
                pass  # which answer() tells
            self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class _Register:
    """A name in the program, which its tensor holds. It changes where another tensor
    takes the name; .given is the one that it had first, or that its
    module has for it."""

    __slots__ = "name", "given", "reused", "made", "bound", "moved", "file"

    def __init__(self, name, reused=False):
        self.name = self.given = name
        self.reused = reused  # other tensors had the name before
        # After so many lines the tensor was made, was last changed in place, and took this
        # name instead of another.
        self.made = self.bound = self.moved = 0
        self.file = None  # in which its values travel: (path, name in the lines)


class _Session:
    def __init__(self, where):
        self.pid, self.where = os.getpid(), where
        self.lock = threading.RLock()
        self.come = threading.Condition(threading.Lock())
        self.expected = collections.deque()  # calls, each with a line of results
        self.out, self.size, self.log, self.folder = [], 0, None, None
        self.dead, self.used, self.files = collections.deque(), {}, 0  # registers
        self.free, self.next = [], 0
        self.recent, self.count = collections.deque(maxlen=20000), 0
        self.lost = self.closed = False
        self.failure = None  # as of a print that nobody reads
        self.wake, self.back = threading.Event(), None
        self.courier = None
        self.sent, self.sent_bytes = {}, 0  # registers with a file, and its size
        self.left = []                      # files to be removed
        config = os.environ.get("GT_CONFIG")
        commands = [[_program("gt-emit")]]
        if config and where != "-":
            commands.append([_program("gt-shard"), "-c", config])
        if not where:
            workers = os.environ.get("GT_WORKERS") or "1"
            commands.append([_program("gt-route"), "-n", workers])
        elif where != "-":
            join = [_program("gt-emit"), "--to", *where.split()]
            commands = commands + [join] if config else [join]
        self.processes, last = [], subprocess.PIPE
        for i, command in enumerate(commands):
            shown = where == "-" and i + 1 == len(commands)
            process = subprocess.Popen(
                command, stdin=last, stdout=None if shown else subprocess.PIPE,
                start_new_session=not shown)  # an interrupt is for Python alone
            if self.processes:
                last.close()
            self.processes.append(process)
            last = process.stdout
        self.lines = self.processes[0].stdin
        os.set_blocking(self.lines.fileno(), False)
        self.was_stopped, self.stood_still = False, None  # the words of say_lost()
        self.results = last if where != "-" else None
        if self.results is not None:
            self._read_from(self.results)
        threading.Thread(target=self._flush_idle, daemon=True).start()

    def _read_from(self, results):
        self.back = threading.Thread(target=self._read, args=(results,), daemon=True)
        self.back.start()

    def _read(self, results):
        history = ""  # the parts that stand before the end of an answer
        for line in results:
            line = line.decode().rstrip("\n")
            if line.startswith(_HISTORY):
                history += line[len(_HISTORY):]
                continue
            if line.startswith("#") and not line.startswith("#sync"):
                continue
            if not self.expected:
                continue
            line, history = history + line, ""
            try:
                self.expected[0](line)  # which may take long: others write meanwhile
            except Exception as error:  # which the next that waits is told
                self.failure = self.failure or error
            with self.come:
                self.expected.popleft()
                self.come.notify_all()
        with self.come:
            self.lost = True
            self.come.notify_all()

    def _flush_idle(self):
        while not self.closed:
            self.wake.wait()
            self.wake.clear()
            threading.Event().wait(0.002)
            with self.lock:
                try:
                    self.flush()
                except Lost:
                    pass  # the next line that is written says so

    def check(self):
        if os.getpid() != self.pid:
            raise Lost("this process was forked from the one whose session this is, "
                       "which alone may use it: import gt in the child, or spawn it")
        if self.closed:
            raise Lost("the session is closed")

    def end_stopped(self):
        """To be called each _SILENCE in which nothing moves. If a program was stopped, as by
        SIGSTOP, and was so at the call before, all are ended, as a shell ends a stopped job."""
        words = []
        for process in self.processes:
            with contextlib.suppress(ChildProcessError):
                found = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
                if found is not None:
                    words.append(f"{os.path.basename(process.args[0])} was stopped by "
                                 f"signal {found.si_status}")
        if words and self.was_stopped:
            self.stood_still = "; ".join(words)
            for process in self.processes:
                process.terminate()
                process.send_signal(_signal.SIGCONT)
        self.was_stopped = _py.bool(words)

    def say_lost(self):
        if self.stood_still is not None:
            raise Lost("the program that runs the lines is gone: " + self.stood_still)
        words = []
        for process in self.processes:
            try:
                status = process.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
            if status:
                name = os.path.basename(process.args[0])
                words.append(f"{name} was ended by signal {-status}" if status < 0
                             else f"{name} ended with status {status}")
        raise Lost("the program that runs the lines is gone: "
                   + ("; ".join(words) or "it ended early"))

    # Names: the smallest free number first. A dropped tensor's name is free at
    # the next line, which frees it first unless it binds it again.
    def pooled(self):
        if self.free:
            return _Register(f"t{self.free.pop(0)}", True)
        self.next += 1
        return _Register(f"t{self.next - 1}")

    def write(self, make, results=0, names=(), expect=None):
        """Writes make(names of the results), after a `free` of what was dropped, and
        gives the registers of the results."""
        self.check()
        chosen = [n for n in names if n is not None and not isinstance(n, Tensor)]
        for name in chosen:
            if not _is_name(name) or name[0] == "_" or re.fullmatch(r"t\d+", name):
                raise Error("expected the name of a tensor, which has letters, digits, '_', '.' and "
                            f"'/', begins with a letter and is not t0, t1 and so on; found {name!r}")
            if chosen.count(name) > 1:
                raise Error(f"expected a name of its own for each result; found {name!r} twice")
        with self.lock:
            self.check()
            dropped = set()
            while self.dead:
                self.leave(self.dead[0])
                name = self.dead.popleft().name
                dropped.add(name)
                self.used.pop(name, None)
                if re.fullmatch(r"t\d+", name):
                    self.free.append(int(name[1:]))
            self.free.sort()
            taken, moved, bound = [], "", set()
            for i in range(results):
                name = names[i] if i < len(names) else None
                if isinstance(name, Tensor):  # bound again
                    taken.append(name._register)
                    continue
                if name in self.used:  # whose tensor goes on without a name
                    older = self.used[name]
                    new = self.pooled()
                    older.name, older.reused = new.name, new.reused
                    older.moved = self.count + 1
                    bound.add(older.name)
                    with _scope(None, None):
                        moved += f"{older.name} = copy {name}{_end()}"
                taken.append(_Register(name, name in self.used) if name else self.pooled())
                if name is not None:
                    self.used[name] = taken[-1]
            now = [register.name for register in taken]
            rest = sorted(dropped - bound - set(now),
                          key=lambda n: (len(n), n) if re.fullmatch(r"t\d+", n) else (99, n))
            text = "free " + " ".join(rest) + "\n" if rest else ""
            text += moved + make(*now)
            left, self.left = self.left, []
            if left:
                text = "#sync python\n" + text
            with self.come:
                if left:
                    self.expected.append(lambda line: [self.remove(*file) for file in left])
                if expect is not None:
                    self.expected.append(expect)
            self.send(text)
            changed = [name._register for name in names if isinstance(name, Tensor)]
            for register in taken:
                register.bound = self.count
                if register in changed:
                    self.leave(register)
                else:
                    register.made = self.count
            return taken

    def send(self, text):
        if self.log is not None:
            self.log.write(text)
            self.log.flush()
        self.recent.append((self.count, text))
        self.count += text.count("\n")
        if not self.out:
            self.wake.set()
        self.out.append(text)
        self.size += len(text)
        if self.size > 32768:
            self.flush()

    def placed(self, message):
        """The message with the Python line in place of <stdin>:N."""
        def place(match):
            number = int(match[1]) - 1
            for first, text in reversed(self.recent):
                if first <= number < first + text.count("\n"):
                    at = re.search(r" #at=(\S+)", text.split("\n")[number - first])
                    return at[1] if at else match[0]
            return match[0]
        return re.sub(r"<stdin>:(\d+)", place, message)

    def flush(self):
        if not self.out or self.closed:
            return
        text, self.out, self.size = "".join(self.out), [], 0
        try:
            rest = memoryview(text.encode("utf-8", "surrogateescape"))
            while rest:
                try:
                    rest = rest[os.write(self.lines.fileno(), rest):]
                except BlockingIOError:
                    self.wait_for_room()
        except (BrokenPipeError, ValueError):
            self.say_lost()

    def wait_for_room(self):
        waits = _select.poll()
        waits.register(self.lines, _select.POLLOUT)
        if not waits.poll(1000 * _SILENCE):
            self.end_stopped()

    def can_answer(self, must=False):
        if self.back is None and os.environ.get("GT_BACK"):
            self._read_from(open(os.environ["GT_BACK"], "rb"))
        if self.back is None and must:
            raise Error("the stream goes to standard output, and no result comes back: "
                        "let GT_BACK name the FIFO that the last program writes")
        return self.back is not None

    def ask(self, make):
        """Writes the lines that make() gives, and waits for one line of results."""
        self.check()
        got = []
        if self.back is None:  # of a FIFO the other end opens with the first line
            with self.lock:
                self.flush()
        self.can_answer(True)
        self.write(make, expect=got.append)
        with self.lock:
            self.flush()
        with self.come:
            while not got and not self.lost:
                if not self.come.wait(_SILENCE):
                    self.end_stopped()
            failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        return got[0] if got else self.say_lost()

    def place(self):
        """Where values travel beside the text: a file here, and its path in the lines."""
        with self.lock:
            if self.folder is None:
                parent = os.environ.get("TMPDIR") or (
                    "/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
                self.folder = tempfile.mkdtemp(prefix="gt-python.", dir=parent)
            self.files += 1
            path = os.path.join(self.folder, f"{self.files}.npy")
            if self.where in ("", "-"):
                return path, path
            if self.courier is None:
                self.courier = _Courier(self.where)
            name = f"{os.path.basename(self.folder)}.{self.files}.npy"
            self.courier.run("claim", name)
            return path, name

    def travels(self, register, file, size):
        """The register's values travel in this file, of which its load says #once."""
        with self.lock:
            register.file = file
            size = max(size, 1 << 16)  # so that there are no more than thousands
            self.sent[register] = size
            self.sent_bytes += size
            if self.sent_bytes <= _SENT_MOST:
                return
        self.leave_all()

    def leave_all(self):
        with self.lock:
            for register in list(self.sent):
                self.leave(register)
        self.ask(lambda: "#sync python\n")

    def leave(self, register):
        """Nothing more reads what was loaded: the file goes once a #sync is answered. Not
        before: gt-shard cuts a load as its value is read, and before a #sync not at all."""
        size = self.sent.pop(register, None)
        if size is not None:
            self.sent_bytes -= size
            self.left.append(register.file)

    def remove(self, path, name):
        with contextlib.suppress(OSError):  # of what failed there is none
            os.remove(path)
        if self.courier is not None:
            with contextlib.suppress(Error):  # it goes when the courier ends, too
                self.courier.run("remove", name)

    def close(self):
        if self.closed or os.getpid() != self.pid:
            return
        if self.where and (self.sent or self.left) and self.back:  # others may go on
            with contextlib.suppress(Error, OSError):
                self.leave_all()
        with self.lock:
            try:
                self.flush()
                self.lines.close()
            except (Lost, BrokenPipeError):
                pass
            self.closed = True
            self.wake.set()
        if self.results is not None:
            while self.back.is_alive():
                self.back.join(_SILENCE)
                if self.back.is_alive():
                    self.end_stopped()
        elif self.back is not None:
            with self.come:
                while self.expected and not self.lost:
                    self.come.wait(1)
        for process in self.processes:
            process.wait()
        if self.courier is not None:
            self.courier.close()
        if self.folder is not None and self.can_remove():
            shutil.rmtree(self.folder, ignore_errors=True)

    def forget(self):
        """In a forked child: lets go of the pipes, which are the parent's."""
        null = os.open(os.devnull, os.O_RDWR)
        carried = self.courier.process if self.courier is not None else None
        for file in (self.lines, self.results, *([carried.stdin, carried.stdout] if carried else [])):
            if file is not None and not file.closed:
                os.dup2(null, file.fileno())
        os.close(null)

    def can_remove(self):
        return self.where != "-"  # else others may still read


_session = None
_start_lock = threading.Lock()


def _endpoint(where):
    """where, with tcp:// in front of a HOST:PORT."""
    return "tcp://" + where if re.match(r"([\w.-]+|\[[\da-fA-F:]+\]):\d+(\s|$)", where) else where


def _the(where=None):
    global _session
    with _start_lock:
        if _session is not None and where is not None:
            raise Error("connect: expected no open session; call it before the first tensor, "
                        "or after close()")
        if _session is None:
            where = os.environ.get("GT_CONNECT", "") if where is None else where
            _session = _Session(_endpoint(where))
            atexit.register(_session.close)
            os.register_at_fork(after_in_child=_session.forget)
        return _session


def connect(where):
    """Says where the lines run, in place of $GT_CONNECT; before the first tensor."""
    _the(where)


def gpu_workers(count):
    """So many workers, one on each GPU, as GT_WORKERS and GT_BACKEND=cuda say; before the first
    tensor."""
    _start_with("gpu_workers", count, GT_BACKEND="cuda")


def cpu_workers(count):
    """So many workers, as GT_WORKERS says; before the first tensor."""
    _start_with("cpu_workers", count)


def _start_with(caller, count, **variables):
    if not _is_whole(count) or count < 1:
        raise Error(f"{caller}: expected how many workers, 1 or more; found {count!r}")
    variables = {"GT_WORKERS": str(count), **variables}
    if _session is not None:
        raise Error(f"{caller}: expected no open session; call it before the first tensor, or after "
                    f"close(), or run the program with {' '.join(map('='.join, variables.items()))}")
    os.environ.update(variables)


def sync():
    """Waits until everything written so far has run, and is saved."""
    _the().ask(lambda: "#sync python\n")


def close():
    """Ends the program and waits for it; the next line starts another."""
    global _session
    if _session is not None:
        _session.close()
        _session = None


def log(path):
    """Also writes the program to this file from now on; None ends that."""
    _the().log = open(path, "w", encoding="utf-8", errors="surrogateescape") if path else None


def tape(x):
    """The history of x, which x.backward() walks, as the lines of a program with their types."""
    answer = _the().ask(lambda: f"#tape {x.name}\n#sync python\n")
    return re.sub("%(..)", lambda m: chr(int(m[1], 16)), answer.removesuffix("#sync python"))


def print_tape(x=None):
    """Prints tape(x); without x, that of the tensor that was computed last and has a history."""
    if x is None:
        computed = [t for t in gc.get_objects() if type(t) is Tensor and t._reach and not t._leaf]
        if not computed:
            raise Error("print_tape: no tensor has a history: nothing requires a gradient, or backward() "
                        "took it; call it before that, or with a tensor, as print_tape(loss)")
        x = _py.max(computed, key=lambda t: t._register.bound)
    print(tape(x), end="")


# ---- scopes ----------------------------------------------------------------------

_local = threading.local()


class _scope:
    def __init__(self, key, value):
        self.key, self.value = key, value

    def __enter__(self):
        notes = getattr(_local, "notes", ())
        self.before = notes
        _local.notes = notes + ((self.key, self.value),) if self.key is not None else ()
        return self

    def __exit__(self, *_):
        _local.notes = self.before


def signal(name):
    """Lines within have the note #signal=NAME, which a config may speak of."""
    if not isinstance(name, str) or not name or re.search(r'[\0- \x7f"#\ud800-\udfff]', name):
        raise Error("signal: expected a text of one character or more, without blank, quote or '#'; "
                    f"found {name!r}")
    return _scope("signal", name)


def _carry(x, name):
    """A copy of x among the lines of that signal, so that a config may say where it is."""
    with signal(name):
        return _ops["copy"](x)


signal.context, signal.tensor = signal, _carry


def microbatch(number):
    """Lines within are those of this microbatch."""
    if not hasattr(number, "__index__") or int(number) < 0:
        raise Error(f"microbatch: expected a whole number, 0 or more; found {number!r}")
    return _scope("mb", str(int(number)))


def compile():
    """Lines within are worth compiling together."""
    return _scope("compile", "")


_regions = itertools.cycle("01")  # so that a scope is told from the one before it


def recompute():
    """What is made within is computed again in the backward pass, and not kept. With one such
    scope around each layer, the layers' inputs are kept, and what one layer makes."""
    return _scope("recompute", next(_regions))


def no_grad():
    """What is computed within has no history."""
    return _scope("", "no_grad")


def _has_grad():
    return _py.all(key for key, _ in getattr(_local, "notes", ()))


def _end():
    notes = {}
    for key, value in getattr(_local, "notes", ()):
        notes[key] = notes["signal"] + "/" + value if key == "signal" in notes else value
    text = "".join(f" #{key}" + f"={value}" * (value != "") for key, value in notes.items() if key)
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if frame is not None:
        file = re.sub(r'[\s\0-\x1f\x7f\ud800-\udfff"#\\]', "_",
                      os.path.basename(frame.f_code.co_filename))
        text += f" #at={file}:{frame.f_lineno}"
    return text + "\n"


# ---- words -----------------------------------------------------------------------

def _is_name(text):
    return isinstance(text, str) and text not in _RESERVED and \
        re.fullmatch(r"[A-Za-z_][\w./]*", text, re.A) is not None


def _word(op, text, kind):
    """A caller's text as an operand: a type or range, or a string where one stands. Where a
    tensor or a number stands there is none, as it would be taken for the name of a register."""
    if kind in ("path", "string"):
        return _quote(text)
    if kind == "dtype":
        return _dtype(text)
    if kind not in _WORDS:
        raise TypeError(f"{op}: expected a tensor or a number; found {text!r}")
    words, form = _WORDS[kind]
    if not re.fullmatch(form, text, re.A):
        raise Error(f"{op}: expected {words}; found {text!r}")
    return text


_WORDS = {"type": ("a type, as f32[2,3]", r"\w+\[[\d,]*\]"),
          "any": ("a tensor, a number or a range, as 1:3", r"[+-]?\d+|[+-]?\d*(:[+-]?\d*){1,2}")}


def _quote(text):
    text = str(text)
    if re.search("[\ud800-\udc7f\udd00-\udfff]", text):
        raise Error(f"expected a text that UTF-8 can hold; found {text!r}")
    return '"' + "".join(f"\\x{ord(c):02x}" if c in '"\\#\x7f' or c < " " else c
                         for c in text) + '"'


def _number(value):
    if isinstance(value, (_py.bool, int)):
        return str(int(value))
    value = float(value)
    return repr(value) if math.isfinite(value) else str(value)


def _is_number(value):
    return isinstance(value, (int, float)) or (
        _np is not None and isinstance(value, (_np.number, _np.bool_)))


def _is_data(value):
    """Whether tensor() may take it."""
    return not isinstance(value, (str, bytes)) and (_is_number(value) or isinstance(value, (list, tuple))
                                                    or hasattr(value, "__array__")
                                                    or hasattr(value, "__float__")
                                                    or hasattr(value, "tolist"))


def _is_whole(value):
    """Whether it is an integer: of Python or NumPy, and not True or False."""
    return isinstance(value, int) and not isinstance(value, _py.bool) or (
        _np is not None and isinstance(value, _np.integer))


def _is_flag(value):
    return isinstance(value, _py.bool) or _np is not None and isinstance(value, _np.bool_)


def _is_bool(value):
    """Whether it is True, False, or a tensor that is bool as far as Python can tell."""
    return value._is_mask or (value._known or [""])[0] == "bool" if isinstance(value, Tensor) \
        else _is_flag(value)


def _shown(value):
    """A value for a message, which is not to wait for a tensor."""
    return f"the tensor {value._name}" if isinstance(value, Tensor) else repr(value)


def _key(value):
    if isinstance(value, (tuple, list)):
        return ",".join(str(operator.index(v)) for v in value)
    if isinstance(value, str):
        return value if re.fullmatch(r"[\w.,:+*/-]+", value, re.A) else _quote(value)
    if _np is not None and isinstance(value, _np.integer):
        value = int(value)
    return _number(value)


def _dtype(text):
    if not isinstance(text, str) or text not in _DTYPES:
        raise Error(f"expected a dtype, one of {' '.join(_DTYPES)}; found {text!r}")
    return text


def _type(shape, dtype="f32"):
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    return f"{_dtype(dtype)}[{','.join(str(int(n)) for n in sizes)}]"


def _parse_type(text):
    dtype, sizes = re.fullmatch(r"(\w+)\[([\d,]*)\]", text).groups()
    return dtype, tuple(int(n) for n in sizes.split(",") if n)


def _parse(line):
    """The dtype, shape and words of a result."""
    words = line.split(None, 4)
    if len(words) > 3 and words[2] == "fail":
        text = line.split(None, 3)[3]
        raise Failed(re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: chr(int(m[1][1:], 16))
                            if m[1][0] == "x" else {"n": "\n", "t": "\t"}.get(m[1], m[1]),
                            text.strip()[1:-1]))
    if len(words) < 4 or words[2] != "tensor":
        raise Lost(f"no result: {line[:80]!r}; somebody else writes among the results")
    return (*_parse_type(words[3]), words[4].split() if len(words) > 4 else [])


def _nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _flat(data):
    """The values of nested lists, and their shape."""
    if not isinstance(data, (list, tuple)):
        if not _is_number(data) and not hasattr(data, "__float__"):
            raise Error(f"tensor: expected a number; found {data!r}")
        return [data if _is_number(data) else float(data)], ()
    parts = [_flat(part) for part in data]
    if len({shape for _, shape in parts}) > 1:
        raise Error("tensor: rows of different lengths")
    return [v for part, _ in parts for v in part], (len(parts),) + (parts[0][1] if parts else ())


# ---- tensors -----------------------------------------------------------------------

_leaves = weakref.WeakValueDictionary()  # by number: what requires a gradient
_leaf_count = 0
_none = frozenset()


class _Methods:
    """Methods of a tensor that PyTorch has, made of few ops."""

    functions = ("permute t flatten ravel chunk std masked_fill square reciprocal isnan index_select "
                 "narrow dot mv outer zeros_like ones_like full_like rand_like randn_like").split()

    def permute(self, *dims, **keys):
        """The dimensions in another order."""
        return _ops["transpose"](self, axes=_unpacked(dims), **keys)

    def t(self):
        """A matrix transposed."""
        return _ops["transpose"](self)

    def flatten(self, start_dim=0, end_dim=-1):
        """The dimensions from start_dim to end_dim as one, for which the shape is asked where
        Python does not know it and they are not all."""
        if (start_dim, end_dim) == (0, -1):
            return _ops["reshape"](self, -1)
        shape = self.shape or (1,)
        start, end = (operator.index(d) % len(shape) for d in (start_dim, end_dim))
        return _ops["reshape"](self, (*shape[:start], math.prod(shape[start:end + 1]), *shape[end + 1:]))

    def ravel(self):
        """The elements as one dimension."""
        return _ops["reshape"](self, -1)

    def chunk(self, chunks, dim=0):
        """As many equal parts along dim; other parts fail, as split takes their sizes."""
        return _ops["split"](self, parts=operator.index(chunks), axis=dim)

    def std(self, *args, name=None, **keys):
        """The root of var, whose arguments it takes."""
        return _ops["sqrt"](_ops["var"](self, *args, **keys), name=name)

    def masked_fill(self, mask, value, **keys):
        """value where mask is true, else x."""
        return _ops["where"](mask, value, self, **keys)

    def masked_fill_(self, mask, value):
        """masked_fill in place."""
        return self.masked_fill(mask, value, into=self)

    def square(self):
        """x times x, of bool as integers."""
        return _ops["mul"](*[self.to("i64") if _is_bool(self) else self] * 2)

    def reciprocal(self):
        """1 over x."""
        return _ops["div"](1, self)

    def isnan(self):
        """Whether x is nan."""
        return _ops["ne"](self, self)

    def index_select(self, dim, index):
        """Slices along dim that an index names."""
        return _ops["take"](self, index, axis=dim)

    def narrow(self, dim, start, length):
        """length slices along dim from start."""
        return _ops["slice"](self, start, axis=dim, size=length)

    def dot(self, other, **keys):
        """The sum of the products of two vectors, for which the rank is asked where Python does
        not know it; so do mv and outer."""
        return _ops["matmul"](*_of_ranks("dot", (1, 1), self, other), **keys)

    def mv(self, vec, **keys):
        """A matrix by a vector."""
        return _ops["matmul"](*_of_ranks("mv", (2, 1), self, vec), **keys)

    def outer(self, vec2, **keys):
        """Each element of a vector by each of another."""
        a, b = _of_ranks("outer", (1, 1), self, vec2)
        return _ops["mul"](_ops["unsqueeze"](a, axis=1), b, **keys)

    def to(self, dtype):
        """x in another dtype, or in that of another tensor."""
        dtype = dtype.dtype if isinstance(dtype, Tensor) else dtype
        if dtype not in _DTYPES:
            raise TypeError(f"to: expected a dtype or a tensor; found {dtype!r}; the environment says "
                            "where lines run: help(gt)")
        return _ops["cast"](self, dtype) if self._known is None or self._known[0] != dtype else self

    def type_as(self, other):
        """x in the dtype of another tensor."""
        return self.to(other)

    def cpu(self):
        """x itself, as numpy() reads a value from wherever it is."""
        return self

    def contiguous(self):
        """x itself, as there are no strides."""
        return self

    def dim(self):
        """How many dimensions it has."""
        return self.ndim

    def expand_as(self, other):
        """x in the shape of another tensor, along dimensions of size 1."""
        return _ops["expand"](self, other.shape)

    def view_as(self, other):
        """x in the shape of another tensor."""
        return _ops["reshape"](self, other.shape)

    reshape_as = view_as

    def copy_(self, source):
        """Takes the values of another tensor or a number, in its own shape and dtype."""
        dtype, shape = self._find_type()
        if not isinstance(source, Tensor):
            source = tensor(source, dtype)
        if source._known is not None and not _expands(source._known[1], shape):
            raise Error(f"copy_: {_type(source._known[1])} does not expand to {_type(shape)}")
        if source._known is None or source._known[1] != shape:
            source = _ops["expand"](source, shape)
        if source._known is None or source._known[0] != dtype:
            source = _ops["cast"](source, dtype)
        _ops["copy"](source, into=self)
        self._known = dtype, shape
        return self

    def fill_(self, value):
        """Has one value throughout."""
        return self.copy_(value)

    def zero_(self):
        """Has zeros throughout."""
        return self.copy_(0)

    def zeros_like(self, **keys):
        """Zeros in the shape and dtype of x; so are ones_like and the others."""
        return _like("zeros", self, **keys)

    def ones_like(self, **keys):
        """Ones in the shape and dtype of x."""
        return _like("ones", self, **keys)

    def full_like(self, fill_value, **keys):
        """One value in the shape and dtype of x."""
        return _like("full", self, fill_value, **keys)

    def rand_like(self, **keys):
        """Uniform random numbers in the shape and dtype of x."""
        return _like("rand", self, **keys)

    def randn_like(self, **keys):
        """Normal random numbers in the shape and dtype of x."""
        return _like("randn", self, **keys)


def _like(op, x, *args, dtype=None, **keys):
    return _ops[op](x.shape, *args, dtype=dtype or x.dtype, **keys)


def _of_ranks(op, ranks, *operands):
    """The operands, which have these ranks."""
    operands = [x if isinstance(x, Tensor) else tensor(x) for x in operands]
    for x, rank in zip(operands, ranks):
        if x.ndim != rank:
            raise TypeError(f"{op}: expected {rank} dimension{'s' * (rank > 1)}; found {_shown(x)}, "
                            f"which has {x.ndim}; gt.matmul takes vectors and matrices")
    return operands


def _expands(shape, wanted):
    return len(shape) <= len(wanted) and _py.all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(wanted)))


def _unpacked(sizes):
    """Sizes that stand one by one or in a tuple."""
    return sizes if len(sizes) != 1 or _is_whole(sizes[0]) else tuple(sizes[0])


class Tensor(_Methods):
    """A register of the program. Letting go of it frees it."""

    __array_priority__ = 1000  # NumPy leaves operators to this class
    __array_ufunc__ = None

    def __init__(self, register, type=None, session=None, reach=_none):
        if not (register is None or isinstance(register, _Register)):
            raise TypeError("Tensor: write gt.tensor(data), which makes one")
        self._register, self._known, self._session = register, type, session
        self._reach, self._leaf, self.grad = reach, None, None
        self._rank, self._is_mask = None, False  # as far as Python can tell
        self._whole = None                       # whose data it is

    def __del__(self):
        session = getattr(self, "_session", None)
        if session is not None:
            session.dead.append(self._register)

    _name = property(lambda self: self._register and self._register.name)

    @property
    def name(self):
        """Its name in the program."""
        return self._name

    def rename(self, name):
        """Gives it this name, by a copy."""
        with self._session.lock:
            if name != self.name:
                old = self._register
                [new] = self._session.write(
                    lambda n: f"{n} = copy {old.name}{_end()}", 1, [name])
                new.moved, new.made, new.bound = new.made, old.made, old.bound
                self._register = new
                self._session.dead.append(old)
        return self

    def _read(self):
        line = self._session.ask(lambda: f"print {self._name}{_end()}")
        try:
            return _parse(line)
        except Failed as failed:
            message = self._session.placed(str(failed))
        raise Failed(message)

    def _find_type(self):
        if self._known is None:
            with _scope(None, None):  # no config is to cut this
                empty = _ops["unsqueeze"](self.detach(), axis=0)[0:0]
                dtype, shape, _ = empty._read()
            self._known = dtype, shape[1:]
        return self._known

    def _find_rank(self):
        """How many dimensions it has, or None where only the program knows."""
        return self._rank if self._known is None else len(self._known[1])

    def _has_masks_type(self):
        """Whether it is bool. Asks, where nothing says so and there is somebody to ask."""
        return self._is_mask or (self._known is not None or self._session.can_answer()) and \
            self.dtype == "bool"

    dtype = property(lambda self: self._find_type()[0])
    shape = property(lambda self: self._find_type()[1])
    ndim = property(lambda self: len(self.shape) if self._find_rank() is None else self._find_rank())
    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.transpose(-2, -1))

    @property
    def data(self):
        """Its values without their history. What changes them in place changes x, too, as it
        would under no_grad()."""
        values = self.detach()
        values._known, values._rank, values._is_mask = self._known, self._rank, self._is_mask
        values._whole = self
        return values

    @data.setter
    def data(self, values):
        if getattr(values, "_whole", None) is not self:  # which has changed in place
            with no_grad():
                self.copy_(values)

    requires_grad = property(lambda self: self._leaf is not None or _py.bool(self._reach),
                             lambda self, on: self.requires_grad_(on))

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def numel(self):
        return math.prod(self.shape)

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self._name} is a scalar, which has no length and no rows")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _values(self):
        """(dtype, shape, values): a NumPy array where NumPy is, else a flat list."""
        session = self._session
        session.check()
        by_file = self.numel() > _TEXT_MOST
        if by_file and self.dtype == "bf16":
            return "bf16", self.shape, self.cast("f32")._values()[2]
        if by_file:
            path, name = session.place()
            try:
                session.ask(lambda: f"save {self._name} {_quote(name)}{_end()}#sync python\n")
                if name != path:
                    with contextlib.suppress(Error):  # of what failed there is no file
                        session.courier.run("fetch", name, path)
                if os.path.exists(path):
                    return (*self._known, _load_npy(path, *self._known))
            finally:
                session.remove(path, name)
        dtype, shape, words = self._read()  # of what failed, it says why
        self._known = dtype, shape
        if _np is not None:
            kind = _NPY.get(dtype, "<f4")
            array = _np.array(words, "<i8" if kind[1] in "iub" else "<f8")
            return dtype, shape, array.astype(kind).reshape(shape)
        read = {"f": float, "b": float if dtype == "bf16" else lambda w: w == "1"}
        return dtype, shape, [read.get(dtype[0], int)(w) for w in words]

    def numpy(self):
        """Its values as a NumPy array; waits for them."""
        if _np is None:
            raise Error("numpy: NumPy is not installed; use tolist()")
        return self._values()[2]

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def tolist(self):
        """Its values as nested lists."""
        _, shape, values = self._values()
        return values.tolist() if _np is not None else _nested(values, shape)

    def item(self):
        """The one value that it has, as a Python number."""
        dtype, shape, words = self._read()
        self._known = dtype, shape
        if len(words) != 1:
            raise Error(f"item: {self._name} is {_type(shape, dtype)}, not one value")
        return words[0] == "1" if dtype == "bool" else \
            float(words[0]) if "f" in dtype else int(words[0])

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __getattr__(self, name):  # of what there is not
        raise AttributeError(f"a tensor has no {name!r}{_meant(name)}")

    __float__ = lambda self: float(self.item())
    __int__ = lambda self: int(self.item())
    __bool__ = lambda self: _py.bool(self.item())

    def __repr__(self):
        if self.numel() > _TEXT_MOST:
            return f"tensor {self._name} of {_type(self.shape, self.dtype)}"
        if _np is not None:
            return "tensor(" + _np.array2string(self.numpy(), separator=", ", prefix="tensor(") + ")"
        return f"tensor({self.tolist()})"

    def print_(self, as_=None):
        """Has it printed as a line of results when it is there; waits for nothing."""
        session = self._session
        if as_ and not _is_name(as_):
            raise Error(f"print_: expected a name to print under; found {as_!r}")
        as_ = f" as={as_}" if as_ else ""
        shows = session.can_answer()
        session.write(lambda: f"print {self._name}{as_}{_end()}",
                      expect=(lambda line: print(line, flush=True)) if shows else None)

    def save(self, path):
        """Writes it to a .npy file or "FILE.safetensors:NAME"."""
        path = _quote(path)
        self._session.write(lambda: f"save {self._name} {path}{_end()}")

    # Gradients.
    def requires_grad_(self, on=True):
        """Whether backward() gives it a gradient."""
        global _leaf_count
        if on and self._leaf is None:
            if self._known is not None and "f" not in self._known[0]:
                raise Error(f"only tensors of floats can require gradients; {self._name} is "
                            f"{_type(self._known[1], self._known[0])}: write 2.0 in place of 2, or "
                            'dtype="f32"')
            if self._reach:
                raise Error(f"{self._name} is computed from what requires a gradient: detach it")
            _leaf_count += 1
            self._leaf, self._reach = _leaf_count, frozenset([_leaf_count])
            _leaves[self._leaf] = self
        elif not on and self._leaf is not None:
            del _leaves[self._leaf]
            self._leaf, self._reach = None, _none
        return self

    def _targets(self):
        return [_leaves[n] for n in sorted(self._reach) if n in _leaves]

    def _is_loss(self, caller):
        """Whether the program will take it as one, as far as Python can tell: a scalar, or one
        element in a shape, whose sum is meant. Raises where it will not."""
        if self._known is None or math.prod(self._known[1]) == 1:
            return self._known is None or not self._known[1]
        raise Error(f"{caller}: expected one element, as a loss has; found {self.name}, which is "
                    f"{_type(self._known[1], self._known[0])}: take its sum() or mean(), or write "
                    "x.backward(gradient), where the gradient has its shape")

    def backward(self, gradient=None, retain_graph=False):
        """Adds to the .grad of each tensor that requires one and went into this: a scalar,
        or a tensor that is multiplied by its gradient first."""
        if gradient is not None:
            if not isinstance(gradient, Tensor):
                raise TypeError(f"backward: expected a tensor as gradient; found {gradient!r}; "
                                "retain_graph= is a keyword")
            return (self * gradient).sum().backward(retain_graph=retain_graph)
        self._is_loss("backward")
        targets = self._targets()
        if not targets:
            raise Error(f"backward: nothing that requires a gradient went into {self._name}, "
                        "or an earlier backward took its history")
        for target, new in zip(targets, grad(self, targets, retain_graph=retain_graph)):
            if target.grad is None:
                target.grad = new
            else:
                _call("add", [target.grad, new], into=[target.grad], type=new._known)

    # Operators.
    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        index = [tensor(i, None if len(i) else "i64") if isinstance(i, (list, tuple)) else
                 tensor(i) if hasattr(i, "__array__") and not isinstance(i, Tensor) else i for i in index]
        if Ellipsis in [i for i in index if not isinstance(i, Tensor)]:
            at = [i is Ellipsis for i in index].index(True)
            missing = self.ndim - _py.sum(i is not None for i in index) + 1
            index = index[:at] + [slice(None)] * missing + index[at + 1:]
        known = self._known
        if known is not None and _py.sum(i is not None for i in index) > len(known[1]):
            raise IndexError(f"more indices than axes of {self._name}, which is "
                             f"{_type(known[1], known[0])}")
        if _py.any(isinstance(i, Tensor) for i in index):
            return self._picked(index)
        words, new, out = [], [], 0
        for i in index:
            if i is None:
                new.append(out)
            elif isinstance(i, slice):
                colon = [i.start, i.stop] + ([i.step] if i.step is not None else [])
                words.append(":".join("" if n is None else str(operator.index(n)) for n in colon))
            else:
                words.append(self._one(i, len(words)))
                out -= 1
            out += 1
        rest = (known[0], known[1][len(words):]) if known and out == 0 else None
        y, rank = _call("slice", [self, *words], type=rest)[0] if words else self, self._find_rank()
        y._is_mask = self._is_mask
        y._rank = rank and rank - _py.sum(i is not None and not isinstance(i, slice) for i in index)
        for axis in new:
            y = _ops["unsqueeze"](y, axis=axis)
        return y

    def _one(self, i, axis):
        """The word of an index that is one number."""
        if not hasattr(i, "__index__") or _is_flag(i):
            raise IndexError(f"expected a number, a range, a tensor or None as an index; found {i!r}")
        i, known = operator.index(i), self._known
        size = known and known[1][axis]
        if known is not None and not -size <= i < size:
            raise IndexError(f"index {i} is out of range of {self._name}, which is "
                             f"{_type(known[1], known[0])}")
        return str(i)

    def _picked(self, index):
        """The rows that one tensor among whole ranges names."""
        [axis, *more] = [a for a, i in enumerate(index) if isinstance(i, Tensor)]
        if _is_bool(index[axis]):
            raise IndexError("there are no boolean masks, as a shape does not depend on values: "
                             "write gt.where(mask, x, 0), or mask.cast(x.dtype) * x")
        if more or _py.any(i != slice(None) for a, i in enumerate(index) if a != axis):
            raise IndexError("expected one tensor or list among whole ranges, as in x[:, i]: "
                             "use take(index, axis=) once for each axis, or gather")
        return self.take(index[axis], axis=axis)

    def __setitem__(self, index, value):
        raise TypeError("there is no assignment to a part of a tensor: use where, scatter or concat, "
                        "which make another")

    def __hash__(self):
        return id(self)

    def __deepcopy__(self, memo):
        """Its values in a register of its own, and its .grad likewise."""
        if self._reach and not self._leaf:
            raise Error(f"deepcopy: {self._name} is computed from what requires a gradient, and a copy has "
                        "no history: write x.detach(), or x.clone(), which keeps it")
        twin = self.detach()
        twin._known, twin._rank, twin._is_mask = self._known, self._rank, self._is_mask
        twin.grad = _copy.deepcopy(self.grad, memo)
        return twin.requires_grad_(self._leaf is not None)

    def __reduce_ex__(self, _):
        raise TypeError("a tensor is a register of this session, which cannot be pickled or shared by a "
                        "copy.copy: write x.clone() or copy.deepcopy(x), or x.save(path) for its values")


def _call(op, operands, keys=None, count=1, names=(), into=(), type=None):
    """Writes COUNT results = OP OPERANDS KEYS, and gives the results."""
    session, reach = _the(), _none
    for word in operands:
        if isinstance(word, Tensor):
            if word._session not in (None, session):
                raise Lost(f"{word._name} is of a session that is closed")
            if not word._reach <= reach:
                reach = reach | word._reach if reach else word._reach
            if word._name is None:
                word._bind(None)
    keys = [f"{key}={_key(value)}" for key, value in (keys or {}).items()]
    end = _end()
    cut = _py.bool(reach) and not _has_grad()
    results = [into[i] if i < len(into) else None for i in range(count)]
    if cut or op in ("grad", "detach", "sgd", "adamw"):
        reach = _none

    def line(*made):
        words = [w._name if isinstance(w, Tensor) else w if isinstance(w, str) else _number(w)
                 for w in operands]
        text = f"{' '.join(made)} = {' '.join([op, *words, *keys])}{end}"
        return text + "".join(f"{n} = detach {n}{end}" for n in made) if cut else text
    for tensor in results:
        if tensor is not None and tensor._name is None:
            tensor._bind(None)
        if tensor is not None and tensor._leaf and reach:
            raise Error(f"{tensor._name} requires a gradient: change it under gt.no_grad()")
    made = session.write(line, count, [r if r is not None else names[i] if i < len(names) else None
                                       for i, r in enumerate(results)])
    for i, register in enumerate(made):
        if results[i] is None:
            results[i] = Tensor(register, type, session, reach)
        else:
            if op not in ("sgd", "adamw"):
                results[i]._known, results[i]._rank, results[i]._is_mask = type, None, False
            results[i]._reach = results[i]._reach if results[i]._leaf else reach
            whole = results[i]._whole
            if whole is not None:
                rank = whole._find_rank()
                with no_grad():
                    _call("copy", [results[i]], into=[whole], type=results[i]._known)
                whole._rank = rank
    return results


def grad(loss, targets, *, retain_graph=False):
    """The gradients of a scalar by each of the targets."""
    targets = [targets] if isinstance(targets, Tensor) else list(targets)
    for x in (loss, *targets):
        if not isinstance(x, Tensor):
            raise TypeError(f"grad: expected tensors, a scalar and what it depends on; found {x!r}")
    since, whole = loss._register.made if loss._register else 0, loss
    if not loss._is_loss("grad"):
        loss = loss.sum()
    registers = [target._register for target in targets]
    for register in registers:
        if register and register.moved > since:
            raise Error(f"grad: {register.name} was given that name after the loss was computed, "
                        "which depends on it by its old one: name it before that")
    # Of these, what their names held before is not meant, as gt-emit would think.
    reused = [i for i, register in enumerate(registers) if register and (
        register.made > since or (register.reused and register.bound == register.made))]
    keys = {**({"retain": 1} if retain_graph else {}), **({"reused": reused} if reused else {})}
    out = _call("grad", [loss, *targets], keys, len(targets))
    for target, gradient in zip(targets, out):
        gradient._known = target._known
        gradient._reach = loss._reach if retain_graph else _none
    if not retain_graph and not whole._leaf:
        whole._reach = _none
    return out


# ---- data ---------------------------------------------------------------------------

def tensor(data, dtype=None, name=None, requires_grad=False):
    """A tensor of a number, nested lists or an array. Floats are f32 if not told
    else, integers i64. More than 1,000 values travel in a file beside the text."""
    session = _the()
    if hasattr(data, "__array__") and not isinstance(data, Tensor) and _np is not None:
        data = _np.asarray(data)
        found = {k: d for d, k in _NPY.items()}.get(data.dtype.newbyteorder("<").str)
        if found is None:
            raise Error(f"tensor: an array of {data.dtype}")
        shape, count, values = data.shape, data.size, data
    else:
        values, shape = _flat(data.tolist() if hasattr(data, "tolist") else data)
        count = len(values)
        found = "bool" if values and _py.all(isinstance(v, _py.bool) for v in values) else \
            "i64" if values and _py.all(isinstance(v, int) for v in values) else "f32"
    dtype = _dtype(dtype or found)
    if count <= _TEXT_MOST:
        flat = values.ravel().tolist() if _np is not None and values is data else values
        if dtype[0] in "iu":
            flat = [int(v) for v in flat]
        out = _call("tensor", [_type(shape, dtype), *flat], names=[name], type=(dtype, shape))[0]
    else:
        path, sent = session.place()
        stored = "f32" if dtype == "bf16" else dtype
        _save_npy(path, values, stored, shape)
        if sent != path:
            session.courier.run("send", path, sent)
        with _scope("once", ""):
            out = _call("load", [_quote(sent), _type(shape, stored)], names=[name],
                        type=(stored, shape))[0]
        if session.can_answer():
            session.travels(out._register, (path, sent), os.path.getsize(path))
        if stored != dtype:
            _call("cast", [out, dtype], into=[out], type=(dtype, shape))
            out._register.made = out._register.bound
    return out.requires_grad_() if requires_grad else out


def _save_npy(path, values, dtype, shape):
    if _np is not None:
        return _np.save(path, _np.ascontiguousarray(_np.asarray(values, _NPY[dtype]).reshape(shape)))
    head = f"{{'descr': '{_NPY[dtype]}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head = head.ljust(-(-(len(head) + 11) // 64) * 64 - 11) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(values)}{_CODE[dtype]}", *values))


def _load_npy(path, dtype, shape):
    if _np is not None:
        return _np.load(path)
    with open(path, "rb") as file:
        data = file.read()
    wide = data[6] > 1
    begin = (12 if wide else 10) + struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    return list(struct.unpack_from(f"<{math.prod(shape)}{_CODE[dtype]}", data, begin))


# ---- ops, from the table --------------------------------------------------------------

_alias = {"fill_value": ["value"]}  # keys and operands by PyTorch's name for them
_flags = set()                      # keys that are True or False
_INTERNAL = {"split", "part", "acc", "out", "bwd"}  # keys that no message advises
# What PyTorch has as a key, and what to write here.
_OTHERWISE = {
    "alpha": "multiply the operand", "device": "the environment says where it runs: help(gt)",
    "dtype": "cast before or after", "generator": "give a seed",
    "largest": "of -x, the largest are the smallest of x", "out": "write into=, or name=",
    "normalized_shape": "it is over the last dimension", "rounding_mode": "floordiv rounds down",
    "stable": "it is stable"}
_BROADCAST = {"point-wise", "elementary", "comparisons", "activations"}  # families of ops
_ops = {}


def _operands(row, args, kwargs):
    """The call's operands in their order, and its keys."""
    declared, keys = row["operands"], [k["name"] for k in row["keys"]]
    kwargs = {_own_name(k, declared, keys): v for k, v in kwargs.items() if v is not None}
    args, out, given = list(args), [], set()
    named = {o["name"] for o in declared if o["name"] in kwargs and o["name"] not in keys}
    spare = len(args) - _py.sum(not o.get("optional") and not o.get("variadic")
                                and o["name"] not in named for o in declared)
    for i, o in enumerate(declared):
        if o["name"] in named:
            values = [kwargs.pop(o["name"])]
        elif o.get("variadic") and i == 0 and args and isinstance(args[0], (list, tuple)):
            values = args.pop(0)
        elif o.get("variadic"):
            after = _py.sum(not p.get("optional") and p["name"] not in named for p in declared[i + 1:])
            values = [v for a in args[:len(args) - after]
                      for v in (a if isinstance(a, (list, tuple)) else [a])]
            args = args[len(args) - after:]
        elif o.get("optional"):
            values = [args.pop(0)] if spare > 0 else []
            spare -= 1
            values = [v for v in values if v is not None]
        elif args:
            values = [args.pop(0)]
        else:
            raise TypeError(f"{row['signature']}: {o['name']} is missing")
        if values:
            given.add(o["name"])
        out += [(o["kind"], v) for v in values]
    if args:
        _place(row, args, kwargs)
    unknown = [k for k in kwargs if k not in keys]
    if unknown:
        advice = [f"; {_OTHERWISE[k]}" for k in unknown if k in _OTHERWISE]
        raise TypeError(f"{row['signature']}: unexpected {', '.join(unknown)}{''.join(advice)}")
    for key, value in kwargs.items():
        if isinstance(value, Tensor):
            raise TypeError(f"{row['signature']}: expected a number or a word as {key}; "
                            f"found {_shown(value)}, which item() reads")
    return out, kwargs, given


def _own_name(key, declared, keys):
    """What the op calls a key or an operand that PyTorch calls so."""
    own = {*keys, *(o["name"] for o in declared)}
    return key if key in own else next((a for a in _alias.get(key, ()) if a in own), key)


def _place(row, args, kwargs):
    """Adds to the keys what stands behind the operands."""
    places = row["places"].split()
    if len(args) > 1 and places and places[0][0] == "*" and _py.all(map(_is_whole, args)):
        args = [tuple(args)]
    for key, value in zip((place.lstrip("*") for place in places), args):
        flag = key in _flags
        if key in kwargs:
            raise TypeError(f"{row['signature']}: {key} is given twice")
        if value is not None and _is_flag(value) != flag:
            raise TypeError(f"{row['signature']}: expected {'True or False' if flag else 'a number'} as "
                            f"{key}; found {_shown(value)}; several axes stand in a tuple, as (0, 1)")
        if value is not None:
            kwargs[key] = value
    if len(args) > len(places):
        keys = [k["name"] + "=" for k in row["keys"] if k["name"] not in {*kwargs, *_INTERNAL}]
        advice = f"; {', '.join(keys)} take{'s' * (len(keys) == 1)} a keyword" if keys else ""
        raise TypeError(f"{row['signature']}: unexpected {_shown(args[len(places)])}{advice}")


def _result_rank(row, words, keys):
    """The rank of the results, or None where only the program knows it."""
    ranks, op = [word._find_rank() if isinstance(word, Tensor) else 0 for word in words], row["name"]
    if row["places"] == "*shape":
        return _many(keys["shape"])
    if None in ranks:
        return None
    axes = _many(keys["axis"]) if "axis" in keys else None
    if "keepdims" in [k["name"] for k in row["keys"]]:
        return ranks[0] if keys.get("keepdims") else ranks[0] - axes if axes else 0
    if op in ("unsqueeze", "stack", "one_hot"):
        return ranks[0] + (axes or 1)
    if op == "take":
        return ranks[1] + (ranks[0] - 1 if axes else 0)
    if op in ("transpose", "flip", "pad", "concat", "split", "gather", "scatter", "scatter_add") or \
            op == "slice" and "size" in keys:
        return ranks[0]
    return _index_rank(row, ranks) if keys.get("reduction") != "none" else None


def _index_rank(row, ranks):
    """The rank of the first result by the op's index rule, as "...mk,...kn->...mn": leading
    dimensions, which are those of the operand that has most of them, and one for each letter."""
    operands, _, results = row["index"].replace("!", "").partition("->")
    leading = [rank - len(term[3:]) for term, rank in zip(operands.split(","), ranks) if term[:3] == "..."]
    result = results.split(",")[0]
    if not row["index"] or _py.any(o.get("variadic") for o in row["operands"]):
        return None
    if result[:3] != "...":
        return len(result)
    return _py.max(leading) + len(result[3:]) if leading else None


def _many(axes):
    """How many there are of what is a number or more of them."""
    return 1 if _is_whole(axes) else len(axes.split(",") if isinstance(axes, str) else axes)


def _keeps_rank(op, into, rank):
    """In place, operands may not broadcast a tensor to more dimensions."""
    for tensor in into:
        own = tensor._find_rank()
        if None not in (own, rank) and rank > own:
            raise Error(f"{op}: {tensor._name} has {own} dimensions, and cannot have {rank} in place")


def _makes_mask(row, words):
    return row["dtype"] == "bool" or row["name"] == "cast" and words[1] == "bool" or \
        row["family"] in ("layout", "indexing") and isinstance(words[0], Tensor) and words[0]._is_mask


def _make(row):
    op, results = row["name"], row["results"]
    creates = row["operands"] and row["operands"][0]["kind"] == "type"
    pair = [r["name"] for r in results] == ["v", "i"]

    def function(*args, name=None, into=None, parts=None, dtype=None, requires_grad=False, **kwargs):
        known = None
        if creates:
            shape, args = _shape(row, args, kwargs)
            known = (dtype or "f32", shape)
            args = (_type(known[1], known[0]), *args)
        elif dtype is not None:
            kwargs["dtype"] = dtype
        pairs, keys, given = _operands(row, args, kwargs)
        words = []
        masks = row["family"] in _BROADCAST and _py.any(
            isinstance(v, Tensor) and _is_bool(v) for _, v in pairs)
        for kind, value in pairs:
            if masks and _is_flag(value):
                words.append(tensor(value))  # which, as a number, would make an integer of a mask
            elif isinstance(value, Tensor) or _is_number(value):
                words.append(value)
            elif isinstance(value, str):
                words.append(_word(op, value, kind))
            elif not _is_data(value):
                raise TypeError(f"{op}: expected a tensor, a number or lists of numbers; found {value!r}")
            else:
                words.append(tensor(value))
        many = [r for r in results if r.get("variadic")]
        count = len(results)
        if many:
            count = parts or (len(keys["sizes"]) if "sizes" in keys else
                              len([v for v in words if isinstance(v, Tensor)]))
        else:
            count -= _py.sum(r.get("optional", False) and r["name"] not in given for r in results)
        into = [into] if isinstance(into, Tensor) else into or []
        rank, mask = None if creates else _result_rank(row, words, keys), _makes_mask(row, words)
        if into and row["family"] in _BROADCAST:
            _keeps_rank(op, into, rank)
        made = _call(op, words, keys, count, name if isinstance(name, list) else [name], into, known)
        for result in made:
            result._rank, result._is_mask = rank, mask
        if requires_grad:
            made[0].requires_grad_()
        return _Pair(*made) if pair else made[0] if count == 1 and not many else tuple(made)
    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{row['signature']}\n\n{row['sense']}\n\n{row['details']}\n\nSource: {row['source']}"
    return function


def _shape(row, args, kwargs):
    """The shape of a creation, whole or size by size, and the arguments behind it."""
    given = [kwargs.pop(key) for key in ("size", "shape") if key in kwargs]
    args = (*given, *args)
    if not args:
        raise TypeError(f"{row['signature']}: expected a shape, as (2, 3)")
    if not _is_whole(args[0]):
        if isinstance(args[0], (Tensor, str, float)):
            raise TypeError(f"{row['signature']}: expected a shape, as (2, 3); found {_shown(args[0])}")
        return tuple(map(operator.index, args[0])), args[1:]
    count = len(args)
    if row["name"] in ("full", "randperm"):  # which have other numbers behind it
        count = 1
    sizes = args[:count]
    if not _py.all(map(_is_whole, sizes)):
        raise TypeError(f"{row['signature']}: expected sizes; found "
                        f"{', '.join(_shown(s) for s in sizes if not _is_whole(s))}")
    return tuple(map(int, sizes)), args[count:]


# ---- calls that PyTorch means otherwise -------------------------------------------------

_Pair = collections.namedtuple("Pair", "values indices")
_meanings = {}


def _means(*ops):
    """These ops are called through the function below, whose first argument is the row's."""
    def put(meaning):
        for op in ops:
            _meanings[op] = meaning
        return meaning
    return put


def _meant_so(op, f):
    meaning = _meanings.get(op)
    if meaning is None:
        return f

    def function(*args, **kwargs):
        return meaning(f, *args, **kwargs) if args or kwargs else f()  # which says what is missing
    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{f.__doc__}\n\nIn Python: {meaning.__doc__}"
    return function


@_means("arange")
def _arange(f, *args, **keys):
    """arange(end), (start, end) and (start, end, step) are PyTorch's, i64 of integers;
    arange((5,), start, step) has as many elements as the shape."""
    if not _py.all(map(_is_number, args)) or "shape" in keys or not (args or "end" in keys):
        return f(*args, **keys)
    given = dict(zip(["end"] if len(args) == 1 and "end" not in keys else ["start", "end", "step"], args))
    if len(args) > 3 or set(given) & set(keys) or (len(args) == 1 and "start" in keys):
        raise TypeError("arange: expected (end), (start, end) or (start, end, step), or a shape as (5,)")
    for key in ("start", "end", "step"):
        if key in keys:
            given[key] = keys.pop(key)
    start, end, step = given.get("start", 0), given["end"], given.get("step", 1)
    if _py.any(isinstance(v, Tensor) for v in (start, end, step)):
        raise TypeError("arange: expected numbers, as they give the size; found a tensor, which item() reads")
    if not step or (end - start) / step < 0:
        raise Error(f"arange: no steps of {step} lead from {start} to {end}")
    exact = _py.all(map(_is_whole, (start, end, step)))
    count = -((start - end) // step) if exact else math.ceil((end - start) / step)
    keys.setdefault("dtype", "i64" if exact else "f32")
    return f((count,), *([start, step] if (start, step) != (0, 1) else []), **keys)


@_means("eye")
def _eye(f, *args, **keys):
    """eye(n) and eye(n, m) are PyTorch's, eye((n, m)) has a shape."""
    return f(*args, *args, **keys) if len(args) == 1 and _is_whole(args[0]) else f(*args, **keys)


@_means("randperm")
def _randperm(f, *args, dtype="i64", **keys):
    """i64 if not told else."""
    return f(*args, dtype=dtype, **keys)


@_means("transpose")
def _swapped(f, x, *args, dim0=None, dim1=None, **keys):
    """transpose(0, 1) swaps two dimensions, for which the rank is asked where Python does
    not know it; transpose((2, 0, 1)), or axes=, is their order; transpose() reverses it."""
    if dim0 is not None and dim1 is not None:
        args = (dim0, dim1)
    if len(args) != 2 or not _py.all(map(_is_whole, args)):
        return f(x, *args, **keys)
    rank = x.ndim
    if not _py.all(-rank <= axis < _py.max(rank, 1) for axis in args):
        raise IndexError(f"transpose: {args[0]} and {args[1]} are not both axes of {x._name}, "
                         f"which has {rank}")
    order = list(range(rank))
    if rank:
        order[args[0]], order[args[1]] = order[args[1]], order[args[0]]
    return f(x, axes=order, **keys)


@_means("matmul")
def _product(f, a, b=None, *args, name=None, into=None, **keys):
    """A vector is a row before a matrix and a column behind one, and the result has no such
    dimension, as in PyTorch. What Python does not know the rank of is taken for a matrix."""
    if b is None:
        return f(a, **keys)  # which says what is missing
    # What is no data, as a text is, f refuses.
    a, b = (tensor(x) if not isinstance(x, Tensor) and not _is_number(x) and _is_data(x) else x
            for x in (a, b))
    rows, columns = (isinstance(x, Tensor) and x._find_rank() == 1 for x in (a, b))
    if not rows and not columns:
        return f(a, b, *args, name=name, into=into, **keys)
    y = f(_ops["unsqueeze"](a, axis=0) if rows else a, _ops["unsqueeze"](b, axis=1) if columns else b,
          *args, **keys)
    return _without(y, [-2] * rows + [-1] * columns, name=name, into=into)


def _without(x, axes, **keys):
    """x without dimensions that are of size 1."""
    y, rank = _ops["squeeze"](x, axis=axes, **keys), x._find_rank()
    y._rank = rank and rank - _many(axes)
    return y


@_means("mod", "pow", "floordiv")
def _of_numbers(f, *args, into=None, **keys):
    """A bool is 0 or 1 in the dtype of the other operand, i64 beside a number, as in PyTorch."""
    if len(args) == 2 and into is None and _is_bool(args[0]) != _is_bool(args[1]):
        args = [x.to(y if isinstance(y, Tensor) else "i64") if isinstance(x, Tensor) and _is_bool(x)
                else x for x, y in (args, args[::-1])]
    return f(*args, into=into, **keys)


@_means("sign")
def _sign(f, x, **keys):
    """Of bool it is x."""
    return (_ops["copy"] if _is_bool(x) else f)(x, **keys)


@_means("max", "min")
def _extreme(f, x, dim=None, keepdim=None, *, other=None, name=None, **keys):
    """max(dim), or dim=, gives values and indices, and max(y) is maximum, as in PyTorch;
    amax(dim), or axis=, gives the values alone. min likewise."""
    op, keep = f.__name__, keys.get("keepdims", keepdim)
    if isinstance(dim, (Tensor, float)) or hasattr(dim, "__array__") and not _is_whole(dim):
        dim, other = None, dim
    if other is not None:
        return _ops[op + "imum"](x, other, name=name, **keys)
    if dim is None:
        return f(x, name=name, **{"keepdims": keep, **keys})
    if not _is_whole(dim):
        raise TypeError(f"{op}: expected one dim, or a tensor; found {dim!r}; a{op} takes more axes")
    if not (keep is None or _is_flag(keep)) or set(keys) - {"keepdims"}:
        raise TypeError(f"{op}: with a dim, expected keepdim=True or False alone; a{op} takes more")
    # The gradient goes to one of equals, as in PyTorch; that of the op is shared out.
    found = _ops["arg" + op](x, axis=dim, keepdims=True)
    if keep:
        return _Pair(_ops["gather"](x, found, axis=dim, name=name), found)
    values = _without(_ops["gather"](x, found, axis=dim), dim, name=name)
    return _Pair(values, _without(found, dim))


@_means("var")
def _var(f, x, *args, unbiased=None, **keys):
    """PyTorch's unbiased is correction=1, or 0, and may stand behind the axis or alone."""
    at = 0 if args and _is_flag(args[0]) else 1
    if len(args) > at:
        unbiased, args = args[at], args[:at] + args[at + 1:]
    if unbiased is not None and not _is_flag(unbiased):
        raise TypeError(f"var: expected True or False as unbiased; found {unbiased!r}; correction= is a keyword")
    if unbiased is not None:
        keys["correction"] = int(unbiased)
    return f(x, *args, **keys)


@_means("norm")
def _norm(f, x, *args, **keys):
    """norm(1) is the sum of absolute values, norm(2, dim) that along dim; "fro" is 2."""
    args = (2, *args[1:]) if args and args[0] in (None, "fro") else args
    return f(x, *args, **{k: 2 if k in ("p", "ord") and v == "fro" else v for k, v in keys.items()})


@_means("where")
def _where(f, *args, **keys):
    """where(c, a, b); as a method, x.where(c, b) is x where c is true, as in PyTorch."""
    return f(*args, **keys)


@_means("clamp")
def _clamped(f, x, min=None, max=None, **keys):
    """One of min and max may be absent."""
    if min is None and max is None:
        raise TypeError("clamp: expected min, max, or both")
    if min is not None and max is not None:
        return f(x, min, max, **keys)
    # The gradient at the bound is that of x, as in PyTorch, which maximum would share out.
    beyond = _ops["lt"](x, min) if max is None else _ops["gt"](x, max)
    return _ops["where"](beyond, min if max is None else max, x, **keys)


@_means("clip")
def _clipped(f, *args, **keys):
    """clip(x, min, max) is clamp, as in PyTorch; clip([g, ...], max) scales gradients."""
    scales = args and isinstance(args[0], (list, tuple))
    return f(*args, **keys) if scales or "g" in keys else _ops["clamp"](*args, **keys)


@_means("split")
def _split(f, x, *args, split_size=None, **keys):
    """split(2, dim) has parts of size 2, for which the shape is asked where Python does not
    know it, and split([1, 3], dim) those sizes; chunk(2, dim), or parts=2, is two parts."""
    size, args = (args[0], args[1:]) if args else (split_size, args)
    if size is None and not {"sizes", "parts"} & set(keys):
        raise TypeError("split: expected the size of a part, a list of sizes, or parts=")
    if _is_whole(size):
        if size < 1:
            raise Error(f"split: expected parts of one row or more; found {size}")
        axis = args[0] if args else keys.get("dim", keys.get("axis", 0))
        length = x.shape[axis]
        size = [_py.min(size, length - i) for i in range(0, length, size)] or [0]
    elif size is not None and not isinstance(size, (list, tuple)):
        raise TypeError(f"split: expected a number or a list of numbers; found {_shown(size)}")
    return f(x, *args, **keys) if size is None else f(x, *args, sizes=size, **keys)


@_means("gather", "scatter", "scatter_add")
def _along(f, x, *args, **keys):
    """The dim may stand before the index, as in PyTorch; else it is axis=."""
    if args and _is_whole(args[0]):
        return f(x, *args[1:], axis=args[0], **keys)
    return f(x, *args, **keys)


@_means("layer_norm", "rms_norm")
def _over_last(f, x, *args, **keys):
    """It takes no normalized_shape, as it is over the last dimension."""
    shape = args[0] if args else None
    if _is_whole(shape) or isinstance(shape, (list, tuple)) and _py.all(map(_is_whole, shape)):
        raise TypeError(f"{f.__name__}: it is over the last dimension, and takes no normalized_shape: "
                        f"write gt.{f.__name__}(x, w{', b' * (f.__name__ == 'layer_norm')})")
    return f(x, *args, **keys)


@_means("dropout")
def _dropout(f, x, p=0.5, *args, training=True, train=None, **keys):
    """dropout(x, p, training) is PyTorch's, and x itself where training is False; a seed is
    a whole number there, or seed=."""
    if args and _is_flag(args[0]):
        training, args = args[0], args[1:]
    return f(x, p, *args, **keys) if training and train is not False else x


@_means("pad")
def _padded(f, x, pad=None, mode="constant", value=None, **keys):
    """pad(x, (1, 2)) is PyTorch's, with the last dimension first, for which the rank is
    asked where Python does not know it; width= has the first dimension first."""
    if mode != "constant":
        raise TypeError(f"pad: expected the mode 'constant'; found {mode!r}")
    if pad is not None:
        if not isinstance(pad, (list, tuple)) or len(pad) % 2 or not _py.all(map(_is_whole, pad)):
            raise TypeError(f"pad: expected (before, after) of the last dimension, then of that before "
                            f"it and so on; found {_shown(pad)}")
        pairs = [pad[i:i + 2] for i in range(0, len(pad), 2)]
        pairs += [(0, 0)] * (x.ndim - len(pairs))
        keys["width"] = [n for pair in reversed(pairs) for n in pair]
    return f(x, value=value, **keys)


def _of_masks(sign, name, f):
    """An operator that is PyTorch's for bool alone, as whole numbers have no bits here."""
    def operation(*operands):
        for x in operands:
            if not (x._has_masks_type() if isinstance(x, Tensor) else _is_flag(x)):
                raise TypeError(f"{sign}: expected bool; found {_shown(x)}; gt.{name} takes what is "
                                "not zero as true")
        return f(*operands)
    return operation


def _of_equals(f):
    """== and !=, by which Python compares as objects what can be no tensor, as None."""
    return lambda a, b: f(a, b) if isinstance(b, Tensor) or _is_data(b) else NotImplemented


_DTYPE_NAMES = {"float32": f32, "float": f32, "float64": f64, "double": f64, "float16": f16, "half": f16,
                "bfloat16": bf16, "int64": i64, "long": i64, "int32": i32, "int": i32, "uint8": u8,
                "byte": u8, "bool": "bool"}
# Names of PyTorch that are no op, and what to write here.
_INSTEAD = {name: text for names, text in {
    "device cuda is_cuda": "the environment says where lines run: help(gt)",
    "inner vdot": "of two vectors, write gt.dot(a, b)",
    "Adam": "optimizers are gt.SGD and gt.AdamW",
    "manual_seed": "give a creation its seed, as gt.randn((2, 3), 7)",
    "from_numpy as_tensor": "write gt.tensor(array), which copies",
    "save": "write x.save(path)", "print": "write x.print_()", "free": "del x frees it",
    "equal": "write (a == b).all().item()", "allclose": "write ((a - b).abs() < 1e-6).all().item()",
    "nonzero masked_select unique": "a shape does not depend on values: use where, sort or topk",
    "unbind": "loop over x, or write x.split(1, dim)"}.items()
    for name in names.split()}


@functools.lru_cache(None)
def _meant(name):
    """What to write in place of a name that there is not, for the end of a message."""
    if name in _INSTEAD:
        return f"; {_INSTEAD[name]}"
    if name in _ops:
        return f"; gt.{name} is a function"
    if not _is_name(name) or name[0] == "_":
        return ""
    told = subprocess.run([_program("gt-emit"), f"--ops={name}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True).stderr
    return told.strip().partition(f"no op '{name}'")[2] or "; gt-emit --ops lists what there is"


def _names_elsewhere(row):
    """Of the clauses of the row's source that have nothing but names of PyTorch, each name, and
    behind what it stands there: "", "Tensor." or "nn.functional."."""
    name = r"torch\.(Tensor\.|nn\.functional\.|)([a-z]\w*)"
    for clause in row["source"].split("; "):
        if re.fullmatch(f"{name}(, {name})*", clause):
            yield from re.findall(name, clause)


def _install():
    text = subprocess.run([_program("gt-emit"), "--ops=json"], stdout=subprocess.PIPE, check=True).stdout
    table, words = json.loads(text), {"and", "or", "not", "print"}
    for key in table["keys"]:
        if key["kind"] == "flag":
            _flags.add(key["name"])
        for names in re.findall(r"PyTorch's (\w+(?:, \w+\b(?!'))*)", key["sense"]):
            for name in names.split(", "):
                _alias.setdefault(name, []).append(key["name"])
    called = []  # what PyTorch has other names for
    for row in table["ops"]:
        op = row["name"]
        if not row["results"] or op in ("tensor", "grad", "fail"):
            continue
        plain, shown = _make(row), op + "_" * (op in words)
        _ops[shown] = function = _meant_so(op, plain)
        is_method = row["operands"] and row["operands"][0]["kind"] in ("tensor", "any")
        if not row.get("internal"):
            called += [(name, where, function, is_method) for where, name in _names_elsewhere(row)]
        if op in ("max", "min"):
            _ops["a" + op] = plain
            setattr(Tensor, "a" + op, plain)
        if is_method and not hasattr(Tensor, shown):
            setattr(Tensor, shown, function)
            in_place = op.rstrip("_") + "_" if op not in words else "_" + op
            if not hasattr(Tensor, in_place):
                setattr(Tensor, in_place,
                        (lambda f: lambda self, *a, **k: f(self, *a, into=self, **k))(function))
    for name, where, function, is_method in called:
        if where != "Tensor.":
            _ops.setdefault(name, function)
        if is_method and not hasattr(Tensor, name):
            setattr(Tensor, name, function)
    for name in _Methods.functions:
        _ops[name] = getattr(_Methods, name)
    for name in _DTYPE_NAMES:
        if not name[-1].isdigit() or name == "bfloat16":
            setattr(Tensor, name, (lambda dtype: lambda self: self.to(dtype))(_DTYPE_NAMES[name]))
    Tensor.where = lambda x, condition, other, **k: _ops["where"](condition, x, other, **k)
    Tensor.where_ = lambda x, condition, other: x.where(condition, other, into=x)
    for method, op in dict(add="add", sub="sub", mul="mul", truediv="div", pow="pow", mod="mod",
                           floordiv="floordiv", matmul="matmul").items():
        f = _ops[op]
        setattr(Tensor, f"__{method}__", (lambda f: lambda a, b: f(a, b))(f))
        setattr(Tensor, f"__r{method}__", (lambda f: lambda a, b: f(b, a))(f))
        if op != "matmul":
            setattr(Tensor, f"__i{method}__", (lambda f: lambda a, b: f(a, b, into=a))(f))
    for method in "lt le gt ge".split():
        setattr(Tensor, f"__{method}__", (lambda f: lambda a, b: f(a, b))(_ops[method]))
    for method in "eq", "ne":
        setattr(Tensor, f"__{method}__", _of_equals(_ops[method]))
    for method, op in {"neg": "neg", "abs": "abs"}.items():
        setattr(Tensor, f"__{method}__", (lambda f: lambda a: f(a))(_ops[op]))
    for method, sign, op in ("and", "&", "and_"), ("or", "|", "or_"), ("invert", "~", "not_"):
        setattr(Tensor, f"__{method}__", _of_masks(sign, op, _ops[op]))


def __getattr__(name):
    found = _ops.get(name) or _DTYPE_NAMES.get(name)
    if found is None:
        raise AttributeError(f"gt has no {name!r}{_meant(name)}")
    return found


def __dir__():
    return sorted([n for n in globals() if n[0] != "_"] + list(_ops))


_install()

# All names are in one module, and programs that import them from parts of it find it there:
# `from gt.client import nn`, `import gt.nn.functional as F`, gt.debug.print_tape().
client = nn = functional = optim = debug = sys.modules[__name__]
for _part in "client client.nn nn nn.functional functional optim debug".split():
    sys.modules[f"{__name__}.{_part}"] = sys.modules[__name__]


# ---- modules ----------------------------------------------------------------------------

class Parameter(Tensor):
    """A tensor of a module that requires a gradient. It is made, with its name in
    the module, at its first use: Parameter("randn", shape, scale=0.1)."""

    def __init__(self, op, shape=(), dtype="f32", **options):
        for word in (op, *options):
            if not _is_name(word):
                raise Error("Parameter: expected the name of a function and its keys, as in "
                            f'Parameter("randn", (2, 3), scale=0.1); found {_shown(word)}')
        super().__init__(None, (dtype, tuple(shape)))
        self._recipe = op, (_type(shape, dtype),), options
        self.requires_grad_()

    @property
    def name(self):
        if self._name is None:
            self._bind(None)
        return self._name

    def _bind(self, name):
        if self._name is not None:
            return
        session, (op, operands, keys) = _the(), self._recipe
        known = name
        if op == "copy" and name in session.used and session.used[name] not in session.dead:
            known = None  # what it is a copy of, or another copy, keeps the name
        made = _call(op, operands, keys, names=[known])[0]
        self._register, self._session, made._session = made._register, session, None
        self._register.given = name or self._register.given
        self._recipe = None

    def __deepcopy__(self, memo):
        """A parameter with the values of now and no .grad, which is made and named as any other."""
        if self._recipe:  # whose values are made now, and once
            op, operands, keys = self._recipe
            values = _call(op, operands, keys, type=self._known)[0] if op != "copy" else operands[0]
            self._recipe = "copy", (values,), {}
        else:
            values = self.detach()
        twin = type(self).__new__(type(self))
        Tensor.__init__(twin, None, self._known)
        twin._recipe = "copy", (values,), {}
        return twin.requires_grad_(self._leaf is not None)


def _when_bound(f):
    @functools.wraps(f)
    def method(self, *args, **keys):
        self.name
        return f(self, *args, **keys)
    return method


for _part in "_values _read print_ save rename".split():
    setattr(Parameter, _part, _when_bound(getattr(Tensor, _part)))


class Module:
    """A part of a model. Parameters and modules that are its attributes are named
    by them: the up of a Module's mlp has mlp.up.w. Subclasses define forward."""

    training = True

    def modules(self):
        """It and all its parts."""
        yield self
        for value in list(vars(self).values()):
            if isinstance(value, Module):
                yield from value.modules()

    def train(self, mode=True):
        """Whether Dropout drops, here and in all parts."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def named_parameters(self, prefix=""):
        for key, value in list(vars(self).items()):
            name = f"{prefix}{key}" if prefix or not key.isdigit() else f"m{key}"
            if isinstance(value, Parameter):
                value._bind(name)
                yield value._register.given, value
            elif isinstance(value, Module):
                yield from value.named_parameters(name + ".")

    def parameters(self):
        return [p for _, p in self.named_parameters()]

    def state_dict(self):
        return dict(self.named_parameters())

    def __deepcopy__(self, memo):
        """A module of its own, with copies of its parameters, named when it is first called."""
        twin = memo[id(self)] = type(self).__new__(type(self))
        twin.__dict__.update(_copy.deepcopy({k: v for k, v in vars(self).items() if k != "_is_bound"}, memo))
        return twin

    def __call__(self, *args, **kwargs):
        if not self.__dict__.get("_is_bound"):
            self._bind_all("")
        return self.forward(*args, **kwargs)

    def _bind_all(self, prefix):
        for _ in self.named_parameters(prefix):
            pass
        for module in self.modules():
            module.__dict__["_is_bound"] = True

    def zero_grad(self):
        for p in self.parameters():
            p.grad = None

    def save(self, path):
        """Writes the parameters to a safetensors file, and waits for it."""
        for name, p in self.named_parameters():
            p.save(f"{path}:{name}")
        if _the().can_answer():
            sync()

    def load(self, path):
        """Reads them from a safetensors file."""
        for name, p in self.named_parameters():
            _call("load", [_quote(f"{path}:{name}"), _type(p.shape, p.dtype)], into=[p], type=p._known)
        return self


class Linear(Module):
    """x @ w + b with w [inputs, outputs]."""

    def __init__(self, inputs, outputs, bias=True):
        self.w = Parameter("randn", (inputs, outputs), scale=1 / math.sqrt(inputs))
        self.b = Parameter("zeros", (outputs,)) if bias else None

    def forward(self, x):
        return _ops["linear"](x, self.w, self.b) if self.b is not None else x @ self.w


class Embedding(Module):
    """Rows of a table."""

    def __init__(self, rows, width):
        self.w = Parameter("randn", (rows, width))

    def forward(self, ids):
        return _ops["embedding"](self.w, ids)


class LayerNorm(Module):
    """Normalises the last dimension."""

    def __init__(self, width, eps=1e-5):
        self.w, self.b, self.eps = Parameter("ones", (width,)), Parameter("zeros", (width,)), eps

    def forward(self, x):
        return _ops["layer_norm"](x, self.w, self.b, eps=self.eps)


class RMSNorm(Module):
    """Scales the last dimension to mean square 1."""

    def __init__(self, width, eps=1e-5):
        self.w, self.eps = Parameter("ones", (width,)), eps

    def forward(self, x):
        return _ops["rms_norm"](x, self.w, eps=self.eps)


class Dropout(Module):
    """Drops elements at random, with probability p, unless eval() was called."""

    def __init__(self, p=0.5):
        self.p = p

    def forward(self, x):
        return _ops["dropout"](x, self.p, self.training)


class Conv2d(Module):
    """Images [n, inputs, h, w] convolved with w [outputs, inputs / groups, *kernel_size], plus b."""

    def __init__(self, inputs, outputs, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True):
        window = (kernel_size,) * 2 if _is_whole(kernel_size) else tuple(kernel_size)
        shape = (outputs, inputs // groups, *window)
        self.w = Parameter("randn", shape, scale=1 / math.sqrt(math.prod(shape[1:])))
        self.b = Parameter("zeros", (outputs,)) if bias else None
        self.keys = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    def forward(self, x):
        return _ops["conv2d"](x, self.w, self.b, **self.keys)


class ModuleList(Module):
    """Modules by their number: that of a module's layers has layers.0.w, one that is no
    module's part m0.w."""

    def __init__(self, parts=()):
        self.parts = []
        for part in parts:
            self.append(part)

    def append(self, part):
        if isinstance(part, Module):
            setattr(self, str(len(self.parts)), part)
        self.parts.append(part)
        return self

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, index):
        return self.parts[index]


class Sequential(ModuleList):
    """Modules and functions, one after the other, named as those of a ModuleList."""

    def __init__(self, *parts):
        super().__init__(parts)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


class SGD:
    """w -= lr * gradient, with momentum. lr is a number or a scalar tensor."""

    def __init__(self, parameters, lr, momentum=0.0):
        self.parameters, self.lr, self.momentum, self.state = list(parameters), lr, momentum, {}

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def _moment(self, p, which):
        if (p, which) not in self.state:
            name = f"{which}.{p.name}"
            taken = p.name[0] == "t" and p.name[1:].isdigit() or name in _the().used
            self.state[p, which] = _ops["zeros"](p.shape, dtype=p.dtype, name=None if taken else name)
        return self.state[p, which]

    def _rate(self):
        if not isinstance(self.lr, Tensor) and not _is_number(self.lr):
            raise Error(f"lr: expected a number or a scalar tensor; found {self.lr!r}")
        return self.lr

    def step(self):
        """Changes each parameter that has a gradient."""
        for p in self.parameters:
            if p.grad is not None and self.momentum:
                v = self._moment(p, "v")
                _call("sgd", [p, p.grad, v, self._rate()], {"momentum": self.momentum}, 2, into=[p, v])
            elif p.grad is not None:
                _call("sgd", [p, p.grad, self._rate()], into=[p])


class AdamW(SGD):
    """Adam with decoupled weight decay."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(parameters, lr)
        self.keys = {"beta1": betas[0], "beta2": betas[1], "eps": eps, "decay": weight_decay}
        self.t = None

    def step(self):
        if self.t is None:
            self.t = tensor(0)
        _call("add", [self.t, 1], into=[self.t])
        for p in self.parameters:
            if p.grad is not None:
                m, v = self._moment(p, "m"), self._moment(p, "v")
                _call("adamw", [p, p.grad, m, v, self.t, self._rate()], self.keys, 3, into=[p, m, v])

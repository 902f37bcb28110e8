"""The program that runs: the processes that take the lines, and what comes back.

A Session writes lines and reads results. It names registers, keeps the files in which
values travel, and remembers what failed, until somebody has seen it."""
import atexit, collections, contextlib, ctypes, os, re, shutil, subprocess, sys
import select as _select, signal as _signal
import builtins as _py
import tempfile, threading

from ._scopes import _end, _scope
from ._words import Error, Failed, Lost, _is_name, _is_whole, _quote

_HISTORY = "#sync tape:"  # with which parts of a history come back
_SILENCE = 1.5        # seconds after which it is asked whether a program was stopped
_SENT_MOST = 1 << 28  # bytes of files at a time; with more, waits for their loads
_HERE = os.path.dirname(os.path.abspath(__file__))


def _program(name):
    told = os.environ.get("GT_BIN")
    # From lib/python3/dist-packages/gt and its like, and from the source tree.
    folders = [told] if told else [os.path.normpath(os.path.join(_HERE, bin))
                                   for bin in ("../../../../bin", "../../../build/bin")]
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


def _parent_folder():
    return os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")


def _stem(kept=False):
    """The beginning of a folder's name, which has the process's number behind it. What is kept, others
    read after this process, and is not swept."""
    return f"{'gt-left' if kept else 'gt-python'}.{os.getuid()}."


def _sweep():
    """Removes the folders of processes that were killed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(_parent_folder()):
            number = name.removeprefix(_stem()).partition(".")[0]
            if name.startswith(_stem()) and number.isdigit():
                try:
                    os.kill(int(number), 0)
                except ProcessLookupError:
                    shutil.rmtree(os.path.join(_parent_folder(), name), ignore_errors=True)
                except OSError:
                    pass


class _Told:
    """What the programs tell people: it goes on to standard error, and the places of failures are
    kept until an exception has shown them, so that none is overlooked."""

    def __init__(self):
        read, self.end = os.pipe()
        self.lock = threading.Condition()
        self.marks, self.reached = 0, 0
        self.failures = {}       # messages by their places, which no exception has shown
        self.seen = set()        # places that one has
        self.any = False         # whether something has failed
        threading.Thread(target=self.pass_on, args=(read,), daemon=True).start()

    def pass_on(self, read):
        rest = b""
        with open(read, "rb", 0) as pipe:
            while True:
                data = pipe.read(65536)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                self.take(lines)
        self.take([rest] if rest else [])
        with self.lock:
            self.reached = 1 << 62
            self.lock.notify_all()

    def take(self, lines):
        out, reached = [], 0
        for line in lines:
            text, mark, number = line.partition(b"\0mark ")
            if mark:
                reached = int(number)
            if text or not mark:
                text = text.decode("utf-8", "surrogateescape")
                self.note(text)
                out.append(_painted(text) + "\n")
        with contextlib.suppress(OSError):
            view = memoryview("".join(out).encode("utf-8", "surrogateescape"))
            while view:
                view = view[os.write(2, view):]
        if reached:
            with self.lock:
                self.reached = reached
                self.lock.notify_all()

    def note(self, line):
        """Keeps a failure, as in "gt-work: train.py:7: add: ..."; warnings and notes are none."""
        more = re.match(r"gt-[a-z]+: (\d+) more like the one at (\S+)$", line)
        found = re.match(r"gt-(?:emit|shard|route|work): (?:c\d+/)?((\S+?):(\d+)): (?!warning: |note: )(.*)", line)
        with self.lock:
            if more and not re.match("<.*>$", more[2].rpartition(":")[0]) and more[2] not in self.seen:
                self.failures.setdefault(more[2], f"{more[2]}: it failed {more[1]} times more")
            elif found:
                self.any = True
                if found[1] not in self.seen:
                    self.failures.setdefault(found[1], f"{found[1]}: {found[4]}")

    def saw(self, message):
        """An exception shows this message."""
        with self.lock:
            self.any = True
            place = re.match(r"(\S+?:\d+): ", message)
            if place:
                self.seen.add(place[1])
                self.failures.pop(place[1], None)

    def drain(self):
        """Waits until what the programs have written so far is noted."""
        with self.lock:
            self.marks += 1
            number = self.marks
            os.write(self.end, b"\0mark %d\n" % number)
            self.lock.wait_for(lambda: self.reached >= number, 5)

    def take_failures(self):
        """The messages of failures that nobody has seen, which are seen now."""
        with self.lock:
            out = list(self.failures.values())
            self.seen.update(self.failures)
            self.failures.clear()
        return out

    def close(self):
        os.close(self.end)


def _painted(line):
    """A message's line in the colours that the programs give it on a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb" or not os.isatty(2):
        return line
    if re.fullmatch(r" *\^", line):
        return line[:-1] + "\x1b[31m^\x1b[0m"
    return re.sub(r"^gt-[a-z]+(?=: )", "\x1b[31m\\g<0>\x1b[0m", line)


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
        self.lost = self.closed = self.is_begun = False
        self.failure = None  # as of a print that nobody reads
        self.wake, self.back = threading.Event(), None
        self.courier = None
        self.sent, self.sent_bytes = {}, 0  # registers with a file, and its size
        self.left = []                      # files to be removed
        self.told = _Told()
        self.is_seeded = False              # by manual_seed()
        _sweep()
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
                command, stdin=last, stdout=None if shown else subprocess.PIPE, stderr=self.told.end,
                start_new_session=not shown)  # an interrupt is for Python alone
            if self.processes:
                last.close()
            self.processes.append(process)
            last = process.stdout
        self.lines = self.processes[0].stdin
        os.set_blocking(self.lines.fileno(), False)
        self.was_stopped, self.stood_still = False, None  # the words of say_lost()
        self.was_lost = False
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
                was_lost = self.was_lost
                try:
                    self.flush()
                except Lost:  # the next line that is written says so, or the end
                    self.was_lost = was_lost

    def check(self):
        if os.getpid() != self.pid:
            raise Lost("this process was forked from the one whose session this is, "
                       "which alone may use it: make the first tensor in the child, or start it by "
                       'multiprocessing.get_context("spawn")')
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
        self.was_lost = True
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
                words.append(f"{name} {_how_it_ended(status)}")
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
        """Writes make(names of the results), after a `free` of what was dropped, and gives the
        registers of the results. A name may be a register, which is bound again."""
        self.check()
        chosen = [n for n in names if n is not None and not isinstance(n, _Register)]
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
                if isinstance(name, _Register):  # bound again
                    taken.append(name)
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
            changed = [name for name in names if isinstance(name, _Register)]
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
        text, self.out, self.size, self.is_begun = "".join(self.out), [], 0, True
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
                self.folder = tempfile.mkdtemp(prefix=f"{_stem(not self.can_remove())}{os.getpid()}.",
                                               dir=_parent_folder())
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
        """Ends the programs, and waits for them. Raises what failed and nobody has seen."""
        if self.closed or os.getpid() != self.pid:
            return
        was_lost = self.was_lost  # an exception has said so
        if self.where and (self.sent or self.left) and self.back:  # others may go on
            with contextlib.suppress(Error, OSError):
                self.leave_all()
        with self.lock:
            try:
                if not self.is_begun and not self.out:  # as of a mistake in the first call
                    self.out.append("# no line came\n")  # an empty stream would be one that was cut short
                self.flush()
                if not self.can_remove() and getattr(sys, "last_type", None) is not None:
                    os.write(self.lines.fileno(), b"#end 1\n")  # others are to know that it broke off
                self.lines.close()
            except (Lost, OSError):
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
        statuses = [process.wait() for process in self.processes]
        if self.courier is not None:
            self.courier.close()
        if self.can_remove():
            self.remove_folder()
        self.told.drain()
        self.told.close()
        self.raise_failures()
        if self.failure is not None:
            raise self.failure
        ended = [f"{os.path.basename(process.args[0])} {_how_it_ended(status)}"
                 for process, status in zip(self.processes, statuses)
                 if status not in (0, -_signal.SIGPIPE) and not (status in (1, 3) and self.told.any)]
        if ended and not was_lost:
            raise Lost("the program that runs the lines is gone: " + "; ".join(ended))

    def raise_failures(self):
        """Raises what failed and was in no exception yet."""
        failures = self.told.take_failures()
        if failures:
            raise Failed("; ".join(map(self.placed, failures[:3]))
                         + (f"; and {len(failures) - 3} failures more" if len(failures) > 3 else ""))

    def sync(self):
        """Waits until all lines are done, and raises what failed."""
        self.ask(lambda: "#sync python\n")
        self.told.drain()
        self.raise_failures()

    def remove_folder(self):
        if self.folder is not None:
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


def _how_it_ended(status):
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"


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
            os.register_at_fork(after_in_child=_session.forget)
            _clean_at_signals()
            _end_with_multiprocessing()
        return _session


_is_over = False


@atexit.register
def _end_process():
    """Ends the session, and the process with status 1 if something failed and nobody has seen it."""
    global _is_over
    _is_over = True
    if _session is None:
        if _stream_is_shown() and os.getpid() == _first_process:  # the next program is to see one
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                os.write(1, b"#gt 1\n#end %d\n" % (getattr(sys, "last_type", None) is not None))
        return
    if not _close_at_end():
        _end_with(1)


def _close_at_end():
    """Ends the session, and tells what failed and nobody has seen. False if something has."""
    try:
        _session.close()
        return True
    except Exception as error:
        print(f"gt: {error}: no exception has shown this, so the process ends with status 1",
              file=sys.stderr)
        sys.stderr.flush()
        return False


def _end_with_multiprocessing():
    """Has a process that multiprocessing has forked end its session: such a one leaves by os._exit(),
    which asks none but what is registered there."""
    process = sys.modules.get("multiprocessing.process")
    if process is None or process.parent_process() is None:
        return

    def end():
        if _session is None or _session.pid != os.getpid() or _close_at_end():
            return
        if isinstance(sys.exc_info()[1], (SystemExit, type(None))):  # another exception is a status itself
            raise SystemExit(1)
    from multiprocessing import util
    util.Finalize(None, end, exitpriority=-1000)  # after all others


_first_process = os.getpid()


def _stream_is_shown():
    return os.environ.get("GT_CONNECT") == "-"


def _end_with(status):
    """Gives the process this exit status after Python is done. An exception at exit does not, and
    os._exit() would skip what others do at exit; so the C library is asked to leave with it."""
    libc = ctypes.CDLL(None)
    libc.__cxa_atexit(ctypes.cast(libc._exit, ctypes.c_void_p), ctypes.c_void_p(status), None)


def _clean_at_signals():
    """What ends a process without Python's knowing, as Slurm and systemd do by SIGTERM, removes the
    files of the session first; unless the program has a handler of its own."""
    if threading.current_thread() is not threading.main_thread():
        return

    def end(number, frame):
        if _session is not None and _session.pid == os.getpid() and _session.can_remove():
            _session.remove_folder()
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    for number in (_signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) is _signal.SIG_DFL:
            _signal.signal(number, end)


def connect(where):
    """Says where the lines run, in place of $GT_CONNECT; before the first tensor."""
    _the(where)


def gpu_workers(count):
    """So many workers, one on each GPU, as GT_WORKERS and GT_BACKEND=cuda say; before the first
    tensor. Where GT_BACKEND says another backend, that is taken."""
    _start_with("gpu_workers", count, GT_BACKEND=os.environ.get("GT_BACKEND") or "cuda")


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
    """Waits until everything written so far has run, and is saved. Raises what failed meanwhile and
    was in no exception yet, as a save does."""
    _the().sync()


def close():
    """Ends the program and waits for it; the next line starts another. Raises what failed, and was
    in no exception yet."""
    global _session
    if _session is not None:
        session, _session = _session, None
        session.close()


def record(path):
    """Also writes the program to this file from now on; None ends that."""
    log = None
    if path:
        open(path, "w").close()
        # At the end of the file, wherever that is, for one that is emptied meanwhile.
        log = open(path, "a", encoding="utf-8", errors="surrogateescape")
    _the().log = log

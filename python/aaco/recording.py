"""Recording a part of this process."""
from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Optional, TypeVar

from aaco import _core, _world
from aaco.errors import InvalidArgument, WrongState, WrongType
from aaco.measuring import Duration
from aaco.session import Session, open

Function = TypeVar('Function', bound=Callable[..., Any])

# The recordings under way, to which range() adds. Replaced as a whole under the lock, so that readers need none.
_lock = threading.Lock()
_active: tuple[_core.Recording, ...] = ()


# Those that start() began and nothing has stopped: they end with the interpreter, as interrupted, so that no data is lost.
_open: set[Recording] = set()


def _end_open() -> None:
    for recording in list(_open):
        if not recording.of_parent:
            recording.stop(interrupted=True)


atexit.register(_end_open)


def _change(add: tuple[_core.Recording, ...], remove: tuple[_core.Recording, ...]) -> None:
    global _active
    with _lock:
        _active = tuple(one for one in _active if one not in remove) + add


def _forget() -> None:
    """In a child of fork(): the recordings are those of its parent, and a thread that it does not have may hold the lock. They are never
    freed here: that would wait for the parent's threads."""
    global _active, _lock
    for recording in _active:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(recording))
    _active, _lock = (), threading.Lock()


os.register_at_fork(after_in_child=_forget)


def _name(function: Any) -> str:
    """Of what a partial() or another object without a name calls, where it has that."""
    while hasattr(function, 'func'):
        function = function.func
    return str(getattr(function, '__qualname__', type(function).__qualname__))


def _wrap(function: Function, block: Callable[[], AbstractContextManager[Any]]) -> Function:
    """The function with each call in a block of its own; of a coroutine function the block ends when the coroutine does."""
    import inspect  # it takes as long to import as a tenth of this package
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidArgument(f'{_name(function)}() is a generator, which does not run when it is called',
                              'put a `with` block around the part that works')
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def wrapped(*arguments: Any, **named: Any) -> Any:
            with block():
                return await function(*arguments, **named)
    else:
        @functools.wraps(function)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            with block():
                return function(*arguments, **named)
    return wrapped  # type: ignore[return-value]


class Recording:
    """Observes this process and its children: CPU, memory, faults, GPUs ... sampled every 10 ms, with the ranges that range() marks.

        with aaco.record(tag="epoch") as recording:
            train()
        recording.session.metrics

        @aaco.record(tag="step")
        def step(): ...            # each call is a session; step.session is the newest

    An exception in the block ends the recording as interrupted, with the data kept, and goes on. Children are sampled; ranges are those
    of this process. A child of fork() leaves the recording to its parent.
    """

    def __init__(self, name: str = '', *, tag: str = '', telemetry_period: Optional[Duration] = None,
                 sessions: Optional[_world.PathLike] = None) -> None:
        self._options = {'name': _world.text(name, 'name') or os.path.basename(sys.argv[0] or '') or 'python', 'tag': tag,
                         'telemetry_period': telemetry_period}
        self._named = bool(name)
        self._sessions = sessions
        self._recording: Optional[_core.Recording] = None
        self._session: Optional[Session] = None
        self._process = 0

    @property
    def session(self) -> Session:
        """The stored session, once the recording has ended."""
        if self._session is None:
            raise WrongState('the recording has not ended', 'leave its `with` block, or call stop()')
        return self._session

    def start(self) -> Recording:
        """Begins; `with` does it. A recording that nothing stops ends with the interpreter, as interrupted, with the data kept."""
        if self._recording is not None:
            raise WrongState('the recording is under way', 'stop it first, or make another one: recordings may overlap')
        self._process = os.getpid()
        self._recording = _core.Recording(_world.current(self._sessions), self._options)
        _change((self._recording,), ())
        _open.add(self)
        return self

    @property
    def of_parent(self) -> bool:
        """Whether it began before a fork() that made this process, which cannot end it."""
        return self._recording is not None and self._process != os.getpid()

    def stop(self, interrupted: bool = False, *, trace: str = '', shift_ns: int = 0) -> Session:
        """Ends and stores the session; the end of `with` does it. trace: a file of a profiler in this process, whose rows become rows
        of the session; shift_ns leads from its clock to CLOCK_MONOTONIC."""
        if self.of_parent:
            raise WrongState('the recording is that of the parent process', 'record in the child with a recording of its own')
        recording, self._recording = self._recording, None
        if recording is None:
            raise WrongState('the recording has not begun', 'use it in a `with` block, or call start()')
        _change((), (recording,))
        _open.discard(self)
        self._session = open(recording.finish(interrupted, trace, shift_ns))
        return self._session

    def __enter__(self) -> Recording:
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        if not self.of_parent:
            self.stop(interrupted=kind is not None)

    def __call__(self, function: Function) -> Function:
        @contextmanager
        def call() -> Iterator[None]:
            name = self._options['name'] if self._named else _name(function)
            recording = Recording(str(name), tag=str(self._options['tag']), sessions=self._sessions,
                                  telemetry_period=self._options['telemetry_period'])  # type: ignore[arg-type]
            try:
                with recording, range(_name(function)):
                    yield
            finally:
                recorded.session = recording._session  # type: ignore[attr-defined]
        recorded = _wrap(function, call)
        recorded.session = None  # type: ignore[attr-defined]
        return recorded

    def __repr__(self) -> str:
        state = 'recording' if self._recording else repr(self._session) if self._session else 'not begun'
        return f'<aaco.Recording {self._options["name"]}: {state}>'


def record(name: Any = '', *, tag: str = '', telemetry_period: Optional[Duration] = None,
           sessions: Optional[_world.PathLike] = None) -> Any:
    """Records a block (`with aaco.record() as recording:`) or each call of a function (`@aaco.record`, `@aaco.record(tag="x")`).

    telemetry_period: seconds or "10ms". The session is `recording.session` after the block, `function.session` after a call. To record
    another program use observe().
    """
    if callable(name):
        return Recording()(name)
    return Recording(name, tag=tag, telemetry_period=telemetry_period, sessions=sessions)


class _Outer:
    """The recording of an `aaco record` that started this process, or of none. A child of fork() goes on with it."""

    def __init__(self) -> None:
        path = os.environ.get('AACO_RANGES', '')
        self._file = -1
        if path:
            try:
                self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            except OSError:  # the recording has ended, or belongs to another user or container
                pass

    @property
    def open(self) -> bool:
        return self._file >= 0

    def range(self, name: str, thread: int, start: int, end: int) -> None:
        if not self.open:
            return
        try:  # one write, so that lines of processes and threads never mix
            os.write(self._file, f'{os.getpid()} {thread} {start} {end} {" ".join(name.split())[:500]}\n'.encode(errors='replace'))
        except OSError:
            self._file = -1


_outer = _Outer()


class range:  # noqa: N801: it reads as a statement
    """Marks a range of this thread on the timeline of every recording under way: `with aaco.range("step"):`; also a decorator.

    Recordings are those of record() here and the `aaco record -- python3 ...` that started this process. Without one it costs less
    than a microsecond and leaves nothing. Ranges nest; threads and coroutines that run at the same time each need their own.
    """

    __slots__ = ('_name', '_starts')

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise WrongType(f'the name of a range is of type {type(name).__name__}', 'pass a str, such as str(number)')
        self._name = name
        self._starts: list[int] = []

    def __enter__(self) -> range:
        self._starts.append(time.monotonic_ns())
        return self

    def __exit__(self, *_: object) -> None:
        if not self._starts:
            raise WrongState(f'the range {self._name!r:.60} has not begun', 'use it in a `with` block')
        start = self._starts.pop()
        if _active or _outer.open:
            end, thread = time.monotonic_ns(), threading.get_native_id()
            name = self._name if self._name.isascii() else self._name.encode(errors='replace').decode()
            _outer.range(name, thread, start, end)
            for recording in _active:
                recording.range(name, thread, start, end)

    def __call__(self, function: Function) -> Function:
        return _wrap(function, lambda: range(self._name))

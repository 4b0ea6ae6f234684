"""The errors that aaco raises. Each says what happened and, in `remedy`, what to do next."""
from __future__ import annotations

import errno
import os


class Error(Exception):
    """The base of all errors of aaco. str() of it is the message, with the remedy on a line of its own."""

    code = 'error'

    def __init__(self, message: str, remedy: str = '', context: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.context = tuple(context)

    def __str__(self) -> str:
        text = ': '.join((*reversed(self.context), self.message))
        return f'{text}\nhint: {self.remedy}' if self.remedy else text


class InvalidArgument(Error, ValueError):
    """The request itself is wrong."""
    code = 'invalid argument'


class WrongType(InvalidArgument, TypeError):
    """An argument has a type that the function does not take."""


class WrongState(Error, RuntimeError):
    """The object has not begun, has begun already, or has not ended."""
    code = 'wrong state'


class InvalidInput(Error, ValueError):
    """A file or a reply is damaged, or not of its format."""
    code = 'invalid input'


class NotFound(Error, LookupError):
    """What was named does not exist."""
    code = 'not found'


class UnknownKey(NotFound, KeyError):
    """A table, a session or an answer has nothing of that name."""


class MissingFile(NotFound, FileNotFoundError):
    """A file or folder does not exist, or the folder it should be written to."""


class PermissionDenied(Error, PermissionError):
    """It exists and must not be accessed."""
    code = 'permission denied'


class IOFailure(Error, OSError):
    """Reading, writing or communicating failed."""
    code = 'I/O error'


class Exhausted(Error, MemoryError):
    """Memory, disk, a limit or a budget is used up."""
    code = 'exhausted'


class TimedOut(Error, TimeoutError):
    """It took longer than allowed."""
    code = 'timed out'


class Cancelled(Error):
    """It was stopped before it could finish."""
    code = 'cancelled'


class Conflict(Error):
    """It exists already, or something else holds it."""
    code = 'conflict'


class Unsupported(Error, NotImplementedError):
    """This machine, library or format cannot do it; the message names what is missing."""
    code = 'unsupported'


_BY_CODE = {kind.code: kind for kind in (InvalidArgument, InvalidInput, NotFound, PermissionDenied, IOFailure, Exhausted, TimedOut,
                                         Cancelled, Conflict, Unsupported)}


def make_error(code: str, message: str, remedy: str, context: list[str]) -> Error:
    """Called by the library for each error it returns."""
    kind = _BY_CODE.get(code, Error)
    if kind is NotFound and message.endswith(f': {os.strerror(errno.ENOENT)}'):  # how the library ends an error of the system
        kind = MissingFile
    return kind(message, remedy, tuple(context))

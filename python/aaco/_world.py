"""What a call into the library takes from the caller's world: environment, folders, the program."""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Union

from aaco.errors import InvalidArgument, WrongType

PathLike = Union[str, 'os.PathLike[str]']
Progress = Union[None, bool, Callable[[str], object]]

_PACKAGE = Path(__file__).resolve().parent


class World(dict[str, Any]):
    """Shown by its name alone: errors of _core show their arguments, and an environment may have secrets in it."""

    def __repr__(self) -> str:
        return '<world>'


def _installation() -> Optional[Path]:
    """The folder with share/aaco: inside a wheel's package, a prefix above the package, or a build tree."""
    for base in (Path(__file__).parent / '_data', _PACKAGE / '_data', *Path(__file__).absolute().parents, *_PACKAGE.parents):
        if (base / 'share' / 'aaco' / 'data').is_dir():
            return base
    return None


_INSTALLATION = _installation()


def program() -> str:
    """The program aaco that belongs to this package; where it is missing a name for the path to search."""
    if _INSTALLATION is not None and (_INSTALLATION / 'bin' / 'aaco').exists():
        return str(_INSTALLATION / 'bin' / 'aaco')
    return 'aaco'


def _show(line: str) -> None:
    print(f'aaco: {line}', file=sys.stderr, flush=True)


def current(sessions: Optional[PathLike] = None, progress: Progress = None) -> World:
    """For the functions of _core. `progress`: called with each line; True prints the lines to standard error."""
    if progress not in (None, True, False) and not callable(progress):
        raise WrongType(f'progress is {_kind(progress)}', 'use True, or a function that takes each line')
    environment = dict(os.environ)
    if 'HOME' not in environment:
        environment['HOME'] = os.path.expanduser('~')
    if _INSTALLATION is not None and not environment.get('AACO_SHARE'):
        environment['AACO_SHARE'] = str(_INSTALLATION / 'share' / 'aaco')
    environment.setdefault('AACO_PROGRAM', program())
    return World({
        'environment': {name: value for name, value in environment.items() if _is_text(name) and _is_text(value)},
        'sessions': None if sessions is None else os.path.abspath(path(sessions, 'sessions')),
        'command': [word for word in getattr(sys, 'orig_argv', sys.argv) if _is_text(word)],
        'progress': _show if progress is True else progress or None,
    })


def text(value: object, name: str) -> str:
    """An argument that must be text."""
    if not isinstance(value, str):
        raise WrongType(f'{name} is {_kind(value)}', 'pass a str')
    if not _is_text(value):
        raise InvalidArgument(f'{name} {value!a} is not Unicode text', 'replace its surrogates, for example with value.encode(errors="replace").decode()')
    return value


def path(value: object, name: str) -> str:
    """An argument that must be a name or a path."""
    try:
        found = os.fsdecode(value)  # type: ignore[arg-type]
    except TypeError:
        raise WrongType(f'{name} is {_kind(value)}', 'pass a str or a path') from None
    return text(found, name)


def paths(value: object, name: str) -> list[str]:
    """Names or paths; one alone is a list of one."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return [path(value, name)]
    if not isinstance(value, Iterable):
        raise WrongType(f'{name} is {_kind(value)}', 'pass a str, a path, or a list of them')
    return [path(one, f'a part of {name}') for one in value]


def mapping(value: object, name: str) -> dict[str, Any]:
    """An argument that must be a mapping."""
    if not isinstance(value, Mapping):
        raise WrongType(f'{name} is {_kind(value)}', 'pass a dict')
    return {text(key, f'a name in {name}'): one for key, one in value.items()}


def _kind(value: object) -> str:
    return 'None' if value is None else f'of type {type(value).__name__}'


def _is_text(text: str) -> bool:
    """Not for surrogates, which stand for bytes that are not UTF-8."""
    return text.isascii() or not any('\ud800' <= letter <= '\udfff' for letter in text)

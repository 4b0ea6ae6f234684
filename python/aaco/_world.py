"""What a call into the library takes from the caller's world: environment, folders, the program."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Callable, Optional, Union

PathLike = Union[str, 'os.PathLike[str]']
Progress = Union[None, bool, Callable[[str], object]]

_PACKAGE = Path(__file__).resolve().parent


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


def current(sessions: Optional[PathLike] = None, progress: Progress = None) -> dict[str, Any]:
    """For the functions of _core. `progress`: called with each line; True prints the lines to standard error."""
    environment = dict(os.environ)
    if 'HOME' not in environment:
        environment['HOME'] = os.path.expanduser('~')
    if _INSTALLATION is not None and not environment.get('AACO_SHARE'):
        environment['AACO_SHARE'] = str(_INSTALLATION / 'share' / 'aaco')
    environment.setdefault('AACO_PROGRAM', program())
    return {
        'environment': {name: value for name, value in environment.items() if _is_text(name) and _is_text(value)},
        'sessions': None if sessions is None else os.path.abspath(os.fspath(sessions)),
        'command': [word for word in getattr(sys, 'orig_argv', sys.argv) if _is_text(word)],
        'progress': _show if progress is True else progress or None,
    }


def _is_text(text: str) -> bool:
    """Not for surrogates, which stand for bytes that are not UTF-8."""
    return text.isascii() or not any('\udc80' <= letter <= '\udcff' for letter in text)

"""Refuses to be imported in a subinterpreter, where the library's calls back into Python would wait for ever."""
from __future__ import annotations

import importlib


def _is_main() -> bool:
    for name in ('_interpreters', '_xxsubinterpreters'):  # CPython 3.13 and later, 3.8 to 3.12
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return bool(module.get_current() == module.get_main())
    return True


if not _is_main():
    raise ImportError('aaco does not work in a subinterpreter; import it in the main interpreter '
                      '(of mod_wsgi: WSGIApplicationGroup %{GLOBAL})')

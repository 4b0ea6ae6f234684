"""Stored sessions."""
from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from aaco import _core, _html, _world
from aaco.errors import InvalidArgument, IOFailure, MissingFile, NotFound, WrongType
from aaco.metric import Metrics
from aaco.table import Table

if TYPE_CHECKING:
    from aaco.judging import Explanation


_MAX_WIDTH = 10_000
_FORMATS = ('perfetto', 'chrome', 'csv', 'prometheus')


class _Page(str):
    """A page of half a megabyte, of which an interactive session shows the size."""

    def __repr__(self) -> str:
        return f'<page of {len(self):,} characters>'


class Session:
    """A stored session: a folder that is complete in itself. Made by run(), open() and the others; it does not change.

    close() (or the end of a `with` block) lets its documents go; they are read again when they are needed.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._metrics: Optional[Metrics] = None
        self._report: Optional[dict[str, Any]] = None

    @property
    def id(self) -> str:
        """The session's id, such as 20261121T081530Z-3f9a1c."""
        return self._document['session_id']

    @property
    def path(self) -> Path:
        """The session's folder."""
        return Path(self._document['path'])

    @property
    def kind(self) -> str:
        """run, record, import, sweep, llm ..."""
        return self._document['kind']

    @property
    def tag(self) -> str:
        """The tag given when it was made; empty: none."""
        return self._document.get('tag') or ''

    @property
    def state(self) -> str:
        """complete, or interrupted where it was ended early."""
        return self._document.get('state', 'complete')

    @property
    def created(self) -> datetime:
        """When it began, in UTC."""
        return datetime.fromtimestamp(self._document['created_realtime_ns'] / 1e9, timezone.utc)

    @property
    def outcome(self) -> dict[str, Any]:
        """What ran: model, backend, provider, batch, iterations ... as session.json has it."""
        return self._document.get('outcome') or {}

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What is missing or distorted, each with id, message and remedy."""
        return [{**one, 'remedy': _core.phrased(one['remedy'])} if one.get('remedy') else one for one in self._document.get('warnings') or []]

    @property
    def manifest(self) -> dict[str, Any]:
        """The whole of session.json: request, outcome, phases, clocks, accounts, warnings, hashes."""
        return {name: value for name, value in self._document.items() if name not in ('path', 'metrics')}

    @property
    def metrics(self) -> Metrics:
        """The metrics by id: session.metrics["latency.p50_ns"].value is in ns."""
        if self._metrics is None:
            self._metrics = Metrics(self._document['metrics'])
        return self._metrics

    @property
    def tables(self) -> list[str]:
        """The names of the tables that this session has."""
        return _core.session_tables(self._folder())

    def _folder(self) -> str:
        if not self.path.is_dir():
            raise NotFound(f'{self.path}: no such session', 'aaco.sessions() lists those that are there')
        return str(self.path)

    def table(self, name: str) -> Table:
        """A table, sorted by its time column. Raises NotFound where the session does not have it."""
        return Table(_core.session_table(_world.current(), self._folder(), _world.text(name, 'the name of the table')), name)

    def report(self) -> dict[str, Any]:
        """Everything that the report shows, as `aaco report --json` prints it."""
        if self._report is None:
            self._report = _core.report(_world.current(), str(self.path))
        return self._report

    def text(self, width: int = 100) -> str:
        """The report as text, `width` columns wide; below 40 it is as wide as with 40."""
        if isinstance(width, bool) or not isinstance(width, int):
            raise WrongType(f'width is of type {type(width).__name__}', 'pass an int, the number of columns')
        if not 1 <= width <= _MAX_WIDTH:
            raise InvalidArgument(f'width is {width}', f'pass a number of columns from 1 to {_MAX_WIDTH}')
        return _core.report_text(_world.current(), str(self.path), width)

    def to_html(self, file: Optional[_world.PathLike] = None) -> str:
        """The report as one self-contained page; with `file` it is written there, too. Raises Unsupported where this AACO was built
        without the page."""
        page = _Page(_core.report_page(_world.current(), str(self.path)))
        if file is not None:
            try:
                Path(_world.path(file, 'file')).write_text(page, encoding='utf-8')
            except FileNotFoundError as error:
                raise MissingFile(f'writing {file}: {error.strerror}', 'create the folder first, or choose another file') from error
            except OSError as error:
                raise IOFailure(f'writing {file}: {error.strerror}', 'choose another file') from error
        return page

    def explain(self, observe: str = '') -> Explanation:
        """Why it is as fast as it is: bottleneck, recommendations, anomalies. See aaco.explain()."""
        from aaco.judging import explain
        return explain(self, observe=observe)

    def verify(self) -> list[tuple[str, str]]:
        """The files that differ from their recorded hashes, each with the problem. Empty: intact."""
        return _core.verify(_world.current(), str(self.path))

    def export(self, format: str = 'perfetto', output: _world.PathLike = '') -> Path:
        """Writes the timeline (perfetto, chrome), the tables (csv: output is a folder) or the metrics (prometheus); returns the path.
        Without `output` it is named after the session, in the current folder. Raises MissingFile (a FileNotFoundError) where the
        folder of `output` does not exist; csv creates it."""
        if format not in _FORMATS:
            raise InvalidArgument(f'unknown format {format!r}', f'use {", ".join(_FORMATS[:-1])} or {_FORMATS[-1]}')
        return Path(_core.export(_world.current(), str(self.path), format, _world.path(output, 'output')))

    def close(self) -> None:
        """Lets the report go. The session stays usable."""
        self._metrics = self._report = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __fspath__(self) -> str:
        return str(self.path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        what = self.outcome.get('model') or self.kind
        median = self.metrics['latency.p50_ns'] if 'latency.p50_ns' in self.metrics else None
        return f'<aaco.Session {self.id} {self.kind} {what}{f": median {median}" if median else ""}>'

    def _repr_html_(self) -> str:
        try:
            return _html.frame(self.to_html(), f'report of {self.id}')
        except NotImplementedError:
            return f'<pre>{_html.escape(self.text())}</pre>'


def open(name: _world.PathLike = 'latest', *, sessions: Optional[_world.PathLike] = None) -> Session:
    """Opens a stored session by id (or its prefix), path, 'latest' or 'tag:NAME' (the newest with that tag).

    Raises NotFound where there is none, naming what is there.
    """
    return Session(_core.open(_world.current(sessions), _world.path(name, 'the name of the session')))


def sessions(*, tag: str = '', kind: str = '', state: str = '', search: str = '', limit: int = 100,
             sessions: Optional[_world.PathLike] = None) -> list[dict[str, Any]]:
    """The stored sessions, newest first, as `aaco ls --json` lists them: id, path, created, kind, state, tag, what, p50_ns."""
    return _core.sessions(_world.current(sessions), {'tag': tag, 'kind': kind, 'state': state, 'search': search, 'limit': limit})


def name_of(session: object) -> str:
    """The name by which the library finds a session: of a Session its path."""
    return _world.path(session, 'the session')

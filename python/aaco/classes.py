"""The same functions as classes, for programs that keep their settings in objects."""
from __future__ import annotations

from typing import Any, Optional

from aaco import _core, _world
from aaco import session as _session
from aaco.judging import Explanation, SessionName, explain
from aaco.measuring import run
from aaco.recording import Recording


class SessionManager:
    """The sessions below one folder."""

    def __init__(self, root: Optional[_world.PathLike] = None) -> None:
        """root: the folder; without it $AACO_SESSIONS, or ./sessions."""
        self.root = root

    def create_session(self, name: str = '', *, tag: str = '', **options: Any) -> Recording:
        """A new session that records this process, from start() or `with` to stop() or the end of the block."""
        return Recording(name, tag=tag, sessions=self.root, **options)

    def open(self, name: _world.PathLike = 'latest') -> _session.Session:
        """Opens a session; see aaco.open()."""
        return _session.open(name, sessions=self.root)

    def list(self, **filters: Any) -> list[dict[str, Any]]:
        """The sessions, newest first; see aaco.sessions()."""
        return _session.sessions(sessions=self.root, **filters)

    def remove(self, session: SessionName) -> str:
        """Removes a session and returns the path it had."""
        return _core.remove(_world.current(self.root), _session.name_of(session))


class ORTRunner:
    """Runs one model on ONNX Runtime with fixed options."""

    def __init__(self, model: _world.PathLike, backend: str = 'cpu', **options: Any) -> None:
        """model, backend and options as run() takes them."""
        self.model = model
        self.options = {'backend': backend, **options}

    def run(self, **options: Any) -> _session.Session:
        """Measures the model; `options` are added to those of the runner and win."""
        return run(self.model, **{**self.options, **options})


class BottleneckClassifier:
    """Judges sessions by the rules of this version."""

    def __init__(self, root: Optional[_world.PathLike] = None) -> None:
        """root: where sessions are found by name."""
        self.root = root

    def classify(self, session: SessionName = 'latest') -> Explanation:
        """The bottleneck of a session with its evidence: .bottleneck_class, .confidence, .recommendations."""
        return explain(session, sessions=self.root)

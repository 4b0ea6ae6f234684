"""Comparing two sides."""
from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from aaco import _core, _html, _world
from aaco.errors import InvalidArgument
from aaco.judging import Document, SessionName
from aaco.measuring import Duration, Ratio
from aaco.session import Session, open

Side = Union[SessionName, Sequence[SessionName]]

# Runs without the user's settings of Python and finds this package first.
_WORKER = 'import sys; sys.path.insert(0, {!r}); from aaco._ab_worker import main; main()'


class Comparison(Document):
    """What differs between side A (the baseline) and side B, as `aaco diff --json` prints it."""

    def __init__(self, document: Mapping[str, Any], a: Optional[Session] = None, b: Optional[Session] = None) -> None:
        super().__init__(document)
        self.a = a
        self.b = b

    @property
    def verdict(self) -> str:
        """regression, improvement, equivalent, inconclusive or not-comparable."""
        return self['verdict']

    @property
    def is_regression(self) -> bool:
        """Whether B is worse than A by more than the threshold, beyond doubt."""
        return self.verdict == 'regression'

    @property
    def confidence(self) -> float:
        """The confidence of the verdict, 0..1."""
        return float(self.get('confidence') or 0)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """One entry per metric, the deciding one first: baseline, candidate, delta_ratio with its interval, verdict, explanation."""
        return self.get('statistics') or []

    def __str__(self) -> str:
        text = f'{self.verdict} (confidence {100 * self.confidence:.0f} %)'
        return f'{text}. {_core.phrased(self["recommendation"])}' if self.get('recommendation') else text

    def __repr__(self) -> str:
        return f'<aaco.Comparison {self.verdict}, confidence {self.confidence:.2f}>'

    def _repr_html_(self) -> str:
        try:
            page = _core.comparison_page(_world.current(), self.to_dict(), str(self))
        except NotImplementedError:
            return _html.paragraph(str(self))
        return _html.frame(page, 'comparison')


def _names(side: Side) -> list[str]:
    return _world.paths(side, 'the side')


def _only(names: list[str], sessions: Optional[_world.PathLike]) -> Optional[Session]:
    """The session of a side that is one; none of several, of a tag, or of a baseline."""
    if len(names) != 1 or names[0].startswith('tag:') or names[0].endswith(('.yaml', '.json')):
        return None
    return open(names[0], sessions=sessions)


def diff(a: Side, b: Side = 'latest', *, threshold: Ratio = 0.05, metrics: Sequence[str] = (), force: bool = False,
         drop_disturbed: bool = False, use_history: bool = True, store: bool = False,
         sessions: Optional[_world.PathLike] = None) -> Comparison:
    """Compares two sessions, or two lists of sessions of the same thing: what changed, by how much, and with what confidence.

    a, b: a Session, a name, or a list of them; a is the baseline. threshold: smaller changes are equivalent (0.05 or "5%").
    metrics: ids; the first one decides. force: compare even what is not comparable. store: also write the verdict into b.
    .a and .b of the answer are the sessions of sides that are one session each, named by id, path or as a Session.
    """
    names = _names(a), _names(b)
    verdict = _core.diff(_world.current(sessions), {
        'a': names[0], 'b': names[1], 'threshold': threshold, 'metrics': _world.paths(metrics, 'metrics'), 'force': force,
        'drop_disturbed': drop_disturbed, 'use_history': use_history, 'store': store})
    return Comparison(verdict, *(_only(side, sessions) for side in names))


def ab(a: Mapping[str, Any], b: Mapping[str, Any], *, duration: Duration = 60, iterations: Optional[int] = None,
       threshold: Ratio = 0.02, detectable: Optional[Ratio] = None, block: Optional[Duration] = None, apart: bool = False, force: bool = False,
       store: bool = True, tag: str = '', sessions: Optional[_world.PathLike] = None,
       progress: _world.Progress = None) -> Comparison:
    """Measures two configurations, interleaved, in processes of their own, until it is clear which is faster.

    a, b: options of run() that say what runs, such as {"model": "resnet50", "threads": 1}; b takes a's model where it names none.
    duration: the maximum per side. threshold: smaller changes are equivalent. detectable: continue until a change of this size would
    be detectable (default: 3 % above the threshold). The sessions are .a and .b of the answer.
    """
    sides = [{name: _plain(value) for name, value in _world.mapping(side, f'side {letter}').items()} for letter, side in (('A', a), ('B', b))]
    sides[1] = {'model': sides[0].get('model'), **sides[1]}
    verdict, a_path, b_path = _core.ab(_world.current(sessions, progress), {
        'a': json.dumps(sides[0]), 'b': json.dumps(sides[1]), 'duration': duration, 'iterations': iterations, 'threshold': threshold,
        'detectable': detectable, 'block': block, 'apart': apart, 'force': force, 'store': store, 'tag': tag,
        'worker': [sys.executable, '-I', '-c', _WORKER.format(str(Path(__file__).absolute().parents[1]))]})
    return Comparison(verdict, open(a_path) if a_path else None, open(b_path) if b_path else None)


def _plain(value: Any) -> Any:
    if hasattr(value, '__fspath__'):
        return value.__fspath__()
    if hasattr(value, '__array_interface__'):
        raise InvalidArgument('ab() takes inputs as files, not as arrays', 'save them with numpy.save() and pass the path')
    return value



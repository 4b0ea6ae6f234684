"""Judging: bottlenecks, predictions, trends. Results are the JSON documents of the program, as mappings with a readable form."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union

from aaco import _core, _html, _world
from aaco.metric import quantity
from aaco.session import Session, name_of

SessionName = Union[Session, _world.PathLike]


class Document(Mapping[str, Any]):
    """A JSON document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def __getitem__(self, name: str) -> Any:
        return self._document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def to_dict(self) -> dict[str, Any]:
        """The document as a dict."""
        return dict(self._document)


class Explanation(Document):
    """Why a session is as fast as it is; as `aaco explain --json` prints it."""

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The bottleneck with class, confidence (0..1), evidence and recommendations; empty where nothing can tell."""
        return self.get('bottleneck') or {}

    @property
    def bottleneck_class(self) -> str:
        """The id of its class, such as compute_bound; 'unknown' without measurements, 'inconclusive' where none stands out."""
        return self.bottleneck.get('bottleneck_class', 'unknown')

    @property
    def confidence(self) -> float:
        """The confidence of the class, 0..1."""
        return float(self.bottleneck.get('confidence') or 0)

    @property
    def recommendations(self) -> list[dict[str, Any]]:
        """What to do, ranked by gain times confidence; gain_ratio is the expected saving of time."""
        return self.bottleneck.get('recommendations') or []

    @property
    def anomalies(self) -> list[dict[str, Any]]:
        """Slow executions, outliers, changes against earlier sessions of the same fingerprint."""
        return self.get('anomalies') or []

    def __str__(self) -> str:
        title = self.bottleneck.get('title') or self.bottleneck_class
        lines = [f'{title} (confidence {100 * self.confidence:.0f} %). {self.bottleneck.get("meaning", "")}'.strip()]
        lines += [f'- {one["title"]} ({one["basis"]})' for one in self.recommendations]
        return '\n'.join(lines + [f'anomalies: {len(self.anomalies)}'])

    def __repr__(self) -> str:
        return f'<aaco.Explanation {self.bottleneck_class}, confidence {self.confidence:.2f}>'

    def _repr_html_(self) -> str:
        evidence = ((one['signal'], one['value'], one['weight']) for one in self.bottleneck.get('top_evidence') or [])
        lines = str(self).split('\n')
        return ''.join(map(_html.paragraph, lines)) + _html.table(('signal', 'value', 'weight'), evidence)


class Analysis(Document):
    """A prediction, as `aaco analyze --json` prints it."""

    @property
    def latency_ns(self) -> float:
        """The predicted time of one run, ns."""
        return self._latency()['value']

    @property
    def latency_interval_ns(self) -> tuple[float, float]:
        """Its 90 % interval, ns."""
        latency = self._latency()
        return latency['lower'], latency['upper']

    @property
    def memory_bytes(self) -> float:
        """The predicted peak of memory, bytes."""
        return self['estimate']['memory']['value']

    @property
    def fits(self) -> bool:
        """Whether that is in the device's memory; True where the device's size is not known."""
        device = self['estimate']['memory_parts'].get('device_bytes')
        return not device or self.memory_bytes <= device

    @property
    def level(self) -> str:
        """CALIBRATED (fitted to measurements of this device), INTERPOLATED (from related devices) or THEORETICAL (specifications)."""
        return self._latency()['confidence']

    def _latency(self) -> dict[str, Any]:
        return self['estimate']['latency']

    def __repr__(self) -> str:
        low, high = self.latency_interval_ns
        return (f'<aaco.Analysis {self["model"]}: {quantity(self.latency_ns, "ns")} ({quantity(low, "ns")} to {quantity(high, "ns")}), '
                f'{self.level}{"" if self.fits else ", does not fit the memory"}>')


class History(Document):
    """Series of a metric with change points, drift and forecast; as `aaco history --json` prints it."""

    @property
    def series(self) -> list[dict[str, Any]]:
        """One entry per series: name, unit, points, trend."""
        return self['series']

    def __repr__(self) -> str:
        return f'<aaco.History: {len(self.series)} series>'


def explain(session: SessionName = 'latest', *, observe: str = '', sessions: Optional[_world.PathLike] = None) -> Explanation:
    """Finds the bottleneck of a session, with evidence, recommendations and anomalies.

    observe: with a session of `aaco llm`, a recording of the server's machine during the load.
    """
    return Explanation(_core.explain(_world.current(sessions), name_of(session), _world.text(observe, 'observe')))


def analyze(model: _world.PathLike, hardware: str = 'this', *, sessions: Optional[_world.PathLike] = None, **options: Any) -> Analysis:
    """Predicts a model's time, memory and energy on a device without running it.

    model: a file (.onnx, .pt2, .tflite), a name of configs/models.yaml, or zoo:NAME. hardware: a device's id or alias (`aaco hardware
    ls`), or "this". Options: batch, dims, dtype ("fp16"), power_cap_watts, host_time (seconds or "5us"), eager, level, fallback,
    provider. Raises NotFound for an unknown model or device.
    """
    return Analysis(_core.analyze(_world.current(sessions), {**options, 'model': _world.path(model, 'model'), 'hardware': _world.text(hardware, 'hardware')}))


def history(metric: str = '', *, where: Optional[Mapping[str, str]] = None, files: Sequence[_world.PathLike] = (),
            sessions: Optional[_world.PathLike] = None, **options: Any) -> History:
    """Follows a metric over sessions, or series in files of benchmark tools: change points, drift, when a budget will be exceeded.

    where: {"model": "resnet50"}; also backend, kind, tag, fingerprint. Options: last, threshold (ratio), budget (ratio), limit (in the
    metric's unit), horizon (days), better ("lower" or "higher").
    """
    return History(_core.history(_world.current(sessions), {
        **options, 'metric': metric, 'where': _world.mapping({} if where is None else where, 'where'), 'files': _world.paths(files, 'files')}))

"""The metrics of a session."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Optional

from aaco import _html
from aaco.errors import UnknownKey

_NS = ((1e9, 's'), (1e6, 'ms'), (1e3, 'µs'), (1, 'ns'))
_BYTES = ((2**30, 'GiB'), (2**20, 'MiB'), (2**10, 'KiB'), (1, 'B'))


def quantity(value: float, unit: str) -> str:
    """For people: 3.21 ms, 1.5 GiB, 12.3 %."""
    if unit == 'ratio':
        return f'{100 * value:.3g} %'
    for steps, base in ((_NS, 'ns'), (_BYTES, 'bytes')):
        if unit == base:
            size, name = next((step for step in steps if abs(value) >= step[0]), steps[-1])
            return f'{value / size:.3g} {name}' if abs(value / size) < 1000 else f'{value / size:.0f} {name}'
    number = f'{value:.4g}' if abs(value) < 1e6 else f'{value:,.0f}'
    return number if unit in ('', 'count') else f'{number} {unit}'


class Metric(NamedTuple):
    """A measured number. `unit` is ns, bytes, ratio (0..1), 1/s, count, J or W. `ci95` is the 95 % confidence interval (low, high), or
    None where it is unknown. `device` is the GPU's number, or None. float() gives the value."""

    id: str
    value: float
    unit: str
    ci95: Optional[tuple[float, float]] = None
    device: Optional[int] = None

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        text = quantity(self.value, self.unit)
        if self.ci95 and self.value:
            half = 100 * (self.ci95[1] - self.ci95[0]) / 2 / abs(self.value)
            text += f' ± {half:.0f} %' if half >= 10 else f' ± {half:.2g} %'
        return text


def _metric(name: str, document: Mapping[str, Any]) -> Metric:
    ci95 = document.get('ci95')
    if isinstance(ci95, Mapping):
        ci95 = (ci95['low'], ci95['high'])
    return Metric(name, document['value'], document.get('unit', ''), tuple(ci95) if ci95 else None, document.get('device'))


class Metrics(Mapping[str, Metric]):
    """The metrics of a session by id, such as latency.p50_ns. What was not measured is missing. Of a metric of several GPUs this is
    the first one's; all(id) lists them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._all = {name: [_metric(name, one) for one in (value if isinstance(value, list) else [value])]
                     for name, value in document.items()}

    def __getitem__(self, name: str) -> Metric:
        if name not in self._all:
            import difflib
            near = difflib.get_close_matches(str(name), self._all, 3, 0.5)
            raise UnknownKey(f'{name} was not measured', f'did you mean {", ".join(near)}?' if near else 'list(session.metrics) has those that were')
        return self._all[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def all(self, name: str) -> list[Metric]:
        """The metric of every device that has it."""
        return list(self._all.get(name, ()))

    def __repr__(self) -> str:
        return f'<aaco.Metrics: {len(self)} metrics>'

    def _repr_html_(self) -> str:
        rows = [(name, str(one), one.unit, '' if one.device is None else one.device) for name, all in self._all.items() for one in all]
        return _html.table(('metric', 'value', 'unit', 'device'), rows)

"""PyTorch: its profiler and the telemetry of the machine in one session."""
from __future__ import annotations

import os
import time
from typing import Any, Optional

from aaco import _world
from aaco.errors import Unsupported
from aaco.measuring import Duration
from aaco.recording import Recording
from aaco.session import Session

_MARKS = 5  # at each end; the one with the least delay counts


class torch_profile:  # noqa: N801: it reads as a statement
    """Profiles a block with torch.profiler and records telemetry of this process beside it; both become one session, on one clock.

        with aaco.torch_profile(tag="train") as profile:
            for batch in batches:
                train(batch)
        profile.session.explain()

    activities, record_shapes, with_stack, with_flops ...: as torch.profiler.profile() takes them. profile.profiler is that object.
    range() marks the timeline as in a recording. Raises Unsupported without PyTorch.
    """

    def __init__(self, name: str = '', *, tag: str = '', telemetry_period: Optional[Duration] = None,
                 sessions: Optional[_world.PathLike] = None, **options: Any) -> None:
        self._recording = Recording(name, tag=tag, telemetry_period=telemetry_period, sessions=sessions)
        self._options = options
        self._torch: Any = None
        self.profiler: Any = None

    @property
    def session(self) -> Session:
        """The stored session, once the block has ended."""
        return self._recording.session

    def _mark(self) -> None:
        """Events named by the time of their start: what leads from the trace's clock to that of the telemetry."""
        for _ in range(_MARKS):
            with self._torch.record_function(f'aaco.clock {time.monotonic_ns()}'):
                pass

    def __enter__(self) -> torch_profile:
        try:
            import torch.profiler
        except ImportError as error:
            raise Unsupported('PyTorch is not installed for this interpreter', 'pip install torch, or use aaco.record()') from error
        self._torch = torch.profiler
        self._recording.start()
        try:
            self.profiler = torch.profiler.profile(**self._options)
            self.profiler.__enter__()
            self._mark()
        except BaseException:
            self._recording.stop(interrupted=True)
            raise
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        import tempfile
        with tempfile.TemporaryDirectory(prefix='aaco-torch-') as folder:
            trace = os.path.join(folder, 'trace.json')
            try:
                self._mark()
                self.profiler.__exit__(kind, *rest)
                self.profiler.export_chrome_trace(trace)
                shift_ns = clock_shift_ns(trace)
            except BaseException:
                self._recording.stop(interrupted=True)
                raise
            self._recording.stop(interrupted=kind is not None, trace=trace, shift_ns=shift_ns)


def clock_shift_ns(trace: str) -> int:
    """What is added to the times of a trace to get CLOCK_MONOTONIC; 0 without marks. An event begins after its name was made, so the
    largest difference is the nearest to the truth."""
    import mmap
    import re
    from decimal import Decimal
    pattern = re.compile(rb'"name"\s*:\s*"aaco\.clock (\d+)"[^{}]*?"ts"\s*:\s*"?([0-9.]+)')
    with open(trace, 'rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        shifts = [int(made) - int(Decimal(start.decode()) * 1000) for made, start in pattern.findall(data)]  # type: ignore[arg-type]
    return max(shifts, default=0)

"""PyTorch: its profiler and the telemetry of the machine in one session."""
from __future__ import annotations

import os
import time
from typing import Any, Optional

from aaco import _world
from aaco.errors import InvalidInput, Unsupported
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

    activities, record_shapes, with_stack, with_flops ...: as torch.profiler.profile() takes them. profile.profiler is that object; with
    `schedule` call profile.profiler.step() after each step, and the session has the operators of the last cycle that was recorded.
    range() marks the timeline as in a recording. Raises Unsupported without PyTorch, InvalidInput where no step was recorded.
    """

    def __init__(self, name: str = '', *, tag: str = '', telemetry_period: Optional[Duration] = None,
                 sessions: Optional[_world.PathLike] = None, **options: Any) -> None:
        self._recording = Recording(name, tag=tag, telemetry_period=telemetry_period, sessions=sessions)
        self._options = options
        self._torch: Any = None
        self.profiler: Any = None
        self._saved = ''  # by a handler of the caller; PyTorch saves a trace once

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
            self._saved = ''
            self._observe(self.profiler)
            self.profiler.__enter__()
            self._mark()
        except BaseException:
            self._recording.stop(interrupted=True)
            raise
        return self

    def _observe(self, profiler: Any) -> None:
        """Marks each step, so that every cycle of a schedule has marks, and remembers the file of a trace that the caller saves."""
        step, export = getattr(profiler, 'step', None), profiler.export_chrome_trace

        def marked_step() -> None:
            step()
            self._mark()

        def seen_export(path: Any) -> Any:
            result = export(path)
            self._saved = os.fspath(path)
            return result
        if step is not None and self._options.get('schedule'):
            profiler.step = marked_step
        profiler.export_chrome_trace = seen_export

    def _export(self, trace: str) -> None:
        saved = self._saved
        try:
            self.profiler.export_chrome_trace(trace)
        except AssertionError as error:
            raise InvalidInput('PyTorch recorded no step', 'let the schedule reach an active step, and call profile.profiler.step()') from error
        except RuntimeError:
            if not saved:
                raise
            import gzip
            import shutil
            with (gzip.open if saved.endswith('.gz') else open)(saved, 'rb') as source, open(trace, 'wb') as target:
                shutil.copyfileobj(source, target)

    def __exit__(self, kind: Any, *rest: Any) -> None:
        import tempfile
        if self._recording.of_parent:
            return
        with tempfile.TemporaryDirectory(prefix='aaco-torch-') as folder:
            trace = os.path.join(folder, 'trace.json')
            try:
                self._mark()
                self.profiler.__exit__(kind, *rest)
                self._export(trace)
                shift_ns = clock_shift_ns(trace)
            except BaseException:
                self._recording.stop(interrupted=True)
                raise
            self._recording.stop(interrupted=kind is not None, trace=trace, shift_ns=shift_ns)


def clock_shift_ns(trace: str) -> int:
    """What is added to the times of a trace to get CLOCK_MONOTONIC. An event begins after its name was made, so the largest difference is
    the nearest to the truth. Raises InvalidInput without marks: times that lead nowhere are worse than none."""
    import mmap
    import re
    from decimal import Decimal
    pattern = re.compile(rb'"name"\s*:\s*"aaco\.clock (\d+)"[^{}]*?"ts"\s*:\s*"?([0-9.]+)')
    with open(trace, 'rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        shifts = [int(made) - int(Decimal(start.decode()) * 1000) for made, start in pattern.findall(data)]  # type: ignore[arg-type]
    if not shifts:
        raise InvalidInput("the trace has no mark that leads from PyTorch's clock to that of the telemetry",
                           'with a schedule, call profile.profiler.step() after each step')
    return max(shifts)

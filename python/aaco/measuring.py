"""Measuring: models, programs, traces of other profilers."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Optional, Union

from aaco import _core, _world
from aaco.errors import InvalidArgument
from aaco.session import Session, open

Duration = Union[float, str, timedelta]  # seconds, or "500ms"
Ratio = Union[float, str]  # 0..1, or "5%"


class _Inputs:
    """Arrays among the inputs as files, while a run lasts."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._inputs = _world.mapping(inputs, 'inputs')
        self._folder: Any = None

    def __enter__(self) -> dict[str, str]:
        import tempfile
        files = {}
        for number, (name, value) in enumerate(self._inputs.items()):
            if isinstance(value, (str, os.PathLike)):
                files[name] = os.fspath(value)
                continue
            import numpy
            array = numpy.ascontiguousarray(value)
            if array.dtype.hasobject:
                self.__exit__()
                raise InvalidArgument(f'input {name} is an array of objects', 'convert it, for example with .astype("float32")')
            self._folder = self._folder or tempfile.TemporaryDirectory(prefix='aaco-inputs-')
            files[name] = os.path.join(self._folder.name, f'{number}.npy')
            numpy.save(files[name], array, allow_pickle=False)
        return files

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def run(model: _world.PathLike, *, sessions: Optional[_world.PathLike] = None, progress: _world.Progress = None,
        inputs: Optional[Mapping[str, Any]] = None, **options: Any) -> Session:
    """Runs a model on ONNX Runtime in this process and stores the measurement as a session.

    model: an .onnx file, or a name of configs/models.yaml such as resnet50.

    What runs (options): backend ("cpu", "migraphx", "rocm", "cuda" ...), batch, dims ({symbol: size}), shapes ({input: sizes}),
    inputs ({input: array, or file .npy, .npz, .pb}), provider_options, threads, graph_level, seed, dtype, ort_library, allow_fallback.

    How it is measured (options): duration (seconds or "10s"), iterations, warmup (iterations), precision (measure until the 95 % CI of
    the median is at most this wide: 0.01 or "1%"), telemetry, telemetry_period, ebpf, profile, profile_domains, counters, isolate,
    isolate_set, drop_disturbed, inject_delay, tag.

    The options mean what those of `aaco run` mean. Ctrl-C ends the measurement: what was measured is stored, and KeyboardInterrupt is
    raised. Raises Unsupported without ONNX Runtime, NotFound for an unknown model, InvalidArgument for wrong options.
    """
    with _Inputs({} if inputs is None else inputs) as files:
        path = _core.run(_world.current(sessions, progress), {**options, 'model': _world.path(model, 'model'), 'inputs': files})
    return open(path)


def observe(command: Union[str, Sequence[_world.PathLike]] = (), *, pid: Optional[int] = None, duration: Optional[Duration] = None,
            telemetry_period: Optional[Duration] = None, ebpf: bool = False, tag: str = '',
            sessions: Optional[_world.PathLike] = None, progress: _world.Progress = None) -> Session:
    """Observes a program and its children from start to end, or a running process (pid) for `duration`, and stores the session.

    command: program and arguments; no shell is used. Its exit code is session.outcome["exit_code"]. Its output goes where this
    process's goes. Raises NotFound where the program does not exist.
    """
    words = _world.paths(command, 'command')
    path, _ = _core.observe(_world.current(sessions, progress), {
        'command': words, 'pid': pid, 'duration': duration, 'telemetry_period': telemetry_period, 'ebpf': ebpf, 'tag': tag})
    return open(path)


def import_(*paths: _world.PathLike, captures: Sequence[_world.PathLike] = (), graph: str = '', batch: Optional[int] = None, tag: str = '',
            keep_raw: bool = False, sessions: Optional[_world.PathLike] = None, progress: _world.Progress = None) -> Session:
    """Makes one session of what other profilers wrote: PyTorch (Kineto), Nsight Systems, rocprof, rocprofv3, ONNX Runtime, JAX ...

    paths: files and folders. graph: the model that ran, to match kernels to its nodes. The options mean what those of `aaco import`
    mean. Raises InvalidInput where no file is of a known format.
    """
    path = _core.import_(_world.current(sessions, progress), {
        'paths': _world.paths(paths, 'paths'), 'captures': _world.paths(captures, 'captures'), 'graph': graph,
        'batch': batch, 'tag': tag, 'keep_raw': keep_raw})
    return open(path)

"""AACO, the AI Compute Observatory: where the time of an AI workload goes, why it changed, and how far it is from the hardware.

    import aaco

    session = aaco.run("squeezenet1.1", duration=5, telemetry=True, profile=True)
    session.metrics["latency.p50_ns"].value          # ns; .ci95 is its 95 % confidence interval
    session.table("node_executions").to_pandas()     # any table of the session
    aaco.diff("tag:before", session).verdict         # what changed, by how much, and how certain that is

Sessions are stored below `sessions/` in the current folder, $AACO_SESSIONS, or `sessions=` of each function. Functions print nothing
unless `progress=` asks for it. Times are nanoseconds (`_ns`), sizes bytes (`_bytes`), ratios 0..1 (`_ratio`); durations that you pass
are seconds or texts such as "500ms". Errors are subclasses of `aaco.Error` and say what to do next. Every function can be called from
any thread; the interpreter's lock is released while it works, and Ctrl-C ends a measurement early with the data kept.
"""
from aaco import _interpreter  # first: it refuses where the rest would wait for ever
from aaco._core import __version__
from aaco.classes import BottleneckClassifier, ORTRunner, SessionManager
from aaco.comparison import Comparison, ab, diff
from aaco.errors import Error
from aaco.judging import Analysis, Explanation, History, analyze, explain, history
from aaco.measuring import import_, observe, run
from aaco.metric import Metric, Metrics
from aaco.recording import Recording, range, record
from aaco.session import Session, open, sessions
from aaco.table import Column, Table, query
from aaco.torch import torch_profile

__all__ = [
    'Analysis', 'BottleneckClassifier', 'Column', 'Comparison', 'Error', 'Explanation', 'History', 'Metric', 'Metrics', 'ORTRunner',
    'Recording', 'Session', 'SessionManager', 'Table', '__version__', 'ab', 'analyze', 'diff', 'explain', 'history', 'import_', 'observe',
    'open', 'query', 'range', 'record', 'run', 'sessions', 'torch_profile',
]

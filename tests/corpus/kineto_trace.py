"""Reads a Kineto (Chrome trace) file and answers plain questions about it.

All times are integer nanoseconds on the clock of the file. This reader is independent of the program: it is the
notebook from which the truths of the corpus were judged, and shares no code with the importers.
"""

import bisect
import collections
import decimal
import functools
import gzip
import json

DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset"}
RUNTIME_CATEGORIES = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime", "hip_driver"}

Event = collections.namedtuple("Event", "name category start end pid tid args")


def category_of(record):
    """Categories in one spelling: the dialect of 2021 wrote "Kernel", "Memcpy", "Runtime"."""
    category = record.get("cat", "").lower()
    return {
        "memcpy": "gpu_memcpy",
        "memset": "gpu_memset",
        "operator": "cpu_op",
        "python": "python_function",
    }.get(category, category)


def nanoseconds(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


@functools.lru_cache(maxsize=3)
def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    document = json.loads(text, strict=False, parse_float=decimal.Decimal)  # A double loses 256 ns at 1.6e18 ns.
    records = document if isinstance(document, list) else document.get("traceEvents", [])
    events = []
    for record in records:
        if record.get("ph") != "X" or "dur" not in record:
            continue
        start = nanoseconds(record["ts"])
        end = start + nanoseconds(record["dur"])
        events.append(
            Event(
                str(record.get("name", "")), category_of(record), start, end, record.get("pid"), record.get("tid"),
                record.get("args") or {},
            )
        )
    return Trace(path, document if isinstance(document, dict) else {}, records, events)


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(merged):
    return sum(end - start for start, end in merged)


def overlap(merged, start, end):
    """Length of the part of [start, end) which a sorted list of disjoint intervals covers."""
    total = 0
    index = max(0, bisect.bisect_left(merged, [start, start]) - 1)
    for begin, finish in merged[index:]:
        if begin >= end:
            break
        total += max(0, min(finish, end) - max(begin, start))
    return total


class Trace:
    def __init__(self, path, document, records, events):
        self.path = path
        self.document = document
        self.records = records
        self.events = events

    @functools.cached_property
    def by_category(self):
        table = collections.defaultdict(list)
        for event in self.events:
            table[event.category].append(event)
        for rows in table.values():
            rows.sort(key=lambda event: (event.start, -event.end))
        return table

    @functools.cached_property
    def kernels(self):
        return self.by_category["kernel"]

    def device_events(self, device=None):
        rows = [event for event in self.events if event.category in DEVICE_CATEGORIES]
        if device is not None:
            rows = [event for event in rows if event.args.get("device", event.pid) == device]
        return sorted(rows, key=lambda event: event.start)

    @functools.cached_property
    def runtime_calls(self):
        rows = [event for category in RUNTIME_CATEGORIES for event in self.by_category.get(category, [])]
        return sorted(rows, key=lambda event: event.start)

    def busy(self, device=None):
        return union([(event.start, event.end) for event in self.device_events(device)])

    def gaps(self, device=None):
        """Idle intervals between the first and the last event of the device, longest first."""
        busy = self.busy(device)
        rows = [(after[0] - before[1], before[1], after[0]) for before, after in zip(busy, busy[1:])]
        return sorted(rows, reverse=True)

    def span(self):
        """First start to last end of everything timed, without the enclosing spans of the profiler itself."""
        rows = [event for event in self.events if event.category not in ("trace", "overhead", "traces", "")]
        return (min((event.start for event in rows), default=0), max((event.end for event in rows), default=0))

    def summary(self, device=None):
        rows = self.device_events(device)
        if not rows:
            return None
        busy = self.busy(device)
        first, last = busy[0][0], busy[-1][1]
        return {
            "device_span_ns": last - first,
            "busy_ns": length(busy),
            "idle_share": round(1 - length(busy) / (last - first), 4) if last > first else None,
            "kernels": sum(1 for event in rows if event.category == "kernel"),
            "kernel_sum_ns": sum(event.end - event.start for event in rows if event.category == "kernel"),
            "copies": sum(1 for event in rows if event.category == "gpu_memcpy"),
            "copy_sum_ns": sum(event.end - event.start for event in rows if event.category == "gpu_memcpy"),
        }

    def time_by_name(self, rows=None):
        table = collections.Counter()
        for event in self.kernels if rows is None else rows:
            table[event.name] += event.end - event.start
        return table

    @functools.cached_property
    def launch_of(self):
        """The runtime call of each correlation id."""
        table = {}
        for call in self.runtime_calls:
            correlation = call.args.get("correlation")
            if correlation is not None:
                table[correlation] = call
        return table

    def launch(self, event):
        return self.launch_of.get(event.args.get("correlation"))

    @functools.cached_property
    def by_thread(self):
        table = collections.defaultdict(list)
        for event in self.events:
            if event.category not in DEVICE_CATEGORIES and event.category not in ("gpu_user_annotation", "trace", "overhead"):
                table[(event.pid, event.tid)].append(event)
        for rows in table.values():
            rows.sort(key=lambda event: (event.start, -event.end))
        return table

    def thread_work(self, thread, start, end, least=0.5):
        """Events of one thread that cover at least a share of an interval, outermost first."""
        rows = []
        for event in self.by_thread.get(thread, []):
            if event.start >= end:
                break
            covered = min(event.end, end) - max(event.start, start)
            if covered >= least * (end - start):
                rows.append((event, covered))
        return sorted(rows, key=lambda pair: (pair[0].start, -pair[0].end))

    def top_level_time(self, thread, start, end, categories=None):
        """Exclusive ("self") time by name of the events of one thread inside an interval."""
        table = collections.Counter()
        stack = []

        def close(event, inner):
            inside = max(0, min(event.end, end) - max(event.start, start))
            table[(event.category, event.name)] += inside - inner

        for event in self.by_thread.get(thread, []):
            if event.start >= end or event.end <= start or (categories and event.category not in categories):
                continue
            while stack and (stack[-1][0].end <= event.start or stack[-1][0].end < event.end):
                close(*stack.pop())
            if stack:
                stack[-1][1] += max(0, min(event.end, end) - max(event.start, start))
            stack.append([event, 0])
        while stack:
            close(*stack.pop())
        return table

    @functools.cached_property
    def operator_tree(self):
        """Operators of each thread by start, with the index of the operator around each."""
        tree = {}
        for thread, events in self.by_thread.items():
            operators = [event for event in events if event.category == "cpu_op"]
            parents, stack = [], []
            for index, event in enumerate(operators):
                while stack and operators[stack[-1]].end <= event.start:
                    stack.pop()
                parents.append(stack[-1] if stack else -1)
                stack.append(index)
            tree[thread] = ([event.start for event in operators], operators, parents)
        return tree

    def operators_above(self, call):
        """Operators around a call on its thread, innermost first."""
        starts, operators, parents = self.operator_tree.get((call.pid, call.tid), ([], [], []))
        index = bisect.bisect_right(starts, call.start) - 1
        rows = []
        while index >= 0:
            if operators[index].end >= call.end:
                rows.append(operators[index])
            index = parents[index]
        return rows

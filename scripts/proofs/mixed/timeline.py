"""A host with threads and a device with streams in simulated time; writes a PyTorch trace and knows why the device was idle.

Every moment of a thread has a label (cause, frame). A gap of the device is what the thread that launched the next work did in it: that is
the truth, computed here and never asked of the program. Times are microseconds.
"""
import bisect
import collections
import contextlib
import gzip
import json
import random

HOST = 'host'
CLASS_OF = {'launch': 'launch', 'graph-launch': 'launch', 'launch-latency': 'launch', 'synchronous-copy': 'transfer', 'first-use': 'warmup', 'jit-compilation': 'warmup',
            'library-initialisation': 'warmup', 'device-latency': 'cannot-tell'}
# Other words for the same moment: a metric sent to its server is logging, by the frame around the socket.
NEAR = {'python': ['framework', 'host-code', 'optimiser-host'], 'framework': ['python', 'launch'], 'host-code': ['python'], 'launch': ['framework'], 'synchronous-copy': ['host', 'synchronisation'],
        'graph-launch': ['launch'], 'lock': ['synchronisation', 'data-loading', 'host-code'], 'device-latency': ['launch-latency', 'launch', 'cannot-tell'], 'recv_into': ['logging']}
LEAST_GAP_US = 100.0


def class_of(cause):
    return CLASS_OF.get(cause, HOST)


class Thread:
    def __init__(self, rank, tid, now):
        self.rank, self.tid, self.now = rank, tid, now
        self.labels, self.segments, self.ops, self.frames = [('python', '')], [], [], []

    def spend(self, us):
        """Time passes; it counts for the innermost label."""
        self.segments.append((self.now, self.now + us, self.labels[-1]))
        self.now += us

    def wait_until(self, moment):
        if moment > self.now:
            self.spend(moment - self.now)

    @contextlib.contextmanager
    def scope(self, category, name, label, arguments):
        event = {'ph': 'X', 'cat': category, 'name': name, 'pid': self.rank.pid, 'tid': self.tid, 'ts': self.now, 'args': arguments}
        self.rank.events.append(event)
        if label:
            self.labels.append(label)
        yield event
        if label:
            self.labels.pop()
        event['dur'] = self.now - event['ts']

    @contextlib.contextmanager
    def frame(self, name, cause=None, part=None):
        """A Python frame; with `cause` the truth of its own time. `part`: what of the name an answer must quote."""
        self.rank.python_id += 1
        arguments = {'Python id': self.rank.python_id, 'Python parent id': self.frames[-1] if self.frames else None}
        self.frames.append(self.rank.python_id)
        if not self.rank.with_stack:
            if cause:
                self.labels.append((cause, part or name))
            yield
            if cause:
                self.labels.pop()
        else:
            with self.scope('python_function', name, (cause, part or name) if cause else None, arguments):
                yield
        self.frames.pop()

    @contextlib.contextmanager
    def op(self, name, cause='framework', shapes=None, before=2.0, after=1.0, part=None):
        self.rank.external += 1
        arguments = {'External id': self.rank.external}
        if shapes:
            arguments |= {'Input Dims': shapes, 'Input type': ['c10::BFloat16'] * len(shapes)}
        self.ops.append(self.rank.external)
        with self.scope('cpu_op', name, (cause, part or name), arguments):
            self.spend(before)
            yield
            self.spend(after)
        self.ops.pop()

    @contextlib.contextmanager
    def range(self, name, cause=None):
        self.rank.external += 1
        with self.scope('user_annotation', name, (cause, name) if cause else None, {'External id': self.rank.external}):
            yield

    def call(self, name, us, cause='launch'):
        self.rank.correlation += 1
        with self.scope('cuda_runtime', name, (cause, name), {'cid': 211, 'correlation': self.rank.correlation}):
            self.spend(us)
        return self.rank.correlation

    def launch(self, kernel, us, stream=7, call_us=4.0, cause='launch', latency=3.0, name=None, **arguments):
        begin = self.now
        correlation = self.call(name or self.rank.launch_call, call_us, cause)
        self.rank.work('kernel', kernel, us, stream, begin, self, latency, correlation, arguments)

    def replay(self, kernels, stream=7, call_us=12.0):
        begin = self.now
        correlation = self.call(self.rank.api + 'GraphLaunch', call_us, 'graph-launch')
        for kernel, us in kernels:
            self.rank.work('kernel', kernel, us, stream, begin, self, 3.0, correlation, {})

    def copy(self, kind, size, us, stream=7, blocking=True):
        """`kind`: HtoD or DtoH. A blocking copy keeps the thread until the bytes are there."""
        begin = self.now
        self.rank.correlation += 1
        name = self.rank.api + ('MemcpyWithStream' if blocking and self.rank.api == 'hip' else 'MemcpyAsync')
        with self.scope('cuda_runtime', name, ('synchronous-copy', name), {'cid': 51, 'correlation': self.rank.correlation}):
            self.spend(5.0)
            end = self.rank.work('gpu_memcpy', f'Memcpy {kind}', us, stream, begin, self, 4.0, self.rank.correlation, {'bytes': size, 'kind': kind})
            if blocking:
                self.wait_until(end + 4.0)

    def synchronise(self, name='DeviceSynchronize'):
        self.rank.correlation += 1
        with self.scope('cuda_runtime', self.rank.api + name, ('synchronisation', name), {'cid': 5, 'correlation': self.rank.correlation}):
            self.spend(3.0)
            self.wait_until(max(self.rank.free.values(), default=0) + 4.0)


class Rank:
    def __init__(self, seed, number=0, world=1, api='hip', with_stack=True, device='AMD Instinct MI300X', start=5_000_000.0):
        self.random = random.Random(f'{seed} {number}')
        self.number, self.world, self.api, self.with_stack, self.device_name = number, world, api, with_stack, device
        self.pid, self.correlation, self.external, self.python_id = 4100 + number, 1000, 1, 0
        self.launch_call = 'hipLaunchKernel' if api == 'hip' else 'cudaLaunchKernel'
        self.events, self.free, self.done, self.start = [], {}, [], start
        self.threads = []

    def thread(self, tid, now=None):
        self.threads.append(Thread(self, tid, self.start if now is None else now))
        return self.threads[-1]

    def around(self, us, spread=0.15):
        return us * self.random.uniform(1 - spread, 1 + spread)

    def work(self, category, name, us, stream, launched, thread, latency, correlation, arguments):
        begin = max(thread.now + latency, self.free.get(stream, 0) + 1.0, arguments.pop('not_before', 0))
        end = begin + us
        self.free[stream] = end
        details = {'device': self.number, 'stream': stream, 'correlation': correlation, 'External id': thread.ops[-1] if thread.ops else 0}
        if category == 'kernel':
            details |= {'grid': [max(1, int(us * 8)), 1, 1], 'block': [256, 1, 1]}
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': self.number, 'tid': stream, 'ts': begin, 'dur': us, 'args': details | arguments})
        for ph, ts, pid, tid in (('s', launched, self.pid, thread.tid), ('f', begin, self.number, stream)):
            self.events.append({'ph': ph, 'id': correlation, 'cat': 'ac2g', 'name': 'ac2g', 'ts': ts, 'pid': pid, 'tid': tid, **({'bp': 'e'} if ph == 'f' else {})})
        self.done.append((begin, end, category, name, thread, thread.now))
        return end

    def gaps(self):
        """(begin, end, {label: us}) of every idle interval."""
        found, last = [], None
        for begin, end, _, _, thread, launched in sorted(self.done, key=lambda work: work[:2]):
            if last is not None and begin > last:
                found.append((last, begin, self.labels_of(thread, last, begin, launched)))
            last = end if last is None else max(last, end)
        return found

    @staticmethod
    def labels_of(thread, begin, end, launched):
        times = collections.Counter()
        at = max(0, bisect.bisect(thread.segments, (begin,)) - 1)
        for from_, to, label in thread.segments[at:]:
            if from_ >= min(end, launched):
                break
            times[label] += max(0.0, min(to, end, launched) - max(from_, begin))
        if launched < end:
            times[('device-latency', '')] += end - max(begin, launched)
        return times

    def span(self):
        return min(work[0] for work in self.done), max(work[1] for work in self.done)

    def exposed(self, keep):
        """Time in which work that `keep` accepts runs and none that it refuses."""
        points = []
        for begin, end, category, name, _, _ in self.done:
            points += [(begin, 1, keep(category, name)), (end, -1, keep(category, name))]
        total, running, last = 0.0, {True: 0, False: 0}, 0
        for moment, step, kept in sorted(points):
            if running[True] and not running[False]:
                total += moment - last
            running[kept] += step
            last = moment
        return total

    def write(self, path):
        metadata = {'schemaVersion': 1, 'record_shapes': 1, 'with_stack': int(self.with_stack), 'displayTimeUnit': 'ms', 'baseTimeNanoseconds': 1790000000000000000,
                    'deviceProperties': [{'id': i, 'name': self.device_name, 'numSms': 304} for i in range(max(1, self.world))]}
        if self.world > 1:
            metadata['distributedInfo'] = {'backend': 'nccl', 'rank': self.number, 'world_size': self.world}
        for event in self.events:
            event['ts'] = round(event['ts'], 3)
            if 'dur' in event:
                event['dur'] = round(event['dur'], 3)
        names = [{'ph': 'M', 'name': 'process_name', 'pid': self.pid, 'tid': 0, 'args': {'name': 'python3'}}]
        with gzip.open(path, 'wt', compresslevel=3) as out:
            json.dump(metadata | {'traceEvents': names + self.events}, out)


def gap_cases(rank, seed, most=9):
    """What a gap's true answer is: its largest label, others of a quarter and more as second answers."""
    chosen, gaps = random.Random(seed), [gap for gap in rank.gaps() if gap[1] - gap[0] >= LEAST_GAP_US]
    by_cause = collections.defaultdict(list)
    for gap in gaps:
        by_cause[max(gap[2], key=gap[2].get)].append(gap)
    picked = []
    while len(picked) < most and any(by_cause.values()):
        for label in sorted(by_cause):
            if by_cause[label] and len(picked) < most:
                picked.append(by_cause[label].pop(chosen.randrange(len(by_cause[label]))))
    for begin, end, labels in picked:
        (cause, frame), _ = labels.most_common(1)[0]
        seconds = {other for (other, _), us in labels.items() if us >= 0.25 * (end - begin)} - {cause} | set(NEAR.get(cause, [])) | set(NEAR.get(frame, []))
        truth = {'class': class_of(cause), 'cause': cause, 'seconds': sorted(seconds)}
        if cause in ('host-code', 'host-operator') and frame:
            truth['frame'] = frame
        yield begin, end, truth

"""The faults of unseen_faults.py: how each is made and the causes that are true of it."""
import ctypes
import os
import signal
import subprocess
import threading
import time

CONTENTION = {'cpu_contention'}
PRIORITY = CONTENTION | {'priority'}  # a low priority shows as waiting beside other processes
# The caller computes longer in the same nodes: where nothing else is recorded, "slower_execution" is what the session shows.
COMPUTE = {'host_computing', 'compute_bound', 'slower_execution'}
WAITING = {'host_waiting', 'cpu_contention'}
OWN_THREADS = {'cpu_placement', 'threads'}  # threads of the run wait for each other, not for other processes


class Fault:
    """One fault: how it is made and the causes that are true of it. A preloaded library is itself a cause of what it does."""

    def __init__(self, name, causes, preload=None, strength=0.5, beside=None, prefix=(), arguments=(), cgroup=None):
        self.name, self.causes, self.preload, self.strength = name, set(causes) | ({'preload'} if preload else set()), preload, strength
        self.beside, self.prefix, self.arguments, self.cgroup = beside, list(prefix), list(arguments), cgroup


def spin(count, cpus=None, nice=0):
    """Processes that compute, on `cpus`."""
    def begin(_):
        def ready():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with this script
            if cpus is not None:
                os.sched_setaffinity(0, cpus)
            os.nice(nice)
        return [subprocess.Popen(['sh', '-c', 'while :; do :; done'], preexec_fn=ready) for _ in range(count)]
    return begin


class Stopper:
    """Stops a process for `stopped` of every period."""

    def __init__(self, hertz, stopped):
        self.hertz, self.stopped = hertz, stopped

    def __call__(self, pid):
        self.going = True
        self.thread = threading.Thread(target=self.run, args=(pid,))
        self.thread.start()
        return [self]

    def run(self, pid):
        while self.going:
            try:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(self.stopped / self.hertz)
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                return
            time.sleep((1 - self.stopped) / self.hertz)

    def kill(self):
        self.going = False
        self.thread.join()

    def wait(self):
        pass


class Renicer:
    def __init__(self, nice):
        self.nice = nice

    def __call__(self, pid):
        time.sleep(0.1)
        subprocess.run(['renice', '-n', str(self.nice), '-p', str(pid)], capture_output=True, check=False)
        return []


def both(*parts):
    return lambda pid: [one for part in parts for one in part(pid)]


def faults(threads):
    cpus = sorted(os.sched_getaffinity(0))
    first, everywhere = {cpus[0]}, len(cpus)
    yield Fault('memcpy_slow', COMPUTE | {'memory_bound'}, preload='memcpy_slow', strength=100)
    yield Fault('tlb_storm', COMPUTE | CONTENTION | {'page_faults', 'interrupts', 'memory_contention'}, preload='tlb_storm', strength=0.9)
    yield Fault('cache_storm', CONTENTION | {'memory_contention', 'memory_bound'}, preload='cache_storm', strength=0.9)
    yield Fault('protect_storm', CONTENTION | {'interrupts', 'page_faults', 'memory_contention'}, preload='protect_storm', strength=0.9)
    yield Fault('fork_storm', CONTENTION | {'page_faults', 'host_computing'}, preload='fork_storm', strength=0.95)
    yield Fault('sync_writer', CONTENTION | {'storage'}, preload='sync_writer', strength=1)
    yield Fault('own_spinner', OWN_THREADS, preload='own_spinner', strength=1)
    yield Fault('own_spinners', OWN_THREADS, preload='own_spinners', strength=1)
    yield Fault('signals', COMPUTE | {'interrupts', 'host_computing'}, preload='signals', strength=2)
    yield Fault('stops_50_hz', WAITING | {'stopped'}, beside=Stopper(50, 0.5))
    yield Fault('stops_10_hz', WAITING | {'stopped'}, beside=Stopper(10, 0.4))
    yield Fault('stops_2_hz', WAITING | {'stopped'}, beside=Stopper(2, 0.4))
    yield Fault('hogs_nice_10', CONTENTION, beside=spin(4 * everywhere, nice=10))
    yield Fault('hogs_everywhere', CONTENTION, beside=spin(2 * everywhere))
    yield Fault('hogs_first_cpu', CONTENTION, beside=spin(2, first))
    yield Fault('run_nice_19', PRIORITY, beside=both(Renicer(19), spin(everywhere)))
    yield Fault('run_batch', PRIORITY, prefix=['chrt', '-b', '0', 'nice', '-n', '10'], beside=spin(everywhere))
    yield Fault('run_idle', PRIORITY, prefix=['chrt', '-i', '0'], beside=spin(everywhere))
    yield Fault('one_cpu', {'cpu_placement', 'threads'}, prefix=['taskset', '-c', str(cpus[0])])
    yield Fault('one_cpu_and_hog', {'cpu_placement', 'threads'} | CONTENTION, prefix=['taskset', '-c', str(cpus[0])], beside=spin(1, first))
    yield Fault('quota_20', {'cpu_throttling'}, cgroup=0.2)
    yield Fault('quota_nested', {'cpu_throttling'}, cgroup=0.3)
    yield Fault('quota_and_hog', {'cpu_throttling'} | CONTENTION, cgroup=0.25, beside=spin(2 * everywhere))
    yield Fault('other_threads', {'threads'} | OWN_THREADS | CONTENTION, arguments=['--threads', '1' if threads != '1' else str(4 * everywhere)])
    yield Fault('no_optimisation', {'graph_optimisation'}, arguments=['--graph-level', 'disabled'])
    yield Fault('other_model', {'model'}, arguments=['--model', 'resnet18'])
    yield Fault('basic_and_hogs', {'graph_optimisation'} | CONTENTION, arguments=['--graph-level', 'disabled'], beside=spin(everywhere))
    yield Fault('basic_and_stops', {'graph_optimisation', 'stopped'} | WAITING, arguments=['--graph-level', 'disabled'], beside=Stopper(20, 0.4))
    yield Fault('spinner_and_memcpy', CONTENTION | COMPUTE | OWN_THREADS, preload='own_spinner', strength=0.8, beside=spin(1))
    yield Fault('cache_and_hogs', CONTENTION | {'memory_contention'}, preload='cache_storm', strength=0.9, beside=spin(everywhere))
    # Everything of the run on one CPU, so that what it does beside the calls is felt with one thread too.
    pinned = ['taskset', '-c', str(cpus[0])]
    yield Fault('tlb_storm_one_cpu', COMPUTE | OWN_THREADS | CONTENTION | {'page_faults', 'interrupts', 'memory_contention'}, preload='tlb_storm', strength=0.9, prefix=pinned)
    yield Fault('own_spinner_one_cpu', OWN_THREADS, preload='own_spinner', strength=1, prefix=pinned)
    yield Fault('two_hogs_one_cpu', OWN_THREADS | CONTENTION, prefix=pinned, beside=spin(2, first))
    yield Fault('memcpy_sleeps', WAITING, preload='memcpy_sleeps', strength=100)
    yield Fault('calls_slow', COMPUTE, preload='clock_slow', strength=1)
    yield Fault('calls_sleep', WAITING, preload='clock_sleeps', strength=1)
    yield Fault('calls_touch_memory', COMPUTE | {'page_faults'}, preload='clock_faults', strength=1)
    yield Fault('stops_and_spinners', OWN_THREADS | WAITING | {'stopped'}, preload='own_spinners', strength=1, beside=Stopper(20, 0.4))
    yield Fault('writer_and_fork', CONTENTION | {'storage', 'page_faults'}, preload='fork_storm', strength=0.9, beside=spin(1))

#!/usr/bin/env python3
"""Faults that the laboratory lacks: is each found, is its cause named first, and do the parts add up?

  scripts/proofs/unseen_faults.py

Every fault is measured in three sessions beside three undisturbed ones, alternating. tests/faults_unseen/faults.c holds what is loaded
into the measured process; the others act from outside (signals, priorities, quotas, hogs) or change the model. Nothing is tuned on them;
every third fault is reported separately as held out. AACO_PROOF_SECONDS: seconds per session (2). AACO_UNSEEN_LOAD: processes that spin
beside every session (0). AACO_UNSEEN_THREADS: threads of the measured process (the runtime's choice). AACO_UNSEEN_FILTER: regular
expression of fault names. AACO_UNSEEN_KEEP: a folder to write what was measured of each fault to, as tests/faults_unseen/recorded has it.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

DESCRIPTION = 'faults the laboratory lacks: found, cause first, parts that add up (15 min; needs a C compiler)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
SECONDS = float(os.environ.get('AACO_PROOF_SECONDS', '2'))
THREADS = os.environ.get('AACO_UNSEEN_THREADS')
LOAD = int(os.environ.get('AACO_UNSEEN_LOAD', '0'))
SESSIONS = 3
MODEL = 'squeezenet1.1'
CONTENTION = {'cpu_contention'}
PRIORITY = CONTENTION | {'priority'}  # a low priority shows as waiting beside other processes
# The caller computes longer in the same nodes: where nothing else is recorded, "slower_execution" is what the session shows.
COMPUTE = {'host_computing', 'compute_bound', 'slower_execution'}
WAITING = {'host_waiting', 'cpu_contention'}
OWN_THREADS = {'cpu_placement', 'threads'}  # threads of the run wait for each other, not for other processes


class Fault:
    """One fault: how it is made and the causes that are true of it."""

    def __init__(self, name, causes, preload=None, strength=0.5, beside=None, prefix=(), arguments=(), cgroup=None):
        self.name, self.causes, self.preload, self.strength = name, set(causes), preload, strength
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


def faults():
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
    yield Fault('other_threads', {'threads'} | OWN_THREADS | CONTENTION, arguments=['--threads', '1' if THREADS != '1' else str(4 * everywhere)])
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


class Quota:
    """A cgroup (v1 or v2) with a CPU quota, given as a share of one CPU times the allowed CPUs; nested one level down."""

    def __init__(self, share):
        self.folder = None
        cpus = len(os.sched_getaffinity(0))
        for root, v2 in (('/sys/fs/cgroup', True), ('/sys/fs/cgroup/cpu', False)):
            outer = pathlib.Path(root) / 'aaco_unseen'
            probe = pathlib.Path(root) / ('cgroup.controllers' if v2 else 'cpu.cfs_quota_us')
            if not probe.exists():
                continue
            try:
                outer.mkdir(exist_ok=True)
                if v2:
                    (outer / 'cgroup.subtree_control').write_text('+cpu')
                inner = outer / 'inner'
                inner.mkdir(exist_ok=True)
                quota = int(share * cpus * 100000)
                if v2:
                    (inner / 'cpu.max').write_text(f'{quota} 100000')
                else:
                    (inner / 'cpu.cfs_quota_us').write_text(str(quota))
                self.folder = inner
                return
            except OSError:
                continue

    def join(self):
        (self.folder / 'cgroup.procs').write_text(str(os.getpid()))

    def remove(self):
        for folder in (self.folder, self.folder.parent):
            try:
                folder.rmdir()
            except OSError:
                pass


def run_session(lake, fault, library):
    """One session, with the fault unless it is None; returns its id."""
    command = [PROGRAM, 'run', '--duration', f'{SECONDS}s', '--profile', '--json']
    if THREADS and not (fault and '--threads' in fault.arguments):
        command += ['--threads', THREADS]
    if not (fault and '--model' in fault.arguments):
        command += ['--model', MODEL]
    environment = os.environ | {'AACO_SESSIONS': lake, 'NO_COLOR': '1'}
    quota = None
    if fault:
        command = fault.prefix + command + fault.arguments
        if fault.preload:
            environment |= {'LD_PRELOAD': library, 'AACO_UNSEEN_FAULT': fault.preload, 'AACO_UNSEEN_STRENGTH': str(fault.strength)}
        if fault.cgroup:
            quota = Quota(fault.cgroup)
            if quota.folder is None:
                return None
    hogs = spin(LOAD)(None)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                               preexec_fn=quota.join if quota else None)
    beside = fault.beside(process.pid) if fault and fault.beside else []
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    for one in beside + hogs:
        one.kill()
        one.wait()
    if quota:
        quota.remove()
    if process.returncode != 0:
        print(f'  run failed ({process.returncode}): {err.strip()[:200]}', flush=True)
        return None
    return json.loads(out)['session']['id']


# Facts of the fingerprint that a kept session has: what was measured, and the CPUs; nothing that names a machine.
KEPT_FACTS = ('model.hash', 'runtime.name', 'runtime.version', 'provider', 'threads.intra', 'threads.inter', 'graph_level', 'input_shapes', 'batch',
              'dtype', 'seed', 'mode', 'cpu.cores', 'cpu.allowed_cores', 'cpu.allowed_list', 'cpu.limit_cores')


def kept(lake, session):
    """Facts, metrics, calls and blocks of a session, times relative to its first block."""
    def ask(*words):
        ran = subprocess.run([PROGRAM, *words, '--json'], capture_output=True, text=True, check=True, env=os.environ | {'AACO_SESSIONS': lake, 'NO_COLOR': '1'})
        return json.loads(ran.stdout)
    path = pathlib.Path(ask('show', session)['session']['path'])
    facts = json.loads((path / 'env.json').read_text())['fingerprint']['facts']
    metrics = {}
    for name in ('inference_summary', 'derived_metrics'):
        if (path / f'metrics/{name}.json').exists():
            metrics |= json.loads((path / f'metrics/{name}.json').read_text())['metrics']
    where = f"session_id = '{session}' AND phase = 'measure' ORDER BY start_ns"
    blocks = ask('query', f'SELECT * EXCLUDE (rank) FROM loop_blocks WHERE {where}')
    calls = ask('query', f'SELECT block, start_ns, duration_ns FROM inference_iters WHERE {where}')
    begin = int(blocks[0]['start_ns'])
    columns = [name for name, value in blocks[0].items() if re.fullmatch(r'-?\d+', str(value))]
    rows = [[row[name] if row[name] is None else int(row[name]) - (begin if name in ('start_ns', 'end_ns') else 0) for name in columns] for row in blocks]
    return {'facts': {key: facts[key] for key in KEPT_FACTS if key in facts}, 'metrics': metrics, 'block_columns': columns, 'blocks': rows,
            'calls': [[int(row['block']), int(row['start_ns']) - begin, int(row['duration_ns'])] for row in calls]}


def keep(folder, lake, fault, a, b):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    document = {'fault': fault.name, 'causes': sorted(fault.causes), 'a': [kept(lake, one) for one in a], 'b': [kept(lake, one) for one in b]}
    (folder / f'{fault.name}.json').write_text(json.dumps(document, separators=(',', ':')) + '\n')


def judge(lake, fault, a, b):
    """What the program says of the pair, and whether it is true."""
    ran = subprocess.run([PROGRAM, 'diff', ','.join(a), ','.join(b), '--json', '--no-store', '--no-history'], capture_output=True, text=True,
                         check=False, env=os.environ | {'AACO_SESSIONS': lake, 'NO_COLOR': '1'})
    if not ran.stdout:
        return {'fault': fault.name, 'error': ran.stderr.strip()[:300]}
    told = json.loads(ran.stdout)
    decided = next((one for one in told['statistics'] if one['metric'] == told.get('decided_by')), told['statistics'][0] if told['statistics'] else {})
    why = told.get('root_cause') or {}
    causes = [one['cause'] for one in why.get('causes', [])]
    document = why.get('decomposition') or {}
    parts = document.get('parts', [])
    row = {'fault': fault.name, 'verdict': told['verdict'], 'decided_by': told.get('decided_by'), 'delta_ratio': decided.get('delta_ratio'),
           'smallest_detectable_ratio': decided.get('smallest_detectable_ratio'), 'causes': causes[:3], 'accepted': sorted(fault.causes),
           'parts': {one['part']: one['delta_ns'] for one in parts[:8]}}
    delta, least = row['delta_ratio'], row['smallest_detectable_ratio']
    row['strong'] = delta is not None and least is not None and abs(delta) >= 2 * least
    row['found'] = told['verdict'] in ('regression', 'improvement')
    row['cause_first'] = bool(causes) and causes[0] in fault.causes
    if parts and document.get('delta_ns') is not None:
        added = sum(one['delta_ns'] for one in parts) + (document.get('unexplained_ns') or 0)
        row['adds_up'] = abs(added - document['delta_ns']) <= 1e-6 * max(abs(document['delta_ns']), 1)
    return row


def summary(rows, title):
    strong = [row for row in rows if row.get('strong')]
    found = [row for row in strong if row['found']]
    named = [row for row in found if row['cause_first']]
    share = lambda part, whole: f'{len(part)} of {len(whole)}' + (f' ({100 * len(part) / len(whole):.0f} %)' if whole else '')
    print(f'{title}: {len(rows)} faults, {len(strong)} with at least twice the smallest detectable effect; found {share(found, strong)}; '
          f'cause first {share(named, found)}; parts that do not add up: {sum(row.get("adds_up") is False for row in rows)}')


def main():
    if sys.argv[1:] in (['--describe'], ['--help'], ['-h']):
        print(DESCRIPTION if sys.argv[1] == '--describe' else f'unseen_faults.py: {__doc__.strip()}')
        return 0
    compiler = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    if compiler is None:
        print('skipped, no C compiler')
        return 77
    wanted = re.compile(os.environ.get('AACO_UNSEEN_FILTER', '.'))
    out = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/unseen_faults')).with_suffix('.json')
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix='aaco-unseen-') as folder:
        library = os.path.join(folder, 'faults.so')
        subprocess.run([compiler, '-O2', '-shared', '-fPIC', '-o', library, str(TOP / 'tests/faults_unseen/faults.c'), '-ldl', '-lpthread'], check=True)
        lake = os.environ.get('AACO_UNSEEN_LAKE') or os.path.join(folder, 'sessions')
        for fault in faults():
            if not wanted.search(fault.name):
                continue
            if fault.prefix and shutil.which(fault.prefix[0]) is None:
                continue
            if LOAD and fault.name == 'run_idle':
                print('run_idle: left out beside load, since an idle-priority process hardly runs then', flush=True)
                continue
            a, b = [], []
            for _ in range(SESSIONS):
                a.append(run_session(lake, None, library))
                b.append(run_session(lake, fault, library))
            if None in a or None in b:
                rows.append({'fault': fault.name, 'error': 'a session could not be measured'})
            else:
                rows.append(judge(lake, fault, a, b))
                if os.environ.get('AACO_UNSEEN_KEEP'):
                    keep(os.environ['AACO_UNSEEN_KEEP'], lake, fault, a, b)
            row = rows[-1]
            print(f'{row["fault"]:22} {row.get("verdict", row.get("error", ""))[:60]:14} {100 * (row.get("delta_ratio") or 0):+8.1f} % '
                  f'(detectable {100 * (row.get("smallest_detectable_ratio") or 0):5.1f} %)  {", ".join(filter(None, row.get("causes", [])))}'
                  f'{"" if row.get("cause_first") or not row.get("found") else "   WRONG, true: " + "/".join(row["accepted"])}', flush=True)
            out.write_text(json.dumps(rows, indent=1))
    good = [row for row in rows if 'error' not in row]
    summary([row for at, row in enumerate(good) if at % 3 != 2], 'seen while writing')
    summary([row for at, row in enumerate(good) if at % 3 == 2], 'held out')
    summary(good, 'all')
    return 0


if __name__ == '__main__':
    sys.exit(main())

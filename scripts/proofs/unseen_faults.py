#!/usr/bin/env python3
"""Faults that the laboratory lacks: is each found, is its cause named first, and do the parts add up?

  scripts/proofs/unseen_faults.py [--list] [--again]

Every fault is measured in three sessions beside three undisturbed ones, alternating. tests/faults_unseen/faults.c holds what is loaded
into the measured process; the others act from outside (signals, priorities, quotas, hogs) or change the model. Nothing is tuned on them;
every third fault is reported separately as held out. AACO_PROOF_SECONDS: seconds per session (2). AACO_UNSEEN_LOAD: processes that spin
beside every session (0). AACO_UNSEEN_THREADS: threads of the measured process (the runtime's choice). AACO_UNSEEN_FILTER: regular
expression of fault names. AACO_UNSEEN_SKIP: regular expression of fault names to leave out. AACO_UNSEEN_KEEP: a folder to write what was measured of each fault to, as tests/faults_unseen/recorded has it.

Each fault is written to $AACO_PROOF_OUT.json (build/proofs/unseen_faults.json) when it is judged. A second start with the same program, seconds,
load and threads continues: faults that are judged are not measured again (--again measures all). --list prints the faults and which of
them are done. The summary covers every fault that is done, whichever start measured it.
"""
import ctypes
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from unseen.kinds import faults, spin

DESCRIPTION = 'faults the laboratory lacks: found, cause first, parts that add up (15 min; needs a C compiler)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
SECONDS = float(os.environ.get('AACO_PROOF_SECONDS', '2'))
THREADS = os.environ.get('AACO_UNSEEN_THREADS')
LOAD = int(os.environ.get('AACO_UNSEEN_LOAD', '0'))
SESSIONS = 3
MODEL = 'squeezenet1.1'


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
            for _ in range(20):  # a process that just ended leaves its group a moment later
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)


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
    def ready():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if quota:
            quota.join()
    beside = spin(LOAD)(None)
    process = None
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=ready)
        if fault and fault.beside:
            beside += fault.beside(process.pid)
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    finally:  # also when the proof is interrupted: nothing keeps spinning, no group stays
        for one in beside:
            one.kill()
            one.wait()
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
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
    down = decided.get('smallest_detectable_decrease_ratio', 1)
    row['strong'] = delta is not None and least is not None and (delta >= least or -delta >= down)
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
    print(f'{title}: {len(rows)} faults, {len(strong)} with at least the smallest detectable effect (threshold included); found {share(found, strong)}; '
          f'cause first {share(named, found)}; parts that do not add up: {sum(row.get("adds_up") is False for row in rows)}')


def settings():
    """What a judged fault depends on; rows with other settings are measured again."""
    program = hashlib.sha256(pathlib.Path(PROGRAM).read_bytes()).hexdigest()[:16]
    return {'program': program, 'seconds': SECONDS, 'load': LOAD, 'threads': THREADS, 'sessions': SESSIONS}


def finished(out, asked):
    """Rows of an earlier start that count now, by fault; a fault that could not be measured is tried again."""
    try:
        document = json.loads(out.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(document, dict) or document.get('settings') != asked:
        return {}
    return {row['fault']: row for row in document['rows'] if 'error' not in row}


def store(out, asked, rows):
    """Whole or not at all: an interrupted write must not lose what was measured before."""
    new = out.with_suffix('.new')
    new.write_text(json.dumps({'settings': asked, 'rows': rows}, indent=1))
    new.replace(out)


def chosen():
    """The faults to measure on this machine, in order, and why others are left out."""
    wanted, unwanted = re.compile(os.environ.get('AACO_UNSEEN_FILTER', '.')), os.environ.get('AACO_UNSEEN_SKIP')
    for fault in faults(THREADS):
        if not wanted.search(fault.name) or (unwanted and re.search(unwanted, fault.name)):
            continue
        if fault.prefix and shutil.which(fault.prefix[0]) is None:
            print(f'{fault.name}: left out, {fault.prefix[0]} is not installed', flush=True)
        elif LOAD and fault.name == 'run_idle':
            print('run_idle: left out beside load, since an idle-priority process hardly runs then', flush=True)
        else:
            yield fault


def measure(lake, fault, library):
    """The judged row of a fault, from alternating sessions."""
    a, b = [], []
    for _ in range(SESSIONS):
        a.append(run_session(lake, None, library))
        b.append(run_session(lake, fault, library))
    if None in a or None in b:
        return {'fault': fault.name, 'error': 'a session could not be measured'}
    row = judge(lake, fault, a, b)
    if os.environ.get('AACO_UNSEEN_KEEP'):
        keep(os.environ['AACO_UNSEEN_KEEP'], lake, fault, a, b)
    return row


def show(row, note=''):
    print(f'{row["fault"]:22} {row.get("verdict", row.get("error", ""))[:60]:14} {100 * (row.get("delta_ratio") or 0):+8.1f} % '
          f'(detectable {100 * (row.get("smallest_detectable_ratio") or 0):5.1f} %)  {", ".join(filter(None, row.get("causes", [])))}'
          f'{"" if row.get("cause_first") or not row.get("found") else "   WRONG, true: " + "/".join(row["accepted"])}{note}', flush=True)


def run_all(out, asked, todo, done):
    """Measures what is not done yet, most recent state on disk after each fault; returns the rows in the order of the list."""
    with tempfile.TemporaryDirectory(prefix='aaco-unseen-') as folder:
        library = os.path.join(folder, 'faults.so')
        compiler = next(filter(None, map(shutil.which, ('cc', 'gcc', 'clang'))))
        subprocess.run([compiler, '-O2', '-shared', '-fPIC', '-o', library, str(TOP / 'tests/faults_unseen/faults.c'), '-ldl', '-lpthread'], check=True)
        lake = os.environ.get('AACO_UNSEEN_LAKE') or os.path.join(folder, 'sessions')
        began, measured = time.monotonic(), 0
        remaining = sum(fault.name not in done for fault in todo)
        for fault in todo:
            if fault.name in done:
                show(done[fault.name], '   (measured before)')
                continue
            done[fault.name] = measure(lake, fault, library)
            measured += 1
            left = (time.monotonic() - began) / measured * (remaining - measured)
            show(done[fault.name], f'   [{measured} of {remaining}, {left / 60:.0f} min left]')
            store(out, asked, list(done.values()))
    return [done[fault.name] for fault in faults(THREADS) if fault.name in done]


def main():
    if sys.argv[1:] in (['--describe'], ['--help'], ['-h']):
        print(DESCRIPTION if sys.argv[1] == '--describe' else f'unseen_faults.py: {__doc__.strip()}')
        return 0
    if set(sys.argv[1:]) - {'--list', '--again'}:
        print(f'unseen_faults.py: unknown arguments {sys.argv[1:]} (see --help)', file=sys.stderr)
        return 2
    if not any(map(shutil.which, ('cc', 'gcc', 'clang'))):
        print('skipped, no C compiler')
        return 77
    out = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/unseen_faults')).with_suffix('.json')
    out.parent.mkdir(parents=True, exist_ok=True)
    asked = settings()
    done = {} if '--again' in sys.argv else finished(out, asked)
    todo = list(chosen())
    if '--list' in sys.argv:
        for fault in todo:
            print(f'{fault.name:22} {"done" if fault.name in done else "to do"}')
        return 0
    print(f'{len(todo)} faults, {sum(fault.name in done for fault in todo)} done before; load of the machine now {os.getloadavg()[0]:.1f}', flush=True)
    rows = run_all(out, asked, todo, done)
    place = {fault.name: at for at, fault in enumerate(faults(THREADS))}  # held out by the place in the list, whichever start measured it
    good = [row for row in rows if 'error' not in row]
    summary([row for row in good if place[row['fault']] % 3 != 2], 'seen while writing')
    summary([row for row in good if place[row['fault']] % 3 == 2], 'held out')
    summary(good, 'all')
    return 0


if __name__ == '__main__':
    sys.exit(main())

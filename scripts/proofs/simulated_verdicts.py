#!/usr/bin/env python3
"""Verdicts on real traces with a simulated fault: every trace, every fault, intensities and event names drawn by a seed; calibration.

  scripts/proofs/simulated_verdicts.py [--seed SEED] [--rounds N] [--split tune|held|both] [--only PATTERN]
                                       seed drawn if not given; N intensities per trace and fault (default 2)
"""
import concurrent.futures
import json
import os
import pathlib
import random
import secrets
import subprocess
import sys
import tempfile

DESCRIPTION = 'verdicts on real traces with 21 simulated faults: class, cause, calibration of at least 1,000 claims by a fresh seed (25 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'corpus'))
from check_corpus import split_of  # noqa: E402

KINDS = ('kineto', 'nsys_sqlite', 'rpd_db', 'rocpd')
FAULTS = ('host_data_loader', 'host_garbage_collection', 'host_allocation', 'host_synchronous_copies', 'host_first_use', 'host_checkpoint', 'host_logging',
          'host_compilation', 'host_synchronisation', 'host_blocked_launch', 'slow_rank', 'small_batch', 'host_busy_core', 'graph_replay', 'counter_passes',
          'merged_runs')
LARGEST = 4 << 20  # bytes: larger traces would take most of the time
DRAWS = 1000
BINS = 10


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv[:-1] else default


def traces(data):
    for kind in KINDS:
        for file in sorted(pathlib.Path(data, 'traces', kind).rglob('*')):
            if file.is_file() and file.stat().st_size <= LARGEST and file.suffix not in ('.md', '.txt', '.yaml'):
                yield file.relative_to(data).as_posix()


def cases_of(program, data, file, seed, rounds):
    """The judged cases of one trace with every fault; empty for files without GPU work."""
    draw = random.Random(f'{seed} {file}')
    with tempfile.TemporaryDirectory() as lake:
        def aaco(*words):
            return subprocess.run([program, *map(str, words), '--sessions', lake], capture_output=True, text=True, check=False)

        imported = aaco('import', f'{data}/{file}', '--no-report', '--json')
        if imported.returncode != 0:
            return []
        session = json.loads(imported.stdout)['session']['id']
        for fault in FAULTS:
            for _ in range(rounds):
                made = aaco('lab', 'simulate', fault, session, '--intensity', f'{draw.uniform(0.2, 1):.3f}', '--variant', draw.randrange(1000), '--json')
                if made.returncode != 0:
                    if 'no kernels' in made.stderr:
                        return []
                    break
        scored = aaco('lab', 'score', '--simulated', '--json')
        if scored.returncode != 0:
            print(f'{file}: {scored.stderr.strip()[-200:]}', file=sys.stderr)
            return []
        return [{**case, 'file': file, 'split': split_of(file)} for case in json.loads(scored.stdout)['cases']]


def calibration_error(claims):
    bins = [[0, 0.0] for _ in range(BINS)]
    for confidence, right in claims:
        place = bins[min(BINS - 1, int(confidence * BINS))]
        place[0] += 1
        place[1] += right - confidence
    return sum(abs(difference) for _, difference in bins) / max(1, len(claims))


def calibration(cases):
    """Expected calibration error with its 95 % interval (whole traces drawn again), and a row per bin."""
    by_file, claims = {}, []
    for case in cases:
        if 'confidence_ratio' in case and 'claim_true' in case:
            claim = (case['confidence_ratio'], bool(case['claim_true']))
            claims.append(claim)
            by_file.setdefault(case['file'], []).append(claim)
    if not claims:
        return {'claims': 0}
    draw, files, errors = random.Random(1), list(by_file.values()), []
    for _ in range(DRAWS):
        errors.append(calibration_error([claim for _ in files for claim in draw.choice(files)]))
    errors.sort()
    bins = {}
    for confidence, right in claims:
        row = bins.setdefault(min(BINS - 1, int(confidence * BINS)), {'count': 0, 'confidence': 0.0, 'right': 0})
        row['count'] += 1
        row['confidence'] += confidence
        row['right'] += right
    return {'claims': len(claims), 'traces': len(files), 'error': calibration_error(claims), 'interval': [errors[int(0.025 * DRAWS)], errors[int(0.975 * DRAWS) - 1]],
            'bins': [{'bin': place, **row, 'confidence': row['confidence'] / row['count']} for place, row in sorted(bins.items())]}


def tally(cases, key):
    out = {}
    for case in cases:
        row = out.setdefault(str(case.get(key, '-')), {'cases': 0, 'class': 0, 'cause': 0, 'claims': 0, 'true': 0, 'sure_and_wrong': 0})
        row['cases'] += 1
        row['class'] += case['class_right']
        row['cause'] += case['cause_right']
        if 'confidence_ratio' in case and 'claim_true' in case:
            row['claims'] += 1
            row['true'] += case['claim_true']
            row['sure_and_wrong'] += case['confidence_ratio'] > 0.9 and not case['claim_true']
    return dict(sorted(out.items()))


def main():
    if '--describe' in sys.argv:
        print(DESCRIPTION)
        return 0
    if '--help' in sys.argv or '-h' in sys.argv:
        print(__doc__.strip())
        return 0
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    data = os.environ.get('AACO_REAL_DATA', str(TOP / '../shared/data'))
    output = pathlib.Path(os.environ.get('AACO_PROOF_OUT', str(TOP / 'build/proofs/simulated_verdicts')) + '.json')
    if not pathlib.Path(data, 'traces').is_dir():
        print(f'skipped, no real data at {data} (AACO_REAL_DATA names the folder)')
        return 77
    seed, rounds, split = option('--seed', str(secrets.randbits(32))), int(option('--rounds', '2')), option('--split', 'both')
    files = [file for file in traces(data) if split in ('both', split_of(file)) and option('--only', '') in file]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = [case for some in pool.map(lambda file: cases_of(program, data, file, seed, rounds), files) for case in some]
    figures = {'seed': seed}
    for name in ('tune', 'held'):
        own = [case for case in cases if case['split'] == name]
        if own:
            figures[name] = {'calibration': calibration(own), 'by_kind': tally(own, 'kind'), 'by_fault': tally(own, 'fault'), 'by_evidence': tally(own, 'evidence_class')}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({**figures, 'cases': cases}, indent=1) + '\n')
    for name, figure in figures.items():
        if name == 'seed':
            continue
        for fault, row in figure['by_fault'].items():
            print(f"{name}, {fault}: class {row['class']}/{row['cases']}, cause {row['cause']}/{row['cases']}, above 90 % and false {row['sure_and_wrong']}/{row['claims']}")
        seen = figure['calibration']
        if seen['claims']:
            print(f"{name}: calibration error {seen['error']:.3f} ({seen['interval'][0]:.3f} to {seen['interval'][1]:.3f}) over {seen['claims']} claims of "
                  f"{seen['traces']} traces, seed {seed}")
    return 0


if __name__ == '__main__':
    sys.exit(main())

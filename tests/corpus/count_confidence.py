#!/usr/bin/env python3
"""Counts how often statements were right on the corpus' cases with `split: tune`, by evidence class (data/rules/confidence.yaml).

    tests/corpus/count_confidence.py build/release/bin/aaco            prints the counts and each wrong statement
    tests/corpus/count_confidence.py build/release/bin/aaco --write    and writes them to data/rules/confidence.yaml

The data are found as in check_corpus.py; without them the exit code is 77.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
TABLE = TOP / 'data/rules/confidence.yaml'
WORDS = {'compute_bound': 'compute', 'memory_bound': 'memory', 'launch_bound': 'launch', 'host_waiting': 'host', 'copy_bound': 'transfer',
         'communication_bound': 'communication', 'warmup': 'warmup', 'inconclusive': 'cannot-tell', 'unknown': 'cannot-tell'}


def cases(kind):
    for path in sorted(HERE.glob('*.yaml')):
        for case in yaml.safe_load(path.read_text())['cases']:
            if case['split'] == 'tune' and case['kind'] == kind:
                yield case


class Sessions:
    """Imports each list of files once."""

    def __init__(self, program, data, folder):
        self.program, self.data, self.folder, self.known = program, data, folder, {}

    def of(self, case):
        files = [case['file']] + (case.get('others') or [] if case['kind'] == 'kernel' else [])
        key = tuple(files)
        if key not in self.known:
            out = self.folder / str(len(self.known))
            command = [self.program, 'import', *(str(self.data / name) for name in files), '--out', str(out), '--no-report']
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            found = sorted(out.rglob('session.json'))
            self.known[key] = found[0].parent if found else None
        return self.known[key]


def read(session, name):
    path = session / name
    return json.loads(path.read_text()) if path.exists() else {}


def kernel_statement(session, case):
    """Of the kernels that match, the one whose mean is nearest to the judged time."""
    pattern = re.compile(case['query'].get('args', {}).get('kernel', '.*'))
    values = case['values']
    wanted = values.get('median_ns') or values.get('duration_ns') or 0
    best, least = None, math.inf
    for gpu in (read(session, 'session.json').get('outcome', {}).get('gpu') or {}).get('gpus', []):
        for kernel in gpu.get('kernel_limits', {}).get('kernels', []):
            mean = kernel['time_ns'] / max(1, kernel['count'])
            off = abs(math.log(mean / wanted)) if mean > 0 and wanted > 0 else 0
            if pattern.search(kernel['name']) and off < least:
                best, least = kernel, off
    return best and ('kernel.' + best['evidence_class'], WORDS.get(best['limit'], best['limit']))


def headline_statement(session, _):
    document = read(session, 'metrics/bottleneck.json')
    if not document or 'evidence_class' not in document:
        return None
    return document['evidence_class'], WORDS.get(document['bottleneck_class'], document['bottleneck_class'])


def count(sessions):
    tally = {}
    for kind, statement in (('kernel', kernel_statement), ('headline', headline_statement)):
        for case in cases(kind):
            session = sessions.of(case)
            made = session and statement(session, case)
            if not made or made[1] == 'cannot-tell':
                continue  # only statements have a confidence
            evidence, answer = made
            right = answer in [case['truth']['class']] + case['truth'].get('seconds', [])
            counts = tally.setdefault(evidence, [0, 0])
            counts[0] += right
            counts[1] += 1
            if not right:
                print(f"{case['id']}: {answer} by {evidence}, truth {case['truth']['class']}")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--write', action='store_true')
    arguments = parser.parse_args()
    data = pathlib.Path(os.environ.get('AACO_REAL_DATA', TOP.parent / 'shared/data'))
    if not (data / 'traces').is_dir():
        print(f'no traces in {data}')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        tally = count(Sessions(str(pathlib.Path(arguments.program).resolve()), data, pathlib.Path(folder)))
    lines = []
    for line in TABLE.read_text().splitlines():
        found = re.match(r'  - \{id: ([^,]+), right: \d+, cases: \d+\}$', line)
        if found:
            right, total = tally.pop(found[1], (0, 0))
            line = f'  - {{id: {found[1]}, right: {right}, cases: {total}}}'
            print(line)
        lines.append(line)
    for evidence in sorted(tally):
        print(f'{evidence} is not in {TABLE.name}: {tally[evidence]}')
    if arguments.write:
        TABLE.write_text('\n'.join(lines) + '\n')
    return 1 if tally else 0


if __name__ == '__main__':
    sys.exit(main())

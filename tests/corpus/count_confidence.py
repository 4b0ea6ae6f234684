#!/usr/bin/env python3
"""Counts how often statements were right on the corpus' cases with `split: tune`, by evidence class (data/rules/confidence.yaml).

    tests/corpus/count_confidence.py build/release/bin/aaco            prints the counts and each wrong statement
    tests/corpus/count_confidence.py build/release/bin/aaco --write    and writes them to data/rules/confidence.yaml
    ... --simulated build/proofs/simulated_verdicts.json               adds the tuned claims of scripts/proofs/simulated_verdicts.py

The data are found as in check_corpus.py; without them the exit code is 77.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
TABLE = TOP / 'data/rules/confidence.yaml'
GENERATED = HERE / 'generated_counts.tsv'


def add_simulated(file, tally):
    """Simulated claims of the tuned traces: one case for each trace, fault and evidence class, right by the share of its claims that are, since claims of one
    fault on one trace depend on each other. Not of "vague" causes: there the simulation is wrong by design (event names that no pattern knows)."""
    groups = {}
    for case in json.loads(pathlib.Path(file).read_text())['cases']:
        if case['split'] == 'tune' and 'claim_true' in case and 'confidence_ratio' in case and not case['evidence_class'].endswith('.vague'):
            key = (case['file'], case['fault'], case['evidence_class'])
            groups.setdefault(key, []).append(bool(case['claim_true']))
    for (_, _, evidence), claims in groups.items():
        counts = tally.setdefault(evidence, [0, 0])
        counts[0] += sum(claims) / len(claims)
        counts[1] += 1


def add_generated(tally):
    """Counts of generated traces that are not stored (generated_counts.tsv)."""
    for line in GENERATED.read_text().splitlines():
        if line.startswith('#'):
            continue
        evidence, right, total = line.split('\t')
        counts = tally.setdefault(evidence, [0, 0])
        counts[0] += int(right)
        counts[1] += int(total)


def count(program, data):
    """Evidence class -> [right, cases]."""
    ran = subprocess.run([program, 'lab', 'score', '--corpus', str(HERE), '--data', str(data), '--json'], capture_output=True, text=True, check=True)
    tally = {}
    for case in json.loads(ran.stdout)['cases']:
        if case['split'] != 'tune' or 'evidence_class' not in case or 'confidence_ratio' not in case:
            continue
        evidence = case['evidence_class'] if '.' in case['evidence_class'] else f"{case['kind']}.{case['evidence_class']}"
        counts = tally.setdefault(evidence, [0, 0])
        counts[0] += case['claim_true']
        counts[1] += 1
        if not case['claim_true']:
            print(f"{case['case']}: {case['class']}/{case['cause']} by {evidence}, truth {case['truth_class']}/{case['truth_cause']}")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--write', action='store_true')
    parser.add_argument('--simulated', help='what scripts/proofs/simulated_verdicts.py wrote')
    arguments = parser.parse_args()
    data = pathlib.Path(os.environ.get('AACO_REAL_DATA', TOP.parent / 'shared/data'))
    if not (data / 'traces').is_dir():
        print(f'no traces in {data}')
        return 77
    tally = count(str(pathlib.Path(arguments.program).resolve()), data)
    if arguments.simulated:
        add_simulated(arguments.simulated, tally)
    add_generated(tally)
    lines = []
    for line in TABLE.read_text().splitlines():
        found = re.match(r'  - \{id: ([^,]+), right: \d+, cases: \d+\}$', line)
        if found:
            right, total = tally.pop(found[1], (0, 0))
            right = round(right)
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

#!/usr/bin/env python3
"""What is said of real traces against the corpus of verdicts: classes, causes, confidences, and kernels' names."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DESCRIPTION = 'verdicts on real traces against their known answers (tests/corpus): class, cause, calibration; family and library of kernel names (2 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'corpus'))
import fingerprints  # noqa: E402
import kineto_trace  # noqa: E402

AT_ONCE = 40  # kernels: what the program lists of one import


def classified(program, names):
    """Name -> (family, library), by importing tables of kernels that have these names."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for begin in range(0, len(names), AT_ONCE):
            table = pathlib.Path(folder) / f'names{begin}_kernel_trace.csv'
            with table.open('w', newline='') as stream:
                writer = csv.writer(stream)
                writer.writerow(['Kind', 'Agent_Id', 'Queue_Id', 'Kernel_Id', 'Kernel_Name', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp'])
                for i, name in enumerate(names[begin:begin + AT_ONCE]):
                    writer.writerow(['KERNEL_DISPATCH', 'Agent 2', 1, i + 1, name, i + 1, 1000 + 100 * i, 1050 + 100 * i])
            ran = subprocess.run([program, 'import', table, '-o', folder + '/lake', '--no-report', '--json'], capture_output=True, text=True, check=True)
            for row in json.loads(ran.stdout)['top_kernels']:
                found[row['name']] = (row['family'], row['library'])
    return found


def times_of(rows, data):
    """Hash -> time of the kernel in the file of its row; only of Kineto files."""
    times = {}
    for file in sorted({row['file'] for row in rows if '.json' in row['file']}):
        for name, time in kineto_trace.load(f'{data}/{file}').time_by_name().items():
            times[(fingerprints.digest(name), file)] = time
    return times


def score_names(program, data):
    rows = fingerprints.rows(TOP / 'tests' / 'corpus' / 'fingerprints.tsv')
    names = fingerprints.look_up(rows, data)
    told = classified(program, sorted(set(names.values())))
    times = times_of(rows, data)
    out = {}
    for split in ('tune', 'held'):
        counts = {'names': 0, 'family': 0, 'library': 0, 'time': 0, 'family_time': 0}
        for row in rows:
            if row['split'] != split or names.get(row['sha256']) not in told:
                continue
            family, library = told[names[row['sha256']]]
            time = times.get((row['sha256'], row['file']), 0)
            right = family in [row['family'], *row['also_family'].split('|')]
            counts['names'] += 1
            counts['family'] += right
            counts['library'] += library in [row['library'], *filter(None, row['also_library'].split('|'))]
            counts['time'] += time
            counts['family_time'] += time * right
        out[split] = counts
    return out


def share(part, whole):
    return f'{part}/{whole} ({100 * part / whole:.1f} %)' if whole else '-'


def main():
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    data = os.environ.get('AACO_REAL_DATA', str(TOP / '../shared/data'))
    output = os.environ.get('AACO_PROOF_OUT', str(TOP / 'build/proofs/corpus'))
    if not pathlib.Path(data, 'traces').is_dir():
        print(f'skipped, no real data at {data} (AACO_REAL_DATA names the folder)')
        return 77
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    words = [program, 'lab', 'score', '--corpus', TOP / 'tests' / 'corpus', '--data', data]
    if os.environ.get('AACO_PROOF_HELD'):  # the last proof only: names the held cases
        words.append('--show-held')
    figures = json.loads(subprocess.run([*words, '--json'], capture_output=True, text=True, check=True).stdout)
    figures['names'] = score_names(program, data)
    pathlib.Path(output + '.json').write_text(json.dumps(figures, indent=1) + '\n')
    print(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    for split, counts in figures['names'].items():
        print(f"kernel names, {split}: family {share(counts['family'], counts['names'])}, library {share(counts['library'], counts['names'])}, "
              f"family by time {100 * counts['family_time'] / max(1, counts['time']):.2f} %")
    return 0


if __name__ == '__main__':
    if sys.argv[1:] in (['--describe'], ['--help'], ['-h']):
        print(DESCRIPTION if sys.argv[1] == '--describe' else f'corpus.py: {DESCRIPTION}\nRun by scripts/run_proofs.sh; AACO_REAL_DATA names the data.')
        sys.exit(0)
    sys.exit(main())

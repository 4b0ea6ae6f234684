#!/usr/bin/env python3
"""Estimates lent to a device by others: error, coverage and sharpness of every class, for each pair of devices that has rows.

  scripts/proofs/lent_coverage.py [TABLE...]   tables of $AACO_REAL_DATA/estimation (default: all with kernels)

The fits are those of data/calibration, the registry is empty. "all": every other device may lend, as on a fresh machine. The rows of the
borrower are in none of the lenders' fits. Two bounds: "yours" (with the term of other laboratories) and "same laboratory".
"""
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DESCRIPTION = 'coverage and sharpness of estimates lent to unseen devices, every class and pair of devices'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
DATA = pathlib.Path(os.environ.get('AACO_REAL_DATA', TOP / '../shared/data')) / 'estimation'
TABLES = ['gemm', 'conv2d', 'vector', 'attention', 'attention_decode', 'attention_prefill', 'mla', 'moe', 'collectives', 'second_laboratory']
SHIPPED = ['a100', 'h100', 'h200', 'mi300x', 'mi308x', 'mi100', 'mi210']
MIN_COVERAGE, MAX_SHARPNESS, MIN_ROWS = 0.85, 2.5, 30


def device_names(path):
    with gzip.open(path, 'rt', newline='') as file:
        return sorted({row['device'] for row in csv.DictReader(file)})


def lent(device, table, lender, folder):
    """Classes of the device's rows by the lender's fit: name -> scores."""
    environment = os.environ | {'AACO_REGISTRY': str(folder)}
    others = lender if lender != 'all' else ','.join(name for name in SHIPPED if not same_device(name, device))
    done = subprocess.run([PROGRAM, 'validate', '--hardware', device, '--measurements', str(DATA / f'{table}.csv.gz'), '--level', 'interpolated',
                           '--calibration-from', others, '--json'], env=environment, capture_output=True, text=True)
    if done.returncode:
        if 'no measurement' in done.stderr or 'no estimate' in done.stderr or 'no calibration' in done.stderr:
            return {}
        raise RuntimeError(done.stderr.strip())
    return {name: one for name, one in json.loads(done.stdout)['classes'].items() if one['count']}


def same_device(alias, name):
    return name.lower().replace('nvidia_', '').startswith(alias)


def main():
    if '--describe' in sys.argv:
        print(DESCRIPTION)
        return 0
    if '-h' in sys.argv or '--help' in sys.argv:
        print(__doc__.strip())
        return 0
    if not DATA.is_dir():
        print(f'skipped, no real data at {DATA} (AACO_REAL_DATA names the folder)')
        return 77
    tables = [name for name in sys.argv[1:] if name in TABLES] or TABLES
    scored, low, wide = 0, [], []
    print('table               borrower          lender   class                               rows sites   mean median  yours  u/l    lab  u/l')
    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            for device in device_names(DATA / f'{table}.csv.gz'):
                for lender in ['all'] + [name for name in SHIPPED if not same_device(name, device)]:
                    for name, one in sorted(lent(device, table, lender, folder).items()):
                        print(f"{table:19} {device:17} {lender:8} {name:34} {one['count']:6} {one['sites']:4} {100 * one['mean_ape']:6.1f} {100 * one['median_ape']:6.1f}"
                              f" {100 * one['coverage90']:6.1f} {one['sharpness']:5.2f} {100 * one['same_laboratory_coverage90']:6.1f} {one['same_laboratory_sharpness']:5.2f}", flush=True)
                        if lender != 'all' or one['count'] < MIN_ROWS:
                            continue
                        scored += 1
                        where = f'{table} {device} {name}'
                        if one['coverage90'] < MIN_COVERAGE:
                            low.append(where)
                        if one['sharpness'] > MAX_SHARPNESS:
                            wide.append(where)
    print(json.dumps({'classes': scored, 'below_85_percent': low, 'wider_than_2.5': wide}))
    return 1 if low or wide else 0


if __name__ == '__main__':
    sys.exit(main())

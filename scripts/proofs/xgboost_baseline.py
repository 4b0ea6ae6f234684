#!/usr/bin/env python3
"""Estimates of aaco and of 30 lines of XGBoost on the same rows: one fifth of the sites of every table held out, errors on them.

  scripts/proofs/xgboost_baseline.py [TABLE...]   tables of $AACO_REAL_DATA/estimation (default: all with kernels)

XGBoost sees the columns of the table (numbers as logarithms, names numbered) and the logarithm of the time. aaco is calibrated on
the same rows (whole form, not the shipped compact one). Intervals of the ratio of both errors are from a bootstrap over sites.
"""
import array
import collections
import csv
import ctypes
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

DESCRIPTION = 'estimates against 30 lines of XGBoost on the same rows and sites, every table of kernels (1 h)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
DATA = pathlib.Path(os.environ.get('AACO_REAL_DATA', TOP / '../shared/data')) / 'estimation'
# The columns that make a site, as site_of() of src/estimation/calibration/calibrate.cc has them.
SITES = {'gemm': ['n', 'k'], 'conv2d': ['k', 'c', 'r', 's', 'groups'], 'vector': ['op', 'cols'], 'attention': ['heads', 'kv_heads', 'head_dim'],
         'attention_decode': ['heads', 'kv_heads', 'head_dim'], 'attention_prefill': ['heads', 'kv_heads', 'head_dim'], 'mla': ['heads'],
         'moe': ['hidden', 'inter', 'experts', 'topk'], 'collectives': ['kind', 'ranks', 'ranks_per_node']}
IGNORED = {'device', 'latency_us', 'power_w', 'solver', 'system'}
MIN_SITES, MAX_ROWS = 5, 26000


def baseline(train, test):
    """The whole baseline: predicted microseconds of the test rows."""
    xgb = ctypes.CDLL('libxgboost.so.0')
    columns = [name for name in train[0] if name not in IGNORED]
    numbers = {name: {} for name in columns}

    def value(name, text):
        try:
            return math.log2(float(text) + 1)
        except ValueError:
            return float(numbers[name].setdefault(text, len(numbers[name])))

    def matrix(rows):
        flat = array.array('f', [value(name, row[name]) for row in rows for name in columns])
        handle, view = ctypes.c_void_p(), (ctypes.c_float * len(flat)).from_buffer(flat)
        xgb.XGDMatrixCreateFromMat(view, ctypes.c_uint64(len(rows)), ctypes.c_uint64(len(columns)), ctypes.c_float(math.nan), ctypes.byref(handle))
        return handle

    data, booster = matrix(train), ctypes.c_void_p()
    labels = (ctypes.c_float * len(train))(*[math.log(float(row['latency_us'])) for row in train])
    xgb.XGDMatrixSetFloatInfo(data, b'label', labels, ctypes.c_uint64(len(train)))
    xgb.XGBoosterCreate(ctypes.byref(data), ctypes.c_uint64(1), ctypes.byref(booster))
    settings = {'tree_method': 'hist', 'max_depth': '8', 'eta': '0.1', 'subsample': '0.8', 'nthread': '2', 'verbosity': '0'}
    for name, setting in settings.items():
        xgb.XGBoosterSetParam(booster, name.encode(), setting.encode())
    for turn in range(300):
        if xgb.XGBoosterUpdateOneIter(booster, turn, data) != 0:
            raise RuntimeError('XGBoost failed')
    length, out = ctypes.c_uint64(), ctypes.POINTER(ctypes.c_float)()
    xgb.XGBoosterPredict(booster, matrix(test), 0, 0, 0, ctypes.byref(length), ctypes.byref(out))
    return [math.exp(out[i]) for i in range(length.value)]


def ours(train, test, folder):
    """Estimates of aaco, by the line of the test table; of rows without one nothing."""
    paths = {name: os.path.join(folder, name + '.csv') for name in ('train', 'test')}
    for name, rows in (('train', train), ('test', test)):
        with open(paths[name], 'w', newline='') as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    environment = os.environ | {'AACO_REGISTRY': os.path.join(folder, 'registry'), 'AACO_CALIBRATIONS': os.path.join(folder, 'none')}
    device, residuals = train[0]['device'], os.path.join(folder, 'residuals.csv')
    subprocess.run([PROGRAM, 'calibrate', '--hardware', device, '--measurements', paths['train'], '--json'], env=environment, check=True,
                   capture_output=True, text=True)
    subprocess.run([PROGRAM, 'validate', '--hardware', device, '--measurements', paths['test'], '--residuals', residuals, '--json'],
                   env=environment, check=True, capture_output=True, text=True)
    with open(residuals, newline='') as file:
        rows = list(csv.DictReader(file))
    return {int(row['where'].rpartition(':')[2]) - 2: float(row['estimated_us']) for row in rows if row['estimated_us']}


def ratio_interval(sites, seed=1):
    """95 % of (our mean error) / (the baseline's), sites drawn as a whole."""
    draw, ratios, names = random.Random(seed), [], list(sites)
    for _ in range(400):
        chosen = [sites[draw.choice(names)] for _ in names]
        ours_sum, theirs_sum = sum(a for a, _, _ in chosen), sum(b for _, b, _ in chosen)
        ratios.append(ours_sum / max(theirs_sum, 1e-12))
    ratios.sort()
    return ratios[10], ratios[389]


def thinned(rows):
    """At most MAX_ROWS, evenly from the whole table: every site keeps its share."""
    return rows[::-(-len(rows) // MAX_ROWS)]


def judge(table, device, dtype, rows):
    def site(row):
        return ' '.join(row[name] for name in SITES[table])
    held = {name for name in {site(row) for row in rows} if zlib.crc32(name.encode()) % 5 == 0}
    train, test = [row for row in rows if site(row) not in held], [row for row in rows if site(row) in held]
    if len(held) < 2 or not train:
        return None
    theirs = baseline(train, test)
    with tempfile.TemporaryDirectory() as folder:
        mine = ours(train, test, folder)
    sums, count = collections.defaultdict(lambda: (0.0, 0.0, 0)), 0
    for i, row in enumerate(test):
        if i not in mine:
            continue
        measured, (a, b, n) = float(row['latency_us']), sums[site(row)]
        sums[site(row)] = (a + abs(mine[i] / measured - 1), b + abs(theirs[i] / measured - 1), n + 1)
        count += 1
    if not count:
        return None
    a, b = sum(one for one, _, _ in sums.values()) / count, sum(one for _, one, _ in sums.values()) / count
    low, high = ratio_interval(sums)
    return {'table': table, 'device': device, 'dtype': dtype, 'rows': count, 'sites': len(sums), 'aaco': a, 'xgboost': b, 'ratio': a / b, 'ci95': [low, high]}


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
    tables, results = [name for name in sys.argv[1:] if name in SITES] or list(SITES), []
    for table in tables:
        classes = collections.defaultdict(list)
        with gzip.open(DATA / f'{table}.csv.gz', 'rt') as file:
            for row in csv.DictReader(file):
                classes[row['device'], row.get('dtype', 'fp32') + (' ' + row['phase'] if 'phase' in row else '')].append(row)
        for (device, dtype), rows in sorted(classes.items()):
            if len({' '.join(row[name] for name in SITES[table]) for row in rows}) < MIN_SITES:
                continue
            result = judge(table, device, dtype, thinned(rows))
            if not result:
                continue
            results.append(result)
            low, high = result['ci95']
            print(f"{table:18} {device:16} {dtype:14} {result['rows']:6} rows {result['sites']:4} sites  aaco {100 * result['aaco']:5.1f} %  "
                  f"xgboost {100 * result['xgboost']:5.1f} %  ratio {result['ratio']:.2f} ({low:.2f} to {high:.2f})", flush=True)
    worse = [one for one in results if one['ci95'][0] > 1]
    better = [one for one in results if one['ratio'] <= 0.9]
    print(json.dumps({'classes': len(results), 'worse_beyond_the_interval': len(worse), 'at_least_10_percent_better': len(better), 'results': results}))
    return 1 if worse or 2 * len(better) < len(results) else 0


if __name__ == '__main__':
    sys.exit(main())

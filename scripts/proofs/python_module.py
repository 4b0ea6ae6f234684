#!/usr/bin/env python3
"""Costs of the Python module: memory of 1,000 sessions opened and closed, the time of `import aaco` against `import numpy`, and that
tables are not copied for Arrow and NumPy.

  scripts/proofs/python_module.py [--sessions 1000] [--pairs 15]

Runs with the interpreter that the module is built for. Prints JSON. Exit code 0: the memory grows by at most 2 MB over the last half, and
the import takes no longer than NumPy's; 1: more; 77: skipped, with the reason as the last line.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
MODULE = os.environ.get('AACO_PYTHON_MODULE', str(TOP / 'build/release/python'))
PYTHON = '/usr/bin/python3' if pathlib.Path('/usr/bin/python3').exists() else sys.executable
MAX_GROWTH_BYTES = 2_000_000
IMPORT = 'import time; begin = time.perf_counter_ns(); import {}; print(time.perf_counter_ns() - begin)'
CYCLES = '''
import gc, json, os, sys
import aaco
session = aaco.run('mlp', warmup=2, iterations=200)
def resident():
    return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE')
def cycle(times):
    for _ in range(times):
        with aaco.open(session.path) as opened:
            float(opened.metrics['latency.p50_ns']); opened.report()
            table = opened.table('inference_iters')
            table['duration_ns'].values()
            table.__arrow_c_stream__()
    gc.collect()
    return resident()
half = int(sys.argv[1]) // 2
table = session.table('inference_iters')['duration_ns']
same = table.values().__array_interface__['data'][0] == table.address
print(json.dumps({'resident_bytes': [resident(), cycle(half), cycle(half)], 'numpy_has_the_address_of_the_table': same}))
'''


def run(code, *arguments, folder=None):
    ran = subprocess.run([PYTHON, '-c', code, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=folder,
                         env={**os.environ, 'PYTHONPATH': MODULE})
    if ran.returncode != 0:
        reason = ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else 'no output'
        missing = 'No module named' in reason or 'ONNX Runtime library not found' in ran.stderr
        print(f'skipped, {reason}' if missing else ran.stderr)
        sys.exit(77 if missing else 1)
    return ran.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--sessions', type=int, default=1000)
    parser.add_argument('--pairs', type=int, default=15, help='imports of each module, alternating')
    options = parser.parse_args()
    if options.describe:
        print('the Python module leaks nothing, imports as fast as NumPy and copies no table')
        return 0
    times = {'aaco': [], 'numpy': []}
    for _ in range(options.pairs):
        for name, seen in times.items():
            seen.append(int(run(IMPORT.format(name))) / 1e6)
    with tempfile.TemporaryDirectory(prefix='aaco-proof-') as folder:
        seen = json.loads(run(CYCLES, options.sessions, folder=folder))
    first, middle, last = seen['resident_bytes']
    seen |= {'sessions': options.sessions, 'growth_of_the_first_half_bytes': middle - first, 'growth_of_the_last_half_bytes': last - middle,
             'import_ms': {name: {'median': statistics.median(all_of), 'least': min(all_of)} for name, all_of in times.items()}}
    ratio = statistics.median(a / b for a, b in zip(times['aaco'], times['numpy']))
    seen['import_ratio'] = ratio
    print(json.dumps(seen, indent=2))
    good = last - middle <= MAX_GROWTH_BYTES and ratio <= 1 and seen['numpy_has_the_address_of_the_table']
    print(f'{options.sessions} sessions: {(last - middle) / 1e6:.2f} MB in the last half; import {ratio:.2f} times NumPy\'s')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())

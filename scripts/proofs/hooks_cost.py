#!/usr/bin/env python3
"""What `aaco record --hooks` costs a program that launches 100,000 kernels per second on a stand-in runtime, in interleaved blocks.

    scripts/proofs/hooks_cost.py [--blocks N] [--cores PROGRAM,READER]

Each block is one process on a core of its own that launches and computes for about a second and times itself, alternately with and
without --hooks; aaco runs on another core. The cost is that of its CPU time, which other work on the machine disturbs less than wall time;
both are printed. Exit code 1: the median is above 1 %, or calls were lost.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

DESCRIBE = 'cost of record --hooks at 100,000 launches per second: at most 1 %, 60 ns per call aimed at, no loss'
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get('AACO_PROGRAM', ROOT / 'build/release/bin/aaco'))
STANDS = PROGRAM.resolve().parents[1] / 'tests/hooks'


def block(hooks, cores, seconds, folder):
    """CPU and wall time of the program's work and its launches; lost records."""
    program, reader = cores
    words = ['taskset', '-c', reader, PROGRAM, 'record', *(['--hooks'] if hooks else []), '--json', '--no-report', '--',
             'taskset', '-c', program, STANDS / 'aaco_hooks_program', 'work', '100000', seconds]
    environment = {**os.environ, 'AACO_SESSIONS': folder, 'LD_LIBRARY_PATH': str(STANDS)}
    ran = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True, env=environment, stdin=subprocess.DEVNULL)
    wall, cpu, calls = map(int, re.search(r'wall_ns (\d+) cpu_ns (\d+) calls (\d+)', ran.stdout).groups())
    lost = 0
    if hooks:
        shown = subprocess.run([PROGRAM, 'show', 'latest', '--json'], capture_output=True, text=True, check=True, env=environment)
        session = pathlib.Path(folder) / pathlib.Path(json.loads(shown.stdout)['session']['path'])
        manifest = json.loads((session / 'session.json').read_text())
        account = next(one for one in manifest['accounts'] if one['source'] == 'hooks')
        lost = account['read'] - account['kept']
    return wall, cpu, calls, lost


def main():
    if sys.argv[1:] == ['--describe']:
        print(DESCRIBE)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--blocks', type=int, default=20)
    parser.add_argument('--seconds', default='1', help='length of a block (default: 1)')
    parser.add_argument('--cores', default='', help='cores of the program and of aaco (default: the last two allowed)')
    options = parser.parse_args()
    if not (STANDS / 'aaco_hooks_program').exists():
        print(f'skipped, {STANDS} has no stand-ins: build the target aaco_hooks_test')
        return 77
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        print('skipped, it needs two cores')
        return 77
    cores = options.cores.split(',') if options.cores else [str(allowed[-1]), str(allowed[-2])]
    ratios, walls, costs, lost, rates = [], [], [], 0, []
    with tempfile.TemporaryDirectory(prefix='aaco-hooks-') as folder:
        for index in range(options.blocks):
            order = [False, True] if index % 2 == 0 else [True, False]
            seen = {hooks: block(hooks, cores, options.seconds, folder) for hooks in order}
            (bare_wall, bare, calls, _), (hooked_wall, hooked, _, missing) = seen[False], seen[True]
            ratios.append(hooked / bare - 1)
            walls.append(hooked_wall / bare_wall - 1)
            costs.append((hooked - bare) / calls)
            rates.append(calls / bare * 1e9)
            lost += missing
    low, high = sorted(ratios)[len(ratios) // 4], sorted(ratios)[-1 - len(ratios) // 4]
    ratio = statistics.median(ratios)
    print(f'{statistics.median(rates):,.0f} launches/s: {ratio:+.2%} (median of {len(ratios)} pairs, quartiles {low:+.2%} to {high:+.2%}), '
          f'{statistics.median(costs):.0f} ns per call, wall time {statistics.median(walls):+.2%}, {lost} lost')
    return 0 if ratio <= 0.01 and lost == 0 else 1


if __name__ == '__main__':
    sys.exit(main())

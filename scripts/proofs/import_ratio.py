#!/usr/bin/env python3
"""The cost of `aaco import` against another build of the program, in alternating rounds: CPU time, wall time, peak memory.

  scripts/proofs/import_ratio.py --base PROGRAM --trace FILE [--rounds N] [--no-report] [--limit 5]

Each round imports the trace once with either program, in changing order, each into a fresh folder. The ratio of a round is new / old;
printed are the medians and the 95 % interval of the median ratio (a bootstrap over rounds). Exit code 0: CPU and memory within
the limit, 1: not. A quiet machine is needed; one round of a trace of 45,000 events takes 2 s.
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
DESCRIPTION = 'aaco import against another build (AACO_BASE_PROGRAM, AACO_RATIO_TRACE): CPU and memory, alternating rounds (1 min)'
DRAWS = 4000


def measure(program, trace, options):
    """CPU seconds, wall seconds and peak MiB of one import."""
    with tempfile.TemporaryDirectory(prefix='aaco-ratio-') as lake:
        began = time.monotonic()
        child = subprocess.Popen([program, 'import', trace, '-o', lake, '--quiet', *options], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f'{program} import {trace} failed with code {child.returncode}')
    return used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024


def interval(ratios):
    chosen = random.Random(19)
    medians = sorted(statistics.median(chosen.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return medians[int(0.025 * DRAWS)], medians[int(0.975 * DRAWS) - 1]


def compare(options, page):
    extra = [] if page else ['--no-report']
    programs = {'old': options.base, 'new': options.program}
    found = {'old': [], 'new': []}
    for program in programs.values():  # caches
        measure(program, options.trace, extra)
    for number in range(options.rounds):
        for name in ('old', 'new') if number % 2 == 0 else ('new', 'old'):
            found[name].append(measure(programs[name], options.trace, extra))
    held = True
    for place, what, unit in ((0, 'CPU', 's'), (1, 'wall', 's'), (2, 'peak memory', 'MiB')):
        ratios = [new[place] / old[place] for old, new in zip(found['old'], found['new'])]
        low, high = interval(ratios)
        medians = [statistics.median(one[place] for one in found[name]) for name in ('old', 'new')]
        change = 100 * (statistics.median(ratios) - 1)
        print(f'{"with" if page else "without"} the page, {what}: {medians[0]:.3f} and {medians[1]:.3f} {unit}, {change:+.1f} % '
              f'({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %), {options.rounds} rounds', flush=True)
        held = held and (what == 'wall' or change <= options.limit)
    return held


def main():
    if '--describe' in sys.argv[1:]:
        print(DESCRIPTION)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--base', default=os.environ.get('AACO_BASE_PROGRAM'), help='the other program')
    parser.add_argument('--program', default=os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco')))
    parser.add_argument('--trace', default=os.environ.get('AACO_RATIO_TRACE'))
    parser.add_argument('--rounds', type=int, default=15)
    parser.add_argument('--no-report', action='store_true', help='only without the page (default: without it, then with it)')
    parser.add_argument('--limit', type=float, default=5, help='percent')
    options = parser.parse_args()
    if not options.base or not options.trace:
        print('skipped, no other program or no trace (AACO_BASE_PROGRAM, AACO_RATIO_TRACE)')
        return 77
    held = [compare(options, page) for page in ([False] if options.no_report else [False, True])]
    return 0 if all(held) else 1


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Faults of simulated fleets: what is found, what is named, and how many false alarms there are.

  scripts/proofs/fleet_faults.py [--seeds 6] [--nodes 200] [--days 1] [--devices 4] [--first SEED]

The seeds are drawn from the commit's time unless --first is given, so that they are not those the rules were made with. Each fleet has every
fault at 5, 10 and 30 %. Prints JSON: the sums over the fleets. Exit code 0: at least 95 % of the faults of 10 % and more found, at most
one false alarm per 1,000 node-days, and 95 % of the stragglers and victims right; else 1.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))


def aaco(*arguments):
    ran = subprocess.run([PROGRAM, '-q', *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f'fleet_faults.py: aaco {arguments[0]} failed ({ran.returncode}): {ran.stderr.strip()[:300]}')
    return ran.stdout


def add(sums, score):
    for name, value in score.items():
        if isinstance(value, dict):
            add(sums.setdefault(name, {}), value)
        elif isinstance(value, list):
            sums.setdefault(name, []).extend(value)
        elif name != 'schema_version':
            sums[name] = sums.get(name, 0) + value
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--seeds', type=int, default=6)
    parser.add_argument('--nodes', type=int, default=200)
    parser.add_argument('--days', type=int, default=1)
    parser.add_argument('--devices', type=int, default=4)
    parser.add_argument('--first', type=int)
    options = parser.parse_args()
    if options.describe:
        print('faults of simulated fleets: 95 % found from 10 % up, one false alarm per 1,000 node-days (3 min)')
        return 0
    first = options.first
    if first is None:
        time = subprocess.run(['git', 'log', '-1', '--format=%ct'], cwd=TOP, capture_output=True, text=True, check=False).stdout.strip()
        first = int(time or 1) % 1_000_000_007
    sums = {}
    for seed in range(first, first + options.seeds):
        with tempfile.TemporaryDirectory(prefix='aaco-fleet-') as folder:
            aaco('lab', 'fleet', '--nodes', options.nodes, '--days', options.days, '--devices', options.devices, '--fault', 'all', '--seed', seed,
                 '--out', folder + '/t')
            add(sums, json.loads(aaco('lab', 'fleet-score', folder + '/t', '--json')))
    answers = [sums[name] for name in ('stragglers', 'victims')]
    right = sum(one['found'] for one in answers) / max(1, sum(one['count'] for one in answers))
    found = sums['faults']['found'] / sums['faults']['count']
    alarms = sums['false_alarms'] / sums['node_days'] * 1000
    print(json.dumps(sums | {'first_seed': first, 'found_ratio': found, 'false_alarms_per_1000_node_days': alarms, 'stragglers_right_ratio': right}))
    return 0 if found >= 0.95 and alarms <= 1 and right >= 0.95 else 1


if __name__ == '__main__':
    sys.exit(main())

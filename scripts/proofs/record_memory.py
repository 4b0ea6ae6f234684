#!/usr/bin/env python3
"""Memory of `aaco record --ebpf` at a telemetry period of 5 ms, over a long recording of a program that switches and forks.

  scripts/proofs/record_memory.py [--minutes 10] [--forks 5] [--no-ebpf]

Prints JSON: the resident memory at the end of each minute, and its growth per minute over the second half. Exit code 0: at most 0.5 MB
per minute there, 1: more, 77: skipped, with the reason as the last line.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
MAX_MB_PER_MINUTE = 0.5
LOAD = '''
import os, sys, threading, time
def switch():
    while True:
        time.sleep(0.001)
for _ in range(2):
    threading.Thread(target=switch, daemon=True).start()
begin, count = time.monotonic(), 0
while True:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    count += 1
    time.sleep(max(0, begin + count / float(sys.argv[1]) - time.monotonic()))
'''


def resident_mb(pid):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024
    return None


def slope(points):
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--minutes', type=float, default=10)
    parser.add_argument('--forks', type=float, default=5, help='processes started per second')
    parser.add_argument('--no-ebpf', action='store_true', help='telemetry only')
    options = parser.parse_args()
    if options.describe:
        print('memory of a long recording with eBPF stays bounded')
        return 0
    with tempfile.TemporaryDirectory(prefix='aaco-memory-') as folder:
        environment = os.environ | {'AACO_SESSIONS': folder + '/sessions'}
        recorded = subprocess.Popen(
            [PROGRAM, 'record', *([] if options.no_ebpf else ['--ebpf']), '--telemetry-period', '5ms', '--duration', f'{int(options.minutes * 60)}s', '--no-report', '--tag',
             'memory', '--', sys.executable, '-c', LOAD, str(options.forks)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        points = []
        began = time.monotonic()
        while time.monotonic() - began < options.minutes * 60 - 2 and recorded.poll() is None:
            time.sleep(1)
            if (memory := resident_mb(recorded.pid)) is not None:
                points.append(((time.monotonic() - began) / 60, memory))
        errors = recorded.communicate()[1]
        manifests = list(pathlib.Path(folder).glob('sessions/*/*/session.json'))
        if not manifests:
            print(errors, file=sys.stderr)
            return 1
        accounts = json.loads(manifests[0].read_text())['accounts']
    account = next((one for one in accounts if one['source'] == 'ebpf'), {'state': 'off', 'read': 0})
    if account['state'] == 'unsupported':
        print('eBPF: ' + account['reason'])
        return 77
    half = [point for point in points if point[0] > options.minutes / 2]
    growth = slope(half)
    by_minute = [round(max(y for x, y in points if minute <= x < minute + 1), 1) for minute in range(int(points[-1][0]) + 1)]
    print(json.dumps({'minutes': options.minutes, 'forks_per_second': options.forks, 'events': account['read'], 'resident_mb': by_minute,
                      'growth_mb_per_minute': round(growth, 3), 'max_mb_per_minute': MAX_MB_PER_MINUTE}))
    return 0 if growth <= MAX_MB_PER_MINUTE else 1


if __name__ == '__main__':
    sys.exit(main())

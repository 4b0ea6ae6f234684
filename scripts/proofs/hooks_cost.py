#!/usr/bin/env python3
"""What `aaco record --hooks` costs a program that launches 100,000 kernels per second on a stand-in runtime, in interleaved blocks.

    scripts/proofs/hooks_cost.py [--blocks N] [--seconds S] [--cores PROGRAM,READER]

Each block is one process on a core of its own that launches and computes for about a second and times itself; aaco runs on another core.
Three kinds alternate: without --hooks; with it; and without it while another process keeps the reader's core as busy as aaco does with
--hooks ("beside"). The cost is that of the program's CPU time. Wall time is CPU time, waits for a CPU (the scheduler's own account) and
sleep: each is printed. What "beside" adds to the wall time is not of the hooks but of work on the other core, which drives other
programs of the machine to the program's core. On a quiet machine (the program waits less than 1 % of the time for its CPU) wall time is
judged as well. Exit code 1: the median of CPU time (quiet: or wall time) is above 1 %, or calls were lost.
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
MOST = 0.01
QUIET = 0.01  # of the time the program waits for its CPU
# Busy for a share of each 10 ms, until its input closes.
BURNER = '''
import select, sys, time
share = float(sys.argv[1])
while not select.select([sys.stdin], [], [], 0)[0]:
    began = time.monotonic()
    while time.monotonic() - began < 0.01 * share: pass
    time.sleep(max(0, began + 0.01 - time.monotonic()))
'''


def block(hooks, cores, seconds, folder, burn=0.0):
    """What the program says of itself, the lost records, and the CPU time of aaco beside it, in seconds."""
    program, reader = cores
    words = ['taskset', '-c', reader, PROGRAM, 'record', *(['--hooks'] if hooks else []), '--json', '--no-report', '--',
             'taskset', '-c', program, STANDS / 'aaco_hooks_program', 'work', '100000', seconds]
    environment = {**os.environ, 'AACO_SESSIONS': folder, 'LD_LIBRARY_PATH': str(STANDS)}
    burner = burn and subprocess.Popen(['taskset', '-c', reader, sys.executable, '-c', BURNER, str(burn)], stdin=subprocess.PIPE)
    with open(pathlib.Path(folder) / 'errors', 'w+', encoding='utf-8') as errors_file:
        ran = subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, stderr=errors_file, text=True, env=environment, stdin=subprocess.DEVNULL)
        output = ran.stdout.read()
        _, status, usage = os.wait4(ran.pid, 0)
        errors_file.seek(0)
        errors = errors_file.read()
    ran.returncode = os.waitstatus_to_exitcode(status)
    if burner:
        burner.stdin.close()
        burner.wait()
    if ran.returncode:
        raise RuntimeError(errors)
    seen = {name: int(value) for name, value in re.findall(r'(\w+) (-?\d+)', output)}
    seen['aaco_s'] = usage.ru_utime + usage.ru_stime - seen['cpu_ns'] / 1e9
    seen['lost'] = 0
    if hooks:
        shown = subprocess.run([PROGRAM, 'show', 'latest', '--json'], capture_output=True, text=True, check=True, env=environment)
        session = pathlib.Path(folder) / pathlib.Path(json.loads(shown.stdout)['session']['path'])
        manifest = json.loads((session / 'session.json').read_text())
        account = next(one for one in manifest['accounts'] if one['source'] == 'hooks')
        seen['lost'] = account['read'] - account['kept']
    return seen


def spread(values):
    ordered = sorted(values)
    return f'{statistics.median(values):+.2%} (quartiles {ordered[len(ordered) // 4]:+.2%} to {ordered[-1 - len(ordered) // 4]:+.2%})'


def measure(options, cores, folder):
    """Blocks of each kind, one of each in a round: 'bare', 'hooked', 'beside'."""
    rounds, share = [], 0.0
    for index in range(options.blocks):
        kinds = ['bare', 'hooked', 'beside']
        kinds = kinds[index % 3:] + kinds[:index % 3]
        if index == 0:
            kinds = ['bare', 'hooked', 'beside']  # how busy aaco is must be known first
        one = {}
        for kind in kinds:
            one[kind] = block(kind == 'hooked', cores, options.seconds, folder, share if kind == 'beside' else 0)
            if index == 0 and kind == 'hooked':
                share = min(1.0, max(0.01, (one['hooked']['aaco_s'] - one['bare']['aaco_s']) / (one['hooked']['wall_ns'] / 1e9)))
        rounds.append(one)
    return rounds, share


def tell(rounds, share):
    def relative(kind, of):
        return [one[kind][of] / one['bare'][of] - 1 for one in rounds]

    def parts(kind):
        """Of the wall time of the bare block: CPU, waiting, and the rest, which is sleep."""
        wall = [one['bare']['wall_ns'] for one in rounds]
        cpu = statistics.median(one[kind]['cpu_ns'] / w for one, w in zip(rounds, wall))
        wait = statistics.median(one[kind]['wait_ns'] / w for one, w in zip(rounds, wall))
        whole = statistics.median(one[kind]['wall_ns'] / w for one, w in zip(rounds, wall))
        return f'wall {whole:.3f} = CPU {cpu:.3f} + waiting for a CPU {wait:.3f} + sleep {max(0.0, whole - cpu - wait):.3f}'

    cost = [(one['hooked']['cpu_ns'] - one['bare']['cpu_ns']) / one['bare']['calls'] for one in rounds]
    rate = statistics.median(one['bare']['calls'] / one['bare']['cpu_ns'] * 1e9 for one in rounds)
    lost = sum(one['hooked']['lost'] for one in rounds)
    cpu = statistics.median(relative('hooked', 'cpu_ns'))
    wall = statistics.median(relative('hooked', 'wall_ns'))
    waits = statistics.median(one['bare']['wait_ns'] / one['bare']['wall_ns'] for one in rounds)
    quiet = 0 <= waits < QUIET
    faults, switches = ([statistics.median(one[kind][what] for one in rounds) for kind in ('bare', 'hooked', 'beside')] for what in ('faults', 'switches'))
    print(f'{rate:,.0f} launches/s, {len(rounds)} rounds: CPU time {spread(relative("hooked", "cpu_ns"))}, {statistics.median(cost):.0f} ns per call, {lost} lost')
    print(f'wall time: hooked {spread(relative("hooked", "wall_ns"))}; with {share:.0%} of the reader\'s core busy otherwise {spread(relative("beside", "wall_ns"))}')
    for kind in ('bare', 'hooked', 'beside'):
        print(f'  {kind:7} {parts(kind)}')
    print(f'  page faults and lost CPUs a block: bare {faults[0]:.0f} and {switches[0]:.0f}, hooked {faults[1]:.0f} and {switches[1]:.0f}, beside {faults[2]:.0f} and {switches[2]:.0f}')
    print(f'  the program waits {waits:.1%} of the time for its CPU without hooks: ' +
          ('quiet, wall time is judged' if quiet else 'not quiet, wall time is not judged'))
    out = os.environ.get('AACO_PROOF_OUT')
    if out:
        pathlib.Path(out + '.json').write_text(json.dumps({'reader_share': share, 'rounds': rounds}, indent=1) + '\n')
    return cpu <= MOST and lost == 0 and (not quiet or wall <= MOST)


def main():
    if sys.argv[1:] == ['--describe']:
        print(DESCRIBE)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--blocks', type=int, default=20, help='rounds of three blocks (default: 20)')
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
    with tempfile.TemporaryDirectory(prefix='aaco-hooks-') as folder:
        return 0 if tell(*measure(options, cores, folder)) else 1


if __name__ == '__main__':
    sys.exit(main())

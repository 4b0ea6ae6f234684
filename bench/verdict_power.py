#!/usr/bin/env python3
"""How often verdicts are right on this machine: equal runs (false alarms, binomial test) and calls prolonged on purpose (found).

  bench/verdict_power.py ab   [--comparisons 200] [--duration 2s] [--inject 0,2,5,10] [--model squeezenet,mlp] [--threads 1] [--threshold 2%]
                              [--results FILE] [--under 'nice -n -10']
  bench/verdict_power.py diff [--comparisons 200] [--iterations 60] [--duration 1s] [--model mlp] [--threads 1] [--threshold 5%] [--load 4]
                              [--change 'lab inject --intensity 0.3 -- tiny_kernels']

`ab` makes a comparison of its own each time. `diff` measures sessions one after the other and compares sets of three, every second
session on the other side, moving on by one session for each comparison (two with --change). --load: processes that spin on the
same CPUs throughout. --change: words before `run` of every second session, so that B computes more; what the median and the caller's
CPU time decide is counted separately. --duration instead of --iterations where given. Takes as long as it takes; a line per comparison
says how it goes.
With --results each comparison of `ab` is added to that file, what it holds of the same kind (duration, threads, threshold, share injected)
counts as done, and the shares take turns: the measurement can be cut into slices. `--comparisons 0` only sums up. --under runs the
program through another command (priority, a lock).
"""
import argparse
import collections
import ctypes
import json
import math
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get('AACO_PROGRAM', str(pathlib.Path(__file__).resolve().parents[1] / 'build/release/bin/aaco'))
SIDE = 3  # sessions


def aaco(lake, *arguments, under=()):
    ran = subprocess.run([*under, PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, env=os.environ | {'AACO_SESSIONS': str(lake)})
    if ran.returncode not in (0, 1, 4):
        sys.exit(f'{ran.args}: exit {ran.returncode}\n{ran.stderr}')
    return json.loads(ran.stdout)


def at_least(count, trials, share):
    """The probability of so many or more where each has this share."""
    return sum(math.comb(trials, k) * share**k * (1 - share)**(trials - k) for k in range(count, trials + 1))


def summary(name, verdicts, level=0.05):
    counts = collections.Counter(v['verdict'] for v in verdicts)
    detectable = statistics.median(v['detectable'] for v in verdicts if v['detectable'] is not None)
    decided = 1 - counts['inconclusive'] / len(verdicts)
    text = f'{name}: {len(verdicts)} comparisons, {dict(counts)}, decided {decided:.1%}, median smallest detectable change {detectable:.2%}'
    changed = counts['regression'] + counts['improvement']
    if name != '0 %':
        text += f'; slower than equal: {sum(v["excludes_zero"] and v["delta"] > 0 for v in verdicts)}'
        resolvable = [v for v in verdicts if v['detectable'] is not None and v['detectable'] < float(name[:-2]) / 100]
        text += f'; of {len(resolvable)} whose smallest detectable change is below it: {sum(v["verdict"] == "regression" for v in resolvable)} decided'
    else:
        text += f'; false alarms {changed} ({changed / len(verdicts):.1%}), P(as many or more at {level:.0%}) = {at_least(changed, len(verdicts), level):.3f}'
        outside = sum(v['excludes_zero'] for v in verdicts)
        text += f'; intervals without 0: {outside} ({outside / len(verdicts):.1%}), P = {at_least(outside, len(verdicts), level):.3f}'
    print(text, flush=True)


def taken(verdict):
    first = verdict['statistics'][0]
    low, high = first.get('interval', [0, 0])
    return {'verdict': verdict['verdict'], 'detectable': first.get('smallest_detectable_ratio'), 'excludes_zero': low > 0 or high < 0,
            'delta': first.get('delta_ratio'), 'rounds': len(verdict.get('ab', {}).get('rounds', []))}


def compare(arguments, share, number, lake):
    models = arguments.model.split(',')
    options = ['--model', models[number % len(models)]] + (['--threads', arguments.threads] if arguments.threads else [])
    delay = ['--inject-delay', f'{share}%'] if float(share) > 0 else []
    verdict = aaco(lake, 'ab', '--no-store', '--json', '--duration', arguments.duration, '--threshold', arguments.threshold, '--', *options, '--',
                   *options, *delay, under=shlex.split(arguments.under))
    return taken(verdict) | {'model': options[1], 'wall_s': verdict['ab']['wall_ns'] / 1e9}


def done_before(arguments, kind):
    path = pathlib.Path(arguments.results or os.devnull)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    return [row['seen'] for row in rows if row['kind'] == kind]


def by_ab(arguments, lake):
    shares = arguments.inject.split(',')
    kinds = {share: [arguments.duration, arguments.threads, arguments.threshold, float(share)] for share in shares}
    verdicts = {share: done_before(arguments, kinds[share]) for share in shares}
    while wanting := [share for share in shares if len(verdicts[share]) < arguments.comparisons]:
        for share in wanting:
            seen = compare(arguments, share, len(verdicts[share]), lake)
            verdicts[share].append(seen)
            print('  ', share, seen, flush=True)
            if arguments.results:
                with open(arguments.results, 'a', encoding='utf-8') as results:
                    results.write(json.dumps({'kind': kinds[share], 'seen': seen}) + '\n')
    for share in shares:
        if verdicts[share]:
            summary(f'{share} %', verdicts[share])


def spinning(count):
    def ready():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with this script
    return [subprocess.Popen(['sh', '-c', 'while :; do :; done'], preexec_fn=ready) for _ in range(count)]


def wilson(count, trials):
    """The 95 % interval of a share."""
    z, share = 1.96, count / trials
    middle, half = share + z * z / (2 * trials), z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return f'{(middle - half) / (1 + z * z / trials):.1%} to {(middle + half) / (1 + z * z / trials):.1%}'


def by_metric(verdicts):
    """What each metric that may decide says on its own."""
    for metric in ('latency.p50_ns', 'latency.mean_ns', 'throughput.items_per_second', 'latency.caller_cpu_ns'):
        seen = [one['metrics'][metric] for one in verdicts if metric in one['metrics']]
        if not seen:
            continue
        counts = collections.Counter(one['verdict'] for one in seen)
        changed = counts['regression'] + counts['improvement']
        deltas = statistics.median(one['delta'] for one in seen if one['delta'] is not None)
        print(f'  {metric}: {dict(counts)}; changed {changed} of {len(seen)} ({wilson(changed, len(seen))}), median change {deltas:+.1%}', flush=True)


def by_diff(arguments, lake):
    sessions, step = [], 2 if arguments.change else 1
    length = ['--duration', arguments.duration] if arguments.duration else ['--iterations', arguments.iterations]
    options = ['--model', arguments.model, '--warmup', 20, *length, *(['--threads', arguments.threads] if arguments.threads else [])]
    hogs = spinning(arguments.load)
    try:
        for number in range(step * (arguments.comparisons - 1) + 2 * SIDE):
            changed = shlex.split(arguments.change) if number % 2 else []
            sessions.append(aaco(lake, *changed, 'run', *options, '--no-report', '--json')['session']['id'])
            if number % 20 == 0:
                print('   measured', number + 1, flush=True)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    for threshold in arguments.threshold.split(','):
        compare_windows(arguments, lake, sessions, step, threshold)


def compare_windows(arguments, lake, sessions, step, threshold):
    print(f'threshold {threshold}', flush=True)
    verdicts = []
    for first in range(0, step * arguments.comparisons, step):
        window = sessions[first:first + 2 * SIDE]
        verdict = aaco(lake, 'diff', ','.join(window[0::2]), ','.join(window[1::2]), '--no-store', '--json', '--threshold', threshold)
        metrics = {one['metric']: {'verdict': one['verdict'], 'delta': one.get('delta_ratio')} for one in verdict['statistics']}
        verdicts.append(taken(verdict) | {'metrics': metrics})
    if arguments.change:
        counts = collections.Counter(one['verdict'] for one in verdicts)
        print(f'{arguments.change}: {len(verdicts)} comparisons, {dict(counts)}', flush=True)
    else:
        summary('0 %', verdicts)
        changed = sum(one['verdict'] in ('regression', 'improvement') for one in verdicts)
        print(f'  false verdicts {changed} of {len(verdicts)} (95 % interval as if they were independent: {wilson(changed, len(verdicts))})', flush=True)
    by_metric(verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('kind', choices=('ab', 'diff'))
    parser.add_argument('--comparisons', type=int, default=200)
    parser.add_argument('--duration', )
    parser.add_argument('--inject', default='0')
    parser.add_argument('--iterations', type=int, default=60)
    parser.add_argument('--model')
    parser.add_argument('--threads', type=int)
    parser.add_argument('--threshold')
    parser.add_argument('--results')
    parser.add_argument('--under', default='')
    parser.add_argument('--load', type=int, default=0)
    parser.add_argument('--change', default='')
    parser.add_argument('--lake', help='keep the sessions of diff in this folder')
    arguments = parser.parse_args()
    arguments.model = arguments.model or ('squeezenet' if arguments.kind == 'ab' else 'mlp')
    arguments.duration = arguments.duration or ('2s' if arguments.kind == 'ab' else None)
    arguments.threshold = arguments.threshold or ('2%' if arguments.kind == 'ab' else '5%')
    with tempfile.TemporaryDirectory(prefix='aaco-power-') as lake:
        (by_ab if arguments.kind == 'ab' else by_diff)(arguments, arguments.lake or lake)


if __name__ == '__main__':
    main()

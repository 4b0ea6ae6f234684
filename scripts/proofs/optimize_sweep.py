#!/usr/bin/env python3
"""`aaco optimize` beside an exhaustive sweep of the same space of 96 configurations.

  scripts/proofs/optimize_sweep.py [--models NAME,...] [--seconds 3] [--proof 30s] [--confirm 3] [--budget SECONDS]

Per model: measures every configuration with `aaco run`, compares the --confirm fastest with ONNX Runtime's default by `aaco ab` on
fresh runs (single runs of 3 s rank close configurations by chance; the best proven one is the sweep's), and searches the same
space with `aaco optimize` in a fifth of the sweep's wall time (or --budget). Also compares the best of eight fixed settings
(threads 1/2, graph level, execution mode). Where the sweep proves 5 % or more, the search must prove at least 85 % of that gain;
where it proves none, the search must claim none and exit with 4. A search that takes more than its budget and a tenth has not
held. A run whose calls do not support a median is repeated with twice the time. Resumes from $AACO_PROOF_OUT.jsonl, one
configuration at a time; --limit measures the first configurations only, to try this program. Exit code 0: held on every model,
1: not, 3: a measurement failed, 77: skipped, with the reason as the last line.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'scripts/lib'))
from proof_log import read_log  # noqa: E402
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
OUT = pathlib.Path(os.environ.get('AACO_PROOF_OUT', str(TOP / 'build/proofs/optimize_sweep')))
MODELS = 'squeezenet,mobilenetv2,distilbert,bert-base,gpt2,mlp,launch-bound,memory-bound'
MIN_GAIN, MIN_SHARE = 0.05, 0.85
# Axis -> value -> run options; the first value is the baseline's. 4 x 2 x 3 x 2 x 2 = 96.
AXES = {'threads': {'baseline': {}, '1': {'threads': 1}, '2': {'threads': 2}, '4': {'threads': 4}},
        'execution': {'baseline': {}, 'parallel': {'session_options.execution_mode': 'parallel', 'session_options.inter_op_threads': '2'}},
        'graph_level': {'baseline': {}, 'extended': {'graph_level': 'extended'}, 'basic': {'graph_level': 'basic'}},
        'spinning': {'baseline': {}, 'off': {'session_options.session.intra_op.allow_spinning': '0'}},
        'arena': {'baseline': {}, 'off': {'session_options.memory_arena': 'off'}}}
FIXED = [{'threads': t, 'graph_level': g, 'execution': e} for t in ('1', '2') for g in ('baseline', 'basic') for e in ('baseline', 'parallel')]


def aaco(*arguments):
    ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1, 4) or not ran.stdout.strip():
        if 'unsupported' in ran.stderr:
            print('skipped, no ONNX Runtime')
            sys.exit(77)
        print(f'{" ".join(map(str, arguments))}: exit code {ran.returncode}\n{ran.stderr}', file=sys.stderr)
        sys.exit(3)
    return {**json.loads(ran.stdout), 'exit_code': ran.returncode}


def words(chosen):
    out = []
    for axis, value in chosen.items():
        for key, text in AXES[axis][value].items():
            group, _, name = key.partition('.')
            out += ['--session-option', f'{name}={text}'] if name else [f'--{group.replace("_", "-")}', str(text)]
    return out


def write_space(path):
    axes = [{'id': axis, 'values': [{'id': value, 'set': {k: str(v) for k, v in options.items()}} for value, options in values.items() if options]}
            for axis, values in AXES.items()]
    path.write_text(json.dumps({'schema_version': 1, 'axes': axes}))


def proven_gain(model, chosen, duration):
    """The gain that a comparison with the default proves: (change, low, high, proven)."""
    if not words(chosen):
        return {'change_ratio': 0, 'proven': False}
    verdict = aaco('ab', '--apart', '--no-store', '--json', '--threshold', '1%', '--duration', duration, '--', '--model', model, '--', *words(chosen))
    metric = verdict['statistics'][0]
    return {'change_ratio': metric.get('delta_ratio'), 'interval': metric.get('interval'), 'proven': metric['verdict'] == 'improvement'}


def median_ns(model, chosen, seconds, folder):
    """Of a run; of a longer one where a call is so slow that the calls do not support a median."""
    for _ in range(5):
        ran = aaco('run', '--model', model, '--duration', f'{seconds}s', '--no-report', '--json', '-o', folder / 'sessions', *words(chosen))
        if 'latency.p50_ns' in ran['metrics']:
            return ran['metrics']['latency.p50_ns']['value']
        seconds *= 2
    print(f'{model} {chosen}: no median in {seconds / 2:g} s', file=sys.stderr)
    sys.exit(3)


def sweep(model, asked, folder, log, done):
    """Medians by configuration, and the wall time that measuring them took."""
    spent = sum(one['wall_s'] for one in done)
    tried = {json.dumps(one['configuration']): one['median_ns'] for one in done}
    for values in list(itertools.product(*AXES.values()))[:asked.limit or None]:
        chosen = dict(zip(AXES, values))
        key = json.dumps(chosen)
        if key in tried:
            continue
        start = time.monotonic()
        tried[key] = median_ns(model, chosen, asked.seconds, folder)
        took = time.monotonic() - start
        spent += took
        with log.open('a') as file:
            file.write(json.dumps({'model': model, 'configuration': chosen, 'median_ns': tried[key], 'wall_s': took}) + '\n')
    return tried, spent


def search(model, budget, folder):
    write_space(folder / 'space.yaml')
    return aaco('optimize', model, '--space', folder / 'space.yaml', '--budget', f'{budget:.0f}s', '--no-store', '--json', '-o', folder / 'out')


def confirm(model, tried, asked):
    """The fastest configurations of the sweep against the default on fresh runs; the best proven one first."""
    fastest = [json.loads(key) for key in sorted(tried, key=tried.get)[:asked.confirm]]
    proofs = [{'configuration': one, 'median_ns': tried[json.dumps(one)], **proven_gain(model, one, asked.proof)} for one in fastest]
    return sorted(proofs, key=lambda one: (not one['proven'], one['change_ratio'] or 0))


def judge(model, asked, log, lines):
    with tempfile.TemporaryDirectory(prefix='aaco-sweep-') as name:
        folder = pathlib.Path(name)
        done = [one for one in lines if one['model'] == model and 'configuration' in one]
        tried, wall_s = sweep(model, asked, folder, log, done)
        fixed_of = {json.dumps({axis: one.get(axis, 'baseline') for axis in AXES}): one for one in FIXED}
        fixed = fixed_of[min(fixed_of, key=lambda key: tried.get(key, float('inf')))]
        budget = asked.budget or max(wall_s / 5, 20)
        found = search(model, budget, folder)
        of_sweep = confirm(model, tried, asked)
        of_fixed = proven_gain(model, fixed, asked.proof)
    gain = -of_sweep[0]['change_ratio'] if of_sweep[0]['proven'] else 0
    ours = -found['proof']['change_ratio'] if found['proven'] else 0
    search_s = found['wall_ns'] / 1e9
    held = ours >= MIN_SHARE * gain if gain >= MIN_GAIN else gain > 0 or (not found['proven'] and found['exit_code'] == 4)
    return {'model': model, 'configurations': len(tried), 'sweep_s': wall_s, 'budget_s': budget, 'search_s': search_s, 'tried': found['counts']['tried'],
            'sweep': of_sweep, 'fixed_best': fixed, 'fixed': of_fixed, 'search': found.get('proof'), 'exit_code': found['exit_code'],
            'sweep_gain': gain, 'search_gain': ours, 'share': ours / gain if gain else None, 'held': held and search_s <= 1.1 * budget}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print what this measures')
    parser.add_argument('--models', default=MODELS)
    parser.add_argument('--seconds', type=float, default=3)
    parser.add_argument('--proof', default='30s')
    parser.add_argument('--confirm', type=int, default=3)
    parser.add_argument('--budget', type=float, default=0, help='seconds (default: a fifth of the sweep)')
    parser.add_argument('--limit', type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.describe:
        print('optimize beside an exhaustive sweep of 96 configurations on eight zoo models')
        return 0
    OUT.parent.mkdir(parents=True, exist_ok=True)
    log = OUT.with_suffix('.jsonl')
    lines = read_log(log)
    results = {one['model']: one for one in lines if 'held' in one}
    for model in asked.models.split(','):
        if model not in results:
            results[model] = judge(model, asked, log, lines)
            with log.open('a') as file:
                file.write(json.dumps(results[model]) + '\n')
        print(json.dumps(results[model]), flush=True)
    held = sum(one['held'] for one in results.values())
    print(f'{held} of {len(results)} models held')
    OUT.with_suffix('.json').write_text(json.dumps(list(results.values()), indent=1) + '\n')
    return 0 if held == len(results) else 1


if __name__ == '__main__':
    sys.exit(main())

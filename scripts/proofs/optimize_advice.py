#!/usr/bin/env python3
"""Predicted against proved gain of advice (the goal: 80 % of the items with a predicted gain of 10 % or more).

  scripts/proofs/optimize_advice.py [--models NAME,...] [--threads 1,2] [--run 10s] [--budget 3m] [--tolerance 0.5]

Per model and number of threads: a session of `aaco run`, then `aaco optimize --advice` on it, --accept so that changes of precision
may win (the zoo's weights are random: this judges times, not accuracy). Of every item with a predicted gain of 10 % or more that a
setting can try, the proved saving must be within the predicted interval, and the half width of that interval at most the predicted
gain. Three counts: `point` the proved saving is within (0 where no gain is proven: the user keeps what there is), `meets` the
interval of the measured change meets the predicted one, `above_zero` is `point` of the items whose interval does not begin at 0.
Items that are not tried (budget too short) are listed and do not count. Resumes from $AACO_PROOF_OUT.jsonl, one session at a time. Exit code 0: 80 %
of at least ten items by `point`, 1: not, 3: a measurement failed, 77: skipped, with the reason as the last line.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'scripts/lib'))
from proof_log import read_log  # noqa: E402
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
OUT = pathlib.Path(os.environ.get('AACO_PROOF_OUT', str(TOP / 'build/proofs/optimize_advice')))
MODELS = 'resnet50,mobilenetv2,squeezenet1.1,vgg16,bert-base,distilbert,gpt2,mlp,launch-bound,memory-bound'
MIN_GAIN, MIN_SHARE, MIN_ITEMS = 0.10, 0.80, 10


def aaco(*arguments, allowed=(0,)):
    ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode in allowed and (ran.stdout.strip() or ran.returncode == 3):
        return ran
    if 'unsupported' in ran.stderr:
        print('skipped, no ONNX Runtime')
        sys.exit(77)
    print(f'{" ".join(map(str, arguments))}: exit code {ran.returncode}\n{ran.stderr}', file=sys.stderr)
    sys.exit(3)


def judge(item):
    """An item of advice.json beside its prediction, or None where nothing of 10 % or more is predicted."""
    predicted, interval = item.get('predicted_gain_ratio'), item.get('predicted_interval')
    if predicted is None or predicted < MIN_GAIN or interval is None or item['outcome'] == 'not tried':
        return None
    proof = item.get('proof', {})
    saving, measured = -proof['change_ratio'] if item['outcome'] == 'proven' else 0, proof.get('interval')
    one = {'id': item['id'], 'predicted': predicted, 'interval': interval, 'sharp': (interval[1] - interval[0]) / 2 <= predicted,
           'outcome': item['outcome'], 'configuration': proof.get('configuration'), 'saving': saving, 'change': proof.get('change_ratio'),
           'measured_interval': measured, 'point': interval[0] <= saving <= interval[1]}
    one['meets'] = -measured['low'] >= interval[0] and -measured['high'] <= interval[1] if measured else one['point']
    return one


def try_session(model, threads, asked):
    with tempfile.TemporaryDirectory(prefix='aaco-advice-') as name:
        folder = pathlib.Path(name)
        aaco('--sessions', folder / 'sessions', 'run', '--model', model, '--threads', threads, '--duration', asked.run, '--profile', '--no-report', '--json')
        ran = aaco('--sessions', folder / 'sessions', 'optimize', '--advice', 'latest', '--budget', asked.budget, '--accept', '--tolerance', asked.tolerance,
                   '--no-store', '--json', '-o', folder / 'out', allowed=(0, 3, 4))
    if ran.returncode == 3:
        if 'no advice that a setting' not in ran.stderr:
            print(f'{model}, {threads} threads: {ran.stderr}', file=sys.stderr)
            sys.exit(3)
        return {'model': model, 'threads': threads, 'items': [], 'left_out': []}
    items = json.loads(ran.stdout)['items']
    judged = [(one, judge(one)) for one in items]
    left_out = [{'id': one['id'], 'predicted': one.get('predicted_gain_ratio'), 'why': one.get('reason', one['outcome'])} for one, told in judged if told is None]
    return {'model': model, 'threads': threads, 'items': [told for _, told in judged if told], 'left_out': left_out}


def share(items, key):
    return sum(one[key] and one['sharp'] for one in items) / len(items) if items else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print what this measures')
    parser.add_argument('--models', default=MODELS)
    parser.add_argument('--threads', default='1,2')
    parser.add_argument('--run', default='10s', help='duration of the session that the advice is of')
    parser.add_argument('--budget', default='3m', help='of the advice of a session')
    parser.add_argument('--tolerance', default='0.5')
    asked = parser.parse_args()
    if asked.describe:
        print("optimize --advice: share of items whose proved gain is within the predicted interval")
        return 0
    OUT.parent.mkdir(parents=True, exist_ok=True)
    log = OUT.with_suffix('.jsonl')
    done = read_log(log)
    for model in asked.models.split(','):
        for threads in map(int, asked.threads.split(',')):
            if any((one['model'], one['threads']) == (model, threads) for one in done):
                continue
            done.append(try_session(model, threads, asked))
            with log.open('a') as file:
                file.write(json.dumps(done[-1]) + '\n')
            print(json.dumps(done[-1]), flush=True)
    items = [item for one in done for item in one['items']]
    open_below = [one for one in items if one['interval'][0] > 0]
    summary = {'sessions': len(done), 'items': len(items), 'point': share(items, 'point'), 'meets': share(items, 'meets'),
               'sharp': sum(one['sharp'] for one in items), 'above_zero_items': len(open_below), 'above_zero': share(open_below, 'point')}
    OUT.with_suffix('.json').write_text(json.dumps({**summary, 'sessions_tried': done}, indent=1) + '\n')
    print(json.dumps(summary))
    return 0 if len(items) >= MIN_ITEMS and summary['point'] >= MIN_SHARE else 1


if __name__ == '__main__':
    sys.exit(main())

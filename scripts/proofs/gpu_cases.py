#!/usr/bin/env python3
"""Real PyTorch traces of an NVIDIA GPU whose bottleneck is known, since each program was written to have it.

  scripts/proofs/gpu_cases.py --write FOLDER     on a machine with PyTorch and a GPU: traces, and cases.yaml with the truth of each
  scripts/proofs/gpu_cases.py --judge FOLDER     anywhere: what `aaco lab score` says of them

Without an option both, in a temporary folder. Exit code 77: no PyTorch or no GPU.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

DESCRIPTION = 'PyTorch on an NVIDIA GPU: verdicts on programs written to be slow for a known cause (2 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from gpu import first_set, second_set, third_set  # noqa: E402

SETS = {'first': first_set.CASES, 'second': second_set.CASES, 'third': third_set.CASES}
def write(torch, one, folder):
    """Profiles four steps after three; returns the trace's path."""
    from torch.profiler import ProfilerActivity, profile, schedule
    step = one['program'](torch)
    path = folder / f"{one['program'].__name__}.pt.trace.json.gz"
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True, with_stack=one['stack'], schedule=schedule(wait=1, warmup=2, active=4),
                 on_trace_ready=lambda ended: ended.export_chrome_trace(str(path))) as running:
        for _ in range(7):
            step()
            running.step()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return path


def seconds_of(torch, step, least_s):
    """Of one step, without a profiler."""
    torch.cuda.synchronize()
    began, count = time.perf_counter(), 0
    while count < 2 or time.perf_counter() - began < least_s:
        step()
        count += 1
        if count % 8 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / count


def compare(torch, one, rounds=5, least_s=0.12):
    """Seconds of a step before and after the change, in turn; the first round is not counted."""
    steps = [one['program'](torch), one['program'](torch, better=True)]
    times = [[seconds_of(torch, step, least_s) for step in steps] for _ in range(rounds + 1)][1:]
    return {'before_s': [before for before, _ in times], 'after_s': [after for _, after in times], 'advice': one['advice']}


def cases_of(one, file):
    name = one['program'].__name__
    told = {'class': one['class'], 'cause': one['cause'], 'seconds': one['seconds']}
    yield corpus_case(f'{name}.headline', file, 'headline', 'What limits it?', told, {})
    for pattern, cause_class, cause in one['kernels']:
        yield corpus_case(f'{name}.{pattern}', file, 'kernel', 'What limits this kernel?', {'class': cause_class, 'cause': cause}, {'kernel': pattern})


def corpus_case(name, file, kind, question, truth, arguments):
    return {'id': name, 'file': file, 'kind': kind, 'question': question, 'query': {'call': 'generated', 'args': arguments}, 'values': {'count': 1},
            'truth': truth, 'proof': 'The program was written so.', 'split': 'held', 'origin': 'own'}


def write_all(torch, folder, programs, only=''):
    """Returns whether every program ran; what the others wrote is kept."""
    (folder / 'own').mkdir(parents=True, exist_ok=True)
    cases, changes, ran = [], {}, True
    for one in programs:
        if only not in one['program'].__name__:
            continue
        name = one['program'].__name__
        try:
            path = write(torch, one, folder / 'own')
            cases += cases_of(one, f'own/{path.name}')
            if one['advice']:
                changes[name] = compare(torch, one)
        except Exception as problem:  # noqa: BLE001 - whatever PyTorch raises: the next program may run
            print(f'{name}: {type(problem).__name__}: {problem}', file=sys.stderr, flush=True)
            ran = False
            continue
        print(f'{path.name}: {path.stat().st_size} bytes', flush=True)
    (folder / 'cases.yaml').write_text(json.dumps({'schema': 1, 'cases': cases}, indent=1))
    (folder / 'changes.json').write_text(json.dumps(changes, indent=1))
    (folder / 'machine.json').write_text(json.dumps({'device': torch.cuda.get_device_name(0), 'torch': torch.__version__}) + '\n')
    return ran


def gains(program, folder, lake):
    """What was promised for each change, beside what it brought without a profiler: rows of (name, advice, most promised, measured)."""
    rows = []
    for name, change in json.loads((folder / 'changes.json').read_text()).items():
        def aaco(*words):
            return subprocess.run([program, *map(str, words), '--sessions', lake], capture_output=True, text=True, check=True).stdout
        aaco('import', folder / 'own' / f'{name}.pt.trace.json.gz', '--no-report')
        advice = json.loads(aaco('explain', 'latest', '--json'))['bottleneck']['recommendations']
        measured = 1 - statistics.median(change['after_s']) / statistics.median(change['before_s'])
        ids = next((one['advice'] for cases in SETS.values() for one in cases if one['program'].__name__ == name), change['advice'])
        told = next((one for one in advice if one['id'] in ids), None)
        rows.append({'program': name, 'advice': told and told['id'], 'place': told and advice.index(told) + 1, 'most_ratio': told and told['gain_ratio'],
                     'measured_ratio': measured})
    return rows


def judge(folder):
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    words = [program, 'lab', 'score', '--corpus', str(folder), '--data', str(folder), '--json']
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 1
    figures = json.loads(done.stdout)
    if (folder / 'changes.json').exists():
        with tempfile.TemporaryDirectory(prefix='aaco-proof-') as lake:
            figures['gains'] = gains(program, folder, lake)
    output = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/gpu_cases')).with_suffix('.json')
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(figures, indent=1) + '\n')
    scored = figures['held']
    for name in ('class_first', 'cause', 'unknown'):
        print(f"{name}: {scored[name]['right']} of {scored[name]['count']}")
    print(f"above 90 % and false: {scored['sure_and_wrong']}")
    for row in figures.get('gains', []):
        told = f"{row['advice']} ({row['place']}.), at most {100 * row['most_ratio']:.1f} %" if row['advice'] else 'no such advice'
        print(f"  {row['program']}: {told}; measured {100 * row['measured_ratio']:.1f} %")
    return 0


def main():
    if '--describe' in sys.argv[1:]:
        print(DESCRIPTION)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--write', type=pathlib.Path, metavar='FOLDER')
    parser.add_argument('--judge', type=pathlib.Path, metavar='FOLDER')
    parser.add_argument('--only', default='', help='only the programs whose name has this text')
    parser.add_argument('--set', choices=sorted(SETS), help='which programs; all if not given')
    options = parser.parse_args()
    programs = SETS[options.set] if options.set else [one for cases in SETS.values() for one in cases]
    if options.judge:
        return judge(options.judge)
    try:
        import torch
    except ImportError:
        print('skipped, no PyTorch in this Python')
        return 77
    if not torch.cuda.is_available():
        print('skipped, PyTorch sees no GPU')
        return 77
    if options.write:
        return 0 if write_all(torch, options.write, programs, options.only) else 1
    with tempfile.TemporaryDirectory(prefix='aaco-proof-') as temporary:
        ran = write_all(torch, pathlib.Path(temporary), programs)
        return judge(pathlib.Path(temporary)) or (0 if ran else 1)


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Traces of mixed causes from four generators of their own: verdicts, gap causes, limits of kernels, pairs and calibration against the known truth.

  scripts/proofs/mixed_verdicts.py [--set first|second|third|fourth] [--seed N] [--keep FOLDER]

Each trace has several causes, threads, streams or ranks; the true cause of a gap is what the thread that launched the next work did in it
(scripts/proofs/mixed/timeline.py). The cases are judged by `aaco lab score --corpus`.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mixed import first_set, fourth_set, second_set, third_set, timeline  # noqa: E402

DESCRIPTION = 'generated traces of mixed causes, four sets: headlines, gap causes, limits, pairs and calibration against the known truth (2 min)'
SETS = {'first': first_set, 'second': second_set, 'third': third_set, 'fourth': fourth_set}
SEEDS = {'first': 41, 'second': 97, 'third': 613, 'fourth': 2027}


def write(scenario, ranks, folder):
    """Writes the trace (a folder of ranks where there are several); returns its path below `folder`."""
    name = f'own/{scenario.__name__}'
    if len(ranks) > 1:
        (folder / name).mkdir(parents=True)
        for rank in ranks:
            rank.write(folder / name / f'rank{rank.number}.pt.trace.json.gz')
    elif getattr(ranks[0], 'tables', False):
        fourth_set.write_tables(ranks[0], folder / name)
    elif scenario is second_set.roc_database:
        name += '.rpd'
        second_set.write_rpd(ranks[0], folder / name)
    else:
        name += '.pt.trace.json.gz'
        ranks[0].write(folder / name)
    return name


def truth_of(headline):
    cause_class, cause, seconds, *frame = headline
    return {'class': cause_class, 'cause': cause, 'seconds': seconds, **({'frame': frame[0]} if frame else {})}


def cases_of(scenario, seed, folder):
    """Writes the trace; returns its cases."""
    ranks, headline, *kernels = scenario(f'{scenario.__name__} {seed}')
    name = write(scenario, ranks, folder)
    cases = [case(scenario, name, 'headline', truth_of(headline), {})]
    if len(ranks) == 1 and getattr(ranks[0], 'with_calls', True):
        for begin, end, told in timeline.gap_cases(ranks[0], f'{scenario.__name__} {seed} gaps'):
            times = {'start_ns': round(begin * 1000), 'length_ns': round((end - begin) * 1000)}
            cases.append(case(scenario, name, 'gap', told, times))
    for pattern, median_ns, told in kernels[0] if kernels else []:
        cases.append(case(scenario, name, 'kernel', told, {'median_ns': median_ns}, pattern))
    return cases


def pair_of(scenario, seed, folder):
    """Two traces, and what differs between them."""
    before, after, told = scenario(f'{scenario.__name__} {seed}')
    names = [f'own/{scenario.__name__}_{side}.pt.trace.json.gz' for side in 'ab']
    for rank, name in zip((before, after), names):
        rank.write(folder / name)
    return case(scenario, names[0], 'pair', truth_of(told), {}) | {'others': names[1:]}


QUESTIONS = {'headline': 'What limits it?', 'gap': 'Why idle?', 'kernel': 'What limits this kernel?', 'pair': 'What changed?'}


def case(scenario, name, kind, truth, values, kernel=''):
    query = {'call': 'generated', 'args': {'kernel': kernel} if kernel else {}}
    return {'id': f"{scenario.__name__}.{kind}{values.get('start_ns', kernel)}", 'file': name, 'kind': kind, 'question': QUESTIONS[kind],
            'query': query, 'values': values or {'count': 1}, 'truth': truth, 'proof': 'The generator made it so.', 'split': 'tune', 'origin': 'own'}


def judge(program, which, seed, folder):
    (folder / 'own').mkdir(parents=True)
    cases = []
    for scenario in SETS[which].SCENARIOS:
        cases += cases_of(scenario, seed, folder)
    cases += [pair_of(scenario, seed, folder) for scenario in getattr(SETS[which], 'PAIRS', [])]
    (folder / 'cases.yaml').write_text(json.dumps({'schema': 1, 'cases': cases}, indent=1))
    words = [program, 'lab', 'score', '--corpus', folder, '--data', folder, '--json']
    return len(cases), json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def tell(figures):
    scored = figures['tune']
    for name in ('class_first', 'cause', 'unknown'):
        print(f"  {name}: {scored[name]['right']} of {scored[name]['count']}")
    calibration = scored['calibration']
    low, high = calibration['interval_ratio']
    print(f"  sure and wrong: {scored['sure_and_wrong']}; expected calibration error: {calibration['error_ratio']:.3f} ({low:.3f} to {high:.3f})")


def main():
    if '--describe' in sys.argv[1:]:
        print(DESCRIPTION)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--set', choices=sorted(SEEDS))
    parser.add_argument('--seed', type=int)
    parser.add_argument('--keep', type=pathlib.Path)
    options = parser.parse_args()
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    figures = {}
    with tempfile.TemporaryDirectory(prefix='aaco-proof-') as temporary:
        for which in [options.set] if options.set else sorted(SEEDS):
            seed = SEEDS[which] if options.seed is None else options.seed
            count, figures[which] = judge(program, which, seed, (options.keep or pathlib.Path(temporary)) / which)
            print(f'{which} set, seed {seed}: {count} claims')
            tell(figures[which])
    output = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/mixed_verdicts')).with_suffix('.json')
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(figures, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())

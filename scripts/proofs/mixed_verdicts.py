#!/usr/bin/env python3
"""Traces of mixed causes from two generators of their own: verdicts, gap causes and calibration against the truth that the generator knows.

  scripts/proofs/mixed_verdicts.py [--set first|second] [--seed N] [--keep FOLDER]

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
from mixed import first_set, second_set, timeline  # noqa: E402

DESCRIPTION = 'generated traces of mixed causes, two sets: headlines, gap causes and calibration against the known truth (1 min)'
SEEDS = {'first': 41, 'second': 97}


def cases_of(scenario, seed, folder):
    """Writes the trace (a folder of ranks where there are several); returns its cases."""
    ranks, headline = scenario(f'{scenario.__name__} {seed}')
    name = f'own/{scenario.__name__}'
    database = scenario is second_set.roc_database
    if len(ranks) > 1:
        (folder / name).mkdir(parents=True)
        for rank in ranks:
            rank.write(folder / name / f'rank{rank.number}.pt.trace.json.gz')
    else:
        name += '.rpd' if database else '.pt.trace.json.gz'
        (second_set.write_rpd if database else type(ranks[0]).write)(ranks[0], folder / name)
    cause_class, cause, seconds, *frame = headline
    truth = {'class': cause_class, 'cause': cause, 'seconds': seconds, **({'frame': frame[0]} if frame else {})}
    cases = [case(scenario, name, 'headline', truth, {})]
    if len(ranks) == 1:
        for begin, end, told in timeline.gap_cases(ranks[0], f'{scenario.__name__} {seed} gaps'):
            times = {'start_ns': round(begin * 1000), 'length_ns': round((end - begin) * 1000)}
            cases.append(case(scenario, name, 'gap', told, times))
    return cases


def case(scenario, name, kind, truth, values):
    query = {'call': 'generated', 'args': {}}
    return {'id': f"{scenario.__name__}.{kind}{values.get('start_ns', '')}", 'file': name, 'kind': kind, 'question': 'What limits it?' if kind == 'headline' else 'Why idle?',
            'query': query, 'values': values or {'count': 1}, 'truth': truth, 'proof': 'The generator made it so.', 'split': 'tune', 'origin': 'own'}


def judge(program, which, seed, folder):
    (folder / 'own').mkdir(parents=True)
    cases = []
    for scenario in (first_set if which == 'first' else second_set).SCENARIOS:
        cases += cases_of(scenario, seed, folder)
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

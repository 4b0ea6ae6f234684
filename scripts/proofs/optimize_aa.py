#!/usr/bin/env python3
"""Share of `aaco optimize` searches that claim a gain in a space of 32 equal members (the goal: at most 3 of 100).

  scripts/proofs/optimize_aa.py [--searches 100] [--budget 30s] [--model mlp] [--threads N]

Every configuration sets an entry that ONNX Runtime ignores, so that all are the baseline under another name; whatever the search
finds fastest is noise. A search whose budget is too short at the moment gets twice what the program asks for. Prints a line per search and a summary as JSON, also to $AACO_PROOF_OUT.json; resumes from
$AACO_PROOF_OUT.jsonl. Exit code 0: at most 3 % claimed, 1: more, 3: a search failed, 77: skipped, with the reason as the last line.
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
OUT = pathlib.Path(os.environ.get('AACO_PROOF_OUT', str(TOP / 'build/proofs/optimize_aa')))
MAX_SHARE = 0.03
MEMBERS = 32


def search(model, budget, threads, folder):
    space = folder / 'space.yaml'
    labels = [str(i) for i in range(1, MEMBERS)]
    space.write_text(json.dumps({'schema_version': 1, 'axes': [{'id': 'label', 'key': 'session_options.session.label', 'values': labels}]}))
    def run(budget):
        return subprocess.run([PROGRAM, 'optimize', model, '--budget', budget, '--space', str(space), '--no-store', '--json', '-o', str(folder / 'out'),
                               *(['--threads', str(threads)] if threads else [])], capture_output=True, text=True, check=False)
    ran = run(budget)
    for _ in range(5):
        if ran.returncode != 2 or 'use --budget' not in ran.stderr:
            break
        budget = f'{2 * float(ran.stderr.split("use --budget ")[1].split("s")[0]):.0f}s'  # processes start slowly at the moment
        ran = run(budget)
    if ran.returncode not in (0, 4):
        if 'unsupported' in ran.stderr:
            print('skipped, no ONNX Runtime')
            sys.exit(77)
        print(ran.stderr, file=sys.stderr)
        sys.exit(3)
    result = json.loads(ran.stdout)
    proof = result.get('proof', {})
    best = min((sorted(t['log_effects'])[len(t['log_effects']) // 2] for t in result['trials'] if t['log_effects']), default=0)
    return {'claimed': result['proven'], 'budget': budget, 'tried': result['counts']['tried'], 'best_in_search_ratio': best, 'wall_ns': result['wall_ns'],
            'proof_change_ratio': proof.get('change_ratio'), 'smallest_detectable_ratio': proof.get('smallest_detectable_ratio')}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print what this measures')
    parser.add_argument('--searches', type=int, default=100)
    parser.add_argument('--budget', default='30s')
    parser.add_argument('--model', default='mlp')
    parser.add_argument('--threads', type=int, default=0, help="threads of every configuration (default: the runtime's choice)")
    asked = parser.parse_args()
    if asked.describe:
        print('optimize in a space of 32 equal members: share of searches that claim a gain')
        return 0
    OUT.parent.mkdir(parents=True, exist_ok=True)
    log = OUT.with_suffix('.jsonl')
    done = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    while len(done) < asked.searches:
        with tempfile.TemporaryDirectory(prefix='aaco-aa-') as folder:
            done.append(search(asked.model, asked.budget, asked.threads, pathlib.Path(folder)))
        with log.open('a') as file:
            file.write(json.dumps(done[-1]) + '\n')
        print(len(done), done[-1], flush=True)
    claimed = sum(one['claimed'] for one in done)
    proofs = sum(one['proof_change_ratio'] is not None for one in done)
    known = sorted(one['smallest_detectable_ratio'] for one in done if one['smallest_detectable_ratio'] is not None)
    summary = {'searches': len(done), 'claimed': claimed, 'claimed_ratio': claimed / len(done), 'with_a_proof': proofs, 'members': MEMBERS, 'model': asked.model, 'budget': asked.budget, 'threads': asked.threads or None,
               'median_smallest_detectable_ratio': known[len(known) // 2] if known else None}
    print(json.dumps(summary))
    OUT.with_suffix('.json').write_text(json.dumps(summary) + '\n')
    return 0 if claimed / len(done) <= MAX_SHARE else 1


if __name__ == '__main__':
    sys.exit(main())

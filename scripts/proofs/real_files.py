#!/usr/bin/env python3
"""Imports every shared profiler file and checks that each becomes a sound session or is refused with a reason."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DESCRIPTION = 'aaco import of every shared profiler file: sessions, refusals with a reason, time per file (10 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]


def judge(program, file, lake):
    """What came of one file: imported, refused (exit code 3 with a reason), or broken."""
    began = time.monotonic()
    environment = os.environ | {'AACO_SESSIONS': lake, 'NO_COLOR': '1'}
    ran = subprocess.run([program, 'import', file, '--no-report', '--json'], capture_output=True, text=True, errors='replace', check=False, timeout=600,
                         env=environment)
    row = {'file': file.name, 'seconds': round(time.monotonic() - began, 3), 'bytes': file.stat().st_size, 'code': ran.returncode}
    if ran.returncode == 0:
        session = json.loads(ran.stdout)['session']['id']
        checked = subprocess.run([program, 'verify', session], capture_output=True, text=True, check=False, env=environment)
        return row | {'outcome': 'imported' if checked.returncode == 0 else 'broken', 'reason': checked.stderr.strip()[:200]}
    reason = ran.stderr.strip()
    sound = ran.returncode == 3 and reason and 'a bug in AACO' not in reason
    return row | {'outcome': 'refused' if sound else 'broken', 'reason': reason[:200]}


def main():
    if sys.argv[1:] in (['--describe'], ['--help'], ['-h']):
        print(DESCRIPTION if sys.argv[1] == '--describe' else f'real_files.py: {DESCRIPTION}\nRun by scripts/run_proofs.sh; AACO_REAL_DATA names the data.')
        return 0
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    traces = pathlib.Path(os.environ.get('AACO_REAL_DATA', TOP.parent / 'shared' / 'data')) / 'traces'
    if not traces.is_dir():
        print(f'skipped, no real data at {traces} (AACO_REAL_DATA names the folder)')
        return 77
    rows = []
    with tempfile.TemporaryDirectory(prefix='aaco-proof-') as lake:
        for file in sorted(path for path in traces.rglob('*') if path.is_file()):
            rows.append(judge(program, file, lake))
            print(f'{rows[-1]["outcome"]:9} {rows[-1]["seconds"]:8.2f} s  {file.relative_to(traces)}  {rows[-1]["reason"].splitlines()[0] if rows[-1]["reason"] else ""}',
                  flush=True)
    out = pathlib.Path(os.environ.get('AACO_PROOF_OUT', TOP / 'build/proofs/real_files')).with_suffix('.json')
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=1))
    count = collections.Counter(row['outcome'] for row in rows)
    print(f'{len(rows)} files: {count["imported"]} imported, {count["refused"]} refused with a reason, {count["broken"]} broken')
    return 1 if count['broken'] else 0


if __name__ == '__main__':
    sys.exit(main())

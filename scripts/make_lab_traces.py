#!/usr/bin/env python3
"""Makes traces with a simulated fault for `aaco lab score`: every GPU trace among the files, each fault at each intensity.

    scripts/make_lab_traces.py --program build/release/bin/aaco --sessions lab_traces traces/kineto traces/nsys_sqlite
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

FAULTS = ('gpu_clock_cap', 'gpu_thermal_steps', 'gpu_gaps', 'gpu_copies', 'gpu_slower_kernel', 'gpu_more_launches', 'host_data_loader', 'host_garbage_collection',
          'host_allocation', 'host_synchronous_copies', 'host_first_use', 'slow_rank', 'small_batch', 'host_busy_core', 'graph_replay', 'counter_passes', 'merged_runs')
NOT_FOR_EVERY_TRACE = ('never waits for a launch', 'no launches to place', 'needs collectives')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--sessions', required=True)
    parser.add_argument('--intensities', default='0.3,0.6,1.0')
    parser.add_argument('--faults', default=','.join(FAULTS))
    parser.add_argument('places', nargs='+', help='files and folders; files without GPU kernels are skipped')
    options = parser.parse_args()
    environment = os.environ | {'AACO_SESSIONS': options.sessions}

    def aaco(*words):
        return subprocess.run([options.program, *map(str, words)], capture_output=True, text=True, check=False, env=environment)

    files = []
    for place in map(pathlib.Path, options.places):
        files += sorted(one for one in place.rglob('*') if one.is_file()) if place.is_dir() else [place]
    traces = made = 0
    for file in files:
        imported = aaco('import', file, '--no-report', '--json')
        if imported.returncode != 0:
            print(f'{file}: not imported: {(imported.stderr.strip().splitlines() or ["?"])[0]}')
            continue
        session = json.loads(imported.stdout)['session']['id']
        before = made
        for fault in options.faults.split(','):
            for intensity in options.intensities.split(','):
                simulated = aaco('lab', 'simulate', fault, session, '--intensity', intensity, '--json')
                if simulated.returncode != 0:
                    if 'no kernels' not in simulated.stderr and not any(reason in simulated.stderr for reason in NOT_FOR_EVERY_TRACE):
                        print(f'{file}, {fault}: {simulated.stderr.strip()[-200:]}', file=sys.stderr)
                    break
                made += 1
        traces += made > before
        print(f'{file}: {made - before} simulated', flush=True)
    print(f'{traces} traces, {made} simulated')


if __name__ == '__main__':
    main()

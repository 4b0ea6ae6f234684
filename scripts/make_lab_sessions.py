#!/usr/bin/env python3
"""Sessions whose truth is known, for `aaco lab train` and `aaco lab score`: undisturbed runs and runs with one fault each.

Works through a shuffled plan until the time is up; a later call with --start goes on where an earlier one ended.

    scripts/make_lab_sessions.py --program build/release/bin/aaco --sessions lab --seconds 390 --start 0
"""
import argparse
import random
import subprocess
import sys
import time

# Model, options, and the class that follows from how the model is built: many large matrix products or convolutions compute, products
# with one row and element-wise operators move memory, chains of tiny operators are launched.
MODELS = [
    ('squeezenet', [], 'compute_bound'),
    ('mobilenetv2', [], 'compute_bound'),
    ('resnet18', [], 'compute_bound'),
    ('zoo:mlp,width=1024', ['--batch', '64'], 'compute_bound'),
    ('distilbert', ['--shape', 'input_ids=1x32'], 'compute_bound'),
    ('zoo:mlp,width=4096', ['--batch', '1'], 'memory_bound'),
    ('zoo:memory-bound,rows=512', [], 'memory_bound'),
    ('zoo:memory-bound,rows=2048', [], 'memory_bound'),
    ('zoo:mlp,width=2048,layers=4', ['--batch', '1'], 'memory_bound'),
    ('zoo:launch-bound,nodes=500', [], 'launch_bound'),
    ('zoo:launch-bound,nodes=2000', [], 'launch_bound'),
    ('llama-tiny', [], 'launch_bound'),
]
# Fault, generators, intensities.
FAULTS = [
    ('cpu_hog_same_core', ['spin', 'matrix', 'system_calls'], [0.5, 0.75, 1.0]),
    ('cpu_hog_other_core', ['spin', 'matrix', 'system_calls'], [0.5, 0.75, 1.0]),
    ('interrupt_storm', ['timer', 'pipe'], [0.5, 1.0]),
    ('migration_storm', ['affinity'], [0.3, 0.6, 1.0]),
    ('cpu_quota', ['cgroup'], [0.4, 0.6, 0.8]),
    ('affinity_one_core', ['mask'], [1.0]),
    ('page_fault_storm', ['map', 'release'], [0.3, 0.6, 1.0]),
    ('io_storm', ['read', 'write'], [0.3, 0.6, 1.0]),
    ('sleep', ['timer', 'futex'], [0.3, 0.6, 1.0]),
    ('slow_host', ['hash', 'sort'], [0.3, 0.6, 1.0]),
    ('tiny_kernels', ['negate', 'absolute'], [0.5, 1.0]),
    ('fewer_threads', ['option'], [1.0]),
    ('graph_optimisation_off', ['option'], [1.0]),
    ('data_type', ['float16'], [1.0]),
    ('batch_change', ['option'], [0.3]),
]
MEMORY_HOG = ('memory_bandwidth_hog', ['copy', 'write', 'random_read'], [0.5, 1.0])  # wants a CPU of its own: the model has one thread


def plan(seed, share, only):
    chooser = random.Random(seed)
    blocks = []
    for model, options, label in MODELS:
        jobs = []
        for fault, generators, intensities in FAULTS:
            if only and fault not in only:
                continue
            every = [(fault, g, i) for g in generators for i in intensities]
            jobs += [(model, options, f'class={label}', one) for one in chooser.sample(every, max(1, round(share * len(every))))]
        fault, generators, intensities = MEMORY_HOG
        one_thread = options + ['--threads', '1']
        if not only or fault in only:
            jobs += [(model, one_thread, f'class={label};one thread', (fault, g, intensities[-1])) for g in generators[:2]]
            jobs += [(model, one_thread, f'class={label};one thread', None)] * 2
        jobs += [(model, options, f'class={label}', None)] * 5
        chooser.shuffle(jobs)
        blocks.append(jobs)
    # All models in turn, so that whatever the machine does over time falls on all of them.
    return [jobs[i] for i in range(max(map(len, blocks))) for jobs in blocks if i < len(jobs)]


def command(program, sessions, job):
    model, options, tag, fault = job
    run = ['run', '--model', model, *options, '--tag', tag, '--warmup', '8', '--duration', '500ms', '--profile', '--no-report', '--json']
    if fault is None:
        return [program, '--sessions', sessions, *run]
    name, generator, intensity = fault
    return [program, '--sessions', sessions, 'lab', 'inject', '--intensity', str(intensity), '--generator', generator, '--', name, *run]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--sessions', required=True)
    parser.add_argument('--seconds', type=float, default=390)
    parser.add_argument('--start', type=int, default=0, help='job to begin with')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--share', type=float, default=0.6, help='of the combinations of generator and intensity')
    parser.add_argument('--only', help='faults, parted by commas')
    options = parser.parse_args()
    jobs, end, failed = plan(options.seed, options.share, options.only.split(',') if options.only else []), time.monotonic() + options.seconds, 0
    number = options.start
    for number in range(options.start, len(jobs)):
        if time.monotonic() > end - 6:
            break
        try:
            ran = subprocess.run(command(options.program, options.sessions, jobs[number]), capture_output=True, text=True, check=False,
                                 timeout=30)
            problem = ran.stderr.strip()[-300:] if ran.returncode != 0 else ''
        except subprocess.TimeoutExpired:
            problem = 'took longer than 30 s'
        if problem:
            failed += 1
            print(f'{jobs[number]}: {problem}', file=sys.stderr)
    else:
        number = len(jobs)
    print(f'next --start {number} of {len(jobs)}; {failed} failed')


if __name__ == '__main__':
    main()

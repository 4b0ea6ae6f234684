#!/usr/bin/env python3
"""Makes sessions with a known cause for `aaco lab train` and `aaco lab score`: undisturbed runs, and runs with one injected fault each.

Works through a shuffled plan until the time is up; pass the printed --start to continue.

    scripts/make_lab_sessions.py --program build/release/bin/aaco --sessions lab --seconds 390 --start 0
"""
import argparse
import ctypes
import os
import random
import struct
import subprocess
import sys
import time

# Model, options, and the class that follows from how the model is built: many large matrix products or convolutions compute, products
# with one row and element-wise operators move memory, chains of tiny operators are launched.
TRAIN = [
    ('squeezenet', [], 'compute_bound'),
    ('mobilenetv2', [], 'compute_bound'),
    ('resnet18', [], 'compute_bound'),
    ('zoo:mlp,width=768,layers=6', ['--batch', '128'], 'compute_bound'),
    ('zoo:mlp,width=1024', ['--batch', '64'], 'compute_bound'),
    ('distilbert', ['--shape', 'input_ids=1x32'], 'compute_bound'),
    ('zoo:mlp,width=4096', ['--batch', '1'], 'memory_bound'),
    ('zoo:memory-bound,rows=512', [], 'memory_bound'),
    ('zoo:memory-bound,rows=2048', [], 'memory_bound'),
    ('zoo:mlp,width=2048,layers=4', ['--batch', '1'], 'memory_bound'),
    ('zoo:gpt2,layers=3', ['--shape', 'input_ids=1x1', '--shape', 'past_key_values.*=1x12x128x64'], 'memory_bound'),
    ('zoo:launch-bound,nodes=500', [], 'launch_bound'),
    ('zoo:launch-bound,nodes=2000', [], 'launch_bound'),
    ('llama-tiny', [], 'launch_bound'),
]
# Never trained on.
TEST = [
    ('zoo:squeezenet1.0', [], 'compute_bound'),
    ('zoo:resnet34', [], 'compute_bound'),
    ('zoo:mlp,width=1536,layers=3', ['--batch', '96'], 'compute_bound'),
    ('zoo:mlp,width=3072,layers=3', ['--batch', '1'], 'memory_bound'),
    ('zoo:memory-bound,rows=1024,layers=2', [], 'memory_bound'),
    ('zoo:llama-110m,layers=6', ['--shape', 'input_ids=1x1', '--shape', 'past_key_values.*=1x12x128x64'], 'memory_bound'),
    ('zoo:launch-bound,nodes=1000,width=32', [], 'launch_bound'),
    ('zoo:llama-tiny,layers=9', ['--shape', 'input_ids=1x1', '--shape', 'past_key_values.*=1x4x128x8'], 'launch_bound'),
]
# Fault, generators, intensities of the training set and of the test set, sessions a model of the training set (a third in the test set).
FAULTS = [
    ('cpu_hog_same_core', ['spin', 'matrix', 'system_calls'], [0.5, 0.75, 1.0], [0.6, 0.9], 3),
    ('cpu_hog_other_core', ['spin', 'matrix', 'system_calls'], [0.5, 0.75, 1.0], [0.6, 0.9], 3),
    ('cpu_hog_every_core', ['spin', 'matrix', 'system_calls'], [0.3, 0.6, 1.0], [0.45, 0.8], 3),
    ('interrupt_storm', ['timer', 'pipe'], [0.5, 1.0], [0.75], 3),
    ('migration_storm', ['affinity'], [0.3, 0.6, 1.0], [0.45, 0.8], 3),
    ('cpu_quota', ['cgroup'], [0.4, 0.6, 0.8], [0.5, 0.7], 4),
    ('affinity_one_core', ['mask', 'cpuset'], [1.0], [1.0], 3),
    ('page_fault_storm', ['map', 'release'], [0.3, 0.6, 1.0], [0.45, 0.8], 4),
    ('io_storm', ['read', 'write'], [0.3, 0.6, 1.0], [0.45, 0.8], 4),
    ('sleep', ['timer', 'futex'], [0.3, 0.6, 1.0], [0.45, 0.8], 4),
    ('slow_host', ['hash', 'sort'], [0.3, 0.6, 1.0], [0.45, 0.8], 4),
    ('tiny_kernels', ['negate', 'absolute'], [0.5, 1.0], [0.75], 2),
]
SETTINGS = [('fewer_threads', 'option', 1.0), ('graph_optimisation_off', 'option', 1.0), ('data_type', 'float16', 1.0), ('batch_change', 'option', 0.3)]
UNDISTURBED = 6


def jobs_of(chooser, model, options, label, train, only):
    tag, jobs = f'class={label}', []
    for fault, generators, intensities, others, count in FAULTS:
        every = [(fault, g, i) for g in generators for i in (intensities if train else others)]
        chooser.shuffle(every)
        wanted = count if train else max(1, round(count / 3)) + (fault == 'affinity_one_core')
        jobs += [(model, options, tag, every[i % len(every)], 0) for i in range(wanted) if not only or fault in only]
    jobs += [(model, options, tag, None, 0)] * (UNDISTURBED if train else UNDISTURBED - 1)
    # One thread on one CPU is as it should be: being allowed few CPUs is no fault in itself.
    one_thread, one_tag = options + ['--threads', '1'], tag + ';one thread'
    jobs += [(model, one_thread, tag + ';one thread of one CPU', None, 1)] * (2 if train else 1)
    if train:
        jobs += [(model, options, tag, one, 0) for one in chooser.sample(SETTINGS, 2)]
        # Needs a CPU of its own: the model has one thread.
        jobs += [(model, one_thread, one_tag, ('memory_bandwidth_hog', g, 1.0), 0) for g in chooser.sample(['copy', 'write', 'random_read'], 2)]
        jobs += [(model, one_thread, one_tag, None, 0)] * 2
    chooser.shuffle(jobs)
    return jobs


def plan(seed, train, only):
    chooser = random.Random(seed)
    blocks = [jobs_of(chooser, *model, train, only) for model in (TRAIN if train else TEST)]
    # All models in turn, so that whatever the machine does over time falls on all of them.
    return [jobs[i] for i in range(max(map(len, blocks))) for jobs in blocks if i < len(jobs)]


def command(program, sessions, job):
    model, options, tag, fault, cpus = job
    if cpus:
        program = ['taskset', '-c', '0', program]
    else:
        program = [program]
    run = ['run', '--model', model, *options, '--tag', tag, '--warmup', '8', '--duration', '400ms', '--profile', '--no-report', '--json']
    if fault is None:
        return [*program, '--sessions', sessions, *run]
    name, generator, intensity = fault
    return [*program, '--sessions', sessions, 'lab', 'inject', '--intensity', str(intensity), '--generator', generator, '--', name, *run]


# Faults whose neighbours (or whose own threads) fight over CPUs do that as the kernel lets programs do it.
NATURAL = {'cpu_hog_same_core', 'cpu_hog_other_core', 'cpu_hog_every_core', 'interrupt_storm', 'migration_storm', 'affinity_one_core'}


def keep_undisturbed():
    """Asks for short time slices (sched_setattr(2), Linux 6.12), so that other programs of this machine, which no truth tells of, give way
    at once when a thread of the run wakes up. Where the kernel does not know them nothing changes."""
    if os.uname().machine != 'x86_64':
        return
    slice_ns, sched_setattr = 100_000, 314
    attributes = struct.pack('=IIQiIQQQ', 48, 0, 0, os.getpriority(os.PRIO_PROCESS, 0), 0, slice_ns, 0, 0)
    ctypes.CDLL(None).syscall(sched_setattr, 0, ctypes.create_string_buffer(attributes), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--sessions', required=True)
    parser.add_argument('--seconds', type=float, default=390)
    parser.add_argument('--start', type=int, default=0, help='index of the first job')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--test', action='store_true', help='use the held-out models and intensities')
    parser.add_argument('--only', help='comma-separated faults')
    options = parser.parse_args()
    jobs, end, failed = plan(options.seed, not options.test, options.only.split(',') if options.only else []), time.monotonic() + options.seconds, 0
    number = options.start
    for number in range(options.start, len(jobs)):
        if time.monotonic() > end - 6:
            break
        try:
            ran = subprocess.run(command(options.program, options.sessions, jobs[number]), capture_output=True, text=True, check=False,
                                 timeout=30, preexec_fn=None if (jobs[number][3] or [''])[0] in NATURAL else keep_undisturbed)
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

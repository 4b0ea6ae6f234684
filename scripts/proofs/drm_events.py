#!/usr/bin/env python3
"""Records GPU events by eBPF in a virtual machine (QEMU without KVM) on Debian's own kernel.

    scripts/proofs/drm_events.py [--headers FOLDER] [--images FOLDER] [--root FOLDER] [--log FILE]

`aaco record --ebpf` watches a program that makes, uses and frees 20 buffers of QEMU's display (the kernel's driver bochs or qxl: GEM and TTM)
and runs 20 jobs of 5 ms on a test driver of the DRM scheduler (kernel/tests/sched), waiting for the fence of each. Every one must be in
the session. Takes AACO as the program, build/release/bin/aaco if it is not set. Exit code 77: QEMU, the headers or the image is missing.
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import kernel_module as module_proof

DESCRIBE = 'GPU jobs, fences, buffers and memory by eBPF in QEMU: 20 of each, none lost'
ROOT = module_proof.ROOT
ROUNDS = 20
JOB_NS = 5_000_000
Skipped = module_proof.Skipped


def with_needs(drivers, wanted):
    """The files of the kernel's modules and of what they need, those first."""
    found = {path.name.split('.')[0].replace('-', '_'): path for path in drivers.rglob('*.ko*')}
    order = []

    def add(name):
        path = found.get(name)
        if path is None or path in order:
            return
        needs = re.search(rb'depends=([\w,-]*)', module_proof.read_module(path))
        for need in needs.group(1).decode().split(',') if needs else []:
            add(need.replace('-', '_'))
        order.append(path)

    for name in wanted:
        if name not in found:
            raise Skipped(f'the kernel has no module {name}')
        add(name)
    return order


def display_driver(drivers):
    """A display of QEMU whose driver has TTM buffers: bochs (6.1), or qxl where bochs has none (7.2)."""
    bochs = with_needs(drivers, ['bochs'])
    if any(path.name.startswith(('ttm.', 'drm_vram_helper.')) for path in bochs):
        return 'bochs', 'std'
    if 'qxl' not in module_proof.run(['qemu-system-x86_64', '-vga', 'help']).stdout:
        raise Skipped('QEMU has no qxl display (newer Debian suites: package qemu-system-modules-spice), and bochs has no TTM buffers in this kernel')
    return 'qxl', 'qxl'


def libraries(program):
    """Shared libraries of a program by the path that the guest finds them at."""
    ran = module_proof.run(['ldd', program])
    pairs = re.findall(r'^\s*(?:(\S+) => )?(/\S+) \(0x', ran.stdout, re.M)
    return {(path.lstrip('/') if not name else f'lib/{name}'): pathlib.Path(path) for name, path in pairs}


def build(headers, folder, root=None):
    module_proof.make_modules(headers, ROOT / 'kernel/tests/sched', folder, [['-C', '{headers}', 'M={folder}', 'W=1', 'KCFLAGS=-Werror', 'modules']], root)
    uapi = sorted(headers.parent.glob(headers.name.replace('-amd64', '-common')))
    made = module_proof.run(['gcc', '-O2', '-static', '-w', '-D__user=', *(f'-idirafter{path}/include/uapi' for path in uapi), '-o', folder / 'init',
                             folder / 'guest_drm.c'])
    if made.returncode:
        raise Skipped('gcc cannot link the test program (apt install gcc libc6-dev): ' + made.stderr.strip()[:200])


def archive(files):
    """A cpio archive with the folders that its files lie in."""
    folders = sorted({str(parent) for name in files for parent in pathlib.PurePath(name).parents} - {'.'})
    out = bytearray()
    entries = [(name, 0o040755, b'') for name in folders] + [(name, 0o100755, data) for name, data in files.items()] + [('TRAILER!!!', 0, b'')]
    for number, (name, mode, data) in enumerate(entries, 1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b'070701' + b''.join(b'%08X' % field for field in fields) + name.encode() + b'\0'
        out += b'\0' * (-len(out) % 4) + data
        out += b'\0' * (-len(out) % 4)
    return bytes(out)


def boot(kernel, files, folder, display):
    (folder / 'initrd').write_bytes(archive(files))
    began = time.monotonic()
    ran = subprocess.run(['qemu-system-x86_64', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', '2048', '-display', 'none', '-vga',
                          display, '-serial', 'stdio', '-monitor', 'none', '-no-reboot', '-nic', 'none', '-kernel', str(kernel), '-initrd',
                          str(folder / 'initrd'), '-append', 'console=ttyS0 quiet panic=-1'],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False)
    return ran.stdout.decode(errors='replace').replace('\r', ''), time.monotonic() - began


def judge(log):
    """What is wrong with the rows that the guest printed: count, bytes and longest time by kind and detail."""
    rows = {(row[1], row[2]): [int(number or 0) for number in row[3:6]]
            for row in csv.reader(log.splitlines()) if len(row) == 6 and row[0] == 'ROW'}
    wrong = [] if 'STATUS record 0\n' in log else ['aaco record failed']
    buffer = 64 * 64 * 4
    # Each job has two fences of the scheduler; a buffer that no display shows stays in system memory. Kind, detail: rows, longest time.
    wanted = {('gpu_job', 'running'): (ROUNDS, JOB_NS), ('gpu_fence', 'pending'): (2 * ROUNDS, JOB_NS), ('gpu_fence', 'waited'): (ROUNDS, JOB_NS),
              ('gpu_buffer', 'created'): (ROUNDS, 0), ('gpu_buffer', 'freed'): (ROUNDS, 0), ('gpu_memory', 'allocated: system'): (ROUNDS, 0),
              ('gpu_memory', 'freed: system'): (ROUNDS, 0)}
    for key, (count, longest) in wanted.items():
        seen, size, time_ns = rows.get(key, [0, 0, 0])
        if seen != count:
            wrong.append(f'{" ".join(key)}: {seen} rows of {count}')
        elif key[0] in ('gpu_buffer', 'gpu_memory') and size != buffer:
            wrong.append(f'{" ".join(key)}: {size} bytes instead of {buffer}')
        elif time_ns < longest * 0.5:  # a tick of the guest's timer may be missing
            wrong.append(f'{" ".join(key)}: at most {time_ns} ns')
    account = re.findall(r'^ACCOUNT (.+)$', log, re.M)
    wrong += [f'{event} is not attached' for event in ('GPU job by tracepoint', 'GPU fence by tracepoint', 'GPU buffer by kprobe',
                                                       'GPU memory by kprobe') if event not in account]
    lost = [line for line in account if 'lost events of kind' in line]
    return rows, wrong + lost


def measure(options, folder):
    for program in ('qemu-system-x86_64', 'gcc', 'make'):
        if not shutil.which(program):
            raise Skipped(f'{program} is missing (scripts/bootstrap.sh --proofs)')
    aaco = pathlib.Path(os.environ.get('AACO', ROOT / 'build/release/bin/aaco'))
    if not aaco.exists():
        raise Skipped(f'{aaco} is not built')
    seen = []
    for headers in module_proof.header_folders(options.headers, options.root):
        version = headers.name.removeprefix('linux-headers-')
        built = folder / version
        build(headers, built, options.root)
        kernel, drivers, _ = module_proof.image(options.images, version, folder, options.root)
        driver, display = display_driver(drivers)
        modules = [*with_needs(drivers, [driver, 'gpu_sched']), built / 'aaco_test_sched.ko']
        files = {'init': built / 'init', 'work': built / 'init', 'aaco': aaco} | libraries(aaco)
        contents = {name: path.read_bytes() for name, path in files.items()} | {path.name.removesuffix('.xz'): module_proof.read_module(path) for path in modules}
        contents |= {f'share/aaco/{path.relative_to(ROOT)}': path.read_bytes() for path in (ROOT / 'data').rglob('*') if path.is_file()}
        contents['modules.txt'] = ''.join(f'/{path.name.removesuffix(".xz")}\n' for path in modules).encode()
        log, seconds = boot(kernel, contents, built, display)
        if options.log:
            pathlib.Path(f'{options.log}.{version}').write_text(log)
        rows, wrong = judge(log)
        seen.append({'kernel': version, 'rows': {' '.join(key): row for key, row in rows.items()}, 'wrong': wrong,
                     'finished': 'GUEST DONE' in log, 'seconds': round(seconds, 1), 'tail': log[-2500:]})
    return seen


def tell(one):
    for line in [*one['wrong'], *([one['tail']] if one['wrong'] or not one['finished'] else [])]:
        print(line)
    counts = ', '.join(f'{row[0]} {name}' for name, row in one['rows'].items())
    print(f'{one["kernel"]}: {counts or "no GPU event"}, {one["seconds"]:.0f} s')
    return one['finished'] and not one['wrong']


if __name__ == '__main__':
    sys.exit(module_proof.run_proof(__doc__, DESCRIBE, 'aaco-drm-', measure, tell))

#!/usr/bin/env python3
"""Tests the kernel module in a virtual machine (QEMU without KVM) on Debian's own kernel.

    scripts/proofs/kernel_module.py [--headers FOLDER] [--images FOLDER] [--root FOLDER] [--log FILE]

Builds kernel/ and its test driver with W=1 and sparse, every warning an error, for each version whose headers are installed, and boots
each from its image package: load, two processes, GPU memory of DRM files, permissions, 10,000 hostile calls from four processes,
unload under use. The kernel log may have no warning. Debian 12's kernel 6.1 has no KASAN, KFENCE or kmemleak, its 6.12 has KFENCE; all run
with slub_debug=FZPU and page_poison=1 (overruns, use after free and double free of slab objects).
With --root the headers, compiler and image are those of another Debian in that folder, for a newer kernel:
    mmdebstrap --variant=apt --include=ca-certificates,gcc,make,libc6-dev,linux-headers-amd64 forky FOLDER
Its headers may not come with what sparse needs; then it is left out, and said. Exit code 77: QEMU, the headers, sparse or the image is missing.
"""
import argparse
import contextlib
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DESCRIBE = 'the kernel module in QEMU: two processes, 10,000 hostile calls, unload under use, no warning'
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND_LINE = 'console=ttyS0 quiet panic=-1 slub_debug=FZPU page_poison=1 kfence.sample_interval=10'


class Skipped(Exception):
    pass


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def within(root, words):
    """A command as it is run in the other Debian, if there is one."""
    return ['chroot', root, 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8', *words] if root else words


def header_folders(named, root=None):
    folders = [pathlib.Path(named)] if named else sorted(pathlib.Path(root or '/', 'usr/src').glob('linux-headers-*-amd64'))
    found = [folder for folder in folders if (folder / 'Module.symvers').exists()]
    if not found:
        raise Skipped('no kernel headers (apt install linux-headers-amd64)')
    return sorted(found, key=lambda folder: [int(number) for number in re.findall(r'\d+', folder.name)])


def make_modules(headers, sources, folder, targets, root=None):
    """Copies the sources to the folder and makes each of the targets (words of make; {headers} and {folder} as make finds them) there; answers
    what was printed, or raises with the compiler's words."""
    with contextlib.ExitStack() as stack:
        place, inside = folder, lambda path: path
        if root:  # where the other Debian can see it
            place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='aaco-', dir=pathlib.Path(root, 'tmp')))) / 'sources'
            inside = lambda path: '/' + str(pathlib.Path(path).relative_to(root))
        shutil.copytree(sources, place, ignore=shutil.ignore_patterns('*.o', '*.ko', '.*.cmd', '*.mod', '*.mod.c', 'Module.symvers'))
        text, code = '', 0
        for words in targets:
            ran = run(within(root, ['make', '-s', *(word.format(headers=inside(headers), folder=inside(place)) for word in words)]))
            text, code = text + ran.stdout + ran.stderr, code or ran.returncode
        if root:
            shutil.copytree(place, folder)
    warnings = [line for line in text.splitlines() if re.search(r'warning|error', line, re.I)]
    if code or warnings:
        raise RuntimeError('\n'.join(warnings[:20]) or text[-2000:])
    return text


def build(headers, folder, root=None):
    """The module and the test driver, in a copy of kernel/; whether sparse looked at them."""
    text = make_modules(headers, ROOT / 'kernel', folder, [['-C', '{folder}', 'check', 'TREE={headers}'],
                                                            ['-C', '{headers}', 'M={folder}/tests', 'W=1', 'KCFLAGS=-Werror', 'modules']], root)
    return 'sparse is not available' not in text


def read_module(path):
    return (lzma.decompress if path.suffix == '.xz' else bytes)(path.read_bytes())


def image(packages, version, folder, root=None, headers=None):
    """vmlinuz, the folder of the drivers and the memory checkers of this version, from its packages in the folder `packages` or by apt-get. Newer
    Debians have the kernel and its modules in packages of their own."""
    kinds = ('image', 'binary', 'modules')
    place = pathlib.Path(packages) if packages else folder / f'packages-{version}'
    if not packages:
        place.mkdir()
        for kind in kinds:
            if root:
                with tempfile.TemporaryDirectory(dir=pathlib.Path(root, 'tmp')) as own:
                    run(within(root, ['sh', '-c', f'cd /tmp/{pathlib.Path(own).name} && apt-get download linux-{kind}-{version}']))
                    for found in pathlib.Path(own).glob('*.deb'):
                        shutil.copy(found, place)
            else:
                run(['apt-get', 'download', f'linux-{kind}-{version}'], cwd=place)
    found = [package for kind in kinds for package in place.glob(f'linux-{kind}-{version}_*.deb')]
    if not found:
        raise Skipped(f'no image of the kernel {version} (apt-get download linux-image-{version})')
    unpacked = folder / f'image-{version}'
    for package in found:
        run(['dpkg', '-x', package, unpacked])
    modules = next((path for path in (unpacked / f'lib/modules/{version}', unpacked / f'usr/lib/modules/{version}') if path.exists()), unpacked)
    kernel = next((path for path in (unpacked / f'boot/vmlinuz-{version}', modules / 'vmlinuz') if path.exists()), None)
    drivers = modules / 'kernel/drivers'
    drm = next((drivers / 'gpu/drm').glob('drm.ko*'), None)
    if not kernel or not drm or drm.suffix not in ('.ko', '.xz'):
        raise Skipped(f'{found[0].name} has no kernel {version} with a readable drm.ko')
    configurations = [unpacked / f'boot/config-{version}', modules / 'config', *([headers / '.config'] if headers else [])]
    text = next((path.read_text() for path in configurations if path.exists()), '')
    checkers = re.findall(r'^CONFIG_(KASAN|KFENCE|DEBUG_KMEMLEAK)=y', text, re.M)
    return kernel, drivers, checkers + ['slub_debug', 'page_poison']


def archive(files):
    """A cpio archive (newc) of executable files in the top folder."""
    out = bytearray()
    for number, (name, data) in enumerate([*files.items(), ('TRAILER!!!', b'')], 1):
        fields = [number, 0o100755 if data else 0, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b'070701' + b''.join(b'%08X' % field for field in fields) + name.encode() + b'\0'
        out += b'\0' * (-len(out) % 4) + data
        out += b'\0' * (-len(out) % 4)
    return bytes(out)


def boot(kernel, drm, built, folder):
    guest = folder / 'init'
    made = run(['gcc', '-O2', '-static', '-w', '-o', guest, built / 'tests/guest.c', built / 'tests/guest_attack.c'])
    if made.returncode:
        raise Skipped('gcc cannot link a static program (apt install gcc libc6-dev): ' + made.stderr.strip()[:200])
    parts = {'init': guest, 'aaco.ko': built / 'aaco.ko', 'aaco_test_drm.ko': built / 'tests/aaco_test_drm.ko'}
    files = {name: path.read_bytes() for name, path in parts.items()} | {'drm.ko': drm}
    (folder / 'initrd.gz').write_bytes(gzip.compress(archive(files), 1))
    began = time.monotonic()
    ran = subprocess.run(['qemu-system-x86_64', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', '512', '-nographic', '-no-reboot',
                          '-nic', 'none', '-kernel', str(kernel), '-initrd', str(folder / 'initrd.gz'), '-append', COMMAND_LINE],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False)
    return ran.stdout.decode(errors='replace').replace('\r', ''), time.monotonic() - began


def measure(options, folder):
    for program in ('qemu-system-x86_64', 'sparse', 'gcc', 'make'):
        if not shutil.which(program):
            raise Skipped(f'{program} is missing (scripts/bootstrap.sh --proofs)')
    seen = []
    for headers in header_folders(options.headers, options.root):
        version = headers.name.removeprefix('linux-headers-')
        sparse = build(headers, folder / version, options.root)
        kernel, drivers, checkers = image(options.images, version, folder, options.root, headers)
        log, seconds = boot(kernel, read_module(next((drivers / 'gpu/drm').glob('drm.ko*'))), folder / version, folder)
        if options.log:
            pathlib.Path(f'{options.log}.{version}').write_text(log)
        # The firmware's or the kernel's output may stand before one on its line.
        passed, failed = (re.findall(rf'{word} (.+)$', log, re.M) for word in ('PASS', 'FAIL'))
        seen.append({'kernel': version, 'sparse': sparse, 'checkers': checkers, 'passed': passed, 'failed': failed,
                     'kernel_log': re.findall(r'^LOG (.+)$', log, re.M), 'seconds': round(seconds, 1),
                     'figures': dict(line.split(' ', 1) for line in re.findall(r'^FIGURE (.+)$', log, re.M)),
                     'finished': 'GUEST PASSED' in log or 'GUEST FAILED' in log, 'tail': log[-1500:]})
    return seen


def run_proof(doc, describe, prefix, measure, tell):
    """What proofs in virtual machines do alike: options, a temporary folder, the JSON of all kernels (AACO_PROOF_OUT). `measure(options, folder)` answers a
    dictionary for each kernel, of which `tell` prints one and answers whether it is right. Returns the exit code."""
    if sys.argv[1:] == ['--describe']:
        print(describe)
        return 0
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--headers', help='folder of the kernel headers (default: all installed)')
    parser.add_argument('--images', help='folder with the image packages (default: apt-get download)')
    parser.add_argument('--root', help='folder of another Debian, with headers and compiler (default: this one)')
    parser.add_argument('--log', help='also writes what each machine printed, to FILE.VERSION')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        try:
            seen = measure(options, pathlib.Path(folder))
        except Skipped as why:
            print(f'skipped, {why}')
            return 77
        except (RuntimeError, subprocess.TimeoutExpired) as why:
            print(why)
            return 1
    out = os.environ.get('AACO_PROOF_OUT')
    if out:
        pathlib.Path(out + '.json').write_text(json.dumps(seen, indent=1) + '\n')
    return 0 if all([tell(one) for one in seen]) else 1


def tell(one):
    for line in [*('FAIL ' + name for name in one['failed']), *one['kernel_log'], *([] if one['finished'] else [one['tail']])]:
        print(line)
    figures = one['figures']
    print(f'{one["kernel"]} ({", ".join(one["checkers"])}), built with W=1{" and sparse" if one["sparse"] else ", sparse not usable with these headers"}: {len(one["passed"])} checks passed, '
          f'{len(one["failed"])} failed, {figures.get("hostile_calls", 0)} hostile calls, {figures.get("unloads_in_race", 0)} unloads in a '
          f'race, {figures.get("kernel_warnings", "?")} kernel warnings, {one["seconds"]:.0f} s')
    return one['finished'] and not one['failed']


if __name__ == '__main__':
    sys.exit(run_proof(__doc__, DESCRIBE, 'aaco-kmod-', measure, tell))

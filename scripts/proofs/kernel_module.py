#!/usr/bin/env python3
"""Tests the kernel module in a virtual machine (QEMU without KVM) on Debian's own kernel.

    scripts/proofs/kernel_module.py [--headers FOLDER] [--image FILE.deb] [--log FILE]

Builds kernel/ and its test driver with W=1 and sparse, every warning an error, for each installed kernel version, then boots the oldest
of them from the image package that apt-get downloads: load, two processes, GPU memory of DRM files, permissions, 10,000 hostile calls from four
processes, unload under use. The kernel log may have no warning. Debian's kernel has no KASAN, KFENCE or kmemleak; the machine
runs with slub_debug=FZPU and page_poison=1 instead (overruns, use after free and double free of slab objects).
Exit code 77: QEMU, the headers, sparse or the image is missing.
"""
import argparse
import gzip
import json
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
COMMAND_LINE = 'console=ttyS0 quiet panic=-1 slub_debug=FZPU page_poison=1 init_on_free=0'


class Skipped(Exception):
    pass


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


def header_folders(named):
    folders = [pathlib.Path(named)] if named else sorted(pathlib.Path('/usr/src').glob('linux-headers-*-amd64'))
    found = [folder for folder in folders if (folder / 'Module.symvers').exists()]
    if not found:
        raise Skipped('no kernel headers (apt install linux-headers-amd64)')
    return sorted(found, key=lambda folder: [int(number) for number in re.findall(r'\d+', folder.name)])


def build(headers, folder):
    """The module and the test driver, in a copy of kernel/; raises with the compiler's words."""
    shutil.copytree(ROOT / 'kernel', folder, ignore=shutil.ignore_patterns('*.o', '*.ko', '.*.cmd', '*.mod', '*.mod.c', 'Module.symvers'))
    ran = run(['make', '-s', '-C', folder, 'check', f'TREE={headers}'])
    ran_driver = run(['make', '-s', '-C', headers, f'M={folder / "tests"}', 'W=1', 'KCFLAGS=-Werror', 'modules'])
    text = ran.stdout + ran.stderr + ran_driver.stdout + ran_driver.stderr
    warnings = [line for line in text.splitlines() if re.search(r'warning|error', line, re.I)]
    if ran.returncode or ran_driver.returncode or warnings:
        raise RuntimeError('\n'.join(warnings[:20]) or text[-2000:])


def image(named, version, folder):
    """The unpacked image package of this version: vmlinuz and drm.ko."""
    package = pathlib.Path(named) if named else None
    if not package:
        run(['apt-get', 'download', f'linux-image-{version}'], cwd=folder)
        package = next(folder.glob('linux-image-*.deb'), None)
    if not package or not package.exists():
        raise Skipped(f'no image of the kernel {version} (apt-get download linux-image-{version})')
    unpacked = folder / 'image'
    run(['dpkg', '-x', package, unpacked])
    kernel = next(unpacked.glob(f'boot/vmlinuz-{version}'), None)
    drm = next(unpacked.glob('lib/modules/*/kernel/drivers/gpu/drm/drm.ko'), None)
    if not kernel or not drm:
        raise Skipped(f'{package.name} has no kernel {version} with an uncompressed drm.ko')
    return kernel, drm


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
    made = run(['gcc', '-O2', '-static', '-w', '-o', guest, built / 'tests/guest.c'])
    if made.returncode:
        raise Skipped('gcc cannot link a static program (apt install gcc libc6-dev): ' + made.stderr.strip()[:200])
    parts = {'init': guest, 'aaco.ko': built / 'aaco.ko', 'aaco_test_drm.ko': built / 'tests/aaco_test_drm.ko', 'drm.ko': drm}
    (folder / 'initrd.gz').write_bytes(gzip.compress(archive({name: path.read_bytes() for name, path in parts.items()}), 1))
    began = time.monotonic()
    ran = subprocess.run(['qemu-system-x86_64', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', '512', '-nographic', '-no-reboot',
                          '-nic', 'none', '-kernel', str(kernel), '-initrd', str(folder / 'initrd.gz'), '-append', COMMAND_LINE],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900, check=False)
    return ran.stdout.decode(errors='replace').replace('\r', ''), time.monotonic() - began


def measure(options, folder):
    for program in ('qemu-system-x86_64', 'sparse', 'gcc', 'make'):
        if not shutil.which(program):
            raise Skipped(f'{program} is missing (apt install qemu-system-x86 sparse gcc make)')
    built = []
    for headers in header_folders(options.headers):
        version = headers.name.removeprefix('linux-headers-')
        build(headers, folder / version)
        built.append(version)
    kernel, drm = image(options.image, built[0], folder)
    log, seconds = boot(kernel, drm, folder / built[0], folder)
    if options.log:
        pathlib.Path(options.log).write_text(log)
    passed, failed = (re.findall(rf'^{word} (.+)$', log, re.M) for word in ('PASS', 'FAIL'))
    figures = dict(line.split(' ', 1) for line in re.findall(r'^FIGURE (.+)$', log, re.M))
    return {'kernels_built': built, 'kernel_booted': built[0], 'sanitizers': 'slub_debug=FZPU page_poison=1',
            'passed': passed, 'failed': failed, 'kernel_log': re.findall(r'^LOG (.+)$', log, re.M), 'figures': figures,
            'seconds': round(seconds, 1), 'finished': 'GUEST PASSED' in log or 'GUEST FAILED' in log, 'tail': log[-1500:]}


def main():
    if sys.argv[1:] == ['--describe']:
        print(DESCRIBE)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--headers', help='folder of the kernel headers (default: all installed)')
    parser.add_argument('--image', help='image package of that kernel (default: apt-get download)')
    parser.add_argument('--log', help='also writes what the machine printed')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='aaco-kmod-') as folder:
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
    for line in [*('FAIL ' + name for name in seen['failed']), *seen['kernel_log'], *([] if seen['finished'] else [seen['tail']])]:
        print(line)
    figures = seen['figures']
    print(f'built for {", ".join(seen["kernels_built"])} with W=1 and sparse; booted {seen["kernel_booted"]} ({seen["sanitizers"]}): '
          f'{len(seen["passed"])} checks passed, {len(seen["failed"])} failed, {figures.get("hostile_calls", 0)} hostile calls, '
          f'{figures.get("unloads_in_race", 0)} unloads in a race, {figures.get("kernel_warnings", "?")} kernel warnings, {seen["seconds"]:.0f} s')
    return 0 if seen['finished'] and not seen['failed'] else 1


if __name__ == '__main__':
    sys.exit(main())

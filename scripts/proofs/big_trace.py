#!/usr/bin/env python3
"""A generated trace of 100 million events: memory and time of its import, of windows of its timeline, size and opening of its page.

  scripts/proofs/big_trace.py [--events N] [--keep]

Writes a PyTorch trace (nested operators, launches, kernels with their correlation; a gap every 10,000 kernels), imports it,
asks for 20 windows of different widths, writes the page and opens it in Chromium where that is there. AACO_BIG_TRACE_EVENTS sets the
number of events. Exit code 0: every limit held, 1: one did not, 77: not enough disk space.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
DESCRIBE = 'a generated trace of 100 million events: memory, windows of the timeline, the page'
BYTES_PER_EVENT = 160          # of the trace; its session takes a tenth
PER_GROUP = 4                  # events: two nested operators, launch, kernel
MAX_RSS_MB, MAX_WINDOW_MS, MAX_OPEN_S, MAX_PAGE_MB = 600, 200, 3, 5
KERNELS = ['void gemm_kernel<float, 128, 128, 32>(Params)', 'void at::native::vectorized_elementwise_kernel<4, relu>(int)',
           'void softmax_warp_forward<float, float, 10>(float*, int)', 'Cijk_Ailk_Bljk_SB_MT128x128x32_MI32x32x2x1']


GROUPS_PER_BLOCK = 10_000      # then a gap
GROUP_US, GAP_US, FIRST_US = 10, 50_000, 1_000_000
SHAPE = (b'{"ph":"X","cat":"cpu_op","name":"aten::layer%d","pid":10,"tid":11,"ts":%d,"dur":9},\n'
         b'{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":10,"tid":11,"ts":%d,"dur":8},\n'
         b'{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":10,"tid":11,"ts":%d,"dur":3,"args":{"correlation":%d}},\n'
         b'{"ph":"X","cat":"kernel","name":"%b","pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"device":0,"stream":7,"correlation":%d}},\n')
NAMES = [name.encode() for name in KERNELS]


def block_text(block):
    """One group of events per kernel, as bytes; times in microseconds. `block`: its number, and how many groups it has."""
    number, count = block
    now = FIRST_US + number * (GROUPS_PER_BLOCK * GROUP_US + GAP_US)
    parts = []
    for i in range(number * GROUPS_PER_BLOCK, number * GROUPS_PER_BLOCK + count):
        parts.append(SHAPE % (i % 40, now, i % 12, now + 1, now + 3, i + 1, NAMES[i % 4], now + 8, 4 + i % 5, i + 1))
        now += GROUP_US
    return b''.join(parts)


def write_events(path, count):
    blocks = [(at // GROUPS_PER_BLOCK, min(GROUPS_PER_BLOCK, count - at)) for at in range(0, count, GROUPS_PER_BLOCK)]
    with open(path, 'wb', buffering=1 << 22) as out, multiprocessing.Pool() as workers:
        out.write(b'{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"traceEvents":[\n')
        for text in workers.imap(block_text, blocks):
            out.write(text)
        out.write(b'{"ph":"M","name":"process_name","pid":10,"args":{"name":"python3"}}]}\n')


def write_trace(path, events):
    """In a separate process: the peak memory that Linux reports of a child includes that of the parent when it started."""
    count = events // PER_GROUP
    writer = multiprocessing.Process(target=write_events, args=(path, count))
    writer.start()
    writer.join()
    return count * PER_GROUP, (count * GROUP_US + count // GROUPS_PER_BLOCK * GAP_US) / 1e6


class Ran:
    """A finished child: seconds, CPU seconds, peak memory in MiB, output."""
    def __init__(self, command, env):
        with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as errors:
            began = time.monotonic()
            child = subprocess.Popen(command, stdout=out, stderr=errors, env=env)
            _, status, used = os.wait4(child.pid, 0)
            self.seconds = time.monotonic() - began
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            errors.seek(0)
            self.output = out.read()
            if child.returncode != 0:
                sys.exit(f'{" ".join(command)} failed: {errors.read() or self.output}')
        self.cpu_s = used.ru_utime + used.ru_stime
        self.rss_mib = used.ru_maxrss / 1024


def ask_windows(program, session, span_s, env):
    """Milliseconds, CPU milliseconds and width of each request, a process each; rows of the largest."""
    rng = random.Random(5)
    times, rows = [], 0
    for width_s in [span_s * 0.999, span_s / 4, span_s / 40, span_s / 400, 1, 0.1, 0.01, 0.001] * 3:
        width_s = min(width_s, span_s * 0.999)
        start = rng.uniform(0, span_s - width_s)
        window = f'{int(start * 1e6)}us..{int((start + width_s) * 1e6)}us'
        ran = Ran([program, 'show', session, '--timeline', window, '--json'], env)
        times.append((ran.seconds * 1000, ran.cpu_s * 1000, width_s))
        rows = max([rows] + [len(track['rows']) for track in json.loads(ran.output)['tracks']])
    return times, rows


def open_page(page):
    """Seconds from navigation until the timeline is drawn; None without a browser."""
    if not shutil.which('node') or not os.path.exists('/usr/bin/chromium'):
        return None
    script = '''
      import { createRequire } from 'node:module';
      const require = createRequire(process.argv[2]);
      const { chromium } = require('playwright-core');
      const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const began = Date.now();
      await page.goto('file://' + process.argv[3]);
      await page.waitForSelector('.trace-area canvas');
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      console.log((Date.now() - began) / 1000);
      await browser.close();'''
    with tempfile.NamedTemporaryFile('w', suffix='.mjs') as file:
        file.write(script)
        file.flush()
        ran = subprocess.run(['node', file.name, str(TOP / 'web/package.json'), page], capture_output=True, text=True, check=False)
    return float(ran.stdout) if ran.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--events', type=int, default=int(os.environ.get('AACO_BIG_TRACE_EVENTS', 100_000_000)))
    parser.add_argument('--keep', action='store_true', help='keep the trace and its session')
    options = parser.parse_args()
    if options.describe:
        print(DESCRIBE)
        return 0
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    folder = tempfile.mkdtemp(prefix='aaco-big-trace-')
    try:
        needed = options.events * BYTES_PER_EVENT * 1.4
        if shutil.disk_usage(folder).free < needed:
            print(f'skipped, {needed / 1e9:.0f} GB of disk space needed in {folder}')
            return 77
        trace, sessions = os.path.join(folder, 'big.pt.trace.json'), os.path.join(folder, 'sessions')
        env = {**os.environ, 'AACO_SESSIONS': sessions}
        began = time.monotonic()
        events, span_s = write_trace(trace, options.events)
        size = os.path.getsize(trace)
        print(f'trace       {events:,} events, {span_s:.0f} s, {size / 1e9:.2f} GB, written in {time.monotonic() - began:.0f} s', flush=True)
        imported = Ran([program, 'import', trace, '--quiet'], env)
        session, seconds, rss = imported.output.strip(), imported.seconds, imported.rss_mib
        print(f'import      {seconds:.1f} s, {imported.cpu_s:.1f} s of CPU ({events / seconds / 1e6:.2f} M events/s, {size / seconds / 1e6:.0f} MB/s), peak {rss:.0f} MiB', flush=True)
        times, rows = ask_windows(program, session, span_s, env)
        slowest = max(times)
        median = sorted(times)[len(times) // 2][0]
        for width in sorted({one[2] for one in times}):
            worst = [max(one[i] for one in times if one[2] == width) for i in (0, 1)]
            print(f'window      {width:12.3f} s: at most {worst[0]:.0f} ms, {worst[1]:.0f} ms of CPU')
        page = os.path.join(folder, 'page.html')
        paged = Ran([program, 'report', session, '--html', page], env)
        page_mb = os.path.getsize(page) / 1e6
        opened = open_page(page)
        print(f'page        {page_mb:.2f} MB, written in {paged.seconds:.1f} s, peak {paged.rss_mib:.0f} MiB')
        held = [rss <= MAX_RSS_MB, slowest[0] <= MAX_WINDOW_MS, page_mb <= MAX_PAGE_MB, opened is None or opened <= MAX_OPEN_S]
        opening = 'not tried (no Chromium)' if opened is None else f'{opened:.2f} s (limit {MAX_OPEN_S} s)'
        print(f'{events:,} events: import {seconds:.0f} s, peak {rss:.0f} MiB (limit {MAX_RSS_MB}); windows {median:.0f} ms, at most '
              f'{slowest[0]:.0f} ms, {max(one[1] for one in times):.0f} ms of CPU (limit {MAX_WINDOW_MS}), at most {rows:,} rows per track; page {page_mb:.2f} MB (limit {MAX_PAGE_MB}), '
              f'opened in {opening}')
        return 0 if all(held) else 1
    finally:
        if options.keep:
            print(f'kept in {folder}')
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""A generated trace of 100 million events: memory and time of its import, of windows of its timeline, size and opening of its page.

  scripts/proofs/big_trace.py [--events N] [--keep]
  scripts/proofs/big_trace.py --step generate|import|windows|page|judge --folder DIR [--events N]

Writes a PyTorch trace (nested operators, launches, kernels with their correlation; a gap every 10,000 kernels), imports it,
asks for 24 windows of different widths, writes the page and opens it in Chromium where that is there. AACO_BIG_TRACE_EVENTS sets the
number of events. With --step one part at a time, each a command of minutes that finds in DIR what those before it left there; `generate`
goes on where it was stopped (--seconds ends it after that time), `judge` compares what was measured with the limits. Without --step all
of them in a folder that is removed at the end. Exit code 0: every limit held, 1: one did not, 2: a step before is missing, 77: not enough
disk space.
"""
import argparse
import json
import math
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
BLOCKS_PER_SAVE = 25           # about 120 MB of text
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


HEAD = b'{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}],"traceEvents":[\n'
TAIL = b'{"ph":"M","name":"process_name","pid":10,"args":{"name":"python3"}}]}\n'


def write_events(path, count, seconds):
    """Appends the blocks that `path` does not have yet, until `seconds` are over; a file beside it holds how many are complete, and its size."""
    blocks = [(at // GROUPS_PER_BLOCK, min(GROUPS_PER_BLOCK, count - at)) for at in range(0, count, GROUPS_PER_BLOCK)]
    progress = path + '.progress'
    done, size = json.loads(open(progress).read()) if os.path.exists(progress) else (0, 0)
    ends = time.monotonic() + seconds
    with open(path, 'r+b' if os.path.exists(path) else 'w+b', buffering=1 << 22) as out, multiprocessing.Pool() as workers:
        out.truncate(size)
        out.seek(size)
        if done == 0:
            out.write(HEAD)
        for text in workers.imap(block_text, blocks[done:]):
            out.write(text)
            done += 1
            if done % BLOCKS_PER_SAVE == 0 or done == len(blocks):
                if done == len(blocks):
                    out.write(TAIL)
                out.flush()
                save(progress, [done, out.tell()])
                if time.monotonic() >= ends and done < len(blocks):
                    workers.terminate()
                    return


def save(path, value):
    with open(path + '.new', 'w') as out:
        json.dump(value, out)
    os.replace(path + '.new', path)


def write_trace(path, events, seconds=math.inf):
    """Events and span in seconds, None where time ran out. In a separate process: the peak memory that Linux reports of a child
    includes that of the parent when it started."""
    count = events // PER_GROUP
    writer = multiprocessing.Process(target=write_events, args=(path, count, seconds))
    writer.start()
    writer.join()
    with open(path + '.progress') as file:
        done, _ = json.load(file)
    if done * GROUPS_PER_BLOCK < count:
        return None
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


STEPS = ('generate', 'import', 'windows', 'page', 'judge')


class Measured:
    """What the steps found, in a file of their folder."""
    def __init__(self, folder):
        self.path = os.path.join(folder, 'measured.json')
        self.trace, self.sessions, self.page = (os.path.join(folder, name) for name in ('big.pt.trace.json', 'sessions', 'page.html'))
        self.values = json.loads(open(self.path).read()) if os.path.exists(self.path) else {}

    def __getitem__(self, key):
        if key not in self.values:
            raise Missing(key)
        return self.values[key]

    def add(self, **values):
        self.values |= values
        save(self.path, self.values)


class Missing(Exception):
    pass


def generate(found, program, env, options):
    began = time.monotonic()
    written = write_trace(found.trace, options.events, options.seconds)
    if written is None:
        done, size = json.loads(open(found.trace + '.progress').read())
        print(f'trace       {size / 1e9:.2f} GB so far ({done * GROUPS_PER_BLOCK * PER_GROUP:,} events): run the step again', flush=True)
        return
    events, span_s = written
    found.add(events=events, span_s=span_s)
    print(f'trace       {events:,} events, {span_s:.0f} s, {os.path.getsize(found.trace) / 1e9:.2f} GB, written in {time.monotonic() - began:.0f} s', flush=True)


def import_trace(found, program, env, options):
    events, size = found['events'], os.path.getsize(found.trace)
    ran = Ran([program, 'import', found.trace, '--quiet'], env)
    found.add(session=ran.output.strip(), import_s=ran.seconds, import_rss_mib=ran.rss_mib)
    print(f'import      {ran.seconds:.1f} s, {ran.cpu_s:.1f} s of CPU ({events / ran.seconds / 1e6:.2f} M events/s, {size / ran.seconds / 1e6:.0f} MB/s), peak {ran.rss_mib:.0f} MiB', flush=True)


def measure_windows(found, program, env, options):
    times, rows = ask_windows(program, found['session'], found['span_s'], env)
    found.add(windows=times, rows=rows)
    for width in sorted({one[2] for one in times}):
        worst = [max(one[i] for one in times if one[2] == width) for i in (0, 1)]
        print(f'window      {width:12.3f} s: at most {worst[0]:.0f} ms, {worst[1]:.0f} ms of CPU')


def measure_page(found, program, env, options):
    ran = Ran([program, 'report', found['session'], '--html', found.page], env)
    found.add(page_mb=os.path.getsize(found.page) / 1e6, open_s=open_page(found.page))
    print(f"page        {found['page_mb']:.2f} MB, written in {ran.seconds:.1f} s, peak {ran.rss_mib:.0f} MiB")


def judge(found, program, env, options):
    """Whether every limit held."""
    times, rss, opened = found['windows'], found['import_rss_mib'], found['open_s']
    slowest, median = max(one[0] for one in times), sorted(times)[len(times) // 2][0]
    opening = 'not tried (no Chromium)' if opened is None else f'{opened:.2f} s (limit {MAX_OPEN_S} s)'
    print(f"{found['events']:,} events: import {found['import_s']:.0f} s, peak {rss:.0f} MiB (limit {MAX_RSS_MB}); windows {median:.0f} ms, at most "
          f"{slowest:.0f} ms, {max(one[1] for one in times):.0f} ms of CPU (limit {MAX_WINDOW_MS}), at most {found['rows']:,} rows per track; page {found['page_mb']:.2f} MB (limit {MAX_PAGE_MB}), "
          f'opened in {opening}')
    return rss <= MAX_RSS_MB and slowest <= MAX_WINDOW_MS and found['page_mb'] <= MAX_PAGE_MB and (opened is None or opened <= MAX_OPEN_S)


ACTIONS = dict(zip(STEPS, (generate, import_trace, measure_windows, measure_page, judge)))


def run(step, folder, options):
    """The exit code of one step."""
    needed = options.events * BYTES_PER_EVENT * 1.4
    found = Measured(folder)
    if step == 'generate' and not os.path.exists(found.trace) and shutil.disk_usage(folder).free < needed:
        print(f'skipped, {needed / 1e9:.0f} GB of disk space needed in {folder}')
        return 77
    program = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
    try:
        held = ACTIONS[step](found, program, {**os.environ, 'AACO_SESSIONS': found.sessions}, options)
    except Missing as key:
        print(f'big_trace.py: {folder} has no {key} yet: run the steps before "{step}" first ({", ".join(STEPS)})', file=sys.stderr)
        return 2
    return 1 if held is False else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--describe', action='store_true', help='print one line and exit')
    parser.add_argument('--events', type=int, default=int(os.environ.get('AACO_BIG_TRACE_EVENTS', 100_000_000)))
    parser.add_argument('--keep', action='store_true', help='keep the trace and its session')
    parser.add_argument('--step', choices=STEPS, help='one part alone; needs --folder')
    parser.add_argument('--folder', help='of the steps: the trace, its session and what was measured stay there')
    parser.add_argument('--seconds', type=float, default=math.inf, help='of the step "generate": end after this time, to go on later')
    options = parser.parse_args()
    if options.describe:
        print(DESCRIBE)
        return 0
    if bool(options.step) != bool(options.folder):
        parser.error('--step and --folder belong together')
    if options.step:
        os.makedirs(options.folder, exist_ok=True)
        return run(options.step, options.folder, options)
    folder = tempfile.mkdtemp(prefix='aaco-big-trace-')
    try:
        code = 0
        for step in STEPS:
            code = run(step, folder, options)
            if code != 0:
                break
        return code
    finally:
        if options.keep:
            print(f'kept in {folder}')
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Recordings of small programs with one thing changed: is the change found, and is its cause the first?

Each pair is recorded A B A B A B with --ebpf where the kernel allows it. Prints a line a pair and the totals. The truths stand
here, and are written before anything is measured.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

DESCRIPTION = 'recordings with one thing changed: found, cause first, parts that add up (15 min)'
WORK = 'x = 0\nfor i in range({}): x += i * i'
FLOCK = 'import fcntl, sys\nfor i in range(20):\n f = open(sys.argv[1], "w"); fcntl.flock(f, fcntl.LOCK_EX); sum(range(20000)); f.close()'
PIPE = 'import os, sys\nf = os.open(sys.argv[1], os.O_WRONLY)\nfor i in range(100): os.write(f, b"x" * 65536)'
FAULTS = 'import mmap\nfor i in range({}):\n m = mmap.mmap(-1, 1 << 24)\n for k in range(0, 1 << 24, 4096): m[k] = 1\n m.close()'
SYNC = 'import os, sys\nf = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\nfor i in range(150):\n os.pwrite(f, b"x" * 4096, 0)\n if {}: os.fdatasync(f)'
MSYNC = 'import mmap, sys\nf = open(sys.argv[1], "w+b"); f.truncate(1 << 20); m = mmap.mmap(f.fileno(), 1 << 20)\nfor i in range(150):\n m[4096 * (i % 256)] = i % 256\n if {}: m.flush()'
RANGE = 'import fcntl, sys\nfor i in range(20):\n f = open(sys.argv[1], "w"); fcntl.lockf(f, fcntl.LOCK_EX); sum(range(20000)); f.close()'
ASK = 'import socket, sys\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(""); s.connect(sys.argv[1])\nfor i in range(60): s.send(b"?"); s.recv(16)'
HASH = 'import hashlib\nx = b"x" * 65536\nfor i in range({}): x = hashlib.sha256(x).digest() * 2048'
CALLS = 'import os, time\ntime.sleep(0.5)\nfor i in range(20000): os.getppid()'
WRITE = 'import os, sys\nf = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | {})\nfor i in range(150): os.pwrite(f, b"x" * 4096, 4096 * (i % 16))'
CALL = 'import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\nfor i in range(60): s.sendall(b"?"); s.recv(1)'
HELD = ('import threading, time\nlock, begun = threading.Lock(), threading.Event()\n'
        'def hold():\n with lock: begun.set(); time.sleep({})\n'
        'for i in range(30):\n begun.clear(); t = threading.Thread(target=hold); t.start(); begun.wait()\n with lock: pass\n t.join()')
PARSE = 'import json\nx = json.dumps(list(range(2000)))\nfor i in range({}): json.loads(x)'
WAIT = 'import select\nfor i in range({}): select.select([], [], [], 0.01); sum(range(3000))'
# name: what changes, the first cause (one of), command of A, command of B, what runs beside A, beside B
PAIRS = {
    'compute': ('four times the work', ['computing'], ['python3', '-c', WORK.format(3_000_000)], ['python3', '-c', WORK.format(12_000_000)]),
    'child': ('the child of a shell computes four times as long', ['computing'],
              ['sh', '-c', f"python3 -c '{WORK.format(3_000_000)}'; true"], ['sh', '-c', f"python3 -c '{WORK.format(12_000_000)}'; true"]),
    'timer': ('a sleep of 2 s', ['asleep: timer', 'asleep: event'], ['python3', '-c', 'import time; time.sleep(0.1)'], ['python3', '-c', 'import time; time.sleep(2)']),
    'lock': ('another process holds the file lock', ['asleep: file lock'], ['python3', '-c', FLOCK, '{folder}/lock'], None, None, 'lock'),
    'pipe': ('the reader of the pipe is slow', ['asleep: pipe'], ['python3', '-c', PIPE, '{folder}/pipe'], None, 'reader', 'slow reader'),
    'cpu': ('eight spinning processes on the same CPU', ['waiting for a CPU'], ['taskset', '-c', '0', 'python3', '-c', WORK.format(3_000_000)], None, None, 'hogs'),
    'stops': ('stopped by a signal from outside', ['asleep: stopped'], ['python3', '-c', WORK.format(6_000_000)], None, None, 'stops'),
    'faults': ('eight times the memory mapped and touched', ['kernel', 'computing'], ['python3', '-c', FAULTS.format(4)], ['python3', '-c', FAULTS.format(32)]),
    'sync': ('fdatasync after each write', ['asleep: storage'], ['python3', '-c', SYNC.format(0), '{folder}/file'], ['python3', '-c', SYNC.format(1), '{folder}/file']),
    # Written on 2026-11-28 before they were first measured.
    'msync': ('each page that changed is written at once (msync)', ['asleep: storage (msync)'], ['python3', '-c', MSYNC.format(0), '{folder}/mapped'],
              ['python3', '-c', MSYNC.format(1), '{folder}/mapped']),
    'range lock': ('another process holds the lock on a range (fcntl)', ['asleep: file lock (fcntl)'], ['python3', '-c', RANGE, '{folder}/range'], None, None,
                   'range lock'),
    'datagrams': ('the other process answers 20 ms later', ['asleep: pipe or network (recv'], ['python3', '-c', ASK, '{folder}/socket'], None, 'server',
                  'slow server'),
    'hash': ('four times as much is hashed', ['computing'], ['python3', '-c', HASH.format(2500)], ['python3', '-c', HASH.format(10000)]),
    'tracer': ('strace is attached', ['a tracer'], ['python3', '-c', CALLS], None, None, 'strace'),
    'select': ('150 more timed waits of 10 ms', ['asleep: event', 'asleep: timer'], ['python3', '-c', WAIT.format(5)], ['python3', '-c', WAIT.format(155)]),
    'a third more': ('a third more work: little beside load', ['computing'], ['python3', '-c', WORK.format(6_000_000)], ['python3', '-c', WORK.format(8_000_000)]),
    'sleeping child': ('the child of a shell sleeps for 1 s more', ['asleep: timer'], ['sh', '-c', 'sleep 0.2; true'], ['sh', '-c', 'sleep 1.2; true']),
    # Written on 2026-11-28 after the program could judge run time without waits, before they were first measured.
    'synchronous writes': ('the file is opened with O_SYNC', ['asleep: storage (pwrite64)'], ['python3', '-c', WRITE.format(0), '{folder}/written'],
                           ['python3', '-c', WRITE.format('os.O_SYNC'), '{folder}/written']),
    'stream': ('the server answers 20 ms later', ['asleep: pipe or network (recvfrom)'], ['python3', '-c', CALL, '{folder}/stream'], None, 'stream server',
               'slow stream server'),
    'held lock': ('a thread holds the lock for 25 ms more', ['asleep: timer'], ['python3', '-c', HELD.format(0.005)], ['python3', '-c', HELD.format(0.03)]),
    'parse': ('twice as much is parsed', ['computing'], ['python3', '-c', PARSE.format(6000)], ['python3', '-c', PARSE.format(12000)]),
    'null stream': ('nothing', None, ['python3', '-c', CALL, '{folder}/stream'], None, 'stream server', 'stream server'),
    'null writes': ('nothing', None, ['python3', '-c', WRITE.format('os.O_SYNC'), '{folder}/written'], None),
    'null held lock': ('nothing', None, ['python3', '-c', HELD.format(0.005)], None),
    'null hash': ('nothing', None, ['python3', '-c', HASH.format(2500)], None),
    'null datagrams': ('nothing', None, ['python3', '-c', ASK, '{folder}/socket'], None, 'server', 'server'),
    'null python': ('nothing', None, ['python3', '-c', WORK.format(3_000_000)], None),
    'null sleep': ('nothing', None, ['sleep', '0.5'], None),
    'null child': ('nothing', None, ['sh', '-c', f"python3 -c '{WORK.format(1_000_000)}'; true"], None),
}
HOLDER = 'import fcntl, sys, time\nwhile True:\n f = open(sys.argv[1], "w"); fcntl.flock(f, fcntl.LOCK_EX); time.sleep(0.1); f.close(); time.sleep(0.001)'
RANGE_HOLDER = HOLDER.replace('flock', 'lockf')
SERVER = ('import os, socket, sys, time\n'
          's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n'
          'try: os.remove(sys.argv[1])\nexcept OSError: pass\n'
          's.bind(sys.argv[1])\n'
          'while True:\n _, who = s.recvfrom(16); time.sleep(float(sys.argv[2])); s.sendto(b"!", who)')
STREAM_SERVER = ('import os, socket, sys, time\n'
                 's = socket.socket(socket.AF_UNIX)\n'
                 'try: os.remove(sys.argv[1])\nexcept OSError: pass\n'
                 's.bind(sys.argv[1]); s.listen(1)\n'
                 'while True:\n c, _ = s.accept()\n while c.recv(1): time.sleep(float(sys.argv[2])); c.sendall(b"!")')
READER = 'import os, sys, time\nwhile True:\n f = os.open(sys.argv[1], os.O_RDONLY)\n while os.read(f, 65536): time.sleep(float(sys.argv[2]))\n os.close(f)'


class Beside:
    """What runs beside a recording, ended with it."""
    def __init__(self, what, folder):
        self.children, self.stopping, self.attaching = [], None, what == 'strace'
        if what == 'lock':
            self.start('python3', '-c', HOLDER, f'{folder}/lock')
        elif what in ('reader', 'slow reader'):
            self.start('python3', '-c', READER, f'{folder}/pipe', '0' if what == 'reader' else '0.03')
        elif what == 'range lock':
            self.start('python3', '-c', RANGE_HOLDER, f'{folder}/range')
        elif what in ('server', 'slow server'):
            self.start('python3', '-c', SERVER, f'{folder}/socket', '0' if what == 'server' else '0.02')
            time.sleep(0.3)
        elif what in ('stream server', 'slow stream server'):
            self.start('python3', '-c', STREAM_SERVER, f'{folder}/stream', '0' if what == 'stream server' else '0.02')
            time.sleep(0.5)
        elif what == 'hogs':
            for _ in range(8):
                self.start('taskset', '-c', '0', 'python3', '-c', 'while True: pass')
        elif what == 'stops':
            self.stopping = threading.Event()

    def start(self, *command):
        self.children.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def attach(self, recorder):
        """strace on the recorder's child as soon as there is one."""
        for _ in range(200):
            children = pathlib.Path(f'/proc/{recorder}/task/{recorder}/children').read_text().split()
            if children:
                return self.start('strace', '-o', '/dev/null', '-p', children[0])
            time.sleep(0.005)

    def stop_and_continue(self, recorder):
        """The recorder's child is stopped for 40 ms of each 50 ms."""
        while not self.stopping.is_set():
            try:
                child = int(pathlib.Path(f'/proc/{recorder}/task/{recorder}/children').read_text().split()[0])
                os.kill(child, signal.SIGSTOP)
                time.sleep(0.04)
                os.kill(child, signal.SIGCONT)
            except (OSError, IndexError):
                pass
            time.sleep(0.01)

    def end(self):
        if self.stopping is not None:
            self.stopping.set()
        for child in self.children:
            child.kill()
            child.wait()


def record(program, lake, folder, command, beside):
    around = Beside(beside, folder)
    words = [word.format(folder=folder) if '{folder}' in word else word for word in command]
    recorder = subprocess.Popen([program, '--sessions', lake, 'record', '--ebpf', '--no-report', '--json', '--', *words], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    stopper = threading.Thread(target=around.stop_and_continue, args=(recorder.pid,)) if around.stopping is not None else None
    if stopper:
        stopper.start()
    if around.attaching:
        around.attach(recorder.pid)
    recorder.wait()
    around.end()
    if stopper:
        stopper.join()
    return max(pathlib.Path(lake).glob('*/*/session.json'), key=lambda path: json.loads(path.read_text())['created_realtime_ns']).parent.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', default='build/release/bin/aaco')
    parser.add_argument('--pairs', default=','.join(PAIRS), help='names, with commas between (default: all)')
    parser.add_argument('--sessions', type=int, default=3, help='of a side')
    parser.add_argument('--describe', action='store_true', help='print what this measures')
    options = parser.parse_args()
    if options.describe:
        print(DESCRIPTION)
        return 0
    found = first = changed = false = nulls = unsound = 0
    with tempfile.TemporaryDirectory(prefix='aaco-pairs-') as folder:
        os.mkfifo(f'{folder}/pipe')
        for name in options.pairs.split(','):
            what, truths, of_a, of_b, *beside = PAIRS[name]
            beside += [None] * (2 - len(beside))
            sides = ([], [])
            for _ in range(options.sessions):
                for side, command, around in ((0, of_a, beside[0]), (1, of_b or of_a, beside[1])):
                    sides[side].append(record(options.program, f'{folder}/lake', folder, command, around))
            result = json.loads(subprocess.run([options.program, '--sessions', f'{folder}/lake', 'diff', ','.join(sides[0]), ','.join(sides[1]), '--json'],
                                               capture_output=True, text=True, check=False).stdout)
            cause, parts = result.get('suspected_cause') or '', (result.get('root_cause') or {}).get('decomposition')
            if parts:
                total = sum(part['delta_ns'] for part in parts['parts']) + parts['unexplained_ns']
                unsound += abs(total - parts['delta_ns']) > 1
            if truths is None:
                nulls, false = nulls + 1, false + (result['verdict'] in ('regression', 'improvement'))
            else:
                right = any(cause.startswith(truth) for truth in truths)
                changed, found = changed + 1, found + (result['verdict'] == 'regression')
                first += right and result['verdict'] == 'regression'
            print(f'{name}: {what}: {result["verdict"]}: {cause[:300]}', flush=True)
    print(f'found {found} of {changed}, first cause right {first} of {found}, false verdicts {false} of {nulls}, parts that do not add up {unsound}')
    return 0 if not unsound else 1


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""aaco serve under load: 1,000 readers of the live stream at 10 Hz, slow readers, and lists of 1,000 sessions.

  scripts/proofs/stream_load.py

AACO_STREAM_READERS, AACO_STREAM_SECONDS, AACO_STREAM_SESSIONS: smaller loads. AACO_STREAM_CPU: the CPU of the server.
AACO_STREAM_ONLY=lists: the lists alone (30 s).
"""
import http.client
import json
import os
import pathlib
import re
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

DESCRIPTION = 'aaco serve: 1,000 readers of the live stream at 10 Hz for 60 s, 64 slow readers, 200 lists/s over 1,000 sessions (3 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
READERS = int(os.environ.get('AACO_STREAM_READERS', '1000'))
SECONDS = float(os.environ.get('AACO_STREAM_SECONDS', '60'))
SESSIONS = int(os.environ.get('AACO_STREAM_SESSIONS', '1000'))
SLOW, RATE = 64, 200
AIMS = {'least_share': 0.99, 'latest_s': 1.0, 'resident_mib': 100, 'cores': 0.5, 'list_p99_ms': 50}
TICK = re.compile(rb'"number":(\d+),"time_ms":(\d+)')


class Server:
    def __init__(self, lake, folder):
        cpu = os.environ.get('AACO_STREAM_CPU')
        pin = ['taskset', '-c', cpu] if cpu else []
        self.process = subprocess.Popen([*pin, PROGRAM, '--sessions', lake, 'serve', '--port', '0', '-q'], stdout=subprocess.PIPE, text=True, cwd=folder,
                                        env=os.environ | {'XDG_RUNTIME_DIR': str(folder)}, stderr=subprocess.DEVNULL)
        self.port = urllib.parse.urlsplit(self.process.stdout.readline().strip()).port
        self.token = (pathlib.Path(folder) / f'aaco/server-{self.port}.token').read_text().strip()

    def cpu_s(self):
        fields = pathlib.Path(f'/proc/{self.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def resident_mib(self):
        return int(pathlib.Path(f'/proc/{self.process.pid}/statm').read_text().split()[1]) * os.sysconf('SC_PAGESIZE') / 2**20

    def ask(self, path, connection=None):
        connection = connection or http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        connection.request('GET', path, headers={'Authorization': f'Bearer {self.token}'})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stream(self, receive_bytes=None):
        client = socket.socket()
        if receive_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.connect(('127.0.0.1', self.port))
        client.sendall(f'GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n\r\n'.encode())
        client.setblocking(False)
        return client

    def metric(self, name):
        return float(re.search(rf'^{name} (\S+)$', self.ask('/metrics')[1].decode(), re.M).group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


class Reader:
    def __init__(self):
        self.first = self.last = None
        self.count = 0
        self.latest_s = 0.0
        self.rest = b''


def read_streams(server, readers, seconds):
    """What each reader got within this time, from when all were connected."""
    selector = selectors.DefaultSelector()
    clients = []
    for at in range(readers):
        clients.append(server.stream())
        selector.register(clients[-1], selectors.EVENT_READ, Reader())
        if at % 100 == 99:
            time.sleep(0.2)  # the server admits at most 256 requests at once
    time.sleep(1)
    found = [key.data for key in selector.get_map().values()]
    for phase in ('connect', 'measure'):
        end = time.monotonic() + (2 if phase == 'connect' else seconds)
        if phase == 'measure':
            for one in found:
                one.first, one.count, one.latest_s = None, 0, 0.0
            cpu, began = server.cpu_s(), time.monotonic()
        while (now := time.monotonic()) < end:
            for key, _ in selector.select(end - now):
                try:
                    data = key.fileobj.recv(65536)
                except BlockingIOError:
                    continue
                reader = key.data
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                text = reader.rest + data
                cut = text.rfind(b'\n\n') + 2
                reader.rest = text[cut:] if cut > 1 else text
                arrived_ms = time.time() * 1000
                for number, sent_ms in TICK.findall(text[:cut] if cut > 1 else b''):
                    reader.last = int(number)
                    reader.first = reader.first or reader.last
                    reader.count += 1
                    reader.latest_s = max(reader.latest_s, (arrived_ms - int(sent_ms)) / 1000)
    cores = (server.cpu_s() - cpu) / (time.monotonic() - began)
    resident = server.resident_mib()
    for client in clients:
        client.close()
    return found, cores, resident


def add_sessions(lake, count):
    """Copies of one small session under other ids."""
    subprocess.run([PROGRAM, '--sessions', lake, 'run', '--model', 'mlp', '--warmup', '5', '--iterations', '60', '--no-report', '-q'], check=True, stdout=subprocess.DEVNULL)
    original = next(pathlib.Path(lake).glob('20*/20*'))
    text = (original / 'session.json').read_text()
    for at in range(count - 1):
        name = f'20200101T{at // 3600:02}{at // 60 % 60:02}{at % 60:02}Z-{at:06x}'
        copy = pathlib.Path(lake) / '2020-01-01' / name
        shutil.copytree(original, copy)
        (copy / 'session.json').write_text(text.replace(original.name, name))


def list_times(server, rate, seconds):
    """Milliseconds of each list, from when it was due: 4 connections ask in turn."""
    times, lock, begin = [], threading.Lock(), time.monotonic() + 0.2

    def ask(first, step):
        connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=30)
        for at in range(first, int(rate * seconds), step):
            due = begin + at / rate
            time.sleep(max(0.0, due - time.monotonic()))
            status, _ = server.ask('/api/v1/sessions?limit=100', connection)
            with lock:
                times.append((time.monotonic() - due) * 1000 if status == 200 else float('inf'))
    threads = [threading.Thread(target=ask, args=(first, 4)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times)


def stream_figures(server):
    """One reader, then all, then 16 beside slow ones."""
    _, one_viewer, _ = read_streams(server, 1, min(SECONDS, 20))
    found, cores, resident = read_streams(server, READERS, SECONDS)
    numbers = max(one.last or 0 for one in found) - min(one.first or 0 for one in found) + 1
    figures = {'one_viewer_cores': one_viewer, 'cores': cores, 'resident_mib': resident, 'events_per_reader': numbers,
               'least_share': min(one.count for one in found) / max(1, numbers), 'latest_s': max(one.latest_s for one in found)}
    slow = [server.stream(2048) for _ in range(SLOW)]
    beside, _, _ = read_streams(server, 16, min(SECONDS, 20))
    figures |= {'beside_slow_share': min(one.count / max(1, one.last - one.first + 1) for one in beside), 'thinned': server.metric('aaco_live_thinned_events_total')}
    for client in slow:
        client.close()
    return figures


def main():
    if sys.argv[1:] in (['--describe'], ['--help'], ['-h']):
        print(DESCRIPTION if sys.argv[1] == '--describe' else f'stream_load.py: {__doc__.strip()}')
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * READERS + 256)), hard))
    with tempfile.TemporaryDirectory(prefix='aaco-load-') as folder:
        lake = f'{folder}/sessions'
        add_sessions(lake, SESSIONS)
        server = Server(lake, folder)
        figures = {}
        if os.environ.get('AACO_STREAM_ONLY') != 'lists':
            figures |= stream_figures(server)
        times = list_times(server, RATE, min(SECONDS, 20))
        figures |= {'list_p50_ms': times[len(times) // 2], 'list_p99_ms': times[int(len(times) * 0.99)]}
        code = server.stop()
    for name, value in figures.items():
        print(f'{name:20} {value:.4g}' + (f'  (aim {"at least" if name == "least_share" else "at most"} {AIMS[name]})' if name in AIMS else ''))
    missed = [name for name, aim in AIMS.items() if name in figures and (figures[name] < aim if name == 'least_share' else figures[name] > aim)]
    if out := os.environ.get('AACO_PROOF_OUT'):
        pathlib.Path(out + '.json').write_text(json.dumps(figures))
    print(f'{READERS if "cores" in figures else "no"} readers, {SESSIONS} sessions: ' + ('all aims reached' if not missed else 'missed: ' + ', '.join(missed)))
    return 1 if missed or code != 0 else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""aaco serve killed with SIGKILL at 20 moments while jobs are started, run and end, and files arrive: no job and no session is lost.

  scripts/proofs/kill_server.py
"""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

DESCRIPTION = 'aaco serve: killed at 20 moments of jobs and uploads, nothing is lost (1 min)'
TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get('AACO_PROGRAM', str(TOP / 'build/release/bin/aaco'))
KILLS = int(os.environ.get('AACO_KILLS', '20'))
PER_TURN = 4  # jobs; those that the kill leaves queued run in the next turn
TRACE = json.dumps({'traceEvents': [{'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 10, 'dur': 5, 'args': {'device': 0, 'stream': 7}}]})


class Server:
    def __init__(self, folder):
        policy = pathlib.Path(folder) / 'policy.yaml'
        policy.write_text(json.dumps({'verbs': ['import', 'analyze'], 'jobs_per_minute': 10000, 'waiting_jobs': 1000, 'max_uploads': 1000}))
        self.process = subprocess.Popen([PROGRAM, '-q', '--sessions', f'{folder}/sessions', 'serve', '--port', '0', '--policy', str(policy)], stdout=subprocess.PIPE, text=True, cwd=folder,
                                        env=os.environ | {'XDG_RUNTIME_DIR': str(folder)}, stderr=subprocess.DEVNULL)
        self.port = urllib.parse.urlsplit(self.process.stdout.readline().strip()).port
        self.token = (pathlib.Path(folder) / f'aaco/server-{self.port}.token').read_text().strip()

    def ask(self, method, path, body=None, kind='application/json'):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        try:
            connection.request(method, path, body, {'Authorization': f'Bearer {self.token}', 'Content-Type': kind})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def work(server, known):
    """Starts jobs, at most until the server is gone; what it confirmed is in `known`."""
    try:
        for _ in range(PER_TURN):
            status, sent = server.ask('POST', '/api/v1/uploads?name=trace.json', TRACE, 'application/octet-stream')
            if status != 201:
                continue
            status, job = server.ask('POST', '/api/v1/jobs/import', json.dumps({'upload': [sent['id']]}))
            if status == 202:
                known.add(job['id'])
    except (OSError, http.client.HTTPException, ValueError):
        pass


def main():
    if sys.argv[1:] == ['--describe']:
        print(DESCRIPTION)
        return 0
    if sys.argv[1:]:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ('-h', '--help') else 2
    if not os.access(PROGRAM, os.X_OK):
        print(f'{PROGRAM} is missing; hint: scripts/run_demo.sh builds it')
        return 3
    random.seed(1)
    known = set()
    with tempfile.TemporaryDirectory(prefix='aaco-kill-') as folder:
        for turn in range(KILLS):
            server = Server(folder)
            worker = threading.Thread(target=work, args=(server, known))
            worker.start()
            time.sleep(0.02 + 1.5 * random.random() * turn / KILLS)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            worker.join()
        server = Server(folder)
        end = time.monotonic() + 300
        while True:
            jobs = {one['id']: one for one in server.ask('GET', '/api/v1/jobs?limit=1000')[1]['jobs']}
            if all(jobs[one]['state'] not in ('queued', 'running') for one in known if one in jobs) or time.monotonic() > end:
                break
            time.sleep(0.2)
        states = {}
        for one in jobs.values():
            states[one['state']] = states.get(one['state'], 0) + 1
        lost = [one for one in known if one not in jobs]
        sessions = {one['id']: one['state'] for one in server.ask('GET', '/api/v1/sessions?limit=1000')[1]['sessions']}
        missing = [one['id'] for one in jobs.values() if one['state'] == 'done' and sessions.get(one['session']) != 'complete']
        stuck = [one['id'] for one in jobs.values() if one['state'] in ('queued', 'running', 'failed')]
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait()
    fine = not lost and not missing and not stuck and code == 0
    print(f'{KILLS} kills, {len(known)} confirmed jobs: {states}; {len(lost)} lost, {len(missing)} of the done ones without their session, {len(stuck)} stuck or failed: {"passed" if fine else "FAILED"}')
    return 0 if fine else 1


if __name__ == '__main__':
    sys.exit(main())

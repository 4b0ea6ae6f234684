"""Jobs of the web server: commands that clients start, one measurement at a time; none is lost, and none does what the policy forbids."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

import program
import server_test

WAIT_S = 120


class JobsCase(program.ProgramTest):
    def setUp(self):
        shutil.rmtree(self.lake / '.jobs', ignore_errors=True)

    def serve(self, *options):
        server = server_test.Server(self, 'serve', *options)
        self.addCleanup(server.stop)
        return server

    def start(self, server, verb, **fields):
        return server.json(f'/api/v1/jobs/{verb}', method='POST', body=json.dumps(fields), Content_Type='application/json')

    def cancel(self, server, job):
        return server.json(f'/api/v1/jobs/{job}/cancel', method='POST', body='{}', Content_Type='application/json')

    def reach(self, server, job, *states):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            now = server.json(f'/api/v1/jobs/{job}')[1]
            if now['state'] in states:
                return now
            self.assertIn(now['state'], ('queued', 'running'), now)
            time.sleep(0.05)
        self.fail(f'{job} is {now["state"]}, not {states}')

    def policy(self, **keys):
        file = self.folder / 'policy.yaml'
        base = {'verbs': ['run', 'record', 'import', 'diff', 'ab', 'gate', 'analyze', 'compare', 'optimize', 'llm']}
        file.write_text(json.dumps(base | keys))
        return '--policy', str(file)

    @classmethod
    def need_runtime(cls):
        cls.run_small()


class JobsTest(JobsCase):
    def test_a_run_and_a_diff(self):
        self.need_runtime()
        server = self.serve()
        status, job = self.start(server, 'run', model='mlp', warmup=5, iterations=60, tag='job')
        self.assertEqual((status, job['state'], job['measures']), (202, 'queued', True))
        done = self.reach(server, job['id'], 'done')
        self.assertEqual(done['exit_code'], 0)
        result = server.json(f'/api/v1/jobs/{job["id"]}/result')[1]
        self.assertEqual(result['session']['id'], done['session'])
        self.assertEqual(result['session']['tag'], 'job')
        self.assertEqual(server.json(f'/api/v1/sessions/{done["session"]}')[0], 200)
        _, diff = self.start(server, 'diff', a=done['session'], b='tag:job', force=True)
        done = self.reach(server, diff['id'], 'done')
        self.assertIn(done['exit_code'], (0, 1, 4))
        self.assertIn('verdict', server.json(f'/api/v1/jobs/{diff["id"]}/result')[1])
        listed = server.json('/api/v1/jobs')[1]
        self.assertEqual([one['id'] for one in listed['jobs']], [diff['id'], job['id']])
        self.assertEqual(server.json('/api/v1/jobs?state=failed')[1]['found'], 0)
        self.assertIn('aaco_jobs{state="done"} 2', server.ask('/metrics')[1])

    def test_a_search_writes_below_its_job(self):
        self.need_runtime()
        server = self.serve(*self.policy())
        _, job = self.start(server, 'optimize', model='mlp', budget='12s', fix=['graph_level=baseline'])
        ended = self.reach(server, job['id'], 'done', 'failed')
        self.assertEqual(ended['state'], 'done', ended)
        self.assertIn(ended['exit_code'], (0, 4))  # a gain was proven, or none was
        folder = self.lake / '.jobs' / f'{job["id"]}.files'
        self.assertIn(f'--out={folder}', ended['command'])
        self.assertTrue(folder.is_dir())
        self.assertIn('proven', json.dumps(server.json(f'/api/v1/jobs/{job["id"]}/result')[1]))
        for fields in ({'model': 'mlp', 'out': '/tmp'}, {'budget': '2s'}, {'model': '../x.onnx'}):
            self.assertEqual(self.start(server, 'optimize', **fields)[0], 400, fields)

    def test_one_measurement_at_a_time_and_cancel(self):
        self.need_runtime()
        server = self.serve()
        jobs = [self.start(server, 'run', model='mlp', duration='60s')[1]['id'] for _ in range(3)]
        self.reach(server, jobs[0], 'running')
        states = [server.json(f'/api/v1/jobs/{one}')[1]['state'] for one in jobs]
        self.assertEqual(states, ['running', 'queued', 'queued'])
        self.assertEqual(self.cancel(server, jobs[1])[1]['state'], 'cancelled')
        self.assertEqual(self.cancel(server, jobs[0])[0], 200)
        self.reach(server, jobs[0], 'cancelled')
        self.assertEqual(self.cancel(server, jobs[0])[0], 409)
        self.reach(server, jobs[2], 'running')
        self.cancel(server, jobs[2])
        self.reach(server, jobs[2], 'cancelled')

    def test_a_failed_job_says_why(self):
        server = self.serve()
        _, job = self.start(server, 'run', model='no-such-model')
        failed = self.reach(server, job['id'], 'failed')
        self.assertIn('no-such-model', failed['error']['message'])
        self.assertIn('no-such-model', server.ask(f'/api/v1/jobs/{job["id"]}/log')[1])
        self.assertEqual(server.ask(f'/api/v1/jobs/{job["id"]}/result')[0], 404)

    def test_a_comparison_tells_its_round_and_time(self):
        self.need_runtime()
        server = self.serve()
        _, job = self.start(server, 'ab', a_model='mlp', a_threads=1, b_threads=1, duration='60s')
        seen = self.told(server, job, 'round')
        self.cancel(server, job['id'])
        self.assertRegex(seen, r'round 1 of at least \d+, \d+ s of 120 s asked')
        self.reach(server, job['id'], 'cancelled')

    def told(self, server, job, part):
        """The first progress of a job with `part` in it."""
        end, seen = time.monotonic() + WAIT_S, ''
        while part not in seen and time.monotonic() < end:
            seen = server.json(f'/api/v1/jobs/{job["id"]}')[1]['progress'] or ''
            time.sleep(0.05)
        return seen

    def test_a_recording_tells_its_time(self):
        server = self.serve(*self.policy(record_programs=['/bin/sleep']))
        _, job = self.start(server, 'record', program='/bin/sleep', argument=['60'], duration='50s')
        self.assertRegex(self.told(server, job, 's left'), r'^recording sleep: \d+ s of 50\.0 s, .*%, \d+ s left$')
        self.cancel(server, job['id'])
        self.reach(server, job['id'], 'cancelled')

    def test_a_gate_finds_the_baselines_of_the_server(self):
        session = self.run_small().json()['session']['id']
        self.aaco('baseline', 'add', 'base', session, '--owner', 'tester')
        server = self.serve()
        _, job = self.start(server, 'gate', baseline='base', session=session)
        done = self.reach(server, job['id'], 'done', 'failed')
        self.assertIn('verdict', server.json(f'/api/v1/jobs/{job["id"]}/result')[1], done)

    def test_a_recorded_program_of_the_policy(self):
        server = self.serve(*self.policy(record_programs=['/bin/echo']))
        _, job = self.start(server, 'record', program='/bin/echo', argument=['--json', '{"session":{"id":"fake"}}'])
        done = self.reach(server, job['id'], 'done')
        self.assertNotEqual(done['session'], 'fake')
        self.assertEqual(server.json(f'/api/v1/sessions/{done["session"]}')[0], 200)
        self.assertEqual(self.start(server, 'record', program='/bin/sh', argument=['-c', 'id'])[0], 403)

    def test_an_import_below_a_folder_of_the_policy(self):
        folder = self.folder / 'traces'
        folder.mkdir(exist_ok=True)
        events = [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5, 'args': {'device': 0, 'stream': 7, 'correlation': i}} for i in range(20)]
        (folder / 'trace.json').write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': events}))
        server = self.serve(*self.policy(import_folders=[str(folder)]))
        _, job = self.start(server, 'import', path=[str(folder / 'trace.json')])
        self.assertTrue(self.reach(server, job['id'], 'done')['session'])
        for path in ('/etc/passwd', str(folder / '../sessions'), 'trace.json'):
            self.assertEqual(self.start(server, 'import', path=[path])[0], 403, path)

    def test_refused_jobs(self):
        server = self.serve()
        for verb, fields, expected in (('run', {}, 400), ('run', {'model': '/etc/passwd'}, 400), ('run', {'model': 'mlp', 'ort_lib': '/tmp/x.so'}, 400), ('run', {'model': 'mlp', 'batch': 0}, 400),
                                       ('run', {'model': '--help'}, 400), ('run', {'model': ['mlp', 'mlp']}, 400), ('run', {'model': {'a': 1}}, 400), ('record', {'program': '/bin/sh'}, 403),
                                       ('import', {'path': ['/etc']}, 403), ('llm', {'url': 'http://127.0.0.1:1'}, 403), ('diff', {'a': '../x', 'b': 'y'}, 400), ('diff', {'a': 'none', 'b': 'none'}, 404),
                                       ('rm', {'session': 'latest'}, 405), ('serve', {}, 405)):
            self.assertEqual(self.start(server, verb, **fields)[0], expected, (verb, fields))
        for path in ('/api/v1/jobs/nothing', '/api/v1/jobs/nothing/log', '/api/v1/jobs/nothing/result', '/api/v1/jobs/..%2f..%2fetc/log', '/api/v1/jobs/.lock/log'):
            self.assertIn(server.ask(path)[0], (400, 404), path)
        self.assertEqual(self.cancel(server, 'nothing')[0], 404)
        self.assertEqual(server.ask('/api/v1/jobs/run', 'POST', '{"model":"mlp"}', token=None, Content_Type='application/json')[0], 401)
        self.assertEqual(server.ask('/api/v1/jobs/run', 'POST', '{"model":"mlp"}', Content_Type='application/json', Origin='http://evil.example')[0], 403)
        self.assertEqual(server.json('/api/v1/jobs')[1]['found'], 0)

    def test_the_policy_limits_verbs_rates_and_queues(self):
        server = self.serve(*self.policy(verbs=['analyze'], jobs_per_minute=2))
        self.assertEqual(self.start(server, 'run', model='mlp')[0], 403)
        answers = [self.start(server, 'analyze', model='no-such')[0] for _ in range(3)]
        self.assertEqual(answers, [202, 202, 429])
        self.assertEqual(server.json('/api/v1/policy')[1]['verbs'], ['analyze'])

    def test_a_damaged_policy_is_refused(self):
        file = self.folder / 'bad.yaml'
        file.write_text('record_program: [/bin/sh]\n')
        self.refused(self.aaco('serve', '--port', 0, '--policy', file), 3, 'record_program')

    def test_a_second_server_leaves_the_jobs_to_the_first(self):
        first, second = self.serve(), self.serve()
        self.assertEqual(second.ask('/api/v1/jobs')[0], 409)
        self.assertEqual(first.ask('/api/v1/jobs')[0], 200)


class KilledServerTest(JobsCase):
    def test_no_job_is_lost(self):
        self.need_runtime()
        server = self.serve()
        running = self.start(server, 'run', model='mlp', duration='60s')[1]['id']
        queued = self.start(server, 'run', model='mlp', warmup=5, iterations=30)[1]['id']
        process = self.reach(server, running, 'running')['process_id']
        server.stop(signal.SIGKILL)
        server = self.serve()
        self.assertEqual(self.reach(server, running, 'interrupted')['error']['message'], 'the server ended while the job ran')
        self.assertTrue(self.reach(server, queued, 'done')['session'])
        stat = pathlib.Path(f'/proc/{process}/stat')
        self.assertTrue(not stat.exists() or stat.read_text().rsplit(')', 1)[1].split()[0] == 'Z')  # nobody reaps it in a container

    def test_the_port_is_free_while_its_job_still_runs(self):
        self.need_runtime()
        server = self.serve()
        running = self.start(server, 'run', model='mlp', duration='60s')[1]['id']
        process = self.reach(server, running, 'running')['process_id']
        links = [os.readlink(one) for one in pathlib.Path(f'/proc/{process}/fd').iterdir() if one.is_symlink()]
        self.assertEqual([one for one in links if one.startswith('socket:')], [], 'a job has sockets of its server')
        server.stop(signal.SIGKILL)
        again = self.serve('--port', str(server.port))
        self.assertEqual(again.port, server.port, again.logged())
        self.reach(again, running, 'interrupted')

    def test_killed_at_any_time(self):
        known = set()
        for turn in range(5):
            server = self.serve()
            for _ in range(3):
                status, job = self.start(server, 'analyze', model='no-such-model')
                if status == 202:
                    known.add(job['id'])
            time.sleep(0.02 * turn)
            server.stop(signal.SIGKILL)
        server = self.serve()
        listed = server.json('/api/v1/jobs?limit=1000')[1]
        self.assertEqual({one['id'] for one in listed['jobs']} & known, known)
        for job in known:
            self.reach(server, job, 'failed', 'interrupted')


class LiveTest(JobsCase):
    def read(self, server, seconds, token=None):
        """The events of the live stream, as (name, data)."""
        with socket.create_connection(('127.0.0.1', server.port), WAIT_S) as client:
            client.sendall(f'GET /api/v1/live HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token or server.token}\r\n\r\n'.encode())
            client.settimeout(1)
            text, end = b'', time.monotonic() + seconds
            while time.monotonic() < end:
                try:
                    part = client.recv(65536)
                except TimeoutError:
                    continue
                if not part:
                    break
                text += part
        head, _, body = text.decode().partition('\r\n\r\n')
        return head, [(name, json.loads(data)) for name, data in re.findall(r'event: (\w+)\ndata: (.*)\n\n', body)]

    def test_the_machine_and_a_running_session(self):
        self.need_runtime()
        server = self.serve()
        _, job = self.start(server, 'run', model='mlp', duration='60s')
        self.reach(server, job['id'], 'running')
        time.sleep(2)
        head, events = self.read(server, 3)
        self.assertIn('200 OK', head)
        self.assertIn('text/event-stream', head)
        self.assertEqual(events[0][0], 'history')
        ticks = [data for name, data in events if name == 'tick']
        self.assertEqual([one['number'] for one in ticks], list(range(ticks[0]['number'], ticks[0]['number'] + len(ticks))))
        session = ticks[-1]['sessions'][0]
        self.assertEqual((session['kind'], session['phase']), ('run', 'measuring'))
        for bucket in session['buckets']:
            self.assertLessEqual(bucket['min_ns'], bucket['p50_ns'])
            self.assertLessEqual(bucket['p50_ns'], bucket['max_ns'])
        self.assertTrue(any(one['name'].startswith('aaco') for one in ticks[-1]['processes']))
        self.assertRegex(server.json(f'/api/v1/jobs/{job["id"]}')[1]['progress'] or '', 'measuring mlp')
        self.cancel(server, job['id'])
        self.reach(server, job['id'], 'cancelled')

    def test_refused_and_ended_streams(self):
        server = self.serve()
        self.assertIn('401', self.read(server, 1, 'wrong' * 10)[0].split('\r\n')[0])
        self.assertEqual(server.ask('/api/v1/live', 'HEAD')[:2], (200, ''))
        self.assertEqual(server.ask('/api/v1/live', Sec_Fetch_Site='cross-site')[0], 403)
        self.assertEqual(server.ask('/api/v1/live', Host='evil.example')[0], 421)
        self.assertEqual(server.ask('/api/v1/live', 'POST', '{}', Content_Type='application/json')[0], 405)

    def test_a_slow_reader_does_not_hold_the_others(self):
        server = self.serve()
        slow = []
        for _ in range(8):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(('127.0.0.1', server.port))
            client.sendall(f'GET /api/v1/live HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n\r\n'.encode())
            slow.append(client)
        try:
            ticks = [data['number'] for name, data in self.read(server, 3)[1] if name == 'tick']
            self.assertGreater(len(ticks), 2)
            self.assertEqual(ticks, list(range(ticks[0], ticks[0] + len(ticks))))
            self.assertIn('aaco_live_streams', server.ask('/metrics')[1])
        finally:
            for client in slow:
                client.close()

    def test_a_stop_ends_streams(self):
        server = self.serve()
        with socket.create_connection(('127.0.0.1', server.port), WAIT_S) as client:
            client.sendall(f'GET /api/v1/live HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n\r\n'.encode())
            client.recv(1000)
            self.assertEqual(server.stop(), 0)


class TopTest(JobsCase):
    def test_once(self):
        outcome = self.aaco('top', '--once', '--width', 80)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('No session is running', outcome.output)
        self.assertTrue(all(len(line) <= 80 for line in outcome.output.splitlines()), outcome.output)
        self.assertNotIn('\x1b', outcome.output)

    def test_once_as_json(self):
        view = self.aaco('top', '--once', '--json', '--pid', os.getpid()).json()
        self.assertGreater(len(view['machine']['core_use_ratios']), 0)
        self.assertEqual(view['processes'][0]['process_id'], os.getpid())
        self.assertEqual(view['sessions'], [])

    def test_a_fake_machine_with_gpus(self):
        machine = os.path.join(os.path.dirname(__file__), '../fixtures/machines/epyc_mi300x')
        outcome = self.aaco('top', '--once', '--width', 100, '--root', machine)
        self.assertRegex(outcome.output, r'GPU +use +memory')
        self.assertRegex(outcome.output, r'\d+ W of \d+')

    def test_a_running_session_and_its_replay(self):
        self.need_runtime()
        environment = {name: value for name, value in os.environ.items() if name not in program.OURS} | {'AACO_SESSIONS': str(self.lake)}
        with subprocess.Popen([program.PROGRAM, 'run', '--model', 'mlp', '--duration', '60s', '--telemetry', '--no-report'], cwd=self.folder, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                end = time.monotonic() + WAIT_S
                while time.monotonic() < end:
                    sessions = self.aaco('top', '--once', '--json').json()['sessions']
                    if sessions and sessions[0]['median_ns'] and len(sessions[0]['buckets']) > 2:
                        break
                self.assertEqual((sessions[0]['kind'], sessions[0]['process_id']), ('run', run.pid))
                text = self.aaco('top', '--once').output
                self.assertRegex(text, r'run mlp, cpu, batch \d+ +measuring')
                self.assertRegex(text, r'iterations +median [0-9.]+ .s')
                self.assertIn(str(run.pid), text)
            finally:
                run.send_signal(signal.SIGINT)
                run.wait(WAIT_S)
        self.assertEqual(self.aaco('top', '--once', '--json').json()['sessions'], [])
        replay = self.aaco('top', 'latest', '--once', '--json').json()
        self.assertEqual(replay['sessions'][0]['phase'], 'replay')
        self.assertGreater(replay['sessions'][0]['iterations'], 0)
        self.assertIn('replay of', self.aaco('top', 'latest', '--once', '--at', 0.5).output)

    def test_in_tmux(self):
        if subprocess.run(['which', 'tmux'], capture_output=True, check=False).returncode != 0:
            self.skipTest('skipped, no tmux')
        tmux = ['tmux', '-S', str(self.folder / 'tmux'), '-f', '/dev/null']
        command = f'{program.PROGRAM} --sessions {self.lake} top --refresh 0.2'
        subprocess.run([*tmux, 'new-session', '-d', '-x', '72', '-y', '24', command], check=True)
        self.addCleanup(subprocess.run, [*tmux, 'kill-server'], capture_output=True, check=False)

        def screen_with(text):
            end = time.monotonic() + WAIT_S
            while time.monotonic() < end:
                shown = subprocess.run([*tmux, 'capture-pane', '-p'], capture_output=True, text=True, check=False).stdout
                if text in shown:
                    return shown
                time.sleep(0.1)
            self.fail(f'{text} was never shown: {shown}')

        shown = screen_with('q quit')
        self.assertIn('live', shown.splitlines()[0])
        self.assertLessEqual(len(shown.rstrip('\n').splitlines()), 24)
        subprocess.run([*tmux, 'send-keys', 'f'], check=True)
        screen_with('frozen')
        subprocess.run([*tmux, 'send-keys', 'q'], check=True)
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and subprocess.run([*tmux, 'list-sessions'], capture_output=True, check=False).returncode == 0:
            time.sleep(0.1)
        self.assertNotEqual(subprocess.run([*tmux, 'list-sessions'], capture_output=True, check=False).returncode, 0)

    def test_refusals(self):
        self.refused(self.aaco('top'), 2, 'requires a terminal', '--once')
        self.refused(self.aaco('top', '--json'), 2, '--once')
        self.refused(self.aaco('top', 'nothing', '--once'), 3, 'nothing')
        self.refused(self.aaco('top', '--once', '--width', 20), 2, '--width')
        self.refused(self.aaco('top', '--once', '--refresh', 0), 2, '--refresh')


if __name__ == '__main__':
    unittest.main()

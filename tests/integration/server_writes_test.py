"""What clients may change and add over HTTP: notes, uploads, TLS; and the same machine seen from another one with `aaco top URL`."""
import contextlib
import http.client
import json
import pathlib
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest
import urllib.parse

import import_test
import program
import server_test

WAIT_S = 120
TRACE = json.dumps({'traceEvents': [import_test.LAUNCH, import_test.KERNEL]})


class WritesCase(program.ProgramTest):
    def serve(self, *options):
        server = server_test.Server(self, 'serve', *options)
        self.addCleanup(server.stop)
        return server

    def imported(self, name, tag):
        file = self.folder / name
        file.write_text(TRACE)
        outcome = self.aaco('-q', 'import', file, '--no-report', '--tag', tag)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.output.strip()


class NotesTest(WritesCase):
    def put(self, server, session, document, kind='application/json', **headers):
        body = document if isinstance(document, str) else json.dumps(document)
        status, text, _ = server.ask(f'/api/v1/sessions/{session}/notes', 'PUT', body, Content_Type=kind, **headers)
        return status, json.loads(text)

    def test_notes_are_kept_listed_and_leave_the_session_unchanged(self):
        session = self.imported('noted.json', 'noted')
        server = self.serve()
        empty = server.json(f'/api/v1/sessions/{session}/notes')[1]
        self.assertEqual((empty['text'], empty['tags'], empty['changed']), ('', [], None))
        status, notes = self.put(server, 'tag%3Anoted', {'text': 'golden run\n<b>6.3</b>', 'tags': ['release', 'golden']})
        self.assertEqual((status, notes['session'], notes['tags']), (200, session, ['golden', 'release']))
        self.assertEqual(server.json(f'/api/v1/sessions/{session}/notes')[1], notes)
        for query in ('tag=golden', 'search=GOLDEN', 'tag=noted'):
            listed = server.json(f'/api/v1/sessions?{query}')[1]
            self.assertEqual([one['id'] for one in listed['sessions']], [session], query)
        self.assertEqual(listed['sessions'][0]['note'], 'golden run\n<b>6.3</b>')
        self.assertEqual(self.aaco('verify', session).code, 0)
        self.assertEqual(self.put(server, session, {'text': ''})[1]['tags'], [])
        self.assertEqual(server.json('/api/v1/sessions?tag=golden')[1]['found'], 0)

    def test_refusals(self):
        session = self.imported('refused.json', 'refused')
        server = self.serve()
        for document in ({'tags': ['two words']}, {'tags': ['a'] * 3 + ['b/c']}, {'text': 'x\x1b[2J'}, {'text': 'x' * 20000}, {'note': 'x'}, '[]', '{', {'tags': [str(one) for one in range(20)]}):
            self.assertEqual(self.put(server, session, document)[0], 400, document)
        self.assertEqual(self.put(server, session, 'text=x', kind='application/x-www-form-urlencoded')[0], 415)
        self.assertEqual(self.put(server, session, {'text': 'x'}, Origin='http://evil.example')[0], 403)
        self.assertEqual(self.put(server, session, {'text': 'x'}, Sec_Fetch_Site='cross-site')[0], 403)
        self.assertEqual(self.put(server, 'missing', {'text': 'x'})[0], 404)
        self.assertEqual(self.put(server, '..%2f..%2fx', {'text': 'x'})[0], 400)
        self.assertEqual(server.ask(f'/api/v1/sessions/{session}/notes', 'PUT', '{}', token=None, Content_Type='application/json')[0], 401)
        self.assertEqual(server.ask(f'/api/v1/sessions/{session}', 'PUT', '{}', Content_Type='application/json')[0], 405)


class UploadTest(WritesCase):
    def policy(self, **keys):
        file = self.folder / 'policy.yaml'
        file.write_text(json.dumps({'verbs': ['import'], 'max_upload': '1MiB', 'max_uploads': 3} | keys))
        return '--policy', str(file)

    def send(self, server, body, name='trace.json', kind='application/octet-stream', **headers):
        status, text, _ = server.ask('/api/v1/uploads?' + urllib.parse.urlencode({'name': name}), 'POST', body, Content_Type=kind, **headers)
        return status, json.loads(text)

    def setUp(self):
        shutil.rmtree(self.lake / '.jobs', ignore_errors=True)

    def test_an_uploaded_trace_is_imported_and_removed(self):
        server = self.serve(*self.policy())
        status, sent = self.send(server, TRACE, 'my trace.json')
        self.assertEqual((status, sent['name'], sent['bytes']), (201, 'my_trace.json', len(TRACE)))
        status, job = server.json('/api/v1/jobs/import', method='POST', body=json.dumps({'upload': [sent['id']], 'tag': 'sent'}), Content_Type='application/json')
        self.assertEqual(status, 202, job)
        end = time.monotonic() + WAIT_S
        while job['state'] in ('queued', 'running') and time.monotonic() < end:
            time.sleep(0.05)
            job = server.json(f'/api/v1/jobs/{job["id"]}')[1]
        self.assertEqual(job['state'], 'done', job)
        shown = server.json(f'/api/v1/sessions/{job["session"]}')[1]
        self.assertEqual((shown['session']['tag'], shown['metrics']['gpu.busy_ns']['value']), ('sent', 5500))
        self.assertEqual(list((self.lake / '.jobs/uploads').iterdir()), [])

    def test_large_files_arrive_whole_in_little_memory(self):
        server = self.serve(*self.policy(max_upload='64MiB'))
        status, sent = self.send(server, b'x' * (48 << 20), 'large.bin')
        self.assertEqual((status, sent['bytes']), (201, 48 << 20))
        with open(f'/proc/{server.process.pid}/status') as file:
            peak = next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))
        self.assertLess(peak, 160 << 10)  # KiB; the file is not in it

    def test_sizes_and_numbers_are_limited(self):
        server = self.serve(*self.policy())
        self.assertEqual(self.send(server, b'x' * (1 << 20))[0], 201)
        self.assertEqual(self.send(server, b'x' * ((1 << 20) + 1))[0], 413)
        self.assertEqual(self.send(server, b'')[0], 411)
        self.assertEqual([self.send(server, b'x')[0] for _ in range(3)], [201, 201, 429])

    def test_refusals(self):
        server = self.serve(*self.policy())
        for name in ('', '..', '...', '-'):
            self.assertEqual(self.send(server, b'x', name)[0], 400, name)
        self.assertEqual(self.send(server, b'x', '../../etc/passwd')[1]['name'], 'etc_passwd')
        for kind in ('application/json', 'text/plain', 'multipart/form-data; boundary=x'):  # what a page of another site could send
            self.assertEqual(self.send(server, b'x', kind=kind)[0], 415, kind)
        self.assertEqual(self.send(server, b'x', token=None)[0], 401)
        self.assertEqual(self.send(server, b'x', Origin='http://evil.example')[0], 403)
        self.assertEqual(server.ask('/api/v1/uploads', 'POST', b'x', Content_Type='application/octet-stream')[0], 400)
        for fields, expected in (({}, 400), ({'upload': ['nothing']}, 404), ({'upload': ['../x']}, 404), ({'path': ['/etc/passwd']}, 403)):
            self.assertEqual(server.json('/api/v1/jobs/import', method='POST', body=json.dumps(fields), Content_Type='application/json')[0], expected, fields)
        closed = self.serve(*self.policy(verbs=['run']), '--token-file', str(self.folder / 'closed.token'))
        closed.token = (self.folder / 'closed.token').read_text().strip()
        self.assertIn(self.send(closed, b'x')[0], (403, 409))  # the first server runs the jobs

    def assert_no_upload_stays(self):
        end = time.monotonic() + WAIT_S
        while (left := list((self.lake / '.jobs/uploads').iterdir())) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(left, [])

    def upload_head(self, server):
        return '\r\n'.join(('POST /api/v1/uploads?name=a HTTP/1.1', f'Host: {server.host}', f'Authorization: Bearer {server.token}', 'Content-Type: application/octet-stream', 'Content-Length: 900000', '', '')).encode()

    def test_a_client_that_leaves_leaves_nothing(self):
        server, end = self.serve(*self.policy()), time.monotonic() + WAIT_S
        with socket.create_connection(('127.0.0.1', server.port), WAIT_S) as client:
            client.sendall(self.upload_head(server) + b'x' * 100000)
            uploads = self.lake / '.jobs/uploads'
            while not (uploads.is_dir() and any(uploads.iterdir())) and time.monotonic() < end:
                time.sleep(0.02)
        self.assert_no_upload_stays()
        self.assertEqual(server.ask('/api/v1/sessions')[0], 200)

    def test_a_client_that_drips_is_refused(self):
        server, answer, end = self.serve(*self.policy()), b'', time.monotonic() + WAIT_S
        with socket.create_connection(('127.0.0.1', server.port), 0.2) as client:
            client.sendall(self.upload_head(server))
            while not answer and time.monotonic() < end:
                client.sendall(b'x')
                with contextlib.suppress(TimeoutError):
                    answer = client.recv(4096)
        self.assertRegex(answer, rb'(?s)^HTTP/1.1 408 .*too slowly')
        self.assert_no_upload_stays()


class CatalogueTest(WritesCase):
    def test_devices_baselines_and_predictions_equal_the_command_line(self):
        server = self.serve()
        self.assertEqual(server.json('/api/v1/hardware?kind=accelerator')[1], self.aaco('hardware', 'ls', '--kind', 'accelerator', '--json').json())
        self.assertEqual(server.json('/api/v1/hardware/MI300X')[1], self.aaco('hardware', 'show', 'MI300X', '--json').json())
        self.assertEqual(server.json('/api/v1/baselines')[1]['baselines'], [])
        asked = self.aaco('compare', 'mlp', '--hardware', 'MI300X,H100', '--batch', 8, '--json')
        self.assertEqual(asked.code, 0, asked.errors)
        status, told = server.json('/api/v1/predictions?model=mlp&hardware=MI300X&hardware=H100&batch=8')
        self.assertEqual(status, 200, told)
        self.assertEqual([one['hardware'] for one in told['points']], [one['hardware'] for one in asked.json()['points']])

    def test_refusals(self):
        server = self.serve()
        (self.folder / 'here.onnx').write_text('x')
        for query, expected in (('model=mlp', 400), ('hardware=H100', 400), ('model=/etc/passwd&hardware=H100', 400), ('model=here.onnx&hardware=H100', 400), ('model=--help&hardware=H100', 400)):
            self.assertEqual(server.ask(f'/api/v1/predictions?{query}')[0], expected, query)
        self.assertIn(server.ask('/api/v1/predictions?model=nothing&hardware=H100')[0], (404, 422))
        self.assertEqual(server.ask('/api/v1/hardware/nothing')[0], 404)
        self.assertIn(server.ask('/api/v1/hardware?kind=toaster')[0], (200, 400))
        self.assertEqual(server.ask('/api/v1/roofline')[0], 404)  # no session yet
        self.assertEqual(server.ask('/api/v1/roofline?last=0')[0], 400)

    def test_metrics_have_the_machine(self):
        server = self.serve()
        server.ask('/metrics')
        time.sleep(0.6)
        text = server.ask('/metrics')[1]
        for name in ('aaco_machine_memory_available_bytes', 'aaco_machine_load1', 'aaco_running_sessions 0'):
            self.assertIn(name, text)


class TlsTest(WritesCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which('openssl'):
            raise unittest.SkipTest('skipped, no openssl')
        cls.cert, cls.key = cls.folder / 'cert.pem', cls.folder / 'key.pem'
        for key, cert in ((cls.key, cls.cert), (cls.folder / 'other.pem', cls.folder / 'other_cert.pem')):
            subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
                            '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], check=True, capture_output=True)
            key.chmod(0o600)

    def https(self, server):
        context = ssl.create_default_context(cafile=str(self.cert))
        return http.client.HTTPSConnection('127.0.0.1', server.port, timeout=WAIT_S, context=context)

    def test_https_answers_streams_and_takes_files(self):
        server = self.serve('--tls-cert', str(self.cert), '--tls-key', str(self.key))
        self.assertTrue(server.line.startswith('https://127.0.0.1:'), server.line)
        connection = self.https(server)
        headers = {'Authorization': f'Bearer {server.token}'}
        for _ in range(2):  # the connection stays
            connection.request('GET', '/api/v1/sessions', headers=headers | {'Origin': f'https://{server.host}'})
            answer = connection.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())['found']), (200, 0))
        body = b'x' * 3_000_000
        connection.request('POST', '/api/v1/uploads?name=a.bin', body, headers | {'Content-Type': 'application/octet-stream'})
        answer = connection.getresponse()
        self.assertEqual((answer.status, json.loads(answer.read())['bytes']), (201, len(body)))
        connection.request('GET', '/api/v1/sessions', headers=headers | {'Origin': f'http://{server.host}'})
        self.assertEqual(connection.getresponse().status, 403)
        stream = self.https(server)
        stream.request('GET', '/api/v1/live', headers=headers)
        text = stream.getresponse().read(2000)
        self.assertIn(b'event: tick', text)
        stream.close()
        shown = self.aaco('top', f'https://127.0.0.1:{server.port}', '--token-file', server.token_file, '--once', '--json', SSL_CERT_FILE=str(self.cert))
        self.assertEqual(shown.code, 0, shown.errors)
        self.assertEqual(server.stop(), 0)

    def test_the_cookie_is_for_https_alone(self):
        server = server_test.Server(self, 'dashboard', '--tls-cert', str(self.cert), '--tls-key', str(self.key))
        self.addCleanup(server.stop)
        connection = self.https(server)
        connection.request('GET', server.line.split(server.host, 1)[1])
        answer = connection.getresponse()
        self.assertEqual(answer.status, 303)
        self.assertIn('Secure', answer.getheader('Set-Cookie'))

    def test_plain_and_old_clients_are_refused(self):
        server = self.serve('--tls-cert', str(self.cert), '--tls-key', str(self.key))
        self.assertEqual(server.raw(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')[0], 0)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises((ssl.SSLError, ConnectionError, OSError)):
            with socket.create_connection(('127.0.0.1', server.port), WAIT_S) as client:
                old.wrap_socket(client)
        idle = [socket.create_connection(('127.0.0.1', server.port), WAIT_S) for _ in range(10)]
        connection = self.https(server)
        connection.request('GET', '/')
        self.assertIn(connection.getresponse().status, (200, 501))
        for one in idle:
            one.close()

    def test_refused_files(self):
        self.refused(self.aaco('serve', '--port', 0, '--tls-cert', self.cert), 2, 'must be used together')
        self.refused(self.aaco('serve', '--port', 0, '--tls-cert', self.cert, '--tls-key', self.folder / 'other.pem'), 3, 'private key')
        self.refused(self.aaco('serve', '--port', 0, '--tls-cert', self.key, '--tls-key', self.key), 3, 'certificate')
        self.refused(self.aaco('serve', '--port', 0, '--tls-cert', self.folder / 'none', '--tls-key', self.key), 3, 'none')
        self.key.chmod(0o644)
        self.addCleanup(self.key.chmod, 0o600)
        self.refused(self.aaco('serve', '--port', 0, '--tls-cert', self.cert, '--tls-key', self.key), 3, 'accessible', 'chmod 600')


class PartsTest(WritesCase):
    def test_kernels_and_timeline_of_a_trace(self):
        session = self.imported('trace.json', 'parts')
        server = self.serve()
        base = f'/api/v1/sessions/{session}'
        status, text, _ = server.ask(f'{base}/kernels?search=CIJK')
        answer = json.loads(text)
        self.assertEqual((status, answer['found'], answer['whole']), (200, 1, 'trace'))
        self.assertEqual(answer['kernels'], self.aaco('report', session, '--json').json()['time']['kernels'])
        self.assertEqual(json.loads(server.ask(f'{base}/kernels?search=none')[1])['found'], 0)
        self.assertEqual(json.loads(server.ask(f'{base}/kernels?offset=1')[1])['kernels'], [])
        status, text, _ = server.ask(f'{base}/timeline?range=0us..1ms&pixels=10')
        self.assertEqual(status, 200, text)
        names = {row['name'] for track in json.loads(text)['tracks'] for row in track['rows']}
        self.assertIn(import_test.KERNEL['name'], names)


class Terminal:
    """A program in tmux."""

    def __init__(self, test, command, columns=100):
        if not shutil.which('tmux'):
            test.skipTest('skipped, no tmux')
        self.test = test
        self.tmux = ['tmux', '-S', str(test.folder / f'tmux-{test.id()[-12:]}-{columns}'), '-f', '/dev/null']
        subprocess.run([*self.tmux, 'new-session', '-d', '-x', str(columns), '-y', '30', command], check=True)
        test.addCleanup(subprocess.run, [*self.tmux, 'kill-server'], capture_output=True, check=False)

    def press(self, key):
        subprocess.run([*self.tmux, 'send-keys', key], check=True)

    def wait_for(self, text):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            shown = subprocess.run([*self.tmux, 'capture-pane', '-p'], capture_output=True, text=True, check=False).stdout
            if text in shown:
                return shown
            time.sleep(0.1)
        self.test.fail(f'{text} was never shown: {shown}')


class TopKeysTest(WritesCase):
    def test_r_records_the_watched_process(self):
        watched = subprocess.Popen(['sleep', '100'])
        self.addCleanup(watched.wait)
        self.addCleanup(watched.kill)
        terminal = Terminal(self, f'{program.PROGRAM} --sessions {self.lake} top --refresh 0.2 --pid {watched.pid}')
        terminal.wait_for('r record')
        terminal.press('r')
        terminal.wait_for(f'recording process {watched.pid}')
        time.sleep(1)
        terminal.press('r')
        terminal.wait_for('stored session')
        terminal.press('q')
        self.assertEqual([one['kind'] for one in self.aaco('ls', '--json').json()['sessions']], ['record'])

    def test_r_without_a_process_says_why(self):
        terminal = Terminal(self, f'{program.PROGRAM} --sessions {self.lake} top --refresh 0.2')
        terminal.wait_for('r record')
        terminal.press('r')
        terminal.wait_for('no process is watched')


    def test_a_line_as_wide_as_the_terminal_is_whole(self):
        lake = self.folder / 'watched'
        recording = subprocess.Popen([program.PROGRAM, '-q', '--sessions', str(lake), 'record', '--no-report', '--', 'sleep', '100'])
        self.addCleanup(recording.wait)
        self.addCleanup(recording.terminate)
        terminal = Terminal(self, f'{program.PROGRAM} --sessions {lake} top --refresh 0.2')
        shown = terminal.wait_for('record sleep')
        line = next(one for one in shown.splitlines() if one.startswith('record sleep'))
        self.assertRegex(line, r'  \d+:\d\d$')
        self.assertEqual(len(line), 100)

    def test_gpus_at_every_width(self):
        machine = pathlib.Path(__file__).parents[1] / 'fixtures/machines/epyc_mi300x/sys'
        inside = ['unshare', '--mount', '--', 'sh', '-c']
        if not shutil.which('unshare') or subprocess.run([*inside, f'mount --bind {machine} /sys'], capture_output=True, check=False).returncode != 0:
            self.skipTest('skipped, no right to mount a fake machine')
        for columns in (60, 100, 200):
            terminal = Terminal(self, shlex.join([*inside, f'mount --bind {machine} /sys && exec {program.PROGRAM} --sessions {self.lake} top --refresh 0.2']), columns)
            shown = terminal.wait_for('GPU')
            for text in ('GPU  use', 'memory', 'power', 'temp', 'clock', '141 W', '44 °C', '132 MHz'):
                self.assertIn(text, shown, columns)
            self.assertEqual('throttled' in shown, columns >= 80)
            self.assertLessEqual(max(len(line) for line in shown.splitlines()), columns)
            terminal.press('q')
            subprocess.run([*terminal.tmux, 'kill-server'], capture_output=True, check=False)


class RemoteTopTest(WritesCase):
    def test_it_resumes_after_a_lost_connection(self):
        token = self.folder / 'kept.token'
        server = self.serve('--token-file', str(token))
        terminal = Terminal(self, f'{program.PROGRAM} top http://{server.host} --refresh 0.2 --token-file {token}')
        terminal.wait_for('CPU')
        server.stop(signal.SIGKILL)
        terminal.wait_for('does not answer')
        again = server_test.Server(self, 'serve', '--token-file', str(token), '--port', str(server.port))
        self.addCleanup(again.stop)
        end = time.monotonic() + WAIT_S
        while 'does not answer' in terminal.wait_for('CPU') and time.monotonic() < end:
            time.sleep(0.1)
        self.assertNotIn('does not answer', terminal.wait_for('CPU'))
        terminal.press('r')
        terminal.wait_for('on the machine itself')

    def test_once(self):
        server = self.serve()
        url = f'http://{server.host}'
        shown = self.aaco('top', url, '--once', '--json', XDG_RUNTIME_DIR=str(self.folder)).json()
        self.assertEqual(set(shown), set(self.aaco('top', '--once', '--json').json()))
        self.assertGreater(shown['machine']['memory_total_bytes'], 0)
        self.assertIn('live', self.aaco('top', url + '/', '--once', '--token-file', server.token_file).output)

    def test_refusals(self):
        server = self.serve()
        url = f'http://{server.host}'
        wrong = self.folder / 'wrong.token'
        wrong.write_text('x' * 64)
        self.refused(self.aaco('top', url, '--once', '--token-file', wrong), 3, 'refused the token')
        self.refused(self.aaco('top', url + '/sessions', '--once', '--token-file', wrong), 2, 'http://HOST:PORT')
        self.refused(self.aaco('top', url, '--once', '--token-file', self.folder / 'missing'), 3, 'cannot read the token')
        self.refused(self.aaco('top', '--once', '--token-file', wrong), 2, 'requires the URL')
        server.stop(signal.SIGKILL)
        self.refused(self.aaco('top', url, '--once', '--token-file', wrong), 3, 'does not answer')


if __name__ == '__main__':
    unittest.main()

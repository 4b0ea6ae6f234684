"""`aaco llm` over TLS: a certificate that is trusted by --ca-file, one that is not, and what the client waits for."""
import http.server
import json
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest

import program

ANSWER = (b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n'
          b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\ndata: [DONE]\n\n')

WITHOUT_USAGE = b'\n\n'.join(event for event in ANSWER.split(b'\n\n') if b'usage' not in event)
MODELS = b'{"data":[{"id":"m"}]}'
METRICS = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 1.0\nvllm:num_requests_waiting{engine="0"} 0.0\n'


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.server.asked.append(self.path)
        if self.path.endswith('/tokenize'):
            return self.reply(200, 'application/json', b'{"count":3,"tokens":[1,2,3]}')
        return self.reply(200, 'text/event-stream', WITHOUT_USAGE if 'uncounted' in self.path else ANSWER)

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path.endswith('/metrics'):
            return self.reply(200, 'text/plain', METRICS)
        return self.reply(200 if self.path.endswith('/models') else 404, 'application/json', MODELS)

    def log_message(self, *unused):
        pass


@unittest.skipUnless(shutil.which('openssl'), 'skipped, no openssl to make a certificate')
class LlmTlsTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate, key = cls.folder / 'certificate.pem', cls.folder / 'key.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
                        'subjectAltName=DNS:localhost', '-keyout', key, '-out', cls.certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cls.certificate, key)
        cls.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answer)
        cls.server.handle_error = lambda *unused: None  # refused handshakes
        cls.server.asked = []
        cls.server.socket = context.wrap_socket(cls.server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=cls.server.serve_forever)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(cls.server.shutdown)

    def llm(self, host, *options):
        return self.aaco('llm', '--url', f'https://{host}:{self.server.server_port}/v1', '--model', 'm', '--requests', 8, '--no-report', '--no-telemetry',
                         '--json', *options)

    def test_trusted_certificate(self):
        outcome = self.llm('localhost', '--ca-file', self.certificate)
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertEqual(outcome.json()['metrics']['llm.availability_ratio']['value'], 1)

    def test_unknown_authority(self):
        self.refused(self.llm('localhost'), 3, 'certificate', '--ca-file')

    def test_models_are_listed_over_the_same_route(self):
        """Without --model: the certificates of --ca-file hold there, too."""
        url = f'https://localhost:{self.server.server_port}/v1'
        listed = self.aaco('llm', '--url', url, '--requests', 4, '--no-report', '--no-telemetry', '--json', '--ca-file', self.certificate)
        self.assertEqual(listed.code, 0, listed.errors)
        self.refused(self.aaco('llm', '--url', url, '--no-report'), 3, 'cannot list the models', 'certificate', '--ca-file')

    def test_tokens_are_counted_over_the_same_route(self):
        url = f'https://localhost:{self.server.server_port}/uncounted/v1'
        counted = self.aaco('llm', '--url', url, '--model', 'm', '--requests', 4, '--warmup', 0, '--no-report', '--no-telemetry', '--json',
                            '--ca-file', self.certificate)
        self.assertEqual(counted.code, 0, counted.errors)
        rows = self.aaco('query', '--json', f"SELECT DISTINCT output_tokens, token_source FROM llm_requests WHERE session_id = '{counted.json()['session']['id']}'")
        self.assertEqual(rows.json(), [{'output_tokens': 3, 'token_source': 'tokenize'}])

    def test_metrics_are_read_over_the_same_route(self):
        outcome = self.llm('localhost', '--ca-file', self.certificate)
        self.assertEqual(outcome.code, 0, outcome.errors)
        stored = json.loads((pathlib.Path(outcome.json()['session']['path']) / 'session.json').read_text())['outcome']['llm']['server_metrics']
        self.assertEqual((stored['dialect'], stored['failures']), ('vllm', 0))
        self.assertGreater(stored['readings'], 0)

    def test_other_host(self):
        self.refused(self.llm('127.0.0.1', '--ca-file', self.certificate), 3, 'certificate')

    def test_a_reused_connection_has_no_handshake(self):
        outcome = self.llm('localhost', '--ca-file', self.certificate)
        self.assertEqual(outcome.code, 0, outcome.errors)
        connections, = connections_of(outcome.json())
        self.assertEqual((connections['opened'], connections['handshakes'], connections['moved']), (0, 0, []))

    def test_ca_file_is_missing(self):
        self.refused(self.llm('localhost', '--ca-file', 'nowhere.pem'), 3, 'nowhere.pem')

    def test_ca_file_without_certificates(self):
        file = self.folder / 'empty.pem'
        file.write_text('hello\n')
        self.refused(self.llm('localhost', '--ca-file', file), 3, 'no PEM certificate')


class ProxyTest(program.ProgramTest):
    """Everything that is asked beside the load goes through the proxy of the load."""
    def test_models_metrics_and_tokens_go_through_the_proxy(self):
        proxy = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answer)  # answers for the server, whose name it does not resolve
        proxy.asked = []
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        self.addCleanup(proxy.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(proxy.shutdown)
        outcome = self.aaco('llm', '--url', 'http://server.invalid:8000/uncounted/v1', '--requests', 4, '--warmup', 0, '--no-report', '--no-telemetry',
                            '--json', http_proxy=f'http://127.0.0.1:{proxy.server_port}', no_proxy='', NO_PROXY='')
        self.assertEqual(outcome.code, 0, outcome.errors)
        for path in ('/uncounted/v1/models', '/metrics', '/uncounted/v1/chat/completions'):
            self.assertIn('http://server.invalid:8000' + path, proxy.asked)
        self.assertTrue(any(path.endswith('/tokenize') for path in proxy.asked), proxy.asked)
        self.assertTrue(all(path.startswith('http://server.invalid:8000/') for path in proxy.asked), proxy.asked)


def connections_of(session):
    summary = json.loads((pathlib.Path(session['session']['path']) / 'metrics/llm_summary.json').read_text())
    return [level['connections'] for level in summary['levels']]


class Faults(threading.Thread):
    """A TLS server that holds what the client waits for: the handshake, the end of a record, and the request itself."""
    def __init__(self, context, handshake_s=0.0, record_s=0.0, read_s=0.0, close=False):
        super().__init__(daemon=True)
        self.context, self.handshake_s, self.record_s, self.read_s, self.close = context, handshake_s, record_s, read_s, close
        self.listener = socket.create_server(('127.0.0.1', 0))
        if read_s:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.context.wrap_bio(received, sent, server_side=True)

        def more():
            data = connection.recv(65536)
            if not data:
                raise EOFError
            received.write(data)

        def call(function, *arguments):
            while True:
                try:
                    result = function(*arguments)
                    connection.sendall(sent.read())
                    return result
                except ssl.SSLWantReadError:
                    connection.sendall(sent.read())
                    more()

        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            time.sleep(self.handshake_s)
            call(tls.do_handshake)
            while self.answer(connection, tls, sent, call):
                pass
        except (OSError, EOFError, ssl.SSLError):
            pass
        connection.close()

    def answer(self, connection, tls, sent, call):
        time.sleep(self.read_s)
        request = b''
        while b'\r\n\r\n' not in request:
            request += call(tls.read, 65536)
        head, _, body = request.partition(b'\r\n\r\n')
        length = int(dict(line.split(b': ', 1) for line in head.split(b'\r\n')[1:]).get(b'Content-Length', b'0'))
        while len(body) < length:
            body += call(tls.read, 65536)
        events = ANSWER if head.startswith(b'POST') else b''
        status = b'200 OK' if events else b'404 Not Found'
        last = b'Connection: close\r\n' if self.close else b''
        tls.write(b'HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n%s\r\n' % (status, len(events), last) + events)
        records = sent.read()
        connection.sendall(records[:len(records) // 2])
        time.sleep(self.record_s)
        connection.sendall(records[len(records) // 2:])
        return not self.close


@unittest.skipUnless(shutil.which('openssl'), 'skipped, no openssl to make a certificate')
class LlmTlsWaitsTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificate, key = cls.folder / 'certificate.pem', cls.folder / 'key.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
                        'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cls.certificate], check=True, capture_output=True)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(cls.certificate, key)

    def measured(self, *options, **faults):
        server = Faults(self.context, **faults)
        server.start()
        self.addCleanup(server.listener.close)
        outcome = self.aaco('llm', '--url', f'https://127.0.0.1:{server.port}/v1', '--ca-file', self.certificate, '--model', 'm', '--no-report',
                            '--no-telemetry', '--json', '--warmup', 0, *options)
        self.assertEqual(outcome.code, 0, outcome.errors)
        session = outcome.json()
        self.assertEqual(session['metrics']['llm.availability_ratio']['value'], 1)
        return session

    def samples(self, session, metric):
        rows = self.aaco('query', '--json', f"SELECT value FROM system_events WHERE session_id = '{session['session']['id']}' AND metric = '{metric}'")
        self.assertEqual(rows.code, 0, rows.errors)
        return [row['value'] for row in rows.json()]

    def test_a_slow_handshake_is_part_of_ttft_and_said_to_be(self):
        session = self.measured('--requests', 8, handshake_s=0.15, close=True)
        connections, = connections_of(session)
        self.assertEqual((connections['opened'], connections['handshakes']), (8, 8))
        self.assertGreater(connections['handshake_p50_ns'], 150e6)
        self.assertLess(connections['handshake_own_max_ns'], connections['handshake_max_ns'])
        self.assertGreater(min(self.samples(session, 'client.tls_own_ns')), 0)
        warning, = [one['message'] for one in session['warnings'] if one['id'] == 'llm.connections']
        self.assertIn('the median TTFT', warning)
        self.assertIn('the TLS handshake', warning)
        # From the send it is not in the way.
        self.assertGreater(session['metrics']['llm.ttft_p50_ns']['value'] - session['metrics']['llm.ttft_sent_p50_ns']['value'], 150e6)
        report = self.aaco('report', session['session']['id'])
        self.assertIn('8 of 8 requests opened a TLS connection', ' '.join(report.output.split()))

    def test_half_a_record_is_waited_for(self):
        session = self.measured('--requests', 4, record_s=0.06)
        waits = self.samples(session, 'client.tls_record_wait_ns')
        self.assertGreater(max(waits), 50e6)
        connections, = connections_of(session)
        self.assertEqual(connections['record_wait_max_ns'], max(waits))

    def test_a_full_socket_is_waited_for(self):
        session = self.measured('--requests', 3, '--prompt-tokens', 1_500_000, read_s=0.2)
        waits = self.samples(session, 'client.write_wait_ns')
        self.assertGreater(max(waits), 50e6)
        connections, = connections_of(session)
        self.assertIn('the socket did not take requests', ' '.join(connections['moved']))


if __name__ == '__main__':
    unittest.main()

"""`aaco llm` over TLS: a certificate that is trusted by --ca-file, and one that is not."""
import http.server
import shutil
import ssl
import subprocess
import threading
import unittest

import program

ANSWER = (b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n'
          b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\ndata: [DONE]\n\n')

MODELS = b'{"data":[{"id":"m"}]}'


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Content-Length', str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def do_GET(self):
        self.send_response(200 if self.path.endswith('/models') else 404)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(MODELS)))
        self.end_headers()
        self.wfile.write(MODELS)

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

    def test_other_host(self):
        self.refused(self.llm('127.0.0.1', '--ca-file', self.certificate), 3, 'certificate')

    def test_ca_file_is_missing(self):
        self.refused(self.llm('localhost', '--ca-file', 'nowhere.pem'), 3, 'nowhere.pem')

    def test_ca_file_without_certificates(self):
        file = self.folder / 'empty.pem'
        file.write_text('hello\n')
        self.refused(self.llm('localhost', '--ca-file', file), 3, 'no PEM certificate')


if __name__ == '__main__':
    unittest.main()

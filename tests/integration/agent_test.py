"""The agent of a node: rows in ClickHouse, a collector that is away, a killed agent, TLS with a token, and refusals."""
import http.server
import json
import pathlib
import shutil
import signal
import ssl
import subprocess
import threading
import time
import unittest

import clickhouse_server
import program

AGENT = pathlib.Path(program.PROGRAM).parent / 'aaco-agent'


class Collector:
    """An HTTP server that answers as ClickHouse does for the agent's statements."""

    def __init__(self, certificate=None):
        requests = self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length'])).decode()
                requests.append((self.path, dict(self.headers), body))
                answer = f'{int(time.time())}\n'.encode() if 'now()' in body else b''
                self.send_response(200)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def rows(self):
        return [line.split('\t') for path, _, body in self.requests if 'INSERT' in path and 'minute_unix_ns' in path for line in body.splitlines()]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Agent(program.ProgramTest):
    def agent(self, *arguments, **variables):
        return self.aaco('agent', *arguments, **variables)

    def collector(self, certificate=None):
        collector = Collector(certificate)
        self.addCleanup(collector.stop)
        return collector

    def test_rows_arrive_and_status_counts_them(self):
        collector, spool = self.collector(), self.folder / 'spool'
        ran = self.agent('--to', f'clickhouse://127.0.0.1:{collector.port}/x', '--spool', spool, '--interval', '200ms', '--duration', '1s', '--node', 'n1',
                         '--job', 'j1')
        self.assertEqual(ran.code, 0, ran.errors)
        rows = collector.rows()
        self.assertEqual([(row[1], row[3], row[5]) for row in rows[-1:]], [('n1', 'host', 'j1')])
        status = self.agent('--status', '--spool', spool).json()
        self.assertEqual((status['node'], status['sent_rows'], status['waiting_rows']), ('n1', len(rows), 0))
        self.assertTrue(any(one.startswith('nvml') for one in status['absent']) or shutil.which('nvidia-smi'))

    def test_killed_agent_and_absent_collector_lose_no_stored_row(self):
        spool = self.folder / 'killed'
        away = self.agent('--to', 'clickhouse://127.0.0.1:1/x', '--spool', spool, '--interval', '200ms', '--duration', '600ms')
        self.assertEqual(away.code, 0, away.errors)
        status = self.agent('--status', '--spool', spool).json()
        self.assertGreaterEqual(status['waiting_rows'], 1)
        self.assertIn('cannot reach', status['last_error'])
        collector = self.collector()
        with subprocess.Popen([AGENT, '--to', f'clickhouse://127.0.0.1:{collector.port}/x', '--spool', str(spool)], cwd=self.folder) as agent:
            deadline = time.monotonic() + 20
            while not collector.rows() and time.monotonic() < deadline:
                time.sleep(0.02)
            agent.send_signal(signal.SIGKILL)
        self.assertEqual(len(collector.rows()), status['waiting_rows'])

    @unittest.skipUnless(shutil.which('openssl'), 'skipped, no openssl on this machine')
    def test_tls_with_a_token_and_an_untrusted_certificate(self):
        key, certificate = self.folder / 'key.pem', self.folder / 'cert.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', '-subj',
                        '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], check=True, capture_output=True)
        collector = self.collector((certificate, key))
        arguments = ('--to', f'clickhouses://localhost:{collector.port}/x', '--interval', '200ms', '--duration', '500ms')
        refused = self.agent(*arguments, '--spool', self.folder / 'untrusted')
        self.assertEqual(refused.code, 0, refused.errors)
        self.assertEqual(collector.rows(), [])
        trusted = self.agent(*arguments, '--spool', self.folder / 'trusted', SSL_CERT_FILE=str(certificate), AACO_CLICKHOUSE_TOKEN='open-sesame')
        self.assertEqual(trusted.code, 0, trusted.errors)
        self.assertGreaterEqual(len(collector.rows()), 1)
        self.assertEqual({headers.get('Authorization') for _, headers, _ in collector.requests}, {'Bearer open-sesame'})

    def test_agent_has_no_duckdb(self):
        self.assertNotIn('duckdb', subprocess.run(['ldd', AGENT], capture_output=True, text=True, check=True).stdout)

    def test_refusals(self):
        self.refused(self.agent(), 2, '--to is required', 'hint')
        self.refused(self.agent('--to', 'mysql://x'), 2, 'not a valid fleet')
        self.refused(self.agent('--to', 'nobody'), 3, 'nobody')
        self.refused(self.agent('--to', 'clickhouse://me:word@host/x'), 2, 'AACO_CLICKHOUSE_PASSWORD')
        self.refused(self.agent('--to', 'clickhouse://h/x', '--interval', '1ms'), 2, '--interval')
        self.refused(self.agent('--to', 'clickhouse://h/x', '--limit', '3'), 2, '--limit')
        self.refused(self.agent('--to', 'clickhouse://h/x', '--duration', 'soon'), 2, '--duration')
        self.refused(self.agent('--status', '--spool', self.folder / 'absent'), 3, 'no agent has written')
        (self.folder / 'file').write_text('')
        self.refused(self.agent('--to', 'clickhouse://h/x', '--spool', self.folder / 'file/below'), 3, 'file')
        help_text = self.agent('--help').output
        self.assertIn('--spool', help_text)

    @unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
    def test_rows_in_clickhouse_are_those_that_the_fleet_verbs_read(self):
        cluster = clickhouse_server.Cluster(self.folder / 'engine', shards=1).start()
        self.addCleanup(cluster.stop)
        fleet = f'clickhouse://127.0.0.1:{cluster.shards[0].http}/watched'
        ran = self.agent('--to', fleet, '--spool', self.folder / 'engine_spool', '--interval', '200ms', '--duration', '1s', '--node', "n'1\t")
        self.assertEqual(ran.code, 0, ran.errors)
        status = self.aaco('fleet', 'status', fleet, '--json')
        self.assertEqual(status.code, 0, status.errors)
        self.assertEqual(status.json()['nodes'], 1)
        rows = self.aaco('query', '--on', fleet, 'SELECT node, metric_group, cpu_busy_ratio, clock_hz, received_unix_ns - minute_unix_ns AS delay_ns FROM fleet_minutes', '--json').json()
        self.assertEqual((rows[0]['node'], rows[0]['metric_group'], rows[0]['clock_hz']), ("n'1\t", 'host', None))
        self.assertTrue(0 <= rows[0]['cpu_busy_ratio'] <= 1, json.dumps(rows))
        self.assertLess(rows[0]['delay_ns'], 180e9)


if __name__ == '__main__':
    unittest.main()

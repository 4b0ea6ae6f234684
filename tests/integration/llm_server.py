"""`aaco llm` against the server with faults (tests/serving), which keeps a log of what it wrote."""
import json
import os
import pathlib
import subprocess
import unittest

import program

SERVER = pathlib.Path(os.environ.get('AACO_FAULT_SERVER', str(pathlib.Path(program.PROGRAM).parents[1] / 'tests/aaco_fault_server')))


@unittest.skipUnless(SERVER.is_file(), 'skipped, the fault server is not built')
class LlmTest(program.ProgramTest):
    def setUp(self):
        self.server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_server)
        self.port = int(self.server.stdout.readline())

    def end_server(self):
        self.server.stdin.close()
        self.server.wait(timeout=60)
        self.server.stdout.close()

    def log(self):
        """What the server wrote, by request: {"received_ns", "events": [[time_ns, tokens]]}."""
        self.server.stdin.write('log\n')
        self.server.stdin.flush()
        return [json.loads(line) for line in iter(self.server.stdout.readline, '\n')]

    def llm(self, scenario, *options):
        return self.aaco('llm', '--url', f'http://127.0.0.1:{self.port}/{scenario}/v1', '--no-report', *options)

    def measured(self, scenario, *options):
        outcome = self.llm(scenario, '--json', *options)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def value(self, session, metric):
        return session['metrics'][metric]['value']

    def query(self, session, columns):
        rows = self.aaco('query', '--json', f"SELECT {columns} FROM llm_requests WHERE session_id = '{session['session']['id']}' AND phase = 'measure'")
        self.assertEqual(rows.code, 0, rows.errors)
        return [list(row.values()) for row in rows.json()]

    def summary(self, session):
        return json.loads((pathlib.Path(session['session']['path']) / 'metrics/llm_summary.json').read_text())

    def warned(self, session):
        return [warning['id'] for warning in session['warnings']]

"""`aaco llm` against a real llama.cpp server (scripts/bootstrap.sh --llama): its own timings are an independent truth."""
import json
import pathlib
import statistics
import sys
import unittest

import program

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'scripts/lib'))
import llama_server  # noqa: E402

WHY_NOT = llama_server.missing()
NETWORK_MS = 30  # between what the server and the client time; the machine of a test is busy


@unittest.skipIf(WHY_NOT, 'skipped, ' + WHY_NOT)
class LlamaServerTest(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = llama_server.LlamaServer(slots=2)
        cls.addClassCleanup(cls.server.__exit__)
        cls.server.__enter__()

    def measured(self, *options):
        outcome = self.aaco('llm', '--url', self.server.url, '--no-report', '--json', '--prompt-tokens', 8, *options)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def rows(self, session, columns):
        found = self.aaco('query', '--json', f"SELECT {columns} FROM llm_requests WHERE session_id = '{session['session']['id']}' AND phase = 'measure'")
        self.assertEqual(found.code, 0, found.errors)
        return [list(row.values()) for row in found.json()]

    def test_tokens_are_those_that_were_asked_for(self):
        session = self.measured('--concurrency', 2, '--requests', 12, '--output-tokens', 16)
        self.assertEqual(session['metrics']['llm.availability_ratio']['value'], 1)
        for tokens, chunks in self.rows(session, 'output_tokens, content_chunks'):
            self.assertEqual(tokens, 16)
            self.assertTrue(0 < chunks <= 16)  # bytes of one character merge

    def test_times_agree_with_the_servers_own(self):
        session = self.measured('--concurrency', 1, '--requests', 20, '--output-tokens', 24)
        rows = self.rows(session, '(last_token_ns - first_token_ns) / 1e6, server_decode_ns / 1e6, (first_token_ns - sent_ns) / 1e6, server_prompt_ns / 1e6')
        self.assertTrue(all(decode and prompt for _, decode, _, prompt in rows))
        for seen, own in ((0, 1), (2, 3)):
            apart = statistics.median(row[seen] - row[own] for row in rows)
            self.assertLess(abs(apart), NETWORK_MS)

    def test_completions(self):
        session = self.measured('--api', 'completions', '--requests', 4, '--output-tokens', 4)
        self.assertEqual(session['metrics']['llm.availability_ratio']['value'], 1)

    def test_process_of_the_server_is_found(self):
        session = self.measured('--requests', 4, '--output-tokens', 4)
        stored = json.loads((pathlib.Path(session['session']['path']) / 'session.json').read_text())
        self.assertEqual(stored['outcome']['llm']['server_process_id'], self.server.process.pid)

    def test_scheduler_events_of_the_server_join_the_requests(self):
        session = self.measured('--requests', 10, '--output-tokens', 8, '--ebpf')
        events = self.aaco('query', '--json', f"SELECT count(*) AS n FROM sched_events WHERE session_id = '{session['session']['id']}'").json()[0]['n']
        refused = any(warning['id'] == 'ebpf.unavailable' for warning in session['warnings'])
        self.assertNotEqual(events > 0, refused)  # recorded, or the reason why not

    def test_unknown_path(self):
        outcome = self.aaco('llm', '--url', self.server.url.replace('/v1', '/v2'), '--model', 'x')
        self.refused(outcome, 3, '404', '--model')


if __name__ == '__main__':
    unittest.main()

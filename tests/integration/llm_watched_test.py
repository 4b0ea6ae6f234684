"""Loads with a recording of the server beside them, and loads that were killed."""
import json
import os
import pathlib
import subprocess
import time
import unittest

import program
from llm_server import LlmTest


class Observed(LlmTest):
    """A recording of the server's process, joined with the requests."""

    def recording(self, tag, seconds=8):  # the load begins within it, on a busy machine too
        environment = os.environ | {'AACO_SESSIONS': str(self.lake)}
        recorder = subprocess.Popen([program.PROGRAM, 'record', '--pid', str(self.server.pid), '--duration', f'{seconds}s', '--tag', tag, '--no-report'],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.stderr.close)
        for _ in range(200):
            if any(json.loads(path.read_text()).get('tag') == tag for path in self.lake.glob('*/*/session.json')):
                return recorder
            time.sleep(0.05)
        self.fail('the recording did not begin: ' + recorder.stderr.read())

    def test_rows_of_a_recording_join_the_requests(self):
        self.recording('server')
        session = self.measured('plain,first_ms=20,period_us=1000', '--requests', 30, '--output-tokens', 4, '--no-telemetry', '--observe', 'tag:server')
        stored = json.loads((pathlib.Path(session['session']['path']) / 'session.json').read_text())['outcome']['llm']
        self.assertTrue(stored['observed']['same_clock'])
        self.assertEqual(stored['observed']['clock_error_ns'], 0)
        rows = self.aaco('query', '--json', f"SELECT count(*) AS n FROM system_events WHERE session_id = '{session['session']['id']}' AND rank = 1 AND metric = 'process.rss_bytes'").json()
        self.assertGreater(rows[0]['n'], 0)
        self.assertIn('cpu_cores', self.summary(session)['levels'][0]['server'])

    def test_explain_joins_later(self):
        recorder = self.recording('later')
        session = self.measured('plain,first_ms=10,period_us=1000', '--requests', 30, '--output-tokens', 4, '--no-telemetry')
        self.assertEqual(recorder.wait(timeout=60), 0)
        explained = self.aaco('explain', session['session']['id'], '--observe', 'tag:later')
        self.assertEqual(explained.code, 0, explained.errors)
        self.assertIn('same clock as the client', explained.output)

    def test_a_recording_of_another_time_is_refused(self):
        recorder = self.recording('early', seconds=1)
        self.assertEqual(recorder.wait(timeout=60), 0)
        self.refused(self.llm('plain', '--requests', 5, '--observe', 'tag:early'), 3, 'has ended', 'aaco record')
        self.assertEqual(self.log(), [])  # before anything is sent
        session = self.measured('plain', '--requests', 5)
        self.refused(self.aaco('explain', session['session']['id'], '--observe', 'tag:early'), 3, 'before it')

    def test_an_unknown_recording_is_refused(self):
        self.refused(self.llm('plain', '--requests', 5, '--observe', 'tag:nobody'), 3, 'tag nobody', 'aaco record')
        self.assertEqual(self.log(), [])

    def test_a_load_as_recording_is_refused(self):
        session = self.measured('plain', '--requests', 5)
        self.refused(self.llm('plain', '--requests', 5, '--observe', session['session']['id']), 3, 'not a recording')
        self.refused(self.aaco('explain', session['session']['id'], '--observe', session['session']['id']), 3, 'not a recording')

    def test_slow_tokens_are_counted(self):
        session = self.measured('stall_one', '--requests', 30, '--output-tokens', 6)
        slow = self.summary(session)['levels'][0]['slow_tokens']
        self.assertEqual(slow['gaps'], 30 * 5)
        self.assertGreaterEqual(slow['slow_gaps'], 1)
        self.assertEqual(sum(slow['causes'].values()), slow['slow_gaps'] + slow['slow_first_tokens'])


class OwnTime(LlmTest):
    """An event of 10 MB in each answer, which the client reads and parses itself. Whether that moved a median, or other load beside did, is computed here once
    more from what was stored."""
    COUNT, FLOOR_NS, FLOOR_SHARE = 24, 500_000, 0.05

    def judged(self, scenario, own, metric, name):
        session = self.measured(scenario, '--requests', self.COUNT, '--warmup', 1, '--output-tokens', 2, '--prompt-tokens', 4, '--no-telemetry')
        client = self.summary(session)['levels'][0]['client']
        (start, end), = self.query(session, 'min(scheduled_ns), max(end_ns)')
        rows = self.aaco('query', '--json', f"""SELECT value FROM system_events WHERE session_id = '{session['session']['id']}' AND metric = '{own}'
            AND time_ns BETWEEN {start} AND {end} ORDER BY value DESC""").json()
        events = [row['value'] for row in rows]
        self.assertGreaterEqual(sum(event >= self.FLOOR_NS for event in events), self.COUNT)  # every one, also of a window with several
        self.assertEqual(client['event_own_max_ns'], events[0])
        median = session['metrics'][metric]
        half_width = (median['ci95'][1] - median['ci95'][0]) / 2
        least = events[self.COUNT // 2]  # of more than half of the events
        moved = least > max(half_width, self.FLOOR_SHARE * median['value'], self.FLOOR_NS)
        reasons = [reason for reason in client['reasons'] if 'read and parse' in reason and name in reason]
        self.assertEqual(len(reasons), int(moved), (events, median, client))
        self.assertEqual(client['limited'], bool(client['reasons']))
        self.assertEqual('llm.client_limit' in self.warned(session), client['limited'])

    def test_first_event_of_megabytes_is_the_clients_time(self):
        self.judged('long_line', 'client.event_own_ns', 'llm.ttft_p50_ns', 'the median TTFT')

    def test_second_event_of_megabytes_is_the_clients_time(self):
        self.judged('long_second', 'client.gap_own_ns', 'llm.inter_chunk_p50_ns', 'the median gap between chunks')


class Killed(LlmTest):
    """kill -9 in the middle of a load: the requests that had ended become a session."""

    def killed(self, tag):
        command = [program.PROGRAM, 'llm', '--url', f'http://127.0.0.1:{self.port}/plain,first_ms=5,period_us=500/v1', '--concurrency', '2', '--requests',
                   '100000', '--output-tokens', '4', '--no-telemetry', '--slo', 'ttft=1s', '--warmup', '2', '--tag', tag]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {'AACO_SESSIONS': str(self.lake)})
        for _ in range(400):
            journals = [path for path in self.lake.glob('*/.*.open/.llm_requests.jsonl') if path.stat().st_size > 4000]
            if journals:
                break
            time.sleep(0.05)
        run.kill()
        run.wait()
        return journals[0]

    def test_requests_are_recovered(self):
        journal = self.killed('dead')
        kept = [json.loads(line) for line in journal.read_text().splitlines()]
        with open(journal, 'a') as file:
            file.write('{"request": 7, "torn')
        self.assertIn('aaco llm --recover', self.aaco('report', 'tag:dead').output)
        dead = journal.parent.name[1:-len('.open')]
        self.refused(self.aaco('diff', dead, dead), 3, '--recover')
        outcome = self.aaco('llm', '--recover', 'tag:dead', '--no-report', '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        session = outcome.json()
        self.assertEqual(session['session']['state'], 'interrupted')
        self.assertEqual(session['session']['tag'], 'dead')
        self.assertIn('llm.recovered', self.warned(session))
        self.assertIn('ended in the last moments', ' '.join(one['message'] for one in session['warnings']))
        shown = self.aaco('report', session['session']['id']).output
        self.assertIn('own state is unknown', ' '.join(shown.split()))
        self.assertNotIn('had room', shown)
        measured = sorted([row['scheduled_ns'], row['end_ns'], row['output_tokens']] for row in kept if row['phase'] == 'measure')
        self.assertEqual(sorted(self.query(session, 'scheduled_ns, end_ns, output_tokens')), measured)
        self.assertEqual(self.value(session, 'llm.request_count'), len(measured))
        self.assertEqual(self.value(session, 'llm.good_ratio'), 1)
        self.assertFalse(journal.exists())
        self.refused(self.aaco('llm', '--recover', 'tag:dead'), 3, 'nothing to recover')

    def test_complete_sessions_keep_no_journal(self):
        session = self.measured('plain', '--requests', 5)
        self.assertEqual(list(pathlib.Path(session['session']['path']).glob('.llm*')), [])
        self.refused(self.aaco('llm', '--recover', session['session']['id']), 3, 'nothing to recover')

    def test_damaged_journal_is_refused(self):
        journal = self.killed('damaged')
        journal.write_text('hello\n{}\n')
        self.refused(self.aaco('llm', '--recover', 'tag:damaged'), 3, 'line 1')
        journal.write_text('')
        self.refused(self.aaco('llm', '--recover', 'tag:damaged'), 3, 'no request')
        journal.unlink()
        self.refused(self.aaco('llm', '--recover', 'tag:damaged'), 3, 'no journal')

    def test_recovery_of_nothing(self):
        self.refused(self.aaco('llm', '--recover', 'tag:nobody'), 3, 'nobody')
        self.refused(self.aaco('llm', '--recover', 'tag:x', '--url', 'http://127.0.0.1:1/v1'), 2, '--recover')


if __name__ == '__main__':
    unittest.main()

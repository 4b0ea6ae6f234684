"""`aaco llm` against the server with faults (tests/serving): figures from that server's own log, and judgements on them."""
import csv
import decimal
import json
import os
import pathlib
import statistics
import unittest

import program
from llm_server import LlmTest

AZURE = (pathlib.Path(os.environ.get('AACO_REAL_DATA', pathlib.Path(__file__).parents[2].parent / 'shared' / 'data'))
         / 'traces/llm_traces/Azure_PublicDataset/AzureLLMInferenceTrace_code.csv')


class Measured(LlmTest):
    def test_counts_and_times_equal_the_servers_log(self):
        session = self.measured('merged,first_ms=20,period_us=2000', '--concurrency', 2, '--requests', 30, '--output-tokens', 12, '--warmup', 0)
        served = self.log()[1:]  # the first one is the probe
        self.assertEqual(self.value(session, 'llm.request_count'), len(served))
        self.assertAlmostEqual(self.value(session, 'llm.tokens_per_chunk'), 3)
        rows = self.query(session, 'first_token_ns, last_token_ns, scheduled_ns')
        self.assertAlmostEqual(self.value(session, 'llm.ttft_p50_ns'), statistics.median(first - due for first, _, due in rows), delta=1)
        self.assertAlmostEqual(self.value(session, 'llm.tpot_p50_ns'), statistics.median((last - first) / 11 for first, last, _ in rows), delta=1)
        # On a busy machine any token may be seen late: none before it was written, and some soon after it.
        content = [[time for time, tokens in one['events'] if tokens] for one in served]
        for column, place in ((0, 0), (1, -1)):
            written, seen = sorted(times[place] for times in content), sorted(row[column] for row in rows)
            late = [b - a for a, b in zip(written, seen)]
            self.assertGreaterEqual(min(late), 0)
            self.assertLess(min(late), 2_000_000)  # tokens are 2 ms apart

    def test_tables_are_queried(self):
        session = self.measured('plain', '--requests', 5, '--output-tokens', 3, '--warmup', 0)
        rows = self.aaco('query', '--json', f"SELECT count(*) AS n, sum(content_chunks) AS c FROM llm_requests WHERE session_id = '{session['session']['id']}'")
        self.assertEqual(rows.code, 0, rows.errors)
        self.assertIn('15', rows.output)

    def test_failures_are_counted_by_kind(self):
        session = self.measured('mixed', '--concurrency', 1, '--requests', 40, '--output-tokens', 3, '--warmup', 0, '--slo', 'e2el=10s')
        self.assertEqual(self.value(session, 'llm.failed_count'), 30)
        self.assertEqual(self.value(session, 'llm.availability_ratio'), 0.25)
        self.assertEqual(self.value(session, 'llm.good_ratio'), 0.25)
        level = self.summary(session)['levels'][0]
        self.assertEqual({kind: one['count'] for kind, one in level['failures'].items()}, {'http_429': 10, 'truncated': 10, 'stream_error': 10})

    def test_session_is_kept_when_every_request_fails(self):
        outcome = self.llm('only_first', '--requests', 5, '--warmup', 0)
        self.refused(outcome, 3, 'no request succeeded', 'HTTP 500')
        self.assertIn('all 5 requests failed', outcome.output)

    def test_planned_cancellations_are_no_failure(self):
        outcome = self.llm('never', '--model', 'x', '--requests', 5, '--warmup', 0, '--cancel-after', '50ms')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('all 5 requests were cancelled', outcome.output)
        self.refused(self.llm('http_401', '--model', 'x', '--requests', 5, '--cancel-after', '10s'), 3, '401')

    def test_empty_requests_of_a_trace_are_reported(self):
        trace = self.folder / 'burst.csv'
        trace.write_text('Timestamp,Model,Request tokens,Response tokens\n0,a,5,3\n0.1,a,5,0\n0.2,a,5,0\n')
        session = self.measured('plain', '--replay', trace, '--warmup', 0)
        self.assertIn('llm.replay_empty', self.warned(session))
        self.assertIn('2 of 3 requests', next(one['message'] for one in session['warnings'] if one['id'] == 'llm.replay_empty'))
        first = self.measured('plain', '--replay', trace, '--warmup', 0, '--requests', 1)
        self.assertNotIn('llm.replay_empty', self.warned(first))

    def test_throughput_of_a_ramp(self):
        session = self.measured('plain', '--rate', 40, '--ramp', '1s', '--arrivals', 'constant', '--duration', '2s', '--output-tokens', 1, '--warmup', 0)
        due = [row[0] for row in self.query(session, 'scheduled_ns')]
        within = sum(one < min(due) + 1_000_000_000 for one in due)
        self.assertIn(f'{within} of {len(due)} requests were due within the ramp', next(one['message'] for one in session['warnings'] if one['id'] == 'llm.ramp'))

    def test_wait_for_the_cap_is_in_the_latency(self):
        """One at a time, 10 ms each, one due each 2 ms: a client that counts from the send sees 10 ms only."""
        session = self.measured('plain,first_ms=10', '--rate', 500, '--arrivals', 'constant', '--requests', 400, '--output-tokens', 1, '--max-open', 1,
                                '--warmup', 0)
        start = self.query(session, 'min(scheduled_ns)')[0][0]
        truth = sorted(one['events'][-1][0] - (start + 2_000_000 * index) for index, one in enumerate(self.log()[1:]))
        self.assertAlmostEqual(self.value(session, 'llm.e2el_p99_ns') / truth[395], 1, delta=0.03)
        self.assertAlmostEqual(self.value(session, 'llm.e2el_p50_ns') / statistics.median(truth), 1, delta=0.03)
        self.assertLess(self.value(session, 'llm.e2el_sent_p50_ns'), self.value(session, 'llm.e2el_p50_ns') / 10)

    def test_few_requests_have_no_p99(self):
        """Eight requests of 500 ms, ten a second, one at a time: the last one ends 3.3 s after it was due."""
        session = self.measured('plain,first_ms=500', '--rate', 10, '--arrivals', 'constant', '--requests', 8, '--output-tokens', 1, '--max-open', 1,
                                '--warmup', 0)
        self.assertNotIn('llm.e2el_p99_ns', session['metrics'])
        start = self.query(session, 'min(scheduled_ns)')[0][0]
        truth = max(one['events'][-1][0] - (start + 100_000_000 * index) for index, one in enumerate(self.log()[1:]))
        self.assertGreaterEqual(truth, 3.3e9)
        self.assertAlmostEqual(self.query(session, 'max(end_ns - scheduled_ns)')[0][0] / truth, 1, delta=0.05)

    def test_retries_are_counted(self):
        session = self.measured('mixed', '--requests', 4, '--output-tokens', 3, '--warmup', 0, '--retries', 1)
        retries = self.query(session, 'sum(retries)')[0][0]
        self.assertGreater(retries, 0)
        self.assertEqual(self.summary(session)['levels'][0]['retries'], retries)
        self.assertIn(f'{retries} retries', self.aaco('report', session['session']['id']).output)

    def test_goodput(self):
        session = self.measured('plain,first_ms=30', '--requests', 10, '--output-tokens', 2, '--slo', 'ttft=10ms')
        self.assertEqual(self.value(session, 'llm.good_ratio'), 0)

    def test_cap_is_reported_and_its_wait_counted(self):
        session = self.measured('plain,first_ms=20', '--rate', 200, '--arrivals', 'constant', '--requests', 40, '--output-tokens', 1, '--max-open', 1)
        self.assertIn('llm.max_open', self.warned(session))
        self.assertGreater(self.value(session, 'llm.e2el_p90_ns'), 400e6)
        self.assertLess(self.value(session, 'llm.e2el_sent_p50_ns'), self.value(session, 'llm.e2el_p50_ns') / 3)

    def test_unknown_tokens_are_reported(self):
        session = self.measured('no_usage', '--requests', 5, '--output-tokens', 3)
        self.assertIn('llm.tokens_unknown', self.warned(session))
        self.assertNotIn('llm.tpot_mean_ns', session['metrics'])

    def test_impossible_usage_is_not_used(self):
        """Ten times the tokens that were asked for: TPOT and throughput would be ten times too good."""
        session = self.measured('plain,first_ms=5,period_us=1000,usage_percent=1000', '--requests', 5, '--output-tokens', 6, '--tag', 'liar')
        self.assertIn('llm.usage', self.warned(session))
        for metric in ('llm.tpot_mean_ns', 'llm.itl_mean_ns', 'llm.output_tokens_per_second'):
            self.assertNotIn(metric, session['metrics'])
        self.assertIn('llm.inter_chunk_mean_ns', session['metrics'])
        self.assertEqual(self.summary(session)['levels'][0]['usage_rejected'], 5)
        self.assertIn('impossible usage in 5 responses', self.aaco('report', 'tag:liar').output)
        counted = self.measured('plain,tokenize=1,usage_percent=10', '--requests', 5, '--output-tokens', 20, '--warmup', 0)
        self.assertEqual(self.query(counted, 'output_tokens, token_source'), [[20, 'tokenize']] * 5)

    def test_servers_that_know_no_options_are_measured(self):
        for picky, warnings in ((1, ['llm.length_control']), (2, ['llm.usage_option']), (3, ['llm.length_control', 'llm.usage_option'])):
            session = self.measured(f'no_usage,picky={picky}', '--requests', 3, '--output-tokens', 3, '--warmup', 0)
            self.assertEqual([one for one in self.warned(session) if one.endswith(('control', 'option'))], sorted(warnings, reverse=True))
            self.assertNotIn('llm.prompt_tokens_per_second', session['metrics'])  # unknown is not 0

    def test_responses_without_output_are_reported(self):
        session = self.measured('filtered', '--requests', 4, '--output-tokens', 3)
        self.assertIn('llm.without_output', self.warned(session))
        self.assertNotIn('llm.ttft_p50_ns', session['metrics'])

    def test_waits_for_the_end_of_a_response_are_reported(self):
        self.assertIn('llm.no_done', self.warned(self.measured('held', '--requests', 4, '--output-tokens', 3)))
        late = self.measured('late_done,late_ms=1000', '--requests', 4, '--output-tokens', 3, '--warmup', 0)
        self.assertIn('llm.late_done', self.warned(late))
        self.assertLess(self.value(late, 'llm.e2el_p50_ns'), 1e9)
        never = self.measured('never_done', '--requests', 2, '--output-tokens', 3, '--warmup', 0, '--timeout', '500ms')
        self.assertIn('llm.no_done', self.warned(never))
        self.assertEqual(self.query(never, 'outcome'), [['ok']] * 2)
        held = {'llm.no_done', 'llm.late_done'}
        # A few that are held for 10 ms, on a machine with other work, are no share of the load.
        self.assertFalse(held & set(self.warned(self.measured('plain,first_ms=100', '--concurrency', 4, '--requests', 40, '--output-tokens', 3))))

    def test_ramp_of_constant_arrivals_begins_at_zero(self):
        session = self.measured('plain', '--rate', 200, '--arrivals', 'constant', '--ramp', '1s', '--requests', 100, '--output-tokens', 1, '--warmup', 0)
        times = sorted(row[0] for row in self.query(session, 'scheduled_ns'))
        for index, time in enumerate(times):  # a rate that rises linearly from 0: t = sqrt(2 n / slope)
            self.assertAlmostEqual((time - times[0]) / 1e9, (2 * index / 200) ** 0.5, places=6)

    def test_requests_that_the_server_drops_are_reported(self):
        session = self.measured('drops', '--requests', 20, '--output-tokens', 2, '--warmup', 0)
        self.assertGreater(self.summary(session)['levels'][0]['reconnects'], 0)
        self.assertIn('llm.reconnects', self.warned(session))

    def test_levels_and_report(self):
        session = self.measured('plain,first_ms=5', '--concurrency', '1,2', '--requests', 20, '--output-tokens', 2)
        report = self.aaco('report', session['session']['id'])
        self.assertIn('concurrency 2', report.output + report.errors)

    def test_replay(self):
        trace = self.folder / 'azure.csv'
        trace.write_text('TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,48,3\n2023-11-16 18:17:04.03,31,2\n')
        session = self.measured('plain', '--replay', trace, '--warmup', 0)
        self.assertEqual(self.value(session, 'llm.request_count'), 2)

    @unittest.skipUnless(AZURE.is_file(), f'skipped, no real trace at {AZURE} (AACO_REAL_DATA)')
    def test_replay_of_a_real_trace(self):
        speed, count = 50, 300
        with open(AZURE, newline='') as file:
            wanted = [row for row, _ in zip(csv.DictReader(file), range(count))]
        session = self.measured('plain', '--replay', AZURE, '--replay-speed', speed, '--requests', count, '--warmup', 0)
        rows = self.query(session, 'scheduled_ns, prompt_tokens_asked, output_tokens_asked')
        rows = sorted([int(value) for value in row] for row in rows)
        self.assertEqual([row[1:] for row in rows], [[int(row['ContextTokens']), int(row['GeneratedTokens'])] for row in wanted])
        clock = [decimal.Decimal(row['TIMESTAMP'].rsplit(':', 2)[1]) * 60 + decimal.Decimal(row['TIMESTAMP'].rsplit(':', 1)[1]) for row in wanted]
        for row, at in zip(rows, clock):  # minutes and seconds: the slice is shorter than an hour
            self.assertAlmostEqual(row[0] - rows[0][0], float((at - clock[0]) * 1_000_000_000) / speed, delta=100)

    def test_secrets_are_not_stored(self):
        key = self.folder / 'key'
        key.write_text('sk-verysecretkey\n')
        session = self.measured('plain', '--requests', 2, '--api-key-file', key, '--header', 'X-Team: hiddenvalue')
        bundle = pathlib.Path(session['session']['path'])
        for name in ('session.json', 'env.json'):
            self.assertNotIn('verysecret', (bundle / name).read_text())
            self.assertNotIn('hiddenvalue', (bundle / name).read_text())

    def test_tokens_are_counted_by_the_servers_tokenize(self):
        for form in (1, 2):  # vLLM's and llama.cpp's
            session = self.measured(f'no_usage,tokenize={form},period_us=500', '--requests', 5, '--output-tokens', 7, '--warmup', 0)
            self.assertEqual(self.query(session, 'output_tokens, token_source'), [[7, 'tokenize']] * 5)
            self.assertIn('llm.tpot_p50_ns', session['metrics'])

    def test_tokens_are_counted_by_a_tokenizer(self):
        file = self.folder / 'tokenizer.json'
        vocabulary = {character: number for number, character in enumerate(' tok')} | {' tok': 9, ' t': 10, ' to': 11}
        file.write_text(json.dumps({'model': {'type': 'BPE', 'vocab': vocabulary, 'merges': [[' ', 't'], [' t', 'o'], [' to', 'k']]}}))
        session = self.measured('no_usage', '--requests', 3, '--output-tokens', 6, '--warmup', 0, '--tokenizer', file)
        self.assertEqual(self.query(session, 'output_tokens, token_source'), [[6, 'tokenizer']] * 3)

    def test_turns_repeat_what_was_said(self):
        session = self.measured('plain', '--turns', 3, '--requests', 6, '--output-tokens', 2, '--prompt-tokens', 10, '--warmup', 0)
        rows = self.query(session, 'conversation, prompt_tokens_asked')
        self.assertEqual(sorted(rows), [[0, 10], [0, 22], [0, 34], [1, 10], [1, 22], [1, 34]])

    def test_definitions_of_other_tools(self):
        outcome = self.llm('plain,first_ms=5,period_us=1000', '--requests', 5, '--output-tokens', 4, '--definitions', 'vllm,guidellm,aiperf')
        self.assertEqual(outcome.code, 0, outcome.errors)
        for text in ('As vllm defines it', 'As guidellm defines it', 'As aiperf defines it', 'send to the last token / output tokens'):
            self.assertIn(text, outcome.output)

    def test_queue_and_cache_of_the_server_are_causes(self):
        session = self.measured('plain,first_ms=50', '--requests', 40, '--output-tokens', 2, '--server-metrics',
                                f'http://127.0.0.1:{self.port}/metrics,waiting=3,kv_percent=99/x')
        server = self.summary(session)['levels'][0]['server']
        self.assertGreater(server['readings'], 4)
        self.assertEqual(server['waiting_mean'], 3)
        if not self.summary(session)['levels'][0]['client']['limited']:
            self.assertIn('queue', server['cause_ids'])
            self.assertIn('kv_cache', server['cause_ids'])
        rows = self.aaco('query', '--json', f"SELECT DISTINCT metric, entity FROM system_events WHERE session_id = '{session['session']['id']}' AND metric = 'server.waiting_requests'")
        self.assertIn('vllm', rows.output)
        explained = self.aaco('explain', session['session']['id'])
        self.assertEqual(explained.code, 0, explained.errors)
        self.assertTrue(session['warnings'])
        for warning in session['warnings']:  # each is told once, with what to do about it
            self.assertEqual(explained.output.count(warning['message'].split(': ', 1)[-1]), 1, explained.output)
            self.assertIn(warning.get('remedy', ''), explained.output)

    def test_warm_up_requests_are_numbered_with_the_others(self):
        session = self.measured('plain', '--requests', 3, '--warmup', 2, '--output-tokens', 2)
        rows = self.aaco('query', '--json', f"SELECT phase, count(*) AS n, count(DISTINCT request) AS numbers FROM llm_requests WHERE session_id = '{session['session']['id']}' GROUP BY ALL")
        self.assertEqual({row['phase']: (row['n'], row['numbers']) for row in rows.json()}, {'warmup': (2, 2), 'measure': (3, 3)})
        numbers = self.aaco('query', '--json', f"SELECT request FROM llm_requests WHERE session_id = '{session['session']['id']}' ORDER BY scheduled_ns")
        self.assertEqual([row['request'] for row in numbers.json()], list(range(5)))

    def test_requests_are_exported(self):
        session = self.measured('plain,first_ms=2,period_us=2000', '--concurrency', '1,2', '--requests', 6, '--output-tokens', 3)
        for form, file in (('perfetto', 'a.perfetto-trace'), ('chrome', 'a.json'), ('prometheus', 'a.prom')):
            exported = self.aaco('export', session['session']['id'], '-f', form, '-o', self.folder / file)
            self.assertEqual(exported.code, 0, exported.errors)
        names = [event.get('name') for event in json.loads((self.folder / 'a.json').read_text())['traceEvents']]
        for name in ('request 2', 'to first token', 'tokens'):
            self.assertIn(name, names)
        prometheus = (self.folder / 'a.prom').read_text()
        self.assertIn('# TYPE aaco_llm_ttft_p50_ns gauge', prometheus)
        self.assertIn('load="concurrency 2"', prometheus)

    def test_two_servers_in_alternating_blocks(self):
        fast, slow = (f'http://127.0.0.1:{self.port}/plain,first_ms={first}/v1' for first in (5, 40))
        outcome = self.aaco('ab', '--duration', '1s', '--json', '--', '--url', fast, '--requests', 30, '--output-tokens', 2, '--no-telemetry', '--', '--url', slow)
        self.assertEqual(outcome.code, 1, outcome.errors)
        verdict = outcome.json()
        self.assertEqual(verdict['verdict'], 'regression')
        self.assertGreaterEqual(len(verdict['ab']['a']), 4)
        self.assertEqual(len(verdict['ab']['a']), len(verdict['ab']['b']))

    def test_one_server_twice_raises_no_alarm(self):
        """At 95 % confidence one try in some dozens may, beside other load; not two."""
        url = f'http://127.0.0.1:{self.port}/plain,first_ms=20/v1'
        tries = (self.aaco('ab', '--duration', '1s', '--', '--url', url, '--requests', 30, '--output-tokens', 2, '--no-telemetry', '--', '--url', url) for _ in range(2))
        codes = []
        for outcome in tries:
            codes.append(outcome.code)
            if outcome.code in (0, 4):
                return
        self.fail(f'exit codes {codes}')

    def test_tokens_at_once_are_not_compared(self):
        """All tokens in one read: TPOT is zero, and a ratio to zero says nothing."""
        for tag in ('one', 'two'):
            self.measured('sized', '--requests', 40, '--output-tokens', 4, '--tag', tag)
        outcome = self.aaco('diff', 'tag:one', 'tag:two')
        self.assertIn(outcome.code, (0, 1, 4), outcome.errors)

    def test_same_load_is_comparable(self):
        for tag in ('one', 'two'):
            self.measured('plain,first_ms=5', '--requests', 40, '--output-tokens', 2, '--tag', tag)
        self.assertNotEqual(self.aaco('diff', 'tag:one', 'tag:two').code, 3)


class Judged(LlmTest):
    """What works on other sessions works on these: baselines, gates, service levels, history."""
    LOAD = ('--concurrency', 2, '--requests', 40, '--output-tokens', 4, '--prompt-tokens', 8, '--no-telemetry')

    def three(self, tag, scenario='plain,first_ms=20,period_us=1000'):
        for _ in range(3):
            self.measured(scenario, *self.LOAD, '--tag', tag)

    def governed(self, *words):
        return self.aaco(*words, AACO_BASELINES=str(self.folder / 'baselines'))

    def test_gate_repeats_the_load_of_the_baseline(self):
        self.three('gate')
        added = self.governed('baseline', 'add', 'chat', 'tag:gate', '--owner', 'me', '--metric', 'ttft_p50=40%')
        self.assertEqual(added.code, 0, added.errors)
        before = len(self.log())
        gated = self.governed('gate', '--baseline', 'chat', '--json')
        self.assertIn(gated.code, (0, 1, 4), gated.errors)
        self.assertEqual(len(gated.json()['gate']['measured']), 1)
        self.assertEqual(len(self.log()) - before, 40 + 2 + 1)  # with the warm-up and the probe
        url = f'http://127.0.0.1:{self.port}/plain,first_ms=60,period_us=1000/v1'
        slow = self.governed('gate', '--baseline', 'chat', '--', '--url', url, *self.LOAD)
        self.assertEqual(slow.code, 1, slow.output + slow.errors)
        self.refused(self.governed('gate', '--baseline', 'chat', '--inject-delay', '5%'), 2, '--inject-delay')

    def test_baseline_of_a_replayed_file_needs_its_options(self):
        trace = self.folder / 'trace.jsonl'
        trace.write_text(''.join(json.dumps({'arrival_s': at / 100, 'prompt_tokens': 8, 'output_tokens': 2}) + '\n' for at in range(10)))
        self.measured('plain,first_ms=5', '--replay', trace, '--tag', 'replayed')
        self.assertEqual(self.governed('baseline', 'add', 'replayed', 'tag:replayed', '--owner', 'me').code, 0)
        self.refused(self.governed('gate', '--baseline', 'replayed'), 3, 'trace.jsonl', "after '--'")

    def test_tokens_that_arrive_together_make_a_readable_baseline(self):
        for _ in range(2):
            self.measured('sized', '--requests', 40, '--output-tokens', 4, '--tag', 'together')
        self.assertEqual(self.governed('baseline', 'add', 'together', 'tag:together', '--owner', 'me').code, 0)
        self.assertIn(self.governed('gate', '--baseline', 'together', '--session', 'latest').code, (0, 1, 4))

    def test_failing_requests_are_a_regression(self):
        self.measured('plain,first_ms=5', '--requests', 60, '--output-tokens', 2, '--tag', 'whole')
        self.measured('mixed,first_ms=5', '--requests', 60, '--output-tokens', 2, '--tag', 'failing')
        outcome = self.aaco('diff', 'tag:whole', 'tag:failing', '--json')
        self.assertEqual(outcome.code, 1, outcome.output + outcome.errors)
        document = outcome.json()
        verdicts = {one['metric']: one['verdict'] for one in document['statistics']}
        self.assertEqual(verdicts['llm.availability_ratio'], 'regression')
        if verdicts['llm.ttft_p50_ns'] != 'regression':  # on a busy machine the second load may have been slower too
            self.assertEqual(document['decided_by'], 'llm.availability_ratio')

    def test_several_levels_are_not_pooled(self):
        """Latency and its distribution are those of the level that counts."""
        session = self.measured('plain,first_ms=5', '--concurrency', '1,2', '--requests', 30, '--output-tokens', 2, '--warmup', 0)
        self.assertEqual(self.value(session, 'latency.p50_ns'), self.value(session, 'llm.e2el_p50_ns'))
        report = self.aaco('report', session['session']['id'], '--json').json()
        counts = self.summary(session)['counts']
        self.assertEqual(sum(report['histogram']['count']), 30)
        self.assertEqual(sorted(report['iterations']['phases']), sorted(['measure', ({'concurrency 1', 'concurrency 2'} - {counts}).pop()]))

    def test_history_and_service_levels(self):
        self.three('told')
        history = self.aaco('history', 'ttft_p50', '--where', 'tag=told', '--json')
        self.assertEqual(history.code, 0, history.errors)
        rules = self.folder / 'sla.yaml'
        rules.write_text('schema_version: 1\nrules:\n  - {name: first token, metric: llm.ttft_p50_ns, max: 1ms}\n')
        checked = self.aaco('sla', 'check', 'latest', '--rules', rules)
        self.assertEqual(checked.code, 1, checked.output + checked.errors)


if __name__ == '__main__':
    unittest.main()

"""`aaco llm --model`: prefill and decode of a decoder in process, what is stored, and what is refused."""
import json
import pathlib
import signal
import subprocess
import time
import unittest

import program

MODEL = 'zoo:llama-tiny'
GENAI = 'zoo:llama-tiny,heads=4,kv_heads=2,cache=3'


class LlmModelTest(program.ProgramTest):
    def llm(self, *options, model=MODEL):
        return self.aaco('llm', '--model', model, '--no-report', '--no-telemetry', *options)

    def measured(self, *options, model=MODEL):
        outcome = self.llm('--json', '--prompt-tokens', 16, '--output-tokens', 8, '--requests', 8, '--warmup', 1, *options, model=model)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def value(self, session, metric):
        return session['metrics'][metric]['value']

    def summary(self, session):
        return json.loads((pathlib.Path(session['session']['path']) / 'metrics/llm_summary.json').read_text())

    def query(self, sql):
        rows = self.aaco('query', '--json', sql)
        self.assertEqual(rows.code, 0, rows.errors)
        return [list(row.values()) for row in rows.json()]


class Compared(LlmModelTest):
    def test_sides_of_different_sizes_are_refused_first(self):
        size = ('--prompt-tokens', 8, '--output-tokens', 4, '--no-context-curve')
        for option, value, why in (('--output-tokens', 8, 'shapes'), ('--prompt-tokens', 16, 'shapes'), ('--batch', 2, 'batch')):
            outcome = self.aaco('ab', '--llm', '--duration', '1s', '--', '--model', MODEL, *size, '--', option, value)
            self.refused(outcome, 2, 'not comparable', why)
            self.assertFalse(list(self.lake.rglob('session.json')), 'nothing was measured')


class Measured(LlmModelTest):
    def test_metrics_follow_from_the_tables(self):
        session = self.measured('--no-context-curve')
        of = f"session_id = '{session['session']['id']}'"
        (prefill, step), = self.query(f"""SELECT median(first_token_ns - scheduled_ns), median((last_token_ns - first_token_ns) / 7)
            FROM llm_requests WHERE {of} AND phase = 'measure'""")
        self.assertAlmostEqual(self.value(session, 'llm.ttft_p50_ns'), prefill, delta=1)
        self.assertAlmostEqual(self.value(session, 'llm.tpot_p50_ns'), step, delta=1)
        self.assertAlmostEqual(self.value(session, 'llm.prefill_tokens_per_second'), 16e9 / prefill, delta=1)
        self.assertAlmostEqual(self.value(session, 'llm.decode_tokens_per_second'), 1e9 / step, delta=1)
        self.assertEqual(self.value(session, 'llm.request_count'), 8)
        tokens, = self.query(f"SELECT count(*), count(DISTINCT request) FROM llm_chunks WHERE {of}")
        self.assertEqual(tokens, [9 * 8, 9])  # a warm-up generation and eight measured ones

    def test_cache_is_as_large_as_predicted(self):
        for model, heads, size in ((MODEL, 4, 8), (GENAI, 2, 16), (MODEL + ',cache=2', 4, 8)):
            session = self.measured('--no-context-curve', '--batch', 2, model=model)
            expected = 5 * 2 * 2 * heads * size * (16 + 8 - 1) * 4
            self.assertEqual(self.value(session, 'llm.kv_cache_bytes'), expected, model)
            self.assertEqual(self.value(session, 'llm.kv_cache_predicted_bytes'), expected, model)

    def test_curves_have_a_level_each(self):
        session = self.measured('--batch', '1,2', '--context-curve', '4,32')
        summary = self.summary(session)
        self.assertEqual([level['load'] for level in summary['levels']],
                         ['prompt 16, batch 1', 'prompt 16, batch 2', 'prompt 4, batch 1', 'prompt 32, batch 1'])
        self.assertEqual(summary['counts'], 'prompt 16, batch 1')
        for level in summary['levels']:
            self.assertEqual(level['complete'], 8)
            self.assertIn('llm.tpot_p50_ns', level['metrics'])
        report = self.aaco('report', session['session']['id'])
        self.assertIn('Prefill and decode', report.output)
        self.assertIn('prompt 32, batch 1', report.output)
        table = self.aaco('report', session['session']['id'], '--format', 'csv', '--table', 'decoder')
        self.assertEqual(len(table.output.strip().splitlines()), 1 + 4)

    def test_nodes_of_prefill_and_decode_are_profiled_apart(self):
        session = self.measured('--no-context-curve', '--profile')
        nodes = json.loads((pathlib.Path(session['session']['path']) / 'metrics/llm_nodes.json').read_text())
        prefill, decode = nodes['phases']
        self.assertEqual((prefill['phase'], prefill['new_tokens'], prefill['context_tokens']), ('prefill', 16, 0))
        self.assertEqual((decode['phase'], decode['new_tokens']), ('decode', 1))
        self.assertGreater(decode['context_tokens'], 16)
        self.assertEqual(decode['calls'], 7 * prefill['calls'])
        for phase in nodes['phases']:
            self.assertAlmostEqual(sum(node['share_ratio'] for node in phase['nodes']), 1, places=6)
            self.assertLessEqual(sum(node['ns'] for node in phase['nodes']), 1.5 * phase['call_ns'])
            self.assertTrue(any(kind in node['op_type'] for kind in ('MatMul', 'Gemm') for node in phase['nodes'][:5]), phase['nodes'][:5])
            times = [node['ns'] for node in phase['nodes']]
            self.assertEqual(times, sorted(times, reverse=True))
        report = self.aaco('report', session['session']['id'])
        self.assertIn('Longest nodes', report.output)
        self.assertIn(prefill['nodes'][0]['op_type'], report.output)
        # The pass is not part of the measurement.
        rows, = self.query(f"SELECT count(*) FROM llm_requests WHERE session_id = '{session['session']['id']}'")
        self.assertEqual(rows, [9])

    def test_one_output_token_has_no_decode(self):
        outcome = self.llm('--json', '--prompt-tokens', 4, '--output-tokens', 1, '--requests', 6, '--no-context-curve')
        self.assertEqual(outcome.code, 0, outcome.errors)
        self.assertIn('llm.ttft_p50_ns', outcome.json()['metrics'])
        self.assertNotIn('llm.tpot_p50_ns', outcome.json()['metrics'])

    def test_sessions_compare_and_gate(self):
        first, second = (self.measured('--no-context-curve')['session']['id'] for _ in range(2))
        diff = self.aaco('diff', first, second, '--json')
        self.assertIn(diff.code, (0, 1, 4), diff.errors)
        self.assertIn('llm.tpot_p50_ns', [metric['metric'] for metric in diff.json()['statistics']])
        explained = self.aaco('explain', first)
        self.assertEqual(explained.code, 0, explained.errors)
        other = self.measured('--no-context-curve', '--batch', 2)['session']['id']
        self.assertEqual(self.aaco('diff', first, other).code, 4)

    def interrupted(self, seconds):
        child = subprocess.Popen([program.PROGRAM, '--sessions', str(self.lake), 'llm', '--model', MODEL, '--json', '--no-report',
                                  '--prompt-tokens', '16', '--output-tokens', '8', '--duration', '60s', '--warmup', '1'],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(seconds)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=120)
        return child.returncode, output

    def test_an_interrupted_run_keeps_what_it_measured(self):
        for seconds in (4, 15, 45):  # until the measurement has begun, on a busy machine too
            code, output = self.interrupted(seconds)
            session = json.loads(output) if code == 0 and output else {}
            if 'llm.request_count' in session.get('metrics', {}):
                break
        self.assertEqual(code, 0)
        self.assertEqual(session['session']['state'], 'interrupted')
        self.assertGreater(self.value(session, 'llm.request_count'), 0)


class Refused(LlmModelTest):
    def refuses(self, code, text, *options, model=MODEL):
        self.refused(self.llm(*options, model=model), code, text)

    def test_no_model_and_no_server(self):
        outcome = self.aaco('llm')
        self.assertEqual(outcome.code, 2)
        self.assertIn('missing --url or --model', outcome.errors)

    def test_a_model_without_a_cache(self):
        self.refuses(3, 'it has no key/value cache', model='zoo:llama-tiny,cache=0')
        self.refuses(3, 'not a decoder', model='zoo:mlp')

    def test_more_tokens_than_positions(self):
        self.refuses(2, "exceed the model's 1024 positions", '--prompt-tokens', 1000, '--output-tokens', 100, model='zoo:gpt2,layers=1,heads=1')

    def test_a_batch_that_does_not_fit(self):
        self.refuses(3, 'would fit', '--batch', 200_000)

    def test_options_of_the_other_mode(self):
        self.refuses(2, '--rate requires --url', '--rate', 5)
        self.refuses(2, 'distributions need --url', '--prompt-tokens', 'uniform:1:5')
        outcome = self.aaco('llm', '--url', 'http://127.0.0.1:1/v1', '--batch', 2)
        self.assertEqual(outcome.code, 2)
        self.assertIn('--batch does not apply to a server', outcome.errors)

    def test_profile_is_for_a_model_in_this_process(self):
        outcome = self.aaco('llm', '--url', 'http://127.0.0.1:1/v1', '--profile')
        self.assertEqual(outcome.code, 2)
        self.assertIn('--profile does not apply to a server', outcome.errors)
        sides = self.aaco('ab', '--llm', '--', '--model', MODEL, '--profile', '--', '--threads', 1)
        self.assertEqual(sides.code, 2)
        self.assertIn('--profile does not apply to a side', sides.errors)

    def test_bad_values(self):
        self.refuses(2, '--batch', '--batch', 0)
        self.refuses(2, "'--output-tokens'", '--output-tokens', 0)
        self.refuses(3, 'no-such-model', model='no-such-model')


if __name__ == '__main__':
    unittest.main()

"""`aaco ab`: two configurations in turn."""
import json
import pathlib
import unittest

import program


class Ab(program.ProgramTest):
    def ab(self, a, b, *options, duration='3s'):
        outcome = self.aaco('ab', '--duration', duration, '--json', *options, '--', *a, '--', *b)
        if outcome.code == 3 and 'ONNX Runtime' in outcome.errors and 'unsupported' in outcome.errors:
            raise unittest.SkipTest('skipped, no ONNX Runtime on this machine')
        return outcome

    def test_a_large_delay_is_a_regression_and_both_sides_are_stored(self):
        outcome = self.ab(['--model', 'mlp', '--warmup', 5], ['--warmup', 5, '--inject-delay', '900%'], '--tag', 'pair')
        verdict = outcome.json()
        self.assertEqual((outcome.code, verdict['verdict'], verdict['decided_by']), (1, 'regression', 'latency.p50_ns'))
        self.assertEqual(verdict['statistics'][0]['method'], 'paired')
        self.assertGreater(verdict['statistics'][0]['smallest_detectable_ratio'], verdict['statistics'][0]['threshold_ratio'])
        self.assertGreaterEqual(len(verdict['ab']['rounds']), 4)
        self.assertTrue(verdict['ab']['together'])
        for session in verdict['baseline'] + verdict['candidate']:
            shown = self.aaco('show', session, '--json').json()
            self.assertEqual(shown['session']['tag'], 'pair')
            self.assertEqual(shown['outcome']['iterations'], sum(shown['outcome']['ab_process_iterations']))
            self.assertEqual(self.aaco('verify', session).code, 0)
        self.assertTrue(verdict['suspected_cause'])
        parts = verdict['root_cause']['decomposition']
        self.assertAlmostEqual(sum(p['delta_ns'] for p in parts['parts']) + parts['unexplained_ns'], parts['delta_ns'], delta=1)
        kept = pathlib.Path(self.aaco('show', verdict['candidate'][0], '--json').json()['session']['path']) / 'regress' / 'verdict.json'
        self.assertEqual(json.loads(kept.read_text())['verdict'], 'regression')

    def test_apart(self):
        verdict = self.ab(['--model', 'mlp', '--warmup', 5], ['--warmup', 5, '--inject-delay', '1ms'], '--apart', '--no-store').json()
        self.assertFalse(verdict['ab']['together'])
        self.assertEqual(verdict['verdict'], 'regression')
        self.assertIn('injected_delay', [d['key'] for d in verdict['differences']])

    def test_iterations_limit_the_run(self):
        verdict = self.ab(['--model', 'mlp', '--warmup', 2], ['--warmup', 2], '--iterations', 60, '--no-store', duration='60s').json()
        self.assertIn('60 iterations', verdict['ab']['ended'])
        self.assertIn(verdict['verdict'], ('equivalent', 'inconclusive', 'regression', 'improvement'))

    def test_too_long_blocks_are_rejected_before_loading(self):
        refused = self.ab(['--model', 'mlp'], [], '--block', '1s', duration='2s')
        self.assertEqual(refused.code, 2)
        self.assertIn('needs 12 blocks per side', refused.errors)
        self.assertIn('--block of at most 167 ms', refused.errors)
        self.assertNotEqual(self.ab(['--model', 'mlp'], [], '--block', '167ms', '--no-store', duration='2s').code, 2)

    def test_different_batches_are_not_comparable(self):
        outcome = self.ab(['--model', 'mlp'], ['--batch', 4])
        verdict = outcome.json()
        self.assertEqual((outcome.code, verdict['verdict'], verdict['comparable']), (4, 'not-comparable', False))
        self.assertIn('batch', [d['key'] for d in verdict['differences'] if d['forbids']])

    def test_throughput_counts_batch_items(self):
        verdict = self.ab(['--model', 'mlp', '--warmup', 2, '--batch', 4], ['--warmup', 2, '--batch', 8], '--iterations', 60,
                          '--no-store', '--force').json()
        found = {s['metric']: s for s in verdict['statistics']}
        mean, items = found['latency.mean_ns'], found['throughput.items_per_second']
        self.assertAlmostEqual(items['baseline'] * mean['baseline'] / 4e9, 1, places=6)
        self.assertAlmostEqual(items['candidate'] * mean['candidate'] / 8e9, 1, places=6)
        self.assertAlmostEqual((1 + items['delta_ratio']) * (1 + mean['delta_ratio']) / 2, 1, places=6)

    def test_invalid_iterations(self): self.refused(self.aaco('ab', '-n', -3, '--', 'mlp', '--', 'mlp'), 2, '--iterations', "'-3'")
    def test_detectable_within_the_threshold(self):
        self.refused(self.aaco('ab', '--threshold', '2%', '--detectable', '2%', '--', 'mlp', '--', 'mlp'), 2, 'never decided', '--threshold')
    def test_one_side(self): self.refused(self.aaco('ab', '--', '--model', 'mlp'), 2, 'two sides')
    def test_three_sides(self): self.refused(self.aaco('ab', '--', 'mlp', '--', 'mlp', '--', 'mlp'), 2, 'two sides')
    def test_no_sides(self): self.refused(self.aaco('ab'), 2, 'two sides')
    def test_no_model(self): self.refused(self.aaco('ab', '--', '--threads', '1', '--', '--threads', '2'), 2, 'side A', 'model')
    def test_missing_model(self): self.refused(self.aaco('ab', '--', 'mlp', '--', 'none.onnx'), 3, 'none.onnx')
    def test_unknown_option(self): self.refused(self.aaco('ab', '--', 'mlp', '--', '--thraeds', '2'), 2, 'side B')
    def test_duration_of_a_side(self): self.refused(self.aaco('ab', '--', 'mlp', '--', '--duration', '2s'), 2, '--duration', 'side B')
    def test_invalid_delay(self): self.refused(self.aaco('ab', '--', 'mlp', '--', '--inject-delay', 'soon'), 2, '--inject-delay')
    def test_invalid_threshold(self): self.refused(self.aaco('ab', '--threshold', '0', '--', 'mlp', '--', 'mlp'), 2, '--threshold')
    def test_no_partial_session_remains(self):
        self.aaco('ab', '--duration', '1s', '--', 'mlp', '--', 'none.onnx')
        self.assertNotIn('incomplete', self.aaco('ls').output)


if __name__ == '__main__':
    unittest.main()

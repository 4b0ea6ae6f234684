"""Comparisons, predictions, trends."""
import unittest

from module import ModuleTest, aaco


class DiffTest(ModuleTest):
    RUN = {'tag': 'a', 'threads': 1}

    def test_a_session_equals_itself(self):
        other = self.small_run(tag='b', threads=1)
        comparison = aaco.diff(self.session, other, threshold='50%', metrics=['p50'])
        self.assertIn(comparison.verdict, ('equivalent', 'inconclusive', 'improvement', 'regression'))
        self.assertEqual(comparison.metrics[0]['metric'], 'latency.p50_ns')
        self.assertIn(comparison.verdict, str(comparison))
        self.assertEqual(comparison.to_dict()['verdict'], comparison['verdict'])
        self.assertTrue(comparison._repr_html_())
        self.assertEqual((comparison.a, comparison.b), (self.session, other))

    def test_a_slow_session_is_slower(self):
        slow = self.small_run(tag='slow', threads=1, inject_delay='200%')
        comparison = aaco.diff('tag:a', slow, metrics=['p50'])
        self.assertGreater(comparison.metrics[0]['delta_ratio'], 0.5)
        self.assertEqual(comparison.is_regression, comparison.verdict == 'regression')

    def test_sides_may_be_lists(self):
        self.assertTrue(aaco.diff([self.session], ['tag:a'], metrics=['p50']).verdict)

    def test_wrong_requests_are_refused(self):
        self.refused(LookupError, 'nonsense', aaco.diff, 'nonsense', self.session)
        self.refused(ValueError, "'threshold'", aaco.diff, self.session, self.session, threshold=2)
        for number in (float('nan'), float('inf'), 2**70, -2**70):
            self.refused(aaco.Error, '', aaco.diff, self.session, self.session, threshold=number)
            self.refused(aaco.Error, '', aaco.run, 'mlp', precision=number)
            self.refused(aaco.Error, '', aaco.run, 'mlp', iterations=number)
        self.refused(ValueError, 'nonsense', aaco.diff, self.session, self.session, metrics=['nonsense'])

    def test_a_metric_has_a_history(self):
        history = aaco.history('p50', where={'model': 'mlp'})
        self.assertEqual(history.series[0]['unit'], 'ns')
        self.refused(aaco.Error, 'host', aaco.history, 'p50', where={'host': 'x'})
        self.refused(ValueError, "no option 'nonsense'", aaco.history, 'p50', nonsense=1)


class AbTest(ModuleTest):
    def test_a_large_difference_is_found(self):
        self.small_run()
        comparison = aaco.ab({'model': 'mlp', 'threads': 1, 'warmup': 5}, {'threads': 1, 'warmup': 5, 'inject_delay': '100%'},
                             duration=1.5, detectable=0.3, threshold=0.1)
        self.assertEqual(comparison.verdict, 'regression')
        self.assertEqual((comparison.a.outcome['ab_side'], comparison.b.outcome['ab_side']), ('A', 'B'))

    def test_what_is_for_both_sides_is_refused_for_one(self):
        self.refused(ValueError, "side A of ab() has no option 'duration'", aaco.ab, {'model': 'mlp', 'duration': 1}, {})
        self.refused(ValueError, 'no model given', aaco.ab, {}, {})


class AnalyzeTest(ModuleTest):
    def test_a_model_is_predicted(self):
        analysis = aaco.analyze('mlp', 'mi300x', batch=8)
        low, high = analysis.latency_interval_ns
        self.assertTrue(0 < low <= analysis.latency_ns <= high < 1e9)
        self.assertIn(analysis.level, ('CALIBRATED', 'INTERPOLATED', 'THEORETICAL'))
        self.assertIn('mlp', repr(analysis))

    def test_wrong_requests_are_refused(self):
        self.refused(aaco.Error, 'nonsense', aaco.analyze, 'mlp', 'nonsense')
        self.refused(aaco.Error, 'nonsense', aaco.analyze, 'nonsense', 'mi300x')
        self.refused(ValueError, "'level': expected one of calibrated", aaco.analyze, 'mlp', 'mi300x', level='best')
        self.refused(ValueError, 'power_cap_watts', aaco.analyze, 'mlp', 'mi300x', power_cap_watts=-5)


class StubTest(ModuleTest):
    def test_all_that_is_public_is_documented(self):
        for name in aaco.__all__:
            public = getattr(aaco, name)
            if name.startswith('_'):
                continue
            self.assertTrue(public.__doc__, name)
            for member, value in vars(public).items() if isinstance(public, type) else ():
                if not member.startswith('_') and (callable(value) or isinstance(value, property)):
                    self.assertTrue((value.fget if isinstance(value, property) else value).__doc__, f'{name}.{member}')

    def test_the_stub_names_what_the_core_has(self):
        import ast
        import pathlib
        from aaco import _core
        tree = ast.parse(pathlib.Path(aaco.__file__).with_name('_core.pyi').read_text())
        stub = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(stub, {name for name in vars(_core) if not name.startswith('_')})


if __name__ == '__main__':
    unittest.main()

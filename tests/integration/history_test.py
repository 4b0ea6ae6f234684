"""`aaco history`: sessions and files of benchmark tools, what changed, where it drifts."""
import gzip
import json
import random
import shutil
import unittest

import program


def tracker(values, name='BM_sort/8', tool='googlecpp'):
    entries = [{'commit': {'id': f'{i:040x}'}, 'date': 1_700_000_000_000 + i * 86_400_000, 'tool': tool,
                'benches': [{'name': name, 'value': value, 'unit': 'ns/iter'}, {'name': 'BM_other', 'value': 7, 'unit': 'ns/iter'}]}
               for i, value in enumerate(values)]
    return 'window.BENCHMARK_DATA = ' + json.dumps({'entries': {'Suite': entries}})


def noisy(levels, noise=0.01, seed=3):
    source = random.Random(seed)
    return [level * (1 + noise * source.gauss(0, 1)) for level in levels]


class Files(program.ProgramTest):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def history(self, *arguments):
        outcome = self.aaco('history', *arguments, '--json')
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def test_one_value_has_no_chart(self):
        path = self.write('numbers.json', json.dumps([42.0]))
        text = self.aaco('history', '--from', path).output
        self.assertIn(': 1 value, 42', text)
        self.assertNotIn('│', text)
        self.assertIn('need at least 6 values, have 1', text)

    def one(self, values, *arguments):
        path = self.write('numbers.json', json.dumps(values))
        return self.history('--from', path, '--better', 'lower', *arguments)['series'][0]

    def test_realistic_regression_and_improvement(self):
        regression = self.one(noisy([100] * 40 + [104.9] * 40))
        self.assertEqual([c['meaning'] for c in regression['trend']['changes'] if c['alarm']], ['regression'])
        improvement = self.one(noisy([100] * 40 + [75.4] * 40))
        self.assertEqual([c['meaning'] for c in improvement['trend']['changes'] if c['alarm']], ['improvement'])

    def test_equal_runs_raise_no_alarm(self):
        for size in (1.0005, 1.007):
            self.assertEqual(self.one(noisy([100] * 40 + [100 * size] * 40, noise=0.002))['trend']['alarms'], [])

    def test_benchmark_tracker_file(self):
        path = self.write('data.js', tracker(noisy([50] * 30 + [60] * 30)))
        answer = self.history('BM_sort/8', '--from', path)
        series = answer['series'][0]
        self.assertTrue(answer['alarmed'])
        change = series['trend']['changes'][0]
        self.assertEqual((series['better'], change['index'], change['meaning']), ('lower', 30, 'regression'))
        self.assertEqual(change['label'], f'{30:040x}'[:10])
        self.assertEqual(len(self.history('--from', path)['series']), 2)

    def test_compressed_and_google_benchmark(self):
        document = {'context': {'date': '2026-11-21T08:15:30Z'},
                    'benchmarks': [{'name': 'BM', 'run_name': 'BM', 'run_type': 'iteration', 'real_time': v, 'cpu_time': v, 'time_unit': 'ns'}
                                   for v in noisy([10] * 12)]}
        path = self.folder / 'bench.json.gz'
        path.write_bytes(gzip.compress(json.dumps(document).encode()))
        answer = self.history('BM', '--from', path)
        self.assertEqual((answer['account']['source'], answer['series'][0]['count']), ('google-benchmark', 12))

    def test_table_with_branches(self):
        rows = ''.join(f'2024-01-{1 + i % 28:02d},{"main" if i % 2 else "side"},{100 + i % 3}\n' for i in range(28))
        path = self.write('table.csv', 'time,branch,latency\n' + rows)
        self.assertEqual(self.history('latency', '--from', path, '--where', 'branch=main')['series'][0]['count'], 14)
        self.refused(self.aaco('history', 'latency', '--from', path, '--where', 'brunch=main'), 2, 'branch')

    def test_drift_predicts_when_the_limit_is_reached(self):
        path = self.write('drift.csv', 'time,latency_ms\n' + ''.join(
            f'{1_700_000_000 + 86_400 * i},{value}\n' for i, value in enumerate(noisy([100 + 0.2 * i for i in range(100)], 0.004))))
        answer = self.history('--from', path, '--limit', '130')['series'][0]['trend']
        self.assertTrue(answer['drift']['significant'])
        self.assertGreater(answer['budget_break']['in_days'], 30)
        self.assertIn('budget will be exceeded in', answer['alarms'][-1])
        text = self.aaco('history', '--from', path, '--limit', '130', '--svg', self.folder / 'drift.svg')
        self.assertIn('budget will be exceeded', text.output)
        self.assertIn('<svg', (self.folder / 'drift.svg').read_text())

    def test_check_decides_the_exit_code(self):
        self.one(noisy([100] * 30 + [120] * 30))
        self.assertEqual(self.aaco('history', '--from', self.folder / 'numbers.json', '--better', 'lower', '--check').code, 1)

    def test_improvement_passes_the_check(self):
        answer = self.one(noisy([120] * 30 + [100] * 30))
        self.assertTrue(answer['trend']['alarms'])
        words = ['history', '--from', self.folder / 'numbers.json', '--check']
        self.assertEqual([self.aaco(*words, '--better', better).code for better in ('lower', 'higher')], [0, 1])

    def test_limit_requires_a_direction(self):
        self.one(noisy([100] * 30 + [120] * 30))
        words = ['history', '--from', self.folder / 'numbers.json']
        for asked in (['--limit', '110'], ['--budget', '5%']):
            self.refused(self.aaco(*words, *asked), 2, '--better')
        self.assertIn('already exceeded', self.aaco(*words, '--limit', '110', '--better', 'lower').output)

    def test_text_and_json_print_the_same_index(self):
        values = noisy([100] * 30 + [120] * 30 + [90] * 30)
        for path in (self.write('numbers.json', json.dumps(values)), self.write('data.js', tracker(values))):
            for last in ([], ['--last', 80]):
                words = ['--from', path, '--better', 'lower', *last, *(['BM_sort/8'] if path.suffix == '.js' else [])]
                series = self.history(*words)['series'][0]
                trend = series['trend']
                told = self.aaco('history', *words).output
                self.assertEqual(len(trend['changes']), 2)
                for change, level, alarm in zip(trend['changes'], (120, 90), trend['alarms']):
                    self.assertAlmostEqual(series['points'][change['index']]['value'], level, delta=6)
                    self.assertAlmostEqual(series['points'][change['index'] - 1]['value'], {120: 100, 90: 120}[level], delta=6)
                    self.assertRegex(told, rf'at index {change["index"]}\b')
                    self.assertRegex(alarm, rf'at index {change["index"]}( \(reverted at index \d+\))?$')

    def test_missing_values_are_counted(self):
        series = self.history('--from', self.write('holes.json', json.dumps([1, None, 2, 'x', 3, 4, 5, 6, 7])))
        self.assertEqual((series['account']['read'], series['account']['kept']), (9, 7))

    def test_a_constant_series(self): self.assertEqual(self.one([5] * 50)['trend']['alarms'], [])
    def test_eight_values_tell_no_step(self):
        path = self.write('numbers.json', json.dumps([10, 10.1, 9.9, 10.02, 15, 15.1, 14.9, 15.03]))
        text = self.aaco('history', '--from', path, '--better', 'lower').output
        self.assertIn('undecided: 8 values cannot tell a step', text)
        self.assertNotIn('no alarms', text)
        self.assertNotIn('forecast', text)
    def test_too_few_values(self): self.assertIn('6', self.one([1, 2, 3])['reason'])
    def test_no_such_series(self): self.refused(self.aaco('history', 'BM_srt', '--from', self.write('d.js', tracker([1] * 9))), 3, 'BM_sort/8')
    def test_no_such_file(self): self.refused(self.aaco('history', '--from', 'none.csv'), 3, 'none.csv')
    def test_damaged(self): self.refused(self.aaco('history', '--from', self.write('bad.json', '{"entries": {')), 3, 'bad.json')
    def test_not_numbers(self): self.refused(self.aaco('history', '--from', self.write('words.csv', 'a,b\nx,y\n')), 3, 'no numeric series')
    def test_no_metric(self): self.refused(self.aaco('history'), 2, 'no metric')


class Sessions(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for number in range(7):
            cls.run_small('--tag', 'even' if number % 2 == 0 else 'odd', iterations=30)

    def test_sessions_of_one_kind_are_a_series(self):
        series = self.aaco('history', 'p50', '--json').json()['series']
        self.assertEqual((len(series), series[0]['count'], series[0]['unit'], series[0]['better']), (1, 7, 'ns', 'lower'))
        self.assertIn('mlp', series[0]['of'])
        self.assertEqual(self.aaco('history', 'p50', '--where', 'tag=even', '--json').json()['series'][0]['count'], 4)

    def test_added_changed_and_deleted_sessions(self):
        lake = self.folder / 'many'
        source = sorted(self.lake.glob('2*/*'))[0]
        day = lake / source.parent.name
        for number in range(70):
            shutil.copytree(source, day / f'{source.name}-{number}')
        def medians():
            outcome = self.aaco('history', 'p50', '--json', AACO_SESSIONS=str(lake))
            self.assertEqual(outcome.code, 0, outcome.errors)
            return [point['value'] for point in outcome.json()['series'][0]['points']]
        def edit(number, value):
            path = day / f'{source.name}-{number}/metrics/inference_summary.json'
            document = json.loads(path.read_text())
            document['metrics']['latency.p50_ns']['value'] = value
            path.write_text(json.dumps(document))
        first = medians()
        self.assertEqual((len(first), medians()), (70, first))
        self.assertTrue((lake / '.metrics').exists())
        edit(3, 12345)
        self.assertEqual(medians().count(12345), 1)
        self.assertEqual(medians().count(12345), 1)
        shutil.rmtree(day / f'{source.name}-3')
        self.assertEqual((len(medians()), medians().count(12345)), (69, 0))
        shutil.copytree(source, day / f'{source.name}-new')
        edit('new', 54321)
        self.assertEqual((len(medians()), medians().count(54321)), (70, 1))
        (day / f'{source.name}-5/metrics/inference_summary.json').write_text('{"metrics": {"latency')
        self.assertEqual(len(medians()), 69)
        for damage in ('', 'nonsense', (lake / '.metrics').read_text()[:500]):
            (lake / '.metrics').write_text(damage)
            self.assertEqual((len(medians()), medians().count(54321)), (69, 1))

    def test_interrupted_sessions_stand_apart(self):
        lake = self.folder / 'interrupted'
        source = sorted(self.lake.glob('2*/*'))[0]
        for number in range(8):
            shutil.copytree(source, lake / source.parent.name / f'{source.name}-{number}')
        path = lake / source.parent.name / f'{source.name}-7/session.json'
        document = json.loads(path.read_text())
        path.write_text(json.dumps({**document, 'state': 'interrupted'}))
        outcome = self.aaco('history', 'p50', '--json', AACO_SESSIONS=str(lake)).json()
        self.assertEqual((outcome['series'][0]['count'], len(outcome['series'][0]['interrupted'])), (7, 1))
        self.assertEqual(outcome['account']['dropped'], {'session was interrupted': 1})
        text = self.aaco('history', 'p50', AACO_SESSIONS=str(lake))
        self.assertIn('~ interrupted', text.output)
        self.assertIn('not part of the trend', text.output)
        self.assertIn('skipped: 1 (session was interrupted)', text.output + text.errors)

    def test_unmatched_filter_is_reported(self):
        self.refused(self.aaco('history', 'p50', '--where', 'model=other'), 3, 'with model=other has the metric latency.p50_ns')

    def test_unmeasured_metric(self): self.refused(self.aaco('history', 'gpu.busy_ns'), 3, 'gpu.busy_ns')
    def test_invalid_filter(self): self.refused(self.aaco('history', 'p50', '--where', 'colour=red'), 2, 'colour')


if __name__ == '__main__':
    unittest.main()

"""`aaco show --timeline` and the timeline of an imported trace on its page."""
import json
import re
import unittest

import program

STEP_US = 10


def events(steps):
    """A frame around everything; an operator, a launch and a kernel in each step."""
    yield {'ph': 'X', 'cat': 'python_function', 'name': 'train.py(3): main', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': steps * STEP_US}
    for i in range(steps):
        at = i * STEP_US
        yield {'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': at + 1, 'dur': 5, 'args': {'Input Dims': [[2, 3], [3, 4]]}}
        yield {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'hipLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 2, 'dur': 2, 'args': {'correlation': i + 1}}
        yield {'ph': 'X', 'cat': 'kernel', 'name': 'void gemm_kernel<float>(int)', 'pid': 0, 'tid': 7, 'ts': at + 6, 'dur': 3,
               'args': {'device': 0, 'stream': 7, 'correlation': i + 1, 'grid': [4, 1, 1], 'block': [256, 1, 1]}}


class Timeline(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, steps in (('small', 100), ('large', 30_000)):
            path = cls.folder / f'{name}.json'
            path.write_text(json.dumps({'traceEvents': list(events(steps))}))
            imported = cls.aaco('-q', 'import', path, '--tag', name)
            assert imported.code == 0, imported.errors

    def window(self, tag, span, *options):
        outcome = self.aaco('show', f'tag:{tag}', '--timeline', span, '--json', *options)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    @staticmethod
    def rows(window, kind):
        return [row for track in window['tracks'] if track['kind'] == kind for row in track['rows']]

    def test_short_window_has_each_event_with_its_launch_and_shapes(self):
        for tag in ('small', 'large'):
            window = self.window(tag, '500us..540us')
            self.assertEqual(window['resolution_ns'], 0)
            kernels, launches = self.rows(window, 'kernel'), self.rows(window, 'launch')
            self.assertEqual([row['start_ns'] for row in kernels], [505_000, 515_000, 525_000, 535_000])
            self.assertEqual([row['correlation_id'] for row in kernels], [row['correlation_id'] for row in launches])
            self.assertIn('[[2, 3], [3, 4]]', self.rows(window, 'operator')[0]['detail'])
            self.assertEqual(self.rows(window, 'python')[0]['name'], 'train.py(3): main')

    def test_whole_trace_has_all_events_in_few_rows(self):
        window = self.window('large', '..', '--pixels', '500')
        self.assertGreater(window['resolution_ns'], 0)
        for kind in ('kernel', 'launch', 'operator'):
            rows = self.rows(window, kind)
            self.assertEqual(sum(row.get('event_count', 1) for row in rows), 30_000)
            self.assertLessEqual(len(rows), 1_500)

    def test_text_has_a_line_per_track(self):
        printed = self.aaco('show', 'tag:small', '--timeline', '500us..540us').output
        self.assertRegex(printed, r'from 500 µs to 540 µs of 998 µs; every event')
        self.assertRegex(printed, r'kernel +GPU 0 stream 7 +4 +30\.0 % +void gemm')

    def test_levels_can_be_queried(self):
        query = ("SELECT kind, sum(event_count) AS n FROM timeline_levels WHERE kind = 'kernel' AND resolution_ns = "
                 '(SELECT min(resolution_ns) FROM timeline_levels) GROUP BY kind')
        self.assertEqual(self.aaco('query', query, '--json').json(), [{'kind': 'kernel', 'n': 30_000}])

    def test_page_has_the_timeline_within_its_budget(self):
        # The row for 300 ms of the large one, in which no Python frame begins or ends, is no event.
        for tag, count in (('small', 301), ('large', 90_001)):
            page = self.folder / f'{tag}.html'
            self.assertEqual(self.aaco('report', f'tag:{tag}', '--html', page).code, 0)
            text = page.read_text()
            self.assertLess(len(text), 5_000_000)
            trace = json.loads(re.search(r'id="aaco-data">(.*?)</script>', text, re.S).group(1))['extra']['trace']
            self.assertEqual(trace['event_count'], count)
            self.assertLess(sum(layer['rows'] for layer in trace['layers']), 70_000)
        self.assertNotIn('trace', self.aaco('report', 'tag:small', '--json').json()['extra'])

    def test_invalid_ranges_are_code_2(self):
        for span, words in (('500us', 'expected FROM..TO'), ('1..2', 'no unit'), ('2ms..1ms', 'greater than FROM'), ('x..', 'not a duration')):
            self.refused(self.aaco('show', 'tag:small', '--timeline', span), 2, words)
        self.refused(self.aaco('show', 'tag:small', '--timeline', '..', '--pixels', '0'), 2, '--pixels')

    def test_unknown_session_is_code_3(self):
        self.refused(self.aaco('show', 'tag:none', '--timeline', '..'), 3, 'none')


if __name__ == '__main__':
    unittest.main()

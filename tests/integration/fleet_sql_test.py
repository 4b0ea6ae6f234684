"""One SQL: named queries and history over the lake, one ClickHouse server and two shards."""
import json
import unittest

import clickhouse_server
import program


def rich_trace():
    """Kernels with and without launches, copies, collectives and odd names."""
    events = []
    for i in range(120):
        begin, number = 40.0 * i, i + 1
        events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'ts': begin, 'dur': 2 + i % 3, 'pid': 9, 'tid': 9 + i % 2,
                       'args': {'correlation': number}})
        names = ('void gemm_128x64<float>(int)', "it's \\ odd\t", 'vectorized_elementwise_kernel', 'ncclDevKernel_AllReduce_Sum_f32')
        events.append({'ph': 'X', 'cat': 'kernel', 'name': names[i % 4], 'ts': begin + 5 + i % 7, 'dur': 7 + i % 11, 'pid': 0, 'tid': 7 + i % 2,
                       'args': {'device': 0, 'stream': 7 + i % 2, 'correlation': number if i % 5 else 0, 'grid': [i % 3 + 1, 1, 1], 'block': [64, 1, 1]}})
        if i % 6 == 0:
            events.append({'ph': 'X', 'cat': 'gpu_memcpy', 'name': 'Memcpy HtoD (Pinned -> Device)', 'ts': begin + 30, 'dur': 3, 'pid': 0, 'tid': 7,
                           'args': {'device': 0, 'stream': 7, 'correlation': 1000 + i, 'bytes': 4096 * (i + 1)}})
    return {'traceEvents': events, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], 'schemaVersion': 1}


@unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
class OneSql(program.ProgramTest):
    """Every named query answers the same on DuckDB, on one ClickHouse server and on two shards; so does history."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / 'trace.json').write_text(json.dumps(rich_trace()))
        for tag in ('one', 'two'):
            imported = cls.aaco('import', 'trace.json', '--tag', tag)
            assert imported.code == 0, imported.errors
        cls.has_runs = all(cls.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', 40, '--no-report', '--profile', '--telemetry', '--tag', 'runs').code == 0
                           for _ in range(2))
        cls.cluster = clickhouse_server.Cluster(cls.folder / 'engine').start()
        cls.addClassCleanup(cls.cluster.stop)
        first, second = cls.cluster.shards
        cls.config = cls.folder / 'fleet.yaml'
        cls.config.write_text(f'''fleets:
  spread:
    url: clickhouse://127.0.0.1:{first.http}/spread
    cluster: fleet
    shards: ['127.0.0.1:{first.http}', '127.0.0.1:{second.http}']
''')
        cls.fleets = ('spread', f'clickhouse://127.0.0.1:{first.http}/alone')
        for fleet in cls.fleets:
            pushed = cls.aaco('push', '--all', '--to', fleet, AACO_FLEET=str(cls.config))
            assert pushed.code == 0, pushed.errors

    def rows(self, *arguments):
        outcome = self.aaco('query', *arguments, '--json', AACO_FLEET=str(self.config))
        self.assertEqual(outcome.code, 0, (arguments, outcome.errors))
        return outcome.json()

    def same(self, ours, theirs, what):
        self.assertEqual([list(row) for row in ours], [list(row) for row in theirs], what)
        for left, right in zip(ours, theirs):
            for column, value in left.items():
                other = right[column]
                if isinstance(value, float) and isinstance(other, (int, float)):
                    self.assertLessEqual(abs(value - other), 1e-9 * max(abs(value), abs(other)), (what, column))
                else:
                    self.assertEqual(value, other, (what, column, left, right))

    def test_named_queries_answer_the_same(self):
        recipes = [line.split()[0] for line in self.aaco('query', '--recipes').output.splitlines()]
        self.assertGreaterEqual(len(recipes), 40)
        with_rows = 0
        for recipe in recipes:
            ours = self.rows('--recipe', recipe)
            with_rows += bool(ours)
            for fleet in self.fleets:
                self.same(ours, self.rows('--recipe', recipe, '--on', fleet), (recipe, fleet))
        self.assertGreaterEqual(with_rows, 30 if self.has_runs else 15)

    def test_one_session_of_a_named_query(self):
        identity = self.rows("SELECT session_id FROM sessions WHERE tag = 'two'")[0]['session_id']
        ours = self.rows('--recipe', 'kernels_of_devices', '--session', 'tag:two')
        self.assertEqual({row['session_id'] for row in ours}, {identity})
        self.same(ours, self.rows('--recipe', 'kernels_of_devices', '--session', identity, '--on', 'spread'), 'kernels_of_devices')

    def test_history_of_a_fleet(self):
        def series(*arguments):
            outcome = self.aaco('history', *arguments, '--json', AACO_FLEET=str(self.config))
            self.assertEqual(outcome.code, 0, outcome.errors)
            return [(one['name'], one['unit'], one.get('of'), one['points']) for one in outcome.json()['series']]
        for metric in ('gpu.busy_ns', *(['p50'] if self.has_runs else [])):
            ours = series(metric)
            self.assertGreaterEqual(len(ours), 1)
            for fleet in self.fleets:
                self.assertEqual([one[0] for one in series(metric, '--on', fleet)], [one[0] for one in ours])
                self.assertEqual([[point['value'] for point in one[3]] for one in series(metric, '--on', fleet)], [[point['value'] for point in one[3]] for one in ours])

    def test_refusals(self):
        self.refused(self.aaco('query'), 2, 'no SQL statement')
        self.refused(self.aaco('query', 'SELECT 1', '--recipe', 'kernels'), 2, 'cannot be combined')
        self.refused(self.aaco('query', 'SELECT 1', '--session', 'latest'), 2, '--session requires --recipe')
        self.refused(self.aaco('query', '--recipe', 'nothing'), 3, 'nothing', '--recipes')
        self.refused(self.aaco('query', '--recipe', 'kernels', '--session', 'tag:nobody'), 3, 'nobody')
        self.refused(self.aaco('history', 'p50', '--on', 'clickhouse://127.0.0.1:1/x'), 3, '127.0.0.1:1')
        self.refused(self.aaco('history', 'p50', '--on', 'nobody', AACO_FLEET=str(self.config)), 3, 'nobody')
        self.refused(self.aaco('history', 'no.such_metric', '--on', 'spread', AACO_FLEET=str(self.config)), 3, 'no.such_metric')
        self.refused(self.aaco('history', 'p50', '--from', 'trace.json', '--on', 'spread', AACO_FLEET=str(self.config)), 2, 'cannot be combined')


if __name__ == '__main__':
    unittest.main()

"""One SQL: named queries and history over the lake, one ClickHouse server, two shards, and a newer ClickHouse where it was fetched."""
import json
import pathlib
import unittest

import chdb_server
import clickhouse_server
import program
import roofline_test


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
    """Every named query answers the same on DuckDB, on ClickHouse 18.16 as one server and as two shards, and on 26.7; so does history."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / 'trace.json').write_text(json.dumps(rich_trace()))
        for tag in ('one', 'two'):
            imported = cls.aaco('import', 'trace.json', '--tag', tag)
            assert imported.code == 0, imported.errors
        for seed in range(6):
            (cls.folder / 'work.json').write_text(json.dumps(roofline_test.trace(seed)))
            imported = cls.aaco('import', 'work.json', '--tag', 'work')
            assert imported.code == 0, imported.errors
        cls.has_runs = all(cls.aaco('run', '--model', 'mlp', '--warmup', 5, '--iterations', 40, '--no-report', '--profile', '--telemetry', '--tag', tag).code == 0
                           for tag in ('first', 'second'))
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
        cls.fleets = ['spread', f'clickhouse://127.0.0.1:{first.http}/alone']
        if not chdb_server.MISSING:  # ClickHouse 26.7
            newer = chdb_server.Server(cls.folder / 'newer', clickhouse_server.free_ports(1)[0]).start()
            cls.addClassCleanup(newer.stop)
            cls.fleets.append(f'clickhouse://127.0.0.1:{newer.http}/newer')
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

    def bundle(self, *arguments, fleet=None):
        """The answer of a workflow here, or over the fleet's sessions, in a cache of its own."""
        outcome = self.aaco(*arguments, '--json', *(('--on', fleet) if fleet else ()), AACO_FLEET=str(self.config), XDG_CACHE_HOME=str(self.folder / 'cache'))
        return outcome.code, self.without_paths(json.loads(outcome.output or 'null')), outcome.errors

    def without_paths(self, value):
        if isinstance(value, dict):
            return {name: self.without_paths(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.without_paths(one) for one in value]
        if isinstance(value, str) and str(self.folder) in value:
            return pathlib.PurePath(value).name
        return value

    def test_workflows_over_sessions_answer_the_same(self):
        workflows = (('explain', 'tag:one'), ('explain', 'latest'), ('diff', 'tag:one', 'tag:two', '--no-store'),
                     ('diff', 'tag:one', 'tag:two', '--kernels'), ('roofline',), ('roofline', '--where', 'tag=work', '--last', 5),
                     *([('diff', 'tag:first', 'tag:second', '--no-store'), ('gate', '--baseline', 'kept', '--session', 'tag:second')] if self.has_runs else []))
        for number, arguments in enumerate(workflows):
            if arguments[0] == 'gate':
                added = self.aaco('baseline', 'add', 'kept', 'tag:first', '--owner', 'team')
                self.assertEqual(added.code, 0, added.errors)
            code, ours, errors = self.bundle(*arguments)
            self.assertIn(code, (0, 1, 4), (arguments, errors))
            fleet = self.fleets[number % len(self.fleets)]
            self.assertEqual(self.bundle(*arguments, fleet=fleet)[:2], (code, ours), (arguments, fleet))

    def test_a_bundle_of_this_machine_against_one_of_the_fleet(self):
        path = self.rows("SELECT session_id FROM sessions WHERE tag = 'two'")[0]['session_id']
        local = next(self.lake.glob(f'*/{path}'))
        code, ours, errors = self.bundle('diff', 'tag:one', 'tag:two', '--no-store')
        self.assertEqual(self.bundle('diff', 'tag:one', local, fleet='spread')[0], code, errors)
        self.assertTrue(ours['verdict'])

    def test_copied_bundles_are_bounded(self):
        cache = {'XDG_CACHE_HOME': str(self.folder / 'bounded'), 'AACO_FLEET': str(self.config)}

        def copied():
            return {path.parent.name for path in (self.folder / 'bounded').rglob('session.json')}
        one = self.rows("SELECT session_id FROM sessions WHERE tag = 'one'")[0]['session_id']
        works = {row['session_id'] for row in self.rows("SELECT session_id FROM sessions WHERE tag = 'work'")}
        self.assertEqual(self.aaco('roofline', '--where', 'tag=work', '--on', 'spread', **cache).code, 0)
        self.assertLessEqual(works, copied())
        self.assertIn(self.aaco('explain', one, '--on', 'spread', **cache).code, (0, 4))
        self.assertLessEqual(works, copied())
        self.assertIn(self.aaco('explain', one, '--on', 'spread', **cache, AACO_FLEET_CACHE='1').code, (0, 4))
        self.assertIn(one, copied())
        self.assertFalse(works & copied())
        self.refused(self.aaco('explain', one, '--on', 'spread', **cache, AACO_FLEET_CACHE='much'), 2, 'AACO_FLEET_CACHE')

    def test_bundles_of_a_fleet_are_refused(self):
        def on(*arguments, fleet='spread'):
            return self.aaco(*arguments, '--on', fleet, AACO_FLEET=str(self.config), XDG_CACHE_HOME=str(self.folder / 'cache'))
        self.refused(on('explain', 'tag:nobody'), 3, 'tag:nobody', 'fleet spread')
        self.refused(on('explain', '2'), 3, 'matches the ids')
        self.refused(on('explain', 'latest', fleet='nobody'), 3, 'nobody')
        self.refused(on('diff', 'latest', 'latest', fleet='clickhouse://127.0.0.1:1/x'), 3, '127.0.0.1:1')
        self.refused(on('diff', 'latest'), 2, 'two sides')
        self.refused(on('gate', '--baseline', 'kept'), 2, 'measures none')
        self.refused(on('gate', '--baseline', 'kept', '--session', 'latest', '--retries', 2), 2, '--retries')
        self.refused(on('roofline', '--where', 'nonsense=1'), 2, 'nonsense')

    def test_session_of_an_older_push_gets_its_bundle(self):
        shard, place = self.cluster.shards[0], f'clickhouse://127.0.0.1:{self.cluster.shards[0].http}/older'
        cached = {'XDG_CACHE_HOME': str(self.folder / 'older_cache')}
        self.assertEqual(self.aaco('push', 'tag:one', '--to', place).code, 0)
        shard.sql('CREATE TABLE kept AS rows_pushes ENGINE = MergeTree ORDER BY (session_id, push_id)', database='older')
        shard.sql("INSERT INTO kept SELECT * FROM rows_pushes WHERE table_name != 'bundle_archives'", database='older')
        shard.sql('DROP TABLE rows_pushes', database='older')
        shard.sql('RENAME TABLE kept TO rows_pushes', database='older')
        self.refused(self.aaco('explain', 'tag:one', '--on', place, **cached), 3, 'no bundle of session', 'aaco push')
        self.assertTrue(self.aaco('push', 'tag:one', '--to', place, '--json').json()['pushed'][0]['already_there'])
        found = self.aaco('explain', 'tag:one', '--on', place, **cached)
        self.assertEqual(found.code, 0, found.errors)

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

"""What tests of fleets in ClickHouse start with."""
import json

import clickhouse_server
import program


class EngineCase(program.ProgramTest):
    """Two shards of ClickHouse, and three imported sessions in a lake."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        trace = {'traceEvents': [{'ph': 'X', 'cat': 'kernel', 'name': f'k{i % 5}\t"a"', 'ts': 10.0 * i, 'dur': 5 + i % 3, 'pid': 0, 'tid': 7,
                                  'args': {'device': 0, 'stream': 7, 'correlation': i}} for i in range(400)],
                 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], 'schemaVersion': 1}
        (cls.folder / 'trace.json').write_text(json.dumps(trace))
        for tag in ('one', 'two', 'three'):
            imported = cls.aaco('import', 'trace.json', '--tag', tag)
            assert imported.code == 0, imported.errors
        cls.cluster = clickhouse_server.Cluster(cls.folder / 'engine').start()
        cls.addClassCleanup(cls.cluster.stop)
        first, second = cls.cluster.shards
        cls.alone = f'clickhouse://127.0.0.1:{first.http}/alone'
        cls.config = cls.folder / 'fleet.yaml'
        (cls.folder / 'password').write_text('secret\n')
        cls.config.write_text(f'''fleets:
  fleet:
    url: clickhouse://127.0.0.1:{first.http}/spread
    cluster: fleet
    shards: ['127.0.0.1:{first.http}', '127.0.0.1:{second.http}']
    user: pusher
    password_file: {cls.folder}/password
  same:
    url: clickhouse://127.0.0.1:{first.http}/same
    cluster: fleet
    shards: ['127.0.0.1:{first.http}', '127.0.0.1:{second.http}']
''')

    def on(self, fleet, sql):
        outcome = self.aaco('query', '--on', fleet, sql, '--json', AACO_FLEET=str(self.config))
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome.json()

    def here(self, sql):
        return self.aaco('query', sql, '--json').json()

    def push(self, *arguments, **variables):
        return self.aaco('push', *arguments, '--json', AACO_FLEET=str(self.config), **variables)

"""Fleets in ClickHouse: push, query, shards and replicas that are lost."""
import json
import os
import signal
import subprocess
import threading
import time
import unittest

import clickhouse_server
import engine_case
import program


@unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
class ClickHouse(engine_case.EngineCase):
    def test_same_rows_there_however_often_pushed(self):
        for fleet in (f'{self.alone}_same', 'same'):
            first = self.push('--all', '--to', fleet)
            self.assertEqual(first.code, 0, first.errors)
            self.assertEqual([one['already_there'] for one in first.json()['pushed']], [False] * 3)
            again = self.push('--all', '--to', fleet)
            self.assertEqual([one['already_there'] for one in again.json()['pushed']], [True] * 3)
            for sql in ('SELECT session_id, count(*) AS n, sum(end_ns - start_ns) AS ns FROM rocprof_kernels GROUP BY session_id ORDER BY session_id',
                        'SELECT session_id, tag, kind, state FROM sessions ORDER BY session_id',
                        'SELECT DISTINCT kernel_name FROM rocprof_kernels ORDER BY kernel_name',
                        "SELECT tag, count(*) AS n FROM sessions WHERE kind = 'import' GROUP BY tag ORDER BY tag",
                        'SELECT kernel_name, count(*) AS n, avg(end_ns - start_ns) AS mean_ns, max(end_ns) AS last FROM rocprof_kernels GROUP BY kernel_name '
                        'ORDER BY n DESC, kernel_name LIMIT 3',
                        'SELECT session_id, rank, count(*) AS n FROM rocprof_kernels WHERE start_ns >= 1000 AND end_ns < 9000000 GROUP BY session_id, rank '
                        'ORDER BY session_id',
                        'SELECT count(*) AS n, sum(CASE WHEN value IS NULL THEN 1 ELSE 0 END) AS empty FROM metrics',
                        'SELECT count(*) AS n FROM node_executions',
                        'SELECT session_id, metric, value, unit, ci95_low, device FROM metrics ORDER BY session_id, metric, device'):
                self.assertEqual(self.on(fleet, sql), self.here(sql), sql)

    def test_parallel_pushes_are_there_once(self):
        place = f'{self.alone}_parallel'
        runs = [threading.Thread(target=self.push, args=('tag:one', '--to', place)) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM rocprof_kernels')[0]['n'], 400)
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM sessions')[0]['n'], 1)

    def test_parts_of_processes_that_continued_one_push_count_once(self):
        place = f'{self.alone}_shared'
        self.assertEqual(self.push('tag:one', '--to', place).code, 0)
        shard = self.cluster.shards[0]
        # Another process that continued the same push sent the rows of one table again, as a part of its own.
        columns = 'session_id, push_id, table_name'
        shard.sql("INSERT INTO rows_sessions (aaco_session, aaco_part, session_id, tag) SELECT aaco_session, 'zz', session_id, tag FROM rows_sessions", database='alone_shared')
        shard.sql(f"INSERT INTO rows_pushes SELECT {columns}, 'zz', row_count, tool_version FROM rows_pushes WHERE table_name = 'sessions'", database='alone_shared')
        self.assertEqual(shard.sql('SELECT count() FROM rows_sessions', database='alone_shared').strip(), '2')
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM sessions')[0]['n'], 1)
        # The next push makes the view of schema version 1 anew.
        for sql in ('DROP TABLE aaco_schema', 'CREATE TABLE aaco_schema (version Int64) ENGINE = MergeTree ORDER BY version', 'INSERT INTO aaco_schema VALUES (1)',
                    'DROP TABLE sessions', 'CREATE VIEW sessions AS SELECT session_id FROM rows_sessions'):
            shard.sql(sql, database='alone_shared')
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM sessions')[0]['n'], 2)
        self.assertEqual(self.push('tag:one', '--to', place).code, 0)
        self.assertEqual(self.on(place, 'SELECT count(*) AS n, min(tag) AS tag FROM sessions'), [{'n': 1, 'tag': 'one'}])

    def test_interrupted_push_is_invisible_and_continues(self):
        place = f'{self.alone}_cut'
        self.assertEqual(self.push('tag:one', '--to', place).code, 0)
        shard = self.cluster.shards[0]
        identity = self.here("SELECT session_id FROM sessions WHERE tag = 'two'")[0]['session_id']
        # Rows of a push that never ended.
        shard.sql(f"INSERT INTO rows_sessions (aaco_session, aaco_part, session_id) VALUES ('{identity}', 'cut', '{identity}')", database='alone_cut')
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM sessions')[0]['n'], 1)
        self.assertEqual(self.push('tag:two', '--to', place).code, 0)
        self.assertEqual(self.on(place, f"SELECT count(*) AS n FROM sessions WHERE session_id = '{identity}'")[0]['n'], 1)

    def test_killed_push_continues(self):
        place = f'{self.alone}_killed'
        self.assertEqual(self.push('tag:one', '--to', place).code, 0)
        environment = dict(os.environ, AACO_SESSIONS=str(self.lake))
        with subprocess.Popen([program.PROGRAM, 'push', 'tag:three', '--to', place], env=environment, stdout=subprocess.DEVNULL, cwd=self.folder) as cut:
            while cut.poll() is None and not list(self.lake.glob('.push/*/*.json')):
                time.sleep(0.0005)
            cut.kill()
        killed = cut.returncode != 0
        if killed:
            self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM sessions')[0]['n'], 1)
        rest = self.push('tag:three', '--to', place).json()['pushed'][0]
        self.assertEqual(rest['already_there'], not killed)
        self.assertEqual(rest['resumed_tables'] > 0, killed)
        self.assertEqual(self.on(place, 'SELECT count(*) AS n FROM rocprof_kernels')[0]['n'], 800)

    def test_engine_away_keeps_sessions_for_the_next_push(self):
        away = self.push('latest', '--to', 'clickhouse://127.0.0.1:1/x')
        self.refused(away, 3, 'cannot reach', '127.0.0.1:1')

    def test_lost_shard_is_reported_and_nothing_is_lost(self):
        self.assertEqual(self.push('--all', '--to', 'fleet').code, 0)
        count = 'SELECT count(*) AS n FROM rocprof_kernels'
        whole = self.on('fleet', count)
        second = self.cluster.shards[1]
        second.stop()
        try:
            partial = self.aaco('query', '--on', 'fleet', count, '--json', AACO_FLEET=str(self.config))
            self.assertEqual(partial.code, 0, partial.errors)
            self.assertIn(f'{second.http} cannot be reached', partial.errors)
            self.assertLessEqual(partial.json()[0]['n'], whole[0]['n'])
        finally:
            second.start()
        self.assertEqual(self.on('fleet', count), whole)

    def test_hung_shard_is_named_at_once(self):
        self.assertEqual(self.push('--all', '--to', 'fleet').code, 0)
        count = 'SELECT count(*) AS n FROM rocprof_kernels'
        whole = self.on('fleet', count)
        second = self.cluster.shards[1]
        second.process.send_signal(signal.SIGSTOP)
        try:
            for command in (['query', '--on', 'fleet', count], ['fleet', 'status', 'fleet'], ['history', 'p50', '--on', 'fleet']):
                hung = self.aaco(*command, AACO_FLEET=str(self.config))
                self.assertEqual(hung.code, 3, hung.errors)
                self.assertIn(f'127.0.0.1:{second.http} accepts connections but does not answer', hung.errors)
                self.assertIn('stop or restart that server', hung.errors)
        finally:
            second.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.on('fleet', count), whole)

    def test_a_hung_server_without_a_cluster_is_named(self):
        first = self.cluster.shards[0]
        self.assertEqual(self.push('latest', '--to', self.alone).code, 0)
        first.process.send_signal(signal.SIGSTOP)
        try:
            for command in (['query', '--on', self.alone, 'SELECT 1'], ['fleet', 'status', self.alone], ['history', 'p50', '--on', self.alone]):
                self.refused(self.aaco(*command), 3, f'127.0.0.1:{first.http} accepts connections but does not answer')
        finally:
            first.process.send_signal(signal.SIGCONT)

    def test_newer_schema_is_refused(self):
        shard = self.cluster.shards[0]
        shard.sql('CREATE DATABASE newer')
        shard.sql('CREATE TABLE newer.aaco_schema (version Int64) ENGINE = MergeTree ORDER BY version')
        shard.sql('INSERT INTO newer.aaco_schema VALUES (99)')
        self.refused(self.push('latest', '--to', f'clickhouse://127.0.0.1:{shard.http}/newer'), 3, 'version 99')
        self.refused(self.aaco('query', '--on', f'clickhouse://127.0.0.1:{shard.http}/newer', 'SELECT 1'), 3, 'version 99')
        self.refused(self.aaco('fleet', 'status', f'clickhouse://127.0.0.1:{shard.http}/newer'), 3, 'version 99')
        self.refused(self.aaco('history', 'p50', '--on', f'clickhouse://127.0.0.1:{shard.http}/newer'), 3, 'version 99')

    def test_refusals(self):
        self.assertEqual(self.push('latest', '--to', self.alone).code, 0)
        self.refused(self.push('--to', self.alone), 2, 'no sessions')
        self.refused(self.push('latest', '--to', 'nobody'), 3, 'nobody')
        self.refused(self.push('nothing', '--to', self.alone), 3, 'nothing')
        self.refused(self.push('latest', '--to', 'fleet', AACO_CLICKHOUSE_PASSWORD='wrong'), 3, 'AACO_CLICKHOUSE_PASSWORD')
        self.refused(self.aaco('query', '--on', self.alone, 'DROP TABLE sessions'), 2, 'readonly')
        self.refused(self.aaco('query', '--on', self.alone, 'SELECT nothing FROM sessions'), 2, 'nothing')
        self.refused(self.aaco('query', '--on', self.alone, 'SELECT 1', '-f', 'parquet', '-o', 'x.parquet'), 3, 'parquet')


@unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
@unittest.skipIf(clickhouse_server.NO_KEEPER, clickhouse_server.NO_KEEPER)
class Replicas(program.ProgramTest):
    """Two shards of two replicas: a lost server costs no answer and no row."""

    def test_a_lost_replica_costs_nothing(self):
        (self.folder / 'trace.json').write_text(json.dumps({'traceEvents': [
            {'ph': 'X', 'cat': 'kernel', 'name': f'k{i}', 'ts': 10.0 * i, 'dur': 5, 'pid': 0, 'tid': 7, 'args': {'device': 0, 'stream': 7, 'correlation': i}} for i in range(50)],
            'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], 'schemaVersion': 1}))
        for tag in ('one', 'two', 'three', 'four'):
            self.assertEqual(self.aaco('import', 'trace.json', '--tag', tag).code, 0)
        cluster = clickhouse_server.Replicas(self.folder / 'engine')
        self.addCleanup(cluster.stop)
        cluster.start()
        config = self.folder / 'fleet.yaml'
        places = [[f'127.0.0.1:{server.http}' for server in shard] for shard in cluster.servers]
        config.write_text(f'fleets:\n  fleet:\n    url: clickhouse://{places[0][0]}/aaco\n    cluster: fleet\n    shards: {json.dumps(places)}\n')

        def ask(*arguments):
            outcome = self.aaco(*arguments, AACO_FLEET=str(config))
            self.assertEqual(outcome.code, 0, (arguments, outcome.errors))
            return outcome

        def counted():
            outcome = ask('query', '--on', 'fleet', 'SELECT count(*) AS n, count(DISTINCT session_id) AS sessions FROM rocprof_kernels', '--json')
            return outcome.json()[0], outcome.errors

        def wait_for(what):
            deadline = time.monotonic() + 60
            while counted()[0] != what and time.monotonic() < deadline:  # replicas follow in their own time
                time.sleep(0.1)
            self.assertEqual(counted(), (what, ''))
        telemetry = self.folder / 'telemetry'
        ask('lab', 'fleet', '--nodes', 8, '--days', 1, '--devices', 2, '--out', telemetry)
        ask('push', 'tag:one', 'tag:two', '--to', 'fleet')
        wait_for({'n': 100, 'sessions': 2})
        lost = cluster.servers[1][1]
        lost.stop()
        wait_for({'n': 100, 'sessions': 2})
        ask('push', 'tag:three', '--telemetry', telemetry, '--to', 'fleet')  # beside a lost replica
        wait_for({'n': 150, 'sessions': 3})
        status = ask('fleet', 'status', 'fleet', '--json').json()
        self.assertEqual((status['missing_servers'], status['nodes'], status['duplicate_rows']), ([], 8, 0))
        lost.start()
        first = cluster.servers[1][0]
        deadline = time.monotonic() + 60
        stored = first.sql('SELECT count() FROM rows_fleet_minutes', database='aaco')
        self.assertGreater(int(stored), 0)
        ask('push', 'tag:four', '--to', 'fleet')  # makes what was made while it was away
        ask('push', '--telemetry', telemetry, '--to', 'fleet')
        for table in ('rows_fleet_minutes', 'rows_pushes', 'rows_rocprof_kernels'):
            while lost.sql(f'SELECT count() FROM {table}', database='aaco') != first.sql(f'SELECT count() FROM {table}', database='aaco') and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertEqual(lost.sql(f'SELECT count() FROM {table}', database='aaco'), first.sql(f'SELECT count() FROM {table}', database='aaco'), table)
        first.stop()
        wait_for({'n': 200, 'sessions': 4})
        lost.stop()
        partial = ask('query', '--on', 'fleet', 'SELECT count(*) AS n FROM sessions', '--json')
        self.assertIn(f'{first.http} cannot be reached', partial.errors)


if __name__ == '__main__':
    unittest.main()

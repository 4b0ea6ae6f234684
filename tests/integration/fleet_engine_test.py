"""Fleets in ClickHouse: push, query, the same answers from there, shards and replicas that are lost, retention."""
import json
import os
import signal
import subprocess
import threading
import time
import unittest

import chdb_server
import clickhouse_server
import program
import server_test


@unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
class ClickHouse(program.ProgramTest):
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

    def test_telemetry_of_absurd_times_is_refused(self):
        for name, minutes in (('early', (-5, 0)), ('long', (0, 4000 * 86_400 * 10**9))):
            folder = self.folder / name
            folder.mkdir()
            (folder / 'rows.csv').write_text('minute_unix_ns,node,device,metric_group\n' + ''.join(f'{at},n1,0,gpu\n' for at in minutes))
            self.refused(self.push('--telemetry', folder, '--to', self.alone), 3, 'before 1970, or over more than 3660 days')

    def test_telemetry_gives_the_same_answers(self):
        telemetry = self.folder / 'telemetry'
        written = self.aaco('lab', 'fleet', '--nodes', 16, '--days', 1, '--devices', 2, '--fault', 'slow_gpu:0.3', '--out', telemetry)
        self.assertEqual(written.code, 0, written.errors)
        for _ in range(2):  # duplicates count once
            pushed = self.push('--telemetry', telemetry, '--to', 'fleet')
            self.assertEqual(pushed.code, 0, pushed.errors)
        for number, shard in enumerate(self.cluster.shards):  # where the Distributed table would have put them
            self.assertEqual(shard.sql(f'SELECT count() FROM rows_fleet_minutes WHERE sipHash64(node) % 2 != {number}', database='spread').strip(), '0')
        there = self.aaco('fleet', 'health', 'fleet', '--json', AACO_FLEET=str(self.config))
        self.assertEqual(there.code, 0, there.errors)
        here = self.aaco('fleet', 'health', telemetry, '--json').json()

        def key(document):
            return [(one['kind'], one['node'], one.get('device'), one['since_unix_ns'], one['until_unix_ns'], round(one['evidence'][0]['value'], 3))
                    for one in document['findings'] if one['kind'] != 'duplicate_rows']
        self.assertEqual(key(there.json()), key(here))
        self.assertTrue(key(here))
        self.assertEqual(there.json()['missing_servers'], [])
        lost = self.cluster.shards[1]
        lost.stop()
        try:
            partial = self.aaco('fleet', 'health', 'fleet', '--json', AACO_FLEET=str(self.config))
            self.assertEqual(partial.json()['missing_servers'], [f'http://127.0.0.1:{lost.http}'])
            self.assertIn(f'{lost.http} cannot be reached', partial.errors)
        finally:
            lost.start()
        self.assertEqual(key(self.aaco('fleet', 'health', 'fleet', '--json', AACO_FLEET=str(self.config)).json()), key(here))

    def test_slots_answer_as_minutes_do(self):
        """The engine adds minutes up to slots when they arrive. Answers are those of the files, whether rows came once, twice, or before there were slots."""
        telemetry = self.folder / 'slots'
        written = self.aaco('lab', 'fleet', '--nodes', 8, '--days', 2, '--devices', 2, '--seed', 3, '--fault', 'thermal:0.3', '--fault', 'duplicate_rows:0.3',
                            '--out', telemetry)
        self.assertEqual(written.code, 0, written.errors)

        node = 'node00003'

        def answers(place):
            server = server_test.Server(self, 'serve', '--fleet', str(place))
            try:
                asked = ['/heat?metric=clock_hz&hours=168', '/heat?metric=ecc_corrected&hours=48', '/heat?metric=cpu_busy_ratio&hours=2', f'/nodes/{node}?hours=48']
                documents = [server.json('/api/v1/fleet' + one)[1] for one in asked]
                values = [dict(zip(one['nodes'], one['values'])) for one in documents[:3]] + [documents[3]['series']]
                return values + [self.aaco('fleet', 'jobs', place, '--json', AACO_FLEET=str(self.config)).json()['jobs']]
            finally:
                server.stop()

        def same(a, b, place=''):
            self.assertIs(type(a), type(b), place)
            if isinstance(a, dict):
                self.assertEqual(a.keys(), b.keys(), place)
                for key in a:
                    same(a[key], b[key], f'{place}.{key}')
            elif isinstance(a, list):
                self.assertEqual(len(a), len(b), place)
                for i, (one, other) in enumerate(zip(a, b)):
                    same(one, other, f'{place}[{i}]')
            elif isinstance(a, float):
                self.assertAlmostEqual(a, b, delta=2e-4 * abs(a), msg=place)
            else:
                self.assertEqual(a, b, place)

        here = answers(telemetry)
        self.assertTrue(any(value is not None for value in here[0][node]))
        self.assertTrue(here[3])
        shards = [self.cluster.shards[0]]
        if not chdb_server.MISSING:  # ClickHouse 26.7
            shards.append(chdb_server.Server(self.folder / 'newer', clickhouse_server.free_ports(1)[0]).start())
            self.addCleanup(shards[-1].stop)
        for shard in shards:
            self.slots_of(shard, telemetry, node, here, answers, same)

    def slots_of(self, shard, telemetry, node, here, answers, same):
        place = f'clickhouse://127.0.0.1:{shard.http}/slots'
        self.assertEqual(self.push('--telemetry', telemetry, '--to', place).code, 0)
        rows = int(shard.sql('SELECT count() FROM rows_fleet_minutes', database='slots'))
        self.assertEqual(int(shard.sql('SELECT countMerge(copies) FROM rows_fleet_slots', database='slots')), rows)
        same(here, answers(place))
        # As a version without slots left it: the next push adds up what is there.
        for table in [f'{part}fleet_{of}' for of in ('slots', 'hours') for part in ('', 'feed_', 'rows_')]:
            shard.sql(f'DROP TABLE {table}', database='slots')
        same(here, answers(place))
        shard.sql(f"INSERT INTO rows_fleet_minutes SELECT * FROM rows_fleet_minutes WHERE node = '{node}'", database='slots')
        empty = self.folder / 'one_row'
        empty.mkdir(exist_ok=True)
        first = shard.sql('SELECT min(minute_unix_ns) FROM rows_fleet_minutes', database='slots').strip()
        (empty / 'rows.csv').write_text(f'minute_unix_ns,node,device,metric_group\n{first},{node},0,gpu\n')
        pushed = self.push('--telemetry', empty, '--to', place)
        self.assertEqual(pushed.code, 0, pushed.errors)
        self.assertGreater(int(shard.sql('SELECT countMerge(copies) FROM rows_fleet_slots', database='slots')), rows)
        self.assertEqual(shard.sql('EXISTS TABLE fleet_hours', database='slots').strip(), '1')
        same(here[:4], answers(place)[:4])

    def test_what_is_too_old_is_deleted(self):
        minute, old = int(time.time()) // 60 * 60 * 10**9, 3 * 86_400 * 10**9
        rows = self.folder / 'ages'
        rows.mkdir()
        (rows / 'rows.csv').write_text('minute_unix_ns,node,device,metric_group\n' + ''.join(f'{at},n1,0,gpu\n' for at in (minute, minute - old, minute - 2 * old)))
        for to in (f'clickhouse://127.0.0.1:{self.cluster.shards[0].http}/ages', 'same'):
            shards, database = (self.cluster.shards, 'same') if to == 'same' else (self.cluster.shards[:1], 'ages')
            self.assertEqual(self.push('--all', '--telemetry', rows, '--to', to).code, 0)
            sessions = [row['session_id'] for row in self.on(to, 'SELECT session_id FROM sessions ORDER BY session_id')]
            self.assertEqual(len(sessions), 3)
            for shard in shards:  # as if it had been made long ago
                shard.sql(f"ALTER TABLE rows_sessions UPDATE created = '2020-01-01T00:00:00Z' WHERE session_id = '{sessions[1]}'", database=database)
            deadline = time.monotonic() + 60
            while not self.on(to, "SELECT count(*) AS n FROM sessions WHERE created < '2021'")[0]['n'] and time.monotonic() < deadline:
                time.sleep(0.1)
            self.refused(self.push('--keep', '1h', '--to', to), 2, '1d or more')
            expired = self.push('--keep', '4d', '--to', to).json()
            self.assertEqual((expired['expired_days'], expired['expired_sessions']), (1, [sessions[1]]))
            while self.on(to, 'SELECT count(*) AS n FROM sessions')[0]['n'] > 2 and time.monotonic() < deadline:  # the engine deletes in its own time
                time.sleep(0.1)
            self.assertEqual([row['session_id'] for row in self.on(to, 'SELECT DISTINCT session_id FROM rocprof_kernels ORDER BY session_id')], [sessions[0], sessions[2]])
            for table in ('fleet_minutes', 'fleet_slots'):
                days = self.on(to, f"SELECT DISTINCT intDiv({'minute' if table == 'fleet_minutes' else 'slot'}_unix_ns, 86400000000000) AS day FROM {table} ORDER BY day")
                self.assertEqual([row['day'] for row in days], [(minute - old) // (86_400 * 10**9), minute // (86_400 * 10**9)], table)
            self.assertEqual(self.push('--keep', '4d', '--to', to).json()['expired_sessions'], [])

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

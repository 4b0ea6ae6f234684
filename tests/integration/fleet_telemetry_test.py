"""Telemetry of a fleet in ClickHouse: the same answers from there, once however often it is pushed, slots, retention."""
import os
import pathlib
import shutil
import socket
import time
import types
import unittest

import chdb_server
import clickhouse_server
import engine_case
import server_test


@unittest.skipUnless(clickhouse_server.SERVER, 'skipped, no clickhouse-server on this machine')
class Telemetry(engine_case.EngineCase):
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
        pushed = self.push('--telemetry', telemetry, '--to', 'fleet')
        self.assertEqual(pushed.code, 0, pushed.errors)
        rows = self.on('fleet', 'SELECT count(*) AS n FROM fleet_minutes')
        self.assertEqual(rows, [{'n': pushed.json()['telemetry_rows']}])
        for number, shard in enumerate(self.cluster.shards):  # where the Distributed table would have put them
            self.assertEqual(shard.sql(f'SELECT count() FROM rows_fleet_minutes WHERE sipHash64(node) % 2 != {number}', database='spread').strip(), '0')
        there = self.aaco('fleet', 'health', 'fleet', '--json', AACO_FLEET=str(self.config))
        self.assertEqual(there.code, 0, there.errors)
        here = self.aaco('fleet', 'health', telemetry, '--json').json()

        def key(document):
            return [(one['kind'], one['node'], one.get('device'), one['since_unix_ns'], one['until_unix_ns'], round(one['evidence'][0]['value'], 3), round(one['severity'], 3))
                    for one in document['findings']]
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
        self.pushed_again(telemetry, rows[0]['n'])

    def pushed_again(self, telemetry, rows):
        """The same files are there once, whatever their names; what was deleted meanwhile comes back."""
        renamed = self.folder / 'renamed'
        shutil.copytree(telemetry / 'minutes', renamed)
        again = self.push('--telemetry', renamed, '--to', 'fleet').json()
        self.assertEqual((again['telemetry_rows'], again['telemetry_rows_already_there']), (0, rows))
        whole = 'SELECT count(*) AS n FROM fleet_minutes'
        self.assertEqual(self.on('fleet', whole), [{'n': rows}])
        shard = self.cluster.shards[1]
        lost = int(shard.sql('SELECT count() FROM rows_fleet_minutes', database='spread'))
        for partition in set(shard.sql("SELECT partition FROM system.parts WHERE database = 'spread' AND table = 'rows_fleet_minutes' AND active").split()):
            shard.sql(f'ALTER TABLE rows_fleet_minutes DROP PARTITION {partition}', database='spread')
        again = self.push('--telemetry', telemetry, '--to', 'fleet').json()
        self.assertEqual((again['telemetry_rows'], again['telemetry_rows_already_there']), (lost, rows - lost))
        self.assertEqual(self.on('fleet', whole), [{'n': rows}])

    def test_sessions_of_a_node_are_found_from_another_machine(self):
        place = f'clickhouse://127.0.0.1:{self.cluster.shards[0].http}/drill'
        of_host = {'AACO_SESSIONS': str(self.folder / 'of_host')}  # imports name no host
        recorded = self.aaco('record', '--tag', 'here', '--', 'true', **of_host)
        self.assertEqual(recorded.code, 0, recorded.errors)
        self.assertEqual(self.push('--all', '--to', place, **of_host).code, 0)
        host = socket.gethostname()
        rows = self.folder / 'of_this_host'
        rows.mkdir()
        (rows / 'rows.csv').write_text('minute_unix_ns,node,device,metric_group,clock_hz\n' + ''.join(f'{60 * 10**9 * i},{node},0,gpu,1e9\n' for i in range(90) for node in (host, 'other')))
        self.assertEqual(self.push('--telemetry', rows, '--to', place).code, 0)
        elsewhere = types.SimpleNamespace(lake=self.folder / 'elsewhere', folder=self.folder)
        server = server_test.Server(elsewhere, 'serve', '--fleet', place)
        try:
            self.assertEqual(server.json('/api/v1/fleet/nodes/other')[1]['sessions'], [])
            there = server.json(f'/api/v1/fleet/nodes/{host}')[1]['sessions']
        finally:
            server.stop()
        self.assertEqual([(one['id'], one['tag']) for one in there], [(pathlib.Path(of_host['AACO_SESSIONS'], 'latest').resolve().name, 'here')])
        ran = self.aaco(*there[0]['command'].split()[1:], AACO_SESSIONS=str(elsewhere.lake), XDG_CACHE_HOME=str(self.folder / 'cache'))
        self.assertEqual(ran.code, 0, ran.errors)
        self.assertEqual(ran.output, self.aaco('explain', there[0]['id'], **of_host).output)

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


if __name__ == '__main__':
    unittest.main()

"""Fleets: simulated telemetry and its judge, answers from files, and ClickHouse: push, query, and the same answers from there."""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
import unittest
import urllib.request

import chdb_server
import clickhouse_server
import program
import server_test


class Fleet(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.telemetry = cls.folder / 'telemetry'
        written = cls.aaco('lab', 'fleet', '--nodes', 24, '--days', 1, '--devices', 2, '--seed', 5, '--out', cls.telemetry,
                           '--fault', 'slow_gpu:0.3', '--fault', 'ecc_storm:0.3', '--fault', 'slow_host:0.3', '--fault', 'clock_skew:0.1')
        assert written.code == 0, written.errors
        cls.truth = json.loads((cls.telemetry / 'truth.json').read_text())

    def answer(self, *arguments):
        outcome = self.aaco('fleet', *arguments)
        self.assertEqual(outcome.code, 0, outcome.errors)
        return outcome

    def test_known_faults_are_found_and_nothing_else(self):
        score = self.aaco('lab', 'fleet-score', self.telemetry, '--json')
        self.assertEqual(score.code, 0, score.errors)
        self.assertEqual(score.json()['faults'], {'count': 4, 'found': 4, 'named': 4}, score.output)
        self.assertEqual(score.json()['false_alarms'], 0, score.output)

    def test_finding_has_evidence_peers_and_hint(self):
        fault = next(one for one in self.truth['faults'] if one['fault'] == 'slow_gpu')
        found = [one for one in self.answer('health', self.telemetry, '--json').json()['findings'] if one['node'] == fault['node']]
        self.assertEqual([(one['kind'], one['device']) for one in found], [('slow_gpu', fault['device'])])
        evidence = found[0]['evidence'][0]
        self.assertLessEqual(evidence['q'], 0.01)
        self.assertGreaterEqual(evidence['peers'], 4)
        self.assertIn('fleet_minutes', evidence['rows'])
        self.assertLess(abs(found[0]['since_unix_ns'] - fault['since_unix_ns']), 3600e9)
        self.assertIn('hint:', self.answer('health', self.telemetry, '--node', fault['node']).output)

    def test_straggler_is_named_and_unjoined_clocks_are_not_judged(self):
        jobs = {one['job']: one for one in self.answer('stragglers', self.telemetry, '--json').json()['jobs']}
        slow = next(one for one in self.truth['faults'] if one['fault'] == 'slow_gpu')
        skewed = next(one for one in self.truth['faults'] if one['fault'] == 'clock_skew')
        self.assertEqual(jobs[skewed['job']]['verdict'], 'cannot_tell')
        if slow['job'] != skewed['job']:
            self.assertEqual((jobs[slow['job']]['node'], jobs[slow['job']]['devices']), (slow['node'], [slow['device']]))

    def test_late_rank_of_a_traced_job(self):
        """Rank 1 arrives late at each barrier, so its barriers are short."""
        for rank in (0, 1):
            events = [{'ph': 'X', 'cat': 'user_annotation', 'name': 'gloo:barrier', 'ts': 1000.0 * k + (600 if rank else 0), 'dur': 50 if rank else 650,
                       'pid': 1, 'tid': 1} for k in range(12)]
            events += [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'ts': 1000.0 * k + 700, 'dur': 200, 'pid': 1, 'tid': 1} for k in range(12)]
            (self.folder / f'rank{rank}.json').write_text(json.dumps(
                {'schemaVersion': 1, 'distributedInfo': {'backend': 'gloo', 'rank': rank, 'world_size': 2}, 'traceEvents': events}))
        imported = self.aaco('import', 'rank0.json', 'rank1.json', '--tag', 'ranks')
        self.assertEqual(imported.code, 0, imported.errors)
        answer = self.answer('stragglers', 'tag:ranks', '--json').json()
        self.assertEqual((answer['verdict'], answer['late_rank'], answer['last_count'], answer['count']), ('straggler', 1, 12, 12))
        self.assertIn('rank 1', self.answer('stragglers', 'tag:ranks').output)
        self.assertEqual(self.aaco('import', 'rank0.json', '--tag', 'alone').code, 0)
        self.assertEqual(self.answer('stragglers', 'tag:alone', '--json').json()['verdict'], 'cannot_tell')
        self.refused(self.aaco('fleet', 'stragglers', 'tag:nobody'), 3, 'nobody')

    def test_real_gloo_runs_name_the_late_rank(self):
        data = pathlib.Path(os.environ.get('AACO_REAL_DATA', pathlib.Path(__file__).resolve().parents[3] / 'shared/data')) / 'pytorch'
        if not data.is_dir():
            self.skipTest('skipped, no real data')
        for version in ('torch26', 'torch214'):
            imported = self.aaco('import', *(data / version / f'ddp_rank{rank}.pt.trace.json.gz' for rank in (0, 1)), '--tag', version)
            self.assertEqual(imported.code, 0, imported.errors)
            answer = self.answer('stragglers', f'tag:{version}', '--json').json()
            self.assertEqual((answer['verdict'], answer['late_rank']), ('straggler', 1), answer)

    def test_status_and_jobs(self):
        status = self.answer('status', self.telemetry, '--json').json()
        self.assertEqual((status['nodes'], status['devices']), (24, 48))
        jobs = self.answer('jobs', self.telemetry, '--json').json()['jobs']
        self.assertTrue(all(0 < one['goodput_ratio'] < 1 for one in jobs))
        self.assertIn('goodput', self.answer('jobs', self.telemetry).output)
        self.answer('outliers', self.telemetry, '--last', '12h')

    def test_parts_and_periods_are_compared(self):
        fault = next(one for one in self.truth['faults'] if one['fault'] == 'slow_host')
        out = self.answer('compare', self.telemetry, 'node=node*', f"node={fault['node']}", '--json').json()
        probe = next(one for one in out['metrics'] if one['metric'] == 'probe_ns')
        self.assertGreater(probe['difference_ratio'], 0.1)
        self.assertEqual(probe['verdict'], 'no_interval')
        halves = self.answer('compare', self.telemetry, 'before=2026-01-01T12:00', 'after=2026-01-01T12:00').output
        self.assertIn('95 % CI', halves)
        self.refused(self.aaco('fleet', 'compare', self.telemetry, 'rack=1', 'node=a'), 2, 'rack=1', 'hint')
        self.refused(self.aaco('fleet', 'compare', self.telemetry, 'node=x', 'node=y'), 3, 'both sides')
        self.refused(self.aaco('fleet', 'compare', self.telemetry, 'node=x'), 2, 'b')

    def test_server_shows_the_fleet(self):
        server = server_test.Server(self, 'serve', '--fleet', str(self.telemetry))
        self.addCleanup(server.stop)
        fleet = server.json('/api/v1/fleet')[1]
        findings = self.answer('health', self.telemetry, '--last', '24h', '--json').json()['findings']
        self.assertEqual((fleet['nodes'], fleet['findings']), (24, findings))
        heat = server.json('/api/v1/fleet/heat?metric=clock_hz&hours=12')[1]
        self.assertEqual((len(heat['nodes']), len(heat['values'])), (24, 24))
        self.assertEqual(heat['nodes'][0], findings[0]['node'])
        self.assertTrue(all(len(row) == heat['bins'] and any(row) for row in heat['values']))
        node = server.json('/api/v1/fleet/nodes/' + findings[0]['node'])[1]
        self.assertEqual({one['node'] for one in node['findings']}, {findings[0]['node']})
        self.assertEqual({one['device'] for one in node['series'] if one['metric'] == 'clock_hz'}, {0, 1})
        for path, status in (('/heat', 400), ('/heat?metric=nothing', 400), ('/nodes/nobody', 404), ('?hours=0', 400), ('?hours=x', 400)):
            self.assertEqual(server.ask('/api/v1/fleet' + path)[0], status, path)

    def test_silences_mute_findings_and_alerts(self):
        findings = self.answer('health', self.telemetry, '--json').json()['findings']
        self.assertEqual(len(self.answer('alerts', self.telemetry, '--all').json()), len(findings) + self.answer('status', self.telemetry, '--json').json()['jobs_with_straggler'])
        muted = findings[0]
        (self.folder / 'silences.yaml').write_text(f"schema_version: 1\nsilences:\n  - {{node: {muted['node']}, kind: {muted['kind']}, reason: part ordered}}\n"
                                                   'maintenance:\n  - {node: "nothing-*", since: 2026-01-01, until: 2026-01-02, reason: move}\n')
        silences = ('--silences', self.folder / 'silences.yaml')
        after = self.answer('health', self.telemetry, *silences, '--json').json()['findings']
        self.assertEqual([one.get('silenced') for one in after], ['part ordered'] + [None] * (len(findings) - 1))
        self.assertEqual(self.answer('status', self.telemetry, *silences, '--json').json()['silenced'], 1)
        self.assertIn('silenced: part ordered', self.answer('health', self.telemetry, *silences).output)
        self.assertIn('1 silenced', self.answer('status', self.telemetry, *silences).output)
        alerts = self.answer('alerts', self.telemetry, '--all', *silences).json()
        self.assertNotIn((muted['node'], muted['kind']), [(one['labels']['node'], one['labels']['kind']) for one in alerts])
        (self.folder / 'odd.yaml').write_text('schema_version: 1\nsilences:\n  - {node: x}\n')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--silences', self.folder / 'odd.yaml'), 3, 'odd.yaml:3', 'reason')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--silences', self.folder / 'absent.yaml'), 3, 'absent.yaml')
        self.refused(self.aaco('fleet', 'alerts', self.telemetry, '--send', 'localhost'), 2, 'not a valid HTTP(S) URL')
        self.refused(self.aaco('fleet', 'alerts', self.telemetry, '--send', 'http://127.0.0.1:1'), 3, '127.0.0.1:1')

    @unittest.skipUnless(shutil.which('prometheus-alertmanager'), 'skipped, no prometheus-alertmanager on this machine')
    def test_alertmanager_takes_the_alerts(self):
        port = clickhouse_server.free_ports(1)[0]
        (self.folder / 'alertmanager.yml').write_text('route: {receiver: none}\nreceivers: [{name: none}]\n')
        manager = subprocess.Popen(['prometheus-alertmanager', f'--config.file={self.folder}/alertmanager.yml', f'--storage.path={self.folder}/alerts',
                                    f'--web.listen-address=127.0.0.1:{port}', '--cluster.listen-address='], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.kill)
        base = f'http://127.0.0.1:{port}'
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(base + '/-/ready', timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        sent = self.answer('alerts', self.telemetry, '--json', '--send', base, '--link', 'http://dash:8501').json()
        self.assertTrue(sent)
        with urllib.request.urlopen(base + '/api/v2/alerts', timeout=10) as reply:
            there = json.load(reply)

        def key(one):
            return (one['labels']['alertname'], one['labels']['node'], one['annotations']['summary'], one['generatorURL'])
        self.assertEqual(sorted(map(key, there)), sorted(map(key, sent)))

    def test_csv_of_others_with_few_columns(self):
        folder = self.folder / 'csv'
        folder.mkdir()
        with open(folder / 'a.csv', 'w', newline='') as file:
            rows = csv.writer(file)
            rows.writerow(['node', 'device', 'metric_group', 'minute_unix_ns', 'hardware', 'job', 'clock_hz'])
            for minute in range(600):
                for device in range(8):
                    clock = 1.7e9 + (minute * 7919 + device * 104729) % 1000 * 1e4
                    rows.writerow(['n1', device, 'gpu', minute * 60_000_000_000, 'gpu1', 'job1', clock * (0.8 if device == 3 and minute > 200 else 1)])
        found = self.answer('outliers', folder, '--json').json()['findings']
        self.assertEqual([(one['kind'], one['device']) for one in found], [('slow_gpu', 3)])
        self.refused(self.aaco('fleet', 'status', folder, '--bin', '90s'), 2, 'whole number of minutes')

    def test_refusals(self):
        self.refused(self.aaco('fleet', 'status', 'absent'), 3, 'absent', 'hint')
        (self.folder / 'empty').mkdir(exist_ok=True)
        self.refused(self.aaco('fleet', 'status', self.folder / 'empty'), 3, 'docs/formats/fleet.md')
        (self.folder / 'odd.csv').write_text('a,b\n1,2\n')
        self.refused(self.aaco('fleet', 'status', self.folder / 'odd.csv'), 3, 'minute_unix_ns')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--node', 'nobody'), 3, 'nobody')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--last', 'soon'), 2, '--last')
        self.refused(self.aaco('fleet', 'status', 'clickhouse://me:word@host/x'), 2, 'password')
        self.refused(self.aaco('lab', 'fleet', '--out', self.telemetry), 3, 'already exists')
        self.refused(self.aaco('lab', 'fleet', '--fault', 'gremlins', '--out', self.folder / 'x'), 2, 'gremlins')
        self.refused(self.aaco('lab', 'fleet-score', self.folder / 'csv'), 3, 'truth.json')


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


if __name__ == '__main__':
    unittest.main()

"""Fleets: simulated telemetry and its judge, and answers from files."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest
import urllib.request

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
        before = server.json('/api/v1/fleet/heat?metric=clock_hz&hours=12')[1]  # no analysis of these hours yet
        self.assertEqual((before['judged'], before['nodes'], set(before['severity'])), (False, sorted(before['nodes']), {0}))
        worst = server.json('/api/v1/fleet?hours=12')[1]['findings'][0]
        heat = server.json('/api/v1/fleet/heat?metric=clock_hz&hours=12')[1]
        self.assertEqual((len(heat['nodes']), len(heat['values'])), (24, 24))
        self.assertEqual((heat['judged'], heat['nodes'][0], heat['severity'][0]), (True, worst['node'], worst['severity']))
        self.assertEqual(dict(zip(heat['nodes'], heat['values'])), dict(zip(before['nodes'], before['values'])))
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

    def test_values_that_are_none(self):
        def file_of(name, *rows):
            (self.folder / name).write_text('minute_unix_ns,node,device,metric_group,clock_hz\n' + ''.join(f'{60_000_000_000 * i},n{i % 9},0,gpu,{value}\n' for i, value in enumerate(rows)))
            return self.folder / name
        self.refused(self.aaco('fleet', 'status', file_of('words.csv', 1e9, 'fast')), 3, "words.csv: clock_hz is 'fast' in the row of node 'n1' and minute 60000000000, not a number",
                     'leave it empty')
        (self.folder / 'time.csv').write_text('minute_unix_ns,node,metric_group\n2026-01-01,n1,host\n')
        self.refused(self.aaco('fleet', 'status', self.folder / 'time.csv'), 3, "minute_unix_ns is '2026-01-01'", 'not an integer')
        values = [1.7e9 + i * 7919 % 1000 * 1e4 for i in range(900)]
        found = [self.answer('health', file_of(name, *rows), '--json').json() for name, rows in
                 (('finite.csv', values + [''] * 90), ('odd.csv', values + ['nan', 'inf', '-inf'] * 30))]
        for one in found: del one['from']
        self.assertEqual(*found)
        means = [self.answer('compare', self.folder / name, 'node=n*', 'node=n1', '--json').json()['metrics'] for name in ('finite.csv', 'odd.csv')]
        self.assertIn('clock_hz', [one['metric'] for one in means[0]])
        self.assertEqual(*means)

    def test_refusals(self):
        self.refused(self.aaco('fleet', 'status', 'absent'), 3, 'absent', 'hint')
        (self.folder / 'empty').mkdir(exist_ok=True)
        self.refused(self.aaco('fleet', 'status', self.folder / 'empty'), 3, 'docs/formats/fleet.md')
        (self.folder / 'odd.csv').write_text('a,b\n1,2\n')
        self.refused(self.aaco('fleet', 'status', self.folder / 'odd.csv'), 3, 'minute_unix_ns')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--node', 'nobody'), 3, 'nobody')
        self.refused(self.aaco('fleet', 'health', self.telemetry, '--last', 'soon'), 2, '--last')
        self.refused(self.aaco('fleet', 'status', 'clickhouse://me:word@host/x'), 2, 'password')
        for port in ('70000', '0', 'x', ''):
            self.refused(self.aaco('fleet', 'status', f'clickhouse://host:{port}/x'), 2, f'host:{port}')
        self.refused(self.aaco('lab', 'fleet', '--out', self.telemetry), 3, 'already exists')
        self.refused(self.aaco('lab', 'fleet', '--fault', 'gremlins', '--out', self.folder / 'x'), 2, 'gremlins')
        self.refused(self.aaco('lab', 'fleet-score', self.folder / 'csv'), 3, 'truth.json')


if __name__ == '__main__':
    unittest.main()
